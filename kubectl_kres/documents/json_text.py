"""A stream of JSON values to Python values with Go's numbers, and the place of each value."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import Any, NoReturn

from kubectl_kres.documents import scalar as number
from kubectl_kres.documents.document import DEPTH, Document, PathStep, Position, duplicate_key_text, position_at
from kubectl_kres.errors import InputError

_SPACE = re.compile(r"[ \t\r\n]*")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_PLAIN = json.JSONDecoder()


class JsonSyntaxError(InputError):
    """The text is no JSON from here on; ``end`` is where the last whole value ended. kubectl then tries YAML."""

    def __init__(self, message: str, *, file: str, position: Position, end: int) -> None:
        super().__init__(message, file=file, line=position[0], column=position[1])
        self.end = end


class _NumberError(ValueError):
    """A number is too large, or one that JSON does not have; the argument is its text."""


def stream(file: str, text: str, notes: list[InputError] | None = None) -> Iterator[tuple[Document, Any]]:
    """Yield each JSON value of a text, one behind the other with only white space between.

    Of a key that is given twice the last one counts; ``notes`` gets a sentence about the first of a value. Raises
    JsonSyntaxError where the text is no JSON, InputError for a number that no float64 holds and nesting without end.
    """
    index = end = 0
    line = 1
    repeated: list[str] = []
    decoder = json.JSONDecoder(
        parse_int=_number,
        parse_float=_number,
        parse_constant=_constant,
        object_pairs_hook=partial(_object, repeated),
    )
    while (start := _skip_space(text, end)) < len(text):
        line, column = line + text.count("\n", end, start), start - text.rfind("\n", 0, start)
        try:
            value, stop = decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            message = error.msg[:1].lower() + error.msg[1:]
            raise JsonSyntaxError(message, file=file, position=position_at(text, error.pos), end=end) from error
        except _NumberError as error:
            position = position_at(text, _number_at(text, str(error), start))
            if "N" in str(error) or "I" in str(error):
                raise JsonSyntaxError(f"{error} is no JSON", file=file, position=position, end=end) from error
            message = f"number {str(error)[:40]} is out of range"
            raise InputError(message, file=file, line=position[0], column=position[1]) from error
        except RecursionError:
            value, stop = [], 0
        if not stop or _is_too_deep(value):
            raise InputError(f"nested deeper than {DEPTH} levels", file=file, line=line, column=column)
        if repeated and notes is not None:
            notes.append(InputError(duplicate_key_text(repeated[0]), file=file, locate=partial(_twice_at, text, start)))
        repeated.clear()
        body = text[start:stop]
        yield Document(file, body, "json", index, line, column), _scrub(value) if _SURROGATE.search(body) else value
        index, end, line = index + 1, stop, line + body.count("\n")


def locate(document: Document, path: Sequence[PathStep]) -> Position:
    """Line and column in the file of the value at ``path``, or of the innermost value around it that is there."""
    offset = 0
    for step in path:
        member = next((value for key, _, value in _members(document.text, offset) if key == step), None)
        if member is None:
            break
        offset = member
    return document.offset(offset)


def value_positions(
    document: Document, paths: Collection[tuple[PathStep, ...]]
) -> dict[tuple[PathStep, ...], Position]:
    """Return where the values at some paths begin, of all in one walk; without those that are not there."""
    around = {path[:length] for path in paths for length in range(len(path))}
    result: dict[tuple[PathStep, ...], Position] = {}
    left: list[tuple[tuple[PathStep, ...], int]] = [((), 0)]
    while left:
        path, offset = left.pop()
        if path in paths:
            result[path] = document.offset(offset)
        if path in around:
            left += [((*path, key), value) for key, _, value in _members(document.text, offset)]
    return result


def _skip_space(text: str, offset: int) -> int:
    match = _SPACE.match(text, offset)
    return match.end() if match else offset


def _members(text: str, offset: int) -> Iterator[tuple[PathStep, int, int]]:
    """Key or index, where the key stands (the value, in a list) and where the value stands, of valid JSON at
    ``offset``.
    """
    opening, index = text[offset], 0
    if opening not in "{[":
        return
    offset = _skip_space(text, offset + 1)
    while text[offset] not in "}]":
        key: PathStep = index
        key_at = offset
        if opening == "{":
            key, offset = _PLAIN.raw_decode(text, offset)
            offset = _skip_space(text, _skip_space(text, offset) + 1)
        yield key, key_at, offset
        _, offset = _PLAIN.raw_decode(text, offset)
        offset = _skip_space(text, offset)
        if text[offset] == ",":
            offset = _skip_space(text, offset + 1)
        index += 1


def _twice_at(text: str, start: int) -> Position:
    return position_at(text, _find_repeated_key(text, start))


def _find_repeated_key(text: str, start: int) -> int:
    """Return where the first key stands that its object had before."""
    open_at, result = [start], []
    while open_at:
        seen: set[PathStep] = set()
        for key, key_at, value_at in _members(text, open_at.pop()):
            if key in seen:
                result.append(key_at)
                break
            seen.add(key)
            if text[value_at] in "{[":
                open_at.append(value_at)
    return min(result, default=start)


def _number_at(text: str, name: str, start: int) -> int:
    """Return where the number stands outside of longer words."""
    match = re.compile(rf"(?<=[:,\[\s]){re.escape(name)}(?=[,\]}}\s])").search(text, start)
    return match.start() if match else start


def _is_too_deep(value: Any) -> bool:
    """Return whether lists and maps are nested deeper than DEPTH."""
    level, depth = [value], 0
    while level and depth <= DEPTH:
        children = (item for entry in level for item in (entry.values() if isinstance(entry, dict) else entry))
        level = [item for item in children if isinstance(item, dict | list)]
        depth += 1
    return depth > DEPTH


def _object(repeated: list[str], pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The last of equal keys counts; they are noted in ``repeated``."""
    made = dict(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated += [key for index, key in enumerate(keys) if key in keys[:index]]
    return made


def _number(text: str) -> Any:
    try:
        return number.from_json(text)
    except OverflowError as error:
        raise _NumberError(text) from error


def _constant(text: str) -> NoReturn:
    raise _NumberError(text)


def _scrub(value: Any) -> Any:
    """Return the value with U+FFFD for halves of surrogate pairs, as Go decodes them."""
    match value:
        case number.Number():
            return value
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case dict():
            return {_scrub(key): _scrub(item) for key, item in value.items()}
        case list():
            return [_scrub(item) for item in value]
    return value
