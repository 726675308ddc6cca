"""What a quota of a file counts before a server has it: what every namespace has."""

from __future__ import annotations

import pytest
from reports.stored import made, store_of

from kubectl_kres.admission.base.server import Server
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.effective_policies import policies, with_assumed_status


@pytest.mark.parametrize(
    ("name", "used", "says"),
    [
        ("configmaps", "1", "kube-root-ca.crt"),
        ("count/configmaps", "1", "kube-root-ca.crt"),
        ("count/serviceaccounts", "1", "ServiceAccount default"),
        ("count/secrets", "0", "nothing used yet"),
    ],
)
def test_every_namespace_has_a_config_map_and_a_service_account(name: str, used: str, says: str):
    store = store_of(made("ResourceQuota", "q", spec={"hard": {name: "1"}}))
    store.files[ObjectRef("ResourceQuota", "q", "ns")] = "q.yaml"
    quota = store.get("ResourceQuota", "q", "ns")
    assert with_assumed_status(quota, store).status.used == {name: used}
    assert any(says in sentence_text(assumption.text) for assumption in policies(store, "ns", Server()).assumptions)
