"""Objects of other libraries as the mappings that the API server takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubectl_kres.documents.number import Number
from kubectl_kres.errors import UsageError


def plain(item: Any) -> dict[str, Any]:
    """A manifest as mappings, lists and JSON's values.

    Taken are mappings (kopf's bodies), models of the official clients, synchronous or not (by ``attribute_map``), and
    what has ``to_dict()`` (lightkube), ``raw`` (kr8s) or ``obj`` (pykube). Raises UsageError for anything else.
    """
    result = _plain(item)
    if isinstance(result, dict):
        return result
    raise UsageError(f"a manifest or an object of a Kubernetes client was expected, not {type(item).__name__}")


def _plain(item: Any) -> Any:
    if isinstance(item, Number):
        return float(item)
    if item is None or isinstance(item, (str, int, float, bool)):
        return item
    if isinstance(item, Mapping):
        return {str(key): _plain(value) for key, value in item.items()}
    if isinstance(item, (list, tuple)):
        return [_plain(value) for value in item]
    if hasattr(item, "isoformat"):
        return item.isoformat().replace("+00:00", "Z")
    return _of_client(item)


def _of_client(item: Any) -> Any:
    names = getattr(type(item), "attribute_map", None)
    if isinstance(names, Mapping):
        fields = ((key, getattr(item, name, None)) for name, key in names.items())
        return {key: _plain(value) for key, value in fields if value is not None}
    for name in ("raw", "obj"):
        result = getattr(item, name, None)
        if isinstance(result, Mapping):
            return _plain(result)
    if callable(getattr(item, "to_dict", None)):
        return _without_none(_plain(item.to_dict()))
    raise UsageError(f"{type(item).__module__}.{type(item).__qualname__} is no object of a Kubernetes client")


def _without_none(item: Any) -> Any:
    if isinstance(item, dict):
        return {key: _without_none(value) for key, value in item.items() if value is not None}
    return [_without_none(value) for value in item] if isinstance(item, list) else item
