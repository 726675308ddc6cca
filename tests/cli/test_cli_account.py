"""A list, an object, a snapshot and a file say the same of what a class, an account or a quota of objects refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli.apiserver import Api, deployment
from cli.running import Kres

Raw = dict[str, Any]


def named(field: str, value: str) -> Raw:
    """A Deployment whose pods name a class or an account."""
    result = deployment("web", "64Mi")
    result["spec"]["template"]["spec"][field] = value
    return {**result, "status": {"observedGeneration": 1}}


@pytest.fixture
def shop(api: Api) -> Api:
    api.objects += [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}, "status": {"phase": "Active"}},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": "shop"}},
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1},
    ]
    return api


@pytest.mark.parametrize(
    ("field", "value", "plural"),
    [("priorityClassName", "hihg", "priorityclasses"), ("serviceAccountName", "deployer", "serviceaccounts")],
)
def test_a1_a2_a_list_reads_what_its_answers_depend_on(
    kres: Kres, shop: Api, tmp_path: Path, field: str, value: str, plural: str
) -> None:
    shop.objects.append(named(field, value))
    asked = ["explain deploy/web", "explain deploy", "explain deploy -n shop", "explain deploy -A"]
    asked.append("explain deploy --field-selector metadata.name=web -o brief")
    for text in asked:
        result = kres(*text.split(), "--exit-code")
        assert (result.code, "refused" in result.out) == (1, True), text
    kres("snapshot", "-n", "shop", "--out", "shop.kres")
    for text in ("explain deploy/web", "explain deploy"):
        result = kres(*text.split(), "-n", "shop", "--snapshot", "shop.kres", "--exit-code")
        assert (result.code, "refused" in result.out) == (1, True), text
    # Who may not read them is told that the answer is partial, in a list as of the object.
    shop.denied = {plural, f"shop/{plural}"}
    assert [kres(*text.split(), "--exit-code").code for text in asked] == [4] * len(asked)


def test_06_counted_objects_of_files_are_answered(kres: Kres, shop: Api, tmp_path: Path) -> None:
    hard, used = {"configmaps": "1", "count/secrets": "2"}, {"configmaps": "1", "count/secrets": "1"}
    shop.objects.append({
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "objs", "namespace": "shop"},
        "spec": {"hard": hard}, "status": {"hard": hard, "used": used},
    })  # fmt: skip
    Path("cm.yaml").write_text("{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: b}}")
    result = kres("explain", "-f", "cm.yaml", "--exit-code")
    assert result.code == 1
    assert "exceeded quota: objs, requested: configmaps=1, used: configmaps=1, limited: configmaps=1" in " ".join(
        result.out.split()
    )
    assert "kube-root-ca.crt" in result.out
    Path("secret.yaml").write_text("{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {a: hidden}}")
    result = kres("explain", "-f", "secret.yaml", "--exit-code")
    assert (result.code, "hidden" in result.out) == (0, False)
    assert not [path for path in shop.asked if "secrets" in path]
    shop.objects.append(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "shop"}}
    )
    assert kres("explain", "-f", "cm.yaml", "--exit-code").code == 0


@pytest.mark.parametrize(("most", "code"), [("1", 0), ("0", 1)])
def test_w1_a_service_that_becomes_a_load_balancer_costs_the_new_keys(
    kres: Kres, shop: Api, most: str, code: int
) -> None:
    hard = {"services": "1", "services.loadbalancers": most}
    shop.objects += [
        {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "net", "namespace": "shop"},
         "spec": {"hard": hard},
         "status": {"hard": hard, "used": {"services": "1", "services.loadbalancers": "0"}}},
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "shop"},
         "spec": {"type": "ClusterIP", "ports": [{"port": 80}]}},
    ]  # fmt: skip
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"},
               "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]}}  # fmt: skip
    Path("lb.yaml").write_text(json.dumps(service))
    found = json.loads(kres("explain", "-f", "lb.yaml", "-o", "json").out)
    (item,) = [item for item in found.get("items", [found]) if "costs" in item]
    assert [cost["charge"]["requested"] for cost in item["costs"]] == [{"services.loadbalancers": "1"}]
    assert kres("explain", "-f", "lb.yaml", "--exit-code").code == code
    assert kres("simulate", "-f", "lb.yaml").code == code


@pytest.mark.parametrize("stored", [1, 2])
def test_a_claim_above_the_max_is_said_of_a_file_that_scales_a_set_that_is_there(
    kres: Kres, shop: Api, tmp_path: Path, stored: int
) -> None:
    """The pod that is there has its claim; the claim of the next one is refused, in the server's words."""
    meta = {"name": "s", "namespace": "shop", "generation": 1}
    labels, claim = {"a": "s"}, {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {
        "replicas": stored, "serviceName": "s", "selector": {"matchLabels": labels}, "template": template,
        "volumeClaimTemplates": [{"metadata": {"name": "d"}, "spec": claim}],
    }  # fmt: skip
    head = {"apiVersion": "apps/v1", "kind": "StatefulSet"}
    status = {"replicas": 1, "readyReplicas": 1, "observedGeneration": 1}
    bounds = {"limits": [{"type": "PersistentVolumeClaim", "max": {"storage": "500Mi"}}]}
    shop.objects += [
        {**head, "metadata": meta, "spec": spec, "status": status},
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {**meta, "name": "d-s-0"}, "spec": claim},
        {"apiVersion": "v1", "kind": "LimitRange", "metadata": {**meta, "name": "disks"}, "spec": bounds},
    ]
    file = tmp_path / "s.json"
    file.write_text(
        json.dumps({**head, "metadata": {"name": "s", "namespace": "shop"}, "spec": {**spec, "replicas": 3}})
    )
    words = 'persistentvolumeclaims "d-s-1" is forbidden: maximum storage usage per PersistentVolumeClaim is 500Mi'
    for command in ("explain", "simulate"):
        result = kres(command, "-f", str(file), "-n", "shop", "--exit-code")
        assert (result.code, words in " ".join(result.out.split())) == (1, True), command
    assert "KRES101" in kres("check", "-f", str(file), "-n", "shop").out
