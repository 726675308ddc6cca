"""The admission controller of the vertical autoscaler, built from its Go module, before a real API server."""

from __future__ import annotations

import base64
import fcntl
import hashlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "controlplane"))

import build  # noqa: E402, the path is set above
import yaml  # noqa: E402
from controlplane import HOST, ControlPlane, free_port  # noqa: E402
from settling import send, until  # noqa: E402

MODULE = "k8s.io/autoscaler/vertical-pod-autoscaler"
VPAS = "/apis/autoscaling.k8s.io/v1"
HOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
KINDS = {
    "Deployment": "apps", "ReplicaSet": "apps", "StatefulSet": "apps", "DaemonSet": "apps", "Job": "batch",
}  # fmt: skip
#: Seconds.
_SETTLED = 90
KEPT = ("name", "namespace", "uid", "creationTimestamp", "resourceVersion", "ownerReferences")
LABELS = {"app": "app"}


def binary(name: str = "admission-controller") -> Path:
    """The program, built once for each state of go.mod and go.sum. Raises NoBinaryError where there is no Go."""
    digest = hashlib.sha256(b"".join((HERE / file).read_bytes() for file in ("go.mod", "go.sum"))).hexdigest()[:12]
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = home / "kubectl-kres" / "vpa" / digest
    path = folder / name
    if path.exists():
        return path
    go = build.usable_go(list(build.BINARIES[:1]))
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            words = [go, "build", "-mod=readonly", "-buildvcs=false", "-ldflags=-s -w", "-o", f"{path}.new"]
            done = subprocess.run(
                [*words, f"{MODULE}/pkg/{name}"], cwd=HERE, env=build.go_environment(), capture_output=True, text=True,
                check=False,
            )  # fmt: skip
            if done.returncode:
                raise build.NoBinaryError(f"{name} does not build: {done.stderr.strip()[-300:]}")
            Path(f"{path}.new").replace(path)
    return path


def definitions() -> list[dict[str, Any]]:
    """The CustomResourceDefinitions of the module."""
    words = ["go", "list", "-m", "-f", "{{.Dir}}", MODULE]
    done = subprocess.run(words, cwd=HERE, env=build.go_environment(), capture_output=True, text=True, check=True)
    return list(yaml.safe_load_all((Path(done.stdout.strip()) / "deploy" / "vpa-v1-crd-gen.yaml").read_text()))


def install(plane: ControlPlane) -> None:
    """Let the server serve the kinds of the autoscaler."""
    for definition in filter(None, definitions()):
        send(plane, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
    until(lambda: plane.request("GET", f"{VPAS}/verticalpodautoscalers?limit=1")[0] == 200, _SETTLED)


@contextmanager
def serving(plane: ControlPlane, *, boost: bool = False, fails: bool = False) -> Iterator[None]:
    """The webhook, registered as the admission controller does it itself. ``boost``: with CPUStartupBoost."""
    program, port = binary(), free_port()
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        certificate(folder)
        words = [
            program, f"--kubeconfig={plane.kubeconfig}", "--register-webhook=false", f"--port={port}",
            f"--address={HOST}:{free_port()}", f"--client-ca-file={folder}/crt", f"--tls-cert-file={folder}/crt",
            f"--tls-private-key={folder}/key", f"--feature-gates=CPUStartupBoost={str(boost).lower()}",
            "--kube-api-qps=100", "--kube-api-burst=100",
        ]  # fmt: skip
        log = plane.folder / f"vpa-{boost}.log"
        with log.open("wb") as output, subprocess.Popen(map(str, words), stderr=output, stdout=output) as process:
            try:
                until(lambda: answers(port), _SETTLED)
                register(plane, port, (folder / "crt").read_bytes(), fails=fails)
                yield
            except BaseException:
                print(log.read_text()[-3000:], file=sys.stderr)
                raise
            finally:
                plane.request("DELETE", f"{HOOKS}/vpa-webhook-config")
                process.terminate()


@contextmanager
def updating(plane: ControlPlane) -> Iterator[None]:
    """The updater, as shipped but for its interval of a minute."""
    words = [
        binary("updater"), f"--kubeconfig={plane.kubeconfig}", "--updater-interval=2s",
        "--use-admission-controller-status=false", f"--address={HOST}:{free_port()}",
    ]  # fmt: skip
    log = plane.folder / "vpa-updater.log"
    with log.open("wb") as output, subprocess.Popen(map(str, words), stderr=output, stdout=output) as process:
        try:
            yield
        except BaseException:
            print(log.read_text()[-3000:], file=sys.stderr)
            raise
        finally:
            process.terminate()


def certificate(folder: Path) -> None:
    words = [
        "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=vpa",
        "-addext", f"subjectAltName=IP:{HOST}", "-keyout", str(folder / "key"), "-out", str(folder / "crt"),
    ]  # fmt: skip
    subprocess.run(words, check=True, capture_output=True)


def answers(port: int) -> bool:
    try:
        socket.create_connection((HOST, port), 1).close()
    except OSError:
        return False
    return True


def register(plane: ControlPlane, port: int, authority: bytes, *, fails: bool) -> None:
    hook = {
        "name": "vpa.k8s.io", "admissionReviewVersions": ["v1"], "sideEffects": "None", "timeoutSeconds": 30,
        "clientConfig": {"url": f"https://{HOST}:{port}/", "caBundle": base64.b64encode(authority).decode()},
        "failurePolicy": "Fail" if fails else "Ignore",
        "rules": [
            {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]},
            {
                "apiGroups": ["autoscaling.k8s.io"], "apiVersions": ["*"], "operations": ["CREATE", "UPDATE"],
                "resources": ["verticalpodautoscalers"],
            },
        ],
    }  # fmt: skip
    send(plane, "POST", HOOKS, {"metadata": {"name": "vpa-webhook-config"}, "webhooks": [hook]})
    # The API server takes a moment to notice it.
    time.sleep(2)


