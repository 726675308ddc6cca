"""What is checked of an expression before it runs: static types, then constants that cannot work and mixed literals.
Source: cel-go checker/checker.go and cel/validator.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from kubectl_kres import durations
from kubectl_kres.policies.cel.base import types
from kubectl_kres.policies.cel.base.values import CompileError, Issue
from kubectl_kres.policies.cel.evaluation.environment import Environment
from kubectl_kres.policies.cel.libraries.conversions import parse_timestamp
from kubectl_kres.policies.cel.libraries.overload import Overload
from kubectl_kres.policies.cel.libraries.regex import BadPattern, compile_pattern
from kubectl_kres.policies.cel.libraries.strings import CLAUSES, FormatFault, format_string, wrong_clause
from kubectl_kres.policies.cel.syntax import ast


class Literals:
    """Of one checked tree; ``report`` takes a node and a text."""

    def __init__(self, bound: Mapping[types.Type, types.Type], report: Callable[[ast.SyntaxNode, str], None]) -> None:
        self.bound, self.report = bound, report

    def validate(self, root: ast.SyntaxNode) -> None:
        nodes = list(ast.walk_nodes(root))
        for node in nodes:
            if isinstance(node, ast.Call):
                self._constants(node)
        self._check_mixed_literals(root, exempt=False)
        for node in nodes:
            if isinstance(node, ast.Call) and node.function == "format" and node.target is not None:
                self._format(node)

    def _constants(self, node: ast.Call) -> None:
        first = node.args[0] if node.args else None
        if not isinstance(first, ast.Literal) or not isinstance(first.value, str):
            return
        wrong = False
        if node.function == "duration":
            wrong = durations.parse_or_none(first.value) is None
        elif node.function == "timestamp":
            wrong = parse_timestamp(first.value) is None
        elif node.function == "matches":
            wrong = _bad_pattern(first.value)
        if wrong:
            self.report(first, f"invalid {node.function} argument")

    def _kind(self, node: ast.SyntaxNode) -> types.Type:
        return types.substitute(self.bound, node.type or types.DYN, free_to_dyn=True)

    def _check_mixed_literals(self, node: ast.SyntaxNode, *, exempt: bool) -> None:
        if not exempt and isinstance(node, ast.ListNode):
            self._check_same_types(
                [(item, index in node.optional) for index, item in enumerate(node.items)], first_only=True
            )
        if not exempt and isinstance(node, ast.MapNode):
            self._check_same_types([(entry.key, False) for entry in node.entries])
            self._check_same_types([(entry.value, entry.optional) for entry in node.entries])
        inside = exempt or (isinstance(node, ast.Call) and node.function == "format")
        for child in ast.children(node):
            self._check_mixed_literals(child, exempt=inside)

    def _check_same_types(self, items: Sequence[tuple[ast.SyntaxNode, bool]], *, first_only: bool = False) -> None:
        first: types.Type | None = None
        for node, optional in items:
            kind = self._kind(node)
            kind = kind.params[0] if optional and kind.params else kind
            if first is None:
                first = kind
            elif not _equivalent(first, kind):
                self.report(node, f"expected type '{first}' but found '{kind}'")
                if first_only:
                    return

    def _format(self, node: ast.Call) -> None:
        text, args = node.target, node.args[0] if len(node.args) == 1 else None
        if not isinstance(text, ast.Literal) or not isinstance(text.value, str) or not isinstance(args, ast.ListNode):
            return
        items = args.items

        def formatted(letter: str, _precision: int | None, index: int) -> str:
            bad = self._unformattable(letter, items[index])
            if bad is not None:
                raise FormatFault(wrong_clause(letter, _runtime_name(self._kind(bad))), index)
            return ""

        try:
            used = format_string(text.value, len(items), formatted)[1]
        except FormatFault as fault:
            faulty_node = node if fault.index is None else items[fault.index]
            self.report(faulty_node, fault.message)
            return
        if len(items) > used:
            texts = f"too many arguments supplied to string.format (expected {used}, got {len(items)})"
            self.report(node, texts)

    def _unformattable(self, letter: str, node: ast.SyntaxNode) -> ast.SyntaxNode | None:
        """Return the part that the clause does not take; None: all fits, as far as is known."""
        kind = self._kind(node)
        if kind != types.DYN and _runtime_name(kind) not in CLAUSES[letter][0]:
            return node
        if letter == "s":
            parts: list[Any] = []
            if isinstance(node, ast.ListNode):
                parts = node.items
            elif isinstance(node, ast.MapNode):
                parts = [part for entry in node.entries for part in (entry.key, entry.value)]
            return next((bad for part in parts if (bad := self._unformattable("s", part)) is not None), None)
        return None


def _runtime_name(kind: types.Type) -> str:
    return {"null": "null_type", "timestamp": "google.protobuf.Timestamp", "duration": "google.protobuf.Duration"}.get(
        kind.name, kind.name
    )


def _equivalent(value: types.Type, other: types.Type) -> bool:
    """Of the same kind with the same parameters; dyn is only like dyn."""
    return (
        value.kind == other.kind
        and value.name == other.name
        and len(value.params) == len(other.params)
        and all(_equivalent(a, b) for a, b in zip(value.params, other.params, strict=True))
    )


def _bad_pattern(text: str) -> bool:
    try:
        compile_pattern(text)
    except BadPattern:
        return True
    return False


def check(source: str, node: ast.SyntaxNode, environment: Environment) -> types.Type:
    """Return the type of the expression; types and overloads are written into the tree. Raises CompileError."""
    checker = _Checker(environment)
    kind = checker.check(node)
    kind = types.substitute(checker.bound, kind, free_to_dyn=True)
    if not checker.issues and environment.version >= (1, 29):
        Literals(checker.bound, checker.report).validate(node)
    if checker.issues:
        raise CompileError(source, checker.issues)
    return kind


class _Checker:
    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.issues: list[Issue] = []
        self.bound: types.Bindings = {}
        self.scopes: list[dict[str, types.Type]] = []
        self.free = 0

    def report(self, node: ast.SyntaxNode, message: str) -> None:
        self.issues.append(Issue(node.offset, message))

    def check(self, node: ast.SyntaxNode) -> types.Type:
        kind = self._KINDS[type(node)](self, node)
        node.type = kind
        return kind

    def fresh(self) -> types.Type:
        self.free += 1
        return types.Type("param", f"_var{self.free - 1}")

    def types_agree(self, value: types.Type, other: types.Type) -> bool:
        bound = types.assignable(self.bound, value, other)
        if bound is None:
            return False
        self.bound = bound
        return True

    def _mismatch(self, node: ast.SyntaxNode, expected: types.Type, value: types.Type) -> None:
        self.report(node, f"expected type '{expected}' but found '{value}'")

    def _report_undeclared(self, node: ast.SyntaxNode, name: str) -> types.Type:
        self.report(node, f"undeclared reference to '{name}' (in container '')")
        return types.ERROR

    def _literal(self, node: ast.Literal) -> types.Type:
        return node.kind

    def _lookup(self, name: str) -> types.Type | None:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return self.environment.identifier(name)

    def _ident(self, node: ast.Ident) -> types.Type:
        return self._lookup(node.name) or self._report_undeclared(node, node.name)

    def _select(self, node: ast.Select) -> types.Type:
        name = None if node.test or node.optional else qualified_name(node)
        known = self._lookup(name) if name else None
        if known is not None:
            node.resolved = name
            return known
        kind = self._field(node)
        if node.test:
            return types.BOOL
        return types.substitute(self.bound, kind)

    def _field(self, node: ast.Select) -> types.Type:
        operand = types.substitute(self.bound, self.check(node.operand))
        target = operand.params[0] if types.is_optional(operand) else operand
        kind = types.DYN
        if target.kind == "map":
            kind = target.params[1]
        elif target.kind == "struct":
            kind = self._struct_field(node, target.name, node.field)
        elif target.kind == "param":
            self.types_agree(types.DYN, target)
        elif target.kind not in ("dyn", "error"):
            self.report(node, f"type '{target}' does not support field selection")
        return types.optional_type(kind) if types.is_optional(operand) or node.optional else kind

    def _struct_field(self, node: ast.SyntaxNode, struct: str, field: str) -> types.Type:
        if not self.environment.is_struct(struct):
            self.report(node, f"unexpected failed resolution of '{struct}'")
            return types.ERROR
        kind = self.environment.field(struct, field)
        if kind is None:
            self.report(node, f"undefined field '{field}'")
            return types.ERROR
        return kind

    def _call(self, node: ast.Call) -> types.Type:
        arguments = [self.check(arg) for arg in node.args]
        functions = self.environment.functions
        if node.target is None:
            name = node.function.removeprefix(".")
            if name in _INDEXES:
                return self._index(node, arguments)
            if name not in functions:
                return self._report_undeclared(node, node.function)
            return self._resolve(node, name, node.args, arguments, member=False)
        prefix = qualified_name(node.target)
        if prefix is not None and f"{prefix}.{node.function}" in functions:
            node.function, node.target = f"{prefix}.{node.function}", None
            return self._resolve(node, node.function, node.args, arguments, member=False)
        target = self.check(node.target)
        if node.function not in functions:
            return self._report_undeclared(node, node.function)
        return self._resolve(node, node.function, [node.target, *node.args], [target, *arguments], member=True)

    def _resolve(
        self, node: ast.Call, name: str, args: Sequence[ast.SyntaxNode], kinds: Sequence[types.Type], *, member: bool
    ) -> types.Type:
        if name in ("_&&_", "_||_"):
            wrong = [
                (arg, kind) for arg, kind in zip(args, kinds, strict=True) if not self.types_agree(kind, types.BOOL)
            ]
            for arg, kind in wrong:
                self._mismatch(arg, types.BOOL, kind)
            return types.ERROR if wrong else types.BOOL
        result: types.Type | None = None
        matching: list[Overload] = []
        for overload in self.environment.functions[name]:
            if overload.member is not member:
                continue
            fresh: types.Bindings = {param: self.fresh() for param in _parameters(overload)}
            bound = types.assignable_lists(
                self.bound, kinds, [types.substitute(fresh, param) for param in overload.params]
            )
            if bound is None:
                continue
            self.bound = bound
            matching.append(overload)
            kind = types.substitute(self.bound, types.substitute(fresh, overload.result))
            if result is None:
                result = kind
            elif result not in (types.DYN, kind):
                result = types.DYN
        if result is None:
            self._no_overload(
                node, name, [types.substitute(self.bound, kind, free_to_dyn=True) for kind in kinds], member=member
            )
            return types.ERROR
        node.overloads = tuple(matching)
        return result

    def _no_overload(self, node: ast.Call, name: str, kinds: Sequence[types.Type], *, member: bool) -> None:
        target = f"{kinds[0]}." if member else ""
        signature = f"{target}({', '.join(str(kind) for kind in kinds[member:])})"
        self.report(node, f"found no matching overload for '{name}' applied to '{signature}'")

    def _index(self, node: ast.Call, kinds: Sequence[types.Type]) -> types.Type:
        """``a[b]`` and ``a[?b]`` of lists, maps and optionals of them."""
        optional = node.function == "_[?_]"
        result: types.Type | None = None
        for container, key, value in (
            (types.list_type(_A), types.INT, _A),
            (types.map_of(_A, _B), _A, _B),
            (types.optional_type(types.list_type(_A)), types.INT, types.optional_type(_A)),
            (types.optional_type(types.map_of(_A, _B)), _A, types.optional_type(_B)),
        ):  # fmt: skip
            fresh: types.Bindings = {_A: self.fresh(), _B: self.fresh()}
            bound = types.assignable_lists(
                self.bound, kinds, [types.substitute(fresh, container), types.substitute(fresh, key)]
            )
            if bound is None:
                continue
            self.bound = bound
            kind = types.substitute(self.bound, types.substitute(fresh, value))
            kind = kind if types.is_optional(value) or not optional else types.optional_type(kind)
            result = kind if result is None or result == kind else types.DYN
        if result is None:
            shown = [types.substitute(self.bound, kind, free_to_dyn=True) for kind in kinds]
            self._no_overload(node, node.function, shown, member=False)
            return types.ERROR
        return result

    def _list(self, node: ast.ListNode) -> types.Type:
        element: types.Type | None = None
        for index, item in enumerate(node.items):
            kind = self.check(item)
            if index in node.optional:
                kind = self._unwrap_optional(item, kind)
            element = self._join_types(element, kind)
        return types.list_type(element or self.fresh())

    def _unwrap_optional(self, node: ast.SyntaxNode, kind: types.Type) -> types.Type:
        if types.is_optional(kind):
            return kind.params[0]
        if kind != types.DYN:
            self._mismatch(node, types.optional_type(kind), kind)
        return kind

    def _join_types(self, before: types.Type | None, kind: types.Type) -> types.Type:
        """Mixed items are dynamic here; ``Literals`` refuses them where they may not be mixed."""
        if before is None:
            return kind
        return types.most_general(before, kind) if self.types_agree(before, kind) else types.DYN

    def _map(self, node: ast.MapNode) -> types.Type:
        key: types.Type | None = None
        value: types.Type | None = None
        for entry in node.entries:
            key = self._join_types(key, self.check(entry.key))
            kind = self.check(entry.value)
            if entry.optional:
                kind = self._unwrap_optional(entry.value, kind)
            value = self._join_types(value, kind)
        return types.map_of(key or self.fresh(), value or self.fresh())

    def _message(self, node: ast.Message) -> types.Type:
        known = self._lookup(node.name)
        if known is None:
            return self._report_undeclared(node, node.name)
        name = node.name.removeprefix(".")
        result = types.ERROR
        if known.kind != "type":
            self.report(node, f"'{known.name}' is not a type")
        elif known.params and known.params[0].kind == "struct":
            result, name = known.params[0], known.params[0].name
        else:
            self.report(node, f"'{known.params[0] if known.params else known}' is not a message type")
        for entry in node.entries:
            self._message_field(entry, name, is_known=result != types.ERROR)
        return result

    def _message_field(self, entry: ast.Entry, struct: str, *, is_known: bool) -> None:
        kind = self.check(entry.value)
        wanted = self._struct_field(entry, struct, entry.key) if is_known else types.ERROR
        if entry.optional:
            kind = self._unwrap_optional(entry.value, kind)
        if not self.types_agree(wanted, kind):
            texts = f"expected type of field '{entry.key}' is '{wanted}' but provided type is '{kind}'"
            self.report(entry, texts)

    def _loop(self, node: ast.Loop) -> types.Type:
        over = types.substitute(self.bound, self.check(node.over))
        first, second = self._elements(node, over)
        kinds = (first, second) if len(node.variables) == 2 else ((first if over.kind != "list" else second),)
        self.scopes.append(dict(zip(node.variables, kinds, strict=True)))
        condition = self.check(node.condition) if node.condition is not None else None
        body = self.check(node.body)
        self.scopes.pop()
        return self._loop_result(node, over, condition, body)

    def _elements(self, node: ast.Loop, over: types.Type) -> tuple[types.Type, types.Type]:
        """Return what the first and the second variable hold."""
        if over.kind == "list":
            return types.INT, over.params[0]
        if over.kind == "map":
            return over.params[0], over.params[1]
        if over.kind in ("dyn", "error", "param"):
            self.types_agree(types.DYN, over)
            return types.DYN, types.DYN
        texts = f"expression of type '{over}' cannot be range of a comprehension (must be list, map, or dynamic)"
        self.report(node.over, texts)
        return types.ERROR, types.ERROR

    def _loop_result(
        self, node: ast.Loop, over: types.Type, condition: types.Type | None, body: types.Type
    ) -> types.Type:
        if node.kind in ("all", "exists"):
            if not self.types_agree(body, types.BOOL):
                self._mismatch(node.body, types.BOOL, body)
            return types.BOOL
        if node.kind == "exists_one":
            self._check_filter_condition(node, body, types.INT)
            return types.BOOL
        if node.kind == "filter":
            element = over.params[0] if over.kind in ("list", "map") else types.DYN
            self._check_filter_condition(node, body, types.list_type(element))
            return types.list_type(element)
        if node.kind == "sortBy":
            return self._check_sort(node, over, body)
        result = self._infer_loop_type(node, body)
        if condition is not None:
            self._check_filter_condition(node, condition, result)
        return result

    def _infer_loop_type(self, node: ast.Loop, body: types.Type) -> types.Type:
        if node.kind in ("map", "transformList"):
            return types.list_type(body)
        kinds = [types.Type("param", "K"), types.Type("param", "V")]
        if node.kind == "transformMap":
            key = types.INT if node.over.type and node.over.type.kind == "list" else types.DYN
            if node.over.type and node.over.type.kind == "map":
                key = node.over.type.params[0]
            return types.map_of(types.substitute(self.bound, key), body)
        fresh = types.map_of(*(self.fresh() for _ in kinds))
        if not self.types_agree(fresh, body):
            self._no_overload(
                ast.Call(node.offset, "cel.@mapInsert", []), "cel.@mapInsert", [fresh, body], member=False
            )
            return types.ERROR
        return types.substitute(self.bound, fresh)

    def _check_sort(self, node: ast.Loop, over: types.Type, key: types.Type) -> types.Type:
        items = over if over.kind == "list" else types.list_type(types.DYN)
        call = ast.Call(node.offset, "@sortByAssociatedKeys", [])
        kinds = [items, types.list_type(key)]
        for overload in self.environment.functions["@sortBy"]:
            fresh: types.Bindings = {param: self.fresh() for param in _parameters(overload)}
            bound = types.assignable_lists(
                self.bound, kinds, [types.substitute(fresh, param) for param in overload.params]
            )
            if bound is not None:
                self.bound = bound
                return items
        shown = [types.substitute(self.bound, kind, free_to_dyn=True) for kind in kinds]
        self._no_overload(call, call.function, shown, member=True)
        return types.ERROR

    def _check_filter_condition(self, node: ast.Loop, condition: types.Type, result: types.Type) -> None:
        """The condition of a filter has to be a boolean: it becomes one of a conditional."""
        if not self.types_agree(condition, types.BOOL):
            shown = types.substitute(self.bound, result, free_to_dyn=True)
            call = ast.Call(node.offset, "_?_:_", [])
            self._no_overload(call, "_?_:_", [condition, shown, shown], member=False)

    def _opt_map(self, node: ast.OptMap) -> types.Type:
        operand = types.substitute(self.bound, self.check(node.operand))
        if not types.is_optional(operand) and operand.kind not in ("dyn", "error"):
            call = ast.Call(node.offset, "hasValue", [])
            self._no_overload(call, "hasValue", [operand], member=True)
        param = operand.params[0] if types.is_optional(operand) else types.DYN
        self.scopes.append({node.variable: param})
        body = self.check(node.body)
        self.scopes.pop()
        return body if node.flat else types.optional_type(body)

    _KINDS: ClassVar[dict[type[ast.SyntaxNode], Callable[..., types.Type]]] = {
        ast.Literal: _literal, ast.Ident: _ident, ast.Select: _select, ast.Call: _call, ast.ListNode: _list,
        ast.MapNode: _map, ast.Message: _message, ast.Loop: _loop, ast.OptMap: _opt_map,
    }  # fmt: skip


_A, _B = types.Type("param", "A"), types.Type("param", "B")
_INDEXES = ("_[_]", "_[?_]")


def _parameters(overload: Overload) -> set[types.Type]:
    pairs: set[types.Type] = set()

    def walk(kind: types.Type) -> None:
        if kind.kind == "param":
            pairs.add(kind)
        for param in kind.params:
            walk(param)

    for kind in (*overload.params, overload.result):
        walk(kind)
    return pairs


def qualified_name(node: ast.SyntaxNode) -> str | None:
    """``a.b.c`` of plain selections; None for anything else."""
    if isinstance(node, ast.Ident):
        return node.name
    if isinstance(node, ast.Select) and not node.test and not node.optional:
        head = qualified_name(node.operand)
        return f"{head}.{node.field}" if head else None
    return None
