"""Layout of every screen: header, footer, and the area between them."""

from __future__ import annotations

from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal
from textual.screen import Screen
from textual.widget import Widget

from kubectl_kres.tui.keys import bindings
from kubectl_kres.tui.table.strips import TONES, TONES_CSS, Bar
from kubectl_kres.tui.widgets.prompt import Prompt


class AppFrame(Screen[None], inherit_bindings=False):
    """The lines around every screen."""

    COMPONENT_CLASSES: ClassVar[set[str]] = TONES
    DEFAULT_CSS = f"AppFrame {{ {TONES_CSS} }}"
    BINDINGS: ClassVar[list[BindingType]] = bindings()
    #: The screens take the focus; until there is one the prompt must not, which would swallow the first keys.
    AUTO_FOCUS = ""

    def __init__(self, *, ascii_only: bool) -> None:
        super().__init__()
        self._rule = "-" if ascii_only else "─"

    def set_focus(self, widget: Widget | None, *how: bool, **named: bool) -> None:
        """While somebody types the keys are the prompt's: a screen that comes late asks for them in vain."""
        if widget is None or isinstance(widget, Prompt) or not self.has_class("typing"):
            super().set_focus(widget, *how, **named)

    def compose(self) -> ComposeResult:
        yield Bar(id="where")
        yield Bar(id="crumbs", fill=self._rule)
        yield Container(id="body")
        yield Bar(id="room")
        yield Bar(id="status", fill=self._rule)
        with Horizontal(id="typing"):
            yield Bar(id="sign")
            yield Prompt(id="prompt")
        yield Bar(id="command")
        yield Bar(id="keys")


def show_prompt(screen: Screen[Any], *, shown: bool) -> None:
    """The prompt in the place of the command, or the other way round; the class ``typing`` tells which.

    The class has no styles: by a rule for it all that is on the screen would be styled anew, and a key wait for that.
    """
    screen.set_class(shown, "typing", update=False)
    screen.query_one("#typing").display = shown
    screen.query_one("#command").display = not shown
