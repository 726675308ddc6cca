"""From the amounts of the API to those of the Linux kernel: shares, weights, quotas, page sizes, oom_score_adj."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from kubectl_kres.admission.base.draft import Draft, Slot
from kubectl_kres.admission.pod.aggregate import of_containers
from kubectl_kres.errors import QuantityError
from kubectl_kres.quantity import ZERO, parse

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


def weight(cpu_shares: int) -> int:
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
    """The kernel's name of the pages of ``hugepages-2Mi``: ``2MB``; empty if the size is none.

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
    """The adjustment of one container; lower lives longer. ``capacity``: bytes of memory of the node, 0: not known.

    None: it depends on the capacity. Source: kubelet/qos/policy.go GetContainerOOMScoreAdjust.
    """
    if draft.priority_class == NODE_CRITICAL or qos_class == "Guaranteed":
        return GUARANTEED
    if qos_class == "BestEffort":
        return BEST_EFFORT
    if not capacity:
        return None
    extra = unassigned(draft)
    score = _score(_bytes(slot) + extra, capacity)
    if slot.role == "sidecar":
        least = min((_bytes(container) for container in draft.containers), default=0)
        score = min(score, _score(least + extra, capacity))
    return min(max(score, 1000 + GUARANTEED), BEST_EFFORT - 1)


def _score(requested: int, capacity: int) -> int:
    return 1000 - 1000 * requested // capacity


def _bytes(slot: Slot) -> int:
    return slot.requests.get("memory", ZERO).value()


def unassigned(draft: Draft) -> int:
    """Bytes of memory that the pod level requests beyond its containers, in equal parts for each of them."""
    level = draft.pod.requests.get("memory") if draft.pod is not None else None
    count = len(draft.containers) + len(draft.inits)
    if not level or not count:
        return 0
    quantity = of_containers(draft.containers, draft.inits, "requests").get("memory", ZERO)
    remaining = level.value() - quantity.value()
    return (max(0, remaining) if draft.server.behaves("cgroup/no-throttling-factor") else remaining) // count
