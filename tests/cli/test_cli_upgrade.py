"""``simulate --kube-version``: what is answered otherwise, why, and with which exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from cli.apiserver import Api, deployment
from cli.running import Kres

FILE = Path(__file__).parents[1] / "golden" / "upgrade.yaml"
ASKED = f"simulate -f {FILE} --offline --kube-version 1.37"


def test_the_worst_comes_first(kres: Kres):
    code, out, _ = kres(f"{ASKED} --exit-code")
    text = " ".join(out.split())
    assert code == 1
    assert "Kubernetes 1.36 -> 1.37: 2 workloads get another answer" in text
    assert text.index("refused then: shop/Deployment/web") < text.index("another QoS class: shop/Pod/qos")
    assert "exceeded quota: q, requested: limits.memory=1Gi" in text
    assert "why: a pod-level limit is filled in where every container has one" in text
    assert "alike" not in text
    assert "assumed: the objects are now on Kubernetes 1.36, the version before" in text


def test_it_is_no_failure_without_the_flag(kres: Kres):
    assert kres(ASKED).code == 0


def test_json_names_the_changes(kres: Kres):
    document = json.loads(kres(f"{ASKED} -o json").out)
    (report,) = document["items"]
    assert (document["kind"], report["before"], report["after"]) == ("Upgrade", "1.36", "1.37")
    assert [(change["effect"], change["reasons"]) for change in report["workloads"]] == [
        ("refused", ["pod-level/limit-from-containers"]),
        ("class", ["qos/empty-pod-level"]),
    ]
    assert "qos/not-brought" in report["elsewhere"]


def test_wide_names_what_touches_nothing(kres: Kres):
    assert "-o wide names them" in kres(ASKED).out
    assert "messages: equal causes of a refusal are listed once" in kres(f"{ASKED} -o wide").out


def test_a_snapshot_that_is_there_already(kres: Kres):
    out = kres("simulate --demo --kube-version 1.36").out
    assert "already Kubernetes 1.36: nothing changes" in out


def test_other_steps_are_played_by_the_version(kres: Kres):
    out = kres("simulate --demo -n shop --scale deploy/storefront=9 --kube-version 1.37").out
    assert "Kubernetes 1.36 ->" not in out


@pytest.mark.parametrize("version", ["1.20", "1.99"])
def test_a_version_without_rules(kres: Kres, version: str):
    code, _, err = kres(f"simulate --demo --kube-version {version}")
    assert code == 2
    assert f"--kube-version {version}: rules are known of Kubernetes 1.27 to 1.37" in err


POLICY = """
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: jp}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  mutations:
  - patchType: JSONPatch
    jsonPatch: {expression: '[JSONPatch{op: "add", path: "/spec/initContainers", value: [Object.spec.initContainers{
      name: "proxy", image: "envoy", restartPolicy: "Always"}]}]'}
  reinvocationPolicy: Never
  failurePolicy: Fail
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: jp}
spec: {policyName: jp}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: deny}
spec:
  failurePolicy: Fail
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  validations: [{expression: "object.metadata.name != 'two'", message: "no two"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: deny}
spec: {policyName: deny, validationActions: [Deny]}
---
apiVersion: v1
kind: Pod
metadata: {name: one, namespace: shop}
spec: {containers: [{name: c, image: x}]}
---
apiVersion: v1
kind: Pod
metadata: {name: two, namespace: shop}
spec: {containers: [{name: c, image: x}]}
"""


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "policy.yaml"
    path.write_text(POLICY)
    return path


def test_a_policy_at_which_the_connection_drops_is_a_verdict_of_its_own(kres: Kres, policy: Path):
    code, out, _ = kres(f"explain -f {policy} --offline --kube-version 1.36 --exit-code -o json")
    verdicts = [item["verdict"] for item in json.loads(out)["items"] if "verdict" in item]
    assert code == 1
    assert [(verdict["allowed"], verdict["code"], verdict["outcome"]) for verdict in verdicts] == [
        (False, 0, "no-answer"), (False, 0, "no-answer"),
    ]  # fmt: skip
    rules = [[finding["rule"] for finding in verdict["findings"]] for verdict in verdicts]
    assert rules == [["policy/no-answer"], ["policy/no-answer", "policy/denied"]]
    listed = kres(f"explain -f {policy} --offline --kube-version 1.36").out
    assert listed.count("no-answer") >= 2 and "no two" in listed
    after = kres(f"explain -f {policy} --offline --kube-version 1.37").out
    assert "no-answer" not in after and "admitted" in after and "no two" in after


def test_that_policy_is_a_change_of_the_upgrade(kres: Kres, policy: Path):
    text = " ".join(kres(f"simulate -f {policy} --offline --kube-version 1.37").out.split())
    assert "admitted then: MutatingAdmissionPolicy/jp before: drops the connection (2 workloads)" in text
    assert "a JSONPatch may set a list of Object values" in text


@pytest.mark.parametrize(
    ("version", "drops"),
    [
        ({"gitVersion": "v1.36.3"}, True),
        ({"gitVersion": "v1.37.2", "emulationMajor": "1", "emulationMinor": "36"}, False),
    ],
    ids=["a program of 1.36", "one of 1.37 that emulates 1.36"],
)
def test_what_the_program_does_it_does_as_well_where_it_emulates(
    kres: Kres, api: Api, version: dict[str, str], drops: bool
):
    api.version = version
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}, "status": {"phase": "Active"}}
    policies = [item for item in yaml.safe_load_all(POLICY) if item["kind"] != "Pod"]
    api.objects[:] = [*policies, space, deployment("web")]
    out = kres("simulate -n shop --kube-version 1.37").out
    assert ("drops the connection" in out) is drops, out


@pytest.mark.parametrize(
    "command",
    [
        "explain deploy -n checkout",
        "check",
        "qos -n shop",
        "quota",
        "overview",
        "claims",
        "explain ns/shop",
        "quota --fit deploy/checkout",
    ],
)
def test_every_face_ends_with_what_is_supposed_about_a_newer_server(kres: Kres, command: str):
    _, out, err = kres(f"{command} --demo --kube-version 1.50")
    text = " ".join(f"{out}\n{err}".split())
    assert (
        text.count("Kubernetes 1.50 is newer than the rules known here: those of 1.37 are used; answers may differ in")
        >= 1
    )
    document = json.loads(kres(f"{command} --demo --kube-version 1.50 -o json").out)
    assert "answers may differ in pod defaults" in document["metadata"]["assumed"]
