"""The rules for quantities one by one: values, notation, kept texts, rounding, arithmetic, order, refusals."""

import copy
import pickle

import pytest

from kubectl_kres import quantity as module
from kubectl_kres.errors import QuantityError
from kubectl_kres.quantity import ZERO, Quantity, from_json, maximum, parse, quantity_of, stored_quantity, total

FORMAT_ERROR = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


@pytest.mark.parametrize(
    ("text", "nano"),
    [
        ("1n", 1),
        ("1u", 10**3),
        ("1m", 10**6),
        ("1", 10**9),
        ("1k", 10**12),
        ("1M", 10**15),
        ("1G", 10**18),
        ("1T", 10**21),
        ("1P", 10**24),
        ("1E", 10**27),
        ("1Ki", 2**10 * 10**9),
        ("1Mi", 2**20 * 10**9),
        ("1Gi", 2**30 * 10**9),
        ("1Ti", 2**40 * 10**9),
        ("1Pi", 2**50 * 10**9),
        ("1Ei", 2**60 * 10**9),
        ("1e3", 10**12),
        ("1E3", 10**12),
        ("-1.5e-3", -1_500_000),
        ("1.1Ki", 1_126_400_000_000),
        ("0.1n", 1),
        ("-0.1n", -1),
        ("8Ei", (2**63 - 1) * 10**9),
        ("-16Ei", -(2**63 - 1) * 10**9),
        ("1e1000", 10**1009),
        ("1e-1000", 1),
        ("0e9999999999", 0),
        ("0e-9999999999", 0),
    ],
)
def test_value(text, nano):
    assert parse(text).nano == nano


@pytest.mark.parametrize("text", ["0", "+1", "010", "5.", "1.500", "1.333", "1E3", "1e+3", "1e0", "0010Mi", "1.Mi"])
def test_kept_as_written(text):
    assert str(parse(text)) == str(stored_quantity(text)) == text


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("1.5", "1500m"),
        ("1.0", "1"),
        ("0.100", "100m"),
        ("1000", "1k"),
        ("1e2", "100"),
        ("1024Ki", "1Mi"),
        ("0.5Ki", "512"),
        ("1.1Ki", "1126400m"),
        ("1000E", "1"),
        ("1001E", "1001E"),
        ("9223372036854775808", "9223372036854775808"),
        ("100e1", "1e3"),
        ("1e4", "10e3"),
        ("1.5e3", "1500"),
        ("15e-1", "1500e-3"),
        ("1e19", "10e18"),
        ("1e400", "10e399"),
        ("8Ei", "9223372036854775807"),
        ("-", "0"),
        ("-0", "0"),
        ("e3", "0"),
    ],
)
def test_canonical(text, kept):
    assert str(parse(text)) == str(stored_quantity(text)) == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("1n", "1m"),
        ("1u", "1m"),
        ("0.0001", "1m"),
        ("1.0005", "1001m"),
        ("-1.0005", "-1001m"),
        ("1e-9", "1e-3"),
        ("1001n", "1m"),
        ("1.001001", "1002m"),
        ("2001000u", "2001m"),
        ("1.0000000001", "1001m"),
        ("-1.0000000001", "-1001m"),
    ],
)
def test_rounded_to_thousandths_away_from_zero(text, kept):
    assert str(parse(text).round_up()) == str(stored_quantity(text)) == kept


def test_rounding_drops_a_kept_text_that_is_finer_than_a_thousandth():
    assert (str(parse("1001u")), str(stored_quantity("1001u"))) == ("1001u", "2m")
    assert (str(parse("+1.100100")), str(stored_quantity("+1.100100"))) == ("+1.100100", "1101m")
    assert (str(parse("01.100")), str(stored_quantity("01.100"))) == ("01.100", "01.100")


