"""The lines around every screen: where it is, the way here, what is shown or just happened, the command, the keys."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events, on
from textual.app import App
from textual.reactive import reactive
from textual.timer import Timer

from kubectl_kres.render.text.line import Line, Tone
from kubectl_kres.tui.location import History, Location
from kubectl_kres.tui.open_panes import OpenPanes
from kubectl_kres.tui.screens.pane import Copy, FrameChanged, Pane, StatusRemark
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.strips import Bar, count_cells, safe_text
from kubectl_kres.tui.widgets.header_footer import crumb_line, fresh_line, key_line, typing_line, where_line
from kubectl_kres.tui.widgets.prompt import Prompt

#: Cells that the header keeps for where it is, whatever is tried and how fresh the rest is.
_WHERE = 60
#: Seconds that a remark stands in the status line.
_REMARK = 4.0


class LinesAround(App[None]):
    """The part of the app that draws these lines; ``app.Kres`` is the rest."""

    session: Session
    history: History
    panes: OpenPanes
    #: Whether the screen is held still.
    paused: reactive[bool] = reactive(False, init=False)
    #: What stands in the status line instead of the screen's own words, for a while.
    remark: reactive[Line] = reactive[Line]((), init=False)
    _remark_ends: Timer | None = None

    @property
    def pane(self) -> Pane | None:
        """Return the screen that is shown; None: there is none so far."""
        return self.panes.shown

    @property
    def typing(self) -> bool:
        """Return whether the keys are the prompt's."""
        return self.screen_stack[0].has_class("typing")

    def watch_paused(self) -> None:
        self.tell()

    def watch_remark(self) -> None:
        self.tell()

    @on(FrameChanged)
    @on(events.DescendantFocus)  # the pane that has the keys is marked
    def tell(self) -> None:
        """Draw the lines around the screen."""
        # While the app ends, its lines go before its timers do.
        if self.pane is None or not self.screen_stack or not self.screen_stack[0].query("#keys"):
            return
        self._draw_where()
        self._draw_way(self.pane)
        self._draw_status(self.pane)
        self._bar("command").put([("quiet", " $ "), ("", self.pane.command())], [("quiet", "ctrl-y copies ")])
        hints: Sequence[str] = self.pane.hints()
        purpose = self.screen_stack[0].query_one(Prompt).purpose
        self._bar("keys").put(typing_line(purpose) if self.typing else key_line(hints, self.size.width))

    def _draw_where(self) -> None:
        """Draw which cluster and namespace it is, what is tried, and how fresh it is."""
        width = self.size.width
        fresh = fresh_line(self.session, width, paused=self.paused)
        if (change := self.session.what_if) is not None:
            tried: Line = [("warn", f"~ {safe_text(change.short)} ")]
            both: tuple[Line, ...] = ([("warn", f"~ what if {safe_text(change.words)} "), *fresh], [*tried, *fresh])
            fresh = next((line for line in both if count_cells(line) <= width - _WHERE), tried)
        self._bar("where").put(where_line(self.session, width, width - count_cells(fresh)), fresh)

    def _draw_way(self, pane: Pane) -> None:
        """Draw the way here, and what is filtered. It is the border of what stands first, as those of other panes are
        theirs.
        """
        filtered, main = pane.filter_summary, pane.main_widget
        crumbs = [*(self._crumb(location) for location in self.history.trail[:-1]), pane.breadcrumb()]
        right: Line = [("warn", f"filter {safe_text(filtered)} ")] if filtered else ()
        fill_tone = "focus" if main is not None and main is self.focused and not main.border_title else "quiet"
        self._bar("crumbs").put(crumb_line(crumbs, self.size.width - len(filtered)), right, fill_tone=fill_tone)

    def _draw_status(self, pane: Pane) -> None:
        """Draw what just happened, else what is shown, on the rule below the screen."""
        rule = self._bar("status")._fill  # noqa: SLF001, the rule that the line is drawn on
        texts = self.remark or pane.status()
        line: list[tuple[Tone, str]] = [("quiet", rule), ("", " "), *texts]
        self._bar("status").put(line if texts else [("quiet", rule)])

    def _crumb(self, location: Location) -> str:
        pane = self.panes.at(location)
        if pane is not None and pane.location == location:
            return pane.breadcrumb()
        return location.title

    def _bar(self, name: str) -> Bar:
        return self.screen_stack[0].query_one(f"#{name}", Bar)

    def show_remark(self, text: str, tone: Tone = "") -> None:
        """A remark, for a while; an empty one takes back what stands there."""
        if self._remark_ends is not None:
            self._remark_ends.stop()
        self._remark_ends = self.set_timer(_REMARK, self.show_no_remark) if text else None
        self.remark = [(tone or "strong", text)] if text else ()

    def show_no_remark(self) -> None:
        """Show what the screen itself says."""
        self.show_remark("")

    @on(StatusRemark)
    def _show_remark_of_screen(self, event: StatusRemark) -> None:
        self.show_remark(event.text, event.tone)

    @on(Copy)
    def _copy_for_screen(self, event: Copy) -> None:
        self.copy(event.text, event.what)

    def copy(self, text: str, what: str) -> None:
        """To the terminal's clipboard; not every terminal takes it."""
        self.copy_to_clipboard(safe_text(text) if "\n" not in text else text)
        self.show_remark(f"copied {what}: {text}" if "\n" not in text else f"copied {what}")
