"""The timeline of a namespace: edits, new templates, troubles, in the order in which they happened."""

from __future__ import annotations

from typing import Any

from reports.stored import event, made, owned_by, store_of

from kubectl_kres.reports.timeline import PodNews, TimelineEntry, timeline, timeline_needs
from kubectl_kres.store.store import Coverage, Store

REFUSED = 'Error creating: pods "web-1-x" is forbidden: exceeded quota: team'
AGAIN = '(combined from similar events): Error creating: pods "web-1-y" is forbidden: exceeded quota: team'


def entries(*objects: Any, after: str = "", namespace: str = "ns") -> list[TimelineEntry]:
    store = store_of(*objects)
    return list(timeline(store, namespace, news_of(store), after).entries)


def news_of(store: Store) -> PodNews:
    news = PodNews()
    for pod in store.all("Pod"):
        news.add(pod)
    return news


def manager(name: str, time: str, fields: Any, **more: Any) -> dict[str, Any]:
    return {"manager": name, "operation": "Update", "time": time, "fieldsV1": fields, **more}


def quota(*managers: Any, created: str = "2026-01-01T10:00:00Z") -> dict[str, Any]:
    return made("ResourceQuota", "team", creationTimestamp=created, managedFields=list(managers))


HARD = {"f:spec": {"f:hard": {".": {}, "f:requests.cpu": {}, "f:pods": {}}}}


def test_an_edit_names_who_and_which_fields():
    found = entries(
        quota(manager("argocd", "2026-01-01T10:00:00Z", HARD), manager("kubectl-edit", "2026-01-02T09:00:00Z", HARD))
    )
    assert [(one.reason, one.manager, one.fields) for one in found] == [
        ("Changed", "kubectl-edit", ("spec.hard[requests.cpu]", "spec.hard[pods]")),
        ("Created", "argocd", ()),
    ]


def test_what_a_controller_writes_to_a_status_is_no_edit():
    status = {"f:status": {"f:used": {}}}
    found = entries(quota(manager("kube-controller-manager", "2026-01-03T00:00:00Z", status, subresource="status")))
    assert [one.reason for one in found] == ["Created"]
    assert found[0].manager == ""


def test_labels_alone_are_no_edit_of_a_specification():
    found = entries(quota(manager("kubectl-label", "2026-01-03T00:00:00Z", {"f:metadata": {"f:labels": {}}})))
    assert [one.reason for one in found] == ["Created"]


def test_a_list_of_limits_is_one_field():
    tree = {"f:spec": {"f:limits": {}}}
    limits = made(
        "LimitRange",
        "bounds",
        creationTimestamp="2026-01-01T00:00:00Z",
        managedFields=[manager("helm", "2026-01-02T00:00:00Z", tree)],
    )
    assert entries(limits)[0].fields == ("spec.limits",)


def replica_set(name: str, created: str) -> dict[str, Any]:
    return made("ReplicaSet", name, creationTimestamp=created, **owned_by("Deployment", "web"))


def test_refusals_of_a_workload_are_counted_under_the_name_that_people_gave_it():
    found = entries(
        made("Deployment", "web"),
        replica_set("web-1", "2026-01-01T10:00:00Z"),
        event("ReplicaSet/web-1", "FailedCreate", REFUSED, count=1, lastTimestamp="2026-01-01T10:00:05Z"),
        event("ReplicaSet/web-1", "FailedCreate", AGAIN, count=7, lastTimestamp="2026-01-01T11:00:00Z"),
    )
    assert [(one.reason, str(one.object), one.count, one.time) for one in found] == [
        ("FailedCreate", "Deployment/web", 8, "2026-01-01T11:00:00Z"),
        ("NewTemplate", "Deployment/web", 1, "2026-01-01T10:00:00Z"),
    ]
    assert found[0].text == AGAIN and found[0].severity == "bad"


def test_jobs_of_a_cron_job_are_refused_under_other_names_each_minute():
    def told(minute: int) -> dict[str, Any]:
        text = f'Error creating job: jobs.batch "nightly-{29400000 + minute}" is forbidden: exceeded quota: objects'
        return event("CronJob/nightly", "FailedCreate", text, count=2, lastTimestamp=f"2026-01-01T10:0{minute}:00Z")

    (entry,) = entries(told(1), told(2), told(3))
    assert (entry.count, entry.time) == (6, "2026-01-01T10:03:00Z")
    assert "nightly-29400003" in entry.text


def test_a_condition_that_repeats_an_event_is_not_counted_again():
    failure = {
        "type": "ReplicaFailure",
        "status": "True",
        "reason": "FailedCreate",
        "message": REFUSED.removeprefix("Error creating: "),
        "lastTransitionTime": "2026-01-01T10:00:06Z",
    }
    workload = made("Deployment", "web", status={"conditions": [failure]})
    told = event("ReplicaSet/web-1", "FailedCreate", REFUSED, count=3, lastTimestamp="2026-01-01T10:00:05Z")
    found = entries(workload, replica_set("web-1", "2026-01-01T10:00:00Z"), told)
    assert [(one.reason, one.count) for one in found] == [("FailedCreate", 3), ("NewTemplate", 1)]
    # Events are gone after an hour; the condition stays.
    assert [one.reason for one in entries(workload)] == ["FailedCreate"]


