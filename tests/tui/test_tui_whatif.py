"""A number that is tried: all screens show what becomes of it, marked, and as ``simulate`` says it."""

from __future__ import annotations

import re
import shlex
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reports.stored import made, store_of
from tui.driving import LARGE, ML, SMALL, demo, drive, press, typed, until
from tui.still import Still, session_on
from tui.test_tui_snapshots import before

from kubectl_kres.cli.main import entry
from kubectl_kres.errors import UsageError
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.common.remedy import DeleteObject, RaiseQuota, Remedy, SetValue
from kubectl_kres.snapshot.read import demo_path
from kubectl_kres.tui import whatif
from kubectl_kres.tui.app import Kres
from kubectl_kres.tui.location import HOME, Location
from kubectl_kres.tui.whatif import number_of_fix
from kubectl_kres.tui.widgets.prompt import step_value

pytestmark = pytest.mark.one_in(2)

FIVE = ["s", "5", "enter"]
#: Where a page of text has the 80 columns of a command that is not on a terminal.
TALL = (83, 60)


def tried(words: str, keys: list[str], **how: Any) -> str:
    return drive(demo(words, file=ML), keys, **how)


@pytest.mark.thorough
def test_all_screens_show_what_becomes_of_it():
    shown = tried("deploy pricing", FIVE, size=LARGE)
    assert "Deployment/pricing  2 of 2 pods -> 3 of 5 pods" in shown
    # Argo CD owns the Deployment: what it would undo is no command here.
    assert "Argo CD owns it" in shown
    assert "spec.replicas: 5" in shown
    assert "~ what if deployment/pricing replicas=5" in shown.splitlines()[0]
    shown = tried("deploy pricing", [*FIVE, "escape"], size=LARGE)
    assert "3 of 5 pods exist; quota team is short by 128Mi of requests.memory" in shown
    shown = tried("deploy pricing", [*FIVE, ":", *typed("pods checkout"), "enter"], size=LARGE)
    assert [line[:40].split()[:2] for line in shown.splitlines() if line.startswith("~")] == [
        ["~", "pricing-54fc59fd48-what-if-1"]
    ]
    shown = tried("deploy pricing", [*FIVE, ":", *typed("quota team checkout"), "enter"], size=LARGE)
    assert "~ requests.memory  2880Mi  3Gi   192Mi" in shown
    assert "~   Deployment/pricing    3" in shown
    assert "    StatefulSet/sessions  1" in shown


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    ("words", "keys"),
    [
        ("deploy pricing", FIVE),
        ("quota best-effort", ["s", "6", "enter"]),
        ("claim sweep", ["s", "4", "enter"]),
        ("deploy pricing", ["down", "down", "s", "2", "enter"]),
        ("deploy pricing", [*FIVE, "escape", "g", "s", "1", "enter"]),
    ],
)
def test_the_command_prints_what_the_screen_shows(
    words: str, keys: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    app = demo(words, file=ML)
    commands: list[str] = []

    def look(shown: Kres) -> None:
        assert shown.pane is not None
        commands.append(shown.pane.command())

    shown = drive(app, keys, look, size=TALL)
    given = shlex.split(commands[0])
    assert given[:3] == ["kubectl", "kres", "simulate"]
    monkeypatch.setattr(sys, "argv", ["/usr/bin/kubectl-kres", *given[2:-1], "--snapshot", str(ML)])
    entry()
    printed = capsys.readouterr().out.splitlines()
    assert printed
    assert " ".join(" ".join(printed).split()) in " ".join(shown.split())


def test_what_arrives_meanwhile_is_drawn_too():
    """A pod that comes while a number is tried is on both sides; what the change made is not undone by it."""
    hard, used = {"pods": "4"}, {"pods": "1"}
    quota = made("ResourceQuota", "team", spec={"hard": hard}, status={"hard": hard, "used": used})
    store, feed = store_of(quota, made("Pod", "web")), Still()
    app = Kres(session_on(store, feed), (HOME, Location("quota", ref=ObjectRef("ResourceQuota", "team", "ns"))))
    seen: list[str] = []

    async def act(pilot: Any) -> None:
        await press(pilot, ["s", "9", "enter"])
        seen.append(await until(pilot, "pods: used 1 of 4 -> used 1 of 9"))
        later = {"hard": hard, "used": {"pods": "2"}}
        again = store_of(made("ResourceQuota", "team", spec={"hard": hard}, status=later), made("Pod", "late"))
        feed.coming.append(("put", "ResourceQuota", again.get("ResourceQuota", "team", "ns")))
        feed.coming.append(("put", "Pod", again.get("Pod", "late", "ns")))
        await press(pilot, [":", *typed("pods"), "enter"])
        seen.append(await until(pilot, "late", "web"))
        await press(pilot, [":", *typed("quotas"), "enter"])
        seen.append(await until(pilot, "team"))
        await press(pilot, ["U"])
        seen.append(await until(pilot, "team", "copied what would make it so"))

    drive(app, act=act, size=(140, 40))
    assert [line for line in seen[2].splitlines() if "team" in line and " 9 " in line]
    assert [line for line in seen[3].splitlines() if "team" in line and " 4 " in line and " 2 " in line]


def test_leaving_gives_back_what_is_and_offers_the_line(monkeypatch: pytest.MonkeyPatch):
    copied: list[str] = []
    monkeypatch.setattr(Kres, "copy_to_clipboard", lambda _self, said: copied.append(said))
    shown = tried("deploy pricing", [*FIVE, "escape", "U"], size=LARGE)
    assert copied == ["spec.replicas: 5"]
    assert "admitted: checkout/Deployment/pricing" in shown
    assert "what if" not in shown.splitlines()[0]
    assert not [line for line in shown.splitlines() if line.startswith("~")]
    assert "nothing is tried" in tried("pods", ["U"])


def test_what_the_server_refuses_is_said_and_nothing_changes():
    shown = tried("deploy pricing", ["down", "s", "9", "enter"], size=(200, 40))
    assert "must be less than or equal to cpu limit" in shown
    assert "what if" not in shown.splitlines()[0]


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("typed_text", "said"),
    [
        ("replicas", "a name and a value are needed"),
        ("replicas=-1", "a whole number of replicas is needed"),
        ("replicas=" + "9" * 12, "a whole number of replicas is needed"),
        ("app.limits.memory=much", "much is no quantity"),
        ("nobody.limits.memory=1Gi", "there is no container nobody"),
        ("app.memory=1Gi", "CONTAINER.requests.NAME"),
    ],
)
def test_what_is_no_number_is_said(typed_text: str, said: str):
    stores: list[Any] = []
    drive(demo("deploy pricing", file=ML), (), lambda app: stores.append(app.session.store))
    with pytest.raises(UsageError, match=said):
        whatif.parse_step(stores[0], ObjectRef("Deployment", "pricing", "checkout"), typed_text)


