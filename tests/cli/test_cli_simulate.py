"""``simulate``: what a change does, in each format, with every kind of step, and what is said of bad ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli.apiserver import Api, deployment, pod
from cli.running import Kres
from msgspec import structs
from reports.stored import store_of

from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.simulation import given_steps
from kubectl_kres.model import kinds
from kubectl_kres.simulate.change import Patch
from kubectl_kres.simulate.live import raw_of
from kubectl_kres.snapshot import read as demo
from kubectl_kres.snapshot import read as snapshots
from kubectl_kres.snapshot.write import write

SMALL = """
apiVersion: v1
kind: LimitRange
metadata: {name: small}
spec: {limits: [{type: Container, max: {cpu: 100m}}]}
"""
CHART = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec:
  replicas: 3
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec: {containers: [{name: c, image: example.test/x, resources: {requests: {cpu: 600m}}}]}
"""
QUOTA = """
apiVersion: v1
kind: ResourceQuota
metadata: {name: team}
spec: {hard: {requests.cpu: 2300m}}
"""


def written(folder: Path, *texts: str) -> Path:
    path = folder / "change.yaml"
    path.write_text("---".join(texts))
    return path


def test_nothing_changes_when_what_is_there_is_set_again(kres: Kres):
    code, out, err = kres("simulate --demo -n shop --scale deploy/storefront=4 --exit-code")
    assert (code, out, err) == (0, "Nothing changes.\n", "")


def test_whom_a_limit_range_breaks(kres: Kres, tmp_path: Path):
    code, out, err = kres(f"simulate --demo -n shop -f {written(tmp_path, SMALL)} --exit-code")
    assert (code, err) == (1, "")
    assert out.startswith("Worse:\n  shop  Deployment/storefront  4 of 4 pods, the next one is refused\n")
    assert "maximum cpu usage per Container is 100m" in out


def test_a_file_without_a_namespace_in_all_of_them(kres: Kres, tmp_path: Path):
    path = written(tmp_path, SMALL)
    one = json.loads(kres(f"simulate --demo -n shop -f {path} -o json").out)["items"][0]
    every = json.loads(kres(f"simulate --demo -A -f {path} -o json").out)["items"][0]
    spaces = {item["subject"]["namespace"] for item in every["workloads"]}
    assert {item["subject"]["namespace"] for item in one["workloads"]} == {"shop"} < spaces
    assert every["outcome"] == "worse"


def test_a_quota_that_is_lowered_is_over(kres: Kres):
    code, out, _ = kres("simulate --demo -n checkout --set quota/team:spec.hard.pods=4")
    assert code == 0
    assert "checkout  ResourceQuota/team  pods: used 6 of 12 -> used 6 of 4, over by 2" in out


def test_what_is_gone_makes_room(kres: Kres):
    _, out, _ = kres("simulate --demo -n shop --delete deploy/storefront -o diff")
    assert "- shop  Deployment/storefront: 4 of 4 pods\n" in out
    assert "+ shop  Deployment/storefront" not in out
    assert "+ shop  ResourceQuota/team requests.memory: 3392Mi of 5Gi\n" in out


def test_two_deployments_that_do_not_fit_together(kres: Kres, tmp_path: Path):
    path = written(tmp_path, QUOTA, CHART.replace("NAME", "a"), CHART.replace("NAME", "b"))
    code, out, _ = kres(f"simulate --offline -f {path} --exit-code")
    assert code == 1
    assert "Deployment/a  new: 0 to 3 of 3 pods" in out
    assert "4 outcomes are possible" in out


def test_releasing_a_claim_that_is_not_used_is_refused_in_the_webhooks_words(kres: Kres):
    code, out, _ = kres("simulate --demo -n ml-notebooks --release claim/team")
    assert code == 1
    assert "step 1 (--release claim/team): release ResourcePoolClaim/team in ml-notebooks" in out
    assert "the webhook takes the release annotation off again: the claim is unused" in out.replace("\n    ", " ")


def test_a_refused_step_is_named_and_the_rest_goes_on(kres: Kres):
    code, out, _ = kres("simulate --demo -n shop --delete deploy/none --scale deploy/storefront=1")
    assert code == 1
    assert 'step 1 (--delete deploy/none): delete Deployment/none in shop\n    deployments.apps "none" not found' in out
    assert "Deployment/storefront  4 of 4 pods -> 1 of 1 pod" in out


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        ("", "error: simulate needs a change"),
        ("pod/x", 'error: simulate takes no arguments, only flags: "pod/x"'),
        ("--scale deploy/web", 'error: invalid argument "deploy/web" for "--scale" flag: TYPE/NAME=N is expected'),
        ("--scale cronjob/web=1", "error: --scale cronjob/web=1: cronjobs.batch have no replicas to scale"),
        ("--scale deploy/a=1 --scale deploy/a=2", "error: --scale deploy/a=2 contradicts --scale deploy/a=1"),
        ("--delete deploy/a --delete deploy/a", "error: --delete deploy/a is given twice"),
        ("--delete web", 'error: invalid argument "web" for "--delete" flag: TYPE/NAME is expected'),
        ("--rollouts x", 'error: invalid argument "x" for "--rollouts" flag: a whole number from 0 to 99'),
        ("--rollouts 0", "error: simulate needs a change"),
        ("--set quota/team", 'error: invalid argument "quota/team" for "--set" flag'),
        ("--set quota/team:spec..hard=1", "the path cannot be read at column 5"),
        (
            "--set quota/team:spec.hard.pods=4 --set quota/team:spec.hard.pods=5",
            "contradicts --set quota/team:spec.hard.pods=4",
        ),
        ("--set quota/team:metadata.name=x", "metadata.name says which object it is, and is not changed"),
        ("--release pod/x", "error: --release pod/x: only claims on resource pools are released"),
        ("--to x.kres", "error: --to goes with --from FILE"),
        ("--from x.kres --scale deploy/a=1", "error: --from compares two moments: steps do not go with it"),
    ],
)
def test_bad_steps(kres: Kres, flags: str, text: str):
    code, out, err = kres(f"simulate --demo -n shop {flags}")
    assert (code, out) == (2, "")
    assert text in err
    assert "Traceback" not in err


