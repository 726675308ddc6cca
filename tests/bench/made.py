"""A small synthetic cluster of the bench, and its server, for the tests beside."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from array import array
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

BENCH = Path(__file__).resolve().parents[2] / "bench"
SIZES = ("--pods", "400", "--nodes", "20", "--namespaces", "16", "--runs", "120", "--pools", "4", "--claims", "300")


def make(out: Path, *sizes: str) -> Path:
    command = [sys.executable, str(BENCH / "cluster.py"), *(sizes or SIZES), "--out", str(out)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return out


def objects(folder: Path, kind: str) -> list[dict[str, Any]]:
    data, at = (folder / f"{kind}.items").read_bytes(), array("Q", (folder / f"{kind}.index").read_bytes())
    return [json.loads(data[a : b - 1]) for a, b in pairwise(at)]


def truth(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "truth.json").read_text())
    return found


class Served:
    """A server of the bench, asked over one connection."""

    def __init__(self, port: int, kubeconfig: Path) -> None:
        self.port, self.kubeconfig = port, kubeconfig

    def get(self, path: str) -> tuple[int, dict[str, Any]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def watch(self, path: str) -> Iterator[dict[str, Any]]:
        """The events of a watch until it ends, or the reader has enough."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            while text := answer.readline():
                yield json.loads(text)
        finally:
            connection.close()


@contextmanager
def served(folder: Path, scratch: Path, *flags: str) -> Iterator[Served]:
    """Serve a folder; the server says on its standard output that it is ready."""
    config, port = scratch / "kubeconfig", scratch / "port"
    command = [sys.executable, str(BENCH / "fake_apiserver.py"), str(folder), "--port", "0"]
    command += ["--port-file", str(port), "--kubeconfig", str(config), *flags]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout
        assert server.stdout.readline().startswith("serving ")
        yield Served(int(port.read_text()), config)
    finally:
        server.terminate()
        server.communicate()


def keyed(items: list[dict[str, Any]]) -> Mapping[str, dict[str, Any]]:
    return {f"{one['metadata'].get('namespace', '')}/{one['metadata']['name']}": one for one in items}
