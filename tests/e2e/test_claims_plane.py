"""Claims of StatefulSets on a real control plane: what explain says of the next one is what its controller is told."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from controlplane import ControlPlane
from e2e.plugin import Kres
from e2e.test_controlplane import poll

pytestmark = pytest.mark.e2e

QUOTA = {"kind": "ResourceQuota", "apiVersion": "v1", "metadata": {"name": "q"},
         "spec": {"hard": {"requests.storage": "10Gi", "count/persistentvolumeclaims": "9"}}}  # fmt: skip
BOUNDS = {"kind": "LimitRange", "apiVersion": "v1", "metadata": {"name": "lr"},
          "spec": {"limits": [{"type": "PersistentVolumeClaim", "max": {"storage": "20Gi"}}]}}  # fmt: skip
_CLAIM = re.compile(r'persistentvolumeclaims "[^"]*" is forbidden: .*')


def test_what_refuses_a_claim(controlplane: ControlPlane, kres: Kres, namespace: str) -> None:
    """One is too large, one asks for too much with its second pod, one has room."""
    base = f"/api/v1/namespaces/{namespace}"
    for one in (BOUNDS, QUOTA):
        assert controlplane.request("POST", f"{base}/{one['kind'].lower()}s", one)[0] == 201
    poll(lambda: controlplane.request("GET", f"{base}/resourcequotas/q")[1].get("status", {}).keys(), {"hard", "used"})
    held: set[str] = set()
    for name, size, claims in (("small", "1Gi", 2), ("twice", "6Gi", 1), ("big", "30Gi", 0)):
        sent = stateful(name, size)
        assert controlplane.request("POST", f"/apis/apps/v1/namespaces/{namespace}/statefulsets", sent)[0] == 201
        held |= {f"data-{name}-{number}" for number in range(claims)}
        poll(partial(made, controlplane, namespace), held)
    poll(lambda: told(controlplane, namespace).keys(), {"big", "twice"})

    done = kres("explain", "statefulsets", "-n", namespace, "-o", "json")
    said = {item["subject"]["name"]: item["verdict"] for item in json.loads(done.stdout)["items"]}
    assert {name: one.get("message") for name, one in said.items() if name != "small"} == told(controlplane, namespace)
    # Two of its pods are there; one more is what the quota has no room for, either.
    assert said["small"]["allowed"] is True
    head, *rows = kres("explain", "statefulsets", "-n", namespace).stdout.splitlines()
    assert head.split()[:2] == ["NAMESPACE", "NAME"]
    assert [row[head.index("OUTCOME") :].split()[0] for row in rows[:3]] == ["refused", "admitted", "refused"]
    denied = kres("quota", "--denied", "-n", namespace).stdout
    assert [name for name in said if f"StatefulSet/{name} " in denied] == ["big", "twice"]


def stateful(name: str, size: str) -> dict[str, Any]:
    """Two pods, which are all made at once."""
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    spec = {
        "replicas": 2,
        "podManagementPolicy": "Parallel",
        "selector": {"matchLabels": {"app": name}},
        "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "a", "image": "img"}]}},
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim}],
    }
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name}, "spec": spec}


def made(plane: ControlPlane, namespace: str) -> set[str]:
    """The claims that there are."""
    items = plane.request("GET", f"/api/v1/namespaces/{namespace}/persistentvolumeclaims")[1]["items"]
    return {item["metadata"]["name"] for item in items}


def told(plane: ControlPlane, namespace: str) -> dict[str, str]:
    """The last refusal of a claim of each StatefulSet's first pod that lacks one, by its name."""
    found: dict[str, str] = {}
    items = plane.request("GET", f"/api/v1/namespaces/{namespace}/events")[1]["items"]
    for event in sorted(items, key=lambda one: one["lastTimestamp"] or ""):
        text = _CLAIM.search(event["message"])
        if event["reason"] == "FailedCreate" and text is not None:
            name = event["involvedObject"]["name"]
            first = f'"data-{name}-{0 if name == "big" else 1}"'
            if first in text[0]:
                found[name] = text[0]
    return found


def test_the_claim_template_of_a_statefulset_that_exists(
    controlplane: ControlPlane, kres: Kres, namespace: str, tmp_path: Path
) -> None:
    """As the fix says: deleted with its pods left alone, created again with the other size, and the third pod comes."""
    base, sets = f"/api/v1/namespaces/{namespace}", f"/apis/apps/v1/namespaces/{namespace}/statefulsets"
    assert controlplane.request("POST", f"{base}/limitranges", BOUNDS)[0] == 201
    raw = stateful("web", "6Gi")
    assert controlplane.request("POST", sets, raw)[0] == 201
    poll(partial(made, controlplane, namespace), {"data-web-0", "data-web-1"})
    poll(lambda: len(uids(controlplane, namespace)), 2)
    before = uids(controlplane, namespace)
    tight = {**BOUNDS, "spec": {"limits": [{"type": "PersistentVolumeClaim", "max": {"storage": "4Gi"}}]}}
    assert controlplane.request("PUT", f"{base}/limitranges/lr", tight)[0] == 200
    raw["spec"]["replicas"] = 3
    (tmp_path / "web.json").write_text(json.dumps({**raw, "metadata": {"name": "web", "namespace": namespace}}))
    done = kres("explain", "-f", "web.json", "-o", "json")
    [item] = json.loads(done.stdout)["items"]
    [fix] = [it for it in item["fixes"] if "volumeClaimTemplates" in it["text"]]
    assert fix["text"] == "set requests.storage of spec.volumeClaimTemplates[0] to 4Gi"
    assert "--cascade=orphan" in fix["noCommandReason"], fix
    assert not any("statefulset" in line for line in fix.get("commands", ()))

    raw["spec"]["volumeClaimTemplates"][0]["spec"]["resources"]["requests"]["storage"] = "4Gi"
    raw["spec"]["replicas"] = 3
    status, answer = controlplane.request("PUT", f"{sets}/web", raw)
    assert status == 422, answer
    assert "Forbidden" in answer["message"] or "immutable" in answer["message"]
    assert controlplane.request("DELETE", f"{sets}/web", {"propagationPolicy": "Orphan"})[0] == 200
    poll(lambda: controlplane.request("GET", f"{sets}/web")[0], 404)
    assert controlplane.request("POST", sets, raw)[0] == 201
    poll(partial(made, controlplane, namespace), {"data-web-0", "data-web-1", "data-web-2"})
    poll(lambda: len(uids(controlplane, namespace)), 3)
    assert before.items() <= uids(controlplane, namespace).items()


def uids(plane: ControlPlane, namespace: str) -> dict[str, str]:
    """The pods that there are, by name."""
    items = plane.request("GET", f"/api/v1/namespaces/{namespace}/pods")[1]["items"]
    return {item["metadata"]["name"]: item["metadata"]["uid"] for item in items}
