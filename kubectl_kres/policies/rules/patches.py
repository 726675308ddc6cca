"""JSON Patch as the API server applies it. Source: gopkg.in/evanphx/json-patch.v4.

Merging what an ApplyConfiguration gives into an object, field by field as server-side apply does.

Source: apiserver admission/plugin/policy/mutating/patch/smd.go, sigs.k8s.io/structured-merge-diff.
"""

from __future__ import annotations

import copy
import functools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import resources
from typing import Any

from kubectl_kres.policies.cel.base.values import NotComputed

_MISSING = "missing value"
_INVALID = "invalid index referenced"
_INDEX = re.compile(r"[+-]?[0-9]+")


class CannotPatch(Exception):
    """The patch does not fit; the text is the server's."""


class TestFailed(Exception):
    """A ``test`` did not hold: nothing is patched."""

    __test__ = False


def apply_operations(document: Mapping[str, Any], operations: Sequence[Mapping[str, Any]]) -> Any:
    """Return the document after all operations. Raises CannotPatch, TestFailed."""
    result = {"": copy.deepcopy(dict(document))}
    for operation in operations:
        run = _OPERATIONS.get(operation.get("op", ""))
        if run is None:
            raise CannotPatch(f"Unexpected kind: {operation.get('op', '')}")
        run(result, operation)
    return result[""]


def _find(document: Any, path: str) -> tuple[Any, str]:
    """Return the container that a path leads into, and the last key; no container: there is none."""
    parts = path.split("/")
    if len(parts) < 2:
        return None, ""
    for part in parts[1:-1]:
        try:
            document = _get(document, _decode_key(part))
        except CannotPatch:
            return None, ""
        if not isinstance(document, dict | list):
            return None, ""
    return document, _decode_key(parts[-1])


def _decode_key(key: str) -> str:
    return re.sub("~[01]", lambda match: "/" if match[0] == "~1" else "~", key)


def _index(key: str, size: int) -> int:
    if not _INDEX.fullmatch(key):
        raise CannotPatch(f'strconv.Atoi: parsing "{key}": invalid syntax')
    index = int(key)
    if index < -size or index >= size:
        raise CannotPatch(f"Unable to access invalid index: {index}: {_INVALID}")
    return index % size


def _get(container: Any, key: str) -> Any:
    if isinstance(container, list):
        return container[_index(key, len(container))]
    return container.get(key) if isinstance(container, dict) else None


def _insert_value(container: Any, key: str, value: Any) -> None:
    if isinstance(container, dict):
        container[key] = value
    elif key == "-":
        container.append(value)
    else:
        if not _INDEX.fullmatch(key):
            text = f"value was not a proper array index: '{key}': strconv.Atoi: parsing \"{key}\": invalid syntax"
            raise CannotPatch(text)
        container.insert(_index(key, len(container) + 1), value)


def _drop(container: Any, key: str) -> None:
    if isinstance(container, list):
        del container[_index(key, len(container))]
    elif key not in container:
        raise CannotPatch(f"Unable to remove nonexistent key: {key}: {_MISSING}")
    else:
        del container[key]


def _value(operation: Mapping[str, Any]) -> Any:
    return copy.deepcopy(operation.get("value"))


def _add(mapping: dict[str, Any], operation: Mapping[str, Any]) -> None:
    path = operation.get("path", "")
    container, key = _find(mapping[""], path)
    if container is None:
        raise CannotPatch(f'add operation does not apply: doc is missing path: "{path}": {_MISSING}')
    try:
        _insert_value(container, key, _value(operation))
    except CannotPatch as fault:
        raise CannotPatch(f"error in add for path: '{path}': {fault}") from None


def _remove(mapping: dict[str, Any], operation: Mapping[str, Any]) -> None:
    path = operation.get("path", "")
    container, key = _find(mapping[""], path)
    if container is None:
        raise CannotPatch(f'remove operation does not apply: doc is missing path: "{path}": {_MISSING}')
    try:
        _drop(container, key)
    except CannotPatch as fault:
        raise CannotPatch(f"error in remove for path: '{path}': {fault}") from None


def _replace(mapping: dict[str, Any], operation: Mapping[str, Any]) -> None:
    path = operation.get("path", "")
    if path == "":
        mapping[""] = _value(operation)
        return
    container, key = _find(mapping[""], path)
    if container is None:
        raise CannotPatch(f"replace operation does not apply: doc is missing path: {path}: {_MISSING}")
    if isinstance(container, list):
        try:
            container[_index(key, len(container))] = _value(operation)
        except CannotPatch:
            raise CannotPatch(f"replace operation does not apply: doc is missing key: {path}: {_MISSING}") from None
    else:
        container[key] = _value(operation)


def _read_source(mapping: dict[str, Any], source: str, word: str, label: str) -> tuple[Any, str, Any]:
    container, key = _find(mapping[""], source)
    if container is None:
        raise CannotPatch(f"{word} operation does not apply: doc is missing from path: {source}: {_MISSING}")
    try:
        return container, key, _get(container, key)
    except CannotPatch as fault:
        raise CannotPatch(f"error in {label}: '{key if word == 'move' else source}': {fault}") from None


def _move(mapping: dict[str, Any], operation: Mapping[str, Any]) -> None:
    if "from" not in operation:
        raise CannotPatch(f"move operation failed to decode from: operation, missing from field: {_MISSING}")
    path = operation.get("path", "")
    container, key, value = _read_source(mapping, operation["from"], "move", "move for path")
    try:
        _drop(container, key)
    except CannotPatch as fault:
        raise CannotPatch(f"error in move for path: '{key}': {fault}") from None
    _store_value(mapping, path, value, "move", f"in move for path: '{path}'")


def _copy(mapping: dict[str, Any], operation: Mapping[str, Any]) -> None:
    if "from" not in operation:
        raise CannotPatch(f"copy operation failed to decode from: operation, missing from field: {_MISSING}")
    path = operation.get("path", "")
    _, _, value = _read_source(mapping, operation["from"], "copy", "copy for from")
    _store_value(mapping, path, copy.deepcopy(value), "copy", "while adding value during copy")


def _store_value(mapping: dict[str, Any], path: str, value: Any, word: str, fault: str) -> None:
    """Raises CannotPatch: ``fault`` says where of what cannot be put there."""
    container, key = _find(mapping[""], path)
    if container is None:
        raise CannotPatch(f"{word} operation does not apply: doc is missing destination path: {path}: {_MISSING}")
    try:
        _insert_value(container, key, value)
    except CannotPatch as error:
        raise CannotPatch(f"error {fault}: {error}") from None


def _test(mapping: dict[str, Any], operation: Mapping[str, Any]) -> None:
    path = operation.get("path", "")
    if path == "":
        if mapping[""] != operation.get("value"):
            raise TestFailed
        return
    container, key = _find(mapping[""], path)
    if container is None:
        raise CannotPatch(f"test operation does not apply: is missing path: {path}: {_MISSING}")
    try:
        value = _get(container, key)
    except CannotPatch as fault:
        raise CannotPatch(f"error in test for path: '{path}': {fault}") from None
    if value != operation.get("value") or isinstance(value, bool) is not isinstance(operation.get("value"), bool):
        raise TestFailed


_OPERATIONS: Mapping[str, Callable[[dict[str, Any], Mapping[str, Any]], None]] = {
    "add": _add, "remove": _remove, "replace": _replace, "move": _move, "copy": _copy, "test": _test,
}  # fmt: skip


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
