"""Cgroups of a pod, held against the kubelet's formulas; two pods are the examples of the pod-level draft of 2020."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubectl_kres.admission.base.draft import Draft, draft_pod
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.kubelet import (
    Cgroup,
    KubeletNode,
    cgroup_path,
    cgroups,
    cpu_weight,
    page_size,
    quota,
    runtime_weight,
    shares,
    smallest,
)
from kubectl_kres.admission.pod.aggregate import compute_class
from kubectl_kres.admission.pod.defaulting import default_pod
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Pod

GI = 1024**3


@pytest.mark.parametrize(
    ("milli", "expected"), [(0, (2, 1, 1)), (1, (2, 1, 1)), (2, (2, 1, 1)), (3, (3, 1, 2)), (100, (102, 4, 17)),
                            (1000, (1024, 39, 100)), (8000, (8192, 313, 532)), (256000, (262144, 10000, 10000)),
                            (999999, (262144, 10000, 10000))]
)  # fmt: skip
def test_shares_and_both_weights(milli: int, expected: tuple[int, int, int]):
    assert (shares(milli), cpu_weight(shares(milli)), runtime_weight(shares(milli))) == expected


@pytest.mark.parametrize(
    ("milli", "period", "micros"),
    [(0, 100_000, 0), (1, 100_000, 1000), (10, 100_000, 1000), (11, 100_000, 1100), (1500, 100_000, 150_000),
     (500, 20_000, 10_000)],
)  # fmt: skip
def test_quota(milli: int, period: int, micros: int):
    assert quota(milli, period) == micros


@pytest.mark.parametrize(
    ("name", "size"),
    [("hugepages-2Mi", "2MB"), ("hugepages-1Gi", "1GB"), ("hugepages-64Ki", "64KB"), ("hugepages-2048Ki", "2MB"),
     ("hugepages-1", "1B"), ("hugepages-1500", ""), ("hugepages-x", ""), ("hugepages-0", "")],
)  # fmt: skip
def test_page_sizes(name: str, size: str):
    assert page_size(name) == size


def test_paths():
    parts = ["kubepods", "burstable", "pod1234-ab"]
    assert cgroup_path(parts, "cgroupfs") == "/kubepods/burstable/pod1234-ab"
    assert cgroup_path(parts, "systemd") == (
        "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1234_ab.slice"
    )
    guaranteed = cgroup_path(["kubepods", "pod1"], "systemd")
    assert guaranteed == "/kubepods.slice/kubepods-pod1.slice"


def container(name: str = "c", requests: Any = None, limits: Any = None, **more: Any) -> dict[str, Any]:
    return {"name": name, "resources": {"requests": requests or {}, "limits": limits or {}}, **more}


def draft(*containers: dict[str, Any], **spec: Any) -> Draft:
    found = draft_pod(msgspec.convert({"spec": {"containers": containers, **spec}}, Pod), Server((1, 36)))
    default_pod(found, ObjectRef("Pod", "p"), None)
    return found


def tree(of: Draft, **machine: Any) -> Cgroup:
    return cgroups(of, compute_class(of), KubeletNode(**machine), uid="1-2")


def shown(root: Cgroup) -> dict[str, dict[str, str]]:
    """The files of each cgroup below the root, by its name."""
    found = {root.name: {value.file: value.value for value in root.values}}
    for child in root.children:
        found |= shown(child)
    return found


NGINX = draft(
    container("envoy"),
    container("nginx", {"cpu": "0.5", "memory": "128M"}, {"cpu": "1", "memory": "256M"}),
    resources={"limits": {"cpu": "2", "memory": "384M"}},
)
IDE = draft(
    container("shell"),
    container("tool1"),
    container("ide", {"cpu": "0.5", "memory": "128M"}, {"cpu": "1", "memory": "256M"}),
    resources={"limits": {"cpu": "4", "memory": "1024M"}},
)


def test_the_example_of_a_proxy_beside_a_server():
    root = tree(NGINX, memory=8 * GI)
    assert shown(root) == {
        "kubepods": {},
        "burstable": {},
        "pod1-2": {"cpu.weight": "20", "cpu.max": "200000 100000", "memory.max": "384000000"},
        "pause": {"cpu.weight": "1"},
        # The draft: unlimited, relative to the pod. What shipped: the pod's limits, and shares from them.
        "envoy": {"cpu.weight": "174", "cpu.max": "200000 100000", "memory.max": "384000000"},
        "nginx": {"cpu.weight": "59", "cpu.max": "100000 100000", "memory.max": "256000000"},
    }
    assert smallest(root, "envoy", "memory.max") == (root.children[0].children[0].children[1].path, 384_000_000)
    assert smallest(root, "nginx", "memory.max") == (root.children[0].children[0].children[2].path, 256_000_000)
    assert smallest(root, "nobody", "memory.max") is None


def test_the_example_of_an_ide_with_tools():
    files = shown(tree(IDE, version=1, driver="cgroupfs", burstable=4000, swap=0))
    assert files["burstable"] == {"cpu.shares": "4096"}
    assert files["pod1-2"] == {
        "cpu.shares": "512",
        "cpu.cfs_quota_us": "400000",
        "cpu.cfs_period_us": "100000",
        "memory.limit_in_bytes": "1024000000",
    }
    assert files["tool1"] == {
        "cpu.shares": "4096",
        "cpu.cfs_quota_us": "400000",
        "cpu.cfs_period_us": "100000",
        "memory.limit_in_bytes": "1024000000",
        "memory.memsw.limit_in_bytes": "1024000000",
    }


BOTH = {"cpu": "1", "memory": "1Gi"}
CPU = {"cpu": "1"}
SIDECAR = {"restartPolicy": "Always"}


@pytest.mark.parametrize(
    ("of", "pod", "parent"),
    [
        pytest.param(draft(container()), {"cpu.weight": "1"}, "besteffort", id="best effort"),
        pytest.param(
            draft(container(limits=BOTH)),
            {"cpu.weight": "39", "cpu.max": "100000 100000", "memory.max": str(GI)},
            "kubepods",
            id="guaranteed",
        ),
        pytest.param(
            draft(container(limits=BOTH), overhead={"cpu": "1", "memory": "1Gi"}),
            {"cpu.weight": "79", "cpu.max": "200000 100000", "memory.max": str(2 * GI)},
            "kubepods",
            id="overhead",
        ),
        pytest.param(
            draft(container(limits={"cpu": "1"}), container("d")), {"cpu.weight": "39"}, "burstable", id="one without"
        ),
        pytest.param(
            draft(container(limits={"cpu": "1"}), initContainers=[container("i")]),
            {"cpu.weight": "39"},
            "burstable",
            id="init container without",
        ),
        pytest.param(
            draft(container(limits=CPU), initContainers=[container("s", limits=CPU, **SIDECAR), container("i")]),
            {"cpu.weight": "79", "cpu.max": "200000 100000"},
            "burstable",
            id="init container without, beside a sidecar with",
        ),
        pytest.param(
            draft(container(limits={"cpu": "1"}), container("d"), resources={"limits": {"cpu": "3"}}),
            {"cpu.weight": "39", "cpu.max": "300000 100000"},
            "burstable",
            id="pod level",
        ),
    ],
)  # fmt: skip
def test_the_pod(of: Draft, pod: dict[str, str], parent: str):
    root = tree(of)
    assert shown(root)["pod1-2"] == pod
    above = root if parent == "kubepods" else root.children[0]
    assert (above.name, above.children[0].kind) == (parent, "pod")


def test_cpu_limits_can_be_left_to_nobody():
    files = shown(tree(draft(container(limits=BOTH)), cpu_quota=False))
    assert files["pod1-2"]["cpu.max"] == "max 100000"
    assert "cpu.max" not in files["c"]


def test_a_container_without_limits_is_limited_by_nothing():
    files = shown(tree(draft(container(requests={"cpu": "1"})), period=50_000, runtime_weights=False))
    assert files["c"] == {"cpu.weight": "39", "cpu.max": "max 50000"}


def test_huge_pages_that_nobody_asks_for_are_none():
    pages = {"memory": "1Gi", "hugepages-2Mi": "4Mi"}
    of = draft(container("a", limits=pages), container("b", limits={"memory": "1Gi"}))
    files = shown(tree(of, pages=("2MB", "1GB")))
    huge = {name: [value for file, value in held.items() if file.startswith("hugetlb")] for name, held in files.items()}
    assert huge == {
        "kubepods": [],
        "burstable": [str(1 << 62), str(1 << 62)],
        "pod1-2": ["0", "4194304"],
        "pause": [],
        "a": ["0", "4194304"],
        "b": ["0", "0"],
    }


HALF = {"cpu": "1", "memory": "512Mi"}


@pytest.mark.parametrize(
    ("of", "capacity", "scores"),
    [
        (draft(container()), 0, [1000]),
        (draft(container(limits=BOTH)), 0, [-997]),
        (draft(container(requests={"memory": "1Gi"})), 0, [None]),
        (draft(container(requests={"memory": "1Gi"})), 8 * GI, [875]),
        (draft(container(requests={"cpu": "1"})), 8 * GI, [999]),
        (draft(container(requests={"memory": "9Gi"})), 8 * GI, [3]),
        (draft(container(requests={"cpu": "1"}), priorityClassName="system-node-critical"), 8 * GI, [-997]),
        # A sidecar is not ended before the smallest container.
        (draft(container(requests={"memory": "1Gi"}), initContainers=[container("s", **SIDECAR)]), 8 * GI, [875, 875]),
        # What the pod level requests beyond its containers counts for each of them in equal parts.
        (
            draft(container(requests=HALF), container("d"), resources={"requests": {"memory": "1536Mi"}}),
            8 * GI,
            [875, 938],
        ),
        (NGINX, 8 * GI, [999, 986]),
    ],
)  # fmt: skip
def test_oom_scores(of: Draft, capacity: int, scores: list[int | None]):
    root = tree(of, memory=capacity)
    pods = root.children[0] if root.children[0].kind == "pod" else root.children[0].children[0]
    assert pods.children[0].oom_score_adj == -998
    assert [one.oom_score_adj for one in pods.children[1:]] == scores


@pytest.mark.parametrize(
    ("machine", "files"),
    [
        ({}, {}),
        ({"swap": GI, "memory": 8 * GI}, {"memory.swap.max": "0"}),
        ({"swap": GI, "memory": 8 * GI, "limited_swap": True}, {"memory.swap.max": str(GI // 16)}),
        ({"memory_qos": True}, {"memory.min": "0", "memory.low": "0", "memory.high": "1020051456"}),
        ({"memory_qos": True, "tiered": True}, {"memory.low": str(GI // 2), "memory.high": "1020051456"}),
        ({"memory_qos": True, "version": 1}, {}),
    ],
)
def test_swap_and_memory_qos(machine: dict[str, Any], files: dict[str, str]):
    found = shown(tree(draft(container(requests={"memory": "512Mi"}, limits={"memory": "1Gi"})), **machine))["c"]
    kept = {
        file: value
        for file, value in found.items()
        if file in {"memory.swap.max", "memory.min", "memory.low", "memory.high"}
    }
    assert kept == files


@pytest.mark.parametrize(
    ("limits", "priority", "share"),
    [({"memory": "512Mi"}, None, "0"), ({}, 2_000_000_000, "0"), ({}, 1, str(GI // 16))],
)
def test_who_may_swap(limits: dict[str, str], priority: int | None, share: str):
    of = draft(container(requests={"memory": "512Mi"}, limits=limits), priority=priority)
    assert shown(tree(of, swap=GI, memory=8 * GI, limited_swap=True))["c"]["memory.swap.max"] == share


def test_memory_high_of_an_unlimited_container_comes_from_the_node():
    of = draft(container(requests={"memory": "512Mi"}))
    assert "memory.high" not in shown(tree(of, memory_qos=True))["c"]
    assert shown(tree(of, memory_qos=True, allocatable=GI))["c"]["memory.high"] == "1020051456"
