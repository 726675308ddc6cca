"""Every field that a struct of the model types can hold what the server's own types can: no object is unreadable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import pytest

from kubectl_kres.admission.decoding import table
from kubectl_kres.model.kinds import DEVICES, KINDS, Kind
from kubectl_kres.tekton.model import GROUP as TEKTON
from kubectl_kres.tekton.rules.validation import decoder as go_types

#: Fields with a decoder of their own, which the table does not type: what the server writes there.
WRITTEN: Mapping[str, tuple[Any, ...]] = {
    "kind": ("Kind",),
    "apiVersion": ("v1",),
    "data": ({"spec": {}},),
    "fieldsV1": ({"f:spec": {}},),
    "allocatedResourceStatuses": ({"storage": "ControllerResizeInProgress"},),
    "resources": ({"cpu": "1"},),
    "divisor": ("1", "0"),
    "caBundle": ("Y2E=",),
    "sizeLimit": ("1Gi",),
    "quantity": ("1Gi",),
    # Of types that are new in 1.37 the table has the fields alone.
    **dict.fromkeys(("name", "key", "resourceClaimName", "resourceClaimTemplateName"), ("a",)),
    "minCount": (1,),
    **dict.fromkeys(("all", "single", "basic"), ({},)),
    **dict.fromkeys(("perContainer", "perPod"), ("1Gi",)),
    **dict.fromkeys(("maxSurge", "maxUnavailable", "port", "targetPort"), (1, "25%")),
}
TIME = "2026-01-02T03:04:05Z"
KNOWN = [kind for kind in KINDS if kind.kind in table().types and not kind.group.startswith((TEKTON, DEVICES))]
#: Kinds that are not in the table, by the fields that are typed of them.
OTHERS: Mapping[str, Mapping[str, Any]] = {
    "Node": {"status": {"capacity": {"cpu": "1"}, "allocatable": {"cpu": "1"}, "declaredFeatures": ["A"]}},
    "StorageClass": {"provisioner": "p", "parameters": {"a": "b"}, "allowVolumeExpansion": True},
    "Event": {
        "involvedObject": {"kind": "Pod", "namespace": "a", "name": "b", "uid": "c"},
        "count": 1,
        "eventTime": "2026-01-02T03:04:05.000006Z",
        "firstTimestamp": TIME,
        "lastTimestamp": TIME,
        "series": {"count": 1, "lastObservedTime": "2026-01-02T03:04:05.000006Z"},
    },
}


def samples(name: str, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Objects of a type in which every field is written, one for each way to write its fields."""
    fields, leaves = table().types[name], table().leaves.get(name, {})
    held = {field: list(_values(field, inner, leaves.get(field, ""), depth)) for field, inner in fields.items()}
    for turn in range(max(map(len, held.values()), default=0)):
        yield {field: values[turn % len(values)] for field, values in held.items() if values}


def _values(field: str, inner: str, leaf: str, depth: int) -> Iterator[Any]:
    if inner:
        if depth < 9:
            for item in samples(inner.removeprefix("[]"), depth + 1):
                yield [item] if inner.startswith("[]") else item
    elif leaf:
        yield _of(leaf)
    elif field in WRITTEN:
        yield from WRITTEN[field]
    else:
        assert field.endswith(("Time", "Timestamp", "At", "time")), f"{field} has a decoder that nobody knows here"
        yield TIME


def _of(leaf: str) -> Any:
    for mark in ("[]", "map[string]"):
        if leaf.startswith(mark):
            item = _of(leaf.removeprefix(mark))
            return [item] if mark == "[]" else {"a": item}
    scalar = leaf.partition(":")[0]
    return {"string": "a", "bool": True, "int32": 1, "int64": 1, "map": {"cpu": "1"}}[scalar]


@pytest.mark.parametrize("kind", KNOWN, ids=lambda kind: kind.kind)
def test_every_field_can_be_read(kind: Kind) -> None:
    for item in samples(kind.kind):
        for struct in filter(None, (kind.struct, kind.whole)):
            msgspec.json.decode(msgspec.json.encode(item), type=struct)


@pytest.mark.parametrize("kind", KNOWN, ids=lambda kind: kind.kind)
def test_every_field_that_is_typed_is_one_of_the_server(kind: Kind) -> None:
    """A name that is written wrong would be absent forever. Workloads share a struct: one of them has each field."""
    together = [one.kind for one in KNOWN if one.struct is kind.struct]
    for struct in filter(None, (kind.struct, kind.whole)):
        assert not [*_unknown(msgspec.inspect.type_info(struct), together)]


def _unknown(info: Any, types: list[str], depth: int = 0) -> Iterator[str]:
    for struct in _structs(info):
        fields = [table().types[name] for name in types]
        for field in struct.fields:
            name = field.encode_name
            held = [one[name] for one in fields if name in one]
            # A claim of storage shares the struct of what a container requests.
            if not held and (name, types) != ("claims", ["VolumeResourceRequirements"]):
                yield f"{struct.cls.__name__}.{name}"
            inner = sorted({one.removeprefix("[]") for one in held if one})
            if inner and depth < 9:
                yield from _unknown(field.type, inner, depth + 1)


def _structs(info: Any) -> Iterator[Any]:
    """The structs that a field can be, or that its lists hold."""
    match info:
        case msgspec.inspect.StructType():
            yield info
        case msgspec.inspect.UnionType():
            for one in info.types:
                yield from _structs(one)
        case msgspec.inspect.VarTupleType():
            yield from _structs(info.item_type)


@pytest.mark.parametrize("name", OTHERS)
def test_kinds_without_a_table(name: str) -> None:
    kind = next(one for one in KINDS if one.kind == name)
    item = {"kind": name, "apiVersion": kind.api_version, "metadata": next(samples("ObjectMeta")), **OTHERS[name]}
    msgspec.json.decode(msgspec.json.encode(item), type=kind.struct)


def test_a_cron_job_whose_job_runs() -> None:
    kind = next(one for one in KINDS if one.kind == "CronJob")
    job = b'{"kind": "Job", "namespace": "n", "name": "c-1", "uid": "u", "apiVersion": "batch/v1"}'
    text = b'{"status": {"active": [%s]}}' % job
    found = msgspec.json.decode(text, type=kind.struct)
    assert [job.name for job in found.status.active] == ["c-1"]
    assert found.status.running_pods == 0


#: A matrix of parameters is text or a list by what Tekton's decoders say of themselves; ``any`` takes everything.
_TEKTON = {"string": "a", "bool": True, "int": 1, "quantity": "1", "duration": "1m0s", "any": "a"}


def tekton_sample(name: str, seen: tuple[str, ...] = ()) -> Any:
    held = go_types.table().types[name]
    if held.kind == "struct":
        if name in seen:
            return {}
        fields = ((key, inner if isinstance(inner, str) else inner[0]) for key, inner in held.more.items())
        return {key: tekton_sample(inner, (*seen, name)) for key, inner in fields}
    if held.kind == "list":
        return [tekton_sample(held.more, seen)]
    if held.kind == "map":
        return {"a": tekton_sample(held.more, seen)}
    return _TEKTON[held.kind]


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind.kind in go_types.table().kinds.get(kind.api_version, {})],
    ids=lambda kind: kind.kind,
)  # fmt: skip
def test_every_field_of_tekton_can_be_read(kind: Kind) -> None:
    spec = tekton_sample(go_types.table().kinds[kind.api_version][kind.kind])
    for struct in filter(None, (kind.struct, kind.whole)):
        msgspec.json.decode(msgspec.json.encode({"spec": spec}), type=struct)