def test_one_object_twice(kres: Kres, tmp_path: Path):
    path = written(tmp_path, QUOTA, QUOTA)
    code, _, err = kres(f"simulate --demo -n shop -f {path}")
    assert code == 2
    assert f"ResourceQuota/team is given twice, first at {path}:2" in err


def test_two_moments_compared(kres: Kres, tmp_path: Path):
    before = tmp_path / "a.kres"
    before.write_bytes(demo.demo_path().read_bytes())
    assert kres(f"simulate --from {before} --to {before}").out == "Nothing changes.\n"
    after = tmp_path / "b.kres"
    store = snapshots.read(str(before))
    quota = store.get("ResourceQuota", "team", "shop")
    store.add("ResourceQuota", structs.replace(quota, spec=structs.replace(quota.spec, hard={"pods": "4"})))
    write(store, str(after))
    code, out, _ = kres(f"simulate --from {before} --to {after} --exit-code")
    assert (code, "ResourceQuota/team  pods: used 14 of 24 -> used 14 of 4, over by 10" in out) == (1, True)


@pytest.mark.parametrize(
    ("text", "patch"),
    [
        ("quota/q:spec.hard.requests.cpu=2", {"spec": {"hard": {"requests.cpu": 2}}}),
        ("quota/q:spec.hard[requests.cpu]=2", {"spec": {"hard": {"requests.cpu": 2}}}),
        (
            "deploy/a:spec.template.spec.containers[app].resources.limits.memory=1Gi",
            {"spec": {"template": {"spec": {"containers": [
                {"name": "app", "resources": {"limits": {"memory": "1Gi"}}}]}}}},
        ),
        ("deploy/a:spec.paused=true", {"spec": {"paused": True}}),
    ],
)  # fmt: skip
def test_values_that_are_set(text: str, patch: object):
    found = given_steps(Options(), [("sets", text)], kinds.find, None)
    assert isinstance(found[0].step, Patch)
    assert found[0].step.patch == patch


REFUSED = """
apiVersion: v1
kind: ResourceQuota
metadata: {name: broken}
spec: {hard: {requests.cpuu: "1"}}
"""


def test_an_object_that_the_server_refuses_is_named_with_its_line_and_the_others_come(kres: Kres, tmp_path: Path):
    path = written(tmp_path, CHART.replace("NAME", "one"), REFUSED, SMALL)
    line = path.read_text().splitlines().index("metadata: {name: broken}") - 1
    code, out, err = kres(f"simulate --demo -n checkout -f {path}")
    assert (code, err) == (1, "")
    assert "Refused steps; the ones after them go on from the state without them:" in out
    assert f"step 1 ({path}:{line}): apply ResourceQuota/broken in checkout" in out
    assert 'ResourceQuota "broken" is invalid:' in out
    assert "maximum cpu usage per Container is 100m" in out


def test_a_step_on_what_an_earlier_one_deleted_is_refused_by_name(kres: Kres):
    code, out, _ = kres("simulate --demo -n shop --delete deploy/storefront --scale deploy/storefront=3 -o json")
    steps = json.loads(out)["items"][0]["steps"]
    assert code == 1
    assert [(step["number"], step["allowed"], step["label"]) for step in steps] == [
        (1, True, "--delete deploy/storefront"),
        (2, False, "--scale deploy/storefront=3"),
    ]


def test_what_a_file_applies_is_not_deleted_in_the_same_change(kres: Kres, tmp_path: Path):
    path = written(tmp_path, CHART.replace("NAME", "one"))
    code, out, err = kres(f"simulate --demo -n shop -f {path} --delete deploy/one")
    assert (code, out) == (2, "")
    assert f"--delete deploy/one contradicts {path}:2: nothing is left of what was applied" in err


def test_pods_whose_names_the_server_completes_are_two(kres: Kres, tmp_path: Path):
    pod = """
apiVersion: v1
kind: Pod
metadata: {generateName: p-}
spec: {containers: [{name: c, image: example.test/x}]}
"""
    code, out, _ = kres(f"simulate --offline -f {written(tmp_path, pod, pod)} -o json")
    assert code == 0
    assert len(json.loads(out)["items"][0]["workloads"]) == 2


def test_a_number_of_replicas_that_nobody_has_room_for_is_answered_at_once(kres: Kres, tmp_path: Path):
    path = written(tmp_path, CHART.replace("NAME", "huge").replace("replicas: 3", "replicas: 900000000"))
    code, out, _ = kres(f"simulate --offline -f {path}")
    assert (code, "Deployment/huge  new: 900000000 of 900000000 pods" in out) == (0, True)


RESTRICTED = """
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {pod-security.kubernetes.io/enforce: restricted}}
"""
POLICY = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: POLICY}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [GROUP], apiVersions: [v1], operations: [CREATE], resources: [KIND]}]}
  validations: [{expression: "EXPRESSION", message: not here}]
"""
BINDING = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: POLICY}
spec: {policyName: POLICY, validationActions: [Deny]}
"""


def policy(kind: str, expression: str, name: str = "small") -> str:
    text = POLICY.replace("KIND", kind).replace("EXPRESSION", expression).replace("POLICY", name)
    return text.replace("GROUP", "apps" if kind == "deployments" else '""')


