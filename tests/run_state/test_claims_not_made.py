"""A pod without a node whose claim a controller could not make, as an event about the pod says."""

from __future__ import annotations

from typing import Any

import pytest
from reports.stored import made, owned_by, store_of, template

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.render.verdict.run_state import state_sentence
from kubectl_kres.reports.explain.object_state import object_state

NOW = "2026-01-01T01:00:00Z"
#: The words of kube-controller-manager 1.36.3, and of the server in them.
VOLUME = (
    'ephemeral volume w: create PVC p-w: persistentvolumeclaims "p-w" is forbidden: exceeded quota: disk, requested: '
    "requests.storage=2Gi, used: requests.storage=4Gi, limited: requests.storage=5Gi"
)
DEVICE = (
    '(combined from similar events): PodResourceClaim d: create ResourceClaim : resourceclaims.resource.k8s.io "p-d" '
    "is forbidden: exceeded quota: dev, requested: count/resourceclaims.resource.k8s.io=1,requests.example.org/accel=2,"
    " used: count/resourceclaims.resource.k8s.io=1,requests.example.org/accel=2, "
    "limited: count/resourceclaims.resource.k8s.io=4,requests.example.org/accel=3"
)
BOUND = (
    'ephemeral volume w: create PVC p-w: persistentvolumeclaims "p-w" is forbidden: '
    "maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi"
)
NO_TEMPLATE = 'PodResourceClaim d: resourceclaimtemplate.resource.k8s.io "gone" not found'
WAITING = 'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-w"'


def _event(reason: str, message: str, last: str = "2026-01-01T00:30:00Z"):
    about = {"kind": "Pod", "name": "p", "namespace": "ns"}
    more = {"involvedObject": about, "reason": reason, "message": message, "type": "Warning", "lastTimestamp": last}
    return {**made("Event", f"p.{last}"), **more}


def _pod(name: str = "p", condition: str = "", **more: Any):
    unscheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": condition}
    status = {"phase": "Pending", "conditions": [unscheduled] if condition else []}
    return made("Pod", name, spec=template()["template"]["spec"], status=status, **more)


def _said(*objects: Any, kind: str = "Pod", name: str = "p") -> str:
    state = object_state(store_of(*objects), ObjectRef(kind, name, "ns"), NOW)
    assert state is not None
    assert state.state == "waits"
    return f"{state.reason}: {state_sentence(state)}; {sentence_text(state.next)}"


SHORT_OF_STORAGE = (
    "MissingVolumeClaim: PersistentVolumeClaim p-w is not made: quota disk is short by 1Gi of requests.storage; "
    "make room in quota disk"
)
SHORT_OF_DEVICES = (
    "MissingResourceClaim: the ResourceClaim for d is not made: quota dev is short by 1 of requests.example.org/accel; "
    "make room in quota dev"
)
ABOVE_BOUND = (
    'PersistentVolumeClaim p-w is missing: persistentvolumeclaims "p-w" is forbidden: '
    "maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi"
)
LACKS_TEMPLATE = 'the ResourceClaim for d is not made: resourceclaimtemplate.resource.k8s.io "gone" not found'


@pytest.mark.parametrize(
    ("reason", "message", "says"),
    [
        ("FailedBinding", VOLUME, SHORT_OF_STORAGE),
        ("FailedResourceClaimCreation", DEVICE, SHORT_OF_DEVICES),
        ("FailedBinding", BOUND, ABOVE_BOUND),
        ("FailedResourceClaimCreation", NO_TEMPLATE, LACKS_TEMPLATE),
        ("FailedBinding", "no persistent volumes available for this claim", "NoScheduler: no scheduler"),
    ],
)
def test_what_could_not_be_made_and_the_quota_that_is_short(reason: str, message: str, says: str):
    assert says in _said(_pod(), _event(reason, message))


def test_the_newest_event_counts():
    older = _event("FailedBinding", BOUND, "2026-01-01T00:10:00Z")
    assert "quota disk is short by 1Gi" in _said(_pod(), older, _event("FailedBinding", VOLUME))


def test_what_the_scheduler_said_after_it_counts_unless_it_waits_for_the_claim():
    event = _event("FailedBinding", VOLUME)
    assert _said(_pod(condition="0/3 nodes are available: 3 Insufficient cpu."), event).startswith("NoNode: ")
    assert "quota disk is short by 1Gi" in _said(_pod(condition=WAITING), event)


def test_one_pod_of_a_job_that_says_why_stands_for_those_that_no_scheduler_took_up():
    job = made("Job", "crunch", spec={"parallelism": 2, "template": template()["template"]}, status={"active": 2})
    owner = owned_by("Job", "crunch")
    said = _said(job, _pod("a", **owner), _pod(**owner), _event("FailedBinding", VOLUME), kind="Job", name="crunch")
    assert "quota disk is short by 1Gi of requests.storage (1 of 2 pods)" in said


@pytest.mark.parametrize(
    ("claim", "status", "says"),
    [
        ({"resourceClaimTemplateName": "two"}, [], "no ResourceClaim is made yet for d of ResourceClaimTemplate two"),
        ({"resourceClaimTemplateName": "two"}, [{"name": "d", "resourceClaimName": "p-d-x"}], "no scheduler called"),
        ({"resourceClaimName": "g"}, [], "ResourceClaim g is missing"),
        # A snapshot of before the names were kept.
        ({}, [], "no scheduler called"),
    ],
)
def test_that_a_template_is_missing_is_not_said_where_only_its_claim_is(claim, status, says):
    inner = {**template()["template"]["spec"], "resourceClaims": [{"name": "d", **claim}]}
    pod = made("Pod", "p", spec=inner, status={"phase": "Pending", "resourceClaimStatuses": status})
    assert says in _said(pod)
