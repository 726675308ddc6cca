"""Key presses queued while a new screen is opened, and delivered to it."""

from __future__ import annotations

from asyncio import TimerHandle, get_running_loop
from collections import deque
from time import monotonic
from typing import Any

from textual.events import Event, Key, Paste
from textual.message import Message
from textual.message_pump import MessagePump

from kubectl_kres.tui.keys import BY_ID, MOVING_KEYS, ROW_KEYS
from kubectl_kres.tui.palette import Palette
from kubectl_kres.tui.session import NAMESPACES

#: Seconds after which keys are let through whatever is still to come, and looks that were made by then: a machine that
#: is slow or busy makes few of them, and the screen needs as much longer there.
_LONGEST, _LOOKS = 2.0, 100
#: Seconds between two looks at what is to come.
_BETWEEN = 0.01
#: How often a mark follows the key before all is done that the key led to: each time one more step is behind it. A
#: widget says that a row is opened, its screen where that leads, the app goes there, and what comes takes the keys.
_STEPS = 4
#: Seconds from one key to the next within what is typed in one go. What was typed before a prompt is refused was typed
#: for it.
_IN_ONE_GO = 0.15
#: Keys that end what is typed in the prompt, and those that leave a screen whether it has rows or not.
ENDING, _LEAVING = frozenset({"enter", "escape"}), frozenset({"escape", "ctrl+c"})

#: Keys behind which escape leaves what they open, not the screen.
_ASKING = frozenset(BY_ID[name].keys for name in ("command", "filter", "suppose", "palette", "help"))
#: The key that opens the palette, which would not wait for those before it that are still on their way to a widget.
_OVERTAKING = BY_ID["palette"].keys


class Mark(Message):
    """Goes the way of a key, from a widget up to the app. Messages do not overtake each other: when it is there, so is
    what was sent on that way before.
    """