def test_whom_a_label_of_pod_security_breaks(kres: Kres, tmp_path: Path):
    code, out, err = kres(f"simulate --demo -f {written(tmp_path, RESTRICTED)} --exit-code -o json")
    found = {one["subject"]["name"]: one for one in json.loads(out)["items"][0]["workloads"]}
    assert (code, err) == (1, "")
    assert found["storefront"]["nextAfter"]["message"].startswith(
        'pods "storefront-*" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false'
    )


def test_whom_an_admission_policy_breaks_and_only_once_it_is_bound(kres: Kres, tmp_path: Path):
    rule = policy("pods", "object.spec.containers.size() == 1")
    unbound = kres(f"simulate --demo -n shop -f {written(tmp_path, rule)} --exit-code")
    assert (unbound.code, unbound.out) == (0, "Nothing changes.\n")
    path = written(tmp_path, rule, BINDING.replace("POLICY", "small"))
    code, out, _ = kres(f"simulate --demo -n shop -f {path} --exit-code")
    text = "is forbidden: ValidatingAdmissionPolicy 'small' with binding 'small' denied request: not here"
    assert (code, f'pods "cart-*" {text}' in " ".join(out.split())) == (1, True)
    assert "storefront" not in out


def test_a_policy_about_workloads_refuses_those_of_the_change(kres: Kres, tmp_path: Path):
    rule = policy("deployments", "object.spec.replicas < 3")
    path = written(tmp_path, rule, BINDING.replace("POLICY", "small"), CHART.replace("NAME", "a"))
    code, out, _ = kres(f"simulate --offline -f {path}")
    assert (code, "is forbidden: ValidatingAdmissionPolicy 'small'" in " ".join(out.split())) == (1, True)


def test_a_policy_that_asks_for_what_was_not_read_is_named(kres: Kres, tmp_path: Path):
    rule = policy("pods", "object.spec.containers.all(c, !has(c.env))")
    path = written(tmp_path, rule, BINDING.replace("POLICY", "small"))
    out = " ".join(kres(f"simulate --demo -n shop -f {path}").out.split())
    assert "ValidatingAdmissionPolicy small is not computed: it asks for env, which is not read" in out


def test_a_policy_that_cannot_be_stored_is_refused_in_the_servers_words(kres: Kres, tmp_path: Path):
    path = written(tmp_path, policy("pods", "object.spec.containers ==="))
    code, out, _ = kres(f"simulate --demo -n shop -f {path}")
    assert (code, "spec.validations[0].expression: Invalid value" in " ".join(out.split())) == (1, True)


SCALER = """
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: a}
spec: {maxReplicas: 9, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}}
"""


def test_what_the_maximum_of_an_autoscaler_would_come_to(kres: Kres, tmp_path: Path):
    path = written(tmp_path, QUOTA, CHART.replace("NAME", "a"), SCALER)
    out = kres(f"simulate --offline -f {path}").out
    assert "autoscaler a: at 9 replicas 3 fit; quota team is short by 3100m of requests.cpu " in " ".join(out.split())
    (workload,) = json.loads(kres(f"simulate --offline -f {path} -o json").out)["items"][0]["workloads"]
    assert workload["autoscaledAfter"] == {
        "autoscaler": "a", "maxReplicas": 9, "fits": 3,
        "shortfalls": [{"quota": "team", "resource": "requests.cpu", "shortBy": "3100m"}],
    }  # fmt: skip


def test_a_lower_quota_is_worse_where_only_the_autoscaler_is_stopped(kres: Kres, tmp_path: Path):
    """The pods that run and the next one are as they were."""
    path = written(tmp_path, QUOTA.replace("2300m", "6"), CHART.replace("NAME", "a"), SCALER)
    snapshot = tmp_path / "before.kres"
    with path.open() as text:
        raws = [json.loads(json.dumps(raw)) for raw in yaml.safe_load_all(text)]
    store = store_of(*({**raw, "metadata": {**raw["metadata"], "namespace": "ns"}} for raw in raws))
    write(store, str(snapshot))
    code, out, _ = kres(f"simulate --snapshot {snapshot} -n ns --set quota/team:spec.hard.requests.cpu=3 --exit-code")
    assert code == 1
    assert "autoscaler a: at 9 replicas 5 fit; quota team is short by 2400m of requests.cpu, 9 of 9 before" in " ".join(
        out.split()
    )


def taking_parameters(kind: dict[str, str], expression: str, **reference: str) -> list[dict[str, Any]]:
    """A policy about pods with a parameter, and its binding."""
    pods = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    group = "admissionregistration.k8s.io/v1"
    spec = {"paramKind": kind, "matchConstraints": {"resourceRules": [pods]}, "validations": [
        {"expression": expression, "messageExpression": "'not with ' + params.metadata.name"}]}  # fmt: skip
    paramref = {"name": "limits", "parameterNotFoundAction": "Deny", **reference}
    bound = {"policyName": "no", "validationActions": ["Deny"], "paramRef": paramref}
    return [
        {"apiVersion": group, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "no"}, "spec": spec},
        {"apiVersion": group, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "no"}, "spec": bound},
    ]


CONFIG = {"apiVersion": "v1", "kind": "ConfigMap"}
OF_CONFIG = "params.data.most == '1'"


def config(most: str, namespace: str = "") -> dict[str, Any]:
    return {**CONFIG, "metadata": {"name": "limits", "namespace": namespace}, "data": {"most": most}}


def as_yaml(folder: Path, *items: dict[str, Any]) -> Path:
    return written(folder, *(f"\n{json.dumps(item)}\n" for item in items))


