"""What else admits, in answers: Pod Security, service accounts, policies, webhooks, and what live pods were given."""

from __future__ import annotations

import pytest
from msgspec import structs
from reports.stored import box, made, owned_by, store_of, subject, template

from kubectl_kres.admission.base.server import Server
from kubectl_kres.model.admission_objects import parameter_of
from kubectl_kres.policies.reports import _may_decide
from kubectl_kres.policies.reports.apply import apply_policies
from kubectl_kres.policies.reports.effects import policy_effects
from kubectl_kres.policies.reports.needs import DECIDING
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.reports.explain.difference import diff
from kubectl_kres.reports.explain.explain import analysis_of, explain
from kubectl_kres.reports.pod.needs import list_read_requests
from kubectl_kres.store.store import Coverage, ReadRequest

ASK = EvaluationOptions(Server())
PODS = {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]}
NINE = "[1,2,3,4,5,6,7,8,9]"
LABELS = {"matchLabels": {"app": "web"}}


def deployment(*containers, **spec):
    inner = template(*(containers or (box(),)), **spec)
    inner["template"]["metadata"] = {"labels": {"app": "web"}}
    return made("Deployment", "w", spec={"replicas": 1, "selector": LABELS, **inner})


def cluster_wide(kind, name, **parts):
    return {"kind": kind, "metadata": {"name": name}, **parts}


def space(**labels):
    return cluster_wide(
        "Namespace",
        "ns",
        metadata={"name": "ns", "labels": {f"pod-security.kubernetes.io/{k}": v for k, v in labels.items()}},
    )


def policy(kind, name, **spec):
    binding = {"policyName": name, **({"validationActions": ["Deny"]} if kind.startswith("V") else {})}
    return (
        cluster_wide(kind, name, spec={"matchConstraints": PODS, **spec}),
        cluster_wide(f"{kind}Binding", f"{name}-b", spec=binding),
    )


def validating(expression, **more):
    validation = {"expression": expression, **more}
    return policy("ValidatingAdmissionPolicy", "rule", validations=[validation])


def mutating(expression):
    patch = {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}
    return policy("MutatingAdmissionPolicy", "res", mutations=[patch], reinvocationPolicy="Never")


def told(*objects, ask=ASK):
    return explain(store_of(deployment(), *objects), subject("Deployment/w"), ask)


def test_nothing_else_decides():
    found = told()
    assert found.verdict.outcome == "admitted" and found.assumptions == ()


def test_pod_security_refuses_with_the_words_of_the_server():
    found = told(space(enforce="restricted"))
    assert found.verdict.outcome == "refused"
    assert found.verdict.message.startswith('pods "w" is forbidden: violates PodSecurity "restricted:latest": ')
    assert "runAsNonRoot true" in sentence_text(found.fixes[0].text)
    assert "pod-security/exemptions" in [one.code for one in found.assumptions]


def test_a_template_that_keeps_to_the_level_is_admitted():
    context = {
        "allowPrivilegeEscalation": False, "runAsNonRoot": True, "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }  # fmt: skip
    store = store_of(deployment(box(securityContext=context)), space(enforce="restricted"))
    assert explain(store, subject("Deployment/w"), ASK).verdict.outcome == "admitted"


def test_a_validating_policy_refuses_and_says_which_expression():
    found = told(*validating("object.spec.containers.all(c, has(c.resources.limits))", message="limits, please"))
    assert found.verdict.message == (
        "pods \"w\" is forbidden: ValidatingAdmissionPolicy 'rule' with binding 'rule-b' denied request: limits, please"
    )
    assert "object.spec.containers.all(c, has(c.resources.limits))" in sentence_text(found.fixes[0].text)


def test_a_mutating_policy_sets_a_value_and_is_named_for_it():
    patch = '[JSONPatch{op: "add", path: "/spec/containers/0/resources/limits", value: {"cpu": "750m"}}]'
    found = told(*mutating(patch))
    [limit] = [one for one in found.containers[0].values if one.side == "limits"]
    assert (limit.value, limit.rule) == ("750m", "policy/mutated")
    assert str(limit.source) == "MutatingAdmissionPolicy/res spec.mutations[0]"


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ('request.userInfo.username != "x"', "userInfo"),
        ("object.spec.containers.all(c, has(c.env))", "env"),
        (f"{NINE}.map(a, {NINE}.map(b, {NINE}.map(c, {NINE}.map(d, {NINE}.map(e, e)))))[0][0][0][0][0] == 1", "cost"),
    ],
)  # fmt: skip
def test_what_is_not_computed_is_named_and_leaves_the_verdict_open(expression, why):
    found = told(*validating(expression))
    assert found.verdict.outcome == "admitted-as-far-as-seen"
    [gap] = [one for one in found.unread if one.kind == "ValidatingAdmissionPolicy"]
    assert gap.name == "rule" and gap.message.startswith("not computed: ") and why in gap.message.lower() + why


