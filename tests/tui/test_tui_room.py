"""What a screen makes of its room, and what it leaves alone where there is nothing to show."""

from __future__ import annotations

import re
from typing import Any

import pytest
from msgspec.structs import replace
from reports.stored import made, store_of
from reports.test_claim_or_pool_reports import space
from tui.driving import LARGE, demo, drive, press, settled, text, typed, until
from tui.still import Still, session_on

from kubectl_kres.snapshot.read import demo_path
from kubectl_kres.store.store import Coverage, ReadRequest
from kubectl_kres.tui.app import Kres
from kubectl_kres.tui.lists.list_registry import LISTINGS
from kubectl_kres.tui.lists.list_spec import FirstOrder
from kubectl_kres.tui.location import HOME, Location
from kubectl_kres.tui.table.strips import wrap_line

pytestmark = pytest.mark.one_in(3)

DEMO = demo_path()


@pytest.mark.parametrize("ending", [["escape"], [*typed("pods"), "enter"]], ids=["escape", "enter"])
def test_what_only_the_palette_looked_for_is_watched_no_longer(ending):
    feed = Still()
    app = Kres(session_on(store_of(space("shop")), feed), (HOME, Location("quotas")))

    def kinds() -> set[str]:
        return {need.kind for need in feed.wanted}

    async def act(pilot):
        before = kinds()
        assert "StatefulSet" not in before
        await pilot.press("ctrl+p")
        assert "StatefulSet" in kinds()
        await press(pilot, ending)
        after = kinds()
        assert "StatefulSet" not in after
        assert after == before or ending != ["escape"]

    drive(app, act=act)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("size", [(200, 50), (220, 60), (300, 24)], ids=str)
