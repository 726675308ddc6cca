"""Durations as Go reads and writes them, in whole nanoseconds. Source: Go src/time format.go, time.go."""

from __future__ import annotations

import re

from kubectl_kres.errors import UsageError

SECOND, MINUTE = 10**9, 60 * 10**9
_UNITS = {
    "ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": SECOND, "m": MINUTE, "h": 60 * MINUTE,
}  # fmt: skip
#: Digits before and behind the point, then the unit, as far as there are any.
_PART = re.compile(r"([0-9]*)(?:\.([0-9]*))?([^0-9.]*)")
#: No number of nanoseconds is this large; its negative is the least one.
_BEYOND = 2**63


class DurationError(UsageError):
    """A text is no duration; the message is Go's own sentence."""


def parse(text: str) -> int:
    """Return the nanoseconds of ``1h30m``, ``-1.5s`` or ``0``. Raises DurationError. Source: time.ParseDuration."""
    body, negative = text[1:] if text[:1] in {"+", "-"} else text, text.startswith("-")
    if body == "0":
        return 0
    total = _sum_of_parts(body, text)
    if not body or total > _BEYOND - (not negative):
        raise _invalid(text)
    return -total if negative else total


def _sum_of_parts(body: str, text: str) -> int:
    """``text``: the whole, for the words of an error."""
    total, position = 0, 0
    while position < len(body):
        match = _PART.match(body, position)
        if match is None or not (match[1] or match[2]) or _leading(match[1]) > _BEYOND:
            raise _invalid(text)
        if not match[3]:
            raise DurationError(f"time: missing unit in duration {_quote(text)}")
        if match[3] not in _UNITS:
            raise DurationError(f"time: unknown unit {_quote(match[3])} in duration {_quote(text)}")
        total += _leading(match[1]) * _UNITS[match[3]] + _fraction_of_unit(match[2] or "", _UNITS[match[3]])
        if total > _BEYOND:
            raise _invalid(text)
        position = match.end()
    return total


def _invalid(text: str) -> DurationError:
    return DurationError(f"time: invalid duration {_quote(text)}")


def parse_or_none(text: str) -> int | None:
    """Return the nanoseconds; None for a text that is no duration."""
    try:
        return parse(text)
    except DurationError:
        return None


def _leading(digits: str) -> int:
    """Return a number that may be too large, of any count of digits."""
    significant = digits.lstrip("0")
    return int(significant or 0) if len(significant) <= len(str(_BEYOND)) else _BEYOND + 1


def _fraction_of_unit(digits: str, unit: int) -> int:
    """Return the part of a unit, rounded as Go does: digits beyond what 63 bits hold are dropped, and the rest is
    computed in floating point. Source: leadingFraction.
    """
    value, scale = 0, 1
    for digit in digits:
        longer = value * 10 + int(digit)
        if value > (_BEYOND - 1) // 10 or longer > _BEYOND:
            break
        value, scale = longer, scale * 10
    return int(float(value) * (unit / float(scale)))


def to_text(nanoseconds: int) -> str:
    """Return ``1h30m0s``, ``1.5s``, ``20ms``. Source: Duration.String."""
    sign, rest = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    if not rest:
        return "0s"
    for unit in ("ns", "µs", "ms"):
        if rest < _UNITS[unit] * 1000:
            return f"{sign}{_decimal(rest, _UNITS[unit])}{unit}"
    minutes, left = divmod(rest, MINUTE)
    hours, minutes = divmod(minutes, 60)
    parts = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{sign}{parts}{_decimal(left, SECOND)}s"


def _decimal(number: int, unit: int) -> str:
    whole, part = divmod(number, unit)
    digits = f"{part:0{len(str(unit)) - 1}d}".rstrip("0") if part else ""
    return f"{whole}.{digits}" if digits else str(whole)


def _quote(text: str) -> str:
    """Return the text in quotes, each byte of what is no ASCII in hexadecimal. Source: format.go quote."""
    shown = (
        f"\\{char}" if char in '"\\'
        else char if " " <= char <= "\x7f"
        else "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogatepass"))
        for char in text
    )  # fmt: skip
    return f'"{"".join(shown)}"'
