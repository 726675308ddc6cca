"""A pool that is deleted and made again, and selectors that are stored with less than was sent."""

from __future__ import annotations

from capsule.samples import claim, namespace, pool, world, worlds

from kubectl_kres.capsule.model import quota_name
from kubectl_kres.capsule.replay.events import DeleteEvent, TimePasses
from kubectl_kres.capsule.rules.webhooks import stored_pool
from kubectl_kres.model.objects import LabelSelector, Requirement

HARD = {"requests.cpu": "4"}


def test_pool_made_again_has_a_uid_of_its_own_in_claims_and_quotas() -> None:
    """The server gives it one, also where the manifest brings that of the pool before."""
    first = world(namespace("a"), pool("green", HARD), claim("x", {"requests.cpu": "1"}))
    old = first.pools["green"].metadata.uid
    events = (
        namespace("a"),
        pool("green", HARD),
        claim("x", {"requests.cpu": "1"}),
        DeleteEvent("ResourcePool", "green"),
    )
    for ended in worlds(*events, pool("green", HARD, uid=old), TimePasses()):
        uid = ended.pools["green"].metadata.uid
        assert uid != old
        quota = ended.quotas["a", quota_name("green")]
        assert [owner.uid for owner in quota.metadata.owner_references or ()] == [uid]
        assert [reference.pool.uid for one in ended.claims.values() if (reference := one.status).pool] == [uid]


def test_waiting_claim_of_a_deleted_pool_is_not_the_new_ones() -> None:
    """It still refers to the pool that is gone, and the garbage collector takes it."""
    asks = {"requests.cpu": "4"}
    events = (namespace("a"), pool("green", HARD), claim("x", asks), claim("late", asks, at=9))
    for ended in worlds(*events, DeleteEvent("ResourcePool", "green"), pool("green", HARD)):
        late = ended.claims.get(("a", "late"))
        uid = ended.pools["green"].metadata.uid
        assert late is None or late.status.pool is None or late.status.pool.uid != uid


def test_empty_values_of_a_selector_are_dropped_when_it_is_stored() -> None:
    """Recorded: the webhook writes the pool anew, without what is empty."""
    selector = LabelSelector(None, (Requirement("team", "Exists", ()),))
    (stored,) = stored_pool(pool("green", HARD, selectors=(selector,))).spec.selectors or ()
    assert stored.match_expressions == (Requirement("team", "Exists", None),)
