"""What each kind of object asks of quotas: the ``Request`` that CREATE, UPDATE and the controller's recount share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import partial
from typing import Any

import msgspec
from msgspec import structs

from kubectl_kres.admission.base.draft import Draft, draft_pod, parse_list
from kubectl_kres.admission.base.resource_names import given_name
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.pod import qos
from kubectl_kres.admission.quota.quota_admission import QuotaRequest, stated_names
from kubectl_kres.admission.quota.scopes import matches_claim, matches_pod
from kubectl_kres.admission.quota.usage import (
    IGNORED,
    claim_names,
    claim_usage,
    is_terminal,
    object_usage,
    pod_names,
    service_names,
    service_usage,
    stored_pod_usage,
)
from kubectl_kres.model.kinds import BY_KIND, sent_as
from kubectl_kres.model.meta import Metadata
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.policy import ScopedRequirement
from kubectl_kres.model.quota_objects import PersistentVolumeClaim, ResourceClaim, Service

RESOURCE_CLAIMS = "resourceclaims.resource.k8s.io"
_ENCODER = msgspec.msgpack.Encoder()
Names = Callable[[Iterable[str]], list[str]]


def nowhere(_: ScopedRequirement) -> bool:
    """No scope takes kinds other than pods and claims."""
    return False


def resource_of(kind: str, api_version: str) -> str:
    """Plural and group of a kind; of one that is in no table by the rule that API types follow."""
    known = BY_KIND.get(kind)
    if known is not None:
        return known.qualified
    group = api_version.rpartition("/")[0]
    word = sent_as(kind).lower()
    plural = (
        f"{word}es"
        if word.endswith(("s", "x", "ch", "sh"))
        else f"{word[:-1]}ies"
        if word.endswith("y")
        else f"{word}s"
    )
    return f"{plural}.{group}" if group else plural


def names_of(resource: str, server: Server, extended: Mapping[str, str] | None = None) -> Names:
    """Picks the names of a quota that objects of a resource count for. ``extended``: see ``device_names``."""
    special: dict[str, Names] = {"pods": pod_names, "persistentvolumeclaims": claim_names, "services": service_names}
    if resource == RESOURCE_CLAIMS and server.on("DynamicResourceAllocation"):
        from kubectl_kres.admission.quota.devices import device_names

        return lambda hard: device_names(hard, server, extended or {})
    if resource in special:
        return special[resource]
    usage = {} if resource in IGNORED else object_usage(resource)
    return lambda hard: [name for name in hard if name in usage]


def count_request(resource: str, name: str) -> QuotaRequest:
    """Any object without an evaluator of its own counts as one."""
    usage = {} if resource in IGNORED else object_usage(resource)
    return QuotaRequest(resource, name, usage, lambda hard: [name for name in hard if name in usage], nowhere)


def claim_request(claim: PersistentVolumeClaim, server: Server) -> QuotaRequest:
    """Raises Unparsable."""
    resources = claim.spec.resources
    requests = parse_list(resources.requests, "spec.resources.requests") if resources else {}
    allocated = parse_list(claim.status.allocated_resources, "status.allocatedResources")
    usage = claim_usage(claim, requests, allocated, server)

    def in_scope(scope: ScopedRequirement) -> bool:
        return server.on("VolumeAttributesClass") and matches_claim(scope, claim)

    return QuotaRequest("persistentvolumeclaims", _name(claim.metadata), usage, claim_names, in_scope)


def service_request(service: Service) -> QuotaRequest:
    return QuotaRequest("services", _name(service.metadata), service_usage(service), service_names, nowhere)


def device_request(claim: ResourceClaim, server: Server, extended: Mapping[str, str] | None = None) -> QuotaRequest:
    """``extended``: device class to the extended resource that it stands for; None: not known, none does."""
    name = _name(claim.metadata)
    if not server.on("DynamicResourceAllocation"):
        return count_request(RESOURCE_CLAIMS, name)
    from kubectl_kres.admission.quota.devices import device_usage

    usage = device_usage(claim, server, extended or {})
    return QuotaRequest(RESOURCE_CLAIMS, name, usage, names_of(RESOURCE_CLAIMS, server, extended), nowhere)


def pod_request(pod: Pod, server: Server, *, draft: Draft | None = None, now: datetime | None = None) -> QuotaRequest:
    """A pod that exists, as the plugin and the controller see it: status included. Raises Unparsable.

    ``draft``: its quantities, where they were read already.
    """
    draft = draft or draft_pod(pod, server)
    qos_class = pod.status.qos_class or qos.class_of(draft)
    in_scope = partial(matches_pod, spec=pod.spec, priority_class=pod.spec.priority_class_name, qos_class=qos_class)
    usage = stored_pod_usage(pod, draft, now)
    return QuotaRequest("pods", _name(pod.metadata), usage, pod_names, in_scope, stated_names(draft))


class PodRequests:
    """The requests of many pods that exist: those that are alike, as pods of one template are, are summed up once."""

    def __init__(self, server: Server, now: datetime | None = None) -> None:
        self._server, self._now = server, now
        self._alike: dict[bytes, tuple[QuotaRequest, str]] = {}

    def of(self, pod: Pod) -> QuotaRequest:
        """As ``pod_request``."""
        spec, status = pod.spec, pod.status
        reported = [
            (container_status.name, container_status.resources, container_status.allocated_resources)
            for container_status in (*(status.container_statuses or ()), *(status.init_container_statuses or ()))
            if container_status.resources is not None or container_status.allocated_resources is not None
        ]
        result = (spec.containers, spec.init_containers, spec.resources, spec.overhead)
        conditions = [(condition.type, condition.reason) for condition in status.conditions or ()]
        told = (reported, conditions if reported else (), status.qos_class, is_terminal(pod, self._now))
        try:
            key = _ENCODER.encode((result, told))
        except UnicodeEncodeError:
            # A text that no JSON of a server holds.
            return pod_request(pod, self._server, now=self._now)
        quota_requests = self._alike.get(key)
        if quota_requests is None:
            draft = draft_pod(pod, self._server)
            alike = pod_request(pod, self._server, draft=draft, now=self._now)
            quota_requests = self._alike[key] = alike, status.qos_class or qos.class_of(draft)
        request, qos_class = quota_requests
        in_scope = partial(matches_pod, spec=spec, priority_class=spec.priority_class_name, qos_class=qos_class)
        return structs.replace(request, name=_name(pod.metadata), in_scope=in_scope)


def request_of(
    item: Any, server: Server, *, now: datetime | None = None, extended: Mapping[str, str] | None = None
) -> QuotaRequest:
    """The request of an object that exists, by its struct. Raises Unparsable."""
    if isinstance(item, Pod):
        return pod_request(item, server, now=now)
    if isinstance(item, PersistentVolumeClaim):
        return claim_request(item, server)
    if isinstance(item, Service):
        return service_request(item)
    if isinstance(item, ResourceClaim):
        return device_request(item, server, extended)
    return count_request(resource_of(item.kind, item.api_version), _name(item.metadata))


def _name(metadata: Metadata) -> str:
    return given_name(metadata.name, metadata.generate_name)
