"""Updates of pods, claims, services and policies. Answers are those of an API server v1.36.3, seen while writing."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.create import create
from kubectl_kres.admission.request.new_pod import Policies, policies_of
from kubectl_kres.admission.request.update import update
from kubectl_kres.model.objects import LimitRange, ResourceQuota

Raw = dict[str, Any]


def ask(old: Raw, new: Raw, policies: Policies | None = None, server: Server | None = None) -> Outcome:
    (outcome,) = update(old, new, policies or Policies(), server or Server())
    return outcome


def quota(hard: dict[str, str], used: dict[str, str], name: str = "q", **spec: Any) -> ResourceQuota:
    raw = {"metadata": {"name": name}, "spec": {"hard": hard, **spec}, "status": {"hard": hard, "used": used}}
    return msgspec.convert(raw, ResourceQuota)


def limits(**item: Any) -> LimitRange:
    return msgspec.convert({"metadata": {"name": "l"}, "spec": {"limits": [item]}}, LimitRange)


def pod(sizes: Any = None, containers: int = 1, metadata: Raw | None = None, **spec: Any) -> Raw:
    held = [{"name": f"c{place}", "image": "i", "resources": sizes or {}} for place in range(containers)]
    return {"kind": "Pod", "metadata": {"name": "p", **(metadata or {})}, "spec": {"containers": held, **spec}}


def deadline(seconds: int | None) -> Raw:
    return pod(activeDeadlineSeconds=seconds) if seconds is not None else pod()


FIXED = (
    "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing "
    "tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
AT = "spec.activeDeadlineSeconds: Invalid value"
CPU = {"requests": {"cpu": "1"}}


@pytest.mark.parametrize(
    ("old", "new", "errors"),
    [
        (pod(CPU), pod(CPU, metadata={"labels": {"a": "b"}}), []),
        (pod(CPU), pod({"requests": {"cpu": "1000m"}}), []),
        (pod(CPU, dnsPolicy="ClusterFirst"), pod(CPU, volumes=[], tolerations=[{"key": "x"}]), []),
        (pod(CPU), pod({"requests": {"cpu": "2"}}), [FIXED]),
        (pod(CPU), pod({"limits": {"cpu": "1"}}), [FIXED]),
        (pod(CPU), pod(CPU, resources=CPU), [FIXED]),
        (pod(), pod(resources={}), [FIXED]),
        (pod(), pod(restartPolicy="Never"), [FIXED]),
        (pod(schedulingGates=[{"name": "g"}]), pod(schedulingGates=[{"name": "g"}], nodeSelector={"a": "b"}), []),
        (pod(), pod(containers=2), ["spec.containers: Forbidden: pod updates may not add or remove containers"]),
        (deadline(None), deadline(60), []),
        (deadline(60), deadline(30), []),
        (deadline(60), deadline(90), [f"{AT}: 90: must be less than or equal to previous value"]),
        (deadline(60), deadline(None), [f"{AT}: null: must not update from a positive integer to nil value"]),
        (deadline(60), deadline(0), [f"{AT}: 0: must be between 1 and 2147483647, inclusive"]),
        (deadline(60), deadline(-5), [f"{AT}: -5: must be between {n} and 2147483647, inclusive" for n in (1, 0)]),
    ],
)
def test_what_of_a_pod_may_change(old: Raw, new: Raw, errors: list[str]):
    outcome = ask(old, new)
    assert outcome.code == (422 if errors else 200)
    assert sorted(f"{cause.field}: {cause.message}" for cause in outcome.causes) == sorted(errors)


def test_a_deadline_moves_a_pod_to_the_quota_of_another_scope():
    scoped = [
        quota({"pods": "2"}, {"pods": "1"}, name="n", scopes=["NotTerminating"]),
        quota({"pods": "2"}, {"pods": "1"}, name="t", scopes=["Terminating"]),
    ]
    (charge,) = ask(deadline(None), deadline(60), policies_of([], scoped)).charges
    assert (charge.quota, charge.after) == ("t", {"pods": "2"})
    assert ask(deadline(60), deadline(30), policies_of([], scoped)).charges == ()
    needed = policies_of([], [quota({"requests.cpu": "2"}, {"requests.cpu": "0"}, scopes=["Terminating"])])
    refused = ask(deadline(None), deadline(60), needed)
    assert refused.message == 'pods "p" is forbidden: failed quota: q: must specify requests.cpu for: c0'


def test_limit_ranges_pass_over_updates_of_pods():
    policies = policies_of([limits(type="Container", max={"cpu": "500m"})], [])
    assert ask(pod(CPU), pod(CPU, metadata={"labels": {"a": "b"}}), policies).allowed


def claim(size: str, storage_class: str | None = "gold", status: Raw | None = None, **spec: Any) -> Raw:
    held = {"resources": {"requests": {"storage": size}}, "storageClassName": storage_class, **spec}
    return {"kind": "PersistentVolumeClaim", "metadata": {"name": "d"}, "spec": held, "status": status or {}}


def bound(size: str, capacity: str = "2Gi", **more: Any) -> Raw:
    return claim(size, status={"phase": "Bound", "capacity": {"storage": capacity}}, **more)


KEPT = (
    "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for "
    "bound claims"
)
RIGID = (
    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"
)
SIZE = "spec.resources.requests.storage: Forbidden: field can not be less than"


@pytest.mark.parametrize(
    ("old", "new", "version", "errors"),
    [
        (bound("2Gi"), claim("3Gi"), 36, []),
        (bound("4Gi"), claim("3Gi"), 36, []),
        (bound("4Gi"), claim("2Gi"), 36, [f"{SIZE} status.capacity"]),
        (bound("4Gi"), claim("3Gi"), 31, [f"{SIZE} previous value"]),
        (claim("2Gi"), claim("3Gi"), 36, [KEPT]),
        (bound("2Gi"), claim("2Gi", "bronze"), 36, [KEPT]),
        (bound("2Gi", storage_class=None), claim("2Gi", "bronze"), 36, []),
        (bound("2Gi", accessModes=["ReadWriteOnce"]), claim("2Gi", accessModes=["ReadOnlyMany"]), 36, [KEPT]),
        (bound("2Gi", accessModes=["ReadWriteOnce"]), claim("2Gi", volumeName="v"), 36, []),
        (bound("2Gi"), claim("2Gi", volumeAttributesClassName="fast"), 36, []),
        (claim("2Gi"), claim("2Gi", volumeAttributesClassName="fast"), 36, [KEPT]),
    ],
)
def test_what_of_a_claim_may_change(old: Raw, new: Raw, version: int, errors: list[str]):
    outcome = ask(old, new, server=Server(version=(1, version)))
    assert [f"{cause.field}: {cause.message}" for cause in outcome.causes] == errors


def test_an_attributes_class_in_use_cannot_be_taken_away():
    old = bound("2Gi", volumeAttributesClassName="fast")
    old["status"]["currentVolumeAttributesClassName"] = "fast"
    path = "spec.volumeAttributesClassName"
    for gone, what in ((None, "nil"), ("", "empty string")):
        (cause,) = ask(old, claim("2Gi", volumeAttributesClassName=gone)).causes
        text = f"update to {what} is forbidden when status.currentVolumeAttributesClassName is not nil"
        assert (cause.field, cause.message) == (path, f"Forbidden: {text}")


def test_a_growing_claim_passes_limit_range_class_and_quota_in_this_order():
    size = {"requests.storage": "2Gi"}
    rest = policies_of([limits(type="PersistentVolumeClaim", max={"storage": "2Gi"})], [quota(size, size)])
    rigid = msgspec.structs.replace(rest, expandable={"gold": False})
    ladder = (rigid, *(msgspec.structs.replace(one, limits=()) for one in (rigid, rest)), Policies())
    messages = [ask(bound("2Gi"), claim("3Gi"), policies).message for policies in ladder]
    assert [message.partition("forbidden: ")[2] for message in messages] == [
        "maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi",
        RIGID,
        "exceeded quota: q, requested: requests.storage=1Gi, used: requests.storage=2Gi, limited: requests.storage=2Gi",
        "",
    ]
    labelled = {**claim("3Gi"), "metadata": {"name": "d", "labels": {"a": "b"}}}
    assert ask(bound("3Gi"), labelled, rest).code == 403


def test_a_claim_of_fractions_warns_again():
    assert ask(bound("2Gi"), claim("2147483648500m")).warnings == (
        'spec.resources.requests[storage]: fractional byte value "2147483648500m" is invalid, must be an integer',
    )


def service(kind: str, ports: int) -> Raw:
    spec = {"type": kind, "ports": [{"port": place + 1} for place in range(ports)]}
    return {"kind": "Service", "metadata": {"name": "s"}, "spec": spec}


@pytest.mark.parametrize(
    ("old", "new", "after"),
    [
        (service("ClusterIP", 2), service("NodePort", 2), {"services.nodeports": "2"}),
        (service("NodePort", 1), service("NodePort", 2), {"services.nodeports": "1"}),
        (service("NodePort", 2), service("LoadBalancer", 2), {"services.loadbalancers": "1"}),
        (service("LoadBalancer", 2), service("ClusterIP", 2), None),
    ],
)
def test_services_are_charged_for_what_grows(old: Raw, new: Raw, after: dict[str, str] | None):
    hard = {"services": "9", "services.nodeports": "9", "services.loadbalancers": "9"}
    outcome = ask(old, new, policies_of([], [quota(hard, dict.fromkeys(hard, "0"))]))
    assert [charge.after for charge in outcome.charges] == ([after] if after else [])


def test_policies_are_checked_like_new_ones_and_scopes_stay():
    before = {
        "kind": "ResourceQuota",
        "metadata": {"name": "q"},
        "spec": {"hard": {"pods": "3"}, "scopes": ["Terminating"]},
    }
    lower = {**before, "spec": {**before["spec"], "hard": {"pods": "0"}}}
    assert ask(before, lower).object == {"metadata": {"name": "q"}, "spec": lower["spec"]}
    moved = {**before, "spec": {"hard": {"foo": "1"}}}
    assert [cause.message for cause in ask(before, moved).causes] == [
        'Invalid value: "foo": must be a standard resource for quota',
        'Invalid value: "foo": must be a standard resource type or fully qualified',
        "Invalid value: null: field is immutable",
    ]
    item = {"type": "Container", "max": {"cpu": "1"}}
    ranged = {"kind": "LimitRange", "metadata": {"name": "l"}, "spec": {"limits": [item]}}
    wrong = {**ranged, "spec": {"limits": [{**item, "min": {"cpu": "2"}}]}}
    assert ask(ranged, wrong).causes == create({**wrong}, Policies(), Server())[0].causes
    assert ask(ranged, ranged).code == 200


def test_the_rest_is_counted_at_creation_only():
    full = policies_of([], [quota({"configmaps": "1"}, {"configmaps": "1"})])
    held = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a"}}
    assert ask(held, {**held, "data": {"x": "y"}}, full).allowed


def test_an_unparsable_quantity_ends_the_request():
    assert ask(bound("2Gi"), claim("1x")).code == 400
    assert ask(pod(), pod({"requests": {"cpu": "1x"}})).code == 400
