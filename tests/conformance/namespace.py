"""A namespace that recorded objects are created in, one after the other, with what its quotas then hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from conformance.controller import counts_again, wakes
from conformance.merge import merged

from kubectl_kres.admission.base.draft import parse_list
from kubectl_kres.admission.base.outcome import Outcome, QuotaCharge
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.quota.quota_admission import request_of, resource_of
from kubectl_kres.admission.quota.usage_drift import status_after
from kubectl_kres.admission.request.create import create
from kubectl_kres.admission.request.new_pod import policies_of
from kubectl_kres.admission.request.update import update
from kubectl_kres.admission.resize import resize
from kubectl_kres.model.objects import LimitRange, Metadata, PriorityClass, ResourceQuota, RuntimeClass
from kubectl_kres.model.pod import Node, Pod
from kubectl_kres.model.quota_objects import PersistentVolumeClaim, ResourceClaim, Service

Raw = Mapping[str, Any]

POLICIES = {
    "LimitRange": LimitRange,
    "ResourceQuota": ResourceQuota,
    "PriorityClass": PriorityClass,
    "RuntimeClass": RuntimeClass,
}
STRUCTS = {
    **POLICIES,
    "Pod": Pod,
    "PersistentVolumeClaim": PersistentVolumeClaim,
    "ResourceClaim": ResourceClaim,
    "Service": Service,
}

#: After whatever was recorded.
NOW = datetime(2100, 1, 1, tzinfo=UTC)

#: Kinds without a namespace: no quota counts them.
CLASSES = {"StorageClass", "VolumeAttributesClass", "DeviceClass", "Node"}

#: What the controllers put into every new namespace.
ACCOUNT = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}

#: What the recorded server serves and counts, besides the kinds that the objects are of.
SERVED = (
    "pods", "persistentvolumeclaims", "services", "resourceclaims.resource.k8s.io", "configmaps", "secrets",
    "replicationcontrollers", "resourcequotas", "limitranges", "serviceaccounts", "endpoints", "podtemplates",
    "deployments.apps", "replicasets.apps", "statefulsets.apps", "daemonsets.apps", "controllerrevisions.apps",
    "jobs.batch", "cronjobs.batch", "leases.coordination.k8s.io", "horizontalpodautoscalers.autoscaling",
    "ingresses.networking.k8s.io", "networkpolicies.networking.k8s.io", "poddisruptionbudgets.policy",
    "roles.rbac.authorization.k8s.io", "rolebindings.rbac.authorization.k8s.io",
    "csistoragecapacities.storage.k8s.io", "endpointslices.discovery.k8s.io",
    "resourceclaimtemplates.resource.k8s.io",
)  # fmt: skip


class Counted(msgspec.Struct, rename="camel"):
    """An object that only counts as one."""

    kind: str
    api_version: str
    metadata: Metadata


def recounted(given: Sequence[Raw]) -> bool:
    """Whether the controller counted what was there already: objects before a quota, or a status written later."""
    kinds = [item["kind"] for item in given]
    counted = [kind not in POLICIES and kind not in CLASSES for kind in kinds]
    return any("status" in item for item in given) or any(
        kind == "ResourceQuota" and any(counted[:place]) for place, kind in enumerate(kinds)
    )


class Namespace:
    """Objects as stored, quotas with the status that the controller would have written."""

    def __init__(self, server: Server, more: Sequence[str] = ()) -> None:
        self.server = server
        #: Resources that are served besides SERVED.
        self.more = more
        #: Never changed in place: copies of a namespace share them.
        self.objects: dict[tuple[str, str], Raw] = {}
        #: How the server shows each object.
        self._shown: dict[tuple[str, str], Raw] = {}
        self._store(ACCOUNT)

    def __copy__(self) -> Namespace:
        twin = Namespace(self.server, self.more)
        twin.objects, twin._shown = dict(self.objects), dict(self._shown)
        return twin

    def fill(self, given: Sequence[Raw], quotas: Mapping[str, Raw]) -> None:
        """Objects that stand there, with the status of each quota as recorded."""
        for item in given:
            self._store(item)
            if item["kind"] == "ResourceQuota":
                self._set_status(_key(item), quotas[item["metadata"]["name"]])

    def replay(self, given: Sequence[Raw]) -> None:
        """Create one object after the other; the controller settles each time."""
        for item in given:
            if item["kind"] in CLASSES:
                self._store(item)
                continue
            outcomes = self.answers("CREATE", item)
            outcome = next((one for one in outcomes if one.allowed), None)
            assert outcome, f"given, so it was created: {item['kind']}: {outcomes[0].message}"
            self.settle("CREATE", item, outcome)
            if "status" in item:
                self.settle("STATUS", item, self.answers("STATUS", item)[0])

    def answers(self, operation: str, item: Raw) -> tuple[Outcome, ...]:
        """Every answer to a request about an object now."""
        policies = self._policies()
        if operation == "CREATE":
            return create(item, policies, self.server)
        old = self.objects[_key(item)]
        if operation in {"DELETE", "STATUS"}:
            return (Outcome(True, 200, object=self._shown[_key(item)]),)
        new = merged(old, item)
        if operation == "UPDATE":
            return update(old, new, policies, self.server)
        pods = (msgspec.convert(raw, Pod) for raw in (old, new))
        node = self.objects.get(("Node", old["spec"].get("nodeName", "")), {})
        return resize(*pods, policies, self.server, node=msgspec.convert(node, Node))

    def quotas(self) -> dict[str, Raw]:
        """``hard`` and ``used`` by name."""
        return {name: held.get("status", {}) for (kind, name), held in self.objects.items() if kind == "ResourceQuota"}

    def settle(self, operation: str, item: Raw, outcome: Outcome) -> None:
        """Store what a request led to, and let the controller count where the change makes it."""
        self._charge(outcome.charges)
        key = _key(item)
        before = self._struct(key) if key in self.objects else None
        if operation == "DELETE":
            if not _held(self.objects[key]):
                del self.objects[key]
            elif key[0] == "Pod" and not self.objects[key]["spec"].get("nodeName"):
                # It has no time to end, so that nothing but its finalizers keeps it.
                ended = {"deletionTimestamp": "1970-01-01T00:00:00Z", "deletionGracePeriodSeconds": 0}
                self.objects[key] = merged(self.objects[key], {"metadata": ended})
        elif operation == "STATUS":
            self._set_status(key, merged(self.objects[key].get("status", {}), item.get("status", {})))
        else:
            new = item if operation == "CREATE" else merged(self.objects[key], item)
            kept = {name: part for name, part in self.objects.get(key, {}).items() if name == "status"}
            self._store({name: part for name, part in new.items() if name != "status"} | kept, outcome.object)
        after = self._struct(key) if key in self.objects else None
        if before is not None and counts_again(before, after, self.server, NOW):
            self._count(resource_of(key[0], str(item.get("apiVersion", "v1"))))
        if isinstance(after, ResourceQuota) and (before is None or _hard(before) != _hard(after)):
            self._sync(key)

    def _store(self, item: Raw, shown: Raw | None = None) -> None:
        """Keep an object with what the server made of it; a status in what is sent is dropped at creation."""
        key = _key(item)
        # What is shown of a service is a summary.
        self.objects[key] = item if shown is None or key[0] == "Service" else merged(item, shown)
        if key[0] == "Pod" and shown is not None and "resources" not in shown["spec"]:
            self.objects[key]["spec"].pop("resources", None)
        self._shown[key] = shown or {"metadata": {"name": key[1]}}

    def _policies(self) -> Any:
        held = [[self._struct(key) for key in self.objects if key[0] == kind] for kind in POLICIES]
        classes = {kind: {} for kind in CLASSES}
        for (kind, name), raw in self.objects.items():
            if kind in CLASSES:
                classes[kind][name] = raw
        devices = {name: raw.get("spec", {}) for name, raw in classes["DeviceClass"].items()}
        return msgspec.structs.replace(
            policies_of(*held),
            extended={
                name: spec["extendedResourceName"] for name, spec in devices.items() if "extendedResourceName" in spec
            },
            expandable={name: bool(raw.get("allowVolumeExpansion")) for name, raw in classes["StorageClass"].items()},
        )

    def _struct(self, key: tuple[str, str]) -> Any:
        return msgspec.convert(self.objects[key], STRUCTS.get(key[0], Counted))

    def _charge(self, charges: Sequence[QuotaCharge]) -> None:
        for charge in charges:
            key = ("ResourceQuota", charge.quota)
            status = self.objects[key].get("status", {})
            self._set_status(key, {**status, "used": {**status.get("used", {}), **charge.after}})

    def _count(self, resource: str) -> None:
        for key in [key for key in self.objects if key[0] == "ResourceQuota"]:
            if wakes(self._struct(key), resource, self.server):
                self._sync(key)

    def _sync(self, key: tuple[str, str]) -> None:
        requests: dict[str, list[Any]] = {resource: [] for resource in (*SERVED, *self.more)}
        for other in self.objects:
            if other[0] not in CLASSES and other[0] not in {"PriorityClass", "RuntimeClass"}:
                request = request_of(self._struct(other), self.server, now=NOW)
                requests.setdefault(request.resource, []).append(request)
        status = status_after(self._struct(key), requests, self.server)
        self._set_status(key, {"hard": dict(status.hard or {}), "used": dict(status.used or {})})

    def _set_status(self, key: tuple[str, str], status: Raw) -> None:
        self.objects[key] = {**self.objects[key], "status": status}


def _held(raw: Raw) -> bool:
    """Whether a deleted object stays: a claim is protected, a pod on a node has time to end, and nothing ends them."""
    ended = raw.get("status", {}).get("phase") in {"Succeeded", "Failed"}
    running = raw["kind"] == "Pod" and bool(raw["spec"].get("nodeName")) and not ended
    return running or raw["kind"] == "PersistentVolumeClaim" or bool(raw["metadata"].get("finalizers"))


def _hard(quota: ResourceQuota) -> Any:
    return parse_list(quota.spec.hard, "spec.hard")


def _key(item: Raw) -> tuple[str, str]:
    metadata = item.get("metadata", {})
    return item["kind"], metadata.get("name") or metadata.get("generateName", "")
