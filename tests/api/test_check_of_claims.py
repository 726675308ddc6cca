"""``check`` of objects that make no pods: claims and what else quotas count, as ``explain`` answers them."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_kres import api
from kubectl_kres.errors import UsageError

Raw = dict[str, Any]


def claim(size: str) -> Raw:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "c", "namespace": "shop"},
        "spec": spec,
    }


def quota() -> Raw:
    hard = {"requests.storage": "4Gi"}
    meta = {"name": "q", "namespace": "shop"}
    return {
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": meta, "spec": {"hard": hard},
        "status": {"hard": hard, "used": {"requests.storage": "0"}},
    }  # fmt: skip


@pytest.mark.parametrize(("size", "refused"), [("9Gi", True), ("2Gi", False)])
def test_a_claim_is_answered_as_explain_does(size: str, refused: bool) -> None:
    findings = api.check(claim(size), policies=[quota()])
    assert [it.report.code for it in findings] == (["KRES116"] if refused else [])
    if refused:
        assert "requests.storage" in findings[0].text()


def test_what_nothing_looks_at_is_said() -> None:
    with pytest.raises(UsageError, match="nothing that makes pods"):
        api.check(quota(), policies=[])
