"""The counts of the first screen are the rows of the lists that they lead to, whatever may be read."""

from __future__ import annotations

import asyncio
from itertools import combinations
from typing import Any

import pytest
from tui.driving import ML, app_on, demo, drive, settled, shop, text, until
from tui.still import Still, session_on

from kubectl_kres.cluster.watch.feed_state import FeedState
from kubectl_kres.errors import Forbidden
from kubectl_kres.model.workload_kinds import POD_MAKERS
from kubectl_kres.store.store import Origin, ReadRequest, Store
from kubectl_kres.tui.app import Kres
from kubectl_kres.tui.lists.list_registry import LISTINGS
from kubectl_kres.tui.lists.refusals import Refusals
from kubectl_kres.tui.location import HOME, Location
from kubectl_kres.tui.screens.overview.pane import OverviewPane

#: What a role may leave out; of each subset of two, and of all, the counts must be right.
KINDS = ("ResourceQuota", "Deployment", "TaskRun", "Pod", "ResourcePoolClaim", "LimitRange")
SUBSETS = [(), *((kind,) for kind in KINDS), *combinations(KINDS[:4], 2), KINDS]
AREAS = ("refused", "quotas", "claims", "pools", "taskruns")


def session(denied: tuple[str, ...]) -> Any:
    """The example, of which some kinds may not be read."""
    session = shop(ML)
    feed, pages = session.feed, session.feed._pages

    def allowed(need: ReadRequest) -> Any:
        if need.kind in denied:
            raise Forbidden(f"{need.kind} is forbidden", code=403)
        yield from pages(need)

    feed._pages = allowed
    return session


async def counted(app: Any) -> dict[str, str]:
    async with app.run_test(size=(200, 60)) as pilot:
        await settled(pilot)
        assert isinstance(app.pane, OverviewPane)
        return {row.what: row.scope for _, row in app.pane._counted_areas}


async def listed(app: Any) -> tuple[int, str]:
    async with app.run_test(size=(200, 60)) as pilot:
        await settled(pilot)
        return len(app.pane.table.view.rows), text(app)


@pytest.mark.one_in(14)
@pytest.mark.parametrize("denied", SUBSETS, ids="-".join)
def test_each_area_counts_the_rows_of_its_list(denied):
    counts = asyncio.run(counted(app_on(session(denied))))
    for area in AREAS if not denied else ("refused", "quotas"):
        rows, shown = asyncio.run(listed(app_on(session(denied), area)))
        count = counts[area]
        if count == "?":
            assert not rows
            assert "incomplete" in shown or "? " in shown
        else:
            assert int(count.removesuffix("+?")) == rows, (area, count, rows)
        if rows == 0 and set(denied) & {"ResourceQuota", "Deployment"} and area == "refused":
            # What could not be read is not known to be none.
            assert count == "?"


def test_of_workloads_that_may_not_be_read_none_is_no_number():
    """Pods may be listed, nothing that makes them: how many workloads run is not known."""
    counts = asyncio.run(counted(app_on(session((*POD_MAKERS, "TaskRun", "PipelineRun")))))
    assert (counts["refused"], counts["workloads"]) == ("?", "?")
    assert int(counts["pods"]) > 0


def test_of_what_was_not_heard_there_is_no_number():
    """A server that takes the connection and never answers."""
    seconds = iter(range(0, 100_000, 7))
    silent = Still({ReadRequest(kind): FeedState("connecting") for kind in ("Pod", "Namespace", "ResourceQuota")})
    app = Kres(session_on(Store(Origin("cluster")), silent, live=True, clock=lambda: float(next(seconds))))

    async def run() -> str:
        async with app.run_test(size=(100, 30)) as pilot:
            return await until(pilot, "connecting for", "no answer so far")

    shown = asyncio.run(run())
    assert " 0 " not in shown.partition("workloads")[2].replace("0 all", ""), shown
    assert "none" not in shown, shown


def test_refused_workloads_are_counted_before_what_mends_them_is_known(monkeypatch):
    def looked(app: Kres) -> tuple[str, bool]:
        scopes = {row.what: row.scope for _, row in app.pane._counted_areas}
        rows = [row for _, row in app.pane.worst.view.pairs() if row.problem and row.problem.area == "refused"]
        return scopes["refused"], any(row.problem.fixes for row in rows)

    found: list[tuple[str, bool]] = []
    drive(demo(), then=lambda app: found.append(looked(app)))
    monkeypatch.setattr(Refusals, "mended", lambda _: iter(()))
    drive(demo(), then=lambda app: found.append(looked(app)))
    (count, mended), unmended = found
    assert mended and unmended == (count, False)


def test_a_list_counts_every_kind_that_its_area_counts():
    assert {"TaskRun"} <= set(LISTINGS["refused"].source.kinds)
    assert Location("refused") != HOME


def test_a_place_in_the_queue_is_one_number_everywhere():
    _, claim = asyncio.run(listed(app_on(session(()), "claim sweep")))
    assert "place 1 of 3" in claim
    assert "1. ml-training/sweep" in claim
    _, pool = asyncio.run(listed(app_on(session(()), "pool ml-compute")))
    assert "1. ml-training/sweep" in pool


def test_more_than_a_percentage_can_say_is_over_in_every_list():
    _, spaces = asyncio.run(listed(app_on(session(()), "namespaces")))
    assert "over capsule-pool-ml-storage persistentvolumeclaims" in spaces
    assert "10000%" not in spaces
