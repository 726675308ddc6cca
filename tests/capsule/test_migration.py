"""A Tenant's quotas turned into pools and claims: amounts, order, and what the simulation has against it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubectl_kres.admission.base.draft import parse_list
from kubectl_kres.admission.base.server import Server
from kubectl_kres.capsule.reports.migration import migration, tenant_of, verification
from kubectl_kres.errors import NotFound, UsageError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.store.store import Origin, Store

HARD = {"requests.cpu": "2", "pods": "7"}


def add(store: Store, kind: str, name: str, namespace: str = "", **fields: Any) -> None:
    labels = fields.pop("labels", None)
    metadata = {"name": name, "namespace": namespace, "uid": f"{kind}/{namespace}/{name}", "labels": labels}
    raw = {"metadata": metadata, **fields}
    store.add(kind, msgspec.convert(raw, BY_KIND[kind].struct))


def estate(scope: str = "Tenant", used: tuple[str, str] = ("500m", "375m")) -> Store:
    store = Store(Origin("snapshot"))
    spec = {"resourceQuotas": {"scope": scope, "items": [{"hard": HARD}]}}
    add(store, "Tenant", "oil", spec=spec, status={"namespaces": ["oil-dev", "oil-prod"]})
    for space, cpu in zip(("oil-dev", "oil-prod"), used, strict=True):
        add(
            store, "Namespace", space, labels={"capsule.clastix.io/tenant": "oil", "kubernetes.io/metadata.name": space}
        )
        status = {"hard": HARD, "used": {"requests.cpu": cpu, "pods": "1"}}
        add(store, "ResourceQuota", "capsule-oil-0", space, spec={"hard": HARD}, status=status)
        container = {"name": "c", "resources": {"requests": {"cpu": cpu}}}
        add(store, "Pod", "p", space, spec={"containers": [container]}, status={"phase": "Running"})
    return store


def migrated(store: Store, headroom: int = 0) -> Any:
    return migration(store, tenant_of(store, "oil"), headroom, Server())


def amounts(found: Any, resource: str) -> list[str]:
    return [raw["spec"]["claim"][resource] for raw in found.objects if raw["kind"] == "ResourcePoolClaim"]


def test_claims_come_first_and_hold_what_is_used():
    found = migrated(estate())
    assert [raw["kind"] for raw in found.objects] == ["ResourcePoolClaim", "ResourcePoolClaim", "ResourcePool"]
    assert amounts(found, "requests.cpu") == ["500m", "375m"]
    assert amounts(found, "pods") == ["1", "1"]
    assert found.objects[-1]["spec"]["quota"]["hard"] == HARD
    assert found.problems == ()
    assert found.patch == """kubectl patch tenant oil --type merge -p '{"spec":{"resourceQuotas":{"items":[]}}}'"""
    assert "kubectl delete resourcepool oil-0" in found.back


def test_headroom_as_far_as_the_item_has_it():
    assert amounts(migrated(estate(), 20), "requests.cpu") == ["600m", "450m"]
    everything = amounts(migrated(estate(), 1000), "requests.cpu")
    assert sum(amount.nano for amount in parse_list(dict(enumerate(everything)), "").values()) <= 2 * 10**9


@pytest.mark.parametrize("headroom", [0, 10, 33, 500])
@pytest.mark.parametrize("scope", ["Tenant", "Namespace"])
def test_no_more_is_granted_than_the_tenant_had_and_all_that_ran_is_admitted(scope: str, headroom: int):
    found = migrated(estate(scope), headroom)
    assert found.problems == ()
    [pool] = [raw for raw in found.objects if raw["kind"] == "ResourcePool"]
    times = 2 if scope == "Namespace" else 1
    assert {key: value.nano for key, value in parse_list(pool["spec"]["quota"]["hard"], "").items()} == {
        key: value.nano * times for key, value in parse_list(HARD, "").items()
    }
    for resource in HARD:
        claimed = parse_list(dict(enumerate(amounts(found, resource))), "").values()
        limit = parse_list(pool["spec"]["quota"]["hard"], "")[resource]
        assert sum(amount.nano for amount in claimed) <= limit.nano


def test_more_used_than_the_item_allows_is_told():
    found = migrated(estate(used=("1500m", "900m")))
    assert "requests.cpu: 2400m is used of 2 in item 0: claims get less" in found.problems


def test_what_is_left_to_do():
    store = estate()
    tenant = tenant_of(store, "oil")
    assert verification(store, tenant).open == (
        "Tenant/oil still has 1 resourceQuotas: patch it",
        "there is no pool oil-0",
        "oil-dev: ResourceQuota/capsule-oil-0 is still there",
        "oil-prod: ResourceQuota/capsule-oil-0 is still there",
    )


def test_pools_and_quotas_of_other_names_are_no_part_of_it():
    """Those that are called alike: of a tenant oil-prod, or a pool that selects the tenant's namespaces."""
    store = estate()
    add(store, "Tenant", "oil", spec={}, status={"namespaces": ["oil-dev"]})
    for name in ("oil-prod-0", "oil-compute"):
        add(store, "ResourcePool", name, spec={"quota": {"hard": HARD}})
    store.remove("ResourceQuota", "capsule-oil-0", "oil-dev")
    add(store, "ResourceQuota", "capsule-oil-prod-0", "oil-dev", spec={"hard": HARD})
    assert verification(store, tenant_of(store, "oil")).open == ("there is no pool oil-0",)


def test_a_rollout_that_has_no_room_any_more_is_named_and_no_problem():
    store = estate()

    def made(kind: str, name: str, by: tuple[str, str] | None = None, notes: Any = None, **fields: Any) -> None:
        owners = [{"kind": by[0], "name": by[1], "uid": "u", "controller": True}] if by is not None else None
        metadata = {"name": name, "namespace": "oil-dev", "annotations": notes, "ownerReferences": owners}
        store.add(kind, msgspec.convert({"kind": kind, "metadata": metadata, **fields}, BY_KIND[kind].struct))

    store.remove("Pod", "p", "oil-dev")
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [
        {"name": "c", "resources": {"requests": {"cpu": "500m"}}}]}}  # fmt: skip
    revision = {"deployment.kubernetes.io/desired-replicas": "1", "deployment.kubernetes.io/max-replicas": "2"}
    made("Deployment", "web", spec={"replicas": 1, "template": template})
    made("ReplicaSet", "web-1", ("Deployment", "web"), revision, spec={"replicas": 1, "template": template})
    made("Pod", "web-1-a", ("ReplicaSet", "web-1"), spec=template["spec"], status={"phase": "Running"})
    found = migrated(store)
    assert (found.problems, [str(ref) for ref in found.stalling]) == ((), ["Deployment/web"])
    assert migrated(store, 100).stalling == ()


def test_no_tenant_and_no_quotas():
    store = estate()
    with pytest.raises(NotFound, match='"gas" not found'):
        tenant_of(store, "gas")
    add(store, "Tenant", "oil", spec={}, status={"namespaces": []})
    with pytest.raises(UsageError, match="has no resourceQuotas"):
        migrated(store)