@pytest.mark.parametrize(("policy_", "words"), [("Fail", "fail closed"), ("Ignore", "fail open")])
def test_webhooks_that_are_asked_are_named(policy_, words):
    hook = {"name": "a.b.c", "rules": PODS["resourceRules"], "failurePolicy": policy_}
    other = {**hook, "namespaceSelector": {"matchLabels": {"injected": "yes"}}}
    found = told(
        cluster_wide("MutatingWebhookConfiguration", "istio-sidecar-injector", webhooks=[hook]),
        cluster_wide("ValidatingWebhookConfiguration", "elsewhere", webhooks=[other]),
    )
    texts = [sentence_text(one.text) for one in found.assumptions if one.code == "webhook/not-computed"]
    assert texts == [f"webhook istio-sidecar-injector ({words}) is not computed"]


def test_a_service_account_that_is_missing_refuses():
    store = store_of(deployment(serviceAccountName="robot"))
    store.cover(ReadRequest("ServiceAccount", "ns", "robot", required=False), Coverage("read"))
    found = explain(store, subject("Deployment/w"), ASK)
    assert found.verdict.message == (
        'pods "w" is forbidden: error looking up service account ns/robot: serviceaccount "robot" not found'
    )
    assert sentence_text(found.fixes[0].text).startswith("create it (kubectl create serviceaccount robot -n ns)")


def account(**more):
    """A service account that was read."""
    metadata = {"annotations": more.pop("annotations")} if "annotations" in more else {}
    return {"kind": "ServiceAccount", "metadata": {"name": "robot", "namespace": "ns", **metadata}, **more}


def by_account(account, metadata=None, **spec):
    workload = deployment(serviceAccountName="robot", **spec)
    workload["spec"]["template"]["metadata"] = metadata or {}
    store = store_of(workload, account)
    store.cover(ReadRequest("ServiceAccount", "ns", "robot", required=False), Coverage("read"))
    return store


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"secrets": [{"name": "s"}], "imagePullSecrets": [{"name": "p"}]},
        {"automountServiceAccountToken": False},
        {"annotations": {"a": "b"}},
    ],
)
def test_a_service_account_that_is_there_decides_nothing(more):
    """The plugins are not run for it, and would not have said anything."""
    store, asked = by_account(account(**more)), subject("Deployment/w")
    analysis = analysis_of(store, asked, ASK)
    run = apply_policies(store, asked, ASK, analysis)
    assert run is not analysis
    assert not _may_decide(store, "ns", analysis.manifest.pod)
    assert [one.refusal for one in run.outcomes] == [one.refusal for one in analysis.outcomes] == [None]
    assert [one.draft for one in run.outcomes] == [one.draft for one in analysis.outcomes]
    assert (run.assumed, run.unread) == (analysis.assumed, analysis.unread) == ((), ())


def test_one_that_takes_only_its_own_secrets_refuses():
    mine = account(annotations={"kubernetes.io/enforce-mountable-secrets": "true"}, secrets=[{"name": "s"}])
    other = {"volumes": [{"name": "v", "secret": {"secretName": "other"}}]}
    found = explain(by_account(mine, **other), subject("Deployment/w"), ASK)
    assert 'volume with secret.secretName="other" is not allowed' in found.verdict.message
    mirror = {"annotations": {"kubernetes.io/config.mirror": "m"}}
    found = explain(by_account(account(), mirror), subject("Deployment/w"), ASK)
    assert "a mirror pod may not reference service accounts" in found.verdict.message


def test_what_may_not_be_read_is_said():
    store = store_of(deployment())
    need = ReadRequest("ValidatingAdmissionPolicyBinding", required=False)
    store.uncover(ReadRequest("ValidatingAdmissionPolicyBinding"))
    store.cover(need, Coverage("denied", "no"))
    found = explain(store, subject("Deployment/w"), ASK)
    assert found.verdict.outcome == "admitted-as-far-as-seen" and found.complete


def test_a_pod_that_exists_costs_no_read_more():
    store = store_of(made("Pod", "p", spec={"containers": [box()]}))
    assert not DECIDING & {need.kind for need in list_read_requests(store, subject("Pod/p"))}


def pod(name, *containers, **metadata):
    return made("Pod", name, spec={"containers": list(containers)}, **owned_by("ReplicaSet", "w-1"), **metadata)


