"""The files of one cgroup: which a kubelet or runtime writes for given amounts, under cgroup v1 and v2."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct, structs

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.kubelet.kernel import PERIOD, Driver, runtime_weight, weight
from kubectl_kres.quantity import Quantity

#: What a limit of no end reads like in a file of cgroup v2, and the quota of none in v1.
MAX, NO_QUOTA = "max", "-1"


class Machine(Struct, frozen=True, omit_defaults=True, rename="camel"):
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


def as_shipped(machine: Machine, server: Server) -> Machine:
    """The machine with what a kubelet of the server's version has where nothing is configured.

    Source: kubelet/apis/config/v1beta1/defaults.go.
    """
    recent = server.behaves("cgroup/no-throttling-factor")
    factor = machine.throttling if machine.throttling is not None or recent else _FACTOR
    on = server.on("MemoryQoS") if machine.memory_qos is None else machine.memory_qos
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


def files(amounts: CgroupAmounts, machine: Machine, *, container: bool) -> Iterator[CgroupFileValue]:
    """The files, in the order of their controllers. ``container``: the runtime writes them, not the kubelet."""
    source = amounts.sources
    if amounts.shares is not None:
        file, value = _weight(amounts.shares, machine, container=container)
        yield CgroupFileValue(file, value, "cgroup/cpu-weight", source.get("shares", ""))
    if amounts.quota is not None:
        for file, value in _quota(amounts.quota, machine):
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


def _weight(shares: int, machine: Machine, *, container: bool) -> tuple[str, str]:
    if machine.version == 1:
        return "cpu.shares", str(shares)
    newer = container and machine.runtime_weights
    return "cpu.weight", str(runtime_weight(shares) if newer else weight(shares))


def _quota(quota: int, machine: Machine) -> Iterator[tuple[str, str]]:
    if machine.version == 2:
        yield "cpu.max", f"{quota or MAX} {machine.period}"
    else:
        yield "cpu.cfs_quota_us", str(quota or NO_QUOTA)
        yield "cpu.cfs_period_us", str(machine.period)


def protected(request: Quantity | None, qos_class: str, machine: Machine) -> Iterator[CgroupFileValue]:
    """What MemoryQoS keeps the kernel from reclaiming in a pod, where the policy is TieredReservation."""
    if machine.memory_qos and machine.tiered and machine.version == 2 and request:
        file = "memory.min" if qos_class == "Guaranteed" else "memory.low"
        yield CgroupFileValue(file, str(request.value()), "cgroup/memory-qos")


def container_memory(
    request: int, limit: int, qos_class: str, machine: Machine, *, bounded: bool = False
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
    yield from _high(request, limit or machine.allocatable, machine)


def pod_memory(request: int, limit: int, machine: Machine) -> Iterator[CgroupFileValue]:
    """memory.high of a pod with pod-level resources whose memory limit is declared. Source: ApplyPodLevelMemoryHigh."""
    if machine.memory_qos and machine.recent and machine.version != 1 and not (request == limit and request):
        yield from _high(request, limit, machine)


def _high(request: int, ceiling: int, machine: Machine) -> Iterator[CgroupFileValue]:
    if machine.throttling is None or not ceiling:
        return
    high = math.floor(math.floor(request + (ceiling - request) * machine.throttling) / machine.page) * machine.page
    if high > request:
        yield CgroupFileValue("memory.high", str(high), "cgroup/memory-qos")


def unprotected(files: Iterable[str], machine: Machine) -> Iterator[CgroupFileValue]:
    """What a kubelet from 1.37 on resets at its start, where the policy is not TieredReservation."""
    if machine.recent and machine.version != 1 and not (machine.memory_qos and machine.tiered):
        yield from (CgroupFileValue(file, "0", "cgroup/memory-qos") for file in files)


def swap(request: int, limit: int, qos_class: str, machine: Machine, *, critical: bool) -> Iterator[CgroupFileValue]:
    """memory.swap.max of a container: its part of the node's swap, or none. Source: GetContainerSwapBehavior."""
    if machine.swap is None or machine.version == 1:
        return
    qualified = qos_class == "Burstable" and not critical and 0 < request <= machine.memory and request != limit
    share = int(request / machine.memory * machine.swap) if machine.limited_swap and qualified else 0
    yield CgroupFileValue("memory.swap.max", str(share), "cgroup/swap")
