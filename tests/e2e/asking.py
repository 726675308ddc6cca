"""Requests to the real API server, and its answers in the shape that recordings and predictions have."""

from __future__ import annotations

import http.client
import json
import re
import ssl
import threading
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

from controlplane import ControlPlane

Data = Mapping[str, Any]

_PATHS = {
    "ConfigMap": "api/v1/namespaces/{}/configmaps",
    "Secret": "api/v1/namespaces/{}/secrets",
    "Service": "api/v1/namespaces/{}/services",
    "Pod": "api/v1/namespaces/{}/pods",
    "LimitRange": "api/v1/namespaces/{}/limitranges",
    "ResourceQuota": "api/v1/namespaces/{}/resourcequotas",
    "PersistentVolumeClaim": "api/v1/namespaces/{}/persistentvolumeclaims",
    "Deployment": "apis/apps/v1/namespaces/{}/deployments",
    "ReplicaSet": "apis/apps/v1/namespaces/{}/replicasets",
    "StatefulSet": "apis/apps/v1/namespaces/{}/statefulsets",
    "DaemonSet": "apis/apps/v1/namespaces/{}/daemonsets",
    "ReplicationController": "api/v1/namespaces/{}/replicationcontrollers",
    "Job": "apis/batch/v1/namespaces/{}/jobs",
    "CronJob": "apis/batch/v1/namespaces/{}/cronjobs",
    "PriorityClass": "apis/scheduling.k8s.io/v1/priorityclasses",
    "RuntimeClass": "apis/node.k8s.io/v1/runtimeclasses",
    "Namespace": "api/v1/namespaces",
    "Node": "api/v1/nodes",
    **{
        f"{kind}AdmissionPolicy{end}": f"apis/admissionregistration.k8s.io/v1/{kind.lower()}admissionpolic{plural}"
        for kind in ("Validating", "Mutating")
        for end, plural in (("", "ies"), ("Binding", "ybindings"))
    },
}
_WARNING = re.compile(r'299 \S+ "((?:[^"\\]|\\.)*)"')


class Reply(NamedTuple):
    """Status, parsed body and the texts of the warning headers."""

    status: int
    body: Data
    warnings: tuple[str, ...] = ()


class Asking:
    """One kept connection in each thread; ``with`` closes them."""

    def __init__(self, plane: ControlPlane) -> None:
        self._host, token = urlsplit(plane.url).netloc, plane.token
        self._headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "Accept": "application/json",
        }
        self._tls = ssl.create_default_context(cafile=plane.ca_file)
        self._local = threading.local()
        self._open: list[http.client.HTTPSConnection] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for connection in self._open:
            connection.close()

    def send(self, method: str, path: str, body: Any = None) -> Reply:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = http.client.HTTPSConnection(self._host, context=self._tls, timeout=60)
            self._open.append(connection)
        data = None if body is None else json.dumps(body, ensure_ascii=False, sort_keys=True).encode()
        try:
            connection.request(method, path, data, self._headers)
        except (ConnectionError, ssl.SSLError):
            # The server closes what has been idle for long: nothing was read of this request.
            connection.close()
            connection.request(method, path, data, self._headers)
        answer = connection.getresponse()
        headers = [header.encode("latin-1").decode() for header in answer.headers.get_all("Warning", ())]
        texts = [text for header in headers for text in _WARNING.findall(header)]
        warnings = tuple(sorted(re.sub(r"\\(.)", r"\1", text) for text in texts))
        return Reply(answer.status, json.loads(answer.read()), warnings)

    def create(self, object_: Data, namespace: str = "", *, dry: bool = False, strict: bool = False) -> Reply:
        """CREATE as kubectl sends it, by default (``strict``) or with ``--validate=warn``."""
        check = "Strict" if strict else "Warn"
        query = f"?fieldValidation={check}&fieldManager=kubectl-create" + ("&dryRun=All" if dry else "")
        return self.send("POST", f"/{_PATHS[object_['kind']].format(namespace)}{query}", object_)

    def put(self, object_: Data, subresource: str, *, dry: bool = False) -> Reply:
        """Writes a subresource of an object that is there."""
        meta = object_["metadata"]
        path = f"/{_PATHS[object_['kind']].format(meta['namespace'])}/{meta['name']}/{subresource}"
        return self.send("PUT", f"{path}?fieldValidation=Warn{'&dryRun=All' if dry else ''}", object_)

    def get(self, kind: str, namespace: str = "", name: str = "") -> Data:
        reply = self.send("GET", f"/{_PATHS[kind].format(namespace)}{name and f'/{name}'}")
        assert reply.status == 200, reply
        return reply.body


