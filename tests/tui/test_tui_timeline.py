"""The list of what happened: its rows are those of the command."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from reports.stored import event, made, store_of
from tui.driving import LARGE, ML, demo, drive, typed
from tui.still import session_on

from kubectl_kres.cli.main import entry
from kubectl_kres.tui.app import Kres
from kubectl_kres.tui.location import HOME, Location

pytestmark = pytest.mark.one_in(2)


def test_its_rows_are_those_of_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(sys, "argv", ["kubectl-kres", "timeline", "--snapshot", str(ML), "-A", "-o", "json"])
    entry()
    [printed] = json.loads(capsys.readouterr().out)["items"]
    rows: list[Any] = []

    def look(app: Any) -> None:
        view = app.pane.table.view
        rows.extend(view.rows[key].entry for key in view.keys)

    shown = drive(demo(file=ML), [":", *typed("timeline"), "enter"], look, size=LARGE)
    assert "overview > timeline" in shown and "kubectl kres timeline" in shown
    assert sorted((row.time, row.object.name, row.reason, row.text) for row in rows) == sorted(
        (item["time"], item["object"]["name"], item["reason"], item.get("text", "")) for item in printed["entries"]
    )
    times = [row.time[:19] for row in rows]
    assert times == sorted(times, reverse=True)


def test_its_key_shows_it_and_its_rows_are_called_what_they_are():
    shown = drive(demo(file=ML), ["t"], size=LARGE)
    assert "overview > timeline" in shown and " entries " in shown


def test_an_event_about_a_kind_that_is_not_known_is_told_and_opens_nothing():
    late = "2026-11-20T03:00:00Z"
    store = store_of(
        event("MachineDeployment/workers", "FailedCreate", "no quota left", lastTimestamp=late), made("Pod", "web")
    )
    for key in ("enter", "d", "u", "J"):
        shown = drive(Kres(session_on(store), (HOME, Location("timeline"))), [key])
        assert "machinedeployment/workers" in shown and "overview > timeline" in shown
    beside = drive(Kres(session_on(store), (HOME, Location("pods"))), size=LARGE)
    assert "FailedCreate machinedeployment/workers: no quota left" in beside