def test_a_wide_overview_has_both_panes_filled_and_no_reason_cut(size):
    """The first screen of the bundled example: the areas stand below what is worst, or a strip on a low screen."""
    lines = drive(demo(file=DEMO), size=size).splitlines()
    row = next(line for line in lines if "deploy/report-cruncher" in line)
    assert "no node: -749m cpu, -11296Mi memory " in row
    left = [line.partition("│")[0] for line in lines if "│" in line]
    assert not any("…" in line for line in left)
    assert any("AREA" in line for line in left[len(left) // 2 :]) == (size[1] >= 50)
    assert any(line.startswith(" refused 10 ") for line in lines) == (size[1] < 50)
    right = [line.partition("│")[2].strip() for line in lines if "│" in line]
    assert any(re.search(r"quota team in checkout", line) for line in right)


def test_a_rejection_names_who_rejects():
    shown = drive(demo(file=DEMO), [*["down"] * 8], size=(200, 50))
    assert "webhook images.example.com cannot be called" in shown
    status = shown.splitlines()[-3]
    assert "blocked: webhook images.example.com (it cannot be called) rejects them (15 times, last " in status


@pytest.mark.parametrize("name", ["pools", "claims", "taskruns", "pipelineruns"])
def test_a_list_of_a_kind_that_is_not_installed_has_no_order_and_nothing_to_filter(name):
    kind = {"pools": "ResourcePool", "claims": "ResourcePoolClaim", "taskruns": "TaskRun"}.get(name, "PipelineRun")
    store = store_of(space("shop"), unread=(kind,))
    store.cover(ReadRequest(kind), Coverage("absent"))
    app = Kres(session_on(store), (HOME, Location(name)))

    async def act(pilot):
        shown = text(app)
        assert "the server has no" in shown
        assert "sort" not in shown.splitlines()[-3]
        assert "worst first" not in shown
        assert "/ filter" not in shown.splitlines()[-1]
        await press(pilot, ["S"])
        assert "there are no rows: shift-s does nothing here" in text(app)
        await press(pilot, ["/"])
        assert "there is nothing to filter" in text(app)

    drive(app, act=act)


@pytest.mark.parametrize(
    ("width", "line", "pieces"),
    [
        (20, "  memory request 320Mi  spec.limits", ["  memory request", "    320Mi", "    spec.limits"]),
        (12, "  used 1 of 0    ", ["  used 1 of", "    0"]),
        (12, "  used 1 of    ", ["  used 1 of"]),
        (12, "  a averylongword", ["  a", "averylongwor", "    d"]),
    ],
)
def test_what_goes_on_below_stands_further_in_and_blanks_make_no_line(width, line, pieces):
    assert ["".join(text for _, text in piece).rstrip() for piece in wrap_line([("", line)], width)] == pieces


def test_the_strip_of_a_narrow_overview_tells_of_what_is_wrong_and_is_whole():
    lines = drive(demo(file=DEMO), size=(60, 20)).splitlines()
    strip = " ".join(lines[2:4])
    assert "taskruns 3 of 9" in strip and "claims 5 of 8" in strip
    assert "…" not in strip and "namespaces" not in strip
    assert "WORST FIRST" in lines[4]


@pytest.mark.parametrize("width", [60, 80])
def test_a_reason_has_as_many_words_as_there_is_room_for_and_is_never_cut(width):
    shown = drive(demo(file=DEMO), size=(width, 45))
    rows = shown[shown.index("WORST FIRST") :].split("\n─")[0].splitlines()[1:]
    assert len(rows) == 20
    assert not [row for row in rows if "…" in row[40:]]
    assert "no node" in shown and "limits.cpu" in shown and "-1Gi memory" in shown
    assert ("quota best-effort -1 pods" in shown) == (width == 80)


def test_the_lists_say_what_matters_in_a_narrow_column():
    assert "moved to another pool  " in drive(demo("claims", file=DEMO))
    assert " pvc " in drive(demo("pools", file=DEMO))
    assert "persistentvolumeclaims" in drive(demo("pools", file=DEMO), size=LARGE)
    shown = drive(demo("timeline", file=DEMO), size=LARGE)
    assert "15x: exceeded quota: team" in shown and "is forb" not in shown


@pytest.mark.thorough
def test_shift_l_shows_the_pods_without_limits_from_every_screen():
    for words in ("", "quotas", "deploy checkout"):
        assert "filter limits=none" in drive(demo(words, file=DEMO), ["L"])
    assert "filter" not in drive(demo("", file=DEMO), ["L", "L"]).splitlines()[1]


@pytest.mark.thorough
def test_the_beginning_of_one_name_opens_its_list():
    assert "23 quotas" in drive(demo("", file=DEMO), [":", *typed("quo"), "enter"])
    assert "8 claims" in drive(demo("", file=DEMO), [":", *typed("cl"), "enter"])
    assert 'no screen "pi"' not in drive(demo("", file=DEMO), [":", *typed("pi"), "enter"])
    assert 'no screen "c"' in drive(demo("", file=DEMO), [":", "c", "enter"])


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("name", "first"),
    [("pods", "recommendations-"), ("refused", "deploy/checkout"), ("taskruns", "build-web-"),
     ("limitranges", "ci-sandbox"), ("quotas", "capsule-pool-ml-storage"), ("claims", "bob")],
)  # fmt: skip
def test_lists_have_the_worst_first_and_shift_s_turns_to_the_names_with_the_cursor_on_the_first(name, first):
    shown = drive(demo(name, file=DEMO), ["down", "down"], size=LARGE)
    rows = shown.splitlines()
    assert first in rows[3]
    assert "worst first" in shown
    by_name = drive(demo(name, file=DEMO), ["S"], size=LARGE).splitlines()
    assert by_name[3].startswith(" >") and "worst first" not in "\n".join(by_name)


def test_a_long_list_stands_by_name_and_goes_on_following_changes(monkeypatch: pytest.MonkeyPatch):
    """Of more rows than ``most`` each change would have to find its place by what is worst; who asks gets it."""
    monkeypatch.setitem(LISTINGS, "pods", replace(LISTINGS["pods"], order=FirstOrder("state", most=20)))
    monkeypatch.setattr("kubectl_kres.tui.screens.browse.rows._MANY", 20)
    failed = {"phase": "Failed", "reason": "Evicted"}
    pods = [made("Pod", f"web-{at:02}", status=failed if at == 19 else {"phase": "Running"}) for at in range(20)]
    store, feed = store_of(*pods, unread=("LimitRange",)), Still()
    app = Kres(session_on(store, feed), (HOME, Location("pods", "ns")))

    def come(name: str, **status: str) -> None:
        feed.coming.append(("put", "Pod", store_of(made("Pod", name, status=status)).get("Pod", name, "ns")))

    async def act(pilot):
        await until(pilot, "20 pods  sort STATE, worst first")
        assert "web-19" in text(app).splitlines()[3]
        come("web-20", phase="Running")
        await until(pilot, "21 pods")
        shown = await until(pilot, "sort STATE", gone=True)
        assert "web-00" in shown.splitlines()[3]
        come("web-00", phase="Pending")
        shown = await until(pilot, "Pending")
        assert "web-00" in shown.splitlines()[3]
        await press(pilot, ["S"])
        shown = await until(pilot, "sort STATE, worst first")
        assert "web-19" in shown.splitlines()[3]
        come("web-05", phase="Failed", reason="Evicted")
        for _ in range(100):
            await pilot.pause(0.02)
            if "web-05" in text(app).splitlines()[3]:
                break
        assert "web-05" in text(app).splitlines()[3]
        come("web-21", phase="Running")
        shown = await until(pilot, "22 pods")
        assert "sort STATE, worst first" in shown

    drive(app, act=act, size=LARGE)


def test_another_order_has_a_cursor_that_nobody_moved_on_what_is_first_then():
    shown = drive(demo("pods", file=DEMO), ["C"]).splitlines()
    assert shown[3].startswith(" >") and "report-cruncher" in shown[3]


@pytest.mark.one_in(12)
@pytest.mark.parametrize(("key", "tab"), [("y", "[YAML]"), ("D", "[diff]"), ("Y", "[computed]"), ("d", "[text]")])
@pytest.mark.parametrize("name", ["pods", "refused", "taskruns"])
def test_keys_of_an_object_open_its_texts_from_a_list(name, key, tab):
    assert tab in drive(demo(name, file=DEMO), ["g", key], size=LARGE)


def test_the_palette_begins_with_what_was_looked_at_last_and_has_themes_only_where_they_are_looked_for():
    shown = drive(demo("claims", file=DEMO), ["enter", "escape", "ctrl+p"]).splitlines()
    lines = [line.strip() for line in shown if line.strip()]
    at = next(number for number, line in enumerate(lines) if "an object, a screen" in line)
    assert lines[at + 1] == "claim ml-notebooks/bob"
    assert lines[at + 2].startswith("ResourcePoolClaim  lost")
    assert lines[at + 3] == "overview"
    assert not any("theme" in line for line in lines)
    assert "theme nord" in drive(demo("claims", file=DEMO), ["ctrl+p", *"nord"])


def test_f1_is_help_and_ctrl_j_is_enter_as_in_shells():
    assert "> help" in drive(demo("pods", file=DEMO), ["f1"])
    assert "SET BY" in drive(demo("pods", file=DEMO), ["ctrl+j"])
    assert "overview > quotas" in drive(demo("pods", file=DEMO), [":", *typed("quotas"), "ctrl+j"])


def test_the_help_is_searched():
    shown = drive(demo("pods", file=DEMO), ["?", "/", *typed("yaml"), "enter"])
    page = shown.partition("\n─")[0]
    assert "filter yaml" in page and "copies" not in page
    assert "as it is now" in drive(demo("pod cart-0", file=DEMO), ["?", "/", *typed("yaml"), "enter"])
    assert "shift-q" in drive(demo("pods", file=DEMO), ["?", "/", *typed("yaml"), "enter", "escape"])


def test_a_wide_list_of_quotas_tells_who_holds_the_one_under_the_cursor():
    shown = drive(demo(file=DEMO), [":", *typed("quotas"), "enter", "/", *typed("shop"), "enter"], size=(200, 50))
    assert "who holds it" in shown and "A Deployment/storefront" in shown
    table = shown[shown.index("quota team in shop") :].splitlines()
    assert "requests.memory" in table[2] and "96%" in table[2]


def test_a_filter_that_hides_all_says_so_once_and_leaves_no_empty_pane():
    shown = drive(demo("pods", file=DEMO), ["/", *typed("zzz"), "enter"])
    assert shown.count("hides 60 rows") == 1
    assert sum(set(line.strip()) == {"─"} for line in shown.splitlines()) == 0


def test_a_quota_without_room_says_over_and_not_ten_thousand_percent():
    shown = drive(demo("quotas", file=DEMO), ["g", "enter", "u"])
    assert "1 of 0 used, over" in shown
    assert "10000" not in shown
    assert "PVCS" in shown


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("width", "tried"), [(160, "~ what if "), (120, "~ team "), (80, "~ team ")])
def test_the_header_of_a_what_if_is_never_cut(width, tried):
    keys = [":", *typed("quota team checkout"), "enter", "s", *typed("4608Mi"), "enter"]
    header = drive(demo(file=DEMO), keys, size=(width, 35)).splitlines()[0]
    assert "…" not in header and tried in header
    assert ("as of" in header) == (width >= 120)