def replica_set():
    return made(
        "ReplicaSet", "w-1", annotations={"deployment.kubernetes.io/revision": "1"}, **owned_by("Deployment", "w"),
        spec={"replicas": 1, "selector": LABELS, **template(box())},
    )  # fmt: skip


PROXY = box("proxy", {"cpu": "2"})


def test_a_container_that_all_live_pods_were_given_is_expected():
    found = told(replica_set(), pod("a", box(), PROXY), pod("b", box(), PROXY))
    assert [one.name for one in found.containers] == ["app", "proxy"]
    [value] = found.containers[1].values
    assert (value.value, value.rule, str(value.source)) == (
        "2",
        "seen/added-on-create",
        "Container/proxy on 2 of 2 pods",
    )
    assert [one.value for one in found.totals if (one.side, one.resource) == ("requests", "cpu")] == ["2"]
    plain = told(replica_set(), pod("a", box(), PROXY), ask=EvaluationOptions(Server(), seen=False))
    assert [one.name for one in plain.containers] == ["app"]


def test_a_value_that_was_rewritten_is_expected_but_not_one_that_was_resized():
    big = box("app", {"cpu": "3"})
    found = told(replica_set(), pod("a", big, generation=1))
    assert [(one.value, one.rule) for one in found.containers[0].values] == [("3", "seen/added-on-create")]
    assert told(replica_set(), pod("a", big, generation=2)).containers[0].values == ()


def test_what_would_be_stored_has_it_too_unless_it_is_left_out():
    store = store_of(deployment(), replica_set(), pod("a", box(), PROXY))
    asks = ASK, EvaluationOptions(Server(), seen=False)
    seen, plain = (str(diff(store, subject("Deployment/w"), ask)) for ask in asks)
    assert "proxy" in seen and "proxy" not in plain


def test_what_pods_were_given_keeps_to_pod_security_and_is_not_asked_for_what_is_not_read():
    context = {
        "allowPrivilegeEscalation": False, "runAsNonRoot": True, "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }  # fmt: skip
    objects = (deployment(box(securityContext=context)), replica_set(), pod("a", box(), PROXY))
    found = explain(store_of(*objects, space(enforce="restricted")), subject("Deployment/w"), ASK)
    assert found.verdict.outcome == "admitted"
    assert "containers that live pods were given keep to Pod Security" in [
        sentence_text(one.text) for one in found.assumptions
    ]
    bare = (deployment(box()), *objects[1:])
    refused = explain(store_of(*bare, space(enforce="restricted")), subject("Deployment/w"), ASK)
    assert 'container "app"' in refused.verdict.message and "proxy" not in refused.verdict.message
    policies = validating("object.spec.containers.all(c, has(c.securityContext))")
    open_ = explain(store_of(*objects, *policies), subject("Deployment/w"), ASK)
    assert open_.verdict.outcome == "admitted-as-far-as-seen"
    assert "securityContext" in open_.unread[0].message


def test_what_pods_were_given_counts_in_a_quota():
    app = box("app", {"cpu": "500m"})
    amounts = {"hard": {"requests.cpu": "3"}, "used": {"requests.cpu": "2500m"}}
    quota = made("ResourceQuota", "q", spec={"hard": amounts["hard"]}, status=amounts)
    store = store_of(deployment(app), replica_set(), pod("a", app, PROXY), quota)
    found = explain(store, subject("Deployment/w"), ASK)
    assert "exceeded quota: q, requested: requests.cpu=2500m" in found.verdict.message
    assert (sentence_text(found.fixes[0].text), found.fixes[0].proven) == ("raise requests.cpu of quota q to 5", True)


@pytest.mark.parametrize(
    ("objects", "gap"),
    [
        (policy("ValidatingAdmissionPolicy", "rule", validations=[{"expression": "true"}], newCheck={"a": 1}),
         "it has spec.newCheck"),
        ((validating("true")[0], {**validating("true")[1], "spec": {"policyName": "rule", "sampling": 5}}),
         "its binding rule-b has spec.sampling"),
        (policy("MutatingAdmissionPolicy", "rule", mutations=[{"patchType": "Merge"}], reinvocationPolicy="Never"),
         'it has spec.mutations[0].patchType "Merge"'),
    ],
)  # fmt: skip
def test_a_policy_that_is_newer_than_the_program_is_named_and_leaves_the_verdict_open(objects, gap):
    found = told(*objects)
    assert found.verdict.outcome == "admitted-as-far-as-seen"
    assert [(one.name, one.message) for one in found.unread] == [
        ("rule", f"not computed: {gap}, which is newer than this program")
    ]
    raw = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [box(image="x")]}}
    of_file = explain(store_of(space(), *objects), subject("Pod/p", raw, "p.yaml"), ASK)
    assert of_file.verdict.outcome == "admitted-as-far-as-seen"
    [effect] = policy_effects(store_of(*objects), "ns", ASK).policies
    assert effect.unknown.startswith(gap)


