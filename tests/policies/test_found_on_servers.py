"""What real servers answered to requests that policies see, where the program said something else before."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.quota.quota_admission import request_of
from kubectl_kres.admission.quota.usage_drift import recount
from kubectl_kres.admission.request.new_pod import admit, policies_of
from kubectl_kres.model.objects import ResourceQuota
from kubectl_kres.model.pod import Pod
from kubectl_kres.policies.rules.chain import PolicyAnswer, build_policy_objects, create
from kubectl_kres.policies.rules.change import change
from kubectl_kres.policies.rules.creation import errors_of
from kubectl_kres.policies.rules.request import User

API = "admissionregistration.k8s.io/v1"
NOTHING = policies_of((), ())
ADMIN = User("admin", ("system:masters",))


def rule(resource: str, group: str = "") -> dict[str, Any]:
    return {"apiGroups": [group], "apiVersions": ["*"], "operations": ["CREATE", "UPDATE"], "resources": [resource]}


def mutating(mutation: dict[str, Any]) -> dict[str, Any]:
    spec = {
        "matchConstraints": {"resourceRules": [rule("pods")]},
        "reinvocationPolicy": "Never",
        "mutations": [mutation],
    }
    return {"apiVersion": API, "kind": "MutatingAdmissionPolicy", "metadata": {"name": "p"}, "spec": spec}


def binding(kind: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": API, "kind": kind, "metadata": {"name": "b"}, "spec": {"policyName": "p", **spec}}


def pod(name: str = "p", **metadata: Any) -> dict[str, Any]:
    named = metadata or {"name": name}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": named, "spec": {"containers": [{"name": "c", "image": "x"}]}}


def space(**labels: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "ns", "labels": labels},
        "status": {"phase": "Active"},
    }


def configured(expression: str) -> PolicyAnswer:
    policy = mutating({"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}})
    world = build_policy_objects(
        space(), mutating_policies=([policy], [binding("MutatingAdmissionPolicyBinding")]), user=ADMIN
    )
    (answer,) = create(pod(), "ns", NOTHING, Server(), world)
    return answer


C = "Object.spec.containers"
HEAD = (
    "policy 'p' with binding 'b' denied request: error applying patch: failed to convert patch object to typed object: "
)


PORT = f'{C}.ports{{containerPort: 80, protocol: "TCP"}}'
ENV = f'{C}.env{{name: "A", value: "1"}}'


def containers(*texts: str) -> str:
    return f"Object{{spec: Object.spec{{containers: [{', '.join(f'{C}{{{text}}}' for text in texts)}]}}}}"


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (
            containers('name: "c", image: "a"', 'name: "c", image: "b"'),
            '.spec.containers: duplicate entries for key [name="c"]',
        ),
        (
            containers(f'name: "c", ports: [{PORT}, {PORT}]'),
            '.spec.containers[name="c"].ports: duplicate entries for key [containerPort=80,protocol="TCP"]',
        ),
        (
            containers(f'name: "c", env: [{ENV}, {ENV}]', 'name: "d"', 'name: "d"'),
            (
                'errors:\n  .spec.containers[name="c"].env: duplicate entries for key [name="A"]\n'
                '  .spec.containers: duplicate entries for key [name="d"]'
            ),
        ),
        (
            'Object{metadata: Object.metadata{finalizers: ["a/b", "a/b"]}}',
            '.metadata.finalizers: duplicate entries for key [="a/b"]',
        ),
    ],
)
def test_a_list_that_names_a_key_twice(expression: str, text: str):
    answer = configured(expression)
    assert (answer.outcome.code, answer.outcome.message) == (403, f"{HEAD}{text}")


def test_a_patch_without_the_field_that_is_written():
    policy = mutating({"patchType": "JSONPatch", "jsonPatch": {"expression": '[JSONPatch{operation: "add"}]'}})
    (error,) = errors_of(policy, 37)
    assert error.field == "spec.mutations[0].jsonPatch.expression"
    assert "1:21: expected type of field 'operation' is '' but provided type is 'string'" in str(error)


def test_messages_about_a_generated_name():
    world = build_policy_objects(space(**{"pod-security.kubernetes.io/enforce": "restricted"}), user=ADMIN)
    (answer,) = create(pod(generateName="p-"), "ns", NOTHING, Server(), world)
    assert answer.outcome.message.startswith('pods "p-xxxxx" is forbidden: violates PodSecurity "restricted:latest"')


@pytest.mark.parametrize("expression", ['[JSONPatch{op: "add", path: "/metadata/labels", value: {"x": "y"}}]', ""])
def test_the_data_of_a_config_map_is_kept(expression: str):
    policy = mutating({"patchType": "JSONPatch", "jsonPatch": {"expression": expression}})
    policy["spec"]["matchConstraints"]["resourceRules"] = [rule("configmaps")]
    policies = ([policy], [binding("MutatingAdmissionPolicyBinding")]) if expression else ([], [])
    world = build_policy_objects(space(), mutating_policies=policies, user=ADMIN)
    sent = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"a": "b"}}
    for (answer,) in (
        create(sent, "ns", NOTHING, Server(), world),
        change("UPDATE", {**sent, "data": {}}, sent, "ns", NOTHING, Server(), world),
    ):
        assert answer.stored_object is not None and answer.stored_object["data"] == {"a": "b"}
        assert answer.stored_object["metadata"].get("labels") == ({"x": "y"} if expression else None)


def test_each_binding_looks_into_its_own_namespace():
    """The parameter that the first one names is not there, which it allows; the other one's stands elsewhere."""
    text = "'more than ' + params.data.cpu + ' in ' + params.metadata.namespace"
    spec = {"matchConstraints": {"resourceRules": [rule("pods")]},
            "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
            "validations": [{"expression": "params.data.cpu == '1'", "messageExpression": text}]}  # fmt: skip
    policy = {"apiVersion": API, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "p"}, "spec": spec}
    references = ({"parameterNotFoundAction": "Allow"}, {"namespace": "other", "parameterNotFoundAction": "Deny"})
    bindings = [
        binding(
            "ValidatingAdmissionPolicyBinding",
            validationActions=["Deny"],
            paramRef={"name": "limits", **reference},
        )
        for reference in references
    ]
    for number, each in enumerate(bindings):
        each["metadata"]["name"] = f"b{number}"
    limits = {"metadata": {"name": "limits", "namespace": "other"}, "data": {"cpu": "200m"}}
    world = build_policy_objects(
        space(), validating_policies=([policy], bindings), user=ADMIN,
        params=lambda _version, _kind, namespace, _reference: [limits] if namespace == "other" else [],
    )  # fmt: skip
    for name in ("p", "q"):
        (answer,) = create(pod(name), "ns", NOTHING, Server(), world)
        assert answer.outcome.message == (
            f"pods \"{name}\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b1' denied request: "
            "more than 200m in other"
        )