@pytest.mark.thorough
def test_an_overview_of_a_namespace_counts_what_is_in_it_and_says_where_else_to_look():
    """Also where the objects of all namespaces have been read before."""
    shown = drive(demo(file=DEMO), [":", *typed("pods default"), "enter", ":", *typed("overview"), "enter"])
    assert "pods 0" in shown and "pods 60" not in shown
    row = next(line for line in shown.splitlines() if "pool/ml-compute  " in line)
    assert row.startswith(" >  ") and "other namespaces: exhausted" in row
    shop = drive(demo(file=DEMO), [":", *typed("pods shop"), "enter", ":", *typed("overview"), "enter"])
    assert "pods 15" in shop and " 15 pods " in drive(demo("", file=DEMO), [":", *typed("pods shop"), "enter"])
    quiet = drive(demo(), [":", *typed("pods kube-public"), "enter", ":", *typed("overview"), "enter"])
    assert "nothing is wrong in kube-public; 0 shows all 9 namespaces" in quiet


@pytest.mark.one_in(3)
@pytest.mark.parametrize("widths", [(80, 140, 80), (140, 60), (60, 120)], ids=str)
def test_no_problem_is_hidden_where_the_counts_above_need_another_line(widths):
    async def act(pilot):
        for width in widths:
            await pilot.resize_terminal(width, 24)
            await settled(pilot)
            lines = text(pilot.app).splitlines()
            head = next(index for index, line in enumerate(lines) if "WORST FIRST" in line)
            assert "pool/ml-compute" in lines[head + 1], width

    drive(demo(file=DEMO), [":", *typed("pods default"), "enter", ":", *typed("overview"), "enter"], act=act)