@pytest.mark.parametrize(
    ("there", "flags", "head", "policies_of_file"),
    [
        ("1", "-f 2", "Worse:", "Worse:"),
        ("2", "-f 1", "Better:", "Nothing changes."),
        ("", "-f 1", "Better:", "Nothing changes."),
        ("", "-f 2", "Nothing changes.", "Worse:"),
        ("1", "--delete configmap/limits", "Worse:", "Worse:"),
        ("1", "--set configmap/limits:data.most=2", "Worse:", "Worse:"),
        ("2", "--set configmap/limits:data.most=1", "Better:", "Nothing changes."),
        ("1", "--set configmap/limits:data.least=2", "Nothing changes.", "Nothing changes."),
        ("", "--delete configmap/limits", "Refused steps", "Refused steps"),
    ],
)
def test_parameters_of_policies_that_steps_change(
    kres: Kres, api: Api, tmp_path: Path, there: str, flags: str, head: str, policies_of_file: str
):
    """Where the policies are of the file, too, every pod came before."""
    policies = taking_parameters(CONFIG, OF_CONFIG)
    most = flags[3:] if flags.startswith("-f") else ""
    given = [config(most)] if most else []
    file = f"-f {as_yaml(tmp_path, *policies, *given)}"
    api.objects += [deployment("web"), *([config(there, "shop")] if there else [])]
    code, out, err = kres(f"simulate -n shop {'' if most else flags} {file}")
    assert (code, out[: len(policies_of_file)], err) == (int(head == "Refused steps"), policies_of_file, "")
    api.objects += policies
    file = f"-f {as_yaml(tmp_path, *given)}" if most else ""
    code, out, err = kres(f"simulate -n shop {'' if most else flags} {file}")
    assert (code, out[: len(head)], err) == (int(head == "Refused steps"), head, "")


@pytest.mark.parametrize("first", [True, False])
def test_parameters_of_a_file_are_there_before_its_pods(kres: Kres, tmp_path: Path, first: bool):
    """Wherever they stand in it, as Helm orders them; each pod is judged by that of its own namespace."""
    pods = [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": space},
         "spec": {"containers": [{"name": "c", "image": "i"}]}}
        for space in ("shop", "ci")
    ]  # fmt: skip
    given = [config("2", "shop"), config("1", "ci")]
    policies = taking_parameters(CONFIG, OF_CONFIG)
    file = as_yaml(tmp_path, *(given if first else ()), *policies, *pods, *(() if first else given))
    code, out, _ = kres(f"simulate --offline -f {file}")
    assert code == 1 and "not computed" not in out
    assert "Pod/p in shop" in out and "denied request: not with limits" in " ".join(out.split())
    assert "apply Pod/p in ci" not in out and "ci  Pod/p  new: 1 of 1 pod" in out


def test_a_parameter_in_another_namespace_and_in_none(kres: Kres, tmp_path: Path):
    """What a binding names elsewhere decides about the pods of all namespaces that are looked at."""
    file = as_yaml(tmp_path, *taking_parameters(CONFIG, OF_CONFIG, namespace="kube-system"), config("2", "kube-system"))
    [change] = json.loads(kres(f"simulate --demo -n shop -f {file} -o json").out)["items"]
    told = {item["subject"]["name"]: item["nextAfter"]["message"] for item in change["workloads"]}
    assert told["cart"].endswith("denied request: not with limits")
    [change] = json.loads(kres(f"simulate --demo -A -f {file} -o json").out)["items"]
    spaces = {item["subject"]["namespace"] for item in change["workloads"]}
    assert {"shop", "payments", "ml-serving"} <= spaces
    passing = written(tmp_path, file.read_text().replace('"most": "2"', '"most": "1"'))
    assert kres(f"simulate --demo -A -f {passing}").out == "Nothing changes.\n"


@pytest.mark.parametrize("kind", [{"apiVersion": "v1", "kind": "Secret"}, {"apiVersion": "v1", "kind": "Service"}])
def test_parameters_that_are_not_played_leave_the_answer_open(
    kres: Kres, api: Api, tmp_path: Path, kind: dict[str, str]
):
    api.objects += [deployment("web"), *taking_parameters(kind, "has(params.metadata)")]
    file = written(tmp_path, json.dumps({**kind, "metadata": {"name": "limits"}, "spec": {}, "data": {}}))
    code, _, err = kres(f"simulate -n shop -f {file}")
    assert code == 4
    assert "policies that take parameters from it are judged by what it was before" in " ".join(err.split())
    assert kres(f"simulate -n shop -f {written(tmp_path, json.dumps(deployment('web')))}").code == 0


def test_a_parameter_that_a_snapshot_does_not_hold(kres: Kres, tmp_path: Path):
    """Whether a kind stands in a namespace nobody can be asked, and what is not there cannot be set."""
    kind = {"apiVersion": "rules.example.com/v1", "kind": "Ceiling"}
    policies = taking_parameters(kind, "params.spec.most == '1'")
    limits = {**kind, "metadata": {"name": "limits"}, "spec": {"most": "2"}}
    code, _, err = kres(f"simulate --demo -n shop -f {as_yaml(tmp_path, *policies, limits)}")
    assert (code, "whether a Ceiling stands in a namespace is not known" in " ".join(err.split())) == (4, True)
    limits["metadata"] = {"name": "limits", "namespace": "shop"}
    code, out, _ = kres(f"simulate --demo -n shop -f {as_yaml(tmp_path, *policies, limits)}")
    assert (code, out.splitlines()[0]) == (0, "Nothing changes as far as seen.")
    assert "whether the server has its paramKind, Ceiling of rules.example.com/v1, is not known" in " ".join(
        out.split()
    )
    file = as_yaml(tmp_path, *taking_parameters(CONFIG, OF_CONFIG))
    code, _, err = kres(f"simulate --demo -n shop -f {file} --set configmap/limits:data.most=1")
    assert (code, "policies take parameters from it, and it is not read" in " ".join(err.split())) == (4, True)


