"""The state of a TaskRun or a PipelineRun: from its condition, and from its pods where they were read."""

from __future__ import annotations

import re

from msgspec import structs

from kubectl_kres.model.objects import Condition
from kubectl_kres.model.pod import Pod
from kubectl_kres.record import joined
from kubectl_kres.reports.common.explanation import Reason, RunState
from kubectl_kres.reports.common.owners import controller
from kubectl_kres.reports.explain.object_state import state_of_pod
from kubectl_kres.reports.run_state.containers import missing_object, troubles
from kubectl_kres.reports.run_state.details import ContainerKilled
from kubectl_kres.reports.run_state.grace import is_new, worst_state
from kubectl_kres.reports.run_state.next_steps import SeeFix, with_next_step
from kubectl_kres.reports.run_state.scheduling import kueue_queue, named_object
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.model import PipelineRun, TaskRun
from kubectl_kres.tekton.reports.run_facts import condition_of, waits_for_quota

#: Reasons of a run whose images cannot be pulled. Source: tekton pkg/apis/pipeline/v1/taskrun_types.go.
_IMAGE = frozenset({"TaskRunImagePullFailed", "ImagePullBackOff"})
#: The sentence about a container of a failed run. Source: tekton pkg/pod/status.go getFailureMessage.
_ENDED_BY_KILL = re.compile(r'"(?:step-)?([^"]+)" exited with code \d+(?:: | \()?OOMKilled|OOMKilled')


def run_state(store: Store, run: TaskRun | PipelineRun, now: str) -> RunState:
    """``now``: RFC 3339; empty: nothing counts as new."""
    state = _run_state(store, run, now)
    return state if state.state in {"runs", "ended"} else with_next_step(state, run.metadata.namespace)


def _run_state(store: Store, run: TaskRun | PipelineRun, now: str) -> RunState:
    condition, created_at = condition_of(run), run.metadata.creation_timestamp or ""
    since = (condition.last_transition_time if condition is not None else "") or created_at
    if condition is not None and condition.status == "True":
        return RunState("ended")
    if condition is not None and condition.status == "False":
        return _failed_state(store, run, condition)
    if run.spec.status in {"TaskRunPending", "PipelineRunPending"}:
        queue = kueue_queue(run.metadata.labels)
        detail = f"spec.status is {run.spec.status}" + (f", queue {queue}" if queue else "")
        reason: Reason = "TaskRunPending" if isinstance(run, TaskRun) else "PipelineRunPending"
        return RunState("waits", reason, since, by="Kueue" if queue else "", detail=detail)
    if condition is None:
        if is_new(created_at, now):
            return RunState("starting", since=created_at)
        return RunState("waits", "NotCreated", created_at, detail="Tekton's controller has not looked at it")
    if waits_for_quota(run):
        return RunState("waits", "Quota", since, message=condition.message, next=SeeFix())
    if isinstance(run, PipelineRun):
        return _state_of_tasks(store, run, now)
    return _state_of_pod(store, run, condition, since, now)


def _state_of_tasks(store: Store, run: PipelineRun, now: str) -> RunState:
    """Return the state of a running TaskRun that holds the run up; a failed one is retried, or ends it."""
    space = run.metadata.namespace
    names = [child.name for child in run.status.child_references or () if child.kind == "TaskRun"]
    runs = [store.get("TaskRun", name, space) for name in names]
    states = [run_state(store, item, now) for item in runs if isinstance(item, TaskRun)]
    held_up = worst_state(state for state in states if state.state in {"waits", "starting"})
    if held_up is None or (any(state.state == "runs" for state in states) and held_up.state == "starting"):
        return RunState("runs")
    return held_up


def _state_of_pod(store: Store, run: TaskRun, condition: Condition, since: str, now: str) -> RunState:
    space = run.metadata.namespace
    pod = pod_of(store, run)
    if pod is not None:
        state = state_of_pod(store, pod, now)
        if state.reason == "CrashLoop" and state.ended and _has_running_step(pod):
            detail = joined(state.detail, "the other steps wait for it until the run's timeout")
            step = joined(state.next, "then start a new run: this one does not go on") if state.memory_limit else ""
            return structs.replace(state, detail=detail, next=step)
        return RunState("runs") if state.state == "ended" else state
    message, reason = condition.message, condition.reason
    if reason in _IMAGE:
        return RunState("fails", "Image", since, message=message)
    if reason == "ExceededNodeResources" or '"PodScheduled":"False"' in message:
        what, missing = named_object(message, space)
        return RunState("waits", what, since, object=missing, message=message)
    what, missing = missing_object(message, space)
    if what:
        return RunState("waits", what, since, object=missing, message=message)
    if reason in {"Running", "Started"} or is_new(since, now):
        return RunState("runs") if reason in {"Running", "Started"} else RunState("starting", since=since)
    if not now:
        return RunState("starting", since=since)
    return RunState("waits", "NotStarted", since, message=message, detail=reason)


def _has_running_step(pod: Pod) -> bool:
    return any(
        status.state is not None and status.state.running is not None and status.name.startswith("step-")
        for status in pod.status.container_statuses or ()
    )


def pod_of(store: Store, run: TaskRun) -> Pod | None:
    """Return the pod of a run; None where it has none or it was not read."""
    pod = store.get("Pod", run.status.pod_name, run.metadata.namespace) if run.status.pod_name else None
    if not isinstance(pod, Pod) or controller(pod)[0] not in {"", "TaskRun"}:
        return None
    return pod


def _failed_state(store: Store, run: TaskRun | PipelineRun, condition: Condition) -> RunState:
    since, message = condition.last_transition_time or "", condition.message
    if "Cancel" in condition.reason:
        return RunState("ended")
    pod = pod_of(store, run) if isinstance(run, TaskRun) else None
    if pod is not None:
        killed = next((state for state in troubles(pod, "") if state.reason == "OOMKilled"), None)
        if killed is not None:
            return structs.replace(killed, message=message, pod=pod.metadata.name)
    match = _ENDED_BY_KILL.search(message)
    if match is not None:
        detail = ContainerKilled(f"container {match[1]}" if match[1] else "a container")
        return RunState("fails", "OOMKilled", since, message=message, detail=detail, container=match[1] or "")
    return RunState("fails", "RunFailed", since, message=message, detail=condition.reason)
