"""What an answer about a PipelineRun or a Pipeline must read."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.reports.common.subject import Subject
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.model import Pipeline, PipelineRun, PipelineSpec, PipelineTask
from kubectl_kres.tekton.reports.needs import (
    action_needs,
    known_object,
    settling_needs,
    template_needs,
    workspace_needs,
)
from kubectl_kres.tekton.rules.base.naming import PIPELINE_RUN

KINDS = ("PipelineRun", "Pipeline")

#: So many Tasks are read one by one, more of them as one list.
_FEW = 3


def pipeline_needs(store: Store, subject: Subject) -> tuple[Need, ...]:
    """Required are the object, its Pipeline and Tasks where it does not keep them itself, LimitRanges and quotas."""
    space = subject.ref.namespace
    wanted = [Need("LimitRange", space), Need("ResourceQuota", space)]
    if subject.raw is None:
        wanted.insert(0, Need(subject.ref.kind, space, subject.ref.name))
    result = known_object(store, subject)
    if isinstance(result, PipelineRun):
        wanted += _of_run(store, result)
        wanted += workspace_needs(store, result)
        if subject.raw is None:
            # Tekton hands the label of a run on to its TaskRuns, and that of TaskRuns on to their pods.
            own = f"{PIPELINE_RUN}={subject.ref.name}"
            wanted += (Need(kind, space, label_selector=own, required=False) for kind in ("TaskRun", "Pod"))
    elif isinstance(result, Pipeline):
        wanted += _of_tasks(store, result.spec, space)
    return tuple(dict.fromkeys((*wanted, *settling_needs(store, space))))


def _of_run(store: Store, run: PipelineRun) -> Iterator[Need]:
    space, ref = run.metadata.namespace, run.spec.pipeline_ref
    spec = run.spec.pipeline_spec or run.status.pipeline_spec
    if ref is not None and ref.name and not (ref.resolver or ref.bundle):
        yield Need("Pipeline", space, ref.name, required=spec is None)
        pipeline = store.get("Pipeline", ref.name, space)
        spec = spec or (pipeline.spec if isinstance(pipeline, Pipeline) else None)
    if spec is not None:
        yield from _of_tasks(store, spec, space)
    if run.spec.task_run_template is not None:
        yield from template_needs(run.spec.task_run_template.pod_template)
    for entry in run.spec.task_run_specs or ():
        yield from template_needs(entry.pod_template)


def _of_tasks(store: Store, spec: PipelineSpec, space: str) -> Iterator[Need]:
    tasks = (*(spec.tasks or ()), *(spec.finally_ or ()))
    names = dict.fromkeys(filter(None, map(_task_name, tasks)))
    if len(names) > _FEW:
        yield Need("Task", space)
    else:
        yield from (Need("Task", space, name) for name in names)
    for task in tasks:
        yield from action_needs(task.task_spec, space)
    for name in names:
        result = store.get("Task", name, space)
        yield from action_needs(result.spec if result is not None else None, space)


def _task_name(task: PipelineTask) -> str:
    ref = task.task_ref
    if ref is None or ref.resolver or ref.bundle or ref.kind not in {"", "Task"}:
        return ""
    return "" if ref.api_version and not ref.api_version.startswith("tekton.dev/") else ref.name
