"""Macros that run over a list or a map, one element after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kubectl_kres.policies.cel.base.values import (
    EvalError,
    EvaluationState,
    Step,
    go_type_name,
    is_list,
    key_text,
    type_name,
)
from kubectl_kres.policies.cel.libraries.lists import sort_by

_LIST = 10
_NO_OVERLOAD = "no such overload"
Bind = Callable[[], Any]


def bind_elements(state: EvaluationState, names: tuple[str, ...], value: Any) -> Iterator[Bind]:
    """For each element a function that sets the variables and returns the first one's value."""
    if isinstance(value, dict):
        pairs = list(value.items())
    elif is_list(value):
        pairs = list(enumerate(value))
    else:
        raise EvalError(f"got '{go_type_name(value, type_name(value))}', expected iterable type")
    as_value = is_list(value) and len(names) == 1

    for key, item in pairs:

        def bind(key: Any = key, value: Any = item) -> Any:
            state.charge(3)
            if len(names) == 2:
                state.variables = {**state.variables, names[0]: key, names[1]: value}
                return key
            state.variables = {**state.variables, names[0]: value if as_value else key}
            return value if as_value else key

        yield bind


Body = Step
Condition = Step | None


def _all(state: EvaluationState, binds: list[Bind], body: Body, _: Condition) -> bool:
    return _evaluate_quantifier(state, binds, body, decisive=False)


def _exists(state: EvaluationState, binds: list[Bind], body: Body, _: Condition) -> bool:
    return _evaluate_quantifier(state, binds, body, decisive=True)


def _evaluate_quantifier(state: EvaluationState, binds: list[Bind], body: Body, *, decisive: bool) -> bool:
    fault: EvalError | None = None
    for bind in binds:
        bind()
        try:
            value: Any = body(state)
        except EvalError as error:
            fault = fault or error
            continue
        if not isinstance(value, bool):
            fault = fault or EvalError(_NO_OVERLOAD)
        elif value == decisive:
            return decisive
    if fault is not None:
        raise fault
    return not decisive


def _is_true(state: EvaluationState, body: Step) -> bool:
    value = body(state)
    if not isinstance(value, bool):
        raise EvalError(_NO_OVERLOAD)
    return value


def _exists_one(state: EvaluationState, binds: list[Bind], body: Body, _: Condition) -> bool:
    return sum(1 for _bound in _matching_keys(state, binds, body)) == 1


def _filter_items(state: EvaluationState, binds: list[Bind], body: Body, _: Condition) -> list[Any]:
    out = []
    for value in _matching_keys(state, binds, body):
        state.charge(_LIST + 2)
        out.append(value)
    return out


def _matching_keys(state: EvaluationState, binds: list[Bind], condition: Condition) -> Iterator[Any]:
    """Yield the first variable of each element for which the condition holds, the variables being set.

    The server looks at every element, whatever went wrong at one before. Raises the last condition's EvalError.
    """
    fault: EvalError | None = None
    for bind in binds:
        value = bind()
        try:
            holds = condition is None or _is_true(state, condition)
        except EvalError as error:
            fault = error
            continue
        if holds:
            yield value
    if fault is not None:
        raise fault


def _map_items(state: EvaluationState, binds: list[Bind], body: Body, condition: Condition) -> list[Any]:
    out: list[Any] = []

    def add(_key: Any) -> None:
        state.charge(_LIST + 2)
        out.append(body(state))

    _add_each(_matching_keys(state, binds, condition), add)
    return out


def _transform_values(state: EvaluationState, binds: list[Bind], body: Body, condition: Condition) -> dict[Any, Any]:
    out: dict[Any, Any] = {}

    def add(key: Any) -> None:
        state.charge(2)
        _insert(out, key, body(state))

    _add_each(_matching_keys(state, binds, condition), add)
    return out


def _merge_entries(state: EvaluationState, binds: list[Bind], body: Body, condition: Condition) -> dict[Any, Any]:
    out: dict[Any, Any] = {}

    def add(_key: Any) -> None:
        state.charge(2)
        for key, value in body(state).items():
            _insert(out, key, value)

    _add_each(_matching_keys(state, binds, condition), add)
    return out


def _add_each(chosen: Iterator[Any], add: Callable[[Any], None]) -> None:
    """Raises the first EvalError of ``add``, unless a later condition ends in one."""
    fault: EvalError | None = None
    for key in chosen:
        try:
            add(key)
        except EvalError as error:
            fault = fault or error
    if fault is not None:
        raise fault


def _insert(out: dict[Any, Any], key: Any, value: Any) -> None:
    if key in out:
        raise EvalError(f"insert failed: key {key_text(key)} already exists")
    out[key] = value


def _sort_by(state: EvaluationState, binds: list[Bind], body: Body, _: Condition) -> list[Any]:
    items, keys = [], []
    for bind in binds:
        items.append(bind())
        state.charge(_LIST + 2)
        keys.append(body(state))
    return sort_by(items, keys)


LOOPS: dict[str, Callable[[EvaluationState, list[Bind], Body, Condition], Any]] = {
    "all": _all, "exists": _exists, "exists_one": _exists_one, "filter": _filter_items, "map": _map_items,
    "transformList": _map_items, "transformMap": _transform_values, "transformMapEntry": _merge_entries,
    "sortBy": _sort_by,
}  # fmt: skip