def test_screens_without_a_number_say_so():
    assert "no number to try here" in tried("", [":", *typed("kinds"), "enter", "s"])
    assert "what made the pod was not read: shift-j opens it" in tried("pods", ["s"])
    for maker in ([], [{"kind": "Workflow", "name": "build", "controller": True}]):
        store = store_of(made("Pod", "web", ownerReferences=maker))
        assert "no number to try here" in drive(Kres(session_on(store), (HOME, Location("pods", "ns"))), ["s"])


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("name", "size"), [("answer", SMALL), ("pods", LARGE), ("quota", SMALL)])
def test_picture(snap_compare: Any, name: str, size: tuple[int, int]):
    more = {"pods": [":", *typed("pods checkout"), "enter"], "quota": [":", *typed("quota team checkout"), "enter"]}
    app = demo("deploy pricing", file=ML)
    assert snap_compare(app, run_before=before([*FIVE, *more.get(name, [])]), terminal_size=size)


def test_a_value_alone_and_a_name_with_a_value_are_taken_alike():
    alone = tried("quota runs", ["s", *typed("6Gi"), "enter"], size=LARGE)
    named = tried("quota runs", ["s", *typed("limits.memory=6Gi"), "enter"], size=LARGE)
    assert "before" in alone and "after" in alone
    assert "spare" in alone
    assert "limits.memory=6Gi" in named.splitlines()[0]


