"""Capsule's pools, claims and tenants, and the quotas of the same API group: capsule.clastix.io/v1beta2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from kubectl_kres.model.objects import (
    Base,
    Condition,
    Kind,
    LabelSelector,
    ManagedMetadata,
    Namespace,
    ResourceList,
    ResourceQuota,
    ResourceQuotaSpec,
)

GROUP = "capsule.clastix.io"
VERSION = "v1beta2"
_API_VERSION = f"{GROUP}/{VERSION}"


class CapsuleCondition(Condition, frozen=True):
    """A condition with the generation that it was written for; 0: not said."""

    observed_generation: int = 0


class PoolConfig(Base, frozen=True):
    """Options of a pool, all off unless said."""

    defaults_zero: bool = False
    ordered_queue: bool = False
    delete_bound_resources: bool = False


class ResourcePoolSpec(Base, frozen=True):
    """What a pool shares out (``quota.hard``), among which namespaces (any of ``selectors``), and how."""

    selectors: tuple[LabelSelector, ...] | None = None
    quota: ResourceQuotaSpec = ResourceQuotaSpec()
    defaults: ResourceList | None = None
    config: PoolConfig = PoolConfig()


class PoolAllocation(Base, frozen=True):
    """What a pool has, what claims hold of it (not what pods use), and the rest, which may be negative."""

    hard: ResourceList | None = None
    used: ResourceList | None = None
    available: ResourceList | None = None


class PoolExhaustion(Base, frozen=True):
    """What claims that did not fit ask for in sum, and what there is. Absent: zero."""

    available: Any = None
    requesting: Any = None


class PoolClaim(Base, frozen=True):
    """A claim that is allocated, as the pool's status lists it."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    claims: ResourceList | None = None


class ResourcePoolStatus(Base, frozen=True):
    """What the controller wrote. ``claims``: the allocated ones by namespace, in the order of their allocation."""

    observed_generation: int = 0
    namespaces: tuple[str, ...] | None = None
    namespace_count: int = 0
    claim_count: int = 0
    claims: Mapping[str, tuple[PoolClaim, ...]] | None = None
    allocation: PoolAllocation = PoolAllocation()
    exhaustions: Mapping[str, PoolExhaustion] | None = None
    conditions: tuple[CapsuleCondition, ...] | None = None


class ResourcePool(Base, frozen=True):
    """Resources that the claims of several namespaces share."""

    metadata: ManagedMetadata = ManagedMetadata()
    spec: ResourcePoolSpec = ResourcePoolSpec()
    status: ResourcePoolStatus = ResourcePoolStatus()
    kind: str = "ResourcePool"
    api_version: str = _API_VERSION


class PoolRef(Base, frozen=True):
    """The pool that a claim belongs to."""

    name: str = ""
    uid: str = ""


class ResourcePoolClaimSpec(Base, frozen=True):
    """What is asked for, and of which pool; an empty ``pool`` means that one is to be chosen."""

    pool: str = ""
    claim: ResourceList | None = None


class ResourcePoolClaimStatus(Base, frozen=True):
    """What the controllers wrote. ``condition`` alone, without ``conditions``: Capsule before 0.13.

    An empty ``pool``, which old versions write where there is none, is read as none.
    """

    pool: PoolRef | None = None
    conditions: tuple[CapsuleCondition, ...] | None = None
    condition: CapsuleCondition | None = None
    observed_generation: int = 0

    def __post_init__(self) -> None:
        if self.pool is not None and not (self.pool.name or self.pool.uid):
            structs.force_setattr(self, "pool", None)


class ResourcePoolClaim(Base, frozen=True):
    """A namespace's claim on a share of a pool."""

    metadata: ManagedMetadata = ManagedMetadata()
    spec: ResourcePoolClaimSpec = ResourcePoolClaimSpec()
    status: ResourcePoolClaimStatus = ResourcePoolClaimStatus()
    kind: str = "ResourcePoolClaim"
    api_version: str = _API_VERSION


class TenantQuotas(Base, frozen=True):
    """Deprecated quotas of a tenant: each item for all of its namespaces together, or with scope Namespace for each."""

    scope: str = "Tenant"
    items: tuple[ResourceQuotaSpec, ...] | None = None


class TenantRuleQuota(ResourceQuotaSpec, frozen=True):
    """A quota that a rule makes a GlobalResourceQuota of."""

    name: str = ""


class TenantEnforce(Base, frozen=True):
    """What a rule enforces; ``workloads`` is about pods and refuses or changes some."""

    action: str = ""
    workloads: Mapping[str, Any] | None = None


class Audience(Base, frozen=True):
    """Whose requests a rule is about: a User, Group, ServiceAccount, or with Custom a group of Capsule's."""

    kind: str = ""
    name: str = ""


class NamespaceRule(Base, frozen=True):
    """A rule as it applies to a namespace; no ``audience``: it is about everybody's requests."""

    audience: tuple[Audience, ...] | None = None
    enforce: TenantEnforce | None = None


class TenantRule(NamespaceRule, frozen=True):
    """A rule for the namespaces that it selects; without a selector for all of the tenant."""

    namespace_selector: LabelSelector | None = None
    quota: tuple[TenantRuleQuota, ...] | None = None


class RuleStatusStatus(Base, frozen=True):
    """The rules of a namespace, in the order of its Tenant."""

    rules: tuple[NamespaceRule, ...] | None = None


class RuleStatus(Base, frozen=True):
    """What the controller worked out of a Tenant's rules for one namespace."""

    metadata: ManagedMetadata = ManagedMetadata()
    status: RuleStatusStatus = RuleStatusStatus()
    kind: str = "RuleStatus"
    api_version: str = _API_VERSION


