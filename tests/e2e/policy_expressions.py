"""Random expressions about pods' resources, of a type that is asked for; some of them compile, fewer hold."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

from e2e.policy_library import AMOUNTS

Make = Callable[["Expressions", int], str]
RESOURCES = ("cpu", "memory", "ephemeral-storage", "example.com/gpu", "hugepages-2Mi")
PAIRS = ("k == v", "v.size() < 5", "isQuantity(v)", "k.startsWith('c')", "quantity(v).sign() > 0")
HELD = ("resources", "ports", "securityContext", "resources.limits.cpu")
COMPARING = ("isLessThan", "isGreaterThan")
PARTS = ("startsWith", "endsWith", "contains")
PATTERNS = ("^[a-z]", "[0-9]+(m|Mi)?$", "(", ".*", "^c[01]")
SETS = ("contains", "intersects", "equivalent")
REPLACED = (
    *("lowerAscii()", "upperAscii()", "trim()", "reverse()", "replace('c', 'd')", "replace('', '_', 2)"),
    *("substring(1)", "substring(0, 2)", "charAt(0)"),
)
ORDERED = ("distinct()", "sort()", "reverse()", "slice(0, 1)", "flatten()")
MAPS = ("object.metadata.labels", "{'cpu': '1', 'memory': '1Gi'}", "{}", "object.metadata.annotations")
SEPARATORS = ("", "','", "' and '", "'/'", "''", "'m'")
TEXTS = ("a", "c0", "cpu", "1Gi", "500m", "", "é", 'a"b', "\\\\d+", "img", "0", "-1", "x" * 40)


class Expressions:
    """``bound``: names of comprehensions with what they hold."""

    def __init__(self, rng: random.Random, variables: Sequence[str] = ()) -> None:
        self.rng, self.variables = rng, tuple(variables)
        self.bound: list[str] = []

    def of(self, kind: str, depth: int) -> str:
        """An expression of a kind: bool, int, text, quantity, texts, map, any."""
        makes = _BY_KIND[kind]
        chosen = self.rng.choice(makes if depth > 0 else makes[: _LEAVES[kind]])
        return chosen(self, depth - 1)

    def pick(self, *choices: str) -> str:
        return self.rng.choice(choices)

    def container(self) -> str:
        if self.bound and self.rng.random() < 0.85:
            return self.rng.choice(self.bound)
        return self.pick(
            "object.spec.containers[0]", "object.spec.containers[0]", "object.spec.containers[1]",
            "object.spec.initContainers[0]", "object.spec.containers.filter(x, x.name == 'c0')[0]",
        )  # fmt: skip

    def containers(self) -> str:
        return self.pick(
            "object.spec.containers", "object.spec.containers", "object.spec.?initContainers.orValue([])",
            "object.spec.initContainers", "(object.spec.containers + object.spec.?initContainers.orValue([]))",
        )  # fmt: skip

    def amounts(self) -> str:
        """A map of amounts."""
        side = self.pick("requests", "limits")
        return self.pick(
            f"{self.container()}.resources.{side}", f"{self.container()}.?resources.?{side}.orValue({{}})",
            f"object.spec.?resources.?{side}.orValue({{}})", "object.spec.resources.limits",
        )  # fmt: skip

    def amount(self) -> str:
        """A text that is an amount, unless it is not there."""
        side, resource = self.pick("requests", "limits"), self.rng.choice(RESOURCES)
        which = self.container()
        return self.pick(
            f"{which}.resources.{side}['{resource}']", f"{which}.resources.{side}.cpu",
            f"{which}.resources.{side}.memory", f"{which}.?resources.?{side}[?'{resource}'].orValue('0')",
            f"{which}[?'resources'][?'{side}'].orValue({{}})[?'{resource}'].orValue('1Gi')",
            f"(has({which}.resources.{side}) ? {which}.resources.{side}.?memory.orValue('1') : '0')",
        )  # fmt: skip

    def over(self, macro: str, kind: str, depth: int, items: str = "") -> str:
        """A comprehension over containers."""
        name = self.pick("c", "d", "one") + str(len(self.bound) or "")
        source = items or self.containers()
        self.bound.append(name)
        body = self.of(kind, depth)
        self.bound.pop()
        return f"{source}.{macro}({name}, {body})"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "\\'") + "'"


def _operator(left: str, right: str, *signs: str) -> Make:
    return lambda make, depth: f"{make.of(left, depth)} {make.pick(*signs)} {make.of(right, depth)}"


def _bracketed(inner: Make) -> Make:
    return lambda make, depth: f"({inner(make, depth)})"


_BOOL: tuple[Make, ...] = (
    lambda make, _: make.pick("true", "false"),
    lambda make, _: f"has({make.container()}.resources.{make.pick('limits', 'requests')})",
    lambda make, _: f"has({make.container()}.{make.pick(*HELD)})",
    lambda make, _: f"{_literal(make.rng.choice(RESOURCES))} in {make.amounts()}",
    lambda make, _: f"isQuantity({make.amount()})",
    lambda make, _: f"quantity({make.amount()}) == quantity('{make.rng.choice(AMOUNTS)}')",
    *([
        lambda make, depth: make.over(make.pick("all", "exists", "exists_one"), "bool", depth),
        lambda make, depth: f"{make.of('quantity', depth)}.{make.pick(*COMPARING)}({make.of('quantity', depth)})",
        _bracketed(_operator("bool", "bool", "&&", "||")),
    ] * 3),
    lambda make, depth: f"!({make.of('bool', depth)})",
    lambda make, depth: f"({make.of('bool', depth)} ? {make.of('bool', depth)} : {make.of('bool', depth)})",
    _operator("int", "int", "<", "<=", ">", ">=", "==", "!="),
    _operator("text", "text", "==", "!=", "<", ">="),
    _operator("quantity", "quantity", "==", "!="),
    lambda make, depth: f"{make.of('text', depth)}.{make.pick(*PARTS)}({make.of('text', depth)})",
    lambda make, depth: f"{make.of('text', depth)}.matches('{make.pick(*PATTERNS)}')",
    lambda make, depth: f"{make.of('text', depth)} in {make.of('texts', depth)}",
    lambda make, depth: f"sets.{make.pick(*SETS)}({make.of('texts', depth)}, {make.of('texts', depth)})",
    lambda make, depth: f"{make.of('quantity', depth)}.isInteger()",
    lambda make, depth: f"{make.of('map', depth)}.{make.pick('all', 'exists')}(k, v, {make.pick(*PAIRS)})",
    lambda make, depth: f"{make.of('map', depth)} == {make.of('map', depth)}",
    lambda make, depth: f"{make.of('any', depth)} == {make.of('any', depth)}",
    lambda make, depth: f"{make.of('texts', depth)}.isSorted()",
    lambda make, depth: f"{make.of('any', depth)} {make.pick('<', '>', '<=')} {make.of('any', depth)}",
    lambda make, depth: f"dyn({make.of('int', depth)}) == {make.of('any', depth)}",
    lambda make, depth: f"optional.of({make.of('text', depth)}).hasValue()",
    lambda make, depth: f"{make.of('any', depth)}",
)  # fmt: skip
_INT: tuple[Make, ...] = (
    lambda make, _: make.pick("0", "1", "2", "-1", "100", "1024", "9223372036854775807"),
    lambda make, _: f"size({make.containers()})",
    lambda make, _: f"quantity({make.amount()}).sign()",
    lambda make, _: f"{make.container()}.name.size()",
    lambda make, depth: f"({make.of('int', depth)} {make.pick('+', '-', '*', '/', '%')} {make.of('int', depth)})",
    lambda make, depth: f"{make.of('quantity', depth)}.compareTo({make.of('quantity', depth)})",
    lambda make, depth: f"{make.of('quantity', depth)}.asInteger()",
    lambda make, depth: f"{make.of('text', depth)}.{make.pick('indexOf', 'lastIndexOf')}({make.of('text', depth)})",
    lambda make, depth: f"{make.of('texts', depth)}.size()",
    lambda make, depth: f"{make.over('map', 'int', depth)}.{make.pick('sum', 'max', 'min')}()",
    lambda make, depth: f"int({make.of('text', depth)})",
    lambda make, depth: f"int({make.of('quantity', depth)}.asApproximateFloat())",
    lambda make, depth: f"{make.of('texts', depth)}.indexOf({make.of('text', depth)})",
    lambda make, depth: f"-{make.of('int', depth)}",
)  # fmt: skip
_TEXT: tuple[Make, ...] = (
    lambda make, _: _literal(make.rng.choice(TEXTS)),
    lambda make, _: f"{make.container()}.{make.pick('name', 'image', 'imagePullPolicy')}",
    lambda make, _: make.amount(),
    lambda make, _: make.pick("object.metadata.name", "object.spec.restartPolicy", "object.status.qosClass",
                              "request.operation", "namespaceObject.metadata.name", "request.namespace"),
    lambda make, depth: f"({make.of('text', depth)} + {make.of('text', depth)})",
    lambda make, depth: f"({make.of('bool', depth)} ? {make.of('text', depth)} : {make.of('text', depth)})",
    lambda make, depth: f"string({make.of('int', depth)})",
    lambda make, depth: f"{make.of('text', depth)}.{make.pick(*REPLACED)}",
    lambda make, depth: f"{make.of('texts', depth)}.join({make.pick(*SEPARATORS)})",
    lambda make, depth: f"{make.of('texts', depth)}[{make.of('int', 0)}]",
    lambda make, depth: f"'%s: %d' .format([{make.of('text', depth)}, {make.of('int', depth)}])",
    lambda make, depth: f"'%s|%s' .format([{make.of('any', depth)}, {make.of('any', depth)}])",
    lambda make, depth: f"{make.of('text', depth)}.find('[a-z0-9]+')",
    lambda make, depth: f"strings.quote({make.of('text', depth)})",
    lambda make, depth: f"{make.of('map', depth)}[{make.of('text', depth)}]",
)  # fmt: skip
_QUANTITY: tuple[Make, ...] = (
    lambda make, _: f"quantity('{make.rng.choice(AMOUNTS)}')",
    lambda make, _: f"quantity({make.amount()})",
    lambda make, _: f"quantity({make.amount()})",
    lambda make, depth: f"{make.of('quantity', depth)}.{make.pick('add', 'sub')}({make.of('quantity', depth)})",
    lambda make, depth: f"{make.of('quantity', depth)}.{make.pick('add', 'sub')}({make.of('int', depth)})",
    lambda make, depth: f"quantity({make.of('text', depth)})",
)  # fmt: skip
_LIST: tuple[Make, ...] = (
    lambda make, _: "[" + ", ".join(_literal(make.rng.choice(TEXTS)) for _ in range(make.rng.randint(0, 3))) + "]",
    lambda make, _: f"{make.containers()}.map(x, x.{make.pick('name', 'image')})",
    lambda make, _: f"{make.amounts()}.map(r, r)",
    lambda make, depth: make.over("map", "text", depth),
    lambda make, depth: f"({make.of('texts', depth)} + {make.of('texts', depth)})",
    lambda make, depth: f"{make.of('text', depth)}.split({make.pick(*SEPARATORS[1:])})",
    lambda make, depth: f"{make.of('texts', depth)}.{make.pick(*ORDERED)}",
    lambda make, depth: f"{make.of('texts', depth)}.filter(t, t.size() > {make.rng.randint(0, 4)})",
    lambda make, depth: f"{make.of('text', depth)}.findAll('[0-9]+')",
    lambda make, depth: f"{make.of('map', depth)}.transformList(k, v, k + '=' + v)",
)  # fmt: skip
_MAP: tuple[Make, ...] = (
    lambda make, _: make.amounts(),
    lambda make, _: make.amounts(),
    lambda make, _: make.pick(*MAPS),
    lambda make, depth: f"{{{make.of('text', depth)}: {make.of('text', depth)}}}",
    lambda make, depth: f"{make.of('map', depth)}.transformMap(k, v, {make.pick('k', 'v', 'v + k')})",
    lambda make, depth: f"{make.containers()}.transformMapEntry(i, x, {{x.name: x.image}})",
)  # fmt: skip


def _variable(make: Expressions, _depth: int) -> str:
    return f"variables.{make.rng.choice(make.variables)}" if make.variables else make.amount()


_ANY: tuple[Make, ...] = (
    _variable,
    lambda make, _: make.container(),
    lambda make, _: f"{make.container()}.resources",
    lambda make, _: make.pick("null", "1.5", "2u", "b'ab'", "duration('90s')", "[1, 'a']", "object.spec.nonsense"),
    lambda make, depth: make.of(make.pick("bool", "int", "text", "texts", "map", "quantity"), depth),
    lambda make, depth: f"type({make.of('any', depth)})",
    lambda make, depth: f"({make.of('bool', depth)} ? {make.of('any', depth)} : {make.of('any', depth)})",
)  # fmt: skip
_BY_KIND: Mapping[str, tuple[Make, ...]] = {
    "bool": _BOOL, "int": _INT, "text": _TEXT, "quantity": _QUANTITY, "texts": _LIST, "map": _MAP, "any": _ANY,
}  # fmt: skip
#: How many of a kind's makes need nothing inside.
_LEAVES = {"bool": 6, "int": 4, "text": 4, "quantity": 3, "texts": 3, "map": 3, "any": 4}
