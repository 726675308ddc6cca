"""Rules about statuses that are not true, or that need somebody: codes KRES301 to KRES399.

- KRES301: the status of a quota is not what its objects add up to.
- KRES302: a quota uses more than its hard.
- KRES303: a quota without a status, which enforces nothing.
- KRES304: a claim says that its pool is exhausted, and the pool has room for it.
- KRES305: a claim that has lost what it held.
- KRES306: the name of a pool or claim that no status of Capsule can hold.
- KRES307: the namespaces of a Tenant use more than its quota allows them together.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.admission.base.draft import Quantities, Unparsable, parse_list
from kubectl_kres.admission.pod.aggregate import add_into
from kubectl_kres.capsule.reports.claim.claims import Claims
from kubectl_kres.capsule.reports.common.claim_state import WAITING
from kubectl_kres.capsule.reports.common.shared_quotas import tenant_quota_name
from kubectl_kres.capsule.rules.assignment import is_writable
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.check.context import CheckContext, Rule, exceeds_pool
from kubectl_kres.reports.check.finding import Diagnostic


def find_drift(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield names of quotas whose used is not the sum of a recount."""
    for report in () if context.of_files else context.quota_reports:
        for use in report.uses:
            if report.enforced and use.drift is not None and use.counted is not None:
                values = {"name": use.name, "used": use.used or "nothing", "counted": use.counted}
                yield Diagnostic(report.subject, values, f"status.used[{use.name}]")


DRIFT = Rule(
    code="KRES301",
    title="status.used is not what a recount finds",
    severity="warning",
    reason="Pods are refused, or admitted, by a count that is not true: the quota controller has not caught up, "
    "or is not running.",
    remedy="A recount (quota --recount) names the cause; the quota controller counts again within 5 minutes.",
    message="its status counts {used} of {name}, a recount finds {counted}",
    find=find_drift,
)


def find_over_hard(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield names of quotas that use more than their hard."""
    for report in () if context.of_files else context.quota_reports:
        for use in report.uses:
            if use.is_exceeded and use.used is not None:
                values = {"name": use.name, "used": use.used, "hard": use.hard}
                yield Diagnostic(report.subject, values, f"spec.hard[{use.name}]")


OVER_HARD = Rule(
    code="KRES302",
    title="use is above hard",
    severity="warning",
    reason="Nothing is evicted, and nothing new is admitted: the next pod that is replaced does not come back.",
    remedy="Raise the quota above what is used, or delete what uses it (quota --by workload names it).",
    message="{name}: {used} used, hard is {hard}",
    find=find_over_hard,
)


def find_not_enforced(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield quotas that the quota controller has not looked at."""
    for report in () if context.of_files else context.quota_reports:
        if not report.enforced and not report.supposed:
            yield Diagnostic(report.subject)


NOT_ENFORCED = Rule(
    code="KRES303",
    title="a quota has no status",
    severity="warning",
    reason="The API server enforces status.hard: until the quota controller has written it, the quota limits nothing.",
    remedy="Look at the kube-controller-manager: its resource quota controller is slow, off, or lacks rights.",
    message="it has no status.hard, so it limits nothing yet",
    find=find_not_enforced,
)


def find_stale_exhausted(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the claims that wait although everything that they ask for is there."""
    reports = Claims(context.pools)
    for claim, claim_standing in context.pools.claims:
        if (
            claim_standing.state not in WAITING
            or context.pools.pool_of(claim) is None
            or exceeds_pool(context.pools, claim)
        ):
            continue
        report = reports.report(claim)
        if not report.missing_amounts and all(amount.behind is None for amount in report.amounts):
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


_STATES = frozenset({"lost", "released"})


def find_lost_claim(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the claims that are in no pool any more, although nobody deleted them."""
    for claim, claim_standing in context.pools.claims:
        if claim_standing.state in _STATES:
            ref = ObjectRef("ResourcePoolClaim", claim.metadata.name, claim.metadata.namespace)
            yield Diagnostic(ref, {"state": claim_standing.state, "because": claim_standing.reason})


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

RULES = (
    DRIFT,
    OVER_HARD,
    NOT_ENFORCED,
    STALE_EXHAUSTED,
    LOST_CLAIM,
    UNWRITABLE_NAME,
    TENANT_OVERPROVISION,
)
