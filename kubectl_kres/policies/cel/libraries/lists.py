"""Functions on lists, sets and optional values. Source: apiserver cel/library/lists.go, cel-go ext/{lists,sets}.go."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator
from typing import Any

from kubectl_kres.policies.cel.base import values
from kubectl_kres.policies.cel.base.equality import are_equal, contains
from kubectl_kres.policies.cel.base.values import TYPED
from kubectl_kres.policies.cel.libraries.operators import OVERLOADS as _OPERATORS
from kubectl_kres.policies.cel.libraries.overload import Overload, overload

_COMPARABLE = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_SUMMABLE = ("int", "uint", "double", "duration")
_ZERO = {"int": 0, "uint": values.UInt(0), "double": 0.0, "duration": values.Duration(0)}
_add = next(operator.call for operator in _OPERATORS if operator.function == "_+_")
_MOST_RANGE = 10**6


def _sorted_already(items: Any) -> bool:
    return all(values.compare(item, other) <= 0 for item, other in itertools.pairwise(items))


def _extreme_finder(name: str, wanted_count: int) -> Any:
    def apply(items: Any) -> Any:
        if not items:
            raise values.EvalError(f"{name} called on empty list")
        best = items[0]
        for item in items[1:]:
            if values.compare(best, item) == wanted_count:
                best = item
        return best

    return apply


def _adder(kind: str) -> Any:
    return lambda items: functools.reduce(_add, items, _ZERO[kind])


def _index_of(items: Any, wanted: Any) -> int:
    return next((index for index, item in enumerate(items) if are_equal(item, wanted)), -1)


def _last_index_of(items: Any, wanted: Any) -> int:
    return next((index for index in range(len(items) - 1, -1, -1) if are_equal(items[index], wanted)), -1)


def _slice(items: Any, start: int, end: int) -> list[Any]:
    if start < 0 or end < 0:
        raise values.EvalError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise values.EvalError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if len(items) < end:
        raise values.EvalError(f"cannot slice({start}, {end}), list is length {len(items)}")
    return list(items[start:end])


def _flatten(items: Any, depth: int = 1) -> list[Any]:
    if not values.is_list(items):
        raise values.EvalError(f"no such overload: {values.type_name(items)}.flatten()")
    if depth < 0:
        raise values.EvalError("level must be non-negative")
    flat: list[Any] = []
    for item in items:
        if values.is_list(item) and depth > 0:
            flat.extend(_flatten(item, depth - 1))
        else:
            flat.append(item)
    return flat


def sort_by(items: Any, keys: Any) -> list[Any]:
    """Items in the order of their keys."""
    if not items:
        return list(items)
    first = values.type_name(keys[0])
    if first.split(".")[-1].lower() not in _COMPARABLE:
        raise values.EvalError("list elements must be comparable")
    if any(values.type_name(key) != first for key in keys):
        raise values.EvalError("list elements must have the same type")
    order = sorted(
        range(len(items)), key=functools.cmp_to_key(lambda number, other: values.compare(keys[number], keys[other]))
    )
    return [items[index] for index in order]


def _range(count: int) -> list[int]:
    if count > _MOST_RANGE:
        raise values.EvalError("operation cancelled: actual cost limit exceeded")
    return list(range(count))


def _drop_repeated_items(items: Any) -> list[Any]:
    unique: list[Any] = []
    for item in items:
        if not any(are_equal(item, other) for other in unique):
            unique.append(item)
    return unique


def _contains(items: Any, others: Any) -> bool:
    return all(contains(items, other) for other in others)


def _equivalent(items: Any, others: Any) -> bool:
    return _contains(items, others) and _contains(others, items)


def _intersects(items: Any, others: Any) -> bool:
    return any(contains(others, item) for item in items)


def _optional_of_non_zero(value: Any) -> values.Optional:
    if type(value) in TYPED:
        return values.Optional(present=True, value=value)
    empty = value is None or value is False or value in (0, "", b"", [], {}) or value == ()
    return (
        values.NONE if empty and not isinstance(value, values.Optional) else values.Optional(present=True, value=value)
    )


def _value(optional: values.Optional) -> Any:
    if not optional.present:
        raise values.EvalError("optional.none() dereference")
    return optional.value


def _first_item(items: Any) -> values.Optional:
    return values.Optional(present=True, value=items[0]) if items else values.NONE


def _includes(target: Any, value: Any) -> bool:
    """Return whether the list holds the value; of anything else whether it is the value."""
    return any(are_equal(item, value) for item in target) if values.is_list(target) else are_equal(target, value)


def _last_item(items: Any) -> values.Optional:
    return values.Optional(present=True, value=items[-1]) if items else values.NONE


def _unwrap(items: Any) -> list[Any]:
    return [item.value for item in items if item.present]


def _cost_walk(args: tuple[Any, ...], _result: Any) -> int:
    return values.size(args[0])


def _cost_result(_args: tuple[Any, ...], result: Any) -> int:
    return 10 + values.size(result)


def _cost_square(args: tuple[Any, ...], _result: Any) -> int:
    return 10 + values.size(args[0]) ** 2


def _cost_sort(args: tuple[Any, ...], _result: Any) -> int:
    count = values.size(args[0])
    return 10 + math.ceil(count * math.log2(count)) if count > 1 else 10


def _cost_product(args: tuple[Any, ...], _result: Any) -> int:
    return 1 + values.size(args[0]) * values.size(args[1])


def _table() -> Iterator[Overload]:
    for kind in _COMPARABLE:
        yield overload(f".isSorted(list({kind})) bool", _sorted_already, cost=_cost_walk)
        yield overload(f".max(list({kind})) {kind}", _extreme_finder("max", -1), cost=_cost_walk)
        yield overload(f".min(list({kind})) {kind}", _extreme_finder("min", 1), cost=_cost_walk)
        yield overload(
            f".sort(list({kind})) list({kind})", lambda items: sort_by(items, items), since=34, cost=_cost_sort
        )
        yield overload(f".@sortBy(list(T), list({kind})) list(T)", sort_by, since=34, cost=_cost_sort)
    for kind in _SUMMABLE:
        yield overload(f".sum(list({kind})) {kind}", _adder(kind), cost=_cost_walk)
    yield overload(".indexOf(list(A), A) int", _index_of, cost=_cost_walk)
    yield overload(".lastIndexOf(list(A), A) int", _last_index_of, cost=_cost_walk)
    yield overload(".includes(dyn, dyn) bool", _includes, since=37, cost=_cost_walk)
    yield overload(".slice(list(T), int, int) list(T)", _slice, since=34, cost=_cost_result)
    yield overload(".flatten(list(list(T))) list(T)", _flatten, since=34, any_types=True, cost=_cost_result)
    yield overload(".flatten(list(dyn), int) list(dyn)", _flatten, since=34, any_types=True, cost=_cost_result)
    yield overload("lists.range(int) list(int)", _range, since=34, cost=_cost_result)
    yield overload(".reverse(list(T)) list(T)", lambda items: list(reversed(items)), since=34, cost=_cost_result)
    yield overload(".distinct(list(T)) list(T)", _drop_repeated_items, since=34, cost=_cost_square)
    for name, call in (("contains", _contains), ("equivalent", _equivalent), ("intersects", _intersects)):
        yield overload(f"sets.{name}(list(T), list(T)) bool", call, since=29, cost=_cost_product)
    yield from _optionals()


def _optionals() -> Iterator[Overload]:
    some = "optional_type(V)"
    yield overload(f"optional.of(V) {some}", lambda value: values.Optional(present=True, value=value), since=28)
    yield overload(f"optional.ofNonZeroValue(V) {some}", _optional_of_non_zero, since=28)
    yield overload(f"optional.none() {some}", lambda: values.NONE, since=28)
    yield overload(f".value({some}) V", _value, since=28)
    yield overload(f".hasValue({some}) bool", lambda optional: optional.present, since=28)
    yield overload(f".or({some}, {some}) {some}", lambda value, other: value if value.present else other, since=28)
    yield overload(f".orValue({some}, V) V", lambda value, other: value.value if value.present else other, since=28)
    yield overload(f".first(list(V)) {some}", _first_item, since=28)
    yield overload(f".last(list(V)) {some}", _last_item, since=28)
    yield overload(f"optional.unwrap(list({some})) list(V)", _unwrap, since=28)
    yield overload(f".unwrapOpt(list({some})) list(V)", _unwrap, since=28)


OVERLOADS = tuple(_table())