@pytest.mark.parametrize(
    ("text", "whole", "thousandths"),
    [("1500m", 2, 1500), ("1n", 1, 1), ("-1n", -1, -1), ("-1500m", -2, -1500), ("0", 0, 0), ("10E", 10**19, 10**22)],
)
def test_whole_units_and_thousandths(text, whole, thousandths):
    assert (parse(text).value(), parse(text).milli()) == (whole, thousandths)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("1500m", 1500),
        ("9223372036854775", 9223372036854775000),
        ("9223372036854776", 9223372036854776000 - 2**64),
        ("10P", 0),
        ("10Pi", 10 * 2**50 * 1000 - 2**64),
        ("10000000000000001k", 10000000000000001 * 10**6 - 2**64 * 542),
        ("1n", 1),
    ],
)
def test_milli_value_overflows_as_the_servers(text, result):
    assert stored_quantity(text).milli_value() == result


@pytest.mark.parametrize(
    ("a", "b", "plus", "minus"),
    [
        ("1Gi", "1G", "2073741824", "73741824"),
        ("1G", "1Gi", "2073741824", "-73741824"),
        ("1Gi", "1Mi", "1025Mi", "1023Mi"),
        ("0", "1Mi", "1Mi", "-1Mi"),
        ("0Ki", "1000", "1k", "-1k"),
        ("1.500", "0", "1500m", "1500m"),
        ("9E", "9E", "18E", "0"),
        ("1e3", "1", "1001", "999"),
        ("1e3", "1k", "2e3", "0"),
        ("4Ei", "4Ei", "8Ei", "0"),
        ("1Ki", "1m", "1024001m", "1023999m"),
        ("1Ki", "1", "1025", "1023"),
    ],
)
def test_arithmetic_keeps_the_first_notation(a, b, plus, minus):
    assert str(parse(a) + parse(b)) == plus
    assert str(parse(a) - parse(b)) == minus


def test_binary_beyond_exbi_loses_its_suffix():
    assert str(quantity_of(2**70, "BinarySI")) == "1"
    assert str(quantity_of(2**69, "BinarySI")) == "512Ei"


def test_negation_loses_the_text_but_not_the_notation():
    assert str(-parse("1.500")) == "-1500m"
    assert str(-parse("1Gi")) == "-1Gi"
    assert (-parse("10P")).milli_value() == 0


def test_equal_and_ordered_by_amount_alone():
    assert parse("1Gi") == parse("1024Mi") == quantity_of(2**30)
    assert hash(parse("1000m")) == hash(parse("1"))
    assert len({parse("1"), parse("1000m"), parse("1e0"), parse("2")}) == 2
    assert parse("1") != parse("1m")
    assert parse("1") != 1
    assert not parse("1") != parse("1000m")  # noqa: SIM202 - the operator is what is tested
    assert parse("999m") < parse("1") <= parse("1000m") < parse("1Ki")
    assert parse("1Ki") > parse("1k") >= parse("1000")
    assert not parse("1k") > parse("1000")
    assert not parse("1k") < parse("1000")
    for compare in ("__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__eq__"):
        assert getattr(parse("1"), compare)(1) is NotImplemented


def test_truth_is_being_other_than_zero():
    assert not ZERO
    assert not parse("-0")
    assert parse("1n")
    assert parse("-1n")


def test_cannot_be_changed_and_survives_copying():
    with pytest.raises(AttributeError):
        ZERO.nano = 1
    with pytest.raises(AttributeError):
        ZERO.anything = 1
    for again in (copy.deepcopy(parse("1.500")), pickle.loads(pickle.dumps(parse("1.500")))):
        assert str(again) == "1.500"
        assert repr(again) == "Quantity('1.500')"


def test_str_is_computed_once():
    quantity = parse("1Gi") + parse("1Gi")
    assert str(quantity) is str(quantity)


def test_maximum_prefers_the_first_on_a_tie():
    assert str(maximum(parse("1024Mi"), parse("1073741824"))) == "1Gi"
    assert str(maximum(parse("1"), parse("1.500"))) == "1.500"
    assert str(maximum(parse("2"), parse("1.500"))) == "2"


def test_total():
    assert total([]) is None
    assert str(total([parse("1.500")])) == "1.500"
    assert str(total(map(parse, ("0", "1Gi", "1Mi", "0.5")))) == "1074790400500m"
    assert str(total(map(parse, ("0", "1Gi", "1Mi")))) == "1025Mi"


