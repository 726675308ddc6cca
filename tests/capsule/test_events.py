"""What happens to claims and quotas that the recordings do not show, or show only in part."""

from __future__ import annotations

import msgspec
import pytest
from capsule.samples import TEAM, claim, namespace, pool, says, world, worlds

from kubectl_kres.capsule.replay.events import Create, CreatedTogether, DeleteEvent, PatchEvent, TimePasses, replay
from kubectl_kres.capsule.replay.world import with_quotas
from kubectl_kres.model.objects import (
    LabelSelector,
    ManagedMetadata,
    Requirement,
    ResourceQuota,
    ResourceQuotaSpec,
    ResourceQuotaStatus,
)

QUOTA = ("a", "capsule-pool-green")


def of(found, name, space="a"):
    return found.claims[space, name]


def after(found, *events):
    """The only world after some events that are not refused."""
    for event in events:
        outcomes = replay(found, event)
        assert [one.refusal for one in outcomes] == [None]
        found = outcomes[0].world
    return found


def two_pools(**options):
    return world(namespace("a"), pool("green", {"pods": "4"}, **options), pool("blue", {"pods": "9"}))


def used(found, count):
    """The managed quota of pool green says so many pods are used; the pool looks again."""
    quota = found.quotas[QUOTA]
    status = ResourceQuotaStatus(quota.spec.hard, {"pods": str(count)})
    found = with_quotas(found, {QUOTA: msgspec.structs.replace(quota, status=status)})
    objects = {name: held for name, held in found.objects.items() if name != "a"}
    return after(msgspec.structs.replace(found, objects=objects), PatchEvent("ResourcePool", "green", {"metadata": {}}))


def test_an_allocated_claim_that_moves_to_another_pool_loses_its_share_and_gets_none():
    found = after(
        world(*two_pools().namespaces.values(), pool("green", {"pods": "4"}), pool("blue", {"pods": "9"})),
        Create(claim("one", {"pods": "1"})),
        PatchEvent("ResourcePoolClaim", "one", {"spec": {"pool": "blue"}}, "a"),
    )
    one = of(found, "one")
    assert one.status.pool is None
    assert (says(one, "Ready")[0], says(one, "Exhausted"), says(one, "Bound")) == ("True", None, None)
    assert [owner.name for owner in one.metadata.owner_references] == ["blue"]
    assert [found.pools[name].status.claim_count for name in ("green", "blue")] == [0, 0]


def test_a_claim_pointed_at_a_pool_that_is_not_there_keeps_its_share():
    found = after(
        two_pools(),
        Create(claim("one", {"pods": "1"})),
        PatchEvent("ResourcePoolClaim", "one", {"spec": {"pool": "x"}}, "a"),
    )
    assert of(found, "one").status.pool.name == "green"
    assert says(of(found, "one"), "Ready")[0] == "False"
    assert found.pools["green"].status.claim_count == 1


def test_an_unused_claim_that_grows_too_much_loses_its_place_to_one_that_waits():
    found = after(
        two_pools(),
        Create(claim("one", {"pods": "3"})),
        Create(claim("two", {"pods": "2"}, at=1)),
        PatchEvent("ResourcePoolClaim", "one", {"spec": {"claim": {"pods": "5"}}}, "a"),
    )
    assert [one.name for one in found.pools["green"].status.claims["a"]] == ["two"]
    assert says(of(found, "one"), "Exhausted")[2] == "requested: pods=5, available: pods=2"


