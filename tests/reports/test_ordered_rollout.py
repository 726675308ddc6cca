"""Rollouts: where one comes to rest is one of the ends that ``simulate`` explores, the worst among them, and a
partition needs no more room.
"""

from __future__ import annotations

import random

import pytest
from reports.stored import made, store_of, subject
from simulate.samples import play, quota, workload

from kubectl_kres.model.workload import fenceposts
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.simulate.change import Apply, Patch, WaitForControllers
from kubectl_kres.simulate.replicas import Replica
from kubectl_kres.simulate.rollout import PodCosts, RolloutPlan, settle_rollout
from kubectl_kres.simulate.state import DeploymentState, ReplicaSetState, StatefulSetState

_OLD, _NEW = 0, 1
_KEY = ("q", "requests.cpu")


def draw_rollout(draw: random.Random) -> tuple[dict[str, object], DeploymentState | StatefulSetState]:
    """Fields of a workload, and the workload as its controller sees it once its template has changed."""
    wanted = draw.randint(1, 5)
    if draw.random() < 0.5:
        partition, parallel = draw.choice([0, 0, 1, 2]), draw.random() < 0.4
        update = {"type": "RollingUpdate", "rollingUpdate": {"partition": partition}}
        fields = {"replicas": wanted, "updateStrategy": update}
        fields["podManagementPolicy"] = "Parallel" if parallel else "OrderedReady"
        replicas = tuple(Replica(at, _OLD, _OLD) for at in range(wanted))
        return fields, StatefulSetState("w", _NEW, _OLD, wanted, 0, parallel, partition, pods=replicas)
    sets = (ReplicaSetState(_OLD, wanted, ((_OLD, True, wanted),), wanted),)
    if draw.random() < 0.2:
        return {"replicas": wanted, "strategy": {"type": "Recreate"}}, DeploymentState(
            _NEW, wanted, 0, 0, recreate=True, sets=sets
        )
    more = draw.choice([0, 1, 2, "25%"])
    rolling = {"maxSurge": more, "maxUnavailable": draw.choice([1, 2, "50%"] if more == 0 else [0, 1, 2, "50%"])}
    surge, unavailable = fenceposts(rolling["maxSurge"], rolling["maxUnavailable"], wanted)
    strategy = {"type": "RollingUpdate", "rollingUpdate": rolling}
    return {"replicas": wanted, "strategy": strategy}, DeploymentState(_NEW, wanted, surge, unavailable, sets=sets)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("seed", range(10))
def test_it_comes_to_a_rest_that_is_explored(seed: int) -> None:
    draw = random.Random(seed)
    stalled = 0
    for _ in range(100):
        fields, state = draw_rollout(draw)
        price = {_OLD: draw.randint(1, 4), _NEW: draw.randint(1, 4)}
        used = price[_OLD] * state.replicas
        hard = max(1, used + draw.randint(-2, 8))
        kind = "StatefulSet" if isinstance(state, StatefulSetState) else "Deployment"
        old = workload(kind, "w", f"{price[_OLD]}", **fields)
        template = workload(kind, "w", f"{price[_NEW]}")["spec"]["template"]
        template["spec"]["containers"][0]["image"] = "example.test/y"
        steps = [
            Apply(quota(requests_cpu=f"{hard}")),
            WaitForControllers(),
            Patch(kind, "w", {"spec": {"template": template}}),
        ]
        given = (Apply(quota(requests_cpu="100")), WaitForControllers(), Apply(old))
        ends = [end.workloads[0] for end in play(steps, given=given)[2]]
        explored = {(end.updated, end.pods - (end.updated or 0)) for end in ends}
        costs = PodCosts({shape: {_KEY: amount} for shape, amount in price.items()}, {_OLD: _OLD, _NEW: _NEW})
        plan = RolloutPlan(state, costs)
        rests = [settle_rollout(plan, {_KEY: used}, {_KEY: hard}, order) for order in plan.orders]
        case = f"{fields=} {price=} {hard=} {used=} {explored=}"
        found = {(rest.updated, rest.old) for rest in rests}
        assert found <= explored, case
        assert min(found) == min(explored), case
        assert all(rest.complete for rest in rests) == all(
            not (end.behind or end.pods < state.replicas) for end in ends
        ), case
        stalled += not all(rest.complete for rest in rests)
        raised = settle_rollout(plan, {_KEY: used}, {_KEY: hard}, raising=True)
        assert raised.complete, case
        assert settle_rollout(plan, {_KEY: used}, raised.hard).complete, case
    assert 0 < stalled < 100


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
    assert sentence_text(found.fixes[0].text).startswith(f"raise requests.cpu of quota q to {hard}")


@pytest.mark.parametrize(
    ("rolling", "hard", "raised"),
    [
        pytest.param({"maxUnavailable": 1}, "300m", "800m", id="as many as nodes"),
        pytest.param({"maxUnavailable": 2}, "800m", "", id="room for all"),
        pytest.param({"maxSurge": 1, "maxUnavailable": 0}, "500m", "900m", id="and an old one until the last is there"),
        pytest.param({"maxSurge": 1, "maxUnavailable": 0}, "900m", "", id="room for that one, too"),
    ],
)
def test_a_daemon_set_under_way_is_raised_for_all_its_nodes(rolling: dict[str, int], hard: str, raised: str) -> None:
    box = {"name": "app", "image": "i", "resources": {"requests": {"cpu": "200m"}}}
    template = {"metadata": {"labels": {"a": "d"}}, "spec": {"containers": [box]}}
    strategy = {"type": "RollingUpdate", "rollingUpdate": rolling}
    spec = {"template": template, "selector": {"matchLabels": {"a": "d"}}, "updateStrategy": strategy}
    status = {"observedGeneration": 2, "desiredNumberScheduled": 4, "currentNumberScheduled": 3}
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "controller": True, "uid": "u"}
    older = {**box, "resources": {"requests": {"cpu": "100m"}}}
    pods = []
    for number in range(3):
        node = {"containers": [older], "nodeName": f"n{number}"}
        pod = made("Pod", f"d-{number}", spec=node, status={"phase": "Running"})
        pod["metadata"] |= {"labels": {"a": "d"}, "ownerReferences": [owner]}
        pods.append(pod)
    amounts = {"hard": {"requests.cpu": hard}}
    limit = made("ResourceQuota", "q", spec=amounts, status={**amounts, "used": {"requests.cpu": "300m"}})
    store = store_of(made("DaemonSet", "d", spec=spec, status=status), limit, *pods)
    found = explain(store, subject("DaemonSet/d"), EvaluationOptions())
    texts = [sentence_text(way.text) for way in found.fixes]
    assert (texts[0] if texts else "").startswith(f"raise requests.cpu of quota q to {raised}" if raised else "")
    assert bool(texts) == bool(raised)
