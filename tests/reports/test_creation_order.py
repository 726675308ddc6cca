"""Claims of files whose share depends on who comes first."""

from __future__ import annotations

from itertools import permutations

import pytest
from capsule.samples import claim, namespace, pool, world

from kubectl_kres.capsule.replay.events import Create, replay_all
from kubectl_kres.capsule.reports.common.claim_state import HELD, claim_standing_of
from kubectl_kres.capsule.reports.simulate import undecided_claims

CPU = "requests.cpu"


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize(
    ("asks", "hard", "open_"),
    [
        ({"c": "1", "b": "1", "a": "1"}, "2", "abc"),
        ({"c": "1", "b": "1", "a": "1"}, "3", ""),
        ({"a": "9", "b": "1"}, "2", ""),
        ({"b": "1", "a": "9"}, "2", ""),
        ({"a": "0", "b": "2"}, "2", "a"),
        ({"one": "1"}, "0", ""),
    ],
)
def test_who_gets_in_by_order_alone(asks: dict[str, str], hard: str, open_: str, ordered: bool):
    begun = world(namespace("a"), pool("green", {CPU: hard}, ordered_queue=ordered))
    claims = [claim(name, {CPU: amount}) for name, amount in asks.items()]
    found = undecided_claims(begun, claims, replay_all(begun, [Create(one) for one in claims]))
    worlds = [one for order in permutations(claims) for one in replay_all(begun, [Create(item) for item in order])]
    held = [{name for name in asks if claim_standing_of(one.claims["a", name]).state in HELD} for one in worlds]
    assert {name for _, name in found} == set.union(*held) - set.intersection(*held)
    if not ordered:
        assert "".join(name for _, name in found) == open_
