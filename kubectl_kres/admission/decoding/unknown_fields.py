"""Fields that the API server does not know: it drops them and says so in Warning headers."""

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

from kubectl_kres.admission.base.field_error import quote
from kubectl_kres.model.kinds import BY_KIND, DEVICES

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
    """What scripts/make_fields.py wrote."""
    text = resources.files("kubectl_kres.admission.decoding").joinpath("fields.json").read_bytes()
    return msgspec.json.decode(text, type=FieldTable)


def unknown_fields(raw: Mapping[str, Any], kind: str) -> tuple[str, ...]:
    """The server's warnings for an object as sent, in the order of its fields; no more than ``MOST``.

    Empty for kinds that are not in the table, and for another group or version of one that is. Fields are those of
    the newest version that rules are known of: an older server knows fewer. Source: sigs.k8s.io/json UnmarshalStrict.
    """
    known = BY_KIND.get(kind)
    if (
        known is None
        or known.group == DEVICES
        or kind not in table().types
        or raw.get("apiVersion", known.api_version) != known.api_version
    ):
        return ()
    paths = dict.fromkeys(_unknown(raw, kind, ""))
    return tuple(f"unknown field {quote(path)}" for path in islice(paths, MOST))


_STEP = re.compile(r"([^.\[\]]+)(\[\d+\])?\.?")


def better_place(kind: str, path: str) -> str:
    """Where an unknown field (its path as the server writes it) was probably meant to be; empty if nothing is near.

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
        return ".".join((*_joined(outer), within[0], name))
    for depth in range(len(outer) - 1, -1, -1):
        if name in table().types[types[depth]]:
            return ".".join((*_joined(outer[:depth]), name))
    alike = get_close_matches(name, fields, 1, 0.5)
    return ".".join((*_joined(outer), alike[0])) if alike else ""


def _joined(steps: Sequence[tuple[str, str]]) -> list[str]:
    return [f"{name}{index}" for name, index in steps]


def _unknown(value: Mapping[str, Any], name: str, path: str) -> Iterator[str]:
    fields = table().types[name]
    for key, entry in value.items():
        at = f"{path}.{key}" if path else str(key)
        inner = fields.get(key)
        if inner is None:
            yield at
        elif inner:
            for place, item in _held(entry, at) if inner.startswith("[]") else [(at, entry)]:
                if isinstance(item, Mapping):
                    yield from _unknown(item, inner.removeprefix("[]"), place)


def _held(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, list | tuple):
        yield from ((f"{path}[{index}]", item) for index, item in enumerate(value))
