"""Objects that are half written, or that no API server stores: one of them never ends the answer for all."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from cli.apiserver import Api, deployment, pod
from cli.running import Kres

from kubectl_kres.model.kinds import BY_KIND

COMMANDS = (
    "explain deployments -A",
    "overview -A",
    "check -A --fail-on never",
    "simulate --delete limits/limits -n shop",
)
GROUP = "admissionregistration.k8s.io/v1"
RULE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}


def policy(**spec: Any) -> dict[str, Any]:
    whole = {"matchConstraints": {"resourceRules": [RULE]}, "validations": [{"expression": "true"}], **spec}
    metadata = {"name": "odd"}
    return {"apiVersion": GROUP, "kind": "ValidatingAdmissionPolicy", "metadata": metadata, "spec": whole}


BINDING = {
    "apiVersion": GROUP, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "odd"},
    "spec": {"policyName": "odd", "validationActions": ["Deny"]},
}  # fmt: skip


def webhooks(**fields: Any) -> dict[str, Any]:
    webhook = {"name": "a.example.com", "rules": [RULE], **fields}
    metadata = {"name": "odd"}
    return {"apiVersion": GROUP, "kind": "ValidatingWebhookConfiguration", "metadata": metadata, "webhooks": [webhook]}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("odd", "said"),
    [
        (
            policy(matchConstraints={"resourceRules": ["x"]}),
            "resourceRules[0]: Expected `object`",
        ),
        (
            policy(matchConstraints={"resourceRules": [{**RULE, "resources": 5}]}),
            "[0].resources: Expected",
        ),
        (policy(validations="x"), "spec.validations: Expected `array | null`, got `str`"),
        (policy(variables=["x"]), "spec.variables[0]: Expected `object`"),
        ({**BINDING, "spec": {"policyName": 5}}, "spec.policyName: Expected `str | null`"),
        (webhooks(rules=[{**RULE, "operations": "x"}]), "webhooks[0].rules[0].operations: Expected `array | null`"),
        (webhooks(namespaceSelector={"matchLabels": "x"}), "webhooks[0].namespaceSelector.matchLabels: Expected"),
    ],
)
def test_what_has_a_wrong_type_is_left_out_with_its_place(
    kres: Kres, api: Api, command: str, odd: dict[str, Any], said: str
):
    others = [one for one in (policy(), BINDING) if one["kind"] != odd["kind"]]
    api.objects += [deployment("web", "300Mi"), *others, odd]
    code, out, err = kres(f"{command} -o json")
    plural = BY_KIND[odd["kind"]].plural
    if plural == "validatingwebhookconfigurations" and command.startswith("simulate"):
        assert code in {0, 1}  # it asks no webhook
        return
    assert (code, json.loads(out)["metadata"]["complete"]) == (4, False), err
    assert f"unread  {plural} (" in err and said in err


def test_an_amount_of_hundreds_of_digits_ends_nothing(kres: Kres, api: Api):
    hard = {"requests.cpu": "1m", "requests.memory": "1"}
    api.objects += [
        pod("web", "9" * 400),
        {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "shop"},
         "spec": {"hard": hard}, "status": {"hard": hard, "used": {"requests.memory": "9" * 400}}},
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"memory": "1Mi"}}},
    ]  # fmt: skip
    api.objects[1]["status"] = {
        "phase": "Pending",
        "conditions": [
            {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes are available"}
        ],
    }
    for command in ("quota q --by workload", "overview -A", "check -A", "explain pods", "explain pod/web"):
        assert kres(command).code in {0, 1, 4}


@pytest.mark.parametrize("containers", [{"containers": []}, {}], ids=["none", "left out"])
@pytest.mark.parametrize("bounds", [{"max": {"memory": "1Gi"}}, {"min": {"memory": "1Gi"}}])
@pytest.mark.parametrize("command", ["explain", "check", "diff", "simulate"])
def test_a_workload_without_containers_beside_bounds_of_pods(
    kres: Kres, file: Callable[..., str], command: str, bounds: dict[str, Any], containers: dict[str, Any]
):
    limits = {"type": "Pod", **bounds}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": containers}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    name = file(
        {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l", "namespace": "shop"},
         "spec": {"limits": [limits]}},
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": "shop"}, "spec": spec},
    )  # fmt: skip
    code, out, err = kres(f"{command} -f {name} --offline")
    assert code in {0, 1, 2}
    assert "spec.template.spec.containers: Required value" in " ".join((out + err).split())


@pytest.mark.parametrize("command", ["claims -A", "claims late", "overview -A", "explain claim/late", "check -A"])
def test_a_claim_whose_status_names_no_pool(kres: Kres, api: Api, command: str):
    group = "capsule.clastix.io/v1beta2"

    def claim(name: str, cpu: str, **status: Any) -> dict[str, Any]:
        spec = {"pool": "pool", "claim": {"requests.cpu": cpu}}
        metadata = {"name": name, "namespace": "shop", "creationTimestamp": f"2026-11-26T09:00:0{len(name)}Z"}
        return {"apiVersion": group, "kind": "ResourcePoolClaim", "metadata": metadata, "spec": spec, "status": status}

    exhausted = {"type": "Bound", "status": "False", "reason": "PoolExhausted"}
    held = {"uid": "u", "name": "early", "claims": {"requests.cpu": "3"}}
    api.objects += [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
        {"apiVersion": group, "kind": "ResourcePool", "metadata": {"name": "pool"},
         "spec": {"quota": {"hard": {"requests.cpu": "4"}}, "selectors": [{"matchLabels": {}}]},
         "status": {"namespaces": ["shop"], "claims": {"shop": [held]}}},
        claim("early", "3", pool={"name": "pool"}, condition={"type": "Bound", "status": "True"}),
        claim("late", "2", condition=exhausted),
    ]  # fmt: skip
    assert kres(command).code in {0, 1, 4}
