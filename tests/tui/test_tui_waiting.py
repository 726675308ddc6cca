"""Whoever waits for room, in the order in which it is given: for a quota, a pool, a queue or a node."""

from __future__ import annotations

from tui.driving import LARGE, SMALL, demo, drive, typed

from kubectl_kres.model.objects import Metadata
from kubectl_kres.model.pod import Pod, PodSpec
from kubectl_kres.reports.waiting import waits_for_nodes
from kubectl_kres.snapshot import read as bundled


def rows(shown: str) -> list[str]:
    return [line for line in shown.splitlines() if line[2:3] in {"x", "!"}]


def test_all_that_waits_stands_in_the_order_of_its_queue():
    shown = rows(drive(demo("waiting", file=bundled.demo_path()), size=LARGE))
    assert any("quota/team" in line and "deploy/checkout" in line and "memory 512Mi" in line for line in shown)
    pool = [line for line in shown if "pool/ml-compute" in line]
    assert [line.split("ml-compute")[1].strip()[:6] for line in pool] == ["1 of 3", "2 of 3", "3 of 3"]
    assert "claim/sweep" in pool[0] and "cpu 4, memory 2Gi" in pool[0]
    assert "behind 1: cpu" in pool[1] and "behind 2: cpu" in pool[2]
    assert "a node" in shown[-1] and "3 Insufficient memory" in shown[-1]


def test_the_detail_says_who_holds_it_and_who_must_go():
    shown = drive(demo("waiting", file=bundled.demo_path()), ["slash", *typed("sweep"), "enter"], size=LARGE)
    assert "release ml-training/nightly" in shown
    shown = drive(demo("waiting", file=bundled.demo_path()), ["slash", *typed("deploy/checkout"), "enter"], size=LARGE)
    assert "who holds it" in shown and "raise requests.memory of quota team" in shown
    shown = drive(demo("waiting", file=bundled.demo_path()), ["G"], size=LARGE)
    assert "nearest node-" in shown and "most of it is requested by" in shown


def test_who_and_what_for_have_room_at_80_columns():
    shown = drive(demo("waiting", file=bundled.demo_path()), size=SMALL)
    assert all(word in shown for word in ("WAITS FOR", "PLACE", "WHO", "SHORT BY", "job/thumbnails", "pods 1"))


def test_the_owner_key_goes_to_what_is_waited_for():
    assert "quota/best-effort" in drive(demo("waiting", file=bundled.demo_path()), ["J"], size=LARGE).splitlines()[1]
    assert "> nodes" in drive(demo("waiting", file=bundled.demo_path()), ["G", "J"], size=LARGE).splitlines()[1]


def test_of_pods_the_important_ones_come_first_and_of_equals_the_oldest():
    def pod(name: str, priority: int | None, created: str) -> Pod:
        metadata = Metadata(name=name, namespace="a", creation_timestamp=created)
        return Pod(metadata=metadata, spec=PodSpec(priority=priority))

    pods = [pod("young", 5, "2026-01-02T00:00:00Z"), pod("none", None, "2025-01-01T00:00:00Z")]
    waiting = waits_for_nodes([*pods, pod("old", 5, "2026-01-01T00:00:00Z")])
    assert [(each.subject.name, each.place, each.length) for each in waiting] == [
        ("old", 1, 3),
        ("young", 2, 3),
        ("none", 3, 3),
    ]
