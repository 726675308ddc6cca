"""What ``explain`` says of a pool, and which of the answers for claims and pools an object gets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import structs

from kubectl_kres.capsule.model import ResourcePool, quota_name
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex
from kubectl_kres.capsule.reports.common.pool_room import shares
from kubectl_kres.capsule.reports.common.unseen import is_whole, unseen_of_pool
from kubectl_kres.capsule.reports.explain.claim_or_pool import ClaimExplanation, PoolExplanation, QuotaSums
from kubectl_kres.capsule.reports.explain.explain_claim import explain_claim, pool_conditions
from kubectl_kres.capsule.reports.explain.queue_turns import shown_turns, turns_of
from kubectl_kres.capsule.reports.pool.pools import pool_report
from kubectl_kres.capsule.reports.pool.tenant_view import glimpsed, pool_glimpse
from kubectl_kres.capsule.reports.simulate.prediction import predicted
from kubectl_kres.capsule.rules.managed import terms_of
from kubectl_kres.errors import UsageError
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.reports.common.explanation import Unseen
from kubectl_kres.reports.common.resource_lists import listed
from kubectl_kres.reports.common.subject import Subject
from kubectl_kres.reports.pod.manifest_source import missing
from kubectl_kres.store.store import Store

KINDS = ("ResourcePool", "ResourcePoolClaim")


class Explaining:
    """Explains many claims and pools of one store; what they share is looked up once."""

    def __init__(self, store: Store) -> None:
        self._store, self._found = store, predicted(store)
        self._scene = PoolIndex(self._found.store)

    @property
    def supposed(self) -> tuple[str, ...]:
        """What had to be assumed about objects in files."""
        return self._found.supposed

    def explain(self, subject: Subject) -> ClaimExplanation | PoolExplanation:
        """Raises NotFound or Forbidden if the object cannot be had, UsageError if the server would not take it."""
        ref = subject.ref
        if self._store.get(ref.kind, ref.name, ref.namespace) is None:
            if ref.kind == "ResourcePool" and ref.name in glimpsed(self._scene):
                return PoolExplanation(pool_glimpse(self._scene, ref.name))
            raise missing(self._store, subject)
        if ref in self._found.refused:
            raise UsageError(f"{ref}: {self._found.refused[ref]}")
        item: Any = self._found.store.get(ref.kind, ref.name, ref.namespace)
        if ref.kind == "ResourcePool":
            return explain_pool(self._scene, item)
        claim_explanation = explain_claim(self._scene, item)
        return structs.replace(claim_explanation, claim=self._found.noted(ref, claim_explanation.claim))


def unseen_in(value: ClaimExplanation | PoolExplanation) -> tuple[Unseen, ...]:
    """What the answer could not see."""
    return value.claim.unseen if isinstance(value, ClaimExplanation) else value.pool.unseen


def negative(value: ClaimExplanation | PoolExplanation) -> bool:
    """Whether a claim waits, or a pool does not serve all of its claims."""
    if isinstance(value, ClaimExplanation):
        return value.claim.waits
    return value.pool.exhausted or value.pool.ready is False


def explain_pool(scene: PoolIndex, pool: ResourcePool) -> PoolExplanation:
    """The pass over its claims only where all of them were read."""
    unseen = unseen_of_pool(scene, pool)
    report = structs.replace(pool_report(scene, pool), unseen=unseen, complete=is_whole(unseen))
    turns = turns_of(scene, pool) if scene.claims_known(pool) else ()
    return PoolExplanation(
        report,
        tuple(shown_turns(turns)),
        pool_conditions(pool),
        tuple(_quotas(scene, pool)),
        tuple(_bounds(scene, pool)),
        tuple(_follows(pool, len(report.queue or ()), report.claims)),
    )


def _quotas(scene: PoolIndex, pool: ResourcePool) -> Iterator[QuotaSums]:
    claim_shares = shares(pool)
    for space in sorted(scene.spaces(pool)):
        ref = ObjectRef("ResourceQuota", quota_name(pool.metadata.name), space)
        yield QuotaSums(
            ref, terms_of(pool, [claim_share for claim_share in claim_shares if claim_share.namespace == space])
        )


def _bounds(scene: PoolIndex, pool: ResourcePool) -> Iterator[str]:
    """What the webhook refuses: only what claims hold is protected, and only against changes of the pool."""
    taken = {name: amount for name, amount in scene.taken(pool).items() if amount.nano > 0}
    for name, amount in sorted(taken.items()):
        yield f"{name} may be lowered to {amount}, which claims hold, and not be removed"
    free = sorted(scene.hard(pool).keys() - taken.keys())
    if free:
        yield f"{listed(free)} may be lowered or removed: no claim holds any"
    if pool.status.namespaces:
        yield "scopes may not change: Kubernetes refuses that for a quota, and the pool would fail"


def _follows(pool: ResourcePool, waiting: int, number: int) -> Iterator[str]:
    """What a deletion leads to; it is never refused. Source: the garbage collector goes by owner references."""
    if pool.spec.config.delete_bound_resources:
        yield f"all of its claims are deleted ({number} allocated, {waiting} waiting), also those in use"
    else:
        if number:
            yield f"{number} allocated claim{'s are' if number != 1 else ' is'} kept, without a pool, and Ready=False"
        if waiting:
            yield f"{waiting} waiting claim{'s are' if waiting != 1 else ' is'} deleted by the garbage collector"
    spaces = len(pool.status.namespaces or ())
    if spaces:
        yield f"its quota goes in {spaces} namespace{'s' * (spaces != 1)}: nothing limits these resources there then"
