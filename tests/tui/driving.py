"""Drives the app without a terminal: keys in, text out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from textual.pilot import Pilot

from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.terminal import open_snapshot_session
from kubectl_kres.tui.app import Kres
from kubectl_kres.tui.commands import start
from kubectl_kres.tui.data_feed import ReadOnce
from kubectl_kres.tui.session import Session

SMALL, LARGE = (80, 24), (140, 40)
#: Rounds of waiting for a loaded machine; each ends as soon as nothing is to be waited for.
_ROUNDS = 20_000
#: Looks for a text, 20 ms and more apart; a loaded machine needs few of them.
_LOOKS = 3000


#: The bundled example as it once was: pictures must not change with every new one.
SHOP = Path(__file__).with_name("shop.kres")
#: The same with pools, claims and runs.
ML = Path(__file__).with_name("ml.kres")


def shop(file: Path = SHOP, **options: Any) -> Session:
    """A session on the example. Commands name it as the bundled one, or none: the path is another on each machine."""
    session = open_snapshot_session(Options(snapshot=str(file), **options))
    session.setting = replace(session.setting, flags="--demo")
    session.store.origin = replace(session.store.origin, reading="")
    # What is said once would hide half of every picture.
    session.greets = False
    return session


def demo(words: str = "", *, theme: str = "", file: Path = SHOP, **options: Any) -> Kres:
    """The app on the example, at the screen that the words name."""
    session = shop(file, **options)
    return Kres(session, start(words.split(), session), theme=theme)


def app_on(session: Session, words: str = "") -> Kres:
    return Kres(session, start(words.split(), session))


async def calm(pilot: Pilot[None]) -> None:
    """Until every message that is under way has arrived, with all that it led to, and is drawn, and no key waits.

    Looks at the queues first: a pause of the pilot sends a message to every widget, which costs more than what it
    waits for.
    """
    app: Any = pilot.app
    for _ in range(_ROUNDS):
        await asyncio.sleep(0.001)
        if not _is_working(app):
            await pilot.pause()
            if not _is_working(app):
                return


def _is_working(app: Any) -> bool:
    """Whether a message, a callback or something that is not drawn yet waits in a running app."""
    if app.return_code or not app.is_running:
        return False
    screen = app.screen
    pumps = (app, screen, *screen.walk_children())
    under_way = any(pump.message_queue_size or pump._next_callbacks for pump in pumps)
    undrawn = screen._layout_required or screen._dirty_widgets or screen._callbacks
    return bool(under_way or undrawn or app._type_ahead.is_holding)


async def settled(pilot: Pilot[None]) -> None:
    """Until all that was wanted has been read, added up and drawn; a moment later it must still be so, since what was
    read can make a screen want more.
    """
    app: Any = pilot.app
    still = 0
    for _ in range(_ROUNDS):
        await asyncio.sleep(0.01)
        if app.return_code or not app.is_running:
            return
        still = still + 1 if _is_at_rest(app) else 0
        if still:
            await calm(pilot)
        if still >= 2 and _is_at_rest(app):
            return


def _is_at_rest(app: Any) -> bool:
    feed, pane = app.session.feed, app.pane
    quiet = not isinstance(feed, ReadOnce) or feed.idle
    summing = (pane is not None and pane.sums and app.session.adder.busy) or bool(app.typed_numbers)
    return bool(
        quiet
        and not app._type_ahead.is_holding
        and not app.is_following
        and not summing
        and pane is not None
        and pane.is_mounted
        and not pane.busy
        # What a screen finds out makes it want more, which is asked for behind it.
        and app.wanted_key is not None
        and app.wanted_key.keys() >= set(pane.reads())
    )


async def press(pilot: Pilot[None], keys: Sequence[str]) -> None:
    for key in keys:
        await pilot.press(key)
        await (settled(pilot) if key in {"enter", "escape"} else calm(pilot))
    await settled(pilot)


async def strike(pilot: Pilot[None], keys: Sequence[str]) -> None:
    """Presses keys of a screen that never comes to rest."""
    for key in keys:
        await pilot.press(key)
        await calm(pilot)


async def until(pilot: Pilot[None], *parts: str, gone: bool = False) -> str:
    """Waits until all these texts are on the screen at once, or none is any more; the text of the screen then."""
    app: Any = pilot.app
    for _ in range(_LOOKS):
        await pilot.pause(0.02)
        assert not app.return_code
        shown = text(app)
        if all((part in shown) != gone for part in parts):
            return shown
    raise AssertionError((parts, text(app)))


def text(app: Kres) -> str:
    """What is on the screen."""
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in drawn(app))


def drawn(app: Kres) -> list[Any]:
    """The lines of the screen as strips. Textual has no public way to them; its own snapshots take the same one."""
    return list(app.screen._compositor.render_strips())


def lines_of(app: Kres, part: str) -> list[str]:
    return [line for line in text(app).splitlines() if part in line]


def drive(
    app: Kres,
    keys: Sequence[str] = (),
    then: Callable[[Kres], None] | None = None,
    *,
    size: tuple[int, int] = SMALL,
    act: Callable[[Pilot[None]], Awaitable[None]] | None = None,
) -> str:
    """Presses keys one after the other; the text of the last screen."""

    async def run() -> str:
        async with app.run_test(size=size) as pilot:
            await settled(pilot)
            await press(pilot, keys)
            if act is not None:
                await act(pilot)
                await settled(pilot)
            if then is not None:
                then(app)
            return text(app)

    return asyncio.run(run())


def typed(words: str) -> list[str]:
    """A text as the keys that type it."""
    names = {" ": "space", "-": "minus", "/": "slash", ".": "full_stop", "=": "equals_sign", "!": "exclamation_mark"}
    return [names.get(character, character) for character in words]
