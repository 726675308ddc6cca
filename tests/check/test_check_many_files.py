"""Many workloads of one file: what a check costs grows as they do."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from kubectl_kres.cli.main import entry


def deployment(name: str, cpu: str = "100m") -> dict[str, Any]:
    container = {"name": "app", "image": "app", "resources": {"requests": {"cpu": cpu}, "limits": {"memory": "1Mi"}}}
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}}
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": name}}, "template": template}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": spec,
    }


def quota(cpu: str) -> dict[str, Any]:
    metadata = {"name": "team", "namespace": "shop"}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": {"requests.cpu": cpu}}}


def checked(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], objects: list[dict[str, Any]]
) -> tuple[float, int, list[Any]]:
    """Seconds of the processor, the code, and what was found."""
    file = folder / "objects.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    monkeypatch.setattr(sys, "argv", ["kubectl-kres", "check", "--offline", "-o", "json", "-f", str(file)])
    began = process_time()
    code = entry()
    return process_time() - began, code, json.loads(capsys.readouterr().out)["items"]


@pytest.mark.parametrize("cpu", ["", "100k"])
def test_four_times_as_many_cost_about_four_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], cpu: str
):
    policies = [quota(cpu)] if cpu else []
    names = [f"web-{number}" for number in range(800)]
    checked(tmp_path, monkeypatch, capsys, [*policies, *map(deployment, names[:10])])
    few, _, _ = checked(tmp_path, monkeypatch, capsys, [*policies, *map(deployment, names[:200])])
    many, code, found = checked(tmp_path, monkeypatch, capsys, [*policies, *map(deployment, names)])
    assert code == 0 and [item for item in found if item["severity"] != "note"] == []
    assert many < 8 * few, (few, many)


def test_of_many_the_ones_without_room_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """600 come one after the other: the last five have no room, however many orders there are."""
    objects = [quota("119"), *(deployment(f"web-{number:03}") for number in range(600))]
    _, _, found = checked(tmp_path, monkeypatch, capsys, objects)
    short = sorted(item["object"]["name"] for item in found if item["code"] == "KRES109")
    assert short == [f"web-{number:03}" for number in range(595, 600)]
