"""Which pods the updater of the vertical autoscaler evicts, and how many of them.

Source: vertical-pod-autoscaler 1.8.1 pkg/updater/priority/{priority_processor,update_priority_calculator}.go,
pkg/updater/restriction/pods_restriction_factory.go, pkg/updater/config/config.go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kubectl_kres.admission.base.draft import Slot
from kubectl_kres.admission.limitrange import Limits
from kubectl_kres.quantity import Quantity
from kubectl_kres.vpa.rules.autoscaler import Autoscaler
from kubectl_kres.vpa.rules.capping import capped
from kubectl_kres.vpa.rules.limit_ranges import merged_item

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


def outside_requests(
    autoscaler: Autoscaler, slots: Sequence[Slot], limits: Sequence[Limits]
) -> tuple[OutsideRequest, ...]:
    """Return the requests of a pod for which it is evicted at once. Raises WebhookFault, where the updater stops as
    well.

    A pod within the bounds is evicted only after twelve hours, or after it ran out of memory.
    """
    recommended = capped(autoscaler, slots, merged_item(limits, "Container"), merged_item(limits, "Pod"))
    result = []
    for slot in slots:
        own = recommended.get(slot.name)
        for name in (own.target or {}) if own is not None else ():
            lower, upper = ((values or {}).get(name) for values in (own.lower, own.upper)) if own else (None, None)
            request = slot.requests.get(name)
            below = request is not None and lower is not None and request < lower.quantity
            above = request is not None and upper is not None and request > upper.quantity
            if request is None or below or above:
                bounds = (None if bound is None else bound.quantity for bound in (lower, upper))
                result.append(OutsideRequest(slot.name, name, request, *bounds))
    return tuple(result)


class Evictions(NamedTuple):
    """How it ends: ``old`` pods are let alone, ``new`` ones came, ``missing`` ones did not."""

    evicted: int
    old: int
    new: int
    missing: int


def follow_evictions(wanted: int, old: int, least: int | None, admits: Callable[[int, int], bool]) -> Evictions:
    """Return what becomes of the pods of one controller, pass by pass, as long as each pod that comes runs.

    ``old``: how many run that would be evicted. ``least``: minReplicas of the autoscaler. ``admits``: whether one more
    pod is admitted while so many old ones and so many new ones are there.
    """
    new = evicted = 0
    tolerance = int(wanted * TOLERANCE)
    for _ in range(_MOST):
        if old + new < (MIN_REPLICAS if least is None else least):
            break
        running, gone = old + new, 0
        while gone < old and _is_disruptable(wanted, tolerance, running, gone):
            gone += 1
        old, evicted = old - gone, evicted + gone
        came = 0
        while old + new < wanted and admits(old, new):
            new, came = new + 1, came + 1
        if not gone and not came:
            break
    return Evictions(evicted, old, new, max(0, wanted - old - new))


def _is_disruptable(wanted: int, tolerance: int, running: int, gone: int) -> bool:
    """Source: singleGroupStats.isPodDisruptable."""
    return running - gone > wanted - tolerance or (wanted == running and not tolerance and not gone)
