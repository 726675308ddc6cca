"""The cgroups that a kubelet makes for a pod, with the values that it and the runtime write. Read, not recorded.

Not covered: exclusive cpus, reserved QoS memory, what the kernel rounds to pages, memory-backed volumes (their pages
count in the container that wrote them), and the soft limit of cgroup v1, which nothing sets.

The files of one cgroup: which a kubelet or runtime writes for given amounts, under cgroup v1 and v2.

From the amounts of the API to those of the Linux kernel: shares, weights, quotas, page sizes, oom_score_adj.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct, structs

from kubectl_kres.admission.base.draft import Draft, Quantities, Slot
from kubectl_kres.admission.base.resource_names import is_huge_page
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.pod.aggregate import add_into, sum_containers, sum_pod
from kubectl_kres.admission.pod.defaulting import SYSTEM_PRIORITIES
from kubectl_kres.errors import QuantityError
from kubectl_kres.quantity import ZERO, Quantity, parse

GUARANTEED, BEST_EFFORT, PAUSE = -997, 1000, -998
NODE_CRITICAL = "system-node-critical"

Driver = Literal["systemd", "cgroupfs"]

#: Bounds of cpu.shares, and the shares of one cpu.
MIN_SHARES, MAX_SHARES, SHARES_PER_CPU = 2, 262144, 1024
#: Microseconds: the period that cpu time is measured over by default, and the least that can be granted in it.
PERIOD, LEAST_QUOTA = 100_000, 1_000
_MOST_WEIGHT = 10_000
_UNITS = ("B", "KB", "MB", "GB", "TB", "PB")


def shares(milli: int) -> int:
    """cpu.shares for thousandths of a cpu; for none the least. Source: kubelet/cm/helpers_linux.go MilliCPUToShares."""
    return max(MIN_SHARES, min(MAX_SHARES, milli * SHARES_PER_CPU // 1000))


def cpu_weight(cpu_shares: int) -> int:
    """cpu.weight as the kubelet derives it for pods and QoS classes. Source: kubelet/cm getCPUWeight."""
    if cpu_shares >= MAX_SHARES:
        return _MOST_WEIGHT
    return 1 + (cpu_shares - MIN_SHARES) * (_MOST_WEIGHT - 1) // (MAX_SHARES - MIN_SHARES)


def runtime_weight(cpu_shares: int) -> int:
    """cpu.weight as newer runtimes derive it for containers: 1024 shares become the kernel's default of 100.

    Older runtimes use ``weight``. Source: opencontainers/cgroups ConvertCPUSharesToCgroupV2Value.
    """
    if cpu_shares <= MIN_SHARES:
        return 1
    if cpu_shares >= MAX_SHARES:
        return _MOST_WEIGHT
    logarithm = math.log2(cpu_shares)
    return math.ceil(10 ** ((logarithm * logarithm + 125 * logarithm) / 612 - 7 / 34))


def quota(milli: int, period: int = PERIOD) -> int:
    """Microseconds of cpu time in a period; 0: without end. Source: kubelet/cm/helpers_linux.go MilliCPUToQuota."""
    return max(LEAST_QUOTA, milli * period // 1000) if milli else 0


def page_size(resource: str) -> str:
    """Return the kernel's name of the pages of ``hugepages-2Mi``: ``2MB``; empty if the size is none.

    Source: core/v1/helper HugePageUnitSizeFromByteSize.
    """
    try:
        size = parse(resource.removeprefix("hugepages-")).value()
    except QuantityError:
        return ""
    unit = 0
    while size and size % 1024 == 0 and unit < len(_UNITS) - 1:
        size, unit = size // 1024, unit + 1
    return "" if size <= 0 or (size > 1024 and unit < len(_UNITS) - 1) else f"{size}{_UNITS[unit]}"


def cgroup_path(parts: Sequence[str], driver: Driver) -> str:
    """Path below the cgroup file system: slices that repeat their parents' names with systemd.

    Source: kubelet/cm/cgroup_manager_linux.go ToSystemd, ToCgroupfs.
    """
    if driver == "cgroupfs":
        return "/" + "/".join(parts)
    escaped = [part.replace("-", "_") for part in parts]
    return "".join(f"/{'-'.join(escaped[: count + 1])}.slice" for count in range(len(escaped)))


def oom_score(draft: Draft, slot: Slot, qos_class: str, capacity: int) -> int | None:
    """Return the adjustment of one container; lower lives longer. ``capacity``: bytes of memory of the node, 0: not
    known.

    None: it depends on the capacity. Source: kubelet/qos/policy.go GetContainerOOMScoreAdjust.
    """
    if draft.priority_class == NODE_CRITICAL or qos_class == "Guaranteed":
        return GUARANTEED
    if qos_class == "BestEffort":
        return BEST_EFFORT
    if not capacity:
        return None
    extra = unassigned_memory(draft)
    score = _score(_bytes(slot) + extra, capacity)
    if slot.role == "sidecar":
        minimum = min((_bytes(container) for container in draft.containers), default=0)
        score = min(score, _score(minimum + extra, capacity))
    return min(max(score, 1000 + GUARANTEED), BEST_EFFORT - 1)


def _score(requested: int, capacity: int) -> int:
    return 1000 - 1000 * requested // capacity


def _bytes(slot: Slot) -> int:
    return slot.requests.get("memory", ZERO).value()


def unassigned_memory(draft: Draft) -> int:
    """Bytes of memory that the pod level requests beyond its containers, in equal parts for each of them."""
    level = draft.pod.requests.get("memory") if draft.pod is not None else None
    count = len(draft.containers) + len(draft.inits)
    if not level or not count:
        return 0
    quantity = sum_containers(draft.containers, draft.inits, "requests").get("memory", ZERO)
    remaining = level.value() - quantity.value()
    return (max(0, remaining) if draft.server.has_change("cgroup/no-throttling-factor") else remaining) // count


#: What a limit of no end reads like in a file of cgroup v2, and the quota of none in v1.
MAX, NO_QUOTA = "max", "-1"


class KubeletNode(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A Linux node as its kubelet is set up.

    version: of cgroups. memory, allocatable: bytes, 0: not known. swap: bytes, None: the kernel does not account for
    it. pages: sizes of huge pages (``2MB``). period: microseconds. cpu_quota False: cpu limits are not enforced.
    runtime_weights False: a runtime that still derives the weights of containers linearly. burstable: thousandths of a
    cpu that the burstable pods of the node request together, None: not known. limited_swap, memory_qos, tiered
    (its memoryReservationPolicy), throttling, page (bytes): settings of the kubelet; None: as its version ships it.
    recent: a kubelet from 1.37 on, which resets what it does not set, and throttles pods as a whole.
    """

    version: int = 2
    driver: Driver = "systemd"
    memory: int = 0
    allocatable: int = 0
    swap: int | None = None
    pages: tuple[str, ...] = ()
    period: int = PERIOD
    cpu_quota: bool = True
    runtime_weights: bool = True
    burstable: int | None = None
    limited_swap: bool = False
    memory_qos: bool | None = None
    tiered: bool = False
    throttling: float | None = None
    page: int = 4096
    recent: bool = False


