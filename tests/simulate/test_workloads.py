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
        workloads, plain = workloads.having(place, workload), [*plain]
        plain[place] = (plain[place][0], workload)
    return workloads, plain


@given(_MOVES, _MOVES)
def test_each_move_changes_one_place(first, second):
    start = Workloads(_ITEMS)
    one, plain_one = _moved(start, _ITEMS, first)
    other, plain_other = _moved(start, _ITEMS, second)
    assert list(start) == _ITEMS
    assert list(one) == plain_one
    assert [one[place] for place in range(len(one))] == plain_one
    assert (one == other) == (plain_one == plain_other)
    assert one == Workloads(plain_one)
    assert hash(one) == hash(Workloads(plain_one))


@given(_MOVES, _MOVES)
def test_what_differs_stands_in_the_places(first, second):
    one, plain_one = _moved(Workloads(_ITEMS), _ITEMS, first)
    for common in (one.common, tuple(_ITEMS)):
        other, plain_other = _moved(Workloads(common), _ITEMS, second)
        differing = {place for place in range(5) if plain_one[place] != plain_other[place]}
        assert differing <= {*one.places(other)}
        assert differing <= {*other.places(one)}


def test_one_more_and_one_less_differ_in_the_last_place():
    assert 4 in Workloads(_ITEMS).places(Workloads(_ITEMS[:-1]))
    assert 4 in Workloads(_ITEMS[:-1]).places(Workloads(_ITEMS))
