"""What an answer takes for granted is said of runs and claims as of Deployments, in short answers and tables, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from cli.running import Kres
from cli.test_capsule_situations import NAMESPACE, _snapshot, tenant

_RULES = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
           "resources": ["pods", "persistentvolumeclaims"], "scope": "*"}]  # fmt: skip
_GATE = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingWebhookConfiguration",
    "metadata": {"name": "gate"},
    "webhooks": [{"name": "gate.example", "failurePolicy": "Fail", "rules": _RULES, "sideEffects": "None",
                  "admissionReviewVersions": ["v1"], "clientConfig": {"url": "https://gate.example"}}],
}  # fmt: skip
_STEPS = {"steps": [{"name": "s", "image": "i"}]}


def _object(kind: str, version: str, namespace: str = "oven", **spec: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "x", "namespace": namespace}, "spec": spec}


_SENT = {
    "run": _object("TaskRun", "tekton.dev/v1", taskSpec=_STEPS),
    "pipeline": _object("PipelineRun", "tekton.dev/v1", pipelineSpec={"tasks": [{"name": "a", "taskSpec": _STEPS}]}),
    "claim": _object(
        "PersistentVolumeClaim", "v1", accessModes=["ReadWriteOnce"], resources={"requests": {"storage": "1Gi"}}
    ),
}


@pytest.mark.parametrize("output", ["text", "brief"])
@pytest.mark.parametrize("name", _SENT)
def test_webhooks_about_runs_and_claims_are_named(
    kres: Kres, file: Callable[..., str], tmp_path: Any, name: str, output: str
) -> None:
    snapshot = _snapshot(kres, file, tmp_path, NAMESPACE, _GATE)
    done = kres(f"explain -f {file(_SENT[name], name='ask.json')} --snapshot {snapshot} -o {output}")
    assert "webhook gate (fail closed) is not computed" in " ".join(done.out.split())


def test_a_cordoned_tenant_is_said_below_a_table(kres: Kres, file: Callable[..., str], tmp_path: Any) -> None:
    snapshot = _snapshot(kres, file, tmp_path, NAMESPACE, tenant(cordoned=True))
    done = kres(f"explain -f {file(*_SENT.values(), name='ask.json')} --snapshot {snapshot}")
    assert done.out.count("Tenant/bakery is cordoned") == 1


@pytest.mark.parametrize("name", ["run", "pipeline"])
def test_runs_need_their_namespace(kres: Kres, file: Callable[..., str], tmp_path: Any, name: str) -> None:
    snapshot = _snapshot(kres, file, tmp_path, NAMESPACE)
    sent = {**_SENT[name], "metadata": {"name": "x", "namespace": "mills"}}
    done = kres(f"explain -f {file(sent, name='ask.json')} --snapshot {snapshot}")
    assert 'namespaces "mills" not found' in done.out
    assert "kubectl create namespace mills" in " ".join(done.out.split())
