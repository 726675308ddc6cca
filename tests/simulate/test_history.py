"""ReplicaSets and ControllerRevisions that a history limit does not let stay give back what they cost."""

from __future__ import annotations

import pytest
from simulate.samples import Raw, play, quota, template, workload

from kubectl_kres.simulate.change import Apply, Step, WaitForControllers
from kubectl_kres.simulate.controllers import kept_revisions, kept_sets
from kubectl_kres.simulate.replicas import Replica
from kubectl_kres.simulate.state import DeploymentState, ReplicaSetState, StatefulSetState

NAMES = {"Deployment": "count/replicasets.apps", "StatefulSet": "count/controllerrevisions.apps"}


def images(kind: str, number: int, **spec: object) -> list[Step]:
    """The same workload with one image after the other, each rolled out before the next."""
    result: list[Step] = []
    for at in range(number):
        raw: Raw = workload(kind, "web", **spec)
        raw["spec"]["template"] = template("web")
        raw["spec"]["template"]["spec"]["containers"][0]["image"] = f"example.test/x:{at}"
        result += [Apply(raw), WaitForControllers()]
    return result


@pytest.mark.parametrize(("limit", "left"), [(0, 1), (1, 2), (2, 3), (3, 4), (10, 5), (None, 5)])
@pytest.mark.parametrize("kind", sorted(NAMES))
def test_what_is_left_after_five_rollouts(kind: str, limit: int | None, left: int) -> None:
    spec = {} if limit is None else {"revisionHistoryLimit": limit}
    _, _, ends = play([Apply(quota(**{NAMES[kind]: "9"})), *images(kind, 5, **spec)])
    assert [(end.workloads[0].updated, end.quotas[0].used) for end in ends] == [(1, {NAMES[kind]: str(left)})]


@pytest.mark.parametrize(("limit", "made"), [(0, True), (1, False), (2, False)])
def test_a_full_quota_stops_a_rollout_unless_the_history_is_short(limit: int, made: bool) -> None:
    """Two ReplicaSets have room: the third template gets one where the first one's is gone by then."""
    full = [Apply(quota(**{NAMES["Deployment"]: "2"})), *images("Deployment", 3, revisionHistoryLimit=limit)]
    _, _, ends = play(full)
    assert [end.workloads[0].newest is not None for end in ends] == [made]


def test_a_lower_limit_frees_revisions_of_a_stuck_stateful_set_and_no_replica_sets() -> None:
    """Source: truncateHistory runs at each sync, cleanupDeployment only once the rollout is complete."""
    ends = {}
    for kind, name in NAMES.items():
        stuck = images(kind, 3)
        lower = images(kind, 3, revisionHistoryLimit=0)[-2:]
        _, _, (end,) = play([Apply(quota(**{name: "2"})), *stuck, *lower])
        ends[kind] = end.workloads[0].updated
    assert ends == {"Deployment": 0, "StatefulSet": 1}


def test_only_sets_without_pods_go_and_a_paused_deployment_is_cleaned_up_too() -> None:
    pod = ((0, True, 1),)
    sets = (ReplicaSetState(0, 1, pod), ReplicaSetState(1, 0), ReplicaSetState(2, 0), ReplicaSetState(3, 1, pod))
    waits = DeploymentState(3, 2, 1, 0, sets=sets, history=1)
    assert kept_sets(waits) == sets
    assert [item.template for item in kept_sets(waits._replace(paused=True))] == [0, 2, 3]
    done = waits._replace(sets=(*sets[1:3], ReplicaSetState(3, 2, ((0, True, 2),))))
    assert [item.template for item in kept_sets(done)] == [2, 3]


def test_a_revision_in_use_stays_whatever_the_limit() -> None:
    old, new = Replica(0, 1, 0), Replica(1, 3, 0)
    state = StatefulSetState("web", 3, 1, 2, pods=(old, new), revisions=(0, 1, 2, 3), history=0)
    assert kept_revisions(state) == (1, 3)
    assert kept_revisions(state._replace(history=1)) == (1, 2, 3)
    assert kept_revisions(state._replace(history=-1)) == (0, 1, 2, 3)