def test_policies_of_the_cluster_are_read_for_two_moments_too(kres: Kres, api: Api, tmp_path: Path):
    binding = {
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "no"}, "spec": {"policyName": "no", "validationActions": ["Deny"]},
    }  # fmt: skip
    matched = {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
                                  "resources": ["pods"]}]}  # fmt: skip
    policy = {
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "no"},
        "spec": {"matchConstraints": matched, "validations": [{"expression": "false", "message": "no pods here"}]},
    }  # fmt: skip
    web = deployment("web", "1Mi")
    web["spec"]["replicas"] = 1
    api.objects += [web]
    before = tmp_path / "before.kres"
    assert kres(f"snapshot -n shop --out {before}").code == 0
    api.objects += [policy, binding]
    code, out, err = kres(f"simulate --from {before} -n shop --exit-code")
    assert code == 1, out + err
    assert "no pods here" in " ".join(out.split())


def test_autoscalers_that_may_not_be_read_are_named(kres: Kres, api: Api):
    api.objects.append(deployment("web"))
    told = "HorizontalPodAutoscalers could not be read: how far they get is not shown"
    assert told not in kres("simulate -n shop --scale deploy/web=2").out
    api.denied = {"horizontalpodautoscalers"}
    code, out, _ = kres("simulate -n shop --scale deploy/web=2")
    assert (code, told in " ".join(out.split())) == (0, True)


def test_a_webhook_goes_on_rejecting_what_it_rejects(kres: Kres):
    """As ``explain`` has it: no pods are created, however many are wanted."""
    assert kres("explain --demo -n staging deploy/scanner -o brief").out.startswith("blocked")
    out = kres("simulate --demo -n staging --scale deploy/scanner=3").out
    assert "Deployment/scanner  0 of 1 pod -> 0 of 3 pods" in out
    assert 'failed calling webhook "images.example.com"' in out


def test_a_webhook_that_cannot_be_called_rejects_every_template(kres: Kres):
    path = "deploy/scanner:spec.template.spec.containers[scanner].resources.limits.memory=128Mi"
    assert kres("simulate --demo -n staging --set", path).out == "Nothing changes.\n"
    path = "deploy/scanner:spec.template.spec.containers[scanner].image=example.test/other"
    out = kres("simulate --demo -n staging --scale deploy/scanner=2 --set", path).out
    assert "Deployment/scanner  0 of 1 pod -> 0 of 2 pods" in out


def test_what_a_webhook_says_of_another_template_is_not_known(kres: Kres, api: Api):
    """It is no better for it: the webhook may reject these pods, too."""
    told = 'admission webhook "images.example.com" denied the request: no tag'
    failed = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": told}
    api.objects.append({**deployment("web"), "status": {"conditions": [failed]}})
    out = " ".join(kres("simulate -n shop --set deploy/web:spec.template.spec.priorityClassName=").out.split())
    assert out == "Nothing changes."
    path = "deploy/web:spec.template.spec.containers[0].resources.limits.memory=128Mi"
    out = " ".join(kres("simulate -n shop --set", path).out.split())
    assert "what rejects pods of Deployment web is not asked about its other template" in out
    assert "Better" not in out
    assert "Different: shop Deployment/web 0 of" in out


def test_a_step_says_what_was_to_become_of_what(kres: Kres):
    out = kres("simulate --demo -n shop --scale deploy/nope=3").out
    assert "step 1 (--scale deploy/nope=3): scale Deployment/nope in shop to 3" in out


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("--scale deploy/storefront=3", "--set deploy/storefront:spec.replicas=2"),
        ("--set deploy/storefront:spec.replicas=2", "--scale deploy/storefront=3"),
    ],
)
def test_two_ways_to_say_how_many_replicas_contradict_each_other(kres: Kres, first: str, second: str):
    code, _, err = kres(f"simulate --demo -n shop {first} {second}")
    assert (code, err) == (2, f"error: {second} contradicts {first}: one number of replicas is expected\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("apiVersion: example.com/v1\nkind: Widget", "whether a Widget of example.com makes pods is not known"),
        (
            "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nspec: {replicatedJobs: []}",
            "what becomes of the pods of a JobSet is not simulated",
        ),
        (
            "apiVersion: tekton.dev/v1\nkind: TaskRun\nspec: {taskRef: {name: build}}",
            "what becomes of the pods of a TaskRun is not simulated",
        ),
    ],
)
def test_what_is_not_followed_leaves_the_answer_open(kres: Kres, tmp_path: Path, text: str, said: str):
    file = tmp_path / "a.yaml"
    file.write_text(f"{text}\nmetadata: {{name: a, namespace: checkout}}\n")
    found = kres(f"simulate --demo -f {file}")
    assert found.code == 4
    assert found.out == "Nothing changes as far as seen.\n"
    assert said in found.err


def test_kinds_of_the_server_that_make_no_pods_leave_nothing_open(kres: Kres, tmp_path: Path):
    file = tmp_path / "a.yaml"
    file.write_text("apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: a, namespace: checkout}\n")
    found = kres(f"simulate --demo -f {file}")
    assert (found.code, found.out) == (0, "Nothing changes.\n")


@pytest.mark.parametrize("field", ["replica", "template.spec.containers[0].resources.request.cpu"])
def test_a_field_that_is_mistyped_is_not_passed_over(kres: Kres, tmp_path: Path, field: str):
    """kubectl apply is strict; a patch goes without the field, and the server warns."""
    raw = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "typo", "namespace": "shop"},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "typo"}},
            "template": {
                "metadata": {"labels": {"app": "typo"}},
                "spec": {"containers": [{"name": "app", "image": "x", "resources": {}}]},
            },
        },
    }
    assert kres(f"simulate --demo -f {written(tmp_path, json.dumps(raw))}").code == 0
    if field == "replica":
        raw["spec"]["replica"] = 3
    else:
        raw["spec"]["template"]["spec"]["containers"][0]["resources"]["request"] = {"cpu": "1"}
    told = field.removesuffix(".cpu")
    code, out, _ = kres(f"simulate --demo -f {written(tmp_path, json.dumps(raw))}")
    assert code == 1
    assert f'strict decoding error: unknown field "spec.{told}"' in " ".join(out.split())
    code, out, _ = kres(f"simulate --demo -n shop --set deploy/cart:spec.{field.replace('[0]', '[app]')}=3")
    assert code == 0
    assert out.splitlines()[0] == "The server warns of:"
    assert out.count(f'unknown field "spec.{told}"') == 1


