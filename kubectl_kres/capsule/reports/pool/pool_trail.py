"""From a quota that Capsule keeps to its pool and the namespace's claims on it: what to ask for where it refuses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kubectl_kres.admission.base.outcome import Finding
from kubectl_kres.capsule.model import GROUP, VERSION, ResourcePoolClaim, quota_name
from kubectl_kres.capsule.reports import kept_quotas
from kubectl_kres.capsule.reports.claim.sizing import claim_prospect, growth
from kubectl_kres.capsule.reports.common.amount_lists import amount_texts, parse_amounts, sentence, texts
from kubectl_kres.capsule.reports.common.claim_state import claim_standing_of
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex
from kubectl_kres.capsule.reports.unblock.actions import resize_claim
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.common.parts import CreateObject, Edit, EditClaim, PoolTrail, TrailClaim
from kubectl_kres.reports.common.resource_lists import join_words
from kubectl_kres.reports.common.system import MoreRoom
from kubectl_kres.reports.remedies.context import RemedyContext, RemedyTexts, asking_less, quota_excess
from kubectl_kres.reports.remedies.pod_remedy import exceeded_remedies as usual
from kubectl_kres.store.store import ReadRequest, Store


def trails(store: Store, namespace: str, findings: Iterable[Finding]) -> tuple[PoolTrail, ...]:
    """Return one for each managed quota among the refusals."""
    managed = kept_quotas(store, namespace)
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
        tuple(edit for trail in pools for edit in _claim_edits(trail, ref)),
        tuple(trail.grow.command for trail in pools if trail.grow is not None),
        tuple(text for trail in pools if trail.grow is None and (text := waiting_words(trail))),
        all(trail.known for trail in pools),
        pools[0].quota,
        "Capsule keeps the quota: raising its hard would be undone",
    )


def _claim_edits(trail: PoolTrail, ref: ObjectRef) -> Iterator[Edit]:
    if trail.grow is not None:
        requested = next((claim.asks for claim in trail.claims or () if claim.subject == trail.grow.subject), {})
        for name, amount in trail.grow.amounts.items():
            yield EditClaim(trail.grow.subject, f"spec.claim[{name}]", name, amount, requested.get(name))
        return
    name = f"{ref.name}-more"
    manifest = {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "ResourcePoolClaim",
        "metadata": {"name": name, "namespace": ref.namespace},
        "spec": {"pool": trail.pool, "claim": dict(trail.lacks)},
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


def claim_remedies(store: Store, namespace: str) -> Mapping[str, RemedyTexts]:
    """Return the remedy of a quota that is exceeded, where pools keep some: its hard cannot be raised but by a
    claim.
    """
    managed = kept_quotas(store, namespace)
    if not managed:
        return {}
    context = PoolIndex(store)

    def word_remedy(case: RemedyContext) -> Iterator[str]:
        finding = case.finding
        pool = managed.get(finding.source.name if finding.source is not None else "")
        result = quota_excess(finding)
        if pool is None or result is None:
            yield from usual(case)
            return
        name, lack = finding.resource, str(result.shortage)
        trail = _build_trail(context, namespace, "", pool, {name: lack})
        freed = f", or free {lack} of it in the namespace" if result.used >= result.shortage else ""
        claim = _format_claim_remedy(trail, name, lack)
        yield f"{claim}{freed}{asking_less(name, result)} ({_format_pool_reason(trail)})"

    return {"quota/exceeded": word_remedy}


def _format_claim_remedy(trail: PoolTrail, resource: str, lack: str) -> str:
    """Return what to claim, with an edit where a new claim would wait and the edit does not."""
    if trail.grow is not None and (trail.closed or trail.short):
        amount = trail.grow.amounts[resource]
        return f"let claim {trail.grow.subject.name}, which is unused, ask for {resource} {amount}"
    return f"claim {lack} more of {resource} from pool {trail.pool}"


def _format_pool_reason(trail: PoolTrail) -> str:
    """Return what is wrong about a quota of a pool's; a new claim would wait."""
    kept = "Capsule keeps the quota: raising its hard would be undone"
    return f"{kept}; {waiting_words(trail)}" if trail.closed or trail.short else kept


def waiting_words(trail: PoolTrail) -> str:
    """Return why a new claim would wait; empty: it would not, or nobody knows."""
    parts = []
    if trail.short:
        parts.append(f"pool {trail.pool} lacks {sentence(trail.short)}")
    if trail.closed:
        first = [object_ref.key for object_ref in trail.behind]
        waits = f"{join_words(first, 3)} wait{'s' * (len(first) == 1)}" if first else "earlier claims in the queue wait"
        parts.append(f"in its ordered queue {waits} for {join_words(trail.closed)}")
    return f"{' and '.join(parts)}, so a new claim would wait" if parts else ""


def _claims(store: Store, namespace: str, pool: str) -> Iterator[TrailClaim]:
    claims: Iterable[ResourcePoolClaim] = store.all("ResourcePoolClaim", namespace)
    for claim in claims:
        status = claim.status.pool
        if (status.name if status is not None else claim.spec.pool) == pool:
            ref = ObjectRef("ResourcePoolClaim", claim.metadata.name, namespace)
            yield TrailClaim(ref, claim_standing_of(claim).state, texts(claim.spec.claim))
