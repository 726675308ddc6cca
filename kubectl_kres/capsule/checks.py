"""Rules of ``check`` about Capsule: claims that wait, pools that serve nobody, statuses that are not true.

- KRES105: a claim that can never be allocated.
- KRES106: a claim that waits for others.
- KRES211: two resource pools limit the same resource in the same namespace.
- KRES212: a resource pool that serves no namespace.
- KRES213: a namespace in which a resource pool allows nothing, since nobody has claimed.
- KRES304: a claim says that its pool is exhausted, and the pool has room for it.
- KRES305: a claim that has lost what it held.
- KRES306: the name of a pool or claim that no status of Capsule can hold.
- KRES307: the namespaces of a Tenant use more than its quota allows them together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_kres.admission.base.draft import Quantities, Unparsable, parse_list
from kubectl_kres.admission.pod.aggregate import add_into
from kubectl_kres.capsule.model import ResourcePool, ResourcePoolClaim
from kubectl_kres.capsule.reports.claim.claims import Claims
from kubectl_kres.capsule.reports.common.amount_lists import parse_amounts
from kubectl_kres.capsule.reports.common.claim_state import STUCK, WAITING
from kubectl_kres.capsule.reports.common.needs import pools_needs
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex
from kubectl_kres.capsule.reports.common.shared_quotas import tenant_quota_name
from kubectl_kres.capsule.rules.assignment import fault, fits, is_active, is_empty, is_usable, is_writable
from kubectl_kres.model.objects import Namespace, ObjectRef, with_name_label
from kubectl_kres.quantity import ZERO
from kubectl_kres.reports.check.context import CheckContext, Rule
from kubectl_kres.reports.check.finding import Diagnostic
from kubectl_kres.reports.check.system import CheckSystem
from kubectl_kres.store.store import ReadRequest, Store


def pool_index(context: CheckContext) -> PoolIndex:
    """Return the pools and claims of the cluster."""
    return PoolIndex(context.store)


def exceeds_pool(index: PoolIndex, claim: ResourcePoolClaim) -> str:
    """Return what a claim asks for beyond the whole of its pool; empty: nothing, or the pool could not be read."""
    pool = index.pool_of(claim)
    if pool is None:
        return ""
    hard = index.hard(pool)
    for name, requested in sorted(parse_amounts(claim.spec.claim).items()):
        if name not in hard:
            return f"pool {pool.metadata.name} does not share out {name}"
        if requested > hard[name] or hard[name] <= ZERO:
            return f"it asks for {requested} of {name}, the whole pool {pool.metadata.name} has {hard[name]}"
    return ""


#: States from which nothing but an edit leads.
_ENDED = frozenset({"failed", "unassigned"})


def find_claim_never(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the claims that ask for more than their pool has, and those that no pool takes."""
    index = context.compute_once(pool_index)
    for claim, standing in index.claims:
        if standing.state not in STUCK:
            continue
        reason = standing.reason if standing.state in _ENDED else ""
        if standing.state in WAITING:
            reason = exceeds_pool(index, claim)
        if reason:
            ref = ObjectRef("ResourcePoolClaim", claim.metadata.name, claim.metadata.namespace)
            yield Diagnostic(ref, {"why": reason}, "spec.claim")


CLAIM_NEVER = Rule(
    code="KRES105",
    title="a claim can never be allocated",
    severity="error",
    reason="The claim never gets anything, and in an ordered queue those behind it for the same resource wait.",
    remedy="Ask for less, or raise the pool's spec.quota.hard.",
    message="it can never be allocated: {why}",
    find=find_claim_never,
    scope="cluster",
)


