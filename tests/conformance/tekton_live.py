"""How a case recorded from a live Tekton is put to ``tekton.controller.taskrun`` and ``pipeline_run``: to the end."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from conformance import tekton
from conformance.namespace import Namespace
from conformance.systems import Data

from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.base.server import Server
from kubectl_kres.model import policy
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.raw import decoded
from kubectl_kres.model.tekton import PipelineRun, StepAction, Task, TaskRun
from kubectl_kres.tekton.base.convert import to_v1
from kubectl_kres.tekton.base.result import Gap, Problem
from kubectl_kres.tekton.controller import taskrun
from kubectl_kres.tekton.controller.resolve import Lookups
from kubectl_kres.tekton.controller.taskrun import RunResult, RunWorld
from kubectl_kres.tekton.pipeline.affinity_assistant import Assistant
from kubectl_kres.tekton.pipeline.pipeline_run import one_task, pipeline_run, progress
from kubectl_kres.tekton.pipeline.pipeline_tasks import Planned

COMPARED = ("pod", "condition", "started", "taskRuns", "pipelineRun", "statefulSets", "quotas", "rejected")

NOT_COMPARED: dict[str, str] = {}

#: ``quotas`` stands only where there were some.
OPTIONAL = ("quotas",)

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
    first is as arbitrary, and such cases were not.
    """
    if case["expect"].get("condition", {}).get("reason") == "TaskRunValidationFailed":
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
    sent = taskrun.sent(raw, _world(given, start))
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
    assert not isinstance(results, Gap)
    yield from _after(results, namespace)


def _after(results: Sequence[RunResult], namespace: Namespace) -> Iterator[tuple[RunResult, Namespace]]:
    for result in results:
        then = copy.copy(namespace)
        if result.problem is None:
            _settle(result.submitted, result.outcome, then)
        yield result, then


def _pipeline_run(item: PipelineRun, given: Data, namespace: Namespace) -> Iterator[Played]:
    answer = pipeline_run(item, _world(given, namespace))
    assert not isinstance(answer, Gap)
    if answer.plan.problem is not None:
        yield {"pipelineRun": {"condition": _condition(answer.plan.problem)}}, []
        return
    for assistant in answer.assistants:
        (outcome,) = assistant.outcomes
        if outcome.allowed:
            _settle(assistant.pod, outcome, namespace)
    first = [one for one in answer.plan.tasks if not one.after and not one.is_finally]
    number = len(answer.plan.graph)
    for results, after in _in_turn([(one, name) for one in first for name in one.names], given, namespace):
        failed = len({task for task, _, one in results if one.problem is not None and one.problem.final})
        status, reason, message = progress(failed, number - failed, failed)
        shown = {
            "pipelineRun": {"condition": {"status": status, "reason": reason, "message": message}},
            "taskRuns": {name: _shown(one) for _, name, one in results},
            "quotas": after.quotas(),
        }
        if answer.assistants:
            shown["statefulSets"] = [_stateful_set(one) for one in answer.assistants]
        yield shown, [one for *_, one in results]


def _in_turn(
    tasks: Sequence[tuple[Planned, str]], given: Data, namespace: Namespace
) -> Iterator[tuple[list[tuple[str, str, RunResult]], Namespace]]:
    """The tasks' pods one after the other, each with what the ones before left in the quotas."""
    if not tasks:
        yield [], namespace
        return
    task, name = tasks[0]
    made = msgspec.structs.replace(task.run, metadata=msgspec.structs.replace(task.run.metadata, name=name))
    _store({"kind": "TaskRun", "apiVersion": "tekton.dev/v1", "metadata": {"name": name}}, namespace)
    results = one_task(msgspec.structs.replace(task, run=made), _world(given, namespace))
    for result, after in _after(results, namespace):
        for rest, end in _in_turn(tasks[1:], given, after):
            yield [(task.name, name, result), *rest], end


def _world(given: Data, namespace: Namespace) -> RunWorld:
    lookups = Lookups(
        {raw["metadata"]["name"]: decoded(to_v1(raw), Task) for raw in ([given["task"]] if "task" in given else [])},
        {raw["metadata"]["name"]: decoded(raw, StepAction) for raw in given.get("stepActions", ())},
    )
    labels = given.get("namespaceLabels")
    space = policy.Namespace(policy.ManagedMetadata(name="case", labels=labels))
    return taskrun.world_of(namespace._policies(), namespace.server, tekton.configured(given), lookups, namespace=space)


def _store(raw: Data, namespace: Namespace) -> None:
    """A run that exists, which quotas can count."""
    for outcome in namespace.answers("CREATE", raw):
        if outcome.allowed:
            namespace.settle("CREATE", raw, outcome)


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
    return {"condition": condition, "pod": _pod(result.stored, result.submitted), "started": not again}


def _condition(problem: Problem) -> dict[str, str]:
    return {"status": problem.status, "reason": problem.reason, "message": problem.message}


def _pod(stored: Mapping[str, Any] | None, sent: Pod | None) -> dict[str, Any] | None:
    if stored is None:
        return None
    deadline = sent.spec.active_deadline_seconds
    return {**stored, "spec": {**stored["spec"], **({"activeDeadlineSeconds": deadline} if deadline else {})}}


def _stateful_set(assistant: Assistant) -> dict[str, Any]:
    (outcome,) = assistant.outcomes
    containers = [msgspec.to_builtins(one) for one in assistant.pod.spec.containers]
    shown = {
        "name": assistant.name,
        "labels": dict(assistant.labels),
        "containers": containers,
        "replicas": 1,
        "pod": _pod(outcome.object, assistant.pod),
    }
    return shown if outcome.allowed else {**shown, "failedCreate": [assistant.event(outcome)]}
