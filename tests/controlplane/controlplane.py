#!/usr/bin/env python3
"""A throw-away Kubernetes control plane on loopback: etcd, kube-apiserver, kube-controller-manager and, if asked for,
kube-scheduler.

As a library, with the standard library only::

    with ControlPlane(build.locate(), feature_gates={"MemoryQoS": True}) as plane:
        plane.url, plane.token, plane.ca_file, plane.kubeconfig      # a user of system:masters
        plane.request("GET", "/version")                             # (HTTP status, parsed body)

As a command it prints the path of the kubeconfig once the server is ready, and stays until standard input closes.
No other program is needed: the server signs its own certificate.  The children end when this process does.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import secrets
import select
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Self

import build
from credentials import kubeconfig, signing_key, write_private

HOST = "127.0.0.1"
GUARD = Path(__file__).with_name("guard.py")
PORT_TRIES = 5
PROBE_SECONDS = 2.0
"""Short, as whoever took a port may accept and never answer."""
TAIL_LINES = 25

BASIC_CONTROLLERS = (
    "resourcequota-controller",
    "serviceaccount-controller",
    "namespace-controller",
    "garbage-collector-controller",
)
"""What policies need: quotas are counted, namespaces are usable and go away."""
WORKLOAD_CONTROLLERS = (
    "deployment-controller",
    "replicaset-controller",
    "statefulset-controller",
    "daemonset-controller",
    "job-controller",
    "cronjob-controller",
    "ephemeral-volume-controller",
    "resourceclaim-controller",
)
"""What makes pods of templates and claims for pods, or FailedCreate events where a pod is refused."""


class StartError(RuntimeError):
    """A component did not come up, or ended; the message ends with the tail of its log."""


class PortTakenError(StartError):
    """Another program took the port between the choice and its use."""


class ControlPlane:
    """The running processes and how to reach them; ``with`` starts and ends them."""

    def __init__(
        self,
        assets: Path,
        *,
        feature_gates: Mapping[str, bool] | None = None,
        admission_config: Path | None = None,
        disable_admission: Iterable[str] = ("ServiceAccount",),
        controllers: Iterable[str] = BASIC_CONTROLLERS,
        apiserver_args: Iterable[str] = (),
        controller_args: Iterable[str] = (),
        scheduler: bool = False,
        scheduler_args: Iterable[str] = (),
        timeout: float = 120.0,
    ) -> None:
        """``controllers`` may be empty: then no controller manager runs.  ``scheduler``: whether kube-scheduler runs,
        with its default profile.  ``timeout``: seconds for each component.
        """
        gates = ",".join(f"{name}={str(on).lower()}" for name, on in sorted((feature_gates or {}).items()))
        plugins = ",".join(disable_admission)
        self.assets = assets
        self.timeout = timeout
        self.controllers = tuple(controllers)
        self.apiserver_args = [
            *([f"--feature-gates={gates}"] if gates else []),
            *([f"--disable-admission-plugins={plugins}"] if plugins else []),
            *([f"--admission-control-config-file={admission_config}"] if admission_config else []),
            *apiserver_args,
        ]
        self.controller_args = [*([f"--feature-gates={gates}"] if gates else []), *controller_args]
        self.scheduler = scheduler
        self.scheduler_args = [*([f"--feature-gates={gates}"] if gates else []), *scheduler_args]
        self.token = secrets.token_hex(16)
        self.url = ""
        self.folder = Path()
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self._kept = threading.local()
        self._connections: list[http.client.HTTPSConnection] = []

    def __enter__(self) -> Self:
        try:
            self._start_on_free_ports()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def ca_file(self) -> Path:
        """The certificate to trust, and the authority that signed it."""
        return self.folder / "apiserver.crt"

    @property
    def kubeconfig(self) -> Path:
        return self.folder / "kubeconfig"

    def log(self, name: str) -> Path:
        """File of what a component printed."""
        return self.folder / f"{name}.log"

    def start(self) -> None:
        """Start the components one after the other; raises StartError, and leaves what runs to ``stop``."""
        self.folder = Path(tempfile.mkdtemp(prefix="controlplane-"))
        etcd, port = f"http://{HOST}:{free_port()}", free_port()
        self.url = f"https://{HOST}:{port}"
        self._spawn("etcd", etcd_args(self.folder, etcd))
        self.wait("etcd", lambda: http_ok(f"{etcd}/health"))

        key, tokens = self.folder / "service-account.key", self.folder / "tokens.csv"
        write_private(key, signing_key())
        write_private(tokens, f'{self.token},admin,admin,"system:masters"\n')
        self._spawn(
            "kube-apiserver",
            [
                f"--etcd-servers={etcd}",
                f"--bind-address={HOST}",
                f"--secure-port={port}",
                f"--cert-dir={self.folder}",
                f"--token-auth-file={tokens}",
                "--authorization-mode=RBAC",
                f"--service-account-issuer={self.url}",
                f"--service-account-key-file={key}",
                f"--service-account-signing-key-file={key}",
                "--service-cluster-ip-range=10.0.0.0/16",
                "--endpoint-reconciler-type=none",
                "--allow-privileged=true",
                "--profiling=false",
                *self.apiserver_args,
            ],
        )
        for path in ("/readyz", "/api/v1/namespaces/default"):
            self.wait("kube-apiserver", partial(self._serves, path))
        write_private(self.kubeconfig, kubeconfig(self.url, self.token, self.ca_file.read_bytes()))
        if self.controllers:
            self._start_controllers()
        if self.scheduler:
            self._start_scheduler()

    def stop(self) -> None:
        """End what runs and remove its folder; nothing running is fine."""
        while self._connections:
            self._connections.pop().close()
        for process in reversed(self.processes.values()):
            with process:
                if process.stdin:
                    process.stdin.close()
        self.processes.clear()
        if self.folder != Path():
            shutil.rmtree(self.folder, ignore_errors=True)

    def request(
        self, method: str, path: str, body: Any = None, *, content_type: str = "application/json", timeout: float = 30.0
    ) -> tuple[int, Any]:
        """The HTTP status and body of one call as administrator; the body is parsed if it is JSON, else text.

        Raises OSError if the server cannot be reached.
        """
        data = None if body is None else json.dumps(body).encode()
        try:
            status, raw = self._sent(method, path, data, content_type, timeout)
        except http.client.HTTPException as error:
            raise OSError(str(error) or type(error).__name__) from error
        try:
            return status, json.loads(raw)
        except ValueError:
            return status, raw.decode(errors="replace")

    def _sent(self, method: str, path: str, data: bytes | None, content_type: str, timeout: float) -> tuple[int, bytes]:
        """Over the connection that this thread kept: a handshake for each call costs more than the answer.

        One that the server has closed meanwhile is opened again.
        """
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": content_type, "Accept": "application/json"}
        connection, reused = self._connection()
        try:
            return _answered(connection, method, path, data, headers, timeout)
        except (http.client.RemoteDisconnected, ConnectionError, ssl.SSLError):
            if not reused:
                raise
        connection, _ = self._connection()
        return _answered(connection, method, path, data, headers, timeout)

    def _connection(self) -> tuple[http.client.HTTPSConnection, bool]:
        """That of this thread, and whether it is open. One that failed is made anew: the certificate that it trusts may
        have been read while the server still wrote it.
        """
        kept = self._kept
        if getattr(kept, "url", "") != self.url or kept.connection.sock is None:
            kept.url, kept.connection = self.url, self.connect()
            self._connections.append(kept.connection)
            return kept.connection, False
        return kept.connection, True

    def connect(self) -> http.client.HTTPSConnection:
        """A connection to the server that is opened by its first request, past any proxy that the environment names."""
        host, _, port = self.url.removeprefix("https://").partition(":")
        return http.client.HTTPSConnection(host, int(port), context=ssl.create_default_context(cafile=self.ca_file))

    def check(self) -> None:
        """Raise StartError if a component ended by itself."""
        for name, process in self.processes.items():
            if process.poll() is not None:
                text = self.log(name).read_text(errors="replace")
                kind = PortTakenError if "address already in use" in text else StartError
                tail = "\n".join(text.splitlines()[-TAIL_LINES:])
                raise kind(f"{name} ended with {process.returncode}\n{tail}")

    def _start_on_free_ports(self) -> None:
        for _ in range(PORT_TRIES - 1):
            with suppress(PortTakenError):
                return self.start()
            self.stop()
        return self.start()

    def _start_controllers(self) -> None:
        self._spawn(
            "kube-controller-manager",
            [
                f"--kubeconfig={self.kubeconfig}",
                f"--controllers={','.join(self.controllers)}",
                "--leader-elect=false",
                "--secure-port=0",
                "--use-service-account-credentials=false",
                *self.controller_args,
            ],
        )
        if "serviceaccount-controller" in self.controllers:
            # Its first work is the one sign from outside that the controllers run.
            account = "/api/v1/namespaces/default/serviceaccounts/default"
            self.wait("kube-controller-manager", partial(self._serves, account))

    def _start_scheduler(self) -> None:
        """Start kube-scheduler; it answers readyz once it knows the nodes and pods of the server."""
        port = free_port()
        self._spawn(
            "kube-scheduler",
            [
                f"--kubeconfig={self.kubeconfig}",
                f"--authentication-kubeconfig={self.kubeconfig}",
                f"--authorization-kubeconfig={self.kubeconfig}",
                "--leader-elect=false",
                f"--bind-address={HOST}",
                f"--secure-port={port}",
                f"--cert-dir={self.folder / 'scheduler'}",
                *self.scheduler_args,
            ],
        )
        self.wait("kube-scheduler", lambda: http_ok(f"https://{HOST}:{port}/readyz"))

    def _serves(self, path: str) -> bool:
        return self.request("GET", path, timeout=PROBE_SECONDS)[0] == 200

    def _spawn(self, name: str, args: Iterable[str]) -> None:
        self.spawn(self.assets / name, args)

    def spawn(self, program: Path, args: Iterable[str]) -> None:
        """Start a program that ends with this control plane; its name is that of its process and log."""
        name = program.name
        guard = [sys.executable, "-I", "-S", str(GUARD), str(self.log(name)), str(program)]
        self.processes[name] = subprocess.Popen([*guard, *args], stdin=subprocess.PIPE, start_new_session=True)

    def wait(self, name: str, ready: Callable[[], bool]) -> None:
        """Return once a component is ready. Raises StartError after the time limit, and if one ended."""
        deadline = time.monotonic() + self.timeout
        while time.monotonic() < deadline:
            self.check()
            try:
                if ready():
                    return
            except (OSError, http.client.HTTPException):
                pass
            time.sleep(0.05)
        raise StartError(f"{name} is not ready after {self.timeout:.0f} s: {self.log(name).read_text()[-2000:]}")


def _answered(
    connection: http.client.HTTPSConnection,
    method: str,
    path: str,
    data: bytes | None,
    headers: Mapping[str, str],
    timeout: float,
) -> tuple[int, bytes]:
    """The status and body of one call; a connection that failed is closed."""
    connection.timeout = timeout
    if connection.sock is not None:
        connection.sock.settimeout(timeout)
    try:
        connection.request(method, path, data, dict(headers))
        answer = connection.getresponse()
        return answer.status, answer.read()
    except BaseException:
        connection.close()
        raise


def etcd_args(folder: Path, url: str) -> list[str]:
    """Arguments of an etcd that serves ``url`` and that no other etcd talks to."""
    return [
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls={url}",
        f"--advertise-client-urls={url}",
        f"--listen-peer-urls=http://{HOST}:0",
        "--unsafe-no-fsync",
        "--log-level=warn",
    ]


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        port: int = listener.getsockname()[1]
    return port


def http_ok(url: str) -> bool:
    """Whether a server on loopback answers 200, with whatever certificate."""
    trusting = urllib.request.HTTPSHandler(context=ssl._create_unverified_context())
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), trusting)
    with opener.open(url, timeout=PROBE_SECONDS) as answer:
        return bool(answer.status == 200)


def parse_gates(text: str) -> dict[str, bool]:
    """Feature gates of ``A=true,B=false``."""
    pairs = (part.partition("=") for part in text.split(",") if part)
    return {name.strip(): value.strip().lower() == "true" for name, _, value in pairs}


def heed_sigterm() -> None:
    """SIGTERM ends the process in order, as SIGINT does: to be called before anyone can know that it runs."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def stay(plane: ControlPlane, *, watch_stdin: bool) -> None:
    """Return when standard input closes (if watched), never else; raises StartError if a component ends by itself."""
    while True:
        plane.check()
        readable, _, _ = select.select([sys.stdin] if watch_stdin else [], [], [], 0.5)
        if readable and not os.read(sys.stdin.fileno(), 4096):
            return


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="A throw-away Kubernetes control plane on loopback.")
    parser.add_argument("--assets", type=Path, help="folder of the binaries (default: what build.py finds)")
    parser.add_argument("--feature-gates", type=parse_gates, default={}, metavar="A=true,B=false")
    parser.add_argument("--admission-config", type=Path, metavar="FILE")
    parser.add_argument("--disable-admission", default="ServiceAccount", metavar="PLUGIN,...")
    controllers = ",".join(BASIC_CONTROLLERS + WORKLOAD_CONTROLLERS)
    parser.add_argument("--controllers", default=controllers, help="'' for no controller manager", metavar="NAME,...")
    parser.add_argument("--scheduler", action="store_true", help="start kube-scheduler, too")
    parser.add_argument("--apiserver-arg", action="append", default=[], metavar="--FLAG=VALUE")
    parser.add_argument("--controller-arg", action="append", default=[], metavar="--FLAG=VALUE")
    return parser


def main() -> int:
    options = arguments().parse_args()
    heed_sigterm()
    try:
        with ControlPlane(
            options.assets or build.locate(),
            feature_gates=options.feature_gates,
            admission_config=options.admission_config,
            disable_admission=filter(None, options.disable_admission.split(",")),
            controllers=filter(None, options.controllers.split(",")),
            apiserver_args=options.apiserver_arg,
            controller_args=options.controller_arg,
            scheduler=options.scheduler,
        ) as plane:
            print(plane.kubeconfig, flush=True)
            stay(plane, watch_stdin=True)
    except (StartError, build.NoBinaryError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
