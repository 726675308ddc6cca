"""What one more claim would meet, and which claim to edit instead: held against the controllers, event by event."""

from __future__ import annotations

from typing import Any

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from reports.test_unblock_options import (
    CPU,
    SPACES,
    claim,
    event_of,
    made,
    pool,
    situation,
    spaces,
    store_of,
    worlds,
)

from kubectl_kres.capsule.replay.events import Create, replay_all
from kubectl_kres.capsule.replay.world import PoolWorld
from kubectl_kres.capsule.reports.claim.sizing import claim_prospect, growth
from kubectl_kres.capsule.reports.common import pool_run
from kubectl_kres.capsule.reports.common.amount_lists import amount_texts
from kubectl_kres.capsule.reports.common.claim_state import HELD, claim_standing_of
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex
from kubectl_kres.capsule.reports.unblock.actions import UnblockOption, resize_claim
from kubectl_kres.capsule.reports.unblock.options import unblock_options
from kubectl_kres.capsule.rules import allocation
from kubectl_kres.quantity import parse
from kubectl_kres.store.store import Coverage, ReadRequest


@examples(80, deadline=None)
@given(worlds(), st.sampled_from(SPACES), st.integers(1, 4))
def test_a_new_claim_waits_if_and_only_if_it_is_said(world: PoolWorld, space: str, amount: int):
    scene = PoolIndex(store_of(world))
    green = scene.pools["green"]
    met = claim_prospect(scene, green, space, {CPU: parse(str(amount))})
    for after in replay_all(world, [Create(claim("z", space, {CPU: amount}, 59))]):
        assert (claim_standing_of(after.claims[space, "z"]).state not in HELD) == met.is_waiting
    assert bool(met.closed) == bool(met.behind)


@examples(80, deadline=None)
@given(worlds(), st.sampled_from(SPACES), st.integers(1, 4))
def test_the_claim_that_is_named_gets_more_at_once(world: PoolWorld, space: str, amount: int):
    scene = PoolIndex(store_of(world))
    more = {CPU: parse(str(amount))}
    found = growth(scene, scene.pools["green"], space, more)
    if found is None:
        return
    key = (found.claim.namespace, found.claim.name)
    event = event_of(resize_claim(scene.store.origin, key, amount_texts(found.amounts), {}))
    for after in replay_all(world, [event]):
        assert claim_standing_of(after.claims[key]).state in HELD
        [entry] = [one for one in after.pools["green"].status.claims[key[0]] if one.name == key[1]]
        assert entry.claims[CPU] == str(found.amounts[CPU])


def closed() -> PoolIndex:
    """A queue that a claim for much closes, with room for a little, and an unused claim."""
    held, waits = claim("held", "a", {CPU: 1}, 0), claim("waits", "b", {CPU: 9}, 1)
    return situation(held, waits, hard={CPU: 4}, ordered=True)


def test_a_closed_queue_is_named_and_an_edit_goes_round_it():
    scene = closed()
    met = claim_prospect(scene, scene.pools["green"], "a", {CPU: parse("1")})
    assert (met.lacks, met.closed, [one.name for one in met.behind]) == ({}, (CPU,), ["waits"])
    found = growth(scene, scene.pools["green"], "a", {CPU: parse("1")})
    assert found is not None
    assert (found.claim.name, amount_texts(found.amounts)) == ("held", {CPU: "2"})
    assert growth(scene, scene.pools["green"], "b", {CPU: parse("1")}) is None
    assert growth(scene, scene.pools["green"], "a", {CPU: parse("4")}) is None


def test_without_the_claims_of_others_the_pool_says_that_it_is_closed():
    scene = closed()
    scene.store.cover(ReadRequest("ResourcePoolClaim"), Coverage("denied", "no"))
    scene = PoolIndex(scene.store)
    met = claim_prospect(scene, scene.pools["green"], "a", {CPU: parse("1")})
    assert (met.closed, met.behind) == ((CPU,), ())


SPOT = {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["spot"]}]}


def ways_with(scope: object, other: object) -> list[UnblockOption]:
    """Of a claim that waits for a pool, beside another pool with room."""
    events = []
    for name, hard, selector in (("green", "1", scope), ("other", "8", other)):
        spec = {"quota": {"hard": {CPU: hard}, "scopeSelector": selector}, "selectors": [{"matchLabels": {"t": "x"}}]}
        events.append(Create(made("ResourcePool", name, spec=spec)))
    events.append(Create(claim("w", "a", {CPU: 2}, 1)))
    scene = PoolIndex(store_of(replay_all(spaces(), events)[0]))
    [one] = scene.claims
    return [way for way in unblock_options(scene, one.claim, one.standing) if way.kind == "pool"]


@pytest.mark.parametrize(
    ("scope", "other", "offered"), [(None, SPOT, 0), (SPOT, None, 0), (None, None, 1), (SPOT, SPOT, 1)]
)
def test_a_pool_that_counts_other_pods_is_no_room(scope: object, other: object, offered: int):
    assert len(ways_with(scope, other)) == offered


def test_a_move_says_which_quota_goes_on_limiting():
    kept, waits = claim("kept", "a", {CPU: 1}, 0), claim("w", "a", {CPU: 2}, 1)
    scene = situation(Create(pool("other", {CPU: 8}, ordered=False)).item, kept, waits, hard={CPU: 2})
    one = next(one for one in scene.claims if one.claim.metadata.name == "w")
    [way] = [way for way in unblock_options(scene, one.claim, one.standing) if way.kind == "pool"]
    assert way.actions[0].effect.startswith(f"quota capsule-pool-green still limits the namespace to {CPU} 1")


@pytest.mark.parametrize("ordered", [True, False])
def test_a_place_deep_in_a_long_queue_costs_few_passes(monkeypatch: pytest.MonkeyPatch, *, ordered: bool):
    """Each pass goes through the whole queue, which is too long to be made by events: it is written as they would."""
    store = situation(claim("a", "a", {CPU: 3}, 0), claim("c0", "a", {CPU: 2}, 1), hard={CPU: 4}, ordered=ordered).store
    first = store.get("ResourcePoolClaim", "c0", "a")
    for place in range(1, 10_000):
        store.add("ResourcePoolClaim", structs.replace(claim(f"c{place}", "a", {CPU: 2}, 2), status=first.status))
    passes = []

    def counted(*given: Any, **more: Any) -> Any:
        passes.append(1)
        return allocation.allocate(*given, **more)

    monkeypatch.setattr(pool_run, "allocate", counted)
    scene = PoolIndex(store)
    one = scene.waiting_claims("green")[-1]
    assert scene.place_of(one.claim) == 10_000
    assert "raise" in {way.kind for way in unblock_options(scene, one.claim, one.standing)}
    assert len(passes) <= 20
