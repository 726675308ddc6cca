"""What the webhook refuses in a PipelineSpec: names of tasks, what they run, and how they wait for each other."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kubectl_kres.tekton.model import PipelineSpec, PipelineTask
from kubectl_kres.tekton.rules.base.config import Flags
from kubectl_kres.tekton.rules.base.task_order import ring, waits_for
from kubectl_kres.tekton.rules.validation.name_faults import reference_faults
from kubectl_kres.tekton.rules.validation.pipeline_params import own_faults
from kubectl_kres.tekton.rules.validation.task_faults import ON_ERROR, task_faults, when_faults
from kubectl_kres.tekton.rules.validation.webhook_error import LABEL, WebhookError

_RESULT = re.compile(r"\$\(tasks\.([A-Za-z0-9-]+)\.results[.\[]")
_NAME = (
    "Pipeline Task name must be a valid DNS Label.For more info refer to "
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#names"
)


def pipeline_faults(spec: PipelineSpec, path: str, flags: Flags, *, beta: bool = False) -> Iterator[WebhookError]:
    """The faults of the spec that stands at ``path``.

    Source: v1/pipeline_validation.go ValidatePipelineTasks, validateFinalTasks; reconciler/pipeline/dag Build.
    """
    seen: set[str] = set()
    for field, tasks in (("tasks", spec.tasks), ("finally", spec.finally_)):
        for index, task in enumerate(tasks or ()):
            where = f"{path}.{field}[{index}]"
            yield from _task(task, where, flags, beta=beta)
            if task.name in seen:
                yield WebhookError("expected exactly one, got both", f"{where}.name", "tekton/rules/pipeline-task-name")
            seen.add(task.name)
            if field == "finally" and task.run_after:
                text = (
                    f"invalid value: no runAfter allowed under spec.finally, final task {task.name} has runAfter "
                    "specified"
                )
                yield WebhookError(text, where, "tekton/run-after")
            if field == "finally":
                yield from _results(task, spec, where)
    yield from _order(spec, path)
    yield from own_faults(spec, path, flags)


def _task(task: PipelineTask, path: str, flags: Flags, *, beta: bool) -> Iterator[WebhookError]:
    if not LABEL.fullmatch(task.name):
        yield WebhookError(f'invalid value "{task.name}"', f"{path}.name", "tekton/rules/pipeline-task-name", _NAME)
    result = {
        "taskRef": task.task_ref,
        "taskSpec": task.task_spec,
        "pipelineRef": task.pipeline_ref,
        "pipelineSpec": task.pipeline_spec,
    }
    given = [name for name, value in result.items() if value is not None]
    wanted = [name for name in result if flags.api_fields == "alpha" or name.startswith("task")]
    if len(given) != 1:
        text = f"expected exactly one, got {'multiple' if given else 'neither'}"
        yield from (WebhookError(text, f"{path}.{name}", "tekton/one-of") for name in given or wanted)
    if task.on_error and task.on_error not in ON_ERROR:
        text = 'PipelineTask OnError must be either "continue" or "stopAndFail"'
        yield WebhookError(f"invalid value: {task.on_error}", f"{path}.OnError", "tekton/on-error", text)
    if task.on_error == "continue" and task.retries > 0:
        text = 'PipelineTask OnError cannot be set to "continue" when Retries is greater than 0'
        yield WebhookError(text, "", "tekton/on-error")
    if task.task_spec is not None and not task.task_spec.kind and not task.task_spec.api_version:
        yield from task_faults(task.task_spec, f"{path}.taskSpec", flags, beta=beta)
    if task.task_ref is not None and not task.task_ref.api_version:
        yield from reference_faults(task.task_ref, f"{path}.taskRef", flags)
    for place, when in enumerate(task.when or ()):
        yield from when_faults(when, f"{path}.when[{place}]")


def _results(task: PipelineTask, spec: PipelineSpec, path: str) -> Iterator[WebhookError]:
    """A final task can refer to results of tasks, not of its like. Source: validateFinalTasks."""
    known, final = (
        {pipeline_task.name for pipeline_task in pipeline_tasks or ()} for pipeline_tasks in (spec.tasks, spec.finally_)
    )
    for param in task.params or ():
        for name in dict.fromkeys(_RESULT.findall(param.value)) if isinstance(param.value, str) else ():
            if name not in known:
                which = f"final task {name}" if name in final else f"task {name} which is not defined in the pipeline"
                text = f"invalid task result reference, final task has task result reference from a {which}"
                yield WebhookError(f"invalid value: {text}", f"{path}.params[{param.name}].value", "tekton/run-after")


def _order(spec: PipelineSpec, path: str) -> Iterator[WebhookError]:
    """A task that is there twice, waits for itself, or for one that is not there; the first is told alone."""
    where = f"{path}.tasks"
    graph: dict[str, tuple[str, ...]] = {}
    for task in spec.tasks or ():
        if task.name in graph:
            text = f"invalid value: task {task.name} is already present in Graph, can't add it again: "
            yield WebhookError(f"{text}duplicate pipeline task", where, "tekton/rules/pipeline-task-name")
            return
        graph[task.name] = tuple(waits_for(task))
    if (stuck := ring(graph)) is not None:
        name, after = stuck
        others = ", ".join(f'"{name}"' for name in after)
        text = f'invalid value: cycle detected; task "{name}" depends on {others}'
        yield WebhookError(text, where, "tekton/cycle")
        return
    for name, after in graph.items():
        for other in after:
            if other not in graph:
                text = f"task {name} depends on {other} but {other} wasn't present in Pipeline"
                link = f"invalid value: couldn't add link between {name} and {other}: {text}"
                yield WebhookError(link, where, "tekton/run-after")
                return
