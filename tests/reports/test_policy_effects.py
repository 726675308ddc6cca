"""Which policies decide about pods of a namespace, and what each makes of the pods that are there; as text, too."""

from __future__ import annotations

import pytest
from reports.stored import box, made, store_of
from reports.test_policing import ASK, cluster_wide, mutating, policy, validating

from kubectl_kres.policies.reports.effects import policy_effects
from kubectl_kres.policies.text import effect_lines

LIMITS = "object.spec.containers.all(c, has(c.resources.limits))"
SETS = '[JSONPatch{op: "add", path: "/spec/containers/0/resources/limits", value: {"cpu": "750m"}}]'


def pod(name, *containers, phase="Running", **metadata):
    found = made("Pod", name, spec={"containers": list(containers)}, **metadata)
    return {**found, "status": {"phase": phase}}


def effects(*objects, **chosen):
    return policy_effects(store_of(*objects), "ns", ASK, **chosen)


def text(found):
    return "\n".join(effect_lines(found, color=False, width=100))


def test_nothing_decides():
    found = effects(pod("a", box()))
    assert found.policies == () and text(found) == "no admission policy matches pods of namespace ns"


def test_a_validating_policy_and_the_pods_that_it_would_refuse_today():
    limited = box(resources={"limits": {"cpu": "1"}})
    found = effects(*validating(LIMITS, message="limits, please"), pod("a", box()), pod("b", limited),
                    pod("done", box(), phase="Succeeded"))  # fmt: skip
    [effect] = found.policies
    assert (effect.name, effect.bindings, effect.actions) == ("rule", ("rule-b",), ("Deny",))
    assert (effect.pods, effect.passing, [(one.pod, one.message, one.refused) for one in effect.failing]) == (
        2, 1, [("a", "limits, please", True)],
    )  # fmt: skip
    assert "1 of 2 pods pass" in text(found) and "a would be refused: limits, please" in text(found)


def test_a_mutating_policy_and_the_pods_that_carry_what_it_sets():
    given = box(resources={"limits": {"cpu": "750m"}, "requests": {"cpu": "750m"}})
    found = effects(*mutating(SETS), pod("a", box()), pod("b", given))
    [effect] = found.policies
    assert (effect.pods, effect.passing) == (2, 1)
    [lacking] = effect.failing
    assert lacking.pod == "a" and "limits.cpu 750m" in lacking.message.replace("[cpu]", ".cpu")
    assert "1 of 2 pods carry what it sets" in text(found)


def test_one_kind_or_one_name_alone():
    objects = (*validating(LIMITS), *mutating(SETS))
    assert [one.name for one in effects(*objects).policies] == ["rule", "res"]
    assert [one.name for one in effects(*objects, kind="MutatingAdmissionPolicy").policies] == ["res"]
    assert [one.name for one in effects(*objects, kind="MutatingAdmissionPolicy", name="x").policies] == []


def test_policies_about_other_objects_and_other_namespaces_are_left_out():
    others = {"resourceRules": [
        {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["deployments"]},
    ]}  # fmt: skip
    found, binding = validating("true")
    found["spec"]["matchConstraints"] = others
    assert effects(found, binding, pod("a", box())).policies == ()
    found, binding = validating("true")
    binding["spec"]["matchResources"] = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "x"}}}
    assert effects(found, binding, pod("a", box())).policies == ()


def test_what_a_policy_asks_for_that_is_not_read_of_pods_is_said():
    [effect] = effects(*validating("object.spec.hostNetwork != true"), pod("a", box())).policies
    assert effect.unknown == "it asks for hostNetwork, which is not read of pods"


def test_parameters_are_named_as_not_read():
    objects = policy(
        "ValidatingAdmissionPolicy", "rule", paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
        validations=[{"expression": "params.data.x == 'y'"}],
    )  # fmt: skip
    objects[1]["spec"]["paramRef"] = {"name": "limits", "parameterNotFoundAction": "Deny"}
    [effect] = effects(*objects, pod("a", box())).policies
    assert "parameters (ConfigMap ns/limits) are not read" in effect.unknown


def test_a_policy_that_does_not_compile_is_named_with_field_and_column():
    [effect] = effects(*validating("object.spec.x +"), pod("a", box())).policies
    assert effect.faults[0].startswith("spec.validations[0].expression: Invalid value: ")
    assert "ERROR: <input>:1:16: Syntax error" in effect.faults[0]


def test_a_binding_to_nothing_is_named():
    binding = cluster_wide(
        "ValidatingAdmissionPolicyBinding", "lost", spec={"policyName": "gone", "validationActions": ["Deny"]}
    )
    found = effects(binding, pod("a", box()))
    assert found.dangling == (("lost", "gone"),)
    assert "binding lost does nothing: policy gone does not exist" in text(found)


@pytest.mark.parametrize("hostile", ["\x1b[2J\x1b[31mred", "a\rb\x00c", "user\u202egpj.exe", "x\u2028y\x9b2J"])
def test_no_text_of_a_policy_reaches_a_terminal_as_it_is(hostile):
    quoted = hostile.replace("\\", "\\\\")
    objects = [
        *validating(f"object.metadata.name == '{quoted}'", message=hostile),
        cluster_wide("ValidatingAdmissionPolicyBinding", f"b{hostile}", spec={"policyName": hostile}),
    ]
    shown = text(effects(*objects, pod("a", box())))
    assert not set(hostile) & set("\x1b\r\x00\u202e\u2028\x9b") & set(shown)


@pytest.mark.parametrize("hostile", ["\x1b[2J\x1b[31mred", "user\u202egpj.exe"])
def test_nor_one_of_an_expression_that_does_not_compile(hostile):
    shown = text(effects(*validating(f"object.spec.x + '{hostile}' +"), pod("a", box())))
    assert "does not compile" in shown and not set("\x1b\u202e") & set(shown)
