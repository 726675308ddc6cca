"""An expression made into Python functions: what a server works out while it plans it, and what it charges when it
runs. Source: cel-go interpreter.

A fault there refuses the policy. Source: cel-go interpreter/decorators.go, apiserver pkg/cel/library/regex.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kubectl_kres.policies.cel.base.equality import equal
from kubectl_kres.policies.cel.base.types import BYTES, UINT, Type
from kubectl_kres.policies.cel.base.values import (
    CONTAINERS,
    MAPS,
    NONE,
    PER_CALL,
    TYPED,
    EvalError,
    EvaluationState,
    InstantiationError,
    MessageLiteral,
    NotComputed,
    Optional,
    Step,
    TypedList,
    TypeValue,
    UInt,
    go_type_name,
    is_list,
    key_text,
    type_name,
)
from kubectl_kres.policies.cel.evaluation.check import check
from kubectl_kres.policies.cel.evaluation.environment import Environment
from kubectl_kres.policies.cel.evaluation.loops import LOOPS, bind_elements
from kubectl_kres.policies.cel.libraries.overload import Overload
from kubectl_kres.policies.cel.libraries.regex import BadPattern, compile_pattern
from kubectl_kres.policies.cel.syntax import ast
from kubectl_kres.policies.cel.syntax.parse import parse

_CONVERSIONS = frozenset(
    {"bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"}
)  # fmt: skip
_PATTERNS = frozenset({"find", "findAll"})
_NOTHING: Mapping[str, Any] = {}


def check_constants(root: ast.SyntaxNode, planned: Callable[[ast.SyntaxNode], Step]) -> None:
    """Raises InstantiationError with the server's words."""
    _is_constant(root, planned)


def _is_constant(node: ast.SyntaxNode, planned: Callable[[ast.SyntaxNode], Step]) -> bool:
    """Return whether the server knows the value before it has seen an object; parts are looked at in its order."""
    constant = [_is_constant(child, planned) for child in ast.children(node)]
    if isinstance(node, ast.Literal):
        return True
    if isinstance(node, ast.ListNode | ast.MapNode):
        return all(constant)
    if not isinstance(node, ast.Call):
        return False
    if node.function in _PATTERNS and node.target is not None:
        _check_pattern(node.args[0])
        return False
    if node.function == "@in" and isinstance(node.args[1], ast.ListNode):
        return not node.args[1].items
    if node.function in ("_[_]", "_[?_]") and constant[-1] and planned(node.args[1])(EvaluationState(_NOTHING)) is None:
        raise InstantiationError("invalid qualifier type: types.Null")
    if node.function in _CONVERSIONS and node.target is None and constant == [True]:
        try:
            planned(node)(EvaluationState(_NOTHING))
        except EvalError as error:
            raise InstantiationError(error.message) from None
        return True
    return False


def _check_pattern(node: ast.SyntaxNode) -> None:
    if isinstance(node, ast.Literal) and isinstance(node.value, str):
        try:
            compile_pattern(node.value)
        except BadPattern as fault:
            raise InstantiationError(str(fault)) from None


_LIST, _MAP, _STRUCT = 10, 30, 40
_NO_OVERLOAD = "no such overload"

_ABSENT = object()


class CompiledExpression:
    """What can be evaluated. ``kind`` is the static type of the result."""

    def __init__(self, source: str, environment: Environment) -> None:
        try:
            node = parse(source, environment.version)
            self.kind: Type = check(source, node, environment)
            self._step = plan(node, environment)
            check_constants(node, lambda part: plan(part, environment))
        except RecursionError:
            raise NotComputed("an expression nested too deeply") from None
        self.source = source

    def evaluate(self, lookup: Mapping[str, Any], maximum: int = PER_CALL) -> tuple[Any, int]:
        """Return the value and its cost. ``lookup``: variables; one that is callable is asked each time.

        Raises EvalError, CostExceeded, NotComputed.
        """
        state = EvaluationState(lookup, maximum)
        try:
            value = self._step(state)
            _weigh_values(state, (value,))
        except RecursionError:
            raise NotComputed("an expression nested too deeply") from None
        except (OverflowError, MemoryError, ValueError, TypeError, AttributeError) as error:
            raise EvalError("no such overload") from error
        return value, state.cost


