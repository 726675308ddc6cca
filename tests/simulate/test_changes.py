"""What becomes of a change: properties that hold for any, and rules that the recordings do not show alone."""

from __future__ import annotations

from itertools import pairwise

import pytest
from simulate.samples import limit_range, play, pods, quota, workload

from kubectl_kres.admission.base.server import Server
from kubectl_kres.model.objects import decode_object
from kubectl_kres.model.workload import Workload, fenceposts
from kubectl_kres.simulate.change import Apply, Delete, Patch, ScaleStep, WaitForControllers
from kubectl_kres.simulate.explore import MOST_STATES
from kubectl_kres.simulate.live import build_world, state_of
from kubectl_kres.simulate.moves import Kubelet
from kubectl_kres.simulate.simulation import NamespaceSimulation
from kubectl_kres.simulate.state import World
from kubectl_kres.store.store import Origin, Store

GIVEN = (
    Apply(quota(requests_cpu="2")),
    Apply(workload("Deployment", "a", "500m", 3)),
    Apply(workload("StatefulSet", "s", "300m", 2)),
)


def test_nothing_changes_nothing():
    namespace, states, _ = play([WaitForControllers()], given=GIVEN)
    again = namespace.after(states, [], Kubelet(), between=False)
    assert [namespace.describe_final_state(state) for state in again.states] == [
        namespace.describe_final_state(state) for state in states
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (ScaleStep("Deployment", "a", 1), ScaleStep("StatefulSet", "s", 4)),
        (Apply(limit_range(max={"cpu": "400m"})), ScaleStep("Deployment", "a", 5)),
        (Delete("Deployment", "a"), Apply(workload("Deployment", "b", "600m", 4))),
        (Apply(quota(requests_cpu="1")), Patch("Deployment", "a", {"spec": {"replicas": 2}})),
    ],
)
def test_a_then_b_is_a_and_b_with_a_rest_between(first, second):
    together = play([first, WaitForControllers(), second], given=GIVEN)[2]
    namespace, states, _ = play([first], given=(*GIVEN,))
    del states
    after_first = play([WaitForControllers()], given=(*GIVEN, first))[2]
    assert after_first
    one_by_one = play([second], given=(*GIVEN, first))[2]
    shown = [(end.workloads, end.quotas, end.claims) for end in together]
    assert shown == [(end.workloads, end.quotas, end.claims) for end in one_by_one]
    del namespace


def test_a_refused_step_leaves_the_rest_to_the_state_without_it():
    ends = play([ScaleStep("Deployment", "gone", 3), ScaleStep("Deployment", "a", 1)], given=GIVEN)[2]
    assert [[one.code for one in end.answers] for end in ends] == [[404, 200]]
    assert ends[0].answers[0].message == 'deployments.apps "gone" not found'
    assert pods(ends[0])["a"] == 1


def test_two_workloads_race_for_the_room_of_a_quota():
    steps = [Apply(quota(requests_cpu="2300m")), *(Apply(workload("Deployment", name, "600m", 3)) for name in "ab")]
    assert sorted(tuple(pods(end).values()) for end in play(steps)[2]) == [(0, 3), (1, 2), (2, 1), (3, 0)]


@pytest.mark.thorough
def test_beyond_the_ceiling_orders_are_drawn_and_the_answer_says_so():
    steps = [Apply(quota(requests_cpu="20")), *(Apply(workload("Deployment", f"w{n}", "1", 9)) for n in range(6))]
    namespace, _, _ = play([])
    del namespace
    world, states, ends = play(steps)
    del world
    assert 1 < len(states) < MOST_STATES
    assert {sum(pods(end).values()) for end in ends} == {20}


@pytest.mark.parametrize(
    ("surge", "unavailable", "replicas", "expected"),
    [
        (None, None, 4, (1, 1)),
        ("25%", "25%", 10, (3, 2)),
        ("10%", "10%", 4, (1, 0)),
        (0, 0, 4, (0, 1)),
        (1, "100%", 3, (1, 3)),
        (0, 5, 3, (0, 3)),
        ("0%", "0%", 1, (0, 1)),
    ],
)
def test_fenceposts(surge, unavailable, replicas, expected):
    assert fenceposts(surge, unavailable, replicas) == expected


