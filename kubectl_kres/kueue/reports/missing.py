"""What helps an object for which Kueue has made no Workload."""

from __future__ import annotations

import shlex

from kubectl_kres.kueue import model
from kubectl_kres.kueue.reports import fixes
from kubectl_kres.kueue.reports.record import QueueAccount
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.remedy import Remedy, SetField
from kubectl_kres.reports.remedies.commands import directed_command
from kubectl_kres.store.store import Store


def fixes_without_workload(store: Store, subject: Subject, account: QueueAccount) -> tuple[Remedy, ...]:
    """Return the corrected name, the object to create, or where to look; nothing of it can be tried."""
    ref = subject.ref
    if account.cause == "no-priority-class":
        if not account.meant:
            return (Remedy(fixes.CreatePriorityClass(account.says, ref)),)
        edit = SetField(ref, f"metadata.labels[{model.PRIORITY_LABEL}]", account.meant, account.says)
        words = f"label {ref.kind.lower()} {shlex.quote(ref.name)} -n {shlex.quote(ref.namespace)}"
        command = directed_command(
            store.origin, f"{words} {model.PRIORITY_LABEL}={shlex.quote(account.meant)} --overwrite"
        )
        stored = subject.raw is None and ref.kind in {"Job", "Pod"}
        named = Remedy(fixes.NamePriorityClass(account.meant, ref), (edit,), (command,) if stored else ())
        return (named, Remedy(fixes.CreatePriorityClass(account.says)))
    if account.cause == "group-incomplete":
        group, pods, wanted = account.details
        return (Remedy(fixes.CompleteGroup(group, pods, wanted)),)
    if not account.local_queue:
        return (Remedy(fixes.NameSomeLocalQueue(account.others, of=ref)),)
    if account.cause == "no-workload":
        return (Remedy(fixes.SeeKueueRuns(ref.kind)),)
    return ()
