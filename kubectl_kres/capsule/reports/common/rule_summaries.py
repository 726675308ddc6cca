"""A Tenant's rules about pods in few words, for the Tenant and for each of its namespaces."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.capsule.model import Tenant, TenantRule
from kubectl_kres.capsule.reports.common.tenancy import rules_here
from kubectl_kres.capsule.rules.workload_rules import EVERYWHERE, WorkloadRule, WorkloadRules, rules_of_tenant
from kubectl_kres.model.objects import LabelSelector
from kubectl_kres.provenance.journal import Source
from kubectl_kres.reports.common.parts import RuleSummary
from kubectl_kres.store.store import Store


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
            yield _summary(of_pods, _selector(rule.namespace_selector), quotas)
        elif quotas:
            source = Source("Tenant", tenant.metadata.name, field=f"spec.rules[{index}].quota")
            yield RuleSummary(source, selector=_selector(rule.namespace_selector), quotas=quotas)


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


def _selector(selector: LabelSelector | None) -> str:
    if selector is None:
        return ""
    parts = [f"{key}={value}" for key, value in (selector.match_labels or {}).items()]
    for expression in selector.match_expressions or ():
        values = f" ({', '.join(expression.values)})" if expression.values else ""
        parts.append(f"{expression.key} {expression.operator}{values}")
    return ", ".join(parts)
