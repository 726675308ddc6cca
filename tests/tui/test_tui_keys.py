"""What keys do, by the text on the screen."""

from __future__ import annotations

import asyncio
import csv
import re
from pathlib import Path

import pytest
from tui.driving import LARGE, ML, SHOP, calm, demo, drive, press, settled, text, typed

from kubectl_kres.tui.app import Kres
from kubectl_kres.tui.keys import CHANGING, KEYS
from kubectl_kres.tui.widgets.prompt import Prompt

pytestmark = pytest.mark.one_in(2)

#: Screens of the example with pools and runs.
POOLED = ("claims", "claim sweep", "pool ml-compute", "taskrun build-api-9c4f")


def cursor(shown: str) -> str:
    """The line under the cursor."""
    [line] = [line for line in shown.splitlines() if line.startswith(" >")]
    return line


def command(shown: str) -> str:
    [line] = [line for line in shown.splitlines() if line.startswith(" $")]
    return line.removeprefix(" $ ").removesuffix("ctrl-y copies").strip()


def test_why_does_this_pod_look_like_this_takes_few_keys():
    app = demo()
    shown = drive(app, ["tab", "down", "enter", "enter"])
    assert "recommendations-77cdcb87cf-gzr7g" in shown
    assert "SET BY" in shown


def test_who_eats_this_quota_takes_two_keys():
    """The worst quota stands on the first screen."""
    app = demo()
    shown = drive(app, ["G", "enter"])
    assert "WHO" in shown
    assert "StatefulSet/search" in shown
    assert command(shown).startswith("kubectl kres quota team --by workload -n shop")


def test_a_value_opens_into_its_reason_and_its_object():
    app = demo("pod cart-dd98c7b99-4z4sn")
    shown = drive(app, ["down", "down"], size=LARGE)
    assert "LimitRange/legacy-defaults" in shown
    assert "--for app.limits.cpu" in command(shown)
    shown = drive(demo("pod cart-dd98c7b99-4z4sn"), ["down", "down", "enter"])
    assert "gives containers without requests and limits" in shown


def test_filter_as_you_type_and_escape_clears_it_before_it_goes_back():
    app = demo("pods")
    shown = drive(app, ["/", *typed("cart")])
    assert "2 of 47 pods" in shown
    shown = drive(demo("pods"), ["/", *typed("cart"), "enter", "escape"])
    assert "47 pods" in shown
    assert "filter" not in shown.splitlines()[1]
    shown = drive(demo("pods"), ["/", *typed("cart"), "enter", "escape", "escape"])
    assert shown.splitlines()[1].strip(" ─") == "overview"


def test_of_letters_that_come_at_once_rows_are_chosen_by_the_last(monkeypatch):
    app, asked = demo("pods -A"), []

    async def act(pilot):
        assert app.pane is not None
        chosen = app.pane.filter
        monkeypatch.setattr(app.pane, "filter", lambda words: (asked.append(words), chosen(words)))
        await press(pilot, ["/"])
        prompt = app.screen.query_one(Prompt)
        for words in ("s", "sh", "sho"):
            prompt.value = words
        await settled(pilot)
        prompt.value = "shop"
        await prompt.action_submit()
        await settled(pilot)
        await press(pilot, ["/"])
        prompt.value = "shops"
        prompt.call_later(prompt.action_leave)
        await settled(pilot)

    drive(app, act=act)
    assert asked == ["sho", "shop", ""]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("filtered", "count"), [("!batch", 37), ("^shop .*search", 2), ("-f ssrch", 2), ("-l app=cart", 2)]
)
def test_filters(filtered, count):
    names = {"^": "circumflex_accent", "*": "asterisk", "(": "left_parenthesis"}
    keys = [names.get(key, key) for key in typed(filtered)]
    shown = drive(demo("pods"), ["/", *keys, "enter"])
    assert re.search(rf"─ {count}( of 47)? pods", shown), shown


