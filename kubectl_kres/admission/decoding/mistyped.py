"""Values of a JSON type that a field cannot hold: the server's decoder names the first one, and takes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from kubectl_kres.admission.decoding.unknown_fields import table
from kubectl_kres.model.kinds import BY_KIND, DEVICES

_BITS = {"int32": 31, "int64": 63}
#: Counts that may be percentages: what is no text is taken for an int32. Source: intstr.go UnmarshalJSON.
_SHARES = ("maxSurge", "maxUnavailable")
#: What kubectl lets a user write instead, in words of YAML.
_WORDS = {"array": "list", "object": "map", "bool": "boolean"}


class Mistyped(Struct, frozen=True):
    """The server's words, the path of the value, and in words of YAML what was found and what belongs there."""

    text: str
    path: str
    found: str
    wanted: str


class ValuePlace(Struct, frozen=True):
    """Where a value stands: in which struct of Go, at which path of fields alone, at which with the places of lists."""

    struct: str
    go_path: str
    path: str

    def within(self, place: str) -> ValuePlace:
        """Of an item of the list or map that stands here."""
        return ValuePlace(self.struct, self.go_path, f"{self.path}{place}")

    def unfit(self, value: Any, go: str, *, number: bool) -> str:
        """What encoding/json says of a value that the type ``go`` cannot hold; ``number``: it names the number, too."""
        shown = f"{json_type(value)} {value}" if number else json_type(value)
        return f"json: cannot unmarshal {shown} into Go struct field {self.struct}.{self.go_path} of type {go}"


def first_mistyped(raw: Mapping[str, Any], kind: str) -> Mistyped | None:
    """What the server names in its 400, in the order that kubectl sends fields; None if every type fits.

    Types with a decoder of their own (quantities, times) are not looked at, and none of
    a kind or version that is not in the table. A quantity that does not parse is told before. Source: sigs.k8s.io/json
    decode.go, which goes on after such a fault and reports the first.
    """
    known = BY_KIND.get(kind)
    if (
        known is None
        or known.group == DEVICES
        or kind not in table().types
        or raw.get("apiVersion", known.api_version) != known.api_version
    ):
        return None
    return next(_of_fields(raw, kind, "", ""), None)


def json_type(value: Any) -> str:
    """As Go's decoder names it. A number that is kept as text is told from a text by being of a type of its own."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, Mapping):
        return "object"
    if isinstance(value, list | tuple):
        return "array"
    return "string" if type(value) is str else "number"


def _of_fields(value: Mapping[str, Any], struct: str, go_path: str, path: str) -> Iterator[Mistyped]:
    """Of an object. ``go_path`` names fields alone, as the server does, ``path`` also the places of lists."""
    fields, leaves, between = table().types[struct], table().leaves.get(struct, {}), table().inlined.get(struct, {})
    for key in sorted(set(value) & set(fields)):
        result, inner = value[key], fields[key]
        name = f"{between.get(key, '')}{key}"
        at = ValuePlace(struct, f"{go_path}.{name}" if go_path else name, f"{path}.{key}" if path else key)
        if result is None:
            continue
        if inner:
            yield from _of_structs(result, inner, at)
        elif key in leaves:
            yield from _of_leaf(result, leaves[key], at)
        elif key in _SHARES and struct.startswith("RollingUpdate") and type(result) is not str:
            yield from _of_scalar(result, "int32", "int32", at)


def _fault(at: ValuePlace, value: Any, go: str, wanted: str) -> Mistyped:
    name = json_type(value)
    text = at.unfit(value, go, number=name == "number" and wanted == "integer")
    return Mistyped(text, at.path, _WORDS.get(name, name), wanted)


def _of_structs(value: Any, inner: str, at: ValuePlace) -> Iterator[Mistyped]:
    name = inner.removeprefix("[]")
    if name == inner:
        if isinstance(value, Mapping):
            yield from _of_fields(value, name, at.go_path, at.path)
        else:
            yield _fault(at, value, f"v1.{name}", "map")
    elif json_type(value) == "array":
        for index, item in enumerate(value):
            if item is not None:
                yield from _of_structs(item, name, at.within(f"[{index}]"))
    else:
        yield _fault(at, value, f"[]v1.{name}", "list")


def _of_leaf(value: Any, leaf: str, at: ValuePlace) -> Iterator[Mistyped]:
    kind, _, shown = leaf.partition(":")
    for mark, form, wanted in (("[]", "array", "list"), ("map[string]", "object", "map")):
        if not kind.startswith(mark):
            continue
        inner = leaf.removeprefix(mark)
        if json_type(value) != form:
            yield _fault(at, value, f"{mark}{inner.partition(':')[2] or inner}", wanted)
            return
        for place, item in enumerate(value) if form == "array" else sorted(value.items()):
            if item is not None:
                yield from _of_leaf(item, inner, at.within(f"[{place}]"))
        return
    yield from _of_scalar(value, kind, shown or kind, at)


def _of_scalar(value: Any, kind: str, shown: str, at: ValuePlace) -> Iterator[Mistyped]:
    text = json_type(value)
    if kind == "map" and text != "object":
        yield _fault(at, value, shown, "map")
    elif kind in {"string", "bool"} and text != kind:
        yield _fault(at, value, shown, _WORDS.get(kind, kind))
    elif kind in _BITS and not _fits(value, text, _BITS[kind]):
        yield _fault(at, value, shown, "integer" if text == "number" else "number")


def _fits(value: Any, name: str, bits: int) -> bool:
    return name == "number" and isinstance(value, int) and -(2**bits) <= value < 2**bits
