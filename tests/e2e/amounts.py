"""Random quantities: amounts on a coarse grid, so that they often meet, in every notation that people and tools use."""

from __future__ import annotations

import random
from typing import Any

CPU_MILLI = (0, 1, 10, 50, 100, 250, 500, 750, 1000, 1500, 2000, 4000)
MEBIBYTES = (0, 1, 16, 64, 100, 128, 256, 512, 1024, 1536, 4096)
UNITS = (0, 1, 1, 2, 4, 8)
PAGES = {"hugepages-2Mi": 2, "hugepages-1Gi": 1024}
EXTENDED = ("example.com/gpu", "vendor.io/fpga", "kubernetes.io/native")

#: Accepted, though nobody would expect what becomes of them.
ODD = (
    "1n", "1u", "0.0001", "1.0005", "100m", "8Ei", "16Ei", "1000E", "1001E", "9223372036854775807", "10Pi", "10P",
    "92233720368547758070", "+1", "010", "5.", ".5", "1.500", "1E3", "1e+3", "1.0e-2", "0010Mi", "1.1Ki", "0.5Ki",
    "15e-1", "Ki", "+",
    "1e19", "2E", "1048576000m", "  64Mi ", "3Ti", "1e-9", "9007199254740993", "12345678901234567890n", None, 0.3, 1e21,
)  # fmt: skip

#: Refused with 400, in the decoder's three ways.
UNPARSABLE = ("1x", "1 Gi", "1KB", "1_000", "1..2", "0x10", "", "1K", "1mi", "1e", "1E+", "5i", "1Gi5", "--1", True)

NEGATIVE = ("-1", "-100m", "-1Gi", "-1n", -2)


def quantity(rng: random.Random, resource: str, amount: int | None = None) -> Any:
    """A quantity of ``amount`` (in the unit of its grid), in any notation; without one: any, rarely an odd one."""
    if amount is None:
        if rng.random() < 0.04:
            return rng.choice(ODD)
        amount = rng.choice(grid(resource))
    if resource == "cpu":
        return rng.choice(_thousandths(amount))
    if resource in PAGES:
        return rng.choice((f"{amount * PAGES[resource]}Mi", str((amount * PAGES[resource]) << 20)))
    if resource in {"memory", "ephemeral-storage", "storage"}:
        return rng.choice(_mebibytes(amount))
    return rng.choice((str(amount), amount, f"{amount}000m", f"{amount}e0"))


def grid(resource: str) -> tuple[int, ...]:
    """Amounts that a resource comes in."""
    if resource == "cpu":
        return CPU_MILLI
    return MEBIBYTES if resource in {"memory", "ephemeral-storage", "storage"} else UNITS


def ordered(rng: random.Random, resource: str, count: int) -> list[Any]:
    """Quantities that do not decrease."""
    return [quantity(rng, resource, amount) for amount in sorted(rng.choices(grid(resource)[1:], k=count))]


def _thousandths(milli: int) -> tuple[Any, ...]:
    whole = milli / 1000
    return (f"{milli}m", f"{milli}m", f"{milli}m", f"{whole:g}", whole, f"{milli}000u", f"{milli}e-3", f"{whole:.3f}")


def _mebibytes(number: int) -> tuple[Any, ...]:
    plain = number << 20
    return (
        f"{number}Mi", f"{number}Mi", f"{number}Mi", f"{number << 10}Ki", str(plain), plain, f"{number}M",
        f"{number}e6",
        f"{number / 1024:g}Gi", f"{plain}000m", f"{number}.5Mi",
    )  # fmt: skip
