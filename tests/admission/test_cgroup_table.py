"""Whole pods with every value that a kubelet and a runtime write for them, worked out by hand from the formulas.

By hand means: shares are milli-cpus · 1024 / 1000; the kubelet's weight is 1 + (shares - 2) · 9999 / 262142; a newer
runtime's is 10 to the power of (l² + 125 l) / 612 - 7/34, rounded up, with l the binary logarithm of the shares.

  milli-cpus      5   50  100  200  250  500  1000  1250  1500  2000  3000  4000
  shares          5   51  102  204  256  512  1024  1280  1536  2048  3072  4096
  kubelet         1    2    4    8   10   20    39    49    59    79   118   157
  newer runtime   2   11   17   29   35   59   100   119   138   174   240   303
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubectl_kres.admission.base.draft import draft_pod
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.kubelet import Cgroup, KubeletNode, cgroups
from kubectl_kres.admission.pod.aggregate import compute_class
from kubectl_kres.admission.pod.defaulting import default_pod
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Pod

#: The pod's own cgroup, by driver and class.
PATHS = {
    ("systemd", "Guaranteed"): "/kubepods.slice/kubepods-pod1_2.slice",
    ("systemd", "Burstable"): "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1_2.slice",
    ("systemd", "BestEffort"): "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod1_2.slice",
    ("cgroupfs", "Guaranteed"): "/kubepods/pod1-2",
    ("cgroupfs", "Burstable"): "/kubepods/burstable/pod1-2",
    ("cgroupfs", "BestEffort"): "/kubepods/besteffort/pod1-2",
}

#: Bytes of so many mebibytes.
M64, M128, M256, M512, GI = 67108864, 134217728, 268435456, 536870912, 1073741824
FREE = "cpu.max=max 100000"
V1 = {"version": 1, "driver": "cgroupfs"}
ALWAYS = {"restartPolicy": "Always"}


def amounts(text: str) -> dict[str, str]:
    return dict(pair.split("=") for pair in text.split())


def ask(name: str, requests: str = "", limits: str = "", **more: Any) -> dict[str, Any]:
    """A container; amounts as ``cpu=1 memory=1Gi``."""
    return {"name": name, "resources": {"requests": amounts(requests), "limits": amounts(limits)}, **more}


def spec(*containers: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"containers": containers, **more}


def level(requests: str = "", limits: str = "") -> dict[str, Any]:
    held = {"requests": amounts(requests), "limits": amounts(limits)}
    return {"resources": {side: values for side, values in held.items() if values}}


FULL = "cpu=1 memory=1Gi"

CASES: dict[str, tuple[dict[str, Any], dict[str, Any], str, dict[str, str]]] = {
    "nothing stated": (
        spec(ask("c")),
        {},
        "BestEffort",
        {"pod": "cpu.weight=1", "c": f"cpu.weight=1; {FREE}"},
    ),
    "a cpu request": (
        spec(ask("c", "cpu=100m")),
        {},
        "Burstable",
        {"pod": "cpu.weight=4", "c": f"cpu.weight=17; {FREE}"},
    ),
    "a memory request protects from nothing": (
        spec(ask("c", "memory=128Mi")),
        {},
        "Burstable",
        {"pod": "cpu.weight=1", "c": f"cpu.weight=1; {FREE}"},
    ),
    "a cpu limit is its request": (
        spec(ask("c", limits="cpu=500m")),
        {},
        "Burstable",
        {"pod": "cpu.weight=20; cpu.max=50000 100000", "c": "cpu.weight=59; cpu.max=50000 100000"},
    ),
    "a memory limit": (
        spec(ask("c", limits="memory=256Mi")),
        {},
        "Burstable",
        {"pod": f"cpu.weight=1; memory.max={M256}", "c": f"cpu.weight=1; {FREE}; memory.max={M256}"},
    ),
    "guaranteed": (
        spec(ask("c", limits="cpu=2 memory=1Gi")),
        {},
        "Guaranteed",
        {
            "pod": f"cpu.weight=79; cpu.max=200000 100000; memory.max={GI}",
            "c": f"cpu.weight=174; cpu.max=200000 100000; memory.max={GI}",
        },
    ),
    "two guaranteed": (
        spec(ask("a", limits="cpu=500m memory=512Mi"), ask("b", limits="cpu=1500m memory=512Mi")),
        {},
        "Guaranteed",
        {
            "pod": f"cpu.weight=79; cpu.max=200000 100000; memory.max={GI}",
            "a": f"cpu.weight=59; cpu.max=50000 100000; memory.max={M512}",
            "b": f"cpu.weight=138; cpu.max=150000 100000; memory.max={M512}",
        },
    ),
    "an init container needs more than what follows": (
        spec(ask("c", limits=FULL), initContainers=[ask("i", limits="cpu=3 memory=256Mi")]),
        {},
        "Guaranteed",
        {
            "pod": f"cpu.weight=118; cpu.max=300000 100000; memory.max={GI}",
            "i": f"cpu.weight=240; cpu.max=300000 100000; memory.max={M256}",
            "c": f"cpu.weight=100; cpu.max=100000 100000; memory.max={GI}",
        },
    ),
    "a sidecar adds": (
        spec(ask("c", limits=FULL), initContainers=[ask("s", limits="cpu=250m memory=128Mi", **ALWAYS)]),
        {},
        "Guaranteed",
        {
            "pod": f"cpu.weight=49; cpu.max=125000 100000; memory.max={GI + M128}",
            "s": f"cpu.weight=35; cpu.max=25000 100000; memory.max={M128}",
            "c": f"cpu.weight=100; cpu.max=100000 100000; memory.max={GI}",
        },
    ),
    "an init container beside a sidecar that started before": (
        spec(ask("c", "cpu=500m"), initContainers=[ask("s", "cpu=1", **ALWAYS), ask("i", "cpu=2")]),
        {},
        "Burstable",
        {
            "pod": "cpu.weight=118",
            "s": f"cpu.weight=100; {FREE}",
            "i": f"cpu.weight=174; {FREE}",
            "c": f"cpu.weight=59; {FREE}",
        },
    ),
    "an init container that ended before the sidecar started": (
        spec(ask("c", "cpu=500m"), initContainers=[ask("i", "cpu=2"), ask("s", "cpu=1", **ALWAYS)]),
        {},
        "Burstable",
        {
            "pod": "cpu.weight=79",
            "i": f"cpu.weight=174; {FREE}",
            "s": f"cpu.weight=100; {FREE}",
            "c": f"cpu.weight=59; {FREE}",
        },
    ),
    "limits above requests": (
        spec(ask("c", "cpu=100m memory=64Mi", "cpu=1 memory=128Mi")),
        {},
        "Burstable",
        {
            "pod": f"cpu.weight=4; cpu.max=100000 100000; memory.max={M128}",
            "c": f"cpu.weight=17; cpu.max=100000 100000; memory.max={M128}",
        },
    ),
    "one of two without a cpu limit": (
        spec(ask("a", limits="cpu=1"), ask("b", "cpu=500m")),
        {},
        "Burstable",
        {"pod": "cpu.weight=59", "a": "cpu.weight=100; cpu.max=100000 100000", "b": f"cpu.weight=59; {FREE}"},
    ),
    "memory limits of both, a cpu limit of one": (
        spec(ask("a", limits="cpu=1 memory=256Mi"), ask("b", limits="memory=256Mi")),
        {},
        "Burstable",
        {
            "pod": f"cpu.weight=39; memory.max={M512}",
            "a": f"cpu.weight=100; cpu.max=100000 100000; memory.max={M256}",
            "b": f"cpu.weight=1; {FREE}; memory.max={M256}",
        },
    ),
    "pod level alone": (
        spec(ask("c"), **level(limits="cpu=2 memory=1Gi")),
        {},
        "Guaranteed",
        {
            "pod": f"cpu.weight=79; cpu.max=200000 100000; memory.max={GI}",
            "c": f"cpu.weight=174; cpu.max=200000 100000; memory.max={GI}",
        },
    ),
    "pod level requests over a container's limit": (
        spec(ask("c", limits="cpu=500m"), **level("cpu=1")),
        {},
        "Burstable",
        {"pod": "cpu.weight=39; cpu.max=50000 100000", "c": "cpu.weight=59; cpu.max=50000 100000"},
    ),
    "a pod level limit is shared by who has none": (
        spec(ask("a", limits="cpu=1"), ask("b", "cpu=250m"), **level(limits="cpu=2")),
        {},
        "Burstable",
        {
            "pod": "cpu.weight=49; cpu.max=200000 100000",
            "a": "cpu.weight=100; cpu.max=100000 100000",
            "b": "cpu.weight=35; cpu.max=200000 100000",
        },
    ),
    "a pod level limit and an init container": (
        spec(ask("c", limits="cpu=500m"), initContainers=[ask("i", "cpu=1")], **level(limits="cpu=2")),
        {},
        "Burstable",
        {
            "pod": "cpu.weight=39; cpu.max=200000 100000",
            "i": "cpu.weight=100; cpu.max=200000 100000",
            "c": "cpu.weight=59; cpu.max=50000 100000",
        },
    ),
    "a pod level limit and a sidecar without one": (
        spec(ask("c", limits="cpu=500m"), initContainers=[ask("s", **ALWAYS)], **level(limits="memory=512Mi")),
        {},
        "Burstable",
        {
            "pod": f"cpu.weight=20; memory.max={M512}",
            "s": f"cpu.weight=1; {FREE}; memory.max={M512}",
            "c": f"cpu.weight=59; cpu.max=50000 100000; memory.max={M512}",
        },
    ),
    "an empty stanza hides the containers from the class": (
        spec(ask("c", limits=FULL), resources={}),
        {},
        "BestEffort",
        {"pod": "cpu.weight=1", "c": f"cpu.weight=100; cpu.max=100000 100000; memory.max={GI}"},
    ),
    "huge pages": (
        spec(ask("c", limits=f"{FULL} hugepages-2Mi=4Mi")),
        {"pages": ("2MB",)},
        "Guaranteed",
        {
            "pod": f"cpu.weight=39; cpu.max=100000 100000; memory.max={GI}; hugetlb.2MB.max=4194304",
            "c": f"cpu.weight=100; cpu.max=100000 100000; memory.max={GI}; hugetlb.2MB.max=4194304",
        },
    ),
    "huge pages of the pod level": (
        spec(
            ask("a", limits="memory=512Mi hugepages-2Mi=4Mi"),
            ask("b", limits="memory=512Mi"),
            **level(limits="memory=1Gi hugepages-2Mi=8Mi"),
        ),
        {"pages": ("2MB",)},
        "Burstable",
        {
            "pod": f"cpu.weight=1; memory.max={GI}; hugetlb.2MB.max=8388608",
            "a": f"cpu.weight=1; {FREE}; memory.max={M512}; hugetlb.2MB.max=4194304",
            "b": f"cpu.weight=1; {FREE}; memory.max={M512}; hugetlb.2MB.max=8388608",
        },
    ),
    "huge pages that nobody asks for": (
        spec(ask("c")),
        {"pages": ("1GB", "2MB")},
        "BestEffort",
        {
            "pod": "cpu.weight=1; hugetlb.1GB.max=0; hugetlb.2MB.max=0",
            "c": f"cpu.weight=1; {FREE}; hugetlb.1GB.max=0; hugetlb.2MB.max=0",
        },
    ),
    "v1, guaranteed": (
        spec(ask("c", limits=FULL)),
        V1,
        "Guaranteed",
        dict.fromkeys(
            ("pod", "c"),
            "cpu.shares=1024; cpu.cfs_quota_us=100000; cpu.cfs_period_us=100000; memory.limit_in_bytes=1073741824",
        ),
    ),
    "v1, best effort": (
        spec(ask("c")),
        V1,
        "BestEffort",
        {"pod": "cpu.shares=2", "c": "cpu.shares=2; cpu.cfs_quota_us=-1; cpu.cfs_period_us=100000"},
    ),
    "v1, systemd, swap is accounted for": (
        spec(ask("c", limits="memory=256Mi")),
        {"version": 1, "swap": 0},
        "Burstable",
        {
            "pod": f"cpu.shares=2; memory.limit_in_bytes={M256}",
            "c": "cpu.shares=2; cpu.cfs_quota_us=-1; cpu.cfs_period_us=100000; "
            f"memory.limit_in_bytes={M256}; memory.memsw.limit_in_bytes={M256}",
        },
    ),
    "v1, pod level": (
        spec(ask("a"), ask("b", "cpu=200m"), **level(limits="cpu=1")),
        V1,
        "Burstable",
        {
            "pod": "cpu.shares=204; cpu.cfs_quota_us=100000; cpu.cfs_period_us=100000",
            "a": "cpu.shares=1024; cpu.cfs_quota_us=100000; cpu.cfs_period_us=100000",
            "b": "cpu.shares=204; cpu.cfs_quota_us=100000; cpu.cfs_period_us=100000",
        },
    ),
    "v1, cpu limits are not enforced": (
        spec(ask("c", limits=FULL)),
        {**V1, "cpu_quota": False},
        "Guaranteed",
        {
            "pod": "cpu.shares=1024; cpu.cfs_quota_us=-1; cpu.cfs_period_us=100000; memory.limit_in_bytes=1073741824",
            "c": "cpu.shares=1024; memory.limit_in_bytes=1073741824",
        },
    ),
    "an older runtime": (
        spec(ask("a", "cpu=500m"), ask("b", "cpu=1500m")),
        {"runtime_weights": False},
        "Burstable",
        {"pod": "cpu.weight=79", "a": f"cpu.weight=20; {FREE}", "b": f"cpu.weight=59; {FREE}"},
    ),
    "cgroupfs": (
        spec(ask("c", "cpu=50m", "cpu=4")),
        {"driver": "cgroupfs"},
        "Burstable",
        {"pod": "cpu.weight=2; cpu.max=400000 100000", "c": "cpu.weight=11; cpu.max=400000 100000"},
    ),
    "a period of its own": (
        spec(ask("c", limits="cpu=500m")),
        {"period": 20_000},
        "Burstable",
        {"pod": "cpu.weight=20; cpu.max=10000 20000", "c": "cpu.weight=59; cpu.max=10000 20000"},
    ),
    "no less than a millisecond": (
        spec(ask("c", limits="cpu=5m")),
        {},
        "Burstable",
        {"pod": "cpu.weight=1; cpu.max=1000 100000", "c": "cpu.weight=2; cpu.max=1000 100000"},
    ),
    "no more shares than the kernel knows": (
        spec(ask("c", "cpu=300")),
        {},
        "Burstable",
        {"pod": "cpu.weight=10000", "c": f"cpu.weight=10000; {FREE}"},
    ),
    "overhead is the pod's": (
        spec(ask("c", limits=FULL), overhead={"cpu": "250m", "memory": "64Mi"}),
        {},
        "Guaranteed",
        {
            "pod": f"cpu.weight=49; cpu.max=125000 100000; memory.max={GI + M64}",
            "c": f"cpu.weight=100; cpu.max=100000 100000; memory.max={GI}",
        },
    ),
    "overhead without limits": (
        spec(ask("c", "cpu=500m"), overhead={"cpu": "500m", "memory": "64Mi"}),
        {},
        "Burstable",
        {"pod": "cpu.weight=39", "c": f"cpu.weight=59; {FREE}"},
    ),
    "a limit of zero is none": (
        spec(ask("c", limits="cpu=0 memory=128Mi")),
        {},
        "Burstable",
        {"pod": f"cpu.weight=1; memory.max={M128}", "c": f"cpu.weight=1; {FREE}; memory.max={M128}"},
    ),
    "a fraction of a byte": (
        spec(ask("c", limits="memory=1500m")),
        {},
        "Burstable",
        {"pod": "cpu.weight=1; memory.max=2", "c": f"cpu.weight=1; {FREE}; memory.max=2"},
    ),
}


def pod_of(root: Cgroup) -> Cgroup:
    """The pod's cgroup, which stands below its class or the root."""
    return root if root.kind == "pod" else pod_of(root.children[0])


def text(cgroup: Cgroup) -> str:
    return "; ".join(f"{one.file}={one.value}" for one in cgroup.values)


@pytest.mark.parametrize("name", CASES)
def test_worked_out_by_hand(name: str):
    of, machine, qos, expected = CASES[name]
    draft = draft_pod(msgspec.convert({"spec": of}, Pod), Server((1, 36)))
    default_pod(draft, ObjectRef("Pod", "p"), None)
    found = KubeletNode(**machine)
    pod = pod_of(cgroups(draft, compute_class(draft), found, uid="1-2"))
    assert compute_class(draft) == qos
    assert pod.path == PATHS[found.driver, qos]
    files = {"pod": text(pod), **{one.name: text(one) for one in pod.children if one.kind == "container"}}
    assert files == expected
    assert all(one.path.startswith(f"{pod.path}/") for one in pod.children)


def test_there_are_enough():
    assert len(CASES) >= 30
