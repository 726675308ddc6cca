"""Tasks, Pipelines and StepActions as they lie in git: ``check -f`` finds what ``explain -f`` says of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli.running import Kres


def _definition(kind: str, name: str, version: str = "v1", **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "mill"}
    return {"apiVersion": f"tekton.dev/{version}", "kind": kind, "metadata": metadata, "spec": spec}


def _task(name: str = "big", **resources: Any) -> dict[str, Any]:
    step = {"name": "a", "image": "example.org/i", "command": ["true"], "computeResources": resources}
    return _definition("Task", name, steps=[step])


_BIG = _task(requests={"memory": "2Gi"})
_PIPELINE = _definition("Pipeline", "pipe", tasks=[{"name": "t", "taskRef": {"name": "big"}}])
_RANGE = {
    "apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "lane", "namespace": "mill"},
    "spec": {"limits": [{"type": "Container", "max": {"memory": "1Gi"}}]},
}  # fmt: skip
_LEVEL = {"requests": {"memory": "1Gi"}, "limits": {"memory": "1Gi"}}
_SMALLER = _definition("TaskRun", "run", taskRef={"name": "big"}, computeResources=_LEVEL)


@pytest.mark.parametrize(
    ("documents", "found"),
    [
        pytest.param([_task(limits={"memory": "$(params.mem)"})], {("KRES101", "big")}, id="parameter"),
        pytest.param([_task(requests={"memory": "1Gi"})], set(), id="sound"),
        pytest.param([_BIG, _RANGE], {("KRES101", "big")}, id="beside a LimitRange"),
        pytest.param([_BIG, _RANGE, _PIPELINE], {("KRES101", "pipe")}, id="the Pipeline stands for its Task"),
        pytest.param([_BIG, _RANGE, _SMALLER], set(), id="the run stands for its Task"),
        pytest.param(
            [_definition("StepAction", "act", "v1beta1", image="", script="x")], {("KRES116", "act")}, id="StepAction"
        ),
    ],
)
def test_definitions_of_files_are_looked_at(
    kres: Kres, tmp_path: Path, documents: list[dict[str, Any]], found: set[tuple[str, str]]
) -> None:
    """Situation 19, and the same beside what bounds it."""
    (tmp_path / "tekton.yaml").write_text(yaml.safe_dump_all(documents))
    answer = kres("check --offline -f tekton.yaml -o json")
    errors = {
        (item["code"], item["object"]["name"])
        for item in json.loads(answer.out)["items"]
        if item["severity"] == "error"
    }
    assert (answer.code, errors) == (1 if found else 0, found)
