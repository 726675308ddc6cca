"""The lines around every screen, and the place in the middle."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal
from textual.screen import Screen

from kubectl_kres.tui.drawn import Bar
from kubectl_kres.tui.keys import bindings
from kubectl_kres.tui.widgets.prompt import Prompt


class Shell(Screen[None], inherit_bindings=False):
    """The lines around every screen."""

    BINDINGS: ClassVar[list[BindingType]] = bindings()

    def __init__(self, *, ascii_only: bool) -> None:
        super().__init__()
        self._rule = "-" if ascii_only else "─"

    def compose(self) -> ComposeResult:
        yield Bar(id="where")
        yield Bar(id="crumbs")
        yield Container(id="body")
        yield Bar(id="room")
        yield Bar(id="status", fill=self._rule)
        with Horizontal(id="typing"):
            yield Bar(id="sign")
            yield Prompt(id="prompt")
        yield Bar(id="command")
        yield Bar(id="keys")
