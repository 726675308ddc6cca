"""What an ApplyConfiguration gives, merged into an object field by field as server-side apply does.

Source: apiserver admission/plugin/policy/mutating/patch/smd.go, sigs.k8s.io/structured-merge-diff.
"""

from __future__ import annotations

import copy
import functools
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from typing import Any

from kubectl_kres.policies.cel.base.values import NotComputed

Raw = dict[str, Any]
_GROUPS = {"": "core"}


class CannotApply(Exception):
    """The configuration does not fit the object; the text is the server's."""


@functools.cache
def _schema() -> Mapping[str, Any]:
    text = resources.files("kubectl_kres.policies.rules").joinpath("merge_schema.json").read_text()
    table: Mapping[str, Any] = json.loads(text)
    return table


def root_of(kind: str, api_version: str) -> Any:
    """Return the type of a kind; anything goes for kinds that are in no table and come from a
    CustomResourceDefinition.
    """
    group, _, version = api_version.rpartition("/")
    name = f"api.{_GROUPS.get(group, group)}.{version}.{kind}"
    if name in _schema():
        return name
    if "." in group and not group.endswith(".k8s.io"):
        return {"map": "=untyped"}
    raise NotComputed(f"how fields of a {kind} are merged")


def merge_configuration(original: Mapping[str, Any], patch: Mapping[str, Any]) -> Raw:
    """Return the object with the configuration merged into it. Raises CannotApply, NotComputed."""
    kind, version = str(original.get("kind", "")), str(original.get("apiVersion", "v1"))
    root = root_of(kind, version)
    patch = {**patch, "kind": kind, "apiVersion": version}
    faults = [*_faults(root, patch, "")]
    if faults:
        texts = faults[0] if len(faults) == 1 else "\n  ".join(("errors:", *faults))
        raise CannotApply(f"failed to convert patch object to typed object: {texts}")
    atomic = list(_atomic(root, patch, ""))
    if atomic:
        texts = f"may not mutate atomic arrays, maps or structs: {', '.join(atomic)}"
        raise CannotApply(f"invalid ApplyConfiguration: {texts}")
    merged: Raw = _merge_values(root, copy.deepcopy(dict(original)), patch)
    return merged


def _resolve_type(kind: Any) -> tuple[Any, bool]:
    """Return the type behind a name, and whether it is atomic."""
    if isinstance(kind, dict) and "named" in kind:
        inner = _schema().get(kind["named"], "=untyped")
        return inner, True
    if isinstance(kind, str) and not kind.startswith("="):
        kind = _schema().get(kind, "=untyped")
    return kind, isinstance(kind, dict) and bool(kind.get("atomic"))


def _faults(kind: Any, value: Any, path: str) -> Iterator[str]:
    kind, _ = _resolve_type(kind)
    prefix = f"{path}: " if path else ""
    if value is None:
        return
    if isinstance(kind, str):
        yield from _scalar_faults(kind, value, prefix)
    elif "list" in kind:
        if not isinstance(value, list):
            yield f"{prefix}expected list, got &{{{_format_go_value(value)}}}"
            return
        seen: set[str] = set()
        for index, item in enumerate(value):
            element = _element(kind, item, index)
            if element in seen:
                yield f"{prefix}duplicate entries for key {element}"
            seen.add(element)
            yield from _faults(kind["list"], item, f"{path}{element}")
    elif isinstance(value, dict):
        yield from _map_faults(kind, value, path)
    else:
        yield f"{prefix}expected map, got &{{{_format_go_value(value)}}}"


def _map_faults(kind: Mapping[str, Any], value: Mapping[str, Any], path: str) -> Iterator[str]:
    for key in sorted(value):
        inner = kind["map"] if "map" in kind else kind["fields"].get(key)
        if inner is None:
            yield f"{path}.{key}: field not declared in schema"
        else:
            yield from _faults(inner, value[key], f"{path}.{key}")


def _scalar_faults(kind: str, value: Any, prefix: str) -> Iterator[str]:
    if kind == "=numeric" and (isinstance(value, bool) or not isinstance(value, int | float)):
        yield f"{prefix}expected numeric (int or float), got {_go_type(value)}"
    elif kind == "=string" and not isinstance(value, str):
        yield f"{prefix}expected string, got &value.valueUnstructured{{Value:{_format_go_value(value)}}}"
    elif kind == "=boolean" and not isinstance(value, bool):
        yield f"{prefix}expected boolean, got &{{{_format_go_value(value)}}}"


