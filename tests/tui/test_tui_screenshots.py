"""The pictures of the README, made from the running app: ``KRES_GOLDEN=write`` makes them again."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path

import pytest
from tui.driving import LARGE, ML, SHOP, SMALL, demo, press, settled

from kubectl_kres.tui import save

FOLDER = Path(__file__).parents[2] / "screenshots"
CASES = {
    "pool": ("pool ml-compute", [], LARGE),
    "claims": ("claims", ["G"], SMALL),
    "claim": ("claim sweep", ["down"], LARGE),
    "taskrun": ("taskrun build-api-9c4f", [], LARGE),
    "overview": ("", [], SMALL),
    "pods": ("pods", ["down", "down"], LARGE),
    "pod": ("pod cart-dd98c7b99-4z4sn", ["down", "down"], LARGE),
    "refused": ("deploy fraud-model", [], LARGE),
    "quotas": ("quotas", ["G"], SMALL),
    "quota": ("quota cpu-budget", [], SMALL),
    "limitranges": ("limitranges", ["G"], SMALL),
}
#: Of the example with pools and runs.
POOLED = {"pool", "claims", "claim", "taskrun", "overview"}


@pytest.mark.thorough
@pytest.mark.parametrize("name", CASES)
def test_the_picture_is_what_the_app_draws(name):
    words, keys, size = CASES[name]
    app = demo(words, file=ML if name in POOLED else SHOP)

    async def run() -> str:
        async with app.run_test(size=size) as pilot:
            await settled(pilot)
            await press(pilot, keys)
            return save.svg(app, "kubectl kres")

    drawn = asyncio.run(run())
    assert not re.search(r"@font-face|@import|<image|url\((?!#)", drawn), "a picture fetches nothing"
    path = FOLDER / f"{name}.svg"
    if os.environ.get("KRES_GOLDEN") == "write":
        FOLDER.mkdir(exist_ok=True)
        path.write_text(drawn, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == drawn