def test_a_claim_in_use_is_released_by_annotation_only_and_not_queued_again():
    before = used(after(two_pools(), Create(claim("one", {"pods": "2"}))), 1)
    assert says(of(before, "one"), "Bound") == ("True", "InUse", "claim is used")
    for event in (
        DeleteEvent("ResourcePoolClaim", "one", "a"),
        PatchEvent("ResourcePoolClaim", "one", {"spec": {"pool": "blue"}}, "a"),
    ):
        assert all(outcome.refusal and outcome.refusal.code == 403 for outcome in replay(before, event))
    annotated = {"metadata": {"annotations": {"projectcapsule.dev/release": "True", "note": "kept"}}}
    found = after(before, PatchEvent("ResourcePoolClaim", "one", annotated, "a"))
    one = of(found, "one")
    assert one.status.pool is None
    assert one.metadata.annotations == {"note": "kept"}
    assert one.metadata.owner_references is None
    assert found.pools["green"].status.claims == {}
    assert found.quotas[QUOTA].spec.hard is None


def test_a_pool_with_delete_bound_resources_takes_its_claims_along_after_a_while():
    before = after(two_pools(delete_bound_resources=True), Create(claim("one", {"pods": "1"})))
    outcomes = replay(before, DeleteEvent("ResourcePool", "green"))
    assert {says(of(one.world, "one"), "Ready")[2] for one in outcomes} == {
        "resourcepool not available",
        'ResourcePool.capsule.clastix.io "green" not found',
    }
    assert all("green" not in one.world.pools and QUOTA not in one.world.quotas for one in outcomes)
    for one in outcomes:
        (rest,) = replay(one.world, TimePasses())
        assert not rest.world.claims


def test_a_deleted_pool_leaves_allocated_claims_and_takes_waiting_ones():
    before = after(two_pools(), Create(claim("one", {"pods": "4"})), Create(claim("two", {"pods": "1"}, at=1)))
    for outcome in replay(before, DeleteEvent("ResourcePool", "green")):
        (rest,) = replay(outcome.world, TimePasses())
        assert list(rest.world.claims) == [("a", "one")]


def test_a_pool_that_gains_a_resource_does_not_wake_the_claim_that_lacked_it():
    found = after(
        two_pools(),
        Create(claim("one", {"services": "1"})),
        PatchEvent("ResourcePool", "green", {"spec": {"quota": {"hard": {"services": "5"}}}}),
        PatchEvent("ResourcePoolClaim", "one", {"metadata": {"annotations": {"note": "x"}}}, "a"),
    )
    assert says(of(found, "one"), "Ready")[2] == "resource services is not available in pool green"
    found = after(found, PatchEvent("ResourcePoolClaim", "one", {"spec": {"claim": {"services": "2"}}}, "a"))
    assert says(of(found, "one"), "Exhausted")[0] == "False"


def test_a_claim_without_a_pool_is_given_one_by_the_next_write():
    found = after(
        world(namespace("a")), Create(claim("one", {"pods": "1"}, to="")), Create(pool("green", {"pods": "1"}))
    )
    assert of(found, "one").spec.pool == ""
    found = after(found, PatchEvent("ResourcePoolClaim", "one", {"metadata": {"annotations": {"note": "x"}}}, "a"))
    assert of(found, "one").spec.pool == "green"
    assert says(of(found, "one"), "Exhausted")[0] == "False"


def test_a_pool_that_lacks_one_resource_and_is_short_of_another_may_be_chosen_or_not():
    found = worlds(namespace("a"), pool("green", {"pods": "1"}), claim("one", {"pods": "3", "services": "1"}, to=""))
    assert {one.claims["a", "one"].spec.pool for one in found} == {"", "green"}


def test_changed_scopes_are_refused_by_the_quota_and_said_by_the_pool():
    found = after(two_pools(), PatchEvent("ResourcePool", "green", {"spec": {"quota": {"scopes": ["NotTerminating"]}}}))
    ready = [one.message for one in found.pools["green"].status.conditions if one.type == "Ready"]
    assert ready[0].startswith('sync resourcequotas: ResourceQuota "capsule-pool-green" is invalid: spec.scopes')
    assert "immutable" in ready[0]


