"""Pictures of the screens at both sizes, on the bundled example with the moment of its recording."""

from __future__ import annotations

from typing import Any

import pytest
from tui.driving import LARGE, ML, SMALL, demo, press, settled, typed

CART = "pod cart-dd98c7b99-4z4sn"
CASES = {
    "overview": ("", []),
    "namespaces": ("namespaces", ["G"]),
    "pods": ("pods", ["down", "down"]),
    "pod": (CART, ["down", "down"]),
    "pod-cgroups": (CART, ["tab", "tab"]),
    "pod-diff": ("deploy recommendations", ["D"]),
    "refused-workload": ("deploy fraud-model", ["down", "down", "down", "down"]),
    "limitranges": ("limitranges", ["G"]),
    "quotas": ("quotas", ["G"]),
    "quota": ("quota cpu-budget", ["down"]),
    # Rows that are computed later push the first one down: the cursor goes to the top before it goes on.
    "refused": ("refused", ["g", "down"]),
    "kinds": ("kinds", ["down"]),
    "help": ("pods", ["?"]),
}
POOLED = {
    "overview-pools": ("", ["down", "down"]),
    "pools": ("pools", []),
    "pool": ("pool ml-compute", []),
    "pool-users": ("pool ml-compute", ["g", "u"]),
    "quota-users": ("quota runs", ["u"]),
    "claims": ("claims", ["G"]),
    "claim": ("claim sweep", ["down", "down", "down"]),
    "taskruns": ("taskruns", ["down", "down"]),
    "taskrun": ("taskrun build-api-9c4f", ["down", "down"]),
    "taskrun-waiting": ("taskrun integration-12", ["down"]),
    "pipelinerun": ("pipelinerun release-41", ["down"]),
    "timeline": ("timeline", []),
}
SIZES = {"80x24": SMALL, "140x40": LARGE}
STATES = {
    "nothing-matches": ("pods", ["/", *typed("nowhere"), "enter"]),
    "empty": ("pods default", []),
    "typing": ("pods", [":", *typed("quo"), "tab"]),
    "too-small": ("pods", []),
}


def before(keys: list[str]) -> Any:
    async def run(pilot: Any) -> None:
        await settled(pilot)
        await press(pilot, keys)

    return run


@pytest.mark.one_in(2)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", CASES)
def test_screen(snap_compare: Any, name: str, size: str):
    words, keys = CASES[name]
    assert snap_compare(demo(words), run_before=before(keys), terminal_size=SIZES[size])


@pytest.mark.one_in(2)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", POOLED)
def test_pools_and_runs(snap_compare: Any, name: str, size: str):
    words, keys = POOLED[name]
    assert snap_compare(demo(words, file=ML), run_before=before(keys), terminal_size=SIZES[size])


@pytest.mark.parametrize("name", STATES)
def test_state(snap_compare: Any, name: str):
    words, keys = STATES[name]
    size = (50, 12) if name == "too-small" else SMALL
    assert snap_compare(demo(words), run_before=before(keys), terminal_size=size)