#: The throttling factor that kubelets up to 1.36 ship.
_FACTOR = 0.9


def as_shipped(machine: KubeletNode, server: Server) -> KubeletNode:
    """Return the machine with what a kubelet of the server's version has where nothing is configured.

    Source: kubelet/apis/config/v1beta1/defaults.go.
    """
    recent = server.has_change("cgroup/no-throttling-factor")
    factor = machine.throttling if machine.throttling is not None or recent else _FACTOR
    on = server.is_enabled("MemoryQoS") if machine.memory_qos is None else machine.memory_qos
    return structs.replace(machine, memory_qos=on, throttling=factor, recent=recent)


class CgroupFileValue(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One file and what is written to it. ``source``: path of the request or limit behind it, if there is one."""

    file: str
    value: str
    rule: str
    source: str = ""


class CgroupAmounts(Struct, frozen=True):
    """What one cgroup gets, in the kernel's units. None: not written. ``quota`` 0: cpu time without end.

    ``sources``: path of the request or limit behind shares, quota, memory and each page size.
    """

    shares: int | None = None
    quota: int | None = None
    memory: int | None = None
    huge: Mapping[str, int] = {}
    memory_files: tuple[CgroupFileValue, ...] = ()
    sources: Mapping[str, str] = {}


def files(amounts: CgroupAmounts, machine: KubeletNode, *, container: bool) -> Iterator[CgroupFileValue]:
    """Yield the files, in the order of their controllers. ``container``: the runtime writes them, not the kubelet."""
    source = amounts.sources
    if amounts.shares is not None:
        file, value = _cpu_weight_value(amounts.shares, machine, container=container)
        yield CgroupFileValue(file, value, "cgroup/cpu-weight", source.get("shares", ""))
    if amounts.quota is not None:
        for file, value in _cpu_quota(amounts.quota, machine):
            yield CgroupFileValue(file, value, "cgroup/cpu-quota", source.get("quota", ""))
    if amounts.memory:
        file = "memory.max" if machine.version == 2 else "memory.limit_in_bytes"
        yield CgroupFileValue(file, str(amounts.memory), "cgroup/memory", source.get("memory", ""))
        if container and machine.version == 1 and machine.swap is not None:
            yield CgroupFileValue(
                "memory.memsw.limit_in_bytes", str(amounts.memory), "cgroup/swap", source.get("memory", "")
            )
    yield from amounts.memory_files
    for size in sorted(amounts.huge):
        file = f"hugetlb.{size}.{'max' if machine.version == 2 else 'limit_in_bytes'}"
        yield CgroupFileValue(file, str(amounts.huge[size]), "cgroup/hugetlb", source.get(size, ""))


def _cpu_weight_value(shares: int, machine: KubeletNode, *, container: bool) -> tuple[str, str]:
    if machine.version == 1:
        return "cpu.shares", str(shares)
    newer = container and machine.runtime_weights
    return "cpu.weight", str(runtime_weight(shares) if newer else cpu_weight(shares))


def _cpu_quota(quota: int, machine: KubeletNode) -> Iterator[tuple[str, str]]:
    if machine.version == 2:
        yield "cpu.max", f"{quota or MAX} {machine.period}"
    else:
        yield "cpu.cfs_quota_us", str(quota or NO_QUOTA)
        yield "cpu.cfs_period_us", str(machine.period)


def memory_protection(request: Quantity | None, qos_class: str, machine: KubeletNode) -> Iterator[CgroupFileValue]:
    """Yield what MemoryQoS keeps the kernel from reclaiming in a pod, where the policy is TieredReservation."""
    if machine.memory_qos and machine.tiered and machine.version == 2 and request:
        file = "memory.min" if qos_class == "Guaranteed" else "memory.low"
        yield CgroupFileValue(file, str(request.value()), "cgroup/memory-qos")


def container_memory(
    request: int, limit: int, qos_class: str, machine: KubeletNode, *, bounded: bool = False
) -> Iterator[CgroupFileValue]:
    """memory.min, memory.low and memory.high of a container, bytes. ``bounded``: the pod level has a memory limit.

    Source: generateLinuxContainerResources.
    """
    rule = "cgroup/memory-qos"
    if machine.version == 1:
        return
    if not machine.memory_qos:
        if machine.recent:
            yield CgroupFileValue("memory.high", MAX, rule)
        return
    if request and machine.tiered:
        yield CgroupFileValue("memory.min" if qos_class == "Guaranteed" else "memory.low", str(request), rule)
    else:
        yield from (CgroupFileValue("memory.min", "0", rule), CgroupFileValue("memory.low", "0", rule))
    if machine.recent and not limit and bounded:
        return
    if request == limit and (request or not machine.recent):
        return
    yield from _memory_high_values(request, limit or machine.allocatable, machine)


def pod_memory(request: int, limit: int, machine: KubeletNode) -> Iterator[CgroupFileValue]:
    """memory.high of a pod with pod-level resources whose memory limit is declared. Source: ApplyPodLevelMemoryHigh."""
    if machine.memory_qos and machine.recent and machine.version != 1 and not (request == limit and request):
        yield from _memory_high_values(request, limit, machine)


def _memory_high_values(request: int, ceiling: int, machine: KubeletNode) -> Iterator[CgroupFileValue]:
    if machine.throttling is None or not ceiling:
        return
    high = math.floor(math.floor(request + (ceiling - request) * machine.throttling) / machine.page) * machine.page
    if high > request:
        yield CgroupFileValue("memory.high", str(high), "cgroup/memory-qos")


def memory_protection_reset(files: Iterable[str], machine: KubeletNode) -> Iterator[CgroupFileValue]:
    """Yield what a kubelet from 1.37 on resets at its start, where the policy is not TieredReservation."""
    if machine.recent and machine.version != 1 and not (machine.memory_qos and machine.tiered):
        yield from (CgroupFileValue(file, "0", "cgroup/memory-qos") for file in files)


def swap(
    request: int, limit: int, qos_class: str, machine: KubeletNode, *, critical: bool
) -> Iterator[CgroupFileValue]:
    """memory.swap.max of a container: its part of the node's swap, or none. Source: GetContainerSwapBehavior."""
    if machine.swap is None or machine.version == 1:
        return
    qualified = qos_class == "Burstable" and not critical and 0 < request <= machine.memory and request != limit
    share = int(request / machine.memory * machine.swap) if machine.limited_swap and qualified else 0
    yield CgroupFileValue("memory.swap.max", str(share), "cgroup/swap")


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


def cgroups(draft: Draft, qos_class: str, machine: KubeletNode, *, uid: str = "UID") -> Cgroup:
    """Return the cgroups from the node's root of all pods down to the containers. ``qos_class``: the stored one.

    Source: kubelet/cm/pod_container_manager_linux.go GetPodContainerName.
    """
    machine = as_shipped(machine, draft.server)
    parts = ["kubepods"]
    tier = qos_class.lower() if qos_class in {"Burstable", "BestEffort"} else ""
    pod = _pod(draft, qos_class, machine, [*parts, *([tier] if tier else []), f"pod{uid}"])
    if tier:
        parts.append(tier)
        pod = Cgroup("qos", cgroup_path(parts, machine.driver), tier, tuple(_tier(qos_class, machine)), (pod,))
    reset = tuple(memory_protection_reset(("memory.min", "memory.low"), machine))
    return Cgroup("node", cgroup_path(["kubepods"], machine.driver), "kubepods", reset, (pod,))


def _tier(qos_class: str, machine: KubeletNode) -> Iterator[CgroupFileValue]:
    huge = dict.fromkeys(machine.pages, _UNBOUNDED)
    if qos_class == "BestEffort":
        yield from files(CgroupAmounts(MIN_SHARES, huge=huge), machine, container=False)
    else:
        known = None if machine.burstable is None else shares(machine.burstable)
        yield from files(CgroupAmounts(known, huge=huge), machine, container=False)
        yield from memory_protection_reset(("memory.low",), machine)


def _pod(draft: Draft, qos_class: str, machine: KubeletNode, parts: Sequence[str]) -> Cgroup:
    path = cgroup_path(parts, machine.driver)
    slots = (*draft.inits, *draft.containers)
    # What keeps the pod's namespaces alive; its runtime gives it the least of everything.
    pause = Cgroup(
        "pause",
        f"{path}/{_scope_name(machine)}",
        "pause",
        _container_values(CgroupAmounts(MIN_SHARES), machine),
        (),
        PAUSE,
    )
    children = (pause, *(_container(draft, slot, qos_class, machine, path) for slot in slots))
    amounts = _pod_amounts(draft, qos_class, machine)
    return Cgroup("pod", path, parts[-1], tuple(files(amounts, machine, container=False)), children)


def _pod_amounts(draft: Draft, qos_class: str, machine: KubeletNode) -> CgroupAmounts:
    """Source: kubelet/cm/helpers_linux.go ResourceConfigForPod."""
    requests, limits = sum_pod(draft, "requests"), sum_pod(draft, "limits")
    huge = {**dict.fromkeys(machine.pages, 0), **_pages(requests)}
    if qos_class == "BestEffort":
        return CgroupAmounts(MIN_SHARES, huge=huge)
    guaranteed = qos_class == "Guaranteed"
    sources = {"shares": "pod.requests[cpu]", "quota": "pod.limits[cpu]", "memory": "pod.limits[memory]"}
    return CgroupAmounts(
        shares(_milli(requests.get("cpu"))),
        _quota(limits.get("cpu"), machine) if guaranteed or has_pod_limit(draft, "cpu") else None,
        limits.get("memory", ZERO).value() if guaranteed or has_pod_limit(draft, "memory") else None,
        huge,
        (
            *memory_protection(requests.get("memory"), qos_class, machine),
            *_throttling_values(draft, requests, limits, machine),
        ),
        sources,
    )


def _throttling_values(
    draft: Draft, requests: Quantities, limits: Quantities, machine: KubeletNode
) -> Iterator[CgroupFileValue]:
    if draft.pod is None or not (draft.pod.limits or draft.pod.requests) or not has_pod_limit(draft, "memory"):
        return
    yield from pod_memory(requests.get("memory", ZERO).value(), limits.get("memory", ZERO).value(), machine)


def has_pod_limit(draft: Draft, name: str) -> bool:
    """Return whether the pod's cgroup gets the limit: the pod level has it, or each container and each init step.

    A container without one makes the pod unlimited here, although the others' limits count for quotas. Up to 1.36 an
    init step has the limits of the sidecars that run by then.
    """
    if draft.pod is not None and draft.pod.limits.get(name):
        return True
    if draft.server.has_change("cgroup/no-throttling-factor"):
        return all(slot.limits.get(name) for slot in (*draft.inits, *draft.containers))
    beside: Quantities = {}
    for slot in draft.inits:
        time = dict(beside)
        add_into(time, slot.limits)
        if slot.role == "sidecar":
            beside = time
        if not time.get(name):
            return False
    return all(slot.limits.get(name) for slot in draft.containers)


def _container(draft: Draft, slot: Slot, qos_class: str, machine: KubeletNode, parent: str) -> Cgroup:
    """Source: kuberuntime_container_linux.go generateLinuxContainerResources, calculateLinuxResources."""
    cpu, memory = _limit(draft, slot, "cpu"), _limit(draft, slot, "memory")
    request = slot.requests.get("cpu")
    asked, ceiling = (slot.amounts_of(side).get("memory", ZERO).value() for side in ("requests", "limits"))
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
        {
            "shares": cpu[1] if request is None else slot.path_of("requests", "cpu"),
            "quota": cpu[1],
            "memory": memory[1],
        },
    )
    score = oom_score(draft, slot, qos_class, machine.memory)
    return Cgroup(
        "container", f"{parent}/{_scope_name(machine)}", slot.name, _container_values(amounts, machine), (), score
    )


