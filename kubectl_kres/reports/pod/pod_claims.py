"""The claims that a StatefulSet makes for its next pod: which they are, what refuses them, and what they cost
quotas.
"""

# ruff: noqa: PLC0415 - few pods have volumes of their own
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct, structs

from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.admission.base.outcome import QuotaCharge, Refusal
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.quota.quota_admission import charges, claim_request, with_used
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.ordinals import Names, length, overlap
from kubectl_kres.model.quota_objects import ClaimStatus, PersistentVolumeClaim
from kubectl_kres.model.workload import Workload
from kubectl_kres.model.workload_kinds import REVISIONS
from kubectl_kres.provenance.journal import Assumption, ClaimsTakenAsNew
from kubectl_kres.quantity import parse
from kubectl_kres.reports.common.analysis import Analysis, PodClaims, with_refusal
from kubectl_kres.reports.common.explanation import Subject, manifest_workload, not_computed
from kubectl_kres.reports.common.owners import claim_ordinals, owned_by
from kubectl_kres.store.store import ReadRequest, Store

_KIND = "PersistentVolumeClaim"
#: Up to so many templates each is tried as the last one: the controller takes them in an arbitrary order.
_MOST_ORDERED = 8
_UNREAD = Assumption("spec.volumeClaimTemplates", "claim/taken-as-new", ClaimsTakenAsNew())


class _Claim(Struct, frozen=True):
    """A claim to be made. ``path`` of its template in the StatefulSet. ``path`` of its template, in the StatefulSet."""

    claim: PersistentVolumeClaim
    path: str


def with_account(store: Store, subject: Subject, analysis: Analysis) -> Analysis:
    """Return the analysis of a pod, or of the refusal of the first object that is made for it to be created and to
    start.
    """
    if not has_account(subject, analysis):
        return with_claims(store, subject, analysis, analysis.server)
    from kubectl_kres.reports.account import with_first, with_objects

    analysis = with_objects(store, subject, analysis)
    return with_first(with_claims(store, subject, analysis, analysis.server))


def has_account(subject: Subject, analysis: Analysis) -> bool:
    """Return whether anything may be made beside the pods that a policy looks at: fast, and True in doubt."""
    spec = analysis.manifest.pod.spec
    if spec.volumes or spec.resource_claims or analysis.policies.policies.reviewer is not None:
        return True
    names = _COUNTS.get(subject.ref.kind, ())
    return any(name in quota.hard for name in names for quota in analysis.policies.policies.quotas)


#: What a quota counts of what is made before the pods of a kind, and of pods that ended.
_COUNTS = {
    **{kind: (f"count/{revision.resource}",) for kind, revision in REVISIONS.items()},
    "CronJob": ("count/jobs.batch", "count/pods"),
}


def with_claims(store: Store, subject: Subject, analysis: Analysis, server: Server) -> Analysis:
    """Return the analysis of a pod, or of the refusal of its claims, without which there is no pod; its own outcomes
    are then ``then``.
    """
    pod_claims = _claims(store, subject, analysis, server)
    if pod_claims is None:
        return analysis
    failed_reads = (*analysis.unread, *map(not_computed, pod_claims.gaps))
    analysis = structs.replace(analysis, unread=failed_reads) if pod_claims.gaps else analysis
    if not pod_claims.refusals:
        return structs.replace(analysis, claims=pod_claims)
    pods = analysis.outcomes
    outcomes = tuple(with_refusal(pod, refusal, warned=True) for refusal in pod_claims.refusals for pod in pods)
    return structs.replace(analysis, claims=pod_claims, outcomes=outcomes, then=(*pods, *analysis.then))


def _claims(store: Store, subject: Subject, analysis: Analysis, server: Server) -> PodClaims | None:
    """Return the result for the claims; None for an object that makes no claims."""
    workload = analysis.manifest.owner or manifest_workload(subject)
    if subject.kind != BY_KIND["StatefulSet"] or workload is None or not workload.spec.volume_claim_templates:
        return None
    is_known = store.covered(ReadRequest(_KIND, subject.ref.namespace)).is_known
    ordinal, ready, first = _find_next_pod(store, subject, workload, is_known=is_known)
    if ordinal is None:
        return PodClaims(ready=ready)
    new = [claim for claim in _build_claims(workload, subject, ordinal) if not _is_there(store, claim.claim)]
    try:
        refusals, costs, gaps = _admit_claims(new, analysis.policies.policies, server)
    except Unparsable:
        # Of a file it is reported before, and no server has stored such a template.
        return None
    if not first:
        # The next pod has its claims; what is refused is a later one's.
        return PodClaims((), costs, ready, gaps=gaps)
    return PodClaims(refusals, costs, ready, () if is_known or not refusals else (_UNREAD,), gaps)


