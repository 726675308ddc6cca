"""The server's decoder: what of an object as sent it refuses, drops or warns about.

It names the first value of a JSON type that a field cannot hold, or the first text, in the order in which kubectl sends
fields, that is no quantity, and takes nothing. Fields that it does not know are dropped with a Warning header, or
refused where the request is strict, as kubectl asks. Fields of a feature that it has not, or has switched off, are
dropped.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from importlib import resources
from itertools import islice
from typing import Any

import msgspec
from msgspec import Struct

from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.admission.base.outcome import Finding, Refusal
from kubectl_kres.admission.base.server import Server
from kubectl_kres.errors import QuantityError
from kubectl_kres.go_text import quote
from kubectl_kres.model.kinds import BY_KIND, DEVICES
from kubectl_kres.model.objects import Raw, items, mapping, pointer, text
from kubectl_kres.model.workload_kinds import WORKLOADS
from kubectl_kres.quantity import from_json

#: Where the server's decoder stops to gather them.
MOST = 100


class FieldTable(Struct, frozen=True):
    """Type to its fields, each with the type that it holds: empty if that has no fields, ``[]T`` for a list.

    ``leaves``: the Go types of what has no fields, as ``string``, ``string:v1.RestartPolicy``, ``[]string``,
    ``map[string]string`` or ``map:v1.ResourceList``; what has a decoder of its own is not among them. ``inlined``: what
    the decoder names before a field that stands in a struct within the struct, with a dot behind it. ``omitted``:
    fields that the server does not write where they hold an empty text, list or map, zero or false.
    """

    version: str
    types: Mapping[str, Mapping[str, str]]
    leaves: Mapping[str, Mapping[str, str]]
    inlined: Mapping[str, Mapping[str, str]]
    omitted: Mapping[str, tuple[str, ...]]


@functools.cache
def table() -> FieldTable:
    """Return what scripts/make_fields.py wrote."""
    text = resources.files("kubectl_kres.admission").joinpath("fields.json").read_bytes()
    return msgspec.json.decode(text, type=FieldTable)


def _is_in_table(raw: Mapping[str, Any], kind: str) -> bool:
    """Return whether the fields of an object are known: its kind, in its group and version, is in the table."""
    known_kind = BY_KIND.get(kind)
    return (
        known_kind is not None
        and known_kind.group != DEVICES
        and kind in table().types
        and raw.get("apiVersion", known_kind.api_version) == known_kind.api_version
    )


def unknown_fields(raw: Mapping[str, Any], kind: str) -> tuple[str, ...]:
    """Return the server's warnings for an object as sent, in the order of its fields; no more than ``MOST``.

    Empty for kinds that are not in the table, and for another group or version of one that is. Fields are those of the
    newest version that rules are known of: an older server knows fewer. Source: sigs.k8s.io/json UnmarshalStrict.
    """
    if not _is_in_table(raw, kind):
        return ()
    paths = dict.fromkeys(_unknown(raw, kind, ""))
    return tuple(f"unknown field {quote(path)}" for path in islice(paths, MOST))


_STEP = re.compile(r"([^.\[\]]+)(\[\d+\])?\.?")


def better_place(kind: str, path: str) -> str:
    """Return where an unknown field (its path as the server writes it) was probably meant to be; empty if nothing is
    near.

    In order: the same name in a field beside it (``limits`` for ``resources.limits``), the same name further out, a
    name that is written alike.
    """
    steps = [(match[1], match[2] or "") for match in _STEP.finditer(path)]
    if not steps:  # a field whose name is empty
        return ""
    *outer, (name, _) = steps
    types = [kind]
    for field, _ in outer:
        inner = table().types.get(types[-1], {}).get(field, "").removeprefix("[]")
        if not inner:
            return ""
        types.append(inner)
    fields = table().types[types[-1]]
    within = [field for field, inner in fields.items() if name in table().types.get(inner, {})]
    if within:
        return ".".join((*_format_steps(outer), within[0], name))
    for depth in range(len(outer) - 1, -1, -1):
        if name in table().types[types[depth]]:
            return ".".join((*_format_steps(outer[:depth]), name))
    alike = get_close_matches(name, fields, 1, 0.5)
    return ".".join((*_format_steps(outer), alike[0])) if alike else ""


def _format_steps(steps: Sequence[tuple[str, str]]) -> list[str]:
    return [f"{name}{index}" for name, index in steps]


def _unknown(value: Mapping[str, Any], name: str, path: str) -> Iterator[str]:
    fields = table().types[name]
    for key, entry in value.items():
        inner = fields.get(key)
        if inner == "":
            continue  # most are
        item_path = f"{path}.{key}" if path else str(key)
        if inner is None:
            yield item_path
        else:
            for segment, item in _items_inside(entry, item_path) if inner.startswith("[]") else [(item_path, entry)]:
                if isinstance(item, Mapping):
                    yield from _unknown(item, inner.removeprefix("[]"), segment)


def _items_inside(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, list | tuple):
        yield from ((f"{path}[{index}]", item) for index, item in enumerate(value))


_BITS = {"int32": 31, "int64": 63}
#: Counts that may be percentages: what is no text is taken for an int32. Source: intstr.go UnmarshalJSON.
_SHARES = ("maxSurge", "maxUnavailable")
#: What kubectl lets a user write instead, in words of YAML.
_WORDS = {"array": "list", "object": "map", "bool": "boolean"}


class TypeMismatch(Struct, frozen=True):
    """The server's words, the path of the value, and in words of YAML what was found and what belongs there."""

    text: str
    path: str
    actual: str
    expected: str


