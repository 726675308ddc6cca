"""How many more objects of one cost there is room for, how far an autoscaler gets, and what one more would lack."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_kres.admission.base.outcome import Finding, Outcome, QuotaCharge
from kubectl_kres.admission.quota.quota_admission import charges, with_used
from kubectl_kres.admission.request.new_pod import quota_request
from kubectl_kres.model.workload import HorizontalPodAutoscaler, Workload
from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import Autoscaled, Shortfall, Spare, Verdict
from kubectl_kres.reports.common.replicas import Replicas, pods_of
from kubectl_kres.reports.common.subject import Subject
from kubectl_kres.reports.pod.needs import SCALED
from kubectl_kres.reports.pod.pod_claims import added
from kubectl_kres.reports.pod.verdict import word_of
from kubectl_kres.store.store import Store


def room_for(charge: QuotaCharge) -> int | None:
    """How often the charge still fits the quota; None if it costs nothing."""
    rooms = [
        (parse(charge.hard[name]).nano - parse(charge.used[name]).nano) // parse(asked).nano
        for name, asked in charge.requested.items()
        if parse(asked).nano > 0
    ]
    return max(0, min(rooms)) if rooms else None


def pods_in_a_row(outcome: Outcome, analysis: Analysis) -> int | None:
    """How many pods in a row are admitted where each ends as ``outcome``; None: as many as one likes."""
    claims = analysis.claims
    if outcome.refusal is not None or outcome.draft is None:
        return 0
    rooms = [room_for(cost) for cost in charges_of_next(outcome, analysis)]
    if claims is not None:
        # Pods whose claims are there come first.
        more = least(room_for(cost) for cost in claims.charges)
        rooms.append(None if more is None else claims.ready + more)
    room = least(rooms)
    account = analysis.account
    if room is None or account is None:
        return room
    return room + account.waiting


def charges_of_next(outcome: Outcome, analysis: Analysis) -> tuple[QuotaCharge, ...]:
    """What a further pod costs with all that is made for it, once those that exist have got what they lack."""
    quotas, account = analysis.known.policies.quotas, analysis.account
    if outcome.draft is None:
        return ()
    if account is None:
        return charges(quota_request(analysis.start.pod, outcome.draft), quotas)
    from kubectl_kres.admission.request.pod_objects import object_charges

    quotas = with_used(quotas, added(object_charges(account.lacking, quotas)))
    own = charges(quota_request(analysis.start.pod, outcome.draft), quotas)
    return tuple(added((*own, *object_charges(account.with_pod, quotas))))


def least(counts: Iterable[int | None]) -> int | None:
    """The smallest count, where None is any number."""
    known = [count for count in counts if count is not None]
    return min(known) if known else None


def spare_of(verdict: Verdict) -> tuple[Spare, ...]:
    """Empty unless the verdict is ``full``."""
    if word_of(verdict) != "full":
        return ()
    text = verdict.message
    return tuple(
        Spare(text := finding.text or text, finding.resource, str(short_by(finding) or ""), finding.source)
        for finding in verdict.findings
    )


def short_by(finding: Finding) -> Quantity | None:
    """By how much a quota is short; None for what is refused for another reason."""
    if finding.rule != "quota/exceeded":
        return None
    used, asked, limit = parse(finding.used), parse(finding.asked), parse(finding.limit)
    return asked + used - limit


def autoscaler_of(store: Store, kind: str, name: str, namespace: str) -> HorizontalPodAutoscaler | None:
    """The autoscaler of a workload, of several the one that asks for most; None if none is known."""
    horizontal_pod_autoscalers: list[HorizontalPodAutoscaler] = [
        item
        for item in store.all("HorizontalPodAutoscaler", namespace)
        if (item.spec.scale_target_ref.kind, item.spec.scale_target_ref.name) == (kind, name)
        and item.spec.max_replicas > 0
    ]
    return max(horizontal_pod_autoscalers, key=lambda item: item.spec.max_replicas, default=None)


def autoscaled(store: Store, subject: Subject, analysis: Analysis, pods: Replicas | None) -> Autoscaled | None:
    """How far the workload's autoscaler gets under the quotas; None if it is known to have none.

    ``pods``: those that exist, None where they are not known; of a file they are those of its workload in the store.
    """
    ref = subject.ref
    scaler = autoscaler_of(store, ref.kind, ref.name, ref.namespace) if ref.kind in SCALED else None
    return None if scaler is None else reach_of(scaler, store, subject, analysis, pods)


def reach_of(
    scaler: HorizontalPodAutoscaler, store: Store, subject: Subject, analysis: Analysis, pods: Replicas | None
) -> Autoscaled:
    """The same for an autoscaler of the workload that is known."""
    ref = subject.ref
    if pods is None:
        stored = store.get(ref.kind, ref.name, ref.namespace)
        pods = pods_of(store, ref.kind, stored) if isinstance(stored, Workload) else None
    existing = pods.existing if pods is not None else 0
    most = scaler.spec.max_replicas
    room = least(pods_in_a_row(outcome, analysis) for outcome in analysis.outcomes)
    fits = most if room is None else min(most, existing + room)
    lacks = tuple(_lacks(analysis, most - existing)) if fits < most else ()
    return Autoscaled(scaler.metadata.name, most, fits, lacks)


def _lacks(analysis: Analysis, more: int) -> Iterator[Shortfall]:
    """What quotas lack for so many pods more."""
    draft = analysis.outcomes[0].draft
    if draft is None:
        return
    for charge in charges_of_next(analysis.outcomes[0], analysis):
        for name, asked in charge.requested.items():
            hard, used, quantity = parse(charge.hard[name]), parse(charge.used[name]), parse(asked)
            short = used.nano + more * quantity.nano - hard.nano
            if quantity.nano > 0 and short > 0:
                yield Shortfall(charge.quota, name, str(Quantity(short, quantity.format)))
