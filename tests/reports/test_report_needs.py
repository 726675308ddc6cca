"""What an explanation reads: enough, and never more than six GETs for one object."""

from __future__ import annotations

import pytest
from reports.stored import made, owned_by, store_of, subject, template

from kubectl_kres.model.scheduling import view_of
from kubectl_kres.model.workload_kinds import WORKLOADS
from kubectl_kres.policies.reports.needs import DECIDING
from kubectl_kres.reports.pod import needs as reading
from kubectl_kres.reports.pod.needs import MOST, selector_text
from kubectl_kres.reports.pod.scheduling_needs import scheduling_needs
from kubectl_kres.store.store import ReadRequest

SELECTOR = {"selector": {"matchLabels": {"app": "web"}}}
CLASSES = {"priorityClassName": "high", "runtimeClassName": "kata"}
SCOPED = made(
    "ResourceQuota",
    "q",
    spec={"scopeSelector": {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "Exists"}]}},
)


def needs(store, about):
    """Without what tells what else admits, which is the same few lists for all."""
    return tuple(need for need in reading.list_read_requests(store, about) if need.kind not in {*DECIDING, "Namespace"})


def workload(kind: str, **spec) -> dict:
    inner = template(**spec)
    if kind == "CronJob":
        return made(kind, "w", spec={"jobTemplate": {"spec": inner}})
    if kind == "PodTemplate":
        return {**made(kind, "w"), **inner}
    return made(kind, "w", spec={**inner, **SELECTOR})


@pytest.mark.parametrize("scoped", [False, True])
@pytest.mark.parametrize("spec", [{}, {"priorityClassName": "high"}, CLASSES])
@pytest.mark.parametrize("kind", WORKLOADS)
def test_a_workload_costs_six_gets_at_most(kind, spec, scoped):
    store = store_of(workload(kind, **spec), *([SCOPED] if scoped else []))
    found = needs(store, subject(f"{kind}/w"))
    assert len(found) == len(set(found)) <= MOST == 6
    kinds = {need.kind for need in found}
    assert {kind, "LimitRange", "ResourceQuota"} <= kinds
    assert ("RuntimeClass" in kinds) is ("runtimeClassName" in spec)
    assert "PriorityClass" in kinds or not scoped
    assert "Event" in kinds or kind == "PodTemplate"


@pytest.mark.parametrize("spec", [{}, CLASSES])
@pytest.mark.parametrize("owner", ["", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "ReplicationController"])
def test_a_pod_costs_six_gets_at_most(owner, spec):
    metadata = owned_by(owner, "o") | {"labels": {"controller-revision-hash": "o-1"}} if owner else {}
    store = store_of(made("Pod", "p", spec={"containers": [{"name": "c"}], **spec}, **metadata), SCOPED)
    found = needs(store, subject("Pod/p"))
    assert len(found) <= MOST
    owners = {
        need
        for need in found
        if need.kind not in {"Pod", "LimitRange", "ResourceQuota", "PriorityClass", "RuntimeClass"}
    }
    expected = {
        "": set(),
        "StatefulSet": {ReadRequest("ControllerRevision", "ns", "o-1", required=False)},
        "DaemonSet": {ReadRequest("ControllerRevision", "ns", "o-o-1", required=False)},
    }
    assert owners == expected.get(owner, {ReadRequest(owner, "ns", "o", required=False)})


def test_before_anything_is_read():
    assert needs(store_of(), subject("Pod/p")) == (
        ReadRequest("Pod", "ns", "p"),
        ReadRequest("LimitRange", "ns"),
        ReadRequest("ResourceQuota", "ns"),
    )


def test_a_file_needs_policies_only():
    raw = workload("Deployment", runtimeClassName="kata")
    assert needs(store_of(), subject("Deployment/w", raw)) == (
        ReadRequest("LimitRange", "ns"),
        ReadRequest("ResourceQuota", "ns"),
        ReadRequest("RuntimeClass", name="kata"),
    )


def test_what_is_given_up_first_is_what_adds_least():
    kept = [need.kind for need in needs(store_of(workload("Deployment", **CLASSES), SCOPED), subject("Deployment/w"))]
    assert kept == ["Deployment", "LimitRange", "ResourceQuota", "Event", "PriorityClass", "RuntimeClass"]
    kept = [need.kind for need in needs(store_of(workload("Deployment")), subject("Deployment/w"))]
    assert kept == ["Deployment", "LimitRange", "ResourceQuota", "ReplicaSet", "Pod", "Event"]


