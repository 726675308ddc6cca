"""What Capsule enforces on the pods of a namespace: the reads for it, rules and quotas, each rule in few words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import structs

from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.admission.quota.quota_admission import Quota
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.capsule.model import (
    CORDONED_LABEL,
    GROUP,
    VOLUMES,
    GlobalResourceQuota,
    RuleStatus,
    Tenant,
    TenantRule,
    has_lists,
    tenant_name,
)
from kubectl_kres.capsule.reports.common.part import RuleSummary
from kubectl_kres.capsule.rules.global_quota import is_projected, is_shared, parse_global_quota
from kubectl_kres.capsule.rules.object_counts import object_counts
from kubectl_kres.capsule.rules.tenant_classes import ClaimClasses, ClassWebhooks, lists_of
from kubectl_kres.capsule.rules.tenant_objects import ObjectWebhooks
from kubectl_kres.capsule.rules.workload_rules import (
    EVERYWHERE,
    WorkloadRule,
    WorkloadRules,
    rules_of_status,
    rules_of_tenant,
    webhook_of,
)
from kubectl_kres.capsule.versions import Area, Version, remarks, unknown_text, version_in
from kubectl_kres.model.objects import LabelSelector, Namespace, ObjectRef
from kubectl_kres.provenance.journal import Assumption, OmittedObject, Source, UnusedQuota
from kubectl_kres.reports.common.effective_policies import default_storage_class
from kubectl_kres.reports.remedies.commands import patch_command
from kubectl_kres.store.store import Origin, ReadRequest, Store

#: The RuleStatus that the controller writes in each namespace.
RULE_STATUS = "capsule-managed-rules"
#: What tells Capsule's version: the chart labels its definitions, and its Deployment.
DEFINITION = ReadRequest("CustomResourceDefinition", name=f"tenants.{GROUP}", required=False)
DEPLOYMENT = ReadRequest("Deployment", "capsule-system", required=False)
_UNREAD = frozenset({"denied", "failed"})


def tenancy_needs(store: Store, namespace: str, *, decided: bool) -> Iterator[ReadRequest]:
    """Yield the reads of what is enforced in a namespace (empty: in any) where Capsule is.

    ``decided``: something of it was read, so that the version matters. The labels of the namespace decide which rules
    of a Tenant apply: where they are not known the RuleStatus tells.
    """
    tenant = tenant_name(store.get("Namespace", namespace) if namespace else None)
    own_read = ReadRequest("Tenant", name=tenant, required=False)
    if tenant:
        yield own_read
        yield from _class_needs(store.get("Tenant", tenant))
    if not tenant or store.covered(own_read).state in _UNREAD:
        yield ReadRequest("RuleStatus", namespace, required=False)
    yield ReadRequest("GlobalResourceQuota", required=False)
    if namespace and decided:
        yield DEFINITION
        if store.covered(DEFINITION).state in _UNREAD:
            yield DEPLOYMENT


def _class_needs(tenant: Tenant | None) -> Iterator[ReadRequest]:
    """Yield the classes that a Tenant says something about."""
    if tenant is None:
        return
    for kind, allowed in (
        ("PriorityClass", tenant.spec.priority_classes),
        ("RuntimeClass", tenant.spec.runtime_classes),
        ("StorageClass", tenant.spec.storage_classes),
        ("DeviceClass", tenant.spec.device_classes),
    ):
        if allowed is not None:
            yield ReadRequest(kind, required=False)


_NAME = "app.kubernetes.io/name"


def version_of(store: Store) -> Version | None:
    """Return Capsule's version as labels say it; None where nothing that was read does."""
    definition = store.get(DEFINITION.kind, DEFINITION.name)
    labelled = [definition] if definition is not None else []
    labelled += [
        deployment
        for deployment in store.all("Deployment", DEPLOYMENT.namespace)
        if (deployment.metadata.labels or {}).get(_NAME) == "capsule"
    ]
    versions = (version_in(item.metadata) for item in labelled)
    return next((version for version in versions if version is not None), None)


def version_remarks(store: Store, area: Area) -> tuple[str, ...]:
    """Return what the version that was read may do otherwise in an area; none where it is not known."""
    version = version_of(store)
    return () if version is None else tuple(remarks(version, area))


