"""Why a PersistentVolumeClaim that was admitted is not bound to a volume."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.quota_objects import PersistentVolumeClaim
from kubectl_kres.model.workload import Event
from kubectl_kres.reports.common.effective_policies import default_storage_class
from kubectl_kres.reports.common.explanation import RunState
from kubectl_kres.reports.common.owners import events_about, events_read
from kubectl_kres.reports.pod.events import last_time
from kubectl_kres.reports.run_state.details import UnboundClaim
from kubectl_kres.reports.run_state.next_steps import BindClaim
from kubectl_kres.store.store import ReadRequest, Store

_CLASSES = ReadRequest("StorageClass", required=False)
#: The controller waits for a pod that uses the claim, which nobody has to mend.
_FOR_POD = frozenset({"WaitForFirstConsumer", "WaitForPodScheduled"})


def binding_needs(store: Store, ref: ObjectRef) -> Iterator[ReadRequest]:
    """Yield what tells why a stored claim is not bound; nothing for any other object."""
    if ref in store.files or not _is_pending(store.get(ref.kind, ref.name, ref.namespace)):
        return
    yield _CLASSES
    if store.origin.kind == "cluster":
        yield events_read(ref.namespace, (ref.kind, ref.name))


def binding_state(store: Store, claim: PersistentVolumeClaim) -> RunState | None:
    """Return that a stored claim waits for a volume, with the controller's last sentence; None for one that is bound.

    Source: controller/volume/persistentvolume pv_controller.go syncUnboundClaim.
    """
    if not _is_pending(claim):
        return None
    last = max(_events(store, claim), key=last_time, default=None)
    since = claim.metadata.creation_timestamp or ""
    message = last.message if last is not None else ""
    if last is not None and last.reason in _FOR_POD:
        detail = UnboundClaim("no pod")
        return RunState("starting", "UnboundVolumeClaim", since, detail=detail, message=message)
    detail = _find_cause(store, claim)
    step = BindClaim(detail.cause, detail.storage_class)
    return RunState("waits", "UnboundVolumeClaim", since, detail=detail, message=message, next=step)


def _find_cause(store: Store, claim: PersistentVolumeClaim) -> UnboundClaim:
    """Return what its class has to do with it."""
    named = claim.spec.storage_class_name
    if store.covered(_CLASSES).is_known and named is None and not default_storage_class(store):
        return UnboundClaim("no default class")
    if store.covered(_CLASSES).is_known and named and store.get("StorageClass", named) is None:
        return UnboundClaim("no such class", named)
    return UnboundClaim("no volume")


def _events(store: Store, claim: PersistentVolumeClaim) -> Iterator[Event]:
    about = ("PersistentVolumeClaim", claim.metadata.name)
    return (event for event in events_about(store, claim.metadata.namespace, about) if event.message)


def _is_pending(item: object) -> bool:
    return isinstance(item, PersistentVolumeClaim) and item.status.phase == "Pending"
