"""The state of one pod: of its containers once it is on a node, else of its way there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import structs

from kubectl_kres.admission.sentences import read_node_room
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import READY, Container, ContainerState, ContainerStatus, Pod, StateTerminated, StateWaiting
from kubectl_kres.model.workload import Event
from kubectl_kres.reports.common.explanation import Reason, RunState
from kubectl_kres.reports.common.owners import controller
from kubectl_kres.reports.run_state.details import (
    ContainerCrash,
    ContainerImage,
    ContainerKilled,
    ContainerSays,
    NotReady,
    NotStarted,
    PendingResize,
)
from kubectl_kres.reports.run_state.grace import RECENT, START_GRACE, is_new, worst_state
from kubectl_kres.reports.run_state.next_steps import with_next_step
from kubectl_kres.reports.run_state.scheduling import last_time, without_node

#: Why a container waits whose image does not come. Source: kubelet images/types.go.
_IMAGE = frozenset({
    *("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "RegistryUnavailable"),
    *("ImageInspectError", "SignatureValidationFailed", "ErrImagePullFailed"),
})  # fmt: skip
_KILLED = "OOMKilled"
#: So many restarts make a container that runs again one that crashes.
_MANY = 3
#: What the kubelet says of an object that a container or a volume needs.
_MISSING: tuple[tuple[re.Pattern[str], Reason, str], ...] = (
    (re.compile(r'configmaps? "([^"]+)" (?:not found|is forbidden)|references non-existent config key'),
     "MissingConfigMap", "ConfigMap"),
    (re.compile(r"couldn't find key \S+ in ConfigMap [^/\s]*/(\S+)"), "MissingConfigMap", "ConfigMap"),
    (re.compile(r'secrets? "([^"]+)" (?:not found|is forbidden)|references non-existent secret key'),
     "MissingSecret", "Secret"),
    (re.compile(r"couldn't find key \S+ in Secret [^/\s]*/(\S+)"), "MissingSecret", "Secret"),
    (re.compile(r'serviceaccounts? "([^"]+)" not found'), "MissingServiceAccount", "ServiceAccount"),
    (re.compile(r'persistentvolumeclaims? "([^"]+)" not found'), "MissingVolumeClaim", "PersistentVolumeClaim"),
    (re.compile(r'resourceclaims?(?:\.resource\.k8s\.io)? "([^"]+)" not found'),
     "MissingResourceClaim", "ResourceClaim"),
)  # fmt: skip
_TRAILING = ".,;:"


def missing_object(message: str, namespace: str) -> tuple[Reason, ObjectRef | None]:
    """Return what a sentence of the kubelet or the API server says is missing; an empty reason if it is about something
    else.
    """
    for pattern, reason, kind in _MISSING:
        match = pattern.search(message)
        if match is not None:
            name = (match[1] if match.groups() else "") or ""
            name = name.rstrip(_TRAILING)
            return reason, ObjectRef(kind, name, namespace) if name else None
    return "", None


def troubles(pod: Pod, now: str) -> Iterator[RunState]:
    """Yield the troubles of its containers, init containers first; nothing while all is as usual."""
    for role, statuses in (
        ("init container", pod.status.init_container_statuses),
        ("container", pod.status.container_statuses),
    ):
        for status in statuses or ():
            state = _find_container_state(pod, status, role, now)
            if state is not None:
                yield structs.replace(state, container=status.name)


def _find_container_state(pod: Pod, status: ContainerStatus, role: str, now: str) -> RunState | None:
    state, before = status.state or ContainerState(), status.last_state or ContainerState()
    title = f"{role} {status.name}"
    if state.waiting is not None:
        return _waiting_state(pod, status, title, state.waiting, before.terminated)
    ended = state.terminated
    if ended is not None:
        # An init container that ended well is done; so is a container of a pod that ends.
        if not ended.exit_code and ended.reason != _KILLED:
            return None
        return structs.replace(_terminated_state(pod, status, title, ended), ended=True)
    last = before.terminated
    if last is None or not (last.reason == _KILLED or (last.exit_code and status.restart_count >= _MANY)):
        return None
    trouble = _terminated_state(pod, status, title, last)
    if status.ready is False:
        return trouble
    # It is ready: it runs, and is said to have been killed as long as the kubelet remembers it.
    return structs.replace(trouble, state="runs") if is_new(last.finished_at, now, RECENT) else None


def _waiting_state(
    pod: Pod, status: ContainerStatus, title: str, waiting: StateWaiting, last: StateTerminated | None
) -> RunState | None:
    reason, message, namespace = waiting.reason, waiting.message, pod.metadata.namespace
    if reason in _IMAGE:
        image = _image_of(pod, status.name)
        return RunState("fails", "Image", message=message or reason, detail=ContainerImage(title, image))
    if reason == "CrashLoopBackOff":
        if last is not None:
            return _terminated_state(pod, status, title, last)
        detail = ContainerCrash(title, restarts=status.restart_count)
        return RunState("fails", "CrashLoop", message=message, detail=detail)
    if reason == "CreateContainerConfigError":
        missing, ref = missing_object(message, namespace)
        if missing:
            return RunState("waits", missing, object=ref, message=message, detail=ContainerSays(title))
        return RunState("waits", "NotStarted", message=message, detail=ContainerSays(title, reason))
    if reason in {"", "ContainerCreating", "PodInitializing"}:
        return None
    return RunState("fails", "ContainerError", message=message or reason, detail=ContainerSays(title, reason))


def _terminated_state(pod: Pod, status: ContainerStatus, title: str, ended: StateTerminated) -> RunState:
    since = ended.finished_at or ""
    if ended.reason == _KILLED:
        limit = memory_limit(pod, status)
        killed = ContainerKilled(title, limit, status.restart_count)
        return RunState("fails", "OOMKilled", since, detail=killed, memory_limit=limit)
    limit = memory_limit(pod, status) if ended.exit_code == _SIGKILL else ""
    crash = ContainerCrash(title, ended.reason or "Error", ended.exit_code, limit, status.restart_count)
    return RunState("fails", "CrashLoop", since, detail=crash, memory_limit=limit)


def memory_limit(pod: Pod, status: ContainerStatus) -> str:
    """Return the memory limit that a container ran under: from its status, else from its spec; empty: none."""
    if status.resources is not None and (status.resources.limits or {}).get("memory"):
        return str((status.resources.limits or {})["memory"])
    for container in (*(pod.spec.init_containers or ()), *(pod.spec.containers or ())):
        if container.name == status.name and container.resources is not None:
            return str((container.resources.limits or {}).get("memory") or "")
    return ""


def _image_of(pod: Pod, name: str) -> str:
    containers: Iterable[Container] = (*(pod.spec.init_containers or ()), *(pod.spec.containers or ()))
    return next((container.image for container in containers if container.name == name), "")


#: The exit code of what was killed from outside.
_SIGKILL = 137
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
    if state.state in {"runs", "ended"} and not state.reason:
        return state
    return with_next_step(structs.replace(state, pod=pod.metadata.name), pod.metadata.namespace)


def _pod_state(pod: Pod, now: str, events: Sequence[Event]) -> RunState:
    status, metadata = pod.status, pod.metadata
    if status.phase == "Succeeded" or metadata.deletion_timestamp:
        return RunState("ended")
    if status.phase == "Failed":
        return _failed_state(pod, now)
    if not pod.spec.node_name and status.phase in {"", "Pending"}:
        return without_node(pod, now, events)
    trouble = worst_state(troubles(pod, now))
    if trouble is not None and trouble.state != "runs":
        return trouble
    unready = next((item for item in status.conditions or () if item.type == READY), None)
    statuses = status.container_statuses or ()
    if statuses and all(item.state is not None and item.state.running is not None for item in statuses):
        running = _running_state(pod, now)
        if running.state == "runs":
            running = _resizing_state(pod) or running
        return trouble if trouble is not None and running.state == "runs" else running
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
    detail = NotStarted(pod.spec.node_name, START_GRACE // 60)
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
        return RunState("waits", "NotReady", since, message=message, detail=NotReady(tuple(unready)))
    if condition is not None and condition.reason == _GATES_NOT_READY:
        return RunState("waits", "NotReady", since, message=message, detail=NotReady())
    return RunState("waits", "NodeLost", since, message=message, by=pod.spec.node_name)


def _resizing_state(pod: Pod) -> RunState | None:
    """Return the state of a pod that runs with its amounts of before, since its node has no room for those it asks for.

    Source: kubelet allocation manager; the condition's reason is Deferred or Infeasible.
    """
    pending = next((item for item in pod.status.conditions or () if item.type == "PodResizePending"), None)
    if pending is None or pending.status != "True":
        return None
    since, node = pending.last_transition_time or "", pod.spec.node_name
    reason: Reason = "ResizeInfeasible" if pending.reason == "Infeasible" else "ResizeDeferred"
    room = read_node_room(pending.message)
    resource, left = (room.resource, room.left) if room is not None else ("", "")
    detail = PendingResize(pending.reason.lower(), node, resource, left, "" if room is not None else pending.message)
    return RunState("waits", reason, since, message=pending.message, by=node, detail=detail)


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
