"""Capsule's pools, claims and tenants, and the quotas of the same API group: capsule.clastix.io/v1beta2."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import structs

from kubectl_kres.model import objects

GROUP = "capsule.clastix.io"
VERSION = "v1beta2"
_API_VERSION = f"{GROUP}/{VERSION}"


class CapsuleCondition(objects.Condition, frozen=True):
    """A condition with the generation that it was written for; 0: not said."""

    observed_generation: int = 0


class PoolConfig(objects.Base, frozen=True):
    """Options of a pool, all off unless said."""

    defaults_zero: bool = False
    ordered_queue: bool = False
    delete_bound_resources: bool = False


class ResourcePoolSpec(objects.Base, frozen=True):
    """What a pool shares out (``quota.hard``), among which namespaces (any of ``selectors``), and how."""

    selectors: tuple[objects.LabelSelector, ...] | None = None
    quota: objects.ResourceQuotaSpec = objects.ResourceQuotaSpec()
    defaults: objects.ResourceList | None = None
    config: PoolConfig = PoolConfig()


class PoolAllocation(objects.Base, frozen=True):
    """What a pool has, what claims hold of it (not what pods use), and the rest, which may be negative."""

    hard: objects.ResourceList | None = None
    used: objects.ResourceList | None = None
    available: objects.ResourceList | None = None


class PoolExhaustion(objects.Base, frozen=True):
    """What claims that did not fit ask for in sum, and what there is. Absent: zero."""

    available: Any = None
    requesting: Any = None


class PoolClaim(objects.Base, frozen=True):
    """A claim that is allocated, as the pool's status lists it."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    claims: objects.ResourceList | None = None


class ResourcePoolStatus(objects.Base, frozen=True):
    """What the controller wrote. ``claims``: the allocated ones by namespace, in the order of their allocation."""

    observed_generation: int = 0
    namespaces: tuple[str, ...] | None = None
    namespace_count: int = 0
    claim_count: int = 0
    claims: Mapping[str, tuple[PoolClaim, ...]] | None = None
    allocation: PoolAllocation = PoolAllocation()
    exhaustions: Mapping[str, PoolExhaustion] | None = None
    conditions: tuple[CapsuleCondition, ...] | None = None


class ResourcePool(objects.Base, frozen=True):
    """Resources that the claims of several namespaces share."""

    metadata: objects.ManagedMetadata = objects.ManagedMetadata()
    spec: ResourcePoolSpec = ResourcePoolSpec()
    status: ResourcePoolStatus = ResourcePoolStatus()
    kind: str = "ResourcePool"
    api_version: str = _API_VERSION


class PoolRef(objects.Base, frozen=True):
    """The pool that a claim belongs to."""

    name: str = ""
    uid: str = ""


class ResourcePoolClaimSpec(objects.Base, frozen=True):
    """What is asked for, and of which pool; an empty ``pool`` means that one is to be chosen."""

    pool: str = ""
    claim: objects.ResourceList | None = None


class ResourcePoolClaimStatus(objects.Base, frozen=True):
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


class ResourcePoolClaim(objects.Base, frozen=True):
    """A namespace's claim on a share of a pool."""

    metadata: objects.ManagedMetadata = objects.ManagedMetadata()
    spec: ResourcePoolClaimSpec = ResourcePoolClaimSpec()
    status: ResourcePoolClaimStatus = ResourcePoolClaimStatus()
    kind: str = "ResourcePoolClaim"
    api_version: str = _API_VERSION


class TenantQuotas(objects.Base, frozen=True):
    """Deprecated quotas of a tenant: each item for all of its namespaces together, or with scope Namespace for each."""

    scope: str = "Tenant"
    items: tuple[objects.ResourceQuotaSpec, ...] | None = None


class TenantRuleQuota(objects.ResourceQuotaSpec, frozen=True):
    """A quota that a rule makes a GlobalResourceQuota of."""

    name: str = ""


class TenantEnforce(objects.Base, frozen=True):
    """What a rule enforces; ``workloads`` is about pods and refuses or changes some."""

    action: str = ""
    workloads: Mapping[str, Any] | None = None


class Audience(objects.Base, frozen=True):
    """Whose requests a rule is about: a User, Group, ServiceAccount, or with Custom a group of Capsule's."""

    kind: str = ""
    name: str = ""


class NamespaceRule(objects.Base, frozen=True):
    """A rule as it applies to a namespace; no ``audience``: it is about everybody's requests."""

    audience: tuple[Audience, ...] | None = None
    enforce: TenantEnforce | None = None