def test_containers_that_live_pods_were_given_count_unless_they_are_left_out(kres: Kres, api: Api) -> None:
    web = deployment("web", "256Mi")
    owner = {"controller": True, "apiVersion": "apps/v1"}
    revision = {"deployment.kubernetes.io/revision": "1"}
    of_web = [{"kind": "Deployment", "name": "web", **owner}]
    web_set = deployment("web-1", annotations=revision, ownerReferences=of_web)
    live = pod("web-1-a", "256Mi", ownerReferences=[{"kind": "ReplicaSet", "name": "web-1", **owner}])
    live["spec"]["containers"].append({"name": "proxy", "image": "p", "resources": {"limits": {"memory": "1Gi"}}})
    api.objects += [
        {**web, "spec": {**web["spec"], "replicas": 1}},
        {**web_set, "kind": "ReplicaSet", "spec": web["spec"]},
        live,
    ]
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "shop"}}
    amounts = {"hard": {"limits.memory": "4Gi"}, "used": {"limits.memory": "1280Mi"}}
    api.objects.append({**quota, "spec": {"hard": amounts["hard"]}, "status": amounts})
    out = " ".join(kres("simulate --scale deploy/web=8").out.split())
    assert "next pods are expected to get proxy: Deployment/web in shop" in out and "3 of 8" in out
    out = kres("simulate --scale deploy/web=8 --no-seen").out
    assert "proxy" not in out and "8 of 8" in out


def test_the_next_rollout_that_a_change_stalls(kres: Kres):
    code, out, _ = kres("simulate --demo -n shop --set quota/team:spec.hard.pods=14 --exit-code")
    assert code == 1
    assert out.startswith(
        "Worse:\n  shop  Deployment/recommendations  2 of 2 pods\n"
        "    its next rollout would stall at 0 of 2 updated\n"
        '    pods "recommendations-*" is forbidden: exceeded quota: team, requested:\n'
    )
    assert "rollout" not in kres("simulate --demo -n shop --set quota/team:spec.hard.pods=14 --rollouts 0").out
    back = kres("simulate --demo -n shop --set quota/team:spec.hard.requests.memory=6Gi").out
    assert "Better:\n  shop  Deployment/catalog  3 of 3 pods\n    its next rollout would complete\n" in back


@pytest.mark.thorough
def test_rollouts_at_once_are_a_change_themselves(kres: Kres):
    def stalled(flags: str) -> dict[str, list[str]]:
        [item] = json.loads(kres(f"simulate --demo {flags} -o json").out)["items"]
        return {
            change["subject"]["name"]: [ref["name"] for ref in change["rolloutAfter"].get("concurrent", ())]
            for change in item.get("workloads", ())
        }

    assert stalled("-n shop --rollouts 1") == {"catalog": [], "cart": []}
    beside = ["cart", "storefront"]
    assert stalled("-n shop --rollouts 3") == {"catalog": [], "cart": [], "recommendations": beside, "search": beside}
    assert stalled("-A --rollouts 3").items() > stalled("-n shop --rollouts 3").items()
    diff = kres("simulate --demo -n shop --rollouts 1 -o diff").out
    assert "+ shop  Deployment/cart next rollout: would stall at 0 of 2 updated\n" in diff
    brief = kres("simulate --demo -n shop --rollouts 1 -o brief").out
    assert "Deployment/catalog: 3 of 3 pods: its next rollout would stall at 0 of 3 updated" in brief


def test_a_paused_deployment_makes_nothing(kres: Kres, tmp_path: Path):
    path = written(tmp_path, CHART.replace("NAME", "a").replace("replicas: 3", "replicas: 3\n  paused: true"))
    code, out, err = kres(f"simulate --demo -n shop -f {path}")
    assert (code, err) == (0, "")
    assert "Deployment/a  new: 0 of 3 pods" in out


def test_a_pod_that_is_deleted_comes_again(kres: Kres):
    """Of those that controllers made, of one that nobody made, and of one that has ended."""
    store = snapshots.read(str(demo.demo_path()))
    pods = {pod.metadata.name: pod.metadata.namespace for pod in store.all("Pod")}

    def deleted(prefix: str) -> tuple[int, str]:
        name = next(name for name in sorted(pods) if name.startswith(prefix))
        code, out, _ = kres(f"simulate --demo -n {pods[name]} --delete pod/{name} -o json")
        [item] = json.loads(out)["items"]
        return code, " ".join(f"{change['resource']}={change['usedAfter']}" for change in item.get("quotas", ()))

    # The next one is as its LimitRanges make it now.
    assert deleted("catalog-") == (0, "limits.memory=8Gi requests.memory=4864Mi")
    assert deleted("search-0") == (0, "")
    assert deleted("import-prices-0-") == (0, "")
    assert deleted("debug-shell") == (0, "")
    assert deleted("node-agent-")[0] == 4
    out = kres("simulate --demo -n shop --delete pod/none").out
    assert 'pods "none" not found' in out


def test_a_replica_set_that_is_deleted_comes_again(kres: Kres):
    store = snapshots.read(str(demo.demo_path()))
    name = next(item.metadata.name for item in store.all("ReplicaSet", "payments") if "ledger" in item.metadata.name)
    assert kres(f"simulate --demo -n payments --delete rs/{name}").out == "Nothing changes.\n"
    out = kres(f"simulate --demo -n payments --set quota/team:spec.hard.requests.cpu=3 --delete rs/{name}").out
    assert "payments  Deployment/ledger  2 of 2 pods -> 0 of 2 pods" in out


