"""Changes of what was read: not all of an object is kept, and what is left out is no fault of it."""

from __future__ import annotations

from typing import Any

import pytest
from reports.stored import store_of

from kubectl_kres.admission.base.server import Server
from kubectl_kres.reports.changes.given_steps import application_order
from kubectl_kres.simulate.change import Apply, Patch, PlacedStep, ScaleStep, Step
from kubectl_kres.simulate.cluster import ChangeOutcome, simulate_steps
from kubectl_kres.simulate.live import lean_converters
from kubectl_kres.snapshot import read as demo
from kubectl_kres.snapshot import read as snapshots

MODES = {"accessModes": ["ReadWriteMany"]}
CLAIM = {"metadata": {"name": "d"}, "spec": {"resources": {"requests": {"storage": "2Gi"}}, "storageClassName": "gold"}}
TEMPLATE = {
    "metadata": {"labels": {"app": "s"}},
    "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "500m"}}}]},
}
PVC = {"kind": "PersistentVolumeClaim", "metadata": {"name": "d-s-0", "namespace": "ns"}, "spec": CLAIM["spec"]}
GOLD = {"kind": "StorageClass", "metadata": {"name": "gold"}, "allowVolumeExpansion": True}


def with_modes(claim: dict[str, Any], modes: dict[str, Any]) -> dict[str, Any]:
    return {**claim, "spec": {**claim["spec"], **modes}}


def stateful_set(modes: dict[str, Any]) -> list[dict[str, Any]]:
    """With its pod and its claim, as the server has them. ``modes``: an older snapshot holds none."""
    metadata = {"name": "s", "namespace": "ns", "generation": 1}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "s"}}, "template": TEMPLATE, "serviceName": "s",
            "podManagementPolicy": "OrderedReady", "updateStrategy": {"type": "RollingUpdate"},
            "volumeClaimTemplates": [with_modes(CLAIM, modes)]}  # fmt: skip
    status = {"replicas": 1, "updateRevision": "s-1", "currentRevision": "s-1"}
    owner = {"kind": "StatefulSet", "name": "s", "controller": True}
    pod = {"kind": "Pod", "metadata": {"name": "s-0", "namespace": "ns", "ownerReferences": [owner],
                                       "labels": {"controller-revision-hash": "s-1"}},
           "spec": TEMPLATE["spec"], "status": {"phase": "Running", "qosClass": "Burstable"}}  # fmt: skip
    return [
        {"kind": "StatefulSet", "metadata": metadata, "spec": spec, "status": status},
        pod,
        with_modes(PVC, modes),
        GOLD,
    ]


def played(modes: dict[str, Any], step: Step) -> ChangeOutcome:
    store, kept = store_of(*stateful_set(modes)), lean_converters()
    for kind, keep in kept.items():
        for item in list(store.all(kind)):
            store.add(kind, keep(item))
    return simulate_steps(store, [PlacedStep(step, "ns")], Server(), ["ns"])


@pytest.mark.parametrize("modes", [MODES, {}], ids=["read", "of an older snapshot"])
def test_a_stateful_set_with_claims_is_scaled_and_rolled(modes: dict[str, Any]):
    [end] = played(modes, ScaleStep("StatefulSet", "s", 3)).after.final_states("ns")
    assert (end.workloads[0].pods, sorted(end.claims)) == (3, ["d-s-0", "d-s-1", "d-s-2"])
    box = [{"name": "c", "resources": {"requests": {"cpu": "600m"}}}]
    outcome = played(modes, Patch("StatefulSet", "s", {"spec": {"template": {"spec": {"containers": box}}}}))
    assert [answer.code for answer in outcome.sent[0].answers] == [200]
    [end] = outcome.after.final_states("ns")
    assert (end.workloads[0].updated_names, end.workloads[0].refused) == (("s-0",), ())


@pytest.mark.parametrize("modes", [MODES, {}], ids=["read", "of an older snapshot"])
def test_a_claim_is_expanded(modes: dict[str, Any]):
    size = {"resources": {"requests": {"storage": "5Gi"}}}
    [answer] = played(modes, Patch("PersistentVolumeClaim", "d-s-0", {"spec": size})).sent[0].answers
    assert "accessModes" not in answer.message


def test_access_modes_of_a_file_are_held_against_those_that_were_read():
    [item, *_] = stateful_set(MODES)
    other = {**item, "apiVersion": "apps/v1", "metadata": {"name": "s"}}
    other["spec"] = {**item["spec"], "volumeClaimTemplates": [with_modes(CLAIM, {"accessModes": ["ReadWriteOnce"]})]}
    [answer] = played(MODES, Apply(other, kept=True)).sent[0].answers
    assert answer.code == 422
    assert answer.message.startswith('StatefulSet.apps "s" is invalid: spec.volumeClaimTemplates: Invalid value: [')
    same = {**other, "spec": item["spec"]}
    assert [answer.code for answer in played(MODES, Apply(same, kept=True)).sent[0].answers] == [200]
    assert [answer.code for answer in played({}, Apply(same, kept=True)).sent[0].answers] == [200]


