"""The Go types of Tekton's objects, as its webhook decodes them; scripts/make_tekton_types.py wrote what is read."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import resources
from typing import Any

import msgspec
from msgspec import Struct

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
    """The fields of a struct: the type of each, with what is inlined on the way to it."""
    fields: Mapping[str, str | tuple[str, str]] = go_type.more
    return fields


def without_nulls(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """The object with empty steps, params, texts and the like for the nulls in its lists, other nulls as they are.

    Of an object that the decoder takes; one of another kind is returned as it is. Source: encoding/json decode.go,
    where null leaves a value that is no pointer as it was made.
    """
    name = table().kinds.get(str(raw.get("apiVersion", "")), {}).get(str(raw.get("kind", "")))
    return raw if name is None else {**raw, "spec": _filled(raw.get("spec"), name)}


def _filled(value: Any, name: str) -> Any:
    go_type = table().types[name]
    if go_type.kind == "struct" and isinstance(value, Mapping):
        fields = fields_of(go_type)
        return {key: _filled(item, _type(fields[key])) if key in fields else item for key, item in value.items()}
    if go_type.kind == "map" and isinstance(value, Mapping):
        return {key: _filled(item, go_type.more) for key, item in value.items()}
    if go_type.kind == "list" and isinstance(value, list | tuple):
        empty = _EMPTY.get(table().types[go_type.more].kind)
        return [empty if item is None else _filled(item, go_type.more) for item in value]
    return value


def _type(entry: str | tuple[str, str]) -> str:
    return entry if isinstance(entry, str) else entry[0]
