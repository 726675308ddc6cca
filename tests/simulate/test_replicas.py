"""Rows of ordinals hold the same as sets of single ones."""

from __future__ import annotations

import itertools
import random

import pytest

from kubectl_kres.model.ordinals import Names
from kubectl_kres.simulate.replicas import Replica, count_pods, gaps, joined, outside, within


def drawn_pods(draw: random.Random) -> dict[int, tuple[int, int, bool]]:
    ordinals = draw.sample(range(20), draw.randint(0, 15))
    return {ordinal: (draw.randint(0, 1), draw.randint(0, 1), draw.random() < 0.7) for ordinal in ordinals}


def one_by_one(replicas: tuple[Replica, ...]) -> dict[int, tuple[int, int, bool]]:
    return {ordinal: (row.template, row.shape, row.ready) for row in replicas for ordinal in row.ordinals}


def drawn_range(draw: random.Random) -> range:
    first = draw.randint(0, 20)
    return range(first, first + draw.randint(0, 10))


@pytest.mark.parametrize("seed", range(200))
def test_pods_in_rows_are_the_same_pods(seed: int) -> None:
    draw = random.Random(seed)
    pods = drawn_pods(draw)
    rows = joined(Replica(ordinal, *of_pod) for ordinal, of_pod in pods.items())
    assert one_by_one(rows) == pods
    assert count_pods(rows) == len(pods)
    assert all(
        before.last + 1 < after.ordinal or before[1:4] != after[1:4] for before, after in itertools.pairwise(rows)
    )
    asked = drawn_range(draw)
    assert one_by_one(within(rows, asked)) == {key: value for key, value in pods.items() if key in asked}
    assert one_by_one(outside(rows, asked)) == {key: value for key, value in pods.items() if key not in asked}
    assert [ordinal for row in gaps(rows, asked) for ordinal in row] == [key for key in asked if key not in pods]


@pytest.mark.parametrize("seed", range(200))
def test_names_in_rows_are_the_same_names(seed: int) -> None:
    draw = random.Random(seed)
    bases = ("d-s", "e-s", "plain")
    names = {f"{draw.choice(bases)}-{draw.randint(0, 12)}" for _ in range(15)} | {"plain", "d-s-01", "d-s-x", "d-s-"}
    rows = Names.of(names)
    assert set(rows) == names
    for _ in range(10):
        asked, base = drawn_range(draw), draw.choice(bases)
        absent = [ordinal for row in rows.missing(base, asked) for ordinal in row]
        assert absent == [ordinal for ordinal in asked if f"{base}-{ordinal}" not in names]
        name = draw.choice((f"{base}-{draw.randint(0, 12)}", "d-s-01", "plain"))
        assert (name in rows) == (name in names)
        if draw.random() < 0.5:
            rows, names = rows.with_row(base, asked), names | {f"{base}-{ordinal}" for ordinal in asked}
            rows, names = rows.with_name(name), names | {name}
        else:
            rows, names = rows.without_row(base, asked), names - {f"{base}-{ordinal}" for ordinal in asked}
            rows, names = rows.without_name(name), names - {name}
        assert set(rows) == names
        assert (rows, hash(rows)) == (Names.of(names), hash(Names.of(names)))
