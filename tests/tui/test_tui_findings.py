"""The lists of findings and of policies: their rows are those of the commands' reports."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from reports.stored import box, made, store_of
from reports.test_policing import validating
from tui.driving import LARGE, ML, demo, drive, typed
from tui.still import session_on

from kubectl_kres.cli.main import entry
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.tui.app import Kres
from kubectl_kres.tui.location import Location


def rows_of(app: Any) -> list[Any]:
    return [app.pane.table.view.rows[key] for key in app.pane.table.view.keys]


def test_findings_are_those_of_the_command_the_worst_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(sys, "argv", ["kubectl-kres", "check", "--snapshot", str(ML), "-A", "-o", "json"])
    entry()
    printed = json.loads(capsys.readouterr().out)["items"]
    found: list[Any] = []
    # Typed on the first screen.
    shown = drive(demo(file=ML), [":", *typed("check"), "enter"], lambda app: found.extend(rows_of(app)), size=LARGE)
    assert [(one.code, one.object.name, sentence_text(one.message)) for one in found] == [
        (one["code"], one["object"]["name"], one["message"]) for one in printed
    ]
    assert "overview > check" in shown and "KRES1" in shown


def test_what_to_ask_next_is_asked_of_the_same_objects():
    shown = drive(demo("check", file=ML), ["enter", "escape"], size=LARGE)
    commands = [line for line in shown.splitlines() if "next kubectl kres" in line]
    assert commands and all("--demo" in line for line in commands), shown


def test_the_overview_leads_to_the_findings():
    """The last of the areas; Tab goes there."""
    shown = drive(demo(file=ML), ["tab", "end", "enter"], lambda app: None, size=LARGE)
    assert "overview > check" in shown and "KRES1" in shown


def test_policies_stand_beside_limit_ranges_by_namespace():
    limits = "object.spec.containers.all(c, has(c.resources.limits))"
    pod = {**made("Pod", "bare", spec={"containers": [box()]}), "status": {"phase": "Running"}}
    store = store_of(*validating(limits, message="limits, please"), pod)
    found: list[Any] = []

    async def act(pilot: Any) -> None:
        pilot.app.go(Location("policies", "ns"))

    shown = drive(Kres(session_on(store)), [], lambda app: found.extend(rows_of(app)), act=act, size=LARGE)
    (row,) = found
    assert (row.effect.name, row.effect.passing, row.effect.pods) == ("rule", 0, 1)
    assert "0 of 1 pods" in shown and "bare would be refused: limits, please" in shown
