"""Who waits for room: workloads for quotas, pods for nodes; systems add those that wait in queues of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.quantity import Quantity
from kubectl_kres.record import Record
from kubectl_kres.reports.common.nodes import unscheduled_condition
from kubectl_kres.reports.pod.events import refusal_start_text
from kubectl_kres.reports.quota.denied import Denied
from kubectl_kres.reports.rollout.wanted_pods import quota_shortfall


class WaitingObject(Record, frozen=True):
    """Something that waits for room. ``waits_for``: the quota, pool or queue; a Node without a name: any node.

    ``place`` of ``length``: in the order in which room is given; 0: there is none, as with a quota, where the first
    that tries again gets it. ``short_by``: what is missing, quantities by resource; empty where that is not one number.
    ``behind_for``: the names of what those before it get first. ``says``: the cluster's own words. ``since``: RFC 3339;
    empty: not known. ``priority``: of a pod.
    """

    subject: ObjectRef
    waits_for: ObjectRef
    place: int = 0
    length: int = 0
    short_by: Mapping[str, str] = {}
    behind_for: tuple[str, ...] = ()
    says: str = ""
    since: str = ""
    priority: int = 0


def waits_for_quotas(denied: Denied) -> Iterator[WaitingObject]:
    """Yield for each quota without room for its next pod that a workload waits for it; none for other refusals."""
    lacks: dict[ObjectRef, dict[str, Quantity]] = {}
    for finding in denied.verdict.findings:
        short = quota_shortfall(finding)
        if short is not None and finding.source is not None:
            lacks.setdefault(finding.source.ref, {})[finding.resource] = short
    since = refusal_start_text(denied.facts) or (denied.facts[0].time if denied.facts else "")
    for quota, amounts in lacks.items():
        short_by = {name: str(amount) for name, amount in amounts.items()}
        yield WaitingObject(denied.subject, quota, short_by=short_by, says=denied.verdict.message, since=since)


def waits_for_nodes(pods: Iterable[Pod]) -> list[WaitingObject]:
    """Return pods that no node took, in the order in which the scheduler tries them: by priority, the oldest of equals
    first. What it found out since may have it try another one first.
    """
    waiting = sorted(pods, key=lambda pod: (-(pod.spec.priority or 0), pod.metadata.creation_timestamp or ""))
    return [
        WaitingObject(
            ObjectRef("Pod", pod.metadata.name, pod.metadata.namespace),
            ObjectRef("Node", ""),
            place,
            len(waiting),
            says=_scheduler_message(pod),
            since=pod.metadata.creation_timestamp or "",
            priority=pod.spec.priority or 0,
        )
        for place, pod in enumerate(waiting, 1)
    ]


def _scheduler_message(pod: Pod) -> str:
    condition = unscheduled_condition(pod)
    return condition.message if condition is not None else ""
