"""Moves that are taken together lead where they lead one by one."""

from __future__ import annotations

import random
from typing import Any

import pytest

from kubectl_kres.admission.quota.quota_admission import Price
from kubectl_kres.simulate import rollout
from kubectl_kres.simulate.replicas import Replica
from kubectl_kres.simulate.rollout import PodCosts, RolloutPlan, settle_rollout
from kubectl_kres.simulate.state import DaemonSetState, DeploymentState, ReplicaSetState, StatefulSetState

CPU, PODS = ("q", "requests.cpu"), ("q", "pods")


def drawn_state(draw: random.Random, wanted: int) -> Any:
    old = draw.randint(0, wanted)
    pods = ((0, True, old),) if old else ()
    kind = draw.choice(("Deployment", "DaemonSet", "StatefulSet", "Parallel", "ReplicaSet"))
    if kind == "ReplicaSet":
        return ReplicaSetState(1, wanted, pods)
    if kind in {"StatefulSet", "Parallel"}:
        replicas = (Replica(0, 0, 0, number=old),) if old else ()
        partition = draw.choice((0, 0, wanted // 3))
        return StatefulSetState("s", 1, 0, wanted, 0, kind == "Parallel", partition, pods=replicas)
    share = draw.choice(((1, 0), (0, 1), (1, 1), (2, 3)))
    sets = (ReplicaSetState(0, old, pods, wanted, wanted + share[0]),) if old else ()
    made = DaemonSetState if kind == "DaemonSet" else DeploymentState
    return made(1, wanted, *share, sets=sets)


def drawn_plan(draw: random.Random, wanted: int) -> tuple[RolloutPlan, Price, Price]:
    cost = [{CPU: draw.randint(1, 3), PODS: 1} for _ in range(2)]
    claims = [(range(wanted // 2, wanted), {("q", "requests.storage"): 2})] if draw.random() < 0.3 else []
    state = drawn_state(draw, wanted)
    had = wanted if not isinstance(state, StatefulSetState) else sum(row.number for row in state.pods)
    used = {key: amount * had for key, amount in cost[0].items()}
    room = draw.choice((0, 1, 5, wanted // 2, 3 * wanted))
    hard = {CPU: used[CPU] + room, PODS: used[PODS] + draw.choice((room, wanted)), ("q", "requests.storage"): wanted}
    return RolloutPlan(state, PodCosts(dict(enumerate(cost)), {0: 0, 1: 1}, claims)), used, hard


@pytest.mark.parametrize("seed", range(300))
def test_they_end_where_single_moves_do(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(seed)
    plan, used, hard = drawn_plan(draw, draw.randint(40, 150))
    if draw.random() < 0.3:
        rival, _, _ = drawn_plan(draw, draw.randint(1, 60))
        plan = RolloutPlan(plan.state, plan.costs, rivals=(rival,))
    raising, rivals_first = draw.random() < 0.5, draw.random() < 0.5
    for order in plan.orders:
        found = settle_rollout(plan, used, hard, order, raising=raising, rivals_first=rivals_first)
        with monkeypatch.context() as patch:
            patch.setattr(rollout, "leap", lambda *_: None)
            expected = settle_rollout(plan, used, hard, order, raising=raising, rivals_first=rivals_first)
        assert found == expected


def test_an_update_that_is_stuck_at_once_ends_where_its_moves_lead(monkeypatch: pytest.MonkeyPatch) -> None:
    stuck = 0
    for seed in range(2_000):
        draw = random.Random(seed)
        replicas, shapes = draw.randint(0, 6), draw.choice((1, 2))
        sets, left = [], replicas
        for template in (1, 2, 3):
            wanted = draw.randint(0, left) if template < 3 else left
            have = wanted if draw.random() < 0.8 else draw.randint(0, wanted)
            pods = ((template % shapes, draw.random() < 0.9, have),) if have else ()
            sets.append(ReplicaSetState(template, wanted, pods, draw.choice((replicas, replicas, 1)), replicas + 1))
            left -= wanted
        state = DeploymentState(
            draw.choice((9, 9, 9, 3)), replicas, draw.randint(0, 2), draw.choice((0, 0, 1)), sets=tuple(sets)
        )
        costs = PodCosts({0: {CPU: 2}, 1: {CPU: 1}}, {1: 0, 2: 0, 3: 1, **({9: 1} if draw.random() < 0.9 else {})})
        plan, used = RolloutPlan(state, costs), {CPU: 2 * replicas}
        hard = {CPU: used[CPU] + draw.choice((-3, 0, 0, 1, 4))}
        for order in plan.orders:
            found = settle_rollout(plan, used, hard, order)
            with monkeypatch.context() as patch:
                stuck += rollout.is_stuck(plan, used, hard)
                patch.setattr(rollout, "is_stuck", lambda *_: False)
                assert found == settle_rollout(plan, used, hard, order), (seed, order)
    assert stuck > 400


def test_orders_that_are_left_out_lead_where_others_do() -> None:
    fewer = 0
    for seed in range(1_500):
        draw = random.Random(seed)
        plan, used, hard = drawn_plan(draw, draw.randint(1, 12))
        if not isinstance(plan.state, DeploymentState):
            continue
        fewer += len(plan.orders) < 4
        for raising in (False, True):
            ends = [settle_rollout(plan, used, hard, order, raising=raising) for order in plan.orders]
            for order in rollout._ORDERS:
                assert settle_rollout(plan, used, hard, order, raising=raising) in ends, (seed, order)
    assert fewer > 200


@pytest.mark.parametrize("seed", range(60))
def test_a_rollout_takes_few_moves_whatever_its_size(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    step = rollout._Run.step
    monkeypatch.setattr(rollout._Run, "step", lambda run: made.append(1) or step(run))
    plan, used, hard = drawn_plan(random.Random(seed), 2**31 - 1)
    for order in plan.orders:
        for raising in (False, True):
            made.clear()
            settle_rollout(plan, used, hard, order, raising=raising)
            assert len(made) <= 2_000
