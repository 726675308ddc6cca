"""What a controller owns is looked up once, and looked up anew once the store is another one."""

from __future__ import annotations

import pytest
from reports.stored import made, owned_by, store_of

from kubectl_kres.reports.common import owners as owned


def test_by_kind_and_name_of_the_controller_in_its_namespace():
    mine = [made("ReplicaSet", name, **owned_by("Deployment", "web")) for name in ("web-2", "web-1")]
    store = store_of(*mine, made("ReplicaSet", "db-1", **owned_by("Deployment", "db")), made("ReplicaSet", "alone"))
    found = owned.owned_by(store, "ReplicaSet", "ns", ("Deployment", "web"))
    assert [one.metadata.name for one in found] == ["web-1", "web-2"]
    assert not owned.owned_by(store, "ReplicaSet", "ns", ("StatefulSet", "web"))
    assert not owned.owned_by(store, "ReplicaSet", "other", ("Deployment", "web"))
    assert not owned.owned_by(store, "Pod", "ns", ("Deployment", "web"))
    store.remove("ReplicaSet", "web-1", "ns")
    found = owned.owned_by(store, "ReplicaSet", "ns", ("Deployment", "web"))
    assert [one.metadata.name for one in found] == ["web-2"]


def test_a_namespace_is_looked_through_once_for_all_owners(monkeypatch: pytest.MonkeyPatch):
    sets = [made("ReplicaSet", f"{index}-rs", **owned_by("Deployment", f"{index}")) for index in range(20)]
    store, looked = store_of(*sets), []
    monkeypatch.setattr(owned, "controller", lambda item, real=owned.controller: (looked.append(item), real(item))[1])
    for index in range(20):
        assert len(owned.owned_by(store, "ReplicaSet", "ns", ("Deployment", f"{index}"))) == 1
    assert len(looked) == 20
