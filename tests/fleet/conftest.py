"""Folders of snapshots, and the program asked about them; workers are processes as they are for users."""

from __future__ import annotations

import gzip
import json
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cli.apiserver import Api, pod
from cli.running import Result

from kubectl_kres.cli.main import entry
from kubectl_kres.snapshot import read as demo

Fleet = Callable[..., Result]


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No kubeconfig, no cluster around us, and an empty folder to stand in."""
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def kres(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Fleet:
    """Runs ``kubectl kres`` with the words of a text, or with words that are given one by one."""

    def run(text: str, *words: str) -> Result:
        monkeypatch.setattr(sys, "argv", ["kubectl-kres", *text.split(), *words])
        capsys.readouterr()
        code = entry()
        return Result(code, *capsys.readouterr())

    return run


@pytest.fixture
def snapshots(tmp_path: Path) -> Callable[..., Path]:
    """Makes a folder with copies of the bundled example under these names."""

    def make(*names: str) -> Path:
        folder = tmp_path / "snapshots"
        for name in names:
            path = folder / f"{name}.kres"
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(demo.demo_path(), path)
        return folder

    return make


QUOTA = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "team", "namespace": "shop"},
    "spec": {"hard": {"requests.memory": "4Gi"}},
    "status": {"hard": {"requests.memory": "4Gi"}, "used": {"requests.memory": "4Gi"}},
}


@pytest.fixture
def servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., list[Api]]]:
    """Starts a server for each name; the kubeconfig of the environment has a context of that name for each."""
    started: list[tuple[Api, threading.Thread]] = []

    def start(*names: str, **more: str) -> list[Api]:
        for name in names:
            api = Api()
            api.objects = [QUOTA, pod(f"{name}-0", "1Gi"), pod(f"{name}-1")]
            thread = threading.Thread(target=api.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
            thread.start()
            started.append((api, thread))
        found = [api for api, _ in started[-len(names) :]]
        urls = {**dict(zip(names, (api.url for api in found), strict=True)), **more}
        config = {
            "clusters": [{"name": name, "cluster": {"server": url}} for name, url in urls.items()],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}} for name in urls],
            "users": [{"name": name, "user": {"token": f"token-of-{name}"}} for name in urls],
        }
        (tmp_path / "kubeconfig").write_text(json.dumps(config))
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
        return found

    yield start
    for api, thread in started:
        api.shutdown()
        api.server_close()
        thread.join()


def rows(file: Path) -> list[dict[str, Any]]:
    """What is in a file of rows."""
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def documented(result: Result) -> dict[str, dict[str, Any]]:
    """The items of a document by cluster."""
    return {item["cluster"]: item for item in json.loads(result.out)["items"]}
