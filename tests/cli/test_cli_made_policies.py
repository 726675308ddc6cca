"""Policies about objects that controllers make: judged as pods are, before the object is there and after."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.apiserver import Api
from cli.made_policies import MADE, SPACE, policy, workload
from cli.running import Kres


@pytest.fixture
def shop(api: Api) -> Api:
    api.version = {"gitVersion": "v1.36.3"}
    request = {"name": "r", "exactly": {"deviceClassName": "x", "count": 2}}
    template = {"spec": {"devices": {"requests": [request]}}}
    api.objects += [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}, "status": {"phase": "Active"}},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": SPACE}},
        {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "spec": template,
         "metadata": {"name": "two", "namespace": SPACE}},
    ]  # fmt: skip
    return api


WORDS = "ValidatingAdmissionPolicy 'no' with binding 'no' denied request: not like this"


@pytest.mark.parametrize("kind", MADE)
def test_of_a_file(kres: Kres, shop: Api, tmp_path: Path, kind: str) -> None:
    file = tmp_path / "web.json"
    file.write_text(json.dumps(workload(kind)))
    text = f"explain -f {file} -n {SPACE} --exit-code"
    assert kres(text).code == 0
    shop.objects += policy(kind)
    result = kres(text)
    assert (result.code, WORDS in " ".join(result.out.split())) == (1, True), result.out + result.err
    assert "KRES101" in kres(f"check -f {file} -n {SPACE}").out
    [change] = json.loads(kres(f"simulate -f {file} -n {SPACE} -o json").out)["items"]
    [web] = change["workloads"]
    told = (*web.get("refusals", ()), web.get("nextAfter", {}).get("message", ""))
    assert any(WORDS in text for text in told), change
    if kind == "EphemeralClaim":
        assert WORDS in " ".join(
            kres(f"explain -f {file} -n {SPACE} --offline -f {_written(tmp_path, kind)}").out.split()
        )


def _written(folder: Path, kind: str) -> Path:
    path = folder / "policies.json"
    path.write_text("\n".join(map(json.dumps, policy(kind))))
    return path


@pytest.mark.parametrize("kind", MADE)
def test_of_an_object_that_is_there(kres: Kres, shop: Api, kind: str) -> None:
    """Nothing of it was made yet."""
    item = workload(kind)
    item["metadata"] |= {"generation": 1, "uid": "u"}
    shop.objects += [{**item, "status": {}}, *policy(kind)]
    plural = {"Deployment": "deploy", "StatefulSet": "sts", "CronJob": "cronjobs"}[item["kind"]]
    for text in (f"explain {plural}/web", f"explain {plural}", f"explain {plural} -A", f"quota --denied -n {SPACE}"):
        result = kres(
            f"{text} -o json" if "denied" in text else f"{text} -n {SPACE} -o json".replace("-A -n shop", "-A")
        )
        assert WORDS in result.out, text + result.out
    assert "KRES101" in kres(f"check -n {SPACE}").out
    assert kres(f"explain {plural}/web -n {SPACE} --exit-code").code == 1


def test_what_is_not_computed_is_said(kres: Kres, shop: Api, tmp_path: Path) -> None:
    """A policy that asks for more than was read of a stored template leaves the answer open."""
    no, binding = policy("ReplicaSet")
    no["spec"]["validations"][0]["expression"] = "object.spec.template.spec.containers.all(c, !has(c.env))"
    item = workload("ReplicaSet")
    item["metadata"] |= {"generation": 1, "uid": "u"}
    shop.objects += [{**item, "status": {}}, no, binding]
    result = kres(f"explain deploy/web -n {SPACE} -o json")
    assert "it asks for env, which is not read" in result.out


def test_a_claim_is_counted_as_a_policy_changes_it(kres: Kres, shop: Api, tmp_path: Path) -> None:
    """What a mutating policy makes of the claim is what the quota is asked about."""
    group, resource, _ = MADE["PersistentVolumeClaim"]
    rule = {"apiGroups": [group], "apiVersions": ["*"], "operations": ["CREATE"], "resources": [resource]}
    patch = "Object{spec: Object.spec{resources: Object.spec.resources{requests: {'storage': '9Gi'}}}}"
    spec = {
        "matchConstraints": {"resourceRules": [rule]}, "failurePolicy": "Fail", "reinvocationPolicy": "Never",
        "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": patch}}],
    }  # fmt: skip
    head = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": "more"}}
    hard = {"requests.storage": "4Gi"}
    shop.objects += [
        {**head, "kind": "MutatingAdmissionPolicy", "spec": spec},
        {**head, "kind": "MutatingAdmissionPolicyBinding", "spec": {"policyName": "more"}},
        {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": SPACE},
         "spec": {"hard": hard}, "status": {"hard": hard, "used": {"requests.storage": "0"}}},
    ]  # fmt: skip
    for kind in ("PersistentVolumeClaim", "EphemeralClaim"):
        file = tmp_path / f"{kind}.json"
        file.write_text(json.dumps(workload(kind)))
        assert "requested: requests.storage=9Gi" in " ".join(kres(f"explain -f {file} -n {SPACE}").out.split())
        simulated = " ".join(kres(f"simulate -f {file} -n {SPACE}").out.split())
        assert "requested: requests.storage=9Gi" in simulated, simulated
