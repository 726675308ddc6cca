"""Folders of snapshots, and the program asked about them; workers are processes as they are for users."""

from __future__ import annotations

import gzip
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
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


def rows(file: Path) -> list[dict[str, Any]]:
    """What is in a file of rows."""
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def documented(result: Result) -> dict[str, dict[str, Any]]:
    """The items of a document by cluster."""
    return {item["cluster"]: item for item in json.loads(result.out)["items"]}