def test_what_is_done_to_a_managed_quota_is_undone():
    before = after(two_pools(), Create(claim("one", {"pods": "1"})))
    edited = after(before, PatchEvent("ResourceQuota", QUOTA[1], {"spec": {"hard": {"pods": "99"}}}, "a"))
    gone = after(before, DeleteEvent("ResourceQuota", QUOTA[1], "a"))
    assert before == edited == gone


def test_a_quota_that_was_there_is_taken_over_with_its_labels():
    meta = ManagedMetadata(QUOTA[1], "a", labels={"mine": "yes"})
    found = world(namespace("a"), ResourceQuota(meta, ResourceQuotaSpec({"services": "3"})), pool("green", {}))
    quota = found.quotas[QUOTA]
    assert quota.spec.hard is None
    assert quota.metadata.labels["mine"] == "yes"
    assert quota.metadata.labels["projectcapsule.dev/pool"] == "green"


@pytest.mark.parametrize(
    ("names", "winners"), [("zmb", "zmb"), ("zyxwmb", "zyxwmb"), ("zyxwvutsrqponmlkjihgfedcb", "b")]
)
def test_claims_created_together_have_every_winner_and_very_many_the_first_in_the_queue(names, winners):
    found = replay(two_pools(), CreatedTogether(tuple(Create(claim(name, {"pods": "3"})) for name in names)))
    held = [one.world.pools["green"].status.claims["a"] for one in found]
    assert {one.name for (one,) in held} == set(winners)


def test_a_namespace_that_ends_stays_listed_until_it_is_gone():
    before = after(two_pools(), Create(namespace("b")), Create(claim("one", {"pods": "1"}, space="b")))
    ending = after(before, DeleteEvent("Namespace", "b"))
    assert ending.pools["green"].status.namespaces == ("a", "b")
    found = after(ending, TimePasses())
    assert found.pools["green"].status.namespaces == ("a",)
    assert ("b", "one") not in found.claims
    assert ("b", "capsule-pool-green") not in found.quotas


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        (TEAM, True),
        (LabelSelector(), False),
        (LabelSelector({}), False),
        (LabelSelector({"team": "wind"}), False),
        (LabelSelector({"team": "no value!"}), False),
        (LabelSelector(match_expressions=(Requirement("env", "NotIn", ("x",)),)), True),
        (LabelSelector(match_expressions=(Requirement("env", "DoesNotExist"),)), True),
        (LabelSelector(match_expressions=(Requirement("team", "Exists", ("x",)),)), False),
        (LabelSelector(match_expressions=(Requirement("team", "In"),)), False),
        (LabelSelector(match_expressions=(Requirement("team", "Near", ("solar",)),)), False),
        (LabelSelector(match_expressions=(Requirement("/bad/key", "DoesNotExist"),)), False),
        (LabelSelector({"team": "solar"}, (Requirement("env", "Exists"),)), False),
    ],
)
def test_selectors(selector, matches):
    found = world(namespace("a"), pool("green", {"pods": "1"}, selectors=(selector,)))
    assert bool(found.pools["green"].status.namespaces) is matches


def test_a_pool_that_is_made_again_takes_back_the_claims_that_name_it():
    """What they say until then is a race between the pool that ends and the one that is gone."""
    found = after(
        world(namespace("a"), pool("green", {"pods": "4"})),
        Create(claim("one", {"pods": "1"})),
        Create(claim("two", {"pods": "9"})),
    )
    ended = [one.world for one in replay(found, DeleteEvent("ResourcePool", "green"))]
    assert {says(of(one, "one"), "Ready") for one in ended} == {
        ("False", "Failed", "resourcepool not available"),
        ("False", "Failed", 'ResourcePool.capsule.clastix.io "green" not found'),
    }
    for one in ended:
        again = after(one, TimePasses(), Create(pool("green", {"pods": "4"})))
        assert says(of(again, "one"), "Ready")[0] == "True"
        assert ("a", "two") not in again.claims
        assert again.pools["green"].status.claim_count == 1
