"""The webhook's refusals of a PipelineSpec: names of tasks, what they run, how they wait for each other, and
parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from kubectl_kres.tekton.model import Matrix, Param, PipelineRunSpec, PipelineSpec, PipelineTask, When
from kubectl_kres.tekton.rules.base import config as template_merge
from kubectl_kres.tekton.rules.base.config import Flags
from kubectl_kres.tekton.rules.base.task_order import find_cycle, waits_for
from kubectl_kres.tekton.rules.validation import declarations, variable_faults
from kubectl_kres.tekton.rules.validation.name_faults import reference_faults
from kubectl_kres.tekton.rules.validation.task_faults import ON_ERROR, task_faults, when_faults
from kubectl_kres.tekton.rules.validation.webhook_error import LABEL, WebhookError, entry_path

_PARAM_NAME = r"[_a-zA-Z0-9.-]+\[\*\]"
_WHOLE = re.compile(rf"\$\(params(?:\.{_PARAM_NAME}|\[\"{_PARAM_NAME}\"\]|\['{_PARAM_NAME}'\])\)")
_REFERENCE = re.compile(r"\$\(([_a-zA-Z0-9.-]+)(?:\[(?:[0-9]+|\*)\])?\)")
_CONTEXT = {
    r"context\.pipelineRun": ("name", "namespace", "uid"),
    r"context\.pipeline": ("name",),
    r"context\.pipelineTask": ("retries",),
}
_PREFIXES = frozenset({"params", "tasks", "finally", "context", "workspaces", "results"})


class _KnownParams(NamedTuple):
    names: frozenset[str]
    lists: frozenset[str]
    objects: Sequence[declarations.Declaration]


def own_faults(spec: PipelineSpec, path: str, flags: Flags) -> Iterator[WebhookError]:
    """Declarations of a Pipeline, which are said twice, and parameters that a task is given twice.

    Source: v1/pipeline_validation.go ValidatePipelineParameterVariables.
    """
    params = declarations.read_declarations(spec.params)
    for field, tasks in (("tasks", spec.tasks), ("finally", spec.finally_)):
        item_path = f"{path}.{field}"
        yield from declarations.type_faults(params, f"{item_path}.params")
        yield from declarations.repeated_faults(params, item_path, enum=flags.param_enum)
        yield from _given_twice(tasks, item_path)
        for index, task in enumerate(tasks or ()):
            yield from _prefixes(task, f"{item_path}[{index}]")
        yield from _context(tasks, item_path)


def usage_faults(spec: PipelineSpec, *, beta: bool) -> Iterator[WebhookError]:
    """Yield what a Pipeline that is sent alone mentions and does not declare.

    Source: v1/pipeline_validation.go validatePipelineParameterUsage.
    """
    params = declarations.read_declarations(spec.params)
    for field, tasks in (("tasks", spec.tasks), ("finally", spec.finally_)):
        for index, task in enumerate(tasks or ()):
            task_spec = task.task_spec
            if task_spec is not None:
                steps = template_merge.merge_templates(task_spec.steps, task_spec.step_template, beta=beta)
                both = (*declarations.read_declarations(task_spec.params), *params)
                yield from variable_faults.param_faults(steps, both, f"spec.{field}[{index}]", beta=beta)
        yield from _task_faults(tasks, params, f"spec.{field}")


def inline_faults(run: PipelineRunSpec, spec: PipelineSpec, flags: Flags, *, beta: bool) -> Iterator[WebhookError]:
    """Yield what an embedded Pipeline mentions, which may be given by the run alone; ``finally`` is not looked at.

    Source: v1/pipelinerun_validation.go validateInlineParameters.
    """
    params, bare = declarations.with_given(run.params, declarations.read_declarations(spec.params), spec.tasks)
    yield from (WebhookError("missing field(s)", f"spec.{name}.properties", "tekton/declaration") for name in bare)
    for task in spec.tasks or ():
        task_spec = task.task_spec
        if task_spec is not None and task_spec.steps:
            steps = template_merge.merge_templates(task_spec.steps, task_spec.step_template, beta=beta)
            yield from declarations.type_faults(params, "spec")
            yield from declarations.declaration_faults(params, "spec", enum=flags.param_enum)
            yield from variable_faults.use_faults(steps, params, "spec")
            yield from variable_faults.param_faults(steps, params, "spec", beta=beta)
    if spec.tasks:
        yield from declarations.type_faults(params, "spec.params")
        yield from declarations.repeated_faults(params, "spec", enum=flags.param_enum)
        yield from _task_faults(spec.tasks, params, "spec")


def _task_faults(
    tasks: Sequence[PipelineTask] | None, params: Sequence[declarations.Declaration], path: str
) -> Iterator[WebhookError]:
    """Yield what tasks are given. Source: v1/param_types.go validatePipelineParametersVariablesInTaskParameters."""
    names, lists = (
        frozenset(param.name for param in params),
        frozenset(declaration.name for declaration in declarations.parameters_of_type(params, "array")),
    )
    # An object without keys is not looked for.
    known = _KnownParams(
        names,
        lists,
        [declaration for declaration in declarations.parameters_of_type(params, "object") if declaration.properties],
    )
    yield from _given_twice(tasks, path)
    for index, task in enumerate(tasks or ()):
        item_path = f"{path}[{index}]"
        for param in task.params or ():
            yield from _param(param, known, entry_path(f"{item_path}.params", param.name))
        yield from _matrix(task.matrix or Matrix(), known, item_path)
        for position, when in enumerate(task.when or ()):
            yield from _when_faults(when, known, f"{item_path}.when[{position}]")


def _given_twice(tasks: Sequence[PipelineTask] | None, path: str) -> Iterator[WebhookError]:
    for index, task in enumerate(tasks or ()):
        names: set[str] = set()
        for position, param in enumerate(task.params or ()):
            if param.name in names:
                text = f'parameter names must be unique, the parameter "{param.name}" is also defined at'
                yield WebhookError(text, f"{path}[{index}].params[{position}].name", "tekton/given-twice")
            names.add(param.name)


def _prefixes(task: PipelineTask, path: str) -> Iterator[WebhookError]:
    """Variables that there are none of. Source: v1/pipeline_validation.go validateVarSubstitutionExpressions."""
    matrix = task.matrix or Matrix()
    pairs = [(f"{entry_path('params', param.name)}.value", _list_texts(param.value)) for param in task.params or ()]
    pairs += [(f"when[{index}]", [when.input, *(when.values or ())]) for index, when in enumerate(task.when or ())]
    pairs += [
        (f"{entry_path('matrix.params', param.name)}.value", _list_texts(param.value)) for param in matrix.params or ()
    ]
    for index, include in enumerate(matrix.include or ()):
        params = include.params or ()
        pairs += [
            (f"matrix.include[{index}].{entry_path('params', param.name)}.value", _list_texts(param.value))
            for param in params
        ]
    for field, texts in pairs:
        for match in (match for text in texts for match in _REFERENCE.finditer(text)):
            if match[1].split(".")[0] not in _PREFIXES:
                text = (
                    f'invalid value: invalid variable reference "{match[0]}", must start with a valid prefix: params, '
                    "tasks, finally, context, workspaces, or results; if you meant a shell variable, use ${VAR} instead"
                )
                yield WebhookError(text, f"{path}.{field}", "tekton/variable-use")


def _context(tasks: Sequence[PipelineTask] | None, path: str) -> Iterator[WebhookError]:
    """Things of the run that there are not: of the last task alone. Source: validatePipelineContextVariables."""
    task = tasks[-1] if tasks else PipelineTask()
    matrix = task.matrix or Matrix()
    given_names = [*(task.params or ()), *(matrix.params or ())]
    given_names += [param for include in matrix.include or () for param in include.params or ()]
    for text in (text for param in given_names for text in _list_texts(param.value)):
        for prefix, known in _CONTEXT.items():
            if words := variable_faults.unknown(text, prefix, known, variable_faults.mask_text):
                yield WebhookError(words, f"{path}.value", "tekton/undeclared")


def _list_texts(value: Any) -> list[str]:
    kind = declarations.type_of(value)
    if kind == "array":
        return list(value)
    return list(value.values()) if kind == "object" else [value] if isinstance(value, str) else []


def _param(param: Param, known: _KnownParams, path: str) -> Iterator[WebhookError]:
    kind = declarations.type_of(param.value)
    if kind == "array":
        for index, text in enumerate(param.value):
            yield from _text(text, known, f"{path}.value[{index}]", alone=True)
    elif kind == "object":
        for key, text in param.value.items():
            yield from _text(text, known, entry_path(f"{path}.properties", key))
    elif isinstance(param.value, str) and _WHOLE.fullmatch(param.value):
        if words := variable_faults.unknown(param.value, "params", known.names, variable_faults.mask_text):
            yield WebhookError(words, path, "tekton/undeclared")
    elif isinstance(param.value, str):
        yield from _text(param.value, known, path)


def _matrix(matrix: Matrix, known: _KnownParams, path: str) -> Iterator[WebhookError]:
    for include in matrix.include or ():
        for index, param in enumerate(include.params or ()):
            text = param.value if isinstance(param.value, str) else ""
            yield from _text(text, known, f"{path}.matrix.include.params[{index}]")
    for param in matrix.params or ():
        for index, text in enumerate(param.value if declarations.type_of(param.value) == "array" else ()):
            yield from _text(
                text, known, f"{entry_path(f'{path}.matrix.params', param.name)}.value[{index}]", alone=True
            )


def _when_faults(when: When, known: _KnownParams, path: str) -> Iterator[WebhookError]:
    yield from _text(when.input, known, f"{path}.input")
    for text in when.values or ():
        alone = text.removeprefix("$(params.").removesuffix("[*])") in known.lists
        yield from _text(text, known, f"{path}.values", alone=alone)


def _text(text: str, known: _KnownParams, path: str, *, alone: bool = False) -> Iterator[WebhookError]:
    """``alone``: a list may stand there, by itself."""
    undeclared = [variable_faults.unknown(text, "params", known.names, variable_faults.mask_text)]
    undeclared += [
        variable_faults.unknown(
            text, rf"params\.{declaration.name}", declaration.properties or (), variable_faults.mask_text
        )
        for declaration in known.objects
    ]
    judge = variable_faults.not_isolated if alone else variable_faults.whole_list_fault
    misused = [
        variable_faults.whole_object_fault(
            text, "params", {declaration.name for declaration in known.objects}, variable_faults.mask_text
        )
    ]
    misused.append(judge(text, "params", known.lists, variable_faults.mask_text))
    yield from (WebhookError(text, path, "tekton/undeclared") for text in undeclared if text)
    yield from (WebhookError(text, path, "tekton/variable-use") for text in misused if text)


_RESULT = re.compile(r"\$\(tasks\.([A-Za-z0-9-]+)\.results[.\[]")
_NAME = (
    "Pipeline Task name must be a valid DNS Label.For more info refer to "
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#names"
)


def pipeline_faults(spec: PipelineSpec, path: str, flags: Flags, *, beta: bool = False) -> Iterator[WebhookError]:
    """Yield the faults of the spec that stands at ``path``.

    Source: v1/pipeline_validation.go ValidatePipelineTasks, validateFinalTasks; reconciler/pipeline/dag Build.
    """
    seen: set[str] = set()
    for field, tasks in (("tasks", spec.tasks), ("finally", spec.finally_)):
        for index, task in enumerate(tasks or ()):
            item_path = f"{path}.{field}[{index}]"
            yield from _task(task, item_path, flags, beta=beta)
            if task.name in seen:
                yield WebhookError("expected exactly one, got both", f"{item_path}.name", "tekton/pipeline-task-name")
            seen.add(task.name)
            if field == "finally" and task.run_after:
                text = (
                    f"invalid value: no runAfter allowed under spec.finally, final task {task.name} has runAfter "
                    "specified"
                )
                yield WebhookError(text, item_path, "tekton/run-after")
            if field == "finally":
                yield from _results(task, spec, item_path)
    yield from _order(spec, path)
    yield from own_faults(spec, path, flags)


def _task(task: PipelineTask, path: str, flags: Flags, *, beta: bool) -> Iterator[WebhookError]:
    if not LABEL.fullmatch(task.name):
        yield WebhookError(f'invalid value "{task.name}"', f"{path}.name", "tekton/pipeline-task-name", _NAME)
    result = {
        "taskRef": task.task_ref,
        "taskSpec": task.task_spec,
        "pipelineRef": task.pipeline_ref,
        "pipelineSpec": task.pipeline_spec,
    }
    given_fields = [name for name, value in result.items() if value is not None]
    wanted = [name for name in result if flags.api_fields == "alpha" or name.startswith("task")]
    if len(given_fields) != 1:
        text = f"expected exactly one, got {'multiple' if given_fields else 'neither'}"
        yield from (WebhookError(text, f"{path}.{name}", "tekton/one-of") for name in given_fields or wanted)
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
    for index, when in enumerate(task.when or ()):
        yield from when_faults(when, f"{path}.when[{index}]")


def _results(task: PipelineTask, spec: PipelineSpec, path: str) -> Iterator[WebhookError]:
    """A final task can refer to results of tasks, not of its like. Source: validateFinalTasks."""
    known_names, final = (
        {pipeline_task.name for pipeline_task in pipeline_tasks or ()} for pipeline_tasks in (spec.tasks, spec.finally_)
    )
    for param in task.params or ():
        for name in dict.fromkeys(_RESULT.findall(param.value)) if isinstance(param.value, str) else ():
            if name not in known_names:
                which = f"final task {name}" if name in final else f"task {name} which is not defined in the pipeline"
                text = f"invalid task result reference, final task has task result reference from a {which}"
                yield WebhookError(f"invalid value: {text}", f"{path}.params[{param.name}].value", "tekton/run-after")


def _order(spec: PipelineSpec, path: str) -> Iterator[WebhookError]:
    """Yield a task that is there twice, waits for itself, or for one that is not there; the first is reported alone."""
    item_path = f"{path}.tasks"
    graph: dict[str, tuple[str, ...]] = {}
    for task in spec.tasks or ():
        if task.name in graph:
            text = f"invalid value: task {task.name} is already present in Graph, can't add it again: "
            yield WebhookError(f"{text}duplicate pipeline task", item_path, "tekton/pipeline-task-name")
            return
        graph[task.name] = tuple(waits_for(task))
    if (stuck := find_cycle(graph)) is not None:
        name, after = stuck
        others = ", ".join(f'"{name}"' for name in after)
        text = f'invalid value: cycle detected; task "{name}" depends on {others}'
        yield WebhookError(text, item_path, "tekton/cycle")
        return
    for name, after in graph.items():
        for other in after:
            if other not in graph:
                text = f"task {name} depends on {other} but {other} wasn't present in Pipeline"
                link = f"invalid value: couldn't add link between {name} and {other}: {text}"
                yield WebhookError(link, item_path, "tekton/run-after")
                return