class ValuePlace(Struct, frozen=True):
    """Where a value stands: in which struct of Go, at which path of fields alone, at which with the places of lists."""

    struct: str
    go_path: str
    path: str

    def nested(self, segment: str) -> ValuePlace:
        """Of an item of the list or map that stands here."""
        return ValuePlace(self.struct, self.go_path, f"{self.path}{segment}")

    def type_error(self, value: Any, go: str, *, number: bool) -> str:
        """Return what encoding/json says of a value that the type ``go`` cannot hold; ``number``: it names the number,
        too.
        """
        shown = f"{json_type(value)} {value}" if number else json_type(value)
        return f"json: cannot unmarshal {shown} into Go struct field {self.struct}.{self.go_path} of type {go}"


def first_mistyped(raw: Mapping[str, Any], kind: str) -> TypeMismatch | None:
    """Return what the server names in its 400, in the order that kubectl sends fields; None if every type fits.

    Types with a decoder of their own (quantities, times) are not looked at, and none of a kind or version that is not
    in the table. A quantity that does not parse is reported before. Source: sigs.k8s.io/json decode.go, which goes on
    after such a fault and reports the first.
    """
    if not _is_in_table(raw, kind) or _is_well_typed(raw, kind):
        return None
    return next(_object_mismatches(raw, kind, "", ""), None)


def _is_well_typed(value: Mapping[str, Any], struct: str) -> bool:
    """Return whether each field is plainly of its type, as almost all are; False: it has to be looked at closely."""
    fields, leaves = table().types[struct], table().leaves.get(struct, {})
    for key, item in value.items():
        inner = fields.get(key)
        if inner is None or item is None:
            continue
        if inner == "":
            if key in leaves and not _is_plain_leaf(item, leaves[key]):
                return False
            if key in _SHARES and type(item) is not str:
                return False
        elif inner[0] != "[":
            if type(item) is not dict or not _is_well_typed(item, inner):
                return False
        elif type(item) is not list or not all(
            each is None or (type(each) is dict and _is_well_typed(each, inner[2:])) for each in item
        ):
            return False
    return True


#: Types of Go by the type of a value that any of them holds.
_PLAIN_LEAVES = {str: "string", bool: "bool"}


def _is_plain_leaf(value: Any, leaf: str) -> bool:
    """Return whether a value is of the type at the end of a path, where that is told at once."""
    kind, found = leaf.partition(":")[0], type(value)
    if found is dict:
        return kind == "map" or (kind == "map[string]string" and all(type(each) is str for each in value.values()))
    if found is list:
        return kind == "[]string" and all(type(each) is str for each in value)
    if found is int:
        return kind in _BITS and -(2**31) <= value < 2**31
    return _PLAIN_LEAVES.get(found) == kind


