"""Parameters as a Task, StepAction or run declares them, and what the webhook refuses in declarations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from kubectl_kres.model.tekton import PipelineTask
from kubectl_kres.model.tekton_parts import Param
from kubectl_kres.tekton.validation.webhook_error import WebhookError, keyed

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
    """What a value is: lists and objects of anything but texts are one text.

    Source: v1/param_types.go UnmarshalJSON.
    """
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        return "array"
    if isinstance(value, Mapping) and all(isinstance(one, str) for one in value.values()):
        return "object"
    return "string"


def text_of(value: Any) -> str:
    """A value that is taken for one text, as it is written in JSON."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def declared(params: Sequence[Param] | None) -> tuple[Declaration, ...]:
    """The declarations with the types that follow from the rest. Source: v1/param_types.go SetDefaults."""
    return tuple(map(_declared, params or ()))


def with_given(
    given: Sequence[Param] | None, params: Sequence[Declaration], tasks: Sequence[PipelineTask] | None = None
) -> tuple[tuple[Declaration, ...], tuple[str, ...]]:
    """What is known inside a run: what it gives, what is declared; and objects that are declared without properties.

    tasks: of an embedded Pipeline, which all know what any of them is given. Source: v1/taskrun_validation.go
    createParamSpecFromParam, combineParamSpec; pipelinerun_validation.go appendPipelineTaskParams.
    """
    found = {one.name: _given(one) for one in given or ()}
    bare = [*_combine(found, params)]
    for task in tasks or ():
        for param in task.params or ():
            held, new = found.get(param.name), _given(param)
            if held is not None and new.properties is not None:
                new = held._replace(properties={**(held.properties or {}), **new.properties})
            found[param.name] = held if held is not None and new.properties is None else new
        bare += _combine(found, declared(task.task_spec.params) if task.task_spec is not None else ())
    return tuple(found.values()), tuple(bare)


def _combine(found: dict[str, Declaration], params: Sequence[Declaration]) -> Iterator[str]:
    """Puts what is declared beside what is given; the names of objects without properties."""
    for one in params:
        held = found.get(one.name)
        if held is None:
            found[one.name] = one
        elif (one.default == "object" or held.type == "object") and one.properties is None:
            yield one.name
        elif held.type == "object":
            found[one.name] = held._replace(properties=one.properties)


def of_type(params: Sequence[Declaration], kind: str) -> tuple[Declaration, ...]:
    """The parameters of a type."""
    return tuple(one for one in params if one.type == kind)


def type_faults(params: Sequence[Declaration], path: str) -> Iterator[WebhookError]:
    """Types that there are not, or that the default is not of. Source: v1/task_validation.go ValidateType."""
    for one in params:
        if one.type not in TYPES:
            yield WebhookError(f"invalid value: {one.type}", f"{path}.{one.name}.type", _RULE)
        elif one.default and one.default != one.type:
            text = f'"{one.type}" type does not match default value\'s type: "{one.default}"'
            yield from (WebhookError(text, f"{path}.{one.name}.{field}", _RULE) for field in ("type", "default.type"))
        elif odd := [key for key, kind in sorted((one.properties or {}).items()) if kind != "string"]:
            text = f"The value type specified for these keys [{' '.join(odd)}] is invalid"
            yield WebhookError(text, f"{path}.{one.name}.properties", _RULE)


def declaration_faults(params: Sequence[Declaration], path: str, *, enum: bool) -> Iterator[WebhookError]:
    """Parameters that are there twice, with names or permitted values that cannot be.

    enum: whether values may be limited to some. Source: v1/task_validation.go ValidateParameterVariables.
    """
    yield from repeated_faults(params, path, enum=enum)
    plain = sorted({one.name for one in params if one.type != "object" and not _NAME.fullmatch(one.name)})
    if plain:
        text = f"The format of following array and string variable names is invalid: [{' '.join(plain)}]"
        yield WebhookError(text, f"{path}.params", _RULE, _RULES_OF_NAMES)
    odd = {one.name: _odd_keys(one) for one in of_type(params, "object")}
    odd = {name: keys for name, keys in sorted(odd.items()) if keys or not _OBJECT_NAME.fullmatch(name)}
    if odd:
        shown = " ".join(f"{name}:[{' '.join(keys)}]" for name, keys in odd.items())
        text = f"Object param name and key name format is invalid: map[{shown}]"
        yield WebhookError(text, f"{path}.params", _RULE, _RULES_OF_OBJECTS)


def repeated_faults(params: Sequence[Declaration], path: str, *, enum: bool) -> Iterator[WebhookError]:
    """Parameters that are there twice, or have permitted values that cannot be. Source: v1/param_types.go."""
    for name, times in Counter(one.name for one in params).items():
        if times > 1:
            yield WebhookError("parameter appears more than once", keyed(f"{path}.params", name), "tekton/given-twice")
    for one in params:
        if one.enum:
            yield from _enum_faults(one, keyed(f"{path}.params", one.name), enum=enum)


def bare_objects(params: Sequence[Declaration], path: str) -> Iterator[WebhookError]:
    """Objects without properties. Source: v1/task_validation.go ValidateObjectParamsHaveProperties."""
    for one in of_type(params, "object"):
        if one.properties is None:
            yield WebhookError("missing field(s)", f"{path}.{one.name}.properties", _RULE)


def _declared(param: Param) -> Declaration:
    default = "" if param.default is None else type_of(param.default)
    properties = None
    if param.properties is not None:
        properties = {key: _property(held) or "string" for key, held in param.properties.items()}
    kind = param.type or ("object" if properties is not None else default or "string")
    text = "" if param.default is None or default != "string" else text_of(param.default)
    keys = tuple(param.default) if default == "object" else ()
    # An empty map is gone once the object is written again.
    return Declaration(param.name, kind, default, text, properties or None, param.enum or (), keys)


def _property(held: Any) -> str:
    return str(held.get("type") or "") if isinstance(held, Mapping) else ""


def _given(param: Param) -> Declaration:
    kind = type_of(param.value)
    properties = dict.fromkeys(param.value, "string") if kind == "object" else None
    text = text_of(param.value) if kind == "string" and param.value is not None else ""
    return Declaration(param.name, kind, kind, text, properties)


def _enum_faults(one: Declaration, path: str, *, enum: bool) -> Iterator[WebhookError]:
    if not enum:
        text = "feature flag `enable-param-enum` should be set to true to use Enum"
        yield WebhookError(text, path, "tekton/api-fields")
    if one.type != "string":
        yield WebhookError("enum can only be set with string type param", path, _RULE)
    for value, times in Counter(one.enum).items():
        if times > 1:
            yield WebhookError(f"parameter enum value {value} appears more than once", path, _RULE)
    if one.text and one.text not in one.enum:
        yield WebhookError(f"param default value {one.text} not in the enum list", path, _RULE)


def _odd_keys(one: Declaration) -> list[str]:
    return sorted(key for key in one.properties or {} if not _OBJECT_NAME.fullmatch(key))
