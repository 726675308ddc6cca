"""The app: how it begins and ends, and what keys mean everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar

from textual import events
from textual.command import Provider
from textual.filter import LineFilter
from textual.screen import Screen

from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui import following, palette, save, themes
from kubectl_kres.tui.keys import BY_ID, CHANGING, ELSEWHERE, STARTING
from kubectl_kres.tui.layout import AppFrame
from kubectl_kres.tui.location import HOME, Location, Trail
from kubectl_kres.tui.screens.jump import JumpScreen, JumpTarget, targets
from kubectl_kres.tui.screens.screen_factory import users_location
from kubectl_kres.tui.session import Session, is_connecting
from kubectl_kres.tui.signals import end_at_signals
from kubectl_kres.tui.splash import LEAST
from kubectl_kres.tui.table.strips import Bar
from kubectl_kres.tui.themes import AsciiOnly
from kubectl_kres.tui.type_ahead import ENDING
from kubectl_kres.tui.what_if_keys import WhatIfKeys
from kubectl_kres.tui.widgets.header_footer import crumb_at, digit_of
from kubectl_kres.tui.widgets.prompt import Prompt

#: Lines below which the way here gives its line to the screen.
_LOW = 18
#: What a terminal makes of Enter before the program has it to itself; and Enter for those who know it from shells.
_NEWLINE = "ctrl+j"
#: What asks for help in most programs on full screen, where the settings give it no other meaning.
_HELP = "f1"


class Kres(WhatIfKeys):
    """Read-only."""

    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = set(palette.PROVIDERS)
    CSS_PATH = "kres.tcss"
    ENABLE_COMMAND_PALETTE = True

    def __init__(self, session: Session, trail: Trail = (HOME,), *, theme: str = "", ansi: bool = False) -> None:
        super().__init__(session, trail, ansi=ansi)
        #: The signal that ended it, 0 if none did.
        self.ended = 0
        self._chosen_theme = theme
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
        end_at_signals(self._note_signal, self.exit)
        self.app_resume_signal.subscribe(self, lambda app: app.refresh(repaint=True, layout=True))  # an empty screen
        self.theme = self._chosen_theme or themes.DARK.name
        if _HELP not in self.session.setting.hotkeys:
            self.bind(_HELP, "act('help')", show=False)
        for key in self.session.setting.hotkeys:
            self.bind(key, f"run('{key}')", show=False)
        self.screen.set_class(True, "ready")
        self._type_ahead.begin()
        self.call_after_refresh(self._start)

    def _start(self) -> None:
        self.show()
        self.follow_feed()
        # Ages, and how long nothing was heard, change without any message.
        self.set_interval(following.CLOCK, self.look)

    def _note_signal(self, number: int) -> None:
        self.ended = number

    def on_unmount(self) -> None:
        self.session.feed.close()

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

    def more_reads(self) -> Iterable[ReadRequest]:
        sought = palette.name_requests(self.session.namespace) if self._searching else ()
        return (*super().more_reads(), *sought)

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
            self.go_in_time(getattr(self.session.setting.snapshot_view, _STEPS[action]))
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
        self.change_namespace("" if digit == "all" else spaces[int(digit) - 1])

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
            self.read_again()
            self.show_remark("reading again")
        else:
            self.show_remark("a snapshot does not change: there is nothing to read again")

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


_STEPS: Mapping[str, str] = {"back": "earlier", "forward": "later"}
_MOVES: Mapping[str, str] = {"up": "go_up", "back": "go_back", "forward": "forward", "last": "return_to_last"}


def _go_to_target(target: JumpTarget | None) -> None:
    """To where a letter stood; another key goes nowhere."""
    if target is not None:
        target.go()
