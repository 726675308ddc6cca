"""Static types and when one is assignable to another. Source: cel-go checker/types.go, checker/format.go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Literal, NamedTuple

Kind = Literal["dyn", "error", "null", "primitive", "struct", "opaque", "list", "map", "type", "param"]


class Type(NamedTuple):
    """A type; ``params`` are element, key and value, or what an opaque type holds."""

    kind: Kind
    name: str
    params: tuple[Type, ...] = ()

    def __str__(self) -> str:
        if not self.params:
            return "!error!" if self.kind == "error" else self.name
        return f"{self.name}({', '.join(str(param) for param in self.params)})"


DYN = Type("dyn", "dyn")
ERROR = Type("error", "!error!")
NULL = Type("null", "null")
BOOL, INT, UINT, DOUBLE, STRING, BYTES, TIMESTAMP, DURATION = (
    Type("primitive", name)
    for name in ("bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration")
)  # fmt: skip
TYPE = Type("type", "type")
Bindings = dict[Type, Type]

_BUILT_IN = {item.name: item for item in (DYN, NULL, BOOL, INT, UINT, DOUBLE, STRING, BYTES, TIMESTAMP, DURATION)}
_NULLABLE = ("opaque", "struct")


def list_type(element: Type) -> Type:
    return Type("list", "list", (element,))


def map_of(key: Type, value: Type) -> Type:
    return Type("map", "map", (key, value))


def optional_type(value: Type) -> Type:
    return Type("opaque", "optional_type", (value,))


def type_of(value: Type) -> Type:
    return Type("type", "type", (value,))


def is_optional(value: Type) -> bool:
    return value.kind == "opaque" and value.name == "optional_type"


@lru_cache(maxsize=512)
def parse_type(text: str) -> Type:
    """Return a type as declarations write it: ``list(A)``, ``map(string, dyn)``; a capital letter alone is a
    parameter.
    """
    head, opened, rest = text.strip().partition("(")
    if opened:
        params = tuple(parse_type(part) for part in split(rest[: rest.rindex(")")]))
        if head in ("list", "map", "type"):
            return Type(head, head, params)  # type: ignore[arg-type]
        return Type("opaque", head, params)
    if len(head) == 1 and head.isupper():
        return Type("param", head)
    if head == "type":
        return TYPE
    return _BUILT_IN.get(head) or Type("struct", head)


def split(text: str) -> list[str]:
    """Parts between commas outside parentheses."""
    parts, depth, current = [], 0, ""
    for char in text:
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += char
    return [*parts, current] if current.strip() else parts


def substitute(bound: Mapping[Type, Type], value: Type, *, free_to_dyn: bool = False) -> Type:
    """Return the type with its bound parameters replaced, unbound ones by dyn if asked."""
    while value in bound:
        value = bound[value]
    if value.kind == "param":
        return DYN if free_to_dyn else value
    if not value.params:
        return value
    return Type(
        value.kind, value.name, tuple(substitute(bound, param, free_to_dyn=free_to_dyn) for param in value.params)
    )


def assignable(bound: Bindings, first: Type, second: Type) -> Bindings | None:
    """Return the bindings under which the two agree; None if they do not."""
    copy = dict(bound)
    return copy if _is_assignable(copy, first, second) else None


def assignable_lists(bound: Bindings, first: Iterable[Type], second: Iterable[Type]) -> Bindings | None:
    """As ``assignable``, pair by pair; lists of different lengths do not agree."""
    ones, others = tuple(first), tuple(second)
    copy = dict(bound)
    if len(ones) != len(others):
        return None
    return copy if all(_is_assignable(copy, item, other) for item, other in zip(ones, others, strict=True)) else None


def most_general(first: Type, second: Type) -> Type:
    return first if _less_specific(first, second) else second


def _less_specific(first: Type, second: Type) -> bool:
    if first.kind in ("dyn", "param"):
        return True
    if second.kind in ("dyn", "param") or first.kind != second.kind:
        return False
    if first.kind in ("opaque", "list", "map"):
        return (
            first.name == second.name
            and len(first.params) == len(second.params)
            and all(_less_specific(param, other) for param, other in zip(first.params, second.params, strict=True))
        )
    return first.kind == "type" or first == second


def _is_assignable(bound: Bindings, first: Type, second: Type) -> bool:
    if second.kind == "param":
        valid, substituted = _bind(bound, first, second)
        if valid or substituted:
            return valid
    if first.kind == "param":
        return _bind(bound, second, first)[0]
    if first.kind in ("dyn", "error") or second.kind in ("dyn", "error"):
        return True
    if "null" in (first.kind, second.kind):
        other = second if first.kind == "null" else first
        return other.kind in (*_NULLABLE, "null") or other in (TIMESTAMP, DURATION)
    if first.kind in ("opaque", "list", "map"):
        return (
            first.kind == second.kind
            and first.name == second.name
            and len(first.params) == len(second.params)
            and all(
                _is_assignable(bound, param, other) for param, other in zip(first.params, second.params, strict=True)
            )
        )
    return second.kind == "type" if first.kind == "type" else first == second


def _bind(bound: Bindings, value: Type, param: Type) -> tuple[bool, bool]:
    """Return whether ``value`` can stand for the parameter, and whether that had something already."""
    if value == param:
        return True, True
    current = bound.get(param)
    if current is not None:
        if value == current:
            return True, True
        if not _is_assignable(bound, value, current):
            return False, True
        wider = most_general(value, current)
        if _is_absent_parameter(bound, param, wider):
            bound[param] = wider
        return True, True
    if _is_absent_parameter(bound, param, value):
        bound[param] = value
        return True, False
    return False, False


def _is_absent_parameter(bound: Mapping[Type, Type], param: Type, within: Type) -> bool:
    """Return whether the parameter does not occur in the type."""
    if param == within:
        return False
    if within.kind == "param":
        current = bound.get(within)
        return current is None or _is_absent_parameter(bound, param, current)
    return all(_is_absent_parameter(bound, param, part) for part in within.params)
