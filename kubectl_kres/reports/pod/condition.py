"""How an object fares as its cluster says: ready pods, and a few words on what keeps it from running."""

from __future__ import annotations

from kubectl_kres.model.pod import SCHEDULED, ContainerState, ContainerStatus, Pod
from kubectl_kres.model.workload import Workload

#: Reasons of containers that have ended or wait and that nobody has to look into.
_USUAL = {"Completed", "ContainerCreating", "PodInitializing"}


def ready_of(kind: str, value: object) -> str:
    """``2/3`` as kubectl get has it; empty for what has no pods of its own."""
    if isinstance(value, Pod):
        ready = sum(_is_ready(status) for status in value.status.container_statuses or ())
        return f"{ready}/{len(value.spec.containers or ())}"
    return _ready_of_workload(kind, value) if isinstance(value, Workload) else ""


def _is_ready(status: ContainerStatus) -> bool:
    """Snapshots of old say no more than that it runs."""
    if status.ready is not None:
        return status.ready
    return status.state is not None and status.state.running is not None


def _ready_of_workload(kind: str, workload: Workload) -> str:
    spec, status = workload.spec, workload.status
    match kind:
        case "Deployment" | "StatefulSet" | "ReplicaSet" | "ReplicationController":
            return f"{status.ready_replicas}/{1 if spec.replicas is None else spec.replicas}"
        case "DaemonSet":
            return f"{status.number_ready}/{status.desired_number_scheduled}"
        case "Job":
            return f"{status.succeeded}/{1 if spec.completions is None else spec.completions}"
    return ""


def state_of(kind: str, value: object) -> str:
    """What matters of how it fares: why it does not run, or rests; empty where all is as usual."""
    if isinstance(value, Pod):
        return _state_of_pod(value)
    return _state_of_workload(kind, value) if isinstance(value, Workload) else ""


def _state_of_workload(kind: str, workload: Workload) -> str:
    if workload.spec.suspend:
        return "suspended (spec.suspend)"
    if kind == "Deployment" and workload.spec.paused:
        return "paused (spec.paused): changes of its template wait"
    status = workload.status
    wanted = 1 if workload.spec.replicas is None else workload.spec.replicas
    ordered = kind == "StatefulSet" and workload.spec.pod_management_policy != "Parallel"
    if ordered and status.ready_replicas < status.replicas < wanted:
        return "waits until the pods that exist are Ready (podManagementPolicy OrderedReady)"
    for condition in workload.status.conditions or ():
        if kind == "Job" and condition.status == "True" and condition.type in {"Complete", "Failed"}:
            return condition.type.lower() + (f" ({condition.reason})" if condition.type == "Failed" else "")
    return ""


def _state_of_pod(pod: Pod) -> str:
    """As the STATUS of kubectl get, but for what is usual. Source: kubectl printers/internalversion printPod."""
    status = pod.status
    if status.reason:
        return status.reason
    if pod.metadata.deletion_timestamp:
        return "Terminating"
    unscheduled = next(
        (
            condition
            for condition in status.conditions or ()
            if condition.type == SCHEDULED and condition.status == "False"
        ),
        None,
    )
    if unscheduled is not None:
        return unscheduled.reason or "not scheduled"
    for prefix, statuses in (("Init:", status.init_container_statuses or ()), ("", status.container_statuses or ())):
        worst = next((text for status in statuses if (text := _trouble(status))), "")
        if worst:
            return f"{prefix}{worst}"
    if status.phase in {"", "Running"}:
        return ""
    if status.phase == "Pending" and not pod.spec.node_name:
        return "Pending: no node yet"
    return status.phase


def _trouble(status: ContainerStatus) -> str:
    """OOMKilled, ImagePullBackOff, CrashLoopBackOff, Error, with the restarts so far."""
    state, before = status.state or ContainerState(), status.last_state or ContainerState()
    ended = before.terminated.reason if before.terminated is not None else ""
    reason = ""
    if state.waiting is not None:
        reason = ended if ended == "OOMKilled" and state.waiting.reason == "CrashLoopBackOff" else state.waiting.reason
    elif state.terminated is not None:
        reason = state.terminated.reason
    elif ended == "OOMKilled":
        reason = ended
    if not reason or reason in _USUAL:
        return ""
    restarts = f", {status.restart_count} restart{'s' * (status.restart_count != 1)}" if status.restart_count else ""
    return f"{reason} (container {status.name}{restarts})"
