"""Pictures of the screens at both sizes, on the bundled example with the moment of its recording."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from reports.stored import made, store_of
from tui.driving import LARGE, ML, SMALL, app_on, demo, press, settled, typed
from tui.still import session_on

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import BOUND_PODS
from kubectl_kres.model.scheduling import NODES
from kubectl_kres.reports.scheduling.node_room import node_room_needs
from kubectl_kres.store.store import READ, Store
from kubectl_kres.tui.app import Kres

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
    "waiting": ("waiting", ["down"]),
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


@pytest.mark.parametrize("size", SIZES)
def test_first_start(snap_compare: Any, size: str):
    app = demo(file=ML)
    app.session.greets = True
    assert snap_compare(app, run_before=before([]), terminal_size=SIZES[size])


def add(store: Store, raw: dict[str, Any]) -> None:
    """Add an object as it comes from a server."""
    store.add(raw["kind"], msgspec.json.decode(msgspec.json.encode(raw), type=BY_KIND[raw["kind"]].struct))


def nodes() -> Kres:
    """Three nodes: one with more on it than it has, one with room, one that does not answer and is tainted."""
    room = {"cpu": "4", "memory": "16Gi", "pods": "110"}
    ready, silent = ([{"type": "Ready", "status": status}] for status in ("True", "Unknown"))
    taints = [{"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}]
    asked = {"web": ("node-1", "1500m", "9Gi"), "db": ("node-1", "3", "8Gi"), "web-b": ("node-2", "500m", "1Gi")}
    store = store_of()
    for number, conditions in enumerate((ready, ready, silent), 1):
        spec, status = {"taints": taints if number == 3 else []}, {"allocatable": room, "conditions": conditions}
        add(store, made(NODES, f"node-{number}", namespace="", spec=spec, status=status))
    for name, (node, cpu, memory) in asked.items():
        container = {"name": "app", "resources": {"requests": {"cpu": cpu, "memory": memory}}}
        spec, namespace = {"nodeName": node, "containers": [container]}, "shop" if name.startswith("web") else "data"
        add(store, made(BOUND_PODS, name, namespace=namespace, spec=spec, status={"phase": "Running"}))
    for read in node_room_needs():
        store.cover(read, READ)
    return app_on(session_on(store), "nodes")


@pytest.mark.parametrize("size", SIZES)
def test_nodes(snap_compare: Any, size: str):
    assert snap_compare(nodes(), run_before=before(["down"]), terminal_size=SIZES[size])
