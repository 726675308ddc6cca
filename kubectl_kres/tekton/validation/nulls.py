"""Nulls in lists of Tekton's objects, in whose place Go's decoder puts an empty value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubectl_kres.tekton.validation.go_types import fields_of, table

_EMPTY: Mapping[str, Any] = {"struct": {}, "map": {}, "string": "", "bool": False, "int": 0}


def without_nulls(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """The object with empty steps, params, texts and the like for the nulls in its lists, other nulls as they are.

    Of an object that the decoder takes; one of another kind is returned as it is. Source: encoding/json decode.go,
    where null leaves a value that is no pointer as it was made.
    """
    name = table().kinds.get(str(raw.get("apiVersion", "")), {}).get(str(raw.get("kind", "")))
    return raw if name is None else {**raw, "spec": _filled(raw.get("spec"), name)}


def _filled(value: Any, name: str) -> Any:
    held = table().types[name]
    if held.kind == "struct" and isinstance(value, Mapping):
        fields = fields_of(held)
        return {key: _filled(one, _type(fields[key])) if key in fields else one for key, one in value.items()}
    if held.kind == "map" and isinstance(value, Mapping):
        return {key: _filled(one, held.more) for key, one in value.items()}
    if held.kind == "list" and isinstance(value, list | tuple):
        empty = _EMPTY.get(table().types[held.more].kind)
        return [empty if one is None else _filled(one, held.more) for one in value]
    return value


def _type(entry: str | tuple[str, str]) -> str:
    return entry if isinstance(entry, str) else entry[0]
