"""What Kueue registers with the reports of changes: who is admitted, or waits, after a change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kubectl_kres.kueue import model
from kubectl_kres.kueue.reports.record import QueueStanding
from kubectl_kres.kueue.rules.world import QueueWorld, holds_quota, is_pending, reserved
from kubectl_kres.kueue.simulation import KEPT
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.changes.given_steps import GivenStep
from kubectl_kres.reports.changes.report import ClaimChange, Effect
from kubectl_kres.reports.changes.system import Altered, ChangeSystem, KeptObjects
from kubectl_kres.simulate.change import Apply, Step, key_of_step
from kubectl_kres.store.store import ReadRequest, Store


def _claims(before: QueueWorld, after: QueueWorld) -> Iterator[ClaimChange]:
    for key in sorted({*before.workloads, *after.workloads}):
        previous, now = _standing(before, key), _standing(after, key)
        if previous == now:
            continue
        effect: Effect = "other"
        if now is not None and not now.waits_for:
            effect = "better"
        elif previous is None or not previous.waits_for:
            effect = "worse"
        yield ClaimChange(ObjectRef(model.WORKLOAD, key[1], key[0]), effect, before=previous or "", after=now or "")


def _standing(world: QueueWorld, key: tuple[str, str]) -> QueueStanding | None:
    """Return how a Workload stands; None: there is none, or it has finished."""
    workload = world.workloads.get(key)
    if workload is None:
        return None
    if holds_quota(workload):
        return QueueStanding(tuple(dict.fromkeys(flavor for flavor, _ in reserved(workload))))
    return QueueStanding(waits_for=world.answer(workload).cause) if is_pending(workload) else None


def _altered(before: QueueWorld, after: QueueWorld) -> Altered:
    named = ((model.CLUSTER_QUEUE, before.queues, after.queues), (model.FLAVOR, before.flavors, after.flavors))
    put: list[tuple[str, Any]] = [
        (kind, item)
        for kind, old, new in named
        for key, item in (new or {}).items()
        if (old or {}).get(key) is not item
    ]
    local = ((key, item) for key, item in after.local_queues.items() if before.local_queues.get(key) is not item)
    return Altered((*put, *((model.LOCAL_QUEUE, item) for _, item in local)))


def _remarks(steps: Sequence[GivenStep], store: Store, default: str) -> Iterator[str]:
    del store, default
    if any(key_of_step(item.step)[0] in KEPT for item in steps):
        yield "Kueue: who is preempted, and who ends meanwhile, is not simulated"


def _reads(store: Store, spaces: Sequence[str], steps: Sequence[tuple[Step, str]]) -> Iterator[ReadRequest]:
    """Only where a step is about a queue, or about something that names one."""
    del spaces
    if not any(_is_queued(step) for step, _ in steps):
        return
    yield ReadRequest(model.WORKLOAD, required=False)
    if store.covered(ReadRequest(model.WORKLOAD)).state == "absent":
        return
    for kind in (model.LOCAL_QUEUE, model.CLUSTER_QUEUE, model.FLAVOR, model.COHORT, model.CHECK):
        yield ReadRequest(kind, required=False)
    waiting = {each.metadata.namespace for each in store.all(model.WORKLOAD) if is_pending(each)}
    for namespace in sorted(waiting):
        yield ReadRequest("Namespace", name=namespace, required=False)
        yield from (ReadRequest(kind, namespace, required=False) for kind in ("LimitRange", "ResourceQuota", "Job"))


def _is_queued(step: Step) -> bool:
    if key_of_step(step)[0] in KEPT:
        return True
    labels = (step.object.get("metadata") or {}).get("labels") if isinstance(step, Apply) else None
    return isinstance(labels, dict) and model.QUEUE_LABEL in labels


SYSTEM = ChangeSystem(
    "kueue",
    applied_before=dict.fromkeys(KEPT, "ResourceQuota"),
    remarks=_remarks,
    reads=_reads,
    kept=KeptObjects(_claims, _altered),
)