class TenantSpec(Base, frozen=True):
    """The parts of a tenant that limit resources."""

    resource_quotas: TenantQuotas | None = None
    rules: tuple[TenantRule, ...] | None = None
    cordoned: bool = False


class TenantStatus(Base, frozen=True):
    """The namespaces that belong to the tenant."""

    namespaces: tuple[str, ...] | None = None
    size: int = 0
    state: str = ""


class Tenant(Base, frozen=True):
    """Namespaces that belong together."""

    metadata: ManagedMetadata = ManagedMetadata()
    spec: TenantSpec = TenantSpec()
    status: TenantStatus = TenantStatus()
    kind: str = "Tenant"
    api_version: str = _API_VERSION


class GlobalResourceQuotaSpec(Base, frozen=True):
    """A quota that the selected namespaces share; selectors without fields select every namespace."""

    namespace_selectors: tuple[LabelSelector, ...] | None = None
    quota: ResourceQuotaSpec = ResourceQuotaSpec()


class NamespaceUsage(Base, frozen=True):
    """What one namespace uses."""

    used: ResourceList | None = None


class GlobalResourceQuotaStatus(Base, frozen=True):
    """Limits and use over all namespaces, and the use of each."""

    namespaces: tuple[str, ...] | None = None
    total: PoolAllocation = PoolAllocation()
    namespace_usage: Mapping[str, NamespaceUsage] | None = None
    conditions: tuple[CapsuleCondition, ...] | None = None


class GlobalResourceQuota(Base, frozen=True):
    """One quota over several namespaces, without claims."""

    metadata: ManagedMetadata = ManagedMetadata()
    spec: GlobalResourceQuotaSpec = GlobalResourceQuotaSpec()
    status: GlobalResourceQuotaStatus = GlobalResourceQuotaStatus()
    kind: str = "GlobalResourceQuota"
    api_version: str = _API_VERSION


class CustomSource(Base, frozen=True):
    """Which objects a custom quota counts, and what of each: ``op`` over the values at ``path``, or ``cel``."""

    api_version: str = ""
    kind: str = ""
    op: str = ""
    path: str = ""
    cel: str = ""


class CustomQuotaSpec(Base, frozen=True):
    """The limit (a quantity) and what is counted. ``namespace_selectors`` only in a GlobalCustomQuota."""

    limit: Any = None
    sources: tuple[CustomSource, ...] | None = None
    namespace_selectors: tuple[LabelSelector, ...] | None = None


class CustomUsage(Base, frozen=True):
    """What is used of a limit, and what is left; quantities."""

    used: Any = None
    available: Any = None


class CustomQuotaStatus(Base, frozen=True):
    """What the controller counted. ``namespaces`` only in a GlobalCustomQuota."""

    namespaces: tuple[str, ...] | None = None
    usage: CustomUsage = CustomUsage()
    conditions: tuple[CapsuleCondition, ...] | None = None


class CustomQuota(Base, frozen=True):
    """One limit over objects of any kinds in a namespace."""

    metadata: ManagedMetadata = ManagedMetadata()
    spec: CustomQuotaSpec = CustomQuotaSpec()
    status: CustomQuotaStatus = CustomQuotaStatus()
    kind: str = "CustomQuota"
    api_version: str = _API_VERSION


class GlobalCustomQuota(CustomQuota, frozen=True):
    """The same over several namespaces."""

    kind: str = "GlobalCustomQuota"


def _kind(kind: str, *short: str, struct: Any, namespaced: bool = False) -> Kind:
    """Return a kind of Capsule; ``pool`` and ``claim`` are short names of ours."""
    names = (f"{kind.lower()}s", kind.lower(), *short)
    return Kind(kind, names, GROUP, VERSION, namespaced=namespaced, struct=struct)


KINDS = (
    _kind("ResourcePool", "pools", "pool", "quotapool", struct=ResourcePool),
    _kind("ResourcePoolClaim", "claims", "claim", namespaced=True, struct=ResourcePoolClaim),
    _kind("Tenant", "tnt", struct=Tenant),
    Kind("RuleStatus", ("rulestatuses", "rulestatus"), GROUP, VERSION, struct=RuleStatus),
    _kind("GlobalResourceQuota", "globalquota", "grq", struct=GlobalResourceQuota),
    _kind("CustomQuota", "cq", namespaced=True, struct=CustomQuota),
    _kind("GlobalCustomQuota", "gcq", struct=GlobalCustomQuota),
)


#: By what the quota that a pool keeps in each of its namespaces is recognised.
POOL_LABEL = "projectcapsule.dev/pool"
#: What labels of Capsule begin with.
LABELS = ("projectcapsule.dev/", "capsule.clastix.io/")
MANAGED_LABEL = "projectcapsule.dev/managed-by"
#: What the name of a managed quota starts with.
PREFIX = "capsule-pool-"


def quota_name(pool: str) -> str:
    """Return the name of the managed quota of a pool."""
    return f"{PREFIX}{pool}"


def pool_of(quota: ResourceQuota) -> str:
    """Return the pool that manages a quota, by its label; empty if none does."""
    name = (quota.metadata.labels or {}).get(POOL_LABEL, "")
    return name if name and quota.metadata.name == quota_name(name) else ""


#: The label of a namespace that belongs to a Tenant.
TENANT_LABEL = "capsule.clastix.io/tenant"


def tenant_name(space: Namespace | None) -> str:
    """Return the Tenant of a namespace, by its owner, else by its label; empty: it has none that is known."""
    if space is None:
        return ""
    for owner in space.metadata.owner_references or ():
        if owner.kind == "Tenant" and owner.api_version.partition("/")[0] in {"", GROUP}:
            return owner.name
    return (space.metadata.labels or {}).get(TENANT_LABEL, "")
