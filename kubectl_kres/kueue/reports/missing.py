"""What helps an object for which Kueue has made no Workload."""

from __future__ import annotations

import shlex

from kubectl_kres.kueue import model
from kubectl_kres.kueue.reports.record import QueueAccount
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.remedy import Remedy, SetField
from kubectl_kres.reports.remedies.commands import directed_command
from kubectl_kres.store.store import Store
from kubectl_kres.wording import join_words


def fixes_without_workload(store: Store, subject: Subject, account: QueueAccount) -> tuple[Remedy, ...]:
    """Return the corrected name, the object to create, or where to look; nothing of it can be tried."""
    ref = subject.ref
    if account.cause == "no-priority-class":
        create = f"create WorkloadPriorityClass {account.says}"
        if not account.meant:
            return (Remedy(f"{create}, or correct label {model.PRIORITY_LABEL} of {ref}"),)
        edit = SetField(ref, f"metadata.labels[{model.PRIORITY_LABEL}]", account.meant, account.says)
        words = f"label {ref.kind.lower()} {shlex.quote(ref.name)} -n {shlex.quote(ref.namespace)}"
        command = directed_command(
            store.origin, f"{words} {model.PRIORITY_LABEL}={shlex.quote(account.meant)} --overwrite"
        )
        stored = subject.raw is None and ref.kind in {"Job", "Pod"}
        text = f"name WorkloadPriorityClass {account.meant} in label {model.PRIORITY_LABEL} of {ref}"
        return (Remedy(text, (edit,), (command,) if stored else ()), Remedy(create))
    if account.cause == "group-incomplete":
        group, pods, wanted = account.details
        text = f"create the other pods of group {group}, or set its annotation {model.GROUP_COUNT} to {pods}"
        return (Remedy(f"{text}: it says {wanted}"),)
    if not account.local_queue:
        others = join_words(account.others) or "none is there yet"
        return (Remedy(f"name a LocalQueue in label {model.QUEUE_LABEL} of {ref}: {others}"),)
    if account.cause == "no-workload":
        return (Remedy(f"see whether Kueue runs and manages {ref.kind}: its manager makes a Workload within seconds"),)
    return ()
