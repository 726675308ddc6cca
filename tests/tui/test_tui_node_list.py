"""The list of nodes: what is left of each, whose pods request it, and which new pod finds no room."""

from __future__ import annotations

from tui.driving import LARGE, SMALL, demo, drive, typed

from kubectl_kres.snapshot import read as bundled


def test_the_node_with_too_much_on_it_comes_first_with_who_holds_it():
    shown = drive(demo("nodes", file=bundled.demo_path()), size=LARGE)
    first = next(line for line in shown.splitlines() if line.startswith(" >"))
    assert "node-2" in first and "over" in first and "131%" in first and "20/110" in first
    assert "payments/ledger-db-0" in shown and "57%" in shown
    assert "A payments" in shown and "▏ allocatable" in shown


def test_all_of_it_has_room_at_80_columns():
    shown = drive(demo(file=bundled.demo_path()), [":", *typed("no"), "enter"], size=SMALL)
    head = next(line for line in shown.splitlines() if "NAME" in line)
    assert all(word in head for word in ("STATE", "CPU%", "CPU FREE", "MEM%", "MEM FREE", "PODS"))
    assert "…" not in shown.partition("\n─ no/")[0]


def test_a_node_opens_its_pods():
    shown = drive(demo("nodes", file=bundled.demo_path()), ["enter"], size=LARGE)
    assert "overview > nodes > pods" in shown and "filter node=node-2" in shown
    assert "ledger-db-0" in shown and "queue-0" not in shown
