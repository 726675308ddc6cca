"""Where one rollout comes to rest, held against what the controllers were recorded to do."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from kubectl_kres.admission.quota.quota_admission import Key, Price
from kubectl_kres.model.workload import fenceposts
from kubectl_kres.quantity import parse
from kubectl_kres.simulate.replicas import Replica
from kubectl_kres.simulate.rollout import PodCosts, RolloutPlan, settle_rollout
from kubectl_kres.simulate.state import DaemonSetState, DeploymentState, ReplicaSetState, StatefulSetState

RECORDED = Path(__file__).parents[1] / "vectors" / "changes"
#: Cases of another kind: several steps, replicas and template at once, and pods that never get ready.
OTHER = {
    "roll-and-scale-at-once",
    "roll-never-ready-quota",
    "claims-Ordered-raised",
    "over-hard-Ordered",
    "roll-Parallel-stalled-then-raised",
    "scale-and-roll-Parallel",
    "claim-template-immutable",
    "class-quota",
}


def cases() -> Iterator[Any]:
    for name in ("rollouts", "statefulsets"):
        for case in json.loads((RECORDED / f"{name}.json").read_text())["cases"]:
            if case["name"] not in OTHER:
                yield pytest.param(case, id=case["name"])


def merged(old: Any, patch: Mapping[str, Any]) -> Any:
    new = copy.deepcopy(old)
    for key, value in patch.items():
        new[key] = merged(new.get(key) or {}, value) if isinstance(value, dict) else value
    return new


def cost(template: Any) -> Price:
    cpu = sum(parse(one["resources"]["requests"]["cpu"]).nano for one in template["spec"]["containers"])
    return {("q", "requests.cpu"): cpu}


def claims(spec: Any, before: Any) -> list[tuple[range, Price | None]]:
    sizes = [one["spec"]["resources"]["requests"]["storage"] for one in spec.get("volumeClaimTemplates") or ()]
    have = {int(pod.rpartition("-")[2]) for pod in before.get("names") or ()}
    amount = {("q", "requests.storage"): sum(parse(size).nano for size in sizes)}
    return [(range(ordinal, ordinal + 1), amount) for ordinal in range(spec["replicas"]) if ordinal not in have]


def rests(state: Any, costs: PodCosts, used: Mapping[Key, int], hard: Mapping[Key, int]) -> set[tuple[int, int]]:
    """Pods of the newest template, and of older ones, at each rest."""
    plan = RolloutPlan(state, costs)
    ends = [settle_rollout(plan, used, hard, order) for order in plan.orders]
    assert all(end.wanted == state.replicas and {**end.hard} == {**hard} for end in ends)
    return {(end.updated, end.old) for end in ends}


@pytest.mark.parametrize("case", cases())
def test_the_recorded_rest_is_among_those_foretold(case: Any):
    [(kind, name, old)] = [
        (item["kind"], item["metadata"]["name"], item)
        for item in case["given"]
        if item["kind"] in {"Deployment", "StatefulSet"}
    ]
    [change] = case["change"]
    patch = change["set"]["patch"] if "set" in change else {"spec": {"replicas": change["scale"]["replicas"]}}
    spec = merged(old, patch)["spec"]
    [quota] = case["before"]["quotas"].values()
    used, hard = ({("q", name): parse(text).nano for name, text in quota[side].items()} for side in ("used", "hard"))
    template = int(spec["template"] != old["spec"]["template"])
    before = case["before"]["workloads"][f"{kind}/{name}"]
    shapes = {0: cost(old["spec"]["template"]), 1: cost(spec["template"])}
    costs = PodCosts(shapes, {0: 0, 1: 1}, claims(spec, before))
    state = (deployment if kind == "Deployment" else stateful_set)(old, spec, template, before)
    found = rests(state, costs, used, hard)
    for end in (case["expect"], *(one["expect"] for one in case.get("variants", ()))):
        seen = end["workloads"][f"{kind}/{name}"]
        assert (seen["updated"], seen["pods"] - seen["updated"]) in found


def deployment(old: Any, spec: Any, template: int, before: Any) -> DeploymentState:
    strategy = spec.get("strategy") or {}
    recreate, rolling = strategy.get("type") == "Recreate", strategy.get("rollingUpdate") or {}
    surge, unavailable = fenceposts(rolling.get("maxSurge"), rolling.get("maxUnavailable"), spec["replicas"])
    wanted = old["spec"]["replicas"]
    pods = ((0, True, before["pods"]),) if before["pods"] else ()
    sets = (ReplicaSetState(0, wanted, pods, wanted, wanted + surge),)
    return DeploymentState(template, spec["replicas"], surge, unavailable, recreate, sets=sets)


def stateful_set(old: Any, spec: Any, template: int, before: Any) -> StatefulSetState:
    del old
    strategy = spec.get("updateStrategy") or {}
    return StatefulSetState(
        "s", template, 0, spec["replicas"], 0, spec.get("podManagementPolicy") == "Parallel",
        (strategy.get("rollingUpdate") or {}).get("partition") or 0, strategy.get("type") == "OnDelete",
        pods=tuple(Replica(int(pod.rpartition("-")[2]), 0, 0) for pod in before["names"]),
    )  # fmt: skip


KEY = ("q", "pods")
ONE_EACH = PodCosts({0: {KEY: 1}, 1: {KEY: 1}}, {0: 0, 1: 1})


@pytest.mark.parametrize(
    ("hard", "rest"),
    [
        pytest.param(4, (4, 0), id="a quota just full"),
        pytest.param(1, (0, 3), id="used over hard: one pod is given up, none comes"),
        pytest.param(5, (4, 0), id="room for one"),
    ],
)
def test_used_over_hard_stalls_a_rollout(hard: int, rest: tuple[int, int]):
    state = DeploymentState(1, 4, 1, 1, sets=(ReplicaSetState(0, 4, ((0, True, 4),), 4, 5),))
    assert rests(state, ONE_EACH, {KEY: 4}, {KEY: hard}) == {rest}


def test_what_is_refused_whatever_room_there_is_never_comes():
    state = DeploymentState(1, 4, 1, 1, sets=(ReplicaSetState(0, 4, ((0, True, 4),), 4, 5),))
    assert rests(state, PodCosts({0: {}}, {0: 0}), {}, {}) == {(0, 3)}


@pytest.mark.parametrize(
    ("surge", "unavailable", "hard", "rest"),
    [
        pytest.param(0, 1, 4, (4, 0), id="one node after the other"),
        pytest.param(0, 1, 2, (0, 3), id="one node is left without a pod"),
        pytest.param(0, 3, 1, (0, 1), id="three nodes are"),
        pytest.param(1, 0, 4, (0, 4), id="a surge needs room for one more"),
        pytest.param(1, 0, 5, (4, 0), id="and has it"),
    ],
)
def test_a_daemon_set_replaces_its_pods_node_by_node(surge: int, unavailable: int, hard: int, rest: tuple[int, int]):
    state = DaemonSetState(1, 4, surge, unavailable, sets=(ReplicaSetState(0, 4, ((0, True, 4),), 4),))
    assert rests(state, ONE_EACH, {KEY: 4}, {KEY: hard}) == {rest}
    if rest != (4, 0):
        end = settle_rollout(RolloutPlan(state, ONE_EACH), {KEY: 4}, {KEY: hard}, raising=True)
        assert (end.complete, end.updated, end.hard[KEY]) == (True, 4, 4 + surge)