def _find_next_pod(
    store: Store, subject: Subject, workload: Workload, *, is_known: bool
) -> tuple[int | None, int, bool]:
    """Return the first pod that lacks a claim, how many missing pods have theirs, and whether it is the next pod.

    None: all of them have theirs. Where every pod exists it is the next one. ``is_known``: the claims that exist.
    """
    ordinals = ordinals_of(workload)
    stored = store.get(subject.ref.kind, subject.ref.name, subject.ref.namespace)
    existing = stored.status.replicas if isinstance(stored, Workload) else 0
    if not is_known:
        return min(ordinals.start + existing, ordinals.stop), 0, True
    lacking = ordinals_without_claims(store, subject, workload)
    absent = _find_absent_ordinals(store, subject, ordinals, existing)
    if absent:
        # The controller goes by ordinals: a claim that is there already is no matter any more, its pod is.
        without = [common for row in absent for other in lacking if (common := overlap(row, other))]
        ordinal = without[0].start if without else None
        ready = sum(map(length, absent)) - sum(map(length, without))
        return ordinal, ready, ordinal == absent[0].start
    missing = max(0, length(ordinals) - existing)
    ready = max(0, missing - sum(map(length, lacking)))
    if lacking:
        return lacking[0].start, ready, True
    return None if missing else ordinals.stop, ready, True


def ordinals_of(workload: Workload) -> range:
    """Return the ordinals of the pods that a StatefulSet wants."""
    wanted_count = 1 if workload.spec.replicas is None else max(0, workload.spec.replicas)
    first = workload.spec.ordinals.start if workload.spec.ordinals is not None else 0
    return range(first, first + wanted_count)


def _find_absent_ordinals(store: Store, subject: Subject, ordinals: range, existing: int) -> list[range]:
    """Return the ordinals of missing pods, as far as existing pods were read; empty if none is missing, or they were
    not read.
    """
    names = _names_of_pods(store, subject)
    if len(names) < min(existing, length(ordinals)):
        return []
    return list(Names.of(names).missing(subject.ref.name, ordinals))


def _names_of_pods(store: Store, subject: Subject) -> set[str]:
    owned_pods = owned_by(store, "Pod", subject.ref.namespace, (subject.ref.kind, subject.ref.name))
    return {pod.metadata.name for pod in owned_pods}


def ordinals_without_claims(store: Store, subject: Subject, workload: Workload) -> tuple[range, ...]:
    """Return the pods of a StatefulSet that lack a claim, by rows; all of them where claims were not read."""
    ordinals = ordinals_of(workload)
    if not store.covered(ReadRequest(_KIND, subject.ref.namespace)).is_known:
        return (ordinals,)
    return tuple(row for row, lacking in _rows_by_lacking_claims(store, subject, workload, (ordinals,)) if lacking)


def _rows_by_lacking_claims(
    store: Store, subject: Subject, workload: Workload, rows: Iterable[range]
) -> Iterator[tuple[range, tuple[int, ...]]]:
    """Yield rows of ordinals with the numbers of the templates whose claims each of their pods lacks."""
    templates = workload.spec.volume_claim_templates or ()
    bases = [f"{template.metadata.name}-{subject.ref.name}" for template in templates]
    existing = [claim_ordinals(store, subject.ref.namespace, base) for base in bases]
    for row in rows:
        missing = [tuple(names.missing(base, row)) for base, names in zip(bases, existing, strict=True)]
        ends = {row.stop, *(end for parts in missing for part in parts for end in (part.start, part.stop))}
        first = row.start
        for end in sorted(ends):
            if end > first:
                lacking = (index for index, parts in enumerate(missing) if any(first in part for part in parts))
                yield range(first, end), tuple(lacking)
                first = end


class MissingClaims(Struct, frozen=True):
    """The claims that each of some pods lacks that follow each other; ``claims`` are those of the first one."""

    pods: int
    claims: tuple[PersistentVolumeClaim, ...]


