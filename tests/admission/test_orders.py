"""LimitRanges are applied in an arbitrary order: every answer is given, and not more orders are tried than needed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import msgspec
import pytest
from admission.samples import container, limit_range, one, pod, policies, quota, values
from hypothesis import given
from hypothesis import strategies as st

from kubectl_kres.admission.base.draft import draft_pod
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.limitrange import Limits, mutate, parse
from kubectl_kres.admission.request.new_pod import MOST_ORDERED, SLOTS, admit, defaulted_drafts, orders
from kubectl_kres.model.objects import LimitRange
from kubectl_kres.provenance.journal import Source

A = limit_range("a", {"default": {"memory": "256Mi"}, "defaultRequest": {"memory": "64Mi"}})
B = limit_range("b", {"default": {"memory": "1Gi"}, "defaultRequest": {"memory": "64Mi"}})
BOUNDS = limit_range("bounds", {"type": "Pod", "max": {"memory": "2Gi"}})


def test_each_value_that_an_order_can_give():
    outcomes = admit(pod(), policies([A, B, BOUNDS]), Server())
    assert {(outcome.order, values(outcome)["containers[0].limits[memory]"]) for outcome in outcomes} == {
        (("a", "b"), "256Mi"),
        (("b", "a"), "1Gi"),
    }


def test_orders_that_lead_to_the_same_pod_are_followed_once():
    limits, server = policies([A, B]), Server()

    def followed(item):
        draft = draft_pod(item, server)
        return [order for order, _, _ in defaulted_drafts(draft, limits, None, server)]

    stated = container(limits={"memory": "1Gi"}, requests={"memory": "1Gi"})
    assert followed(pod(stated)) == [("a", "b")]
    assert followed(pod(container(limits={"memory": "1Gi"}))) == [("a", "b")]
    assert followed(pod()) == [("a", "b"), ("b", "a")]


def test_limit_ranges_without_defaults_have_no_part_in_the_order():
    assert one(pod(), policies([A, BOUNDS])).order == ()


def test_one_order_can_refuse_what_another_admits():
    outcomes = admit(pod(container(requests={"memory": "512Mi"})), policies([A, B]), Server())
    assert {outcome.order: outcome.code for outcome in outcomes} == {("a", "b"): 422, ("b", "a"): 201}


def test_each_violated_limit_range_can_answer():
    ranges = [limit_range(name, {"max": {"cpu": text}}) for name, text in (("a", "1"), ("b", "2"))]
    outcomes = admit(pod(container(limits={"cpu": "3"})), policies(ranges), Server())
    assert {outcome.message.partition(": ")[2] for outcome in outcomes} == {
        "maximum cpu usage per Container is 1, but limit is 3",
        "maximum cpu usage per Container is 2, but limit is 3",
    }


def test_each_exceeded_quota_can_answer():
    outcomes = admit(pod(), policies(quotas=[quota("a", {"pods": "0"}), quota("b", {"pods": "0"})]), Server())
    assert [outcome.message.partition(", ")[0].rpartition(" ")[2] for outcome in outcomes] == ["a", "b"]


@pytest.mark.parametrize("count", range(MOST_ORDERED + 1))
def test_how_many_orders_are_tried(count):
    active = [f"lr{number}" for number in range(count)]
    found = orders([Limits(Source("LimitRange", name), ()) for name in active])
    tried = [tuple(one.source.name for one in order) for order in found]
    assert all(sorted(order) == active for order in tried)
    assert len(set(tried)) == len(tried) == [1, 1, 2, 6, 24, 120][count]


#: Defaults of a container, of few names and amounts, so that many fill in the same.
DEFAULTS = st.dictionaries(st.sampled_from(("cpu", "memory", "example.com/card")), st.sampled_from(("1", "2")))
ITEMS = st.builds(
    lambda limits, requests: {"default": limits, "defaultRequest": requests}, st.just({}) | DEFAULTS, DEFAULTS
)


@given(
    st.lists(ITEMS, min_size=MOST_ORDERED + 1, max_size=MOST_ORDERED + 4),
    DEFAULTS,
    st.lists(DEFAULTS, min_size=1, max_size=2),
)
def test_beyond_that_each_first_and_last_one_has_its_turn(
    items: list[dict[str, dict[str, str]]], limits: dict[str, str], requests: list[dict[str, str]]
):
    """Pairs that cannot differ are left out: what is found is what all of them lead to, in the same order."""
    active = [parse(limit_range(f"lr{number}", item)) for number, item in enumerate(items)]
    active = [each for each in active if any(each.defaults)]
    containers = [container(f"c{number}", requests=each) for number, each in enumerate(requests)]
    item = pod(*containers, container("limited", limits=limits))

    def look(order: Sequence[Limits]) -> tuple[object, ...]:
        draft = draft_pod(item, Server())
        for each in order:
            mutate(draft, each, None)
        return draft.annotation, *sorted((path, str(value)) for path, value in draft.values().items())

    every = dict.fromkeys(
        look((first, *(each for each in active if each not in (first, last)), last))
        for first, last in permutations(active, 2)
    )
    if len(active) > MOST_ORDERED:
        assert [*dict.fromkeys(map(look, orders(active)))] == [*every]


def test_a_thousand_alike_are_tried_once():
    active = [parse(limit_range(f"lr{number}", {"default": {"cpu": "1"}})) for number in range(1000)]
    assert len([*orders(active)]) == 1


def test_seven_limit_ranges_give_all_values():
    ranges = [
        limit_range(f"lr{n}", {"default": {"cpu": str(n + 1), "memory": f"{n + 1}Gi"}, "min": {"cpu": "1m"}})
        for n in range(7)
    ]
    outcomes = admit(pod(), policies(ranges), Server(), journal=False)
    found = {values(outcome)["containers[0].limits[cpu]"] for outcome in outcomes}
    assert found == {str(n + 1) for n in range(7)}


def stored(name: str, version: int, second: int = 0) -> LimitRange:
    """A LimitRange as the server has it."""
    meta = {"name": name, "resourceVersion": str(version), "creationTimestamp": f"2026-01-01T00:00:{second:02}Z"}
    spec = {"limits": [{"type": "Container", "default": {f"example.com/{name}": "1"}}]}
    return msgspec.convert({"metadata": meta, "spec": spec}, LimitRange)


def test_stored_limit_ranges_come_in_turns_of_one_order():
    """By name, as they come when a server starts, or as they were created since; not in all of 720 orders."""
    active = [parse(stored(name, version)) for name, version in zip("abcdef", (3, 1, 2, 6, 5, 4), strict=True)]
    found = {"".join(one.source.name for one in order) for order in orders(active)}
    turns = {base[turn:] + base[:turn] for base in ("abcdef", "bcafed") for turn in range(6)}
    assert found == turns


def test_more_than_a_group_of_a_go_map_come_in_any_order():
    active = [parse(stored(name, version)) for version, name in enumerate("abc")]
    assert len(list(orders(active, SLOTS + 1))) == 6
    assert len(list(orders(active, SLOTS))) == 3
