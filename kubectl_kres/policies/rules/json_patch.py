"""JSON Patch as the API server applies it. Source: gopkg.in/evanphx/json-patch.v4."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

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
