"""A Tenant's rules about the requests, limits and QoS classes of pods, read out of its ``spec.rules``.

Source: capsule 0.14.0 pkg/api/rules/enforce_workloads_types.go, pkg/tenant/rules.go BuildNamespaceRuleBodyStatus.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from kubectl_kres.admission.base.resource_names import is_pod_level
from kubectl_kres.capsule.model import NamespaceRule, Tenant, TenantRule
from kubectl_kres.capsule.rules.assignment import fault, fits
from kubectl_kres.errors import QuantityError
from kubectl_kres.provenance.journal import Assumption, Source
from kubectl_kres.quantity import Quantity, from_json

CONTAINERS: Final = "pod/containers"
INIT_CONTAINERS: Final = "pod/initcontainers"
POD: Final = "pod"
#: Where policies about resources apply when a rule names no targets.
EVERYWHERE = frozenset({CONTAINERS, INIT_CONTAINERS, POD})
_OTHER_TARGETS = frozenset({"pod/ephemeralcontainers", "pod/volumes", "pod/images"})
_ACTIONS = ("allow", "deny", "audit")
_CLASSES = ("Guaranteed", "Burstable", "BestEffort")
#: By side, the policies that there are; those with a value, and those that are checked when the pod is validated.
POLICIES: Final = {
    "requests": ("Preserve", "Default", "Remove"),
    "limits": ("Preserve", "Default", "Remove", "MatchRequest", "Ratio"),
}
_VALUED = ("Default", "Ratio")
#: Resources that a Ratio can be worked out for. Source: pkg/runtime/workloads RatioSupportedResource.
_RATIO = ("cpu", "memory", "ephemeral-storage")
#: What a rule about workloads may hold; the last two are not computed.
_FIELDS = ("targets", "resources", "qosClasses", "registries", "schedulers")
_NOT_COMPUTED = ("registries", "schedulers")


class ResourcePolicy(Struct, frozen=True):
    """What a rule does with one request or limit. ``value``: of Default the amount, of Ratio the factor."""

    policy: str
    source: Source
    value: Quantity | None = None

    @property
    def text(self) -> str:
        """The policy with its value: ``Ratio 2``."""
        return self.policy if self.value is None else f"{self.policy} {self.value}"


class WorkloadRule(Struct, frozen=True):
    """One rule about pods. ``qos``: the classes that it matches, in its order."""

    action: str
    source: Source
    targets: frozenset[str] = EVERYWHERE
    requests: Mapping[str, ResourcePolicy] = {}
    limits: Mapping[str, ResourcePolicy] = {}
    qos: tuple[str, ...] = ()

    def policies_of(self, side: str, target: str) -> Mapping[str, ResourcePolicy]:
        """Return the policies of a side that apply at a target, by resource."""
        if target not in self.targets:
            return {}
        policies = self.requests if side == "requests" else self.limits
        return policies if target != POD else {name: policy for name, policy in policies.items() if is_pod_level(name)}


class WorkloadRules(Struct, frozen=True):
    """The rules of a namespace in their order, and what of them could not be reported."""

    rules: tuple[WorkloadRule, ...] = ()
    assumptions: tuple[Assumption, ...] = ()


def rules_of_tenant(tenant: Tenant, labels: Mapping[str, str] | None) -> WorkloadRules:
    """Return the rules of a Tenant that apply to one of its namespaces, which has these labels; None: all of them."""
    name = tenant.metadata.name
    return _parse_rules(
        (rule, Source("Tenant", name, field=f"spec.rules[{index}]"))
        for index, rule in enumerate(tenant.spec.rules or ())
        if labels is None or is_selected(rule, labels)
    )


def rules_of_status(rules: Sequence[NamespaceRule], source: Source) -> WorkloadRules:
    """Return the rules that a RuleStatus lists, all of which apply."""
    return _parse_rules((rule, source.at_path(f"status.rules[{index}]")) for index, rule in enumerate(rules))


def is_selected(rule: TenantRule, labels: Mapping[str, str]) -> bool:
    """Return whether a rule is about a namespace with these labels; one whose selector does not parse is about none."""
    selector = rule.namespace_selector
    return selector is None or (not fault(selector) and fits(selector, labels))


def _parse_rules(rules: Iterator[tuple[NamespaceRule, Source]]) -> WorkloadRules:
    assumed: list[Assumption] = []

    def gap(source: Source, text: str) -> None:
        assumed.append(Assumption("spec", "capsule/rule-unknown", f"{source.ref}: {source.field}: {text}"))

    workload_rules = tuple(parsed for rule, source in rules if (parsed := _rule(rule, source, gap)) is not None)
    return WorkloadRules(workload_rules, tuple(assumed))


_Gap = Callable[[Source, str], None]


def _rule(rule: NamespaceRule, source: Source, gap: _Gap) -> WorkloadRule | None:
    """Return what a rule says of pods; None where it says nothing that is known."""
    workloads = rule.enforce.workloads if rule.enforce is not None else None
    if rule.enforce is None or not workloads:
        return None
    if rule.audience and not _about_everybody(rule):
        names = ", ".join(f"{subject.kind} {subject.name}" for subject in rule.audience)
        gap(source.at_path(f"{source.field}.audience"), f"it is about requests of {names} only: left out")
        return None
    field_source = source.at_path(f"{source.field}.enforce.workloads")
    action = rule.enforce.action or "deny"
    if action not in _ACTIONS:
        gap(source.at_path(f"{source.field}.enforce.action"), f"{action!r} is not known: the rule is left out")
        return None
    for key in workloads:
        if key in _NOT_COMPUTED and workloads[key]:
            gap(field_source.at_path(f"{field_source.field}.{key}"), "not computed: taken to let the pod pass")
        elif key not in _FIELDS:
            gap(field_source.at_path(f"{field_source.field}.{key}"), "not known: left out")
    targets = _targets(workloads.get("targets"), field_source, gap)
    sides = _parse_sides(workloads.get("resources"), field_source, gap)
    return WorkloadRule(action, field_source, targets, *sides, _classes(workloads.get("qosClasses"), field_source, gap))


def _parse_sides(
    written: Any, field_source: Source, gap: _Gap
) -> tuple[dict[str, ResourcePolicy], dict[str, ResourcePolicy]]:
    """Return the policies of requests and of limits."""
    sides: dict[str, dict[str, ResourcePolicy]] = {"requests": {}, "limits": {}}
    for side, policies in written.items() if isinstance(written, Mapping) else ():
        value_source = field_source.at_path(f"{field_source.field}.resources.{side}")
        if side not in sides or not isinstance(policies, Mapping):
            gap(value_source, "not known: left out")
            continue
        sides[side] = dict(_policies(side, policies, value_source, gap))
    return sides["requests"], sides["limits"]


def _classes(written: Any, field_source: Source, gap: _Gap) -> tuple[str, ...]:
    classes = tuple(map(str, written)) if isinstance(written, list | tuple) else ()
    for value in classes:
        if value not in _CLASSES:
            gap(field_source.at_path(f"{field_source.field}.qosClasses"), f"{value!r} is no QoS class")
    return classes


def _about_everybody(rule: NamespaceRule) -> bool:
    """Return whether whoever creates a pod is in the audience."""
    return any(subject.kind == "Group" and subject.name == "system:authenticated" for subject in rule.audience or ())


def _targets(written: Any, field_source: Source, gap: _Gap) -> frozenset[str]:
    if not isinstance(written, list | tuple) or not written:
        return EVERYWHERE
    for target in written:
        if target not in EVERYWHERE | _OTHER_TARGETS:
            gap(field_source.at_path(f"{field_source.field}.targets"), f"{str(target)!r} is not known: left out")
    return frozenset(map(str, written))


def _policies(
    side: str, written: Mapping[str, Any], field_source: Source, gap: _Gap
) -> Iterator[tuple[str, ResourcePolicy]]:
    for name, policy in written.items():
        value_source = field_source.at_path(f"{field_source.field}[{name}]")
        kind = str(policy.get("policy", "")) if isinstance(policy, Mapping) else ""
        if kind not in POLICIES[side]:
            gap(value_source.at_path(f"{value_source.field}.policy"), f"{kind!r} is not known: left out")
            continue
        more = sorted(set(policy) - {"policy", "value"})
        if more:
            gap(value_source, f"{', '.join(more)}: not known, left out")
        if kind not in _VALUED:
            yield name, ResourcePolicy(kind, value_source)
            continue
        try:
            value = from_json(policy["value"])
        except (KeyError, QuantityError):
            gap(value_source.at_path(f"{value_source.field}.value"), f"{kind} needs an amount: left out")
            continue
        if kind == "Ratio" and (name not in _RATIO or value.nano < 10**9):
            gap(value_source, "a Ratio is of cpu, memory or ephemeral-storage, and at least 1: left out")
            continue
        yield name, ResourcePolicy(kind, value_source, value)