class TenantRule(NamespaceRule, frozen=True):
    """A rule for the namespaces that it selects; without a selector for all of the tenant."""

    namespace_selector: objects.LabelSelector | None = None
    quota: tuple[TenantRuleQuota, ...] | None = None


class RuleStatusStatus(objects.Base, frozen=True):
    """The rules of a namespace, in the order of its Tenant."""

    rules: tuple[NamespaceRule, ...] | None = None


class RuleStatus(objects.Base, frozen=True):
    """What the controller worked out of a Tenant's rules for one namespace."""

    metadata: objects.ManagedMetadata = objects.ManagedMetadata()
    status: RuleStatusStatus = RuleStatusStatus()
    kind: str = "RuleStatus"
    api_version: str = _API_VERSION


class AllowedList(objects.LabelSelector, frozen=True):
    """What objects of a tenant may name: names, a pattern of them, or labels of the class.

    ``default``: what is named where nothing is.
    """

    allowed: tuple[str, ...] | None = None
    allowed_regex: str = ""
    default: str = ""


class TenantRanges(objects.Base, frozen=True):
    """LimitRanges that each of its namespaces has."""

    items: tuple[objects.LimitRangeSpec, ...] | None = None


class NamespaceOptions(objects.Base, frozen=True):
    """``quota``: how many namespaces there may be; None: any number."""

    quota: int | None = None


class AllowedServices(objects.Base, frozen=True):
    """Types of Services that may be, all unless said."""

    node_port: bool = True
    external_name: bool = True
    load_balancer: bool = True


class ForbiddenList(objects.Base, frozen=True):
    """Keys that may not be: names, or a pattern of them."""

    denied: tuple[str, ...] | None = None
    denied_regex: str = ""


class ExternalAddresses(objects.Base, frozen=True):
    """Addresses and networks that the external addresses of Services may be of."""

    allowed: tuple[str, ...] | None = None


class ServiceOptions(objects.Base, frozen=True):
    """What Services may be."""

    allowed_services: AllowedServices | None = None
    external_ips: ExternalAddresses | None = msgspec.field(name="externalIPs", default=None)
    forbidden_labels: ForbiddenList = ForbiddenList()
    forbidden_annotations: ForbiddenList = ForbiddenList()


class GatewayOptions(objects.Base, frozen=True):
    """What Gateways may be."""

    allowed_classes: AllowedList | None = None


class IngressOptions(GatewayOptions, frozen=True):
    """What Ingresses may be. That no other Ingress has the same host and path is not computed."""

    allowed_hostnames: AllowedList | None = None
    allow_wildcard_hostnames: bool = False
    hostname_collision_scope: str = ""


class TenantSpec(objects.Base, frozen=True):
    """The parts of a tenant that limit resources, or decide about pods, claims and other objects of its namespaces."""

    resource_quotas: TenantQuotas | None = None
    limit_ranges: TenantRanges | None = None
    rules: tuple[TenantRule, ...] | None = None
    cordoned: bool = False
    priority_classes: AllowedList | None = None
    runtime_classes: AllowedList | None = None
    storage_classes: AllowedList | None = None
    device_classes: AllowedList | None = None
    container_registries: AllowedList | None = None
    image_pull_policies: tuple[str, ...] | None = None
    node_selector: Mapping[str, str] | None = None
    namespace_options: NamespaceOptions = NamespaceOptions()
    service_options: ServiceOptions | None = None
    ingress_options: IngressOptions = IngressOptions()
    gateway_options: GatewayOptions = GatewayOptions()


class TenantStatus(objects.Base, frozen=True):
    """The namespaces that belong to the tenant."""

    namespaces: tuple[str, ...] | None = None
    size: int = 0
    state: str = ""


class Tenant(objects.Base, frozen=True):
    """Namespaces that belong together."""

    metadata: objects.ManagedMetadata = objects.ManagedMetadata()
    spec: TenantSpec = TenantSpec()
    status: TenantStatus = TenantStatus()
    kind: str = "Tenant"
    api_version: str = _API_VERSION


def has_lists(tenant: Tenant) -> bool:
    """Return whether a Tenant says something about classes, registries or pull policies of pods and claims."""
    spec = tenant.spec
    lists = (spec.priority_classes, spec.runtime_classes, spec.storage_classes, spec.container_registries)
    return any(allowed is not None for allowed in lists) or bool(spec.image_pull_policies)


