"""What the webhook refuses in a run beside its values: timeouts, retries, the wanted status, breakpoints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from kubectl_kres.tekton.model import Breakpoints, PipelineRunSpec, PipelineTaskRunSpec, TaskRunSpec, Timeouts
from kubectl_kres.tekton.rules.base.duration import go_text, seconds
from kubectl_kres.tekton.rules.validation.webhook_error import WebhookError

_CANCELLED, HELD_TASK_RUN = "TaskRunCancelled", "TaskRunPending"
_TIMEOUT = "tekton/timeout"


def task_run_faults(spec: TaskRunSpec, *, beta: bool = False, holds: bool = True) -> Iterator[WebhookError]:
    """``beta``: retries are not looked at. ``holds``: a run may be holds back.

    Source: v1/taskrun_validation.go TaskRunSpec.Validate, validateDebug.
    """
    if spec.debug is not None and spec.debug.breakpoints is not None:
        yield from _breakpoints(spec.debug.breakpoints)
    known = (_CANCELLED, HELD_TASK_RUN) if holds else (_CANCELLED,)
    if spec.status and spec.status not in known:
        text = f"invalid value: {spec.status} should be {' or '.join(known)}"
        yield WebhookError(text, "spec.status", "tekton/run-status")
    if spec.retries < 0 and not beta:
        yield WebhookError(f"invalid value: {spec.retries} should be >= 0", "spec.retries", "tekton/retries")
    yield from _negative(spec.timeout, "spec.timeout")


def pipeline_run_faults(spec: PipelineRunSpec, minutes: int) -> Iterator[WebhookError]:
    """``minutes``: how long a PipelineRun may take that does not say so.

    Source: v1/pipelinerun_validation.go validatePipelineTimeout, validateTaskRunSpecTimeout.
    """
    given = spec.timeouts or Timeouts()
    whole = _length(given.pipeline)
    whole = Fraction(minutes * 60) if whole is None else whole
    tasks, last = _length(given.tasks), _length(given.finally_)
    for field, length in (("tasks", tasks), ("finally", last), ("pipeline", whole)):
        yield from _below_zero(length, f"spec.timeouts.{field}")
    yield from _parts(whole, tasks, last)
    most, source = (tasks, "pipeline tasks duration") if tasks is not None else (whole, "pipeline duration")
    yield from _single(spec.task_run_specs or (), most, source)


def _parts(whole: Fraction, tasks: Fraction | None, last: Fraction | None) -> Iterator[WebhookError]:
    """What the parts of a pipeline may take, against the whole."""
    for field, length in (("tasks", tasks), ("finally", last)):
        if length is not None and whole and (length > whole or not length):
            endless = "" if length else " (no timeout)"
            text = f"invalid value: {go_text(length)}{endless} should be <= pipeline duration"
            yield WebhookError(text, f"spec.timeouts.{field}", _TIMEOUT)
    if tasks is not None and last is not None and tasks + last > whole:
        text = f"invalid value: {go_text(tasks)} + {go_text(last)} should be <= pipeline duration"
        yield from (WebhookError(text, f"spec.timeouts.{field}", _TIMEOUT) for field in ("tasks", "finally"))


def _single(entries: Sequence[PipelineTaskRunSpec], most: Fraction, source: str) -> Iterator[WebhookError]:
    for index, entry in enumerate(entries):
        length, path = _length(entry.timeout), f"spec.taskRunSpecs[{index}].timeout"
        if length is not None and length >= 0 and most > 0 and length > most:
            text = f"invalid value: {go_text(length)} should be <= {source} {go_text(most)}"
            yield WebhookError(text, path, _TIMEOUT)
        yield from _below_zero(length, path)


def _breakpoints(points: Breakpoints) -> Iterator[WebhookError]:
    path, rule = "spec.debug.breakpoints", "tekton/breakpoint"
    only = "onFailure breakpoint is only allowed to be set as enabled"
    if not points.on_failure:
        text = "invalid value: onFailure breakpoint is empty, it is only allowed to be set as enabled"
        yield WebhookError(text, f"{path}.onFailure", rule)
    elif points.on_failure != "enabled":
        text = f"invalid value: {points.on_failure} is not a valid onFailure breakpoint value, {only}"
        yield WebhookError(text, f"{path}.onFailure", rule)
    steps = points.before_steps or ()
    for index, step in enumerate(steps):
        if step in steps[:index]:
            text = f"before step must be unique, the same step: {step} is defined multiple times at"
            yield WebhookError(text, f"{path}.beforeSteps[{index}]", rule)


def _negative(timeout: str | None, path: str) -> Iterator[WebhookError]:
    yield from _below_zero(_length(timeout), path)


def _below_zero(length: Fraction | None, path: str) -> Iterator[WebhookError]:
    if length is not None and length < 0:
        yield WebhookError(f"invalid value: {go_text(length)} should be >= 0", path, _TIMEOUT)


def _length(text: str | None) -> Fraction | None:
    return None if text is None else seconds(text)
