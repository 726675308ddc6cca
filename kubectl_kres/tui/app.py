"""The app: which screen is shown, the prompt and the history."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import ClassVar

from textual import events
from textual.command import Provider
from textual.filter import LineFilter
from textual.screen import Screen

from kubectl_kres.errors import KresError
from kubectl_kres.render.text.line import Tone, size
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui import commands, following, palette, save, themes, whatif
from kubectl_kres.tui.following import FollowingApp
from kubectl_kres.tui.keys import BY_ID, CHANGING, ELSEWHERE, STARTING
from kubectl_kres.tui.layout import AppFrame, show_prompt
from kubectl_kres.tui.lists.list_registry import LISTINGS
from kubectl_kres.tui.location import HOME, History, Location, Trail
from kubectl_kres.tui.screens.jump import JumpScreen, JumpTarget, targets
from kubectl_kres.tui.screens.pane import OpenPlace, Pane, PlaceOnScreen
from kubectl_kres.tui.screens.screen_factory import create_pane, users_location
from kubectl_kres.tui.session import NAMESPACES, Session, is_connecting
from kubectl_kres.tui.splash import LEAST
from kubectl_kres.tui.table.strips import Bar, safe_text
from kubectl_kres.tui.themes import AsciiOnly
from kubectl_kres.tui.type_ahead import ENDING, TypeAhead
from kubectl_kres.tui.widgets.header_footer import (
    crumb_at,
    digit_of,
    sign_line,
)
from kubectl_kres.tui.widgets.prompt import Prompt, Purpose

#: Lines below which the way here gives its line to the screen.
_LOW = 18
#: Seconds in which the terminal is given back after a signal.
_STUCK = 5.0
#: What a terminal makes of Enter before the program has it to itself; and Enter for those who know it from shells.
_NEWLINE = "ctrl+j"
#: What asks for help in most programs on full screen, where the settings give it no other meaning.
_HELP = "f1"


class Kres(FollowingApp):
    """Read-only. ``session`` belongs to this app's loop."""

    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = set(palette.PROVIDERS)
    CSS_PATH = "kres.tcss"
    ENABLE_COMMAND_PALETTE = True

    def __init__(self, session: Session, trail: Trail = (HOME,), *, theme: str = "", ansi: bool = False) -> None:
        super().__init__(ansi_color=ansi or None)
        self.session = session
        self.history = History(trail)
        self.panes: dict[str, Pane] = {}
        #: By screen where the user was on it when other objects came.
        self._places: dict[str, PlaceOnScreen] = {}
        self.pane: Pane | None = None
        self._missed_changes = False
        #: The signal that ended it, 0 if none did.
        self.ended = 0
        self._chosen_theme = theme
        self.wanted_key: object = None
        self._purpose: Purpose = "command"
        #: What a number is typed for, and the numbers whose consequences wait for what has to be read.
        self._proposals: tuple[whatif.Proposal, ...] = ()
        self.typed_numbers: tuple[whatif.TypedNumber, ...] = ()
        self.node_reads: dict[ReadRequest, None] = {}
        self._type_ahead = TypeAhead(self)
        #: Whether the palette is open, which looks for the names of all kinds.
        self._searching = False
        self._ascii = (AsciiOnly(),) if session.setting.ascii_only else ()
        self.title = "kres"
        for house_theme in themes.OWN.values():
            self.register_theme(house_theme)

    def get_default_screen(self) -> Screen[None]:
        return AppFrame(ascii_only=self.session.setting.ascii_only)

    def get_line_filters(self) -> Sequence[LineFilter]:
        return (*super().get_line_filters(), *self._ascii)

    def on_mount(self) -> None:
        self._handle_signals()
        self.app_resume_signal.subscribe(self, lambda app: app.refresh(repaint=True, layout=True))  # an empty screen
        self.theme = self._chosen_theme or themes.DARK.name
        if _HELP not in self.session.setting.hotkeys:
            self.bind(_HELP, "act('help')", show=False)
        for key in self.session.setting.hotkeys:
            self.bind(key, f"run('{key}')", show=False)
        self.screen.set_class(True, "ready")
        self._type_ahead.begin()
        self.call_after_refresh(self._start)

    def _handle_signals(self) -> None:
        """Let signals that end programs end this one as ``q`` does: the terminal must be given back as it was."""
        loop = asyncio.get_running_loop()
        with suppress(AttributeError, ValueError):  # not on Windows, and not outside of the main thread
            for number in (signal.SIGTERM, signal.SIGHUP):
                # Who started us ignoring one, as nohup does, is obeyed.
                if signal.getsignal(number) is not signal.SIG_IGN:
                    signal.signal(number, lambda number, _: self._exit_on_signal(number, loop))

    def _exit_on_signal(self, number: int, loop: asyncio.AbstractEventLoop) -> None:
        self.ended = number
        # A terminal that takes no output any more would hold the program.
        signal.signal(signal.SIGALRM, lambda *_: os._exit(128 + number))
        signal.setitimer(signal.ITIMER_REAL, _STUCK)
        with suppress(RuntimeError):  # it has ended already
            loop.call_soon_threadsafe(self.exit)

    def _start(self) -> None:
        self.show()
        self.follow_feed()
        # Ages, and how long nothing was heard, change without any message.
        self.set_interval(following.CLOCK, self.look)

    def on_unmount(self) -> None:
        self.session.feed.close()

    # What is shown

    def show(self) -> None:
        """The screen of where the history stands."""
        location, body = self.history.current, self.screen.query_one("#body")
        if not body.is_attached:
            # The program is ending: what was asked for before has nowhere to go.
            return
        if location.view in LISTINGS:
            self.session.visit(location.namespace)
        old, key = self.pane, self._key(location)
        if (new := self.panes.get(key)) is None:
            self.pane = new = self.panes[key] = create_pane(self.session, location, old)
            if (place := self._places.pop(key, None)) is not None:
                new.return_to(place)
            body.mount(new)
        else:
            self.pane = new
            new.display = True
            new.enter(location)
        if old is not None and old is not new:
            self._leave_pane(old)
        self.request_reads()
        self.tell()
        self.look_soon()

    def _key(self, location: Location) -> str:
        """Lists are kept, one of each; other screens are made when asked for."""
        return location.view if location.view in LISTINGS or location.view in {"overview", "kinds"} else repr(location)

    def _leave_pane(self, old: Pane) -> None:
        key = self._key(old.location)
        if self._missed_changes:
            old.mark_withheld()
        if key == old.location.view:
            old.display = False
            return
        self.panes.pop(key, None)
        old.remove()

    def request_reads(self) -> None:
        """Read what the screen needs, and what the screens need that are on the way back."""
        trail = {self._key(location) for location in self.history.trail}
        panes = [pane for key in trail if (pane := self.panes.get(key)) is not None]
        sought = palette.name_requests(self.session.namespace) if self._searching else ()
        screen_reads = (read for pane in panes for read in pane.reads())
        read_requests = dict.fromkeys((NAMESPACES, *screen_reads, *self.tried_requests(), *sought))
        if read_requests != self.wanted_key:
            self.wanted_key = read_requests
            self.session.request_reads(read_requests)

    def on_resize(self, event: events.Resize) -> None:
        width, height = event.size
        small = width < LEAST[0] or height < LEAST[1]
        shell = self.screen_stack[0]
        shell.set_class(small, "small")
        shell.set_class(height < _LOW, "low")
        # Textual tells the size before the lines are there, and once more when they are.
        if small and shell.query("#room"):
            self._bar("room").put([("warn", f" {width}x{height} is too small: make room for {LEAST[0]}x{LEAST[1]}")])
        self.call_later(self.tell)  # the app has its new size only behind this

    # Messages of the screens

    def on_open_place(self, event: OpenPlace) -> None:
        self.go(event.location, fresh=event.fresh)

    def go(self, location: Location, *, fresh: bool = False) -> None:
        """To a place, one step further on the way."""
        if location.view == "object" and location.ref is not None and location.ref.kind == "ResourceQuota":
            location = Location("quota", ref=location.ref)
        self.history.go(location, fresh=fresh)
        self.show_no_remark()
        self.show()

    # Keys

    async def on_event(self, event: events.Event) -> None:
        """A key waits while the one before it may still lead to another screen, whose key it is then."""
        if isinstance(event, events.Key) and event.key == _NEWLINE:
            event = events.Key("enter", "\r")
        if self._type_ahead.hold_event(event):
            return
        if not isinstance(event, events.Key) or event.is_forwarded or not self.screen_stack:
            await super().on_event(event)
            return
        typing, target = self.typing and event.key not in ENDING, self.focused
        await super().on_event(event)
        self._type_ahead.note_sent(event, target, typing=typing or self.screen is not self.screen_stack[0])

    def action_command_palette(self) -> None:
        """Open the palette; names of kinds that no screen has shown are read while it is open."""
        if not self._searching:
            self._searching = True
            self.request_reads()
            self.push_screen(palette.Palette())

    def on_command_palette_closed(self) -> None:
        """What only the palette asked for is read no more, once what was chosen has asked for its own."""
        self.call_later(self._end_search)

    def _end_search(self) -> None:
        # Another palette may be open already.
        self._searching = isinstance(self.screen, palette.Palette)
        self.request_reads()

    def action_act(self, action: str) -> None:
        """A key: what it means on this screen, or everywhere."""
        if action in STARTING and self.screen.has_class("typing"):
            # By way of the prompt's own queue: keys that were typed before it may still wait there.
            self.screen.query_one(Prompt).post_message(events.Key(action, STARTING[action]))
            return
        if self.pane is None or self.pane.act(action):
            self.tell()
            return
        if action.startswith("ns-"):
            self._namespace(action.removeprefix("ns-"))
        elif action in _STEPS and self.session.setting.snapshot_view is not None:
            self._through_time(getattr(self.session.setting.snapshot_view, _STEPS[action]))
        elif action in _MOVES:
            if getattr(self.history, _MOVES[action])():
                self.show()
            elif action == "up" and is_connecting(self.session):
                self.ask_for("command", "ctx ", words=True)
            else:
                self.show_remark("no further" if action == "forward" else "this is the start (q quits)")
        elif (handler := getattr(self, f"do_{action.replace('-', '_')}", None)) is not None:
            handler()
        else:
            self.show_remark(f"{BY_ID[action].shown if action in BY_ID else action} means nothing on this screen")

    def action_changing(self, key: str) -> None:
        if key in CHANGING:
            shown, what = CHANGING[key]
            self.show_remark(f"{shown} {what} in k9s; this is read-only", "warn")
            return
        shown, what, instead = ELSEWHERE[key]
        ref = self.pane.ref_of_row() if self.pane is not None else None
        name = f"{ref.kind.lower()}/{ref.name}{f' -n {ref.namespace}' if ref.namespace else ''}" if ref else ""
        instead = instead.replace("$", name) if name or "$" not in instead else ""
        self.show_remark(f"{shown} {what} in k9s{f'; here: {instead}' if instead else ''}")

    def on_bar_clicked(self, event: Bar.Clicked) -> None:
        """A digit, a step of the way here, or a key of the footer."""
        event.stop()
        bar, pane = self._bar(event.bar), self.pane
        if pane is None or self.screen.has_class("typing"):
            return
        match event.bar:
            case "where" if action := digit_of(bar.left[event.index][1]):
                self.action_act(action)
            case "crumbs" if event.index:
                trail = self.history.trail
                self.go(trail[crumb_at(event.index, len(bar.left), len(trail))])
            case "keys" if (index := event.index // 3) < len(hints := tuple(pane.hints())):
                if hints[index] == "open":
                    # The table's or the text's own key.
                    self.simulate_key("enter")
                else:
                    self.action_act(hints[index])
            case "command":
                self.do_copy_command()

    def _namespace(self, digit: str) -> None:
        spaces = self.session.digits()
        if digit != "all" and int(digit) > len(spaces):
            self.show_remark(f"there is no namespace {digit}")
            return
        namespace = "" if digit == "all" else spaces[int(digit) - 1]
        self.session.visit(namespace)
        location = self.history.current
        if location.view in LISTINGS and LISTINGS[location.view].scoped:
            self.history.change(Location(location.view, namespace))
        self.show()
        self.show_remark(f"namespace {namespace or 'all'}")

    def do_command(self) -> None:
        self.ask_for("command", words=True)

    def do_filter(self) -> None:
        if self.pane is not None and self.pane.filters:
            self.ask_for("filter", self.pane.filter_summary)
        else:
            self.refuse_prompt("there is nothing to filter on this screen")

    def do_save(self) -> None:
        if self.pane:
            self.ask_for("save", save.name(self.pane.breadcrumb(), table=self.pane.has_table))

    def do_help(self) -> None:
        self.go(Location("help", tab=self.history.current.view))

    def do_kinds(self) -> None:
        self.go(Location("kinds"))

    def do_jump(self) -> None:
        if self.pane is not None:
            self.push_screen(JumpScreen(list(targets(self.pane))), _go_to_target)

    def do_timeline(self) -> None:
        self.go(Location("timeline", self.session.namespace))

    def do_users(self) -> None:
        ref, owner = (self.pane.ref_of_row(), self.pane.owner()) if self.pane is not None else (None, None)
        if (location := users_location(self.session, ref, owner)) is not None:
            self.go(location)
        else:
            self.show_remark("u shows who uses a quota or a pool: there is none here")

    def do_pause(self) -> None:
        self.paused = not self.paused
        if not self.paused and self._missed_changes and self.pane is not None:
            self._missed_changes = False
            self.pane.mark_withheld()
            self.pane.enter(self.pane.location)
        self.show_remark("paused: what arrives is kept" if self.paused else "goes on")

    def do_reload(self) -> None:
        if self.session.setting.live:
            self.session.feed.stop()
            self.wanted_key = None
            self.request_reads()
            self.show_remark("reading again")
        else:
            self.show_remark("a snapshot does not change: there is nothing to read again")

    def replace_session(self, session: Session, history: History) -> None:
        """Other objects under the same app."""
        self._places |= {key: place for key, pane in self.panes.items() if (place := pane.place) is not None}
        for pane in self.panes.values():
            pane.remove()
        self.panes, self.pane, self.wanted_key, self.session, self.history = {}, None, None, session, history
        self.paused = False
        self.show_no_remark()
        session.greets = False
        self.follow_feed()
        self.show()

    def _through_time(self, step: Callable[[], Session]) -> None:
        """The same screen at another moment; numbers that were tried belong to the moment that is left."""
        change = self.session.what_if
        try:
            session = step()
        except KresError as error:
            self.show_remark(safe_text(error.message), "warn")
            return
        (change.real if change else self.session).feed.close()
        session.visit(self.session.namespace)
        self.replace_session(session, History(self._without_trying() or (HOME,)))
        assert session.setting.snapshot_view is not None
        self.show_remark(safe_text(session.setting.snapshot_view.words))

    def do_copy_command(self) -> None:
        if self.pane is not None:
            self.copy(self.pane.command(), "command")

    def do_crumbs(self) -> None:
        bar = self._bar("crumbs")
        bar.display = not bar.display

    def do_header(self) -> None:
        bar = self._bar("where")
        bar.display = not bar.display

    def do_quit_or_up(self) -> None:
        if self.history.go_up():
            self.show()
        else:
            self.exit()

    def do_quit(self) -> None:
        if text := self.screen.get_selected_text():
            self.copy(text, "selection")
        else:
            self.exit()

    # The prompt

    def ask_for(self, purpose: Purpose, text: str = "", *, words: bool = False, about: str = "") -> None:
        self._bar("sign").put(sign := sign_line(purpose, about))
        self._bar("sign").styles.width = sum(size(part) for _, part in sign)
        self._purpose = purpose
        show_prompt(self.screen_stack[0], shown=True)
        complete = (lambda so_far: list(commands.completions(so_far, self.session))) if words else None
        self.screen.query_one(Prompt).open_for(purpose, text, complete)
        self.tell()

    def refuse_prompt(self, text: str, tone: Tone = "") -> None:
        self.show_remark(text, tone)
        self._type_ahead.refuse_text()

    def _close_prompt(self) -> None:
        show_prompt(self.screen_stack[0], shown=False)
        if self.pane is not None:
            self.pane.focus_main()
        self.tell()

    def on_prompt_typed(self, event: Prompt.Typed) -> None:
        if event.purpose == "filter" and self.pane is not None:
            # What was wrong with half of it need not be wrong with the whole.
            self.show_no_remark()
            self.pane.filter(event.text)

    def on_prompt_entered(self, event: Prompt.Entered) -> None:
        self._close_prompt()
        if event.purpose == "command":
            self.action_run(event.text)
        elif event.purpose == "suppose":
            self.try_number(event.text)
        elif event.purpose == "save" and event.text:
            self._save(event.text)

    def action_run(self, text: str) -> None:
        """What was typed behind ``:``, or stands behind a key of the user's."""
        result = commands.parse_command(self.session.setting.hotkeys.get(text, text), self.session)
        if result.quit:
            self.exit()
        elif result.context:
            self.switch(result.context)
        elif result.location is not None:
            self.go(result.location, fresh=True)
        elif result.fault:
            self.show_remark(safe_text(result.fault), "warn")

    def switch(self, context: str) -> None:
        """The same screen on another cluster; nothing of this one is kept."""
        assert self.session.setting.switch is not None
        try:
            session = self.session.setting.switch(context)
        except KresError as error:
            self.show_remark(safe_text(error.message), "bad")
            return
        self.session.feed.close()
        view = self.history.current.view
        self.replace_session(
            session, History((HOME, Location(view, session.namespace)) if view in LISTINGS else (HOME,))
        )
        self.show_remark(f"context {safe_text(context)}")

    def on_prompt_left(self, event: Prompt.Left) -> None:
        if event.purpose == "filter" and self.pane is not None:
            self.pane.filter("")
        self._close_prompt()

    def _save(self, path: str) -> None:
        fault = save.screen(self, self.pane.table_csv() if self.pane and not path.endswith(".svg") else None, path)
        self.show_remark(fault or f"saved {path}", "bad" if fault else "good")


_STEPS: Mapping[str, str] = {"back": "earlier", "forward": "later"}
_MOVES: Mapping[str, str] = {"up": "go_up", "back": "go_back", "forward": "forward", "last": "return_to_last"}


def _go_to_target(target: JumpTarget | None) -> None:
    """To where a letter stood; another key goes nowhere."""
    if target is not None:
        target.go()
