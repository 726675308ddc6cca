"""A vertical autoscaler in amounts that know the field and the rules they come from, and limits in proportion to
requests, rounded as it does.

Source: vertical-pod-autoscaler 1.8.1 pkg/utils/vpa/limit_and_request_scaling.go,
pkg/utils/limitrange/limit_range_calculator.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from kubectl_kres.admission.base.draft import Unparsable, parse_list
from kubectl_kres.admission.limitrange import Limits, ParsedItem
from kubectl_kres.errors import QuantityError
from kubectl_kres.provenance.journal import Source
from kubectl_kres.quantity import ZERO, Quantity, from_json
from kubectl_kres.vpa import model


class AmountStep(NamedTuple):
    """A rule that gave an amount its value, and where that stands."""

    rule: str
    quantity: Quantity
    source: Source


class BoundedAmount(NamedTuple):
    """An amount and the rules that led to it; none: it is what the pod asked for."""

    quantity: Quantity
    steps: tuple[AmountStep, ...] = ()

    def set(self, rule: str, quantity: Quantity, source: Source) -> BoundedAmount:
        """Return the amount that a rule made of this one."""
        return BoundedAmount(quantity, (*self.steps, AmountStep(rule, quantity, source)))


Amounts = dict[str, BoundedAmount]

#: The resources that are kept within LimitRanges and in proportion.
SCALED = ("cpu", "memory")


def quantity_in(amounts: Amounts | None, name: str) -> Quantity:
    """Return the amount of a resource; zero where there is none."""
    amount = (amounts or {}).get(name)
    return ZERO if amount is None else amount.quantity


Rounding = Literal["", "up", "down"]
_MILLI, _WHOLE = 10**6, 10**9
_MOST = 2**63 - 1


class WebhookFault(Exception):
    """The admission controller changes nothing; the message says why. ``stops``: it panics and does not answer."""

    def __init__(self, text: str, *, stops: bool = True) -> None:
        super().__init__(text)
        self.stops = stops


def proportional_limit(
    name: str, limit: Quantity, request: Quantity, recommended: Quantity, default: Quantity
) -> Quantity | None:
    """Return the limit that is to the recommendation as the limit was to the request; None: none is set."""
    limit = limit or default
    if not limit or not recommended:
        return None
    if not request or request.milli_value() == limit.milli_value():
        return recommended
    return scaled(name, limit, request, recommended)


def boundary_request(name: str, request: Quantity, limit: Quantity, boundary: Quantity, default: Quantity) -> Quantity:
    """Return the request with which the limit, kept in proportion, is at the boundary; zero: there is none."""
    limit = limit or default
    if not limit:
        return ZERO
    return scaled(name, request, limit, boundary) if request else boundary


def scaled(name: str, quantity: Quantity, base: Quantity, result: Quantity, rounding: Rounding = "") -> Quantity:
    """Return ``quantity`` times ``result`` divided by ``base``: cpu in thousandths, all else in whole units.

    What is more than 64 bits hold becomes what they hold. ``down``: an amount of zero becomes minus one, as there.
    Raises WebhookFault where it divides by zero.
    """
    if name == "cpu":
        return _scaled_cpu(quantity, base, result, rounding)
    if not base.whole_value():
        raise WebhookFault("it divides by a sum of zero")
    whole = quantity.whole_value() * result.whole_value() // base.whole_value()
    if whole > _MOST:
        return Quantity(_MOST * _WHOLE, quantity.format)
    if rounding == "down" and not whole:
        whole = -1
    return Quantity(whole * _WHOLE, quantity.format)


def _scaled_cpu(quantity: Quantity, base: Quantity, result: Quantity, rounding: Rounding) -> Quantity:
    if not base:
        return quantity
    if not base.milli_value():
        raise WebhookFault("it divides by a sum of zero")
    milli, rest = divmod(quantity.milli_value() * result.milli_value(), base.milli_value())
    if milli > _MOST:
        milli = _MOST
    elif rest and rounding == "up":
        milli += 1
    return Quantity(milli * _MILLI, quantity.format)


#: Amounts by resource with the field that each comes from.
Bounds = Mapping[str, tuple[Quantity, Source]]


class MergedItem(Struct, frozen=True):
    """The strictest bounds of all items of a type. None: no item has the field.

    ``default`` is that of one item: there of any, here of the last LimitRange by name.
    """

    max: Bounds | None = None
    min: Bounds | None = None
    default: Bounds | None = None


def merged_item(limits: Sequence[Limits], type_: str) -> MergedItem | None:
    """Return the bounds for a type, ``Container`` or ``Pod``; None: there are none."""
    most: Bounds | None = None
    least: Bounds | None = None
    default: Bounds | None = None
    for limit in limits:
        for item in limit.items:
            if item.type != type_:
                continue
            default = _fields(limit, item, "default") or default
            most = _intersect_bounds(most, _fields(limit, item, "max"), higher=False)
            least = _intersect_bounds(least, _fields(limit, item, "min"), higher=True)
    return None if most is least is default is None else MergedItem(most, least, default)


def bound_of_resource(bounds: Bounds | None, name: str) -> Quantity:
    """Return the bound of a resource; zero where there is none."""
    bound = (bounds or {}).get(name)
    return ZERO if bound is None else bound[0]


def source_in(bounds: Bounds | None, name: str) -> Source:
    """Return the field that a bound comes from. Raises KeyError where there is no bound, which can then change
    nothing.
    """
    return (bounds or {})[name][1]


def _fields(limits: Limits, item: ParsedItem, field: str) -> Bounds | None:
    values: Mapping[str, Quantity] = getattr(item, field)
    return {name: (quantity, limits.origin(item, field, name)) for name, quantity in values.items()} or None


def _intersect_bounds(bounds: Bounds | None, more: Bounds | None, *, higher: bool) -> Bounds | None:
    if bounds is None or more is None:
        return bounds or more
    result = dict(bounds)
    for name in SCALED:
        if name in more:
            mine, other = result.get(name), more[name]
            keeps = mine is not None and (mine[0] > other[0] if higher else mine[0] < other[0])
            result[name] = mine if mine is not None and keeps else other
    return result


#: The name of the policy for all containers that have none of their own.
EVERY_OTHER = "*"


class Boost(Struct, frozen=True):
    """How much more cpu a container gets while it starts. ``known`` False: the amount is not stated at all."""

    type: str
    factor: int | None
    quantity: Quantity | None
    source: Source
    known: bool = True


class ScalingPolicy(Struct, frozen=True):
    """What may be done to a container. ``limits``: they are set, too, in proportion to requests."""

    mode: str
    limits: bool
    least: Bounds
    most: Bounds
    boost: Boost | None = None


class Recommended(Struct, frozen=True):
    """Amounts for one container. None: there is no such list, into which nothing can be written either."""

    container: str
    target: Amounts | None = None
    lower: Amounts | None = None
    upper: Amounts | None = None

    def copy(self) -> Recommended:
        """Return the same, whose lists can be changed."""
        lists = (None if values is None else dict(values) for values in (self.target, self.lower, self.upper))
        return Recommended(self.container, *lists)


class Autoscaler(Struct, frozen=True):
    """``recommended`` None: there is no recommendation. ``mode``: Off, Initial, Recreate, Auto, and so on.

    ``boosts``: it gives more cpu to containers that start, which only works with the feature gate CPUStartupBoost.
    """

    source: Source
    target: tuple[str, str]
    mode: str
    created: str
    policies: Mapping[str, ScalingPolicy]
    boost: Boost | None
    recommended: tuple[Recommended, ...] | None
    boosts: bool = False
    min_replicas: int | None = None
    requirements: tuple[model.EvictionRequirement, ...] = ()

    def policy(self, container: str) -> ScalingPolicy | None:
        """Return the policy of a container; None: it has none. Source: pkg/utils/vpa/api.go
        GetContainerResourcePolicy.
        """
        return self.policies.get(container, self.policies.get(EVERY_OTHER))

    def scales_limits(self, container: str) -> bool:
        """Return whether limits are set, too. Source: pkg/utils/vpa/api.go GetContainerControlledValues."""
        policy = self.policy(container)
        return policy is None or policy.limits

    def first_source(self, amount: BoundedAmount) -> Source:
        """Return what an amount goes back to: a field of the recommendation, or this as a whole for the pod's own
        request.
        """
        return amount.steps[0].source if amount.steps else self.source.at_path("status.recommendation")

    def stronger_than(self, other: Autoscaler | None) -> bool:
        """Return whether it decides where both are about a pod: the older one does. Source: pkg/utils/vpa/api.go
        Stronger.
        """
        return other is None or (self.created, self.source.name) < (other.created, other.source.name)


def parse_autoscaler(vpa: model.VerticalPodAutoscaler) -> Autoscaler | None:
    """Return the autoscaler; None: it names no controller, so that it is about nothing. Raises Unparsable."""
    reference = vpa.spec.target_ref
    if reference is None:
        return None
    meta = vpa.metadata
    source = Source(model.KIND, meta.name, meta.namespace)
    policy = vpa.spec.resource_policy
    policies: dict[str, ScalingPolicy] = {}
    for index, container_policy in enumerate((policy.container_policies if policy is not None else None) or ()):
        path = f"spec.resourcePolicy.containerPolicies[{index}]"
        # Of several for one container the first one counts, of several for all others the last one.
        if container_policy.container_name not in policies or container_policy.container_name == EVERY_OTHER:
            policies[container_policy.container_name] = _policy(container_policy, source, path)
    update = vpa.spec.update_policy
    return Autoscaler(
        source,
        (reference.kind, reference.name),
        model.mode_of(vpa),
        meta.creation_timestamp or "",
        policies,
        _boost(vpa.spec.startup_boost, source, "spec.startupBoost"),
        _parse_recommendation(vpa, source),
        model.has_boost(vpa),
        update.min_replicas if update is not None else None,
        (update.eviction_requirements if update is not None else None) or (),
    )


def _policy(policy: model.ContainerPolicy, source: Source, path: str) -> ScalingPolicy:
    return ScalingPolicy(
        policy.mode or "Auto",
        policy.controlled_values != "RequestsOnly",
        _bounds(policy.min_allowed, source, f"{path}.minAllowed"),
        _bounds(policy.max_allowed, source, f"{path}.maxAllowed"),
        _boost(policy.startup_boost, source, f"{path}.startupBoost"),
    )


def _bounds(raw: Mapping[str, Any] | None, source: Source, path: str) -> Bounds:
    parsed = parse_list(raw, path, None, from_json)
    return {name: (quantity, source.at_path(f"{path}[{name}]")) for name, quantity in parsed.items()}


def _boost(boost: model.StartupBoost | None, source: Source, path: str) -> Boost | None:
    if boost is None:
        return None
    field_source = source.at_path(f"{path}.cpu")
    if boost.cpu is None:
        return Boost("", None, None, field_source, known=False)
    try:
        quantity = None if boost.cpu.quantity is None else from_json(boost.cpu.quantity)
    except QuantityError as error:
        raise Unparsable(f"{path}.cpu.quantity", error) from error
    return Boost(boost.cpu.type or "Factor", boost.cpu.factor, quantity, field_source)


def _parse_recommendation(vpa: model.VerticalPodAutoscaler, source: Source) -> tuple[Recommended, ...] | None:
    recommendation = vpa.status.recommendation
    if recommendation is None:
        return None
    return tuple(
        Recommended(
            each.container_name,
            _amounts(each.target, source, f"{_CONTAINERS}[{index}].target"),
            _amounts(each.lower_bound, source, f"{_CONTAINERS}[{index}].lowerBound"),
            _amounts(each.upper_bound, source, f"{_CONTAINERS}[{index}].upperBound"),
        )
        for index, each in enumerate(recommendation.container_recommendations or ())
    )


_CONTAINERS = "status.recommendation.containerRecommendations"


def _amounts(raw: Mapping[str, Any] | None, source: Source, path: str) -> Amounts | None:
    if raw is None:
        return None
    return {
        name: BoundedAmount(quantity, (AmountStep("vpa/target", quantity, source.at_path(f"{path}[{name}]")),))
        for name, quantity in parse_list(raw, path, None, from_json).items()
    }
