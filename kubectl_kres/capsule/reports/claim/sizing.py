"""The answer of ``claims --for``: what has to be claimed so that all pods of a workload fit, and what such a claim
would meet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from msgspec import structs

from kubectl_kres.admission.quota.quota_admission import QuotaRequest
from kubectl_kres.admission.quota.usage import requirements
from kubectl_kres.admission.request.new_pod import quota_request
from kubectl_kres.capsule.model import PREFIX, ResourcePool, ResourcePoolClaim
from kubectl_kres.capsule.reports.common.amount_lists import amount_texts, parse_amounts
from kubectl_kres.capsule.reports.common.claim_action import ClaimAction
from kubectl_kres.capsule.reports.common.claim_state import HELD
from kubectl_kres.capsule.reports.common.needs import file_needs
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex, shares, short
from kubectl_kres.capsule.reports.common.pool_run import build_trial
from kubectl_kres.capsule.reports.unblock.actions import ref_of, resize_claim
from kubectl_kres.capsule.rules.allocation import Amounts, ClaimCandidate, add_amounts, allocate
from kubectl_kres.model.objects import ManagedMetadata, ObjectRef, ResourceQuota
from kubectl_kres.model.workload import Workload
from kubectl_kres.quantity import ZERO, Quantity, maximum
from kubectl_kres.record import Record, Wording
from kubectl_kres.reports.common.explanation import EvaluationOptions, FailedRead, Subject, manifest_workload
from kubectl_kres.reports.common.replicas import Replicas, replicas_of
from kubectl_kres.reports.explain.explain import analysis_of_another, build_explanation
from kubectl_kres.reports.pod.needs import evaluation_needs
from kubectl_kres.store.store import ReadRequest, Store


class NewClaimOutcome(NamedTuple):
    """lacks: what the pool has too little of. closed: resources that earlier claims wait for, in an ordered queue.

    behind: the claims that close them, where claims were read.
    """

    lacks: Amounts
    closed: tuple[str, ...] = ()
    behind: tuple[ObjectRef, ...] = ()

    @property
    def is_waiting(self) -> bool:
        """Return whether such a claim would not be allocated at once."""
        return bool(self.lacks or self.closed)


class GrownClaim(NamedTuple):
    """A claim that is allocated and unused, with its amounts if it asked for the missing ones, too."""

    claim: ObjectRef
    amounts: Amounts


def claim_prospect(context: PoolIndex, pool: ResourcePool, space: str, requested: Amounts) -> NewClaimOutcome:
    """Of a claim that is created now, and so goes to the end of the queue.

    Where the claims of others were not read, the pool's status still says what is waited for.
    """
    room = context.room(pool)
    lacks = {
        name: amount - room[name] if name in room and amount > room[name] else amount
        for name, amount in requested.items()
        if short(amount, room.get(name))
    }
    if not pool.spec.config.ordered_queue:
        return NewClaimOutcome(lacks)
    if not context.claims_known(pool):
        return NewClaimOutcome(lacks, tuple(sorted(requested.keys() & (pool.status.exhaustions or {}).keys())))
    claim = ResourcePoolClaim(ManagedMetadata(namespace=space))
    claim_turn = build_trial(context, pool).with_claim(ClaimCandidate(claim, requested)).find_turn((space, ""))
    if claim_turn is None or claim_turn.result != "queue":
        return NewClaimOutcome(lacks)
    behind = dict.fromkeys(
        ref_of(comparison.by) for comparison in claim_turn.comparisons() if comparison.by is not None
    )
    return NewClaimOutcome(lacks, claim_turn.short, tuple(behind))


def growth(context: PoolIndex, pool: ResourcePool, space: str, more: Amounts) -> GrownClaim | None:
    """Return a claim of the namespace that may be edited, and that gets ``more`` at once if it is: whoever holds
    something is asked before those who wait. None: there is none.
    """
    if pool.metadata.deletion_timestamp:
        return None
    claim_shares = shares(pool)
    for claim, claim_standing in context.claims_of_pool(pool.metadata.name):
        entry = context.entry(pool, claim)
        if (
            claim.metadata.namespace != space
            or claim_standing.state not in HELD - {"in use"}
            or claim_standing.old
            or entry is None
        ):
            continue
        now = parse_amounts(claim.spec.claim)
        wanted_amounts = add_amounts((now, more))
        after = allocate(
            context.hard(pool),
            claim_shares,
            [ClaimCandidate(claim, wanted_amounts)],
            ordered=pool.spec.config.ordered_queue,
        )
        if after.turns[0].result == "changed":
            return GrownClaim(ref_of((space, claim.metadata.name)), {name: wanted_amounts[name] for name in more})
    return None


class SizedAmount(Record, frozen=True):
    """One resource. per_pod: what a pod counts for; total: of the pods that are wanted; peak: with those of an update.

    hard, used: of the managed quota now; absent: it does not limit the resource. to_claim: what has to be claimed more;
    absent: nothing. free: of the pool; absent: not known.
    """

    name: str
    per_pod: str
    total: str
    peak: str
    hard: str | None = None
    used: str | None = None
    to_claim: str | None = None
    free: str | None = None
    short_by: str | None = None


class SizedPool(Record, frozen=True):
    """What a pool that serves the namespace would have to be asked for. ``counts`` False: its scopes leave such pods
    out. ``known`` False: the pool itself could not be read, only its quota. ``closed_resources``: what earlier claims
    wait for in its ordered queue, so that such a claim would wait, too; ``closed_by``: these claims, where they were
    read. ``grow``: the edit of an unused claim that gets all of it at once.
    """

    pool: str
    amounts: tuple[SizedAmount, ...] = ()
    counts: bool = True
    known: bool = True
    closed_resources: tuple[str, ...] = ()
    closed_by: tuple[ObjectRef, ...] = ()
    grow: ClaimAction | None = None

    @property
    def claim(self) -> Mapping[str, str]:
        """The amounts of one more claim; empty: no claim is needed."""
        return {amount.name: amount.to_claim for amount in self.amounts if amount.to_claim is not None}

    @property
    def fits(self) -> bool:
        """Return whether the pool has room for that, as far as is known."""
        return not self.closed_resources and not any(amount.short_by for amount in self.amounts)


class Sizing(Record, frozen=True):
    """What a workload needs of each pool. ``pods``: how many there may be at once; ``more``: how many of them are still
    to come. ``doubt``: why admission may make other pods of it.
    """

    subject: ObjectRef
    start: Wording
    pods: int
    more: int
    pools: tuple[SizedPool, ...]
    replicas: Replicas | None = None
    doubt: str = ""
    unread: tuple[FailedRead, ...] = ()
    complete: bool = True


def sizing_needs(store: Store, subject: Subject) -> tuple[ReadRequest, ...]:
    """Return what an explanation needs, the pools, and who else waits."""
    pools, claims = ReadRequest("ResourcePool", required=False), ReadRequest("ResourcePoolClaim", required=False)
    return (
        *evaluation_needs(store, subject),
        pools,
        *file_needs(store),
        *((claims,) if any(store.all("ResourcePool")) else ()),
    )


def size_claim(store: Store, subject: Subject, options: EvaluationOptions) -> Sizing:
    """Raises NotFound if the object is not in the store, UsageError if it neither is a pod nor makes pods."""
    analysis = analysis_of_another(store, subject, options)
    manifest, explanation = analysis.manifest, build_explanation(store, subject, options, analysis)
    workload = manifest.owner or manifest_workload(subject)
    replicas = replicas_of(subject.ref.kind, workload) if isinstance(workload, Workload) else None
    count = _count_pods(replicas)
    outcome = next((outcome for outcome in analysis.outcomes if outcome.draft is not None), analysis.outcomes[0])
    request = quota_request(manifest.pod, outcome.draft) if outcome.draft is not None else None
    context = PoolIndex(store)
    pools = tuple(_pools(context, subject.ref.namespace, request, count)) if request is not None else ()
    values = {value.path for container in explanation.containers for value in container.values if value.alternatives}
    return Sizing(
        subject.ref,
        explanation.start,
        count.pods,
        count.more,
        pools,
        replicas,
        "its requests and limits depend on the order of LimitRanges" if values else "",
        tuple(failed_read for failed_read in explanation.unread if failed_read.required),
        explanation.complete,
    )


class _Count(NamedTuple):
    """How many pods there may be at once, how many of them do not exist, and how many are wanted for good."""

    pods: int
    more: int
    wanted: int


def _count_pods(replicas: Replicas | None) -> _Count:
    """Return the number of pods to count: one that is still to come for a single pod, or a kind without a number of
    pods.
    """
    if replicas is None:
        return _Count(1, 1, 1)
    maximum = max(replicas.wanted + replicas.surge, replicas.existing)
    return _Count(maximum, maximum - replicas.existing, replicas.wanted)


def _pools(context: PoolIndex, space: str, request: QuotaRequest, count: _Count) -> Iterator[SizedPool]:
    """Yield the pools that serve the namespace; those that only show by their quotas, too."""
    quotas = {
        resource_quota.metadata.name.removeprefix(PREFIX): resource_quota
        for resource_quota in context.store.all("ResourceQuota", space)
        if resource_quota.metadata.name.startswith(PREFIX)
    }
    names = {name for name, pool in context.pools.items() if space in context.spaces(pool)}
    for name in sorted(names | quotas.keys()):
        pool, quota = context.pools.get(name), quotas.get(name)
        spec = pool.spec.quota if pool is not None else quota.spec if quota is not None else None
        if spec is not None and not all(map(request.in_scope, requirements(spec))):
            yield SizedPool(name, counts=False, known=pool is not None)
            continue
        amounts = tuple(_amounts(context, pool, quota, request.usage, count))
        sized = SizedPool(name, amounts, known=pool is not None)
        if pool is None or not sized.claim:
            yield sized
            continue
        more = parse_amounts(sized.claim)
        met, result = claim_prospect(context, pool, space, more), growth(context, pool, space, more)
        origin, grow = context.store.origin, None
        if result is not None:
            grow = resize_claim(origin, (space, result.claim.name), amount_texts(result.amounts), {})
        yield structs.replace(sized, closed_resources=met.closed, closed_by=met.behind, grow=grow)


def _amounts(
    context: PoolIndex, pool: ResourcePool | None, quota: ResourceQuota | None, usage: Amounts, count: _Count
) -> Iterator[SizedAmount]:
    hard = parse_amounts(quota.spec.hard) if quota is not None else {}
    used = parse_amounts(quota.status.used) if quota is not None else {}
    room = context.room(pool) if pool is not None else {}
    shared = context.hard(pool).keys() if pool is not None else hard.keys()
    for name in sorted(shared):
        each = usage.get(name)
        if each is None or not each.nano:
            continue
        pods, more, wanted_count = count
        # The pods that exist are in the use, or will be as soon as the quota has counted them.
        now = maximum(used.get(name, ZERO), _times(each, pods - more))
        claim = _claim(hard.get(name), now, _times(each, more), _times(each, pods))
        left = room.get(name)
        lacks = claim - left if claim is not None and left is not None and left < claim else None
        yield SizedAmount(
            name,
            str(each),
            str(_times(each, wanted_count)),
            str(_times(each, pods)),
            str(hard[name]) if name in hard else None,
            str(now) if name in hard else None,
            str(claim) if claim is not None else None,
            str(left) if left is not None else None,
            str(lacks) if lacks is not None else None,
        )


def _claim(hard: Quantity | None, used: Quantity, more: Quantity, peak: Quantity) -> Quantity | None:
    """Return what is missing in the quota; of a resource that no quota limits yet, all of it, since a claim
    begins to.
    """
    if hard is None:
        return peak
    missing = used + more - hard
    return missing if missing > ZERO else None


def _times(quantity: Quantity, count: int) -> Quantity:
    return Quantity(quantity.nano * count, quantity.format)
