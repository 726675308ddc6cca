"""The amounts that quotas count for an object: which names concern its kind, which scopes select it.

Pods, PersistentVolumeClaims, Services and ResourceClaims (dynamic resource allocation) are counted here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from kubectl_kres.admission.base.draft import Draft, Quantities
from kubectl_kres.admission.base.resource_names import is_extended, is_huge_page, is_native
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.pod.aggregate import add_into, sum_pod, sum_stored_pod
from kubectl_kres.model.objects import ResourceQuotaSpec, ScopedRequirement
from kubectl_kres.model.pod import Affinity, Pod, PodAffinity, PodSpec
from kubectl_kres.model.quota_objects import ClaimRequest, DeviceRequest, PersistentVolumeClaim, ResourceClaim, Service
from kubectl_kres.quantity import Quantity, quantity_of

_ONE = quantity_of(1)
_COMPUTE = ("cpu", "memory", "ephemeral-storage")
_POD_NAMES = frozenset({
    "count/pods", "pods", *_COMPUTE, *(f"{side}.{name}" for side in ("requests", "limits") for name in _COMPUTE),
})  # fmt: skip
#: Extended resources with this prefix stand for the devices of a class.
DEVICE_CLASS = "deviceclass.resource.kubernetes.io/"
_STORAGE_CLASS = ".storageclass.storage.k8s.io/"
BETA_STORAGE_CLASS = "volume.beta.kubernetes.io/storage-class"
#: Resources that quotas ignore: no name counts them, and creating one asks no quota.
#: Source: quota/v1/install/registry.go DefaultIgnoredResources.
IGNORED = frozenset({
    "events", "events.events.k8s.io", "bindings", "componentstatuses", "tokenreviews.authentication.k8s.io",
    "selfsubjectreviews.authentication.k8s.io", "subjectaccessreviews.authorization.k8s.io",
    "selfsubjectaccessreviews.authorization.k8s.io", "localsubjectaccessreviews.authorization.k8s.io",
    "selfsubjectrulesreviews.authorization.k8s.io",
})  # fmt: skip
#: Names of old for counting objects of a kind.
ALIASES = {"configmaps", "secrets", "replicationcontrollers", "resourcequotas"}
#: What there is one of in every namespace, by the names that count it.
#: Source: controller/certificates/rootcacertpublisher, controller/serviceaccount/serviceaccounts_controller.go.
IN_EVERY_NAMESPACE = {
    **dict.fromkeys(("configmaps", "count/configmaps"), "ConfigMap kube-root-ca.crt"),
    "count/serviceaccounts": "ServiceAccount default",
}


def pod_names(hard: Iterable[str]) -> list[str]:
    """The names of a quota that pods count for. Source: evaluator/core/pods.go MatchingResources."""
    return [name for name in hard if name in _POD_NAMES or _is_pod_name(name)]


def _is_pod_name(name: str) -> bool:
    if name.startswith(("hugepages-", "requests.hugepages-")):
        return True
    return name.startswith("requests.") and (not is_native(name) or name.startswith(f"requests.{DEVICE_CLASS}"))


def compute_usage(requests: Quantities, limits: Quantities) -> Quantities:
    """``pods`` and the compute names of one set of requests and limits. Source: podComputeUsageHelper."""
    usage: Quantities = {"pods": _ONE}
    for name in _COMPUTE:
        if name in requests:
            usage[name] = usage[f"requests.{name}"] = requests[name]
        if name in limits:
            usage[f"limits.{name}"] = limits[name]
    for name, quantity in requests.items():
        if is_huge_page(name):
            usage[name] = usage[f"requests.{name}"] = quantity
        elif is_extended(name) or name.startswith(DEVICE_CLASS):
            usage[f"requests.{name}"] = quantity
    return usage


def pod_usage(draft: Draft, *, terminal: bool = False) -> Quantities:
    """Return what one pod counts for; a terminal pod only for ``count/pods``. Source: evaluator/core/pods.go
    PodUsageFunc.
    """
    if terminal:
        return {"count/pods": _ONE}
    return {"count/pods": _ONE, **compute_usage(sum_pod(draft, "requests"), sum_pod(draft, "limits"))}


def stored_pod_usage(pod: Pod, draft: Draft, now: datetime | None = None) -> Quantities:
    """Return what a pod that exists counts for: like a new one, with a resize that is under way; less when it is
    finished.

    ``draft``: its spec. ``now`` None: a deletion whose grace period is over is not noticed.
    """
    if is_terminal(pod, now):
        return pod_usage(draft, terminal=True)
    requests, limits = (sum_stored_pod(draft, pod.status, side) for side in ("requests", "limits"))
    return {"count/pods": _ONE, **compute_usage(requests, limits)}


def is_terminal(pod: Pod, now: datetime | None = None) -> bool:
    """Return whether only ``count/pods`` still counts the pod. Source: evaluator/core/pods.go QuotaV1Pod."""
    if pod.status.phase in {"Failed", "Succeeded"}:
        return True
    deleted, grace = pod.metadata.deletion_timestamp, pod.metadata.deletion_grace_period_seconds
    if now is None or deleted is None or grace is None:
        return False
    # The grace period is in the timestamp already; the server adds it a second time.
    return now > datetime.fromisoformat(deleted) + timedelta(seconds=grace)


def counts_by_class(hard: Iterable[str]) -> bool:
    """Return whether a quota counts claims by their storage class, so that also the default one matters."""
    return any(_STORAGE_CLASS in name for name in hard)


def claim_names(hard: Iterable[str]) -> list[str]:
    """Source: evaluator/core/persistent_volume_claims.go MatchingResources."""
    own_names = {"count/persistentvolumeclaims", "persistentvolumeclaims", "requests.storage"}
    suffixes = (f"{_STORAGE_CLASS}persistentvolumeclaims", f"{_STORAGE_CLASS}requests.storage")
    return [name for name in hard if name in own_names or name.endswith(suffixes)]


def claim_usage(
    claim: PersistentVolumeClaim, requests: Quantities, allocated: Quantities, server: Server
) -> Quantities:
    """Count and whole bytes of storage, once more under the storage class. Source: pvcEvaluator.Usage."""
    usage: Quantities = {"persistentvolumeclaims": _ONE, "count/persistentvolumeclaims": _ONE}
    storage_class = storage_class_of(claim)
    if storage_class:
        usage[f"{storage_class}{_STORAGE_CLASS}persistentvolumeclaims"] = _ONE
    storage = requests.get("storage")
    if storage is None:
        return usage
    storage = _round_up(storage)
    granted = allocated.get("storage")
    if granted is not None and granted > storage and server.is_enabled("RecoverVolumeExpansionFailure"):
        storage = _round_up(granted)
    usage["requests.storage"] = storage
    if storage_class:
        usage[f"{storage_class}{_STORAGE_CLASS}requests.storage"] = storage
    return usage


def storage_class_of(claim: PersistentVolumeClaim) -> str:
    """Return the storage class of a claim: the annotation of old wins over the field; empty without either. Source:
    GetPersistentVolumeClaimClass.
    """
    annotations = claim.metadata.annotations or {}
    return annotations.get(BETA_STORAGE_CLASS, claim.spec.storage_class_name or "")


def _round_up(quantity: Quantity) -> Quantity:
    return quantity if quantity.nano % 10**9 == 0 else quantity_of(quantity.value(), quantity.format)


def service_names(hard: Iterable[str]) -> list[str]:
    own_names = {"count/services", "services", "services.nodeports", "services.loadbalancers"}
    return [name for name in hard if name in own_names]


def service_usage(service: Service) -> Quantities:
    """Source: evaluator/core/services.go Usage. Node ports are counted by intent: none is allocated yet."""
    spec = service.spec
    ports = spec.ports or ()
    node_ports = 0
    if spec.type == "NodePort":
        node_ports = len(ports)
    elif spec.type == "LoadBalancer":
        asked = sum(1 for port in ports if port.node_port)
        node_ports = asked if spec.allocate_load_balancer_node_ports is False else len(ports)
    return {
        "count/services": _ONE,
        "services": _ONE,
        "services.loadbalancers": quantity_of(1 if spec.type == "LoadBalancer" else 0),
        "services.nodeports": quantity_of(node_ports),
    }


def object_usage(resource: str) -> Quantities:
    """Any other kind counts as one of ``count/<resource>[.<group>]`` and of the old alias, if it has one."""
    usage: dict[str, Quantity] = {f"count/{resource}": _ONE}
    if resource in ALIASES:
        usage[resource] = _ONE
    return usage


def requirements(spec: ResourceQuotaSpec) -> tuple[ScopedRequirement, ...]:
    """``scopes`` as Exists expressions, then the selector's; all must match. Source: getScopeSelectorsFromQuota."""
    named = tuple(ScopedRequirement(scope, "Exists") for scope in spec.scopes or ())
    selector = spec.scope_selector
    return (*named, *(selector.match_expressions or ())) if selector else named


