"""Where the webhook stops before it looks: at a type that does not fit, an unknown field, a Param without a value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kubectl_kres.admission.decoding.mistyped import ValuePlace, json_type
from kubectl_kres.errors import QuantityError
from kubectl_kres.quantity import from_json
from kubectl_kres.tekton.rules.base.duration import fault as duration_fault
from kubectl_kres.tekton.rules.validation.go_types import GoType, fields_of, table

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
    def said(self) -> str:
        """What the client is told."""
        return f"mutation failed: {self.doing}: {self.text}"


def fault_in(raw: Mapping[str, Any]) -> DecoderFault | None:
    """Where the decoder stops, or, once it has taken the object, the encoder; None if neither does.

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


def _mistyped(value: Any, at: ValuePlace, go: str) -> DecoderFault:
    name = json_type(value)
    text = at.unfit(value, go, number=name == "number" and go.startswith("int"))
    return DecoderFault(text, at.path, str(value) if name in {"number", "string", "bool"} else name)


def _faults(value: Any, name: str, at: ValuePlace, *, strict: bool) -> Iterator[DecoderFault]:
    go_type = table().types[name]
    own = _DECODERS.get(go_type.kind)
    if value is None and go_type.go in _VALUED:
        value = {}
    if own is not None:
        yield from own(value, at)
    elif value is None or go_type.kind == "any":
        return
    elif json_type(value) != _FORMS.get(go_type.kind, go_type.kind) or (
        go_type.kind == "int" and not _fits(value, go_type.more)
    ):
        yield _mistyped(value, at, go_type.go)
    elif go_type.kind == "struct":
        yield from _struct(value, go_type, at, strict=strict)
    elif go_type.kind in {"list", "map"}:
        places = enumerate(value) if go_type.kind == "list" else sorted(value.items(), key=lambda item: str(item[0]))
        for place, item in places:
            yield from _faults(item, go_type.more, at.within(f"[{place}]"), strict=strict)


_FORMS = {"struct": "object", "map": "object", "list": "array", "int": "number"}


def _struct(value: Mapping[str, Any], go_type: GoType, at: ValuePlace, *, strict: bool) -> Iterator[DecoderFault]:
    fields = fields_of(go_type)
    folded = {field.casefold(): field for field in fields} if strict else {}
    struct = go_type.go.rpartition(".")[2]
    for key in sorted(value, key=str):
        field = key if key in fields else folded.get(str(key).casefold())
        if field is not None:
            entry = fields[field]
            name, inlined = (entry, "") if isinstance(entry, str) else entry
            place = ValuePlace(struct, f"{at.go_path}.{inlined}{field}", f"{at.path}.{key}")
            yield from _faults(value[key], name, place, strict=strict or f"{struct}.{field}" in _UNPRUNED)
        elif strict:
            yield DecoderFault(f'json: unknown field "{key}"', f"{at.path}.{key}", str(key))
    if go_type.go in _VALUED and not any(str(key).casefold() == "value" for key in value):
        version = go_type.go.partition(".")[0]
        text = f'json: error calling MarshalJSON for type {version}.ParamValue: impossible ParamValues.Type: ""'
        yield DecoderFault(text, f"{at.path}.value", "", _ENCODING)


def _quantity(value: Any, at: ValuePlace) -> Iterator[DecoderFault]:
    try:
        from_json(value)
    except QuantityError as error:
        yield DecoderFault(error.message, at.path, str(value))


def _duration(value: Any, at: ValuePlace) -> Iterator[DecoderFault]:
    """A text that is no duration; anything else does not even come to be one."""
    if value is None:
        return
    if json_type(value) != "string":
        yield _mistyped(value, at, "string")
    elif text := duration_fault(value):
        yield DecoderFault(text, at.path, value)


_DECODERS = {"quantity": _quantity, "duration": _duration}


def _fits(value: Any, bits: int) -> bool:
    """Whether the number is whole: one that is written with a point has none once the API server has sent it on."""
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return whole and -(2**bits) <= value < 2**bits
