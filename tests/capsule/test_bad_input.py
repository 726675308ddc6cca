"""What no user should have sent and no status should say: a fault or a refusal in the answer, never an exception."""

from __future__ import annotations

import msgspec
import pytest
from capsule.samples import assigned, claim, namespace, pool, says, world, worlds

from kubectl_kres.capsule.model import (
    CapsuleCondition,
    PoolClaim,
    PoolRef,
    ResourcePoolClaim,
    ResourcePoolClaimStatus,
    ResourcePoolStatus,
)
from kubectl_kres.capsule.replay.events import Create, DeleteEvent, PatchEvent, replay
from kubectl_kres.capsule.replay.reconcile import reconcile, settle_world
from kubectl_kres.capsule.replay.world import build_pool_world
from kubectl_kres.capsule.rules.assignment import is_assigned


def of(found, name, space="a"):
    return found.claims[space, name]


@pytest.mark.parametrize("text", ["", "abc", "1.2.3", "1e99999", "0x10", "1 Gi", None.__class__.__name__, "9" * 2000])
def test_an_amount_that_is_none_is_refused_when_sent_and_a_fault_when_stored(text):
    before = world(namespace("a"), pool("green", {"pods": "4"}))
    for sent in (claim("one", {"pods": text}), pool("blue", {"pods": text}), pool("red", {}, defaults={"pods": text})):
        (outcome,) = replay(before, Create(sent))
        assert outcome.world is before
        assert outcome.refusal.code == 500
        assert outcome.refusal.message.startswith('admission webhook "resourcepool')
        assert outcome.refusal.findings[0].path
    held = assigned(claim("one", {"pods": text, "services": "1"}))
    found = reconcile(
        build_pool_world([namespace("a")], [pool("green", {"pods": text, "services": "1"})], [held]), "green"
    )
    assert {fault.path for fault in found.faults} == {"spec.claim[pods]", "spec.quota.hard[pods]"}
    assert found.allocation.turns[0].result == "taken"


@pytest.mark.parametrize(
    ("asks", "result"),
    [
        ({"pods": "-3"}, "taken"),
        ({"pods": "0"}, "taken"),
        ({}, "taken"),
        ({"pods": "1e300"}, "pool"),
        ({"pods": "9223372036854775807Ei"}, "pool"),
        ({"pods": "1n"}, "taken"),
        ({"": "1"}, "pool"),
        ({"pods": 3}, "taken"),
        ({"pods": None}, "taken"),
    ],
)
def test_odd_amounts_are_amounts(asks, result):
    held = build_pool_world([namespace("a")], [pool("green", {"pods": "4"})], [assigned(claim("one", asks))])
    found = reconcile(held, "green")
    assert [turn.result for turn in found.allocation.turns] == [result]
    assert not found.faults


def test_nothing_left_is_too_little_even_for_zero():
    found = world(namespace("a"), pool("green", {"pods": "0"}), claim("one", {"pods": "0"}))
    assert says(of(found, "one"), "Exhausted") == (
        "True",
        "PoolExhausted",
        "requested: pods=0, available: pods=0",
    )


def test_a_negative_claim_alone_makes_the_quota_fail_and_the_share_stays():
    found = world(namespace("a"), pool("green", {"pods": "4"}), claim("debt", {"pods": "-2"}))
    status = found.pools["green"].status
    assert status.allocation.available == {"pods": "6"}
    assert next(one.message for one in status.conditions if one.type == "Ready").startswith("sync resourcequotas: ")
    assert says(of(found, "debt"), "Exhausted") == ("False", "NoExhaustions", "resource claimable from pool")
    assert says(of(found, "debt"), "Bound") is None
    assert found.quotas["a", "capsule-pool-green"].spec.hard is None


@pytest.mark.parametrize("name", ["my.claim", "x" * 64])
def test_a_name_that_the_pools_status_cannot_hold_loses_every_later_change(name):
    before = world(namespace("a"), pool("green", {"pods": "3"}), claim("one", {"pods": "1"}))
    after = build_pool_world(
        before.namespaces.values(), before.pools.values(), before.claims.values(), before.quotas.values()
    )
    for odd in (name, f"{name[:60]}.two"):
        (outcome,) = replay(after, Create(claim(odd, {"pods": "1"}, at=5)))
        after = outcome.world
    assert after.pools["green"].status == before.pools["green"].status
    assert after.quotas["a", "capsule-pool-green"].spec.hard == {"pods": "3"}
    assert says(of(after, name), "Exhausted")[0] == "False"


def test_ten_thousand_claims_of_one_second_are_served_by_name():
    held = [assigned(claim(f"c{number * 7919 % 10_000:05}", {"pods": "1"})) for number in range(10_000)]
    (found,) = settle_world(build_pool_world([namespace("a")], [pool("green", {"pods": "3"})], held), pools=("green",))
    assert [one.name for one in found.pools["green"].status.claims["a"]] == ["c00000", "c00001", "c00002"]
    exhaustion = found.pools["green"].status.exhaustions["pods"]
    assert (exhaustion.available, exhaustion.requesting) == (None, "9997")
    assert says(of(found, "c09999"), "Exhausted")[2] == "requested: pods=1, available: pods=0"


