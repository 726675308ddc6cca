"""What becomes of the numbers that are tried, as ``kubectl kres simulate`` prints it, and the lines that make it so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.app import ComposeResult

from kubectl_kres.render.changes.change_report import change_lines
from kubectl_kres.render.text.line import Line
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.screens.pane import Pane
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.widgets.lines import Lines


class WhatIfPane(Pane):
    """One page of text. All other screens are drawn on the state that it tells of, until the change is left."""

    DEFAULT_CSS = """
    WhatIfPane > Lines { height: 1fr; }
    """

    def __init__(self, session: Session, place: Location) -> None:
        super().__init__(session, place)
        self.page = Lines()

    def compose(self) -> ComposeResult:
        yield self.page

    def on_mount(self) -> None:
        self.page.put(self._lines)
        self.page.focus()

    def _lines(self, width: int) -> Iterator[Line]:
        change = self.session.what_if
        if change is None:
            yield [("quiet", "nothing is tried: s on a value does")]
            return
        yield from change_lines(change.report, width)
        yield [("", "")]
        yield [("strong", "to make it so")]
        for typed_number in change.tries:
            yield [("", "  "), ("command", typed_number.command)]

    def command(self) -> str:
        return self.session.command("simulate")

    def status(self) -> Line:
        return [("warn", "all screens show this state; ~ marks what differs"), ("quiet", "  shift-u leaves it")]

    def crumb(self) -> str:
        return "what if"

    def hints(self) -> Sequence[str]:
        return ("up", "suppose", "unsuppose", "copy-command", "help")
