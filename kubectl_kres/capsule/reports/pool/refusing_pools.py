"""From a quota that Capsule keeps to its pool and the namespace's claims on it: what to ask for where it refuses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kubectl_kres.admission.base.outcome import Finding
from kubectl_kres.capsule.model import GROUP, VERSION, ResourcePoolClaim, quota_name
from kubectl_kres.capsule.reports.claim.sizing import claim_prospect, growth
from kubectl_kres.capsule.reports.common.amount_lists import amount_texts, parse_amounts, sentence, texts
from kubectl_kres.capsule.reports.common.claim_state import WAITING, claim_standing_of
from kubectl_kres.capsule.reports.common.part import PoolTrail, TrailClaim
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex
from kubectl_kres.capsule.reports.unblock.actions import resize_claim
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.record import Wording
from kubectl_kres.reports.common.remedy import CreateObject, Edit, EditClaim
from kubectl_kres.reports.common.system import MoreRoom
from kubectl_kres.reports.remedies.context import RemedyContext, RemedyTexts, quota_excess, room_left
from kubectl_kres.reports.remedies.pod_remedy import exceeded_remedies as usual
from kubectl_kres.store.store import ReadRequest, Store
from kubectl_kres.wording import join_some


def find_refusing_pools(
    store: Store, namespace: str, managed: Mapping[str, str], findings: Iterable[Finding]
) -> tuple[PoolTrail, ...]:
    """Return one for each managed quota among the refusals. ``managed``: the pools of the quotas by their names."""
    lacks: dict[str, dict[str, str]] = {}
    for finding in findings:
        name = finding.source.name if finding.source is not None else ""
        if finding.rule == "quota/exceeded" and name in managed and (result := quota_excess(finding)) is not None:
            lacks.setdefault(name, {})[finding.resource] = str(result.shortage)
    context = PoolIndex(store)
    return tuple(_build_trail(context, namespace, name, managed[name], amounts) for name, amounts in lacks.items())


def more_room(store: Store, ref: ObjectRef, lacks: Mapping[str, Mapping[str, str]]) -> MoreRoom:
    """Claims for more of each pool, instead of a higher hard. ``ref``: the object whose pods need it."""
    context, space = PoolIndex(store), ref.namespace
    pools = [_build_trail(context, space, quota_name(pool), pool, more) for pool, more in lacks.items()]
    return MoreRoom(
        tuple(edit for refusing_pool in pools for edit in _claim_edits(refusing_pool, ref)),
        tuple(refusing_pool.grow.command for refusing_pool in pools if refusing_pool.grow is not None),
        tuple(text for refusing_pool in pools if refusing_pool.grow is None and (text := waiting_words(refusing_pool))),
        all(refusing_pool.known for refusing_pool in pools),
        pools[0].quota,
        "Capsule keeps the quota: raising its hard would be undone",
    )


def _claim_edits(refusing_pool: PoolTrail, ref: ObjectRef) -> Iterator[Edit]:
    if refusing_pool.grow is not None:
        requested = next(
            (claim.requested for claim in refusing_pool.claims or () if claim.subject == refusing_pool.grow.subject), {}
        )
        for name, amount in refusing_pool.grow.amounts.items():
            yield EditClaim(refusing_pool.grow.subject, f"spec.claim[{name}]", name, amount, requested.get(name))
        return
    name = f"{ref.name}-more"
    manifest = {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "ResourcePoolClaim",
        "metadata": {"name": name, "namespace": ref.namespace},
        "spec": {"pool": refusing_pool.pool, "claim": dict(refusing_pool.to_claim)},
    }
    yield CreateObject(ObjectRef("ResourcePoolClaim", name, ref.namespace), manifest)


def _build_trail(context: PoolIndex, space: str, quota: str, name: str, lacks: Mapping[str, str]) -> PoolTrail:
    read = context.store.covered(ReadRequest("ResourcePoolClaim", space)).state == "read"
    claims = tuple(_claims(context.store, space, name)) if read else None
    pool, more = context.pools.get(name), parse_amounts(lacks)
    if pool is None:
        return PoolTrail(quota, name, lacks, claims)
    met, result = claim_prospect(context, pool, space, more), growth(context, pool, space, more)
    grow = None
    if result is not None:
        grow = resize_claim(
            context.store.origin, (result.claim.namespace, result.claim.name), amount_texts(result.amounts), {}
        )
    return PoolTrail(quota, name, lacks, claims, amount_texts(met.lacks), met.closed, met.behind, grow, known=True)


def claim_remedies(store: Store, namespace: str, managed: Mapping[str, str]) -> Mapping[str, RemedyTexts]:
    """Return the remedy of a quota that is exceeded, where pools keep some (``managed``: by their names): its hard
    cannot be raised but by a claim.
    """
    context = PoolIndex(store)

    def word_remedy(case: RemedyContext) -> Iterator[Wording]:
        finding = case.finding
        pool = managed.get(finding.source.name if finding.source is not None else "")
        result = quota_excess(finding)
        if pool is None or result is None:
            yield from usual(case)
            return
        name, lack = finding.resource, str(result.shortage)
        refusing_pool = _build_trail(context, namespace, "", pool, {name: lack})
        freed = f", or free {lack} of it in the namespace" if result.used >= result.shortage else ""
        claim = _format_claim_remedy(refusing_pool, name, lack)
        left = room_left(name, result)
        less = f", or ask for at most {left} in total" if left else ""
        yield f"{claim}{freed}{less} ({_format_pool_reason(refusing_pool)})"

    return {"quota/exceeded": word_remedy}


def _format_claim_remedy(refusing_pool: PoolTrail, resource: str, lack: str) -> str:
    """Return what to claim, with an edit where a new claim would wait and the edit does not."""
    if refusing_pool.grow is not None and (refusing_pool.closed_resources or refusing_pool.short_by):
        amount = refusing_pool.grow.amounts[resource]
        return f"raise {resource} of claim {refusing_pool.grow.subject.name} (unused) to {amount}"
    return f"create a claim on pool {refusing_pool.pool} for {lack} more of {resource}"


def _format_pool_reason(refusing_pool: PoolTrail) -> str:
    """Return what is wrong about a quota of a pool's; a new claim would wait."""
    kept = "Capsule keeps the quota: raising its hard would be undone"
    return (
        f"{kept}; {waiting_words(refusing_pool)}" if refusing_pool.closed_resources or refusing_pool.short_by else kept
    )


