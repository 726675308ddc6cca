"""The Go types of Tekton's objects, as its webhook decodes them; scripts/make_tekton_types.py wrote what is read."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import resources
from typing import Any

import msgspec
from msgspec import Struct


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
    text = resources.files("kubectl_kres.tekton.validation").joinpath("go_types.json").read_bytes()
    return msgspec.json.decode(text, type=Types)


def fields_of(held: GoType) -> Mapping[str, str | tuple[str, str]]:
    """The fields of a struct: the type of each, with what is inlined on the way to it."""
    fields: Mapping[str, str | tuple[str, str]] = held.more
    return fields