def test_a_selector_that_means_nothing_hides_nothing_and_says_so():
    assert 'invalid selector "("' in drive(demo("pods"), ["/", *typed("-l "), "left_parenthesis", "enter"])


@pytest.mark.one_in(10)
@pytest.mark.parametrize(
    ("words", "crumb"),
    [
        ("quo", "quotas"),
        ("po shop", "pods"),
        ("pods /cart", "pods"),
        ("deploy/checkout", "deployment/checkout"),
        ("deploy checkout", "deployment/checkout"),
        ("quota cpu-budget", "quota/cpu-budget"),
        ("ns", "namespaces"),
        ("limits shop", "limitranges"),
        ("kinds", "kinds"),
        ("help", "help"),
    ],
)
def test_commands(words, crumb):
    complete = ["tab"] if words == "quo" else []
    shown = drive(demo(), ["down", "enter", "escape", ":", *typed(words), *complete, "enter"])
    assert shown.splitlines()[1].split("filter")[0].strip(" ─").endswith(f"> {crumb}"), shown


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("words", "said"),
    [("podz", "near: pod"), ("q foo", ":q takes no words"), ("pod nowhere", 'pod "nowhere"')],
)
def test_commands_that_lead_nowhere_say_so(words, said):
    assert said in drive(demo("pods"), [":", *typed(words), "enter"], size=LARGE)


def test_history():
    async def act(pilot):
        for keys, view in (
            ([":", *typed("quotas"), "enter"], "quotas"),
            ([":", *typed("limits"), "enter"], "limitranges"),
            (["["], "quotas"),
            (["]"], "limitranges"),
            (["-"], "quotas"),
            (["-"], "limitranges"),
            (["escape"], "overview"),
        ):
            await press(pilot, keys)
            assert text(pilot.app).splitlines()[1].strip(" ─").endswith(view)

    drive(demo(), act=act)


def test_namespaces_by_digit():
    """The first digits are the namespaces by name."""
    shown = drive(demo("pods"), ["2"])
    assert "ns checkout" in shown
    assert command(shown) == "kubectl kres qos -n checkout --demo"
    assert "ns all" in drive(demo("pods"), ["2", "0"])


def test_sorting_by_a_quantity_and_back():
    shown = drive(demo("pods"), ["M", "g"])
    assert "report-cruncher" in cursor(shown)
    assert "sort MEM REQ down" in shown
    # What states no request is the least.
    assert "report-cruncher" in cursor(drive(demo("pods"), ["M", "M", "G"]))
    assert "thumbnails" in cursor(drive(demo("pods"), ["M", "M", "g"]))
    assert "sort NAMESPACE" in drive(demo("quotas"), ["shift+right", "O", "g"])


def test_tabs_of_a_pod():
    for key, said in (("d", "container web"), ("D", "+++"), ("y", "what resources depend on"), ("tab", "to be")):
        shown = drive(demo("pod storefront-78dbf55d4d-5fk8z"), [key], size=LARGE)
        assert said in shown or "nothing differs" in shown, (key, shown)


def test_folding_and_steps():
    app = demo("pod cart-dd98c7b99-4z4sn")
    shown = drive(app, ["left"])
    assert "▸ container app" in shown
    assert "▾ container app" in drive(demo("pod cart-dd98c7b99-4z4sn"), ["left", "right"])
    assert "steps and checks are hidden" in drive(demo("pod cart-dd98c7b99-4z4sn"), ["v"])


def test_a_quota_by_pod_and_counted_again():
    shown = drive(demo("quota cpu-budget"), ["b"])
    assert "Pod/checkout-" in shown
    assert "PriorityClass" in drive(demo("quota cpu-budget"), ["b", "b"]) or "no priority class" in shown
    assert "COUNTED" in drive(demo("quota cpu-budget"), ["r"])