def matches_pod(requirement: ScopedRequirement, spec: PodSpec, priority_class: str, qos_class: str) -> bool:
    """Return whether a pod is in the scope. ``qos_class``: the stored class if there is one, else the computed one.

    ``priority_class``: the pod's, or the global default that it was given; empty without one.

    Source: quota/v1/evaluator/core/pods.go podMatchesScopeFunc.
    """
    terminating = spec.active_deadline_seconds is not None and spec.active_deadline_seconds >= 0
    match requirement.scope_name:
        case "Terminating":
            return terminating
        case "NotTerminating":
            return not terminating
        case "BestEffort":
            return qos_class == "BestEffort"
        case "NotBestEffort":
            return qos_class != "BestEffort"
        case "PriorityClass":
            return _matches_requirement(requirement, (priority_class,) if priority_class else ())
        case "CrossNamespacePodAffinity":
            return _crosses_namespaces(spec.affinity)
        case _:
            return False


def matches_claim(requirement: ScopedRequirement, claim: PersistentVolumeClaim) -> bool:
    """Return whether a claim is in the scope: by any attributes class in spec or status. Source:
    pvcMatchesScopeFunc.
    """
    if requirement.scope_name != "VolumeAttributesClass":
        return False
    target = claim.status.modify_volume_status
    names = (
        claim.spec.volume_attributes_class_name,
        claim.status.current_volume_attributes_class_name,
        target.target_volume_attributes_class_name if target else None,
    )
    return _matches_requirement(requirement, tuple(name for name in names if name))


