"""The defaults that a LimitRange gives itself, and the field that each really came from."""

from __future__ import annotations

import pytest
from admission.samples import limit_range, one, pod, policies, values

from kubectl_kres.admission.limitrange import max_over_min, parse, shown_float, stored_spec
from kubectl_kres.provenance.journal import Set
from kubectl_kres.quantity import parse as quantity

MAX, DEFAULT, REQUEST, MIN = "max", "default", "defaultRequest", "min"


@pytest.mark.parametrize(
    ("item", "default", "request_", "origins"),
    [
        pytest.param({MAX: "2"}, "2", "2", (MAX, MAX), id="max alone gives all three"),
        pytest.param({MAX: "2", MIN: "1"}, "2", "2", (MAX, MAX), id="min and max: the request is max"),
        pytest.param({DEFAULT: "2"}, "2", "2", (DEFAULT, DEFAULT), id="default becomes the request"),
        pytest.param({MIN: "1"}, None, "1", (None, MIN), id="min becomes the request, and no limit"),
        pytest.param({DEFAULT: "2", REQUEST: "1"}, "2", "1", (DEFAULT, REQUEST), id="nothing to fill"),
        pytest.param({MAX: "4", REQUEST: "1", MIN: "500m"}, "4", "1", (MAX, REQUEST), id="max and a request"),
        pytest.param({REQUEST: "1"}, None, "1", (None, REQUEST), id="a request alone"),
    ],
)
def test_defaults_and_where_they_come_from(item, default, request_, origins):
    found = limit_range("lr", {field: {"cpu": text} for field, text in item.items()})
    outcome = one(pod(), policies([found]))
    filled = values(outcome)
    sources = {
        entry.path.rpartition(".")[2]: entry.source.field
        for entry in outcome.journal
        if isinstance(entry, Set) and entry.source
    }
    for side, text, origin in (("limits", default, origins[0]), ("requests", request_, origins[1])):
        assert filled.get(f"containers[0].{side}[cpu]") == text
        assert sources.get(f"{side}[cpu]") == (f"spec.limits[0].{origin}[cpu]" if origin else None)


def test_only_container_items_fill_themselves():
    limits = parse(limit_range("lr", {"type": "Pod", "max": {"cpu": "2"}}))
    assert stored_spec(limits) == {"limits": [{"type": "Pod", "max": {"cpu": "2"}}]}
    assert stored_spec(parse(limit_range("empty"))) == {"limits": None}


def test_the_journal_of_the_object_says_what_filled_what():
    journal: list = []
    parse(limit_range("lr", {"max": {"cpu": "2"}, "min": {"cpu": "1", "memory": "0.5Gi"}}), journal)
    assert [(entry.path.removeprefix("spec.limits[0]."), entry.rule, entry.after) for entry in journal] == [
        ("min[memory]", "quantity/canonical", "512Mi"),
        ("default[cpu]", "limitrange/default-from-max", "2"),
        ("defaultRequest[cpu]", "limitrange/default-request-from-default", "2"),
        ("defaultRequest[memory]", "limitrange/default-request-from-min", "512Mi"),
    ]


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        ("1", "4", "4.000000"),
        ("3", "1", "0.333333"),
        ("0", "1", "+Inf"),
        ("0", "-1", "-Inf"),
        ("100m", "1", "10.000000"),
    ],
)
def test_max_over_min(low, high, shown):
    assert shown_float(max_over_min(quantity(low), quantity(high), quantity("1"))) == shown
