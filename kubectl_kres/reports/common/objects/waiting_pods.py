"""Pods that exist and never start, since a claim that is made for them is not there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kubectl_kres.admission.quota.devices import may_count_devices
from kubectl_kres.admission.quota.usage import claim_names
from kubectl_kres.admission.request.pod_objects import Creation, ephemeral_volumes, template_names
from kubectl_kres.model.pod import Pod, PodSpec
from kubectl_kres.model.workload import Workload
from kubectl_kres.reports.common.owned import owned_by
from kubectl_kres.reports.common.pod_template import template_of
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store

_CLAIM, _DEVICES = "PersistentVolumeClaim", "ResourceClaim"


def may_wait(spec: PodSpec) -> bool:
    """Whether objects are made for such pods, without which they do not start."""
    return any(True for _ in ephemeral_volumes(spec)) or any(True for _ in template_names(spec))


def bounded_kinds(store: Store, space: str) -> frozenset[str]:
    """The kinds of objects made for pods that a policy of the namespace looks at; all others come by themselves."""
    hard = {name for quota in store.all("ResourceQuota", space) for name in quota.spec.hard or ()}
    ranges = (item for entry in store.all("LimitRange", space) for item in entry.spec.limits or ())
    kinds = [_DEVICES] if may_count_devices(hard) else []
    if claim_names(hard) or any(item.type == _CLAIM for item in ranges):
        kinds.append(_CLAIM)
    return frozenset(kinds)


def waits_for_objects(store: Store, pod: Pod) -> bool:
    """Whether a pod that has no node yet lacks a claim that a policy looks at, as far as claims were read."""
    if pod.spec.node_name or pod.status.phase not in {"", "Pending"} or pod.metadata.deletion_timestamp:
        return False
    return any(True for _ in absent_names(store, pod))


def absent_names(store: Store, pod: Pod) -> Iterator[tuple[str, str]]:
    """Kind and name of the claims that are not there: as named here, where the server adds to the name."""
    if not may_wait(pod.spec):
        return
    name, space = pod.metadata.name, pod.metadata.namespace
    kinds = bounded_kinds(store, space)
    for volume in ephemeral_volumes(pod.spec) if _CLAIM in kinds else ():
        claim = f"{name}-{volume.name}"
        if store.get(_CLAIM, claim, space) is None and store.covered(Need(_CLAIM, space, claim)).known:
            yield _CLAIM, claim
    made = {status.name for status in pod.status.resource_claim_statuses or ()}
    for claim, _ in template_names(pod.spec) if _DEVICES in kinds else ():
        if claim not in made:
            yield _DEVICES, f"{name}-{claim}"


def absent_objects(store: Store, pod: Pod, creations: Iterable[Creation]) -> Iterator[Creation]:
    """Those of the objects made for a pod that are not there."""
    if not waits_for_objects(store, pod):
        return
    absent = set(absent_names(store, pod))
    yield from (creation for creation in creations if (creation.kind, creation.name) in absent)


def waiting_pods(store: Store, kind: str, workload: Workload) -> Sequence[Pod]:
    """The pods of a workload that lack a claim; those that were not read are not among them."""
    template = template_of(workload)[1]
    if template is None or not may_wait(template.spec):
        return ()
    space, name = workload.metadata.namespace, workload.metadata.name
    owners = [(kind, name)]
    for child in ("ReplicaSet", "Job"):
        owners += [(child, item.metadata.name) for item in owned_by(store, child, space, (kind, name))]
    pods = [pod for owner in owners for pod in owned_by(store, "Pod", space, owner)]
    return [pod for pod in pods if waits_for_objects(store, pod)]
