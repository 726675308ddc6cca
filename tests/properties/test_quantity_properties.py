"""What holds for every quantity, against exact arithmetic with fractions."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from kubectl_kres.quantity import Quantity, maximum, parse, quantity_of, stored_quantity, total

DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
FACTORS = {suffix: Fraction(10) ** power for suffix, power in DECIMAL.items()}
FACTORS |= {suffix: Fraction(2) ** power for suffix, power in BINARY.items()}
CAP = 2**63 - 1

numbers = st.from_regex(r"[+-]?[0-9]{1,24}(\.[0-9]{0,12})?", fullmatch=True)
exponents = st.integers(-30, 60).map(lambda power: f"e{power}")
suffixes = st.sampled_from(sorted(FACTORS))
texts = st.builds(str.__add__, numbers, st.one_of(suffixes, suffixes, exponents))
quantities = st.one_of(texts.map(parse), texts.map(stored_quantity))


def amount(text: str) -> Fraction:
    """The exact value of a well-formed text."""
    if "e" in text:
        return Fraction(text)
    number = text.rstrip("numkKMGTPEi")
    return Fraction(number) * FACTORS[text[len(number) :]]


@given(texts)
def test_value_is_exact_down_to_nano_and_capped_only_in_binary(text):
    exact, quantity = amount(text), parse(text)
    if "i" in text:
        exact = max(-Fraction(CAP), min(exact, Fraction(CAP)))
    difference = Fraction(quantity.nano, 10**9) - exact
    assert 0 <= (difference if exact >= 0 else -difference) < Fraction(1, 10**9)
    if (exact * 10**9).denominator == 1:
        assert difference == 0


@given(quantities)
def test_printed_text_reads_back_to_the_same_value(quantity):
    # From 10^21 up (2^70 in binary) the server's own printing loses the suffix, hence the bound.
    if abs(quantity.nano) < 10**27:
        assert parse(str(quantity)) == quantity


@given(quantities)
def test_printing_is_stable(quantity):
    canonical = str(quantity - parse("0"))
    if abs(quantity.nano) < 10**27:
        assert str(parse(canonical) + parse("0")) == canonical


@given(quantities)
def test_rounding_is_idempotent_never_shrinks_and_moves_less_than_a_thousandth(quantity):
    rounded = quantity.round_up()
    assert rounded.nano % 10**6 == 0
    assert abs(rounded.nano) >= abs(quantity.nano)
    assert abs(rounded.nano - quantity.nano) < 10**6
    assert rounded.nano * quantity.nano >= 0
    again = rounded.round_up()
    assert (again, str(again), again.format) == (rounded, str(rounded), quantity.format)


@given(quantities)
def test_whole_units_and_thousandths_agree_with_fractions(quantity):
    exact = Fraction(abs(quantity.nano), 10**9)
    sign = 1 if quantity.nano >= 0 else -1
    assert quantity.value() == sign * -(-exact // 1)
    assert quantity.milli() == sign * -(-exact * 1000 // 1)
    if abs(quantity.milli()) < 2**63:
        assert quantity.milli_value() == quantity.milli()
    assert -(2**63) <= quantity.milli_value() < 2**63


@given(quantities, quantities, quantities)
def test_sums_are_exact_commutative_and_associative(a, b, c):
    assert (a + b).nano == a.nano + b.nano
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + b - b == a
    assert a - b == -(b - a)
    assert (a + b).format == (a.format if a else b.format)
    assert total([a, b, c]) == a + b + c


@given(quantities, quantities)
def test_order_is_that_of_the_values(a, b):
    x, y = a.nano, b.nano
    assert (a < b, a <= b, a == b, a != b, a >= b, a > b) == (x < y, x <= y, x == y, x != y, x >= y, x > y)
    assert (hash(a) == hash(b)) or a != b
    assert maximum(a, b) is (b if x < y else a)


@given(st.integers(-(10**30), 10**30), st.sampled_from(["DecimalSI", "BinarySI", "DecimalExponent"]))
def test_notation_changes_the_text_and_never_the_value(number, notation):
    quantity: Quantity = quantity_of(number, notation)
    assert quantity == quantity_of(number)
    assert quantity.value() == number
    assert bool(quantity) == bool(number)
