"""Capsule's two webhooks that carry out a Tenant's rules, as admission asks them about a new pod.

What the validating webhook says of a pod's requests, limits and QoS class by a Tenant's rules.

Source: capsule 0.14.0 internal/webhook/rules/pods/validation/{factory,resources,qos}.go, pkg/ruleengine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from kubectl_kres.admission.base.draft import Draft, Side, Slot
from kubectl_kres.admission.base.outcome import Finding, Refusal
from kubectl_kres.admission.limitrange import Limits
from kubectl_kres.admission.pod.aggregate import class_of
from kubectl_kres.capsule.rules.webhooks import webhook_refusal
from kubectl_kres.capsule.rules.workload_mutation import mutate_pod, ratio_limit
from kubectl_kres.capsule.rules.workload_rules import CONTAINERS, INIT_CONTAINERS, POD, ResourcePolicy, WorkloadRule
from kubectl_kres.provenance.journal import Check, Entry

#: Policies that are held against the pod once more; the others lift what earlier rules ask.
_HELD = ("Remove", "MatchRequest", "Ratio")
_SIDES: tuple[Side, Side] = ("requests", "limits")
#: So many rules are named in a refusal.
_MOST_NAMED = 10


class _Demand(Struct, frozen=True):
    """A policy that has to be met, under the action of its rule."""

    action: str
    policy: ResourcePolicy


def refuse_resources(draft: Draft, rules: Sequence[WorkloadRule], journal: list[Entry] | None) -> Finding | None:
    """Return the first request or limit that the rules refuse: the pod level's, then init containers', containers'."""
    for slot, target in _list_slots(draft):
        for side in _SIDES:
            names = sorted(
                {
                    name
                    for rule in rules
                    for name, policy in rule.policies_of(side, target).items()
                    if policy.policy in _HELD
                }
            )
            for name in names:
                finding = _judge(slot, side, name, list(_demands(rules, side, target, name)), journal)
                if finding is not None:
                    return finding
    return None


def _list_slots(draft: Draft) -> Iterator[tuple[Slot, str]]:
    yield draft.pod or Slot("spec", "", "pod", {}, {}), POD
    yield from ((slot, INIT_CONTAINERS) for slot in draft.inits)
    yield from ((slot, CONTAINERS) for slot in draft.containers)


def _demands(rules: Sequence[WorkloadRule], side: Side, target: str, name: str) -> Iterator[_Demand]:
    demands: list[_Demand] = []
    for rule in rules:
        policy = rule.policies_of(side, target).get(name)
        if policy is None:
            continue
        if policy.policy in _HELD:
            demands.append(_Demand(rule.action, policy))
        else:
            demands.clear()
    return iter(demands)


def _judge(
    slot: Slot, side: Side, name: str, demands: Sequence[_Demand], journal: list[Entry] | None
) -> Finding | None:
    """Return why the value is refused. The last demand that decides wins: a deny that is not met, an allow that is."""
    word, path = side[:-1], f'{slot.path}.resources.{side}["{name}"]'
    if slot.role == "pod":
        path = f'spec.resources.{side}["{name}"]'
    last: tuple[_Demand, str] | None = None
    for demand in demands:
        met, detail = _check_policy(slot, side, name, demand.policy)
        if journal is not None:
            shown = slot.amounts_of(side).get(name)
            observed = f"{word} {'-' if shown is None else shown}, {demand.action}"
            journal.append(
                Check(
                    slot.path_of(side, name),
                    "capsule/rule-resources",
                    met or demand.action != "deny",
                    observed,
                    demand.policy.text,
                    "" if met else detail,
                    demand.policy.source,
                )
            )
        if (demand.action == "allow" and met) or (demand.action == "deny" and not met):
            last = demand, detail
    allows = [demand for demand in demands if demand.action == "allow"]
    if last is not None:
        demand, detail = last
        if demand.action == "allow":
            return None
        text = f'workload resource {word} "{name}" at {path} violates policy {demand.policy.policy}: {detail}'
    elif allows:
        demand = allows[-1]
        text = f'workload resource {word} "{name}" at {path} does not satisfy any allowed resource policy'
    else:
        return None
    shown = slot.amounts_of(side).get(name)
    return Finding(
        text,
        "capsule/rule-resources",
        slot.path_of(side, name),
        name,
        observed="<undefined>" if shown is None else str(shown),
        expected=demand.policy.policy,
        source=demand.policy.source,
    )


