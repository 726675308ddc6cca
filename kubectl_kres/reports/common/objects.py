"""The ReplicaSets and ControllerRevisions of templates, and the claims that are made for pods.

It says which revisions may be deleted, whether a file makes another one, and which pods wait for a claim.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import structs

from kubectl_kres.admission.quota.usage import claim_names, may_count_devices
from kubectl_kres.admission.request.pod_objects import Creation, ephemeral_volumes, template_names
from kubectl_kres.errors import QuantityError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.pod import Pod, PodSpec
from kubectl_kres.model.workload import Workload, same_template, selector_text, template_of
from kubectl_kres.model.workload_kinds import MADE_BY, REVISIONS
from kubectl_kres.quantity import parse
from kubectl_kres.reports.common.owners import owned_by
from kubectl_kres.store.store import ReadRequest, Store


def revision_need(kind: str, workload: Workload) -> ReadRequest:
    """Return the read of the workload's ReplicaSets or ControllerRevisions."""
    selector = selector_text(workload.spec.selector)
    return ReadRequest(REVISIONS[kind].kind, workload.metadata.namespace, label_selector=selector, required=False)


def unused_revisions(store: Store, kind: str, workload: Workload) -> Sequence[str]:
    """Return the names of its ReplicaSets, or ControllerRevisions, without pods that may be deleted, the oldest
    first.
    """
    if kind not in REVISIONS:
        return ()
    space, name = workload.metadata.namespace, workload.metadata.name
    items: Iterable[Any] = owned_by(store, REVISIONS[kind].kind, space, (kind, name))
    if kind == "Deployment":
        spare = [
            item
            for item in items
            if not (item.spec.replicas or item.status.replicas or item.metadata.deletion_timestamp)
            and not same_template(workload.spec.template, item.spec.template)
        ]
    else:
        used = {workload.status.current_revision, workload.status.update_revision}
        for pod in owned_by(store, "Pod", space, (kind, name)):
            hash_ = (pod.metadata.labels or {}).get("controller-revision-hash", "")
            used |= {hash_, f"{name}-{hash_}"}
        is_known = store.covered(
            ReadRequest("Pod", space, label_selector=revision_need(kind, workload).label_selector)
        ).is_known
        spare = [item for item in items if is_known and item.metadata.name not in used]
        spare = [item for item in spare if not same_template(workload.spec.template, item.data.spec.template)]
    spare.sort(key=lambda item: (item.metadata.creation_timestamp or "", item.metadata.name))
    return [item.metadata.name for item in spare]


def changed_template(stored: Workload, written: Workload) -> bool:
    """Return whether the template of a file makes another revision of a stored workload, for all that was read of it.

    What the server fills in, and what others added, plays no part.
    """
    before, after = stored.spec.template, written.spec.template
    if before is None or after is None:
        return before is not after
    labels = [template.metadata.labels or {} for template in (before, after)]
    notes = [template.metadata.annotations or {} for template in (before, after)]
    differ = any(old.get(key) != value for old, new in (labels, notes) for key, value in new.items())
    return differ or _is_different(structs.asdict(before.spec), structs.asdict(after.spec))


def _is_different(before: Any, after: Any) -> bool:
    """Return whether a written value differs from the stored one; what is not written is the server's."""
    if isinstance(after, (tuple, list)):
        if not after:
            return bool(before)
        return len(before or ()) != len(after) or any(_is_different(*pair) for pair in zip(before, after, strict=True))
    if hasattr(after, "__struct_fields__"):
        after = structs.asdict(after)
        before = structs.asdict(before) if hasattr(before, "__struct_fields__") else {}
    if isinstance(after, dict):
        previous = before if isinstance(before, dict) else {}
        return any(
            _is_different(previous.get(key), value)
            for key, value in after.items()
            if value not in (None, "", (), [], {})
        )
    return after not in (None, "") and _amount(before) != _amount(after)


def _amount(value: Any) -> Any:
    try:
        return parse(str(value)).nano
    except QuantityError:
        return value


POLICIES = ("ValidatingAdmissionPolicy", "MutatingAdmissionPolicy")
_CLAIM, _DEVICES = "PersistentVolumeClaim", "ResourceClaim"


def may_wait(spec: PodSpec) -> bool:
    """Return whether objects are made for such pods that they need to start."""
    return any(True for _ in ephemeral_volumes(spec)) or any(True for _ in template_names(spec))


def bounded_kinds(store: Store, space: str) -> frozenset[str]:
    """Return the kinds of objects made for pods that a policy of the namespace looks at; all others come by
    themselves.
    """
    hard = {name for quota in store.all("ResourceQuota", space) for name in quota.spec.hard or ()}
    ranges = (item for entry in store.all("LimitRange", space) for item in entry.spec.limits or ())
    kinds = [_DEVICES] if may_count_devices(hard) else []
    if claim_names(hard) or any(item.type == _CLAIM for item in ranges):
        kinds.append(_CLAIM)
    return frozenset((*kinds, *judged_kinds(store)))


def judged_kinds(store: Store) -> Iterator[str]:
    """Yield the same kinds as far as admission policies are about them."""
    for policy in (policy for kind in POLICIES for policy in store.all(kind)):
        rules = (policy.spec.get("matchConstraints") or {}).get("resourceRules") or ()
        about = {str(resource) for rule in rules for resource in rule.get("resources") or ()}
        yield from (kind for kind in (_CLAIM, _DEVICES) if about & {"*", BY_KIND[kind].plural})


def waits_for_objects(store: Store, pod: Pod) -> bool:
    """Return whether a pod that has no node yet lacks a claim that a policy looks at, as far as claims were read."""
    if pod.spec.node_name or pod.status.phase not in {"", "Pending"} or pod.metadata.deletion_timestamp:
        return False
    return any(True for _ in absent_names(store, pod))


def absent_names(store: Store, pod: Pod) -> Iterator[tuple[str, str]]:
    """Yield kind and name of the claims that do not exist; the name in the template where the server adds to it."""
    if not may_wait(pod.spec):
        return
    name, space = pod.metadata.name, pod.metadata.namespace
    kinds = bounded_kinds(store, space)
    for volume in ephemeral_volumes(pod.spec) if _CLAIM in kinds else ():
        claim = f"{name}-{volume.name}"
        if store.get(_CLAIM, claim, space) is None and store.covered(ReadRequest(_CLAIM, space, claim)).is_known:
            yield _CLAIM, claim
    generated_names = {status.name for status in pod.status.resource_claim_statuses or ()}
    for claim, _ in template_names(pod.spec) if _DEVICES in kinds else ():
        if claim not in generated_names:
            yield _DEVICES, f"{name}-{claim}"


def absent_objects(store: Store, pod: Pod, creations: Iterable[Creation]) -> Iterator[Creation]:
    """Yield the objects made for a pod that do not exist."""
    if not waits_for_objects(store, pod):
        return
    absent = set(absent_names(store, pod))
    yield from (creation for creation in creations if (creation.kind, creation.name) in absent)


def waiting_pods(store: Store, kind: str, workload: Workload) -> Sequence[Pod]:
    """Return the pods of a workload that lack a claim; those that were not read are not among them."""
    template = template_of(workload)[1]
    if template is None or not may_wait(template.spec):
        return ()
    space, name = workload.metadata.namespace, workload.metadata.name
    owners = [(kind, name)]
    for child in MADE_BY:
        owners += [(child, item.metadata.name) for item in owned_by(store, child, space, (kind, name))]
    pods = [pod for owner in owners for pod in owned_by(store, "Pod", space, owner)]
    return [pod for pod in pods if waits_for_objects(store, pod)]