def compile_expression(source: str, environment: Environment) -> CompiledExpression:
    """Raises CompileError or InstantiationError with cel-go's words, or NotComputed."""
    return CompiledExpression(source, environment)


def plan(node: ast.SyntaxNode, environment: Environment) -> Step:
    """Return the function that evaluates the checked tree."""
    return _PLANS[type(node)](node, environment)


def _literal(node: ast.Literal, _: Environment) -> Step:
    value = UInt(node.value) if node.kind == UINT else node.value
    if node.kind == BYTES:
        value = bytes(node.value)
    return lambda _state: value


def _compile_identifier(name: str, environment: Environment) -> Step:
    name = name.removeprefix(".")
    declared = environment.identifier(name)
    as_type = TypeValue(name) if name not in environment.variables and declared is not None else None

    def step(state: EvaluationState) -> Any:
        state.charge(1)
        value = state.variables.get(name, _ABSENT)
        if value is _ABSENT:
            value = state.lookup.get(name, _ABSENT)
        if value is _ABSENT:
            if as_type is not None:
                return as_type
            raise EvalError(f"no such attribute(s): {name}")
        if isinstance(value, Exception):
            raise value
        return value() if callable(value) and not isinstance(value, type) else value

    return step


def _ident(node: ast.Ident, environment: Environment) -> Step:
    return _compile_identifier(node.name, environment)


def _select(node: ast.Select, environment: Environment) -> Step:
    if node.resolved is not None:
        return _compile_identifier(node.resolved, environment)
    operand, field = plan(node.operand, environment), node.field
    if node.test:

        def test(state: EvaluationState) -> bool:
            value = operand(state)
            if isinstance(value, Optional):
                value = value.value if value.present else None
            return present(value, field)

        return test
    if node.optional:
        return lambda state: _optional(state, operand(state), field)

    def step(state: EvaluationState) -> Any:
        value = operand(state)
        state.charge(1)
        if type(value) in MAPS and field in value:
            return value[field]
        if isinstance(value, Optional):
            return _select_optional(value, field)
        return qualify(value, field)

    return step


def _optional(state: EvaluationState, value: Any, key: Any) -> Optional:
    state.charge(1)
    if isinstance(value, Optional):
        return _select_optional(value, key)
    return Optional(present=True, value=qualify(value, key)) if present(value, key) else NONE


def _select_optional(value: Optional, key: Any) -> Optional:
    if not value.present or not present(value.value, key):
        return NONE
    return Optional(present=True, value=qualify(value.value, key))


def present(value: Any, key: Any) -> bool:
    """Return whether a map, an object or a list has the key."""
    if isinstance(value, dict):
        return _key_in(value, key) is not _ABSENT
    if isinstance(value, MessageLiteral):
        return key in value.fields
    if is_list(value):
        return 0 <= _index(key) < len(value)
    if hasattr(value, "has_field"):
        return bool(value.has_field(key))
    return False


def _key_in(value: dict[Any, Any], key: Any) -> Any:
    if isinstance(key, str):
        return value.get(key, _ABSENT)
    if type(value) in TYPED:
        raise EvalError(f"unsupported map key type: {go_type_name(key, type_name(key))}")
    return next((item for entry, item in value.items() if equal(entry, key)), _ABSENT)


def _index(key: Any) -> int:
    if isinstance(key, bool) or not isinstance(key, int | float):
        raise EvalError(f"unsupported index type '{type_name(key)}' in list")
    if key != int(key):
        raise EvalError(f"unsupported index value {key_text(key)} in list")
    return int(key)


def qualify(value: Any, key: Any) -> Any:
    """``value[key]`` or ``value.key``. Raises EvalError."""
    if isinstance(value, dict):
        result = _key_in(value, key)
        if result is not _ABSENT:
            return result
    elif is_list(value):
        index = _index(key)
        if 0 <= index < len(value):
            if type(value) is TypedList and type_name(key) != "int":
                raise EvalError(f"unsupported index type: {go_type_name(key, type_name(key))}")
            return value[index]
        raise EvalError(f"index out of bounds: {key_text(key)}")
    elif isinstance(value, MessageLiteral) and key in value.fields:
        return value.fields[key]
    elif hasattr(value, "has_field"):
        return value.get_field(key)
    raise EvalError(f"no such key: {key_text(key)}")


