"""Claims of workspaces, affinity assistants and runs that are held back, against what Tekton 1.15.0 answered.

Recorded by scripts/record_tekton_claims.py.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tekton.made import config, world

from kubectl_kres.model.objects import LimitRange, ManagedMetadata, Namespace, ResourceQuota, decode_object
from kubectl_kres.tekton.model import PipelineRun, TaskRun
from kubectl_kres.tekton.rules.controller.taskrun import RunNamespace, task_run
from kubectl_kres.tekton.rules.controller.workspace_claims import claims_of
from kubectl_kres.tekton.rules.pipeline.pipeline_run import PER_RUN, PipelineAnswer, pipeline_run

RECORDED = json.loads(Path(__file__).with_name("claim_recordings.json").read_text())
CASES = {case["name"]: case for case in RECORDED["cases"]}
CLAIMS = [name for name in CASES if name.startswith(("pipelinerun-", "taskrun-")) and "pending" not in name]


def around(case: dict[str, Any]) -> RunNamespace:
    policies = []
    for raw in case["given"]:
        if raw["kind"] == "PersistentVolumeClaim":
            continue
        made = {**raw, "metadata": {**raw["metadata"], "namespace": "case"}}
        if raw["kind"] == "ResourceQuota":
            made["status"] = {"hard": raw["spec"]["hard"], "used": case["quotas"][raw["metadata"]["name"]]}
        policies.append(msgspec.convert(made, ResourceQuota if raw["kind"] == "ResourceQuota" else LimitRange))
    flags = {key.replace("-", "_"): value for key, value in case["flags"].items()}
    space = Namespace(ManagedMetadata(name="case", labels=case["labels"]))
    return world(*policies, settings=config(info=RECORDED["tekton"], **flags), namespace=space)


def run_of(case: dict[str, Any], kind: Any) -> Any:
    raw = case["run"]
    return decode_object({**raw, "metadata": {**raw["metadata"], "namespace": "case", "uid": case["uid"]}}, kind)


def test_enough_worlds_were_recorded():
    assert (len(CLAIMS), len(CASES)) >= (40, 60)


@pytest.mark.parametrize("name", CLAIMS)
def test_claims(name):
    case = CASES[name]
    place, expected = around(case), case["expect"]["condition"]
    if case["run"]["kind"] == "TaskRun":
        run = run_of(case, TaskRun)
        problems = [one.problem for one in task_run(run, place) if one.problem is not None]
    else:
        run = run_of(case, PipelineRun)
        answer = pipeline_run(run, place)
        assert isinstance(answer, PipelineAnswer)
        problems = [refusal.problem for refusal in answer.refusals]
    told = {(one.status, one.reason, one.message) for one in problems}
    if expected["reason"] in {"Running", "Pending"}:
        assert told == set()
    else:
        assert (expected["status"], expected["reason"], expected["message"]) in told
        final = expected["status"] == "False"
        assert {one.final for one in problems} == {final}
    made = {claim.name for claim in claims_of(run)}
    if case["flags"].get("coschedule") not in PER_RUN:
        assert made >= set(case["expect"]["claims"])


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case["run"]["kind"] == "PipelineRun"])
def test_assistants(name):
    case = CASES[name]
    answer = pipeline_run(run_of(case, PipelineRun), around(case))
    assert isinstance(answer, PipelineAnswer)
    expected = case["expect"]
    there = {pod.removesuffix("-0") for pod in expected["pods"] if pod.startswith("affinity-assistant")}
    if not answer.refusals and not run_of(case, PipelineRun).spec.status:
        assert {one.name for one in answer.assistants if not one.refusals} == there
    events = {one.event(outcome) for one in answer.assistants for outcome in one.outcomes}
    events |= {text for one in answer.assistants for text in one.claim_events()}
    assert set(expected["failedCreate"]) <= events