@pytest.mark.one_in(4)
@pytest.mark.parametrize("key", sorted(CHANGING))
def test_keys_that_change_things_only_say_so(key):
    assert "this is read-only" in drive(demo("pods"), [key])


@pytest.mark.one_in(9)
@pytest.mark.parametrize("place", ["", "pods", "quota cpu-budget", "pod debug-shell", "kinds", *POOLED])
def test_no_key_is_dead_or_deadly(place):
    """Each key of the table does something or says what it does not do, on every screen."""
    ending = {"quit", "quit-or-up"}

    def check(key):
        async def act(pilot):
            app = pilot.app
            before = text(app), app.pane
            await pilot.press(key.keys)
            await calm(pilot)
            assert not app.return_code
            changed = (text(app), app.pane) != before
            moved = key.id in {"up", "back", "forward", "left", "right", "pane", "pane-back", "open"}
            quiet = key.id.startswith(("sort", "column", "ns-")) or key.id in {
                "header",
                "crumbs",
                "wide",
                "fault-previous",
            }
            assert changed or moved or quiet, (place, key.id, text(app))
            if app.screen.has_class("typing"):
                await pilot.press("escape")
            if key.id == "pause":
                await pilot.press(key.keys)

        return act

    async def all_keys(pilot):
        for key in KEYS:
            if key.id not in ending | {"palette"}:
                await check(key)(pilot)

    drive(demo(place, file=ML if place in POOLED else SHOP), act=all_keys, size=LARGE)


def test_copy_by_the_terminal(monkeypatch):
    copied = []
    monkeypatch.setattr(Kres, "copy_to_clipboard", lambda _self, text: copied.append(text))
    drive(demo("pods"), ["c", "n", "ctrl+y"])
    assert copied == ["recommendations-77cdcb87cf-gzr7g", "shop", "kubectl kres qos -A --demo"]


def test_save_table_and_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    shown = drive(demo("quotas"), ["ctrl+s", "enter"])
    assert "saved kres-quotas.csv" in shown
    rows = list(csv.reader((tmp_path / "kres-quotas.csv").read_text().splitlines()))
    assert rows[0][:2] == ["NAMESPACE", "NAME"]
    assert len(rows) == 9
    assert "exists already" in drive(demo("quotas"), ["ctrl+s", "enter"])
    drive(demo("pod debug-shell"), ["ctrl+s", "enter"])
    picture = (tmp_path / "kres-pod-debug-shell.svg").read_text()
    assert picture.startswith("<svg")
    assert "@font-face" not in picture


def test_pause_holds_the_screen_still():
    shown = drive(demo("pods"), ["p"])
    assert "paused (p)" in shown
    assert "paused (p)" not in drive(demo("pods"), ["p", "p"])


def test_help_lists_every_key():
    app = demo("help")
    pages = []

    def collect(app):
        pages.append(app.pane.page.text)

    drive(app, [], collect, size=LARGE)
    for key in KEYS:
        if not re.fullmatch(r"ns-[1-9]", key.id):
            assert key.text.split(":")[0].split(",")[0][:20] in pages[0], key.id


def test_the_prompt_has_the_keys_while_somebody_types_and_never_else():
    async def act(pilot):
        await pilot.press(":", "q")
        app.pane.focus_main()
        await calm(pilot)
        assert isinstance(app.focused, Prompt)
        await press(pilot, ["u", "escape"])
        assert app.focused is app.pane.table

    async def first():
        async with app.run_test() as pilot:
            while app.pane is None or not app.pane.is_mounted:
                assert not isinstance(app.focused, Prompt)
                await pilot.pause()
            await settled(pilot)
            await act(pilot)

    app = demo("pods")
    asyncio.run(first())


def test_palette_offers_the_keys():
    assert "go to  (:)" in drive(demo("pods"), ["ctrl+p", *"go", "space", *"to"], size=LARGE)


