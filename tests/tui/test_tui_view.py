"""A table's view is the sorted and filtered rows, whatever happened to them."""

from __future__ import annotations

import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_kres.cli.args.arguments import labels_match
from kubectl_kres.tui.table import view as viewing
from kubectl_kres.tui.table.row_filter import Faces
from kubectl_kres.tui.table.row_texts import EVERYTHING, matcher
from kubectl_kres.tui.table.view import View

FACES = Faces(lambda row: row[0], lambda row: {"app": row[0]}, lambda row: row[1] is not None and row[1] < 0)

keys = st.tuples(st.sampled_from("ab"), st.sampled_from("wxyz"))
rows = st.tuples(st.text(alphabet="abXY", max_size=3), st.one_of(st.none(), st.integers(-2, 2)))
filters = st.sampled_from(["", "a", "ab", "abx", "!a", "a|b", "-f ax", "b", "[", "!", "-f "])
steps = st.one_of(
    st.tuples(st.just("update"), st.dictionaries(keys, rows, max_size=3), st.lists(keys, max_size=2)),
    st.tuples(st.just("replace"), st.dictionaries(keys, rows, max_size=8)),
    st.tuples(st.just("filter"), filters, st.booleans()),
    st.tuples(st.just("sort"), st.sampled_from(["none", "text", "number", "fraction", "some"]), st.booleans()),
    st.tuples(st.just("foresee"), st.sets(st.sampled_from(["text", "number", "fraction", "some"]))),
    st.tuples(st.just("read"), st.integers(1, 3)),
    st.tuples(st.just("settle")),
)
#: ``fraction`` of all rows, ``some`` of those that have one: the former are kept packed, the latter until one has none.
RANKS = {
    "none": None, "text": lambda row: row[0], "number": lambda row: row[1],
    "fraction": lambda row: float(len(row[0])), "some": lambda row: None if row[1] is None else row[1] / 2,
}  # fmt: skip


def expected(held: dict, filtered: str, faults: bool, rank: str, reverse: bool) -> list:
    """The plain definition."""
    test = matcher(filtered).test
    seen = [key for key in sorted(held) if test is None or test(held[key][0].lower())]
    seen = [key for key in seen if not faults or FACES.fault(held[key])]
    by = RANKS[rank]
    if by is None:
        return seen[::-1] if reverse else seen
    known = sorted((key for key in seen if by(held[key]) is not None), key=lambda key: by(held[key]), reverse=reverse)
    return [*known, *(key for key in seen if by(held[key]) is None)]


#: Changes are worked in one by one, whatever there are of them; as it comes; all anew each time.
parts = st.sampled_from([0, viewing._PART, 10**6])


@given(st.lists(steps, max_size=16), parts)
def test_view_is_sort_of_filter_of_rows(history, part):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(viewing, "_PART", part)
        _held_against_the_definition(history)


def _held_against_the_definition(history):
    view, held = View(FACES), {}
    filtered, faults, rank, reverse = "", False, "none", False
    shown = []
    for step in history:
        # Nothing moves before it is settled.
        assert [view.line_of(key) for key in shown] == list(range(len(shown)))
        # What is known of the rows follows at once.
        assert (dict(view.rows), len(view.rows)) == (held, len(held))
        assert [view.rows.get(key) for key in (("a", "w"), ("b", "z"))] == [
            held.get(key) for key in (("a", "w"), ("b", "z"))
        ]
        match step:
            case ("update", changed, gone):
                held.update(changed)
                for key in gone:
                    held.pop(key, None)
                view.update(changed, gone)
            case ("replace", found):
                held = dict(found)
                view.replace(found)
            case ("filter", filtered, faults):
                view.filter(matcher(filtered), faults=faults)
            case ("sort", rank, reverse):
                view.sort(RANKS[rank], reverse=reverse)
            case ("foresee", names):
                view.rank_rows(RANKS[name] for name in names)
            case ("read", most):
                view.read(most)
            case _:
                view.settle()
                shown = list(view.keys)
                assert shown == expected(held, filtered, faults, rank, reverse)
    view.settle()
    shown = list(view.keys)
    assert shown == expected(held, filtered, faults, rank, reverse)
    assert {key: view.line_of(key) for key in shown} == {key: line for line, key in enumerate(shown)}
    assert [view.line_of(key) for key in held if key not in shown] == [None] * (len(held) - len(shown))
    assert (view.keys[1:3], len(view.keys), view.keys[-1:]) == (shown[1:3], len(shown), shown[-1:])
    assert all(view.keys[line] == key for line, key in enumerate(shown))


def test_a_sort_that_is_asked_for_again_sees_what_was_computed_meanwhile():
    rows = {("", name): [None] for name in "abcd"}
    view = View(Faces(str, lambda _: {}, lambda _: False))
    view.replace(rows)
    rank = operator.itemgetter(0)
    view.sort(rank, reverse=True)
    view.settle()
    assert list(view.keys) == sorted(rows)
    rows["", "c"][0] = 1
    view.settle()
    assert list(view.keys) == sorted(rows)
    view.sort(rank, reverse=True)
    view.settle()
    assert list(view.keys) == [("", name) for name in "cabd"]


def test_texts_and_ranks_are_made_ready_a_part_at_a_time():
    view, asked = View(FACES), []
    view.rank_rows([lambda row: asked.append(row) or row[0]])
    view.replace({("a", str(number)): (f"X{number}", None) for number in range(5)})
    view.settle()
    rounds = 0
    while not view.texts_current:
        view.read(2)
        rounds += 1
    assert (rounds, len(asked)) == (6, 5)
    view.update({("a", "1"): ("Y", None)})
    view.settle()
    assert (view.texts_current, asked[5:]) == (False, [("Y", None)])
    view.filter(matcher("y"))
    view.settle()
    assert list(view.keys) == [("a", "1")]


def test_filters_by_label_and_says_what_a_selector_lacks():
    found = matcher("-l app=web", labels_match)
    view = View(FACES)
    view.replace({("a", "1"): ("web", None), ("a", "2"): ("db", None)})
    view.filter(found)
    view.settle()
    assert list(view.keys) == [("a", "1")]
    assert matcher("-l (", labels_match).fault
    assert matcher("-l", labels_match) == EVERYTHING


def test_a_pattern_is_a_pattern_in_any_case():
    assert matcher(r"^W\S+-1$").test("web-1")
    assert not matcher(r"^W\S+-1$").test("web-12")
