"""What containers share because of the pod level, and what each sees as its limit."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubectl_kres.admission.base.draft import Draft, draft_pod
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.kubelet import KubeletNode
from kubectl_kres.admission.pod.aggregate import compute_class
from kubectl_kres.admission.pod.defaulting import default_pod
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Node, Pod
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.qos.qos_report import Cgroups, Shared, SmallestLimits, build_cgroups, kubelet_node


def of(*containers: Any, version: int = 2, **spec: Any) -> Cgroups:
    draft: Draft = draft_pod(msgspec.convert({"spec": {"containers": containers, **spec}}, Pod), Server())
    default_pod(draft, ObjectRef("Pod", "p"), None)
    return build_cgroups(draft, compute_class(draft), KubeletNode(version), "")


def box(name: str, **limits: str) -> dict[str, Any]:
    return {"name": name, "resources": {"limits": limits}}


LEVEL = {"limits": {"cpu": "2", "memory": "384M"}}


@pytest.mark.parametrize(
    ("found", "shared"),
    [
        (of(box("a", cpu="1"), box("b")), ()),
        (of(box("a", cpu="1"), box("b"), resources={"limits": {"cpu": "2"}}),
         (Shared("cpu", "2", ("b",), (("a", "1"),), "1"),)),
        (of(box("a", cpu="2"), box("b", cpu="2"), resources={"limits": {"cpu": "2"}, "requests": {"cpu": "4"}}),
         (Shared("cpu", "2", (), (("a", "2"), ("b", "2")), "4", unreachable=True),)),
        (of(box("a"), resources={"limits": {"memory": "1Gi"}},
            initContainers=[{**box("s", memory="64Mi"), "restartPolicy": "Always"}, box("i", memory="9Gi")]),
         (Shared("memory", "1Gi", ("a",), (("s", "64Mi"),), "64Mi"),)),
        (of(box("a"), resources={"requests": {"memory": "1Gi"}}), ()),
    ],
)  # fmt: skip
def test_what_is_shared(found: Cgroups, shared: tuple[Shared, ...]):
    assert found.shared == shared


@pytest.mark.parametrize("version", [1, 2])
def test_what_is_seen(version: int):
    found = of(box("envoy"), box("nginx", cpu="1", memory="256M"), version=version, resources=LEVEL)
    envoy, nginx = found.smallest_limits
    assert (envoy.memory, envoy.cpu, nginx.memory, nginx.cpu) == (384_000_000, 200_000, 256_000_000, 100_000)
    # The nearest of equal ones: the runtime writes the pod's limit to the container, too.
    assert envoy.memory_at.endswith("cri-containerd-ID.scope")


def test_a_container_without_limits_sees_the_sum_of_none():
    found = of(box("a", memory="64Mi"), box("b"))
    assert found.smallest_limits[1] == SmallestLimits("b")


def test_the_pod_holds_an_init_container_down():
    found = of(box("a", memory="64Mi"), initContainers=[box("i", memory="128Mi")])
    assert [one.memory for one in found.smallest_limits] == [128 << 20, 64 << 20]


def test_the_machine_is_what_the_node_says():
    status = {
        "capacity": {"memory": "8Gi", "hugepages-2Mi": "1Gi", "hugepages-1Gi": "0"},
        "allocatable": {"memory": "7Gi"},
    }
    node = msgspec.convert({"status": status}, Node)
    found = kubelet_node(node, 2, "systemd")
    assert (found.memory, found.allocatable, found.pages) == (8 << 30, 7 << 30, ("1GB", "2MB"))
    assert kubelet_node(None, 1, "cgroupfs") == KubeletNode(1, "cgroupfs")


def test_notes_are_of_the_version():
    assert any("soft_limit" in sentence_text(note) for note in of(box("a"), version=1).notes)
    assert any(note.kind == "cpu-weight" for note in of(box("a")).notes)
