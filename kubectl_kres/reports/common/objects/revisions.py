"""The ReplicaSets and ControllerRevisions of templates: which may go, and whether a file makes another one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import structs

from kubectl_kres.model.workload import Workload
from kubectl_kres.reports.common.owned import owned_by, selector_text
from kubectl_kres.reports.common.replicas import same_template
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store

#: What is made for each template of a workload: its kind, and the resource that quotas count.
REVISIONS = {
    "Deployment": ("ReplicaSet", "replicasets.apps"),
    "StatefulSet": ("ControllerRevision", "controllerrevisions.apps"),
    "DaemonSet": ("ControllerRevision", "controllerrevisions.apps"),
}


def revision_need(kind: str, workload: Workload) -> Need:
    """The read that tells which there are."""
    selector = selector_text(workload.spec.selector)
    return Need(REVISIONS[kind][0], workload.metadata.namespace, label_selector=selector, required=False)


def unused(store: Store, kind: str, workload: Workload) -> Sequence[str]:
    """The names of its ReplicaSets, or ControllerRevisions, that no pod is of and that may go, the oldest first."""
    if kind not in REVISIONS:
        return ()
    space, name = workload.metadata.namespace, workload.metadata.name
    items: Iterable[Any] = owned_by(store, REVISIONS[kind][0], space, (kind, name))
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
        known = store.covered(Need("Pod", space, label_selector=revision_need(kind, workload).label_selector)).known
        spare = [item for item in items if known and item.metadata.name not in used]
        spare = [item for item in spare if not same_template(workload.spec.template, item.data.spec.template)]
    spare.sort(key=lambda item: (item.metadata.creation_timestamp or "", item.metadata.name))
    return [item.metadata.name for item in spare]


def changed_template(stored: Workload, written: Workload) -> bool:
    """Whether the template of a file makes another revision of a stored workload, for all that was read of it.

    What the server fills in, and what others added, plays no part.
    """
    before, after = stored.spec.template, written.spec.template
    if before is None or after is None:
        return before is not after
    labels = [template.metadata.labels or {} for template in (before, after)]
    notes = [template.metadata.annotations or {} for template in (before, after)]
    differ = any(old.get(key) != value for old, new in (labels, notes) for key, value in new.items())
    return differ or _differs(structs.asdict(before.spec), structs.asdict(after.spec))


def _differs(before: Any, after: Any) -> bool:
    """Whether what is written is not what is stored; what is not written is as the server has it."""
    if isinstance(after, (tuple, list)):
        if not after:
            return bool(before)
        return len(before or ()) != len(after) or any(_differs(*pair) for pair in zip(before, after, strict=True))
    if hasattr(after, "__struct_fields__"):
        after = structs.asdict(after)
        before = structs.asdict(before) if hasattr(before, "__struct_fields__") else {}
    if isinstance(after, dict):
        own = before if isinstance(before, dict) else {}
        return any(_differs(own.get(key), value) for key, value in after.items() if value not in (None, "", (), [], {}))
    return after not in (None, "") and _amount(before) != _amount(after)


def _amount(value: Any) -> Any:
    from kubectl_kres.errors import QuantityError
    from kubectl_kres.quantity import parse

    try:
        return parse(str(value)).nano
    except QuantityError:
        return value
