"""Conversions between types, timestamps and durations among them, as Go reads and writes them. Source: cel-go
common/types.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from kubectl_kres import durations
from kubectl_kres.policies.cel.base import values
from kubectl_kres.policies.cel.libraries.overload import Overload, cost_one, cost_tenth, overload

_STAMP = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))", re.ASCII)
_SECOND = 10**9
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def parse_timestamp(text: str) -> int | None:
    """Nanoseconds since 1970; None if it is not RFC 3339."""
    match = _STAMP.fullmatch(text)
    if match is None:
        return None
    try:
        year, month, day, hour, minute, second = (int(match[index]) for index in range(1, 7))
        time = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    nano = int(match[7][:9].ljust(9, "0")) if match[7] else 0
    if match[8]:
        shift = timedelta(hours=int(match[9]), minutes=int(match[10]))
        time += -shift if match[8] == "+" else shift
    return round((time - _EPOCH) / timedelta(seconds=1)) * _SECOND + nano


def timestamp_text(value: values.Timestamp) -> str:
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
        raise values.EvalError(f"unknown time zone {name}") from None


def _time_part_reader(read: Callable[[datetime, int], int]) -> Callable[..., int]:
    def apply(value: values.Timestamp, zone: str = "UTC") -> int:
        seconds, nano = divmod(value.nano, _SECOND)
        return read((_EPOCH + timedelta(seconds=seconds)).astimezone(_zone(zone)), nano)

    return apply


def _truncate_quotient(number: int, unit: int) -> int:
    return -(-number // unit) if number < 0 else number // unit


def _table() -> Iterator[Overload]:
    parts: tuple[tuple[str, Callable[[datetime, int], int]], ...] = (
        ("getFullYear", lambda time, _: time.year),
        ("getMonth", lambda time, _: time.month - 1),
        ("getDayOfYear", lambda time, _: time.timetuple().tm_yday - 1),
        ("getDayOfMonth", lambda time, _: time.day - 1),
        ("getDate", lambda time, _: time.day),
        ("getDayOfWeek", lambda time, _: time.isoweekday() % 7),
        ("getHours", lambda time, _: time.hour),
        ("getMinutes", lambda time, _: time.minute),
        ("getSeconds", lambda time, _: time.second),
        ("getMilliseconds", lambda _, nano: nano // 10**6),
    )
    for name, read in parts:
        yield overload(f".{name}(timestamp) int", _time_part_reader(read))
        yield overload(f".{name}(timestamp, string) int", _time_part_reader(read))
    units = (
        ("getHours", 3600 * _SECOND),
        ("getMinutes", 60 * _SECOND),
        ("getSeconds", _SECOND),
        ("getMilliseconds", 10**6),
    )
    for name, unit in units:
        yield overload(f".{name}(duration) int", _in_units(unit))


def _in_units(unit: int) -> Callable[[values.Duration], Any]:
    return lambda value: _truncate_quotient(value.nano, unit)


TIME_OVERLOADS = tuple(_table())


def _build_conversion_error(value: Any, expected: str) -> values.EvalError:
    return values.EvalError(f"type conversion error from '{values.type_name(value)}' to '{expected}'")


def to_string(value: Any) -> str:
    """Return what ``string()`` makes of a value."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return values.double_text(value)
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise values.EvalError("invalid UTF-8 in bytes, cannot convert to string") from None
    if isinstance(value, values.Duration):
        return values.duration_text(value)
    if isinstance(value, values.TypeValue):
        return value.name
    return timestamp_text(value)


def _to_int(value: Any) -> int:
    if isinstance(value, float):
        if math.isnan(value) or math.isinf(value) or not -(2.0**63) < value < 2.0**63:
            raise values.EvalError("integer overflow")
        return int(value)
    if isinstance(value, str):
        if not re.fullmatch(r"[+-]?[0-9]+", value, re.ASCII) or not values.LEAST <= int(value) <= values.MOST:
            raise _build_conversion_error(value, "int")
        return int(value)
    if isinstance(value, values.Timestamp):
        return value.nano // 10**9
    if isinstance(value, values.Duration):
        return value.nano
    return values.number_in_range(int(value))


def _to_uint(value: Any) -> int:
    if isinstance(value, float):
        if math.isnan(value) or value < 0 or value >= 2.0**64:
            raise values.EvalError("unsigned integer overflow")
        return values.UInt(int(value))
    if isinstance(value, str):
        if not re.fullmatch(r"[0-9]+", value, re.ASCII) or int(value) > values.MOST_UNSIGNED:
            raise _build_conversion_error(value, "uint")
        return values.UInt(int(value))
    return values.number_in_range(int(value), unsigned=True)


_NUMBER = re.compile(
    r"[+-]?(?:inf|infinity|nan|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?)", re.ASCII | re.IGNORECASE
)


def _to_double(value: Any) -> float:
    if isinstance(value, str):
        if not _NUMBER.fullmatch(value):
            raise _build_conversion_error(value, "double")
        return float(value)
    return float(value)


def _to_bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if value in ("1", "t", "T", "true", "TRUE", "True"):
        return True
    if value in ("0", "f", "F", "false", "FALSE", "False"):
        return False
    raise _build_conversion_error(value, "bool")


def _to_bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def _to_duration(value: Any) -> values.Duration:
    if isinstance(value, values.Duration):
        return value
    if isinstance(value, int):
        return values.Duration(value)
    nano = durations.parse_or_none(value)
    if nano is None:
        raise _build_conversion_error(value, "google.protobuf.Duration")
    return values.Duration(nano)


def _to_timestamp(value: Any) -> values.Timestamp:
    if isinstance(value, values.Timestamp):
        return value
    if isinstance(value, int):
        return values.Timestamp(value * 10**9)
    nano = parse_timestamp(value)
    if nano is None:
        raise _build_conversion_error(value, "google.protobuf.Timestamp")
    return values.Timestamp(nano)


def _identity(value: Any) -> Any:
    return value


def _type(value: Any) -> values.TypeValue:
    return values.TypeValue(values.type_name(value))


def _conversions() -> Iterator[Overload]:
    yield overload("type(A) type(A)", _type, any_types=True)
    yield overload("dyn(A) dyn", _identity, any_types=True)
    table: tuple[tuple[str, Callable[[Any], Any], tuple[str, ...]], ...] = (
        ("bool", _to_bool, ("bool", "string")),
        ("bytes", _to_bytes, ("bytes", "string")),
        ("double", _to_double, ("double", "int", "string", "uint")),
        ("duration", _to_duration, ("duration", "int", "string")),
        ("int", _to_int, ("int", "double", "duration", "string", "timestamp", "uint")),
        ("string", to_string, ("string", "bool", "bytes", "double", "duration", "int", "timestamp", "uint")),
        ("timestamp", _to_timestamp, ("timestamp", "int", "string")),
        ("uint", _to_uint, ("uint", "double", "int", "string")),
    )
    for name, call, kinds in table:
        for kind in kinds:
            traversed = (name, kind) in (("bytes", "string"), ("string", "bytes"))
            yield overload(f"{name}({kind}) {name}", call, cost=cost_tenth if traversed else cost_one)


OVERLOADS = tuple(_conversions())
