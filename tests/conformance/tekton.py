"""How a case recorded from Tekton's own packages is put to ``kubectl_kres.tekton``: what Tekton submits or says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec
from conformance.systems import Data

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.new_pod import policies_of
from kubectl_kres.documents import yaml_text
from kubectl_kres.model.objects import LimitRange, decode_object
from kubectl_kres.model.pod import Container, Pod
from kubectl_kres.model.tekton_config import ConfigMap
from kubectl_kres.provenance.journal import Source
from kubectl_kres.tekton.model import Pipeline, PipelineRun, StepAction, Task, TaskRun
from kubectl_kres.tekton.rules.base import config
from kubectl_kres.tekton.rules.base.convert import to_v1
from kubectl_kres.tekton.rules.base.problem import Problem
from kubectl_kres.tekton.rules.base.result import BuiltPod, Fields, MissingReference, fields_below
from kubectl_kres.tekton.rules.controller import creation, taskrun
from kubectl_kres.tekton.rules.controller.pod_build import pods
from kubectl_kres.tekton.rules.controller.resolve import Lookups, task_of, without_actions, without_task
from kubectl_kres.tekton.rules.controller.taskrun import RunNamespace, build_run_namespace
from kubectl_kres.tekton.rules.pipeline import pipeline_tasks
from kubectl_kres.tekton.rules.validation import webhook
from kubectl_kres.tekton.rules.validation.decoder import without_nulls

COMPARED = ("pod", "error", "orders")

NOT_COMPARED = {"anyOf": "holds the answers, which are compared one by one"}

#: Recorded only where the listing order of LimitRanges was played in all permutations.
OPTIONAL = ("orders",)


def play(case: Data, file: Data) -> list[dict[str, Any]]:
    """The outcomes, each in the shape of ``expect``."""
    return [_shown(answer) for answer in said(case["given"])]


def rules(case: Data, file: Data) -> set[str]:
    """The rules that the answers name."""
    found: set[str] = set()
    for answer in said(case["given"]):
        journal = answer.journal if isinstance(answer, BuiltPod) else ()
        found |= {entry.rule for entry in journal if hasattr(entry, "rule")}
        if isinstance(answer, Problem):
            found.add(answer.rule)
    return found


def required(case: Data, file: Data) -> bool:
    """Every case."""
    return True


def complete(case: Data, file: Data) -> bool:
    """Whether just these things can happen: one, or those that all listing orders lead to."""
    return "anyOf" not in case["expect"] or all("orders" in one for one in case["expect"]["anyOf"])


def answers(case: Data) -> Sequence[Mapping[str, Any]]:
    """The recorded answers."""
    return case["expect"].get("anyOf", (case["expect"],))


def world(given: Data) -> RunNamespace:
    """The world that the case is played in."""
    lookups = Lookups(
        _by_name(Task, [given["task"]] if "task" in given else []),
        _by_name(StepAction, given.get("stepActions", [])),
        _by_name(Pipeline, [given["pipeline"]] if "pipeline" in given else []),
    )
    policies = policies_of([decode_object(raw, LimitRange) for raw in given.get("limitRanges", ())], ())
    major, minor = re.match(r"(\d+)\.(\d+)", given.get("kubernetesVersion", "1.34")).groups()
    return build_run_namespace(policies, Server((int(major), int(minor))), configured(given), lookups)


def configured(given: Data) -> config.TektonConfig:
    """The configuration that the two ConfigMaps of a case hold."""
    maps = {
        name: msgspec.convert({"metadata": {"name": name}, "data": given[key]}, ConfigMap)
        for name, key in ((config.DEFAULTS, "configDefaults"), (config.FLAGS, "featureFlags"))
        if key in given
    }
    return config.parse_config(maps.get(config.DEFAULTS), maps.get(config.FLAGS), None, yaml_text.value)


def _by_name(struct: Any, raws: Sequence[Data]) -> dict[str, Any]:
    """Those that decode: the others are refused when they are sent."""
    found: dict[str, Any] = {}
    for raw in raws:
        with suppress(msgspec.ValidationError):
            found[raw["metadata"]["name"]] = decode_object(to_v1(without_nulls(raw)), struct)
    return found


def said(given: Data) -> Sequence[BuiltPod | Problem]:
    """Each pod that is submitted, or each thing that is said instead."""
    around = world(given)
    for raw in (*given.get("stepActions", ()), *(given[key] for key in ("task", "pipeline") if key in given)):
        if refusals := taskrun.send_object(raw, around).refusals:
            return refusals
    sent = taskrun.send_object(given["taskRun"] if "taskRun" in given else given["pipelineRun"], around)
    if sent.refusals:
        return sent.refusals
    item, fields = sent.item, None
    if isinstance(item, PipelineRun):
        planned = pipeline_tasks.plan(item, around.lookups)
        assert not isinstance(planned, MissingReference)
        if planned.problem is not None:
            return (planned.problem,)
        task = next(one for one in planned.tasks if one.name == given["pipelineTask"])
        if (problem := webhook.task_run_problem(task.run, around.config.flags)) is not None:
            return (problem,)
        item, fields = task.run, task.fields
    if "createError" in given:
        error = given["createError"]
        kind = error.get("details", {}).get("kind", "")
        return (creation.refusal_problem(item, error["code"], error["reason"], error["message"], kind),)
    return _pods(item, around, fields)


def _pods(item: TaskRun, around: RunNamespace, fields: Fields | None) -> Sequence[BuiltPod | Problem]:
    used = task_of(item, around.lookups)
    if isinstance(used, MissingReference):
        assert used.reason == "missing"
        return (without_task(item, used),)
    if used.unresolved:
        return without_actions(used.unresolved)
    own = fields or fields_below(Source("TaskRun", item.metadata.name, "case", "spec"))
    return pods(item, used.spec, used.origin, around.virtuals, around.config, around.server.version, fields=own)


def _shown(answer: BuiltPod | Problem) -> dict[str, Any]:
    if isinstance(answer, Problem):
        return {"error": _error(answer)}
    shown: dict[str, Any] = {"pod": _pod(answer.pod)}
    if answer.orders:
        shown["orders"] = sorted(map(list, answer.orders))
    return shown


def _error(problem: Problem) -> dict[str, Any]:
    shown: dict[str, Any] = {"stage": problem.stage, "object": problem.object, "message": problem.message}
    if problem.stage != "validation":
        shown["reason"] = problem.reason
    if problem.stage == "create":
        shown["status"] = problem.status
        if problem.requeue_seconds:
            shown["requeueSeconds"] = problem.requeue_seconds
    return shown


def _pod(pod: Pod) -> dict[str, Any]:
    return {
        "initContainers": [_container(one) for one in pod.spec.init_containers or ()],
        "containers": [_container(one) for one in pod.spec.containers or ()],
    }


def _container(container: Container) -> dict[str, Any]:
    shown: dict[str, Any] = {"name": container.name, "resources": msgspec.to_builtins(container.resources) or {}}
    if container.restart_policy:
        shown["restartPolicy"] = container.restart_policy
    return shown
