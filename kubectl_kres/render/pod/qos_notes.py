"""The words of what is to know about cgroups, and of what a score for the OOM killer depends on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kubectl_kres.reports.qos.qos_report import CgroupNote, OomScoreReason

_NOTES = {
    "source": "computed as the kubelet's and the runtime's source says; no kubelet was asked",
    "pause": "the pause container only holds the pod's Linux namespaces; it gets the least of everything",
    "memory-volumes": (
        "what is written to a memory-backed emptyDir counts as memory of the container that wrote it first"
    ),
    "cpuset": "placement on cpus and on the memory of NUMA nodes (cpuset) is not computed",
    "no-soft-limit": "a memory request has no file in cgroup v1: nothing writes memory.soft_limit_in_bytes",
    "cpu-weight": (
        "cpu.weight of containers is that of a recent runtime; older ones compute it as the kubelet does for pods"
    ),
}


def _note(note: CgroupNote) -> str:
    if note.kind == "node":
        memory = "on, without a throttling factor" if note.memory_qos else "off"
        return f"assumed about the node: cpu limits are enforced, in periods of 100 ms; no swap; MemoryQoS is {memory}"
    return _NOTES[note.kind]


def _reason(reason: OomScoreReason) -> str:
    if reason.qos_class != "Burstable":
        return f"the class {reason.qos_class}"
    request = f"memory request {reason.request}" if reason.request else "no memory request"
    return f"{request} and {reason.of_pod_level} of the pod level's" if reason.of_pod_level else request


WORDS: Mapping[type, Callable[[Any], str]] = {CgroupNote: _note, OomScoreReason: _reason}
