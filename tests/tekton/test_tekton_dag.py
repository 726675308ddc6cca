"""The order of pipeline tasks: cycles, and the most that runs at once, against trying everything."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_kres.tekton.rules.pipeline.dag import ancestors, cycle_in, largest_at_once


@st.composite
def orders(draw: st.DrawFn) -> dict[str, tuple[str, ...]]:
    """Up to seven tasks that wait only for earlier ones, named in any order."""
    names = draw(st.permutations("abcdefg"))[: draw(st.integers(0, 7))]
    waits = {name: draw(st.lists(st.sampled_from(names[:index]), unique=True) if index else st.just([]))
             for index, name in enumerate(names)}  # fmt: skip
    return {name: tuple(waits[name]) for name in sorted(names)}


def heaviest(graph: dict[str, tuple[str, ...]], weights: dict[str, int]) -> int:
    """The greatest weight of all sets of tasks of which none waits for another."""
    above = ancestors(graph)
    sets = (chosen for size in range(len(graph) + 1) for chosen in itertools.combinations(graph, size))
    apart = (chosen for chosen in sets if not any(other in above[one] for one in chosen for other in chosen))
    return max(sum(weights.get(name, 0) for name in chosen) for chosen in apart)


@given(orders(), st.dictionaries(st.sampled_from("abcdefg"), st.integers(0, 9)))
def test_the_most_at_once_is_what_trying_every_set_finds(graph, weights):
    most, chosen = largest_at_once(graph, weights)
    above = ancestors(graph)
    assert most == heaviest(graph, weights)
    assert most == sum(weights[name] for name in chosen)
    assert not any(other in above[one] for one in chosen for other in chosen)
    assert cycle_in(graph) == ()


@pytest.mark.parametrize(
    ("graph", "cycle"),
    [
        ({"a": ("b",), "b": ("a",)}, {"a", "b"}),
        ({"a": ("a",)}, {"a"}),
        ({"a": ("b",), "b": ("c",), "c": ("d", "b"), "d": ()}, {"b", "c"}),
        ({"a": ("gone",), "b": ("a",)}, set()),
    ],
)
def test_cycles(graph, cycle):
    found = cycle_in(graph)
    assert set(found) == cycle
    assert all(found[index - 1] in graph[name] for index, name in enumerate(found))


def test_hundreds_of_tasks():
    wide = {f"t{index}": () for index in range(200)}
    deep = {f"t{index}": (f"t{index - 1}",) if index else () for index in range(2000)}
    layered = {f"t{row}-{column}": tuple(f"t{row - 1}-{other}" for other in range(20)) if row else ()
               for row in range(10) for column in range(20)}  # fmt: skip
    assert largest_at_once(wide, dict.fromkeys(wide, 256))[0] == 200 * 256
    assert largest_at_once(layered, dict.fromkeys(layered, 10**15))[0] == 20 * 10**15
    assert len(ancestors(deep)["t1999"]) == 1999
    assert len(cycle_in({**deep, "t0": ("t1999",)})) == 2000
