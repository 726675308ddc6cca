"""The cgroups that a kubelet makes for a pod, with the values that it and the runtime write. Read, not recorded.

Not covered: exclusive cpus, reserved QoS memory, what the kernel rounds to pages, memory-backed volumes (their pages
count in the container that wrote them), and the soft limit of cgroup v1, which nothing sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from kubectl_kres.admission.base.draft import Draft, Quantities, Slot
from kubectl_kres.admission.base.resource_names import is_huge_page
from kubectl_kres.admission.kubelet.cgroup_files import (
    CgroupAmounts,
    CgroupFileValue,
    Machine,
    as_shipped,
    container_memory,
    files,
    pod_memory,
    protected,
    swap,
    unprotected,
)
from kubectl_kres.admission.kubelet.kernel import MIN_SHARES, PAUSE, cgroup_path, oom_score, page_size, quota, shares
from kubectl_kres.admission.pod.aggregate import add_into, of_pod
from kubectl_kres.admission.pod.classes import SYSTEM_PRIORITIES
from kubectl_kres.quantity import ZERO, Quantity

CgroupKind = Literal["node", "qos", "pod", "pause", "container"]

#: Priority from which a pod is critical, whatever its class is called.
_CRITICAL = 2_000_000_000
_UNBOUNDED = 1 << 62


class Cgroup(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One cgroup. ``path`` is below the cgroup file system; the last part of a container's is made by the runtime.

    values: files that are written; for all others the kernel's defaults hold. oom_score_adj: of a container's
    processes, None: it depends on the memory of the node.
    """

    kind: CgroupKind
    path: str
    name: str = ""
    values: tuple[CgroupFileValue, ...] = ()
    children: tuple[Cgroup, ...] = ()
    oom_score_adj: int | None = None


def cgroups(draft: Draft, qos_class: str, machine: Machine, *, uid: str = "UID") -> Cgroup:
    """The cgroups from the node's root of all pods down to the containers. ``qos_class``: the stored one.

    Source: kubelet/cm/pod_container_manager_linux.go GetPodContainerName.
    """
    machine = as_shipped(machine, draft.server)
    parts = ["kubepods"]
    tier = qos_class.lower() if qos_class in {"Burstable", "BestEffort"} else ""
    pod = _pod(draft, qos_class, machine, [*parts, *([tier] if tier else []), f"pod{uid}"])
    if tier:
        parts.append(tier)
        pod = Cgroup("qos", cgroup_path(parts, machine.driver), tier, tuple(_tier(qos_class, machine)), (pod,))
    reset = tuple(unprotected(("memory.min", "memory.low"), machine))
    return Cgroup("node", cgroup_path(["kubepods"], machine.driver), "kubepods", reset, (pod,))


def _tier(qos_class: str, machine: Machine) -> Iterator[CgroupFileValue]:
    huge = dict.fromkeys(machine.pages, _UNBOUNDED)
    if qos_class == "BestEffort":
        yield from files(CgroupAmounts(MIN_SHARES, huge=huge), machine, container=False)
    else:
        known = None if machine.burstable is None else shares(machine.burstable)
        yield from files(CgroupAmounts(known, huge=huge), machine, container=False)
        yield from unprotected(("memory.low",), machine)


def _pod(draft: Draft, qos_class: str, machine: Machine, parts: Sequence[str]) -> Cgroup:
    path = cgroup_path(parts, machine.driver)
    slots = (*draft.inits, *draft.containers)
    # What keeps the pod's namespaces alive; its runtime gives it the least of everything.
    pause = Cgroup(
        "pause", f"{path}/{_last(machine)}", "pause", _written(CgroupAmounts(MIN_SHARES), machine), (), PAUSE
    )
    children = (pause, *(_container(draft, slot, qos_class, machine, path) for slot in slots))
    amounts = _pod_amounts(draft, qos_class, machine)
    return Cgroup("pod", path, parts[-1], tuple(files(amounts, machine, container=False)), children)


def _pod_amounts(draft: Draft, qos_class: str, machine: Machine) -> CgroupAmounts:
    """Source: kubelet/cm/helpers_linux.go ResourceConfigForPod."""
    requests, limits = of_pod(draft, "requests"), of_pod(draft, "limits")
    huge = {**dict.fromkeys(machine.pages, 0), **_pages(requests)}
    if qos_class == "BestEffort":
        return CgroupAmounts(MIN_SHARES, huge=huge)
    guaranteed = qos_class == "Guaranteed"
    sources = {"shares": "pod.requests[cpu]", "quota": "pod.limits[cpu]", "memory": "pod.limits[memory]"}
    return CgroupAmounts(
        shares(_milli(requests.get("cpu"))),
        _quota(limits.get("cpu"), machine) if guaranteed or declared(draft, "cpu") else None,
        limits.get("memory", ZERO).value() if guaranteed or declared(draft, "memory") else None,
        huge,
        (*protected(requests.get("memory"), qos_class, machine), *_throttled(draft, requests, limits, machine)),
        sources,
    )


