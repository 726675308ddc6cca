"""What a server finds in the constants of an expression before it has seen an object."""

from __future__ import annotations

import pytest

from kubectl_kres.policies.rules.expressions import Accepts, Expression


def compiled(text: str) -> Expression:
    return Expression(text, Accepts(params=False, variables=False), (1, 36), ())


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("int('a') < 1", "type conversion error from 'string' to 'int'"),
        ("object.x.find('(') == ''", "error parsing regexp: missing closing ): `(`"),
        ("[int('a')].size() == 1", "type conversion error from 'string' to 'int'"),
    ],
)
def test_a_constant_that_cannot_be_worked_out(text: str, fault: str) -> None:
    found = compiled(text)
    assert (found.fault, found.internal) == (f"program instantiation failed: {fault}", True)


@pytest.mark.parametrize("text", ["int(object.a) < 1", "object.x.find(object.y) == ''", "string(int('5')) == '5'"])
def test_what_is_known_later_is_looked_at_later(text: str) -> None:
    assert compiled(text).fault == ""


def test_arguments_of_format_may_be_mixed_but_not_other_lists() -> None:
    assert compiled("'%s %d'.format([object.a.trim(), object.b.size()]) == ''").fault == ""
    assert "expected type 'string' but found 'int'" in compiled("['a', 1].size() == 2").fault
