"""One pool as a report: its structs, who uses what it shares out, and what can be said of one that may not be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter

from msgspec import structs

from kubectl_kres.admission.base.server import Server
from kubectl_kres.capsule.model import ResourcePool, pool_of
from kubectl_kres.capsule.reports.common.amount_lists import amount_texts, parse_amounts, texts
from kubectl_kres.capsule.reports.common.claim_state import HELD, WAITING, ClaimState
from kubectl_kres.capsule.reports.common.needs import pool_needs
from kubectl_kres.capsule.reports.common.pool_index import ClaimStates, PoolIndex, excess_usage
from kubectl_kres.capsule.reports.pool.pool_warnings import NamespaceNote, OverusedNamespace
from kubectl_kres.capsule.reports.unblock.actions import ref_of
from kubectl_kres.capsule.rules.allocation import add_amounts, queue_key
from kubectl_kres.model.objects import ObjectRef, ResourceQuota
from kubectl_kres.record import Record, Sentence
from kubectl_kres.reports.common.explanation import EvaluationOptions, FailedRead, LastEdit
from kubectl_kres.reports.quota.quota_report import used_by
from kubectl_kres.reports.quota.usage_tree import UsageNode, counting_needs, owner_needs, parent_node, with_shares
from kubectl_kres.store.store import ReadRequest, Store


class PoolUse(Record, frozen=True):
    """One resource of a pool: ``claimed`` + ``available`` = ``hard``; ``available`` may be negative.

    percent: claimed of hard, in whole hundredths; absent if hard is zero. used: what pods use of the managed quotas,
    absent where those were not read. wanted: what claims that do not fit ask for, in sum; offered: what they were
    offered. default: what every namespace gets without a claim.
    """

    name: str
    hard: str
    claimed: str
    available: str
    percent: int | None = None
    used: str | None = None
    wanted: str | None = None
    offered: str | None = None
    default: str | None = None

    @property
    def is_exceeded(self) -> bool:
        """Return whether claims hold more than there is."""
        return self.available.startswith("-")


class PoolNamespace(Record, frozen=True):
    """A namespace of a pool. ``matched_selectors``: the selectors that match it, in words; empty: none of them does
    now.

    claimed: what its claims hold. percents: of ``hard``. used: what its pods use of the managed quota. note: what is
    wrong with it. quota: what the managed quota allows, only where the pool itself was not read.
    """

    name: str
    matched_selectors: tuple[str, ...] = ()
    claims: int = 0
    claimed: Mapping[str, str] = {}
    percents: Mapping[str, int] = {}
    used: Mapping[str, str] | None = None
    note: NamespaceNote | None = None
    quota: Mapping[str, str] | None = None


class Holder(Record, frozen=True):
    """A claim that the pool's status lists, with what it holds. ``state`` absent: the claim was not read."""

    subject: ObjectRef
    holds: Mapping[str, str]
    state: ClaimState | None = None


class Queued(Record, frozen=True):
    """A claim that waits, in its place. ``short_by``: what is missing; ``closed_resources``: resources that are closed
    for it.
    """

    position: int
    subject: ObjectRef
    state: ClaimState
    requested: Mapping[str, str]
    short_by: Mapping[str, str] = {}
    closed_resources: tuple[str, ...] = ()
    created: str = ""


class PoolReport(Record, frozen=True):
    """A pool. ``ready`` absent: the controller has not said; ``message`` is its own sentence.

    selectors: in words, as they are ORed. options: those that are on, in words. queue: who waits, absent where claims
    were not read. claims: how many hold something. tree: who uses what is shared out, down to the values of pods,
    where that was asked for. glimpse: the pool may not be read, and this is what the quotas and
    claims of the namespaces that were read tell; a place of 0 in the queue is not known.
    """

    subject: ObjectRef
    uses: tuple[PoolUse, ...] = ()
    namespaces: tuple[PoolNamespace, ...] = ()
    selectors: tuple[str, ...] = ()
    claims: int = 0
    holders: tuple[Holder, ...] = ()
    queue: tuple[Queued, ...] | None = None
    tree: tuple[UsageNode, ...] = ()
    ordered: bool = False
    options: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    ready: bool | None = None
    message: str = ""
    warnings: tuple[Sentence | str, ...] = ()
    edits: Mapping[str, LastEdit] = {}
    predicted: bool = False
    glimpse: bool = False
    unread: tuple[FailedRead, ...] = ()
    complete: bool = True

    @property
    def exhausted(self) -> bool:
        """Return whether claims do not fit."""
        return any(use.wanted is not None for use in self.uses)


def pool_tree(context: PoolIndex, pool: ResourcePool, options: EvaluationOptions) -> tuple[UsageNode, ...]:
    """Return a node for each namespace whose quota of the pool was read, with shares of what all of them use.

    Raises UsageError where an object holds what is no quantity.
    """
    return with_shares(tuple(_namespaces(context, pool, options)))


