"""Who uses what the quotas in a Tenant's namespaces allow: each object once, whatever quotas count it."""

from __future__ import annotations

from typing import Any

import pytest
from reports.stored import Raw, box, made, owned_by, store_of

from kubectl_kres.admission.base.server import Server
from kubectl_kres.capsule.reports.explain_tenant import TenantUsers, tenant_users, users_needs
from kubectl_kres.errors import NotFound
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.store.store import Coverage, ReadRequest, Store

OIL = Subject(ObjectRef("Tenant", "oil"), BY_KIND["Tenant"])


def tenant(*spaces: str) -> dict[str, Any]:
    raw = made("Tenant", "oil", status={"namespaces": list(spaces)})
    del raw["metadata"]["namespace"]
    return raw


def quota(name: str, space: str = "ns", **hard: str) -> dict[str, Any]:
    amounts = {key.replace("_", "."): value for key, value in hard.items()}
    return made("ResourceQuota", name, spec={"hard": amounts}, status={"hard": amounts}, namespace=space)


def pod(name: str, cpu: str, space: str = "ns") -> dict[str, Any]:
    spec = {"containers": [box(requests={"cpu": cpu})]}
    return made("Pod", name, spec=spec, status={"phase": "Running"}, namespace=space, **owned_by("Job", "run"))


def users(*objects: Raw) -> TenantUsers:
    return tenant_users(store_of(*objects), OIL, EvaluationOptions(Server()))


def test_what_two_quotas_count_is_counted_once_above_them():
    found = users(
        tenant("ns"),
        quota("a", requests_cpu="4", pods="9"),
        quota("b", requests_cpu="2"),
        pod("x", "1"),
        pod("y", "500m"),
    )
    [space] = found.tree
    assert [node.name for node in space.children] == ["ResourceQuota/a", "ResourceQuota/b"]
    assert [node.usage["requests.cpu"] for node in space.children] == ["1500m", "1500m"]
    assert (space.usage["requests.cpu"], space.usage["pods"], space.pods) == ("1500m", "2", 2)
    assert space.percents == {"pods": 100, "requests.cpu": 100}


def test_shares_are_of_what_the_tenant_uses_and_the_fullest_name_is_first():
    found = users(
        tenant("one", "two"),
        quota("team", "one", requests_cpu="4", pods="9"),
        quota("team", "two", requests_cpu="2", pods="9"),
        pod("x", "1", "one"),
        pod("y", "1500m", "two"),
        pod("z", "1500m", "elsewhere"),
    )
    assert found.names == ("requests.cpu", "pods")
    assert [(node.name, node.percents["requests.cpu"]) for node in found.tree] == [
        ("Namespace/two", 60),
        ("Namespace/one", 40),
    ]
    [quota_node] = found.tree[0].children
    assert dict(quota_node.hard) == {"pods": "9", "requests.cpu": "2"}
    [job] = quota_node.children
    assert (job.name, [node.name for node in job.children]) == ("Job/run", ["Pod/y"])
    [value] = job.children[0].children
    assert value.name == "app" and value.usage["requests.cpu"] == "1500m"


def test_a_namespace_without_a_quota_is_no_node():
    found = users(tenant("ns", "bare"), quota("a", pods="1"))
    assert found.namespaces == ("bare", "ns")
    assert [node.name for node in found.tree] == ["Namespace/ns"]
    assert found.complete


def test_what_could_not_be_read_is_told():
    store = store_of(tenant("ns"), quota("a", pods="3"), unread=("Pod",))
    store.cover(ReadRequest("Pod", "ns"), Coverage("denied", "pods is forbidden"))
    found = tenant_users(store, OIL, EvaluationOptions(Server()))
    assert [gap.kind for gap in found.unread] == ["Pod"]
    assert not found.complete


def test_needs_follow_what_was_read():
    store = store_of(unread=tuple(BY_KIND))
    assert list(users_needs(store, OIL, Server())) == [ReadRequest("Tenant", name="oil")]
    known = store_of(tenant("ns"), quota("a", pods="3"))
    assert {need.kind for need in users_needs(known, OIL, Server())} >= {"Tenant", "ResourceQuota", "Pod", "LimitRange"}


def test_a_tenant_that_is_not_there():
    store: Store = store_of()
    with pytest.raises(NotFound):
        tenant_users(store, OIL, EvaluationOptions(Server()))
