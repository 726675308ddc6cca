"""Key presses queued while a new screen is opened, and delivered to it."""

from __future__ import annotations

from asyncio import get_running_loop
from collections import deque
from collections.abc import Iterator
from time import monotonic
from typing import Any

from textual.events import Event, Key, Paste
from textual.message_pump import MessagePump

from kubectl_kres.tui.keys import BY_ID, MOVING_KEYS, ROW_KEYS
from kubectl_kres.tui.palette import Palette
from kubectl_kres.tui.session import NAMESPACES

#: Seconds after which keys are let through whatever is still under way, and looks that were made by then: a machine
#: that is slow or busy makes few of them, and the screen needs as much longer there.
_LONGEST, _LOOKS = 2.0, 300
#: Rounds in which nothing may be under way, and those that are made at once before the clock is asked.
_CALM, _AT_ONCE = 2, 50
#: Seconds between two looks at a screen that is not there yet.
_BETWEEN = 0.002
#: Seconds from one key to the next within what is typed in one go.
_IN_ONE_GO = 0.15
#: Keys that end what is typed in the prompt, and those that leave a screen whether it has rows or not.
ENDING, _LEAVING = frozenset({"enter", "escape"}), frozenset({"escape", "ctrl+c"})

#: The key that opens the palette, which would not wait for those before it that are still on their way to a widget.
_OVERTAKING = BY_ID["palette"].keys


