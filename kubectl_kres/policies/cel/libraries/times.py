"""Timestamps and durations as Go reads and writes them, and their parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from kubectl_kres.policies.cel.base.errors import EvalError
from kubectl_kres.policies.cel.base.values import Duration, Timestamp
from kubectl_kres.policies.cel.libraries.overload import Overload, overload

_UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_PART = re.compile(r"([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)")
_STAMP = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))", re.ASCII)
_SECOND = 10**9
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def parse_duration(text: str) -> int | None:
    """Nanoseconds; None if Go's ParseDuration refuses the text."""
    negative, body = text[:1] == "-", text[1:] if text[:1] in ("-", "+") else text
    if body == "0":
        return 0
    total, at = 0, 0
    while at < len(body):
        match = _PART.match(body, at)
        if match is None or not (match[1] or match[2]):
            return None
        unit = _UNITS[match[3]]
        total += int(match[1] or 0) * unit + (int(match[2]) * unit // 10 ** len(match[2]) if match[2] else 0)
        at = match.end()
    if not body or total >= 2**63:
        return None
    return -total if negative else total


def parse_timestamp(text: str) -> int | None:
    """Nanoseconds since 1970; None if it is not RFC 3339."""
    match = _STAMP.fullmatch(text)
    if match is None:
        return None
    try:
        year, month, day, hour, minute, second = (int(match[index]) for index in range(1, 7))
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    nano = int(match[7][:9].ljust(9, "0")) if match[7] else 0
    if match[8]:
        shift = timedelta(hours=int(match[9]), minutes=int(match[10]))
        moment += -shift if match[8] == "+" else shift
    return round((moment - _EPOCH) / timedelta(seconds=1)) * _SECOND + nano


def timestamp_text(value: Timestamp) -> str:
    """RFC 3339 in UTC, with as many digits as are needed."""
    seconds, nano = divmod(value.nano, _SECOND)
    part = f".{nano:09d}".rstrip("0") if nano else ""
    return (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S") + part + "Z"


def _zone(name: str) -> tzinfo:
    match = re.fullmatch(r"([+-]?)(\d\d):(\d\d)", name, re.ASCII)
    if match:
        shift = timedelta(hours=int(match[2]), minutes=int(match[3]))
        return timezone(-shift if match[1] == "-" else shift)
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise EvalError(f"unknown time zone {name}") from None


def _part(read: Callable[[datetime, int], int]) -> Callable[..., int]:
    def apply(value: Timestamp, zone: str = "UTC") -> int:
        seconds, nano = divmod(value.nano, _SECOND)
        return read((_EPOCH + timedelta(seconds=seconds)).astimezone(_zone(zone)), nano)

    return apply


def _whole(number: int, unit: int) -> int:
    return -(-number // unit) if number < 0 else number // unit


def _table() -> Iterator[Overload]:
    parts: tuple[tuple[str, Callable[[datetime, int], int]], ...] = (
        ("getFullYear", lambda moment, _: moment.year),
        ("getMonth", lambda moment, _: moment.month - 1),
        ("getDayOfYear", lambda moment, _: moment.timetuple().tm_yday - 1),
        ("getDayOfMonth", lambda moment, _: moment.day - 1),
        ("getDate", lambda moment, _: moment.day),
        ("getDayOfWeek", lambda moment, _: moment.isoweekday() % 7),
        ("getHours", lambda moment, _: moment.hour),
        ("getMinutes", lambda moment, _: moment.minute),
        ("getSeconds", lambda moment, _: moment.second),
        ("getMilliseconds", lambda _, nano: nano // 10**6),
    )
    for name, read in parts:
        yield overload(f".{name}(timestamp) int", _part(read))
        yield overload(f".{name}(timestamp, string) int", _part(read))
    units = (
        ("getHours", 3600 * _SECOND),
        ("getMinutes", 60 * _SECOND),
        ("getSeconds", _SECOND),
        ("getMilliseconds", 10**6),
    )
    for name, unit in units:
        yield overload(f".{name}(duration) int", _in_units(unit))


def _in_units(unit: int) -> Callable[[Duration], Any]:
    return lambda value: _whole(value.nano, unit)


OVERLOADS = tuple(_table())
