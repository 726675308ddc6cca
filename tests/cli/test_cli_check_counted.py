"""Claims, services and other objects of files that quotas count: check says of them what explain says."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.running import Kres

QUOTA = """
apiVersion: v1
kind: ResourceQuota
metadata: {name: q, namespace: ns}
spec: {hard: {HARD}}
---
"""
CLAIM = """
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: ns}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 7Gi}}}
"""
SERVICE = """
apiVersion: v1
kind: Service
metadata: {name: web, namespace: ns}
spec: {type: LoadBalancer, selector: {a: b}, ports: [{port: 80}]}
"""
SETTINGS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: ns}
"""


@pytest.mark.parametrize(
    ("text", "hard", "enough"),
    [
        (CLAIM, "requests.storage: 5Gi", "requests.storage: 7Gi"),
        (SERVICE, "services.loadbalancers: '0'", "services.loadbalancers: '1'"),
        (SETTINGS, "configmaps: '1'", "configmaps: '2'"),
    ],
)
def test_an_object_of_a_file_that_a_quota_refuses_is_found(
    kres: Kres, tmp_path: Path, text: str, hard: str, enough: str
):
    path = tmp_path / "all.yaml"
    path.write_text(QUOTA.replace("HARD", hard) + text, "utf-8")
    found = kres(f"check --offline -f {path}")
    assert found.code == 1
    assert "error KRES116" in found.out
    assert "refused: exceeded quota: q" in found.out
    assert "pods missing" not in found.out
    path.write_text(QUOTA.replace("HARD", enough) + text, "utf-8")
    found = kres(f"check --offline -f {path}")
    assert (found.code, "KRES116" in found.out) == (0, False)
