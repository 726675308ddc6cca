"""An object as the server holds it once it is decoded: without fields it does not know, and without empty values.

Expressions see it so: ``has(object.spec.hostNetwork)`` is false for a pod that says false. Source: the tags of
k8s.io/api types; apimachinery pkg/runtime/converter.go, which fills in what expressions see.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubectl_kres.admission.decoding.unknown_fields import table
from kubectl_kres.errors import QuantityError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.quantity import stored

#: Fields besides resources that hold a quantity; they are written in its own notation, too.
_AMOUNTS = frozenset({"sizeLimit", "divisor"})


def received(raw: Mapping[str, Any]) -> dict[str, Any]:
    """A copy. Of a kind or version that is in no table only what is null goes."""
    kind = str(raw.get("kind", ""))
    known = BY_KIND.get(kind)
    if known is None or kind not in table().types or raw.get("apiVersion", known.api_version) != known.api_version:
        return {key: _copied(value) for key, value in raw.items() if value is not None}
    whole: dict[str, Any] = _struct(raw, kind)
    return whole


def _struct(value: Mapping[str, Any], name: str) -> dict[str, Any]:
    fields, omitted = table().types[name], table().omitted.get(name, ())
    out: dict[str, Any] = {}
    for key, item in value.items():
        inner = fields.get(key)
        if inner is None or item is None:
            continue
        if key in _AMOUNTS and not inner:
            out[key] = _amount(item)
        elif inner.startswith("[]") and isinstance(item, list | tuple):
            out[key] = [_item(item, inner[2:]) for item in item]
        else:
            out[key] = _item(item, inner)
        if key in omitted and not out[key]:
            del out[key]
    return out


def _item(value: Any, name: str) -> Any:
    return _struct(value, name) if name and isinstance(value, Mapping) else _copied(value)


def _amount(value: Any) -> Any:
    """One that does not parse was told of before."""
    try:
        return str(stored(value))
    except QuantityError:
        return value


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list | tuple) else value