def _go_type(value: Any) -> str:
    return {"str": "string", "bool": "bool", "dict": "map[string]interface {}", "list": "[]interface {}"}.get(
        type(value).__name__, type(value).__name__
    )


def _format_go_value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{_format_go_value(value[key])}" for key in sorted(value)) + "]"
    return "[" + " ".join(_format_go_value(item) for item in value) + "]" if isinstance(value, list) else str(value)


def _element(kind: Mapping[str, Any], item: Any, index: int) -> str:
    keys = kind.get("keys")
    if "keys" in kind and not keys and not isinstance(item, dict | list):
        return f"[={json.dumps(item)}]"
    if not keys or not isinstance(item, dict) or not any(key in item for key in keys):
        return f"[{index}]"
    shown = ",".join(f"{key}={json.dumps(item[key])}" for key in keys if key in item)
    return f"[{shown}]"


def _atomic(kind: Any, value: Any, path: str) -> Iterator[str]:
    kind, atomic = _resolve_type(kind)
    if not isinstance(kind, dict):
        return
    if isinstance(value, dict) and "list" not in kind:
        if atomic:
            yield path
        for key in sorted(value):
            inner = kind.get("fields", {}).get(key)
            if inner is not None:
                yield from _atomic(inner, value[key], f"{path}.{key}")
    elif isinstance(value, list) and "list" in kind:
        if "keys" not in kind:
            yield path
        for index, item in enumerate(value):
            yield from _atomic(kind["list"], item, f"{path}[{index}]")


def _merge_values(kind: Any, old: Any, new: Any) -> Any:
    kind, atomic = _resolve_type(kind)
    if old is None or atomic or not isinstance(kind, dict) or type(old) is not type(new):
        return copy.deepcopy(new)
    if isinstance(new, list):
        return _merged_list(kind, old, new) if "list" in kind else copy.deepcopy(new)
    if not isinstance(new, dict):
        return new
    out = dict(old)
    for key, value in new.items():
        inner = kind.get("fields", {}).get(key, kind.get("map", "=untyped"))
        out[key] = _merge_values(inner, old.get(key), value)
    return out


def _merged_list(kind: Mapping[str, Any], old: list[Any], new: list[Any]) -> list[Any]:
    keys = kind.get("keys")
    if keys is None:
        return copy.deepcopy(new)
    defaults = (_resolve_type(kind["list"])[0] or {}).get("defaults", {})
    ours, theirs = ([_key(item, keys, defaults) for item in items] for items in (old, new))
    many = {key for key, count in Counter(ours).items() if count > 1}
    by_key = {key: None if key in many else item for key, item in zip(ours, old, strict=True)}
    return list(
        _merge_in_order(kind["list"], list(zip(ours, old, strict=True)), dict(zip(theirs, new, strict=True)), by_key)
    )


_Key = tuple[Any, ...]


def _merge_in_order(
    kind: Any, old: Sequence[tuple[_Key, Any]], new: Mapping[_Key, Any], by_key: Mapping[_Key, Any]
) -> Iterator[Any]:
    """Yield the items of both lists in the server's order; of keys that the old one has twice only the new item.

    Source: structured-merge-diff typed/merge.go visitListItems.
    """
    shared = [key for key in new if key in by_key]
    waiting = list(new)
    merged: set[_Key] = set()
    offset = 0
    while offset < len(old) or waiting:
        key = old[offset][0] if offset < len(old) else None
        if key is not None and waiting and key != waiting[0] and key in new and shared and key != shared[0]:
            offset += 1
            continue
        if key is not None and key not in new:
            yield old[offset][1]
            offset += 1
            continue
        if key is not None and (key in merged or (waiting and key == waiting[0])):
            offset += 1
        if waiting:
            taken = waiting.pop(0)
            merged.add(taken)
            yield _merge_values(kind, by_key.get(taken), new[taken])
            if shared and shared[0] == taken:
                shared.pop(0)


def _key(item: Any, keys: list[str], defaults: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(item.get(key, defaults.get(key)) for key in keys) if isinstance(item, dict) else (item,)
