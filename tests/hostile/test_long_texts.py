"""Texts of 300,000 characters in one object: each command ends within seconds, since work grows as the text does."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from kubectl_kres.cli.main import entry

TEXT = "n" * 300_000
#: Seconds of CPU that a run may take; on an idle machine each takes less than one.
MOST = 8.0


def deployment(**texts: str) -> dict[str, Any]:
    label = {"app": texts.get("label", "a")}
    limits = {f"x.y/{texts['resource']}" if "resource" in texts else "cpu": texts.get("amount", "1")}
    container = {"name": texts.get("container", "a"), "image": texts.get("image", "i"), "resources": {"limits": limits}}
    template = {"metadata": {"labels": label}, "spec": {"containers": [container]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": texts.get("name", "a"), "labels": label, "annotations": {"a": texts.get("note", "")}},
        "spec": {"selector": {"matchLabels": label}, "template": template},
    }


@pytest.mark.one_in(7)
@pytest.mark.parametrize("place", ["name", "label", "container", "image", "resource", "amount", "note"])
def test_each_command_ends_within_seconds(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "long.json"
    file.write_text(json.dumps(deployment(**{place: TEXT})))
    for words in ("explain", "explain -o json", "explain -o yaml", "diff", "check", "simulate", "qos -o yaml"):
        monkeypatch.setattr(sys, "argv", ["kubectl-kres", *words.split(), "-f", str(file), "--demo", "-n", "shop"])
        began = process_time()
        assert entry() in {0, 1, 2, 4}, words
        assert process_time() - began < MOST, words
        assert "Traceback" not in capsys.readouterr().err
