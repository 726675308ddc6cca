"""The scheduler's whole numbers as quantities."""

from __future__ import annotations

from kubectl_kres.quantity import Quantity, quantity_of

_MIB = 1 << 20


def amount(resource: str, number: int) -> Quantity:
    """What the scheduler counts: thousandths of a CPU, bytes, or units."""
    if resource == "cpu":
        return Quantity(number * 10**6, "DecimalSI", -3)
    return quantity_of(number, "BinarySI" if is_bytes(resource) else "DecimalSI")


def is_bytes(resource: str) -> bool:
    return resource in {"memory", "ephemeral-storage"} or resource.startswith("hugepages-")


def round_down(resource: str, number: int) -> int:
    """To whole mebibytes, where there is one: nobody writes single bytes."""
    return number // _MIB * _MIB if is_bytes(resource) and number >= _MIB else number
