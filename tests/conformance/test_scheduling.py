"""What the real kube-scheduler said of a pod in a small world: the sentence, or a node that fits."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from conformance.cases import folder

from kubectl_kres.model.scheduling import (
    BindingClass,
    PersistentVolume,
    SchedulingNode,
    SchedulingPod,
    SchedulingWorld,
    StorageClaim,
)
from kubectl_kres.scheduling.node_info import ENDED, SchedulingCluster, bind, build_node
from kubectl_kres.scheduling.schedule import Scheduling, schedule


@functools.cache
def worlds() -> tuple[Mapping[str, Any], ...]:
    """The recorded worlds; none where the folder that was chosen has none."""
    return tuple(
        msgspec.json.decode(line)
        for path in sorted((folder() / "scheduling").glob("*.jsonl"))
        for line in path.read_bytes().splitlines()
        if line.strip()
    )


def play(data: Mapping[str, Any]) -> Scheduling:
    def read(key: str, struct: Any) -> list[Any]:
        return [msgspec.convert(item, struct) for item in data[key]]

    pods = [pod for pod in read("pods", SchedulingPod) if pod.status.phase not in ENDED]
    nodes = tuple(
        build_node(node, (bind(pod) for pod in pods if pod.spec.node_name == node.metadata.name))
        for node in read("nodes", SchedulingNode)
    )
    world = SchedulingWorld(
        namespaces=data["namespaces"],
        claims={(one.metadata.namespace, one.metadata.name): one for one in read("claims", StorageClaim)},
        volumes={one.metadata.name: one for one in read("volumes", PersistentVolume)},
        classes={one.metadata.name: one for one in read("classes", BindingClass)},
    )
    return schedule(msgspec.convert(data["pod"], SchedulingPod), SchedulingCluster(nodes, world))


def fault(data: Mapping[str, Any]) -> str:
    """In what the answer differs from the recorded one; empty: in nothing."""
    expected, found = data["answer"], play(data)
    if expected["scheduled"]:
        fits = expected["node"] in found.answer.feasible
        return "" if fits else f"{expected['node']} is not among {found.answer.feasible}: {found.sentence}"
    if found.answer.feasible and not data["pod"]["spec"].get("schedulingGates"):
        return f"fits on {found.answer.feasible}, recorded: {expected['message']}"
    return "" if found.sentence == expected["message"] else f"{found.sentence!r}, recorded: {expected['message']!r}"


@pytest.mark.parametrize("data", [pytest.param(data, id=data["id"]) for data in worlds()])
def test_recorded_world(data: Mapping[str, Any]):
    assert not fault(data)


def test_an_altered_answer_is_noticed():
    """Each kind of answer, altered: another sentence, another node, bound instead of waiting and the other way."""
    if not worlds():
        pytest.skip("the chosen folder holds no worlds")
    waiting = next(data for data in worlds() if not data["answer"]["scheduled"])
    bound = next(data for data in worlds() if data["answer"]["scheduled"])
    altered = (
        {**waiting, "answer": {**waiting["answer"], "message": waiting["answer"]["message"] + "x"}},
        {**waiting, "answer": {"scheduled": True, "node": waiting["nodes"][0]["metadata"]["name"]}},
        {**bound, "answer": {"scheduled": True, "node": "elsewhere"}},
        {**bound, "answer": waiting["answer"]},
    )
    assert all(map(fault, altered))
