"""Webhooks on loopback, with the certificate of the control plane that asks them: one adds a container, one counts."""

from __future__ import annotations

import base64
import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from controlplane import HOST, ControlPlane

#: What it adds to every pod, and what it writes over a limit.
PROXY = {"name": "proxy", "image": "proxy:1", "resources": {"limits": {"cpu": "2", "memory": "64Mi"}}}
REWRITTEN = "300Mi"
#: What the one that counts pods over all namespaces says of every pod.
FULL = "exceeded quota: pool, requested: pods=1, used: pods=40, limited: pods=40"


@contextmanager
def injector(plane: ControlPlane) -> Iterator[str]:
    """Its URL while it runs."""
    server = ThreadingHTTPServer((HOST, 0), _Handler)
    server.daemon_threads = True
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(plane.ca_file, plane.folder / "apiserver.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"https://{HOST}:{server.server_port}/mutate"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def configuration(plane: ControlPlane, name: str, url: str, namespace: str, policy: str) -> dict[str, Any]:
    """That the webhook is asked about new pods of a namespace."""
    authority = base64.b64encode(plane.ca_file.read_bytes()).decode()
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    hook = {
        "name": "inject.example.com", "clientConfig": {"url": url, "caBundle": authority}, "rules": [rule],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}, "sideEffects": "None",
        "admissionReviewVersions": ["v1"], "failurePolicy": policy, "timeoutSeconds": 5,
    }  # fmt: skip
    return {
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": name}, "webhooks": [hook],
    }  # fmt: skip


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.startswith("/quota"):
            self._answer(review, {"allowed": False, "status": {"code": 403, "message": FULL}})
            return
        pod = review["request"]["object"]
        patch = [{"op": "add", "path": "/spec/containers/-", "value": PROXY}]
        if "memory" in pod["spec"]["containers"][0].get("resources", {}).get("limits", {}):
            place = "/spec/containers/0/resources/limits/memory"
            patch.append({"op": "replace", "path": place, "value": REWRITTEN})
        encoded = base64.b64encode(json.dumps(patch).encode()).decode()
        self._answer(review, {"allowed": True, "patchType": "JSONPatch", "patch": encoded})

    def _answer(self, review: dict[str, Any], given: dict[str, Any]) -> None:
        response = {"uid": review["request"]["uid"], **given}
        body = json.dumps({"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response})
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""
