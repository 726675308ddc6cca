"""Field errors read as the API server writes them."""

from __future__ import annotations

import pytest

from kubectl_kres.admission.base.field_errors import duplicate, forbidden, invalid, not_found, not_supported, required
from kubectl_kres.admission.base.outcome import join_messages
from kubectl_kres.go_text import as_json, quote
from kubectl_kres.quantity import parse


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", '"plain"'),
        ('a "b"', r'"a \"b\""'),
        ("a<b>&c", '"a<b>&c"'),
        ("zero\u200bwidth", r'"zero\u200bwidth"'),
        ("bell\a\x01", r'"bell\a\x01"'),
        ("back\\slash", r'"back\\slash"'),
        ("größe", '"größe"'),
        ("tab\there", r'"tab\there"'),
    ],
)
def test_texts_are_quoted_as_by_gos_percent_q(value, text):
    assert quote(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a<b>&c", r'"a\u003cb\u003e\u0026c"'),
        (["X", "Y"], '["X","Y"]'),
        (None, "null"),
        ({"A": None, "B": ["<"]}, r'{"A":null,"B":["\u003c"]}'),
    ],
)
def test_all_else_is_written_as_by_gos_json_encoder(value, text):
    assert as_json(value) == text


def test_a_text_of_a_type_of_its_own_is_json():
    """As resource names and operators are."""
    assert str(invalid("f", "<", "d")) == 'f: Invalid value: "<": d'
    assert str(invalid("f", "<", "d", typed=True)) == r'f: Invalid value: "\u003c": d'
    assert str(not_supported("f", "<", ["a"])) == r'f: Unsupported value: "\u003c": supported values: "a"'


@pytest.mark.parametrize(
    ("error", "text", "reason"),
    [
        (invalid("a.b", "-1", "must be 0"), 'a.b: Invalid value: "-1": must be 0', "FieldValueInvalid"),
        (invalid("a", parse("1024Ki"), "no"), 'a: Invalid value: "1Mi": no', "FieldValueInvalid"),
        (invalid("a", None, "no"), "a: Invalid value: null: no", "FieldValueInvalid"),
        (required("a", "say it"), "a: Required value: say it", "FieldValueRequired"),
        (required("a"), "a: Required value", "FieldValueRequired"),
        (forbidden("a", "not here"), "a: Forbidden: not here", "FieldValueForbidden"),
        (duplicate("a", "x"), 'a: Duplicate value: "x"', "FieldValueDuplicate"),
        (
            not_supported("a", "x", ("memory", "cpu")),
            'a: Unsupported value: "x": supported values: "cpu", "memory"',
            "FieldValueNotSupported",
        ),
        (not_found("a", "x", "one of none"), 'a: Not found: "x": one of none', "FieldValueNotFound"),
    ],
)
def test_texts(error, text, reason):
    assert (str(error), error.reason) == (text, reason)


@pytest.mark.parametrize(
    ("texts", "text"), [(["b"], "b"), (["b", "a"], "[a, b]"), (["a", "a"], "a"), (["b", "a", "b"], "[a, b]")]
)
def test_equal_texts_are_joined_once(texts, text):
    assert join_messages(texts) == text
