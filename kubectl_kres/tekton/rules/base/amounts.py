"""Quantities in Tekton's objects, as the webhook writes them back and divided by steps; the deadline of a run's pod."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from kubectl_kres import durations
from kubectl_kres.quantity import Quantity, from_json, parse, quantity_of

#: Names that are divided in whole bytes; all others in thousandths.
WHOLE = frozenset({"memory", "ephemeral-storage"})

#: The names that Tekton takes from LimitRanges, in its order.
NAMES = ("cpu", "memory", "ephemeral-storage")

_MILLI = 10**6


def read(values: Mapping[str, Any] | None) -> dict[str, Quantity] | None:
    """Return a resource list of a stored object, not rounded to thousandths; None for an absent or empty one.

    The defaulting webhook writes the object anew, and the controller reads what it wrote. Raises QuantityError.
    """
    if not values:
        return None
    return {name: parse(str(from_json(value))) for name, value in values.items()}


def share(quantity: Quantity, name: str, number: int) -> Quantity:
    """Return the part of one step among ``number``, in the notation of the whole; what is left over is lost.

    ``name`` empty: whatever it is, it is divided into thousandths.

    Source: tasklevel.go computeAverageRequests, transformer.go getDefaultStepContainerRequest.
    """
    if name in WHOLE:
        return quantity_of(_divide_toward_zero(quantity.whole_value(), number), quantity.format)
    return Quantity(_divide_toward_zero(quantity.milli_value(), number) * _MILLI, quantity.format, -3)


def division_loss(quantity: Quantity, part: Quantity, number: int) -> Quantity:
    """Return what ``number`` shares lack to the whole."""
    return Quantity(quantity.nano - part.nano * number, quantity.format)


def _divide_toward_zero(number: int, by: int) -> int:
    """As Go divides: towards zero."""
    return number // by if number >= 0 else -(-number // by)


#: The deadline of a pod that never times out.
NEVER = 2147483647


@lru_cache(maxsize=256)
def deadline(timeout: str | None, minutes: int) -> int:
    """``activeDeadlineSeconds`` of the pod: one and a half times the timeout, of which ``minutes`` is the default.

    Source: pkg/pod/pod.go Build; a timeout of zero is none.
    """
    length = durations.parse_or_none(timeout) if timeout is not None else None
    if length is None:
        length = minutes * durations.MINUTE
    return _divide_toward_zero(length * 3, 2 * durations.SECOND) if length else NEVER