def _call(node: ast.Call, environment: Environment) -> Step:
    special = _SPECIAL.get(node.function)
    if special is not None:
        return special(node, [plan(arg, environment) for arg in node.args])
    args = [plan(arg, environment) for arg in node.args]
    if node.target is not None:
        args.insert(0, plan(node.target, environment))
    return _dispatch(node.function, node.overloads, args)


def _dispatch(name: str, overloads: Sequence[Overload], args: list[Step]) -> Step:
    first = overloads[0]
    if first.any_types:
        call, cost = first.call, first.cost
        if len(args) == 2:
            left, right = args

            def binary(state: EvaluationState) -> Any:
                values = (left(state), right(state))
                _weigh_values(state, values)
                result = call(*values)
                state.charge(cost(values, result))
                state.count_text(result)
                return result

            return binary

        def is_dynamic(state: EvaluationState) -> Any:
            values = tuple(arg(state) for arg in args)
            _weigh_values(state, values)
            result = call(*values)
            state.charge(cost(values, result))
            state.count_text(result)
            return result

        return is_dynamic

    def step(state: EvaluationState) -> Any:
        values = tuple(arg(state) for arg in args)
        _weigh_values(state, values)
        for overload in overloads:
            if len(overload.params) == len(values) and all(map(_fits, overload.params, values)):
                result = overload.call(*values)
                state.charge(overload.cost(values, result))
                state.count_text(result)
                return result
        raise EvalError(f"{_NO_OVERLOAD}: {name}({', '.join(type_name(value) for value in values)})")

    return step


def _weigh_values(state: EvaluationState, values: tuple[Any, ...]) -> None:
    for value in values:
        if type(value) in CONTAINERS:
            state.count_parts(value)


def _fits(kind: Type, value: Any) -> bool:
    """Return whether a value is of the declared type, as far as the server looks at run time."""
    if kind.kind in ("dyn", "param"):
        return True
    name = type_name(value)
    if kind.kind == "primitive":
        return name == {"timestamp": "google.protobuf.Timestamp", "duration": "google.protobuf.Duration"}.get(
            kind.name, kind.name
        )
    if kind.kind == "list":
        return name == "list" and (len(value) == 0 or _fits(kind.params[0], value[0]))
    if kind.kind == "map":
        return name == "map"
    if kind.kind == "null":
        return value is None
    return name == kind.name


def _and(_node: ast.Call, terms: list[Step]) -> Step:
    return lambda state: _logical(state, terms, absorbing=False)


def _or(_node: ast.Call, terms: list[Step]) -> Step:
    return lambda state: _logical(state, terms, absorbing=True)


def _logical(state: EvaluationState, terms: list[Step], *, absorbing: bool) -> bool:
    """``||`` and ``&&``: a decisive term wins over an error before or behind it."""
    fault: EvalError | None = None
    for term in terms:
        try:
            value: Any = term(state)
        except EvalError as error:
            fault = fault or error
            continue
        if not isinstance(value, bool):
            fault = fault or EvalError(_NO_OVERLOAD)
        elif value == absorbing:
            return absorbing
    if fault is not None:
        raise fault
    return not absorbing


def _conditional(_node: ast.Call, args: list[Step]) -> Step:
    condition, then, other = args

    def step(state: EvaluationState) -> Any:
        value = condition(state)
        if not isinstance(value, bool):
            raise EvalError(_NO_OVERLOAD)
        return then(state) if value else other(state)

    return step


def _compile_index(_node: ast.Call, args: list[Step]) -> Step:
    operand, index = args

    def step(state: EvaluationState) -> Any:
        value, key = operand(state), index(state)
        state.charge(1)
        return _select_optional(value, key) if isinstance(value, Optional) else qualify(value, key)

    return step


def _opt_indexed(_node: ast.Call, args: list[Step]) -> Step:
    operand, index = args
    return lambda state: _optional(state, operand(state), index(state))


