"""What the real Kueue charged, which flavors it gave, and what it said of what waits, in recorded worlds."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
from conformance.cases import folder
from conformance.kueue import (
    Moment,
    charge_fault,
    moments,
    pending,
    preempts,
    replay_faults,
    verdict_fault,
    world_of,
)

from kubectl_kres.kueue.rules.world import holds_quota, key_of


@functools.cache
def recorded() -> tuple[Moment, ...]:
    """Every moment of the chosen recordings."""
    return tuple(moments(folder() / "kueue"))


#: A sentence that the cluster still shows although what it is about has changed since.
STALE = {
    "s505x009/2": "the queue is stopped, and nobody has looked at the Workload since",
}


def faults(moment: Moment) -> list[str]:
    """In what computed charges, flavors and verdicts differ from the recorded ones."""
    world = world_of(moment.state)
    before = world_of(moment.before) if moment.before is not None else None
    found: list[str] = []
    for workload in world.workloads.values():
        earlier = before.workloads.get(key_of(workload)) if before is not None else None
        # A reservation stays what it was when LimitRanges change.
        if holds_quota(workload) and (earlier is None or earlier.status.admission != workload.status.admission):
            found.append(charge_fault(world, workload))
    told: dict[str, list[str]] = {}
    for event in moment.state["events"]:
        told.setdefault(f"{event.get('namespace', '')}/{event['object']}", []).append(event["message"])
    for workload in pending(world):
        name = f"{workload.metadata.namespace}/Workload/{workload.metadata.name}"
        fault = verdict_fault(world.answer(workload), workload, told.get(name, ()), reasons=moment.group == "reasons")
        found.append(f"{workload.metadata.name}: {fault}" if fault else "")
    if not preempts(world):
        found += replay_faults(world) if moment.before is None else ()
        waits = world.next_admission()
        found.append(f"{waits[0].metadata.name} fits and waits" if waits is not None else "")
    return [fault for fault in found if fault]


@pytest.mark.parametrize("moment", [pytest.param(moment, id=moment.id) for moment in recorded()])
def test_recorded_moment(moment: Moment):
    found = faults(moment)
    if moment.id in STALE:
        assert len(found) == 1, "it is as computed: take it out of STALE"
    else:
        assert not found, "\n".join(["", *found])


def test_every_cause_was_recorded():
    """A folder without any of these would hold nothing against the rules."""
    if not recorded():
        pytest.skip("the chosen folder holds no worlds")
    causes = Counter(
        world.answer(workload).cause
        for moment in recorded()
        for world in (world_of(moment.state),)
        for workload in pending(world)
    )
    assert {"ExceedsMaxQuota", "NoMatchingFlavor", "WaitingForQuota", "behind", "namespace", "limit-range"} <= set(
        causes
    )


def test_an_altered_answer_is_noticed():
    """Twice the quota, no flavors, another namespace selector: each makes some recorded moment differ."""
    if not recorded():
        pytest.skip("the chosen folder holds no worlds")

    def is_noticed(change: str) -> bool:
        for moment in recorded():
            objects = [raw for each in moment.state["objects"] for raw in altered(each, change)]
            if faults(moment._replace(state={**moment.state, "objects": objects})):
                return True
        return False

    assert all(map(is_noticed, ("selector", "taint", "limits")))


def altered(raw: Mapping[str, Any], change: str) -> list[Mapping[str, Any]]:
    """An object with a change, or none where it leaves it out."""
    if raw["kind"] == "LimitRange" and change == "limits":
        return []
    spec = raw.get("spec", {})
    if raw["kind"] == "ClusterQueue" and change == "selector":
        return [{**raw, "spec": {**spec, "namespaceSelector": None}}]
    if raw["kind"] == "ResourceFlavor" and change == "taint":
        return [{**raw, "spec": {**spec, "nodeTaints": [{"key": "new", "effect": "NoSchedule", "value": "x"}]}}]
    return [raw]
