"""What Capsule registers with the answers about pods, quotas and namespaces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import structs

from kubectl_kres.admission.base.outcome import Finding
from kubectl_kres.admission.limitrange import Limits
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.capsule import model
from kubectl_kres.model.objects import ManagedMetadata, Metadata, ObjectRef, ResourceQuota
from kubectl_kres.provenance.journal import Source
from kubectl_kres.quantity import parse
from kubectl_kres.record import Record, Wording
from kubectl_kres.reports.common import system
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.effective_policies import ExtendedPolicies
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.remedy import Edit, KeptBy, RaiseQuota, Remedy
from kubectl_kres.reports.common.system_parts import SystemPart
from kubectl_kres.store.store import ReadRequest, Store

_GET, _LIST, _BOTH = ("get",), ("list",), ("get", "list")
_SHARED = ("GlobalResourceQuota", "CustomQuota", "GlobalCustomQuota")
#: What decides about pods, and what tells by which version.
_DECIDING = ("Namespace", "Tenant", "RuleStatus", "GlobalResourceQuota", "CustomResourceDefinition", model.VOLUMES)
_OF_TENANTS = ("Tenant", "RuleStatus", "CustomResourceDefinition")
#: What names of webhooks of Capsule end in.
_HOOKS = (".projectcapsule.dev", ".capsule.clastix.io")
#: Its webhooks whose answers about pods are computed.
_COMPUTED = frozenset({
    "generic.rules.mutating.projectcapsule.dev", "generic.rules.validating.projectcapsule.dev",
    "calculation.global-resource-quotas.validating.projectcapsule.dev",
})  # fmt: skip
#: Those whose answers follow from the Tenant alone, where it was read. That of cordoning lets controllers pass.
_OF_TENANT_ALONE = frozenset({
    "pods.validating.projectcapsule.dev", "pod.mutating.projectcapsule.dev", "pvc.validating.projectcapsule.dev",
    "storage.mutating.projectcapsule.dev", "cordoning.validating.projectcapsule.dev",
    "services.validating.projectcapsule.dev", "devices.validating.projectcapsule.dev",
    "ingress.validating.projectcapsule.dev", "ingress.mutating.projectcapsule.dev",
    "gateway.validating.projectcapsule.dev", "gateway.mutating.projectcapsule.dev",
    "customresources.validating.projectcapsule.dev", "pvc.mutating.projectcapsule.dev",
})  # fmt: skip
_QUOTAS = tuple(system.ReadRight(kind, _LIST, "Capsule's quotas over several namespaces") for kind in _SHARED)
_OWN = tuple(
    system.ReadRight(kind, _BOTH, "pools and claims beside what your own namespaces show of them")
    for kind in ("ResourcePool", "ResourcePoolClaim")
)


def _reads(store: Store, question: system.Question) -> Iterable[ReadRequest] | None:
    if isinstance(question, system.AboutPod):
        return _reads_of_pools(store, question.namespace)
    if isinstance(question, system.AboutPolicies | system.AboutNewObjects):
        return _reads_of_policies(store, question.namespace)
    if isinstance(question, system.AboutClaims):
        return _reads_of_volumes(store, question)
    if isinstance(question, system.AboutRefused):
        return _reads_of_refused(store, question.namespace)
    if isinstance(question, system.AboutSharedQuotas):
        from kubectl_kres.capsule.reports.common.shared_quotas import may_share, shared_needs

        return shared_needs(question.namespace) if may_share(question.quotas) else None
    return None


def _reads_of_pools(store: Store, namespace: str) -> Iterator[ReadRequest]:
    """Two more reads where pools keep quotas: the claims of the namespace, and what the pools have left."""
    pools = sorted(set(kept_quotas(store, namespace).values()))
    if pools:
        yield ReadRequest("ResourcePoolClaim", namespace, required=False)
        yield ReadRequest("ResourcePool", name=pools[0] if len(pools) == 1 else "", required=False)


def _reads_of_policies(store: Store, namespace: str) -> Iterable[ReadRequest]:
    """Only where the namespace, its quotas or the webhooks that were read say that Capsule is there."""
    space = store.get("Namespace", namespace) if namespace else None
    if not (model.tenant_name(space) if space is not None else _has_capsule(store, namespace)):
        return ()
    from kubectl_kres.capsule.reports.common.tenancy import tenancy_needs

    return tenancy_needs(store, namespace, decided=has_enforced_rules(store, namespace))


def _reads_of_volumes(store: Store, question: system.AboutClaims) -> Iterator[ReadRequest]:
    """Yield the volumes that claims of a Tenant name: whose they are stands in a label."""
    if model.tenant_name(store.get("Namespace", question.namespace)):
        for name in question.volumes:
            yield ReadRequest(model.VOLUMES, name=name)


def _reads_of_refused(store: Store, namespace: str) -> Iterator[ReadRequest]:
    """Two more reads where Capsule keeps a quota: what its pools have left, and who else claims of them."""
    yield from _reads_of_policies(store, namespace)
    if any(map(model.pool_of, store.all("ResourceQuota", namespace or None))):
        yield ReadRequest("ResourcePool", required=False)
        yield ReadRequest("ResourcePoolClaim", namespace, required=False)


def _describe(item: Any) -> system.ObjectDescription | None:
    if not isinstance(item, model.ResourcePool | model.ResourcePoolClaim | model.Tenant):
        return None
    namespaces = None if isinstance(item, model.ResourcePoolClaim) else tuple(item.status.namespaces or ())
    return system.ObjectDescription(namespaces=namespaces)


def _history(item: Any) -> system.ObjectHistory | None:
    if not isinstance(item, model.ResourcePool | model.ResourcePoolClaim):
        return None
    from kubectl_kres.capsule.reports.overview import timeline_events

    return system.ObjectHistory(events=tuple(timeline_events(item)))


def _explain_namespace(store: Store, namespace: str, limits: Sequence[Limits]) -> Iterable[SystemPart]:
    del limits
    if not has_enforced_rules(store, namespace):
        return ()
    from kubectl_kres.capsule.reports.common.tenancy import summaries_of_namespace

    return summaries_of_namespace(store, namespace)


def _extend(store: Store, namespace: str, policies: Policies) -> ExtendedPolicies:
    tenant: model.Tenant | None = store.get("Tenant", model.tenant_name(store.get("Namespace", namespace)))
    computed = _OF_TENANT_ALONE if tenant is not None else frozenset[str]()
    if tenant is None and not has_enforced_rules(store, namespace):
        return ExtendedPolicies(policies, computed=computed)
    from kubectl_kres.capsule.reports.common.tenancy import extend_policies

    return ExtendedPolicies(*extend_policies(store, namespace, policies), _COMPUTED | computed)


def kept_quotas(store: Store, namespace: str) -> Mapping[str, str]:
    """Return the names of the quotas that pools keep in a namespace, with the pool."""
    quotas: Iterable[ResourceQuota] = store.all("ResourceQuota", namespace)
    return {quota.metadata.name: pool for quota in quotas if (pool := model.pool_of(quota))}


def _explain_refusals(store: Store, namespace: str, findings: Iterable[Finding]) -> system.ManagedQuotaAnswer:
    managed, findings = kept_quotas(store, namespace), tuple(findings)
    ranges = tuple(dict.fromkeys(_kept_ranges(store, namespace, findings)))
    if not managed:
        return system.ManagedQuotaAnswer(ranges)
    from kubectl_kres.capsule.reports.pool.refusing_pools import claim_remedies, find_refusing_pools

    pools = find_refusing_pools(store, namespace, managed, findings)
    return system.ManagedQuotaAnswer((*ranges, *pools), claim_remedies(store, namespace, managed))


def _kept_ranges(store: Store, namespace: str, findings: Iterable[Finding]) -> Iterator[SystemPart]:
    """Yield the LimitRanges that refuse and that a Tenant keeps. Source: internal/controllers/tenant/limitranges.go."""
    for finding in findings:
        if finding.source is None or finding.source.kind != "LimitRange":
            continue
        item = store.get("LimitRange", finding.source.name, namespace)
        owners = item.metadata.owner_references or () if item is not None else ()
        tenant = next((owner.name for owner in owners if owner.kind == "Tenant"), "")
        number = (item.metadata.labels or {}).get(_RANGE_LABEL, "") if item is not None else ""
        if tenant:
            from kubectl_kres.capsule.reports.common.part import KeptRange

            field = f"spec.limitRanges.items[{number}]" if number else "spec.limitRanges"
            yield KeptRange(finding.source.name, Source("Tenant", tenant, field=field))


def _replace_raises(store: Store, ref: ObjectRef, edits: tuple[Edit, ...]) -> system.MoreRoom | None:
    sources = tuple(_at_source(store, edit) for edit in edits)
    pools = kept_quotas(store, ref.namespace)
    kept = [edit for edit in sources if isinstance(edit, RaiseQuota) and edit.object.name in pools]
    if not kept:
        return system.MoreRoom(sources)
    from kubectl_kres.capsule.reports.pool.refusing_pools import more_room

    lacks: dict[str, dict[str, str]] = {}
    for raise_quota in kept:
        more = parse(raise_quota.to) - parse(raise_quota.from_ or "0")
        lacks.setdefault(pools[raise_quota.object.name], {})[raise_quota.resource] = str(more)
    room = more_room(store, ref, lacks)
    return structs.replace(room, edits=(*room.edits, *(edit for edit in sources if edit not in kept)))


def _at_source(store: Store, edit: Edit) -> Edit:
    """Return the edit of what Capsule makes a quota from, with the figure that is due there; any other edit itself."""
    if not isinstance(edit, RaiseQuota):
        return edit
    item = store.get(edit.object.kind, edit.object.name, edit.object.namespace)
    metadata = item.metadata if item is not None else Metadata()
    labelled = any(key.startswith(model.LABELS) for key in metadata.labels or {})
    if not labelled and not any(owner.kind in _SOURCES for owner in metadata.owner_references or ()):
        return edit
    from kubectl_kres.capsule.reports.common.shared_quotas import source_of_quota

    return source_of_quota(store, edit) or edit


def _owner(metadata: Metadata) -> system.Ownership | None:
    pool = (metadata.labels or {}).get(model.POOL_LABEL)
    if pool:
        return system.Ownership(
            KeptBy("Capsule", "pool", pool), pool if metadata.name == model.quota_name(pool) else ""
        )
    kept = distributor(metadata) if isinstance(metadata, ManagedMetadata) else None
    return system.Ownership(kept, distributed=True) if kept is not None else None


def _shared_reports(store: Store, namespace: str) -> Iterator[Record]:
    if not any(any(True for _ in store.all(kind)) for kind in _SHARED):
        return
    from kubectl_kres.capsule.reports.common.shared_quotas import shared_reports

    yield from shared_reports(store, namespace)


def has_enforced_rules(store: Store, namespace: str) -> bool:
    """Return whether something was read that Capsule may enforce on pods of the namespace."""
    if any(True for _ in store.all("GlobalResourceQuota")) or any(True for _ in store.all("RuleStatus", namespace)):
        return True
    space = store.get("Namespace", namespace)
    if space is not None and (space.metadata.labels or {}).get(model.CORDONED_LABEL) == "true":
        return True
    tenant: model.Tenant | None = store.get("Tenant", model.tenant_name(space))
    if tenant is None:
        return False
    spec = tenant.spec
    decides = spec.cordoned or spec.node_selector or spec.device_classes or model.has_lists(tenant)
    return bool(decides) or any(rule.enforce is not None for rule in spec.rules or ())


def _has_capsule(store: Store, namespace: str) -> bool:
    """Return whether Capsule shows: by a label on a quota or LimitRange of the namespace, or by its webhooks."""
    for kind in ("ResourceQuota", "LimitRange"):
        for policy in store.all(kind, namespace or None):
            if any(key.startswith(model.LABELS) for key in policy.metadata.labels or {}):
                return True
    return any(
        hook.name.endswith(_HOOKS)
        for configuration in store.all("MutatingWebhookConfiguration")
        for hook in configuration.webhooks or ()
    )


def _rule_remedy(case: Any) -> Iterator[Wording]:
    from kubectl_kres.capsule.reports.rule_remedies import RULE_REMEDIES

    return RULE_REMEDIES[case.finding.rule](case)


def _remedies(store: Store, subject: Subject, analysis: Analysis) -> tuple[Remedy, ...]:
    rules = {finding.rule for outcome in analysis.outcomes if outcome.refusal for finding in outcome.refusal.findings}
    if not rules & _LISTED:
        return ()
    from kubectl_kres.capsule.reports.list_remedies import list_remedies

    return list_remedies(store, subject, analysis)


#: Rules of lists, whose remedies are tried.
_LISTED = frozenset({"capsule/class-allowed", "capsule/registry", "capsule/pull-policy"})
#: Rules that refuse pods and claims.
_WITH_SENTENCES = (
    "capsule/rule-resources", "capsule/rule-qos", "capsule/class-allowed", "capsule/class-default", "capsule/registry",
    "capsule/pull-policy", "capsule/bad-pattern", "capsule/storage-class-missing", "capsule/volume",
    "capsule/volume-selector", "capsule/count",
    "capsule/namespaces", "capsule/service-type", "capsule/service-metadata",
    "capsule/external-ip", "capsule/hostname", "capsule/hostname-empty", "capsule/wildcard",
    "capsule/device-alternatives", "capsule/device-class-missing",
)  # fmt: skip
#: The label of a LimitRange that a Tenant keeps: which item of its ``limitRanges`` it is.
_RANGE_LABEL = "capsule.clastix.io/limit-range"
#: What quotas are made from.
_SOURCES = ("Tenant", "GlobalResourceQuota")
_OWNERS = ("TenantResource", "GlobalTenantResource", "Tenant")
#: Labels of what is distributed, of Capsule's versions from old to new.
_LABELS = ("capsule.clastix.io/resources", "projectcapsule.dev/created-by", model.MANAGED_LABEL)
#: What starts the name of the field manager of what a TenantResource distributes.
MANAGER = "projectcapsule.dev/resource"
#: The value of the label on what a Tenant's own fields make.
_OF_TENANT = "controller"


def distributor(metadata: ManagedMetadata) -> KeptBy | None:
    """Return what Capsule makes a LimitRange or quota from that it distributes; None for any other, and for quotas of
    pools.

    Source: capsule internal/controllers/resources and internal/controllers/tenant; read, not recorded.
    """
    labels = metadata.labels or {}
    texts = list(_signs_of_capsule(metadata))
    if not texts or model.POOL_LABEL in labels:
        return None
    owner = next(
        (owner_reference for owner_reference in metadata.owner_references or () if owner_reference.kind in _OWNERS),
        None,
    )
    if owner is not None:
        owner_text = f"{owner.kind}/{owner.name}"
    elif labels.get(model.MANAGED_LABEL) == _OF_TENANT:
        owner_text = "its Tenant"
    else:
        owner_text = "the TenantResource or GlobalTenantResource that distributes it"
    return KeptBy("Capsule", "distributed", texts[0], owner_text)


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


SYSTEM = system.System(
    "capsule",
    model.GROUP,
    answers=dict.fromkeys(("ResourcePool", "ResourcePoolClaim", "Tenant"), system.KindAnswers("capsule")),
    kinds={
        "in-lists": ("ResourcePool", "ResourcePoolClaim", *_SHARED, *_OF_TENANTS),
        "if-refused": ("GlobalResourceQuota", *_OF_TENANTS),
        "edited": ("ResourcePool", "ResourcePoolClaim", "Tenant"),
        "events": ("ResourcePool", "ResourcePoolClaim"),
        "policies": _DECIDING,
        "overview": ("ResourcePoolClaim", "ResourcePool"),
    },
    rights={
        "pods": (
            system.ReadRight("ResourcePool", _BOTH, "what a pool has left"),
            system.ReadRight("ResourcePoolClaim", _BOTH, "who else claims of a pool"),
            system.ReadRight("Tenant", _BOTH, "the rules that a Tenant has for pods"),
            system.ReadRight("RuleStatus", _LIST, "the same where Tenants may not be read"),
            system.ReadRight("GlobalResourceQuota", _LIST, "quotas over several namespaces that refuse pods"),
            system.ReadRight("CustomResourceDefinition", _GET, "Capsule's version", (f"tenants.{model.GROUP}",)),
        ),
        "explain": (*_QUOTAS, system.ReadRight("Tenant", _GET, "what a Tenant's namespaces use of its quotas")),
        "quota": _QUOTAS,
        "claims": (
            _OWN[0],
            system.ReadRight("ResourcePoolClaim", _BOTH),
            system.ReadRight("ResourceQuota", _BOTH, "the quota that a pool keeps in a namespace"),
            system.ReadRight("Namespace", _BOTH, "which namespaces a pool selects"),
        ),
        "pools": (
            *_OWN,
            system.ReadRight("ResourceQuota", _LIST, "the quotas that a pool keeps"),
            system.ReadRight("Namespace", _LIST, "which namespaces a pool selects"),
        ),
        "check": (
            system.ReadRight("Tenant", _LIST, "whether a Tenant uses more than its quota"),
            system.ReadRight("Namespace", _LIST, "which namespaces a pool selects"),
        ),
        "migrate": (system.ReadRight("Tenant", _GET),),
    },
    over_pods={
        "claims": "what a workload has to claim (--for)",
        "pools": "who uses what a pool shares out (--by)",
    },
    sentences=dict.fromkeys(_WITH_SENTENCES, _rule_remedy),
    reads=_reads,
    remedies=_remedies,
    describe=_describe,
    history=_history,
    explain_namespace=_explain_namespace,
    quotas=system.QuotaKeeper(_owner, _replace_raises, _explain_refusals, _shared_reports),
    admission=system.Admitter(extend=_extend),
)