def waiting_words(refusing_pool: PoolTrail) -> str:
    """Return why a new claim would wait; empty: it would not, or nobody knows."""
    if not refusing_pool.known:
        own = [claim.subject.name for claim in refusing_pool.claims or () if claim.state in WAITING]
        if not own:
            return ""
        verb = (
            "claim {} of this namespace already waits" if len(own) == 1 else "claims {} of this namespace already wait"
        )
        return f"{verb.format(join_some(own, 3))} in pool {refusing_pool.pool}, so a new claim would probably wait, too"
    parts = []
    if refusing_pool.short_by:
        parts.append(f"pool {refusing_pool.pool} is short by {sentence(refusing_pool.short_by)}")
    if refusing_pool.closed_resources:
        first = [object_ref.key for object_ref in refusing_pool.closed_by]
        waits = f"{join_some(first, 3)} wait{'s' * (len(first) == 1)}" if first else "earlier claims in the queue wait"
        parts.append(f"in its ordered queue {waits} for {join_some(refusing_pool.closed_resources)}")
    return f"{' and '.join(parts)}, so a new claim would wait" if parts else ""


def _claims(store: Store, namespace: str, pool: str) -> Iterator[TrailClaim]:
    claims: Iterable[ResourcePoolClaim] = store.all("ResourcePoolClaim", namespace)
    for claim in claims:
        status = claim.status.pool
        if (status.name if status is not None else claim.spec.pool) == pool:
            ref = ObjectRef("ResourcePoolClaim", claim.metadata.name, namespace)
            yield TrailClaim(ref, claim_standing_of(claim).state, texts(claim.spec.claim))