def run_of(state: str, *started: str, skipped: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """A PipelineRun of five tasks, and the TaskRuns of those that were started: ``NAME=CONDITION``."""
    spec = {"tasks": [{"name": name} for name in ("lint", "unit", "image", "scan")], "finally": [{"name": "tell"}]}
    names = [word.partition("=")[0] for word in started]
    status = {
        "conditions": [{"type": "Succeeded", "status": state, "reason": "Running"}],
        "pipelineSpec": spec,
        "childReferences": [{"kind": "TaskRun", "name": f"run-{name}", "pipelineTaskName": name} for name in names],
        "skippedTasks": [{"name": name} for name in skipped],
    }
    labels = {"tekton.dev/pipelineRun": "run"}
    runs = [
        made("TaskRun", f"run-{name}", labels=labels, status={"conditions": [{"type": "Succeeded", "status": way}]})
        for name, _, way in (word.partition("=") for word in started)
    ]
    return [made("PipelineRun", "run", spec={"pipelineRef": {"name": "release"}}, status=status), *runs]


@pytest.mark.one_in(12)
@pytest.mark.parametrize(
    ("objects", "drawn"),
    [
        (run_of("Unknown"), "░░░░░ 0 of 5"),
        (run_of("Unknown", "lint=True", "unit=Unknown"), "█▓░░░ 1 of 5"),
        (run_of("Unknown", "lint=True", "unit=False", skipped=("scan",)), "███░░ 3 of 5"),
        # What a run that has ended did not start is seen; what it started has ended, whether it was read or not.
        (run_of("False", "lint=True", "unit=False")[:1], "██░░░ 2 of 5"),
        (run_of("True", *(f"{name}=True" for name in ("lint", "unit", "image", "scan", "tell"))), "█████ 5 of 5"),
        ([made("PipelineRun", "run", spec={"pipelineRef": {"name": "release"}})], " -  "),
    ],
)
@pytest.mark.parametrize("ascii_only", [False, True])
def test_a_pipelinerun_says_how_many_of_its_tasks_have_ended(objects, drawn, ascii_only):
    app = Kres(session_on(store_of(*objects), ascii_only=ascii_only), (HOME, Location("pipelineruns", "ns")))
    row = drive(app, size=LARGE).splitlines()[3]
    assert (drawn.translate(str.maketrans("█▓░", "#+.")) if ascii_only else drawn) in row


#: Screens of what is wrong, and the lists before them.
SCREENS = ["", "quotas", "refused", "claims", "pools", "timeline", "namespaces", "quota team checkout",
           "deploy checkout checkout", "claim bob ml-notebooks", "claim team ml-notebooks", "pool ml-compute",
           "taskrun integration-12 ci"]  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("size", [(120, 35), (200, 50)], ids=str)
@pytest.mark.parametrize("words", SCREENS)
def test_no_half_of_a_screen_is_empty(words, size):
    """Neither the lower half nor, where there are two, one of the panes beside each other."""

    async def act(pilot: Any) -> None:
        # By way of the overview, as most people come: what it reads is there then.
        if words:
            await press(pilot, [":", *typed(words), "enter"])

    lines = drive(demo(file=DEMO), size=size, act=act).splitlines()[2:-3]
    lower = lines[len(lines) // 2 :]
    assert sum(bool(line.strip(" │─")) for line in lower) > len(lower) // 3, lower
    beside = [line.partition("│")[2] for line in lines if line.find("│") in range(size[0] * 2 // 3)]
    assert not beside or sum(bool(line.strip()) for line in beside) > len(beside) // 5, beside


@pytest.mark.thorough
def test_what_happened_stands_where_lines_are_left_and_nowhere_else():
    claim = [":", *typed("claim bob ml-notebooks"), "enter"]
    high = drive(demo(file=DEMO), claim, size=(200, 50))
    assert re.search(r"what happened to it.*Changed spec\.pool by kubectl-edit", high, re.DOTALL)
    assert "what happened" not in drive(demo(file=DEMO), claim)
    events = drive(demo("timeline", file=DEMO), size=(200, 50))
    assert "what happened to it" not in events


def test_the_refused_say_why_in_the_words_of_the_overview():
    overview = drive(demo(file=DEMO), size=(200, 50))
    refused = drive(demo("refused", file=DEMO), size=(200, 50))
    rows = [line for line in refused.splitlines() if re.match(r"[ >~]{2}[x!] ", line)]
    assert len(rows) == 10
    for row in rows:
        _, name, _, why = re.split(r"  +", row[4:].strip())[:4]
        assert re.search(rf"{re.escape(name)} +{re.escape(why)} ", overview), row


@pytest.mark.parametrize("size", [(60, 20), (80, 24)], ids=str)
def test_no_count_of_an_area_is_cut(size):
    """What fares well goes first, then all but the worst."""
    areas = drive(demo(file=DEMO), ["tab"], size=size).partition("━")[2].splitlines()[1:-3]
    assert len(areas) > 4
    assert [line for line in areas if "…" in line and "refused" not in line] == []


def test_who_uses_it_is_of_the_pool_on_the_list_of_claims():
    assert "who uses pool/ml-compute" in drive(demo("claims", file=DEMO), ["down", "u"])
    assert "who uses quota/team" in drive(demo("quotas", file=DEMO), ["/", *typed("checkout"), "enter", "u"])
