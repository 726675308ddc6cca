"""Where one rollout comes to rest, held against what the controllers were recorded to do."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from kubectl_kres.quantity import parse
from kubectl_kres.simulate.controllers import fenceposts
from kubectl_kres.simulate.rollout import PodCosts, SettledRollout, deployment_rests, stateful_set_rests
from kubectl_kres.simulate.state import Cost, DeploymentState, Replica, ReplicaSetState, StatefulSetState

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


def cost(template: Any, names: list[str]) -> Cost:
    cpu = sum(parse(one["resources"]["requests"]["cpu"]).nano for one in template["spec"]["containers"])
    return tuple((number, cpu) for number, name in enumerate(names) if name == "requests.cpu")


def claims(spec: Any, names: list[str]) -> Cost:
    sizes = [one["spec"]["resources"]["requests"]["storage"] for one in spec.get("volumeClaimTemplates") or ()]
    amounts = {"requests.storage": sum(parse(size).nano for size in sizes)}
    return tuple((number, amounts[name]) for number, name in enumerate(names) if name in amounts)


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
    names = list(quota["hard"])
    free = {at: parse(quota["hard"][one]).nano - parse(quota["used"][one]).nano for at, one in enumerate(names)}
    template = int(spec["template"] != old["spec"]["template"])
    shapes = {0: cost(old["spec"]["template"], names), 1: cost(spec["template"], names)}
    prices = PodCosts(shapes, {0: 0, 1: 1}, claims(spec, names))
    before = case["before"]["workloads"][f"{kind}/{name}"]
    rests = (deployment if kind == "Deployment" else stateful_set)(old, spec, template, before, prices, free)
    for end in (case["expect"], *(one["expect"] for one in case.get("variants", ()))):
        seen = end["workloads"][f"{kind}/{name}"]
        assert SettledRollout(spec["replicas"], seen["updated"], seen["pods"] - seen["updated"]) in rests


def deployment(
    old: Any, spec: Any, template: int, before: Any, prices: PodCosts, free: Any
) -> tuple[SettledRollout, ...]:
    strategy = spec.get("strategy") or {}
    recreate, rolling = strategy.get("type") == "Recreate", strategy.get("rollingUpdate") or {}
    surge, unavailable = fenceposts(rolling.get("maxSurge"), rolling.get("maxUnavailable"), spec["replicas"])
    wanted = old["spec"]["replicas"]
    pods = ((0, True, before["pods"]),) if before["pods"] else ()
    sets = (ReplicaSetState(0, wanted, pods, wanted, wanted + surge),)
    state = DeploymentState(template, spec["replicas"], surge, unavailable, recreate, sets=sets)
    return deployment_rests(state, prices, free)


def stateful_set(
    old: Any, spec: Any, template: int, before: Any, prices: PodCosts, free: Any
) -> tuple[SettledRollout, ...]:
    strategy = spec.get("updateStrategy") or {}
    state = StatefulSetState(
        "s", template, 0, spec["replicas"], 0, spec.get("podManagementPolicy") == "Parallel",
        (strategy.get("rollingUpdate") or {}).get("partition") or 0, strategy.get("type") == "OnDelete",
        pods=tuple(Replica(int(pod.rpartition("-")[2]), 0, 0) for pod in before["names"]),
    )  # fmt: skip
    del old
    return stateful_set_rests(state, prices, free, claims=frozenset(pod.ordinal for pod in state.pods))


@pytest.mark.parametrize(
    ("free", "rest"),
    [
        pytest.param(0, SettledRollout(4, 4, 0), id="a quota just full"),
        pytest.param(-3, SettledRollout(4, 0, 3), id="used over hard: one pod is given up, none comes"),
        pytest.param(1, SettledRollout(4, 4, 0), id="room for one"),
    ],
)
def test_used_over_hard_stalls_a_rollout(free: int, rest: SettledRollout):
    state = DeploymentState(1, 4, 1, 1, sets=(ReplicaSetState(0, 4, ((0, True, 4),), 4, 5),))
    prices = PodCosts({0: ((0, 1),), 1: ((0, 1),)}, {0: 0, 1: 1})
    assert deployment_rests(state, prices, {0: free}) == (rest,)


def test_what_is_refused_whatever_room_there_is_never_comes():
    state = DeploymentState(1, 4, 1, 1, sets=(ReplicaSetState(0, 4, ((0, True, 4),), 4, 5),))
    assert deployment_rests(state, PodCosts({0: ()}, {0: 0}), {}) == (SettledRollout(4, 0, 3),)