@pytest.mark.parametrize(
    "status",
    [
        ResourcePoolStatus(namespaces=("gone", "a"), claims={"gone": (PoolClaim("x", "gone", "u", {"pods": "9"}),)}),
        ResourcePoolStatus(namespaces=("a",), claims={"a": (PoolClaim("one", "a", "other-uid", {"pods": "9"}),)}),
        ResourcePoolStatus(claims={"a": (PoolClaim("one", "a", "claim-a-one", {"pods": "abc"}),)}, claim_count=-7),
        ResourcePoolStatus(claims={"a": (PoolClaim("one", "a", "claim-a-one", {"pods": "900"}),)}),
    ],
)
def test_a_status_that_contradicts_the_claims_is_mended_by_the_next_reconcile(status):
    green = msgspec.structs.replace(pool("green", {"pods": "4"}), status=status)
    held = assigned(claim("one", {"pods": "3"}))
    (found,) = settle_world(build_pool_world([namespace("a")], [green], [held]), pools=("green",))
    assert found.pools["green"].status.allocation.used == {"pods": "3"}
    assert [one.name for one in found.pools["green"].status.claims["a"]] == ["one"]


def test_a_share_of_more_than_there_is_stays_while_the_claim_is_as_it_was():
    status = ResourcePoolStatus(claims={"a": (PoolClaim("one", "a", "claim-a-one", {"pods": "9"}),)})
    green = msgspec.structs.replace(pool("green", {"pods": "4"}), status=status)
    held = build_pool_world([namespace("a")], [green], [assigned(claim("one", {"pods": "9"}))])
    (found,) = settle_world(held, pools=("green",))
    assert found.pools["green"].status.allocation.available == {"pods": "-5"}


def test_an_empty_reference_to_a_pool_is_none():
    text = b'{"metadata":{"name":"one","namespace":"a"},"spec":{"pool":"","claim":{}},"status":{"pool":{}}}'
    found = msgspec.json.decode(text, type=ResourcePoolClaim)
    assert found.status.pool is None
    assert not is_assigned(found)


def test_a_claim_of_an_old_version_gets_the_conditions_of_the_new_one():
    old = CapsuleCondition("Bound", "False", "PoolExhausted", "requested: pods=9, available: pods=4")
    status = ResourcePoolClaimStatus(PoolRef("green", "pool-green"), condition=old)
    one = msgspec.structs.replace(claim("one", {"pods": "9"}), status=status)
    (found,) = settle_world(build_pool_world([namespace("a")], [pool("green", {"pods": "4"})], [one]), pools=("green",))
    assert of(found, "one").status.condition is None
    assert says(of(found, "one"), "Exhausted") == ("True", "PoolExhausted", old.message)


def test_claims_for_pools_that_are_not_there():
    found = world(namespace("a"), claim("one", {"pods": "1"}), claim("two", {"pods": "1"}, to=""))
    assert says(of(found, "one"), "Ready") == ("False", "Failed", 'ResourcePool.capsule.clastix.io "green" not found')
    assert says(of(found, "two"), "Ready") == ("False", "Failed", "no pool reference was defined")


@pytest.mark.parametrize(
    ("event", "code"),
    [
        (DeleteEvent("ResourcePool", "nowhere"), 404),
        (PatchEvent("ResourcePoolClaim", "nowhere", {"spec": {"pool": "x"}}, "a"), 404),
        (DeleteEvent("Unheard", "of"), 404),
        (Create(pool("green", {})), 409),
        (PatchEvent("ResourcePoolClaim", "one", {"spec": {"claim": None}}, "a"), 422),
    ],
)
def test_events_that_cannot_be(event, code):
    before = world(namespace("a"), pool("green", {"pods": "4"}), claim("one", {"pods": "1"}))
    (outcome,) = replay(before, event)
    assert outcome.refusal.code == code
    assert outcome.world == before


def test_a_patch_of_a_wrong_type_is_the_only_error():
    before = world(namespace("a"), pool("green", {"pods": "4"}))
    with pytest.raises(msgspec.ValidationError):
        replay(before, PatchEvent("ResourcePool", "green", {"spec": {"quota": 3}}))


@pytest.mark.parametrize(
    "hard", [{"bogus": "1"}, {"requests.cpu": "-1"}, {"x" * 300: "1"}, {"a/b/c": "1"}, {"pods": "0.5"}]
)
def test_a_pool_whose_quota_no_server_takes_says_so(hard):
    found = world(namespace("a"), pool("green", hard, defaults_zero=True), claim("one", {next(iter(hard)): "0"}))
    ready = [one for one in found.pools["green"].status.conditions if one.type == "Ready"]
    assert len(ready) == 1
    assert len(worlds(namespace("a"), pool("green", hard))) == 1
