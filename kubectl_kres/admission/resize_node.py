"""The PodResizeValidator plugin: whether the node that runs a pod could hold it after a resize."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from kubectl_kres.admission.aggregate import of_pod
from kubectl_kres.admission.draft import Draft, parse_list
from kubectl_kres.admission.outcome import Cause, Finding, Refusal, forbidden_object
from kubectl_kres.model.node import Node
from kubectl_kres.model.pod import Pod
from kubectl_kres.provenance.journal import Assume, Check, Entry, Source
from kubectl_kres.quantity import ZERO, Quantity

_OS = "kubernetes.io/os"


def check_node(pod: Pod, draft: Draft, node: Node | None, journal: list[Entry] | None) -> Iterator[Refusal]:
    """403 for a node without the room or of another system; nothing for a pod that no node runs.

    Only this pod is held against the whole allocatable. ``node`` None: not known, supposed to be large enough;
    without a name: the server has none that is called so.
    Source: plugin/pkg/admission/podresize.
    """
    name = pod.spec.node_name
    if not name:
        return
    if node is None:
        if journal is not None:
            text = f"node {name} is not known: it is supposed to have room for the pod"
            journal.append(Assume("spec.nodeName", "resize/node-unknown", text))
        return
    if not node.metadata.name:
        text = f'node "{name}" not found'
        finding = Finding(text, "resize/node-absent", "spec.nodeName", source=Source("Node", name))
        yield forbidden_object("pods", pod.metadata.name, [finding])
        return
    system = (node.metadata.labels or {}).get(_OS, "linux")
    if system != "linux":
        text = f'pod resize is only supported on linux nodes, node "{name}" is "{system}"'
        source = Source("Node", name, field=f"metadata.labels[{_OS}]")
        yield _refused(pod, [Finding(text, "resize/node-platform", source=source)], "UnsupportedPlatform")
        return
    findings = [*_beyond(draft, node, journal)]
    if findings:
        yield _refused(pod, findings, "NodeCapacity")


def _beyond(draft: Draft, node: Node, journal: list[Entry] | None) -> Iterator[Finding]:
    """Requests that exceed the allocatable: in the sentence cpu counts in thousandths, memory in bytes."""
    requests, allocatable = of_pod(draft, "requests"), parse_list(node.status.allocatable, "status.allocatable")
    tests = [(name, requests.get(name, ZERO), allocatable.get(name, ZERO)) for name in ("cpu", "memory")]
    over = [test for test in tests if test[1] > test[2]]
    parts = "; ".join(
        f"{name}, requested: {_shown(name, asked)}, allocatable: {_shown(name, room)}" for name, asked, room in over
    )
    text = f"node didn't have enough allocatable resources: {parts}"
    for name, asked, room in tests:
        source = Source("Node", node.metadata.name, field=f"status.allocatable[{name}]")
        passed = asked <= room
        if journal is not None:
            message = "" if passed else text
            entry = Check(
                f"pod.requests[{name}]", "resize/node-capacity", passed, str(asked), str(room), message, source
            )
            journal.append(entry)
        if not passed:
            yield Finding(text, "resize/node-capacity", "pod", name, str(asked), str(room), source)


def _shown(name: str, quantity: Quantity) -> int:
    return quantity.milli_value() if name == "cpu" else quantity.value()


def _refused(pod: Pod, findings: Sequence[Finding], reason: str) -> Refusal:
    return replace(forbidden_object("pods", pod.metadata.name, findings), causes=(Cause("", reason, ""),))
