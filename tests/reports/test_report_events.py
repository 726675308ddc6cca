"""What the cluster says of pods and workloads, each thing once."""

from __future__ import annotations

import msgspec
import pytest
from reports.stored import event, made, owned_by, store_of

from kubectl_kres.model.pod import Pod, PodStatus
from kubectl_kres.reports.pod.events import pod_facts, workload_facts

DENIED = 'pods "web-1-{}" is forbidden: exceeded quota: team, requested: pods=1, used: pods=5, limited: pods=5'
SET = made("ReplicaSet", "web-1", spec={}, **owned_by("Deployment", "web"))


def condition(type_: str, status: str, reason: str = "", message: str = "", time: str = "") -> dict:
    fields = {"type": type_, "status": status, "reason": reason, "message": message, "lastTransitionTime": time}
    return {key: value for key, value in fields.items() if value}


def of_deployment(*objects, **status):
    store = store_of(made("Deployment", "web", spec={}, status=status), *objects)
    return workload_facts(store, "Deployment", store.get("Deployment", "web", "ns"))


def denied(
    pod: str, time: str, count: int = 1, prefix: str = "Error creating: ", about: str = "ReplicaSet/web-1"
) -> dict:
    return event(about, "FailedCreate", prefix + DENIED.format(pod), count=count, lastTimestamp=time)


def test_each_try_has_a_new_name_and_says_the_same():
    [fact] = of_deployment(SET, denied("aaaaa", "2026-01-01T00:00:01Z", 3), denied("bbbbb", "2026-01-01T00:09:00Z", 2))
    assert (fact.reason, fact.count, fact.time) == ("FailedCreate", 5, "2026-01-01T00:09:00Z")
    assert fact.text == "Error creating: " + DENIED.format("bbbbb")
    assert str(fact.source.ref) == "ReplicaSet/web-1"


def test_combined_events_and_conditions_repeat_it():
    """The recorder puts a prefix before events that it merges; the condition has none at all."""
    facts = of_deployment(
        SET,
        denied("aaaaa", "1", 9),
        denied("bbbbb", "2", 4, "(combined from similar events): Error creating: "),
        conditions=[condition("ReplicaFailure", "True", "FailedCreate", DENIED.format("aaaaa"), "0")],
    )
    assert [(fact.reason, fact.count) for fact in facts] == [("FailedCreate", 13)]


def test_another_quota_is_another_fact():
    other = event("ReplicaSet/web-1", "FailedCreate", DENIED.format("a").replace("team", "other"), lastTimestamp="3")
    assert [fact.count for fact in of_deployment(SET, denied("a", "1"), other)] == [1, 1]


@pytest.mark.parametrize("about", ["ReplicaSet/other-1", "ReplicaSet/web-2", "Pod/web", "Job/web-1"])
def test_events_of_others_are_left_out(about):
    assert of_deployment(SET, denied("a", "1", about=about)) == ()


@pytest.mark.parametrize(
    ("about", "found"), [("ReplicaSet/web-6c9f7d5b8", 1), ("ReplicaSet/web-v2-6c9f7d5b8", 0), ("Pod/web-1-x", 0)]
)
def test_replica_sets_that_were_not_read_are_known_by_their_name(about, found):
    assert len(of_deployment(denied("a", "1", about=about))) == found


def test_reasons_that_say_nothing_of_resources_are_left_out():
    assert of_deployment(SET, event("ReplicaSet/web-1", "SuccessfulCreate", "Created pod: web-1-a")) == ()


def test_failed_creations_first_then_the_newest():
    facts = of_deployment(
        SET,
        denied("a", "2026-01-01T00:00:00Z"),
        event("Pod/web-1-a", "FailedScheduling", "0/3 nodes are available", lastTimestamp="2026-01-02T00:00:00Z"),
        made("Pod", "web-1-a", spec={}, **owned_by("ReplicaSet", "web-1")),
        conditions=[condition("Progressing", "False", "ProgressDeadlineExceeded", "timed out", "2026-01-03T00:00:00Z")],
    )
    assert [fact.reason for fact in facts] == ["FailedCreate", "ProgressDeadlineExceeded", "FailedScheduling"]


def test_a_cron_job_tells_of_its_jobs_and_their_pods():
    failed = {"conditions": [condition("Failed", "True", "BackoffLimitExceeded", "gave up")]}
    store = store_of(
        made("CronJob", "report", spec={}),
        made("Job", "report-1", spec={}, status=failed, **owned_by("CronJob", "report")),
        made("Pod", "report-1-x", spec={}, status=killed("main", 1), **owned_by("Job", "report-1")),
        made("Pod", "else", spec={}, status=killed("x", 1)),
    )
    facts = workload_facts(store, "CronJob", store.get("CronJob", "report", "ns"))
    assert sorted(fact.reason for fact in facts) == ["BackoffLimitExceeded", "OOMKilled"]


