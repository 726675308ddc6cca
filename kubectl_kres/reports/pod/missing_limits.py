"""The limits that the containers of a pod lack."""

from __future__ import annotations

from kubectl_kres.model.pod import Pod

BASICS = ("cpu", "memory")


def missing_limits(pod: Pod) -> tuple[str, ...]:
    """Return cpu and memory, each if a container that runs with the others has no limit of it.

    A limit of the pod itself holds for all of them (KEP-2837).
    """
    spec = pod.spec
    sidecars = [container for container in spec.init_containers or () if container.restart_policy == "Always"]
    own = (spec.resources.limits if spec.resources is not None else None) or {}
    limits = [
        (container.resources.limits if container.resources is not None else None) or {}
        for container in (*(spec.containers or ()), *sidecars)
    ]
    return tuple(name for name in BASICS if name not in own and any(name not in some for some in limits))