def _matches_requirement(requirement: ScopedRequirement, names: Sequence[str]) -> bool:
    """Label-selector semantics: NotIn and DoesNotExist also match an object without any name."""
    values = requirement.values or ()
    match requirement.operator:
        case "Exists":
            return bool(names)
        case "DoesNotExist":
            return not names
        case "In":
            return any(name in values for name in names)
        case "NotIn":
            return not names or any(name not in values for name in names)
        case _:
            return False


def _crosses_namespaces(affinity: Affinity | None) -> bool:
    if affinity is None:
        return False
    return any(_any_crosses(group) for group in (affinity.pod_affinity, affinity.pod_anti_affinity))


def _any_crosses(group: PodAffinity | None) -> bool:
    """Return whether a term crosses namespaces: it names some, or has a namespaceSelector, even an empty one."""
    if group is None:
        return False
    preferred = group.preferred_during_scheduling_ignored_during_execution or ()
    terms = (
        *(group.required_during_scheduling_ignored_during_execution or ()),
        *(weighted.pod_affinity_term for weighted in preferred),
    )
    return any(term is not None and (term.namespaces or term.namespace_selector is not None) for term in terms)


#: How the name of a quota ends that counts the devices of a class.
DEVICES = ".deviceclass.resource.k8s.io/devices"
_COUNT = "count/resourceclaims.resource.k8s.io"
#: What a request for all devices of a class is charged: the most that one claim can be given.
MOST_DEVICES = 32


def device_names(hard: Iterable[str], server: Server, extended: Mapping[str, str]) -> list[str]:
    """The names that ResourceClaims count for.

    ``extended``: device class to the extended resource that it stands for; classes without one are not in it.
    Source: evaluator/core/resource_claims.go MatchingResources.
    """
    texts = [name for name in hard if name == _COUNT or name.endswith(DEVICES)]
    if server.is_enabled("DRAExtendedResource"):
        implicit = {f"requests.{DEVICE_CLASS}{device_class}" for device_class in extended}
        texts += [name for name in hard if name in implicit | {f"requests.{name}" for name in extended.values()}]
    return texts


def may_count_devices(hard: Iterable[str]) -> bool:
    """Return whether claims on devices may count for a name, whatever device classes stand for."""
    for name in hard:
        if name == _COUNT or name.endswith(DEVICES):
            return True
        resource = name.removeprefix("requests.")
        if resource != name and (resource.startswith(DEVICE_CLASS) or is_extended(resource)):
            return True
    return False


def device_usage(
    claim: ResourceClaim, server: Server, extended: Mapping[str, str], charged: Mapping[str, Quantity] | None = None
) -> Quantities:
    """Devices by class, once more under the extended resources that stand for them.

    ``charged``: usage of the pod that the claim was made for, whose extended resources are not charged twice.
    Source: claimEvaluator.Usage, addExtendedResourceQuota.
    """
    usage: Quantities = {_COUNT: quantity_of(1)}
    devices: Quantities = {}
    for request in claim.spec.devices.requests or ():
        add_into(devices, _devices_of_request(request))
    usage.update({f"{name}{DEVICES}": quantity for name, quantity in devices.items()})
    if not server.is_enabled("DRAExtendedResource"):
        return usage
    for name, quantity in devices.items():
        aliases = (f"requests.{DEVICE_CLASS}{name}", *([f"requests.{extended[name]}"] if name in extended else ()))
        for alias in aliases if name else ():
            more = quantity - charged[alias] if charged and alias in charged else quantity
            if more.nano > 0:
                usage[alias] = more
    return usage


def _devices_of_request(request: ClaimRequest) -> Quantities:
    """Devices of one request by class; of alternatives the worst case of each class."""
    if not request.first_available:
        device_request = request.exactly or request
        return (
            {device_request.device_class_name: quantity_of(_devices(device_request))}
            if request.exactly or device_request.device_class_name
            else {}
        )
    worst: dict[str, int] = {}
    for device_request in request.first_available:
        worst[device_request.device_class_name] = max(
            worst.get(device_request.device_class_name, 0), _devices(device_request)
        )
    return {name: quantity_of(count) for name, count in worst.items() if count}


def _devices(request: DeviceRequest) -> int:
    if request.allocation_mode == "All":
        return MOST_DEVICES
    return (request.count or 1) if request.allocation_mode in {"", "ExactCount"} else 0
