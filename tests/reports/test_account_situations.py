"""Situations that people reported, played on real servers with invented objects: each by name, and what is right."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from check.samples import of_objects
from reports.stored import store_of

from kubectl_kres.admission.base.server import Server
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef, decode_object
from kubectl_kres.model.quota_objects import PersistentVolumeClaim
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.account import steps_of
from kubectl_kres.reports.common.explanation import EvaluationOptions, Explanation, Subject
from kubectl_kres.reports.explain.explain import analysis_of, explain
from kubectl_kres.reports.explain.summary import Outlines
from kubectl_kres.reports.namespace.explain_policy import explain_policy
from kubectl_kres.reports.quota.fit import fit
from kubectl_kres.reports.quota.quota_report import quota_reports
from kubectl_kres.reports.quota.uncounted_names import UncountedName, uncounted_name
from kubectl_kres.store.store import READ, ReadRequest, Store

Raw = dict[str, Any]
ASK = EvaluationOptions(Server(version=(1, 36)))
SPACE = "ns"
TEMPLATE = {"metadata": {"labels": {"a": "w"}}, "spec": {"containers": [{"name": "c", "image": "img:2"}]}}
OLD = {"metadata": {"labels": {"a": "w"}}, "spec": {"containers": [{"name": "c", "image": "img:1"}]}}


def stored(text: str) -> Iterator[Raw]:
    """Objects of a namespace as YAML has them."""
    for one in yaml.safe_load_all(text):
        one.setdefault("metadata", {}).setdefault("namespace", SPACE)
        yield one


def quota(hard: Raw, used: Raw, name: str = "q") -> Raw:
    return {
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name, "namespace": SPACE},
        "spec": {"hard": hard}, "status": {"hard": hard, "used": used},
    }  # fmt: skip


def owned(kind: str, name: str, by: tuple[str, str], version: str = "apps/v1", **fields: Any) -> Raw:
    owner = {"apiVersion": version, "kind": by[0], "name": by[1], "uid": "u", "controller": True}
    metadata = {"name": name, "namespace": SPACE, "ownerReferences": [owner], **fields.pop("metadata", {})}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}


def replica_set(name: str, template: Raw, replicas: int, revision: int) -> Raw:
    notes = {"deployment.kubernetes.io/revision": str(revision)}
    labels = {"a": "w", "pod-template-hash": name}
    made = {**template, "metadata": {"labels": labels}}
    return owned(
        "ReplicaSet", name, ("Deployment", "w"), metadata={"annotations": notes, "labels": labels},
        spec={"replicas": replicas, "template": made}, status={"replicas": replicas, "observedGeneration": 1},
    )  # fmt: skip


def workload(kind: str, generation: int = 2, **status: Any) -> Raw:
    return {
        "apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "w", "namespace": SPACE, "generation": generation},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"a": "w"}}, "template": TEMPLATE},
        "status": {"observedGeneration": 1, **status},
    }  # fmt: skip


def subject_of(kind: str, name: str = "w", raw: Raw | None = None) -> Subject:
    return Subject(ObjectRef(kind, name, SPACE), BY_KIND[kind], raw, file="f.yaml" if raw is not None else "")


def covered(*objects: Raw) -> Store:
    """A store that knows of every kind what there is."""
    store = store_of(*objects)
    for kind in BY_KIND:
        store.cover(ReadRequest(kind, SPACE if BY_KIND[kind].namespaced else ""), READ)
    return store


def explained(store: Store, kind: str, name: str = "w") -> Explanation:
    """The explanation, once the list and --fit have said the same."""
    asked = subject_of(kind, name)
    result = explain(store, asked, ASK)
    line = Outlines(store, ASK).outline(asked)
    assert (line.verdict.outcome, line.verdict.missing) == (result.verdict.outcome, result.verdict.missing)
    if kind not in {"Pod", "CronJob"}:
        assert fit(store, asked, ASK).verdict.outcome == result.verdict.outcome
    return result


def texts(explanation: Explanation) -> list[str]:
    return [sentence_text(remedy.text) for remedy in explanation.fixes]


def commands(explanation: Explanation) -> list[str]:
    return [command for remedy in explanation.fixes for command in remedy.commands]


def test_w2_a_rollout_whose_replica_set_is_refused():
    """github.com/kubernetes/kubernetes/issues/36117 and /40068."""
    objects = [
        quota({"count/replicasets.apps": "1"}, {"count/replicasets.apps": "1"}),
        workload("Deployment", replicas=1, updatedReplicas=1, readyReplicas=1),
        replica_set("w-1", OLD, 1, 1),
    ]
    found = explained(covered(*objects), "Deployment")
    assert (found.verdict.outcome, found.verdict.missing) == ("refused", 1)
    assert "replicasets.apps" in found.verdict.message
    assert texts(found) == ["raise count/replicasets.apps of quota q to 2"]
    assert fit(covered(*objects), subject_of("Deployment"), ASK).enough is False


def test_w2_an_old_replica_set_can_go_and_a_lower_history_limit_is_not_offered():
    objects = [
        quota({"count/replicasets.apps": "2"}, {"count/replicasets.apps": "2"}),
        workload("Deployment", replicas=1, updatedReplicas=1),
        replica_set("w-0", {**OLD, "spec": {"containers": [{"name": "c", "image": "img:0"}]}}, 0, 1),
        replica_set("w-1", OLD, 1, 2),
    ]
    found = explained(covered(*objects), "Deployment")
    assert texts(found)[1].startswith("delete ReplicaSet w-0")
    assert f"kubectl delete replicaset w-0 -n {SPACE}" in commands(found)
    assert "istoryLimit" not in json.dumps(texts(found))


def test_w2_check_says_what_mends_a_rollout_whose_replica_set_has_no_room():
    name = "count/replicasets.apps"
    current = replica_set("w-1", TEMPLATE, 1, 1)
    there = workload("Deployment", 1, replicas=1, updatedReplicas=1, readyReplicas=1, availableReplicas=1)
    (found,) = [it for it in of_objects([quota({name: "1"}, {name: "1"}), there, current]) if it.code == "KRES104"]
    assert sentence_text(found.fix) == "raise the quota that counts ReplicaSets by one, or delete one that no pod is of"
    assert not [it for it in of_objects([quota({name: "2"}, {name: "1"}), there, current]) if it.code == "KRES104"]


def test_w2_a_template_that_has_its_replica_set_needs_no_other_one():
    objects = [
        quota({"count/replicasets.apps": "1"}, {"count/replicasets.apps": "1"}),
        workload("Deployment", replicas=0),
        replica_set("w-1", TEMPLATE, 1, 1),
    ]
    assert explained(covered(*objects), "Deployment").verdict.outcome == "admitted"


@pytest.mark.parametrize("kind", ["StatefulSet", "DaemonSet"])
def test_w3_an_update_whose_controller_revision_is_refused(kind: str):
    counts = {"replicas": 1, "updatedReplicas": 1, "desiredNumberScheduled": 1, "currentNumberScheduled": 1,
              "updatedNumberScheduled": 1, "currentRevision": "w-a", "updateRevision": "w-a"}  # fmt: skip
    revision = owned("ControllerRevision", "w-a", (kind, "w"), data={"spec": {"template": OLD}}, revision=1)
    name = "count/controllerrevisions.apps"
    store = covered(quota({name: "1"}, {name: "1"}), workload(kind, **counts), revision)
    found = explained(store, kind)
    assert (found.verdict.outcome, found.verdict.missing) == ("refused", 1)
    assert texts(found)[0] == f"raise {name} of quota q to 2"
    assert explained(covered(quota({name: "2"}, {name: "1"}), workload(kind, **counts), revision), kind).verdict.allowed


@pytest.mark.parametrize("kind", ["StatefulSet", "DaemonSet"])
def test_w3_a_lower_history_limit_is_offered_to_statefulsets_alone(kind: str):
    counts = {"replicas": 1, "updatedReplicas": 1, "desiredNumberScheduled": 1, "currentNumberScheduled": 1,
              "updatedNumberScheduled": 1, "currentRevision": "w-b", "updateRevision": "w-b"}  # fmt: skip
    older = {**OLD, "spec": {"containers": [{"name": "c", "image": "img:0"}]}}
    revisions = [
        owned("ControllerRevision", f"w-{name}", (kind, "w"), data={"spec": {"template": template}}, revision=number)
        for number, (name, template) in enumerate((("a", older), ("b", OLD)), 1)
    ]
    labels = {"controller-revision-hash": "w-b" if kind == "StatefulSet" else "b"}
    pod = owned("Pod", "w-0", (kind, "w"), spec=OLD["spec"], status={"phase": "Running"})
    pod = {**pod, "apiVersion": "v1", "metadata": {**pod["metadata"], "labels": labels}}
    name = "count/controllerrevisions.apps"
    found = explained(covered(quota({name: "2"}, {name: "2"}), workload(kind, **counts), pod, *revisions), kind)
    assert texts(found)[1].startswith("delete ControllerRevision w-a")
    offered = [way for way in found.fixes if sentence_text(way.text).startswith("lower revisionHistoryLimit to 0")]
    assert len(offered) == (kind == "StatefulSet")
    assert all('{"spec":{"revisionHistoryLimit":0}}' in way.commands[0] for way in offered)


VOLUME = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}}
JOB_SPEC = {
    "restartPolicy": "Never",
    "containers": [{"name": "c", "image": "img:1"}],
    "volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": VOLUME}}}],
}


def crunch(*, claims: int) -> list[Raw]:
    """A Job of three pods, of which so many have got their claim."""
    job = {
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "w", "namespace": SPACE},
        "spec": {"parallelism": 3, "completions": 6, "template": {"spec": JOB_SPEC}}, "status": {"active": 3},
    }  # fmt: skip
    pods = [
        owned("Pod", f"w-{n}", ("Job", "w"), "batch/v1", spec=JOB_SPEC, status={"phase": "Pending"}) for n in range(3)
    ]
    pods = [{**pod, "apiVersion": "v1"} for pod in pods]
    made = [
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim",
         "metadata": {"name": f"w-{n}-v", "namespace": SPACE}, "spec": VOLUME} for n in range(claims)
    ]  # fmt: skip
    return [job, *pods, *made]


def test_w5_pods_whose_ephemeral_volumes_have_no_room():
    """github.com/argoproj/argo-workflows/issues/3419."""
    store = covered(quota({"requests.storage": "5Gi"}, {"requests.storage": "4Gi"}), *crunch(claims=2))
    found = explained(store, "Job")
    assert (found.verdict.outcome, found.verdict.missing) == ("refused", 1)
    assert texts(found)[0] == "raise requests.storage of quota q to 6Gi"
    pod = explained(store, "Pod", "w-2")
    assert pod.verdict.outcome == "refused"
    assert texts(pod)[0] == "raise requests.storage of quota q to 6Gi"
    assert explained(store, "Pod", "w-0").verdict.outcome == "admitted"


def test_w5_of_a_file_as_many_pods_fit_as_their_claims():
    raw = {**crunch(claims=0)[0], "status": {}}
    found = explain(
        covered(quota({"requests.storage": "5Gi"}, {"requests.storage": "0"})), subject_of("Job", raw=raw), ASK
    )
    assert (found.verdict.outcome, found.verdict.missing, found.verdict.fits) == ("partly", 3, 2)
    assert texts(found)[0] == "raise requests.storage of quota q to 6Gi"


def test_w5_a_limit_range_bounds_the_claims_too():
    item = {"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}}
    limits = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l", "namespace": SPACE},
              "spec": {"limits": [item]}}  # fmt: skip
    found = explained(covered(limits, *crunch(claims=0)), "Job")
    assert found.verdict.outcome == "refused"
    assert "maximum storage usage per PersistentVolumeClaim is 1Gi" in found.verdict.message


def device_objects(count: int = 2) -> list[Raw]:
    name = "accel.example.org"
    request = {"name": "r", "exactly": {"deviceClassName": name, "count": count}}
    spec = {"devices": {"requests": [request]}}
    return [
        {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name},
         "spec": {"extendedResourceName": "example.org/accel"}},
        {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
         "metadata": {"name": "two", "namespace": SPACE}, "spec": {"spec": spec}},
        {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
         "metadata": {"name": "w-0-d", "namespace": SPACE}, "spec": spec},
    ]  # fmt: skip


DEVICE_NAMES = (
    "requests.example.org/accel",
    "requests.deviceclass.resource.kubernetes.io/accel.example.org",
    "accel.example.org.deviceclass.resource.k8s.io/devices",
)


@pytest.mark.parametrize("name", DEVICE_NAMES)
def test_w4_claims_of_templates_count_for_devices(name: str):
    """github.com/kubernetes/kubernetes/pull/134210."""
    template = {"metadata": {"labels": {"a": "w"}}, "spec": {
        "containers": [{"name": "c", "image": "img:1", "resources": {"claims": [{"name": "d"}]}}],
        "resourceClaims": [{"name": "d", "resourceClaimTemplateName": "two"}],
    }}  # fmt: skip
    raw = {**workload("Deployment"), "spec": {"replicas": 2, "selector": {"matchLabels": {"a": "w"}},
           "template": template}, "status": {}}  # fmt: skip
    store = covered(quota({name: "3"}, {name: "0"}), *device_objects()[:2])
    found = explain(store, subject_of("Deployment", raw=raw), ASK)
    assert (found.verdict.outcome, found.verdict.fits) == ("partly", 1)
    assert texts(found)[0] == f"raise {name} of quota q to 4"


@pytest.mark.parametrize("name", DEVICE_NAMES)
def test_w4_a_recount_finds_the_devices_of_claims(name: str):
    held = quota({name: "3"}, {name: "2"})
    store = covered(held, *device_objects())
    (report,) = quota_reports(store, list(store.all("ResourceQuota", SPACE)), ASK, recounted=True)
    assert [(use.counted, use.drift) for use in report.uses] == [("2", None)]


def test_w4_a_recount_without_device_classes_says_that_it_does_not_know():
    store = covered(quota({DEVICE_NAMES[0]: "3"}, {DEVICE_NAMES[0]: "2"}))
    store.forget("DeviceClass")
    (report,) = quota_reports(store, list(store.all("ResourceQuota", SPACE)), ASK, recounted=True)
    assert report.uses[0].unread
    assert report.uses[0].drift is None


def tick(limit: int | None = None) -> Raw:
    job = {"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}}
    history = {} if limit is None else {"successfulJobsHistoryLimit": limit}
    return {
        "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "w", "namespace": SPACE},
        "spec": {"schedule": "* * * * *", "jobTemplate": job, **history}, "status": {},
    }  # fmt: skip


@pytest.mark.parametrize(("hard", "word"), [(2, "refused"), (3, "partly"), (5, "admitted")])
def test_w6_a_cron_job_whose_history_fills_the_quota(hard: int, word: str):
    done = {"conditions": [{"type": "Complete", "status": "True"}]}
    jobs = [owned("Job", f"w-{n}", ("CronJob", "w"), "batch/v1", spec={}, status=done) for n in range(2)]
    name = "count/jobs.batch"
    found = explained(covered(quota({name: str(hard)}, {name: "2"}), tick(), *jobs), "CronJob")
    assert found.verdict.outcome == word
    if word != "admitted":
        assert texts(found)[0].startswith(f"raise {name} of quota q to 5")
        assert texts(found)[1] == f"lower successfulJobsHistoryLimit to {max(0, hard - 2)}"


@pytest.mark.parametrize(
    ("hard", "age", "word", "fix"),
    [
        (4, None, "refused", "raise count/pods of quota q to 10"),
        (7, None, "partly", "raise count/pods of quota q to 10"),
        (10, None, "admitted", ""),
        (7, 60, "admitted", ""),
    ],
)
def test_finished_pods_that_a_cron_job_keeps_hold_their_count(hard: int, age: int | None, word: str, fix: str):
    """Five Jobs of two pods, of which two ended: their four pods are counted until their Jobs go."""
    done = {"conditions": [{"type": "Complete", "status": "True"}]}
    jobs = [owned("Job", f"w-{n}", ("CronJob", "w"), "batch/v1", spec={}, status=done) for n in range(2)]
    cron_job = tick()
    cron_job["spec"]["jobTemplate"]["spec"] |= {"parallelism": 1, "completions": 2}
    if age is not None:
        cron_job["spec"]["jobTemplate"]["spec"]["ttlSecondsAfterFinished"] = age
    found = explained(covered(quota({"count/pods": str(hard)}, {"count/pods": "4"}), cron_job, *jobs), "CronJob")
    assert found.verdict.outcome == word
    assert not fix or texts(found)[0] == fix


def test_w1_a_claim_that_grows_costs_what_it_grows_by():
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": SPACE},
             "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "growing",
                      "resources": {"requests": {"storage": "2Gi"}}}, "status": {"phase": "Bound"}}  # fmt: skip
    growing = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "growing"},
               "allowVolumeExpansion": True}  # fmt: skip
    for size, word, after in (("7Gi", "admitted", "7Gi"), ("9Gi", "refused", "9Gi")):
        store = covered(quota({"requests.storage": "8Gi"}, {"requests.storage": "2Gi"}), growing, claim)
        ref = ObjectRef("PersistentVolumeClaim", "data", SPACE)
        grown = {**claim, "spec": {**claim["spec"], "resources": {"requests": {"storage": size}}}}
        before = store.get(*_key(ref))
        store.add(ref.kind, decode_object(grown, PersistentVolumeClaim), file="f.yaml")
        store.beneath[ref] = before
        found = explain_policy(store, Subject(ref, BY_KIND[ref.kind], grown, "f.yaml"), ASK)
        assert found.verdict is not None
        assert found.verdict.outcome == word
        assert found.costs[0].charge.after == {"requests.storage": after}


def _key(ref: ObjectRef) -> tuple[str, str, str]:
    return ref.kind, ref.name, ref.namespace


def test_04_finished_pods_that_hold_the_count_are_named_with_their_job():
    """github.com/kubernetes/kubernetes/issues/138148."""
    spec = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
    done = {"conditions": [{"type": "Complete", "status": "True"}], "succeeded": 3}
    jobs = [
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": SPACE},
         "spec": {"parallelism": 3, "completions": 3, "template": {"spec": spec}}, "status": status}
        for name, status in (("load", done), ("w", {}))
    ]  # fmt: skip
    found = explained(covered(quota({"count/pods": "3"}, {"count/pods": "3"}), *jobs), "Job")
    assert texts(found)[0] == "raise count/pods of quota q to 6 (4 is enough for the next pod)"
    assert any(text.startswith("delete Job load, which has ended and has 3 finished pods") for text in texts(found))
    assert f"kubectl delete job load -n {SPACE}" in commands(found)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("gold.storageclass.storage.k8s.io/requests.io", "gold.storageclass.storage.k8s.io/requests.storage"),
        ("gold.storageclass.storage.k8s.io/pvcs", "gold.storageclass.storage.k8s.io/persistentvolumeclaims"),
        ("requests.gold.storageclass.storage.k8s.io/requests.storage",
         "gold.storageclass.storage.k8s.io/requests.storage"),
        ("count/services.loadbalancers", "services.loadbalancers"),
        ("count/loadbalancers", "services.loadbalancers"),
        ("count/deployments", "count/deployments.apps"),
        ("count/pod", "count/pods"),
        ("count/jobs", "count/jobs.batch"),
        ("count/events", None),
        ("a.b.deviceclass.resource.k8s.io/device", "a.b.deviceclass.resource.k8s.io/devices"),
        ("nvidia.com/gpu", "requests.nvidia.com/gpu"),
        ("count/widgets.example.org", ""),
        ("requests.nvidia.com/gpu", ""),
        ("services.nodeports", ""),
    ],
)  # fmt: skip
def test_w7_w8_the_name_that_is_suggested_is_one_that_limits(name: str, meant: str | None):
    never = UncountedName(never=True)
    assert uncounted_name(name, ()) == (never if meant is None else UncountedName(meant) if meant else None)
    if meant:
        assert uncounted_name(meant, ()) is None


def test_03_events_are_counted_by_nobody():
    store = covered(quota({"count/events": "2"}, {}))
    (report,) = quota_reports(store, list(store.all("ResourceQuota", SPACE)), ASK, recounted=True)
    assert report.uses[0].counted is None


def test_the_account_has_the_order_of_the_controllers():
    spec = {**JOB_SPEC, "restartPolicy": "Always"}
    raw = {**workload("Deployment"), "status": {}}
    raw["spec"] = {**raw["spec"], "template": {"metadata": {"labels": {"a": "w"}}, "spec": spec}}
    store = covered(quota({"requests.storage": "1Gi"}, {"requests.storage": "0"}))
    analysis = analysis_of(store, subject_of("Deployment", raw=raw), ASK)
    steps = steps_of(subject_of("Deployment", raw=raw), analysis)
    assert [step.object.kind for step in steps] == ["ReplicaSet", "Pod", "PersistentVolumeClaim"]
    assert [step.maker.kind for step in steps] == ["Deployment", "Deployment", "Pod"]
    assert [step.state for step in steps] == ["admitted", "admitted", "refused"]
    assert steps[2].charges[0].requested == {"requests.storage": "2Gi"}
