"""Expressions that are made to cost time or memory: each ends soon, with an answer or with why there is none."""

from __future__ import annotations

import tracemalloc

import pytest

from kubectl_kres.policies.cel.base.types import BOOL
from kubectl_kres.policies.cel.base.values import PER_CALL, NotComputed
from kubectl_kres.policies.reports.context import MOST
from kubectl_kres.policies.rules.expressions import Accepts, Evaluation, Expression

TEN = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"
LONG = "'" + "a" * 5000 + "'"
#: An expression for a million characters.
MEGA = f"'{'a' * 1000}'.replace('a', '{'a' * 1000}')"
TOO_MUCH = (
    "[[1]]" + ".map(a, a + a)" * 40 + ".size() > 0",
    "[[1]]" + ".map(a, [a, a])" * 40 + " == [[1]]" + ".map(a, [a, a])" * 40,
    "[[1]]" + ".map(a, [a, a])" * 40 + ".flatten(40).size() > 0",
    f"[{LONG}]" + ".map(a, a + a)" * 40 + ".size() > 0",
    f"{TEN}.map(a, {TEN}.map(b, {TEN}.map(c, {TEN}.map(d, {TEN}.map(e, a + b + c + d + e))))).size() > 0",
    "'a'" + ".replace('a', 'aaaaaaaaaa')" * 12 + ".size() > 0",
    f"{LONG}.replace('', '{'b' * 4000}').replace('', '{'b' * 4000}').size() > 0",
    f"{MEGA}.replace('a', '{'a' * 1000}').size() > 0",
    f"[{MEGA}].map(b, lists.range(9000).map(a, 'a'.replace('a', b))).size() > 0",
    f"[{MEGA}].map(b, lists.range(900).map(a, b).join('')).size() > 0",
    f"[{MEGA}].map(b, '%s'.format([lists.range(900).map(a, b)])).size() > 0",
    f"[{MEGA}].map(b, '%s'.format([{{'k': lists.range(900).map(a, b)}}])).size() > 0",
    "'%.100000000f'.format([1.5]).size() > 0",
    "lists.range(100000).map(x, x).size() > 0",
)
DEEP = (
    "(" * 3000 + "1" + ")" * 3000 + " == 1",
    "[" * 200 + "]" * 200 + " == []",
    "object" + ".a" * 5000 + " == 1",
    "[1].all(a, " * 100 + "true" + ")" * 100,
    "optional.of(1)" + ".optMap(x, x + 1)" * 500 + ".hasValue()",
)
ANSWERED = (
    "!" * 5000 + "true",
    "&&".join(["true"] * 2000),
    f"{LONG}.matches('(a*)*b') || true",
    f"{LONG}.matches('(.*)(.*)(.*)(.*)(.*)(.*)z') || true",
    f"{LONG}.findAll('a*').size() >= 0",
)
REFUSED = ("'" + "a" * 1_000_000 + "' == 'a'", "+".join(["x"] * 3000), "@#$%" * 2_000, "é.ü == 1")


def compiled(text: str) -> Expression:
    return Expression(text, Accepts(params=False, variables=False), (1, 36), (BOOL,))


def ended(text: str) -> str:
    """What came of it: a value, or the words for why there is none."""
    expression = compiled(text)
    if expression.fault or expression.unknown:
        return expression.fault or expression.unknown
    try:
        result = Evaluation({"object": {"a": {}}}, {}, maximum=MOST).run(expression)
    except NotComputed as gap:
        return str(gap)
    return result.error or str(result.value)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("text", TOO_MUCH, ids=range(len(TOO_MUCH)))
def test_what_costs_too_much_is_not_computed_and_takes_little_memory(text: str) -> None:
    tracemalloc.start()
    try:
        said = ended(text)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert said.startswith("an expression that ")
    assert most < 80_000_000


@pytest.mark.parametrize("text", DEEP, ids=range(len(DEEP)))
def test_deep_nesting_is_not_computed(text: str) -> None:
    assert ended(text) == "an expression nested too deeply"


@pytest.mark.parametrize("text", ANSWERED, ids=range(len(ANSWERED)))
def test_long_chains_and_patterns_are_answered(text: str) -> None:
    assert ended(text) == "True"


@pytest.mark.parametrize("text", REFUSED, ids=range(len(REFUSED)))
def test_long_and_broken_texts_are_refused_in_the_words_of_the_server(text: str) -> None:
    assert ended(text).startswith("compilation failed: ERROR: <input>:")


@pytest.mark.parametrize(
    "text", ["|| !true", "1 == || !true", "-!true", "--!x", "[|| !x]", "object.a(|| -!x)", "|| -1"]
)
def test_an_operator_where_an_operand_belongs_is_refused(text: str) -> None:
    assert ended(text).startswith("compilation failed: ERROR: <input>:")


def test_a_list_of_many_parts_is_still_followed_where_the_server_follows_it() -> None:
    expression = compiled(f"{TEN}.map(a, {TEN}.map(b, {TEN}.map(c, a * b * c))).flatten(2).size() == 1000")
    assert Evaluation({}, {}, maximum=PER_CALL).run(expression).value is True
