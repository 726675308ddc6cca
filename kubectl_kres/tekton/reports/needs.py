"""The reads of an answer about a TaskRun, Task, PipelineRun or Pipeline: policies, Tasks, pods, configuration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import structs

from kubectl_kres.model.objects import decode_object
from kubectl_kres.model.pod import Pod
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.common.objects import bounded_kinds
from kubectl_kres.reports.common.system import AboutHeld, AboutPod, reads_for
from kubectl_kres.reports.pod.needs import node_needs, partner_needs, start_needs, storage_needs
from kubectl_kres.store.store import ReadRequest, Store
from kubectl_kres.tekton import model
from kubectl_kres.tekton.reports.config import configuration, configuration_needs
from kubectl_kres.tekton.reports.earlier_pods import earlier_needs
from kubectl_kres.tekton.rules.base.convert import to_v1
from kubectl_kres.tekton.rules.base.variables import PIPELINE_RUN
from kubectl_kres.tekton.rules.controller.quota_retry import waiting_condition
from kubectl_kres.tekton.rules.controller.workspace_claims import claims_of


def tekton_needs(store: Store, subject: Subject) -> tuple[ReadRequest, ...]:
    """Return the reads: required are the object, LimitRanges and quotas, and the Task where the run does not keep it
    itself.
    """
    namespace = subject.ref.namespace
    run = known_object(store, subject)
    reads = [ReadRequest("LimitRange", namespace), ReadRequest("ResourceQuota", namespace)]
    reads[:0] = _own_reads(store, subject)
    if isinstance(run, model.TaskRun):
        reads += run_needs(store, run)
        reads += workspace_needs(store, run)
        reads += earlier_needs(run)
        pod = store.get("Pod", run.status.pod_name, namespace) if subject.raw is None else None
        reads += (*node_needs(store, pod), *partner_needs(pod), *start_needs(pod)) if isinstance(pod, Pod) else ()
    elif isinstance(run, model.Task):
        reads += action_needs(run.spec, namespace)
    has_pod = isinstance(run, model.TaskRun) and bool(run.status.pod_name)
    return tuple(dict.fromkeys((*reads, *settling_needs(store, namespace, new=not has_pod))))


def _own_reads(store: Store, subject: Subject) -> Iterator[ReadRequest]:
    """Yield the read of the object itself; of one in a file only where a quota counts it: one that is there is free."""
    ref = subject.ref
    name = f"count/{subject.kind.qualified_name}"
    quotas = store.all("ResourceQuota", ref.namespace)
    if subject.raw is None or any(name in {**(item.spec.hard or {}), **(item.status.hard or {})} for item in quotas):
        yield ReadRequest(ref.kind, ref.namespace, ref.name, required=subject.raw is None)


def pod_needs(store: Store, pod: Pod) -> Iterator[ReadRequest]:
    """Yield what tells how a TaskRun's pod came about; none of it is required, since the pod stands for itself."""
    namespace = pod.metadata.namespace
    owner = next(
        (owner_reference.name for owner_reference in pod.metadata.owner_references or () if owner_reference.controller),
        "",
    )
    yield ReadRequest("TaskRun", namespace, owner, required=False)
    run = store.get("TaskRun", owner, namespace)
    if isinstance(run, model.TaskRun):
        yield from (structs.replace(read, required=False) for read in run_needs(store, run) if read.kind != "Pod")
        yield from settling_needs(store, namespace, new=False)


def settling_needs(store: Store, namespace: str, *, new: bool = True) -> Iterator[ReadRequest]:
    """Yield the reads that all runs of a namespace depend on besides its policies: its labels, what else admits, and
    Tekton's configuration. ``new``: there may be a pod to make.
    """
    yield ReadRequest("Namespace", name=namespace, required=False)
    more_reads = reads_for(store, AboutPod(namespace, None, new))
    yield from more_reads
    yield from configuration_needs(store)


def known_object(store: Store, subject: Subject) -> Any:
    """Return the explained object, as far as it is known by now; None also for one of a file that does not decode."""
    if subject.raw is None:
        return store.get(subject.ref.kind, subject.ref.name, subject.ref.namespace)
    try:
        result = decode_object(to_v1(subject.raw), subject.kind.struct)
    except msgspec.ValidationError:
        return None
    return structs.replace(result, metadata=structs.replace(result.metadata, namespace=subject.ref.namespace))


def run_needs(store: Store, run: model.TaskRun) -> Iterator[ReadRequest]:
    """Yield what one run refers to."""
    namespace, status = run.metadata.namespace, run.status
    spec = status.task_spec or run.spec.task_spec
    ref = run.spec.task_ref
    if ref is not None and ref.name and not ref.resolver:
        yield ReadRequest("Task", namespace, ref.name, required=spec is None)
        task = store.get("Task", ref.name, namespace)
        spec = spec or (task.spec if isinstance(task, model.Task) else None)
    yield from action_needs(spec, namespace)
    if status.pod_name:
        yield ReadRequest("Pod", namespace, status.pod_name, required=False)
    for owner in run.metadata.owner_references or ():
        if owner.kind == "PipelineRun" and waiting_condition(run) is not None:
            yield ReadRequest("PipelineRun", namespace, owner.name, required=False)
    yield from template_needs(run.spec.pod_template)
    if not status.pod_name:
        yield from account_needs(store, namespace, (run.spec.service_account_name,))


def account_needs(store: Store, namespace: str, names: Iterable[str]) -> Iterator[ReadRequest]:
    """Yield the ServiceAccounts of runs; one without a name takes that of the configuration. ``default`` is there."""
    default = configuration(store, EvaluationOptions()).service_account
    for name in dict.fromkeys(named or default or "default" for named in names):
        if name != "default":
            yield ReadRequest("ServiceAccount", namespace, name, required=False)


