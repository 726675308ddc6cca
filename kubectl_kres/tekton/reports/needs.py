"""What an answer about a TaskRun or a Task must read: its policies, its Task, its pod, and how Tekton is configured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import structs

from kubectl_kres.admission.quota.usage import claim_names
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.raw import decoded
from kubectl_kres.reports.common.subject import Subject
from kubectl_kres.reports.pod.needs import storage_needs
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.model import PipelineRun, PodTemplate, Task, TaskRun, TaskSpec
from kubectl_kres.tekton.reports.config import configuration_needs
from kubectl_kres.tekton.rules.base.convert import to_v1
from kubectl_kres.tekton.rules.controller.quota_retry import waits
from kubectl_kres.tekton.rules.controller.workspace_claims import claims_of


def tekton_needs(store: Store, subject: Subject) -> tuple[Need, ...]:
    """Required are the object, LimitRanges and quotas, and the Task where the run does not keep it itself."""
    namespace = subject.ref.namespace
    run = known_object(store, subject)
    wanted = [Need("LimitRange", namespace), Need("ResourceQuota", namespace)]
    if subject.raw is None:
        wanted.insert(0, Need(subject.ref.kind, namespace, subject.ref.name))
    if isinstance(run, TaskRun):
        wanted += run_needs(store, run)
        wanted += workspace_needs(store, run)
    elif isinstance(run, Task):
        wanted += action_needs(run.spec, namespace)
    return tuple(dict.fromkeys((*wanted, *settling_needs(store, namespace))))


def pod_needs(store: Store, pod: Pod) -> Iterator[Need]:
    """What tells how a TaskRun's pod came about; none of it is required, since the pod stands for itself."""
    namespace = pod.metadata.namespace
    owner = next(
        (owner_reference.name for owner_reference in pod.metadata.owner_references or () if owner_reference.controller),
        "",
    )
    yield Need("TaskRun", namespace, owner, required=False)
    run = store.get("TaskRun", owner, namespace)
    if isinstance(run, TaskRun):
        yield from (structs.replace(need, required=False) for need in run_needs(store, run) if need.kind != "Pod")
        yield from settling_needs(store, namespace)


def settling_needs(store: Store, namespace: str) -> Iterator[Need]:
    """What all runs of a namespace depend on besides its policies: its labels, and Tekton's configuration."""
    yield Need("Namespace", name=namespace, required=False)
    yield from configuration_needs(store)


def known_object(store: Store, subject: Subject) -> Any:
    """The object that is asked about, as far as it is known by now; None also for a file's that does not decode."""
    if subject.raw is None:
        return store.get(subject.ref.kind, subject.ref.name, subject.ref.namespace)
    try:
        result = decoded(to_v1(subject.raw), subject.kind.struct)
    except msgspec.ValidationError:
        return None
    return structs.replace(result, metadata=structs.replace(result.metadata, namespace=subject.ref.namespace))


def run_needs(store: Store, run: TaskRun) -> Iterator[Need]:
    """What one run refers to."""
    namespace, status = run.metadata.namespace, run.status
    spec = status.task_spec or run.spec.task_spec
    ref = run.spec.task_ref
    if ref is not None and ref.name and not ref.resolver:
        yield Need("Task", namespace, ref.name, required=spec is None)
        task = store.get("Task", ref.name, namespace)
        spec = spec or (task.spec if isinstance(task, Task) else None)
    yield from action_needs(spec, namespace)
    if status.pod_name:
        yield Need("Pod", namespace, status.pod_name, required=False)
    for owner in run.metadata.owner_references or ():
        if owner.kind == "PipelineRun" and waits(run) is not None:
            yield Need("PipelineRun", namespace, owner.name, required=False)
    yield from template_needs(run.spec.pod_template)


def workspace_needs(store: Store, run: TaskRun | PipelineRun) -> Iterator[Need]:
    """The claims that are there, and the runs that own them, where a policy bounds those that the run makes."""
    namespace, claims = run.metadata.namespace, [claim.claim for claim in claims_of(run)]
    if not claims:
        return
    quotas, ranges = (store.all(kind, namespace) for kind in ("ResourceQuota", "LimitRange"))
    if any(claim_names(quota.spec.hard or ()) for quota in quotas) or any(
        item.type == "PersistentVolumeClaim" for entry in ranges for item in entry.spec.limits or ()
    ):
        yield Need("PersistentVolumeClaim", namespace, required=False)
        owners = {
            owner.kind
            for claim in store.all("PersistentVolumeClaim", namespace)
            for owner in claim.metadata.owner_references or ()
        }
        yield from (Need(kind, namespace, required=False) for kind in ("PipelineRun", "TaskRun") if kind in owners)
    yield from storage_needs(store, namespace, claims)


def template_needs(template: PodTemplate | None) -> Iterator[Need]:
    """The classes that a pod template names."""
    if template is not None and template.priority_class_name:
        yield Need("PriorityClass", required=False)
    if template is not None and template.runtime_class_name:
        yield Need("RuntimeClass", name=template.runtime_class_name)


def action_needs(spec: TaskSpec | None, namespace: str) -> Iterator[Need]:
    """StepActions of a Task: they say what runs, not with how much; they only tell whether a container is added."""
    for step in (spec.steps or ()) if spec is not None else ():
        if step.ref is not None and step.ref.name and not step.ref.resolver:
            yield Need("StepAction", namespace, step.ref.name, required=False)
