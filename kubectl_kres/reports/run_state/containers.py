"""The states of the containers of a pod that is on a node."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import structs

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Container, ContainerState, ContainerStatus, Pod, StateTerminated, StateWaiting
from kubectl_kres.reports.common.explanation import Reason, RunState
from kubectl_kres.reports.run_state.grace import RECENT, is_new

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
                yield state


def _find_container_state(pod: Pod, status: ContainerStatus, role: str, now: str) -> RunState | None:
    state, before = status.state or ContainerState(), status.last_state or ContainerState()
    title = f"{role} {status.name}"
    if state.waiting is not None:
        return _waiting_state(pod, status, title, state.waiting, before.terminated)
    ended = state.terminated
    if ended is not None:
        # An init container that ended well is done; so is a container of a pod that ends.
        return _terminated_state(pod, status, title, ended) if ended.exit_code or ended.reason == _KILLED else None
    last = before.terminated
    if last is None or not (last.reason == _KILLED or (last.exit_code and status.restart_count >= _MANY)):
        return None
    trouble = _terminated_state(pod, status, title, last)
    if status.ready is False:
        return trouble
    # It is ready: it runs, and is said to have been killed as long as the kubelet remembers it.
    return structs.replace(trouble, word="runs") if is_new(last.finished_at, now, RECENT) else None


def _waiting_state(
    pod: Pod, status: ContainerStatus, title: str, waiting: StateWaiting, last: StateTerminated | None
) -> RunState | None:
    reason, message, namespace = waiting.reason, waiting.message, pod.metadata.namespace
    if reason in _IMAGE:
        image = _image_of(pod, status.name)
        detail = f"image {image} of {title}" if image else f"the image of {title}"
        return RunState("fails", "Image", message=message or reason, detail=detail)
    if reason == "CrashLoopBackOff":
        if last is not None:
            return _terminated_state(pod, status, title, last)
        return RunState("fails", "CrashLoop", message=message, detail=f"{title} crashes{_restarts(status)}")
    if reason == "CreateContainerConfigError":
        missing, ref = missing_object(message, namespace)
        if missing:
            return RunState("waits", missing, object=ref, message=message, detail=f"{title} needs it")
        return RunState("waits", "NotStarted", message=message, detail=f"{title}: {reason}")
    if reason in {"", "ContainerCreating", "PodInitializing"}:
        return None
    return RunState("fails", "ContainerError", message=message or reason, detail=f"{title}: {reason}")


def _terminated_state(pod: Pod, status: ContainerStatus, title: str, ended: StateTerminated) -> RunState:
    since = ended.finished_at or ""
    if ended.reason == _KILLED:
        limit = memory_limit(pod, status)
        under = f" under its memory limit {limit}" if limit else ""
        detail = f"{title} was killed for memory{under}{_restarts(status)}"
        return RunState("fails", "OOMKilled", since, detail=detail)
    code = f"{ended.reason or 'Error'}, exit code {ended.exit_code}"
    return RunState("fails", "CrashLoop", since, detail=f"{title} ended with {code}{_restarts(status)}")


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


def _restarts(status: ContainerStatus) -> str:
    count = status.restart_count
    return f", {count} restart{'s' * (count != 1)} so far" if count else ""
