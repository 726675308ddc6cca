"""Pictures say the same as their figures: cells in proportion, nothing that is there without a cell."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from kubectl_kres.capsule.reports.pool.pool_report import Holder, PoolReport, PoolUse, Queued
from kubectl_kres.capsule.reports.unblock.actions import UnblockOption
from kubectl_kres.capsule.text.pool_queue import pool_rooms, queue_lines
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.pictures.bounds import Pair, bounds_lines, scale_lines
from kubectl_kres.render.pictures.holders import (
    LETTERS,
    Room,
    Stack,
    assign_letters,
    draw_stack,
    holders_lines,
    quota_rooms,
)
from kubectl_kres.reports.common.explanation import Alternative, ContainerValues, Explanation, ResourceValue, Verdict
from kubectl_kres.reports.namespace.policy_explanation import Band, PolicyExplanation
from kubectl_kres.reports.quota.quota_report import QuotaReport, QuotaUse, UsageShare

amounts = st.integers(0, 10**18)


def text(line):
    return "".join(part for _, part in line)


@given(st.lists(amounts, max_size=9), amounts, amounts, st.integers(24, 80), st.booleans())
def test_a_bar_has_its_cells_and_every_part_one(parts, hard, wanted, cells, ascii_only):
    letters = (*LETTERS, "+")
    stack = Stack(list(zip(letters, parts, strict=False)), hard, wanted)
    drawn = text(draw_stack(stack, cells, ascii_only=ascii_only))
    assert len(drawn) == (cells if any((*parts, hard, wanted)) else 1)
    assert all(letter in drawn for letter, amount in stack.parts if amount)
    assert not wanted or ("#" if ascii_only else "▒") in drawn
    assert drawn.isascii() == ascii_only


def test_parts_keep_their_proportion():
    assert text(draw_stack(Stack([("A", 6), ("B", 2)], 16, 8), 25, ascii_only=True)) == "AAAAAABB........|########"


def test_the_end_stands_among_the_parts_where_they_hold_too_much():
    assert text(draw_stack(Stack([("A", 6), ("B", 6)], 8), 13, ascii_only=True)) == "AAAAAABB|BBBB"


POOL = PoolReport(
    ObjectRef("ResourcePool", "ml"),
    uses=(
        PoolUse("requests.memory", "8Gi", "3Gi", "5Gi"),
        PoolUse("requests.cpu", "16", "12", "4", wanted="8"),
    ),
    holders=(
        Holder(ObjectRef("ResourcePoolClaim", "nightly", "train"), {"requests.cpu": "8", "requests.memory": "1Gi"}),
        Holder(ObjectRef("ResourcePoolClaim", "ranker", "serve"), {"requests.cpu": "4", "requests.memory": "2Gi"}),
    ),
)


def test_the_resource_that_somebody_waits_for_comes_first_and_gives_the_letters():
    rooms = pool_rooms(POOL)
    assert [room.name for room in rooms] == ["requests.cpu", "requests.memory"]
    assert assign_letters(rooms) == {"train/nightly": "A", "serve/ranker": "B"}


def test_the_legend_says_what_each_holds_and_what_is_free_and_wanted():
    said = [text(line) for line in holders_lines(pool_rooms(POOL), 70, ascii_only=True)]
    assert said[0] == "who holds it"
    assert "  A train/nightly requests.cpu 8, requests.memory 1Gi" in said
    assert "  . free: requests.cpu 4, requests.memory 5Gi" in said
    assert "  # wanted: requests.cpu 8" in said


def test_the_tightest_name_of_a_quota_comes_first():
    shares = (
        UsageShare("Deployment/a", 1, {"pods": "1", "requests.cpu": "900m"}),
        UsageShare("Deployment/b", 1, {"pods": "1"}),
    )
    uses = (QuotaUse("pods", "10", "2", "8", 20), QuotaUse("requests.cpu", "1", "900m", "100m", 90))
    rooms = quota_rooms(QuotaReport(ObjectRef("ResourceQuota", "q", "n"), uses, grouped_by="workload", shares=shares))
    assert [room.name for room in rooms] == ["requests.cpu", "pods"]


def test_more_holders_than_letters_share_a_sign():
    rooms = [Room("pods", "20", {f"d{number}": "1" for number in range(12)})]
    said = [text(line) for line in holders_lines(rooms, 60, ascii_only=True)]
    assert "+" in said[1]
    assert "  + 4 others" in said


def test_nobody_holds_anything():
    assert list(holders_lines([Room("pods", "3", {})], 60, ascii_only=True)) == []


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        (Pair("app", "cpu", "1", "1"), "1 of 1  ="),
        (Pair("app", "cpu", "500m", "1"), "500m of 1"),
        (Pair("app", "cpu", "500m", None), "500m of no limit"),
        (Pair("app", "cpu", None, None), "none of no limit"),
    ],
)
def test_a_request_and_its_limit_on_one_scale(pair, said):
    line, *legend = scale_lines([pair], 80, ascii_only=True)
    assert said in text(line)
    assert [text(said) for said in legend] == ["  # request, - up to the limit, > no limit, = request is the limit"]
    assert (line[-1][1] == "  =") == pair.equal
    assert (">" in text(line)) == (pair.limit is None)


def test_two_containers_have_the_same_scale():
    lines = [
        text(line)
        for line in scale_lines([Pair("a", "cpu", "1", "1"), Pair("b", "cpu", "2", "2")], 60, ascii_only=True)
    ]
    assert lines[1].count("#") == 2 * lines[0].count("#") or abs(lines[1].count("#") - 2 * lines[0].count("#")) <= 1


QUEUE = structs.replace(
    POOL,
    queue=(
        Queued(
            1,
            ObjectRef("ResourcePoolClaim", "sweep", "train"),
            "exhausted",
            {"requests.cpu": "8"},
            {"requests.cpu": "4"},
        ),
        Queued(
            2,
            ObjectRef("ResourcePoolClaim", "alice", "books"),
            "queued",
            {"requests.cpu": "1"},
            closed_resources=("requests.cpu",),
        ),
        Queued(
            3,
            ObjectRef("ResourcePoolClaim", "canary", "serve"),
            "queued",
            {"requests.cpu": "2"},
            closed_resources=("requests.cpu",),
        ),
    ),
    ordered=True,
)
RELEASE = UnblockOption(
    "give way",
    "release train/nightly",
    replayed=True,
    also_admitted=(ObjectRef("ResourcePoolClaim", "alice", "books"),),
    still_waiting=(ObjectRef("ResourcePoolClaim", "canary", "serve"),),
)


def test_the_queue_shows_who_blocks_who_follows_and_what_a_remedy_changes():
    said = [text(line) for line in queue_lines(QUEUE, [RELEASE], 100, ascii_only=True)]
    assert said[0] == "who waits"
    assert re.fullmatch(r"  requests\.cpu  \.+\|1+\|2+\|3+\| 4 free", said[1])
    assert said[2] == "  1 train/sweep asks for requests.cpu 8; short by requests.cpu 4"
    assert said[3].startswith("  2 books/alice asks for requests.cpu 1; blocked by an earlier")
    assert said[-1] == "fix  release train/nightly: 1, 2 get in, 3 waits"


def test_a_pool_that_nobody_waits_for_has_no_queue_to_draw():
    assert list(queue_lines(POOL, [], 60, ascii_only=True)) == []


def _namespace(*uses, bands=(), values=()):
    quota = QuotaReport(ObjectRef("ResourceQuota", "team", "ns"), uses=uses)
    containers = (ContainerValues("bare", "container", "", values),)
    bare = Explanation(ObjectRef("Pod", "bare", "ns"), "", Verdict(True, 201), (), containers=containers)
    return PolicyExplanation(ObjectRef("Namespace", "ns"), quotas=(quota,), bands=bands, pod_without_values=bare)


def _default(side, value, *others):
    alternatives = tuple(Alternative(other) for other in others)
    path = f"spec.containers[0].resources.{side}"
    return ResourceValue(path, side, "memory", None, value, rule="limitrange/default", alternatives=alternatives)


def test_a_namespace_has_one_scale_a_resource():
    """19 cells are 4Gi: the quota of limits is the longest, a container is a part of it."""
    found = _namespace(
        QuotaUse("requests.memory", "2Gi", "1Gi", "1Gi", 50),
        QuotaUse("limits.memory", "4Gi", "4Gi", "0", 100),
        QuotaUse("pods", "4", "1", "3", 25),
        bands=(Band("Container", "memory", high="1Gi", ratio="4"),),
        values=(_default("requests", "256Mi"), _default("limits", "512Mi", "256Mi")),
    )
    drawn = [text(line).rstrip() for line in bounds_lines(found, 70, ascii_only=True)]
    assert drawn == [
        "",
        "requests and limits against the quotas",
        "  memory  requests   ####.....|           1Gi of 2Gi, 50%, quota team",
        "          limits     ###################| 4Gi of 4Gi, 100%, quota team",
        "          container  #...|",
        "          gets request 256Mi, limit 256Mi or 512Mi, max 1Gi, ratio 4",
        "  # used, . free, | hard; of a container # request, - up to its limit,",
        "  | max",
    ]


def test_a_quota_that_is_over_has_its_end_among_what_is_used():
    found = _namespace(QuotaUse("requests.cpu", "2", "4", "-2", 200))
    [line, legend] = list(bounds_lines(found, 80, ascii_only=True))[2:]
    assert text(legend) == "  # used, . free, | hard"
    assert re.search(r"(#+)\|\1 ", text(line))
    assert ("bad" in [tone for tone, _ in line]) and "4 of 2, 200%" in text(line)
    assert not list(bounds_lines(_namespace(QuotaUse("pods", "4", "1", "3", 25)), 80, ascii_only=True))
