"""Resource lists of pools and claims as text; what does not parse is reported, never raised."""

from __future__ import annotations

from collections.abc import Mapping

from kubectl_kres.capsule.rules.allocation import AmountFault, Amounts, readable
from kubectl_kres.errors import QuantityError
from kubectl_kres.model.objects import ObjectRef, ResourceList
from kubectl_kres.quantity import Quantity, from_json
from kubectl_kres.wording import join_some

_NOBODY = ObjectRef("", "")


def parse_amounts(values: ResourceList | None) -> dict[str, Quantity]:
    """Return the quantities of a list, without those that do not parse; see ``faults``."""
    return readable(values, _NOBODY, "", None)


def amount(value: object) -> Quantity | None:
    """Return one quantity; None where it is none."""
    try:
        return from_json(value)
    except QuantityError:
        return None


def faults(values: ResourceList | None, path: str) -> tuple[str, ...]:
    """Return a sentence for each value that is no quantity; ``path`` is the field that holds the list."""
    amount_faults: list[AmountFault] = []
    readable(values, _NOBODY, path, amount_faults)
    return tuple(
        f"{amount_fault.path} is no quantity, and counts for nothing: {amount_fault.text}"
        for amount_fault in amount_faults
    )


def texts(values: ResourceList | None) -> dict[str, str]:
    """Return the list sorted by name, in canonical notation; what does not parse stays as it was written."""
    if not values:
        return {}
    result = {}
    for name in sorted(values):
        quantity = amount(values[name])
        result[name] = str(values[name]) if quantity is None else str(quantity)
    return result


def amount_texts(values: Amounts) -> dict[str, str]:
    """Quantities sorted by name, as text."""
    return {name: str(values[name]) for name in sorted(values)}


def whole_number_texts(quantities: Amounts) -> dict[str, str]:
    """Whole numbers without a suffix; a fraction is rounded up."""
    return {name: str(amount.value()) for name, amount in quantities.items()}


def sentence(values: Mapping[str, str]) -> str:
    """``requests.cpu 2 and requests.memory 4Gi``; ``nothing`` if it is empty."""
    return join_some(f"{name} {value}" for name, value in values.items()) or "nothing"