def test_quantity_of():
    assert (str(quantity_of(3000)), str(quantity_of(-4096, "BinarySI"))) == ("3k", "-4Ki")
    assert quantity_of(9223372036854776).milli_value() == 9223372036854776000 - 2**64
    assert quantity_of(2**63).round_up() == parse("9223372036854775808")


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (None, "0"),
        (0, "0"),
        (1024, "1024"),
        (100000000, "100M"),
        (-3, "-3"),
        (0.5, "500m"),
        (-0.0, "0"),
        (2.0, "2"),
        (1e20, "100E"),
        (1e21, "1e+21"),
        (2e22, "20e21"),
        (0.001, "1m"),
        (0.00001, "1m"),
        (1e-6, "1m"),
        (1e-7, "1e-3"),
        ("1E5", "100e3"),
        (" 1\u00a0", "1"),
    ],
)
def test_json_value(value, kept):
    assert str(stored_quantity(value)) == kept


def test_floats_are_written_as_json_writes_them():
    assert str(from_json(1e-6)) == "1u"
    assert str(from_json(2e-9)) == "2e-9"
    assert str(from_json(12345.678)) == "12345.678"


@pytest.mark.parametrize("value", [True, False, [], {}, (), object(), float("nan"), float("inf"), "\t1", "1\n", ""])
def test_json_value_that_is_no_quantity(value):
    for read in (from_json, stored_quantity):
        with pytest.raises(QuantityError) as caught:
            read(value)
        assert caught.value.message == FORMAT_ERROR
        assert isinstance(caught.value.text, str)


@pytest.mark.parametrize("text", ["1e1001", "1e-1001", "1e9999999999", "-1E+1410065407", "5.0e-2147483648"])
def test_exponent_beyond_reason(text):
    with pytest.raises(QuantityError) as caught:
        parse(text)
    assert caught.value.message == (
        f'exponent of "{text}" is beyond reason (the server would compute until it times out)'
    )
    assert caught.value.text == text


@pytest.mark.parametrize(
    "value",
    ["1" * 1001, "1" + "0" * 5000 + "Ki", "0." + "0" * 5000 + "1", 10**1000, -(10**5000)],
    ids=["digits", "binary", "decimals", "integer", "negative"],
)
def test_digits_beyond_reason(value):
    with pytest.raises(QuantityError, match="a number of more than 1000 digits is beyond reason"):
        from_json(value)


def test_digits_just_within_reason():
    assert parse("1" * 1000).value() == int("1" * 1000)
    assert from_json(10**1000 - 1).value() == 10**1000 - 1


def test_leading_zeros_are_no_digits_and_cost_no_time():
    assert str(parse("0" * 200_000 + "1")) == "0" * 200_000 + "1"
    with pytest.raises(QuantityError, match="must match the regular expression"):
        parse("0" * 200_000 + "x")
    assert str(parse("1e" + "0" * 5000 + "1")) == "10"
    with pytest.raises(QuantityError, match="unable to parse quantity's suffix"):
        parse("1e" + "9" * 5000)


def test_cache_is_bounded_and_never_mixes_values_that_are_equal_in_python(monkeypatch):
    monkeypatch.setattr(module, "_CACHED_TEXTS", 3)
    monkeypatch.setattr(module, "_parsed", {})
    monkeypatch.setattr(module, "_stored", {})
    for number in range(10):
        assert stored_quantity(str(number)).value() == number
        assert 0 < len(module._stored) <= 3
        assert 0 < len(module._parsed) <= 3
    assert stored_quantity("9") is stored_quantity("9")
    assert parse("9") is parse("9")
    parse("0" * 100 + "1")
    assert all(len(text) <= 64 for text in module._parsed)
    assert stored_quantity(1) == stored_quantity("1")
    with pytest.raises(QuantityError):
        stored_quantity(True)


def test_a_new_quantity_is_decimal_and_zero_is_printed_bare():
    assert str(Quantity(1_500_000_000)) == "1500m"
    assert (str(ZERO), ZERO.format) == ("0", "DecimalSI")