def _throttled(draft: Draft, requests: Quantities, limits: Quantities, machine: Machine) -> Iterator[CgroupFileValue]:
    if draft.pod is None or not (draft.pod.limits or draft.pod.requests) or not declared(draft, "memory"):
        return
    yield from pod_memory(requests.get("memory", ZERO).value(), limits.get("memory", ZERO).value(), machine)


def declared(draft: Draft, name: str) -> bool:
    """Whether the pod's cgroup gets the limit: the pod level has it, or each container and each init step.

    A container without one makes the pod unlimited here, although the others' limits count for quotas. Up to 1.36 an
    init step has the limits of the sidecars that run by then.
    """
    if draft.pod is not None and draft.pod.limits.get(name):
        return True
    if draft.server.behaves("cgroup/no-throttling-factor"):
        return all(slot.limits.get(name) for slot in (*draft.inits, *draft.containers))
    beside: Quantities = {}
    for slot in draft.inits:
        moment = dict(beside)
        add_into(moment, slot.limits)
        if slot.role == "sidecar":
            beside = moment
        if not moment.get(name):
            return False
    return all(slot.limits.get(name) for slot in draft.containers)


def _container(draft: Draft, slot: Slot, qos_class: str, machine: Machine, parent: str) -> Cgroup:
    """Source: kuberuntime_container_linux.go generateLinuxContainerResources, calculateLinuxResources."""
    cpu, memory = _limit(draft, slot, "cpu"), _limit(draft, slot, "memory")
    request = slot.requests.get("cpu")
    asked, ceiling = (slot.side(side).get("memory", ZERO).value() for side in ("requests", "limits"))
    level = draft.pod.limits if draft.pod is not None else {}
    extra = (
        *container_memory(asked, ceiling, qos_class, machine, bounded=bool(level.get("memory"))),
        *swap(asked, ceiling, qos_class, machine, critical=_critical(draft)),
    )
    amounts = CgroupAmounts(
        shares(_milli(cpu[0] if request is None else request)),
        _quota(cpu[0], machine) if machine.cpu_quota else None,
        (memory[0] or ZERO).value() or None,
        {**dict.fromkeys(machine.pages, 0), **_pages(level), **_pages(slot.limits)},
        extra,
        {"shares": cpu[1] if request is None else slot.at("requests", "cpu"), "quota": cpu[1], "memory": memory[1]},
    )
    score = oom_score(draft, slot, qos_class, machine.memory)
    return Cgroup("container", f"{parent}/{_last(machine)}", slot.name, _written(amounts, machine), (), score)


def smallest(root: Cgroup, container: str, file: str) -> tuple[str, int] | None:
    """The cgroup on the way up from a container whose limit in ``file`` is the smallest, and that limit.

    This is what holds for the container, and what programs that look at the whole way find; of equal ones the nearest.
    Of ``cpu.max`` it is the first number, the microseconds in a period. None: there is none.
    """
    limits = [
        (cgroup.path, int(value.value.partition(" ")[0]))
        for cgroup in reversed(_way(root, container))
        for value in cgroup.values
        if value.file == file and value.value.partition(" ")[0].isdigit()
    ]
    return min(limits, key=lambda limit: limit[1], default=None)


def _way(root: Cgroup, container: str) -> list[Cgroup]:
    """The cgroups down to a container; empty if it is not there."""
    if root.kind == "container":
        return [root] if root.name == container else []
    for child in root.children:
        below = _way(child, container)
        if below:
            return [root, *below]
    return []


def _limit(draft: Draft, slot: Slot, name: str) -> tuple[Quantity | None, str]:
    """A container's limit, or the pod level's if it has none, and the path of it."""
    own = slot.limits.get(name)
    if not own and draft.pod is not None and draft.pod.limits.get(name) is not None:
        return draft.pod.limits[name], draft.pod.at("limits", name)
    return own, slot.at("limits", name) if own else ""


def _milli(quantity: Quantity | None) -> int:
    return 0 if quantity is None else quantity.milli_value()


def _quota(limit: Quantity | None, machine: Machine) -> int:
    return quota(_milli(limit), machine.period) if machine.cpu_quota else 0


def _pages(values: Quantities) -> dict[str, int]:
    """Bytes by size of page."""
    return {page_size(name): value.value() for name, value in values.items() if is_huge_page(name) and page_size(name)}


def _written(amounts: CgroupAmounts, machine: Machine) -> tuple[CgroupFileValue, ...]:
    return tuple(files(amounts, machine, container=True))


def _last(machine: Machine) -> str:
    """The end of a container's path: its id, which only the runtime knows."""
    return "cri-containerd-ID.scope" if machine.driver == "systemd" else "ID"


def _critical(draft: Draft) -> bool:
    return (draft.spec.priority or 0) >= _CRITICAL or draft.priority_class in SYSTEM_PRIORITIES
