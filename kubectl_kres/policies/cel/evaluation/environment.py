"""What an expression may use: functions of a server's version, variables and the types of their fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from kubectl_kres.policies.cel.base.types import DYN, STRING, Type, parse_type, type_of
from kubectl_kres.policies.cel.libraries import conversions, kubernetes, lists, operators, strings
from kubectl_kres.policies.cel.libraries.overload import Overload

Fields = Mapping[str, Type]
Functions = Mapping[str, tuple[Overload, ...]]

_TYPE_NAMES = {
    **{name: parse_type(name) for name in ("bool", "bytes", "double", "dyn", "int", "string", "uint")},
    "list": parse_type("list(dyn)"),
    "map": parse_type("map(dyn, dyn)"),
    "null_type": parse_type("null"),
    "type": parse_type("type"),
    "google.protobuf.Duration": parse_type("duration"),
    "google.protobuf.Timestamp": parse_type("timestamp"),
    "optional_type": parse_type("optional_type(dyn)"),
    "net.IP": parse_type("net.IP()"),
    "net.CIDR": parse_type("net.CIDR()"),
}
#: What the server finds for a field that a patch has not: a type without a name, which no value has.
_UNKNOWN = Type("primitive", "")
_PATCH = {"op": STRING, "from": STRING, "path": STRING, "value": DYN}


class Environment:
    """variables: names that are declared, with their types. structs: fields of object types by name.

    patch: ``Object{}`` and ``JSONPatch{}`` may be made. version: of the server, which decides what is there.
    functions: those of somebody else than an API server.
    """

    def __init__(
        self,
        variables: Mapping[str, Type],
        structs: Mapping[str, Fields],
        version: tuple[int, int] = (1, 37),
        *,
        patch: bool = False,
        functions: Functions | None = None,
    ) -> None:
        self.variables, self.structs, self.version, self.patch = dict(variables), dict(structs), version, patch
        self.functions = functions_of(version, patch=patch) if functions is None else functions

    def with_variables(self, fields: Fields) -> Environment:
        """Return the same with ``variables`` of these fields."""
        structs = {**self.structs, "kubernetes.variables": fields}
        return Environment(self.variables, structs, self.version, patch=self.patch, functions=self.functions)

    def identifier(self, name: str) -> Type | None:
        """Return the type of a variable, or of a type's name; None if it is not declared."""
        name = name.removeprefix(".")
        if name in self.variables:
            return self.variables[name]
        if name in _TYPE_NAMES:
            return type_of(_TYPE_NAMES[name])
        return type_of(Type("struct", name)) if self.is_struct(name) else None

    def is_struct(self, name: str) -> bool:
        made = self.patch and (name in ("Object", "JSONPatch") or name.startswith("Object."))
        return made or name in self.structs

    def field(self, struct: str, name: str) -> Type | None:
        """Return the type of a field; None: there is no such field."""
        if self.patch and (struct == "Object" or struct.startswith("Object.")):
            return DYN
        if self.patch and struct == "JSONPatch":
            return _PATCH.get(name, _UNKNOWN)
        return self.structs.get(struct, {}).get(name)


@lru_cache(maxsize=16)
def functions_of(version: tuple[int, int], *, patch: bool) -> Functions:
    """Return every function by its name, as far as a server of that version has it."""
    parts: Iterable[tuple[Overload, ...]] = (
        operators.OVERLOADS,
        conversions.OVERLOADS, lists.OVERLOADS, strings.OVERLOADS, conversions.TIME_OVERLOADS, kubernetes.OVERLOADS,
        kubernetes.PATCH_OVERLOADS if patch else (),
    )  # fmt: skip
    return _by_name(overload for overloads in parts for overload in overloads if overload.since <= version[1])


def standard_functions(*others: Overload) -> Functions:
    """Return the functions of CEL itself with others beside them, without those that Kubernetes adds."""
    return _by_name((*operators.OVERLOADS, *conversions.OVERLOADS, *conversions.TIME_OVERLOADS, *others))


def _by_name(overloads: Iterable[Overload]) -> Functions:
    table: dict[str, list[Overload]] = {}
    for overload in overloads:
        table.setdefault(overload.function, []).append(overload)
    return {name: tuple(found) for name, found in table.items()}