def test_what_goes_into_a_namespace_that_is_not_there(kres: Kres, tmp_path: Path):
    code, out, _ = kres(f"simulate --demo -n nope -f {written(tmp_path, QUOTA, CHART.replace('NAME', 'a'))}")
    assert (code, out.count('namespaces "nope" not found')) == (1, 2)
    space = "\napiVersion: v1\nkind: Namespace\nmetadata: {name: nope}\n"
    code, out, _ = kres(f"simulate --demo -n nope -f {written(tmp_path, space, CHART.replace('NAME', 'a'))}")
    assert (code, "Deployment/a  new: 3 of 3 pods" in out) == (0, True)


@pytest.mark.parametrize(
    ("version", "kind"),
    [("extensions/v1beta1", "Deployment"), ("apps/v1beta1", "Deployment"), ("apps/v1", "Deploymnt")],
)
def test_a_kind_or_version_that_no_server_has(kres: Kres, tmp_path: Path, version: str, kind: str):
    text = CHART.replace("NAME", "a").replace("apps/v1", version).replace("kind: Deployment", f"kind: {kind}")
    code, out, _ = kres(f"simulate --demo -n shop -f {written(tmp_path, text)}")
    assert (code, f'no matches for kind "{kind}" in version "{version}"' in " ".join(out.split())) == (1, True)


@pytest.mark.parametrize(
    ("hook", "is_left_out"), [("test", True), ("test-success,test", True), ("post-install", False)]
)
def test_what_helm_makes_for_its_tests_is_left_out(kres: Kres, tmp_path: Path, hook: str, *, is_left_out: bool):
    pod_text = f"""
apiVersion: v1
kind: Pod
metadata: {{name: check, annotations: {{helm.sh/hook: "{hook}"}}}}
spec: {{containers: [{{name: c, image: example.test/x}}]}}
"""
    path = written(tmp_path, QUOTA, pod_text)
    out = kres(f"simulate --offline -f {path}").out
    assert ("Pod check is left out: Helm makes it for helm test alone" in out) == is_left_out
    assert ("must specify requests.cpu" in out) != is_left_out
    path = written(tmp_path, QUOTA, CHART.replace("NAME", "a"), pod_text)
    assert ("refused: Pod/check" in kres(f"explain --offline -f {path}").out) != is_left_out


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        ("--delete tenant/ml", "what Capsule makes of a Tenant is not simulated"),
        ("--delete taskrun/build-api-9c4f -n ci", "what becomes of the pods of a TaskRun is not simulated"),
        ("--delete node/a", "what a change of a Node leads to is not simulated"),
        ("--delete serviceaccount/web -n shop", "what a change of a ServiceAccount leads to is not simulated"),
        ("--delete configmap/web -n shop", "what a change of a ConfigMap leads to is not simulated"),
        ("--delete validatingwebhookconfiguration/x", "what webhooks of a ValidatingWebhookConfiguration say is not"),
    ],
)
def test_a_kind_that_is_not_followed_is_named(kres: Kres, flags: str, text: str):
    """It was "not found", or nothing changed."""
    code, out, err = kres(f"simulate --demo {flags}")
    assert (code, out) == (4, "Nothing changes as far as seen.\n")
    assert text in " ".join(err.split())


@pytest.mark.parametrize("text", ["kind: ServiceAccount\napiVersion: v1", "kind: Event\napiVersion: v1"])
def test_a_new_object_that_decides_about_nothing_leaves_nothing_open(kres: Kres, tmp_path: Path, text: str):
    path = written(tmp_path, f"\n{text}\nmetadata: {{name: a}}\n")
    code, out, err = kres(f"simulate --demo -n shop -f {path}")
    assert (code, out, err) == (0, "Nothing changes.\n", "")


def test_a_pod_of_a_file_that_is_there_already(kres: Kres, tmp_path: Path):
    """It was counted a second time."""
    metadata = "{name: debug-shell, namespace: platform}"
    text = f"\napiVersion: v1\nkind: Pod\nmetadata: {metadata}\nspec: {{containers: [{{name: c}}]}}\n"
    code, out, err = kres(f"simulate --demo -f {written(tmp_path, text)}")
    assert (code, out) == (4, "Nothing changes as far as seen.\n")
    assert "this Pod is there already, and what differs from it is not simulated" in " ".join(err.split())


def test_a_rollout_for_what_is_not_read(kres: Kres, tmp_path: Path):
    """A file that looks like what is there may change its environment, and then its rollout stalls."""
    item = snapshots.read(str(demo.demo_path())).get("Deployment", "catalog", "shop")
    raw = {**raw_of(item), "metadata": {"name": "catalog", "namespace": "shop"}, "status": {}}
    out = kres(f"simulate --demo -f {written(tmp_path, json.dumps(raw))}").out
    assert out.splitlines()[0] == "Nothing changes."
    text = (
        "if the file changes what is not read of Deployment/catalog in shop, such as env, its rollout stalls at 0 of 3"
    )
    assert text in " ".join(out.split())
    room = kres(
        f"simulate --demo -n shop --set quota/team:spec.hard.requests.memory=6Gi -f {tmp_path / 'change.yaml'}"
    ).out
    assert "not read" not in room


def test_a_rollout_that_gets_room_is_better_even_if_the_next_one_has_none(kres: Kres):
    """It was stuck before, so that nothing is lost."""
    flags = "--demo -n checkout --set quota/team:spec.hard.requests.memory=4608Mi"
    out = kres(f"simulate {flags}").out
    assert out.startswith("Better:\n  checkout  Deployment/checkout  3 of 3 pods\n")
    assert "Worse" not in out