class TypeAhead:
    """The keys that wait. The app asks it about each key before it does anything with it."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._waiting_events: deque[Event] = deque()
        self._target: MessagePump | None = None
        #: The key that has waited, and does so no longer.
        self._released_event: Event | None = None
        self._began, self._calm, self._looks = 0.0, 0, 0
        #: Whether a key was sent since nothing was under way.
        self._stirred = False
        #: When the last key was typed that went its way, and when the last one was of a text that nothing asks for.
        self._typed_at = 0.0
        self._refused_at: float | None = None
        self._refused_some = False

    @property
    def is_holding(self) -> bool:
        """Return whether what is typed now waits."""
        return self._target is not None

    def begin(self) -> None:
        """Have keys wait that are typed before there is a first screen."""
        self._wait_for_target(self._app)

    def hold_event(self, event: Event) -> bool:
        """Return whether the event has to wait, and keep it if so."""
        if not self.is_holding and self._stirred and isinstance(event, Key) and event.key == _OVERTAKING:
            self._wait_for_target(self._app.focused or self._app)
        if not self.is_holding and event is not self._released_event and self._awaits_rows(event):
            self._wait_for_target(self._app)
        if self.is_holding and isinstance(event, Key | Paste) and not event.is_forwarded:
            self._waiting_events.append(event)
            return True
        if isinstance(event, Key | Paste) and not event.is_forwarded:
            self._typed_at = event.time
            return self._refused_at is not None and self._is_refused(event, self._refused_at)
        return False

    def refuse_text(self) -> None:
        """The last key was to open the prompt, and could not: what was typed for that in one go means nothing."""
        self._refused_at, self._refused_some = self._typed_at, False

    def _is_refused(self, event: Key | Paste, before: float) -> bool:
        """Return whether an event is of a text that nothing asks for: it begins with a digit or a small letter, or
        where a line is emptied for it. Enter is its end, and escape leaves it.
        """
        key = event.key if isinstance(event, Key) else ""
        begins = not key or key == "ctrl+u" or (len(key) == 1 and (key.isdigit() or key.islower()))
        refused = event.time - before < _IN_ONE_GO and key != "escape" and (begins or self._refused_some)
        self._refused_at, self._refused_some = event.time if refused and key != "enter" else None, refused
        return refused

    def note_sent(self, event: Key, target: MessagePump | None, *, typing: bool) -> None:
        """A key went its way to ``target``: have the next ones wait where it may lead to another screen, and in a text
        behind a key that edits: Textual runs what such a key is bound to at the app, a letter is put in at the input.
        """
        self._stirred = True
        if not event.is_printable if typing else event.key not in MOVING_KEYS:
            self._wait_for_target(target or self._app)

    def _wait_for_target(self, target: MessagePump) -> None:
        self._target = target
        self._began, self._calm, self._looks = monotonic(), 0, 0
        self._app.call_later(self._look)

    async def _look(self) -> None:
        """Let the waiting keys through once nothing is under way that the last one led to."""
        if not self._app.is_running:
            return
        self._calm = 0 if any(self._under_way()) else self._calm + 1
        self._looks += 1
        pane = self._app.pane
        # The palette looks for what was entered no longer than it has to.
        searching = isinstance(self._app.screen, Palette) and self._app.screen.is_choosing
        long = monotonic() - self._began >= _LONGEST and self._looks >= _LOOKS and not searching
        late = long and pane is not None and pane.is_mounted
        if self._calm < _CALM and not late:
            if self._looks < _AT_ONCE:
                self._app.call_later(self._look)
            else:
                # Textual leaves out a timer that is due before it began to wait, and the keys would never come.
                get_running_loop().call_later(_BETWEEN, self._app.call_later, self._look)
            return
        self._target, self._stirred = None, False
        waiting, self._waiting_events = self._waiting_events, deque()
        for event in waiting:
            # One of them may have the rest wait again; what is typed meanwhile comes behind them.
            self._released_event = event
            await self._app.on_event(event)
        self._released_event = None

    def _awaits_rows(self, event: Event, *, all_of_them: bool = False) -> bool:
        """Return whether an event is a key for a row or a namespace, of which there is none so far and will be in a
        moment; or whether more of them are read.
        """
        app = self._app
        if not isinstance(event, Key) or event.is_forwarded or app.pane is None:
            return False
        if app.screen is not app.screen_stack[0] or app.typing:
            return False
        if event.key.isdigit() and event.key != "0":
            number_is_taken = int(event.key) <= len(app.session.digits())
            return bool((all_of_them or not number_is_taken) and app.session.is_reading((NAMESPACES,)))
        if event.key not in ROW_KEYS:
            return False
        # Who uses a quota is looked for among all that the screen reads.
        all_of_them = all_of_them or event.key == BY_ID["users"].keys
        return bool(app.pane.awaits_rows) or (all_of_them and app.session.is_reading(app.pane.reads()))

    def _under_way(self) -> Iterator[bool]:
        """Yield what is not done: messages on the way from the widget that got the key up to the app, or a screen to
        come.
        """
        app = self._app
        screen, pane = app.screen, app.pane
        focused = app.focused
        pumps = {
            pump
            for start in (self._target, focused, pane, screen)
            if start is not None
            for pump in _list_ancestors(start)
        }
        yield any(pump.message_queue_size for pump in pumps)
        yield not screen.is_mounted
        # Until its input has the keys, the palette would lose them.
        yield isinstance(screen, Palette) and (focused is None or screen.is_choosing)
        yield pane is None or not pane.is_mounted
        leaving = any(isinstance(event, Key) and event.key in _LEAVING for event in self._waiting_events)
        # Whoever typed ahead has seen no row: the first one is known once all are read.
        yield (
            bool(self._waiting_events) and self._awaits_rows(self._waiting_events[0], all_of_them=True) and not leaving
        )
        # The screen that was left still has the keys while the new one comes.
        below = screen is app.screen_stack[0] and not app.typing and not screen.has_class("small")
        if pane is not None and below and not _is_inside(focused, pane):
            yield any(_is_inside(widget, pane) for widget in screen.focus_chain)


def _list_ancestors(pump: MessagePump) -> Iterator[MessagePump]:
    """Yield a widget and all that it stands in, the app last."""
    node: MessagePump | None = pump
    while node is not None:
        yield node
        node = node._parent  # noqa: SLF001, textual has no public way up from a widget that was removed


def _is_inside(pump: MessagePump | None, ancestor: MessagePump) -> bool:
    """Return whether a widget, if there is one, stands in another."""
    return pump is not None and any(node is ancestor for node in _list_ancestors(pump))