def extend_policies(store: Store, namespace: str, policies: Policies) -> tuple[Policies, tuple[Assumption, ...]]:
    """Return the policies with what Capsule enforces, and what was assumed about it."""
    rules, version = _rules(store, namespace), version_of(store)
    assumed = list(rules.assumptions)
    tenant = tenant_name(store.get("Namespace", namespace))
    if is_cordoned(store, namespace):
        text = cordoned_text(store.origin, tenant, namespace)
        assumed.append(Assumption("spec", "capsule/cordoned", text, decisive=True))
    assumed += _node_selector(store, namespace)
    webhook = webhook_of(rules.rules, version)
    if webhook is not None:
        policies = structs.replace(policies, webhooks=(*policies.webhooks, webhook))
    if rules.rules:
        assumed += (Assumption("spec", "capsule/version", text) for text in _unknown_rules(rules.rules, version))
        assumed += (Assumption("spec", "capsule/version", text) for text in remarks(version, "rules"))
    own = tenant_of(store, namespace)
    if own is not None:
        policies = _with_tenant(store, own, policies, version)
        if has_lists(own):
            assumed += (Assumption("spec", "capsule/version", text) for text in remarks(version, "classes"))
    quotas = dict(_parse_shared_quotas(store, namespace, assumed))
    if quotas:
        # The part of a quota in a namespace follows it.
        parts = {
            quota.metadata.name for quota in store.all("ResourceQuota", namespace) if is_projected(quota) in quotas
        }
        kept = tuple(quota for quota in policies.quotas if quota.name not in parts)
        policies = structs.replace(policies, quotas=(*kept, *quotas.values()))
        assumed += (Assumption("spec", "capsule/version", text) for text in remarks(version, "shared quotas"))
    return policies, tuple(assumed)


def _unknown_rules(rules: Sequence[WorkloadRule], version: Version | None) -> Iterator[str]:
    """Yield that a version does not know what rules say."""
    about_resources = any(rule.requests or rule.limits for rule in rules)
    texts = [unknown_text("resource-rules", version)] if about_resources else []
    texts += [unknown_text("qos-rules", version)] if any(rule.qos for rule in rules) else []
    yield from filter(None, texts)


def tenant_of(store: Store, namespace: str) -> Tenant | None:
    """Return the Tenant of a namespace; None: it has none, or it was not read."""
    return store.get("Tenant", tenant_name(store.get("Namespace", namespace)))


def _with_tenant(store: Store, tenant: Tenant, policies: Policies, version: Version | None) -> Policies:
    """Return the policies with what the Tenant makes of pods, claims and other objects beside its rules."""
    spec = tenant.spec
    priorities = policies.priorities
    if spec.priority_classes is not None and priorities is not None:
        # Which one is the default of the cluster was read for the Tenant.
        priorities = {item.metadata.name: item for item in store.all("PriorityClass")}
    storages = None
    if spec.storage_classes is not None:
        storages = _classes(store, "StorageClass")
        policies = structs.replace(policies, default_storage=default_storage_class(store))
    lists = lists_of(
        tenant,
        priorities=priorities,
        runtimes=policies.runtimes,
        storages=storages,
        devices=_classes(store, "DeviceClass") if spec.device_classes is not None else None,
        volumes=_volumes(store),
        version=version,
    )
    counted = any(True for _ in object_counts(lists.annotations))
    return structs.replace(
        policies,
        priorities=priorities,
        webhooks=(*policies.webhooks, *([ClassWebhooks(lists)] if counted or has_lists(tenant) else [])),
        claim_webhooks=(*policies.claim_webhooks, ClaimClasses(lists)),
        object_webhooks=(*policies.object_webhooks, ObjectWebhooks(lists)),
    )


def _classes(store: Store, kind: str) -> Mapping[str, Any] | None:
    """Return the classes of a kind by name; None: they are not known."""
    known = store.covered(ReadRequest(kind)).is_known or store.origin.kind == "files"
    return {item.metadata.name: item for item in store.all(kind)} if known else None


def _volumes(store: Store) -> Mapping[str, Mapping[str, str] | None]:
    """Return the labels of the volumes that were read; None: it is known that there is none of a name."""
    named = {read.name for read in store.reads_of_kind(VOLUMES) if read.name and store.covered(read).is_known}
    read = {item.metadata.name: item.metadata.labels or {} for item in store.all(VOLUMES)}
    return {**dict.fromkeys(named), **read}


def is_cordoned(store: Store, namespace: str) -> bool:
    """Return whether users of a Tenant may change nothing in a namespace: by its label, which follows the Tenant."""
    space: Namespace | None = store.get("Namespace", namespace)
    if space is None:
        return False
    tenant = tenant_of(store, namespace)
    return (space.metadata.labels or {}).get(CORDONED_LABEL) == "true" or (tenant is not None and tenant.spec.cordoned)


def cordoned_text(origin: Origin, tenant: str, namespace: str = "") -> str:
    """Return what it means that a Tenant is cordoned, and how that ends."""
    where = f"namespace {namespace}" if namespace else "its namespaces"
    end = patch_command(origin, ObjectRef("Tenant", tenant), {"spec": {"cordoned": False}}, "merge")
    return (
        f"Tenant/{tenant} is cordoned: what its users create, change or delete in {where} is refused, while "
        f"controllers go on; to end that: {end}"
    )


