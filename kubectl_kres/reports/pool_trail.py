"""From a quota that Capsule keeps to its pool and the namespace's claims on it: what to ask for where it refuses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from kubectl_kres.admission.outcome import Finding
from kubectl_kres.capsule.managed import pool_of
from kubectl_kres.model.capsule import ResourcePoolClaim
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.model.policy import ResourceQuota
from kubectl_kres.quantity import parse
from kubectl_kres.reports.amounts import texts
from kubectl_kres.reports.case import Case
from kubectl_kres.reports.claim_state import State, standing
from kubectl_kres.reports.record import Record
from kubectl_kres.reports.remedy import Remedy
from kubectl_kres.reports.remedy import exceeded as usual
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store

_OBSERVED = re.compile(r"used (\S+) \+ (\S+)")


class TrailClaim(Record, frozen=True):
    """A claim of the namespace on the pool."""

    subject: ObjectRef
    state: State
    asks: Mapping[str, str]


class PoolTrail(Record, frozen=True):
    """A managed quota that refuses. lacks: what has to be claimed more, by resource. claims: absent: not read."""

    quota: str
    pool: str
    lacks: Mapping[str, str]
    claims: tuple[TrailClaim, ...] | None = None


def managed_quotas(store: Store, namespace: str) -> dict[str, str]:
    """Names of the quotas that pools keep in a namespace, with the pool."""
    quotas: Iterable[ResourceQuota] = store.all("ResourceQuota", namespace)
    return {quota.metadata.name: pool for quota in quotas if (pool := pool_of(quota))}


def trail_needs(store: Store, namespace: str) -> tuple[Need, ...]:
    """One more read where a pool keeps a quota: the claims of the namespace."""
    if not managed_quotas(store, namespace):
        return ()
    return (Need("ResourcePoolClaim", namespace, required=False),)


def trails(store: Store, namespace: str, findings: Iterable[Finding]) -> tuple[PoolTrail, ...]:
    """One for each managed quota among the refusals."""
    managed = managed_quotas(store, namespace)
    lacks: dict[str, dict[str, str]] = {}
    for finding in findings:
        name = finding.source.name if finding.source is not None else ""
        if finding.rule == "quota/exceeded" and name in managed:
            lack = _lack(finding)
            if lack:
                lacks.setdefault(name, {})[finding.resource] = lack
    known = store.covered(Need("ResourcePoolClaim", namespace)).state == "read"
    return tuple(
        PoolTrail(name, managed[name], amounts, tuple(_claims(store, namespace, managed[name])) if known else None)
        for name, amounts in lacks.items()
    )


def claiming(store: Store, namespace: str) -> Mapping[str, Remedy]:
    """The remedy of a quota that is exceeded, where pools keep some: its hard cannot be raised but by a claim."""
    managed = managed_quotas(store, namespace)
    if not managed:
        return {}

    def say(case: Case) -> Iterator[str]:
        finding = case.finding
        pool = managed.get(finding.source.name if finding.source is not None else "")
        lack = _lack(finding)
        if pool is None or not lack:
            yield from usual(case)
            return
        yield (
            f"claim {lack} more of {finding.resource} from pool {pool}, or free as much in the namespace"
            f"{_left(finding)} (Capsule keeps the quota: raising its hard would be undone)"
        )

    return {"quota/exceeded": say}


def _lack(finding: Finding) -> str:
    """What is missing in a quota; empty if the finding does not say."""
    found = _OBSERVED.fullmatch(finding.observed)
    if found is None:
        return ""
    return str(parse(found[1]) + parse(found[2]) - parse(finding.bound))


def _left(finding: Finding) -> str:
    found = _OBSERVED.fullmatch(finding.observed)
    left = parse(finding.bound) - parse(found[1]) if found is not None else None
    if left is None or left.nano <= 0 or finding.resource in {"pods", "count/pods"}:
        return ""
    return f", or ask for at most {left} in all"


def _claims(store: Store, namespace: str, pool: str) -> Iterator[TrailClaim]:
    claims: Iterable[ResourcePoolClaim] = store.all("ResourcePoolClaim", namespace)
    for claim in claims:
        status = claim.status.pool
        if (status.name if status is not None else claim.spec.pool) == pool:
            ref = ObjectRef("ResourcePoolClaim", claim.metadata.name, namespace)
            yield TrailClaim(ref, standing(claim).state, texts(claim.spec.claim))
