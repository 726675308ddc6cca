"""Claims that are made for pods: what simulations and files judged together say of them is what explain says."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.running import Kres

QUOTA = """
apiVersion: v1
kind: ResourceQuota
metadata: {name: q, namespace: ns}
spec: {hard: {HARD: "5"}}
---
"""
DEVICES = """
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: fast.example.org}
spec: {extendedResourceName: example.org/fast}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: two, namespace: ns}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: fast.example.org, count: 2}}]}}}
---
"""
POD = {
    "requests.example.org/fast": "resourceClaims: [{name: d, resourceClaimTemplateName: two}]",
    "requests.storage": "volumes: [{name: d, ephemeral: {volumeClaimTemplate: {spec: "
    "{accessModes: [ReadWriteOnce], resources: {requests: {storage: 2}}}}}}]",
}
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: ns}
spec:
  replicas: 3
  selector: {matchLabels: {a: web}}
  template: {metadata: {labels: {a: web}}, spec: {containers: [{name: c, image: img}], CLAIM}}
"""
JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: web, namespace: ns}
spec:
  parallelism: 3
  completions: 9
  template: {spec: {restartPolicy: Never, containers: [{name: c, image: img}], CLAIM}}
"""


@pytest.mark.parametrize("resource", POD)
@pytest.mark.parametrize("workload", [DEPLOYMENT, JOB])
def test_claims_that_quotas_refuse_keep_pods_from_starting_in_every_answer(
    kres: Kres, tmp_path: Path, workload: str, resource: str
):
    path = tmp_path / "all.yaml"
    text = DEVICES + QUOTA.replace("HARD", resource) + workload.replace("CLAIM", POD[resource])
    path.write_text(text, "utf-8")
    simulated = kres(f"simulate --offline -f {path}").out
    assert "web  new: 2 of 3 pods" in simulated
    assert "exceeded quota: q, requested: " + resource in simulated.replace("\n    ", " ")
    path.write_text(f"{text}---\n{DEPLOYMENT.replace('web', 'none').replace(', CLAIM', '').replace('3', '1')}", "utf-8")
    beside = kres(f"explain --offline -f {path}").out
    assert "together: not all of it fits" in beside
    assert ["web", "2", "of", "3"] in [line.split() for line in beside.splitlines()]