def json_type(value: Any) -> str:
    """As Go's decoder names it. A number that is kept as text is reported from a text by being of a type of its own."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, Mapping):
        return "object"
    if isinstance(value, list | tuple):
        return "array"
    return "string" if type(value) is str else "number"


def _object_mismatches(value: Mapping[str, Any], struct: str, go_path: str, path: str) -> Iterator[TypeMismatch]:
    """Of an object. ``go_path`` names fields alone, as the server does, ``path`` also the places of lists."""
    fields, leaves, between = table().types[struct], table().leaves.get(struct, {}), table().inlined.get(struct, {})
    for key in sorted(set(value) & set(fields)):
        result, inner = value[key], fields[key]
        name = f"{between.get(key, '')}{key}"
        value_place = ValuePlace(struct, f"{go_path}.{name}" if go_path else name, f"{path}.{key}" if path else key)
        if result is None:
            continue
        if inner:
            yield from _struct_mismatches(result, inner, value_place)
        elif key in leaves:
            yield from _leaf_mismatches(result, leaves[key], value_place)
        elif key in _SHARES and struct.startswith("RollingUpdate") and type(result) is not str:
            yield from _scalar_mismatches(result, "int32", "int32", value_place)


def _field_fault(value_place: ValuePlace, value: Any, go: str, expected: str) -> TypeMismatch:
    name = json_type(value)
    text = value_place.type_error(value, go, number=name == "number" and expected == "integer")
    return TypeMismatch(text, value_place.path, _WORDS.get(name, name), expected)


def _struct_mismatches(value: Any, inner: str, value_place: ValuePlace) -> Iterator[TypeMismatch]:
    name = inner.removeprefix("[]")
    if name == inner:
        if isinstance(value, Mapping):
            yield from _object_mismatches(value, name, value_place.go_path, value_place.path)
        else:
            yield _field_fault(value_place, value, f"v1.{name}", "map")
    elif json_type(value) == "array":
        for index, item in enumerate(value):
            if item is not None:
                yield from _struct_mismatches(item, name, value_place.nested(f"[{index}]"))
    else:
        yield _field_fault(value_place, value, f"[]v1.{name}", "list")


def _leaf_mismatches(value: Any, leaf: str, value_place: ValuePlace) -> Iterator[TypeMismatch]:
    kind, _, shown = leaf.partition(":")
    for mark, form, expected in (("[]", "array", "list"), ("map[string]", "object", "map")):
        if not kind.startswith(mark):
            continue
        inner = leaf.removeprefix(mark)
        if json_type(value) != form:
            yield _field_fault(value_place, value, f"{mark}{inner.partition(':')[2] or inner}", expected)
            return
        for index, item in enumerate(value) if form == "array" else sorted(value.items()):
            if item is not None:
                yield from _leaf_mismatches(item, inner, value_place.nested(f"[{index}]"))
        return
    yield from _scalar_mismatches(value, kind, shown or kind, value_place)


def _scalar_mismatches(value: Any, kind: str, shown: str, value_place: ValuePlace) -> Iterator[TypeMismatch]:
    text = json_type(value)
    if kind == "map" and text != "object":
        yield _field_fault(value_place, value, shown, "map")
    elif kind in {"string", "bool"} and text != kind:
        yield _field_fault(value_place, value, shown, _WORDS.get(kind, kind))
    elif kind in _BITS and not _fits(value, text, _BITS[kind]):
        yield _field_fault(value_place, value, shown, "integer" if text == "number" else "number")


def _fits(value: Any, name: str, bits: int) -> bool:
    return name == "number" and isinstance(value, int) and -(2**bits) <= value < 2**bits


#: Where quantities are: fields of an object, ``[each item of a list]``, a resource list or a single quantity.
_Tree = Mapping[str, Any] | list[Any] | str

_LIST, _ONE = "list", "one"
_SIDES = {"limits": _LIST, "requests": _LIST}
_DIVISOR = {"resourceFieldRef": {"divisor": _ONE}}
_CONTAINERS = [{"env": [{"valueFrom": _DIVISOR}], "resources": _SIDES}]
_FILES = {"items": [_DIVISOR]}
_VOLUMES = [
    {
        "downwardAPI": _FILES,
        "emptyDir": {"sizeLimit": _ONE},
        "ephemeral": {"volumeClaimTemplate": {"spec": {"resources": _SIDES}}},
        "projected": {"sources": [{"downwardAPI": _FILES}]},
    }
]
_ITEM_FIELDS = ("default", "defaultRequest", "max", "maxLimitRequestRatio", "min")

_POD: _Tree = {
    "spec": {
        **dict.fromkeys(("containers", "ephemeralContainers", "initContainers"), _CONTAINERS),
        "overhead": _LIST,
        "resources": _SIDES,
        "volumes": _VOLUMES,
    }
}


def _nest_tree(path: tuple[str, ...], tree: _Tree) -> _Tree:
    """Return the tree of an object that has another one at a path."""
    return functools.reduce(lambda inner, key: {key: inner}, reversed(path), tree)


_TREES: Mapping[str, _Tree] = {
    "Pod": _POD,
    **{row.kind: _nest_tree(row.template, _POD) for row in WORKLOADS.values()},
    "StatefulSet": {"spec": {"template": _POD, "volumeClaimTemplates": [{"spec": {"resources": _SIDES}}]}},
    "LimitRange": {"spec": {"limits": [dict.fromkeys(_ITEM_FIELDS, _LIST)]}},
    "ResourceQuota": {"spec": {"hard": _LIST}, "status": {"hard": _LIST, "used": _LIST}},
    "PersistentVolumeClaim": {
        "spec": {"resources": _SIDES},
        "status": {"allocatedResources": _LIST, "capacity": _LIST},
    },
}


def first_unparsable(raw: Mapping[str, Any], kind: str) -> Unparsable | None:
    """Return what the server names in its 400; None if every quantity of the object parses.

    Other clients may send fields in another order than sorted. Source: json decoding into apis/core/v1 types, which
    ends at the first error.
    """
    tree = _TREES.get(kind)
    return None if tree is None else next(_faults(raw, tree, ""), None)


def _faults(value: Any, tree: _Tree, path: str) -> Iterator[Unparsable]:
    if tree == _ONE:
        yield from _fault(value, path)
    elif isinstance(tree, list):
        for index, item in enumerate(value if isinstance(value, list | tuple) else ()):
            yield from _faults(item, tree[0], f"{path}[{index}]")
    elif isinstance(value, Mapping):
        for key in sorted(value):
            if tree == _LIST:
                yield from _fault(value[key], f"{path}[{key}]")
            elif isinstance(tree, Mapping) and key in tree:
                yield from _faults(value[key], tree[key], f"{path}.{key}" if path else key)


def _fault(value: Any, path: str) -> Iterator[Unparsable]:
    try:
        from_json(value)
    except QuantityError as error:
        yield Unparsable(path, error)


_DIGITS = re.compile(r"(\d+)")


def strict_refusal(raw: Mapping[str, Any], kind: str, unknown: Sequence[str]) -> Refusal:
    """400 of kubectl's default ``--validate=strict``; ``unknown``: the texts of ``unknown_fields``, at least one.

    Source: apiserver endpoints/handlers/create.go.
    """
    texts = sorted(unknown, key=_order)
    message = f"strict decoding error: {', '.join(texts)}"
    findings = tuple(Finding(text, "kubectl/unknown-field", _path(text), resource=kind) for text in texts)
    text = f'{kind} in version "{version_of(raw)}" cannot be handled as a {kind}: {message}'
    return Refusal(400, "BadRequest", text, findings)


def version_of(raw: Mapping[str, Any]) -> str:
    """``v1`` of ``apps/v1``."""
    return str(raw.get("apiVersion", "v1")).rpartition("/")[2]


def _order(path: str) -> tuple[tuple[bool, int, str], ...]:
    """By name, and by number where they are numbers: kubectl sends fields in the order of their names."""
    parts = _DIGITS.split(path)
    return tuple((part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts)


def _path(text: str) -> str:
    return text.removeprefix("unknown field ").strip('"')


#: Sources of a projected volume, and the change of ``admission.base.versions`` without which the server drops them.
GATED_SOURCES: Mapping[str, str] = {
    "clusterTrustBundle": "volume/cluster-trust-bundle",
    "podCertificate": "volume/pod-certificate",
}


def drop_gated_fields(raw: Raw, server: Server) -> Raw:
    """Return the pod without claims, container restart policies and volumes of images that the server has not.

    The very same where the server knows all. Source: api/pod/util.go dropDisabledFields.
    """
    raw = with_known_volumes(raw, server)
    claims, rules = server.is_enabled("DynamicResourceAllocation"), server.is_enabled("ContainerRestartRules")
    if claims and rules:
        return raw
    kept = dict(mapping(raw, "spec"))
    if not claims:
        kept.pop("resourceClaims", None)
    for key in ("containers", "initContainers"):
        if isinstance(kept.get(key), list):
            kept[key] = [_kept_raw(item, claims=claims, rules=rules, init=key != "containers") for item in kept[key]]
    return {**raw, "spec": kept}


def _kept_raw(raw: Raw, *, claims: bool, rules: bool, init: bool) -> Raw:
    kept = dict(raw)
    if not claims and "claims" in mapping(raw, "resources"):
        kept["resources"] = {key: value for key, value in mapping(raw, "resources").items() if key != "claims"}
    if not rules:
        kept.pop("restartPolicyRules", None)
        if not (init and raw.get("restartPolicy") == "Always"):
            kept.pop("restartPolicy", None)
    return kept


def with_known_volumes(raw: Raw, server: Server) -> Raw:
    """Return a pod or template as sent, without volumes of images, what mounts them, and projected sources that are
    gated.

    Source: api/pod/util.go dropImageVolumes, dropDisabledClusterTrustBundleProjection.
    """
    raw = _with_known_sources(raw, server)
    spec = mapping(raw, "spec")
    names = {text(item, "name") for item in items(spec, "volumes") if pointer(item, "image") is not None}
    if server.is_enabled("ImageVolume") or not names:
        return raw
    kept = {**spec, "volumes": [item for item in items(spec, "volumes") if pointer(item, "image") is None]}
    for key in ("containers", "initContainers", "ephemeralContainers"):
        if isinstance(spec.get(key), list):
            kept[key] = [
                {
                    **item,
                    "volumeMounts": [
                        mount for mount in items(item, "volumeMounts") if text(mount, "name") not in names
                    ],
                }
                for item in items(spec, key)
            ]
    return {**raw, "spec": kept}


def _with_known_sources(raw: Raw, server: Server) -> Raw:
    spec = mapping(raw, "spec")
    unknown = {key for key, change in GATED_SOURCES.items() if not server.has_change(change)}
    sources = [part for volume in items(spec, "volumes") for part in items(mapping(volume, "projected"), "sources")]
    if not any(unknown & part.keys() for part in sources):
        return raw
    return {**raw, "spec": {**spec, "volumes": [_with_sources(item, unknown) for item in items(spec, "volumes")]}}


def _with_sources(volume: Raw, unknown: set[str]) -> Raw:
    projected = mapping(volume, "projected")
    if not projected:
        return volume
    kept = [{key: value for key, value in part.items() if key not in unknown} for part in items(projected, "sources")]
    return {**volume, "projected": {**projected, "sources": kept}}


def with_known_strategy(raw: Raw, server: Server) -> Raw:
    """Return a StatefulSet as sent without maxUnavailable where the server drops it; anything else as it is.

    Source: registry/apps/statefulset/strategy.go dropStatefulSetDisabledFields.
    """
    rolling = mapping(mapping(mapping(raw, "spec"), "updateStrategy"), "rollingUpdate")
    if (
        raw.get("kind") != "StatefulSet"
        or "maxUnavailable" not in rolling
        or server.has_change("statefulset/max-unavailable")
    ):
        return raw
    spec = mapping(raw, "spec")
    kept = {key: value for key, value in rolling.items() if key != "maxUnavailable"}
    return {**raw, "spec": {**spec, "updateStrategy": {**mapping(spec, "updateStrategy"), "rollingUpdate": kept}}}
