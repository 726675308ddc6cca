"""Numbers as expressions write them."""

from __future__ import annotations


def double_of(text: str) -> float:
    """Raises ValueError with cel-go's words."""
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError("invalid double literal")
    return number


def int_of(text: str) -> int:
    """Raises ValueError with cel-go's words."""
    number = int(text.replace("0x", ""), 16) if "0x" in text else int(text)
    if not -(2**63) <= number < 2**63:
        raise ValueError("invalid int literal")
    return number


def uint_of(text: str) -> int:
    """With its ``u`` at the end. Raises ValueError with cel-go's words."""
    number = int(text[:-1], 16 if text.startswith("0x") else 10)
    if number >= 2**64:
        raise ValueError("invalid uint literal")
    return number
