"""``==`` as cel-go and the API server have it, for values of JSON and for those that Go has typed.

Source: cel-go common/types, apiserver pkg/cel/common/valuesschemalesstyped.go, apimachinery pkg/api/equality.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kubectl_kres.policies.cel.base.values import (
    STRUCTS,
    TYPED,
    EvalError,
    LibraryValue,
    MessageLiteral,
    NotComputed,
    Optional,
    TypedList,
    TypedMap,
    TypedStruct,
)
from kubectl_kres.quantity import Quantity, parse

_NO_OVERLOAD = "no such overload"
_DEEP = (list, tuple, dict)


def equal(value: Any, other: Any) -> bool:
    """``==`` of any two values: numbers of different kinds compare by value, other kinds are just different.

    Raises EvalError where a typed list, map or struct is held against another kind, null apart.
    """
    if isinstance(value, bool) or isinstance(other, bool):
        if type(value) in TYPED:
            raise EvalError(_NO_OVERLOAD)
        return value is other
    if isinstance(value, int | float) and isinstance(other, int | float):
        return value == other
    if type(value) is type(other) and not isinstance(value, _DEEP):
        return bool(value == other)
    if value is None or other is None:
        return value is other
    return _equal_to(value, other)


def are_equal(value: Any, other: Any) -> bool:
    """Return whether two values are equal; where the server finds an error they are not."""
    try:
        return equal(value, other)
    except EvalError:
        return False


def contains(many: Any, value: Any) -> bool:
    """Return whether a list holds a value: a typed list asks its items, others the value."""
    if type(many) is TypedList:
        return any(are_equal(item, value) for item in many)
    return any(are_equal(value, item) for item in many)


def _equal_to(value: Any, other: Any) -> bool:
    """Return what the method ``Equal`` of the left value says; null is another kind to it."""
    kind = type(value)
    if kind in TYPED:
        return _typed_equal(value, other)
    if isinstance(value, list | tuple) and isinstance(other, list | tuple) and not _is_struct(value, other):
        return len(value) == len(other) and all(map(_not_different, value, other))
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        return _maps_equal(value, other, _not_different)
    if kind is not type(other):
        numbers = isinstance(value, int | float) and isinstance(other, int | float)
        return numbers and equal(value, other)
    if isinstance(value, Optional):
        return value.present == other.present and (not value.present or _equal_to(value.value, other.value))
    if isinstance(value, MessageLiteral):
        return bool(value.name == other.name and equal(value.fields, other.fields))
    if isinstance(value, LibraryValue):
        return bool(value.kind == other.kind and value.key == other.key)
    return bool(value == other)


def _maps_equal(value: Mapping[Any, Any], other: Mapping[Any, Any], same: Callable[[Any, Any], bool]) -> bool:
    return len(value) == len(other) and all(key in other and same(item, other[key]) for key, item in value.items())


def _not_different(value: Any, other: Any) -> bool:
    """Return whether two items of lists or maps are equal; the server takes an error for that, too."""
    try:
        return equal(value, other)
    except EvalError:
        return True


def _typed_equal(value: Any, other: Any) -> bool:
    if type(value) is TypedList:
        if not isinstance(other, list | tuple) or _is_struct(other):
            raise EvalError(_NO_OVERLOAD)
        return len(value) == len(other) and all(map(are_equal, value, other))
    if not isinstance(other, Mapping):
        raise EvalError(_NO_OVERLOAD)
    if type(value) is TypedMap:
        return _maps_equal(value, other, are_equal)
    if type(other) is TypedStruct:
        return deeply_equal(value, other)
    return _like_a_map(value, other)


def _like_a_map(struct: Mapping[str, Any], other: Mapping[Any, Any]) -> bool:
    """Compare a struct with a map field by field: the server, in no fixed order, ends at the first that is not equal.

    Raises NotComputed where some fields differ and others are of different kinds.
    """
    if len(struct) != len(other):
        return False
    answers: set[bool | None] = set()
    for key, item in struct.items():
        try:
            answers.add(key in other and _equal_to(item, other[key]))
        except EvalError:
            answers.add(None)
    if {False, None} <= answers:
        raise NotComputed("a comparison that the server decides by chance")
    if None in answers:
        raise EvalError(_NO_OVERLOAD)
    return False not in answers


def deeply_equal(value: Any, other: Any) -> bool:
    """Return what Go's DeepEqual says of two structs: of one type, with the same fields, quantities by amount."""
    if type(value) is not type(other):
        return False
    if type(value) is TypedStruct:
        if value.go_type.name != other.go_type.name or value.keys() != other.keys():
            return False
        amounts = value.go_type.quantities
        return all(
            _same_amounts(item, other[key]) if key in amounts else deeply_equal(item, other[key])
            for key, item in value.items()
        )
    if isinstance(value, dict):
        return value.keys() == other.keys() and all(deeply_equal(item, other[key]) for key, item in value.items())
    if isinstance(value, list):
        return len(value) == len(other) and all(map(deeply_equal, value, other))
    return bool(value == other)


def _same_amounts(value: Any, other: Any) -> bool:
    if isinstance(value, dict) and isinstance(other, dict):
        return value.keys() == other.keys() and all(_amount(value[key]) == _amount(other[key]) for key in value)
    return bool(_amount(value) == _amount(other))


def _amount(value: Any) -> Quantity | None:
    return None if value is None else parse(str(value))


def _is_struct(*values: Any) -> bool:
    return any(isinstance(value, STRUCTS) for value in values)
