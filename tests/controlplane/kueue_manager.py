"""Kueue's manager on a control plane: the real one, unchanged, with the definitions and webhooks of its release.

It makes its own certificate, as in a cluster. What a kubelet would mount for it is written here, and a Service that is
another name of this machine leads the API server to it.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import build
import yaml
from controlplane import HOST, ControlPlane, StartError, free_port, http_ok

SPACE, SERVICE, SECRET = "kueue-system", "kueue-webhook-service", "kueue-webhook-server-cert"
FRAMEWORKS = ("batch/job", "pod", "deployment", "statefulset")
CONVERTED = ("localqueues", "clusterqueues", "cohorts", "workloads", "multikueueclusters")
"""Kinds of which there are two versions, between which the manager converts."""
NAMES = {
    "MutatingWebhookConfiguration": "kueue-mutating-webhook-configuration",
    "ValidatingWebhookConfiguration": "kueue-validating-webhook-configuration",
}


def start(plane: ControlPlane, folder: Path) -> None:
    """Install Kueue of a folder of ``build.kueue`` and start it; it ends with the control plane. Raises StartError."""
    port, health, certificates = free_port(), free_port(), plane.folder / "kueue"
    certificates.mkdir()
    for path, raw in _objects(folder / build.DEFINITIONS, port):
        status, answer = plane.request("POST", path, raw)
        if status != 201:
            raise StartError(f"{raw['kind']} {raw['metadata']['name']}: {answer}")
    config = plane.folder / "kueue.yaml"
    config.write_text(yaml.safe_dump(_configuration(port, health, certificates)))
    flags = [f"--config={config}", f"--kubeconfig={plane.kubeconfig}", "--feature-gates=VisibilityOnDemand=false"]
    plane.spawn(folder / "kueue", flags)
    plane.wait("kueue", lambda: _mounted(plane, certificates))
    plane.wait("kueue", lambda: http_ok(f"http://{HOST}:{health}/readyz"))


def _objects(definitions: Path, port: int) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "/api/v1/namespaces", {"kind": "Namespace", "metadata": {"name": SPACE}}
    secret = {"kind": "Secret", "metadata": {"name": SECRET}}
    yield f"/api/v1/namespaces/{SPACE}/secrets", secret
    spec = {"type": "ExternalName", "externalName": "localhost"}
    yield f"/api/v1/namespaces/{SPACE}/services", {"kind": "Service", "metadata": {"name": SERVICE}, "spec": spec}
    service = {"name": SERVICE, "namespace": SPACE, "port": port}
    for file in sorted((definitions / "crd" / "bases").glob("*.yaml")):
        raw = yaml.safe_load(file.read_text())
        if raw["spec"]["names"]["plural"] in CONVERTED:
            client = {"service": {**service, "path": "/convert"}}
            webhook = {"clientConfig": client, "conversionReviewVersions": ["v1"]}
            raw["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
        yield "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", raw
    for raw in filter(None, yaml.safe_load_all((definitions / "webhook" / "manifests.yaml").read_text())):
        for webhook in raw["webhooks"]:
            webhook["clientConfig"]["service"].update(service)
        raw["metadata"]["name"] = NAMES[raw["kind"]]
        yield f"/apis/admissionregistration.k8s.io/v1/{raw['kind'].lower()}s", raw


def _configuration(port: int, health: int, certificates: Path) -> dict[str, Any]:
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "namespace": SPACE,
        "health": {"healthProbeBindAddress": f"{HOST}:{health}"},
        "metrics": {"bindAddress": "0"},
        "webhook": {"host": HOST, "port": port, "certDir": str(certificates)},
        "leaderElection": {"leaderElect": False},
        "clientConnection": {"qps": 300, "burst": 500},
        "internalCertManagement": {"enable": True, "webhookServiceName": SERVICE, "webhookSecretName": SECRET},
        "integrations": {"frameworks": list(FRAMEWORKS)},
    }


def _mounted(plane: ControlPlane, certificates: Path) -> bool:
    """Write what the Secret holds into the folder that the manager looks into; whether it holds a certificate."""
    _, secret = plane.request("GET", f"/api/v1/namespaces/{SPACE}/secrets/{SECRET}")
    data = secret.get("data") or {}
    for name, content in data.items():
        (certificates / name).write_bytes(base64.b64decode(content))
    return "tls.crt" in data