def _node_selector(store: Store, namespace: str) -> Iterator[Assumption]:
    """Yield who sets a node selector. Source: pkg/utils/node_selector.go, plugin/pkg/admission/podnodeselector."""
    tenant = tenant_of(store, namespace)
    if tenant is None or not tenant.spec.node_selector:
        return
    pairs = ",".join(f"{key}={value}" for key, value in sorted(tenant.spec.node_selector.items()))
    source = Source("Tenant", tenant.metadata.name, field="spec.nodeSelector")
    yield Assumption(
        "spec.nodeSelector",
        "capsule/node-selector",
        f"the plugin PodNodeSelector is on: it gives each pod of namespace {namespace} the node selector {pairs}, "
        f"which {source} keeps in the annotation of the namespace: label nodes so, or change the Tenant",
    )


def rules_here(store: Store, namespace: str) -> WorkloadRules:
    """Return the rules about pods of a namespace: its Tenant's, else those of the RuleStatus."""
    return _rules(store, namespace)


def _rules(store: Store, namespace: str) -> WorkloadRules:
    space: Namespace | None = store.get("Namespace", namespace)
    tenant: Tenant | None = store.get("Tenant", tenant_name(space)) if space is not None else None
    if tenant is not None and space is not None:
        return rules_of_tenant(tenant, space.metadata.labels or {})
    status: RuleStatus | None = store.get("RuleStatus", RULE_STATUS, namespace)
    if status is not None:
        return rules_of_status(status.status.rules or (), Source("RuleStatus", RULE_STATUS, namespace))
    return WorkloadRules()


def _select_shared_quotas(store: Store, namespace: str) -> Iterator[GlobalResourceQuota]:
    space: Namespace | None = store.get("Namespace", namespace)
    labels: Mapping[str, str] | None = (space.metadata.labels or {}) if space is not None else None
    for quota in store.all("GlobalResourceQuota"):
        if is_shared(quota, namespace, labels):
            yield quota


def _parse_shared_quotas(store: Store, namespace: str, assumed: list[Assumption]) -> Iterator[tuple[str, Quota]]:
    for quota in _select_shared_quotas(store, namespace):
        name = quota.metadata.name
        ref = ObjectRef("GlobalResourceQuota", name)
        try:
            parsed = parse_global_quota(quota)
        except Unparsable as fault:
            left_out = OmittedObject(str(ref), fault.error.message, fault.path)
            assumed.append(Assumption("spec", "policy/unparsable", left_out))
            continue
        if not quota.status.total.used and ref in store.files:
            assumed.append(Assumption(str(ref), "quota/from-file", UnusedQuota(str(ref))))
        elif not quota.status.total.used:
            text = f"{ref} has no status yet: taken with nothing used; until it has one, Capsule refuses what it counts"
            assumed.append(Assumption(str(ref), "quota/no-status", text))
        yield name, parsed


def summaries_of_namespace(store: Store, namespace: str) -> tuple[RuleSummary, ...]:
    """Return the rules that apply to the pods of a namespace, in their order."""
    return tuple(_summary(rule) for rule in rules_here(store, namespace).rules)


def summaries_of_tenant(tenant: Tenant) -> tuple[RuleSummary, ...]:
    """Return all rules of a Tenant that are about pods or make quotas, each with the namespaces that it selects."""
    return tuple(_summaries(tenant, rules_of_tenant(tenant, None)))


def _summaries(tenant: Tenant, parsed: WorkloadRules) -> Iterator[RuleSummary]:
    by_place = {rule.source.field.partition("]")[0]: rule for rule in parsed.rules}
    for index, rule in enumerate(tenant.spec.rules or ()):
        of_pods = by_place.get(f"spec.rules[{index}")
        quotas = tuple(_quotas(tenant, rule))
        if of_pods is not None:
            yield _summary(of_pods, selector_text(rule.namespace_selector), quotas)
        elif quotas:
            source = Source("Tenant", tenant.metadata.name, field=f"spec.rules[{index}].quota")
            yield RuleSummary(source, selector=selector_text(rule.namespace_selector), quotas=quotas)


def _summary(rule: WorkloadRule, selector: str = "", quotas: tuple[str, ...] = ()) -> RuleSummary:
    policies = tuple(
        f"{side}.{name}: {policy.text}"
        for side, every in (("requests", rule.requests), ("limits", rule.limits))
        for name, policy in every.items()
    )
    targets = tuple(sorted(rule.targets)) if rule.targets != EVERYWHERE else ()
    return RuleSummary(rule.source, rule.action, policies, rule.qos, targets, selector, quotas)


def _quotas(tenant: Tenant, rule: TenantRule) -> Iterator[str]:
    for quota in rule.quota or ():
        hard = ", ".join(f"{name} {amount}" for name, amount in (quota.hard or {}).items())
        yield f"GlobalResourceQuota/{tenant.metadata.name}-{quota.name}: {hard or 'no hard'}"


def selector_text(selector: LabelSelector | None) -> str:
    """Return the labels that a selector wants; empty: it wants none."""
    if selector is None:
        return ""
    parts = [f"{key}={value}" for key, value in (selector.match_labels or {}).items()]
    for expression in selector.match_expressions or ():
        values = f" ({', '.join(expression.values)})" if expression.values else ""
        parts.append(f"{expression.key} {expression.operator}{values}")
    return ", ".join(parts)
