"""What Tekton 0.60's own controller made of config-defaults, LimitRanges and whole Tasks before a real API server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from reports.stored import store_of

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.quantity import parse
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.common.system_parts import part_of
from kubectl_kres.reports.explain.explain import analysis_of
from kubectl_kres.tekton.reports.part import TektonPart

_RECORDED = json.loads((Path(__file__).parent / "recorded_0_60.json").read_text())
_CASES: Mapping[str, Any] = {case["name"]: case for case in _RECORDED["cases"]}
_KEY = "default-container-resource-requirements"


def _config_map(name: str, **data: str) -> dict[str, Any]:
    return {"kind": "ConfigMap", "metadata": {"name": name, "namespace": "tekton-pipelines"}, "data": data}


def _sides(resources: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    return {
        side: {name: parse(str(value)).nano for name, value in resources[side].items()}
        for side in ("requests", "limits")
        if resources.get(side)
    }


@pytest.mark.parametrize("name", _CASES)
def test_the_values_are_those_of_the_version(name: str) -> None:
    case = _CASES[name]
    space = case["given"][-1]["metadata"]["namespace"]
    store = store_of(
        *case["given"],
        {"kind": "Namespace", "metadata": {"name": space}},
        {"kind": "ServiceAccount", "metadata": {"name": "default", "namespace": space}},
        _config_map("pipelines-info", version=_RECORDED["tekton"]),
        _config_map(
            "config-defaults", **({_KEY: json.dumps(yaml.safe_load(case["defaults"]))} if case["defaults"] else {})
        ),
        _config_map("feature-flags"),
    )
    analysis = analysis_of(store, Subject(ObjectRef("TaskRun", "run", space), BY_KIND["TaskRun"]), EvaluationOptions())
    expected = case["expect"]
    if expected["reason"]:
        part = part_of(analysis.parts, TektonPart)
        assert part is not None
        assert part.problem is not None
        assert part.problem.reason == expected["reason"]
        return
    (outcome,) = analysis.outcomes
    assert outcome.allowed
    assert outcome.draft is not None
    found = {
        slot.name: {
            side: {name: value.nano for name, value in values.items()}
            for side, values in (("requests", slot.requests), ("limits", slot.limits))
            if values
        }
        for slot in outcome.draft.slots()
        if slot.name in expected["containers"]
    }
    assert found == {each: _sides(resources) for each, resources in expected["containers"].items()}


def test_the_order_of_defaults_shows() -> None:
    """Some step has what the LimitRange says where config-defaults has another value for it."""
    case = _CASES["d1-r1-s0"]
    assert case["expect"]["containers"]["step-s0"]["requests"]["cpu"] == "200m"
    assert case["expect"]["containers"]["prepare"]["requests"]["cpu"] == "300m"
