"""The moving picture of the README, made from the running app: ``KRES_GOLDEN=write`` makes it again."""

from __future__ import annotations

import asyncio
import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence

import pytest
from tui.animated import Frame, animated
from tui.driving import ML, demo, press, settled, typed
from tui.test_tui_screenshots import FOLDER

from kubectl_kres.tui import save

pytestmark = pytest.mark.thorough

PATH = FOLDER / "tour.svg"
SIZE = (100, 28)
#: A README that is slow to load is left.
MOST = 400_000
#: Keys, and for how many seconds what they lead to is looked at.
TOUR: Sequence[tuple[Sequence[str], float]] = (
    ((), 3.5),
    ((":",), 0.4),
    (typed("deploy checkout checkout"), 0.8),
    (("enter",), 4.5),
    (("u",), 3.5),
    ((":", *typed("quota team checkout")), 0.8),
    (("enter",), 2.5),
    (("s",), 1.2),
    (typed("4608Mi"), 1.2),
    (("enter",), 4.5),
    ((":", *typed("deploy checkout checkout"), "enter"), 4),
    (("U", ":", *typed("pool ml-compute")), 0.8),
    (("enter",), 4.5),
    ((":", *typed("timeline"), "enter"), 4),
)


def frames() -> list[Frame]:
    app, result = demo(file=ML), []

    async def run() -> None:
        async with app.run_test(size=SIZE) as pilot:
            for keys, seconds in TOUR:
                await settled(pilot)
                await press(pilot, keys)
                await settled(pilot)
                result.append(Frame(save.svg(app, "kubectl kres"), seconds))

    asyncio.run(run())
    return result


@pytest.mark.thorough
def test_the_tour_is_what_the_app_draws():
    drawn = animated(frames())
    assert not re.search(r"@font-face|@import|<image|<script|url\((?!#)", drawn), "a picture fetches nothing"
    assert len(drawn) < MOST
    if os.environ.get("KRES_GOLDEN") == "write":
        PATH.write_text(drawn, encoding="utf-8")
    assert PATH.read_text(encoding="utf-8") == drawn


@pytest.mark.thorough
def test_each_frame_has_the_lines_of_its_picture():
    """Every text of every picture stands in the frame that shows it, and a frame refers to nothing else."""
    pictures = frames()[:3]
    root = ET.fromstring(animated(pictures))
    space = {"s": "http://www.w3.org/2000/svg"}
    lines = {group.get("id"): group for group in root.iterfind(".//s:defs/s:g", space)}
    shown = [group for group in root.iterfind(".//s:g", space) if (group.get("class") or "").startswith("f f")]
    assert len(shown) == len(pictures)
    for group, picture in zip(shown, pictures, strict=True):
        uses = [lines[use.get("href", "").removeprefix("#")] for use in group.iterfind("s:use", space)]
        texts = [text.text for use in uses for text in use.iterfind("s:text", space)]
        alone = ET.fromstring(picture.svg)
        matrix = [text.text for text in alone.iterfind(".//s:text", space) if "-title" not in (text.get("class") or "")]
        assert texts == matrix