def answer(reply: Reply, parts: Iterable[tuple[str, ...]] = ()) -> dict[str, Any]:
    """The reply in the shape of a recording.

    ``parts``: sentences that a prediction joins. Where the message joins the same ones in another order, they are put
    into this order: the server's is arbitrary.
    """
    if reply.status < 400:
        shown: dict[str, Any] = {"allowed": True, "code": reply.status, "object": pruned(reply.body)}
    else:
        message = _reordered(reply.body["message"], parts)
        shown = {"allowed": False, "code": reply.status, "reason": reply.body.get("reason", ""), "message": message}
        causes = (reply.body.get("details") or {}).get("causes") or ()
        if causes:
            shown["causes"] = sorted(causes, key=lambda cause: (cause.get("field", ""), cause.get("message", "")))
    if reply.warnings:
        shown["warnings"] = reply.warnings
    return shown


def _reordered(message: str, candidates: Iterable[tuple[str, ...]]) -> str:
    for parts in candidates:
        head, bracket, rest = message.partition("[" + "")
        # A part may itself hold a bracket, so the list begins where the text before it ends as a prediction's does.
        while bracket:
            if rest.endswith("]") and _joins(rest[:-1], list(parts)):
                return f"{head}[{', '.join(sorted(parts))}]"
            before, bracket, rest = rest.partition("[")
            head += f"[{before}"
    return message


def _joins(text: str, parts: list[str]) -> bool:
    """Whether the text is these parts in some order, joined by a comma and a blank."""
    if not parts:
        return not text
    if len(parts) == 1:
        return text == parts[0]
    return any(
        text.startswith(f"{part}, ") and _joins(text[len(part) + 2 :], [*parts[:place], *parts[place + 1 :]])
        for place, part in enumerate(parts)
    )


def pruned(found: Data) -> dict[str, Any]:
    """The stored object as far as predictions go."""
    kind, spec, name = found["kind"], found.get("spec", {}), found["metadata"]["name"]
    metadata = {"metadata": {"name": name}}
    match kind:
        case "Pod":
            return _pod(found)
        case "LimitRange" | "ResourceQuota":
            return metadata | {"spec": spec}
        case "PersistentVolumeClaim":
            kept = ("resources", "storageClassName", "volumeAttributesClassName")
            return metadata | {"spec": {key: spec[key] for key in kept if key in spec}}
        case "Service":
            return metadata | {"spec": {"type": spec["type"], "ports": len(spec["ports"])}}
        case _:
            return metadata


def _pod(found: Data) -> dict[str, Any]:
    spec, metadata = found["spec"], {"name": found["metadata"]["name"]}
    annotation = found["metadata"].get("annotations", {}).get("kubernetes.io/limit-ranger")
    if annotation is not None:
        metadata["annotations"] = {"kubernetes.io/limit-ranger": annotation}
    kept = {key: spec[key] for key in ("resources", "overhead", "priorityClassName") if key in spec}
    for key in ("containers", "initContainers"):
        if key in spec:
            kept[key] = [_container(one) for one in spec[key]]
    return {"metadata": metadata, "spec": kept, "status": {"qosClass": found["status"]["qosClass"]}}


def _container(one: Data) -> dict[str, Any]:
    return {"name": one["name"]} | {
        key: one[key] for key in ("restartPolicy", "resources", "resizePolicy") if one.get(key)
    }