def test_below_what_a_number_changes_stands_how_it_is_then():
    """The quota with who holds it, once; of a workload that was tried how it fares."""
    keys = [":", *typed("quota team checkout"), "enter", "s", *typed("5Gi"), "enter"]
    shown = tried("", keys, size=(120, 50))
    after = shown[shown.index("quota team in checkout") :]
    assert after.count("quota team in checkout") == 1
    assert re.search(r"requests\.memory +4Gi +5Gi +1Gi", after)
    assert "A Deployment/checkout" in after and "free: requests.memory 1Gi" in after
    shown = tried("deploy pricing", FIVE, size=(120, 70))
    assert re.search(r"deployment pricing in checkout\n .*3 of 5 pods exist; quota team is short by 128Mi", shown)


def test_who_owns_the_quota_is_said_before_what_would_make_it_so(monkeypatch: pytest.MonkeyPatch):
    copied: list[str] = []
    monkeypatch.setattr(Kres, "copy_to_clipboard", lambda _self, said: copied.append(said))
    keys = [":", *typed("quota team checkout"), "enter", "s", *typed("5Gi"), "enter"]
    shown = tried("", keys, size=LARGE)
    assert "Argo CD owns it" in shown
    assert "kubectl patch" not in shown
    assert "smallest that lets all of Deployment/checkout in: 4608Mi" in shown
    tried("", [*keys, "escape", "U"], size=LARGE)
    assert copied == ["spec.hard[requests.memory]: 5Gi"]


def test_a_number_that_is_not_enough_alone_is_promised_with_all_that_is_needed():
    keys = [":", *typed("quota team checkout"), "enter", "s", *typed("8Gi"), "enter"]
    shown = " ".join(drive(demo("", file=demo_path()), keys, size=LARGE).split())
    assert "smallest that lets all of Deployment/checkout in: 4608Mi" in shown
    assert "lets all of Deployment/fraud-model" not in shown
    assert (
        "Deployment/fraud-model needs more than requests.memory: raise requests.memory of quota team to 8Gi "
        "and set limits.memory of container model to 4Gi" in shown
    )


def test_before_and_after_are_drawn_on_one_scale():
    """The use that grows is drawn longer, though it is less of a quota that grew more."""
    shown = tried("", [":", *typed("quota team checkout"), "enter", "s", *typed("8Gi"), "enter"], size=LARGE)
    drawn = r"^ ?{} +(.*?)([▏▌▐|]) +\S+ of \S+"
    before, after = (re.search(drawn.format(label), shown, re.MULTILINE) for label in ("before", "after"))
    assert before is not None, shown
    assert after is not None, shown
    assert len(before[1]) < len(after[1]), "the hard moved to the right"
    assert before[1].count("█") <= after[1].count("█"), shown


@pytest.mark.parametrize(
    ("value", "by", "next_one"),
    [
        ("3Gi", 1, "4Gi"),
        ("500m", 1, "600m"),
        ("100m", -1, "90m"),
        ("9", 1, "10"),
        ("many", 1, "many"),
    ],
)
def test_a_number_is_stepped_through(value: str, by: int, next_one: str):
    assert step_value(value, by) == next_one


@pytest.mark.one_in(2)
@pytest.mark.parametrize("words", ["", "refused"])
def test_the_first_fix_of_a_problem_is_what_is_tried(words):
    """The object that the number is typed for stands before it; taken as it is, the number lets all pods in."""
    typing = drive(demo(words, file=demo_path()), ["s"])
    assert "what if quota/team requests.memory=4608Mi" in typing
    shown = drive(demo(words, file=demo_path()), ["s", "enter"], size=LARGE)
    assert re.search(r"Better:\n +checkout +Deployment/checkout +3 of 3 pods", shown), shown


