"""A case recorded from a live Tekton, put to ``tekton.rules.controller.taskrun`` and ``pipeline_run``: to the end."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from conformance import tekton
from conformance.namespace import Namespace
from conformance.systems import Data

from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.new_pod import admit
from kubectl_kres.model import objects as policy
from kubectl_kres.model.objects import decode_object
from kubectl_kres.model.pod import Pod
from kubectl_kres.tekton.model import PipelineRun, StepAction, Task, TaskRun
from kubectl_kres.tekton.rules.base.convert import to_v1
from kubectl_kres.tekton.rules.base.problem import Problem
from kubectl_kres.tekton.rules.base.result import MissingReference
from kubectl_kres.tekton.rules.controller import taskrun
from kubectl_kres.tekton.rules.controller.resolve import Lookups
from kubectl_kres.tekton.rules.controller.taskrun import RunNamespace, RunResult
from kubectl_kres.tekton.rules.pipeline.pipeline_run import STARTED, Assistant, one_task, pipeline_run, progress
from kubectl_kres.tekton.rules.pipeline.pipeline_tasks import Planned

COMPARED = ("pod", "condition", "started", "taskRuns", "pipelineRun", "statefulSets", "quotas", "rejected")

NOT_COMPARED: dict[str, str] = {}

#: ``quotas`` stands only where there were some.
OPTIONAL = ("quotas",)

#: Pods of one moment whose orders are all tried; of more only the order of the tasks is.
MOST_PODS = 4

#: Objects of the recorded cluster.
CLASSES = (
    {"kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000},
    {"kind": "PriorityClass", "metadata": {"name": "low"}, "value": 10},
    {"kind": "RuntimeClass", "metadata": {"name": "sandbox"},
     "overhead": {"podFixed": {"cpu": "250m", "memory": "120Mi"}}},
)  # fmt: skip

#: Resources that the recorded cluster served besides those of Kubernetes.
SERVED = tuple(f"{plural}.tekton.dev" for plural in ("tasks", "taskruns", "pipelines", "pipelineruns", "stepactions"))


def play(case: Data, file: Data) -> list[dict[str, Any]]:
    """The ways in which the case can go, each in the shape of ``expect``."""
    return [answer for answer, _ in _played(case)]


def rules(case: Data, file: Data) -> set[str]:
    """The rules that the answers name."""
    return {rule for _, results in _played(case) for one in results for rule in _rules(one)}


def required(case: Data, file: Data) -> bool:
    """Every case."""
    return True


def complete(case: Data, file: Data) -> bool:
    """Whether just one thing can happen.

    Cases in which an order of objects is arbitrary were played several times; which of a step's bad requests is met
    first is as arbitrary, and such cases were not; nor were those in which pods of a PipelineRun race for a quota.
    """
    if case["expect"].get("condition", {}).get("reason") == "TaskRunValidationFailed":
        return False
    if "pipelineRun" in case["given"] and case["given"].get("quotas"):
        return False
    several = [case["given"].get(key, ()) for key in ("limitRanges", "quotas")]
    return "plays" not in case and all(len(held) <= 1 for held in several)


def _rules(result: RunResult) -> Iterator[str]:
    yield from (entry.rule for entry in result.journal if hasattr(entry, "rule"))
    if result.problem is not None:
        yield result.problem.rule


Played = tuple[dict[str, Any], list[RunResult]]


def _played(case: Data) -> Iterator[Played]:
    given = case["given"]
    start = Namespace(Server((1, 36)), SERVED)
    objects = [*given.get("limitRanges", ()), *given.get("quotas", ()), *given.get("objects", ())]
    start.replay([*CLASSES, *objects])
    raw = given["taskRun"] if "taskRun" in given else given["pipelineRun"]
    sent = taskrun.send_object(raw, _world(given, start))
    if sent.refusals:
        yield from ((_rejected(one, start), [RunResult(problem=one)]) for one in sent.refusals)
        return
    _store(raw, start)
    if isinstance(sent.item, PipelineRun):
        yield from _pipeline_run(sent.item, given, start)
        return
    for result, after in _task_run(sent.item, given, start):
        # A later change of the namespace moves only what is tried again.
        assert "steps" not in given or (result.problem is not None and result.problem.final)
        yield {**_shown(result), "quotas": after.quotas()}, [result]


def _task_run(item: TaskRun, given: Data, namespace: Namespace) -> Iterator[tuple[RunResult, Namespace]]:
    results = taskrun.task_run(item, _world(given, namespace))
    assert not isinstance(results, MissingReference)
    yield from _after(results, namespace)


def _after(results: Sequence[RunResult], namespace: Namespace) -> Iterator[tuple[RunResult, Namespace]]:
    for result in results:
        then = copy.copy(namespace)
        if result.problem is None:
            _settle(result.submitted, result.outcome, then)
        yield result, then


def _pipeline_run(item: PipelineRun, given: Data, namespace: Namespace) -> Iterator[Played]:
    answer = pipeline_run(item, _world(given, namespace))
    assert not isinstance(answer, MissingReference)
    if answer.plan.problem is not None:
        yield {"pipelineRun": {"condition": _condition(answer.plan.problem)}}, []
        return
    first = [one for one in answer.plan.tasks if not one.after and not one.is_finally]
    made: list[tuple[Planned, str]] = []
    stopped = False
    for task in first:
        for name in task.names:
            stopped = stopped or not _store(_named(name), namespace)
            made += [] if stopped else [(task, name)]
    number = len(answer.plan.graph)
    several = bool(given.get("quotas")) and len(made) + len(answer.assistants) <= MOST_PODS
    pods: list[tuple[Planned, str] | Assistant] = [*answer.assistants, *made]
    seen = []
    for order in itertools.permutations(pods) if several else (pods,):
        for results, after in _in_turn(order, given, namespace):
            runs = sorted((one for one in results if not isinstance(one[0], Assistant)), key=lambda one: one[1])
            failed = len({task.name for task, _, one in runs if one.problem is not None and one.problem.final})
            status, reason, message = STARTED if stopped else progress(failed, number - failed, failed)
            shown = {
                "pipelineRun": {"condition": {"status": status, "reason": reason, "message": message}},
                "taskRuns": {name: _shown(one) for _, name, one in runs},
                "quotas": after.quotas(),
            }
            if answer.assistants:
                pods_of = {name: one for what, name, one in results if isinstance(what, Assistant)}
                shown["statefulSets"] = [_stateful_set(one, pods_of[one.name]) for one in answer.assistants]
            if shown not in seen:
                seen.append(shown)
                yield shown, [one for _, _, one in runs]


def _in_turn(
    pods: Sequence[tuple[Planned, str] | Assistant], given: Data, namespace: Namespace
) -> Iterator[tuple[list[tuple[Any, str, Any]], Namespace]]:
    """The pods one after the other, each with what the ones before left in the quotas."""
    if not pods:
        yield [], namespace
        return
    for what, name, result, after in _one(pods[0], given, namespace):
        for rest, end in _in_turn(pods[1:], given, after):
            yield [(what, name, result), *rest], end


def _one(
    pod: tuple[Planned, str] | Assistant, given: Data, namespace: Namespace
) -> Iterator[tuple[Any, str, Any, Namespace]]:
    if isinstance(pod, Assistant):
        for outcome in admit(pod.pod, namespace._policies(), namespace.server):
            then = copy.copy(namespace)
            if outcome.allowed:
                _settle(pod.pod, outcome, then)
            yield pod, pod.name, outcome, then
        return
    task, name = pod
    made = msgspec.structs.replace(task.run, metadata=msgspec.structs.replace(task.run.metadata, name=name))
    results = one_task(msgspec.structs.replace(task, run=made), _world(given, namespace))
    for result, after in _after(results, namespace):
        yield task, name, result, after


def _world(given: Data, namespace: Namespace) -> RunNamespace:
    lookups = Lookups(
        {
            raw["metadata"]["name"]: decode_object(to_v1(raw), Task)
            for raw in ([given["task"]] if "task" in given else [])
        },
        {raw["metadata"]["name"]: decode_object(raw, StepAction) for raw in given.get("stepActions", ())},
    )
    labels = given.get("namespaceLabels")
    space = policy.Namespace(policy.ManagedMetadata(name="case", labels=labels))
    return taskrun.build_run_namespace(
        namespace._policies(), namespace.server, tekton.configured(given), lookups, namespace=space
    )


def _named(name: str) -> dict[str, Any]:
    return {"kind": "TaskRun", "apiVersion": "tekton.dev/v1", "metadata": {"name": name}}


def _store(raw: Data, namespace: Namespace) -> bool:
    """Whether a run comes to be, which quotas can count."""
    outcomes = namespace.answers("CREATE", raw)
    for outcome in outcomes:
        if outcome.allowed:
            namespace.settle("CREATE", raw, outcome)
    return all(outcome.allowed for outcome in outcomes)


def _settle(pod: Pod, outcome: Outcome, namespace: Namespace) -> None:
    raw = {"kind": "Pod", "apiVersion": "v1", **msgspec.to_builtins(pod)}
    namespace.settle("CREATE", raw, outcome)


def _rejected(problem: Problem, namespace: Namespace) -> dict[str, Any]:
    shown = {"code": problem.code, "message": problem.text, "object": problem.object, "reason": problem.reason}
    return {"rejected": shown, "quotas": namespace.quotas()}


def _shown(result: RunResult) -> dict[str, Any]:
    status, reason, message = result.condition
    condition: dict[str, Any] = {"status": status, "reason": reason, "message": message}
    if result.outcome is not None and result.outcome.unordered:
        condition["unordered"] = True
    again = result.problem is not None and not result.problem.final
    return {"condition": condition, "pod": _pod(result.stored_run, result.submitted), "started": not again}


def _condition(problem: Problem) -> dict[str, str]:
    return {"status": problem.status, "reason": problem.reason, "message": problem.message}


def _pod(stored: Mapping[str, Any] | None, sent: Pod | None) -> dict[str, Any] | None:
    if stored is None:
        return None
    deadline = sent.spec.active_deadline_seconds
    return {**stored, "spec": {**stored["spec"], **({"activeDeadlineSeconds": deadline} if deadline else {})}}


def _stateful_set(assistant: Assistant, outcome: Outcome) -> dict[str, Any]:
    containers = [msgspec.to_builtins(one) for one in assistant.pod.spec.containers]
    shown = {
        "name": assistant.name,
        "labels": dict(assistant.labels),
        "containers": containers,
        "replicas": 1,
        "pod": _pod(outcome.object, assistant.pod),
    }
    return shown if outcome.allowed else {**shown, "failedCreate": [assistant.event(outcome)]}
