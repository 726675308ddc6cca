"""How many more pods of a template the quotas have room for, and whether all replicas and a rolling update fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.workload import Workload
from kubectl_kres.provenance.journal import Assumption
from kubectl_kres.record import Record, Wording
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import (
    Autoscaled,
    EvaluationOptions,
    Explanation,
    FailedRead,
    QuotaCost,
    RunState,
    Subject,
    Verdict,
    manifest_workload,
    waits_or_fails,
)
from kubectl_kres.reports.common.nodes import NodeReport
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.reports.common.replicas import Replicas, pods_of
from kubectl_kres.reports.common.system import kinds_of
from kubectl_kres.reports.explain.explain import analysis_of_another, build_explanation
from kubectl_kres.reports.rollout.rolling_update import RolloutResult, if_started, rollout_in_progress
from kubectl_kres.reports.rollout.wanted_pods import count_admitted_pods, smallest_count
from kubectl_kres.store.store import Store

#: fits: with its whole surge. slow: with fewer surge pods at a time. shrinking: no surge pod fits, it completes as old
#: pods end first. replaced: there is no surge, pods end first, and it completes. stuck: it never completes.
Rollout = Literal["fits", "slow", "shrinking", "stuck", "replaced"]


#: What can keep a pod from running that has room in all quotas.
NOT_LOOKED_AT = ("free room on nodes", "volumes", "images", "scheduling gates", "readiness")
#: The same where the nodes were looked at.
_NOT_LOOKED_AT_EITHER = ("images", "readiness")


class OverusedQuota(Record, frozen=True):
    """A quota that uses more than its hard, by ``over_by``: as long as that lasts, it admits nothing more."""

    quota: str
    resource: str
    used: str
    hard: str
    over_by: str


class RolloutInProgress(RolloutResult, frozen=True):
    """A rollout that has begun. moving: it will end with all pods of the newest template; stuck: it will not."""

    state: Literal["moving", "stuck"] = "moving"


class Fit(Record, frozen=True):
    """The answer of ``--fit``. ``fits``: how many more pods there is room for, one after the other, their claims with
    them; absent: no quota limits them. ``verdict`` is that of the next.

    ``at_most``: how many under the best order of LimitRanges, where that differs. ``tightest``: the quotas that limit
    it. ``not_fitting``: replicas that neither exist nor fit. ``surge_fits``: how many of the surge pods fit once all
    replicas are there; absent: there is no surge. ``next_rollout``: the course of a rollout that is started now, with
    its end ``next_rollout_end``; ``rollout``: the rollout under way. ``overused``: quotas that have used more than
    their hard. ``never_fits``: the next pod is refused for a reason other than room. ``autoscaled``: how far an
    autoscaler can scale, absent where none is known. ``run_state``: the state of existing pods; absent for a file.
    ``enough``: everything fits into the quotas. ``nodes``: what kube-scheduler's filters say of the next pod; None
    where nodes were not read. ``without_node``: of the missing replicas those that would find no node.
    ``surge_on_nodes``: how many of the surge pods would find one once all replicas are there; absent: there is no
    surge, or that was not counted. ``not_looked_at`` names what is not taken into account. Where quotas could not be
    read, ``enough`` is False and the fields about rollouts are absent.
    """

    subject: ObjectRef
    start: Wording
    verdict: Verdict
    fixes: tuple[Remedy, ...]
    quotas: tuple[QuotaCost, ...]
    enough: bool
    fits: int | None = None
    at_most: int | None = None
    tightest: tuple[str, ...] = ()
    replicas: Replicas | None = None
    not_fitting: int = 0
    surge_fits: int | None = None
    next_rollout: Rollout | None = None
    next_rollout_end: RolloutResult | None = None
    rollout: RolloutInProgress | None = None
    overused: tuple[OverusedQuota, ...] = ()
    never_fits: bool = False
    autoscaled: Autoscaled | None = None
    assumptions: tuple[Assumption, ...] = ()
    unread: tuple[FailedRead, ...] = ()
    complete: bool = True
    run_state: RunState | None = None
    nodes: NodeReport | None = None
    without_node: int = 0
    surge_on_nodes: int | None = None
    not_looked_at: tuple[str, ...] = NOT_LOOKED_AT

    @property
    def stalls_on_nodes(self) -> bool:
        """Return whether a rollout that may take no old pod away first finds no node for a surge pod."""
        return self.surge_on_nodes == 0 and self.replicas is not None and not self.replicas.unavailable

    @property
    def finds_nodes(self) -> bool:
        """Return whether nothing is known to find no node: neither missing replicas nor a surge, nor the next pod."""
        alone = self.replicas is None and self.nodes is not None and self.nodes.room == 0
        return not (self.without_node or self.stalls_on_nodes or alone)

    @property
    def all_fit(self) -> bool:
        """Return whether everything fits, and nothing that exists waits or fails."""
        return self.enough and self.finds_nodes and not waits_or_fails(self.run_state)


def fit(store: Store, subject: Subject, options: EvaluationOptions) -> Fit:
    """Return the answer for an object. Raises NotFound if the object is not in the store, UsageError if it neither is a
    pod nor makes pods.

    A live pod stands for another one like it.
    """
    analysis = analysis_of_another(store, subject, options)
    explanation = build_explanation(store, subject, options, analysis)
    counts = [count_admitted_pods(outcome, analysis) for outcome in analysis.outcomes]
    fits, maximum = smallest_count(counts), _largest_count(counts)
    workload = analysis.manifest.owner or manifest_workload(subject)
    replicas = pods_of(store, subject.ref.kind, workload) if isinstance(workload, Workload) else None
    unread = any(failed_read.kind == "ResourceQuota" for failed_read in explanation.unread)
    known = None if unread else replicas
    room = fits if fits is not None else known.missing_pods + known.surge if known is not None else 0
    begun = rollout_in_progress(store, subject, analysis, known) if known is not None else None
    later = if_started(store, subject, analysis, known) if known is not None and begun is None else None
    if known is not None and later is not None and not (known.existing or later.complete):
        # There is no old pod that a rollout could wait for: what is missing is reported by itself.
        later = None
    # Old pods of a rollout that is under way make room for what is missing.
    missing_count = (
        0 if known is None else begun.wanted - begun.updated if begun is not None else max(0, known.missing_pods - room)
    )
    surge = _surge(known, room) if known is not None else None
    would = _classify_rollout(known, later, surge) if known is not None and later is not None else None
    nodes = _nodes(store, subject, analysis, explanation, replicas)
    return Fit(
        subject.ref,
        explanation.start,
        explanation.verdict,
        explanation.fixes,
        explanation.quotas,
        enough=not unread
        and not missing_count
        and would in {None, "fits", "replaced"}
        and (replicas is not None or fits != 0),
        fits=fits,
        at_most=maximum if maximum != fits else None,
        tightest=tuple(cost.quota for cost in explanation.quotas if cost.fits is not None and cost.fits == fits),
        replicas=replicas,
        not_fitting=missing_count,
        surge_fits=surge,
        next_rollout=would,
        next_rollout_end=later,
        rollout=_state(begun),
        overused=tuple(_find_excess(analysis, explanation.quotas)),
        never_fits=fits == 0 and any(finding.rule != "quota/exceeded" for finding in explanation.verdict.findings),
        autoscaled=explanation.autoscaled,
        assumptions=explanation.assumptions,
        unread=tuple(
            failed_read
            for failed_read in explanation.unread
            if failed_read.required or failed_read.kind in kinds_of("decides")
        ),
        complete=explanation.complete,
        run_state=explanation.run_state,
        nodes=nodes,
        without_node=_without_node(nodes, replicas),
        surge_on_nodes=_surge_on_nodes(nodes, replicas),
        not_looked_at=NOT_LOOKED_AT if nodes is None or not nodes.nodes else _NOT_LOOKED_AT_EITHER,
    )


def _nodes(
    store: Store, subject: Subject, analysis: Analysis, explanation: Explanation, replicas: Replicas | None
) -> NodeReport | None:
    from kubectl_kres.reports.scheduling.new_pods import report_new_pods  # noqa: PLC0415 - only where nodes were read

    wanted_count = replicas.missing_pods + replicas.surge if replicas is not None else 1
    return report_new_pods(store, subject, analysis, explanation.containers, wanted_count)


def _without_node(nodes: NodeReport | None, replicas: Replicas | None) -> int:
    if nodes is None or nodes.room is None or nodes.room_at_least or replicas is None:
        return 0
    return max(0, replicas.missing_pods - nodes.room)


def _surge_on_nodes(nodes: NodeReport | None, replicas: Replicas | None) -> int | None:
    if nodes is None or nodes.room is None or replicas is None:
        return None
    return _surge(
        replicas, max(nodes.room, replicas.missing_pods + replicas.surge) if nodes.room_at_least else nodes.room
    )


def _largest_count(counts: Sequence[int | None]) -> int | None:
    return None if None in counts else max(count for count in counts if count is not None)


def _state(rollout_result: RolloutResult | None) -> RolloutInProgress | None:
    if rollout_result is None:
        return None
    return RolloutInProgress(
        rollout_result.updated,
        rollout_result.wanted,
        rollout_result.old,
        rollout_result.gives_back,
        "moving" if rollout_result.complete else "stuck",
    )


def _surge(replicas: Replicas, room: int) -> int | None:
    """Return how many of the surge pods fit once all replicas are there; None where there is no surge."""
    if replicas.strategy in {"", "OnDelete"} or not replicas.surge:
        return None
    return min(replicas.surge, max(0, room - replicas.missing_pods))


def _classify_rollout(replicas: Replicas, rollout_result: RolloutResult, surge: int | None) -> Rollout:
    if not rollout_result.complete:
        return "stuck"
    if surge is None:
        return "replaced"
    return "fits" if surge == replicas.surge else "slow" if surge else "shrinking"


def _find_excess(analysis: Analysis, quotas: Sequence[QuotaCost]) -> Iterator[OverusedQuota]:
    """Yield the excess of quotas that count such a pod and use more than their hard."""
    asked = {cost.quota: cost.charge.requested for cost in quotas}
    for quota in analysis.policies.policies.quotas:
        for name in asked.get(quota.name, ()):
            used, hard = quota.used.get(name), quota.hard.get(name)
            if used is not None and hard is not None and used > hard:
                yield OverusedQuota(quota.name, name, str(used), str(hard), str(used - hard))
