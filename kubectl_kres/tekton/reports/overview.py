"""The areas of TaskRuns and PipelineRuns in the overview, by their own conditions; only fixes are computed."""

# ruff: noqa: PLC0415 - what is computed for rows of runs that have ended is loaded with the first of them
from __future__ import annotations

from collections.abc import Mapping, Sequence

from kubectl_kres.errors import KresError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports import overview
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.reports.common.system import Severity
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.tekton.model import PipelineRun, TaskRun
from kubectl_kres.tekton.reports.run_facts import condition_of, run_status

#: How runs fare, the worst first.
RUN_STATES: Mapping[str, Severity] = {
    "failed": "bad",
    "waiting": "warn",
    "cancelled": "warn",
    "new": "",
    "pending": "",
    "running": "",
    "succeeded": "",
}


#: Reasons of runs that failed with a pod, and for lack of resources. Source: pkg/apis/pipeline/v1/taskrun_types.go.
_OF_PODS = frozenset({
    "PodEvicted", "InitContainerOOM", "SidecarOOM", "ExceededNodeResources", "InitContainerFailed",
    "TaskRunImagePullFailed", "CreateContainerConfigError", "PodCreationFailed",
})  # fmt: skip
#: What the message of a run says whose own step failed, under the reason of all other failures before Tekton 1.12.
_OWN = "exited with code"
#: So much of a condition's message is shown.
_MOST_TEXT = 160


def _taskruns(context: overview.AreaInput) -> overview.AreaWithRemedies:
    """Return the area of TaskRuns; most runs that failed with a pod are not about resources."""
    task_runs: list[TaskRun] = list(context.store.all("TaskRun", context.namespace or None))
    failed = [
        task_run for task_run in task_runs if run_status(task_run) == "failed" and not _failed_by_itself(task_run)
    ]
    failed.sort(key=lambda run: run.metadata.creation_timestamp or "", reverse=True)
    waiting = [task_run for task_run in task_runs if run_status(task_run) == "waiting"]
    problems = tuple(_run("taskruns", task_run) for task_run in (*failed[: context.listed], *waiting[: context.listed]))
    return overview.AreaWithRemedies(
        overview.OverviewArea(
            "taskruns", "TaskRun", len(task_runs), _run_parts(task_runs, blamed=bool(failed)), problems=problems
        ),
        lambda problem: _remedies(context, problem),
    )


def _failed_by_itself(run: TaskRun) -> bool:
    """Return whether what a run did itself failed, or somebody ended it: then nothing about its pod is wrong."""
    condition = condition_of(run)
    if not run.status.pod_name:
        return False
    if condition is None or condition.reason in _OF_PODS:
        return condition is None
    return condition.reason != "Failed" or not condition.message or _OWN in condition.message


def _pipelineruns(context: overview.AreaInput) -> overview.AreaWithRemedies:
    """Return the area of PipelineRuns; their problems are reported by their TaskRuns, but for a timeout in the queue,
    which ends these as cancelled, and for a claim without which there are none.
    """
    pipeline_runs: list[PipelineRun] = list(context.store.all("PipelineRun", context.namespace or None))
    queued = [run for run in pipeline_runs if _timed_out_in_queue(context, run)]
    queued.sort(key=lambda run: run.metadata.creation_timestamp or "", reverse=True)
    waiting = [run for run in pipeline_runs if run_status(run) == "waiting"]
    problems = tuple(_run("pipelineruns", run) for run in (*queued[: context.listed], *waiting[: context.listed]))
    parts = _run_parts(pipeline_runs, blamed=bool(queued))
    return overview.AreaWithRemedies(
        overview.OverviewArea("pipelineruns", "PipelineRun", len(pipeline_runs), parts, problems=problems),
        lambda problem: _remedies(context, problem),
    )


def _timed_out_in_queue(context: overview.AreaInput, run: PipelineRun) -> bool:
    """Return whether a run timed out while a task of it still had no pod."""
    condition = condition_of(run)
    if condition is None or condition.reason != "PipelineRunTimeout":
        return False
    children = (
        context.store.get("TaskRun", child.name, run.metadata.namespace)
        for child in run.status.child_references or ()
        if child.kind == "TaskRun"
    )
    return any(isinstance(child, TaskRun) and not child.status.pod_name for child in children)


def _remedies(context: overview.AreaInput, problem: overview.Problem) -> tuple[Remedy, ...]:
    """Return what the page of a run that has ended says first, so that the next one does not end the same way; of one
    that Tekton has not looked at, what it will refuse.
    """
    reason = problem.run_state.reason if problem.run_state is not None else ""
    # A TaskRun that waits is among what is refused, with its fixes.
    waits = problem.subject.kind == "PipelineRun" and (reason == "Quota" or problem.state == "waiting")
    if problem.state != "failed" and reason != "NotCreated" and not waits:
        return ()
    subject = Subject(problem.subject, BY_KIND[problem.subject.kind])
    try:
        if problem.subject.kind == "TaskRun":
            return explain(context.store, subject, context.options).fixes
        from kubectl_kres.tekton.reports.explain_pipeline import explain_pipeline

        return explain_pipeline(context.store, subject, context.options).fixes
    except KresError:
        # It went meanwhile, or what it refers to was not read: its own answer says so.
        return ()


def _run_parts(value: Sequence[TaskRun | PipelineRun], *, blamed: bool = False) -> tuple[overview.AreaPart, ...]:
    """``blamed``: some failed for lack of resources, else their failing is not about them."""
    counts: dict[str, int] = {}
    for run in value:
        counts[run_status(run)] = counts.get(run_status(run), 0) + 1
    return overview.parts_of(counts, {**RUN_STATES, "failed": "bad" if blamed else ""})


def _run(area: str, run: TaskRun | PipelineRun) -> overview.Problem:
    condition, state = condition_of(run), run_status(run)
    reason, since = (condition.reason, condition.last_transition_time or "") if condition is not None else ("", "")
    if condition is not None and condition.message and (state == "failed" or run.kind == "PipelineRun"):
        text = " ".join(condition.message.split())
        reason = f"{reason}: {text if len(text) <= _MOST_TEXT else f'{text[:_MOST_TEXT]}…'}"
    ref = ObjectRef(run.kind, run.metadata.name, run.metadata.namespace)
    return overview.Problem(
        area, ref, RUN_STATES[state], state, reason=reason, since=since if state == "waiting" else ""
    )


AREAS = (
    overview.AreaMaker("taskruns", ("TaskRun",), _taskruns),
    overview.AreaMaker("pipelineruns", ("PipelineRun", "TaskRun"), _pipelineruns),
)