class GlobalResourceQuotaSpec(objects.Base, frozen=True):
    """A quota that the selected namespaces share; selectors without fields select every namespace."""

    namespace_selectors: tuple[objects.LabelSelector, ...] | None = None
    quota: objects.ResourceQuotaSpec = objects.ResourceQuotaSpec()


class NamespaceUsage(objects.Base, frozen=True):
    """What one namespace uses."""

    used: objects.ResourceList | None = None


class GlobalResourceQuotaStatus(objects.Base, frozen=True):
    """Limits and use over all namespaces, and the use of each."""

    namespaces: tuple[str, ...] | None = None
    total: PoolAllocation = PoolAllocation()
    namespace_usage: Mapping[str, NamespaceUsage] | None = None
    conditions: tuple[CapsuleCondition, ...] | None = None


class GlobalResourceQuota(objects.Base, frozen=True):
    """One quota over several namespaces, without claims."""

    metadata: objects.ManagedMetadata = objects.ManagedMetadata()
    spec: GlobalResourceQuotaSpec = GlobalResourceQuotaSpec()
    status: GlobalResourceQuotaStatus = GlobalResourceQuotaStatus()
    kind: str = "GlobalResourceQuota"
    api_version: str = _API_VERSION


class CustomSource(objects.Base, frozen=True):
    """Which objects a custom quota counts, and what of each: ``op`` over the values at ``path``, or ``cel``."""

    api_version: str = ""
    kind: str = ""
    op: str = ""
    path: str = ""
    cel: str = ""


class CustomQuotaSpec(objects.Base, frozen=True):
    """The limit (a quantity) and what is counted. ``namespace_selectors`` only in a GlobalCustomQuota."""

    limit: Any = None
    sources: tuple[CustomSource, ...] | None = None
    namespace_selectors: tuple[objects.LabelSelector, ...] | None = None


class CustomUsage(objects.Base, frozen=True):
    """What is used of a limit, and what is left; quantities."""

    used: Any = None
    available: Any = None


class CustomQuotaStatus(objects.Base, frozen=True):
    """What the controller counted. ``namespaces`` only in a GlobalCustomQuota."""

    namespaces: tuple[str, ...] | None = None
    usage: CustomUsage = CustomUsage()
    conditions: tuple[CapsuleCondition, ...] | None = None


class CustomQuota(objects.Base, frozen=True):
    """One limit over objects of any kinds in a namespace."""

    metadata: objects.ManagedMetadata = objects.ManagedMetadata()
    spec: CustomQuotaSpec = CustomQuotaSpec()
    status: CustomQuotaStatus = CustomQuotaStatus()
    kind: str = "CustomQuota"
    api_version: str = _API_VERSION


class GlobalCustomQuota(CustomQuota, frozen=True):
    """The same over several namespaces."""

    kind: str = "GlobalCustomQuota"


def _kind(kind: str, *short: str, struct: Any, namespaced: bool = False) -> objects.Kind:
    """Return a kind of Capsule; ``pool`` and ``claim`` are short names of ours."""
    names = (f"{kind.lower()}s", kind.lower(), *short)
    return objects.Kind(kind, names, GROUP, VERSION, namespaced=namespaced, struct=struct)


KINDS = (
    _kind("ResourcePool", "pools", "pool", "quotapool", struct=ResourcePool),
    _kind("ResourcePoolClaim", "claims", "claim", namespaced=True, struct=ResourcePoolClaim),
    _kind("Tenant", "tnt", struct=Tenant),
    objects.Kind("RuleStatus", ("rulestatuses", "rulestatus"), GROUP, VERSION, struct=RuleStatus),
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


def pool_of(quota: objects.ResourceQuota) -> str:
    """Return the pool that manages a quota, by its label; empty if none does."""
    name = (quota.metadata.labels or {}).get(POOL_LABEL, "")
    return name if name and quota.metadata.name == quota_name(name) else ""


#: Volumes, as they are read for the scheduler, too.
VOLUMES = "PersistentVolume.of/scheduler"
#: The label of a namespace that belongs to a Tenant.
TENANT_LABEL = "capsule.clastix.io/tenant"
#: The label of a namespace whose Tenant is cordoned.
CORDONED_LABEL = "projectcapsule.dev/cordoned"


def tenant_name(space: objects.Namespace | None) -> str:
    """Return the Tenant of a namespace, by its owner, else by its label; empty: it has none that is known."""
    if space is None:
        return ""
    for owner in space.metadata.owner_references or ():
        if owner.kind == "Tenant" and owner.api_version.partition("/")[0] in {"", GROUP}:
            return owner.name
    return (space.metadata.labels or {}).get(TENANT_LABEL, "")
