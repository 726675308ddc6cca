"""Comparisons with what an object holds: what kube-apiserver 1.37.2 answers, and one before 1.37.

The differential of tests/e2e/test_policies_plane.py asks servers about these and thousands more.
"""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.new_pod import policies_of
from kubectl_kres.policies.cel.base.values import TypedStruct
from kubectl_kres.policies.rules.apply_configuration import merge_configuration
from kubectl_kres.policies.rules.chain import PolicyAnswer, build_policy_objects, create
from kubectl_kres.policies.rules.expressions import typed_object
from kubectl_kres.policies.rules.request import User

API = "admissionregistration.k8s.io/v1"
NEWEST, OLDER = Server(), Server(version=(1, 36))
#: The program is of 1.37 and its values are, whatever version it emulates.
EMULATING = Server(version=(1, 36), binary=(1, 37))
CONSTRAINTS = {
    "resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]
}
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "labels": {"app": "web"}},
    "spec": {
        "containers": [
            {"name": "a", "image": "i:1", "resources": {"requests": {"memory": "1Gi"}}},
            {"name": "b", "image": "i:1", "resources": {"requests": {"memory": "1073741824"}}},
        ]
    },
}
ERROR = "no such overload"


def answers(expression: str, server: Server, pod: dict[str, Any] = POD) -> str:
    """What a validation comes to: true, false, or the error's text."""
    spec = {"matchConstraints": CONSTRAINTS, "validations": [{"expression": expression}]}
    policy = {"apiVersion": API, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "v"}, "spec": spec}
    bound = {**policy, "kind": "ValidatingAdmissionPolicyBinding", "spec": {"policyName": "v"}}
    bound["spec"]["validationActions"] = ["Deny"]  # type: ignore[index]
    answer = decided(server, pod, validating=([policy], [bound]))
    if answer.outcome.allowed:
        return "true"
    return "false" if "failed expression" in answer.outcome.message else answer.outcome.message.rpartition("error: ")[2]


def decided(server: Server, pod: dict[str, Any], **policies: Any) -> PolicyAnswer:
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns"}, "status": {"phase": "Active"}}
    world = build_policy_objects(
        space,
        None,
        policies.get("validating", ((), ())),
        policies.get("mutating", ((), ())),
        user=User("admin", ("system:masters",)),
        version=server.version,
    )
    (answer,) = create(pod, "ns", policies_of((), (), (), ()), server, world)
    assert not answer.unknown
    return answer


@pytest.mark.parametrize(
    ("expression", "newest", "older"),
    [
        # A list, map or object on the left of another kind is an error; on the right, or beside null, it is not.
        ("dyn(object.spec.containers) == 1.5", ERROR, "false"),
        ("dyn(1.5) == dyn(object.spec.containers)", "false", "false"),
        ("object.metadata.labels == dyn(['a'])", ERROR, "false"),
        ("object.spec.containers[0] == dyn('a')", ERROR, "false"),
        ("object.spec == null", "false", "false"),
        ("dyn(request.kind) == dyn('Pod')", ERROR, "false"),
        ("dyn(namespaceObject.metadata) == dyn(true)", ERROR, "false"),
        ("object.spec.containers != dyn(1)", "true", "true"),
        # What an expression makes is no value of Go; what stands in it still is.
        ("object.spec.containers.map(c, c.name) == dyn(1)", "false", "false"),
        ("dyn(object.spec.containers + []) == dyn('a')", "false", "false"),
        ("dyn([] + object.spec.containers) == dyn('a')", ERROR, "false"),
        ("object.spec.containers.filter(c, true)[0] == dyn('a')", ERROR, "false"),
        ("[object.metadata.labels] == dyn(['a'])", "true", "false"),
        ("optional.of(object.spec) == optional.of(dyn(1))", ERROR, "false"),
        # Nothing is an error where members are looked for.
        ("1 in object.spec.containers", "false", "false"),
        ("object.spec.containers in [dyn(1), dyn('a')]", "false", "false"),
        ("1 in object.metadata.labels", "unsupported map key type: types.Int", "false"),
        ("object.spec.containers.indexOf(dyn('a')) == -1", "true", "true"),
        # Two structs are equal by type, and their quantities by amount; their maps by text.
        ("object.spec.containers[0].resources == object.spec.containers[1].resources", "true", "false"),
        ("object.spec.containers.exists(c, c.resources.requests == {'memory': '1024Mi'})", "false", "false"),
        ("object.spec.securityContext == dyn({})", "true", "true"),
        # An empty object is not a zero value.
        ("optional.ofNonZeroValue(object.spec.securityContext).hasValue()", "true", "false"),
        ("object.spec.containers[dyn(0.0)].name == 'a'", "unsupported index type: types.Double", "true"),
    ],
)  # fmt: skip
def test_comparisons(expression: str, newest: str, older: str) -> None:
    assert (answers(expression, NEWEST), answers(expression, OLDER)) == (newest, older)
    assert answers(expression, EMULATING) == newest


