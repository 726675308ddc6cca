"""Layout by content: rows take what they need, commands stay whole, faults are a key away, an empty list says why."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from tui.driving import ML, SHOP, calm, demo, drive, settled, shop, text

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.tui.app import Kres
from kubectl_kres.tui.commands import parse_command
from kubectl_kres.tui.location import HOME, Location
from kubectl_kres.tui.palette import KeyProvider, Objects, Screens, Themes
from kubectl_kres.tui.screens.browse.pane import Browse

pytestmark = pytest.mark.one_in(2)

WIDTHS = (50, 60, 80, 100, 120, 140, 180, 220, 240)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "file"), [("pods", SHOP), ("quotas", SHOP), ("claims", ML)], ids=["pods", "quotas", "claims"]
)
def test_more_width_never_shows_fewer_columns(words, file):
    shown: list[set[str]] = []

    def collect(app):
        shown.append({column.id for column in app.pane.table.visible_columns})

    for width in WIDTHS:
        drive(demo(words, file=file), [], collect, size=(width, 30))
    assert all(less <= more for less, more in pairwise(shown))


def test_the_detail_stands_beside_the_table_only_where_every_column_fits():
    seen = {}

    def collect(app):
        pane = app.pane
        seen[app.size.width] = pane.has_class("beside"), len(pane.table.visible_columns) == len(pane.table.columns)

    for width in WIDTHS:
        drive(demo("claims", file=ML), [], collect, size=(width, 30))
    assert any(beside for beside, _ in seen.values())
    assert all(whole for beside, whole in seen.values() if beside)


@pytest.mark.parametrize("width", [160, 180, 200, 220, 240])
@pytest.mark.parametrize("words", ["quotas", "namespaces", "pools"])
def test_a_detail_beside_the_table_has_all_that_one_below_has(words, width):
    """Its own table whole: no head on two lines, and the bar with its figure behind it."""

    def check(app):
        head = next(line for line in app.pane.detail.text.splitlines() if " HARD " in line)
        assert "FREE" in head, head
        assert re.search(r"[█░]{6,} +(over|\d+%)", app.pane.detail.text), app.pane.detail.text

    drive(demo(words, file=ML), [], check, size=(width, 60))


def test_rows_take_what_they_need_and_the_detail_the_rest():
    def check(app):
        pane = app.pane
        assert pane.table.size.height == len(pane.table.view.keys) + 1
        assert pane.detail.size.height > pane.table.size.height

    drive(demo("claims", file=ML), [], check, size=(80, 40))


def test_the_remedy_stands_above_the_causes():
    shown = drive(demo("claims", file=ML), ["f", "f"], size=(80, 40))
    assert shown.index("fix ") < shown.index("RESOURCE")


def test_a_long_command_is_never_broken_and_copied_from_the_pane_of_the_list(monkeypatch):
    copied: list[str] = []
    monkeypatch.setattr(Kres, "copy_to_clipboard", lambda _self, what: copied.append(what))
    shown = drive(demo("claims", file=ML), ["f", "tab", "enter", "c"], size=(80, 24))
    assert "c copies" in shown
    assert len(copied) == 2
    assert copied[0] == copied[1]
    assert copied[0].startswith("kubectl ")
    assert not any(line.startswith(("ml-", "'{")) for line in shown.splitlines())


def test_f_goes_to_the_next_fault_and_shift_f_to_the_one_before():
    lines: list[int] = []

    async def act(pilot):
        for key in ("f", "f", "F"):
            await pilot.press(key)
            await settled(pilot)
            table = pilot.app.pane.table
            assert table.row_sign(table.row)
            lines.append(table.line)

    drive(demo("quotas"), act=act)
    assert lines[0] < lines[1]
    assert lines[2] == lines[0]


def test_where_nothing_is_wrong_f_says_so():
    session = shop()
    app = Kres(session, (HOME, Location("pods", "shop", filter="ledger")))
    assert "there is no" in drive(app, ["f"])


@pytest.mark.one_in(2)
@pytest.mark.parametrize("words", ["deploy/checkout checkout", "taskrun/integration-12 ci"])
def test_an_object_opens_on_its_first_fault(words):
    def check(app):
        pane = app.pane
        assert pane.row_mark(pane.table.row)[0] == "x"

    app = demo(file=ML if words.startswith("taskrun") else SHOP)
    drive(
        app,
        [":", *[{" ": "space", "/": "slash", "-": "minus"}.get(one, one) for one in words], "enter"],
        check,
        size=(140, 40),
    )


SHORT_BY = {
    "claim sweep": (
        "exhausted: ml-training/sweep",
        "short by cpu 4, memory 2Gi",
        "fix     release ml-training/nightly",
    ),
    "pool ml-compute": (
        "3 wait",
        "ml-training/sweep is short by cpu 4, memory 2Gi",
        "fix     release ml-training/nightly",
    ),
    "taskrun integration-12": ("refused: ci/TaskRun/integration-12", "fix     raise requests.cpu"),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("words", SHORT_BY)
@pytest.mark.parametrize("size", [(50, 15), (80, 24)])
def test_what_to_do_stands_before_all_else_in_few_lines(words, size):
    """State, what is missing, what to do: above the tree, and before what the server says, however small the screen."""
    above = drive(demo(words, file=ML), size=size).partition("\n >")[0]
    places = [above.index(part) for part in SHORT_BY[words]]
    assert places == sorted(places)
    words_of_others = [above.find(part) for part in ("controller says", "server:", "status:") if part in above]
    assert all(place > above.index("fix ") for place in words_of_others)


def test_c_on_a_fault_copies_what_to_do():
    copied: list[str] = []

    def note(app):
        copied.append(app.clipboard)

    drive(demo("claim sweep", file=ML), ["c"], note)
    drive(demo("taskrun integration-12", file=ML), ["c"], note)
    assert copied[0].startswith("kubectl annotate resourcepoolclaim nightly -n ml-training")
    assert copied[1].startswith("kubectl patch quota runs -n ci")


def test_a_filter_that_hides_all_rows_says_so_in_their_place():
    def check(app):
        assert 'filter "zzz" hides' in "".join(part for _, part in app.pane.table.empty)

    drive(demo("pods"), ["/", "z", "z", "z", "enter"], check)


def test_an_empty_namespace_says_how_to_see_all():
    assert "0 shows all 9 namespaces" in drive(Kres(shop(), (HOME, Location("pods", "default"))))


@pytest.mark.parametrize("words", ["", "pods", "claims", "quotas"])
def test_it_is_usable_at_fifty_by_fifteen(words):
    shown = drive(demo(words, file=ML), ["down"], size=(50, 15))
    assert "too small" not in shown
    assert len([line for line in shown.splitlines() if line.strip()]) >= 10


def test_too_small_is_said_once():
    shown = drive(demo("pods"), size=(40, 10))
    assert shown.count("too small") == 1


@pytest.mark.parametrize(
    ("typed", "view", "namespace", "filtered"),
    [
        ("pods -l app=ledger", "pods", "", "-l app=ledger"),
        ("pods -l app.kubernetes.io/name=ledger", "pods", "", "-l app.kubernetes.io/name=ledger"),
        ("po @shop", "pods", "shop", ""),
        ("pods shop", "pods", "shop", ""),
        ("pods /web", "pods", "", "web"),
        ("pods shop/web", "pods", "shop", "web"),
        ("pods shop -l app=cart", "pods", "shop", "-l app=cart"),
        ("pods -A", "pods", "", ""),
    ],
)
def test_the_words_of_a_list(typed, view, namespace, filtered):
    place = parse_command(typed, shop()).location
    assert place is not None
    assert (place.view, place.namespace, place.filter) == (view, namespace, filtered)


def test_a_type_and_a_name_with_a_namespace_open_the_object():
    place = parse_command("pod/p2 tuit", shop()).location
    assert place == Location("object", ref=ObjectRef("Pod", "p2", "tuit"))


def test_a_name_that_was_not_read_says_what_to_type():
    assert parse_command("pod/gateway", shop()).fault == (
        'no pod "gateway" in what was read; :po gateway NAMESPACE looks in a namespace'
    )


def test_the_error_of_half_a_filter_goes_with_the_other_half():
    shown = drive(demo("pods"), ["/", *"-l", "space", *"app", "space", *"in", "space", "(", *"cart", ")", "enter"])
    assert "unable to parse" not in shown


def test_the_palette_finds_screens_objects_namespaces_and_themes():
    async def act(pilot):
        app = pilot.app
        screen = app.screen

        async def hits(provider, query):
            made = provider(screen)
            return [hit async for hit in made.search(query)]

        assert [hit.help for hit in await hits(Objects, "sweep")][:1] == [
            "ResourcePoolClaim  exhausted  cpu 4, memory 2Gi"
        ]
        assert any("what quotas limit" in (hit.help or "") for hit in await hits(Screens, "quotas"))
        assert any("pods of this namespace" in (hit.help or "") for hit in await hits(Screens, "ml-training"))
        theme = next(hit for hit in await hits(Themes, "theme nord"))
        theme.command()
        assert app.theme == "nord"
        keys = [hit.help async for hit in KeyProvider(screen).discover()]
        assert any("only rows with a fault" in (one or "") for one in keys)
        assert not any("count the objects" in (one or "") for one in keys)

    drive(demo("claims", file=ML), act=act)


def test_the_footer_the_way_here_and_the_digits_can_be_clicked():
    async def act(pilot):
        app = pilot.app
        line = app._bar("keys").text
        await pilot.click("#keys", offset=(line.index("? help") + 1, 0))
        await calm(pilot)
        await settled(pilot)
        assert app.history.current.view == "help"
        await pilot.click("#crumbs", offset=(app._bar("crumbs").text.index("claims") + 1, 0))
        await calm(pilot)
        assert app.history.current.view == "claims"
        line = app._bar("where").text
        await pilot.click("#where", offset=(line.index("2 ") + 1, 0))
        await settled(pilot)
        assert app.session.namespace == app.session.digits()[1] or app.session.namespace in line

    drive(demo("claims", file=ML), act=act, size=(140, 40))


def test_a_focused_pane_is_marked():
    async def act(pilot):
        app = pilot.app
        assert isinstance(app.pane, Browse)
        before = app.pane.detail.styles.border_top
        await pilot.press("tab")
        await settled(pilot)
        assert app.pane.detail.has_focus
        assert app.pane.detail.styles.border_top != before

    drive(demo("claims", file=ML), act=act, size=(80, 24))


@pytest.mark.one_in(6)
@pytest.mark.parametrize("key", ["l", "x", "i", "o", "B", "h"])
def test_keys_of_k9s_are_answered(key):
    assert "in k9s" in drive(demo("pods"), [key])


def test_a_quota_that_is_over_comes_before_full_ones():
    def check(app):
        table = app.pane.table
        first = table.view.rows[table.view.keys[0]]
        assert first.tight.is_exceeded

    drive(demo("quotas", file=ML), [], check)


def test_help_is_of_the_screen_and_stands_in_two_columns_where_there_is_room():
    narrow = drive(demo("claims", file=ML), ["?"], size=(80, 100))
    wide = drive(demo("claims", file=ML), ["?"], size=(140, 100))
    assert "count the objects" not in narrow + wide
    assert "only rows with a fault" in narrow
    assert any(
        "in lists" in line and line.index("in lists") < 5 and len(line.rstrip()) > 60 for line in wide.splitlines()
    )


def test_the_overview_breaks_what_is_worst_where_there_is_room():
    """On a high screen nothing of a reason is cut; on a low one each thing has its line."""
    shown = drive(demo(file=ML), size=(220, 60)).partition("\n─")[0]
    pane = " ".join(word for line in shown.splitlines() for word in line.partition("│")[2].split())
    reason = "quota team is short by 512Mi of requests.memory"
    assert f"because refused: {reason}; 3 of 3 new pods missing, 3 old pods run; for 1m" in pane
    low = drive(demo(file=ML), size=(120, 24)).partition("\n─")[0]
    assert sum(line.startswith(("  x", " >x")) for line in low.splitlines()) >= 9


@pytest.mark.parametrize("width", [100, 140, 180, 220])
def test_the_users_of_a_quota_stand_beside_it_only_where_all_their_columns_fit(width: int):
    def check(app):
        pane = app.pane
        assert len(pane.table.visible_columns) == len(pane.table.columns) or not pane.has_class("beside")
        assert pane.has_class("beside") == (width >= 180)
        assert "…" not in text(app).partition("\n─")[0]

    drive(demo("quota runs", file=ML), then=check, size=(width, 40))


def test_the_reasons_of_a_value_have_the_room_that_the_tree_leaves():
    def check(app):
        pane = app.pane
        assert pane.table.size.width <= pane.table.whole_width + 2
        assert pane.about.size.width > 130

    drive(demo("pod build-api-9c4f-pod", file=ML), then=check, size=(220, 60))


def test_what_to_do_stands_first_beside_the_list_of_what_is_refused():
    shown = drive(demo("refused"), ["g"], size=(140, 40))
    assert shown.index("fix ") < shown.index("server ")
