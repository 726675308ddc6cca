"""What the webhook refuses in parameters of Pipelines: of the Pipeline itself, and what its tasks are given."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from kubectl_kres.tekton.model import Matrix, Param, PipelineRunSpec, PipelineSpec, PipelineTask, When
from kubectl_kres.tekton.rules.base import template_merge
from kubectl_kres.tekton.rules.base.config import Flags
from kubectl_kres.tekton.rules.validation.declarations import (
    Declaration,
    declaration_faults,
    declared,
    of_type,
    repeated_faults,
    type_faults,
    type_of,
    with_given,
)
from kubectl_kres.tekton.rules.validation.variable_faults import param_faults, use_faults
from kubectl_kres.tekton.rules.validation.variable_refs import dimmed, entire, not_isolated, prohibited, unknown
from kubectl_kres.tekton.rules.validation.webhook_error import WebhookError, keyed

_NAME = r"[_a-zA-Z0-9.-]+\[\*\]"
_WHOLE = re.compile(rf"\$\(params(?:\.{_NAME}|\[\"{_NAME}\"\]|\['{_NAME}'\])\)")
_REFERENCE = re.compile(r"\$\(([_a-zA-Z0-9.-]+)(?:\[(?:[0-9]+|\*)\])?\)")
_CONTEXT = {
    r"context\.pipelineRun": ("name", "namespace", "uid"),
    r"context\.pipeline": ("name",),
    r"context\.pipelineTask": ("retries",),
}
_PREFIXES = frozenset({"params", "tasks", "finally", "context", "workspaces", "results"})


class _Known(NamedTuple):
    names: frozenset[str]
    lists: frozenset[str]
    objects: Sequence[Declaration]


def own_faults(spec: PipelineSpec, path: str, flags: Flags) -> Iterator[WebhookError]:
    """Declarations of a Pipeline, which are said twice, and parameters that a task is given twice.

    Source: v1/pipeline_validation.go ValidatePipelineParameterVariables.
    """
    params = declared(spec.params)
    for field, tasks in (("tasks", spec.tasks), ("finally", spec.finally_)):
        where = f"{path}.{field}"
        yield from type_faults(params, f"{where}.params")
        yield from repeated_faults(params, where, enum=flags.param_enum)
        yield from _given_twice(tasks, where)
        for index, task in enumerate(tasks or ()):
            yield from _prefixes(task, f"{where}[{index}]")
        yield from _context(tasks, where)


def usage_faults(spec: PipelineSpec, *, beta: bool) -> Iterator[WebhookError]:
    """What a Pipeline that is sent alone mentions and does not declare.

    Source: v1/pipeline_validation.go validatePipelineParameterUsage.
    """
    params = declared(spec.params)
    for field, tasks in (("tasks", spec.tasks), ("finally", spec.finally_)):
        for index, task in enumerate(tasks or ()):
            task_spec = task.task_spec
            if task_spec is not None:
                steps = template_merge.merged(task_spec.steps, task_spec.step_template, beta=beta)
                both = (*declared(task_spec.params), *params)
                yield from param_faults(steps, both, f"spec.{field}[{index}]", beta=beta)
        yield from _task_faults(tasks, params, f"spec.{field}")


def inline_faults(run: PipelineRunSpec, spec: PipelineSpec, flags: Flags, *, beta: bool) -> Iterator[WebhookError]:
    """What an embedded Pipeline mentions, which may be given by the run alone; ``finally`` is not looked at.

    Source: v1/pipelinerun_validation.go validateInlineParameters.
    """
    params, bare = with_given(run.params, declared(spec.params), spec.tasks)
    yield from (WebhookError("missing field(s)", f"spec.{name}.properties", "tekton/declaration") for name in bare)
    for task in spec.tasks or ():
        task_spec = task.task_spec
        if task_spec is not None and task_spec.steps:
            steps = template_merge.merged(task_spec.steps, task_spec.step_template, beta=beta)
            yield from type_faults(params, "spec")
            yield from declaration_faults(params, "spec", enum=flags.param_enum)
            yield from use_faults(steps, params, "spec")
            yield from param_faults(steps, params, "spec", beta=beta)
    if spec.tasks:
        yield from type_faults(params, "spec.params")
        yield from repeated_faults(params, "spec", enum=flags.param_enum)
        yield from _task_faults(spec.tasks, params, "spec")


def _task_faults(
    tasks: Sequence[PipelineTask] | None, params: Sequence[Declaration], path: str
) -> Iterator[WebhookError]:
    """What tasks are given. Source: v1/param_types.go validatePipelineParametersVariablesInTaskParameters."""
    names, lists = (
        frozenset(param.name for param in params),
        frozenset(declaration.name for declaration in of_type(params, "array")),
    )
    # An object without keys is not looked for.
    known = _Known(names, lists, [declaration for declaration in of_type(params, "object") if declaration.properties])
    yield from _given_twice(tasks, path)
    for index, task in enumerate(tasks or ()):
        where = f"{path}[{index}]"
        for param in task.params or ():
            yield from _param(param, known, keyed(f"{where}.params", param.name))
        yield from _matrix(task.matrix or Matrix(), known, where)
        for place, when in enumerate(task.when or ()):
            yield from _when(when, known, f"{where}.when[{place}]")


def _given_twice(tasks: Sequence[PipelineTask] | None, path: str) -> Iterator[WebhookError]:
    for index, task in enumerate(tasks or ()):
        names: set[str] = set()
        for place, param in enumerate(task.params or ()):
            if param.name in names:
                text = f'parameter names must be unique, the parameter "{param.name}" is also defined at'
                yield WebhookError(text, f"{path}[{index}].params[{place}].name", "tekton/given-twice")
            names.add(param.name)


def _prefixes(task: PipelineTask, path: str) -> Iterator[WebhookError]:
    """Variables that there are none of. Source: v1/pipeline_validation.go validateVarSubstitutionExpressions."""
    matrix = task.matrix or Matrix()
    pairs = [(f"{keyed('params', param.name)}.value", _words(param.value)) for param in task.params or ()]
    pairs += [(f"when[{place}]", [when.input, *(when.values or ())]) for place, when in enumerate(task.when or ())]
    pairs += [(f"{keyed('matrix.params', param.name)}.value", _words(param.value)) for param in matrix.params or ()]
    for place, include in enumerate(matrix.include or ()):
        params = include.params or ()
        pairs += [
            (f"matrix.include[{place}].{keyed('params', param.name)}.value", _words(param.value)) for param in params
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
    given = [*(task.params or ()), *(matrix.params or ())]
    given += [param for include in matrix.include or () for param in include.params or ()]
    for text in (text for param in given for text in _words(param.value)):
        for prefix, known in _CONTEXT.items():
            if words := unknown(text, prefix, known, dimmed):
                yield WebhookError(words, f"{path}.value", "tekton/undeclared")


def _words(value: Any) -> list[str]:
    kind = type_of(value)
    if kind == "array":
        return list(value)
    return list(value.values()) if kind == "object" else [value] if isinstance(value, str) else []


def _param(param: Param, known: _Known, path: str) -> Iterator[WebhookError]:
    kind = type_of(param.value)
    if kind == "array":
        for index, text in enumerate(param.value):
            yield from _text(text, known, f"{path}.value[{index}]", alone=True)
    elif kind == "object":
        for key, text in param.value.items():
            yield from _text(text, known, keyed(f"{path}.properties", key))
    elif isinstance(param.value, str) and _WHOLE.fullmatch(param.value):
        if words := unknown(param.value, "params", known.names, dimmed):
            yield WebhookError(words, path, "tekton/undeclared")
    elif isinstance(param.value, str):
        yield from _text(param.value, known, path)


def _matrix(matrix: Matrix, known: _Known, path: str) -> Iterator[WebhookError]:
    for include in matrix.include or ():
        for index, param in enumerate(include.params or ()):
            text = param.value if isinstance(param.value, str) else ""
            yield from _text(text, known, f"{path}.matrix.include.params[{index}]")
    for param in matrix.params or ():
        for index, text in enumerate(param.value if type_of(param.value) == "array" else ()):
            yield from _text(text, known, f"{keyed(f'{path}.matrix.params', param.name)}.value[{index}]", alone=True)


def _when(when: When, known: _Known, path: str) -> Iterator[WebhookError]:
    yield from _text(when.input, known, f"{path}.input")
    for text in when.values or ():
        alone = text.removeprefix("$(params.").removesuffix("[*])") in known.lists
        yield from _text(text, known, f"{path}.values", alone=alone)


def _text(text: str, known: _Known, path: str, *, alone: bool = False) -> Iterator[WebhookError]:
    """``alone``: a list may stand there, by itself."""
    undeclared = [unknown(text, "params", known.names, dimmed)]
    undeclared += [
        unknown(text, rf"params\.{declaration.name}", declaration.properties or (), dimmed)
        for declaration in known.objects
    ]
    judge = not_isolated if alone else prohibited
    misused = [entire(text, "params", {declaration.name for declaration in known.objects}, dimmed)]
    misused.append(judge(text, "params", known.lists, dimmed))
    yield from (WebhookError(text, path, "tekton/undeclared") for text in undeclared if text)
    yield from (WebhookError(text, path, "tekton/variable-use") for text in misused if text)
