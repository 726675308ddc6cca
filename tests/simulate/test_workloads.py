"""Workloads of a state are a sequence, whatever of it the states have in common."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kubectl_kres.simulate.state import ReplicaSetState, Workloads

_ITEMS = [(("ReplicaSet", f"w{number}"), ReplicaSetState(number, 1)) for number in range(5)]
_MOVES = st.lists(st.tuples(st.integers(0, 4), st.integers(1, 3)), max_size=8)


def _moved(workloads, plain, moves):
    for place, wanted in moves:
        workload = ReplicaSetState(place, wanted)
        workloads, plain = workloads.with_entry(place, workload), [*plain]
        plain[place] = (plain[place][0], workload)
    return workloads, plain


@given(_MOVES, _MOVES)
def test_each_move_changes_one_place(first, second):
    start = Workloads.from_items(_ITEMS)
    one, plain_one = _moved(start, _ITEMS, first)
    other, plain_other = _moved(start, _ITEMS, second)
    assert list(start) == _ITEMS
    assert list(one) == plain_one
    assert [one[place] for place in range(len(one))] == plain_one
    assert (one == other) == (plain_one == plain_other)
    assert one == Workloads.from_items(plain_one)
    assert hash(one) == hash(Workloads.from_items(plain_one))


@given(_MOVES, _MOVES)
def test_what_differs_stands_in_the_places(first, second):
    one, plain_one = _moved(Workloads.from_items(_ITEMS), _ITEMS, first)
    for start in (Workloads(one.common), Workloads.from_items(_ITEMS)):
        other, plain_other = _moved(start, _ITEMS, second)
        differing = {place for place in range(5) if plain_one[place] != plain_other[place]}
        assert differing <= {*one.differing_indexes(other)}
        assert differing <= {*other.differing_indexes(one)}


@given(_MOVES, st.integers(0, 4))
def test_one_more_and_one_less(moves, place):
    workloads, plain = _moved(Workloads.from_items(_ITEMS), _ITEMS, moves)
    key, new = ("ReplicaSet", "new"), ReplicaSetState(9, 9)
    more, less = workloads.with_new(key, new), workloads.without_index(place)
    assert list(more) == [*plain, (key, new)]
    assert list(less) == [*plain[:place], *plain[place + 1 :]]
    assert [less.index_of(item) for item, _ in plain] == [*range(place), None, *range(place, 4)]
    assert (more.index_of(key), less.index_of(key)) == (5, None)
    assert 5 in more.differing_indexes(workloads)
    assert 4 in workloads.differing_indexes(less)


def test_states_still_have_in_common_what_the_same_was_done_to():
    start = Workloads.from_items(_ITEMS)
    other = start.with_entry(2, ReplicaSetState(2, 5))
    assert start.without_index(1).common is other.without_index(1).common
    assert start.with_new(("Job", "j"), ReplicaSetState(7, 7)).differing_indexes(
        other.with_new(("Job", "j"), ReplicaSetState(7, 7))
    ) == {2}
