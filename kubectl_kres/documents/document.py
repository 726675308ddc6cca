"""One document of a file, and where it stands in it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from kubectl_kres.errors import InputError

PathStep = str | int
Position = tuple[int, int]

#: Deeper than any manifest, and shallow enough for every walk over one.
DEPTH = 500


class Document(Struct, frozen=True):
    """The text of a document; it begins at ``line`` and ``column`` (1-based) of ``file``.

    index: which document of the file it is, from 0, those without any text not counted.
    """

    file: str
    text: str
    form: Literal["yaml", "json"]
    index: int = 0
    line: int = 1
    column: int = 1

    def position(self, line: int, column: int) -> Position:
        """Line and column in the file of a 1-based place in the text."""
        return self.line + line - 1, column + (self.column - 1 if line == 1 else 0)

    def offset(self, offset: int) -> Position:
        """Line and column in the file of the character ``offset`` of the text."""
        return self.position(*position_at(self.text, offset))

    def fault(self, message: str, position: Position) -> InputError:
        """Return an error at a line and column of the file."""
        return InputError(message, file=self.file, line=position[0], column=position[1])


def position_at(text: str, offset: int) -> Position:
    """Line and column, 1-based, of the character ``offset``."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def duplicate_key_text(key: str) -> str:
    """Return what to say of a key that its map has already."""
    return f'key "{key}" is given twice: as in kubectl, the last one counts'
