"""The webhook's decoder, which stops at a type that does not fit, an unknown field, a Param without a value.

It has the Go types of Tekton's objects (scripts/make_tekton_types.py wrote them) and the fields that a version of the
API renamed or removed: the API server prunes those, kubectl and the webhook refuse them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from kubectl_kres import durations
from kubectl_kres.admission.decoding import ValuePlace, json_type
from kubectl_kres.errors import QuantityError
from kubectl_kres.quantity import from_json
from kubectl_kres.tekton.rules.base.convert import V1, V1BETA1

_EMPTY: Mapping[str, Any] = {"struct": {}, "map": {}, "string": "", "bool": False, "int": 0}


class GoType(Struct, frozen=True, array_like=True):
    """What a type is made of, and what Go calls it.

    kind: ``struct``, ``list``, ``map``, ``string``, ``bool``, ``int``; ``quantity`` and ``duration`` have decoders of
    their own, ``any`` has one that takes everything. more: the fields of a struct, what a list or map holds, the bits
    of an int.
    """

    kind: str
    go: str
    more: Any = None


class Types(Struct, frozen=True):
    """By version and kind the type of the spec, and all types by name."""

    version: str
    kinds: Mapping[str, Mapping[str, str]]
    types: Mapping[str, GoType]


@functools.cache
def table() -> Types:
    """The types of the version that they were read from."""
    text = resources.files("kubectl_kres.tekton.rules.validation").joinpath("go_types.json").read_bytes()
    return msgspec.json.decode(text, type=Types)


def fields_of(go_type: GoType) -> Mapping[str, str | tuple[str, str]]:
    """Return the fields of a struct: the type of each, with what is inlined on the way to it."""
    fields: Mapping[str, str | tuple[str, str]] = go_type.more
    return fields


def without_nulls(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the object with empty steps, params, texts and the like for the nulls in its lists, other nulls as they
    are.

    Of an object that the decoder takes; one of another kind is returned as it is. Source: encoding/json decode.go,
    where null leaves a value that is no pointer as it was made.
    """
    name = table().kinds.get(str(raw.get("apiVersion", "")), {}).get(str(raw.get("kind", "")))
    return raw if name is None else {**raw, "spec": _fill_nulls(raw.get("spec"), name)}


def _fill_nulls(value: Any, name: str) -> Any:
    go_type = table().types[name]
    if go_type.kind == "struct" and isinstance(value, Mapping):
        fields = fields_of(go_type)
        return {key: _fill_nulls(item, _type(fields[key])) if key in fields else item for key, item in value.items()}
    if go_type.kind == "map" and isinstance(value, Mapping):
        return {key: _fill_nulls(item, go_type.more) for key, item in value.items()}
    if go_type.kind == "list" and isinstance(value, list | tuple):
        empty = _EMPTY.get(table().types[go_type.more].kind)
        return [empty if item is None else _fill_nulls(item, go_type.more) for item in value]
    return value


def _type(entry: str | tuple[str, str]) -> str:
    return entry if isinstance(entry, str) else entry[0]


_FIELD = "resources"

Path = tuple[str | int, ...]

#: What v1beta1 calls the fields of v1.
_OLD = {"stepOverrides": "stepSpecs", "sidecarOverrides": "sidecarSpecs"}


