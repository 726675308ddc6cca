"""What a Tenant's namespaces use of its quotas, and by how much scope Tenant lets them have too much."""

from __future__ import annotations

import pytest

from kubectl_kres.capsule.model import Tenant, TenantQuotas, TenantSpec, TenantStatus
from kubectl_kres.capsule.reports.explain_tenant import explain_tenant, tenant_needs
from kubectl_kres.capsule.text.tenant import tenant_lines, tenant_row
from kubectl_kres.errors import NotFound
from kubectl_kres.model import kinds
from kubectl_kres.model.objects import ManagedMetadata, ObjectRef, ResourceQuota, ResourceQuotaSpec, ResourceQuotaStatus
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.store.store import Coverage, Origin, ReadRequest, Store

OIL = Subject(ObjectRef("Tenant", "oil"), kinds.BY_KIND["Tenant"])


def _quota(space, hard, used):
    meta = ManagedMetadata("capsule-oil-0", namespace=space)
    return ResourceQuota(meta, ResourceQuotaSpec(hard=hard), ResourceQuotaStatus(used=used))


def _store(scope="Tenant", hard=None, quotas=(), spaces=("one", "two")):
    store = Store(Origin("snapshot", "x"))
    items = (ResourceQuotaSpec(hard=hard),) if hard else None
    spec = TenantSpec(TenantQuotas(scope, items))
    store.add("Tenant", Tenant(ManagedMetadata("oil"), spec, TenantStatus(spaces)))
    for one in quotas:
        store.add("ResourceQuota", one)
    for need in tenant_needs(store, OIL):
        store.cover(need, Coverage("read"))
    return store


def test_what_is_left_can_be_taken_once_in_each_namespace():
    quotas = [_quota("one", {"pods": "3"}, {"pods": "1"}), _quota("two", {"pods": "3"}, {"pods": "1"})]
    (use,) = explain_tenant(_store(hard={"pods": "4"}, quotas=quotas), OIL).items[0].uses
    assert (use.used, use.hard, use.over_by) == ("2", "4", "")
    assert (use.allowed, use.excess) == ("6", "2")


def test_more_than_the_tenant_has_is_told():
    quotas = [_quota("one", {"cpu": "1"}, {"cpu": "1500m"}), _quota("two", {"cpu": "500m"}, {"cpu": "600m"})]
    found = explain_tenant(_store(hard={"cpu": "2"}, quotas=quotas), OIL)
    (use,) = found.items[0].uses
    assert found.is_exceeded and (use.over_by, use.allowed, use.excess) == ("100m", "2100m", "100m")
    assert "uses cpu 2100m of 2" in tenant_row(found).reason
    assert "kubectl kres migrate tenant/oil" in " ".join(tenant_lines(found))


def test_with_scope_namespace_each_has_all_of_it():
    quotas = [_quota(space, {"pods": "4"}, {"pods": "3"}) for space in ("one", "two")]
    found = explain_tenant(_store("Namespace", {"pods": "4"}, quotas), OIL)
    (use,) = found.items[0].uses
    assert not found.is_exceeded and (use.used, use.over_by, use.excess) == ("6", "", "")


def test_a_namespace_without_the_quota_is_named():
    found = explain_tenant(_store(hard={"pods": "4"}, quotas=[_quota("one", {"pods": "4"}, {"pods": "1"})]), OIL)
    assert [(one.namespace, one.used) for one in found.items[0].uses[0].namespaces] == [("one", "1"), ("two", None)]
    assert any("two" in line and "no such quota" in line for line in tenant_lines(found))


def test_quotas_that_may_not_be_read_make_it_incomplete():
    store = _store(hard={"pods": "4"}, spaces=("one",))
    store.cover(ReadRequest("ResourceQuota", "one"), Coverage("denied", "no"))
    found = explain_tenant(store, OIL)
    assert not found.complete and "not read: ResourceQuotas of one" in list(tenant_lines(found))


def test_what_cannot_be_parsed_spoils_its_item_alone():
    found = explain_tenant(_store(hard={"pods": "many"}), OIL)
    assert found.items[0].fault.startswith("spec.resourceQuotas.items[0].hard")


def test_without_quotas_and_without_the_tenant():
    assert explain_tenant(_store(), OIL).items == ()
    store = Store(Origin("snapshot", "x"))
    store.cover(ReadRequest("Tenant", name="oil"), Coverage("read"))
    with pytest.raises(NotFound):
        explain_tenant(store, OIL)


def test_text_of_a_cluster_is_escaped():
    found = explain_tenant(_store(hard={"pods\x1b[31m": "4"}, spaces=("o\x1b[31mne",)), OIL)
    assert "\x1b" not in "".join(tenant_lines(found))