def test_the_mouse_chooses_sorts_and_opens():
    async def act(pilot):
        table = pilot.app.pane.table
        await pilot.click(table, offset=(20, 4))
        await calm(pilot)
        assert table.line == 3
        await pilot.click(table, offset=(6, 0))
        await calm(pilot)
        assert table.sorted_by.id == "namespace"
        await pilot.click(table, offset=(20, 2), times=2)

    app = demo("pods")
    assert "SET BY" in drive(app, act=act)


def test_the_cursor_stays_on_its_object_when_the_order_changes():
    assert "storefront-" in cursor(drive(demo("pods"), ["down", "down", "M"]))
    assert "report-cruncher-" in cursor(drive(demo("pods"), ["M"])), "nobody moved it: it stands on the first"


def test_resize_shrinks_and_grows():
    async def act(pilot):
        for size in ((140, 40), (59, 15), (80, 24), (60, 16), (200, 60)):
            await pilot.resize_terminal(*size)
            await calm(pilot)
            assert not pilot.app.return_code

    app = demo("pods")
    assert "import-prices-0" in drive(app, act=act)


def test_a_remark_goes_with_the_screen_that_it_was_about():
    assert 'no screen "nowhere"' in drive(demo(), [":", *typed("nowhere"), "enter"])
    shown = drive(demo(), [":", *typed("nowhere"), "enter", ":", *typed("pods"), "enter"])
    assert "47 pods" in shown and 'no screen "nowhere"' not in shown


def test_what_is_left_out_above_the_tree_is_marked():
    """Nobody can move to what is cut there; the tab with the text has all of it."""
    above = drive(demo("taskrun integration-12", file=ML)).partition("\n >")[0]
    assert sum(line.endswith("…") for line in above.splitlines()) == 1
    assert "…" not in drive(demo("deploy pricing")).partition("\n >")[0]


def test_an_init_container_is_called_by_its_whole_name():
    shown = drive(demo("taskrun build-api-9c4f", file=ML), ["/", *typed("place-scripts")])
    assert re.search(r"▾ init place-scripts *\n", shown)


def test_aliases_and_hotkeys_of_the_user():
    """A hotkey may name an alias; what an alias stands for is followed once, so that it may be its own name."""
    own = {"aliases": (("mine", "pods checkout"), ("pods", "pods batch")), "hotkeys": (("f2", "mine"), ("f3", "zzz"))}
    assert "import-prices-0" in drive(demo("quotas", **own), [":", *typed("pods"), "enter"])
    shown = drive(demo("quotas", **own), ["f2"])
    assert "    checkout-" in shown or " >  checkout-" in shown
    assert "import-prices-0" not in shown
    assert "zzz" in drive(demo("quotas", **own), ["f3"]).splitlines()[-3]


def test_columns_of_the_user():
    """In their order, also those that usually need a wide screen; the namespace goes where it is said above."""
    own = {"columns": (("claims", ("waits", "NAMESPACE", "NAME", "Asks For"), ""),)}
    shown = drive(demo("claims", file=ML, **own))
    assert re.search(r"\n +WAITS +NAMESPACE +NAME +ASKS FOR *\n", shown), shown
    assert "STATE" in drive(demo("quotas", file=ML, **own), size=(140, 40))
    shown = drive(demo("claims", file=ML, namespaces=("ml-training",), **own))
    assert re.search(r"\n +WAITS +NAME +ASKS FOR *\n", shown), shown


def test_yaml_of_a_pod_names_the_command_that_prints_it():
    for key in ("y", "Y"):
        shown = drive(demo("pod storefront-78dbf55d4d-5fk8z"), [key])
        assert "$ kubectl kres diff pod/storefront-78dbf55d4d-5fk8z -o yaml -n shop --demo" in shown, shown


def test_what_was_said_of_a_line_goes_when_another_one_folds():
    shown = drive(demo("claim alice", file=ML, namespaces=("ml-notebooks",)), ["end", "enter", "home", "enter"])
    assert "enter unfolds" in shown, shown
    assert "all that is known" not in shown
