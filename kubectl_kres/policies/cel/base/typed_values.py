"""Values that a server of 1.37 or newer hands to expressions as Go has them: they compare as Go's structs do.

What an expression makes itself, a list, a map or what a function returns, is none of these; what it takes out of one
is. Source: apiserver pkg/cel/common/valuesschemalesstyped.go.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class GoStruct(Struct, frozen=True):
    """A struct of Go. ``quantities``: fields that hold a quantity or a map of such, which compare as amounts."""

    name: str
    quantities: frozenset[str] = frozenset()


class TypedList(list[Any]):
    """A slice of Go."""

    __slots__ = ()


class TypedMap(dict[str, Any]):
    """A map of Go."""

    __slots__ = ()


class TypedStruct(dict[str, Any]):
    """A struct of Go, with the fields that the server would write."""

    __slots__ = ("go_type",)

    def __init__(self, go_type: GoStruct, fields: dict[str, Any]) -> None:
        super().__init__(fields)
        self.go_type = go_type


MAPS = frozenset({dict, TypedMap, TypedStruct})
TYPED = frozenset({TypedList, TypedMap, TypedStruct})
_GO_NAMES: dict[type, str] = {
    TypedList: "*common.reflectSchemalessTypedList", TypedMap: "*common.reflectSchemalessTypedMap",
    TypedStruct: "*common.reflectSchemalessTypedStruct", list: "*types.baseList", dict: "*types.baseMap",
}  # fmt: skip
_GO_TYPES = {"null_type": "types.Null", "optional_type": "*types.Optional", "type": "*types.Type"}


def go_type_name(value: Any, name: str) -> str:
    """Return how Go prints the type of a value; ``name``: of CEL's type."""
    return _GO_NAMES.get(type(value)) or _GO_TYPES.get(name) or f"types.{name.rpartition('.')[2].capitalize()}"
