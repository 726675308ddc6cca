"""Namespaces whose objects the quota controller counts: pods in every state, claims, services, quotas of all scopes."""

from __future__ import annotations

import random
from typing import Any

from conformance.compare import amount
from e2e import policies
from e2e.amounts import quantity
from e2e.pods import Object, plain_pod, shape

#: Names of quotas that count what is read here. Of others it is said that they are not known.
_COMPUTE = (*policies.COMPUTE, "pods", "count/pods", "requests.example.com/gpu")
_REST = (
    *("pods", "count/pods", "requests.ephemeral-storage", "limits.ephemeral-storage", "ephemeral-storage"),
    *("requests.example.com/gpu", "requests.vendor.io/fpga", "hugepages-2Mi", "requests.hugepages-1Gi"),
)
_OBJECTS = (
    *("services", "services.nodeports", "services.loadbalancers", "count/services", "persistentvolumeclaims"),
    *("requests.storage", "gold.storageclass.storage.k8s.io/requests.storage", "count/persistentvolumeclaims"),
    *("gold.storageclass.storage.k8s.io/persistentvolumeclaims", "resourcequotas", "count/limitranges"),
    *("count/deployments.apps", "count/jobs.batch", "count/replicasets.apps"),
)
_FAST = {"scopeName": "VolumeAttributesClass", "operator": "In", "values": ["fast"]}
_SELECTORS: tuple[Object, ...] = (
    {"scopeName": "PriorityClass", "operator": "In", "values": ["high"]},
    {"scopeName": "PriorityClass", "operator": "NotIn", "values": ["high"]},
    {"scopeName": "PriorityClass", "operator": "Exists"},
    {"scopeName": "PriorityClass", "operator": "DoesNotExist"},
)


def quotas() -> list[Object]:
    """One quota for each scope, and some without. Nothing is refused for them."""
    found = [_quota("compute", policies.COMPUTE), _quota("rest", _REST), _quota("objects", _OBJECTS)]
    for scope in policies.POD_SCOPES:
        names = ("pods", "count/pods") if scope == "BestEffort" else _COMPUTE
        found.append(_quota(f"scope-{scope.lower()}", names, scopes=[scope]))
    for number, one in enumerate(_SELECTORS):
        found.append(_quota(f"priority-{number}", _COMPUTE, scopeSelector={"matchExpressions": [one]}))
    both = {"scopes": ["NotBestEffort"], "scopeSelector": {"matchExpressions": [_SELECTORS[2]]}}
    claims = _quota("claims", ("persistentvolumeclaims", "requests.storage"))
    claims["spec"]["scopeSelector"] = {"matchExpressions": [_FAST]}
    return [*found, _quota("both", _COMPUTE, **both), claims]


def _quota(name: str, names: tuple[str, ...], **spec: Any) -> Object:
    hard = dict.fromkeys(names, "100")
    hard |= {one: "1000Ti" for one in names if one.endswith(("memory", "storage")) or "hugepages" in one}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name}, "spec": {"hard": hard, **spec}}


def objects(rng: random.Random) -> list[Object]:
    """What there is to count. The server refuses a few."""
    made = (policies.claim, policies.claim, policies.service, policies.service, policies.counted, policies.limit_range)
    found = [
        *(rng.choice((shape, shape, plain_pod))(rng, f"p{number}") for number in range(14)),
        *(make(rng, f"o{number}") for number, make in enumerate(made * 2)),
    ]
    return [one for one in found if not _stops_the_controller(one)]


def _stops_the_controller(one: Object) -> bool:
    """Whether sums with it are too large to be counted in thousandths: the API server refuses such a status."""
    if one["kind"] != "PersistentVolumeClaim":
        return False
    size = amount(one["spec"]["resources"]["requests"]["storage"])
    return size is not None and size >= 2**63 // 10_000


def reported(rng: random.Random, pod: Object) -> Object | None:
    """The status that a kubelet would report: ended, or running with other resources than the spec; None: nothing."""
    if rng.random() < 0.4:
        return None
    if rng.random() < 0.4:
        return {"phase": rng.choice(("Succeeded", "Failed"))}
    status: Object = {
        "phase": "Running",
        "containerStatuses": [_running(rng, one) for one in pod["spec"]["containers"]],
    }
    if rng.random() < 0.3:
        reason = rng.choice(("Infeasible", "Deferred"))
        status["conditions"] = [{"type": "PodResizePending", "status": "True", "reason": reason}]
    return status


def _running(rng: random.Random, container: Object) -> Object:
    found: Object = {"name": container["name"], "image": "img", "imageID": "x", "ready": True, "restartCount": 0}
    values = {"cpu": quantity(rng, "cpu", 500), "memory": quantity(rng, "memory", 256)}
    if rng.random() < 0.7:
        found["resources"] = {"requests": values, "limits": values}
    if rng.random() < 0.5:
        found["allocatedResources"] = {"cpu": quantity(rng, "cpu", 750)}
    return {**found, "state": {"running": {}}}