def _check_policy(slot: Slot, side: Side, name: str, policy: ResourcePolicy) -> tuple[bool, str]:
    """Return whether the value is as the policy wants it, and how it should be. Source: workloadResourceCompliant."""
    request, limit = slot.requests.get(name), slot.limits.get(name)
    if side == "requests":
        return request is None, f"request must be undefined for policy {policy.policy}"
    if policy.policy == "Remove":
        return limit is None, "limit must be undefined for policy Remove"
    if policy.policy == "MatchRequest":
        if request is None:
            return limit is None, "limit and request must both be undefined or equal for policy MatchRequest"
        if limit is None:
            return False, f"limit is undefined while request is {request}"
        return limit == request, f"limit {limit} must equal request {request}"
    if request is None or request.nano <= 0 or policy.value is None:
        return False, "Ratio requires a request greater than zero"
    if limit is None:
        return False, "limit is undefined"
    maximum = ratio_limit(name, request, policy.value)
    return limit <= maximum, f"limit {limit} must not exceed {maximum} (request {request} x ratio {policy.value})"


def refuse_class(qos_class: str, rules: Sequence[WorkloadRule]) -> Finding | None:
    """Return why the QoS class is refused; of rules that match the last one decides. Source: EvaluateEnforce."""
    last: WorkloadRule | None = None
    allowed: list[tuple[str, WorkloadRule]] = []
    for rule in rules:
        if rule.action == "allow":
            allowed += [(value, rule) for value in rule.qos]
        if rule.action != "audit" and qos_class in rule.qos:
            last = rule
    head = f'QoS class "{qos_class}" at status.qosClass'
    if last is not None:
        if last.action == "allow":
            return None
        text = f"{head} is denied by namespace rule: matched denied rule {qos_class}"
        return _of_class(text, qos_class, last)
    if not allowed:
        return None
    names = [value for value, _ in allowed]
    shown = names[:_MOST_NAMED]
    if len(names) > _MOST_NAMED:
        shown.append(f"and {len(names) - _MOST_NAMED} more")
    text = (
        f"{head} is not allowed by namespace rule: value did not match any allowed rule. "
        f"Allowed QoS classes: {', '.join(shown)}"
    )
    return _of_class(text, qos_class, allowed[-1][1])


def _of_class(text: str, qos_class: str, rule: WorkloadRule) -> Finding:
    source = rule.source.at_path(f"{rule.source.field}.qosClasses")
    expected = ", ".join(rule.qos) if rule.action == "allow" else f"not {qos_class}"
    return Finding(text, "capsule/rule-qos", "status.qosClass", observed=qos_class, expected=expected, source=source)


_VALIDATING = "generic.rules.validating.projectcapsule.dev"


class TenantWebhook(Struct, frozen=True):
    """The rules of a namespace. ``refuses`` False: of a version that only sets requests and limits.

    ``configuration``: as the chart names it.
    """

    rules: tuple[WorkloadRule, ...]
    refuses: bool = True
    configuration: str = "capsule-mutating-webhook-configuration"
    reinvoked: bool = True
    title: str = "the rules of its Tenant"
    simulated: bool = False

    def for_owner(self, owner: tuple[str, str] | None) -> TenantWebhook:
        """Return the same: it does not look at owners."""
        del owner
        return self

    def with_limits(self, limits: tuple[Limits, ...]) -> TenantWebhook:
        """Return the same: it does not look at LimitRanges."""
        del limits
        return self

    def mutate(self, draft: Draft, journal: list[Entry] | None) -> bool:
        """Change the pod as one call does, and return whether anything changed."""
        return mutate_pod(draft, self.rules, journal)

    def review(self, draft: Draft, name: str, journal: list[Entry] | None) -> tuple[Refusal, ...]:
        """Return the first refusal: resources are looked at before the QoS class."""
        del name
        finding = refuse_resources(draft, self.rules, journal) if self.refuses else None
        finding = finding or refuse_class(class_of(draft), self.rules)
        return () if finding is None else (webhook_refusal(_VALIDATING, finding),)
