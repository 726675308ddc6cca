"""The updater of the vertical autoscaler: which pods it evicts, as far as PodDisruptionBudgets allow.

Source: vertical-pod-autoscaler 1.8.1 pkg/updater/priority/{priority_processor,update_priority_calculator,
scaling_direction_pod_eviction_admission}.go, pkg/updater/restriction/pods_restriction_factory.go,
pkg/updater/config/config.go; Kubernetes pkg/registry/core/pod/storage/eviction.go,
pkg/controller/disruption/disruption.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from kubectl_kres.admission.base.draft import Slot
from kubectl_kres.admission.limitrange import Limits
from kubectl_kres.quantity import ZERO, Quantity
from kubectl_kres.scheduling.selectors import matches
from kubectl_kres.vpa.model import PodDisruptionBudget
from kubectl_kres.vpa.rules.autoscaler import Autoscaler, Recommended, merged_item, quantity_in
from kubectl_kres.vpa.rules.capping import capped

#: The modes in which pods are evicted; InPlace never does, and needs a feature gate.
EVICTING = ("Recreate", "Auto", "InPlaceOrRecreate")
#: Fewer pods of one controller than this are let alone, unless the autoscaler says another number.
MIN_REPLICAS = 2
#: The part of the wanted pods that may be away.
TOLERANCE = 0.5
#: Passes that are followed: each evicts one pod at least, else it is the last one.
_MOST = 1000


class OutsideRequest(NamedTuple):
    """A request outside of what is recommended. ``request`` None: there is none; ``lower``, ``upper``: no bound."""

    container: str
    resource: str
    request: Quantity | None
    lower: Quantity | None
    upper: Quantity | None


class EvictionDecision(NamedTuple):
    """What the updater finds of a pod.

    ``outside``: the requests for which it is evicted at once. ``held``: the autoscaler's evictionRequirements keep it.
    ``grows``: some request would rise; ``difference``: by what part requests would change. Those that grow come first,
    then those that change most.
    """

    outside: tuple[OutsideRequest, ...]
    held: bool = False
    grows: bool = False
    difference: float = 0.0

    @property
    def evicted(self) -> bool:
        """Return whether it is among those that are evicted."""
        return bool(self.outside) and not self.held

    @property
    def sort_key(self) -> tuple[bool, float]:
        """Return what pods are sorted by."""
        return not self.grows, -self.difference


def decide_eviction(autoscaler: Autoscaler, slots: Sequence[Slot], limits: Sequence[Limits]) -> EvictionDecision:
    """Return what the updater finds of a pod. Raises WebhookFault, where the updater stops as well.

    A pod within the bounds is evicted only after twelve hours, or after it ran out of memory.
    """
    recommended = capped(autoscaler, slots, merged_item(limits, "Container"), merged_item(limits, "Pod"))
    outside: list[OutsideRequest] = []
    sums: dict[str, tuple[int, int]] = {}
    grows = False
    for slot in slots:
        recommendation = recommended.get(slot.name)
        for name, target in (recommendation.target or {}).items() if recommendation is not None else ():
            request = slot.requests.get(name)
            previous, will = 0 if request is None else request.milli_value(), target.quantity.milli_value()
            grows = grows or request is None or will > previous
            before, after = sums.get(name, (0, 0))
            sums[name] = before + previous, after + will
            value = _find_outside_request(slot, name, recommendation) if recommendation is not None else None
            outside += [value] if value is not None else []
    difference = sum(abs(max(previous, 1) - will) / max(previous, 1) for previous, will in sums.values())
    held_back = bool(autoscaler.requirements) and not any(_admits(autoscaler, slot, recommended) for slot in slots)
    return EvictionDecision(tuple(outside), held_back, grows, difference)


def _find_outside_request(slot: Slot, name: str, recommendation: Recommended) -> OutsideRequest | None:
    lower, upper = ((values or {}).get(name) for values in (recommendation.lower, recommendation.upper))
    request = slot.requests.get(name)
    below = request is not None and lower is not None and request < lower.quantity
    above = request is not None and upper is not None and request > upper.quantity
    if request is not None and not below and not above:
        return None
    bounds = (None if bound is None else bound.quantity for bound in (lower, upper))
    return OutsideRequest(slot.name, name, request, *bounds)


def _admits(autoscaler: Autoscaler, slot: Slot, recommended: Mapping[str, Recommended]) -> bool:
    """Return whether a container lets its pod be evicted: each requirement holds for one of its resources at least.

    One without a request for cpu or memory always does, one without a recommendation never.
    """
    recommendation = recommended.get(slot.name)
    if recommendation is None:
        return False
    if "cpu" not in slot.requests or "memory" not in slot.requests:
        return True
    return all(
        any(
            _changes(slot, recommendation, resource, requirement.change_requirement)
            for resource in requirement.resources or ()
        )
        for requirement in autoscaler.requirements
    )


def _changes(slot: Slot, recommendation: Recommended, resource: str, direction: str) -> bool:
    before, will = (
        slot.requests.get(resource, ZERO).milli_value(),
        quantity_in(recommendation.target, resource).milli_value(),
    )
    return {"TargetHigherThanRequests": will > before, "TargetLowerThanRequests": will < before}.get(direction, False)


class Budget(NamedTuple):
    """How many pods of one controller may be away.

    ``wanted``: its replicas. ``least``: fewer are let alone. ``healthy``: so many PodDisruptionBudgets want to run.
    """

    wanted: int
    least: int = MIN_REPLICAS
    healthy: int = 0

    @property
    def tolerance(self) -> int:
        """Return how many of the wanted pods may be away."""
        return int(self.wanted * TOLERANCE)

    def is_disruptable(self, running: int, removed: int) -> bool:
        """Return whether one more pod may go, or be resized, in a pass. Source: singleGroupStats.isPodDisruptable."""
        is_only = self.wanted == running and not self.tolerance and not removed
        return running - removed > self.wanted - self.tolerance or is_only

    def may_evict(self, running: int, removed: int, evicted: int) -> bool:
        """Return whether the API server lets one more pod be evicted, too. ``removed``: ``evicted`` and resized."""
        return self.is_disruptable(running, removed) and running - evicted > self.healthy

    def evictable(self, running: int, old: int, sized: int = 0) -> int:
        """Return how many of ``old`` pods, among so many that run, are evicted in a pass that resized some before."""
        removed = 0
        while running >= self.least and removed < old and self.may_evict(running, sized + removed, removed):
            removed += 1
        return removed


def disruption_budget(autoscaler: Autoscaler, wanted_count: int, healthy: int = 0) -> Budget:
    """Return the budget of a controller's pods under an autoscaler."""
    minimum = autoscaler.min_replicas
    return Budget(wanted_count, MIN_REPLICAS if minimum is None else minimum, healthy)