def _list(node: ast.ListNode, environment: Environment) -> Step:
    items = [(plan(item, environment), index in node.optional) for index, item in enumerate(node.items)]
    price = 0 if all(isinstance(item, ast.Literal) for item in node.items) and node.items else _LIST

    def step(state: EvaluationState) -> list[Any]:
        state.charge(price)
        out = []
        for item, optional in items:
            value = item(state)
            if optional:
                if not isinstance(value, Optional):
                    raise EvalError(
                        f"cannot initialize optional list element from non-optional value {key_text(value)}"
                    )
                if not value.present:
                    continue
                value = value.value
            out.append(value)
        return out

    return step


def _map(node: ast.MapNode, environment: Environment) -> Step:
    entries = [(plan(entry.key, environment), plan(entry.value, environment), entry.optional) for entry in node.entries]

    def step(state: EvaluationState) -> dict[Any, Any]:
        state.charge(_MAP)
        out: dict[Any, Any] = {}
        for key, value, optional in entries:
            name, result = key(state), value(state)
            if isinstance(name, float | list | dict) or name is None:
                raise EvalError(f"unsupported key type: {type_name(name)}")
            if optional and not _has_value(result, name):
                continue
            out[name] = result.value if optional else result
        return out

    return step


def _message(node: ast.Message, environment: Environment) -> Step:
    fields: list[tuple[ast.Entry, Step]] = [(entry, plan(entry.value, environment)) for entry in node.entries]
    name = node.name.removeprefix(".")

    def step(state: EvaluationState) -> MessageLiteral:
        state.charge(_STRUCT)
        out: dict[str, Any] = {}
        for entry, value in fields:
            result = value(state)
            if entry.optional:
                if not _has_value(result, entry.key):
                    continue
                result = result.value
            out[entry.key] = result
        return _build_message(name, out)

    return step


def _loop(node: ast.Loop, environment: Environment) -> Step:
    over, body = plan(node.over, environment), plan(node.body, environment)
    condition = plan(node.condition, environment) if node.condition is not None else None
    run = LOOPS[node.kind]
    names = node.variables

    def step(state: EvaluationState) -> Any:
        kept = dict(state.variables)
        try:
            return run(state, list(bind_elements(state, names, over(state))), body, condition)
        finally:
            state.variables = kept

    return step


def _opt_map(node: ast.OptMap, environment: Environment) -> Step:
    operand, body = plan(node.operand, environment), plan(node.body, environment)

    def step(state: EvaluationState) -> Any:
        value = operand(state)
        if not isinstance(value, Optional):
            raise EvalError(f"{_NO_OVERLOAD}: hasValue({type_name(value)})")
        if not value.present:
            return NONE
        kept = state.variables
        state.variables = {**kept, node.variable: value.value}
        try:
            result = body(state)
        finally:
            state.variables = kept
        return result if node.flat else Optional(present=True, value=result)

    return step


def _has_value(value: Any, name: Any) -> bool:
    """Return whether an optional entry has a value. Raises EvalError for what is no optional."""
    if not isinstance(value, Optional):
        raise EvalError(
            f"cannot initialize optional entry '{key_text(name)}' from non-optional value {key_text(value)}"
        )
    return bool(value.present)


def _build_message(name: str, fields: dict[str, Any]) -> MessageLiteral:
    """Raises EvalError for fields that a patch does not have."""
    if name == "JSONPatch":
        for key in ("op", "path", "from"):
            if key in fields and not isinstance(fields[key], str):
                kind = {"int": "int64", "double": "float64", "null_type": "structpb.NullValue"}
                texts = kind.get(type_name(fields[key]), type_name(fields[key]))
                raise EvalError(f"unexpected type {texts} for JSONPatchType '{key}' field")
        for key in fields:
            if key not in ("op", "path", "from", "value"):
                raise EvalError(f"unexpected JSONPatchType field: {key}")
    return MessageLiteral(name, fields)


_SPECIAL: dict[str, Callable[[ast.Call, list[Step]], Step]] = {
    "_&&_": _and, "_||_": _or, "_?_:_": _conditional, "_[_]": _compile_index, "_[?_]": _opt_indexed,
}  # fmt: skip

_PLANS: dict[type[ast.SyntaxNode], Callable[..., Step]] = {
    ast.Literal: _literal, ast.Ident: _ident, ast.Select: _select, ast.Call: _call, ast.ListNode: _list,
    ast.MapNode: _map, ast.Message: _message, ast.Loop: _loop, ast.OptMap: _opt_map,
}  # fmt: skip