def _namespaces(context: PoolIndex, pool: ResourcePool, options: EvaluationOptions) -> Iterator[UsageNode]:
    for space, quota in _quotas(context, pool).items():
        name = quota.metadata.name
        hard = quota.status.hard or quota.spec.hard or {}
        inside = parent_node(
            used_by(context.store, quota, options), f"ResourceQuota/{name}", ObjectRef("ResourceQuota", name, space)
        )
        claims = tuple(sorted(pool_claim.name for pool_claim in (pool.status.claims or {}).get(space, ())))
        kept = structs.replace(inside, hard={key: str(hard[key]) for key in sorted(hard)}, claims=claims)
        yield parent_node([kept], f"Namespace/{space}", ObjectRef("Namespace", space))


def _quotas(context: PoolIndex, pool: ResourcePool) -> Mapping[str, ResourceQuota]:
    """By namespace the quota that the pool keeps there."""
    resource_quotas = {space: context.quota(pool.metadata.name, space) for space in sorted(context.spaces(pool))}
    return {space: quota for space, quota in resource_quotas.items() if quota is not None}


def tree_needs(store: Store, name: str, server: Server) -> Iterator[ReadRequest]:
    """Yield what counts in the namespaces of a pool, as far as these are known by now."""
    yield from pool_needs(store, name)
    pool: ResourcePool | None = store.get("ResourcePool", name)
    if pool is None:
        return
    for space, quota in _quotas(PoolIndex(store), pool).items():
        yield from counting_needs([quota], server, space)
        yield ReadRequest("LimitRange", space)
        yield from owner_needs(store, space)


def unread_pool_names(context: PoolIndex) -> tuple[str, ...]:
    """Pools that are not read, and that show in quotas or claims that are, by name."""
    quotas: Iterator[ResourceQuota] = context.store.all("ResourceQuota")
    texts = {pool for quota in quotas if (pool := pool_of(quota))}
    for claim in context.claims:
        status = claim.claim.status.pool
        if status is not None and status.name:
            texts.add(status.name)
    return tuple(sorted(texts - context.pools.keys()))


def report_unreadable_pool(context: PoolIndex, name: str) -> PoolReport:
    """Nothing of the pool's own amounts; places in its queue are those among the claims that were read, and so 0."""
    claims = context.claims_of_pool(name)
    pairs = [claim for claim in claims if claim.standing.state in HELD]
    queue = sorted(
        (claim for claim in claims if claim.standing.state in WAITING), key=lambda standings: queue_key(standings.claim)
    )
    quotas = {
        resource_quota.metadata.namespace: resource_quota
        for resource_quota in context.store.all("ResourceQuota")
        if pool_of(resource_quota) == name
    }
    shown_in = sorted({*quotas, *(claim.claim.metadata.namespace for claim in claims)})
    coverage = context.store.covered(ReadRequest("ResourcePool", name=name))
    return PoolReport(
        ObjectRef("ResourcePool", name),
        namespaces=tuple(_namespace(context, name, space, pairs, quotas.get(space)) for space in shown_in),
        claims=len(pairs),
        holders=tuple(
            Holder(_ref(standings), texts(standings.claim.spec.claim), standings.standing.state) for standings in pairs
        ),
        queue=tuple(map(_build_queued, queue)),
        warnings=tuple(_warnings(sorted(quotas.values(), key=attrgetter("metadata.namespace")))),
        unread=(FailedRead("ResourcePool", coverage.state, "", name, coverage.message, required=False),),
        glimpse=True,
    )


def _ref(standings: ClaimStates) -> ObjectRef:
    return ref_of((standings.claim.metadata.namespace, standings.claim.metadata.name))


def _namespace(
    context: PoolIndex, pool: str, space: str, pairs: Sequence[ClaimStates], quota: ResourceQuota | None
) -> PoolNamespace:
    mine = [standings for standings in pairs if standings.claim.metadata.namespace == space]
    gone = NamespaceNote("no-quota" if context.quotas_known(pool, space) else "quota-unknown")
    return PoolNamespace(
        space,
        claims=len(mine),
        claimed=amount_texts(add_amounts(parse_amounts(standings.claim.spec.claim) for standings in mine)),
        used=amount_texts(parse_amounts(quota.status.used)) if quota is not None else None,
        note=None if quota is not None else gone,
        quota=amount_texts(parse_amounts(quota.spec.hard)) if quota is not None else None,
    )


def _build_queued(standings: ClaimStates) -> Queued:
    """Return what is short only its own condition says."""
    claim, claim_standing = standings
    left, requested = parse_amounts(claim_standing.available), parse_amounts(claim.spec.claim)
    lacks = {
        name: str(requested[name] - left[name])
        for name in sorted(left)
        if name in requested and requested[name] > left[name]
    }
    behind = tuple(sorted(claim_standing.queued))
    created = claim.metadata.creation_timestamp or ""
    return Queued(0, _ref(standings), claim_standing.state, texts(claim.spec.claim), lacks, behind, created)


def _warnings(quotas: Sequence[ResourceQuota]) -> Iterator[OverusedNamespace]:
    for quota in quotas:
        over = excess_usage(quota)
        if over:
            yield OverusedNamespace(quota.metadata.namespace, amount_texts(over))
