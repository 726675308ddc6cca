"""Operators and conversions of the standard library. Source: cel-go common/stdlib, common/types."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from kubectl_kres.policies.cel.base import values
from kubectl_kres.policies.cel.base.equality import are_equal, contains, equal
from kubectl_kres.policies.cel.base.values import TYPED, go_type_name
from kubectl_kres.policies.cel.libraries.overload import Overload, cost_tenth, overload
from kubectl_kres.policies.cel.libraries.regex import BadPattern, compile_pattern

_NO_OVERLOAD = "no such overload"
_MOST_DURATION = 2**63


def _arithmetic(symbol: str, on_numbers: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def apply(value: Any, other: Any) -> Any:
        if isinstance(value, values.Timestamp | values.Duration):
            return _times(symbol, value, other)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise values.EvalError(f"{_NO_OVERLOAD}: {symbol}")
        if type(value) is not type(other):
            raise values.EvalError(_NO_OVERLOAD)
        return on_numbers(value, other)

    return apply


def _times(symbol: str, value: Any, other: Any) -> Any:
    if symbol == "_+_" and isinstance(value, values.Duration) and isinstance(other, values.Duration):
        return _duration(value.nano + other.nano)
    if symbol == "_+_" and {type(value), type(other)} == {values.Timestamp, values.Duration}:
        return values.Timestamp(value.nano + other.nano)
    if symbol == "_-_" and isinstance(value, values.Timestamp) and isinstance(other, values.Timestamp):
        return _duration(value.nano - other.nano)
    if symbol == "_-_" and isinstance(other, values.Duration):
        return type(value)(value.nano - other.nano)
    raise values.EvalError(_NO_OVERLOAD if symbol in ("_+_", "_-_") else f"{_NO_OVERLOAD}: {symbol}")


def _duration(nano: int) -> values.Duration:
    if not -_MOST_DURATION <= nano < _MOST_DURATION:
        raise values.EvalError("duration overflow")
    return values.Duration(nano)


def _add_numbers(value: Any, other: Any) -> Any:
    if isinstance(value, float):
        return value + other
    return values.number_in_range(int(value) + int(other), unsigned=isinstance(value, values.UInt))


def _subtract(value: Any, other: Any) -> Any:
    if isinstance(value, float):
        return value - other
    return values.number_in_range(int(value) - int(other), unsigned=isinstance(value, values.UInt))


def _multiply(value: Any, other: Any) -> Any:
    if isinstance(value, float):
        return value * other
    return values.number_in_range(int(value) * int(other), unsigned=isinstance(value, values.UInt))


def _divide(value: Any, other: Any) -> Any:
    if isinstance(value, float):
        return _divide_doubles(value, other)
    if other == 0:
        raise values.EvalError("division by zero")
    quotient = abs(int(value)) // abs(int(other))
    return values.number_in_range(
        quotient if (value < 0) == (other < 0) else -quotient, unsigned=isinstance(value, values.UInt)
    )


def _divide_doubles(number: float, other: float) -> float:
    if other != 0:
        return number / other
    if number == 0 or math.isnan(number):
        return math.nan
    return math.inf if (number > 0) == (math.copysign(1, other) > 0) else -math.inf


def _modulo(value: Any, other: Any) -> Any:
    if isinstance(value, float):
        raise values.EvalError(f"{_NO_OVERLOAD}: _%_")
    if other == 0:
        raise values.EvalError("modulus by zero")
    rest = abs(int(value)) % abs(int(other))
    return values.number_in_range(-rest if value < 0 else rest, unsigned=isinstance(value, values.UInt))


_numbers_added = _arithmetic("_+_", _add_numbers)


def _add(value: Any, other: Any) -> Any:
    if isinstance(value, str) and isinstance(other, str):
        return value + other
    if values.is_list(value):
        if not values.is_list(other):
            raise values.EvalError(_NO_OVERLOAD)
        # To an empty list the server adds by returning the other one, typed as it is; any other sum is not typed.
        return [*value, *other] if value or type(value) in TYPED else other
    if isinstance(value, str | bytes):
        if type(value) is not type(other):
            raise values.EvalError(_NO_OVERLOAD)
        return value + other  # type: ignore[operator]
    return _numbers_added(value, other)


def _negate(value: Any) -> Any:
    if isinstance(value, bool):
        raise values.EvalError(_NO_OVERLOAD)
    if isinstance(value, float):
        return -value
    if isinstance(value, int) and not isinstance(value, values.UInt):
        return values.number_in_range(-value)
    if isinstance(value, values.Duration):
        return _duration(-value.nano)
    raise values.EvalError(f"{_NO_OVERLOAD}: -_")


def _not(value: Any) -> bool:
    if not isinstance(value, bool):
        raise values.EvalError(_NO_OVERLOAD)
    return not value


_COMPARABLE = (bool, int, float, str, bytes, values.Timestamp, values.Duration)


def _ordering_operator(symbol: str, test: Callable[[int], bool]) -> Callable[[Any, Any], bool]:
    def apply(value: Any, other: Any) -> bool:
        if not isinstance(value, _COMPARABLE):
            raise values.EvalError(f"{_NO_OVERLOAD}: {symbol}")
        return test(values.compare(value, other))

    return apply


def _in(value: Any, many: Any) -> bool:
    if isinstance(many, dict):
        if type(many) in TYPED and not isinstance(value, str):
            raise values.EvalError(f"unsupported map key type: {go_type_name(value, values.type_name(value))}")
        return isinstance(value, str | int | float) and any(equal(value, key) for key in _candidates(value, many))
    if values.is_list(many):
        return contains(many, value)
    raise values.EvalError(_NO_OVERLOAD)


def _candidates(value: Any, many: dict[Any, Any]) -> Iterator[Any]:
    if isinstance(value, str):
        yield from (value,) if value in many else ()
    else:
        yield from many


def _size(value: Any) -> int:
    if isinstance(value, str | bytes | dict) or values.is_list(value):
        return len(value)
    raise values.EvalError(f"{_NO_OVERLOAD}: size")


def _matches(text: Any, pattern: Any) -> bool:
    if not isinstance(text, str):
        raise values.EvalError(f"{_NO_OVERLOAD}: matches")
    if not isinstance(pattern, str):
        raise values.EvalError(_NO_OVERLOAD)
    try:
        return next(compile_pattern(pattern).spans(text), None) is not None
    except BadPattern as error:
        raise values.EvalError(str(error)) from None


def _on_strings(test: Callable[[str, str], bool]) -> Callable[[Any, Any], bool]:
    def apply(text: Any, part: Any) -> bool:
        if not isinstance(text, str) or not isinstance(part, str):
            raise values.EvalError(_NO_OVERLOAD)
        return test(text, part)

    return apply


def _cost_least(args: tuple[Any, ...], _result: Any) -> int:
    return math.ceil(min(values.size(args[0]), values.size(args[1])) * 0.1)


def _cost_equal(args: tuple[Any, ...], result: Any) -> int:
    kind = values.type_name(args[0])
    return 1 if "." in kind and not kind.startswith("google") else _cost_least(args, result)


def _cost_sum(args: tuple[Any, ...], _result: Any) -> int:
    if isinstance(args[0], str | bytes):
        return math.ceil((values.size(args[0]) + values.size(args[1])) * 0.1)
    return 1


def _cost_ordered(args: tuple[Any, ...], result: Any) -> int:
    return _cost_least(args, result) if isinstance(args[0], str | bytes) else 1


def _cost_in(args: tuple[Any, ...], _result: Any) -> int:
    return values.size(args[1]) if values.is_list(args[1]) else 1


def cost_regex(args: tuple[Any, ...], _result: Any) -> int:
    """Text times pattern."""
    return math.ceil((1 + values.size(args[0])) * 0.1) * math.ceil(values.size(args[1]) * 0.25)


def _cost_contains(args: tuple[Any, ...], _result: Any) -> int:
    return math.ceil(values.size(args[0]) * 0.1) * math.ceil(values.size(args[1]) * 0.1)


def _refuse_eager_call(*_args: Any) -> Any:
    """Never called: the evaluator looks at the terms itself, one after the other."""
    raise values.EvalError(_NO_OVERLOAD)


_PAIRS = ("bytes", "double", "int", "uint")
_ORDERED = ("bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration")
_CROSS = (
    ("int", "double"),
    ("int", "uint"),
    ("uint", "double"),
    ("uint", "int"),
    ("double", "int"),
    ("double", "uint"),
)


def _table() -> Iterator[Overload]:
    yield overload("!_(bool) bool", _not, any_types=True)
    for symbol in ("_&&_", "_||_"):
        yield overload(f"{symbol}(bool, bool) bool", _refuse_eager_call)
    yield overload("_?_:_(bool, A, A) A", _refuse_eager_call)
    yield overload("_==_(A, A) bool", equal, any_types=True, cost=_cost_equal)
    yield overload(
        "_!=_(A, A) bool", lambda value, other: not are_equal(value, other), any_types=True, cost=_cost_equal
    )
    yield from _sum_overloads()
    orders: tuple[tuple[str, Callable[[int], bool]], ...] = (
        ("_<_", lambda sign: sign < 0), ("_<=_", lambda sign: sign <= 0),
        ("_>_", lambda sign: sign > 0), ("_>=_", lambda sign: sign >= 0),
    )  # fmt: skip
    for symbol, test in orders:
        pairs = [(kind, kind, 0) for kind in _ORDERED] + [(name, other, 28) for name, other in _CROSS]
        for text, other, since in pairs:
            yield overload(
                f"{symbol}({text}, {other}) bool",
                _ordering_operator(symbol, test),
                any_types=True,
                cost=_cost_ordered,
                since=since,
            )
    yield overload("@in(A, list(A)) bool", _in, any_types=True, cost=_cost_in)
    yield overload("@in(A, map(A, B)) bool", _in, any_types=True, cost=_cost_in)
    for kind in ("bytes", "list(A)", "map(A, B)", "string"):
        yield overload(f"size({kind}) int", _size, any_types=True)
        yield overload(f".size({kind}) int", _size, any_types=True)
    texts: tuple[tuple[str, Callable[[str, str], bool], Any], ...] = (
        ("contains", lambda text, part: part in text, _cost_contains),
        ("endsWith", str.endswith, cost_tenth),
        ("startsWith", str.startswith, cost_tenth),
    )  # fmt: skip
    for name, check, cost in texts:
        yield overload(f".{name}(string, string) bool", _on_strings(check), any_types=True, cost=cost)
    yield overload("matches(string, string) bool", _matches, any_types=True, cost=cost_regex)
    yield overload(".matches(string, string) bool", _matches, any_types=True, cost=cost_regex)


def _sum_overloads() -> Iterator[Overload]:
    for name, other, result in (
        *((kind, kind, kind) for kind in (*_PAIRS, "string", "duration")),
        ("duration", "timestamp", "timestamp"), ("timestamp", "duration", "timestamp"),
        ("list(A)", "list(A)", "list(A)"),
    ):  # fmt: skip
        yield overload(f"_+_({name}, {other}) {result}", _add, any_types=True, cost=_cost_sum)
    subtract = _arithmetic("_-_", _subtract)
    for name, other, result in (
        *((kind, kind, kind) for kind in ("double", "int", "uint", "duration")),
        ("timestamp", "duration", "timestamp"), ("timestamp", "timestamp", "duration"),
    ):  # fmt: skip
        yield overload(f"_-_({name}, {other}) {result}", subtract, any_types=True)
    for symbol, call, kinds in (
        ("_*_", _multiply, ("double", "int", "uint")), ("_/_", _divide, ("double", "int", "uint")),
        ("_%_", _modulo, ("int", "uint")),
    ):  # fmt: skip
        for kind in kinds:
            yield overload(f"{symbol}({kind}, {kind}) {kind}", _arithmetic(symbol, call), any_types=True)
    for kind in ("double", "int"):
        yield overload(f"-_({kind}) {kind}", _negate, any_types=True)


OVERLOADS = tuple(_table())
