"""Pictures of the main screens where room, colour or signs are scarce or plenty, and of what is late or not there."""

from __future__ import annotations

from typing import Any

import pytest
from reports.stored import store_of
from reports.test_claim_or_pool_reports import space
from tui.driving import ML, calm, demo, text, until
from tui.still import Still, session_on
from tui.test_tui_snapshots import before
from tui.test_tui_states import quota

from kubectl_kres.cluster.watch.feed_state import FeedState
from kubectl_kres.store.store import Coverage, ReadRequest
from kubectl_kres.tui.app import Kres
from kubectl_kres.tui.location import HOME, Location

pytestmark = pytest.mark.one_in(3)

RUN = "pod build-api-9c4f-pod"
SCREENS: dict[str, tuple[str, list[str]]] = {
    "overview": ("", ["down"]),
    "pods": ("pods", ["down"]),
    "pod": (RUN, ["down", "down"]),
    "qos": (RUN, ["tab"]),
    "quotas": ("quotas", ["G"]),
    "quota": ("quota runs", []),
    "namespaces": ("namespaces", ["down"]),
    "pool": ("pool ml-compute", []),
    "claims": ("claims", ["G"]),
    "claim": ("claim sweep", ["down"]),
    "taskrun": ("taskrun integration-12", []),
    "refused": ("refused", []),
    "timeline": ("timeline", ["down"]),
}
TINY, SMALL, MIDDLE, HUGE = (50, 15), (80, 24), (120, 35), (200, 50)
SIZES = [
    *((TINY, name) for name in ("overview", "pods", "pod", "quotas", "quota", "claims", "claim", "pool", "taskrun")),
    *((SMALL, name) for name in ("refused", "timeline")),
    *((MIDDLE, name) for name in ("overview", "namespaces", "quota", "pool", "claims", "claim", "refused", "timeline")),
    *((HUGE, name) for name in ("overview", "pods", "pod", "claims", "quotas", "pool", "claim", "timeline")),
]
LIGHT = [(MIDDLE, "overview"), (SMALL, "claims"), (SMALL, "qos"), (SMALL, "quota")]
PLAIN = [(SMALL, "overview"), (MIDDLE, "pool"), (SMALL, "quotas")]
ASCII = [(MIDDLE, "overview"), (MIDDLE, "pool"), (SMALL, "qos"), (TINY, "claims")]


def ident(case: Any) -> str:
    (width, height), name = case
    return f"{name}-{width}x{height}"


@pytest.mark.one_in(9)
@pytest.mark.parametrize("case", SIZES, ids=ident)
def test_size(snap_compare: Any, case: tuple[tuple[int, int], str]):
    size, name = case
    words, keys = SCREENS[name]
    assert snap_compare(demo(words, file=ML), run_before=before(keys), terminal_size=size)


@pytest.mark.parametrize("case", LIGHT, ids=ident)
def test_light(snap_compare: Any, case: tuple[tuple[int, int], str]):
    size, name = case
    words, keys = SCREENS[name]
    assert snap_compare(demo(words, file=ML, theme="kres-light"), run_before=before(keys), terminal_size=size)


@pytest.mark.parametrize("case", PLAIN, ids=ident)
def test_no_colour(snap_compare: Any, monkeypatch: pytest.MonkeyPatch, case: tuple[tuple[int, int], str]):
    monkeypatch.setenv("NO_COLOR", "1")
    size, name = case
    words, keys = SCREENS[name]
    assert snap_compare(demo(words, file=ML), run_before=before(keys), terminal_size=size)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("case", ASCII, ids=ident)
def test_ascii(snap_compare: Any, case: tuple[tuple[int, int], str]):
    size, name = case
    words, keys = SCREENS[name]
    app = demo(words, file=ML, ascii=True)
    found: list[str] = []

    async def run(pilot: Any) -> None:
        await before(keys)(pilot)
        found.append(text(app))

    assert snap_compare(app, run_before=run, terminal_size=size)
    assert found[0].isascii()


FORBIDDEN = Coverage("denied", 'resourcequotas is forbidden: User "dev" cannot list resource "resourcequotas"')
STATES = {
    "denied": (FORBIDDEN, {}),
    "not-installed": (Coverage("absent"), {}),
    "loading": (None, {"read": 400, "estimate": 1200}),
    "stale": (
        None,
        {"has_objects": True, "answered_at": 960.0, "attempts": 3, "reason": "no route to host", "next_try": 1008.0},
    ),
}
KINDS = {"not-installed": "ResourcePool"}


@pytest.mark.parametrize("name", STATES)
def test_state(snap_compare: Any, name: str):
    """The state of what a list needs: said where the rows would stand, and in the corner."""
    coverage, reading = STATES[name]
    kind = KINDS.get(name, "ResourceQuota")
    store = store_of(space("shop"), unread=(kind,))
    feed = Still()
    if name == "stale":
        store = store_of(space("shop"), quota("4Gi"))
    if coverage is not None:
        store.cover(ReadRequest(kind), coverage)
    else:
        feed.given[ReadRequest(kind)] = FeedState("retrying" if "attempts" in reading else "listing", **reading)
    session = session_on(store, feed, live=True, clock=lambda: 1000.0)
    place = Location("pools" if kind == "ResourcePool" else "quotas")

    async def run(pilot: Any) -> None:
        # What is being read never comes to rest.
        await until(pilot, "retry in 8 s" if name == "stale" else "reading 400")
        await calm(pilot)

    app = Kres(session, (HOME, place))
    assert snap_compare(app, run_before=run if reading else before([]), terminal_size=SMALL)
