"""The state of one pod."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from kubectl_kres.model.pod import READY, Pod
from kubectl_kres.model.workload import Event
from kubectl_kres.reports.common.explanation import RunState
from kubectl_kres.reports.common.replicas import controller
from kubectl_kres.reports.run_state.containers import missing_object, troubles
from kubectl_kres.reports.run_state.grace import START_GRACE, is_new, worst_state
from kubectl_kres.reports.run_state.next_steps import with_next_step
from kubectl_kres.reports.run_state.scheduling import last_time, without_node

#: Events that say why a pod on a node does not start, of which the last is what holds it up.
_HOLDING = frozenset({
    *("FailedMount", "FailedAttachVolume", "FailedMapVolume", "FailedCreatePodSandBox"),
    "FailedPrepareDynamicResources",
})  # fmt: skip
#: The reason of a pod whose readiness gates are not met.
_GATES_NOT_READY = "ReadinessGatesNotReady"


def pod_state(pod: Pod, now: str, events: Sequence[Event] = ()) -> RunState:
    """Return the state. ``events``: those about the pod, where they were read. ``now``: RFC 3339; empty: nothing counts
    as new.
    """
    state = _pod_state(pod, now, events)
    if state.word in {"runs", "ended"} and not state.reason:
        return state
    return with_next_step(structs.replace(state, pod=pod.metadata.name), pod.metadata.namespace)


def needs_events(pod: Pod, now: str) -> bool:
    """Return whether events may say why the pod does not start, and its status does not."""
    return pod_state(pod, now).word in {"starting", "waits"} and bool(pod.spec.node_name)


def _pod_state(pod: Pod, now: str, events: Sequence[Event]) -> RunState:
    status, metadata = pod.status, pod.metadata
    if status.phase == "Succeeded" or metadata.deletion_timestamp:
        return RunState("ended")
    if status.phase == "Failed":
        return _failed_state(pod, now)
    if not pod.spec.node_name and status.phase in {"", "Pending"}:
        return without_node(pod, now, events)
    trouble = worst_state(troubles(pod, now))
    if trouble is not None and trouble.word != "runs":
        return trouble
    unready = next((item for item in status.conditions or () if item.type == READY), None)
    statuses = status.container_statuses or ()
    if statuses and all(item.state is not None and item.state.running is not None for item in statuses):
        running = _running_state(pod, now)
        return trouble if trouble is not None and running.word == "runs" else running
    if status.phase == "Running" and not statuses:
        # Snapshots of old, and pods of tests, say no more than that it runs.
        return RunState("runs")
    held_up = _held_up(pod, events)
    if held_up is not None:
        return held_up
    since = (unready.last_transition_time if unready is not None else "") or metadata.creation_timestamp or ""
    if status.phase == "Running" and not any(item.state and item.state.waiting for item in statuses):
        # A container has ended, and starts again or does not.
        return RunState("runs")
    if not now or is_new(since, now, START_GRACE):
        return RunState("starting", since=since)
    detail = f"node {pod.spec.node_name} has not started its containers within {START_GRACE // 60}m"
    return RunState("waits", "NotStarted", since, by=pod.spec.node_name, detail=detail)


def _failed_state(pod: Pod, now: str) -> RunState:
    """Return the state of a failed pod. A controller replaces its failed pods, and is then explained itself."""
    if controller(pod)[0]:
        return RunState("ended")
    trouble = worst_state(troubles(pod, now))
    if trouble is not None:
        return trouble
    status = pod.status
    return RunState("fails", "Evicted", message=status.message, detail=status.reason or "phase Failed")


def _running_state(pod: Pod, now: str) -> RunState:
    statuses = pod.status.container_statuses or ()
    unready = [item.name for item in statuses if item.ready is False]
    condition = next((item for item in pod.status.conditions or () if item.type == READY), None)
    if not unready and condition is None:
        return RunState("runs")
    since = (condition.last_transition_time if condition is not None else "") or pod.metadata.creation_timestamp or ""
    message = condition.message if condition is not None else ""
    if is_new(since, now):
        return RunState("starting", since=since)
    if unready:
        detail = f"container{'s' * (len(unready) > 1)} {', '.join(unready)} not ready"
        return RunState("waits", "NotReady", since, message=message, detail=detail)
    if condition is not None and condition.reason == _GATES_NOT_READY:
        return RunState("waits", "NotReady", since, message=message, detail="a readiness gate is not met")
    return RunState("waits", "NodeLost", since, message=message, by=pod.spec.node_name)


def _held_up(pod: Pod, events: Sequence[Event]) -> RunState | None:
    """Return the state from the newest event that says why a pod on a node does not start."""
    about = [event for event in events if event.reason in _HOLDING]
    if not about:
        return None
    event = max(about, key=last_time)
    since = event.first_timestamp or event.event_time or event.metadata.creation_timestamp or ""
    reason, missing = missing_object(event.message, pod.metadata.namespace)
    if reason:
        return RunState("waits", reason, since, object=missing, message=event.message)
    word = "MissingVolume" if event.reason != "FailedCreatePodSandBox" else "NotStarted"
    return RunState("waits", "MissingVolume" if word == "MissingVolume" else "NotStarted", since,
                    message=event.message, detail=event.reason)  # fmt: skip
