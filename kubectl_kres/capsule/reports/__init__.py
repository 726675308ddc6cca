"""What Capsule registers with the answers about pods, quotas and namespaces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kubectl_kres.admission.base.outcome import Finding
from kubectl_kres.capsule.model import GROUP, LABELS, MANAGED_LABEL, POOL_LABEL, Tenant, pool_of, tenant_name
from kubectl_kres.model.objects import ManagedMetadata, Metadata, ObjectRef, ResourceQuota
from kubectl_kres.model.pod import PodSpec
from kubectl_kres.provenance.journal import Assume
from kubectl_kres.reports.common.parts import PoolTrail, RaiseQuota, Record, RuleSummary
from kubectl_kres.reports.common.system import KindAnswers, MoreRoom, Right, Sentences, System, TimelineEvent
from kubectl_kres.store.store import ReadRequest, Store

_GET, _LIST, _BOTH = ("get",), ("list",), ("get", "list")
_SHARED = ("GlobalResourceQuota", "CustomQuota", "GlobalCustomQuota")
#: What decides about pods, and what tells by which version.
_DECIDING = ("Namespace", "Tenant", "RuleStatus", "GlobalResourceQuota", "CustomResourceDefinition")
_OF_TENANTS = ("Tenant", "RuleStatus", "CustomResourceDefinition")
#: What names of webhooks of Capsule end in.
_HOOKS = (".projectcapsule.dev", ".capsule.clastix.io")
#: Its webhooks whose answers about pods are computed.
_COMPUTED = frozenset({
    "generic.rules.mutating.projectcapsule.dev", "generic.rules.validating.projectcapsule.dev",
    "calculation.global-resource-quotas.validating.projectcapsule.dev",
})  # fmt: skip
_QUOTAS = tuple(Right(kind, _LIST, "Capsule's quotas over several namespaces") for kind in _SHARED)
_OWN = tuple(Right(kind, _BOTH) for kind in ("ResourcePool", "ResourcePoolClaim"))


class Capsule(System):
    """Resource pools, claims, and the quotas that they become."""

    name = "capsule"
    group = GROUP
    answers: Mapping[str, KindAnswers] = {
        **dict.fromkeys(("ResourcePool", "ResourcePoolClaim"), KindAnswers("capsule")),
        "Tenant": KindAnswers("capsule"),
    }
    policies = ("ResourcePool", "ResourcePoolClaim", "Tenant")
    policy_kinds = _DECIDING
    telling = ("ResourcePool", "ResourcePoolClaim")
    beside_lists = frozenset({"ResourcePool", "ResourcePoolClaim", *_SHARED, *_OF_TENANTS})
    said_if_refused = frozenset({"GlobalResourceQuota", *_OF_TENANTS})
    rights: Mapping[str, tuple[Right, ...]] = {
        "pods": (
            Right("ResourcePool", _BOTH, "what a pool has left"),
            Right("ResourcePoolClaim", _BOTH, "who else claims of a pool"),
            Right("Tenant", _BOTH, "the rules that a Tenant has for pods"),
            Right("RuleStatus", _LIST, "the same where Tenants may not be read"),
            Right("GlobalResourceQuota", _LIST, "quotas over several namespaces that refuse pods"),
            Right("CustomResourceDefinition", _GET, "Capsule's version", (f"tenants.{GROUP}",)),
        ),
        "explain": (*_QUOTAS, Right("Tenant", _GET, "what a Tenant's namespaces use of its quotas")),
        "quota": _QUOTAS,
        "claims": (
            *_OWN,
            Right("ResourceQuota", _BOTH, "the quota that a pool keeps in a namespace"),
            Right("Namespace", _BOTH, "which namespaces a pool selects"),
        ),
        "pools": (
            *_OWN,
            Right("ResourceQuota", _LIST, "the quotas that a pool keeps"),
            Right("Namespace", _LIST, "which namespaces a pool selects"),
        ),
    }

    over_pods: Mapping[str, str] = {
        "claims": "what a workload has to claim (--for)",
        "pools": "who uses what a pool shares out (--by)",
    }

    def needs_beside(self, store: Store, namespace: str, spec: PodSpec | None, *, new: bool) -> Iterable[ReadRequest]:
        """Two more reads where pools keep quotas: the claims of the namespace, and what the pools have left."""
        del spec, new
        pools = sorted(set(self.kept_quotas(store, namespace).values()))
        if pools:
            yield ReadRequest("ResourcePoolClaim", namespace, required=False)
            yield ReadRequest("ResourcePool", name=pools[0] if len(pools) == 1 else "", required=False)

    def remedies(self) -> Mapping[str, Sentences]:
        return dict.fromkeys(("capsule/rule-resources", "capsule/rule-qos"), _rule_remedy)

    def policy_needs(self, store: Store, namespace: str) -> Iterable[ReadRequest]:
        """Only where the namespace, its quotas or the webhooks that were read say that Capsule is there."""
        space = store.get("Namespace", namespace) if namespace else None
        if not (tenant_name(space) if space is not None else _shows(store, namespace)):
            return ()
        from kubectl_kres.capsule.reports.common.tenancy import tenancy_needs

        return tenancy_needs(store, namespace, decided=bears(store, namespace))

    def computed_webhooks(self, store: Store, namespace: str) -> frozenset[str]:
        return _COMPUTED if bears(store, namespace) else frozenset()

    def extend_policies(self, store: Store, namespace: str, policies: Any) -> tuple[Any, tuple[Assume, ...]]:
        if not bears(store, namespace):
            return policies, ()
        from kubectl_kres.capsule.reports.common.tenancy import extended

        return extended(store, namespace, policies)

    def quota_needs(self, store: Store, namespace: str) -> Iterable[ReadRequest]:
        """Two more reads where Capsule keeps a quota: what its pools have left, and who else claims of them."""
        yield from self.policy_needs(store, namespace)
        if any(map(pool_of, store.all("ResourceQuota", namespace or None))):
            yield ReadRequest("ResourcePool", required=False)
            yield ReadRequest("ResourcePoolClaim", namespace, required=False)

    def special(self, store: Store, namespace: str) -> Mapping[str, Sentences]:
        if not self.kept_quotas(store, namespace):
            return {}
        from kubectl_kres.capsule.reports.pool.pool_trail import claiming

        return claiming(store, namespace)

    def trails(self, store: Store, namespace: str, findings: Iterable[Finding]) -> tuple[PoolTrail, ...]:
        if not self.kept_quotas(store, namespace):
            return ()
        from kubectl_kres.capsule.reports.pool.pool_trail import trails

        return trails(store, namespace, findings)

    def kept_quotas(self, store: Store, namespace: str) -> Mapping[str, str]:
        quotas: Iterable[ResourceQuota] = store.all("ResourceQuota", namespace)
        return {quota.metadata.name: pool for quota in quotas if (pool := pool_of(quota))}

    def more_room(self, store: Store, ref: ObjectRef, lacks: Mapping[str, Mapping[str, str]]) -> MoreRoom | None:
        from kubectl_kres.capsule.reports.pool.pool_trail import more_room

        return more_room(store, ref, lacks)

    def source_of_quota(self, store: Store, edit: RaiseQuota) -> RaiseQuota | None:
        item = store.get(edit.object.kind, edit.object.name, edit.object.namespace)
        metadata = item.metadata if item is not None else Metadata()
        labelled = any(key.startswith(LABELS) for key in metadata.labels or {})
        if not labelled and not any(owner.kind in _SOURCES for owner in metadata.owner_references or ()):
            return None
        from kubectl_kres.capsule.reports.common.shared_quotas import source_of_quota

        return source_of_quota(store, edit)

    def pool_of(self, quota: ResourceQuota) -> str:
        return pool_of(quota)

    def keeper(self, metadata: Metadata) -> str:
        pool = (metadata.labels or {}).get(POOL_LABEL)
        if pool:
            return f"Capsule owns it for pool {pool}: claim more from the pool instead"
        return kept(metadata) if isinstance(metadata, ManagedMetadata) else ""

    def distributed(self, metadata: ManagedMetadata) -> str:
        return kept(metadata)

    def rules_of_namespace(self, store: Store, namespace: str) -> tuple[RuleSummary, ...]:
        if not bears(store, namespace):
            return ()
        from kubectl_kres.capsule.reports.common.rule_summaries import summaries_of_namespace

        return summaries_of_namespace(store, namespace)

    def shared_needs(self, namespace: str, quotas: Iterable[ResourceQuota]) -> tuple[ReadRequest, ...]:
        from kubectl_kres.capsule.reports.common.shared_quotas import may_share, shared_needs

        return shared_needs(namespace) if may_share(quotas) else ()

    def concerns(self, item: Any, namespace: str) -> bool:
        return namespace in (item.status.namespaces or ())

    def happened(self, item: Any) -> Iterator[TimelineEvent]:
        from kubectl_kres.capsule.reports.overview import timeline_events

        return timeline_events(item)

    def overview_areas(self) -> tuple[Any, ...]:
        from kubectl_kres.capsule.reports.overview import AREAS

        return AREAS

    def overview_needs(self, namespace: str) -> Iterable[ReadRequest]:
        return ReadRequest("ResourcePoolClaim", namespace, required=False), ReadRequest("ResourcePool", required=False)

    def shared_reports(self, store: Store, namespace: str) -> Iterator[Record]:
        if not any(any(True for _ in store.all(kind)) for kind in _SHARED):
            return
        from kubectl_kres.capsule.reports.common.shared_quotas import shared_reports

        yield from shared_reports(store, namespace)


def bears(store: Store, namespace: str) -> bool:
    """Return whether something was read that Capsule may enforce on pods of the namespace."""
    if any(True for _ in store.all("GlobalResourceQuota")) or any(True for _ in store.all("RuleStatus", namespace)):
        return True
    tenant: Tenant | None = store.get("Tenant", tenant_name(store.get("Namespace", namespace)))
    return tenant is not None and any(rule.enforce is not None for rule in tenant.spec.rules or ())


def _shows(store: Store, namespace: str) -> bool:
    """Return whether Capsule shows: by a label on a quota or LimitRange of the namespace, or by its webhooks."""
    for kind in ("ResourceQuota", "LimitRange"):
        for policy in store.all(kind, namespace or None):
            if any(key.startswith(LABELS) for key in policy.metadata.labels or {}):
                return True
    return any(
        hook.name.endswith(_HOOKS)
        for configuration in store.all("MutatingWebhookConfiguration")
        for hook in configuration.webhooks or ()
    )


def _rule_remedy(case: Any) -> Iterator[str]:
    from kubectl_kres.capsule.reports.rule_remedies import RULE_REMEDIES

    return RULE_REMEDIES[case.finding.rule](case)


#: What quotas are made from.
_SOURCES = ("Tenant", "GlobalResourceQuota")
_OWNERS = ("TenantResource", "GlobalTenantResource", "Tenant")
#: Labels of what is distributed, of Capsule's versions from old to new.
_LABELS = ("capsule.clastix.io/resources", "projectcapsule.dev/created-by", MANAGED_LABEL)
#: What starts the name of the field manager of what a TenantResource distributes.
MANAGER = "projectcapsule.dev/resource"
#: The value of the label on what a Tenant's own fields make.
_OF_TENANT = "controller"


def kept(metadata: ManagedMetadata) -> str:
    """Return a sentence for a LimitRange or quota that Capsule distributes; empty for any other, and for quotas of
    pools.

    Source: capsule internal/controllers/resources and internal/controllers/tenant; read, not recorded.
    """
    labels = metadata.labels or {}
    texts = list(_signs_of_capsule(metadata))
    if not texts or POOL_LABEL in labels:
        return ""
    owner = next(
        (owner_reference for owner_reference in metadata.owner_references or () if owner_reference.kind in _OWNERS),
        None,
    )
    if owner is not None:
        made = f"{owner.kind}/{owner.name}"
    elif labels.get(MANAGED_LABEL) == _OF_TENANT:
        made = "its Tenant"
    else:
        made = "the TenantResource or GlobalTenantResource that distributes it"
    return f"Capsule owns it ({texts[0]}): edits are undone, or refused; change {made} instead"


def _signs_of_capsule(metadata: ManagedMetadata) -> Iterator[str]:
    """Yield what tells that Capsule owns it."""
    for entry in metadata.managed_fields or ():
        if entry.manager.startswith(MANAGER):
            yield f"field manager {entry.manager}"
    for owner_reference in metadata.owner_references or ():
        if owner_reference.kind in _OWNERS and owner_reference.api_version.partition("/")[0] in {
            "",
            "capsule.clastix.io",
        }:
            yield f"owned by {owner_reference.kind}/{owner_reference.name}"
    for label in _LABELS:
        value = (metadata.labels or {}).get(label)
        if value is not None:
            yield f"label {label}={value}"


SYSTEM = Capsule()
