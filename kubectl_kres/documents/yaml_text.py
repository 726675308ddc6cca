"""YAML text cut into documents, the value of a document, and the place of each value in it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final

import yaml

from kubectl_kres.documents import scalar
from kubectl_kres.documents.document import Document, PathStep, Position, place
from kubectl_kres.documents.yaml_values import Build
from kubectl_kres.errors import InputError

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SEPARATOR = re.compile(r"^---(.*)$", re.MULTILINE)


class _Place:
    """Where a walk stands in a list or map: the index or key it is at, None before a key."""

    __slots__ = ("step",)

    def __init__(self, *, items: bool) -> None:
        self.step: PathStep | None = 0 if items else None

    def next(self) -> None:
        """The value at the step is complete."""
        self.step = self.step + 1 if isinstance(self.step, int) else None


def split(file: str, text: str, *, start: int = 0, index: int = 0) -> Iterator[Document]:
    """The documents of a file from the character ``start`` on, cut at ``---`` lines as kubectl cuts them.

    Empty ones are left out, and each ends with a line feed. Raises InputError at a separator with more than a comment
    behind it.
    Source: apimachinery util/yaml YAMLReader.Read.
    """
    line, column = place(text, start)
    for separator in _SEPARATOR.finditer(text, start):
        if text[start : separator.start()].strip():
            yield Document(file, text[start : separator.start()], "yaml", index, line, column)
            index += 1
        rest = separator[1].strip()
        if rest and not rest.startswith("#"):
            at = place(text, separator.start(1))
            raise InputError(f"invalid document separator: ---{rest[:40]}", file=file, line=at[0], column=at[1])
        line, column = line + text.count("\n", start, separator.end()), separator.end() - separator.start() + 1
        start = separator.end()
    if text[start:].strip():
        rest = text[start:]
        yield Document(file, rest if rest.endswith("\n") else rest + "\n", "yaml", index, line, column)


def value(text: str) -> Any:
    """The value of YAML that stands in a field of an object; None if it is empty. Raises InputError."""
    return next((parse(document) for document in split("", text)), None)


def parse(document: Document, notes: list[InputError] | None = None) -> Any:
    """The value of a document as JSON would hold it; None if it is empty or null.

    Keys are text; numbers are int or ``Number``. Aliased values are shared: treat the result as read-only. As kubectl
    does, a merge (``<<``) replaces what stands before it and is replaced by what stands behind it; of a key that is
    given twice the last one counts, and ``notes`` gets a sentence about it.
    Raises InputError for bad syntax, a key that is no text, and for aliases or nesting without end.
    """
    build = Build(document, notes)
    for event in events(document):
        build.take(event)
    return build.root


def locate(document: Document, path: Sequence[PathStep]) -> Position:
    """Line and column in the file of the value at ``path``, or of the innermost value around it that is written."""
    wanted = list(path)
    best, depth = document.position(1, 1), -1
    for names, mark in _places(events(document)):
        if depth > 0 and names[:depth] != wanted[:depth]:
            break
        if len(names) > depth and names == wanted[: len(names)]:
            best, depth = document.position(mark.line + 1, mark.column + 1), len(names)
            if depth == len(wanted):
                break
    return best


def starts(document: Document, paths: Collection[tuple[PathStep, ...]]) -> dict[tuple[PathStep, ...], Position]:
    """Where the values at some paths begin, of all in one walk; without those that are not written."""
    result: dict[tuple[PathStep, ...], Position] = {}
    for names, mark in _places(events(document)):
        path = tuple(step for step in names if step is not None)
        if path in paths:
            result.setdefault(path, document.position(mark.line + 1, mark.column + 1))
    return result


def events(document: Document) -> Iterator[Any]:
    """The parser's events. Raises InputError for bad syntax."""
    try:
        yield from yaml.parse(document.text, Loader=_LOADER)
    except yaml.reader.ReaderError as error:
        character = error.character if isinstance(error.character, str) else chr(error.character)
        at = document.offset(max(document.text.find(character), 0))
        raise document.fault(f"{error.reason}: U+{ord(character):04X}", at) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = document.position(mark.line + 1, mark.column + 1) if mark else document.position(1, 1)
        raise document.fault(str(error.problem or error.context), at) from error


def _places(stream: Iterable[Any]) -> Iterator[tuple[list[PathStep | None], Any]]:
    """The path of each value with the mark where it begins, in the order of the text."""
    stack: list[_Place] = []
    for event in stream:
        if isinstance(event, yaml.CollectionEndEvent):
            stack.pop()
        elif not isinstance(event, yaml.NodeEvent):
            continue
        elif stack and stack[-1].step is None:
            stack[-1].step = _key_text(event)
            continue
        else:
            yield [place.step for place in stack], event.start_mark
            if isinstance(event, yaml.CollectionStartEvent):
                stack.append(_Place(items=isinstance(event, yaml.SequenceStartEvent)))
                continue
        if stack:
            stack[-1].next()


def _key_text(event: Any) -> str:
    """The key as text; of an alias its anchor, which is near enough to find a place."""
    if isinstance(event, yaml.AliasEvent):
        return str(event.anchor)
    return scalar.key(scalar.resolve(event.value, plain=event.implicit[0], tag=event.tag or ""))
