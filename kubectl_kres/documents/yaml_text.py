"""YAML text as documents: their values, built without recursion, and the place of each value in the text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final

import yaml

from kubectl_kres.documents import scalar
from kubectl_kres.documents.document import DEPTH, Document, PathStep, Position, duplicate_key_text, position_at
from kubectl_kres.errors import InputError

#: Values that aliases may add to one document. A "billion laughs" has more, a manifest some dozens.
EXPANDED = 1_000_000

_NO_KEY: Final = object()
_MERGE: Final = object()


class _OpenCollection:
    """A list or map that is being filled."""

    __slots__ = ("anchor", "depth", "key", "keys", "size", "value")

    def __init__(self, value: Any, anchor: str | None) -> None:
        self.value, self.anchor = value, anchor
        self.key: Any = _NO_KEY
        self.keys: set[str] = set()
        self.size = self.depth = 1


class Build:
    """Takes events one by one; ``root`` is the value so far.

    anchors: value, size and depth of what an anchor names, None until it is complete.
    """

    def __init__(self, document: Document, notes: list[InputError] | None = None) -> None:
        self.document, self.notes = document, notes
        self.root: Any = None
        self.stack: list[_OpenCollection] = []
        self.anchors: dict[str, tuple[Any, int, int] | None] = {}
        self.expanded = 0

    def take(self, event: Any) -> None:
        match event:
            case yaml.ScalarEvent():
                self._scalar(event)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._begin_collection(event)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                frame = self.stack.pop()
                self.put(event, frame.value, frame.size, frame.depth, frame.anchor)
            case yaml.AliasEvent():
                self._alias(event)

    def _scalar(self, event: Any) -> None:
        expects_key = self._expects_key()
        if expects_key and event.value == "<<" and event.implicit[0]:
            self.stack[-1].key = _MERGE
            return
        try:
            value = scalar.resolve(event.value, plain=event.implicit[0], tag=event.tag or "")
        except ValueError as error:
            raise self._fault(event, str(error)) from error
        self.put(event, value, 1, 0, event.anchor)

    def _begin_collection(self, event: Any) -> None:
        if self._expects_key():
            raise self._fault(event, "a key must be text, not a map or a list")
        if len(self.stack) >= DEPTH:
            raise self._fault(event, f"nested deeper than {DEPTH} levels")
        if event.anchor:
            self.anchors[event.anchor] = None
        self.stack.append(_OpenCollection({} if isinstance(event, yaml.MappingStartEvent) else [], event.anchor))

    def _alias(self, event: Any) -> None:
        if event.anchor not in self.anchors:
            raise self._fault(event, f"unknown anchor '{event.anchor}' referenced")
        anchor = self.anchors[event.anchor]
        if anchor is None:
            raise self._fault(event, f"anchor '{event.anchor}' value contains itself")
        value, size, depth = anchor
        self.expanded += size
        if self.expanded > EXPANDED:
            raise self._fault(event, f"aliases make this document larger than {EXPANDED} values")
        if len(self.stack) + depth > DEPTH:
            raise self._fault(event, f"nested deeper than {DEPTH} levels")
        self.put(event, value, size, depth, None)

    def put(self, event: Any, value: Any, size: int, depth: int, anchor: str | None) -> None:
        """A value is complete: it goes where the walk stands."""
        if anchor:
            self.anchors[anchor] = value, size, depth
        if not self.stack:
            self.root = value
            return
        frame = self.stack[-1]
        frame.size += size
        frame.depth = max(frame.depth, depth + 1)
        if isinstance(frame.value, list):
            frame.value.append(value)
        elif frame.key is _NO_KEY:
            frame.key = self._key(event, frame, value)
        elif frame.key is _MERGE:
            self._merge(event, frame, value)
        else:
            frame.value[frame.key] = value
            frame.key = _NO_KEY

    def _key(self, event: Any, frame: _OpenCollection, value: Any) -> str:
        try:
            key = scalar.key(value)
        except ValueError as error:
            raise self._fault(event, str(error)) from error
        if key in frame.keys and self.notes is not None:
            self.notes.append(self._fault(event, duplicate_key_text(key)))
        frame.keys.add(key)
        return key

    def _merge(self, event: Any, frame: _OpenCollection, value: Any) -> None:
        parts = value if isinstance(value, list) else [value]
        if not all(isinstance(part, dict) for part in parts):
            raise self._fault(event, "map merge requires map or sequence of maps as the value")
        for part in reversed(parts):
            frame.value.update(part)
        frame.key = _NO_KEY

    def _expects_key(self) -> bool:
        return bool(self.stack) and isinstance(self.stack[-1].value, dict) and self.stack[-1].key is _NO_KEY

    def _fault(self, event: Any, message: str) -> InputError:
        mark = event.start_mark
        return self.document.fault(message, self.document.position(mark.line + 1, mark.column + 1))


_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SEPARATOR = re.compile(r"^---(.*)$", re.MULTILINE)


class _Position:
    """Where a walk stands in a list or map: the index or key it is at, None before a key."""

    __slots__ = ("step",)

    def __init__(self, *, items: bool) -> None:
        self.step: PathStep | None = 0 if items else None

    def next(self) -> None:
        """The value at the step is complete."""
        self.step = self.step + 1 if isinstance(self.step, int) else None


def split(file: str, text: str, *, start: int = 0, index: int = 0) -> Iterator[Document]:
    """Yield the documents of a file from the character ``start`` on, cut at ``---`` lines as kubectl cuts them.

    Empty ones are left out, and each ends with a line feed. Raises InputError at a separator with more than a comment
    behind it.
    Source: apimachinery util/yaml YAMLReader.Read.
    """
    line, column = position_at(text, start)
    for separator in _SEPARATOR.finditer(text, start):
        if text[start : separator.start()].strip():
            yield Document(file, text[start : separator.start()], "yaml", index, line, column)
            index += 1
        rest = separator[1].strip()
        if rest and not rest.startswith("#"):
            position = position_at(text, separator.start(1))
            raise InputError(
                f"invalid document separator: ---{rest[:40]}", file=file, line=position[0], column=position[1]
            )
        line, column = line + text.count("\n", start, separator.end()), separator.end() - separator.start() + 1
        start = separator.end()
    if text[start:].strip():
        rest = text[start:]
        yield Document(file, rest if rest.endswith("\n") else rest + "\n", "yaml", index, line, column)


def value(text: str) -> Any:
    """Return the value of YAML that stands in a field of an object; None if it is empty. Raises InputError."""
    return next((parse(document) for document in split("", text)), None)


def parse(document: Document, notes: list[InputError] | None = None) -> Any:
    """Return the value of a document as JSON would hold it; None if it is empty or null.

    Keys are text; numbers are int or ``Number``. Aliased values are shared: treat the result as read-only. As kubectl
    does, a merge (``<<``) replaces what stands before it and is replaced by what stands behind it; of a key that is
    given twice the last one counts, and ``notes`` gets a sentence about it. Raises InputError for bad syntax, a key
    that is no text, and for aliases or nesting without end.
    """
    build = Build(document, notes)
    for event in events(document):
        build.take(event)
    return build.root


def locate(document: Document, path: Sequence[PathStep]) -> Position:
    """Line and column in the file of the value at ``path``, or of the innermost value around it that is written."""
    wanted = list(path)
    best, depth = document.position(1, 1), -1
    for names, mark in _value_positions(events(document)):
        if depth > 0 and names[:depth] != wanted[:depth]:
            break
        if len(names) > depth and names == wanted[: len(names)]:
            best, depth = document.position(mark.line + 1, mark.column + 1), len(names)
            if depth == len(wanted):
                break
    return best


def value_positions(
    document: Document, paths: Collection[tuple[PathStep, ...]]
) -> dict[tuple[PathStep, ...], Position]:
    """Return where the values at some paths begin, of all in one walk; without those that are not written."""
    result: dict[tuple[PathStep, ...], Position] = {}
    for names, mark in _value_positions(events(document)):
        path = tuple(step for step in names if step is not None)
        if path in paths:
            result.setdefault(path, document.position(mark.line + 1, mark.column + 1))
            if len(result) == len(paths):
                break  # most documents are one object, which begins with them
    return result


def events(document: Document) -> Iterator[Any]:
    """Yield the parser's events. Raises InputError for bad syntax."""
    try:
        yield from yaml.parse(document.text, Loader=_LOADER)
    except UnicodeEncodeError as error:
        # Half of a surrogate pair: JSON can hold it in a text that is YAML itself.
        raise document.fault("half of a surrogate pair is no character", document.offset(error.start)) from error
    except yaml.reader.ReaderError as error:
        character = error.character if isinstance(error.character, str) else chr(error.character)
        position = document.offset(max(document.text.find(character), 0))
        raise document.fault(f"{error.reason}: U+{ord(character):04X}", position) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        position = document.position(mark.line + 1, mark.column + 1) if mark else document.position(1, 1)
        raise document.fault(str(error.problem or error.context), position) from error


def _value_positions(stream: Iterable[Any]) -> Iterator[tuple[list[PathStep | None], Any]]:
    """Yield the path of each value with the mark where it begins, in the order of the text."""
    stack: list[_Position] = []
    for event in stream:
        if isinstance(event, yaml.CollectionEndEvent):
            stack.pop()
        elif not isinstance(event, yaml.NodeEvent):
            continue
        elif stack and stack[-1].step is None:
            stack[-1].step = _key_text(event)
            continue
        else:
            yield [position.step for position in stack], event.start_mark
            if isinstance(event, yaml.CollectionStartEvent):
                stack.append(_Position(items=isinstance(event, yaml.SequenceStartEvent)))
                continue
        if stack:
            stack[-1].next()


def _key_text(event: Any) -> str:
    """Return the key as text; of an alias its anchor, which is near enough to find a place."""
    if isinstance(event, yaml.AliasEvent):
        return str(event.anchor)
    return scalar.key(scalar.resolve(event.value, plain=event.implicit[0], tag=event.tag or ""))