def deployment(replicas: int) -> dict[str, Any]:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": "ns"}, "spec": spec}


def test_scaling_is_a_request_about_a_scale():
    text = "'replicas ' + string(object.spec.replicas) + ' of ' + request.kind.kind + ' ' + request.resource.resource"
    validation = {"expression": "object.spec.replicas < 5", "messageExpression": text}
    spec = {"matchConstraints": {"resourceRules": [rule("deployments/scale", "apps")]}, "validations": [validation]}
    policy = {"apiVersion": API, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "p"}, "spec": spec}
    bound = binding("ValidatingAdmissionPolicyBinding", validationActions=["Deny"])
    world = build_policy_objects(space(), validating_policies=([policy], [bound]), user=ADMIN)
    (answer,) = change("SCALE", deployment(1), deployment(9), "ns", NOTHING, Server(), world)
    assert answer.outcome.code == 422
    assert answer.outcome.message == (
        "deployments.apps \"d\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: "
        "replicas 9 of Scale deployments"
    )
    (answer,) = change("SCALE", deployment(1), deployment(3), "ns", NOTHING, Server(), world)
    assert (answer.outcome.allowed, answer.outcome.code) == (True, 200)


def test_an_image_that_only_templates_may_have():
    """The controller's pod is refused for it before a quota is asked."""
    hard = {"hard": {"limits.cpu": "1"}}
    quota = msgspec.convert(
        {"metadata": {"name": "q"}, "spec": hard, "status": hard | {"used": {"limits.cpu": "0"}}}, ResourceQuota
    )
    made = msgspec.convert({"metadata": {"name": "d-1"}, "spec": {"containers": [{"name": "c", "image": "x "}]}}, Pod)
    (outcome,) = admit(made, policies_of((), [quota]), Server())
    assert outcome.code == 422
    assert outcome.message.endswith("must not have leading or trailing whitespace")


def test_use_is_stored_in_thousandths():
    hard = {"hard": {"requests.cpu": "1"}}
    quota = msgspec.convert({"metadata": {"name": "q"}, "spec": hard}, ResourceQuota)
    raw = {
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "x"}], "overhead": {"cpu": "520500u"}},
    }
    requests = {"pods": [request_of(msgspec.convert(raw, Pod), Server())]}
    assert {name: str(value) for name, value in recount(quota, requests, Server()).items()} == {"requests.cpu": "521m"}


CLAIMS = "spec.resources.claims: Forbidden: claims may not be set for Resources at pod-level"


def patch(expression: str) -> dict[str, Any]:
    return {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}


@pytest.mark.parametrize(
    ("mutation", "message"),
    [
        # A failed test is no patch: the object stays as it was sent.
        (patch('[JSONPatch{op: "test", path: "/kind", value: "x"}]'), CLAIMS),
        (patch('[JSONPatch{op: "test", path: "/kind", value: "Pod"}]'), ""),
        (patch("[JSONPatch{op: 'add', path: 'x'}].filter(p, false)"), ""),
        ({"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{}"}}, ""),
    ],
    ids=["failed test", "test", "no operation", "empty configuration"],
)
def test_a_policy_that_changes_nothing_still_loses_an_empty_list(mutation: dict[str, Any], message: str) -> None:
    """1.37.2: what a mutation lets through was written and read once more."""
    world = build_policy_objects(
        space(), mutating_policies=([mutating(mutation)], [binding("MutatingAdmissionPolicyBinding")]), user=ADMIN
    )
    sent = pod()
    sent["spec"]["resources"] = {"requests": {"cpu": "1"}, "claims": []}
    sent["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    (answer,) = create(sent, "ns", NOTHING, Server((1, 37)), world)
    assert answer.outcome.allowed == (not message)
    assert message in answer.outcome.message
