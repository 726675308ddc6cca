"""The cpu that a container gets while it starts.

Source: vertical-pod-autoscaler 1.8.1 pkg/admission-controller/resource/pod/patch/resource_updates.go.
"""

from __future__ import annotations

from kubectl_kres.admission.base.draft import Slot
from kubectl_kres.quantity import ZERO, Quantity
from kubectl_kres.vpa.rules.amounts import Amounts, BoundedAmount, WebhookFault, proportional_limit, quantity_in
from kubectl_kres.vpa.rules.autoscaler import Autoscaler, Boost

_MILLI = 10**6


def boosted(autoscaler: Autoscaler, slot: Slot, requests: Amounts, limits: Amounts) -> tuple[Amounts, Amounts]:
    """Requests and limits with more cpu, where the autoscaler gives it to the container. Raises WebhookFault."""
    policy = autoscaler.policy(slot.name)
    boost = policy.boost if policy is not None and policy.boost is not None else autoscaler.boost
    if boost is None:
        return requests, limits
    own = slot.requests.get("cpu", ZERO)
    base = quantity_in(requests, "cpu") or own
    more = _boosted_cpu(base, boost)
    request = requests.get("cpu", BoundedAmount(own)).set("vpa/startup-boost", more, boost.source)
    limit = slot.limits.get("cpu")
    if not autoscaler.scales_limits(slot.name):
        if limit is not None and more.milli_value() > limit.milli_value():
            below = Quantity(limit.nano - _MILLI, limit.format) if limit.nano > _MILLI else limit
            request = request.set("vpa/container-limit", below, boost.source)
        return {**requests, "cpu": request}, limits
    new = proportional_limit("cpu", limit or ZERO, own, more, ZERO)
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
        return Quantity(int(float(base.milli_value()) * float(boost.factor)) * _MILLI)
    if boost.type != "Quantity":
        raise WebhookFault(f"{boost.source} is of type {boost.type!r}, which is not known", stops=False)
    if boost.quantity is None:
        raise WebhookFault(f"{boost.source} states no quantity", stops=False)
    return Quantity((base.milli_value() + boost.quantity.milli_value()) * _MILLI)
