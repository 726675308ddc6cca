"""The list of what happened: its rows are those of the command."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from tui.driving import LARGE, ML, demo, drive, typed

from kubectl_kres.cli.main import entry


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
