"""The engine behind all searches for remedies, with a toy: a box of a size, and things that have to fit it."""

from __future__ import annotations

from collections.abc import Iterator

from reports.stored import store_of, subject

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.remedy import Scale
from kubectl_kres.reports.remedies.engine import RemedySearch, Search, State

#: What lies in the box, by name; a state says how large each is instead, and how large the box.
_THINGS = {"a": 5, "b": 3, "c": 1}
_BOX = "box"
_SIZE = 6


class Packing(Search[int]):
    """The room that is left in the box, negative where things do not fit."""

    def __init__(self, *given: State, budget: int = 100) -> None:
        super().__init__(budget)
        self.given, self.evaluated = given, list[State]()

    def evaluate(self, state: State) -> int:
        self.evaluated.append(state)
        sizes = {**_THINGS, _BOX: _SIZE, **state}
        return 2 * sizes[_BOX] - sum(sizes.values())

    def passes(self, trial: int) -> bool:
        return trial >= 0

    def states(self) -> Iterator[State]:
        yield from self.given


def one_less(state: State, _room: int) -> State | None:
    """The largest thing becomes one smaller; all of size 1 is the end."""
    sizes = {**_THINGS, **state}
    name = max(_THINGS, key=lambda it: sizes[it])
    return {**state, name: sizes[name] - 1} if sizes[name] > 1 else None


def test_a_state_is_corrected_by_what_is_wrong_until_it_passes():
    search = Packing()
    assert search.find({}, one_less) == {"a": 2}
    assert search.evaluated[:4] == [{}, {"a": 4}, {"a": 3}, {"a": 2}]


def test_each_state_is_evaluated_once():
    search = Packing({"a": 2}, {"a": 2}, {"a": 1})
    search.find({}, one_less)
    assert [*search.proven()] == [{"a": 2}, {"a": 1}], "and given out once"
    assert len(search.evaluated) == len({tuple(state.items()) for state in search.evaluated})


def test_what_is_needless_is_left_out_also_where_a_removal_makes_it_so():
    search = Packing()
    assert search.reduce({"c": 0, "b": 1, "a": 2}, search.passes) == {"a": 2}
    # A larger box is needless once it is the things that are smaller, and only then.
    assert search.reduce({_BOX: 8, "a": 2}, search.passes) == {"a": 2}


def test_parts_that_only_make_sense_together_are_left_out_together():
    class Pairs(Packing):
        def parts(self, _state: State) -> list[tuple[str, ...]]:
            return [("a", "b")]

    search = Pairs()
    assert search.reduce({"a": 2, "b": 3, _BOX: 9}, search.passes) == {_BOX: 9}
    assert search.reduce({"a": 2, "b": 3}, search.passes) == {"a": 2, "b": 3}


def test_without_a_correction_or_in_a_circle_nothing_is_found():
    search = Packing()
    assert search.find({}, lambda _state, _room: None) is None
    assert search.find({}, lambda state, _room: {"a": 9 - state.get("a", 5)}) is None
    assert search.evaluated == [{}, {"a": 4}, {"a": 5}]


def test_the_last_state_of_a_way_without_end_is_where_it_stopped():
    search = Packing()
    assert search.walk({}, one_less, lambda room: room > 10) == {"a": 1, "b": 1}


def test_once_the_budget_is_spent_nothing_new_passes():
    search = Packing({"a": 2}, {"a": 1}, budget=2)
    assert search.find({}, one_less) is None
    assert len(search.evaluated) == 2
    assert [*search.proven()] == []
    # What was tried before may be given out.
    search = Packing({"a": 2}, {"a": 1}, budget=1)
    assert search.meets_goal({"a": 2}, search.passes)
    assert [*search.proven()] == [{"a": 2}]


def test_a_trial_costs_what_the_search_says():
    class Dear(Packing):
        def cost(self, state: State) -> int:
            return 1 + len(state)

    search = Dear(budget=4)
    search.find({}, one_less)
    assert len(search.evaluated) == 3


def test_as_few_parts_from_the_beginning_as_are_enough():
    search = Packing()
    assert search.find_fewest_parts([("c", 0), ("b", 1), ("a", 1)]) == {"c": 0, "b": 1}
    assert search.find_fewest_parts([("c", 0)]) is None
    assert search.find_first_passing([{"c": 0}, {"a": 0}, {"b": 0}]) == {"a": 0}


def test_what_is_not_proven_is_not_given_out():
    assert [*Packing({"a": 4}, {}, {"a": 2}).proven()] == [{"a": 2}]


def test_a_remedy_is_made_of_all_edits_of_a_state_that_passes_and_of_equal_edits_once():
    class Scaling(RemedySearch[int]):
        def evaluate(self, state: State) -> int:
            return sum(edit.to for edit in state.values())

        def passes(self, trial: int) -> bool:
            return trial <= 3

        def states(self) -> Iterator[State]:
            def edit(name: str, to: int) -> Scale:
                return Scale(ObjectRef("Deployment", name, "ns"), "spec.replicas", to, 5)

            yield {"web": edit("web", 4)}
            yield {"web": edit("web", 1), "api": edit("api", 2)}
            yield {"again": edit("web", 1), "more": edit("api", 2)}

    found = [*Scaling(store_of(), subject("Deployment/web")).remedies()]
    assert [[(edit.object.name, edit.to) for edit in remedy.edits] for remedy in found] == [[("web", 1), ("api", 2)]]
    assert all(remedy.proven for remedy in found)
    assert sentence_text(found[0].text) == "lower replicas to 1 and lower replicas to 2"
