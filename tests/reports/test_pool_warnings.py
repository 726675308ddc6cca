"""Pools that no claim can name, and pools whose status lists claims that have left."""

from __future__ import annotations

import msgspec
import pytest
from reports.test_unblock_options import CPU, claim, other_key, pool, spaces, store_of, ways_of

from kubectl_kres.capsule.model import PoolClaim
from kubectl_kres.capsule.replay.events import Create, replay_all
from kubectl_kres.capsule.replay.world import PoolWorld, with_pool
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex
from kubectl_kres.capsule.reports.pool.pool_warnings import warnings_of
from kubectl_kres.render.text.sentences import sentence_text

DOTTED, LONG = "my.pool", "g" * 64


def made(*names: str, to: str) -> PoolWorld:
    created = [Create(pool(name, {CPU: 4}, ordered=False)) for name in names]
    return replay_all(spaces(), [*created, Create(claim("w", "a", {CPU: 1}, 0, to))])[0]


@pytest.mark.parametrize("name", [DOTTED, LONG])
def test_a_pool_that_no_status_can_name_gives_nothing(name: str):
    scene = PoolIndex(store_of(made(name, to=name)))
    (one,) = scene.claims
    assert (one.standing.state, one.claim.status.conditions) == ("failed", None)
    assert any("create it under another name" in sentence_text(text) for text in warnings_of(scene, scene.pools[name]))
    assert ways_of(scene, "w") == {}


def test_a_pool_that_no_status_can_name_is_not_proposed():
    scene = PoolIndex(store_of(made(DOTTED, "green", to="none-such")))
    assert ways_of(scene, "w")["pool"].pool == "green"


def test_a_pool_that_lists_what_another_has_says_so_and_does_not_count_with_it():
    """As seen of the real controller under load: it was not woken when the claim went back to its old pool."""
    world = made("green", "blue", to="blue")
    world = replay_all(world, [Create(claim("x", "b", {CPU: 4}, 1))])[0]
    (held,) = world.pools["blue"].status.claims["a"]
    green = world.pools["green"]
    listed = {**(green.status.claims or {}), "a": (PoolClaim(held.name, "a", held.uid, held.claims),)}
    status = msgspec.structs.replace(green.status, claims=listed)
    scene = PoolIndex(store_of(with_pool(world, msgspec.structs.replace(green, status=status))))
    assert (
        sum("are in another pool now (a/w)" in sentence_text(text) for text in warnings_of(scene, scene.pools["green"]))
        == 1
    )
    assert not any("are in another pool" in sentence_text(text) for text in warnings_of(scene, scene.pools["blue"]))
    assert {other_key(one) for one in scene.claims} == {("a", "w"), ("b", "x")}
