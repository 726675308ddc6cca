"""Runs the real entry point in this process, against an API server in this process or none at all."""

from __future__ import annotations

import io
import json
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cli.apiserver import Api, kubeconfig
from cli.running import Kres, Result

from kubectl_kres.cli.main import entry


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    """A server that the kubeconfig of the environment names, with the namespace ``shop``."""
    server = Api()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    monkeypatch.setenv("KUBECONFIG", kubeconfig(tmp_path, server.url))
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No kubeconfig, no cluster around us, no colour settings, and an empty folder to stand in."""
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def kres(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Kres:
    """Runs ``kubectl kres`` with the words of a text, or with words that are given one by one."""

    def run(text: str, *words: str, stdin: str = "", called: str = "/usr/bin/kubectl-kres") -> Result:
        monkeypatch.setattr(sys, "argv", [called, *text.split(), *words])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        capsys.readouterr()
        code = entry()
        return Result(code, *capsys.readouterr())

    return run


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., str]:
    """Writes objects to a file and returns its name."""

    def write(*objects: dict[str, Any], name: str = "given.json") -> str:
        path = tmp_path / name
        path.write_text("\n".join(json.dumps(one) for one in objects))
        return str(path)

    return write