def test_objects_of_custom_kinds_are_plain() -> None:

    custom = {"apiVersion": "tekton.dev/v1", "kind": "TaskRun", "spec": {}}
    assert typed_object(custom) is custom
    assert type(typed_object(POD)["spec"]) is TypedStruct


COPY = "[JSONPatch{op: 'add', path: '/metadata/annotations', value: object.metadata.labels}]"


def patched(server: Server, *conditions: str) -> PolicyAnswer:
    spec = {
        "matchConstraints": CONSTRAINTS,
        "failurePolicy": "Fail",
        "reinvocationPolicy": "Never",
        "matchConditions": [{"name": f"c{place}", "expression": text} for place, text in enumerate(conditions)],
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": COPY}}],
    }
    policy = {"apiVersion": API, "kind": "MutatingAdmissionPolicy", "metadata": {"name": "m"}, "spec": spec}
    bound = {**policy, "kind": "MutatingAdmissionPolicyBinding", "spec": {"policyName": "m"}}
    return decided(server, POD, mutating=([policy], [bound]))


def test_a_patch_sets_what_an_object_holds_unless_a_match_condition_asked_for_it() -> None:
    """Match conditions have the object typed, and so have the mutations behind them: that is no JSON to the server."""
    for answer in (patched(NEWEST), patched(OLDER), patched(OLDER, "has(object.metadata.labels)")):
        assert answer.outcome.allowed and answer.stored_object["metadata"]["annotations"] == {"app": "web"}  # type: ignore[index]
    assert patched(NEWEST, "has(object.metadata.labels)").outcome.message.endswith(
        "JSONPath valueExpression evaluated to a type that could not marshal to JSON: "
        "type conversion error from 'map(dyn, dyn)' to '*structpb.Value'"
    )


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("object.spec.containers.exists_one(c, c.name == 'a' ? c.x : c.y)", "no such key: y"),
        ("object.spec.containers.filter(c, c.name == 'a' ? c.x : c.y).size() > 0", "no such key: y"),
        ("object.spec.containers.map(c, c.name == 'a' ? c.x : c.y).size() > 0", "no such key: x"),
    ],
)
def test_which_error_of_a_comprehension_is_told(expression: str, text: str) -> None:
    """The last one of its conditions, else the first one of what it makes: the server looks at every element."""
    assert answers(expression, NEWEST) == text


def test_a_merged_list_is_in_the_servers_order() -> None:
    """New items stand where the configuration has them; of a name that was there twice only the new item stays."""

    env = [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}, {"name": "B", "value": "3"}]
    pod = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "c", "env": env}]}}
    new = {"spec": {"containers": [{"name": "c", "env": [{"name": "A", "value": "b"}]}]}}
    assert merge_configuration(pod, new)["spec"]["containers"][0]["env"] == [{"name": "A", "value": "b"}, env[2]]
    two = {**pod, "spec": {"containers": [{"name": "a"}, {"name": "b"}]}}
    front = {"spec": {"containers": [{"name": "n"}, {"name": "b"}]}}
    assert [container["name"] for container in merge_configuration(two, front)["spec"]["containers"]] == ["a", "n", "b"]


def test_an_empty_list_of_claims_at_the_pod_level_is_refused() -> None:
    pod = {**POD, "spec": {**POD["spec"], "resources": {"requests": {"cpu": "1"}, "claims": []}}}
    text = "spec.resources.claims: Forbidden: claims may not be set for Resources at pod-level"
    assert text in decided(NEWEST, pod).outcome.message
