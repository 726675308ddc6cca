"""Capsule's part of the bundled demo: what is promised of it, and that the engine has nothing to add to it."""

from __future__ import annotations

import pytest

from kubectl_kres.capsule.model import ResourcePool, ResourcePoolClaim
from kubectl_kres.capsule.replay.reconcile import settle_world
from kubectl_kres.capsule.replay.world import build_pool_world
from kubectl_kres.capsule.reports.common.claim_state import claim_standing_of
from kubectl_kres.quantity import parse
from kubectl_kres.store.store import Store


def pool(store: Store, name: str) -> ResourcePool:
    found: ResourcePool = store.get("ResourcePool", name)
    return found


def claim(store: Store, key: str) -> ResourcePoolClaim:
    space, _, name = key.partition("/")
    found: ResourcePoolClaim = store.get("ResourcePoolClaim", name, space)
    return found


@pytest.mark.parametrize(
    ("key", "state"),
    [
        ("ml-serving/ranker", "in use"),
        ("ml-training/nightly", "in use"),
        ("ml-notebooks/team", "allocated"),
        ("ml-notebooks/bob", "lost"),
        ("ml-serving/models", "released"),
        ("ml-training/sweep", "exhausted"),
        ("ml-notebooks/alice", "queued"),
        ("ml-serving/canary", "queued"),
    ],
)
def test_a_claim_in_each_state(store: Store, key: str, state: str):
    one = claim(store, key)
    assert claim_standing_of(one, pool(store, one.spec.pool)).state == state


def test_the_queue_is_in_order(store: Store):
    """The two behind would fit into what is left, so that it is the order that keeps them waiting."""
    compute = pool(store, "ml-compute")
    assert compute.spec.config.ordered_queue
    waiting = [claim(store, key) for key in ("ml-training/sweep", "ml-notebooks/alice", "ml-serving/canary")]
    times = [one.metadata.creation_timestamp for one in waiting]
    assert times == sorted(set(times))
    left = {name: parse(text).value() for name, text in compute.status.allocation.available.items()}
    fits = [all(parse(text).value() <= left[name] for name, text in one.spec.claim.items()) for one in waiting]
    assert fits == [False, True, True]


def test_a_quota_below_its_use(store: Store):
    """The claim was released while a volume uses it."""
    quota = store.get("ResourceQuota", "capsule-pool-ml-storage", "ml-serving")
    assert quota.spec.hard["requests.storage"] == "0"
    assert quota.status.used["requests.storage"] == "400Gi"
    assert store.get("PersistentVolumeClaim", "models", "ml-serving") is not None


def test_the_tenant_and_its_namespaces(store: Store):
    labelled = [
        item.metadata.name
        for item in store.all("Namespace")
        if (item.metadata.labels or {}).get("capsule.clastix.io/tenant") == "ml"
    ]
    assert list(store.get("Tenant", "ml").status.namespaces) == labelled
    for one in store.all("ResourcePool"):
        assert list(one.status.namespaces) == labelled


def test_all_pools_are_at_rest(store: Store):
    """Another reconcile of each changes nothing: neither pools and claims nor what the quotas allow."""
    kinds = ("Namespace", "ResourcePool", "ResourcePoolClaim", "ResourceQuota")
    world = build_pool_world(*(store.all(kind) for kind in kinds))
    [after] = settle_world(world, pools=world.pools)
    assert (after.pools, after.claims) == (world.pools, world.claims)
    assert {key: quota.spec for key, quota in after.quotas.items()} == {
        key: quota.spec for key, quota in world.quotas.items()
    }


def test_conditions_have_times(store: Store):
    found = [one for kind in ("ResourcePool", "ResourcePoolClaim") for one in store.all(kind)]
    conditions = [condition for one in found for condition in one.status.conditions]
    assert len(conditions) >= 20
    assert all(condition.last_transition_time for condition in conditions)
