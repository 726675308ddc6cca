"""Conversions between types. Source: cel-go common/types."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any

from kubectl_kres.policies.cel.base.errors import EvalError
from kubectl_kres.policies.cel.base.values import (
    LEAST,
    MOST,
    MOST_UNSIGNED,
    Duration,
    Timestamp,
    TypeValue,
    UInt,
    double_text,
    duration_text,
    number_in_range,
    type_name,
)
from kubectl_kres.policies.cel.libraries.overload import Overload, cost_one, cost_tenth, overload
from kubectl_kres.policies.cel.libraries.times import parse_duration, parse_timestamp, timestamp_text


def _cannot(value: Any, wanted: str) -> EvalError:
    return EvalError(f"type conversion error from '{type_name(value)}' to '{wanted}'")


def to_string(value: Any) -> str:
    """What ``string()`` makes of a value."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return double_text(value)
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise EvalError("invalid UTF-8 in bytes, cannot convert to string") from None
    if isinstance(value, Duration):
        return duration_text(value)
    if isinstance(value, TypeValue):
        return value.name
    return timestamp_text(value)


def _to_int(value: Any) -> int:
    if isinstance(value, float):
        if math.isnan(value) or math.isinf(value) or not -(2.0**63) < value < 2.0**63:
            raise EvalError("integer overflow")
        return int(value)
    if isinstance(value, str):
        if not re.fullmatch(r"[+-]?[0-9]+", value, re.ASCII) or not LEAST <= int(value) <= MOST:
            raise _cannot(value, "int")
        return int(value)
    if isinstance(value, Timestamp):
        return value.nano // 10**9
    if isinstance(value, Duration):
        return value.nano
    return number_in_range(int(value))


def _to_uint(value: Any) -> int:
    if isinstance(value, float):
        if math.isnan(value) or value < 0 or value >= 2.0**64:
            raise EvalError("unsigned integer overflow")
        return UInt(int(value))
    if isinstance(value, str):
        if not re.fullmatch(r"[0-9]+", value, re.ASCII) or int(value) > MOST_UNSIGNED:
            raise _cannot(value, "uint")
        return UInt(int(value))
    return number_in_range(int(value), unsigned=True)


_NUMBER = re.compile(
    r"[+-]?(?:inf|infinity|nan|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?)", re.ASCII | re.IGNORECASE
)


def _to_double(value: Any) -> float:
    if isinstance(value, str):
        if not _NUMBER.fullmatch(value):
            raise _cannot(value, "double")
        return float(value)
    return float(value)


def _to_bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if value in ("1", "t", "T", "true", "TRUE", "True"):
        return True
    if value in ("0", "f", "F", "false", "FALSE", "False"):
        return False
    raise _cannot(value, "bool")


def _to_bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def _to_duration(value: Any) -> Duration:
    if isinstance(value, Duration):
        return value
    if isinstance(value, int):
        return Duration(value)
    nano = parse_duration(value)
    if nano is None:
        raise _cannot(value, "google.protobuf.Duration")
    return Duration(nano)


def _to_timestamp(value: Any) -> Timestamp:
    if isinstance(value, Timestamp):
        return value
    if isinstance(value, int):
        return Timestamp(value * 10**9)
    nano = parse_timestamp(value)
    if nano is None:
        raise _cannot(value, "google.protobuf.Timestamp")
    return Timestamp(nano)


def _same(value: Any) -> Any:
    return value


def _type(value: Any) -> TypeValue:
    return TypeValue(type_name(value))


def _conversions() -> Iterator[Overload]:
    yield overload("type(A) type(A)", _type, any_types=True)
    yield overload("dyn(A) dyn", _same, any_types=True)
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
