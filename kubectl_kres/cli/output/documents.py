"""Answers as one document: JSON, YAML, or a form of the user's; JSON of many alike objects is written after one
pattern.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from itertools import permutations
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self, TextIO, TypeVar

import msgspec

from kubectl_kres.render.text import data
from kubectl_kres.render.text.data import Item
from kubectl_kres.reports.common.system import CacheKey
from kubectl_kres.store.store import Origin

if TYPE_CHECKING:
    from kubectl_kres.reports.common.unread import Frame


class CustomFormat(str):
    """It is ``json`` for all that asks; ``render_document`` returns the text of the document."""

    __slots__ = ("render_document",)
    render_document: Callable[[Mapping[str, Any]], str]

    def __new__(cls, asked: str) -> Self:
        """``asked`` is what follows ``-o``. Raises UsageError for what cannot be read."""
        from kubectl_kres.render.text import jsonpath

        result = super().__new__(cls, "json")
        form, _, text = asked.partition("=")
        if form == "jsonpath":
            parts = jsonpath.parse(text)
            result.render_document = lambda document: jsonpath.render_template(parts, document)
        else:
            columns = jsonpath.columns(text)
            result.render_document = lambda document: "".join(
                f"{line}\n" for line in jsonpath.table(columns, document.get("items", [document]))
            )
        return result


#: Items of a document stay in memory up to this size.
_IN_MEMORY = 8 << 20


_PIECE = 1 << 16


def format_document(document: Mapping[str, Any], output: str) -> str:
    """Return a document as JSON or YAML, with a newline at its end, or in the user's form."""
    if isinstance(output, CustomFormat):
        return output.render_document(msgspec.json.decode(data.to_json_bytes(document)))
    return data.to_json(dict(document)) + "\n" if output == "json" else data.to_yaml(dict(document))


class Items:
    """The items of one document. They wait on disk if they are many, since what stands before them is known last."""

    def __init__(self, output: str) -> None:
        self._output = output
        self._file: SpooledTemporaryFile[str] | None = None
        #: Those of a form of the user's, which looks at all of them at once.
        self._shaped: list[Any] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, item: Any) -> None:
        """Append an item; for JSON it may be drawn already, as ``data.Item``."""
        if isinstance(self._output, CustomFormat):
            self._shaped.append(data.to_plain(item))
            return
        if self._output == "yaml":
            text = data.to_yaml([data.to_plain(item)])
        else:
            drawn = item if isinstance(item, data.Item) else data.item(item)
            text = f",\n{drawn.text}" if self._file else drawn.text
        if self._file is None:
            self._file = SpooledTemporaryFile(_IN_MEMORY, "w+", encoding="utf-8", newline="")  # noqa: SIM115, __exit__ does
        self._file.write(text)

    def write(
        self, kind: str, origin: Origin, frame: Frame, *, kube_version: str = "", file: TextIO | None = None
    ) -> None:
        """The document, on standard output if no file is given. ``kube_version``: as ``data.document`` takes it."""
        head = data.document(
            kind, self._shaped, origin, complete=frame.complete, unread=frame.unread, kube_version=kube_version
        )
        if self._file is None:
            print(format_document(head, self._output), end="", file=file)
            return
        del head["items"]
        before, after = ("items:\n", "")
        if self._output == "json":
            before, after = ',\n  "items": [\n', "\n  ]\n}\n"
        print(format_document(head, self._output).removesuffix("\n}\n"), end=before, file=file)
        self._file.seek(0)
        for piece in iter(partial(self._file.read, _PIECE), ""):
            print(piece, end="", file=file)
        print(end=after, file=file)


Report = TypeVar("Report")

#: So many patterns are kept: objects that are alike come one after the other.
_KEPT = 1000
#: What JSON writes as it stands: names and times.
_PLAIN = re.compile(r"[A-Za-z0-9:.-]+")


class _Pattern(NamedTuple, Generic[Report]):
    """The first answer of its kind. ``proven``: another one was equal to it but for its texts."""

    texts: tuple[str, ...]
    report: Report
    item: Item
    proven: bool = False


class TextOnlyDifference(Generic[Report]):
    """The second answer of those that are alike proves that they differ in their texts alone, which no later one is
    asked for; where it shows that they do not, each is made for itself.
    """

    def __init__(self) -> None:
        self._patterns: dict[bytes, _Pattern[Report] | None] = {}

    def previous_text(self, like: CacheKey) -> tuple[Report, Item] | None:
        """Return the first report of those that are alike, and the item of this one; None: it has to be made."""
        pattern = self._patterns.get(like.key)
        if pattern is None or not pattern.proven or not _fits(like.texts):
            return None
        return pattern.report, _fill_pattern(pattern, like.texts)

    def record_answer(self, like: CacheKey, report: Report, item: Item) -> None:
        """An answer that was made."""
        if len(self._patterns) >= _KEPT:
            self._patterns.clear()
        if like.key not in self._patterns:
            self._patterns[like.key] = _Pattern(like.texts, report, item) if _fits(like.texts) else None
            return
        pattern = self._patterns[like.key]
        if pattern is not None and not pattern.proven:
            same = _fits(like.texts) and _fill_pattern(pattern, like.texts) == item
            self._patterns[like.key] = pattern._replace(proven=True) if same else None


def _fits(texts: tuple[str, ...]) -> bool:
    """Return whether each can be distinguished from the others wherever it stands."""
    apart = not any(name in other for name, other in permutations(texts, 2))
    return apart and all(_PLAIN.fullmatch(text) for text in texts)


def _fill_pattern(pattern: _Pattern[Report], texts: tuple[str, ...]) -> Item:
    """Return the pattern with other texts in place of its own."""
    text = pattern.item.text
    for old, new in zip(pattern.texts, texts, strict=True):
        text = text.replace(old, new)
    return Item(text)
