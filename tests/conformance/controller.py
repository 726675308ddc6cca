"""What makes the quota controller count again, for the recordings that were made once it had settled."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from kubectl_kres.admission.base.draft import Quantities, parse_list
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.quota.quota_admission import names_of
from kubectl_kres.admission.quota.usage import is_terminal
from kubectl_kres.model.objects import ResourceQuota
from kubectl_kres.model.pod import ContainerStatus, Pod
from kubectl_kres.model.quota_objects import PersistentVolumeClaim, Service


def wakes(quota: ResourceQuota, resource: str, server: Server) -> bool:
    """Whether a changed object of the resource makes the controller count the quota again."""
    return bool(names_of(resource, server)(quota.status.hard or ()))


def counts_again(old: Any, new: Any, server: Server, now: datetime | None = None) -> bool:
    """Whether the change of an object, or its deletion (``new`` None), makes the controller count its kind again.

    A pod that a resize made smaller does not until the kubelet reports its new resources: until then, or until the
    full resync, it is counted as before. Source: quota/v1/install/update_filter.go.
    """
    if new is None:
        return True
    if isinstance(old, Pod) and isinstance(new, Pod):
        moved = _terminating(old) != _terminating(new)
        finished = is_terminal(new, now) and not is_terminal(old, now)
        return moved or finished or (server.is_enabled("InPlacePodVerticalScaling") and _reported(old, new))
    if isinstance(old, Service) and isinstance(new, Service):
        return _exposed(old) != _exposed(new)
    # The server compares two addresses instead of two sizes: every update of a claim counts as one of its size.
    return isinstance(new, PersistentVolumeClaim) and server.is_enabled("RecoverVolumeExpansionFailure")


def _terminating(pod: Pod) -> bool:
    deadline = pod.spec.active_deadline_seconds
    return deadline is not None and deadline >= 0


def _exposed(service: Service) -> str:
    return service.spec.type if service.spec.type in {"NodePort", "LoadBalancer"} else ""


def _reported(old: Pod, new: Pod) -> bool:
    """Whether a container status has other resources than before."""
    pairs = (
        (old.status.container_statuses, new.status.container_statuses),
        (old.status.init_container_statuses, new.status.init_container_statuses),
    )
    for before, after in pairs:
        now = {status.name: _resources(status) for status in after or ()}
        if any(status.name in now and now[status.name] != _resources(status) for status in before or ()):
            return True
    return False


def _resources(status: ContainerStatus) -> tuple[Quantities, Quantities] | None:
    held = status.resources
    if held is None:
        return None
    return parse_list(held.requests, "status.requests"), parse_list(held.limits, "status.limits")
