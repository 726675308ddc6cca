"""Containers that run without a request or limit for cpu or memory, by workload."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.admission.quota.usage import is_terminal
from kubectl_kres.model.pod import Container, Pod
from kubectl_kres.record import Record
from kubectl_kres.reports.quota.usage_tree import workload_of

#: What a container should state, as people write it.
STATED = ("requests.cpu", "requests.memory", "limits.cpu", "limits.memory")


class Open(Record, frozen=True):
    """A container of a workload that lacks some of ``STATED``; ``pods`` run with it.

    ``missing``: what it lacks. A value at the pod level counts for all containers.
    """

    namespace: str
    workload: str
    container: str
    missing: tuple[str, ...]
    pods: int


class OpenContainers:
    """A collector of such containers, which keeps counts only."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str, str, tuple[str, ...]], int] = {}
        self.pods = 0

    def add(self, pod: Pod) -> None:
        """Add a pod. Pods that have ended bound nothing any more."""
        if is_terminal(pod):
            return
        self.pods += 1
        for container in pod.spec.running_containers():
            missing = tuple(name for name in STATED if not _states(pod, container, name))
            if missing:
                key = (pod.metadata.namespace, workload_of(pod), container.name, missing)
                self._counts[key] = self._counts.get(key, 0) + 1

    def containers(self) -> Iterator[Open]:
        """Yield the containers by namespace, workload and container."""
        for (namespace, workload, container, missing), pods in sorted(self._counts.items()):
            yield Open(namespace, workload, container, missing, pods)


def _states(pod: Pod, container: Container, name: str) -> bool:
    """Return whether the container has the value; a limit alone is a request as well. None and zero bound nothing."""
    side, _, resource = name.partition(".")
    for holder in (container.resources, pod.spec.resources):
        if holder is None:
            continue
        values = holder.requests if side == "requests" else holder.limits
        if _amount((values or {}).get(resource)):
            return True
        if side == "requests" and _amount((holder.limits or {}).get(resource)):
            return True
    return False


def _amount(value: object) -> bool:
    return value is not None and str(value) not in {"", "0"}


BASICS = ("cpu", "memory")


def missing_limits(pod: Pod) -> tuple[str, ...]:
    """Return cpu and memory, each if a container that runs with the others has no limit of it.

    A limit of the pod itself holds for all of them (KEP-2837).
    """
    spec = pod.spec
    own_limits = (spec.resources.limits if spec.resources is not None else None) or {}
    limits = [
        (container.resources.limits if container.resources is not None else None) or {}
        for container in spec.running_containers()
    ]
    return tuple(name for name in BASICS if name not in own_limits and any(name not in some for some in limits))
