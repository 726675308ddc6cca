"""Single changes that take one obstacle of one node away: it is uncordoned or labelled, or its taints are tolerated."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from kubectl_kres.model import scheduling
from kubectl_kres.reports.common.nodes import NodeRemedy
from kubectl_kres.reports.remedies.commands import directed_command, nest_value, patch_command
from kubectl_kres.reports.scheduling.obstacles import RemedyTarget, with_node
from kubectl_kres.scheduling.node_filters import taint_text, untolerated
from kubectl_kres.scheduling.node_info import NodeInfo, SchedulingCluster
from kubectl_kres.store.store import Origin

#: Taints that say that something is wrong with a node: tolerating them puts the pod on a node that cannot run it.
_TROUBLE = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "ToBeDeletedByClusterAutoscaler")
#: Given to pods by the server, so that no template needs them.
_GIVEN = frozenset({"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"})
_CORDONED = "node.kubernetes.io/unschedulable"


class NodeChange(NamedTuple):
    """A change that was not tried, with the pod and the nodes after it. ``anew``: it is one of the pod."""

    remedy: NodeRemedy
    pod: scheduling.SchedulingPod
    cluster: SchedulingCluster
    anew: bool = False


def uncordon(
    origin: Origin, pod: scheduling.SchedulingPod, cluster: SchedulingCluster, node: NodeInfo
) -> NodeChange | None:
    """Return the node without the mark, and without the taint that repeats it; None: it has none."""
    if not node.node.spec.unschedulable:
        return None
    taints = tuple(taint for taint in node.node.spec.taints or () if taint.key != _CORDONED)
    spec = replace(node.node.spec, unschedulable=False, taints=taints)
    changed = replace(node, node=replace(node.node, spec=spec))
    line = directed_command(origin, f"uncordon {shlex.quote(node.name)}")
    remedy = NodeRemedy("uncordon", node.name, 1, commands=(line,))
    return NodeChange(remedy, pod, with_node(cluster, changed))


def missing_labels(pod: scheduling.SchedulingPod, node: NodeInfo) -> dict[str, str]:
    """Return the labels of nodeSelector that the node lacks; none where the kubelet or the cloud gives one of them."""
    wanted = pod.spec.node_selector or {}
    lacks = {key: value for key, value in wanted.items() if node.labels.get(key) != value}
    return {} if any(key in node.labels and _is_given(key) for key in lacks) else lacks


def _is_given(label: str) -> bool:
    """Return whether the kubelet or the cloud gives a label to nodes: another value of it would not be true."""
    return label.partition("/")[0] in {"kubernetes.io", "topology.kubernetes.io", "node.kubernetes.io"}


def label(
    origin: Origin, pod: scheduling.SchedulingPod, cluster: SchedulingCluster, node: NodeInfo
) -> NodeChange | None:
    """Return the node with the labels that it lacks; None: it lacks none that could be set."""
    lacks = missing_labels(pod, node)
    if not lacks:
        return None
    labels = {**node.labels, **lacks}
    changed = replace(node, node=replace(node.node, metadata=replace(node.node.metadata, labels=labels)))
    about = ",".join(f"{key}={value}" for key, value in sorted(lacks.items()))
    words = " ".join(shlex.quote(f"{key}={value}") for key, value in sorted(lacks.items()))
    over = " --overwrite" if any(key in node.labels for key in lacks) else ""
    line = directed_command(origin, f"label node {shlex.quote(node.name)} {words}{over}")
    remedy = NodeRemedy("label-node", node.name, 1, about=about, commands=(line,))
    return NodeChange(remedy, pod, with_node(cluster, changed))


def tolerated_taints(pod: scheduling.SchedulingPod, node: NodeInfo) -> tuple[scheduling.Toleration, ...]:
    """Return the tolerations that the pod lacks on the node; none where a taint says that the node is in trouble."""
    taints = tuple(_untolerated_taints(node.node, pod))
    return () if any(taint.key.startswith(_TROUBLE) for taint in taints) else tuple(map(_toleration, taints))


def tolerate(
    origin: Origin,
    pod: scheduling.SchedulingPod,
    target: RemedyTarget,
    cluster: SchedulingCluster,
    node: NodeInfo,
) -> NodeChange | None:
    """Return the pod that tolerates the taints of the node; None: there is none that should be."""
    tolerations = tolerated_taints(pod, node)
    if not tolerations:
        return None
    more = (*(pod.spec.tolerations or ()), *tolerations)
    about = ", ".join(taint_text(taint) for taint in _untolerated_taints(node.node, pod))
    lines = () if target.why_not else (_toleration_command(origin, target, more),)
    remedy = NodeRemedy("tolerate", node.name, 1, about=about, commands=lines, no_command_reason=target.why_not)
    tolerant = replace(pod, spec=replace(pod.spec, tolerations=more))
    return NodeChange(remedy, tolerant, cluster, anew=target.makes_anew)


def _untolerated_taints(node: scheduling.SchedulingNode, pod: scheduling.SchedulingPod) -> Iterator[scheduling.Taint]:
    return (taint for taint in node.spec.taints or () if untolerated((taint,), pod.spec.tolerations) is not None)


def _toleration(taint: scheduling.Taint) -> scheduling.Toleration:
    if taint.value:
        return scheduling.Toleration(taint.key, "Equal", taint.value, taint.effect)
    return scheduling.Toleration(taint.key, "Exists", "", taint.effect)


def _toleration_command(origin: Origin, target: RemedyTarget, tolerations: Sequence[scheduling.Toleration]) -> str:
    """Return the patch of the tolerations. They are one value: the patch has all of them."""
    own_tolerations = [
        toleration for toleration in tolerations if target.ref.kind == "Pod" or toleration.key not in _GIVEN
    ]
    steps = f"{target.prefix}spec.tolerations".split(".")
    return patch_command(origin, target.ref, nest_value(steps, msgspec.to_builtins(own_tolerations)), "merge")


def first_changes(
    origin: Origin,
    pod: scheduling.SchedulingPod,
    target: RemedyTarget,
    cluster: SchedulingCluster,
    node: NodeInfo,
) -> Iterator[NodeChange]:
    """Yield each of these changes that takes something away which keeps the pod off the node."""
    changes = (
        uncordon(origin, pod, cluster, node),
        tolerate(origin, pod, target, cluster, node),
        label(origin, pod, cluster, node),
    )
    yield from (change for change in changes if change is not None)
