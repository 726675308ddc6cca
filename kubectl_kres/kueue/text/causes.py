"""Why an object waits for its queue, in a sentence: what lists, states and headlines say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kubectl_kres.kueue.reports.record import FlavorRow, QueueAccount, QueueStanding, WhyItWaits
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.wording import join_words

#: Reasons of a ClusterQueue that admits nobody.
INACTIVE = {
    "Stopped": "it is stopped",
    "FlavorNotFound": "ResourceFlavor {} does not exist",
    "AdmissionCheckNotFound": "AdmissionCheck {} does not exist",
    "AdmissionCheckInactive": "AdmissionCheck {} is not active",
}


def cause_text(account: QueueAccount) -> str:
    """Return why it waits, without where it stands; empty for what does not wait."""
    queue, cluster = account.local_queue, account.cluster_queue
    meant = f", did you mean {account.meant}?" if account.meant else ""
    match account.cause:
        case "no-local-queue":
            return f"LocalQueue {queue} does not exist in its namespace{meant}"
        case "local-queue-stopped":
            return f"LocalQueue {queue} is stopped (spec.stopPolicy)"
        case "no-cluster-queue":
            return f"ClusterQueue {cluster} of LocalQueue {queue} does not exist{meant}"
        case "cluster-queue-inactive":
            return f"ClusterQueue {cluster} admits nobody: {inactive_text(account)}"
        case "namespace":
            return f"ClusterQueue {cluster} does not take its namespace (namespaceSelector)"
        case "resources":
            return f"a request is above its limit once LimitRanges are applied: {_details(account)}"
        case "limit-range":
            return f"LimitRanges refuse its pods: {_details(account)}"
        case "NoMatchingFlavor" | "ExceedsMaxQuota" | "WaitingForQuota":
            return quota_text(account)
        case "behind":
            head = account.head.of if account.head is not None else "another"
            said = sentence_text(account.head_says)
            why = f": {said}" if said else ""
            return f"{head} stands in its way in ClusterQueue {cluster} (StrictFIFO){why}"
        case "fits":
            return f"ClusterQueue {cluster} has room for it: Kueue is yet to look at it"
        case _:
            return _other_text(account)


def _other_text(account: QueueAccount) -> str:
    match account.cause:
        case "deactivated":
            why = f": {account.says}" if account.says else ""
            return f"its Workload is deactivated{why}"
        case "backoff":
            return f"Kueue queues it again later: {account.says}"
        case "checks":
            names = [f"{check.name} {check.state or 'Pending'}" for check in account.checks if check.state != "Ready"]
            return f"quota is reserved, and admission checks are open: {join_words(names) or 'none is named'}"
        case "no-priority-class":
            meant = f", did you mean {account.meant}?" if account.meant else ""
            return f"WorkloadPriorityClass {account.says} does not exist{meant}, so Kueue makes no Workload of it"
        case "group-incomplete":
            group, pods, wanted = account.details
            return f"its group {group} has {pods} of {wanted} pods, and is queued once all are there"
        case "no-workload" if not account.local_queue:
            return "no queue is named on it, so Kueue never looks at it"
        case "no-workload":
            return f"Kueue has made no Workload of it for queue {account.local_queue}"
        case "webhook":
            return f"tekton-kueue refuses the run: {account.says}"
        case "webhook-unknown":
            return f"tekton-kueue puts new runs into a queue, which one is not known: {account.says}"
        case "quoted":
            return account.says
        case "unknown":
            said = f": {account.says}" if account.says else ""
            return f"queue {account.local_queue} has not admitted it{said}"
        case _:
            return ""


def inactive_text(account: QueueAccount) -> str:
    """Return why its ClusterQueue is inactive."""
    return join_words(
        [INACTIVE.get(reason, f"its condition Active is {reason}").format(name) for reason, name in account.faults]
    )


def _details(account: QueueAccount) -> str:
    return "; ".join(account.details)


def quota_text(account: QueueAccount) -> str:
    """Return what the flavors lack: those that may have room once others end, else those that never have it."""
    flavors: dict[str, list[FlavorRow]] = {}
    for row in account.flavors:
        if row.why:
            flavors.setdefault(row.flavor, []).append(row)
    waiting = {name: rows for name, rows in flavors.items() if {row.why for row in rows} == {"WaitingForQuota"}}
    never = [row for rows in flavors.values() for row in rows if row.why == "ExceedsMaxQuota"]
    others = [_mismatch_text(account, name, rows) for name, rows in flavors.items()]
    if waiting and "" not in flavors:
        parts = [
            f"{join_words([f'{row.resource} {row.short}' for row in rows])} in flavor {name}"
            for name, rows in waiting.items()
        ]
        texts = [f"ClusterQueue {account.cluster_queue} is short of {', or of '.join(parts)}"]
    elif never:
        texts = [_never_text(account, never), *filter(None, others)]
    else:
        texts = list(filter(None, others))
    return "; ".join(texts) or account.says


def _never_text(account: QueueAccount, rows: list[FlavorRow]) -> str:
    """Return what no flavor ever has as much of as is asked for."""
    flavors = list(dict.fromkeys(row.flavor for row in rows))
    whose = f"flavor {flavors[0]}" if len(flavors) == 1 else "each flavor"
    most: dict[str, list[str]] = {}
    for row in rows:
        text = row.most if len(flavors) == 1 else f"{row.most} in {row.flavor}"
        most.setdefault(f"{row.resource} {row.asked}", []).append(text)
    parts = [f"{asked} (at most {', '.join(dict.fromkeys(texts))})" for asked, texts in most.items()]
    return f"it asks for more than {whose} of ClusterQueue {account.cluster_queue} can have: {join_words(parts)}"


def _mismatch_text(account: QueueAccount, flavor: str, rows: list[FlavorRow]) -> str:
    """Return why a flavor is none for these pods; empty where only its quota is too small."""
    match rows[0].why:
        case "uncovered":
            names = join_words([row.resource for row in rows])
            return f"ClusterQueue {account.cluster_queue} has no quota for {names}"
        case "missing":
            return f"ResourceFlavor {flavor} does not exist"
        case "taint":
            taint = rows[0].text.partition("{")[2].partition(" <nil>}")[0]
            return f"its pods do not tolerate the taint of flavor {flavor} ({taint})"
        case "affinity":
            return f"its node selector or affinity excludes flavor {flavor}"
    return ""


def place_text(account: QueueAccount) -> str:
    """Return ``queue main, place 3 of 5``; empty without a queue."""
    if not account.local_queue:
        return ""
    place = f", place {account.place} of {account.waiting}" if account.place else ""
    return f"queue {account.local_queue}{place}"


def state_text(account: QueueAccount) -> str:
    """Return why it waits, and where it stands."""
    place = place_text(account) if account.place else ""
    cause = cause_text(account)
    return f"{cause} ({place})" if place and cause else cause or place


#: Why one waits, where a line of a table has room for little.
SHORT = {
    "deactivated": "deactivated",
    "no-local-queue": "no such LocalQueue",
    "local-queue-stopped": "LocalQueue stopped",
    "no-cluster-queue": "no such ClusterQueue",
    "cluster-queue-inactive": "ClusterQueue inactive",
    "backoff": "queued again later",
    "namespace": "namespace not selected",
    "resources": "request above limit",
    "limit-range": "refused by LimitRange",
    "NoMatchingFlavor": "no matching flavor",
    "ExceedsMaxQuota": "more than there is",
    "WaitingForQuota": "waits for quota",
    "behind": "behind the head",
    "fits": "there is room for it",
    "checks": "admission checks",
    "no-priority-class": "no such priority class",
    "group-incomplete": "group incomplete",
    "no-workload": "no Workload",
}


def _why(why: WhyItWaits) -> str:
    match why.part:
        case "state":
            return state_text(why.account)
        case "quota":
            return quota_text(why.account)
        case "faults":
            return inactive_text(why.account)
    return cause_text(why.account)


def short_cause(cause: str) -> str:
    """Return it in as few words as a column has room for."""
    return SHORT.get(cause, cause)


def _standing(standing: QueueStanding) -> str:
    if standing.waits_for:
        return f"waits ({short_cause(standing.waits_for)})"
    return f"admitted in flavor {join_words(standing.flavors)}" if standing.flavors else "admitted"


WORDS: Mapping[type, Callable[[Any], str]] = {WhyItWaits: _why, QueueStanding: _standing}
