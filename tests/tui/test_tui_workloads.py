"""The list of workloads: all that makes pods, the worst first, and each kind by the name that kubectl has for it."""

from __future__ import annotations

import pytest
from tui.driving import LARGE, ML, demo, drive, lines_of, typed

from kubectl_kres.snapshot import read as bundled
from kubectl_kres.tui.app import Kres


def shown_names(app: Kres) -> list[str]:
    return [row.ref.kind for row in app.pane.table.view.rows.values()]  # type: ignore[union-attr]


def test_what_is_refused_comes_first_with_its_reason_and_its_fix():
    shown = drive(demo("workloads", file=ML), size=LARGE)
    first = next(line for line in shown.splitlines() if line.startswith(" >"))
    assert "deploy/checkout" in first and "refused" in first and "quota team -512Mi memory" in first
    assert "raise requests.memory of quota team to 4608Mi" in shown
    assert "waits: no node" in shown and "runs: OOMKilled" in shown
    assert "no pod yet" not in shown, "what is refused is not told as what waits"


@pytest.mark.parametrize(
    ("typed_word", "prefix", "other"),
    [("dp", "deploy/", "sts/"), ("deploy", "deploy/", "job/"), ("sts", "sts/", "deploy/"), ("jobs", "job/", "ds/")],
)
def test_a_kind_alone_by_its_name(typed_word, prefix, other):
    shown = drive(demo(file=ML), [":", *typed(typed_word), "enter"], size=LARGE)
    table = shown.partition("\n─")[0]
    assert f" {prefix}" in table and f" {other}" not in table


def test_a_kind_of_a_namespace_and_by_a_part_of_its_name():
    shown = drive(demo(file=ML), [":", *typed("deploy payments"), "enter"], size=LARGE)
    assert "ns payments" in shown and "deploy/gateway" in shown and "deploy/ranker" not in shown
    # An object of that name is meant before a namespace.
    shown = drive(demo(file=ML), [":", *typed("deploy checkout"), "enter"], size=LARGE)
    assert "deployment/checkout" in shown and "SET BY" in shown
    shown = drive(demo(file=ML), [":", *typed("deploy /pric"), "enter"], size=LARGE)
    assert "deploy/pricing" in shown and "deploy/checkout " not in shown.partition("\n─")[0]


def test_the_area_of_workloads_leads_to_it():
    app = demo(file=ML)
    counted: list[str] = []
    drive(app, then=lambda app: counted.extend(lines_of(app, " workloads  ")), size=LARGE)
    shown = drive(demo("running", file=ML), size=LARGE)
    assert f"{counted[0].split()[counted[0].split().index('workloads') + 1]} workloads" in shown


def test_a_row_opens_the_page_of_the_object():
    shown = drive(demo("workloads", file=ML), ["enter"], size=LARGE)
    assert "overview > workloads > deployment/checkout" in shown and "SET BY" in shown


def test_events_are_the_time_line():
    assert "WHAT HAPPENED" in drive(demo(file=ML), [":", *typed("ev"), "enter"], size=LARGE)


def test_a_cronjob_that_is_on_has_a_row_and_one_whose_next_pod_is_refused_its_fix():
    shown = drive(demo(file=bundled.demo_path()), [":", *typed("cj"), "enter"], size=LARGE)
    table, _, detail = shown.partition("\n─ cj/")
    assert "cj/nightly-report" in table and "scheduled" in table
    assert "cj/smoke-tests" in table and "depends-on-order" in table
    assert "correct LimitRange caps" in detail


def test_the_overview_counts_what_the_list_has():
    app = demo(file=bundled.demo_path())
    area: list[str] = []
    drive(app, then=lambda app: area.extend(lines_of(app, " workloads  ")), size=LARGE)
    # As ``kubectl kres overview`` counts them: each once, a CronJob whose pods would be refused among the refused.
    assert "10 refused" in area[0] and "1 scheduled" in area[0]
    listed = drive(demo("workloads", file=bundled.demo_path()), size=LARGE)
    assert f"{area[0].split('workloads')[1].split()[0]} workloads" in listed
