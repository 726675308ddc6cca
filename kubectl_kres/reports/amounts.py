"""Resource lists of pools and claims as quantities and as text; what does not parse is told, never raised."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kubectl_kres.admission.draft import Quantities
from kubectl_kres.errors import QuantityError
from kubectl_kres.model.meta import ResourceList
from kubectl_kres.quantity import Quantity, stored

#: What shows a list in a sentence: ``requests.cpu 2, requests.memory 4Gi``.
Amounts = Mapping[str, str]


def parsed(values: ResourceList | None) -> Quantities:
    """The quantities of a list, without those that do not parse; see ``faults``."""
    found: Quantities = {}
    for name, value in (values or {}).items():
        quantity = amount(value)
        if quantity is not None:
            found[name] = quantity
    return found


def amount(value: object) -> Quantity | None:
    """One quantity as the API server stores it; None where it would store none."""
    try:
        return stored(value)
    except QuantityError:
        return None


def faults(values: ResourceList | None, path: str) -> tuple[str, ...]:
    """A sentence for each value that is no quantity; ``path`` is the field that holds the list."""
    found = []
    for name, value in (values or {}).items():
        try:
            stored(value)
        except QuantityError as error:
            found.append(f'{path}[{name}]: "{value}" is no quantity: {error.message}')
    return tuple(found)


def texts(values: ResourceList | None) -> dict[str, str]:
    """The list sorted by name, in canonical notation; what does not parse stays as it was written."""
    if not values:
        return {}
    found = {}
    for name in sorted(values):
        quantity = amount(values[name])
        found[name] = str(values[name]) if quantity is None else str(quantity)
    return found


def shown(values: Mapping[str, Quantity]) -> dict[str, str]:
    """Quantities sorted by name, as text."""
    return {name: str(values[name]) for name in sorted(values)}


def sentence(values: Amounts) -> str:
    """``requests.cpu 2 and requests.memory 4Gi``; ``nothing`` if it is empty."""
    return listed(f"{name} {value}" for name, value in values.items()) or "nothing"


def listed(words: Iterable[str], most: int = 6) -> str:
    """``a, b and c``; beyond ``most`` only how many more there are."""
    found = list(words)
    if len(found) > most + 1:
        return f"{', '.join(found[:most])} and {len(found) - most} more"
    return " and ".join(filter(None, (", ".join(found[:-1]), *found[-1:])))
