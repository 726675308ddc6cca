"""A vertical autoscaler with its amounts parsed, each with the field that it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from kubectl_kres.admission.base.draft import Unparsable, parse_list
from kubectl_kres.errors import QuantityError
from kubectl_kres.provenance.journal import Source
from kubectl_kres.quantity import Quantity, from_json
from kubectl_kres.vpa import model
from kubectl_kres.vpa.rules.amounts import Amounts, AmountStep, BoundedAmount, Bounds

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

    def recommendation_for(self, container: str) -> Recommended | None:
        """Return what is recommended for a container."""
        return next(
            (recommendation for recommendation in self.recommended or () if recommendation.container == container), None
        )

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
