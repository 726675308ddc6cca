"""Keys that come faster than screens do: each belongs to the screen that the one before it leads to."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from textual import events
from textual.command import CommandList
from textual.keys import _character_to_key
from tui.driving import ML, calm, demo, drive, settled, shop, text, typed, until

from kubectl_kres.cluster.watch.feed_state import FeedState
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.store.store import Changes, ReadRequest
from kubectl_kres.tui.app import Kres
from kubectl_kres.tui.data_feed import ReadOnce
from kubectl_kres.tui.location import HOME, Location

#: Key, and what the screen shows behind it.
BURSTS = {
    "a command, then a filter": ("", [":", *typed("pods"), "enter", "/", *typed("web")], "filter web", "pods"),
    "a filter, then a row": ("pods", ["/", *typed("cart"), "enter", "j", "enter"], "SET BY", "cart-"),
    "two rows down": ("pods", ["/", *typed("s"), "enter", "j", "j"], "filter s", ">! shop       storefront-"),
    "command after command": (
        "",
        [":", *typed("pods"), "enter", ":", *typed("quotas"), "enter", "G"],
        "quotas",
        "HARD",
    ),
    "a filter that is left": ("pods", ["/", *typed("cart"), "escape", "j"], "47 pods", "pods"),
    "a row, then who uses it": ("quotas", ["enter", "u"], "who uses quota/", "WHO"),
    "a filter that is mended": ("pods", ["/", *typed("cat"), "backspace", *typed("rt"), "enter"], "filter cart\n"),
    "a number for all that is marked": (
        "",
        [":", *typed("wl checkout"), "enter", *["space"] * 3, "s", "ctrl+u", *typed("replicas=1")],
        "what if 3 marked replicas=1\n",
    ),
    "a word of the palette that is mended": (
        "",
        ["ctrl+p", *typed("quotx"), "backspace", *typed("as"), "enter"],
        "overview > quotas",
    ),
    "a number where none is to try": ("pods", ["s", *typed("5Gi"), "enter", "j"], "overview > pods ─", ">! platform"),
    "a name and a number there": ("pods", ["s", *typed("pods=5d"), "enter"], "overview > pods ─", ">x shop"),
    "a filter where there is none": (
        "",
        [":", *typed("limits bounds checkout"), "enter", "/", *typed("wud"), "enter"],
        "overview > limits/bounds ─",
    ),
    "a row, and a filter that is left": (
        "quotas",
        ["enter", "/", *typed("pods"), "escape"],
        "quotas > quota/best-effort",
    ),
    "a row, and a palette that is left": ("quotas", ["enter", "ctrl+p", "escape"], "quotas > quota/best-effort"),
    "help and back": ("", ["?", "escape", ":", *typed("ns"), "enter", "j"], "namespaces", "TIGHTEST"),
}


_CHARACTERS = {"space": " ", "minus": "-", "slash": "/", "equals_sign": "=", "exclamation_mark": "!"}


def key(name: str) -> events.Key:
    """As the driver of a terminal makes it."""
    if len(name) == 1:
        return events.Key(_character_to_key(name), name)
    return events.Key(name, _CHARACTERS.get(name))


def burst(
    app: Kres,
    keys: Sequence[str],
    *,
    gaps: Random | None = None,
    size: tuple[int, int] = (100, 30),
    ahead: bool = False,
) -> str:
    """Sends all keys at once, or with gaps of up to 30 ms; the text of the screen at rest. ``ahead``: before anything
    is read.
    """

    async def run() -> str:
        async with app.run_test(size=size) as pilot:
            if not ahead:
                await settled(pilot)
            for name in keys:
                app.post_message(key(name))
                if gaps is not None and (gap := gaps.choice([0, 0, 0.001, 0.01, 0.03])):
                    await asyncio.sleep(gap)
            await rest(pilot)
            return text(app)

    return asyncio.run(run())


async def rest(pilot: Any) -> None:
    await settled(pilot)


@pytest.mark.one_in(7)
@pytest.mark.parametrize("seed", [None, 1, 2])
@pytest.mark.parametrize("name", BURSTS)
def test_what_is_typed_behind_enter_belongs_to_the_new_screen(name, seed):
    words, keys, *parts = BURSTS[name]
    shown = burst(demo(words), keys, gaps=Random(seed) if seed is not None else None)
    assert all(part in shown for part in parts), shown


@pytest.mark.thorough
def test_a_burst_leads_where_the_same_keys_lead_one_by_one():
    keys = [":", *typed("pods"), "enter", "/", *typed("cart"), "enter", "j", "enter", "tab", "escape", "k"]
    assert burst(demo(), keys) == drive(demo(), keys, size=(100, 30))


def heard_ahead(monkeypatch: pytest.MonkeyPatch, random: Random) -> None:
    """As readers of a real server: they have heard all long before it stands in the store, where it comes in pieces."""
    drain = ReadOnce.drain

    def late(self: ReadOnce, store: Any, *, maximum: int = 0) -> Changes:
        if random.random() < 0.3:
            return drain(self, store, maximum=1)
        self.on_arrival()
        return Changes()

    def states(self: ReadOnce) -> dict[ReadRequest, FeedState]:
        return {
            need: FeedState("watching", has_objects=True) if state.phase == "listing" else state
            for need, state in self._states.items()
        }

    monkeypatch.setattr(ReadOnce, "drain", late)
    monkeypatch.setattr(ReadOnce, "states", states)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("name", BURSTS)
def test_a_burst_before_any_row_is_read_leads_to_the_same_screen(name, seed, monkeypatch):
    words, keys, *parts = BURSTS[name]
    heard_ahead(monkeypatch, random := Random(f"{name} {seed}"))
    shown = burst(demo(words), keys, gaps=random if seed > 1 else None, ahead=True)
    assert all(part in shown for part in parts), shown


def test_keys_for_rows_do_not_wait_where_no_row_comes():
    """A list that is never read: after two seconds, or at escape, what was typed goes on."""
    app = demo("pods")

    async def run() -> None:
        async with app.run_test(size=(100, 30)) as pilot:
            await until(pilot, "47 pods")
            app.session.unread_requests = lambda needs: iter([(need, FeedState("connecting")) for need in needs])
            app.pane.table.replace({})
            app.post_message(key("j"))
            await pilot.pause(0.2)
            assert app._type_ahead.is_holding
            app.post_message(key("escape"))
            app.post_message(key("?"))
            await until(pilot, "> help")
            app.post_message(key("escape"))
            await until(pilot, "> help", gone=True)
            app.post_message(key("j"))
            app.post_message(key("?"))
            await until(pilot, "> help")

    asyncio.run(run())


#: What a random burst is put together from.
_WORDS = [
    *([":", *typed(name), "enter"] for name in ("pods", "quotas", "refused", "ns", "quota team checkout")),
    *(["/", *typed(text), "enter"] for text in ("cart", "team", "!web", "limits=none")),
    *([name] * many for name in ("j", "k", "down", "G", "g") for many in (1, 2)),
    *([name] for name in ("enter", "enter", "escape", "tab", "y", "d", "u", "t", "?", "S", "N", "L", "f", "[", "]")),
    *([name] for name in ("minus", "0", "1", "2", "w", "J")),
    ["ctrl+p", "escape"],
    ["s", "escape"],
    ["/", *typed("cart"), "escape"],
]
#: Random bursts of the suite; more by hand.
_BURSTS = int(os.environ.get("KRES_BURSTS", "6"))


def places(app: Kres, shown: str) -> tuple[object, list[str]]:
    """Where the keys led: the way there, and what is on the screen but for a remark that goes by itself."""
    lines = shown.splitlines()
    return app.history.trail, [line for at, line in enumerate(lines) if at != len(lines) - 3]


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(_BURSTS))
def test_any_burst_leads_where_the_same_keys_lead_one_by_one(seed, monkeypatch):
    random = Random(f"burst {seed}")
    keys = [key for _ in range(random.randint(4, 12)) for key in random.choice(_WORDS)]
    # Without the overview, where rows of all kinds come one after the other and the first one is another each time.
    began = Location(random.choice(["pods", "quotas", "limitranges"]))
    slowly, quickly = Kres(shop(), (began,)), Kres(shop(), (began,))
    calm = places(slowly, drive(slowly, keys, size=(100, 30)))
    if late := random.random() < 0.5:
        heard_ahead(monkeypatch, random)
        monkeypatch.setattr("kubectl_kres.tui.type_ahead._LONGEST", 60.0)
    # Whoever types in the midst of a list that is being read chooses among the rows that there are.
    gaps = random if not late and random.random() < 0.5 else None
    trail, lines = places(quickly, burst(quickly, keys, gaps=gaps, ahead=late))
    assert (trail, [pair for pair in zip(lines, calm[1], strict=False) if pair[0] != pair[1]]) == (calm[0], []), keys


def test_a_paste_behind_enter_is_for_the_prompt_that_stands_then():
    app = demo()

    async def run() -> str:
        async with app.run_test(size=(100, 30)) as pilot:
            await settled(pilot)
            for name in [":", *typed("pods"), "enter", "/"]:
                app.post_message(key(name))
            app.post_message(events.Paste("cart\nrm -rf"))
            await rest(pilot)
            return text(app)

    shown = asyncio.run(run())
    assert "filter cart" in shown
    assert "rm -rf" not in shown


def test_keys_typed_ahead_of_a_palette_are_the_palettes():
    app = demo("quotas")

    async def run() -> str:
        async with app.run_test(size=(100, 30)) as pilot:
            await settled(pilot)
            for name in ["ctrl+p", *typed("timeline"), "enter"]:
                app.post_message(key(name))
            await asyncio.sleep(0.3)
            await rest(pilot)
            return text(app)

    assert "WHAT" in asyncio.run(run())


def test_no_key_waits_for_a_screen_that_cannot_come():
    """Where nothing takes the keys they are let through at once."""
    app = demo()

    async def run() -> None:
        async with app.run_test(size=(40, 8)) as pilot:
            await settled(pilot)
            for name in ["enter", "escape", "?"]:
                app.post_message(key(name))
            await asyncio.sleep(1.5)
            assert not app._type_ahead.is_holding

    asyncio.run(run())


#: Keys that wait for a screen all together, as on a busy machine; keys that nothing holds back.
_HELD, _FREE = "held", "free"


def seen_first(app: Kres, how: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """What a burst opens for which the palette stands there with the object that was looked at last, or will."""

    async def run() -> str:
        async with app.run_test(size=(100, 30)) as pilot:
            await settled(pilot)
            app.post_message(key("escape"))
            await rest(pilot)
            if how == _FREE:
                app.post_message(key("ctrl+p"))
                await until(pilot, "ResourceQuota")
                monkeypatch.setattr(app._type_ahead, "hold_event", lambda _: False)
            elif how == _HELD:
                app._type_ahead.begin()
            for name in [*(["ctrl+p"] if how != _FREE else []), *typed("sweep"), "enter"]:
                app.post_message(key(name))
            await until(pilot, "overview > ")
            await rest(pilot)
            return text(app)

    return asyncio.run(run())


@pytest.mark.parametrize("how", [_HELD, _FREE, ""])
def test_enter_in_the_palette_opens_what_was_typed_not_what_it_showed_before(how, monkeypatch):
    team = Location("quota", ref=ObjectRef("ResourceQuota", "team", "checkout"))
    app = Kres(shop(ML), (HOME, team))
    shown = seen_first(app, how, monkeypatch)
    assert "overview > claim/sweep" in shown, shown


def test_who_went_down_to_a_hit_of_the_palette_opens_that_one():
    app = demo("quotas")

    async def run() -> tuple[str, str]:
        async with app.run_test(size=(100, 30)) as pilot:
            await settled(pilot)
            for name in ["ctrl+p", *typed("team")]:
                await pilot.press(name)
            await pilot.pause(0.5)
            await calm(pilot)
            second: Any = app.screen.query_one(CommandList).options[1]
            await pilot.press("down")
            await pilot.press("enter")
            await rest(pilot)
            return str(second.hit.text), text(app)

    offered, shown = asyncio.run(run())
    kind, _, name = offered.partition(" ")
    assert f"quotas > {kind}/{name.partition('/')[2]}" in shown, (offered, shown)
    assert f"-n {name.partition('/')[0]} " in shown
