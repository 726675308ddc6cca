"""Resource lists of pools and claims as amounts, which the API server does not round there as it does in quotas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from kubectl_kres.errors import QuantityError
from kubectl_kres.model.meta import ObjectRef, ResourceList
from kubectl_kres.quantity import ZERO, Quantity, from_json, parse

#: Resource name to amount.
Amounts = Mapping[str, Quantity]
#: Resource name to billionths of a unit, for sums over many claims.
Nanos = dict[str, int]


class AmountFault(Struct, frozen=True, rename="camel"):
    """What an object holds that no controller can read. The value is left out of all sums."""

    ref: ObjectRef
    path: str
    text: str


def amounts(raw: ResourceList | None) -> dict[str, Quantity]:
    """The amounts as read, neither rounded nor renamed. Raises QuantityError at the first that is none."""
    if not raw:
        return {}
    try:
        return {name: parse(value) if type(value) is str else from_json(value) for name, value in raw.items()}
    except QuantityError:
        return {name: from_json(value) for name, value in raw.items()}


def readable(
    raw: ResourceList | None, ref: ObjectRef, path: str, faults: list[AmountFault] | None
) -> dict[str, Quantity]:
    """The amounts that can be read; each other one is a fault. ``faults`` None: they are of no interest."""
    try:
        return amounts(raw)
    except QuantityError:
        pass
    quantities: dict[str, Quantity] = {}
    for name, value in (raw or {}).items():
        try:
            quantities[name] = from_json(value)
        except QuantityError as error:
            if faults is not None:
                faults.append(AmountFault(ref, f"{path}[{name}]", error.message))
    return quantities


def texts(quantities: Amounts) -> dict[str, str] | None:
    """In canonical notation, as a status or a spec holds them; None for an empty list, which is left out."""
    return {name: str(quantity) for name, quantity in sorted(quantities.items())} or None


def canonical(raw: ResourceList | None) -> dict[str, Any] | None:
    """A list as the mutating webhook re-encodes it: ``1024Mi`` becomes ``1Gi``, the number 3 becomes "3".

    What is no quantity stays as it is. An empty list stays empty.
    """
    if raw is None:
        return None
    result: dict[str, Any] = {}
    for name, value in raw.items():
        try:
            result[name] = str(from_json(value))
        except QuantityError:
            result[name] = value
    return result


def added(lists: Iterable[Amounts]) -> dict[str, Quantity]:
    """The sum by resource, each in the notation of its first amount that is not zero.

    A sum is a new amount even where it is of one: ``1e0``, which is kept as it was written, becomes 1.
    """
    quantities: dict[str, Quantity] = {}
    for mapping in lists:
        for name, quantity in mapping.items():
            quantities[name] = quantities.get(name, ZERO) + quantity
    return quantities


def same(left: Amounts, right: Amounts) -> bool:
    """Whether both name the same resources with equal amounts, whatever the notation."""
    return left.keys() == right.keys() and all(left[name].nano == right[name].nano for name in left)


def unchanged(left: Amounts, right: Amounts) -> bool:
    """Whether both are the same to the controller, to which ``1Gi`` and ``1073741824`` differ."""
    return same(left, right) and all(left[name].format == right[name].format for name in left)
