"""How many more pods of a template the quotas have room for, and whether all replicas and a rolling update fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.model.workload import Workload
from kubectl_kres.provenance.journal import Assume
from kubectl_kres.reports.explain import analysis_of_another, explained
from kubectl_kres.reports.explanation import QuotaCost, Unseen, Verdict
from kubectl_kres.reports.record import Record
from kubectl_kres.reports.remedies.model import Remedy
from kubectl_kres.reports.replicas import Replicas, replicas_of
from kubectl_kres.reports.room import least, pods_in_a_row
from kubectl_kres.reports.subject import Ask, Subject
from kubectl_kres.reports.template import manifest_workload
from kubectl_kres.store.store import Store

#: fits: with its whole surge. slow: with fewer surge pods at a time. shrinking: no surge pod fits, it goes on as old
#: pods end first. stuck: no surge pod fits and no old pod may end first. replaced: there is no surge, pods end first.
Rollout = Literal["fits", "slow", "shrinking", "stuck", "replaced"]


class Fit(Record, frozen=True):
    """``fits``: how many more pods there is room for; absent: no quota limits them. ``verdict`` is that of the next.

    ``at_most``: how many under a luckier order of LimitRanges, where that differs. ``tightest``: the quotas that end
    it. ``lacking``: replicas that neither exist nor fit. ``surge_fits``: how many of the surge pods fit once all
    replicas are there; absent: all, whatever the number. ``enough``: everything fits. Where quotas could not be read,
    ``enough`` is False and ``rollout`` absent.
    """

    subject: ObjectRef
    start: str
    verdict: Verdict
    remedies: tuple[Remedy, ...]
    quotas: tuple[QuotaCost, ...]
    enough: bool
    fits: int | None = None
    at_most: int | None = None
    tightest: tuple[str, ...] = ()
    replicas: Replicas | None = None
    lacking: int = 0
    surge_fits: int | None = None
    rollout: Rollout | None = None
    assumptions: tuple[Assume, ...] = ()
    unseen: tuple[Unseen, ...] = ()
    complete: bool = True


def fit(store: Store, subject: Subject, ask: Ask) -> Fit:
    """Raises NotFound if the object is not in the store, UsageError if it neither is a pod nor makes pods.

    A live pod stands for another one like it.
    """
    analysis = analysis_of_another(store, subject, ask)
    found = explained(store, subject, ask, analysis)
    counts = [pods_in_a_row(outcome, analysis) for outcome in analysis.outcomes]
    fits, most = least(counts), _most(counts)
    workload = analysis.start.owner or manifest_workload(subject)
    replicas = replicas_of(subject.ref.kind, workload) if isinstance(workload, Workload) else None
    unread = any(one.kind == "ResourceQuota" for one in found.unseen)
    lacking, surge_fits, rollout = _judged(None if unread else replicas, fits)
    return Fit(
        subject.ref,
        found.start,
        found.verdict,
        found.remedies,
        found.quotas,
        enough=not unread
        and not lacking
        and rollout in {None, "fits", "replaced"}
        and (replicas is not None or fits != 0),
        fits=fits,
        at_most=most if most != fits else None,
        tightest=tuple(cost.quota for cost in found.quotas if cost.fits is not None and cost.fits == fits),
        replicas=replicas,
        lacking=lacking,
        surge_fits=surge_fits,
        rollout=rollout,
        assumptions=found.assumptions,
        unseen=tuple(one for one in found.unseen if one.required),
        complete=found.complete,
    )


def _most(counts: Sequence[int | None]) -> int | None:
    return None if None in counts else max(count for count in counts if count is not None)


def _judged(replicas: Replicas | None, fits: int | None) -> tuple[int, int | None, Rollout | None]:
    """Replicas that do not fit, surge pods that fit, and how a rolling update would go."""
    if replicas is None:
        return 0, None, None
    room = replicas.missing + replicas.surge if fits is None else fits
    lacking = max(0, replicas.missing - room)
    if replicas.strategy in {"", "OnDelete"}:
        return lacking, None, None
    if not replicas.surge:
        return lacking, None, "replaced"
    # Pods beyond what is wanted, from an update that is under way, take a part of the surge already.
    ahead = max(0, replicas.existing - replicas.wanted)
    need = max(0, replicas.surge - ahead)
    surge = min(need, max(0, room - replicas.missing))
    if surge == need:
        return lacking, surge, "fits"
    return lacking, surge, "slow" if surge else "shrinking" if replicas.unavailable else "stuck"
