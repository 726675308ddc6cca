"""Names in a sentence, shares of an amount, and from which share on a quota or pool counts as nearly full."""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_kres.quantity import Quantity

#: Percent that is used from which a quota or a pool is nearly full, wherever that is shown.
NEARLY_FULL = 90


def percent_of(part: Quantity, whole: Quantity) -> int | None:
    """In whole hundredths, rounded down; None of nothing."""
    return part.nano * 100 // whole.nano if whole.nano > 0 else None


def listed(words: Iterable[str], most: int = 6) -> str:
    """``a, b and c``; beyond ``most`` only how many more there are."""
    texts = list(words)
    if len(texts) > most + 1:
        return f"{', '.join(texts[:most])} and {len(texts) - most} more"
    return " and ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))
