"""The areas of TaskRuns and PipelineRuns in the overview, by their own conditions: nothing is computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports import overview
from kubectl_kres.reports.common.parts import Severity
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


def _taskruns(context: overview.AreaInput) -> overview.AreaWithRemedies:
    """Return the area of TaskRuns; a run that failed with a pod is not about resources."""
    task_runs: list[TaskRun] = list(context.store.all("TaskRun", context.namespace or None))
    podless = [task_run for task_run in task_runs if run_status(task_run) == "failed" and not task_run.status.pod_name]
    podless.sort(key=lambda run: run.metadata.creation_timestamp or "", reverse=True)
    waiting = [task_run for task_run in task_runs if run_status(task_run) == "waiting"]
    problems = tuple(_run("taskruns", task_run) for task_run in (*podless[: overview.MOST], *waiting[: overview.MOST]))
    return overview.AreaWithRemedies(
        overview.OverviewArea(
            "taskruns", "TaskRun", len(task_runs), _run_parts(task_runs, podless=bool(podless)), problems=problems
        )
    )


def _pipelineruns(context: overview.AreaInput) -> overview.AreaWithRemedies:
    """Return the area of PipelineRuns; their problems are reported by their TaskRuns."""
    pipeline_runs: list[PipelineRun] = list(context.store.all("PipelineRun", context.namespace or None))
    return overview.AreaWithRemedies(
        overview.OverviewArea("pipelineruns", "PipelineRun", len(pipeline_runs), _run_parts(pipeline_runs))
    )


def _run_parts(value: Sequence[TaskRun | PipelineRun], *, podless: bool = False) -> tuple[overview.AreaPart, ...]:
    """``podless``: some failed without a pod, else their failing is not about resources."""
    counts: dict[str, int] = {}
    for run in value:
        counts[run_status(run)] = counts.get(run_status(run), 0) + 1
    return overview.parts_of(counts, {**RUN_STATES, "failed": "bad" if podless else ""})


def _run(area: str, run: TaskRun) -> overview.Problem:
    condition, state = condition_of(run), run_status(run)
    reason, since = (condition.reason, condition.last_transition_time or "") if condition is not None else ("", "")
    ref = ObjectRef("TaskRun", run.metadata.name, run.metadata.namespace)
    return overview.Problem(
        area, ref, RUN_STATES[state], state, reason=reason, since=since if state == "waiting" else ""
    )


AREAS = (
    overview.AreaMaker("taskruns", ("TaskRun",), _taskruns),
    overview.AreaMaker("pipelineruns", ("PipelineRun",), _pipelineruns),
)