def _controlled(item: Any) -> bool:
    return any(owner.controller for owner in getattr(item.metadata, "owner_references", None) or ())


TEMPLATES = {"CronJob": ("jobTemplate", "spec", "template")}


def test_everything_that_was_read_can_be_patched():
    """What is not kept of an object is no fault of a patch that has nothing to do with it."""
    store = snapshots.read(str(demo.demo_path()))
    mark: dict[str, Any] = {"metadata": {"annotations": {"a": "b"}}}
    told = []
    for kind in application_order():
        for item in store.all(kind):
            space, name = getattr(item.metadata, "namespace", ""), item.metadata.name
            if kind == "Pod" or _controlled(item):
                continue
            patches = [mark]
            if kind in {"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "CronJob"}:
                inner = mark
                for step in reversed(TEMPLATES.get(kind, ("template",))):
                    inner = {step: inner}
                patches.append({"spec": inner})
            for patch in patches:
                placed = PlacedStep(Patch(kind, name, patch), space)
                outcome = simulate_steps(store, [placed], Server(), [space] if space else [])
                told += [answer.message for sent in outcome.sent for answer in sent.answers]
    assert len(told) > 80
    assert set(told) == {""}


def test_what_a_patch_itself_gets_wrong_is_told_alone():
    """The schedule of a CronJob is not kept, and not missed; what is set is."""
    store = snapshots.read(str(demo.demo_path()))
    box = [{"name": "report", "resources": {"requests": {"cpu": "-1"}}}]
    template = {"spec": {"containers": box}}
    [job] = [item for item in store.all("CronJob", "batch") if item.metadata.name == "nightly-report"]
    box[0]["name"] = job.spec.job_template.spec.template.spec.containers[0].name
    patch = {"spec": {"jobTemplate": {"spec": {"template": template}}}}
    [sent] = simulate_steps(
        store, [PlacedStep(Patch("CronJob", "nightly-report", patch), "batch")], Server(), ["batch"]
    ).sent
    assert 'requests[cpu]: Invalid value: "-1": must be greater than or equal to 0' in sent.answers[0].message
    assert "schedule" not in sent.answers[0].message


def test_a_job_of_a_file_that_is_there_already_is_no_other_job():
    """Commands and environments are not read, labels and numbers are filled in by the server."""
    box = {"name": "c", "image": "i", "command": ["run"], "env": [{"name": "A", "value": "b"}]}
    spec = {"template": {"metadata": {"labels": {"app": "j"}}, "spec": {"restartPolicy": "Never", "containers": [box]}}}
    file = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": spec}
    labels = {"app": "j", "batch.kubernetes.io/controller-uid": "u", "job-name": "j"}
    template = {**spec["template"], "metadata": {"labels": labels}}
    selector = {"matchLabels": {"batch.kubernetes.io/controller-uid": "u"}}
    stored = {"template": template, "selector": selector, "completions": 1, "parallelism": 1, "backoffLimit": 6}
    job = {"kind": "Job", "metadata": {"name": "j", "namespace": "ns", "uid": "u"}, "spec": stored}

    def answer(raw: dict[str, Any]) -> tuple[int, str]:
        [sent] = simulate_steps(store_of(job), [PlacedStep(Apply(raw, kept=True), "ns")], Server(), ["ns"]).sent
        return sent.answers[0].code, sent.answers[0].message

    assert answer(file) == (200, "")
    other = {**spec["template"], "spec": {"restartPolicy": "Never", "containers": [{**box, "image": "j"}]}}
    code, message = answer({**file, "spec": {"template": other}})
    # As kube-apiserver 1.37.2 says it, but for the template, which it prints as Go's struct.
    text = 'Job.batch "j" is invalid: spec.template: Invalid value: {...}: field is immutable'
    assert (code, message) == (422, text)
    code, message = answer({**file, "spec": {**spec, "completions": 3}})
    assert (code, message) == (422, 'Job.batch "j" is invalid: spec.completions: Invalid value: 3: field is immutable')
    code, message = answer({**file, "spec": {**spec, "selector": {"matchLabels": {"app": "z"}}}})
    assert (code, "auto-generated" in message) == (422, False)
    assert 'spec.selector: Invalid value: {"matchLabels":{"app":"z"}}: field is immutable' in message
    assert "`selector` does not match template `labels`" in message


def test_what_is_zero_takes_the_notation_of_what_comes():
    """As the server adds: the status of a quota nobody has used says 0."""
    spec = {"hard": {"requests.memory": "1Gi"}}
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "ns"}, "spec": spec}
    quota["status"] = {**spec, "used": {"requests.memory": "0"}}
    containers = [{"name": "c", "image": "i", "resources": {"requests": {"memory": "300Mi"}}}]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": containers}}
    after = simulate_steps(store_of(quota), [PlacedStep(Apply(pod), "ns")], Server(), ["ns"]).after
    [end] = after.words("ns", after.states("ns"))
    assert end.quotas[0].used == {"requests.memory": "300Mi"}
