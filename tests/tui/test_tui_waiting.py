"""Whoever waits for room, in the order in which it is given: for a quota, a pool, a queue or a node."""

from __future__ import annotations

import pytest
from tui.driving import LARGE, SMALL, demo, drive, typed

from kubectl_kres.model.objects import Metadata
from kubectl_kres.model.pod import Pod, PodSpec
from kubectl_kres.reports.waiting import waits_for_nodes
from kubectl_kres.snapshot import read as bundled
from kubectl_kres.store.store import Coverage, ReadRequest
from kubectl_kres.tui.lists import refusals
from kubectl_kres.tui.lists.list_registry import LISTINGS
from kubectl_kres.tui.session import Session


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


def test_who_waits_is_known_before_what_mends_it_and_keeps_that_while_it_is_looked_for_again():
    """A fix takes most of the time: first all rows come without one, or with that of the last time."""

    def then(app):
        make, fixes = LISTINGS["waiting"].source.rows, []
        app.session.cache_by_kinds((), refusals._nothing_mended).clear()
        for _ in range(2):
            rows = [(key, row) for key, row in make(app.session, "") if key and row.waits.waits_for.name == "team"]
            half = len(rows) // 2
            assert half and [key for key, _ in rows[:half]] == [key for key, _ in rows[half:]]
            fixes += [bool(row.fix) for _, row in (rows[0], rows[half])]
        assert fixes == [False, True, True, True]

    drive(demo("waiting"), then=then)


@pytest.mark.parametrize("name", ["waiting", "refused"])
def test_fixes_come_in_the_end_where_something_else_is_read_last(name, monkeypatch):
    """Pods for another screen, classes: what makes a list again when it ends is all that fixes wait for."""
    late = {"PriorityClass", "RuntimeClass", "PersistentVolumeClaim", *({"Pod"} if name == "refused" else ())}
    is_reading = Session.is_reading

    def slow(session, reads):
        reads = tuple(reads)
        return any(read.kind in late for read in reads) or is_reading(session, reads)

    def then(app):
        monkeypatch.setattr(Session, "is_reading", slow)
        rows = dict(row for row in LISTINGS[name].source.rows(app.session, "checkout") if row[0])
        assert any(LISTINGS[name].subject.remedies(row) if name == "refused" else row.fix for row in rows.values())

    drive(demo("waiting"), then=then)


def test_nodes_are_not_asked_before_it_is_known_how_few_pods_there_are():
    def then(app):
        def asked():
            return {read.kind for read in LISTINGS["waiting"].source.more_reads(app.session, "")}

        known = asked()
        app.session.store.cover(ReadRequest("Pod"), Coverage("unread"))
        assert known - asked() >= {"Node.of/scheduler", "Pod.on/nodes"}

    drive(demo("waiting", file=bundled.demo_path()), then=then)