@given(st.lists(st.sampled_from(["quota", "value", "pod level", "two", "other"])))
def test_a_fix_of_one_number_is_offered_and_no_other(kinds):
    quota, deploy = ObjectRef("ResourceQuota", "team", "shop"), ObjectRef("Deployment", "web", "shop")
    edits: dict[str, tuple[Any, ...]] = {
        "quota": (RaiseQuota(quota, "spec.hard[pods]", "pods", "6"),),
        "value": (SetValue(deploy, "f", "cpu", "1", container="app", side="limits"),),
        "pod level": (SetValue(deploy, "f", "cpu", "1", side="limits"),),
        "two": (RaiseQuota(quota, "f", "pods", "6"), RaiseQuota(quota, "g", "cpu", "6")),
        "other": (DeleteObject(quota),),
    }
    expected = {"quota": (quota, "pods", "6"), "value": (deploy, "app.limits.cpu", "1")}
    wanted = next((expected[kind] for kind in kinds if kind in expected), None)
    assert number_of_fix([Remedy("", edits[kind]) for kind in kinds]) == wanted


def test_leaving_a_what_if_leads_back_to_the_row_and_the_filter():
    def at(shown: str) -> list[str]:
        return next(line[4:] for line in shown.splitlines() if line[1:2] == ">").split()[:2]

    assert at(drive(demo(file=ML), ["j", "j", "s", "enter", "U"], size=LARGE)) == ["checkout", "deploy/fraud-model"]
    keys = ["slash", *typed("e"), "enter", "j", "j", "s", "enter", "escape"]
    assert at(drive(demo("quotas", file=ML), keys, size=LARGE)) == ["batch", "urgent"]
    shown = drive(demo("quotas", file=ML), [*keys, "U"], size=LARGE)
    assert at(shown) == ["batch", "urgent"] and "filter e" in shown


def test_one_what_if_over_all_that_is_marked():
    marked = drive(demo(file=ML), [":", *typed("refused checkout"), "enter", "space", "space", "space"], size=LARGE)
    assert "3 marked" in marked and sum(line.startswith("*") for line in marked.splitlines()) == 3
    shown = drive(demo(file=ML), [":", *typed("refused checkout"), "enter", *["space"] * 3, "s", "enter"], size=LARGE)
    # Each its first fix; what has none that is a number stays as it is.
    assert "team requests.memory=4608Mi, receipts printer.limits.cpu=50m" in shown
    assert "fraud-model" not in shown.splitlines()[0]
    keys = [":", *typed("refused checkout"), "enter", *["space"] * 3, "s", "ctrl+u", *typed("replicas=1"), "enter"]
    # Replicas are those of what is marked, whatever its fix is made on.
    shown = drive(demo(file=ML), keys, size=LARGE)
    assert "checkout replicas=1, fraud-model replicas=1, receipts replicas=1" in shown
    keys = [":", *typed("deploy shop"), "enter", "space", "space", "s"]
    assert "2 marked" in drive(demo(file=ML), keys, size=LARGE).splitlines()[-2]
    shown = drive(demo(file=ML), [*keys, "ctrl+u", *typed("replicas=1"), "enter"], size=LARGE)
    assert "cart replicas=1, storefront replicas=1" in shown
    assert "marked" not in drive(demo(file=ML), [*keys[:-1], "escape"], size=LARGE).splitlines()[-3]


def test_marks_in_several_namespaces_are_not_tried_together():
    shown = drive(demo("refused", file=ML), ["space", "space", "s"], size=LARGE)
    assert "what is marked is in 2 namespaces" in shown


def test_of_marked_rows_that_need_one_quota_the_larger_amount_is_tried():
    def act(app):
        store, ref = app.session.store, ObjectRef("ResourceQuota", "team", "checkout")
        steps = [whatif.parse_step(store, ref, f"requests.memory={value}") for value in ("5Gi", "8Gi", "6Gi")]
        merged = whatif.merge_numbers((), steps)
        assert [number.words.rpartition("=")[2] for number in merged] == ["8Gi"]
        assert whatif.merge_numbers(merged, steps[:1]) == (steps[0],)

    drive(demo("quotas", file=ML), then=act)


def test_space_turns_the_page_where_no_row_can_be_marked():
    lines: list[int] = []
    drive(demo(file=ML), ["space"], lambda app: lines.append(app.pane.table.line))
    assert lines[0] > 1