def missing_claims(store: Store, subject: Subject, workload: Workload) -> tuple[MissingClaims, ...]:
    """Return the claims that the missing pods need first, in the order of the pods; a pod may need none."""
    ordinals, names = ordinals_of(workload), _names_of_pods(store, subject)
    stored = store.get(subject.ref.kind, subject.ref.name, subject.ref.namespace)
    existing = stored.status.replicas if isinstance(stored, Workload) else 0
    if len(names) == existing:
        absent = list(Names.of(names).missing(subject.ref.name, ordinals))
    else:
        # Where pods were not read the lowest numbers are taken as there.
        absent = [range(min(ordinals.start + existing, ordinals.stop), ordinals.stop)]
    result = []
    for row, lacking in _rows_by_lacking_claims(store, subject, workload, absent):
        claims = tuple(_build_claims(workload, subject, row.start))
        result.append(MissingClaims(length(row), tuple(claims[index].claim for index in lacking)))
    return tuple(result)


def _is_there(store: Store, claim: PersistentVolumeClaim) -> bool:
    return store.get(_KIND, claim.metadata.name, claim.metadata.namespace) is not None


def _build_claims(workload: Workload, subject: Subject, ordinal: int) -> Iterator[_Claim]:
    """Yield the claims of a pod. Source: controller/statefulset stateful_set_utils.go getPersistentVolumeClaims."""
    for index, template in enumerate(workload.spec.volume_claim_templates or ()):
        name = f"{template.metadata.name}-{subject.ref.name}-{ordinal}"
        metadata = structs.replace(template.metadata, name=name, namespace=subject.ref.namespace)
        claim = structs.replace(template, metadata=metadata, status=ClaimStatus())
        yield _Claim(claim, f"spec.volumeClaimTemplates[{index}]")


def _admit_claims(
    new: Sequence[_Claim], policies: Policies, server: Server
) -> tuple[tuple[Refusal, ...], tuple[QuotaCharge, ...], tuple[str, ...]]:
    """Return what refuses one of the claims, in whatever order they are made, what they cost together, and what
    policies that were not computed would say.

    Raises Unparsable. Source: stateful_pod_control.go createPersistentVolumeClaims, which goes on after a refusal.
    """
    from kubectl_kres.admission.request.pod_objects import prefix_paths
    from kubectl_kres.admission.request.volume_claims import (
        admit_claim,
        review_made_claim,
        with_default_class,
        with_review,
    )

    refusals: dict[str, Refusal] = {}
    costs: list[QuotaCharge] = []
    made = [(claim.path, *review_made_claim(claim.claim, policies, server)) for claim in new]
    for last in range(len(new)) if len(new) <= _MOST_ORDERED else (len(new) - 1,):
        quotas, costs = policies.quotas, []
        for path, claim, review in (*made[:last], *made[last + 1 :], made[last]):
            outcomes = with_review(admit_claim(claim, structs.replace(policies, quotas=quotas), server), review)
            refused = [prefix_paths(outcome.refusal, path) for outcome in outcomes if outcome.refusal is not None]
            refusals.update((refusal.message, refusal) for refusal in refused)
            quota_charges = charges(claim_request(with_default_class(claim, policies), server), quotas)
            costs += quota_charges
            quotas = quotas if refused else with_used(quotas, quota_charges)
    gaps = dict.fromkeys(gap for _, _, review in made for gap in review.gaps)
    return tuple(refusals.values()), tuple(add_charges(costs)), tuple(gaps)


def add_charges(costs: Iterable[QuotaCharge]) -> Iterator[QuotaCharge]:
    """Yield one charge for each quota: the sum of all requests, beside what was used before the first."""
    quota_charges: dict[str, QuotaCharge] = {}
    for cost in costs:
        have = quota_charges.get(cost.quota)
        quota_charges[cost.quota] = cost if have is None else _sum_charges(have, cost)
    yield from quota_charges.values()


def _sum_charges(quota_charge: QuotaCharge, other: QuotaCharge) -> QuotaCharge:
    requested, after = dict(quota_charge.requested), dict(quota_charge.after)
    for name, text in other.requested.items():
        requested[name] = str(parse(requested[name]) + parse(text)) if name in requested else text
        after[name] = str(parse(after[name]) + parse(text)) if name in after else other.after[name]
    return QuotaCharge(
        quota_charge.quota, requested, {**other.used, **quota_charge.used}, after, {**other.hard, **quota_charge.hard}
    )