def test_elements_of_lists_without_names_are_set_by_their_number(kres: Kres):
    limits = "simulate --demo -n shop --set limitrange/defaults:spec.limits"
    _, out, _ = kres(f"{limits}[0].defaultRequest.memory=300Mi")
    assert "log-shipper.requests.memory 192Mi -> 300Mi" in out
    assert "log-shipper.limits.memory 512Mi -> 256Mi" in kres(f"{limits}[0]=null").out
    code, _, err = kres(f"{limits}[1].max.cpu=1")
    assert (code, err.partition("=1: ")[2]) == (2, "limits has 1 element, counted from 0, and no [1]\n")


def test_amounts_of_a_claim_are_named_with_their_dots(kres: Kres):
    code, out, _ = kres("simulate --demo -n ml-training --set claim/nightly:spec.claim.requests.cpu=7")
    assert code == 1
    assert "cannot change the requested resources while claim is allocated" in " ".join(out.split())


@pytest.mark.parametrize(
    ("kind", "version", "is_refused"),
    [("Deployment", "v1", True), ("Secrt", "v1", True), ("Pod", "v2", True), ("Secret", "v1", False),
     ("ControllerRevision", "apps/v1beta1", True), ("ControllerRevision", "apps/v1", False)],
)  # fmt: skip
def test_kinds_that_no_server_has_are_refused(kres: Kres, tmp_path: Path, kind: str, version: str, is_refused: bool):
    path = written(tmp_path, json.dumps({"apiVersion": version, "kind": kind, "metadata": {"name": "a"}}))
    code, out, _ = kres(f"simulate --demo -n shop -f {path}")
    assert (code, f'no matches for kind "{kind}" in version "{version}"' in out) == (int(is_refused), is_refused)


def test_old_versions_of_what_the_server_has_are_refused(kres: Kres, api: Api, tmp_path: Path):
    """The server is asked about versions that come and go."""
    budget = {"apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget", "metadata": {"name": "a"}}
    code, out, _ = kres(f"simulate -f {written(tmp_path, json.dumps(budget))}")
    assert code == 1 and 'no matches for kind "PodDisruptionBudget" in version "policy/v1beta1"' in out


def test_a_key_that_is_given_twice_is_warned_of(kres: Kres, tmp_path: Path):
    text = QUOTA.replace("requests.cpu: 2300m", "pods: 50, pods: 60")
    _, out, err = kres(f"simulate --demo -n shop -f {written(tmp_path, text)}")
    assert "used 14 of 60" in out and 'key "pods" is given twice: as in kubectl, the last one counts' in err


def test_moments_are_compared_where_both_were_read(kres: Kres, api: Api, tmp_path: Path):
    """A namespace that is not asked about is not gone."""
    api.objects += [deployment("web", "1Mi"), deployment("api", "1Mi", namespace="far")]
    before = tmp_path / "before.kres"
    assert kres(f"snapshot -A --out {before}").code == 0
    assert kres(f"simulate --from {before} -n shop").out == "Nothing changes.\n"
    api.objects.pop()
    assert kres(f"simulate --from {before} -n shop").out == "Nothing changes.\n"
    assert "far  Deployment/api  is gone" in kres(f"simulate --from {before} -A").out


def test_the_later_moment_is_what_the_flags_name(kres: Kres):
    before = demo.demo_path()
    assert kres(f"simulate --from {before} --demo").out == "Nothing changes.\n"
    assert kres(f"simulate --from {before} --snapshot {before}").out == "Nothing changes.\n"
    for flag in ("--demo", f"--snapshot {before}"):
        code, _, err = kres(f"simulate --from {before} --to {before} {flag}")
        assert code == 2 and f"--to and {flag.split()[0]} both name the later moment" in err


def a_node(name: str, memory: str) -> dict[str, Any]:
    return {"kind": "Node", "metadata": {"name": name}, "status": {"allocatable": {"memory": memory, "pods": "9"}}}


def test_nodes_are_counted_as_quotas_are(kres: Kres, api: Api):
    """Nodes and pods are read once, and only where a pod is created."""
    api.objects += [deployment("web", "300Mi"), a_node("one", "700Mi")]
    code, out, err = kres("simulate -n shop --scale deploy/web=4 --exit-code")
    assert (code, err) == (1, "")
    assert "admitted, but 1 of 3 new pods fits no node\n    1 Insufficient memory (one)" in out
    paths = [path.partition("?")[0] for path in api.asked]
    assert paths.count("/api/v1/nodes") == paths.count("/api/v1/pods") == 1
    assert paths.count("/apis/apps/v1/namespaces/shop/deployments/web") == 1
    assert "Nodes take the 2 new pods." in kres("simulate -n shop --scale deploy/web=3").out
    del api.asked[:]
    assert kres("simulate -n shop --scale deploy/web=0").code == 0
    assert not [path for path in api.asked if "nodes" in path or path.startswith("/api/v1/pods")]


def test_nodes_that_may_not_be_read_are_a_note(kres: Kres, api: Api):
    """The exit code is that of what quotas say."""
    api.objects += [deployment("web", "300Mi")]
    api.denied = {"nodes"}
    code, out, err = kres("simulate -n shop --scale deploy/web=3 --exit-code")
    assert (code, err) == (0, "unread  nodes (no permission)\n")
    assert "whether new pods find a node is not known: nodes is forbidden" in " ".join(out.split())
    report = json.loads(kres("simulate -n shop --scale deploy/web=3 -o json").out)["items"][0]
    (unseen,) = report["unread"]
    assert (unseen["kind"], unseen["required"]) == ("Node", False)


def test_no_node_in_the_cluster_is_a_note(kres: Kres, api: Api):
    api.objects += [deployment("web", "300Mi")]
    assert "there is no node in the cluster" in " ".join(kres("simulate -n shop --scale deploy/web=3").out.split())
