"""What a screen makes of its room, and what it leaves alone where there is nothing to show."""

from __future__ import annotations

import re

import pytest
from reports.stored import store_of
from reports.test_claim_or_pool_reports import space
from tui.driving import demo, drive, press, text, typed
from tui.still import Still, session_on

from kubectl_kres.snapshot.read import demo_path
from kubectl_kres.store.store import Coverage, ReadRequest
from kubectl_kres.tui.app import Kres
from kubectl_kres.tui.location import HOME, Location

DEMO = demo_path()


@pytest.mark.parametrize("ending", [["escape"], [*typed("pods"), "enter"]], ids=["escape", "enter"])
def test_what_only_the_palette_looked_for_is_watched_no_longer(ending):
    feed = Still()
    app = Kres(session_on(store_of(space("shop")), feed), (HOME, Location("quotas")))

    def kinds() -> set[str]:
        return {need.kind for need in feed.wanted}

    async def act(pilot):
        before = kinds()
        assert "StatefulSet" not in before
        await pilot.press("ctrl+p")
        assert "StatefulSet" in kinds()
        await press(pilot, ending)
        after = kinds()
        assert "StatefulSet" not in after
        assert after == before or ending != ["escape"]

    drive(app, act=act)


@pytest.mark.parametrize("size", [(200, 50), (220, 60), (300, 24)], ids=str)
def test_a_wide_overview_has_the_second_pane_filled_and_no_reason_cut(size):
    """The first screen of the bundled example: the areas stand in the second pane at any height."""
    lines = drive(demo(file=DEMO), size=size).splitlines()
    row = next(line for line in lines if "deploy/report-cruncher" in line)
    assert "waits: no node, 3 Insufficient memory " in row
    left = [line.partition("│")[0] for line in lines if "│" in line]
    assert size[0] < 220 or not any("…" in line for line in left if "storefront" not in line)
    right = [line.partition("│")[2].strip() for line in lines if "│" in line]
    assert any("AREA" in line for line in right[len(right) // 3 :])
    assert any(re.search(r"quota team in checkout", line) for line in right)


def test_a_rejection_names_who_rejects():
    shown = drive(demo(file=DEMO), [*["down"] * 7], size=(200, 50))
    assert "rejected by webhook images.example.com" in shown
    status = shown.splitlines()[-3]
    assert "blocked: webhook images.example.com (it cannot be called) rejects them (15 times, last " in status


@pytest.mark.parametrize("name", ["pools", "claims", "taskruns", "pipelineruns"])
def test_a_list_of_a_kind_that_is_not_installed_has_no_order_and_nothing_to_filter(name):
    kind = {"pools": "ResourcePool", "claims": "ResourcePoolClaim", "taskruns": "TaskRun"}.get(name, "PipelineRun")
    store = store_of(space("shop"), unread=(kind,))
    store.cover(ReadRequest(kind), Coverage("absent"))
    app = Kres(session_on(store), (HOME, Location(name)))

    async def act(pilot):
        shown = text(app)
        assert "the server has no" in shown
        assert "sort" not in shown.splitlines()[-3]
        assert "worst first" not in shown
        assert "/ filter" not in shown.splitlines()[-1]
        await press(pilot, ["S"])
        assert "there are no rows: shift-s does nothing here" in text(app)
        await press(pilot, ["/"])
        assert "there is nothing to filter" in text(app)

    drive(app, act=act)