def find_claim_waits(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the claims in a queue that the pool could serve if others gave way."""
    index = context.compute_once(pool_index)
    reports = Claims(index)
    for claim, standing in index.claims:
        if standing.state not in WAITING or exceeds_pool(index, claim):
            continue
        report = reports.report(claim)
        behind = [amount.name for amount in report.amounts if amount.closed_by_amount is not None]
        lacks = [f"{amount} of {name}" for name, amount in report.missing_amounts.items()]
        reason = f"it is short by {' and '.join(lacks)}" if lacks else f"earlier claims wait for {' and '.join(behind)}"
        if lacks or behind:
            values = {"state": standing.state, "pool": report.pool, "why": reason}
            yield Diagnostic(report.subject, values, "spec.claim")


CLAIM_WAITS = Rule(
    code="KRES106",
    title="a claim waits",
    severity="warning",
    reason="Its namespace has less than it asked for until other claims are released or the pool grows.",
    remedy="Release other claims, ask for less, or enlarge the pool; kubectl kres claims lists what unblocks it.",
    message="{state} in pool {pool}: {why}",
    find=find_claim_waits,
    scope="cluster",
)


def find_pools_overlap(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each pair of overlapping pools once, at the pool whose name comes first."""
    index = context.compute_once(pool_index)
    of_space: dict[str, list[str]] = {}
    for name in sorted(index.pools):
        for space in index.spaces(index.pools[name]):
            of_space.setdefault(space, []).append(name)
    pairs: dict[tuple[str, str], list[str]] = {}
    for space in sorted(of_space):
        names = of_space[space]
        for position, first in enumerate(names):
            for second in names[position + 1 :]:
                pairs.setdefault((first, second), []).append(space)
    for (first, second), spaces in pairs.items():
        both = sorted(index.hard(index.pools[first]).keys() & index.hard(index.pools[second]).keys())
        if both:
            values = {"other": second, "resources": ", ".join(both), "namespaces": ", ".join(spaces[:5])}
            yield Diagnostic(ObjectRef("ResourcePool", first), values, "spec.selectors")


POOLS_OVERLAP = Rule(
    code="KRES211",
    title="resource pools overlap",
    severity="warning",
    reason="Each pool keeps a quota in the namespace, and a pod must fit both: the room of one pool is of no "
    "use without the other's.",
    remedy="Let the selectors of the pools match different namespaces, or share out different resources.",
    message="pool {other} also limits {resources} in {namespaces}",
    find=find_pools_overlap,
    scope="cluster",
)


def find_selects_nothing(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield pools without selectors, and selectors that are skipped or match nothing."""
    is_known = context.store.covered(ReadRequest("Namespace")).is_known
    spaces = (
        [with_name_label(namespace) for namespace in context.store.all("Namespace") if is_active(namespace)]
        if is_known
        else None
    )
    for name, pool in sorted(context.compute_once(pool_index).pools.items()):
        for path, reason in _idle_selectors(pool, spaces):
            yield Diagnostic(ObjectRef("ResourcePool", name), {"why": reason}, path)


def _idle_selectors(pool: ResourcePool, spaces: list[Namespace] | None) -> Iterator[tuple[str, str]]:
    """Yield the path of each selector that selects nothing, with the reason. ``spaces`` None: they could not be
    read.
    """
    if not pool.spec.selectors:
        yield "spec.selectors", "it has no selectors, and without one a pool selects nothing"
    for index, selector in enumerate(pool.spec.selectors or ()):
        path = f"spec.selectors[{index}]"
        if is_empty(selector):
            yield path, f"{path} is empty, and an empty selector of a pool selects nothing"
        elif fault(selector):
            yield path, f"{path} does not parse and is skipped: {fault(selector)}"
        elif (
            spaces is not None
            and is_usable(selector)
            and not any(fits(selector, space.metadata.labels or {}) for space in spaces)
        ):
            yield path, f"{path} matches no namespace"


SELECTS_NOTHING = Rule(
    code="KRES212",
    title="a resource pool selects nothing",
    severity="warning",
    reason="Claims of the namespaces that were meant get no pool, and wait.",
    remedy="Correct the selector, or label the namespaces.",
    message="{why}",
    find=find_selects_nothing,
    scope="cluster",
)


def find_nothing_claimed(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield pools that set 0 where there is no claim, with each such namespace."""
    index = context.compute_once(pool_index)
    for pool_name, pool in sorted(index.pools.items()):
        if not pool.spec.config.defaults_zero:
            continue
        claims, defaults = pool.status.claims or {}, parse_amounts(pool.spec.defaults)
        names = [name for name in sorted(index.hard(pool)) if not defaults.get(name)]
        for space in sorted(index.spaces(pool)):
            if names and not claims.get(space):
                values = {"pool": pool_name, "resources": ", ".join(names)}
                yield Diagnostic(ObjectRef("Namespace", space), values)


NOTHING_CLAIMED = Rule(
    code="KRES213",
    title="a pool allows nothing in a namespace without a claim",
    severity="warning",
    reason="With defaultsZero the pool's quota is 0 until a claim is allocated: every pod of the namespace is refused.",
    remedy="Create a ResourcePoolClaim in the namespace (claims --for writes one).",
    message="pool {pool} allows 0 of {resources} in it: no claim is allocated there",
    find=find_nothing_claimed,
    scope="cluster",
)


def find_stale_exhausted(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the claims that wait although everything that they ask for is there."""
    index = context.compute_once(pool_index)
    reports = Claims(index)
    for claim, standing in index.claims:
        if standing.state not in WAITING or index.pool_of(claim) is None or exceeds_pool(index, claim):
            continue
        report = reports.report(claim)
        if not report.missing_amounts and all(amount.closed_by_amount is None for amount in report.amounts):
            yield Diagnostic(report.subject, {"pool": report.pool})


STALE_EXHAUSTED = Rule(
    code="KRES304",
    title="a claim waits although there is room",
    severity="warning",
    reason="Capsule's controller decides about a claim when the claim, its pool or a claim before it changes: "
    "one that was missed stays Exhausted.",
    remedy="Change the pool or the claim, as by an annotation, so that the controller looks again.",
    message="it says that pool {pool} is exhausted, and the pool has room for all that it asks for",
    find=find_stale_exhausted,
    scope="cluster",
)


_LET_GO = frozenset({"lost", "released"})


def find_lost_claim(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the claims that are in no pool any more, although nobody deleted them."""
    for claim, standing in context.compute_once(pool_index).claims:
        if standing.state in _LET_GO:
            ref = ObjectRef("ResourcePoolClaim", claim.metadata.name, claim.metadata.namespace)
            yield Diagnostic(ref, {"state": standing.state, "because": standing.reason})


LOST_CLAIM = Rule(
    code="KRES305",
    title="a claim is lost or was released",
    severity="warning",
    reason="The claim holds nothing, and no controller queues it again by itself: what runs in the namespace "
    "may be over its quota.",
    remedy="Delete the claim if it is not needed, or change its spec so that it is queued again.",
    message="{state}: {because}",
    find=find_lost_claim,
    scope="cluster",
)


def find_unwritable_name(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield pools and claims whose name has a dot or more than 63 characters."""
    for kind in ("ResourcePool", "ResourcePoolClaim"):
        for item in context.store.all(kind):
            if not is_writable(item.metadata.name):
                yield Diagnostic(ObjectRef(kind, item.metadata.name, item.metadata.namespace), field="metadata.name")


UNWRITABLE_NAME = Rule(
    code="KRES306",
    title="a name that Capsule cannot write",
    severity="error",
    reason="The name is legal for the object and not for the status that lists it: the controller's update "
    "fails each time, and nothing of the pool is decided any more.",
    remedy="Create the object again under a name without dots of at most 63 characters.",
    message="its name has a dot or more than 63 characters, which no status of Capsule can hold",
    find=find_unwritable_name,
    scope="cluster",
)


def find_tenant_overprovision(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield quotas of Tenants with scope Tenant that use more than their hard."""
    for tenant in context.store.all("Tenant"):
        quotas = tenant.spec.resource_quotas
        if quotas is None or quotas.scope != "Tenant":
            continue
        for number, item in enumerate(quotas.items or ()):
            path = f"spec.resourceQuotas.items[{number}].hard"
            used: Quantities = {}
            try:
                hard = parse_list(item.hard, path)
                for space in tenant.status.namespaces or ():
                    quota = context.store.get("ResourceQuota", tenant_quota_name(tenant.metadata.name, number), space)
                    if quota is not None:
                        add_into(used, parse_list(quota.status.used, "status.used"))
            except Unparsable:
                continue
            for name in sorted(hard.keys() & used.keys()):
                if used[name] > hard[name]:
                    values = {"name": name, "used": str(used[name]), "hard": str(hard[name])}
                    yield Diagnostic(ObjectRef("Tenant", tenant.metadata.name), values, f"{path}[{name}]")


TENANT_OVERPROVISION = Rule(
    code="KRES307",
    title="a Tenant uses more than its quota",
    severity="warning",
    reason="With scope Tenant each namespace has a quota of its own that Capsule lowers after the fact: pods "
    "that are created at once in several namespaces can take more than the Tenant has.",
    remedy="Move to resource pools, which share out once (migrate writes them), or raise the quota.",
    message="its namespaces use {used} of {name}, the Tenant has {hard}",
    find=find_tenant_overprovision,
    scope="cluster",
)


def _reads(store: Store) -> Iterable[ReadRequest]:
    return (*pools_needs(store), ReadRequest("Tenant"))


def _predict(store: Store) -> Store:
    """Return the store with what its controllers make of what files hold."""
    from kubectl_kres.capsule.reports.simulate import build_prediction  # noqa: PLC0415 - files alone need it

    return build_prediction(store).store


SYSTEM = CheckSystem(
    rules=(
        CLAIM_NEVER,
        CLAIM_WAITS,
        POOLS_OVERLAP,
        SELECTS_NOTHING,
        NOTHING_CLAIMED,
        STALE_EXHAUSTED,
        LOST_CLAIM,
        UNWRITABLE_NAME,
        TENANT_OVERPROVISION,
    ),
    reads=_reads,
    exempted=("ResourcePool", "ResourcePoolClaim", "Tenant"),
    commands={
        "ResourcePool": "kubectl kres pools {}",
        "ResourcePoolClaim": "kubectl kres claims {}",
        "Tenant": "kubectl kres migrate tenant/{}",
    },
    predict=_predict,
)
