"""A Tenant's rules about the requests, limits and QoS classes of pods, read out of its ``spec.rules``.

Two of Capsule's webhooks carry them out when a pod is created: one sets requests and limits, the other validates them
and the class.

Source: capsule 0.14.0 pkg/api/rules/enforce_workloads_types.go, pkg/tenant/rules.go BuildNamespaceRuleBodyStatus;
internal/webhook/rules/generic/mutation/workload_resources.go;
internal/webhook/rules/pods/validation/{factory,resources,qos}.go, pkg/ruleengine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, structs

from kubectl_kres.admission.base.draft import Draft, Side, Slot, ValueChange, change
from kubectl_kres.admission.base.outcome import Finding, Refusal
from kubectl_kres.admission.base.resource_names import is_pod_level
from kubectl_kres.admission.limitrange import Limits
from kubectl_kres.admission.pod.aggregate import compute_class, sum_containers
from kubectl_kres.capsule.model import NamespaceRule, Tenant, TenantRule
from kubectl_kres.capsule.rules.assignment import fault, fits
from kubectl_kres.capsule.rules.webhooks import webhook_refusal
from kubectl_kres.capsule.versions import Version, has_change
from kubectl_kres.errors import QuantityError
from kubectl_kres.provenance.journal import Assumption, Check, Entry, Set, Source
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


_MILLI, _WHOLE = 10**6, 10**9


def mutate_pod(draft: Draft, rules: Sequence[WorkloadRule], journal: list[Entry] | None) -> bool:
    """Apply the rules to containers, init containers and the pod level; return whether anything changed."""
    changed = False
    for slots, target in ((draft.containers, CONTAINERS), (draft.inits, INIT_CONTAINERS)):
        for slot in slots:
            changed |= _mutate_slot(slot, rules, target, journal)
    level = draft.pod or Slot("spec", "", "pod", {}, {})
    if _mutate_slot(level, rules, POD, journal):
        draft.pod, changed = level, True
    if changed:
        _fill_pod_requests(draft, rules, journal)
    return changed


def policies_by_resource(rules: Sequence[WorkloadRule], side: Side, target: str) -> dict[str, ResourcePolicy]:
    """Return the policy of each resource: of several rules the last one's, whatever their actions."""
    policies: dict[str, ResourcePolicy] = {}
    for rule in rules:
        policies.update(rule.policies_of(side, target))
    return policies


def ratio_limit(name: str, request: Quantity, ratio: Quantity) -> Quantity:
    """Return request times ratio, rounded down: cpu to thousandths, others to whole units. Source: LimitForRatio."""
    step = _MILLI if name == "cpu" else _WHOLE
    return Quantity(request.nano * ratio.nano // _WHOLE // step * step, request.format)


def _mutate_slot(slot: Slot, rules: Sequence[WorkloadRule], target: str, journal: list[Entry] | None) -> bool:
    """Requests come before limits, which may be made from them."""
    changed = False
    for name, policy in policies_by_resource(rules, "requests", target).items():
        changed |= _apply(slot, "requests", name, policy, journal)
    for name, policy in policies_by_resource(rules, "limits", target).items():
        changed |= _apply(slot, "limits", name, policy, journal)
    return changed


def _apply(slot: Slot, side: Side, name: str, policy: ResourcePolicy, journal: list[Entry] | None) -> bool:
    values, request = slot.amounts_of(side), slot.requests.get(name)
    present = values.get(name)
    new: Quantity | None = None
    match policy.policy:
        case "Remove" if present is not None:
            del values[name]
            if journal is not None:
                rule = "capsule/rule-remove"
                journal.append(
                    Set(slot.path_of(side, name), rule, before=str(present.round_up()), source=policy.source)
                )
            return True
        case "Default" if present is None:
            new = policy.value
        case "MatchRequest" if request is not None and present != request:
            new = request
        case "Ratio" if present is None and request is not None and request.nano > 0 and policy.value is not None:
            new = ratio_limit(name, request, policy.value)
    if new is None:
        return False
    change([ValueChange(slot, side, name, new, _RULES[policy.policy], policy.source)], journal)
    return True


_RULES = {
    "Default": "capsule/rule-default",
    "MatchRequest": "capsule/rule-match-request",
    "Ratio": "capsule/rule-ratio",
}


def _fill_pod_requests(draft: Draft, rules: Sequence[WorkloadRule], journal: list[Entry] | None) -> None:
    """A pod level gets the requests that it lacks from the containers. Source: backfillMissingPodRequests."""
    level = draft.pod
    if level is None:
        return
    source = Source(rules[0].source.kind, rules[0].source.name, rules[0].source.namespace, "spec.rules")
    change(
        [
            ValueChange(level, "requests", name, total, "capsule/rule-pod-requests", source)
            for name, total in sum_containers(draft.containers, draft.inits, "requests").items()
            if is_pod_level(name) and name not in level.requests
        ],
        journal,
    )


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
                finding = _check_demands(slot, side, name, list(_demands(rules, side, target, name)), journal)
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


def _check_demands(
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
        return _class_finding(text, qos_class, last)
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
    return _class_finding(text, qos_class, allowed[-1][1])


def _class_finding(text: str, qos_class: str, rule: WorkloadRule) -> Finding:
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
    simulated: bool = True

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
        finding = finding or refuse_class(compute_class(draft), self.rules)
        return () if finding is None else (webhook_refusal(_VALIDATING, finding),)


def webhook_of(rules: Sequence[WorkloadRule], version: Version | None) -> TenantWebhook | None:
    """Return what a version makes of rules; None: it knows none of them."""
    known = tuple(filter(None, (_known_part(rule, version) for rule in rules)))
    return TenantWebhook(known, refuses=not has_change("resource-rules-only-set", version)) if known else None


def _known_part(rule: WorkloadRule, version: Version | None) -> WorkloadRule | None:
    if not has_change("resource-rules", version):
        rule = structs.replace(rule, requests={}, limits={})
    if not has_change("qos-rules", version):
        rule = structs.replace(rule, qos=())
    return rule if rule.requests or rule.limits or rule.qos else None
