"""What can go wrong with an expression."""

from __future__ import annotations

from msgspec import Struct


class Issue(Struct, frozen=True):
    """One error of parsing or checking. ``offset`` counts code points from the start; -1: no place."""

    offset: int
    message: str


#: Errors that are shown, each with the whole line that it is in.
_MOST_TOLD = 100


class CompileError(Exception):
    """The expression does not compile; the text is cel-go's, one block for each error."""

    def __init__(self, source: str, issues: list[Issue]) -> None:
        ordered = sorted(issues[:_MOST_TOLD], key=lambda issue: issue.offset)
        lines = [_shown(source, issue) for issue in ordered]
        if len(issues) > _MOST_TOLD:
            lines.append(f"{len(issues) - _MOST_TOLD} more errors were truncated")
        super().__init__("\n".join(lines))


class InstantiationError(Exception):
    """A constant in the expression cannot be worked out, which the server finds when it plans it."""


class EvalError(Exception):
    """The expression ends in an error. The message is the server's."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class CostExceeded(Exception):
    """The expression costs more than the server's limit for one expression."""

    message = "operation cancelled: actual cost limit exceeded"


class NotComputed(Exception):
    """The expression needs something that is not known here, or more work than is allowed. The text says what."""


def _shown(source: str, issue: Issue) -> str:
    """Source: cel-go common/error.go ToDisplayString."""
    if issue.offset < 0:
        return f"ERROR: <input>:-1:0: {issue.message}"
    before = source[: issue.offset]
    line, start = before.count("\n"), before.rfind("\n") + 1
    column = issue.offset - start
    snippet = source.split("\n")[line].replace("\t", " ")
    dots = "".join("." if ord(char) < 128 else "．" for char in snippet[:column])
    wide = column < len(snippet) and ord(snippet[column]) >= 128
    mark = dots + ("＾" if wide else "^")
    return f"ERROR: <input>:{line + 1}:{column + 1}: {issue.message}\n | {snippet}\n | {mark}"
