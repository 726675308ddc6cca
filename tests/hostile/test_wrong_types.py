"""A wrong type in any object of files is one line with file, line and column, whatever stands beside it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from kubectl_kres.cli.main import entry

POD = """
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: shop}
spec: {containers: [{name: c, image: i}]}
"""
WRONG = {
    "numeric label of a Namespace": (
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {tier: 1}}",
        ':3:39: Namespace/shop: metadata.labels.tier: invalid type: got "integer", expected "string"',
    ),
    "true as a label of a pool": (
        "apiVersion: capsule.clastix.io/v1beta2\nkind: ResourcePool\nmetadata: {name: a, labels: {x: true}}",
        'ResourcePool/a: metadata.labels.x: invalid type: got "boolean", expected "string"',
    ),
    "numeric label of a claim": (
        "apiVersion: capsule.clastix.io/v1beta2\nkind: ResourcePoolClaim\nmetadata: {name: a, labels: {x: 1}}",
        'ResourcePoolClaim/a: metadata.labels.x: invalid type: got "integer", expected "string"',
    ),
    "owner's uid that is a number": (
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, ownerReferences: [{uid: 5}]}",
        "Namespace/shop: metadata.ownerReferences[0].uid: invalid type",
    ),
    "apiVersion that is a number": (
        "apiVersion: 1\nkind: LimitRange\nmetadata: {name: a}",
        ":1:13: apiVersion: a string was expected, not a number",
    ),
    "kind that is a number": ("apiVersion: v1\nkind: 0.5\nmetadata: {name: a}", ":2:7: Object 'Kind' is missing"),
    "template of another's kind": (
        (
            "apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {name: a}\n"
            "spec: {template: {metadata: {labels: {a: {}}}, spec: {containers: [{name: c, image: i}]}}}"
        ),
        ':4:42: Rollout/a: spec.template.metadata.labels.a: invalid type: got "map", expected "string"',
    ),
    "containers of another's kind": (
        "apiVersion: x.y/v1\nkind: Odd\nmetadata: {name: a}\nspec: {template: {spec: {containers: [[]]}}}",
        ':4:39: Odd/a: spec.template.spec.containers[0]: invalid type: got "array", expected "map"',
    ),
    "validations of a policy": (
        (
            "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: p}\n"
            "spec: {validations: [5]}"
        ),
        'ValidatingAdmissionPolicy/p: spec.validations[0]: invalid type: got "number", expected "map"',
    ),
}


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["/usr/bin/kubectl-kres", *words])
    return entry()


@pytest.mark.parametrize("command", ["explain", "diff", "check", "qos"])
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_type_beside_a_pod(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, command: str
):
    text, line = WRONG[name]
    file = tmp_path / "a.yaml"
    file.write_text(text + POD)
    code, said = run(monkeypatch, command, "--offline", "-f", str(file)), capsys.readouterr().err
    assert code == 4
    assert f"error: {file}:" in said and line in said and "Traceback" not in said
    assert run(monkeypatch, "simulate", "--offline", "-f", str(file)) == 2


@pytest.mark.parametrize(
    "text",
    [
        f"apiVersion: apps/v1\nkind: Od_d\nmetadata: {{name: x}}{POD}",
        f"apiVersion: apps/v1/x\nkind: Odd\nmetadata: {{name: x}}{POD}",
        (
            "apiVersion: tekton.dev/v1\nkind: TaskRun\nmetadata: {name: t}\n"
            "spec: {taskSpec: {params: [{name: p, default: [1, 0.5]}], steps: [{name: s, image: i}]}}"
        ),
        (
            'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {resources: {limits: {memory: "-1"}}, '
            "initContainers: [{name: i, image: i}], "
            'containers: [{name: c, image: i, resources: {requests: {memory: "3"}}}]}'
        ),
    ],
    ids=["kind with an underscore", "version with two slashes", "fraction in a list", "negative limit of a pod"],
)
def test_odd_objects_are_answered_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str
):
    file = tmp_path / "a.yaml"
    file.write_text(text)
    for command in ("explain", "check"):
        code, said = run(monkeypatch, command, "--offline", "-f", str(file)), capsys.readouterr().err
        assert code in {0, 1, 4} and "Traceback" not in said, said


@pytest.mark.parametrize("command", ["diff", "qos"])
@pytest.mark.parametrize("amount", ["[]", "bad!", "{a: 1}"])
@pytest.mark.parametrize("kind", ["LimitRange", "ResourceQuota"])
def test_a_policy_of_a_file_that_bounds_nothing_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    kind: str, amount: str, command: str,
):  # fmt: skip
    """No server stores it, so that what it would do to the pods beside it is not in the answer."""
    spec = (
        f"{{limits: [{{type: Container, max: {{cpu: {amount}}}}}]}}"
        if kind == "LimitRange"
        else f"{{hard: {{cpu: {amount}}}}}"
    )
    file = tmp_path / "a.yaml"
    file.write_text(f"apiVersion: v1\nkind: {kind}\nmetadata: {{name: a, namespace: shop}}\nspec: {spec}{POD}")
    assert run(monkeypatch, command, "--offline", "-f", str(file)) == 4
    assert re.search(
        rf'^error: {file}:4:\d+: {kind}/a: {kind} in version "v1" cannot be handled', capsys.readouterr().err
    )


@pytest.mark.parametrize(
    "head",
    ["apiVersion: 'true'\nkind: Pod", "apiVersion: a/v1\nkind: Pod"],
)
@pytest.mark.parametrize("command", ["explain", "diff", "check", "qos"])
def test_a_pod_of_a_version_that_no_server_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    head: str, command: str,
):  # fmt: skip
    file = tmp_path / "a.yaml"
    file.write_text(
        f"{head}\nmetadata: {{name: a}}\nspec: {{containers: {{}}}}{POD}{POD.replace('name: p,', 'name: q,')}"
    )
    assert run(monkeypatch, command, "--offline", "-f", str(file)) == 4
    said = capsys.readouterr().err
    assert f'{file}:4:20: Pod/a: spec.containers: invalid type: got "map", expected "array"' in said


def test_a_file_of_wrong_types_alone_is_no_file_without_workloads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    text, line = WRONG["containers of another's kind"]
    file = tmp_path / "a.yaml"
    file.write_text(text)
    for command in ("explain", "diff", "check", "simulate", "qos"):
        assert run(monkeypatch, command, "--offline", "-f", str(file)) == 2
        assert line in capsys.readouterr().err
