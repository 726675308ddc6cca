"""Which manifest admission starts from, for each way in which a pod comes about."""

from __future__ import annotations

import json

import pytest
from reports.stored import made, owned_by, store_of, subject, template

from kubectl_kres.errors import NotFound, UsageError
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.pod.manifest_source import LAST_APPLIED, annotation_sets, find_manifest
from kubectl_kres.store.store import Coverage, ReadRequest

ONE = {"name": "app", "resources": {"requests": {"cpu": "1"}}}
TWO = {"name": "app", "resources": {"requests": {"cpu": "2"}}}
LIVE = {"name": "app", "resources": {"requests": {"cpu": "9", "memory": "1Gi"}, "limits": {"memory": "1Gi"}}}
RANGER = "kubernetes.io/limit-ranger"


def requests(start) -> dict[str, str]:
    return dict((start.pod.spec.containers[0].resources or type("none", (), {"requests": {}})).requests or {})


def live(**metadata):
    return made("Pod", "p", spec={"containers": [LIVE], "nodeName": "n1"}, **metadata)


def revision(name: str, container: dict) -> dict:
    return {**made("ControllerRevision", name), "data": {"spec": template(container)}, "revision": 3}


APPLIED = {LAST_APPLIED: json.dumps({"kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [ONE]}})}
ANNOTATED = {RANGER: "LimitRanger plugin set: memory request for container app; memory limit for container app"}
HASH = {"labels": {"controller-revision-hash": "db-abc"}}


@pytest.mark.parametrize(
    ("objects", "pod", "asked", "prefix", "text"),
    [
        pytest.param(
            [made("ReplicaSet", "web-1", spec=template(ONE)), made("ReplicaSet", "web-2", spec=template(TWO))],
            live(**owned_by("ReplicaSet", "web-2")),
            {"cpu": "2"},
            "spec.template.",
            "the template of ReplicaSet/web-2",
            id="the ReplicaSet that owns it, not another revision",
        ),
        pytest.param(
            [made("Job", "j", spec=template(ONE))],
            live(**owned_by("Job", "j")),
            {"cpu": "1"},
            "spec.template.",
            "the template of Job/j",
            id="a Job",
        ),
        pytest.param(
            [revision("db-abc", ONE), revision("db-def", TWO), made("StatefulSet", "db", spec=template(TWO))],
            live(**owned_by("StatefulSet", "db"), **HASH),
            {"cpu": "1"},
            "data.spec.template.",
            "revision db-abc of StatefulSet/db",
            id="a StatefulSet: the revision whose name is the label, not today's template",
        ),
        pytest.param(
            [revision("ds-abc", ONE)],
            live(**owned_by("DaemonSet", "ds"), labels={"controller-revision-hash": "abc"}),
            {"cpu": "1"},
            "data.spec.template.",
            "revision ds-abc of DaemonSet/ds",
            id="a DaemonSet: the label is only the hash",
        ),
        pytest.param(
            [], live(annotations=APPLIED), {"cpu": "1"}, "", "the last applied configuration", id="a bare pod, applied"
        ),
        pytest.param(
            [],
            live(annotations={LAST_APPLIED: "{not json"}),
            {"cpu": "9", "memory": "1Gi"},
            "",
            "the live pod",
            id="an annotation that does not parse",
        ),
        pytest.param(
            [], live(annotations=ANNOTATED), {"cpu": "9"}, "", "the live pod", id="less what the annotation names"
        ),
        pytest.param([], live(), {"cpu": "9", "memory": "1Gi"}, "", "the live pod", id="as it is"),
        pytest.param(
            [],
            live(**owned_by("ReplicaSet", "gone"), annotations=ANNOTATED),
            {"cpu": "9"},
            "",
            "the live pod",
            id="an owner that is gone",
        ),
    ],
)
def test_a_live_pod(objects, pod, asked, prefix, text):
    start = find_manifest(store_of(*objects, pod), subject("Pod/p"))
    assert (requests(start), start.prefix, sentence_text(start.text)) == (asked, prefix, text)
    assert start.live.metadata.name == "p"
    assert (start.assumed is not None) is (text == "the live pod")


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        ({}, "nothing says what was applied"),
        (owned_by("ReplicaSet", "gone"), "its template is not known (ReplicaSet/gone was not found)"),
        ({"annotations": ANNOTATED}, "the values that its limit-ranger annotation names are taken as not written"),
    ],
)
def test_the_choice_is_explained(metadata, reason):
    assumed = find_manifest(store_of(live(**metadata)), subject("Pod/p")).assumed
    assert assumed.code == "start/live"
    assert reason in sentence_text(assumed.text)


def test_what_the_controller_adds_is_taken_from_the_live_pod():
    """A DaemonSet pins its pods with affinity, a Job gives a deadline: both matter to quota scopes."""
    pod = live(**owned_by("Job", "j"))
    pod["spec"]["activeDeadlineSeconds"] = 600
    start = find_manifest(store_of(made("Job", "j", spec=template(ONE)), pod), subject("Pod/p"))
    assert (start.pod.spec.active_deadline_seconds, start.pod.spec.node_name) == (600, "n1")


@pytest.mark.parametrize(
    ("kind", "spec", "prefix"),
    [
        ("Deployment", template(ONE), "spec.template."),
        ("CronJob", {"jobTemplate": {"spec": template(ONE)}}, "spec.jobTemplate.spec.template."),
        ("ReplicationController", template(ONE), "spec.template."),
    ],
)
def test_a_workload_starts_from_its_template(kind, spec, prefix):
    raw = made(kind, "w", spec=spec)
    start = find_manifest(store_of(raw), subject(f"{kind}/w"))
    assert (requests(start), start.prefix, sentence_text(start.text)) == ({"cpu": "1"}, prefix, "its template")
    assert (start.live, start.pod.metadata.name, start.pod.metadata.namespace) == (None, "w", "ns")
    file = find_manifest(store_of(), subject(f"{kind}/w", raw, "w.yaml"))
    assert (requests(file), file.prefix, sentence_text(file.text)) == ({"cpu": "1"}, prefix, "its template in w.yaml")


def test_a_pod_template_and_a_pod_in_a_file():
    raw = {**made("PodTemplate", "t"), **template(ONE)}
    assert find_manifest(store_of(raw), subject("PodTemplate/t")).prefix == "template."
    pod = find_manifest(store_of(), subject("Pod/p", {**made("Pod", "p", spec={"containers": [ONE]})}, "p.yaml"))
    assert (requests(pod), pod.prefix, sentence_text(pod.text), pod.live) == ({"cpu": "1"}, "", "p.yaml", None)


def test_what_has_no_template():
    store = store_of(made("Deployment", "d", spec={}), made("Service", "s", spec={}))
    with pytest.raises(UsageError, match=r"no spec\.template\.spec\.containers"):
        find_manifest(store, subject("Deployment/d"))
    with pytest.raises(UsageError, match="Service holds no pod template"):
        find_manifest(store, subject("Service/s"))
    with pytest.raises(NotFound, match=r'deployments\.apps "gone" not found'):
        find_manifest(store, subject("Deployment/gone"))


def test_an_object_that_may_not_be_read():
    store = store_of(unread=("Pod",))
    store.cover(
        ReadRequest("Pod", "ns", "p"), Coverage("denied", 'pods "p" is forbidden: User "u" cannot get resource "pods"')
    )
    with pytest.raises(Exception, match='User "u" cannot get') as raised:
        find_manifest(store, subject("Pod/p"))
    assert raised.value.code == 403


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        ("something else", {}),
        (
            "LimitRanger plugin set: cpu, memory request for container app; cpu limit for container app",
            {("container", "app", "requests"): {"cpu", "memory"}, ("container", "app", "limits"): {"cpu"}},
        ),
        (
            "LimitRanger plugin set: memory limit for init container for-it",
            {("init container", "for-it", "limits"): {"memory"}},
        ),
        ("LimitRanger plugin set: nonsense", {}),
    ],
)
def test_what_the_annotation_says(text, found):
    assert dict(annotation_sets(text)) == found
