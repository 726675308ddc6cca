"""What the reading threads bring is taken in and shown: a burst of it at once, nothing while it is quiet."""

from __future__ import annotations

from contextlib import suppress
from time import monotonic

from textual import on
from textual.message import Message
from textual.timer import Timer

from kubectl_kres.store.store import Changes
from kubectl_kres.tui.around import LinesAround
from kubectl_kres.tui.screens.pane import FrameChanged
from kubectl_kres.tui.session import Session

#: Seconds between two looks at what arrived, and between two at what only time changes.
PACE, CLOCK = 0.1, 1.0
#: Seconds that sums may take at a look: less while somebody types.
_SUMMING, _TYPING = 0.015, 0.004


class Arrived(Message, bubble=False):
    """Something was read. Threads that read send it; of those that wait in the queue one is enough."""

    def can_replace(self, message: Message) -> bool:
        """Return whether another message says the same."""
        return isinstance(message, Arrived)


class FollowingApp(LinesAround):
    """The part of the app that follows the feed; ``app.Kres`` is the rest."""

    #: Whether something arrived while the screen is held still.
    _missed_changes = False
    #: Whether a thread has sent word that nobody has looked after.
    _has_news = False
    #: The next look, and when the last one was.
    _next_look: Timer | None = None
    _looked_at = 0.0

    @property
    def is_following(self) -> bool:
        """Return whether something is known to have arrived, or to be computed, that the screen does not show yet."""
        return self._has_news or self._next_look is not None

    def follow_feed(self) -> None:
        """Have the threads that read for the session say when something has arrived."""
        self._has_news = False
        self.session.feed.on_arrival = self._send_arrived
        self.look_soon()

    def _send_arrived(self) -> None:
        """Called by the threads that read."""
        if not self._has_news:
            self._has_news = True
            with suppress(RuntimeError):  # the program has ended meanwhile
                self.post_message(Arrived())

    @on(Arrived)
    def look_soon(self) -> None:
        """Look at what arrived, but not before a moment has passed since the last look: a burst is one change."""
        if self._next_look is None:
            wait = self._looked_at + PACE - monotonic()
            # Textual leaves out a timer that is due before it began to wait.
            self._next_look = self.set_timer(max(wait, PACE / 10), self.look)

    def look(self) -> None:
        """Take in what arrived; the screen follows it behind the keys that were pressed meanwhile."""
        if self._next_look is not None:
            self._next_look.stop()
        self._next_look, self._looked_at = None, monotonic()
        # What is taken in before there is a screen would be shown by none.
        if self.pane is None or not self.pane.is_mounted or not self.screen_stack:
            self.look_soon()
            return
        self._has_news = False
        changes = self.session.drain()
        if changes:
            # There may be more than is taken in at a time.
            self.look_soon()
            self.call_later(self._follow, changes, self.session)
        else:
            self._follow(changes, self.session)

    def _follow(self, changes: Changes, session: Session) -> None:
        """Add up for a while, and let the screens follow the changes of a session, if it is still the one shown."""
        if session is not self.session:
            return
        if changes:
            for pane in self.panes.values():
                if pane is not self.pane:
                    pane.apply_hidden_changes(changes)
        # A screen that was opened meanwhile begins with what is there by then.
        if self.pane is None or not self.pane.is_mounted or not self.screen_stack:
            return
        adder = session.adder
        summing = _TYPING if self.screen_stack[0].has_class("typing") else _SUMMING
        fresh = adder.step(session.server, summing) if self.pane.sums and adder.busy else set[str]()
        if self.paused:
            self._missed_changes = self._missed_changes or bool(changes) or bool(fresh)
        else:
            if fresh:
                self.pane.refresh_sums()
            self.pane.apply_changes(changes)
            self.after_changes()
            self.tell()
        self._go_on()

    def after_changes(self) -> None:
        """Called once the screen has followed changes."""

    @on(FrameChanged)  # what was done on the screen may have left something to compute
    def _go_on(self) -> None:
        """Look again soon where the screen has more to compute."""
        pane = self.pane
        if pane is not None and ((pane.sums and self.session.adder.busy) or (pane.has_work and not self.paused)):
            self.look_soon()
