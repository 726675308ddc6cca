"""How many pods PodDisruptionBudgets want to run, so that the API server lets no more be evicted.

Source: Kubernetes pkg/registry/core/pod/storage/eviction.go, pkg/controller/disruption/disruption.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from kubectl_kres.scheduling.selectors import matches
from kubectl_kres.vpa.model import PodDisruptionBudget

#: What the server says where two budgets select a pod, and where one has nothing left.
SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
VIOLATED = "Cannot evict pod as it would violate the pod's disruption budget."


class HealthyPods(NamedTuple):
    """How many pods of a controller have to run. ``budgets``: those that say so. ``message``: to one too many."""

    least: int = 0
    budgets: tuple[str, ...] = ()
    message: str = ""


def healthy_pods(
    budgets: Iterable[PodDisruptionBudget], labels: Mapping[str, str], wanted: int, running: int | None = None
) -> HealthyPods:
    """Return what is wanted of a controller's pods with such labels.

    ``running``: so many of its pods run as the budgets were read; None: the other pods that they select all do.
    """
    mine = sorted(
        (budget for budget in budgets if matches(budget.spec.selector, labels)), key=lambda budget: budget.metadata.name
    )
    names = tuple(budget.metadata.name for budget in mine)
    if len(mine) > 1:
        return HealthyPods(wanted if running is None else max(wanted, running), names, SEVERAL)
    if not mine:
        return HealthyPods()
    status = mine[0].status
    if status.expected_pods:
        # Of all pods that it selects; those of other controllers stay as they are.
        others = status.expected_pods - wanted if running is None else status.current_healthy - running
        return HealthyPods(max(0, status.desired_healthy - others), names, VIOLATED)
    return HealthyPods(_desired(mine[0], wanted), names, VIOLATED)


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
