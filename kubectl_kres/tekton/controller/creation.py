"""What becomes of a TaskRun once the API server has answered to its pod."""

from __future__ import annotations

import msgspec

from kubectl_kres.model.tekton import PodTemplate, TaskRun, TaskSpec
from kubectl_kres.tekton.base.config import Flags
from kubectl_kres.tekton.base.naming import pod_name
from kubectl_kres.tekton.base.result import Problem
from kubectl_kres.tekton.controller.internal_volumes import doubled, mounted
from kubectl_kres.tekton.validation.task_faults import sidecar_faults
from kubectl_kres.tekton.validation.variable_faults import result_faults
from kubectl_kres.tekton.validation.webhook_error import by_rule, joined

#: Seconds until the next try.
AFTER_QUOTA, AFTER_CONFLICT = 60, 1


def refused(run: TaskRun, code: int, reason: str, message: str, kind: str = "pods") -> Problem:
    """The condition after a refusal; ``reason``, ``message`` and ``kind`` (of what) as in the API server's status.

    Source: reconciler/taskrun/taskrun.go handlePodCreationError.
    """
    if code == 403 and "exceeded quota" in message:
        text = f"TaskRun Pod exceeded available resources: {message}"
        return _condition("ExceededResourceQuota", text, "tekton/exceeded-quota", after=AFTER_QUOTA)
    if kind == "resourcequotas" and reason == "Conflict":
        text = "tried to create pod, but it failed with ResourceQuotaConflictError"
        return _condition("Pending", text, "tekton/quota-conflict", after=AFTER_CONFLICT)
    if reason == "AlreadyExists":
        return _condition("Pending", "tried to create pod, but it already exists", "tekton/pod-exists")
    if code == 403 and ("violates PodSecurity" in message or "security context constraint" in message):
        return _condition("PodAdmissionFailed", message, "tekton/pod-security", status="False")
    if "TaskRun validation failed" in message:
        return _condition("TaskRunValidationFailed", message, "tekton/pod-creation-failed", status="False")
    text = f'failed to create task run pod "{run.metadata.name}": {message}. Maybe {_suspect(run)}'
    return _condition("PodCreationFailed", text, "tekton/pod-creation-failed", status="False")


def unbuildable(run: TaskRun, spec: TaskSpec, template: PodTemplate | None, flags: Flags) -> tuple[Problem, ...]:
    """What ends a run before its pod is sent; empty if nothing does.

    Faults that v1beta1 lets pass, or that come up once StepActions are put in; then volumes with one name.
    ``template``: the run's with what config-defaults adds. Source: reconciler/taskrun/taskrun.go createPod.
    """
    if run.status.pod_name:
        return ()
    found = [fault for one in spec.sidecars or () for fault in sidecar_faults(one, "sidecars")]
    if spec is not run.spec.task_spec:
        found += result_faults(spec.steps or (), spec.results, "")
    text = joined([one._replace(path=one.path.removeprefix(".")) for one in found])
    if not found:
        found += doubled(run, spec, template, flags)
        text = f"translating TaskSpec to Pod: {joined(found)}"
    if not found:
        return ()
    said = refused(run, 0, "", text)
    return (msgspec.structs.replace(said, rule=found[0].rule, faults=by_rule(found)),)


def unmountable(run: TaskRun, spec: TaskSpec, template: PodTemplate | None, flags: Flags) -> tuple[Problem, ...]:
    """What ends a run whose pod has mounts that the API server refuses, which it says before it looks at any policy.

    Other faults that it would name beside these are left out.
    """
    wrong = () if run.status.pod_name else mounted(run, spec, template, flags)
    if not wrong:
        return ()
    name = pod_name(run.metadata.name or run.metadata.generate_name, len(run.status.retries_status or ()))
    text = wrong[0] if len(wrong) == 1 else f"[{', '.join(wrong)}]"
    said = refused(run, 422, "Invalid", f'Pod "{name}" is invalid: {text}')
    return (msgspec.structs.replace(said, rule="tekton/unmountable"),)


def _suspect(run: TaskRun) -> str:
    ref = run.spec.task_ref
    if ref is not None and ref.name:
        return f"missing or invalid Task {run.metadata.namespace}/{ref.name}"
    return "invalid TaskSpec"


def _condition(reason: str, message: str, rule: str, *, after: int = 0, status: str = "Unknown") -> Problem:
    return Problem("create", "TaskRun", message, rule, reason, status, after)