SETTLED = {"replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "observedGeneration": 2}


@pytest.mark.parametrize(
    ("status", "read"),
    [
        ({}, False),
        ({"replicas": 0, "updatedReplicas": 0}, True),
        ({"updatedReplicas": 0}, True),
        ({"readyReplicas": 0}, True),
        ({"observedGeneration": 1}, True),
        ({"conditions": [{"type": "ReplicaFailure", "status": "True"}]}, True),
    ],
)
def test_events_are_read_where_pods_are_missing_old_or_not_ready(status, read):
    about = {**workload("Deployment"), "status": SETTLED | status}
    about["metadata"]["generation"] = 2
    assert ("Event" in {need.kind for need in needs(store_of(about), subject("Deployment/w"))}) is read


def test_a_job_that_is_done_keeps_its_events():
    job = {**workload("Job"), "status": {"conditions": [{"type": "Failed", "status": "True"}]}}
    assert "Event" in {need.kind for need in needs(store_of(job), subject("Job/w"))}


def test_lists_are_narrow():
    found = {need.kind: need for need in needs(store_of(workload("Deployment")), subject("Deployment/w"))}
    assert found["Pod"].label_selector == found["ReplicaSet"].label_selector == "app=web"
    assert found["Event"].field_selector == "type=Warning"
    cron = {need.kind: need for need in needs(store_of(workload("CronJob")), subject("CronJob/w"))}
    assert cron["Pod"].label_selector == "job-name"


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        (None, ""),
        ({}, ""),
        ({"b": "2", "a": "1"}, "a=1,b=2"),
        ({"matchLabels": {"b": "2", "a": "1"}}, "a=1,b=2"),
        ({"matchLabels": None, "matchExpressions": None}, ""),
        (
            {
                "matchLabels": {"app": "web"},
                "matchExpressions": [
                    {"key": "tier", "operator": "In", "values": ["a", "b"]},
                    {"key": "env", "operator": "NotIn", "values": ["dev"]},
                    {"key": "x", "operator": "Exists"},
                    {"key": "y", "operator": "DoesNotExist"},
                ],
            },
            "app=web,tier in (a,b),env notin (dev),x,!y",
        ),
    ],
)
def test_selectors_as_query_parameters(selector, text):
    assert selector_text(selector) == text


def test_an_autoscaler_is_read_beside_what_six_gets_allow_where_pods_are_missing():
    """A number of pods that is lowered as a fix would be raised by it again."""
    quota = made("ResourceQuota", "pods", spec={"hard": {"pods": "1"}})
    asks = ReadRequest("HorizontalPodAutoscaler", "ns", required=False)
    lacking = made("Deployment", "w", spec={**template(), **SELECTOR, "replicas": 2}, status={"replicas": 1})
    whole = {"replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2}
    running = made("Deployment", "w", spec={**template(**CLASSES), **SELECTOR, "replicas": 2}, status=whole)
    assert asks in reading.list_read_requests(store_of(lacking, quota, SCOPED), subject("Deployment/w"))
    assert len([*needs(store_of(running, quota, SCOPED), subject("Deployment/w"))]) <= MOST


@pytest.mark.parametrize(("revision", "reads"), [("db-1", False), ("db-0", True)])
def test_the_template_is_read_that_a_pod_of_an_older_one_is_replaced_by(revision, reads):
    """What the scheduler looks at of it: without that no node is known to take the pod that comes."""
    labels = {"controller-revision-hash": revision}
    status = {"updateRevision": "db-1"}
    waiting = made("Pod", "db-0", spec={"containers": [{"name": "c"}]}, status={"phase": "Pending"},
                   **(owned_by("StatefulSet", "db") | {"labels": labels}))  # fmt: skip
    store = store_of(made("StatefulSet", "db", spec={**template(), **SELECTOR}, status=status), waiting)
    pod = store.get("Pod", "db-0", "ns")
    found = [need.kind for need in scheduling_needs(store, pod)]
    assert (view_of("StatefulSet") in found) is reads
