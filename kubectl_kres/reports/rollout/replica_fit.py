"""Whether all pods that a workload lacks fit its quotas, where the next one does."""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_kres.admission.base.outcome import QuotaCharge
from kubectl_kres.errors import UsageError
from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.reports.common.pod_template import manifest_workload
from kubectl_kres.reports.common.replicas import Replicas, replicas_of
from kubectl_kres.reports.common.subject import Subject
from kubectl_kres.reports.pod import preflight
from kubectl_kres.reports.rollout.room import room_for
from kubectl_kres.store.store import Store


def lacking(store: Store, subject: Subject, pods: Replicas | None) -> int:
    """How many pods are missing; of a file's workload that is new all that it wants. At least the next one."""
    if pods is not None:
        return max(1, pods.missing)
    workload = manifest_workload(subject)
    if workload is None or preflight.exists(store, subject):
        return 1
    try:
        found = replicas_of(subject.ref.kind, workload)
    except UsageError:
        return 1
    return max(1, found.missing) if found is not None else 1


def short_of(charges: Iterable[QuotaCharge], count: int) -> str:
    """How many of so many pods fit, and what the quotas lack for all; empty where all of them fit.

    ``charges``: of one of them.
    """
    held = [(one, room) for one in charges if (room := room_for(one)) is not None and room < count]
    if not held:
        return ""
    lacks = [
        f"quota {one.quota} lacks {name} {_lack(one, name, count)}"
        for one, _ in held
        for name in one.requested
        if _lack(one, name, count).nano > 0
    ]
    fits = min(room for _, room in held)
    return f"only {fits} of the {count} missing pods fit: for all of them {' and '.join(lacks)}"


def _lack(charge: QuotaCharge, name: str, count: int) -> Quantity:
    asked = parse(charge.requested[name])
    whole = Quantity(asked.nano * count, asked.format)
    return parse(charge.used[name]) + whole - parse(charge.hard[name])