def workspace_needs(store: Store, run: model.TaskRun | model.PipelineRun) -> Iterator[ReadRequest]:
    """Yield the claims that are there, and the runs that own them, where a policy bounds those that the run makes."""
    namespace, claims = run.metadata.namespace, [claim.claim for claim in claims_of(run)]
    if not claims:
        return
    if "PersistentVolumeClaim" in bounded_kinds(store, namespace):
        yield ReadRequest("PersistentVolumeClaim", namespace, required=False)
        owners = {
            owner.kind
            for claim in store.all("PersistentVolumeClaim", namespace)
            for owner in claim.metadata.owner_references or ()
        }
        yield from (
            ReadRequest(kind, namespace, required=False) for kind in ("PipelineRun", "TaskRun") if kind in owners
        )
    yield from storage_needs(store, namespace, claims)


def template_needs(template: model.PodTemplate | None) -> Iterator[ReadRequest]:
    """Yield the classes that a pod template names."""
    if template is not None and template.priority_class_name:
        yield ReadRequest("PriorityClass", required=False)
    if template is not None and template.runtime_class_name:
        yield ReadRequest("RuntimeClass", name=template.runtime_class_name)


def action_needs(spec: model.TaskSpec | None, namespace: str) -> Iterator[ReadRequest]:
    """Yield the reads of a Task's StepActions: they say what runs, and whether a container is added, but no
    resources.
    """
    for step in (spec.steps or ()) if spec is not None else ():
        if step.ref is not None and step.ref.name and not step.ref.resolver:
            yield ReadRequest("StepAction", namespace, step.ref.name, required=False)


KINDS = ("PipelineRun", "Pipeline")

#: So many Tasks are read one by one, more of them as one list.
_FEW = 3


def pipeline_needs(store: Store, subject: Subject) -> tuple[ReadRequest, ...]:
    """Return the reads: required are the object, its Pipeline and Tasks where it does not keep them itself, LimitRanges
    and quotas.
    """
    space = subject.ref.namespace
    reads = [ReadRequest("LimitRange", space), ReadRequest("ResourceQuota", space)]
    reads[:0] = _own_reads(store, subject)
    result = known_object(store, subject)
    if isinstance(result, model.PipelineRun):
        reads += _reads_of_pipeline_run(store, result)
        reads += workspace_needs(store, result)
        if subject.raw is None:
            # Tekton hands the label of a run on to its TaskRuns, and that of TaskRuns on to their pods.
            selector = f"{PIPELINE_RUN}={subject.ref.name}"
            reads += (ReadRequest(kind, space, label_selector=selector, required=False) for kind in ("TaskRun", "Pod"))
            reads += _reads_of_waiting_tasks(store, result)
    elif isinstance(result, model.Pipeline):
        reads += _reads_of_tasks(store, result.spec, space)
    return tuple(dict.fromkeys((*reads, *settling_needs(store, space), *reads_for(store, AboutHeld(subject)))))


def _reads_of_waiting_tasks(store: Store, run: model.PipelineRun) -> Iterator[ReadRequest]:
    """Yield what says why pods of a run find no node."""
    space = run.metadata.namespace
    for child in run.status.child_references or ():
        task_run = store.get("TaskRun", child.name, space) if child.kind == "TaskRun" else None
        pod = store.get("Pod", task_run.status.pod_name, space) if isinstance(task_run, model.TaskRun) else None
        if isinstance(pod, Pod):
            yield from node_needs(store, pod)
            yield from partner_needs(pod)


def _reads_of_pipeline_run(store: Store, run: model.PipelineRun) -> Iterator[ReadRequest]:
    space, ref = run.metadata.namespace, run.spec.pipeline_ref
    spec = run.spec.pipeline_spec or run.status.pipeline_spec
    if ref is not None and ref.name and not (ref.resolver or ref.bundle):
        yield ReadRequest("Pipeline", space, ref.name, required=spec is None)
        pipeline = store.get("Pipeline", ref.name, space)
        spec = spec or (pipeline.spec if isinstance(pipeline, model.Pipeline) else None)
    if spec is not None:
        yield from _reads_of_tasks(store, spec, space)
    if run.spec.task_run_template is not None:
        yield from template_needs(run.spec.task_run_template.pod_template)
    for entry in run.spec.task_run_specs or ():
        yield from template_needs(entry.pod_template)
    of_all = run.spec.task_run_template or model.TaskRunTemplate()
    names = [of_all.service_account_name, *(entry.service_account_name for entry in run.spec.task_run_specs or ())]
    yield from account_needs(store, space, filter(None, names) if any(names) else ("",))


def _reads_of_tasks(store: Store, spec: model.PipelineSpec, space: str) -> Iterator[ReadRequest]:
    tasks = (*(spec.tasks or ()), *(spec.finally_ or ()))
    names = dict.fromkeys(filter(None, map(_task_name, tasks)))
    if len(names) > _FEW:
        yield ReadRequest("Task", space)
    else:
        yield from (ReadRequest("Task", space, name) for name in names)
    for task in tasks:
        yield from action_needs(task.task_spec, space)
    for name in names:
        result = store.get("Task", name, space)
        yield from action_needs(result.spec if result is not None else None, space)


def _task_name(task: model.PipelineTask) -> str:
    ref = task.task_ref
    if ref is None or ref.resolver or ref.bundle or ref.kind not in {"", "Task"}:
        return ""
    return "" if ref.api_version and not ref.api_version.startswith("tekton.dev/") else ref.name
