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


#: Objects of kinds that are looked at for other reasons, too: what a quota counts of them refuses them all the same.
OTHERS = {
    "count/limitranges": "apiVersion: v1\nkind: LimitRange\n"
    "spec: {limits: [{type: PersistentVolumeClaim, max: {storage: 5Gi}}]}",
    "count/endpoints": "apiVersion: v1\nkind: Endpoints",
    "count/tasks.tekton.dev": "apiVersion: tekton.dev/v1\nkind: Task\nspec: {steps: [{name: a, image: b}]}",
    "count/horizontalpodautoscalers.autoscaling": "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\n"
    "spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}",
    "count/verticalpodautoscalers.autoscaling.k8s.io": "apiVersion: autoscaling.k8s.io/v1\n"
    "kind: VerticalPodAutoscaler\nspec: {targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}",
    "count/poddisruptionbudgets.policy": "apiVersion: policy/v1\nkind: PodDisruptionBudget\nspec: {minAvailable: 1}",
    "count/ingresses.networking.k8s.io": "apiVersion: networking.k8s.io/v1\nkind: Ingress",
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_a_quota_counts_is_refused_by_explain_and_check_whatever_else_it_is(kres: Kres, tmp_path: Path, name: str):
    path = tmp_path / "all.yaml"
    text = f"{OTHERS[name]}\nmetadata: {{name: other, namespace: ns}}\n"
    path.write_text(QUOTA.replace("HARD", f"{name}: '0'") + text + WORKLOAD, "utf-8")
    kind = text.partition("kind: ")[2].partition("\n")[0]
    explained = " ".join(kres(f"explain --offline -f {path}").out.split())
    assert f"refused: ns/{kind}/other: quota q is short by 1 of {name}" in explained
    found = kres(f"check --offline -f {path}")
    assert f"error KRES116 ns/{kind}/other" in found.out
    path.write_text(QUOTA.replace("HARD", f"{name}: '5'") + text + WORKLOAD, "utf-8")
    assert "refused" not in kres(f"explain --offline -f {path}").out
    assert "KRES116" not in kres(f"check --offline -f {path}").out


def test_a_quota_may_refuse_another_one(kres: Kres, tmp_path: Path):
    path = tmp_path / "all.yaml"
    path.write_text(QUOTA.replace("HARD", "resourcequotas: '2', pods: '5'"), "utf-8")
    second = QUOTA.replace("HARD", "services: '1'").replace("name: q", "name: other").replace("---", "")
    path.write_text(path.read_text("utf-8").strip().removesuffix("---") + "---" + second, "utf-8")
    assert "refused" not in kres(f"explain --offline -f {path}").out
    # It counts itself.
    path.write_text(path.read_text("utf-8").replace("resourcequotas: '2'", "resourcequotas: '1'"), "utf-8")
    beside = 'refused: ResourceQuota/other: resourcequotas "other" is forbidden: exceeded quota: q'
    assert beside in " ".join(kres(f"explain --offline -f {path}").out.split())
    assert "KRES116 ns/ResourceQuota/other" in kres(f"check --offline -f {path}").out
    path.write_text(path.read_text("utf-8").replace("resourcequotas: '1'", "resourcequotas: '0'"), "utf-8")
    rows = [line.split(None, 3) for line in kres(f"explain --offline -f {path}").out.splitlines()]
    assert [row[3] for row in rows if row[1:2] == ["other"]] == ["quota q is short by 1 of resourcequotas"]
