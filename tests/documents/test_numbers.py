"""Scalars and numbers as kubectl 1.32.4 printed them (``kubectl annotate --local -f - -o json x=y``)."""

import base64

import pytest

from kubectl_kres.documents import scalar
from kubectl_kres.documents import scalar as number
from kubectl_kres.documents.scalar import Number

YAML = {
    "1": 1,
    "0.5": Number("0.5"),
    "1.0": 1,
    "1.": 1,
    "1e3": 1000,
    "12e03": 12000,
    "0.1e1": 1,
    "010": 8,
    "-010": -8,
    "08": 8,
    "0x10": 16,
    "-0x10": -16,
    "0o17": 15,
    "0b11": 3,
    "+1": 1,
    "-0": 0,
    "-0.0": 0,
    "1_000": 1000,
    "1_0.5": Number("10.5"),
    ".5": Number("0.5"),
    ".1_7": Number("0.17"),
    ".1e1_0": 1000000000,
    ".9_": ".9_",
    "._9": "._9",
    "1_.5": Number("1.5"),
    "1.50": Number("1.5"),
    "1e21": Number("1e+21"),
    "1e20": Number("100000000000000000000"),
    "1e-7": Number("1e-7"),
    "0.000001": Number("0.000001"),
    "1e400": "1e400",
    "0xffffffffffffffffff": "0xffffffffffffffffff",
    "9223372036854775807": 9223372036854775807,
    "9223372036854775808": Number("9223372036854776000"),
    "18446744073709551615": Number("18446744073709552000"),
    "123456789012345678901234567890": Number("1.2345678901234568e+29"),
    "500m": "500m",
    "1Gi": "1Gi",
    "yes": True,
    "y": True,
    "Yes": True,
    "YES": True,
    "yEs": "yEs",
    "on": True,
    "off": False,
    "n": False,
    "true": True,
    "~": None,
    "": None,
    "Null": None,
    "2024-01-01": "2024-01-01",
    "2001-12-14t21:59:43.10-05:00": "2001-12-14t21:59:43.10-05:00",
    "12:30:45": "12:30:45",
    "190:20:30.15": "190:20:30.15",
    "=": "=",
    "-": "-",
    ".": ".",
    "1 000": "1 000",
}


@pytest.mark.parametrize(("text", "value"), YAML.items())
def test_plain_scalars_mean_what_they_mean_to_kubectl(text, value):
    found = scalar.resolve(text, plain=True)
    assert (found, type(found)) == (value, type(value))
    assert scalar.resolve(text, plain=False) == text


TAGGED = [
    ("str", "5", "5"),
    ("int", "5", 5),
    ("float", "3", 3),
    ("float", "3.5", Number("3.5")),
    ("bool", "yes", True),
    ("null", "", None),
    ("timestamp", "2001-01-01", "2001-01-01"),
    ("binary", base64.b64encode("grüß".encode()).decode(), "grüß"),
]


@pytest.mark.parametrize(("tag", "text", "value"), TAGGED)
def test_tags(tag, text, value):
    assert scalar.resolve(text, plain=False, tag=f"tag:yaml.org,2002:{tag}") == value


def test_other_tags_make_strings():
    assert scalar.resolve("5", plain=True, tag="!mine") == "5"
    assert scalar.resolve("5", plain=True, tag="!") == "5"


REFUSED = [
    ("x", "int", "cannot decode !!str `x` as a !!int"),
    ("1.5", "int", "cannot decode !!float `1.5` as a !!int"),
    ("", "bool", "cannot decode !!null `` as a !!bool"),
    ("yes", "null", "cannot decode !!bool `yes` as a !!null"),
    ("%", "binary", "!!binary value contains invalid base64 data"),
    (".inf", "", ".inf is a number that JSON does not have; quote it if it is text"),
    ("-.INF", "", "-.INF is a number that JSON does not have; quote it if it is text"),
]


@pytest.mark.parametrize(("text", "tag", "message"), REFUSED)
def test_what_kubectl_refuses(text, tag, message):
    with pytest.raises(ValueError) as refused:
        scalar.resolve(text, plain=True, tag=tag and f"tag:yaml.org,2002:{tag}")
    assert str(refused.value) == message


JSON = {
    "1.50": "1.5",
    "1e3": 1000,
    "1.0": 1,
    "-0": 0,
    "1e-7": "1e-7",
    "9007199254740993": 9007199254740993,
    "12345678901234567890": "12345678901234567000",
    "1e21": "1e+21",
    "-1.5E+300": "-1.5e+300",
    "1e-400": 0,
    "1" * 300: "1.1111111111111112e+299",
}


@pytest.mark.parametrize(("text", "value"), JSON.items())
def test_json_numbers_are_printed_as_go_prints_them(text, value):
    found = number.from_json(text)
    assert found == value
    assert isinstance(found, int) == isinstance(value, int)


@pytest.mark.parametrize("text", ["1e400", "-1e400", "9" * 400])
def test_a_number_beyond_float64_is_refused(text):
    with pytest.raises(OverflowError):
        number.from_json(text)


@pytest.mark.parametrize(
    ("value", "text"), [(True, "true"), (False, "false"), (7, "7"), (Number("1.5"), "1.5"), ("a", "a")]
)
def test_keys_are_text(value, text):
    assert scalar.key(value) == text


def test_null_is_no_key():
    with pytest.raises(ValueError, match="a key must be text, not null"):
        scalar.key(None)
