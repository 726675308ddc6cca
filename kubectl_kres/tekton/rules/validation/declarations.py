"""Parameters as a Task, StepAction or run declares them, and what the webhook refuses in declarations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from kubectl_kres.documents.scalar import json_of
from kubectl_kres.tekton.model import Param, PipelineTask
from kubectl_kres.tekton.rules.validation.webhook_error import WebhookError, entry_path

TYPES = ("string", "array", "object")
_RULE = "tekton/declaration"
_NAME = re.compile(r"[_a-zA-Z][_a-zA-Z0-9.-]*")
_OBJECT_NAME = re.compile(r"[_a-zA-Z][_a-zA-Z0-9-]*")
_RULES_OF_NAMES = (
    "String/Array Names: \nMust only contain alphanumeric characters, hyphens (-), underscores (_), and dots (.)\n"
    "Must begin with a letter or an underscore (_)"
)
_RULES_OF_OBJECTS = (
    "Object Names: \nMust only contain alphanumeric characters, hyphens (-), underscores (_) \n"
    "Must begin with a letter or an underscore (_)"
)


class Declaration(NamedTuple):
    """A parameter: its type, that of its default (empty: none), an object's keys with their types, permitted values.

    ``properties`` None: not said. ``text``: the default, if it is a text; ``keys``: of the default, if it is an object.
    """

    name: str
    type: str
    default: str = ""
    text: str = ""
    properties: Mapping[str, str] | None = None
    enum: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()


def type_of(value: Any) -> str:
    """Return what a value is: lists and objects of anything but texts are one text.

    Source: v1/param_types.go UnmarshalJSON.
    """
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return "array"
    if isinstance(value, Mapping) and all(isinstance(item, str) for item in value.values()):
        return "object"
    return "string"


def text_of(value: Any) -> str:
    """Return a value that is taken for one text, as it is written in JSON."""
    return value if isinstance(value, str) else json_of(value)


def read_declarations(params: Sequence[Param] | None) -> tuple[Declaration, ...]:
    """Return the declarations with the types that follow from the rest. Source: v1/param_types.go SetDefaults."""
    return tuple(map(_build_declaration, params or ()))


def with_given(
    given_params: Sequence[Param] | None, params: Sequence[Declaration], tasks: Sequence[PipelineTask] | None = None
) -> tuple[tuple[Declaration, ...], tuple[str, ...]]:
    """Return what is known inside a run: what it gives, what is declared; and objects that are declared without
    properties.

    tasks: of an embedded Pipeline, which all know what any of them is given. Source: v1/taskrun_validation.go
    createParamSpecFromParam, combineParamSpec; pipelinerun_validation.go appendPipelineTaskParams.
    """
    result = {param.name: _declare_given(param) for param in given_params or ()}
    bare = [*_combine(result, params)]
    for task in tasks or ():
        for param in task.params or ():
            declaration, new = result.get(param.name), _declare_given(param)
            if declaration is not None and new.properties is not None:
                new = declaration._replace(properties={**(declaration.properties or {}), **new.properties})
            result[param.name] = declaration if declaration is not None and new.properties is None else new
        bare += _combine(result, read_declarations(task.task_spec.params) if task.task_spec is not None else ())
    return tuple(result.values()), tuple(bare)


def _combine(mapping: dict[str, Declaration], params: Sequence[Declaration]) -> Iterator[str]:
    """Put what is declared beside what is given; the names of objects without properties."""
    for param in params:
        declaration = mapping.get(param.name)
        if declaration is None:
            mapping[param.name] = param
        elif (param.default == "object" or declaration.type == "object") and param.properties is None:
            yield param.name
        elif declaration.type == "object":
            mapping[param.name] = declaration._replace(properties=param.properties)


def parameters_of_type(params: Sequence[Declaration], kind: str) -> tuple[Declaration, ...]:
    """Return the parameters of a type."""
    return tuple(param for param in params if param.type == kind)


def type_faults(params: Sequence[Declaration], path: str) -> Iterator[WebhookError]:
    """Types that there are not, or that the default is not of. Source: v1/task_validation.go ValidateType."""
    for param in params:
        if param.type not in TYPES:
            yield WebhookError(f"invalid value: {param.type}", f"{path}.{param.name}.type", _RULE)
        elif param.default and param.default != param.type:
            text = f'"{param.type}" type does not match default value\'s type: "{param.default}"'
            yield from (WebhookError(text, f"{path}.{param.name}.{field}", _RULE) for field in ("type", "default.type"))
        elif odd := [key for key, kind in sorted((param.properties or {}).items()) if kind != "string"]:
            text = f"The value type specified for these keys [{' '.join(odd)}] is invalid"
            yield WebhookError(text, f"{path}.{param.name}.properties", _RULE)


def declaration_faults(params: Sequence[Declaration], path: str, *, enum: bool) -> Iterator[WebhookError]:
    """Parameters that are there twice, with names or permitted values that cannot be.

    enum: whether values may be limited to some. Source: v1/task_validation.go ValidateParameterVariables.
    """
    yield from repeated_faults(params, path, enum=enum)
    plain = sorted({param.name for param in params if param.type != "object" and not _NAME.fullmatch(param.name)})
    if plain:
        text = f"The format of following array and string variable names is invalid: [{' '.join(plain)}]"
        yield WebhookError(text, f"{path}.params", _RULE, _RULES_OF_NAMES)
    odd = {declaration.name: _odd_keys(declaration) for declaration in parameters_of_type(params, "object")}
    odd = {name: keys for name, keys in sorted(odd.items()) if keys or not _OBJECT_NAME.fullmatch(name)}
    if odd:
        shown = " ".join(f"{name}:[{' '.join(keys)}]" for name, keys in odd.items())
        text = f"Object param name and key name format is invalid: map[{shown}]"
        yield WebhookError(text, f"{path}.params", _RULE, _RULES_OF_OBJECTS)


def repeated_faults(params: Sequence[Declaration], path: str, *, enum: bool) -> Iterator[WebhookError]:
    """Parameters that are there twice, or have permitted values that cannot be. Source: v1/param_types.go."""
    for name, times in Counter(param.name for param in params).items():
        if times > 1:
            yield WebhookError(
                "parameter appears more than once", entry_path(f"{path}.params", name), "tekton/given-twice"
            )
    for param in params:
        if param.enum:
            yield from _enum_faults(param, entry_path(f"{path}.params", param.name), enum=enum)


def bare_objects(params: Sequence[Declaration], path: str) -> Iterator[WebhookError]:
    """Objects without properties. Source: v1/task_validation.go ValidateObjectParamsHaveProperties."""
    for declaration in parameters_of_type(params, "object"):
        if declaration.properties is None:
            yield WebhookError("missing field(s)", f"{path}.{declaration.name}.properties", _RULE)


def _build_declaration(param: Param) -> Declaration:
    default = "" if param.default is None else type_of(param.default)
    properties = None
    if param.properties is not None:
        properties = {key: _property(item) or "string" for key, item in param.properties.items()}
    kind = param.type or ("object" if properties is not None else default or "string")
    text = "" if param.default is None or default != "string" else text_of(param.default)
    keys = tuple(param.default) if default == "object" else ()
    # An empty map is gone once the object is written again.
    return Declaration(param.name, kind, default, text, properties or None, param.enum or (), keys)


def _property(value: Any) -> str:
    return str(value.get("type") or "") if isinstance(value, Mapping) else ""


def _declare_given(param: Param) -> Declaration:
    kind = type_of(param.value)
    properties = dict.fromkeys(param.value, "string") if kind == "object" else None
    text = text_of(param.value) if kind == "string" and param.value is not None else ""
    return Declaration(param.name, kind, kind, text, properties)


def _enum_faults(declaration: Declaration, path: str, *, enum: bool) -> Iterator[WebhookError]:
    if not enum:
        text = "feature flag `enable-param-enum` should be set to true to use Enum"
        yield WebhookError(text, path, "tekton/api-fields")
    if declaration.type != "string":
        yield WebhookError("enum can only be set with string type param", path, _RULE)
    for value, times in Counter(declaration.enum).items():
        if times > 1:
            yield WebhookError(f"parameter enum value {value} appears more than once", path, _RULE)
    if declaration.text and declaration.text not in declaration.enum:
        yield WebhookError(f"param default value {declaration.text} not in the enum list", path, _RULE)


def _odd_keys(declaration: Declaration) -> list[str]:
    return sorted(key for key in declaration.properties or {} if not _OBJECT_NAME.fullmatch(key))
