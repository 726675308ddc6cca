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


WORKLOAD = """
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: ns}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web}]}
"""


def test_beside_a_workload_what_a_quota_counts_is_explained_too(kres: Kres, tmp_path: Path):
    path = tmp_path / "all.yaml"
    path.write_text(QUOTA.replace("HARD", "configmaps: '1'") + SETTINGS + WORKLOAD, "utf-8")
    found = kres(f"explain --offline -f {path}")
    assert "refused: ns/ConfigMap/settings: quota q is short by 1 of configmaps" in found.out
    assert "not looked at" not in found.out
    assert "# refused: ns/ConfigMap/settings" in kres(f"diff --offline -f {path}").out
    path.write_text(QUOTA.replace("HARD", "pods: '9'") + SETTINGS + WORKLOAD, "utf-8")
    assert "not looked at: 1 ConfigMap" in kres(f"explain --offline -f {path}").out


@pytest.mark.parametrize(("text", "hard"), [(CLAIM, "requests.storage: 7Gi"), (SERVICE, "services: '1'"),
                                            (SETTINGS, "configmaps: '2'")])  # fmt: skip
def test_objects_that_a_quota_admits_only_each_alone(kres: Kres, tmp_path: Path, text: str, hard: str):
    path = tmp_path / "all.yaml"
    second = text.replace("name: ", "name: second-", 1)
    path.write_text(f"{QUOTA.replace('HARD', hard)}{text}---{second}", "utf-8")
    explained = kres(f"explain --offline -f {path}").out
    assert explained.count("admitted") >= 2
    assert "together: not all of it fits" in explained
    found = kres(f"check --offline -f {path}")
    assert found.code == 1
    assert "refused beside the others: " in found.out
    assert "raise the quota for all of them together, or apply fewer" in found.out
