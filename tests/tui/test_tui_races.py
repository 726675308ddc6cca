"""A screen at rest does not show how quickly it was read: pages that come late and rows that are made one at a time
lead to the same picture.
"""

from __future__ import annotations

import asyncio
import os
from random import Random
from typing import Any

import pytest
from tui.driving import ML, SHOP, demo, drawn, press, settled
from tui.test_tui_snapshots import CASES, POOLED, SIZES

from kubectl_kres.store.store import Changes
from kubectl_kres.tui.data_feed import ReadOnce

pytestmark = pytest.mark.thorough

#: Slow runs of each screen; more, and at both sizes, by hand.
_RUNS = int(os.environ.get("KRES_RACES", "0"))
_SIZES = SIZES if _RUNS else {"80x24": SIZES["80x24"]}


def picture(words: str, keys: list[str], size: tuple[int, int], **options: Any) -> str:
    """Texts and styles of all cells, and which widget has the keys."""
    app = demo(words, **options)

    async def run() -> str:
        async with app.run_test(size=size) as pilot:
            await settled(pilot)
            await press(pilot, keys)
            strips = drawn(app)
            lines = ["".join(f"{part.text}<{part.style}>" for part in strip) for strip in strips]
            return "\n".join([*lines, str(app.focused)])

    return asyncio.run(run())


def slow(monkeypatch: pytest.MonkeyPatch, random: Random) -> None:
    """Every page by itself and after a while, and of what is computed in slices the least that a slice can hold."""
    drain = ReadOnce.drain

    def late(self: ReadOnce, store: Any, *, maximum: int = 0) -> Changes:
        if random.random() < 0.4:
            return drain(self, store, maximum=1)
        self.on_arrival()
        return Changes()

    monkeypatch.setattr(ReadOnce, "drain", late)
    for name in (
        "screens.browse.rows._FIRST",
        "screens.browse.rows._SLICE",
        "screens.overview.pane._SLICE",
        "following._SUMMING",
    ):
        monkeypatch.setattr(f"kubectl_kres.tui.{name}", random.choice([0.0001, 0.0005, 0.02]))
    for name in ("screens.overview.pane._REST", "overview.refused._REST", "overview.running._REST"):
        monkeypatch.setattr(f"kubectl_kres.tui.{name}", random.choice([0, 10]))


@pytest.mark.one_in(12)
@pytest.mark.parametrize("size", _SIZES)
@pytest.mark.parametrize("name", [*CASES, *POOLED])
def test_a_screen_at_rest_is_the_same_however_slowly_it_was_read(name, size, monkeypatch):
    words, keys = (CASES | POOLED)[name]
    file = ML if name in POOLED else SHOP
    calm = picture(words, keys, SIZES[size], file=file)
    for seed in range(_RUNS or 1):
        with monkeypatch.context() as patched:
            slow(patched, Random(f"{name} {size} {seed}"))
            drawn = picture(words, keys, SIZES[size], file=file)
            differ = [pair for pair in zip(calm.splitlines(), drawn.splitlines(), strict=True) if pair[0] != pair[1]]
            assert not differ, (seed, differ)