def test_that_pods_are_not_ready_is_not_told():
    gone = {
        "type": "Available",
        "status": "False",
        "reason": "MinimumReplicasUnavailable",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    assert entries(made("Deployment", "web", status={"conditions": [gone]})) == []


def test_an_end_for_memory_names_the_limit():
    ended = {"terminated": {"reason": "OOMKilled", "finishedAt": "2026-01-01T12:00:00Z", "exitCode": 137}}
    status = {"name": "app", "lastState": ended, "restartCount": 1, "resources": {"limits": {"memory": "64Mi"}}}
    (entry,) = entries(
        made(
            "Pod",
            "web-1-a",
            status={"phase": "Running", "containerStatuses": [status]},
            **owned_by("ReplicaSet", "web-1"),
        )
    )
    assert (entry.reason, str(entry.object), entry.time) == ("OOMKilled", "Pod/web-1-a", "2026-01-01T12:00:00Z")
    assert "memory limit 64Mi" in entry.text


def test_claims_tell_what_they_got_and_pools_of_others_are_left_out():
    def condition(kind: str, status: str, reason: str) -> dict[str, Any]:
        return {
            "type": kind,
            "status": status,
            "reason": reason,
            "message": reason,
            "lastTransitionTime": "2026-01-01T10:00:00Z",
        }

    ready = condition("Ready", "True", "Succeeded")
    got = made(
        "ResourcePoolClaim", "a", status={"conditions": [ready, condition("Exhausted", "False", "NoExhaustions")]}
    )
    waits = made(
        "ResourcePoolClaim",
        "b",
        status={
            "conditions": [
                ready,
                condition("Exhausted", "True", "QueueExhausted"),
                condition("Bound", "False", "Failed"),
            ]
        },
    )
    full = {"conditions": [ready, condition("Exhausted", "True", "PoolExhausted")]}
    pools = [
        {**made("ResourcePool", "ours", status={**full, "namespaces": ["ns"]}), "metadata": {"name": "ours"}},
        {**made("ResourcePool", "theirs", status={**full, "namespaces": ["other"]}), "metadata": {"name": "theirs"}},
    ]
    found = entries(got, waits, *pools)
    assert {(str(one.object), one.reason, one.severity) for one in found} == {
        ("ResourcePoolClaim/a", "NoExhaustions", ""),
        ("ResourcePoolClaim/b", "QueueExhausted", "warn"),
        ("ResourcePool/ours", "PoolExhausted", "bad"),
    }
    everywhere = {str(one.object) for one in entries(got, waits, *pools, namespace="")}
    assert "ResourcePool/theirs" in everywhere


def test_runs_tell_what_ended_them_and_not_that_they_run():
    def run(name: str, status: str, reason: str) -> dict[str, Any]:
        condition = {
            "type": "Succeeded",
            "status": status,
            "reason": reason,
            "message": reason,
            "lastTransitionTime": "2026-01-01T10:00:00Z",
        }
        return made("TaskRun", name, status={"conditions": [condition]})

    found = entries(
        run("a", "Unknown", "Running"),
        run("b", "False", "PodCreationFailed"),
        run("c", "Unknown", "ExceededResourceQuota"),
        run("d", "True", "Succeeded"),
    )
    assert {(one.object.name, one.severity) for one in found} == {("b", "bad"), ("c", "warn")}


def test_what_is_older_is_left_out():
    edited = quota(manager("kubectl-edit", "2026-01-02T09:00:00Z", HARD))
    assert [one.reason for one in entries(edited, after="2026-01-02T00:00:00Z")] == ["Changed"]


def test_what_could_not_be_read_is_no_empty_answer():
    store = store_of(quota(), unread=("Event", "ReplicaSet"))
    result = timeline(store, "ns", PodNews())
    assert not result.complete
    assert {(unseen.kind, unseen.required) for unseen in result.unread} == {("Event", True), ("ReplicaSet", True)}
    assert not timeline(store_of(), "ns", None).complete


def test_who_may_not_read_events_gets_a_whole_answer_that_says_so():
    store = store_of(quota(), unread=("Event",))
    events = next(need for need in timeline_needs("ns") if need.kind == "Event")
    store.cover(events, Coverage("denied", "events is forbidden"))
    result = timeline(store, "ns", PodNews())
    assert result.complete
    assert [(unseen.kind, unseen.required) for unseen in result.unread] == [("Event", False)]


def test_another_namespace_is_not_told():
    other = {**quota(), "metadata": {"name": "q", "namespace": "other", "creationTimestamp": "2026-01-01T00:00:00Z"}}
    assert entries(other) == []
    assert [one.object.namespace for one in entries(other, namespace="")] == ["other"]


def test_reads_are_of_the_namespace_but_for_what_stands_in_none():
    for need in timeline_needs("shop"):
        assert need.namespace == ("" if need.kind in {"ResourcePool", "Tenant"} else "shop")
