"""What the real library and the real server answered, against ours.

``recorded.json`` was printed by k8s.io/apimachinery v0.36.3: ``parsed`` is the text after UnmarshalJSON, ``stored`` the
text after RoundUp(Milli) as well, ``milli`` is MilliValue, ``plus`` and ``minus`` are the stored quantity and the one
before it in the file (at first 1500m), added and subtracted.
"""

import json
from pathlib import Path

import pytest

from kubectl_kres.errors import QuantityError
from kubectl_kres.quantity import from_json, parse, stored_quantity

HERE = Path(__file__).parent
ROWS = json.loads((HERE / "recorded.json").read_text("utf-8"))
READ = [row for row in ROWS if "error" not in row]
#: What the API server stored for a text or JSON value in a quota or a pod, or said about it.
SERVER = [
    case
    for case in json.loads((HERE.parent / "vectors/admission/quantities.json").read_text("utf-8"), parse_float=str)[
        "cases"
    ]
    if case["name"].split("-")[0] in {"memory", "cpu", "json", "bad"}
]


def amounts(obj):
    """Each value of each resource list of a quota's or a pod's spec, by path."""
    spec = obj["spec"]
    for name, value in spec.get("hard", {}).items():
        yield ("hard", name), value
    for container in spec.get("containers", ()):
        for which, items in container.get("resources", {}).items():
            for name, value in items.items():
                yield (container["name"], which, name), value


@pytest.mark.parametrize("row", READ, ids=lambda row: repr(row["text"]))
def test_text_is_read_as_the_library_reads_it(row):
    quantity = from_json(row["text"])
    assert str(quantity) == row["parsed"]
    assert quantity.format == row["format"]
    assert str(quantity.round_up()) == str(stored_quantity(row["text"])) == row["stored"]
    assert stored_quantity(row["text"]).milli_value() == row["milli"]


@pytest.mark.parametrize("row", [row for row in ROWS if "error" in row], ids=lambda row: repr(row["text"]))
def test_text_is_refused_with_the_servers_sentence(row):
    with pytest.raises(QuantityError) as caught:
        from_json(row["text"])
    assert caught.value.message == row["error"]
    assert caught.value.text == row["text"].strip(" ")
    assert caught.value.exit_code == 2


def test_sums_and_differences_are_printed_as_the_library_prints_them():
    before = parse("1500m")
    for row in READ:
        quantity = stored_quantity(row["text"])
        assert (str(quantity + before), str(quantity - before)) == (row["plus"], row["minus"]), row["text"]
        before = quantity


@pytest.mark.parametrize("case", SERVER, ids=lambda case: case["name"])
def test_server_stores_or_refuses(case):
    given = dict(amounts(case["request"]["object"]))
    assert given
    if case["expect"]["code"] == 400:
        with pytest.raises(QuantityError) as caught:
            [stored_quantity(value) for value in given.values()]
        assert case["expect"]["message"].endswith(": " + caught.value.message)
    elif case["expect"]["code"] == 422:  # refused for being negative, after it was read
        assert all(
            f'"{stored_quantity(value)}": must be greater' in case["expect"]["message"] for value in given.values()
        )
    else:
        kept = dict(amounts(case["expect"]["object"]))
        assert {path: str(stored_quantity(value)) for path, value in given.items()} == {
            path: kept[path] for path in given
        }
