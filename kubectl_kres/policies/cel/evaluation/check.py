"""Static types of an expression. Source: cel-go checker/checker.go and cel/validator.go.

What is looked at after the types: constant arguments that cannot work, literals of mixed types.

Source: cel-go cel/validator.go, ext/formatting.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from kubectl_kres.policies.cel.base.types import (
    BOOL,
    DYN,
    ERROR,
    INT,
    Bindings,
    Type,
    assignable,
    assignable_lists,
    is_optional,
    list_of,
    map_of,
    most_general,
    optional_of,
    substitute,
)
from kubectl_kres.policies.cel.base.values import CompileError, Issue
from kubectl_kres.policies.cel.evaluation.environment import Environment
from kubectl_kres.policies.cel.libraries.conversions import parse_duration, parse_timestamp
from kubectl_kres.policies.cel.libraries.overload import Overload
from kubectl_kres.policies.cel.libraries.regex import compile_pattern
from kubectl_kres.policies.cel.libraries.regex_tree import BadPattern
from kubectl_kres.policies.cel.libraries.strings import CLAUSES, FormatFault, format_string, wrong_clause
from kubectl_kres.policies.cel.syntax.ast import (
    Call,
    Entry,
    Ident,
    ListNode,
    Literal,
    Loop,
    MapNode,
    Message,
    OptMap,
    Select,
    SyntaxNode,
    children,
    walk_nodes,
)


class Literals:
    """Of one checked tree; ``report`` takes a node and a text."""

    def __init__(self, bound: Mapping[Type, Type], report: Callable[[SyntaxNode, str], None]) -> None:
        self.bound, self.report = bound, report

    def validate(self, root: SyntaxNode) -> None:
        nodes = list(walk_nodes(root))
        for node in nodes:
            if isinstance(node, Call):
                self._constants(node)
        self._check_mixed_literals(root, exempt=False)
        for node in nodes:
            if isinstance(node, Call) and node.function == "format" and node.target is not None:
                self._format(node)

    def _constants(self, node: Call) -> None:
        first = node.args[0] if node.args else None
        if not isinstance(first, Literal) or not isinstance(first.value, str):
            return
        wrong = False
        if node.function == "duration":
            wrong = parse_duration(first.value) is None
        elif node.function == "timestamp":
            wrong = parse_timestamp(first.value) is None
        elif node.function == "matches":
            wrong = _bad_pattern(first.value)
        if wrong:
            self.report(first, f"invalid {node.function} argument")

    def _kind(self, node: SyntaxNode) -> Type:
        return substitute(self.bound, node.type or DYN, free_to_dyn=True)

    def _check_mixed_literals(self, node: SyntaxNode, *, exempt: bool) -> None:
        if not exempt and isinstance(node, ListNode):
            self._check_same_types(
                [(item, index in node.optional) for index, item in enumerate(node.items)], first_only=True
            )
        if not exempt and isinstance(node, MapNode):
            self._check_same_types([(entry.key, False) for entry in node.entries])
            self._check_same_types([(entry.value, entry.optional) for entry in node.entries])
        inside = exempt or (isinstance(node, Call) and node.function == "format")
        for child in children(node):
            self._check_mixed_literals(child, exempt=inside)

    def _check_same_types(self, items: Sequence[tuple[SyntaxNode, bool]], *, first_only: bool = False) -> None:
        first: Type | None = None
        for node, optional in items:
            kind = self._kind(node)
            kind = kind.params[0] if optional and kind.params else kind
            if first is None:
                first = kind
            elif not _equivalent(first, kind):
                self.report(node, f"expected type '{first}' but found '{kind}'")
                if first_only:
                    return

    def _format(self, node: Call) -> None:
        text, args = node.target, node.args[0] if len(node.args) == 1 else None
        if not isinstance(text, Literal) or not isinstance(text.value, str) or not isinstance(args, ListNode):
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

    def _unformattable(self, letter: str, node: SyntaxNode) -> SyntaxNode | None:
        """Return the part that the clause does not take; None: all fits, as far as is known."""
        kind = self._kind(node)
        if kind != DYN and _runtime_name(kind) not in CLAUSES[letter][0]:
            return node
        if letter == "s":
            parts: list[Any] = []
            if isinstance(node, ListNode):
                parts = node.items
            elif isinstance(node, MapNode):
                parts = [part for entry in node.entries for part in (entry.key, entry.value)]
            return next((bad for part in parts if (bad := self._unformattable("s", part)) is not None), None)
        return None


def _runtime_name(kind: Type) -> str:
    return {"null": "null_type", "timestamp": "google.protobuf.Timestamp", "duration": "google.protobuf.Duration"}.get(
        kind.name, kind.name
    )


def _equivalent(value: Type, other: Type) -> bool:
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


def check(source: str, node: SyntaxNode, environment: Environment) -> Type:
    """Return the type of the expression; types and overloads are written into the tree. Raises CompileError."""
    checker = _Checker(environment)
    kind = checker.check(node)
    kind = substitute(checker.bound, kind, free_to_dyn=True)
    if not checker.issues and environment.version >= (1, 29):
        Literals(checker.bound, checker.report).validate(node)
    if checker.issues:
        raise CompileError(source, checker.issues)
    return kind


class _Checker:
    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.issues: list[Issue] = []
        self.bound: Bindings = {}
        self.scopes: list[dict[str, Type]] = []
        self.free = 0

    def report(self, node: SyntaxNode, message: str) -> None:
        self.issues.append(Issue(node.offset, message))

    def check(self, node: SyntaxNode) -> Type:
        kind = self._KINDS[type(node)](self, node)
        node.type = kind
        return kind

    def fresh(self) -> Type:
        self.free += 1
        return Type("param", f"_var{self.free - 1}")

    def types_agree(self, value: Type, other: Type) -> bool:
        bound = assignable(self.bound, value, other)
        if bound is None:
            return False
        self.bound = bound
        return True

    def _mismatch(self, node: SyntaxNode, expected: Type, value: Type) -> None:
        self.report(node, f"expected type '{expected}' but found '{value}'")

    def _report_undeclared(self, node: SyntaxNode, name: str) -> Type:
        self.report(node, f"undeclared reference to '{name}' (in container '')")
        return ERROR

    def _literal(self, node: Literal) -> Type:
        return node.kind

    def _lookup(self, name: str) -> Type | None:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return self.environment.identifier(name)

    def _ident(self, node: Ident) -> Type:
        return self._lookup(node.name) or self._report_undeclared(node, node.name)

    def _select(self, node: Select) -> Type:
        name = None if node.test or node.optional else qualified_name(node)
        known = self._lookup(name) if name else None
        if known is not None:
            node.resolved = name
            return known
        kind = self._field(node)
        if node.test:
            return BOOL
        return substitute(self.bound, kind)

    def _field(self, node: Select) -> Type:
        operand = substitute(self.bound, self.check(node.operand))
        target = operand.params[0] if is_optional(operand) else operand
        kind = DYN
        if target.kind == "map":
            kind = target.params[1]
        elif target.kind == "struct":
            kind = self._struct_field(node, target.name, node.field)
        elif target.kind == "param":
            self.types_agree(DYN, target)
        elif target.kind not in ("dyn", "error"):
            self.report(node, f"type '{target}' does not support field selection")
        return optional_of(kind) if is_optional(operand) or node.optional else kind

    def _struct_field(self, node: SyntaxNode, struct: str, field: str) -> Type:
        if not self.environment.is_struct(struct):
            self.report(node, f"unexpected failed resolution of '{struct}'")
            return ERROR
        kind = self.environment.field(struct, field)
        if kind is None:
            self.report(node, f"undefined field '{field}'")
            return ERROR
        return kind

    def _call(self, node: Call) -> Type:
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
        self, node: Call, name: str, args: Sequence[SyntaxNode], kinds: Sequence[Type], *, member: bool
    ) -> Type:
        if name in ("_&&_", "_||_"):
            wrong = [(arg, kind) for arg, kind in zip(args, kinds, strict=True) if not self.types_agree(kind, BOOL)]
            for arg, kind in wrong:
                self._mismatch(arg, BOOL, kind)
            return ERROR if wrong else BOOL
        result: Type | None = None
        matching: list[Overload] = []
        for overload in self.environment.functions[name]:
            if overload.member is not member:
                continue
            fresh: Bindings = {param: self.fresh() for param in _parameters(overload)}
            bound = assignable_lists(self.bound, kinds, [substitute(fresh, param) for param in overload.params])
            if bound is None:
                continue
            self.bound = bound
            matching.append(overload)
            kind = substitute(self.bound, substitute(fresh, overload.result))
            if result is None:
                result = kind
            elif result not in (DYN, kind):
                result = DYN
        if result is None:
            self._no_overload(
                node, name, [substitute(self.bound, kind, free_to_dyn=True) for kind in kinds], member=member
            )
            return ERROR
        node.overloads = tuple(matching)
        return result

    def _no_overload(self, node: Call, name: str, kinds: Sequence[Type], *, member: bool) -> None:
        target = f"{kinds[0]}." if member else ""
        signature = f"{target}({', '.join(str(kind) for kind in kinds[member:])})"
        self.report(node, f"found no matching overload for '{name}' applied to '{signature}'")

    def _index(self, node: Call, kinds: Sequence[Type]) -> Type:
        """``a[b]`` and ``a[?b]`` of lists, maps and optionals of them."""
        optional = node.function == "_[?_]"
        result: Type | None = None
        for container, key, value in (
            (list_of(_A), INT, _A), (map_of(_A, _B), _A, _B),
            (optional_of(list_of(_A)), INT, optional_of(_A)), (optional_of(map_of(_A, _B)), _A, optional_of(_B)),
        ):  # fmt: skip
            fresh: Bindings = {_A: self.fresh(), _B: self.fresh()}
            bound = assignable_lists(self.bound, kinds, [substitute(fresh, container), substitute(fresh, key)])
            if bound is None:
                continue
            self.bound = bound
            kind = substitute(self.bound, substitute(fresh, value))
            kind = kind if is_optional(value) or not optional else optional_of(kind)
            result = kind if result is None or result == kind else DYN
        if result is None:
            shown = [substitute(self.bound, kind, free_to_dyn=True) for kind in kinds]
            self._no_overload(node, node.function, shown, member=False)
            return ERROR
        return result

    def _list(self, node: ListNode) -> Type:
        element: Type | None = None
        for index, item in enumerate(node.items):
            kind = self.check(item)
            if index in node.optional:
                kind = self._unwrap_optional(item, kind)
            element = self._join_types(element, kind)
        return list_of(element or self.fresh())

    def _unwrap_optional(self, node: SyntaxNode, kind: Type) -> Type:
        if is_optional(kind):
            return kind.params[0]
        if kind != DYN:
            self._mismatch(node, optional_of(kind), kind)
        return kind

    def _join_types(self, before: Type | None, kind: Type) -> Type:
        """Mixed items are dynamic here; ``Literals`` refuses them where they may not be mixed."""
        if before is None:
            return kind
        return most_general(before, kind) if self.types_agree(before, kind) else DYN

    def _map(self, node: MapNode) -> Type:
        key: Type | None = None
        value: Type | None = None
        for entry in node.entries:
            key = self._join_types(key, self.check(entry.key))
            kind = self.check(entry.value)
            if entry.optional:
                kind = self._unwrap_optional(entry.value, kind)
            value = self._join_types(value, kind)
        return map_of(key or self.fresh(), value or self.fresh())

    def _message(self, node: Message) -> Type:
        known = self._lookup(node.name)
        if known is None:
            return self._report_undeclared(node, node.name)
        name = node.name.removeprefix(".")
        result = ERROR
        if known.kind != "type":
            self.report(node, f"'{known.name}' is not a type")
        elif known.params and known.params[0].kind == "struct":
            result, name = known.params[0], known.params[0].name
        else:
            self.report(node, f"'{known.params[0] if known.params else known}' is not a message type")
        for entry in node.entries:
            self._message_field(entry, name, is_known=result != ERROR)
        return result

    def _message_field(self, entry: Entry, struct: str, *, is_known: bool) -> None:
        kind = self.check(entry.value)
        wanted = self._struct_field(entry, struct, entry.key) if is_known else ERROR
        if entry.optional:
            kind = self._unwrap_optional(entry.value, kind)
        if not self.types_agree(wanted, kind):
            texts = f"expected type of field '{entry.key}' is '{wanted}' but provided type is '{kind}'"
            self.report(entry, texts)

    def _loop(self, node: Loop) -> Type:
        over = substitute(self.bound, self.check(node.over))
        first, second = self._elements(node, over)
        kinds = (first, second) if len(node.variables) == 2 else ((first if over.kind != "list" else second),)
        self.scopes.append(dict(zip(node.variables, kinds, strict=True)))
        condition = self.check(node.condition) if node.condition is not None else None
        body = self.check(node.body)
        self.scopes.pop()
        return self._loop_result(node, over, condition, body)

    def _elements(self, node: Loop, over: Type) -> tuple[Type, Type]:
        """Return what the first and the second variable hold."""
        if over.kind == "list":
            return INT, over.params[0]
        if over.kind == "map":
            return over.params[0], over.params[1]
        if over.kind in ("dyn", "error", "param"):
            self.types_agree(DYN, over)
            return DYN, DYN
        texts = f"expression of type '{over}' cannot be range of a comprehension (must be list, map, or dynamic)"
        self.report(node.over, texts)
        return ERROR, ERROR

    def _loop_result(self, node: Loop, over: Type, condition: Type | None, body: Type) -> Type:
        if node.kind in ("all", "exists"):
            if not self.types_agree(body, BOOL):
                self._mismatch(node.body, BOOL, body)
            return BOOL
        if node.kind == "exists_one":
            self._check_filter_condition(node, body, INT)
            return BOOL
        if node.kind == "filter":
            element = over.params[0] if over.kind in ("list", "map") else DYN
            self._check_filter_condition(node, body, list_of(element))
            return list_of(element)
        if node.kind == "sortBy":
            return self._check_sort(node, over, body)
        result = self._infer_loop_type(node, body)
        if condition is not None:
            self._check_filter_condition(node, condition, result)
        return result

    def _infer_loop_type(self, node: Loop, body: Type) -> Type:
        if node.kind in ("map", "transformList"):
            return list_of(body)
        kinds = [Type("param", "K"), Type("param", "V")]
        if node.kind == "transformMap":
            key = INT if node.over.type and node.over.type.kind == "list" else DYN
            if node.over.type and node.over.type.kind == "map":
                key = node.over.type.params[0]
            return map_of(substitute(self.bound, key), body)
        fresh = map_of(*(self.fresh() for _ in kinds))
        if not self.types_agree(fresh, body):
            self._no_overload(Call(node.offset, "cel.@mapInsert", []), "cel.@mapInsert", [fresh, body], member=False)
            return ERROR
        return substitute(self.bound, fresh)

    def _check_sort(self, node: Loop, over: Type, key: Type) -> Type:
        items = over if over.kind == "list" else list_of(DYN)
        call = Call(node.offset, "@sortByAssociatedKeys", [])
        kinds = [items, list_of(key)]
        for overload in self.environment.functions["@sortBy"]:
            fresh: Bindings = {param: self.fresh() for param in _parameters(overload)}
            bound = assignable_lists(self.bound, kinds, [substitute(fresh, param) for param in overload.params])
            if bound is not None:
                self.bound = bound
                return items
        shown = [substitute(self.bound, kind, free_to_dyn=True) for kind in kinds]
        self._no_overload(call, call.function, shown, member=True)
        return ERROR

    def _check_filter_condition(self, node: Loop, condition: Type, result: Type) -> None:
        """The condition of a filter has to be a boolean: it becomes one of a conditional."""
        if not self.types_agree(condition, BOOL):
            shown = substitute(self.bound, result, free_to_dyn=True)
            call = Call(node.offset, "_?_:_", [])
            self._no_overload(call, "_?_:_", [condition, shown, shown], member=False)

    def _opt_map(self, node: OptMap) -> Type:
        operand = substitute(self.bound, self.check(node.operand))
        if not is_optional(operand) and operand.kind not in ("dyn", "error"):
            call = Call(node.offset, "hasValue", [])
            self._no_overload(call, "hasValue", [operand], member=True)
        param = operand.params[0] if is_optional(operand) else DYN
        self.scopes.append({node.variable: param})
        body = self.check(node.body)
        self.scopes.pop()
        return body if node.flat else optional_of(body)

    _KINDS: ClassVar[dict[type[SyntaxNode], Callable[..., Type]]] = {
        Literal: _literal, Ident: _ident, Select: _select, Call: _call, ListNode: _list, MapNode: _map,
        Message: _message, Loop: _loop, OptMap: _opt_map,
    }  # fmt: skip


_A, _B = Type("param", "A"), Type("param", "B")
_INDEXES = ("_[_]", "_[?_]")


def _parameters(overload: Overload) -> set[Type]:
    pairs: set[Type] = set()

    def walk(kind: Type) -> None:
        if kind.kind == "param":
            pairs.add(kind)
        for param in kind.params:
            walk(param)

    for kind in (*overload.params, overload.result):
        walk(kind)
    return pairs


def qualified_name(node: SyntaxNode) -> str | None:
    """``a.b.c`` of plain selections; None for anything else."""
    if isinstance(node, Ident):
        return node.name
    if isinstance(node, Select) and not node.test and not node.optional:
        head = qualified_name(node.operand)
        return f"{head}.{node.field}" if head else None
    return None
