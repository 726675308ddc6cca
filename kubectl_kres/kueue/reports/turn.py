"""The turn of an object in its queue, as common answers take it: a state, what helps, and the account."""

from __future__ import annotations

from kubectl_kres.kueue.reports.account import account_of, waits
from kubectl_kres.kueue.reports.missing import fixes_without_workload
from kubectl_kres.kueue.reports.record import QueueAccount, WhyItWaits
from kubectl_kres.kueue.reports.remedies import remedies_of
from kubectl_kres.kueue.reports.world import labels_of_subject, workload_of
from kubectl_kres.kueue.stored import planned_workload
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import Reason, RunState, Subject
from kubectl_kres.reports.common.system import Turn
from kubectl_kres.reports.run_state.next_steps import SeeFix
from kubectl_kres.store.store import Store


def held_state(store: Store, ref: ObjectRef, seen: RunState) -> RunState | None:
    """Return why an object waits in its queue; None: it does not, or too little was read to say more."""
    if ref.kind not in BY_KIND:
        return None
    account = account_of(store, Subject(ref, BY_KIND[ref.kind]))
    return _state(account, seen) if account is not None else None


def _state(account: QueueAccount, seen: RunState | None) -> RunState | None:
    if not waits(account) or account.cause in {"", "unknown"}:
        return None
    reason: Reason = "Queue" if seen is None else seen.reason
    since = (seen.since if seen is not None else "") or account.since
    return RunState(
        "waits", reason, since, by="Kueue", message=account.says, detail=WhyItWaits(account, "state"), next=SeeFix()
    )


def turn(store: Store, subject: Subject, analysis: Analysis | None) -> Turn | None:
    """Return the turn of an object, of a file too; None where no queue stands on it."""
    account = account_of(store, subject, analysis)
    if account is None:
        return None
    state = _state(account, None)
    if state is None:
        return Turn(None, part=account)
    planned = subject.raw is not None
    labels = labels_of_subject(store, subject)
    workload = (
        planned_workload(store, subject.ref, subject.raw, labels) if planned and labels else workload_of(store, subject)
    )
    if workload is None:
        return Turn(state, fixes_without_workload(store, subject, account), account)
    return Turn(state, remedies_of(store, workload, account, subject.ref, planned=planned), account)
