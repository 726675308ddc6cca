"""Objects as a server of 1.37 or newer hands them to expressions: Go's structs, maps and lists, where it has these.

Objects of kinds that a CustomResourceDefinition brings are plain maps there, too. Source: apiserver
pkg/admission/conversion.go, pkg/admission/plugin/cel/activation.go.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from kubectl_kres.admission.decoding.unknown_fields import table
from kubectl_kres.policies.cel.base.typed_values import GoStruct, TypedList, TypedMap, TypedStruct

Raw = Mapping[str, Any]

#: Groups with ``k8s.io`` in their name whose kinds come from a CustomResourceDefinition.
_CUSTOM = frozenset({
    "autoscaling.k8s.io", "gateway.networking.k8s.io", "snapshot.storage.k8s.io", "groupsnapshot.storage.k8s.io",
    "policy.networking.k8s.io", "x-k8s.io",
})  # fmt: skip
_REQUEST: Mapping[str, Mapping[str, str]] = {
    "AdmissionRequest": {
        "kind": "GroupVersionKind", "resource": "GroupVersionResource", "requestKind": "GroupVersionKind",
        "requestResource": "GroupVersionResource", "userInfo": "UserInfo",
    },
}  # fmt: skip
#: Fields that have a decoder of their own and no type: what they hold is plain.
_PLAIN = frozenset(
    {("ManagedFieldsEntry", "fieldsV1"), ("ControllerRevision", "data"), ("AdmissionRequest", "options")}
)
_QUANTITY_FIELDS = frozenset({"sizeLimit", "divisor", "quantity", "perPod", "perContainer"})
_METADATA = {"metadata": "ObjectMeta"}


def is_typed(api_version: str) -> bool:
    """Return whether the server has Go types for the kinds of a group."""
    group = api_version.rpartition("/")[0]
    return "." not in group or (group.endswith(".k8s.io") and group not in _CUSTOM)


def typed_object(raw: Raw | None) -> Any:
    """Return the object typed; None for none, and as it is where the server has no type for it."""
    if raw is None or not is_typed(str(raw.get("apiVersion", "v1"))):
        return raw
    known = _KEPT.get(id(raw))
    if known is None or known[0] is not raw:
        if len(_KEPT) >= _MOST_KEPT:
            _KEPT.clear()
        known = _KEPT[id(raw)] = raw, typed_as(raw, str(raw.get("kind", "")))
    return known[1]


#: What was typed last: one object is asked about by one expression after the other.
_KEPT: dict[int, tuple[Raw, Any]] = {}
_MOST_KEPT = 8


def typed_as(value: Any, kind: str) -> Any:
    """Return a struct of that type, of which nothing but the metadata is known where it is in no table."""
    if not isinstance(value, dict):
        return value
    fields = _fields(kind)
    struct = {key: _typed(item, kind, key, fields.get(key, "")) for key, item in value.items()}
    return TypedStruct(_go_type(kind), struct)


def _typed(value: Any, kind: str, field: str, inner: str) -> Any:
    if type(value) is str or value is None:
        return value
    if isinstance(value, list | tuple):
        name = inner.removeprefix("[]")
        return TypedList([typed_as(item, name) for item in value] if name else map(_untold, value))
    if not isinstance(value, dict):
        return value
    if inner:
        return typed_as(value, inner)
    return value if (kind, field) in _PLAIN else _untold(value)


def _untold(value: Any) -> Any:
    """Return what stands where no struct is known: a map, or a list of such."""
    if isinstance(value, dict):
        return TypedMap((key, _untold(item)) for key, item in value.items())
    return TypedList(map(_untold, value)) if isinstance(value, list | tuple) else value


def _fields(kind: str) -> Mapping[str, str]:
    return table().types.get(kind) or _REQUEST.get(kind) or _METADATA


@functools.cache
def _go_type(kind: str) -> GoStruct:
    leaves = table().leaves.get(kind, {})
    named = {field for field, leaf in leaves.items() if leaf == "map:v1.ResourceList"}
    return GoStruct(kind, frozenset(named | (_QUANTITY_FIELDS & _fields(kind).keys() - leaves.keys())))
