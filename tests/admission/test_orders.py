"""LimitRanges are applied in an arbitrary order: every answer is given, and not more orders are tried than needed."""

from __future__ import annotations

import msgspec
import pytest
from admission.samples import container, limit_range, one, pod, policies, quota, values

from kubectl_kres.admission.base.draft import draft_pod
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.limitrange import Limits, parse
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


@pytest.mark.parametrize("count", range(MOST_ORDERED + 3))
def test_how_many_orders_are_tried(count):
    """All up to MOST_ORDERED; beyond, each pair of a first and a last one, of which any two values get their turns."""
    active = [f"lr{number}" for number in range(count)]
    found = orders([Limits(Source("LimitRange", name), ()) for name in active])
    tried = [tuple(one.source.name for one in order) for order in found]
    assert all(sorted(order) == active for order in tried)
    assert len(set(tried)) == len(tried)
    if count > MOST_ORDERED:
        assert {(order[0], order[-1]) for order in tried} == {(a, b) for a in active for b in active if a != b}
    else:
        assert len(tried) == [1, 1, 2, 6, 24, 120][count]


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
