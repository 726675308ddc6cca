"""Rollouts of StatefulSets: what remedies count with is what ``simulate`` finds, and a partition needs no more room."""

from __future__ import annotations

import random

import pytest
from reports.stored import made, store_of, subject

from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.remedies.rollout import Group, RolloutPlan, at_rest
from kubectl_kres.simulate.rollout import PodCosts, stateful_set_rests
from kubectl_kres.simulate.state import Replica, StatefulSetState

_OLD, _NEW = 0, 1
_KEY = ("q", "requests.cpu")


@pytest.mark.parametrize("seed", range(20))
def test_both_come_to_the_same_rest(seed: int) -> None:
    draw = random.Random(seed)
    stalled = 0
    for _ in range(200):
        wanted, partition = draw.randint(1, 6), draw.randint(0, 6)
        there = draw.randint(min(partition, wanted), wanted)
        old = draw.randint(min(partition, there), there)
        price = {_OLD: draw.randint(0, 4), _NEW: draw.randint(0, 4)}
        used = price[_OLD] * old + price[_NEW] * (there - old)
        hard = used + draw.randint(-1, 6)
        replicas = tuple(Replica(at, _OLD if at < old else _NEW, _OLD if at < old else _NEW) for at in range(there))
        state = StatefulSetState("s", _NEW, _OLD, wanted, partition=partition, pods=replicas)
        prices = PodCosts({shape: ((0, amount),) if amount else () for shape, amount in price.items()}, {0: 0, 1: 1})
        (rest,) = stateful_set_rests(state, prices, {0: hard - used})
        groups = [Group(old, old, {_KEY: price[_OLD]}, {_KEY: price[_OLD]})] if old else []
        newest = {_KEY: price[_NEW]}
        groups.append(Group(max(there - old, wanted - old), there - old, newest, newest))
        plan = RolloutPlan(wanted, groups, "Ordered", kept=min(partition, wanted))
        found = at_rest(plan, {_KEY: used}, {_KEY: hard})
        case = f"{wanted=} {partition=} {there=} {old=} {price=} {hard=} {used=}"
        assert found.pods == rest.updated, case
        done = rest.updated == wanted - min(partition, rest.old, wanted) and rest.old <= partition
        assert found.complete == done, case
        stalled += not done
    assert 0 < stalled < 200


@pytest.mark.parametrize(("partition", "hard"), [(0, "900m"), (1, "700m"), (2, "500m")])
def test_below_a_partition_nothing_is_replaced(partition: int, hard: str) -> None:
    box = {"name": "app", "image": "i", "resources": {"requests": {"cpu": "300m"}}}
    older = {**box, "resources": {"requests": {"cpu": "100m"}}}
    template = {"metadata": {"labels": {"a": "web"}}, "spec": {"containers": [box]}}
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": partition}}
    spec = {"replicas": 3, "template": template, "selector": {"matchLabels": {"a": "web"}}, "updateStrategy": strategy}
    status = {"replicas": 2, "currentReplicas": 2, "currentRevision": "web-1", "updateRevision": "web-2"}
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "controller": True, "uid": "u"}
    pods = []
    for number in range(2):
        pod = made("Pod", f"web-{number}", spec={"containers": [older], "nodeName": "n"}, status={"phase": "Running"})
        pod["metadata"] |= {"labels": {"a": "web", "controller-revision-hash": "web-1"}, "ownerReferences": [owner]}
        pods.append(pod)
    amounts = {"hard": {"requests.cpu": "400m"}}
    quota = made("ResourceQuota", "q", spec=amounts, status={**amounts, "used": {"requests.cpu": "200m"}})
    store = store_of(made("StatefulSet", "web", spec=spec, status=status), quota, *pods)
    found = explain(store, subject("StatefulSet/web"), EvaluationOptions())
    assert found.remedies[0].text.startswith(f"raise requests.cpu of quota q to {hard}")
