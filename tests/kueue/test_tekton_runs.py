"""PipelineRuns that tekton-kueue's webhook puts into a queue, as its own program does it.

``tekton_runs.json``: generated runs and configurations, each with what ``tekton-kueue mutate`` of v0.3.0 made of it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kubectl_kres.kueue.rules.tekton_runs import parse_config, queued_run

CASES: list[dict[str, Any]] = json.loads(Path(__file__).with_name("tekton_runs.json").read_text())


def computed(run: dict[str, Any], config: dict[str, Any]) -> dict[str, Any]:
    parsed = parse_config(config)
    if parsed.unusable:
        return {"error": "config"}
    queued = queued_run(run, parsed)
    assert not queued.unknown
    if queued.refused:
        return {"error": "run"}
    metadata = queued.run["metadata"]
    annotations = dict(metadata.get("annotations") or {})
    return {"labels": dict(metadata["labels"]), "annotations": annotations, "status": queued.run["spec"]["status"]}


def test_runs_are_made_as_its_own_program_makes_them():
    assert len(CASES) >= 300
    assert [case for case in CASES if computed(case["run"], case["config"]) != case["want"]] == []
    kinds = [case["want"].get("error", "made") for case in CASES]
    assert min(map(kinds.count, ("made", "config", "run"))) > 20