class Played:
    """A world on the server, ready for its pod."""

    def __init__(self, plane: ControlPlane, number: int, world: dict[str, Any]) -> None:
        self.plane, self.world, self.space = plane, world, f"w{number}"
        send(plane, "POST", "/api/v1/namespaces", {"metadata": {"name": self.space}})
        for kind, plural, specs in (
            ("LimitRange", "limitranges", world.get("ranges", ())),
            ("ResourceQuota", "resourcequotas", world.get("quotas", ())),
        ):
            for place, spec in enumerate(specs):
                body = {"metadata": {"name": f"{kind[0].lower()}{place}"}, "spec": spec}
                send(plane, "POST", f"/api/v1/namespaces/{self.space}/{plural}", body)
        self.owner = self._controller(world.get("owner", "Deployment"))
        for place, spec in enumerate(world["vpas"]):
            self._autoscaler(place, spec)

    def _controller(self, kind: str) -> dict[str, Any]:
        """The controller of the pod; a ReplicaSet is one of a Deployment."""
        template = {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "c", "image": "img"}]}}
        spec: dict[str, Any] = {"selector": {"matchLabels": LABELS}, "template": template}
        if kind == "ReplicaSet":
            owner = self._controller("Deployment")
            return self._made(kind, "app-5d4f", {**spec, "replicas": 0}, owner)
        if kind == "Job":
            template["spec"]["restartPolicy"] = "Never"
            return self._made(kind, "app", {**spec, "manualSelector": True, "suspend": True}, None)
        more = {"serviceName": "app"} if kind == "StatefulSet" else {}
        replicas = {} if kind == "DaemonSet" else {"replicas": 0}
        return self._made(kind, "app", {**spec, **more, **replicas}, None)

    def _made(self, kind: str, name: str, spec: dict[str, Any], owner: dict[str, Any] | None) -> dict[str, Any]:
        metadata = {"name": name, "labels": LABELS, **({"ownerReferences": [owner]} if owner else {})}
        group = KINDS[kind]
        path = f"/apis/{group}/v1/namespaces/{self.space}/{kind.lower()}s"
        made = send(self.plane, "POST", path, {"metadata": metadata, "spec": spec})
        uid = made["metadata"]["uid"]
        return {"apiVersion": f"{group}/v1", "kind": kind, "name": name, "uid": uid, "controller": True}

    def _autoscaler(self, place: int, written: dict[str, Any]) -> None:
        kind = self.world.get("owner", "Deployment")
        kind = "Deployment" if kind == "ReplicaSet" else kind
        spec = {key: value for key, value in written.items() if key != "recommendation"}
        spec["targetRef"] = {"apiVersion": f"{KINDS[kind]}/v1", "kind": kind, "name": "app"}
        path = f"{VPAS}/namespaces/{self.space}/verticalpodautoscalers"
        body = {
            "apiVersion": "autoscaling.k8s.io/v1",
            "kind": "VerticalPodAutoscaler",
            "metadata": {"name": f"v{place}"},
        }
        made = send(self.plane, "POST", path, {**body, "spec": spec})
        if written["recommendation"] is not None:
            status = {"recommendation": {"containerRecommendations": written["recommendation"]}}
            send(self.plane, "PUT", f"{path}/v{place}/status", {**made, "status": status})

    def settled(self) -> bool:
        """Whether its quotas are counted."""
        listed = self.plane.request("GET", f"/api/v1/namespaces/{self.space}/resourcequotas")[1]["items"]
        return all(set(quota.get("status", {}).get("used", {})) == set(quota["spec"]["hard"]) for quota in listed)

    def case(self) -> dict[str, Any]:
        """Send the pod, and return what was there and what the server answered."""
        space = f"namespaces/{self.space}"
        given = [
            pruned(kind, one)
            for kind, path in (
                ("Namespace", None),
                ("LimitRange", f"/api/v1/{space}/limitranges"),
                ("ResourceQuota", f"/api/v1/{space}/resourcequotas"),
                ("ReplicaSet", f"/apis/apps/v1/{space}/replicasets"),
                ("VerticalPodAutoscaler", f"{VPAS}/{space}/verticalpodautoscalers"),
            )
            for one in self._listed(path)
        ]
        metadata = {"name": "p", "labels": LABELS, "ownerReferences": [self.owner]}
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": self.world["pod"]}
        status, answer = self.plane.request("POST", f"/api/v1/{space}/pods", body)
        return {
            "given": given,
            "request": {"object": body, "namespace": self.space},
            "expect": expected(status, answer),
        }

    def _listed(self, path: str | None) -> Iterable[dict[str, Any]]:
        if path is None:
            return (self.plane.request("GET", f"/api/v1/namespaces/{self.space}")[1],)
        return self.plane.request("GET", path)[1]["items"]


