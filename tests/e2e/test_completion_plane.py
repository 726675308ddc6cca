"""Completion of names from a real API server, which makes the lists of nothing but metadata."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from controlplane import ControlPlane

pytestmark = pytest.mark.e2e

#: A machine that is so busy that the time is over is answered with nothing.
TRIES = 5


@pytest.fixture
def complete(kubectl: Path, plugin_env: dict[str, str], tmp_path: Path) -> Callable[..., list[str]]:
    def ask(*words: str) -> list[str]:
        command = [str(kubectl), "__complete", "kres", *words]
        lines: list[str] = []
        for _ in range(TRIES):
            done = subprocess.run(command, env=plugin_env, cwd=tmp_path, capture_output=True, text=True, check=True)
            *lines, directive = done.stdout.splitlines()
            assert directive == ":4"
            if lines:
                break
        return lines

    return ask


def test_names(controlplane: ControlPlane, namespace: str, complete: Callable[..., list[str]]) -> None:
    for name in ("first", "second"):
        spec = {"hard": {"pods": "1"}}
        answer = controlplane.request(
            "POST", f"/api/v1/namespaces/{namespace}/resourcequotas", {"metadata": {"name": name}, "spec": spec}
        )
        assert answer[0] == 201, answer
    assert complete("quota", "-n", namespace, "") == ["first", "second"]
    assert complete("explain", "-n", namespace, "quota/s") == ["quota/second"]
    assert complete("explain", "-n", namespace[:-1]) == [namespace]
    assert complete("explain", "priorityclasses/system-node") == ["priorityclasses/system-node-critical"]


def test_kinds_that_only_the_server_knows(complete: Callable[..., list[str]]) -> None:
    assert "clusterroles/cluster-admin" in complete("explain", "clusterroles/cluster-a")


def test_nothing_where_there_is_nothing(complete: Callable[..., list[str]], namespace: str) -> None:
    assert complete("explain", "-n", namespace, "nonsense/") == []
