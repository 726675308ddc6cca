"""Columns keep to the room there is, and texts to their cells."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from tui.driving import ML, demo, drive, strike, typed

from kubectl_kres.render.text.line import sanitize_text
from kubectl_kres.tui.table import strips
from kubectl_kres.tui.table.columns import GAP, Column, amount, laid_out
from kubectl_kres.tui.table.strips import fit_text, wrap_line

pytestmark = pytest.mark.one_in(2)

columns = st.builds(
    Column,
    id=st.text("ab", min_size=1, max_size=3),
    head=st.text("AB", min_size=1, max_size=12),
    text=st.just(str),
    right=st.booleans(),
    wide=st.booleans(),
    width=st.sampled_from([0, 0, 0, 6]),
    vital=st.booleans(),
)


@given(st.lists(st.tuples(columns, st.integers(1, 60)), min_size=1, max_size=9), st.integers(1, 200), st.booleans())
def test_columns_fit(pairs, room, wide):
    shown = [column for column, _ in pairs]
    if all(column.wide for column in shown) and not wide:
        return
    found = laid_out(shown, [liked for _, liked in pairs], room, wide=wide)
    assert [at for at, _ in found] == sorted(at for at, _ in found)
    assert found
    assert sum(width for _, width in found) + GAP * (len(found) - 1) <= room
    assert all(width > 0 for _, width in found)


@given(st.lists(st.tuples(columns, st.integers(1, 60)), min_size=1, max_size=9), st.integers(1, 200))
def test_more_room_never_shows_fewer_columns(pairs, room):
    shown, liked = [column for column, _ in pairs], [width for _, width in pairs]
    if all(column.wide for column in shown):
        return
    less = {at for at, _ in laid_out(shown, liked, room, wide=False)}
    more = {at for at, _ in laid_out(shown, liked, room + 1, wide=False)}
    assert less <= more


@given(st.lists(st.tuples(columns, st.integers(1, 60)), min_size=1, max_size=9), st.integers(1, 200))
def test_no_vital_column_goes_before_another_one(pairs, room):
    shown, liked = [column for column, _ in pairs], [width for _, width in pairs]
    vital = {at for at, column in enumerate(shown) if column.vital and not column.wide}
    left = {at for at, _ in laid_out(shown, liked, room, wide=False)}
    assert vital <= left or left <= vital


@pytest.mark.one_in(5)
@pytest.mark.parametrize("size", [(50, 15), (60, 20), (80, 24)], ids=str)
@pytest.mark.parametrize(("name", "heads"), [
        ("refused", ("NAME", "WHY")), ("timeline", ("OBJECT", "WHAT HAPPENED")), ("claims", ("NAME", "STATE")),
        ("taskruns", ("NAME", "CONDITION")), ("pipelineruns", ("NAME", "CONDITION")),
    ])  # fmt: skip
def test_a_small_screen_says_what_a_row_is_about(name, heads, size):
    shown = drive(demo(name, file=ML), size=size)
    head_line = next(line for line in shown.splitlines() if heads[0] in line)
    assert all(re.search(rf" {head}\b", head_line) for head in heads), shown


@pytest.mark.parametrize("name", ["quotas", "pods", "timeline", "namespaces", ""])
def test_the_last_column_leaves_a_blank_before_the_scrollbar(name):
    def look(app):
        table = app.pane.table
        assert table.show_vertical_scrollbar
        strips = (table.render_line(y) for y in range(table.size.height))
        assert all(strip.text[table.size.width - 2 : table.size.width - 1] == " " for strip in strips)

    drive(demo(name, file=ML), then=look)


def test_columns_that_stay_have_what_was_taken_from_them_for_one_that_goes():
    columns = tuple(Column(name, name, str, most=60, vital=name != "c") for name in "abc")
    assert laid_out(columns, (60, 60, 60), 50, wide=False) == [(0, 24), (1, 24)]


@given(st.text(), st.integers(1, 30), st.booleans())
def test_a_cell_has_its_width(text, width, right):
    assert cell_len(fit_text(text, width, right=right)) == width


@given(st.lists(st.tuples(st.sampled_from(["", "bad"]), st.text(max_size=60)), max_size=3), st.integers(4, 30))
def test_folding_loses_nothing_but_blanks(line, width):
    pieces = list(wrap_line(line, width))
    assert all(sum(cell_len(text) for _, text in piece) <= width for piece in pieces)
    kept = "".join(text for piece in pieces for _, text in piece).replace(" ", "")
    assert kept == "".join(sanitize_text(text) for _, text in line).replace(" ", "")


@pytest.mark.parametrize("text", ["n", "e\u0301", "漢字", "word ", "👩\u200d🚀", "\u0301"], ids=ascii)
def test_folding_a_long_text_measures_little_more_than_there_is(text, monkeypatch):
    measured = 0

    def counted(some: str) -> int:
        nonlocal measured
        measured += len(some)
        return cell_len(some)

    monkeypatch.setattr(strips, "cell_len", counted)
    list(wrap_line([("", text * 1000)], 20))
    assert measured < 20 * len(text) * 1000


@pytest.mark.parametrize(
    ("text", "rank"), [("1", 10**9), ("500m", 5 * 10**8), ("1Ki", 1024 * 10**9), ("-", -1), ("x", None)]
)
def test_amounts_rank_by_worth(text, rank):
    assert amount(lambda _: text)(None) == rank


def test_what_room_is_left_goes_to_texts_that_say_more():
    sentence = Column("short", "SHORT BY", str, most=44)
    short, figure = Column("name", "NAME", str), Column("age", "AGE", str, right=True)
    assert laid_out((short, sentence, figure), (8, 90, 4), 60, wide=False) == [(0, 8), (1, 44), (2, 4)]
    assert laid_out((short, sentence, figure), (8, 90, 4), 120, wide=False) == [(0, 8), (1, 90), (2, 4)]
    assert laid_out((short, sentence, figure), (8, 90, 4), 80, wide=False) == [(0, 8), (1, 64), (2, 4)]


@pytest.mark.thorough
def test_pods_without_limits_are_a_filter_a_key_and_the_first_of_a_sort():
    filtered = drive(demo("pods", file=ML), ["/", *typed("limits=none"), "enter"], size=(120, 35))
    assert "17 of 56 pods" in filtered
    assert "in batch 7, platform 7" in filtered
    by_key = drive(demo("pods", file=ML), ["L"], size=(120, 35))
    assert "17 of 56 pods" in by_key
    assert "56 pods" in drive(demo("pods", file=ML), ["L", "L"], size=(120, 35))
    some = drive(demo("pods", file=ML), ["/", *typed("qos=besteffort"), "enter"], size=(120, 35))
    assert "Burstable" not in some.partition("─")[0]
    over = drive(demo("quotas", file=ML), ["/", *typed("state=over"), "enter"], size=(120, 35))
    assert "1 of 18 quotas" in over


def test_sorting_takes_no_column_away():
    def shown_columns(keys):
        seen = []
        drive(demo("pods", file=ML), keys, lambda app: seen.append(len(app.pane.table.visible_columns)), size=(120, 35))
        return seen[0]

    assert shown_columns([]) == shown_columns(["C"]) == shown_columns(["M"])


def test_the_sentence_that_nothing_matches_names_all_that_was_typed():
    """Nothing else on the screen changes with the second letter."""

    async def act(pilot):
        drawn = []
        await strike(pilot, ["/", "z", "z"])
        pilot.app.pane.table.refresh = lambda *_, **__: drawn.append(1)
        await strike(pilot, ["z"])
        assert drawn and 'filter "zzz" hides' in "".join(text for _, text in pilot.app.pane.table.empty)

    drive(demo("pods", file=ML), act=act)


@pytest.mark.parametrize(("size", "keys"), [((110, 30), ()), ((80, 24), ("S", "S")), ((140, 40), ())])
def test_the_column_that_rows_are_sorted_by_is_there(size, keys):
    """An order of which the screen does not tell the reason is none to who reads it."""

    def look(app: Any) -> None:
        assert app.pane.table.sorted_by.id == "state"
        assert app.pane.table.sorted_by in app.pane.table.visible_columns

    assert "sort STATE" in drive(demo("pods"), keys, look, size=size)
