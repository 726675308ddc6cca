"""The virtual LimitRange: what a search finds is what all listing orders lead to."""

from __future__ import annotations

from itertools import permutations

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from tekton.made import limit_range

from kubectl_kres.admission.limitrange import Limits, parse
from kubectl_kres.tekton.rules.base.amounts import NAMES
from kubectl_kres.tekton.rules.resources import virtual_limitrange
from kubectl_kres.tekton.rules.resources.virtual_limitrange import ShareBounds, fold_limits, virtuals

AMOUNTS = st.sampled_from(["0", "1", "2", "3"])
ITEMS = st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, AMOUNTS))


def parsed(items: list[tuple[dict[str, str], dict[str, str]]]) -> list[Limits]:
    return [parse(limit_range(f"l{index}", defaultRequest=asked, min=low)) for index, (asked, low) in enumerate(items)]


def amounts(bounds: tuple[ShareBounds, ...]) -> tuple[tuple[int, ...], ...]:
    return tuple(
        tuple(held[name][0].nano for held in (one.default_request, one.minimum) for name in NAMES) for one in bounds
    )


@examples(60)
@given(st.lists(st.tuples(ITEMS, ITEMS), min_size=2, max_size=5))
def test_search_and_permutations_agree(items):
    limits = parsed(items)
    every = {amounts(fold_limits(order)) for order in permutations(limits)}
    assert {amounts(one.items) for one in virtual_limitrange._by_search(limits)} == every
    if len(limits) <= virtual_limitrange.MOST_ORDERED:
        assert {amounts(one.items) for one in virtuals(limits)} == every


@given(st.lists(st.tuples(ITEMS, ITEMS), min_size=2, max_size=6))
def test_the_orders_given_lead_to_the_result(items):
    limits = parsed(items)
    by_name = {one.source.name: one for one in limits}
    for one in virtuals(limits):
        for order in one.orders:
            assert sorted(order) == sorted(by_name)
            assert amounts(fold_limits([by_name[name] for name in order])) == amounts(one.items)


def test_bounds_name_the_limit_range_that_they_come_from():
    (one,) = virtuals(parsed([({"cpu": "2"}, {"cpu": "1"}), ({"cpu": "3"}, {"cpu": "2"})]))
    (bounds,) = one.items
    assert bounds.default_request["cpu"][1].name == "l0"
    assert bounds.minimum["cpu"][1].name == "l1"
    assert one.orders == ()


@pytest.mark.thorough
@pytest.mark.parametrize("number", [6, 12, 60])
def test_many_limit_ranges_with_gaps(number):
    items = [
        ({name: str(index + 1) for at, name in enumerate(NAMES) if (index + at) % 3}, {}) for index in range(number)
    ]
    found = virtuals(parsed(items))
    assert 1 < len(found) <= virtual_limitrange.MOST_FOLLOWED
    assert all(one.searched for one in found) == (number == 6)
