"""Operators and conversions of the standard library. Source: cel-go common/stdlib, common/types."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any

from kubectl_kres.cel.errors import EvalError
from kubectl_kres.cel.overload import Overload, cost_one, cost_tenth, overload
from kubectl_kres.cel.regex import BadPattern, compile_pattern
from kubectl_kres.cel.times import parse_duration, parse_timestamp, timestamp_text
from kubectl_kres.cel.values import (
    LEAST,
    MOST,
    MOST_UNSIGNED,
    Duration,
    Optional,
    Timestamp,
    TypeValue,
    UInt,
    compare,
    double_text,
    duration_text,
    equal,
    is_list,
    number_in_range,
    size,
    type_name,
)

_NO_OVERLOAD = "no such overload"
_MOST_DURATION = 2**63


def _arithmetic(symbol: str, on_numbers: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def apply(one: Any, other: Any) -> Any:
        if isinstance(one, Timestamp | Duration):
            return _times(symbol, one, other)
        if isinstance(one, bool) or not isinstance(one, int | float):
            raise EvalError(f"{_NO_OVERLOAD}: {symbol}")
        if type(one) is not type(other):
            raise EvalError(_NO_OVERLOAD)
        return on_numbers(one, other)

    return apply


def _times(symbol: str, one: Any, other: Any) -> Any:
    if symbol == "_+_" and isinstance(one, Duration) and isinstance(other, Duration):
        return _duration(one.nano + other.nano)
    if symbol == "_+_" and {type(one), type(other)} == {Timestamp, Duration}:
        return Timestamp(one.nano + other.nano)
    if symbol == "_-_" and isinstance(one, Timestamp) and isinstance(other, Timestamp):
        return _duration(one.nano - other.nano)
    if symbol == "_-_" and isinstance(other, Duration):
        return type(one)(one.nano - other.nano)
    raise EvalError(_NO_OVERLOAD if symbol in ("_+_", "_-_") else f"{_NO_OVERLOAD}: {symbol}")


def _duration(nano: int) -> Duration:
    if not -_MOST_DURATION <= nano < _MOST_DURATION:
        raise EvalError("duration overflow")
    return Duration(nano)


def _add_numbers(one: Any, other: Any) -> Any:
    if isinstance(one, float):
        return one + other
    return number_in_range(int(one) + int(other), unsigned=isinstance(one, UInt))


def _subtract(one: Any, other: Any) -> Any:
    if isinstance(one, float):
        return one - other
    return number_in_range(int(one) - int(other), unsigned=isinstance(one, UInt))


def _multiply(one: Any, other: Any) -> Any:
    if isinstance(one, float):
        return one * other
    return number_in_range(int(one) * int(other), unsigned=isinstance(one, UInt))


def _divide(one: Any, other: Any) -> Any:
    if isinstance(one, float):
        return _divide_doubles(one, other)
    if other == 0:
        raise EvalError("division by zero")
    quotient = abs(int(one)) // abs(int(other))
    return number_in_range(quotient if (one < 0) == (other < 0) else -quotient, unsigned=isinstance(one, UInt))


def _divide_doubles(one: float, other: float) -> float:
    if other != 0:
        return one / other
    if one == 0 or math.isnan(one):
        return math.nan
    return math.inf if (one > 0) == (math.copysign(1, other) > 0) else -math.inf


def _modulo(one: Any, other: Any) -> Any:
    if isinstance(one, float):
        raise EvalError(f"{_NO_OVERLOAD}: _%_")
    if other == 0:
        raise EvalError("modulus by zero")
    rest = abs(int(one)) % abs(int(other))
    return number_in_range(-rest if one < 0 else rest, unsigned=isinstance(one, UInt))


_numbers_added = _arithmetic("_+_", _add_numbers)


def _add(one: Any, other: Any) -> Any:
    if isinstance(one, str) and isinstance(other, str):
        return one + other
    if is_list(one):
        if not is_list(other):
            raise EvalError(_NO_OVERLOAD)
        return [*one, *other]
    if isinstance(one, str | bytes):
        if type(one) is not type(other):
            raise EvalError(_NO_OVERLOAD)
        return one + other
    return _numbers_added(one, other)


def _negate(value: Any) -> Any:
    if isinstance(value, bool):
        raise EvalError(_NO_OVERLOAD)
    if isinstance(value, float):
        return -value
    if isinstance(value, int) and not isinstance(value, UInt):
        return number_in_range(-value)
    if isinstance(value, Duration):
        return _duration(-value.nano)
    raise EvalError(f"{_NO_OVERLOAD}: -_")


def _not(value: Any) -> bool:
    if not isinstance(value, bool):
        raise EvalError(_NO_OVERLOAD)
    return not value


_COMPARABLE = (bool, int, float, str, bytes, Timestamp, Duration)


def _ordered(symbol: str, test: Callable[[int], bool]) -> Callable[[Any, Any], bool]:
    def apply(one: Any, other: Any) -> bool:
        if not isinstance(one, _COMPARABLE):
            raise EvalError(f"{_NO_OVERLOAD}: {symbol}")
        return test(compare(one, other))

    return apply


def _in(one: Any, many: Any) -> bool:
    if isinstance(many, dict):
        return isinstance(one, str | int | float) and any(equal(one, key) for key in _candidates(one, many))
    if is_list(many):
        return any(equal(one, item) for item in many)
    raise EvalError(_NO_OVERLOAD)


def _candidates(one: Any, many: dict[Any, Any]) -> Iterator[Any]:
    if isinstance(one, str):
        yield from (one,) if one in many else ()
    else:
        yield from many


def _size(value: Any) -> int:
    if isinstance(value, str | bytes | dict) or is_list(value):
        return len(value)
    raise EvalError(f"{_NO_OVERLOAD}: size")


def _matches(text: Any, pattern: Any) -> bool:
    if not isinstance(text, str):
        raise EvalError(f"{_NO_OVERLOAD}: matches")
    if not isinstance(pattern, str):
        raise EvalError(_NO_OVERLOAD)
    try:
        return compile_pattern(pattern).search(text) is not None
    except BadPattern as error:
        raise EvalError(str(error)) from None


def _on_strings(test: Callable[[str, str], bool]) -> Callable[[Any, Any], bool]:
    def apply(text: Any, part: Any) -> bool:
        if not isinstance(text, str) or not isinstance(part, str):
            raise EvalError(_NO_OVERLOAD)
        return test(text, part)

    return apply


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


_NUMBER = re.compile(r"[+-]?(?:inf|infinity|nan|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?)", re.ASCII | re.IGNORECASE)


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


def _cost_least(args: tuple[Any, ...], _result: Any) -> int:
    return math.ceil(min(size(args[0]), size(args[1])) * 0.1)


def _cost_equal(args: tuple[Any, ...], result: Any) -> int:
    kind = type_name(args[0])
    return 1 if "." in kind and not kind.startswith("google") else _cost_least(args, result)


def _cost_sum(args: tuple[Any, ...], _result: Any) -> int:
    if isinstance(args[0], str | bytes):
        return math.ceil((size(args[0]) + size(args[1])) * 0.1)
    return 1


def _cost_ordered(args: tuple[Any, ...], result: Any) -> int:
    return _cost_least(args, result) if isinstance(args[0], str | bytes) else 1


def _cost_in(args: tuple[Any, ...], _result: Any) -> int:
    return size(args[1]) if is_list(args[1]) else 1


def cost_regex(args: tuple[Any, ...], _result: Any) -> int:
    """Text times pattern."""
    return math.ceil((1 + size(args[0])) * 0.1) * math.ceil(size(args[1]) * 0.25)


def _cost_contains(args: tuple[Any, ...], _result: Any) -> int:
    return math.ceil(size(args[0]) * 0.1) * math.ceil(size(args[1]) * 0.1)


_PAIRS = ("bytes", "double", "int", "uint")
_ORDERED = ("bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration")
_CROSS = (("int", "double"), ("int", "uint"), ("uint", "double"), ("uint", "int"), ("double", "int"), ("double", "uint"))


def _table() -> Iterator[Overload]:
    yield overload("!_(bool) bool", _not, any_types=True)
    for symbol in ("_&&_", "_||_"):
        yield overload(f"{symbol}(bool, bool) bool", _same)
    yield overload("_?_:_(bool, A, A) A", _same)
    for symbol, wanted in (("_==_", True), ("_!=_", False)):
        yield overload(
            f"{symbol}(A, A) bool",
            (lambda one, other, wanted=wanted: equal(one, other) is wanted),
            any_types=True,
            cost=_cost_equal,
        )
    yield from _sums()
    orders: tuple[tuple[str, Callable[[int], bool]], ...] = (
        ("_<_", lambda sign: sign < 0), ("_<=_", lambda sign: sign <= 0),
        ("_>_", lambda sign: sign > 0), ("_>=_", lambda sign: sign >= 0),
    )  # fmt: skip
    for symbol, test in orders:
        pairs = [(kind, kind, 0) for kind in _ORDERED] + [(one, other, 28) for one, other in _CROSS]
        for one, other, since in pairs:
            yield overload(
                f"{symbol}({one}, {other}) bool", _ordered(symbol, test), any_types=True, cost=_cost_ordered, since=since
            )
    yield overload("@in(A, list(A)) bool", _in, any_types=True, cost=_cost_in)
    yield overload("@in(A, map(A, B)) bool", _in, any_types=True, cost=_cost_in)
    for kind in ("bytes", "list(A)", "map(A, B)", "string"):
        yield overload(f"size({kind}) int", _size, any_types=True)
        yield overload(f".size({kind}) int", _size, any_types=True)
    yield from _conversions()
    texts: tuple[tuple[str, Callable[[str, str], bool], Any], ...] = (
        ("contains", lambda text, part: part in text, _cost_contains),
        ("endsWith", str.endswith, cost_tenth),
        ("startsWith", str.startswith, cost_tenth),
    )  # fmt: skip
    for name, check, cost in texts:
        yield overload(f".{name}(string, string) bool", _on_strings(check), any_types=True, cost=cost)
    yield overload("matches(string, string) bool", _matches, any_types=True, cost=cost_regex)
    yield overload(".matches(string, string) bool", _matches, any_types=True, cost=cost_regex)


def _sums() -> Iterator[Overload]:
    for one, other, result in (
        *((kind, kind, kind) for kind in (*_PAIRS, "string", "duration")),
        ("duration", "timestamp", "timestamp"), ("timestamp", "duration", "timestamp"),
        ("list(A)", "list(A)", "list(A)"),
    ):  # fmt: skip
        yield overload(f"_+_({one}, {other}) {result}", _add, any_types=True, cost=_cost_sum)
    subtract = _arithmetic("_-_", _subtract)
    for one, other, result in (
        *((kind, kind, kind) for kind in ("double", "int", "uint", "duration")),
        ("timestamp", "duration", "timestamp"), ("timestamp", "timestamp", "duration"),
    ):  # fmt: skip
        yield overload(f"_-_({one}, {other}) {result}", subtract, any_types=True)
    for symbol, call, kinds in (
        ("_*_", _multiply, ("double", "int", "uint")), ("_/_", _divide, ("double", "int", "uint")),
        ("_%_", _modulo, ("int", "uint")),
    ):  # fmt: skip
        for kind in kinds:
            yield overload(f"{symbol}({kind}, {kind}) {kind}", _arithmetic(symbol, call), any_types=True)
    for kind in ("double", "int"):
        yield overload(f"-_({kind}) {kind}", _negate, any_types=True)


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


def _none_of(_value: Any = None) -> Optional:
    return Optional(present=False)


OVERLOADS = tuple(_table())