def play(
    plane: ControlPlane, worlds: Sequence[tuple[str, dict[str, Any]]], *, first: int = 0
) -> Iterator[dict[str, Any]]:
    """The cases of worlds, all of which are made before the first pod is sent."""
    for boost in (False, True):
        chosen = [
            (number, name, world)
            for number, (name, world) in enumerate(worlds, first)
            if bool(world.get("boost")) is boost
        ]
        if not chosen:
            continue
        with serving(plane, boost=boost):
            made = [(name, Played(plane, number, world)) for number, name, world in chosen]
            until(lambda made=made: all(played.settled() for _, played in made), _SETTLED)
            time.sleep(3)  # the informers of the admission controller
            for name, played in made:
                yield {"name": name, **played.case()}


def expected(status: int, answer: dict[str, Any]) -> dict[str, Any]:
    if status != 201:
        reason, message = answer.get("reason", ""), answer.get("message", "")
        return {"allowed": False, "code": status, "reason": reason, "message": message}
    spec = answer["spec"]
    stored: dict[str, Any] = {
        key: {each["name"]: each.get("resources", {}) for each in spec.get(key, ())}
        for key in ("containers", "initContainers")
    }
    annotation = answer["metadata"].get("annotations", {}).get("vpaUpdates", "")
    return {
        "allowed": True, "code": status, "stored": {**stored, "pod": spec.get("resources", {})},
        "qosClass": answer["status"]["qosClass"], "updates": annotation,
    }  # fmt: skip


def pruned(kind: str, one: dict[str, Any]) -> dict[str, Any]:
    metadata = {key: one["metadata"][key] for key in KEPT if key in one["metadata"]}
    version = {"ReplicaSet": "apps/v1", "VerticalPodAutoscaler": "autoscaling.k8s.io/v1"}.get(kind, "v1")
    rest = {key: one[key] for key in ("spec", "status") if key in one}
    if kind == "Namespace":
        rest = {"status": {"phase": "Active"}}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **rest}
