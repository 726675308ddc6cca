"""The value of a YAML document, built from the parser's events without recursion."""

from __future__ import annotations

from typing import Any, Final

import yaml

from kubectl_kres.documents import scalar
from kubectl_kres.documents.document import DEPTH, Document, twice
from kubectl_kres.errors import InputError

#: Values that aliases may add to one document. A "billion laughs" has more, a manifest some dozens.
EXPANDED = 1_000_000

_NO_KEY: Final = object()
_MERGE: Final = object()


class _Frame:
    """A list or map that is being filled."""

    __slots__ = ("anchor", "depth", "given", "key", "size", "value")

    def __init__(self, value: Any, anchor: str | None) -> None:
        self.value, self.anchor = value, anchor
        self.key: Any = _NO_KEY
        self.given: set[str] = set()
        self.size = self.depth = 1


class Build:
    """Takes events one by one; ``root`` is the value so far.

    anchors: value, size and depth of what an anchor names, None until it is complete.
    """

    def __init__(self, document: Document, notes: list[InputError] | None = None) -> None:
        self.document, self.notes = document, notes
        self.root: Any = None
        self.stack: list[_Frame] = []
        self.anchors: dict[str, tuple[Any, int, int] | None] = {}
        self.expanded = 0

    def take(self, event: Any) -> None:
        match event:
            case yaml.ScalarEvent():
                self._scalar(event)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._start(event)
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

    def _start(self, event: Any) -> None:
        if self._expects_key():
            raise self._fault(event, "a key must be text, not a map or a list")
        if len(self.stack) >= DEPTH:
            raise self._fault(event, f"nested deeper than {DEPTH} levels")
        if event.anchor:
            self.anchors[event.anchor] = None
        self.stack.append(_Frame({} if isinstance(event, yaml.MappingStartEvent) else [], event.anchor))

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

    def _key(self, event: Any, frame: _Frame, value: Any) -> str:
        try:
            key = scalar.key(value)
        except ValueError as error:
            raise self._fault(event, str(error)) from error
        if key in frame.given and self.notes is not None:
            self.notes.append(self._fault(event, twice(key)))
        frame.given.add(key)
        return key

    def _merge(self, event: Any, frame: _Frame, value: Any) -> None:
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