def test_going_back_to_the_old_template_ends_a_stall():
    strategy = {"strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}}
    old, new = (Apply(workload("Deployment", "a", cpu, 4, **strategy)) for cpu in ("500m", "600m"))
    given = (Apply(quota(requests_cpu="2")), old)
    stalled = play([new], given=given)[2][0].workloads[0]
    assert (stalled.updated, [one.wanted for one in stalled.older]) == (0, [4])
    back = play([new, WaitForControllers(), old], given=given)[2][0].workloads[0]
    assert (back.pods, back.updated, back.older) == (4, 4, ())


def test_a_stateful_set_waits_for_what_is_not_ready():
    ends = play([Apply(workload("StatefulSet", "s", "100m", 3))], kubelet=Kubelet(ready=False))[2]
    assert [end.workloads[0].names for end in ends] == [("s-0",)]
    parallel = workload("StatefulSet", "s", "100m", 3, podManagementPolicy="Parallel")
    ends = play([Apply(parallel)], kubelet=Kubelet(ready=False))[2]
    assert [end.workloads[0].names for end in ends] == [("s-0", "s-1", "s-2")]


def test_a_round_that_is_under_way_may_fill_the_place_of_a_deleted_pod_with_another():
    parallel = workload("StatefulSet", "s", "300m", 1, podManagementPolicy="Parallel")
    given = (Apply(quota(requests_cpu="300m")), Apply(parallel))
    steps = [ScaleStep("StatefulSet", "s", 2), Delete("Pod", "s-0")]
    assert [end.workloads[0].names for end in play(steps, given=given)[2]] == [("s-0",)]
    ends = play(steps, given=given, between=True)[2]
    assert [end.workloads[0].names for end in ends] == [("s-0",), ("s-1",)]


def test_counting_finished_pods_stops_a_job():
    job = {
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"},
        "spec": {"parallelism": 2, "completions": 4, "template": {"spec": {
            "restartPolicy": "Never", "containers": [{"name": "c", "image": "example.test/x"}]}}},
    }  # fmt: skip
    steps = [Apply({**quota(), "spec": {"hard": {"count/pods": "3"}}}), Apply(job)]
    end = play(steps, kubelet=Kubelet(jobs="complete"))[2][0].workloads[0]
    assert (end.succeeded, end.conditions) == (3, ())
    end = play(steps[1:], kubelet=Kubelet(jobs="complete"))[2][0].workloads[0]
    assert (end.succeeded, end.conditions) == (4, ("Complete", "SuccessCriteriaMet"))


def test_more_room_never_means_fewer_pods():
    for low, high in pairwise(("1", "1500m", "2", "3")):
        given = [Apply(workload("Deployment", "a", "500m", 4)), Apply(workload("StatefulSet", "s", "400m", 2))]
        least = [max(sum(pods(end).values()) for end in play([Apply(quota(requests_cpu=hard)), *given])[2])
                 for hard in (low, high)]  # fmt: skip
        assert least[0] <= least[1]


def test_a_set_of_the_same_look_is_not_taken_for_the_newest():
    """What is read of a template is not all of it: two sets of a Deployment may differ in their images alone."""
    store = Store(Origin("cluster"))
    deployment = workload("Deployment", "a", "500m", 2)
    store.add("Deployment", decode_object({**deployment, "metadata": {"name": "a", "namespace": "n"}}, Workload))
    for name, revision, replicas in (("a-old", "1", 0), ("a-new", "2", 2)):
        owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a", "uid": "u", "controller": True}
        notes = {"deployment.kubernetes.io/revision": revision}
        metadata = {"name": name, "namespace": "n", "ownerReferences": [owner], "annotations": notes}
        item = {**workload("ReplicaSet", name, "500m", replicas), "metadata": metadata}
        item["spec"] = {**item["spec"], "template": deployment["spec"]["template"]}
        store.add(
            "ReplicaSet", decode_object({**item, "metadata": {**metadata, "creationTimestamp": revision}}, Workload)
        )
    world = build_world(store, "n")
    namespace = NamespaceSimulation(Server(), world)
    [(_, state)] = state_of(namespace, world, store, "n").workloads
    assert [item.wanted for item in state.sets if item is state.newest] == [2]


def test_steps_that_follow_others_lead_to_worlds_of_their_own():
    """A step is known by its place, so that one of a second change is not taken for the one of the first."""
    world = World.from_objects(())
    taken, other = Apply(workload("Deployment", "a", "100m")), Apply(workload("Deployment", "b", "100m"))
    namespace = NamespaceSimulation(Server(), world, [taken, other])
    start = namespace.empty(world)
    first = namespace.after([start], [taken], Kubelet(), between=False).states[0]
    second = namespace.after([start], [other], Kubelet(), between=False).states[0]
    assert [pods(namespace.describe_final_state(state)) for state in (first, second)] == [{"a": 1}, {"b": 1}]
    assert [sorted(namespace.tables.worlds[state.world].objects) for state in (first, second)] == [
        [("Deployment", "a")], [("Deployment", "b")]
    ]  # fmt: skip


def test_a_round_of_a_job_goes_on_while_its_first_pods_succeed():
    """Without a number of completions nothing comes after a success but what was begun."""
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "example.test/x"}]}}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"},
           "spec": {"parallelism": 4, "template": template}}  # fmt: skip
    steps = [Apply({**quota(), "spec": {"hard": {"pods": "3"}}}), Apply(job)]
    ends = play(steps, kubelet=Kubelet(jobs="complete"))[2]
    assert {(end.workloads[0].succeeded, end.workloads[0].pods) for end in ends} == {(n, 0) for n in (1, 2, 3, 4)}