def smallest(root: Cgroup, container: str, file: str) -> tuple[str, int] | None:
    """Return the cgroup on the way up from a container whose limit in ``file`` is the smallest, and that limit.

    This is what holds for the container, and what programs that look at the whole way find; of equal ones the nearest.
    Of ``cpu.max`` it is the first number, the microseconds in a period. None: there is none.
    """
    limits = [
        (cgroup.path, int(value.value.partition(" ")[0]))
        for cgroup in reversed(_find_cgroup_path(root, container))
        for value in cgroup.values
        if value.file == file and value.value.partition(" ")[0].isdigit()
    ]
    return min(limits, key=lambda limit: limit[1], default=None)


def _find_cgroup_path(root: Cgroup, container: str) -> list[Cgroup]:
    """Return the cgroups down to a container; empty if it is not there."""
    if root.kind == "container":
        return [root] if root.name == container else []
    for child in root.children:
        below = _find_cgroup_path(child, container)
        if below:
            return [root, *below]
    return []


def _limit(draft: Draft, slot: Slot, name: str) -> tuple[Quantity | None, str]:
    """Return a container's limit, or the pod level's if it has none, and the path of it."""
    own_amount = slot.limits.get(name)
    if not own_amount and draft.pod is not None and draft.pod.limits.get(name) is not None:
        return draft.pod.limits[name], draft.pod.path_of("limits", name)
    return own_amount, slot.path_of("limits", name) if own_amount else ""


def _milli(quantity: Quantity | None) -> int:
    return 0 if quantity is None else quantity.milli_value()


def _quota(limit: Quantity | None, machine: KubeletNode) -> int:
    return quota(_milli(limit), machine.period) if machine.cpu_quota else 0


def _pages(values: Quantities) -> dict[str, int]:
    """Bytes by size of page."""
    return {page_size(name): value.value() for name, value in values.items() if is_huge_page(name) and page_size(name)}


def _container_values(amounts: CgroupAmounts, machine: KubeletNode) -> tuple[CgroupFileValue, ...]:
    return tuple(files(amounts, machine, container=True))


def _scope_name(machine: KubeletNode) -> str:
    """Return the end of a container's path: its id, which only the runtime knows."""
    return "cri-containerd-ID.scope" if machine.driver == "systemd" else "ID"


def _critical(draft: Draft) -> bool:
    return (draft.spec.priority or 0) >= _CRITICAL or draft.priority_class in SYSTEM_PRIORITIES
