"""Quantities in Tekton's objects: as they are once the webhook has written them back, and divided by steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubectl_kres.quantity import Quantity, from_json, parse, quantity_of

#: Names that are divided in whole bytes; all others in thousandths.
WHOLE = frozenset({"memory", "ephemeral-storage"})

#: The names that Tekton takes from LimitRanges, in its order.
NAMES = ("cpu", "memory", "ephemeral-storage")

_MILLI = 10**6


def read(values: Mapping[str, Any] | None) -> dict[str, Quantity] | None:
    """A resource list of a stored object, not rounded to thousandths; None for an absent or empty one.

    The defaulting webhook writes the object anew, and the controller reads what it wrote. Raises QuantityError.
    """
    if not values:
        return None
    return {name: parse(str(from_json(value))) for name, value in values.items()}


def share(quantity: Quantity, name: str, number: int) -> Quantity:
    """The part of one step among ``number``, in the notation of the whole; what is left over is lost.

    Source: tasklevel.go computeAverageRequests, transformer.go getDefaultStepContainerRequest.
    """
    if name in WHOLE:
        return quantity_of(_divided(quantity.whole_value(), number), quantity.format)
    return Quantity(_divided(quantity.milli_value(), number) * _MILLI, quantity.format, -3)


def lost(quantity: Quantity, part: Quantity, number: int) -> Quantity:
    """What ``number`` shares lack to the whole."""
    return Quantity(quantity.nano - part.nano * number, quantity.format)


def _divided(number: int, by: int) -> int:
    """As Go divides: towards zero."""
    return number // by if number >= 0 else -(-number // by)
