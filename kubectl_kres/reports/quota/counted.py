"""The objects that quotas count: which kinds, what each object counts for, and who it belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.quota.devices import DEVICES, may_count_devices
from kubectl_kres.admission.quota.quota_admission import QuotaRequest
from kubectl_kres.admission.quota.requests import RESOURCE_CLAIMS, PodRequests, names_of, request_of
from kubectl_kres.admission.quota.usage import IGNORED
from kubectl_kres.model.kinds import KINDS, Kind
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.policy import ResourceQuota
from kubectl_kres.reports.common.effective_policies import extended_of
from kubectl_kres.reports.common.owned import controller
from kubectl_kres.reports.common.subject import Ask
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store

#: Names of quotas that count objects of kinds which are not read here: a prefix, or the old names.
_COUNT = "count/"
_OLD_NAMES = frozenset({"configmaps", "secrets", "resourceclaims"})

_HASH = "pod-template-hash"

#: Kinds that make pods and are made themselves, as a rule.
_MADE = ("ReplicaSet", "Job")


class Counted(NamedTuple):
    """An object with what it counts for."""

    item: Any
    request: QuotaRequest


#: Resource (plural with its group) to its objects in one namespace; None: they could not be read.
CountedObjects = Mapping[str, Sequence[Counted] | None]


def counting_kinds(quotas: Iterable[ResourceQuota], server: Server) -> tuple[Kind, ...]:
    """The kinds whose objects count for a name of the quotas, as far as they are kinds that are read at all.

    Claims on devices are among them where a device class may stand for a name.
    """
    hard = {name: None for quota in quotas for name in (*(quota.spec.hard or ()), *(quota.status.hard or ()))}
    devices = server.on("DynamicResourceAllocation") and may_count_devices(hard)
    return tuple(
        kind
        for kind in KINDS
        if kind.listed
        and kind.qualified not in IGNORED
        and ((devices and kind.qualified == RESOURCE_CLAIMS) or names_of(kind.qualified, server)(hard))
    )


def counting_needs(quotas: Iterable[ResourceQuota], server: Server, namespace: str) -> tuple[Need, ...]:
    """The reads that a recount of quotas in one namespace (empty: in all namespaces) depends on."""
    kinds = counting_kinds(quotas, server)
    classes = [Need("DeviceClass")] if any(kind.qualified == RESOURCE_CLAIMS for kind in kinds) else []
    return (*(Need(kind.kind, namespace) for kind in kinds), *classes)


def objects_of(store: Store, quotas: Iterable[ResourceQuota], namespace: str, ask: Ask) -> CountedObjects:
    """What counts for quotas of one namespace. Raises Unparsable for an object that no server would have stored."""
    now = datetime.fromisoformat(ask.now) if ask.now else None
    pods = PodRequests(ask.server, now)
    of_other = partial(request_of, server=ask.server, now=now, extended=extended_of(store))
    return {
        kind.qualified: tuple(
            Counted(item, pods.of(item) if isinstance(item, Pod) else of_other(item))
            for item in store.all(kind.kind, namespace)
        )
        if store.covered(Need(kind.kind, namespace)).known
        and (kind.qualified != RESOURCE_CLAIMS or store.covered(Need("DeviceClass")).known)
        else None
        for kind in counting_kinds(quotas, ask.server)
    }


def unreadable(
    quota: ResourceQuota, objects: CountedObjects, server: Server, extended: Mapping[str, str]
) -> dict[str, str]:
    """The names of a quota whose objects are not known, with the kind that is missing."""
    hard = tuple(quota.spec.hard or ())
    counted = {name for resource in objects for name in names_of(resource, server, extended)(hard)}
    missing = {name: resource for resource, pairs in objects.items() if pairs is None
               for name in names_of(resource, server, extended)(hard)}  # fmt: skip
    if RESOURCE_CLAIMS in objects and objects[RESOURCE_CLAIMS] is None:
        # For which names devices count is not known either.
        missing.update({name: RESOURCE_CLAIMS for name in hard if may_count_devices([name])})
    for name in hard:
        if name.removeprefix(_COUNT) in IGNORED:
            continue
        if name not in counted and (name.startswith(_COUNT) or name in _OLD_NAMES or name.endswith(DEVICES)):
            missing[name] = name.removeprefix(_COUNT)
    return missing


def owner_needs(store: Store, namespace: str) -> tuple[Need, ...]:
    """The reads that say who made the owners of the pods in the store; an answer without them names the owners."""
    owning = {controller(pod)[0] for pod in store.all("Pod", namespace or None)}
    return tuple(Need(kind, namespace, required=False) for kind in _MADE if kind in owning)


def workload_of(pod: Pod, store: Store | None = None) -> str:
    """``Deployment/web``: what made the pod, or what made the ReplicaSet or Job that did, where ``store`` holds it.

    Else a ReplicaSet with its pods' hash in its name is a Deployment's. A pod without a controller is its own workload.
    """
    kind, name = controller(pod)
    owner = store.get(kind, name, pod.metadata.namespace) if store is not None and kind in _MADE else None
    if owner is not None:
        above, title = controller(owner)
        return f"{above}/{title}" if above else f"{kind}/{name}"
    suffix = f"-{(pod.metadata.labels or {}).get(_HASH, '')}"
    if kind == "ReplicaSet" and len(suffix) > 1 and name.endswith(suffix):
        return f"Deployment/{name.removesuffix(suffix)}"
    return f"{kind}/{name}" if kind else f"Pod/{pod.metadata.name}"


def owner_of(item: Any, by: str, store: Store) -> str:
    """Whom an object's use is put down to, by ``workload``, ``pod`` or ``priority``."""
    if not isinstance(item, Pod):
        return f"{item.kind}/{item.metadata.name}"
    if by == "priority":
        name = item.spec.priority_class_name
        return f"PriorityClass/{name}" if name else "no priority class"
    return workload_of(item, store) if by == "workload" else f"Pod/{item.metadata.name}"


def every(objects: CountedObjects) -> Iterator[Counted]:
    """The objects that are known, kind by kind."""
    for pairs in objects.values():
        yield from pairs or ()
