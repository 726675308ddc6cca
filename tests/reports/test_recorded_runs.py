"""Runs recorded from a running Tekton, explained as a user would from files: the condition, the pod, and its class."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from conformance.cases import cases
from conformance.tekton_live import CLASSES
from reports.stored import store_of

from kubectl_kres.admission.base.server import Server
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef, decode_object
from kubectl_kres.render.pod import diff as render_diff
from kubectl_kres.render.pod import explain as render
from kubectl_kres.render.pod import qos as render_qos
from kubectl_kres.reports.common.explanation import EvaluationOptions, Explanation, Subject
from kubectl_kres.reports.common.system_parts import part_of
from kubectl_kres.reports.explain.difference import diff
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.qos.qos_report import quality
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.reports.explain_pipeline import explain_pipeline
from kubectl_kres.tekton.reports.part import TektonPart
from kubectl_kres.tekton.rules.base.convert import to_v1
from kubectl_kres.tekton.text import pipeline as render_pipeline

#: Recorded with further objects or steps, which the conformance suite plays.
APART = {"objects", "steps", "pipelineRun", "stepActions"}


def recorded() -> list[Any]:
    held = [case for case in cases("tekton-live") if not APART & case.data["given"].keys()]
    return [pytest.param(case.data, id=case.data["name"]) for case in held]


def unused(hard: dict[str, str]) -> dict[str, Any]:
    """The status of a quota that counts nothing yet."""
    return {"hard": hard, "used": dict.fromkeys(hard, "0")}


def store(given: dict[str, Any]) -> Store:
    space = {"kind": "Namespace", "metadata": {"name": "case", "labels": given.get("namespaceLabels") or {}}}
    listed = [*given.get("limitRanges", ()), *([given["task"]] if "task" in given else [])]
    quotas = [{**one, "status": unused(one["spec"]["hard"])} for one in given.get("quotas", ())]
    maps = [
        {"kind": "ConfigMap", "metadata": {"name": name, "namespace": "tekton-pipelines"}, "data": given.get(key) or {}}
        for name, key in (("config-defaults", "configDefaults"), ("feature-flags", "featureFlags"))
    ]
    return store_of(space, *CLASSES, *listed, *quotas, *maps)


def ways(found: Explanation, side: str, name: str, resource: str) -> set[str | None]:
    """The values that one request or limit can have."""
    for one in found.containers:
        for value in one.values:
            if (one.name, value.side, value.resource) == (name, side, resource):
                return {value.value, *(other.value for other in value.alternatives)}
    return {None}


@pytest.mark.parametrize("case", recorded())
def test_an_explanation_says_what_was_recorded(case: dict[str, Any]):
    given, expect = case["given"], case["expect"]
    raw = given["taskRun"]
    asked = Subject(ObjectRef("TaskRun", raw["metadata"]["name"], "case"), BY_KIND["TaskRun"], raw)
    found = explain(store(given), asked, EvaluationOptions(Server((1, 36)), read_yaml=msgspec.yaml.decode))
    part = part_of(found.pod_parts, TektonPart)
    assert part is not None
    problem = part.problem
    if "rejected" in expect:
        assert problem is not None
        assert (found.verdict.code, found.verdict.message) == (
            expect["rejected"]["code"],
            expect["rejected"]["message"],
        )
        return
    condition = expect["condition"]
    if expect["pod"] is None:
        assert problem is not None
        assert found.verdict.allowed is not True
        assert (problem.status, problem.reason) == (condition["status"], condition["reason"])
        assert condition.get("unordered") or condition["message"] in {found.verdict.message, *found.verdict.others}
        return
    assert found.verdict.allowed is not False
    for key in ("containers", "initContainers"):
        for one in expect["pod"]["spec"].get(key, ()):
            for side, values in one.get("resources", {}).items():
                for resource, text in values.items() if isinstance(values, dict) else ():
                    assert text in ways(found, side, one["name"], resource), (one["name"], side, resource)
    assert found.qos is not None
    assert expect["pod"]["status"]["qosClass"] in {found.qos.name, *found.qos_alternatives}


#: Of what was recorded from Tekton's packages every so-manieth case.
SPARSE = 6


def any_recorded() -> list[Any]:
    """Every kind of case of Tekton's packages; those about single errors hold no run."""
    held = [case for case in cases("tekton") if {"taskRun", "pipelineRun"} & case.data["given"].keys()]
    return [pytest.param(case.data["given"], id=case.data["name"]) for case in held[::SPARSE]]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("given", any_recorded())
def test_all_answers_can_be_told(given: dict[str, Any]):
    here = store(given)
    for kind in ("Task", "Pipeline"):
        if kind.lower() in given:
            here.add(kind, decode_object(to_v1(given[kind.lower()]), BY_KIND[kind].struct))
    raw = given.get("taskRun") or given["pipelineRun"]
    asked = Subject(ObjectRef(raw["kind"], raw["metadata"]["name"], "case"), BY_KIND[raw["kind"]], raw)
    ask = EvaluationOptions(Server(), read_yaml=msgspec.yaml.decode, now="2026-11-20T03:10:00Z")
    if raw["kind"] == "PipelineRun":
        found = explain_pipeline(here, asked, ask)
        lines = [*render_pipeline.lines(found, steps=True), *render_pipeline.lines(found)]
    else:
        told = explain(here, asked, ask)
        lines = [*render.lines(told, steps=True), *render.lines(told), *render_diff.lines(diff(here, asked, ask))]
        seen = quality(here, asked, ask)
        lines += [*render_qos.lines(seen)] if seen is not None else []
    assert lines
    assert not [line for line in lines if "\n" in line or "\x1b" in line]


def test_there_are_enough_cases():
    assert len(recorded()) > 60
    assert len(any_recorded()) > 100