def killed(name: str, restarts: int, limit: str = "") -> dict:
    end = {"terminated": {"reason": "OOMKilled", "exitCode": 137, "finishedAt": "2026-01-01T00:00:00Z"}}
    resources = {"resources": {"limits": {"memory": limit}}} if limit else {}
    return {"containerStatuses": [{"name": name, "restartCount": restarts, "lastState": end, **resources}]}


def of(status: dict) -> list[tuple[str, str]]:
    pod = msgspec.convert(made("Pod", "p", spec={}, status=status), Pod)
    return [(fact.reason, fact.text) for fact in pod_facts(pod)]


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        pytest.param({}, [], id="nothing"),
        pytest.param(
            killed("app", 1, "256Mi"),
            [("OOMKilled", "container app was killed for memory under its memory limit 256Mi")],
            id="killed",
        ),
        pytest.param(
            killed("app", 7),
            [("OOMKilled", "container app was killed for memory, restarted 7 times so far")],
            id="restarts are no count of kills, and are called restarts",
        ),
        pytest.param(
            {"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."},
            [("Evicted", "The node was low on resource: memory.")],
            id="evicted",
        ),
        pytest.param({"phase": "Failed", "reason": "NodeLost"}, [("NodeLost", "the pod is Failed")], id="no message"),
        pytest.param(
            {"conditions": [condition("PodScheduled", "False", "Unschedulable", "0/3 nodes: Insufficient cpu")]},
            [("Unschedulable", "0/3 nodes: Insufficient cpu")],
            id="unschedulable",
        ),
        pytest.param({"conditions": [condition("PodScheduled", "True")]}, [], id="scheduled"),
        pytest.param(
            {"conditions": [condition("PodResizePending", "True", "Deferred", "Node didn't have enough cpu")]},
            [("Deferred", "Node didn't have enough cpu")],
            id="resize deferred",
        ),
        pytest.param(
            {"conditions": [condition("PodResizeInProgress", "True")]},
            [("PodResizeInProgress", "PodResizeInProgress is True")],
            id="resize in progress",
        ),
        pytest.param({"conditions": [condition("PodResizePending", "False")]}, [], id="no resize"),
    ],
)
def test_a_pod(status, expected):
    assert of(status) == expected


def test_of_conditions_only_those_are_kept_that_explain_something():
    kept = [condition("PodScheduled", "False"), condition("PodResizePending", "True")]
    idle = [condition(name, "True") for name in ("PodScheduled", "Ready", "ContainersReady", "Initialized")]
    status = msgspec.convert({"conditions": [*idle, *kept]}, PodStatus)
    assert [one.type for one in status.conditions] == ["PodScheduled", "PodResizePending"]
    assert msgspec.convert({"conditions": idle}, PodStatus).conditions is None


def test_the_same_of_several_pods_is_counted():
    waiting = {"conditions": [condition("PodScheduled", "False", "Unschedulable", "0/3 nodes")]}
    pods = [made("Pod", f"web-1-{n}", spec={}, status=waiting, **owned_by("ReplicaSet", "web-1")) for n in range(3)]
    [fact] = of_deployment(SET, *pods)
    assert (fact.reason, fact.count) == ("Unschedulable", 3)


@pytest.mark.parametrize(
    ("more", "time", "count"),
    [
        (
            {"series": {"count": 8, "lastObservedTime": "2026-01-01T00:00:00Z"}, "eventTime": "x"},
            "2026-01-01T00:00:00Z",
            8,
        ),
        ({"eventTime": "2026-01-01T00:00:00Z"}, "2026-01-01T00:00:00Z", 1),
        ({"lastTimestamp": None, "count": None}, "", 1),
    ],
)
def test_events_of_each_generation(more, time, count):
    [fact] = of_deployment(SET, event("ReplicaSet/web-1", "FailedCreate", "no", **more))
    assert (fact.time, fact.count) == (time, count)


def test_a_flood_is_cut():
    flood = [event("ReplicaSet/web-1", "FailedCreate", f"reason {n}", lastTimestamp=f"{n:03}") for n in range(50)]
    facts = of_deployment(SET, *flood)
    assert [fact.text for fact in facts] == [f"reason {n}" for n in range(49, 29, -1)]