class Evictions(NamedTuple):
    """How it ends: ``old`` pods are let alone, ``new`` ones came, ``missing`` ones did not, ``sized`` were resized."""

    evicted: int
    old: int
    new: int
    missing: int
    sized: int = 0


class MovedPods(NamedTuple):
    """How many pods that would be evicted are there still, how many came anew, and how many were resized."""

    old: int
    new: int = 0
    sized: int = 0


def follow_evictions(
    budget: Budget,
    old: int,
    beside: int,
    admits: Callable[[MovedPods], bool],
    resizes: Callable[[MovedPods], bool] | None = None,
) -> Evictions:
    """Return what becomes of the pods of one controller, pass by pass, as long as each pod that comes runs.

    ``old``: how many run that would be evicted; ``beside``: how many others do. ``admits``: whether one more pod is
    admitted by then. ``resizes``: whether the API server lets one more be resized in place; None: none is tried.
    """
    now, evicted = MovedPods(old), 0
    for _ in range(_MOST):
        before, running = now, sum(now) + beside
        deferred, initiated = 0, 0
        if resizes is not None and running >= budget.least:
            while now.old and budget.is_disruptable(running, initiated) and resizes(now):
                now, initiated = MovedPods(now.old - 1, now.new, now.sized + 1), initiated + 1
            # Those whose turn does not come wait for the next pass.
            deferred = 0 if now.old and budget.is_disruptable(running, initiated) else now.old
        removed = budget.evictable(running, now.old - deferred, initiated)
        now, evicted = now._replace(old=now.old - removed), evicted + removed
        while sum(now) + beside < budget.wanted and admits(now):
            now = now._replace(new=now.new + 1)
        if now == before and not removed:
            break
    missing = max(0, budget.wanted - sum(now) - beside)
    return Evictions(evicted, now.old, now.new, missing, now.sized)


#: What the server says where two budgets select a pod, and where one has nothing left.
SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
VIOLATED = "Cannot evict pod as it would violate the pod's disruption budget."


class HealthyPods(NamedTuple):
    """How many pods of a controller have to run. ``budgets``: those that say so. ``message``: to one too many."""

    least: int = 0
    budgets: tuple[str, ...] = ()
    message: str = ""


def healthy_pods(
    budgets: Iterable[PodDisruptionBudget], labels: Mapping[str, str], wanted_count: int, running: int | None = None
) -> HealthyPods:
    """Return what is wanted of a controller's pods with such labels.

    ``running``: so many of its pods run as the budgets were read; None: the other pods that they select all do.
    """
    mine = sorted(
        (budget for budget in budgets if matches(budget.spec.selector, labels)), key=lambda budget: budget.metadata.name
    )
    names = tuple(budget.metadata.name for budget in mine)
    if len(mine) > 1:
        return HealthyPods(wanted_count if running is None else max(wanted_count, running), names, SEVERAL)
    if not mine:
        return HealthyPods()
    status = mine[0].status
    if status.expected_pods:
        # Of all pods that it selects; those of other controllers stay as they are.
        others = status.expected_pods - wanted_count if running is None else status.current_healthy - running
        return HealthyPods(max(0, status.desired_healthy - others), names, VIOLATED)
    return HealthyPods(_desired(mine[0], wanted_count), names, VIOLATED)


def _desired(budget: PodDisruptionBudget, expected: int) -> int:
    """Source: getExpectedPodCount."""
    spec = budget.spec
    if spec.max_unavailable is not None:
        return max(0, expected - _scaled(spec.max_unavailable, expected))
    return _scaled(spec.min_available, expected) if spec.min_available is not None else 0


def _scaled(value: Any, expected: int) -> int:
    """Return a number, or a percentage rounded up."""
    text = str(value)
    return -(-int(text[:-1]) * expected // 100) if text.endswith("%") and text[:-1].isdigit() else int(text or 0)
