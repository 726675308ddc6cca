"""Answers about a file's PipelineRun where tekton-kueue's webhook puts it into a queue."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli.apiserver import Api
from cli.running import Kres

GROUP = "kueue.x-k8s.io/v1beta2"


def _cluster(expressions: list[str], **webhook: Any) -> list[dict[str, Any]]:
    """A queue with room for one machine, and tekton-kueue with these expressions."""
    config = json.dumps({"queueName": "q", "cel": {"expressions": expressions}})
    rule = {"apiGroups": ["tekton.dev"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pipelineruns"]}
    hook = {"name": "pipelinerun-kueue-defaulter.tekton-kueue.io", "rules": [rule], **webhook}
    quotas = [{"name": "tekton.dev/pipelineruns", "nominalQuota": "3"}, {"name": "aws-vm-x", "nominalQuota": "1"}]
    covered = [quota["name"] for quota in quotas]
    group = {"coveredResources": covered, "flavors": [{"name": "f", "resources": quotas}]}
    active = {"type": "Active", "status": "True", "reason": "Ready", "message": ""}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"team": "a"}}},
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "MutatingWebhookConfiguration",
            "metadata": {"name": "tekton-kueue"},
            "webhooks": [hook],
        },
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "tekton-kueue-config", "namespace": "tekton-kueue"},
            "data": {"config.yaml": config},
        },
        {"apiVersion": GROUP, "kind": "LocalQueue", "metadata": {"name": "q", "namespace": "shop"},
         "spec": {"clusterQueue": "cq"}},
        {"apiVersion": GROUP, "kind": "WorkloadPriorityClass", "metadata": {"name": "high"}, "value": 100},
        {"apiVersion": GROUP, "kind": "ResourceFlavor", "metadata": {"name": "f"}, "spec": {}},
        {"apiVersion": GROUP, "kind": "ClusterQueue", "metadata": {"name": "cq"},
         "spec": {"namespaceSelector": {}, "resourceGroups": [group]}, "status": {"conditions": [active]}},
    ]  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A file with a run that says nothing of queues."""
    step = {"name": "s", "image": "i"}
    spec = {"pipelineSpec": {"tasks": [{"name": "a", "taskSpec": {"steps": [step]}}]}}
    path = tmp_path / "run.yaml"
    raw = {"apiVersion": "tekton.dev/v1", "kind": "PipelineRun", "metadata": {"name": "r", "namespace": "shop"}}
    path.write_text(json.dumps({**raw, "spec": spec}))
    return path


def explained(kres: Kres, run: Path) -> str:
    return " ".join(kres(f"explain -f {run} --all").out.split())


def test_a_new_run_waits_in_the_queue_of_the_configuration(kres: Kres, api: Api, run: Path):
    api.objects = _cluster(['resource("aws-vm-x", 1)', 'resource("aws-vm-x", 1)', 'priority("high")'])
    out = explained(kres, run)
    assert "waits: it asks for more than flavor f of ClusterQueue cq can have: aws-vm-x 2 (at most 1)" in out
    assert "charged aws-vm-x 2, tekton.dev/pipelineruns 1" in out
    assert (
        "start a run whose annotation kueue.konflux-ci.dev/requests-aws-vm-x is 1 once it is created (expressions of "
        "ConfigMap tekton-kueue-config add to it): it is admitted then"
    ) in out


def test_a_new_run_with_room_is_admitted_there(kres: Kres, api: Api, run: Path):
    api.objects = _cluster(['plrNamespace == "shop" ? resource("aws-vm-x", 1) : resource("aws-vm-x", 9)'])
    out = explained(kres, run)
    assert "queue q, place 1 of 1 of ClusterQueue cq: room in flavor f" in out
    assert "charged aws-vm-x 1, tekton.dev/pipelineruns 1" in out


def test_a_priority_class_that_an_expression_names_and_is_not_there(kres: Kres, api: Api, run: Path):
    api.objects = _cluster(['priority("hihg")'])
    assert "WorkloadPriorityClass hihg does not exist, did you mean high?" in explained(kres, run)


def test_an_expression_that_fails_refuses_the_run(kres: Kres, api: Api, run: Path):
    api.objects = _cluster(['resource("aws-vm-x", pipelineRun.spec.params.size())'])
    out = explained(kres, run)
    assert "tekton-kueue refuses the run: failed to evaluate CEL expression" in out
    assert "no such key: params" in out


@pytest.mark.parametrize(
    "webhook", [{"namespaceSelector": {"matchLabels": {"team": "b"}}}, {"name": "another.webhook"}]
)
def test_where_the_webhook_is_not_asked_the_run_is_as_sent(kres: Kres, api: Api, run: Path, webhook: dict[str, Any]):
    api.objects = _cluster(['resource("aws-vm-x", 2)'], **webhook)
    out = explained(kres, run)
    assert "admitted" in out and "queue" not in out and "charged" not in out


@pytest.mark.parametrize(
    ("expression", "denied", "why"),
    [
        ('resource("aws-vm-x", 2)', {"get configmaps"}, "could not be read"),
        ('nothing("aws-vm-x", 2)', set(), "is not taken: nothing("),
        ('"text"', set(), 'is not taken: "text": it gives no change, nor a list of them'),
    ],
)
def test_where_its_configuration_is_not_known_the_queue_is_not(
    kres: Kres, api: Api, run: Path, expression: str, denied: set[str], why: str
):
    api.objects = _cluster([expression])
    api.denied = denied
    where = "ConfigMap tekton-kueue-config of namespace tekton-kueue"
    assert f"tekton-kueue puts new runs into a queue, which one is not known: {where} {why}" in explained(kres, run)


def test_without_the_webhook_its_configuration_is_not_asked_for(kres: Kres, api: Api, run: Path):
    api.objects = [each for each in _cluster([]) if each["kind"] != "MutatingWebhookConfiguration"]
    kres(f"explain -f {run}")
    assert not [path for path in api.asked if "tekton-kueue" in path or "kueue.x-k8s.io" in path]