def test_an_expression_that_only_a_newer_server_compiles_is_not_taken_for_a_fault():
    store = store_of(deployment(), *validating("object.metadata.name.brandNew() == 'x'"))
    found = explain(store, subject("Deployment/w"), ASK)
    assert found.verdict.outcome == "refused" and "undeclared reference to 'brandNew'" in found.verdict.message
    store.origin = structs.replace(store.origin, version="v1.99.0")
    found = explain(store, subject("Deployment/w"), ASK)
    assert found.verdict.outcome == "admitted-as-far-as-seen"
    assert "spec.validations[0].expression does not compile, or is newer" in found.unread[0].message


def test_a_policy_that_does_not_compile_refuses_in_the_words_of_the_server_with_its_column():
    message = told(*validating("object.spec.x +")).verdict.message
    assert "compilation error: compilation failed: ERROR: <input>:1:16: Syntax error" in message


def test_two_bindings_with_different_parameters_refuse_each_for_itself():
    binding = cluster_wide("ValidatingAdmissionPolicyBinding", "", spec={})
    kind = {"apiVersion": "v1", "kind": "ConfigMap"}
    rule = policy("ValidatingAdmissionPolicy", "rule", paramKind=kind, validations=[
        {"expression": "params.data.allow == 'yes'", "messageExpression": "'asked by ' + params.metadata.name"},
    ])[0]  # fmt: skip
    bindings = [
        {**binding, "metadata": {"name": f"b-{name}"}, "spec": {
            "policyName": "rule", "validationActions": ["Deny"],
            "paramRef": {"name": name, "parameterNotFoundAction": "Deny"},
        }}
        for name in ("open", "shut", "barred")
    ]  # fmt: skip
    store = store_of(deployment(), rule, *bindings)
    for name, allow in (("open", "yes"), ("shut", "no")):
        raw = {**kind, "metadata": {"name": name, "namespace": "ns"}, "data": {"allow": allow}}
        store.add("ConfigMap.v1", parameter_of(raw))
    store.cover(
        ReadRequest("ConfigMap.v1", "ns", "barred", required=False), Coverage("denied", "configmaps is forbidden")
    )
    found = explain(store, subject("Deployment/w"), ASK)
    assert found.verdict.message.endswith("binding 'b-shut' denied request: asked by shut")
    [gap] = [one for one in found.unread if one.kind == "ValidatingAdmissionPolicy"]
    assert gap.name == "rule" and "its parameters (ConfigMap ns/barred) may not be read" in gap.message


HAS_MEMORY = (
    "object.spec.containers.all(c, has(c.resources) && has(c.resources.limits) && 'memory' in c.resources.limits)"
)


def test_the_values_that_a_policy_asks_for_are_tried():
    """The containers for which it holds are left as they are (open-policy-agent/gatekeeper-library#499)."""
    containers = (
        box(limits={"memory": "1Gi"}, image="i"),
        box("log", image="i"),
        box("sum", {"memory": "64Mi"}, image="i"),
    )
    store = store_of(deployment(*containers), *validating(HAS_MEMORY))
    (fix,) = explain(store, subject("Deployment/w"), ASK).fixes
    assert [(edit.container, edit.side, edit.resource, edit.to, edit.basis) for edit in fix.edits] == [
        ("log", "limits", "memory", "128Mi", "unknown"),
        ("sum", "limits", "memory", "64Mi", "request"),
    ]
    assert fix.proven and fix.commands[0].startswith("kubectl patch deployment w -n ns --type strategic ")


def test_two_kinds_of_values_and_what_no_value_mends():
    both = f"{HAS_MEMORY} && object.spec.containers.all(c, has(c.resources.requests) && 'cpu' in c.resources.requests)"
    store = store_of(deployment(box(image="i")), *validating(both))
    (fix,) = explain(store, subject("Deployment/w"), ASK).fixes
    assert [(edit.side, edit.resource) for edit in fix.edits] == [("limits", "memory"), ("requests", "cpu")]
    (other,) = told(*validating("object.metadata.name == 'other'")).fixes
    assert not other.edits and "object.metadata.name == 'other'" in sentence_text(other.text)
