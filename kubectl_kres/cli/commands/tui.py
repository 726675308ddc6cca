"""``kubectl kres tui``: the terminal interface, on a cluster, a snapshot or the bundled example."""

from __future__ import annotations

import difflib
import os
import select
import signal
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from kubectl_kres.cli.args.options import ALL_NAMESPACES, ASCII, DEMO, NO_MOUSE, SERVER, SNAPSHOT, THEME, Options
from kubectl_kres.cli.command import Command
from kubectl_kres.cli.output.exit_codes import SignalReceived
from kubectl_kres.errors import UsageError
from kubectl_kres.tui.splash import first_frame

if TYPE_CHECKING:
    from kubectl_kres.model.kinds import Kind
    from kubectl_kres.tui.session import Session

#: Seconds from the end of the terminal to that of the program, where no signal ends it before.
_PARTING = 1.0


def run(options: Options, words: tuple[str, ...]) -> int:
    """Raises UsageError without a terminal: what is drawn, by way of standard error, would go into a file or a pipe."""
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        raise UsageError(
            "tui needs a terminal on standard input, output and error", hint="the other commands print text"
        )
    with first_frame(_origin(options), " ".join(words), ascii_only=options.ascii or not _unicode()):
        return _run_screens(options, words)


def _run_screens(options: Options, words: tuple[str, ...]) -> int:
    """Loads what the screens need and shows them; what takes time comes after the first frame."""
    from kubectl_kres.cli.source.open_source import check_source_flags

    check_source_flags(options)
    monochrome = _monochrome(options)
    _tell_textual(monochrome=monochrome)
    from kubectl_kres.tui.commands import start  # half a second that only this command needs
    from kubectl_kres.tui.gc_tuning import IdleCollectingApp, settle_down

    theme = _theme(options, monochrome=monochrome)
    _look_at_columns(options)
    session = _session(options)
    try:
        trail = start(words, session)
        app = IdleCollectingApp(session, trail, theme=theme, ansi=monochrome)
        settle_down()
        threading.excepthook = _end_without_terminal
        threading.Thread(target=_wait_for_hangup, name="hangup", daemon=True).start()
        app.run(mouse=not options.no_mouse)
    finally:
        session.feed.close()
    if app.ended:
        raise SignalReceived(app.ended)
    return app.return_code or 0


def _wait_for_hangup() -> None:
    """End the program some time after its terminal went away: not everywhere a signal tells of that."""
    if not hasattr(select, "poll"):  # on Windows
        return
    poll = select.poll()
    poll.register(sys.stdin.fileno(), 0)
    while not any(event & select.POLLHUP for _, event in poll.poll()):
        time.sleep(_PARTING)
    # A signal that tells of it ends it in order.
    time.sleep(_PARTING)
    os._exit(128 + signal.SIGHUP)


def _end_without_terminal(failed: threading.ExceptHookArgs) -> None:
    """End the program where the thread that writes to the terminal found none any more: nobody can see or end it."""
    if isinstance(failed.exc_value, OSError) and failed.thread is not None and failed.thread.name == "textual-output":
        os._exit(128 + signal.SIGHUP)
    threading.__excepthook__(failed)


def _origin(options: Options) -> str:
    """Return what is looked at, as far as the flags say it."""
    if options.demo or options.snapshot:
        return f"from {options.snapshot or 'demo'}"
    return f"context {options.context}" if options.context else "connecting"


def _unicode() -> bool:
    return "utf" in (sys.stdout.encoding or "").lower()


def _tell_textual(*, monochrome: bool) -> None:
    """What textual takes from the environment alone: nothing here gains by moving, and whether there are colours."""
    os.environ.setdefault("TEXTUAL_ANIMATIONS", "none")
    if monochrome:
        os.environ["NO_COLOR"] = "1"
    else:
        os.environ.pop("NO_COLOR", None)


def _monochrome(options: Options) -> bool:
    """Return whether there are no colours. A theme that a flag names asks for them, whatever the environment says."""
    from kubectl_kres.cli.output.printer import wants_color

    flagged = bool(options.theme) and not options.theme_place
    return not (wants_color(options.color) or (flagged and options.color == "auto"))


def _theme(options: Options, *, monochrome: bool) -> str:
    """Raises UsageError for a theme that does not exist."""
    from kubectl_kres.tui.themes import NAMES

    name, theme_place = options.theme, options.theme_place
    if name and name not in NAMES:
        near = difflib.get_close_matches(name, NAMES, 1, 0.3)
        nearest = f", the nearest is {near[0]}" if near else ""
        themes = f"themes: {', '.join(NAMES)}"
        if theme_place:
            raise UsageError(f'{theme_place}: tui.theme: no theme "{name}"{nearest}', hint="" if near else themes)
        raise UsageError(f'invalid argument "{name}" for "--theme" flag: no such theme{nearest}', hint=themes)
    return "ansi-dark" if monochrome else name


def _look_at_columns(options: Options) -> None:
    """Raises UsageError for columns of the settings that a list does not have."""
    if options.columns:
        from kubectl_kres.tui.lists.list_registry import fault

        for name, heads, theme_place in options.columns:
            if reason := fault(name, heads):
                raise UsageError(f"{theme_place}: tui.columns: {reason}")


def _session(options: Options) -> Session:
    if options.snapshot and Path(options.snapshot).is_dir():
        from kubectl_kres.cli.terminal import newest

        return newest(options)
    if options.demo or options.snapshot:
        from kubectl_kres.cli.terminal import open_snapshot_session

        return open_snapshot_session(options)
    from kubectl_kres.cli.terminal import live  # a quarter of a second

    return live(options)


def _has_screen(kind: Kind) -> bool:
    """Return whether there is a screen for an object of the kind."""
    from kubectl_kres.reports.common.system import is_shown  # asked only to complete a word

    return is_shown(kind)


command = Command(
    "tui",
    run,
    text="""
        Browse on full screen: namespaces, pods with their QoS classes, quotas and who uses them, LimitRanges
        merged, pools and what would unblock a waiting claim, TaskRuns written, computed and live, and why each value
        is what it is. It reads and watches; nothing changes the cluster.

        Keys are those of k9s where they mean the same; ? lists them. Each screen names the command that prints it.
        NO_COLOR is respected unless --color or --theme says otherwise. Without a command, kubectl kres starts it, too,
        if it is on a terminal.
        """,
    examples="""
        # Everything in the namespace of the context
        kubectl kres tui

        # All namespaces
        kubectl kres tui -A

        # One pod: its values and what set them
        kubectl kres tui pod web -n shop

        # Why does this claim wait?
        kubectl kres tui claim batch -n shop

        # On the bundled example, without a cluster
        kubectl kres tui --demo

        # A folder of snapshots of one cluster: [ and ] go through time
        kubectl kres tui --snapshot snapshots/

        # Who uses this quota?
        kubectl kres tui quota team -n shop --demo
        """,
    usage="[RESOURCE [NAME]]",
    flags=(ALL_NAMESPACES, SNAPSHOT, DEMO, ASCII, NO_MOUSE, THEME, *SERVER),
    completes=_has_screen,
)
