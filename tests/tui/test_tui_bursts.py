"""Keys that come faster than screens do: each belongs to the screen that the one before it leads to."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from textual import events
from textual.keys import _character_to_key
from tui.driving import demo, drive, settled, text, typed

from kubectl_kres.tui.app import Kres

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
    "help and back": ("", ["?", "escape", ":", *typed("ns"), "enter", "j"], "namespaces", "TIGHTEST"),
}


def key(name: str) -> events.Key:
    """As the driver of a terminal makes it."""
    if len(name) == 1:
        return events.Key(_character_to_key(name), name)
    return events.Key(name, {"space": " ", "minus": "-", "slash": "/"}.get(name))


def burst(app: Kres, keys: Sequence[str], *, gaps: Random | None = None, size: tuple[int, int] = (100, 30)) -> str:
    """Sends all keys at once, or with gaps of up to 30 ms; the text of the screen at rest."""

    async def run() -> str:
        async with app.run_test(size=size) as pilot:
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


@pytest.mark.parametrize("seed", [None, 1, 2])
@pytest.mark.parametrize("name", BURSTS)
def test_what_is_typed_behind_enter_belongs_to_the_new_screen(name, seed):
    words, keys, *parts = BURSTS[name]
    shown = burst(demo(words), keys, gaps=Random(seed) if seed is not None else None)
    assert all(part in shown for part in parts), shown


def test_a_burst_leads_where_the_same_keys_lead_one_by_one():
    keys = [":", *typed("pods"), "enter", "/", *typed("cart"), "enter", "j", "enter", "tab", "escape", "k"]
    assert burst(demo(), keys) == drive(demo(), keys, size=(100, 30))


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
            assert not app._ahead.is_holding

    asyncio.run(run())
