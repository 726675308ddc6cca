"""A small API server over a list of objects: lists in pages, single objects, refusals."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from kubectl_kres.model.kinds import BY_KIND, KINDS

LIMITS = {
    "apiVersion": "v1",
    "kind": "LimitRange",
    "metadata": {"name": "limits", "namespace": "shop"},
    "spec": {
        "limits": [
            {
                "type": "Container",
                "default": {"memory": "512Mi"},
                "defaultRequest": {"memory": "256Mi"},
                "max": {"memory": "1Gi"},
            }
        ]
    },
}


def pod(name: str, memory: str = "", namespace: str = "shop", **metadata: Any) -> dict[str, Any]:
    """A pod of one container; its memory limit is its request too."""
    resources = {"resources": {"requests": {"memory": memory}, "limits": {"memory": memory}}} if memory else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, **metadata},
        "spec": {"containers": [{"name": "app", "image": "app", **resources}]},
        "status": {"phase": "Running"},
    }


def deployment(name: str, memory: str = "", namespace: str = "shop", **metadata: Any) -> dict[str, Any]:
    template = pod(name, memory)
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace, **metadata},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": template["spec"]},
        },
    }


class Said(NamedTuple):
    """An answer byte for byte; ``body`` is JSON unless it is bytes. ``after``: it is given from that page on."""

    code: int
    body: Any
    content_type: str = "application/json"
    headers: Mapping[str, str] = MappingProxyType({})
    after: int = 0


class Api(ThreadingHTTPServer):
    """Serves ``objects``. ``denied``: plurals, ``shop/pods`` and ``get pods``, that may not be read.

    ``warning`` goes with each answer. ``faults``: what is said of a plural instead,
    ``watched`` to every watch.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.objects: list[dict[str, Any]] = [LIMITS]
        self.denied: set[str] = set()
        self.faults: dict[str, Said] = {}
        self.watched: Said | None = None
        self.warning = ""
        self.version: dict[str, Any] = {"gitVersion": "v1.33.2"}
        self.groups: list[dict[str, Any]] = []
        self.asked: list[str] = []
        self.person: dict[str, Any] = {}
        self.before: Callable[[str], object] = lambda _path: None

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients hang up; what this would print goes to the stderr that is under test."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def answer(self, path: str, query: dict[str, str]) -> tuple[int, Any]:
        if path == "/version":
            return 200, self.version
        if path in {"/api", "/apis"}:
            return 200, {"kind": "APIGroupDiscoveryList", "items": self.groups if path == "/apis" else []}
        for kind in KINDS:
            shape = rf"{kind.root}(?:/namespaces/([^/]+))?/{kind.plural}(?:/([^/]+))?"
            if found := re.fullmatch(shape, path):
                return self._of(kind.kind, found[1] or "", found[2] or "", query)
        return 404, {"kind": "Status", "message": "the server could not find the requested resource", "code": 404}

    def _of(self, kind: str, namespace: str, name: str, query: dict[str, str]) -> tuple[int, Any]:
        plural, group = BY_KIND[kind].plural, BY_KIND[kind].group
        verb = "get" if name else "list"
        if self.denied & {plural, f"{namespace}/{plural}", f"{verb} {plural}"}:
            where = f' in the namespace "{namespace}"' if namespace else " at the cluster scope"
            what = f'{plural} is forbidden: User "eve" cannot {verb} resource "{plural}" in API group "{group}"{where}'
            return 403, {"kind": "Status", "reason": "Forbidden", "message": what, "code": 403}
        held = [
            one for one in self.objects if one["kind"] == kind and namespace in {"", one["metadata"].get("namespace")}
        ]
        if name:
            for one in held:
                if one["metadata"]["name"] == name:
                    return 200, one
            message = f'{BY_KIND[kind].qualified_name} "{name}" not found'
            return 404, {
                "kind": "Status",
                "reason": "NotFound",
                "message": message,
                "details": {"name": name},
                "code": 404,
            }
        wanted = dict(part.split("=") for part in query.get("labelSelector", "").split(",") if "=" in part)
        held = [one for one in held if wanted.items() <= (one["metadata"].get("labels") or {}).items()]
        start, limit = int(query.get("continue", 0)), int(query.get("limit", 0)) or len(held)
        more = {"continue": str(start + limit)} if start + limit < len(held) else {}
        return 200, {"kind": f"{kind}List", "metadata": more, "items": held[start : start + limit]}


class _Handler(BaseHTTPRequestHandler):
    server: Api
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # one packet an answer: a second one would wait for the first one's acknowledgement

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        self.server.asked.append(self.path)
        self.server.before(parts.path)
        query = dict(parse_qsl(parts.query))
        said = next((one for name, one in self.server.faults.items() if name in parts.path.split("/")), None)
        said = self.server.watched if "watch" in query else said
        if said is None or int(query.get("continue", 0)) < said.after:
            said = Said(*self.server.answer(parts.path, query))
        body = said.body if isinstance(said.body, bytes) else json.dumps(said.body).encode()
        self.send_response(said.code)
        self.send_header("Content-Type", said.content_type)
        self.send_header("Content-Length", str(len(body)))
        for name, value in said.headers.items():
            self.send_header(name, value)
        if self.server.warning:
            self.send_header("Warning", f'299 - "{self.server.warning}"')
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        """Who is asking: the only thing that is ever posted."""
        self.rfile.read(int(self.headers["Content-Length"]))
        known = self.path == "/apis/authentication.k8s.io/v1/selfsubjectreviews" and self.server.person
        body = json.dumps({"status": {"userInfo": self.server.person}} if known else {"kind": "Status"}).encode()
        self.send_response(201 if known else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def kubeconfig(folder: Path, url: str) -> str:
    path = folder / "kubeconfig"
    config = {
        "clusters": [{"name": "lab", "cluster": {"server": url}}],
        "contexts": [{"name": "lab", "context": {"cluster": "lab", "namespace": "shop"}}],
        "current-context": "lab",
    }
    path.write_text(json.dumps(config))
    return str(path)
