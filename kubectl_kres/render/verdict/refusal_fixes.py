"""What mends one refusal of a pod, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.remedies.refusal_fixes import (
    ApartBounds,
    AskWithin,
    BoundAmount,
    BoundClaim,
    ByHand,
    ChangeValues,
    CorrectDefaults,
    Filling,
    GrowLess,
    KeepClass,
    KeepRatio,
    LowerContainerLimit,
    LowerOrRaise,
    MakeNamespace,
    MakeRoom,
    MergeLimitRanges,
    MoveField,
    NameContainers,
    NameResource,
    NameStoredContainers,
    OtherRefusal,
    SetAmount,
    SetWithin,
    ShareOfLimit,
    StateAmount,
    UseWholeNumber,
    WithinFeatures,
    WithinNode,
    WriteBothSides,
    WriteQuantity,
    WriteType,
)
from kubectl_kres.wording import join_words

_A_QUANTITY = "a quantity such as 500m or 128Mi"
_DROP = "or send it with --validate=warn, which drops it"


def _by_hand(fix: ByHand) -> str:
    from kubectl_kres.provenance.rules import RULES  # noqa: PLC0415 - most refusals have an edit

    return RULES[fix.rule].fix(fix.path, fix.container, fix.resource, fix.set_in, fix.flags)


def _set_amount(fix: SetAmount) -> str:
    sides = " and ".join(f"{side}.{fix.resource}" for side in fix.sides)
    max_of = f", the max of {fix.max_of}" if fix.max_of else ""
    filled = f" ({sentence_text(fix.filled)})" if fix.filled else ""
    equal = f", equal to its {fix.equal_to}" if fix.equal_to else ""
    sum_of = ", what the containers add up to" if fix.sum else ""
    return f"set {sides} of {fix.holder} to {_bounded(fix.bound, fix.amount)}{max_of}{filled}{equal}{sum_of}"


def _bounded(bound: str, amount: str) -> str:
    return f"{bound} {amount}" if bound else amount


def _lower_or_raise(fix: LowerOrRaise) -> str:
    limit = f"limits.{fix.resource} to at least {fix.request}"
    return f"set requests.{fix.resource} of {fix.holder} to at most {fix.limit}, or {limit}"


def _write_both_sides(fix: WriteBothSides) -> str:
    sides = f"requests.{fix.resource} and limits.{fix.resource}"
    return f"write {sides} of {fix.holder}: {fix.request_by} and {fix.limit_by} differ"


def _use_whole_number(fix: UseWholeNumber) -> str:
    such = f", as {fix.amount}," if fix.amount else ""
    return f"use a whole number{such} at {fix.path}"


def _lower_container_limit(fix: LowerContainerLimit) -> str:
    filled = f" ({sentence_text(fix.filled)})" if fix.filled else ""
    rest = (
        f": the max of {fix.max_of} for a pod is {fix.pod_max}"
        if fix.max_of
        else f", or limits.{fix.resource} of the pod level to at least {fix.raised}"
    )
    return f"set limits.{fix.resource} of container {fix.container} to at most {fix.limit}{filled}{rest}"


def _make_room(fix: MakeRoom) -> str:
    if not fix.to:
        return f"raise {fix.resource} of quota {fix.quota}"
    for_all = f" ({fix.for_all} for the {fix.missing} missing pods)" if fix.for_all else ""
    left = f", or ask for at most {fix.left} in total" if fix.left else ""
    end = f"{fix.to}{for_all}{left}"
    if fix.freed:
        return f"free {fix.freed} of {fix.resource} in quota {fix.quota}, or raise its hard to {end}"
    return f"raise {fix.resource} of quota {fix.quota} to {end}"


def _grow_less(fix: GrowLess) -> str:
    if not fix.freed:
        return f"raise {fix.resource} of quota {fix.quota}"
    if fix.resize:
        less = f"grow by at most {fix.left}" if fix.left else "do not grow"
        return f"free {fix.freed} of {fix.resource} in quota {fix.quota}, or raise its hard to {fix.to}, or {less}"
    less = f", or grow it by at most {fix.left}" if fix.left else ""
    return f"raise {fix.resource} of quota {fix.quota} to {fix.to}, or free {fix.freed} of it{less}"


_NEW_POD = "make a new pod: change the template, or delete the pod and create it again"


def _keep_class(fix: KeepClass) -> str:
    place = "at the pod level" if fix.pod_level else "in every container"
    match fix.qos_class:
        case "Guaranteed":
            return f"keep cpu and memory requests equal to the limits {place}: the pod stays Guaranteed"
        case "Burstable":
            return "leave at least one cpu or memory request below its limit: the pod stays Burstable"
        case "BestEffort":
            return f"{_NEW_POD}; a BestEffort pod stays without cpu and memory"
    return "keep the QoS class as it is"


def _within_node(fix: WithinNode) -> str:
    has = f"which is what {fix.node or 'the node'} has"
    return f"ask for at most {fix.amount} of {fix.resource} in total, {has}, or {_NEW_POD}"


def _within_features(fix: WithinFeatures) -> str:
    lacks = f"{fix.node or 'the node'} does not declare {fix.features}"
    return f"resize containers and sidecars only: {lacks}; or {_NEW_POD}"


def _state_amount(fix: StateAmount) -> str:
    whose = f"container{'s' * (len(fix.containers) != 1)} {join_words(list(fix.containers))}"
    default = "default" if fix.side == "limits" else "defaultRequest"
    return f"set {fix.side}.{fix.resource} of {whose}, or add a LimitRange with {default}.{fix.resource}"


def _name_containers(fix: NameContainers) -> str:
    unnamed = fix.path.endswith(".name")
    return f"give each container a name of its own: {fix.path}" if unnamed else f"list a container: {fix.path}"


def _name_resource(fix: NameResource) -> str:
    if fix.better:
        return f"write {fix.better}, not {fix.name}, at {fix.path}"
    return f"name cpu, memory, ephemeral-storage or DOMAIN/NAME at {fix.path}"


def _bound_claim(fix: BoundClaim) -> str:
    change, word = ("raise", "at most") if fix.side == "max" else ("lower", "at least")
    by = f" of {fix.source}" if fix.source else ""
    asked = f"set requests.{fix.resource} of {fix.template} to {word} {fix.amount}"
    return f"{change} {fix.side}.{fix.resource}{by}, or {asked} (a StatefulSet that exists is made anew for that)"


def _make_namespace(fix: MakeNamespace) -> str:
    if fix.held:
        return f"clear what holds namespace {fix.name}, which does not go by itself ({fix.held}), or name another one"
    if fix.going:
        return f"wait until namespace {fix.name} is gone and create it again, or name another one"
    command = f"kubectl create namespace {fix.name}{f' {fix.flags}' if fix.flags else ''}"
    return f"create the namespace first ({command}), or name one that there is"


def _correct_defaults(fix: CorrectDefaults) -> str:
    default = f"its default {fix.resource} breaks its own {fix.broken}"
    return f"correct LimitRange {fix.limit_range}: {default}, so every pod that states no {fix.resource} is refused"


def _write_type(fix: WriteType) -> str:
    quoted = ", in quotes," if fix.expected == "string" and fix.got in {"number", "boolean"} else ""
    return f"write a {fix.expected}{quoted} at {fix.path}, not a {fix.got}"


def _apart_bounds(fix: ApartBounds) -> str:
    if not fix.summed:
        return f"change a LimitRange: no {fix.resource} is {_demand(fix.first)} and {_demand(fix.second)}"
    first = fix.first
    containers = f"the containers have {first.bound} {first.amount} {fix.resource} in sum{_by(first)}"
    return f"change a LimitRange: {containers}, and the pod {_demand(fix.second)}"


def _demand(demand: BoundAmount) -> str:
    return f"{demand.bound} {demand.amount}{_by(demand)}"


def _by(demand: BoundAmount) -> str:
    return f" ({', '.join(demand.by)})" if demand.by else ""


def _set_within(fix: SetWithin) -> str:
    name, first, last = fix.resource, fix.changes[0], fix.changes[-1]
    if (first.bound, first.amount) == (last.bound, last.amount):
        sides = " and ".join(f"{change.side}.{name}" for change in fix.changes)
        edits = f"{sides} of {fix.holder} to {first.bound} {first.amount}"
    else:
        lower = f"{first.side}.{name} of {fix.holder} to {first.bound} {first.amount}"
        edits = f"{lower} and {last.side}.{name} to {last.bound} {last.amount}"
    reasons = f" ({'; '.join(map(sentence_text, fix.reasons))})" if fix.reasons else ""
    return f"set {edits}{reasons}"


def _keep_ratio(fix: KeepRatio) -> str:
    sides = f"requests.{fix.resource} and limits.{fix.resource} of {fix.holder}"
    return f"set {sides}, the limit at most {fix.ratio} times the request"


WORDS: Mapping[type, Callable[[Any], str]] = {
    ApartBounds: _apart_bounds,
    AskWithin: lambda fix: f"ask for {fix.bound} {fix.amount} of {fix.resource}",
    GrowLess: _grow_less,
    KeepClass: _keep_class,
    NameStoredContainers: lambda fix: f"name the containers that the pod has: {fix.names}",
    WithinFeatures: _within_features,
    WithinNode: _within_node,
    BoundClaim: _bound_claim,
    ByHand: _by_hand,
    CorrectDefaults: _correct_defaults,
    ChangeValues: lambda fix: (
        f"change requests.{fix.resource} and limits.{fix.resource} of {fix.holder}: {fix.message}"
    ),
    Filling: lambda fix: f"{fix.by} fills in {fix.amount}",
    KeepRatio: _keep_ratio,
    LowerContainerLimit: _lower_container_limit,
    LowerOrRaise: _lower_or_raise,
    MakeNamespace: _make_namespace,
    MakeRoom: _make_room,
    MergeLimitRanges: lambda fix: f"merge the LimitRanges {' and '.join(fix.names)} into one",
    MoveField: lambda fix: (
        f"write {fix.better}, not {fix.path}, {_DROP}" if fix.better else f"take {fix.path} out, {_DROP}"
    ),
    NameContainers: _name_containers,
    NameResource: _name_resource,
    OtherRefusal: lambda fix: f"change what {fix.path or 'the pod'} says: {fix.rule}",
    SetAmount: _set_amount,
    SetWithin: _set_within,
    ShareOfLimit: lambda fix: f"limit {fix.limit} / {fix.ratio}",
    StateAmount: _state_amount,
    UseWholeNumber: _use_whole_number,
    WriteBothSides: _write_both_sides,
    WriteQuantity: lambda fix: f'write {fix.field} as {fix.better or _A_QUANTITY}, not "{fix.text}"',
    WriteType: _write_type,
}