def misnamed_fields(raw: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """Yield each such field with the name that its version has for it.

    Embedded specs are left out: what they hold is not pruned, and the webhook refuses it.
    """
    version, kind = raw.get("apiVersion"), raw.get("kind")
    if version not in {V1, V1BETA1}:
        return
    beta = version == V1BETA1
    spec = raw.get("spec")
    if kind == "Task":
        for field in ("steps", "sidecars"):
            yield from _list_resource_fields(spec, field, ("spec",), beta=beta)
        if isinstance(spec, Mapping):
            yield from _resources(spec.get("stepTemplate"), ("spec", "stepTemplate"), beta=beta)
    elif kind == "TaskRun":
        yield from _overrides(spec, ("spec",), beta=beta)
        if not beta and isinstance(spec, Mapping) and "resources" in spec:
            yield ("spec", "resources"), "computeResources"
    elif kind == "PipelineRun":
        entries = spec.get("taskRunSpecs") if isinstance(spec, Mapping) else None
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            yield from _overrides(entry, ("spec", "taskRunSpecs", index), beta=beta)


def _overrides(spec: Any, path: Path, *, beta: bool) -> Iterator[tuple[Path, str]]:
    if not isinstance(spec, Mapping):
        return
    for old, new in _OLD.items():
        wrong, right = (new, old) if beta else (old, new)
        if wrong in spec:
            yield (*path, wrong), right
        yield from _list_resource_fields(spec, right, path, beta=beta)


def _list_resource_fields(spec: Any, field: str, path: Path, *, beta: bool) -> Iterator[tuple[Path, str]]:
    result = spec.get(field) if isinstance(spec, Mapping) else None
    for index, item in enumerate(result if isinstance(result, list) else ()):
        yield from _resources(item, (*path, field, index), beta=beta)


def _resources(container: Any, path: Path, *, beta: bool) -> Iterator[tuple[Path, str]]:
    wrong, right = ("computeResources", "resources") if beta else ("resources", "computeResources")
    if isinstance(container, Mapping) and wrong in container:
        yield (*path, wrong), right


def retired_fields(raw: Mapping[str, Any]) -> Iterator[str]:
    """Yield the paths of these fields. Source: v1beta1/*_validation.go, ErrDisallowedFields."""
    spec, kind = raw.get("spec"), raw.get("kind")
    if not isinstance(spec, Mapping):
        return
    if spec.get(_FIELD) is not None:
        yield f"spec.{_FIELD}"
    if kind == "TaskRun":
        yield from _fields_inside(spec, "taskSpec", "spec")
    elif kind == "PipelineRun":
        yield from _fields_inside(spec, "pipelineSpec", "spec")
        yield from _tasks(spec.get("pipelineSpec"), "spec.pipelineSpec")
    elif kind == "Pipeline":
        yield from _tasks(spec, "spec")


def _tasks(spec: Any, path: str) -> Iterator[str]:
    for field in ("tasks", "finally"):
        tasks = spec.get(field) if isinstance(spec, Mapping) else None
        for index, task in enumerate(tasks if isinstance(tasks, list) else ()):
            if isinstance(task, Mapping):
                item_path = f"{path}.{field}[{index}]"
                yield from (f"{item_path}.{_FIELD}",) if task.get(_FIELD) is not None else ()
                yield from _fields_inside(task, "taskSpec", item_path)


def _fields_inside(spec: Mapping[str, Any], field: str, path: str) -> Iterator[str]:
    result = spec.get(field)
    if isinstance(result, Mapping) and result.get(_FIELD) is not None:
        yield f"{path}.{field}.{_FIELD}"


#: Below these nothing is pruned before the webhook sees it, by the struct that they stand in.
_UNPRUNED = frozenset({
    *("TaskRunSpec.taskSpec", "PipelineRunSpec.pipelineSpec", "PipelineTask.taskSpec", "PipelineTask.pipelineSpec"),
    *("TaskSpec.volumes", "Template.affinity", "Template.securityContext", "Template.volumes"),
    "WorkspaceBinding.volumeClaimTemplate",
})  # fmt: skip


#: Structs whose value is written out again even if there is none, which it cannot be.
_VALUED = frozenset({"v1.Param", "v1beta1.Param", "v1.PipelineResult", "v1beta1.PipelineResult"})
_DECODING = "cannot decode incoming new object"
_ENCODING = "cannot create patch for round tripped newBytes: cannot marshal interface"


class DecoderFault(NamedTuple):
    """What the decoder says, which does not name the place; ``path`` does. ``observed``: the text or field there."""

    text: str
    path: str
    observed: str
    doing: str = _DECODING

    @property
    def message(self) -> str:
        """Return what the client is reported."""
        return f"mutation failed: {self.doing}: {self.text}"


def fault_in(raw: Mapping[str, Any]) -> DecoderFault | None:
    """Return where the decoder stops, or, once it has taken the object, the encoder; None if neither does.

    Unknown fields are only looked for where the API server does not prune them first. Keys are met in sorted order,
    since that is how the API server sends the object. Source: knative webhook defaulting; encoding/json decode.go,
    which goes on after a fault and reports the first; v1/param_types.go MarshalJSON.
    """
    kind = str(raw.get("kind", ""))
    name = table().kinds.get(str(raw.get("apiVersion", "")), {}).get(kind)
    if name is None or raw.get("spec") is None:
        return None
    late = None
    for fault in _faults(raw["spec"], name, ValuePlace(kind, "spec", "spec"), strict=False):
        if fault.doing == _DECODING:
            return fault
        late = late or fault
    return late


def _build_type_fault(value: Any, value_place: ValuePlace, go: str) -> DecoderFault:
    name = json_type(value)
    text = value_place.type_error(value, go, number=name == "number" and go.startswith("int"))
    return DecoderFault(text, value_place.path, str(value) if name in {"number", "string", "bool"} else name)


def _faults(value: Any, name: str, value_place: ValuePlace, *, strict: bool) -> Iterator[DecoderFault]:
    go_type = table().types[name]
    decode_kind = _DECODERS.get(go_type.kind)
    if value is None and go_type.go in _VALUED:
        value = {}
    if decode_kind is not None:
        yield from decode_kind(value, value_place)
    elif value is None or go_type.kind == "any":
        return
    elif json_type(value) != _FORMS.get(go_type.kind, go_type.kind) or (
        go_type.kind == "int" and not _fits(value, go_type.more)
    ):
        yield _build_type_fault(value, value_place, go_type.go)
    elif go_type.kind == "struct":
        yield from _struct(value, go_type, value_place, strict=strict)
    elif go_type.kind in {"list", "map"}:
        members = enumerate(value) if go_type.kind == "list" else sorted(value.items(), key=lambda item: str(item[0]))
        for index, item in members:
            yield from _faults(item, go_type.more, value_place.nested(f"[{index}]"), strict=strict)


_FORMS = {"struct": "object", "map": "object", "list": "array", "int": "number"}


def _struct(
    value: Mapping[str, Any], go_type: GoType, value_place: ValuePlace, *, strict: bool
) -> Iterator[DecoderFault]:
    fields = fields_of(go_type)
    wrapped = {field.casefold(): field for field in fields} if strict else {}
    struct = go_type.go.rpartition(".")[2]
    for key in sorted(value, key=str):
        field = key if key in fields else wrapped.get(str(key).casefold())
        if field is not None:
            entry = fields[field]
            name, inlined = (entry, "") if isinstance(entry, str) else entry
            member_place = ValuePlace(struct, f"{value_place.go_path}.{inlined}{field}", f"{value_place.path}.{key}")
            yield from _faults(value[key], name, member_place, strict=strict or f"{struct}.{field}" in _UNPRUNED)
        elif strict:
            yield DecoderFault(f'json: unknown field "{key}"', f"{value_place.path}.{key}", str(key))
    if go_type.go in _VALUED and not any(str(key).casefold() == "value" for key in value):
        version = go_type.go.partition(".")[0]
        text = f'json: error calling MarshalJSON for type {version}.ParamValue: impossible ParamValues.Type: ""'
        yield DecoderFault(text, f"{value_place.path}.value", "", _ENCODING)


def _quantity(value: Any, value_place: ValuePlace) -> Iterator[DecoderFault]:
    try:
        from_json(value)
    except QuantityError as error:
        yield DecoderFault(error.message, value_place.path, str(value))


def _duration(value: Any, value_place: ValuePlace) -> Iterator[DecoderFault]:
    """Yield a text that is no duration; anything else does not even come to be one."""
    if value is None:
        return
    if json_type(value) != "string":
        yield _build_type_fault(value, value_place, "string")
        return
    try:
        durations.parse(value)
    except durations.DurationError as error:
        yield DecoderFault(str(error), value_place.path, value)


_DECODERS = {"quantity": _quantity, "duration": _duration}


def _fits(value: Any, bits: int) -> bool:
    """Return whether the number is whole: one that is written with a point has none once the API server has sent
    it on.
    """
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return whole and -(2**bits) <= value < 2**bits
