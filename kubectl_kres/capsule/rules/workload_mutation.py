"""What the mutating webhook makes of a new pod's requests and limits by a Tenant's rules.

Source: capsule 0.14.0 internal/webhook/rules/generic/mutation/workload_resources.go.
"""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_kres.admission.base.draft import Draft, Side, Slot, ValueChange, change
from kubectl_kres.admission.base.resource_names import is_pod_level
from kubectl_kres.admission.pod.aggregate import of_containers
from kubectl_kres.capsule.rules.workload_rules import CONTAINERS, INIT_CONTAINERS, POD, ResourcePolicy, WorkloadRule
from kubectl_kres.provenance.journal import Entry, Set, Source
from kubectl_kres.quantity import Quantity

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
            for name, total in of_containers(draft.containers, draft.inits, "requests").items()
            if is_pod_level(name) and name not in level.requests
        ],
        journal,
    )