class TypeAhead:
    """The keys that wait. The app asks it about each key before it does anything with it, and hands it the marks."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._waiting_events: deque[Event] = deque()
        #: The key that has waited, and does so no longer.
        self._released_event: Event | None = None
        self.is_holding = False
        #: The mark that is on its way, and the widget that it was sent to.
        self._mark: Mark | None = None
        self._target: MessagePump = app
        #: When keys began to wait, the looks since then, and the marks that came back while nothing was to come.
        self._began, self._looks, self._steps = 0.0, 0, 0
        self._next_look: TimerHandle | None = None
        #: Whether a key was sent since nothing was under way.
        self._stirred = False
        #: When it was said that nothing is asked for, or the last key of a text for that was typed; whether one was.
        self._refused_at: float | None = None
        self._refused_some = False

    def begin(self) -> None:
        """Have keys wait that are typed before there is a first screen."""
        self._hold(self._app)

    def hold_event(self, event: Event) -> bool:
        """Return whether the event has to wait, and keep it if so."""
        if not self.is_holding and self._stirred and isinstance(event, Key) and event.key == _OVERTAKING:
            self._hold(self._app.focused or self._app)
        if not self.is_holding and event is not self._released_event and self._awaits_rows(event):
            self._hold(self._app)
        if self.is_holding and isinstance(event, Key | Paste) and not event.is_forwarded:
            self._waiting_events.append(event)
            return True
        if isinstance(event, Key | Paste) and not event.is_forwarded and self._refused_at is not None:
            return self._is_refused(event, self._refused_at)
        return False

    def refuse_text(self) -> None:
        """The last key was to open the prompt, and could not: what was typed for that in one go means nothing."""
        self._refused_at, self._refused_some = Mark().time, False

    def _is_refused(self, event: Key | Paste, before: float) -> bool:
        """Return whether an event is of a text that nothing asks for: it begins with a digit or a small letter, or
        where a line is emptied for it. Enter is its end, and escape leaves it.
        """
        key = event.key if isinstance(event, Key) else ""
        begins = not key or key == "ctrl+u" or (len(key) == 1 and (key.isdigit() or key.islower()))
        refused = event.time - before < _IN_ONE_GO and key != "escape" and (begins or self._refused_some)
        last = max(event.time, before)
        self._refused_at, self._refused_some = last if refused and key != "enter" else None, refused
        return refused

    def note_sent(self, event: Key, target: MessagePump | None, *, typing: bool) -> None:
        """A key went its way to ``target``: have the next ones wait where it may lead to another screen, and in a text
        behind a key that edits: Textual runs what such a key is bound to at the app, a letter is put in at the input.
        """
        self._stirred = True
        if not event.is_printable if typing else event.key not in MOVING_KEYS:
            self._hold(target or self._app)

    # What is to come before the keys go on

    def _hold(self, target: MessagePump) -> None:
        self.is_holding = True
        self._began, self._looks, self._steps = monotonic(), 0, 0
        self._send_mark(target)
        self._look_soon()

    def _send_mark(self, target: MessagePump) -> None:
        self._mark, self._target = Mark(), target
        # As the widget's own: what a parent sends does not come back to it.
        target.post_message(self._mark.set_sender(target))

    async def take_mark(self, mark: Mark) -> None:
        """A mark has come to the app."""
        if mark is not self._mark:
            return
        self._mark = None
        if self._is_coming():
            self._steps = 0
            return
        self._steps += 1
        if self._steps < _STEPS:
            self._send_mark(self._where_keys_go())
        else:
            await self._release()

    def _look_soon(self) -> None:
        if self._next_look is not None:
            self._next_look.cancel()
        # Textual leaves out a timer that is due before it began to wait, and the keys would never come.
        self._next_look = get_running_loop().call_later(_BETWEEN, self._look)

    def _look(self) -> None:
        """Send a mark on its way once what was to come is there, or where the last one was lost with its widget."""
        if not self.is_holding or not self._app.is_running:
            return
        self._looks += 1
        if self._is_late():
            self._app.call_later(self._release)
            return
        is_lost = self._mark is not None and not self._target.is_running
        if (self._mark is None or is_lost) and not self._is_coming():
            self._send_mark(self._where_keys_go())
        self._look_soon()

    def _where_keys_go(self) -> MessagePump:
        app = self._app
        target: MessagePump = app.focused or (app.pane if app.screen is app.screen_stack[0] else app.screen) or app
        return target

    def _is_late(self) -> bool:
        """Return whether the keys have waited long enough for something that may never come."""
        app = self._app
        # The palette looks for what was entered no longer than it has to.
        searching = isinstance(app.screen, Palette) and app.screen.is_choosing
        is_long = monotonic() - self._began >= _LONGEST and self._looks >= _LOOKS
        return is_long and not searching and app.pane is not None and app.pane.is_mounted

    async def _release(self) -> None:
        """Let the waiting keys through."""
        if not self.is_holding:
            return
        self.is_holding = self._stirred = False
        self._mark = None
        waiting, self._waiting_events = self._waiting_events, deque()
        for event in waiting:
            # One of them may have the rest wait again; what is typed meanwhile comes behind them.
            self._released_event = event
            await self._app.on_event(event)
        self._released_event = None

    def _is_coming(self) -> bool:
        """Return whether something is still to come that the next key is for."""
        app = self._app
        screen, pane, focused = app.screen, app.pane, app.focused
        if not screen.is_mounted or pane is None or not pane.is_mounted:
            return True
        if isinstance(screen, Palette):
            # Until its input has the keys, the palette would lose them.
            return focused is None or screen.is_choosing
        # Whoever typed ahead has seen no row: the first one is known once all are read.
        if self._waiting_events and self._awaits_rows(self._waiting_events[0], all_of_them=True) and not self._leaves():
            return True
        # The screen that was left still has the keys while the new one comes.
        below = screen is app.screen_stack[0] and not app.typing and not screen.has_class("small")
        if not below or (focused is not None and pane in focused.ancestors_with_self):
            return False
        return any(pane in widget.ancestors_with_self for widget in screen.focus_chain)

    def _leaves(self) -> bool:
        """Return whether one of the waiting keys leaves the screen that is there, so that its rows matter no more."""
        asks = False
        for event in self._waiting_events:
            names = {event.key, event.character} if isinstance(event, Key) else set()
            if not asks and names & _LEAVING:
                return True
            asks = bool(names & _ASKING) or (asks and not names & ENDING)
        return False

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
