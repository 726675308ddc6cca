"""The mutating webhook of the vertical autoscaler on a new pod, with the CPU boost at start-up.

Source: vertical-pod-autoscaler 1.8.1 pkg/admission-controller/resource/pod/{handler.go,recommendation,patch},
pkg/admission-controller/resource/vpa/matcher.go, pkg/target/controller_fetcher/controller_fetcher.go.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, structs

from kubectl_kres.admission.base.draft import Draft, Side, Slot, ValueChange, change
from kubectl_kres.admission.base.outcome import Finding, Refusal
from kubectl_kres.admission.limitrange import Limits
from kubectl_kres.provenance.journal import Assumption, Entry
from kubectl_kres.quantity import ZERO, Quantity, parse
from kubectl_kres.vpa.model import CONFIGURATION, WEBHOOK
from kubectl_kres.vpa.rules.autoscaler import (
    Amounts,
    Autoscaler,
    Boost,
    BoundedAmount,
    MergedItem,
    WebhookFault,
    bound_of_resource,
    merged_item,
    proportional_limit,
    quantity_in,
)
from kubectl_kres.vpa.rules.capping import capped

#: Kind and name.
Owner = tuple[str, str]
#: Returns the controller that made one, itself if nobody did; None where that is not known.
Maker = Callable[[Owner], "Owner | None"]

#: What a controller appends to the names of what it makes: of a ReplicaSet a hash, of a Job a time in minutes.
_MADE = {
    "ReplicaSet": ("Deployment", re.compile(r"(.+)-[a-z0-9]+")),
    "Job": ("CronJob", re.compile(r"(.+)-[0-9]+")),
}


class Scaled(Struct, frozen=True):
    """What the webhook sets of one container."""

    slot: Slot
    requests: Amounts
    limits: Amounts

    def resources(self) -> dict[str, dict[str, str]]:
        """Return what is set as ``resources`` of the container have it; a side of which nothing is set is not there."""
        sides = (("requests", self.requests), ("limits", self.limits))
        return {
            side: {name: str(source.quantity) for name, source in amounts.items()} for side, amounts in sides if amounts
        }


class VpaWebhook(Struct, frozen=True):
    """The autoscalers of a namespace by the controller that they are about.

    ``fails``: its failurePolicy is Fail, so that a pod is refused where the admission controller stops.
    ``owner``: the controller of pods that name none. ``maker``: who made a controller; None: its name tells.
    ``simulated``: simulations follow it.
    """

    autoscalers: Mapping[Owner, Autoscaler]
    limits: tuple[Limits, ...] = ()
    configuration: str = CONFIGURATION
    reinvoked: bool = False
    fails: bool = False
    title: str = "what vertical autoscalers set"
    owner: Owner | None = None
    maker: Maker | None = None
    simulated: bool = True

    def controlling(self, owner: Owner | None) -> Autoscaler | None:
        """Return the autoscaler of the pods of a controller; None: there is none that changes them."""
        return None if owner is None else self.autoscalers.get(top_owner(owner, self.autoscalers, self.maker))

    def for_owner(self, owner: Owner | None) -> VpaWebhook:
        """Return the same for pods of a controller."""
        return structs.replace(self, owner=owner)

    def with_limits(self, limits: tuple[Limits, ...]) -> VpaWebhook:
        """Return the same among these LimitRanges."""
        return self if limits is self.limits else structs.replace(self, limits=limits)

    def mutate(self, draft: Draft, journal: list[Entry] | None) -> bool:
        """Change the pod as one call does, and return whether anything changed."""
        autoscaler = self.controlling(draft.owner or self.owner)
        if autoscaler is None:
            return False
        try:
            changes = scaled_containers(autoscaler, draft.containers, self.limits)
        except WebhookFault as fault:
            if journal is not None:
                text = f"the admission controller of {autoscaler.source.ref} fails, and the pod stays as it is: {fault}"
                journal.append(Assumption("spec", "vpa/fault", text))
            return False
        before = draft.values()
        for scaled in changes:
            change(_list_puts(scaled, "requests", scaled.requests), journal)
            change(_list_puts(scaled, "limits", scaled.limits), journal)
        return before != draft.values()

    def review(self, draft: Draft, name: str, journal: list[Entry] | None) -> tuple[Refusal, ...]:
        """Return what the server answers where the admission controller stops and must be heard; it refuses no pod."""
        del name, journal
        autoscaler = self.controlling(draft.owner or self.owner) if self.fails else None
        if autoscaler is None:
            return ()
        try:
            scaled_containers(autoscaler, draft.containers, self.limits)
        except WebhookFault as fault:
            if not fault.stops:
                return ()
            text = (
                f'failed calling webhook "{WEBHOOK}": failed to call webhook: the admission controller stops: {fault}'
            )
            finding = Finding(text, "vpa/fault", "spec", source=autoscaler.source)
            return (Refusal(500, "InternalError", f"Internal error occurred: {text}", (finding,)),)
        return ()


def controlling_autoscalers(autoscalers: Iterable[Autoscaler]) -> dict[Owner, Autoscaler]:
    """Return the autoscaler that decides for each controller: the oldest of those that change pods.

    Source: pkg/admission-controller/resource/vpa/matcher.go GetMatchingVPA.
    """
    result: dict[Owner, Autoscaler] = {}
    for each in autoscalers:
        if (each.mode != "Off" or each.boosts) and each.stronger_than(result.get(each.target)):
            result[each.target] = each
    return result


def scaled_containers(autoscaler: Autoscaler, slots: Sequence[Slot], limits: Sequence[Limits]) -> tuple[Scaled, ...]:
    """Return what is set of the containers of a pod, in their order. Raises WebhookFault."""
    item = merged_item(limits, "Container")
    recommended = {}
    if autoscaler.recommended is not None:
        recommended = capped(autoscaler, slots, item, merged_item(limits, "Pod"))
    result = []
    for slot in slots:
        recommendation = recommended.get(slot.name)
        requests = dict(recommendation.target or {}) if recommendation is not None else {}
        set_limits = dict(_limits(autoscaler, slot, requests, item)) if recommendation is not None else {}
        if autoscaler.mode == "Off":
            requests, set_limits = {}, {}
        if autoscaler.boosts:
            policy = autoscaler.policy(slot.name)
            if policy is not None and policy.mode == "Off":
                continue
            requests, set_limits = boosted(autoscaler, slot, requests, set_limits)
        result.append(Scaled(slot, requests, set_limits))
    return tuple(result)


def _limits(
    autoscaler: Autoscaler, slot: Slot, requests: Amounts, item: MergedItem | None
) -> Iterator[tuple[str, BoundedAmount]]:
    """Limits in proportion to the new requests, unless requests alone are set. Source: GetContainersResources."""
    if autoscaler.mode != "Off" and not autoscaler.scales_limits(slot.name):
        return
    for name in ("cpu", "memory"):
        default = bound_of_resource(item.default if item is not None else None, name)
        own_amount = slot.limits.get(name, ZERO)
        new = proportional_limit(name, own_amount, slot.requests.get(name, ZERO), quantity_in(requests, name), default)
        if new is not None:
            yield name, BoundedAmount(own_amount).set("vpa/limit-ratio", new, autoscaler.first_source(requests[name]))


def _list_puts(scaled: Scaled, side: Side, amounts: Amounts) -> Iterator[ValueChange]:
    """Yield each rule that an amount went through. What is empty is left out. Source: RemoveEmptyResourceKeyIfAny."""
    for name, amount in amounts.items():
        for step in amount.steps if name else ():
            yield ValueChange(scaled.slot, side, name, parse(str(step.quantity)), step.rule, step.source)


def top_owner(owner: Owner, targets: Collection[Owner], maker: Maker | None = None) -> Owner:
    """Return the controller that autoscalers of a pod are about, ``owner`` being the one that the pod names.

    ``targets``: the controllers that autoscalers are about. Where it is not known who made a ReplicaSet or Job, its
    name tells whether one of them did; owners of Deployments and the like are not followed.
    """
    kind, name = owner
    if kind not in _MADE:
        return owner
    known = None if maker is None else maker(owner)
    if known is not None:
        return known
    above, shape = _MADE[kind]
    match = shape.fullmatch(name)
    parent = (above, match[1]) if match is not None else owner
    return parent if parent in targets else owner


_BOOST_MILLI = 10**6


def boosted(autoscaler: Autoscaler, slot: Slot, requests: Amounts, limits: Amounts) -> tuple[Amounts, Amounts]:
    """Requests and limits with more cpu, where the autoscaler gives it to the container. Raises WebhookFault."""
    policy = autoscaler.policy(slot.name)
    boost = policy.boost if policy is not None and policy.boost is not None else autoscaler.boost
    if boost is None:
        return requests, limits
    own_amount = slot.requests.get("cpu", ZERO)
    base = quantity_in(requests, "cpu") or own_amount
    more = _boosted_cpu(base, boost)
    request = requests.get("cpu", BoundedAmount(own_amount)).set("vpa/startup-boost", more, boost.source)
    limit = slot.limits.get("cpu")
    if not autoscaler.scales_limits(slot.name):
        if limit is not None and more.milli_value() > limit.milli_value():
            below = Quantity(limit.nano - _BOOST_MILLI, limit.format) if limit.nano > _BOOST_MILLI else limit
            request = request.set("vpa/container-limit", below, boost.source)
        return {**requests, "cpu": request}, limits
    new = proportional_limit("cpu", limit or ZERO, own_amount, more, ZERO)
    if new is not None:
        limits = {**limits, "cpu": limits.get("cpu", BoundedAmount(ZERO)).set("vpa/limit-ratio", new, boost.source)}
    return {**requests, "cpu": request}, limits


def _boosted_cpu(base: Quantity, boost: Boost) -> Quantity:
    """Source: calculateBoostedCPUValue."""
    if not boost.known:
        raise WebhookFault(f"{boost.source} states no cpu")
    if boost.type == "Factor":
        if boost.factor is None or boost.factor < 1:
            raise WebhookFault(f"{boost.source} states no factor of 1 or more", stops=False)
        return Quantity(int(float(base.milli_value()) * float(boost.factor)) * _BOOST_MILLI)
    if boost.type != "Quantity":
        raise WebhookFault(f"{boost.source} is of type {boost.type!r}, which is not known", stops=False)
    if boost.quantity is None:
        raise WebhookFault(f"{boost.source} states no quantity", stops=False)
    return Quantity((base.milli_value() + boost.quantity.milli_value()) * _BOOST_MILLI)
