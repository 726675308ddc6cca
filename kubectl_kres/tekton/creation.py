"""What becomes of a TaskRun once the API server has answered to its pod."""

from __future__ import annotations

import msgspec

from kubectl_kres.model.tekton import TaskRun, TaskSpec
from kubectl_kres.tekton.answer import Problem
from kubectl_kres.tekton.field_error import by_rule, joined
from kubectl_kres.tekton.task_faults import sidecar_faults

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


def unbuildable(run: TaskRun, spec: TaskSpec) -> tuple[Problem, ...]:
    """What ends a run before its pod is sent: faults that v1beta1 lets pass; empty if there are none.

    Source: reconciler/taskrun/taskrun.go createPod.
    """
    found = [fault for one in spec.sidecars or () for fault in sidecar_faults(one, "sidecars")]
    if not found or run.status.pod_name:
        return ()
    said = refused(run, 0, "", joined(found))
    return (msgspec.structs.replace(said, rule=found[0].rule, faults=by_rule(found)),)


def _suspect(run: TaskRun) -> str:
    ref = run.spec.task_ref
    if ref is not None and ref.name:
        return f"missing or invalid Task {run.metadata.namespace}/{ref.name}"
    return "invalid TaskSpec"


def _condition(reason: str, message: str, rule: str, *, after: int = 0, status: str = "Unknown") -> Problem:
    return Problem("create", "TaskRun", message, rule, reason, status, after)
