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


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_of_many_the_ones_without_room_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """600 come one after the other: the last five have no room, however many orders there are."""
    objects = [quota("119"), *(deployment(f"web-{number:03}") for number in range(600))]
    _, _, found = checked(tmp_path, monkeypatch, capsys, objects)
    short = sorted(item["object"]["name"] for item in found if item["code"] == "KRES109")
    assert short == [f"web-{number:03}" for number in range(595, 600)]


def explained(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], objects: list[dict[str, Any]]
) -> tuple[float, str]:
    """Seconds of the processor, and the text."""
    file = folder / "objects.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    monkeypatch.setattr(sys, "argv", ["kubectl-kres", "explain", "--offline", "-f", str(file)])
    began = process_time()
    assert entry() == 0
    return process_time() - began, " ".join(capsys.readouterr().out.split())


@pytest.mark.thorough
@pytest.mark.parametrize("share", ["none", "half"])
def test_many_that_race_for_room_cost_as_they_are_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], share: str
):
    """Under a quota that has room for four pods, or for half of them; the first in the files come first."""

    def objects(number: int) -> list[dict[str, Any]]:
        room = 4 if share == "none" else number
        return [quota(f"{room * 100}m"), *(deployment(f"web-{at:03}") for at in range(number))]

    explained(tmp_path, monkeypatch, capsys, objects(10))
    few, _ = explained(tmp_path, monkeypatch, capsys, objects(100))
    many, said = explained(tmp_path, monkeypatch, capsys, objects(400))
    whole = 2 if share == "none" else 200
    assert f"web-{whole:03} 0 of 2" in said and f"{whole} others get all their pods" in said
    assert "counted in the order of the files; at least " in said
    assert many < 8 * few, (few, many)
