"""Changes after which a node takes the pod. Each is tried: the filters are run again on the changed objects.

The remedies of a report about nodes as fixes, beside those for what is refused.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from kubectl_kres.model import scheduling
from kubectl_kres.reports.common.parts import LoweredRequest, NodeRemedy, NodeReport, Remedy, SetValue, StorageWanted
from kubectl_kres.reports.remedies.commands import commands, unchangeable
from kubectl_kres.reports.scheduling.lowered_requests import LoweredValue, lower_requests
from kubectl_kres.reports.scheduling.obstacles import (
    Obstacles,
    RemedyTarget,
    can_take,
    format_json_patch,
    kubectl_line,
    nodes_that_take,
)
from kubectl_kres.reports.scheduling.volume_remedies import find_volume_remedies
from kubectl_kres.scheduling.node_filters import taint_text, untolerated
from kubectl_kres.scheduling.node_info import NodeInfo, SchedulingCluster
from kubectl_kres.store.store import Origin

#: Taints that say that something is wrong with a node: tolerating them puts the pod on a node that cannot run it.
_TROUBLE = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "ToBeDeletedByClusterAutoscaler")
#: Given to pods by the server, so that no template needs them.
_GIVEN = frozenset({"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"})


def find_remedies(
    origin: Origin,
    pod: scheduling.SchedulingPod,
    target: RemedyTarget,
    cluster: SchedulingCluster,
    obstacles: Obstacles,
) -> Iterator[NodeRemedy]:
    """Yield the smallest change of each kind, on the node that needs the least of it."""
    yield from _lower_request_remedies(origin, pod, target, cluster, obstacles)
    yield from _tolerate(origin, pod, target, cluster, obstacles)
    yield from _label(origin, pod, cluster, obstacles)
    yield from _uncordon(origin, pod, cluster, obstacles)
    yield from _relaxation_remedies(origin, pod, target, cluster, obstacles)
    yield from find_volume_remedies(origin, pod, target, cluster, obstacles)


def _lower_request_remedies(
    origin: Origin,
    pod: scheduling.SchedulingPod,
    target: RemedyTarget,
    cluster: SchedulingCluster,
    obstacles: Obstacles,
) -> Iterator[NodeRemedy]:
    near = [
        (node, status)
        for node, status in obstacles.sole_obstacle("NodeResourcesFit")
        if all(shortage.resource != "pods" for shortage in status.shortages)
    ]
    for node, _ in near[:3]:
        lowered = lower_requests(pod, node)
        if lowered is None or not target.admits(lowered.values):
            continue
        taking = nodes_that_take(lowered.pod, cluster, [other for other, _ in near])
        if node.name not in taking:
            continue
        edits = tuple(_edit(target, value) for value in lowered.values)
        fixed = unchangeable(edits)
        reason = target.why_not or next(iter(fixed.values()), "")
        lines = () if reason else commands(origin, edits, {})
        values = tuple(
            LoweredRequest(value.container, value.resource, value.before, value.after, target.sources.get(_key(value)))
            for value in lowered.values
        )
        yield NodeRemedy("lower-request", node.name, len(taking), values, commands=lines, why=reason)
        return


def _key(value: LoweredValue) -> str:
    return f"{value.path}.resources.requests[{value.resource}]"


def _edit(target: RemedyTarget, value: LoweredValue) -> SetValue:
    field = f"{target.prefix}{_key(value)}"
    role = "pod" if not value.container else "container"
    return SetValue(target.ref, field, value.resource, value.after, value.before, value.container, "requests", role)


def _tolerate(
    origin: Origin,
    pod: scheduling.SchedulingPod,
    target: RemedyTarget,
    cluster: SchedulingCluster,
    obstacles: Obstacles,
) -> Iterator[NodeRemedy]:
    """Yield the tolerations for the taints of the nearest node that only taints keep the pod off."""
    by_tolerations: dict[tuple[scheduling.Toleration, ...], list[NodeInfo]] = {}
    for node, _ in obstacles.sole_obstacle("TaintToleration"):
        taints = tuple(_untolerated_taints(node.node, pod))
        if taints and not any(taint.key.startswith(_TROUBLE) for taint in taints):
            by_tolerations.setdefault(tuple(map(_toleration, taints)), []).append(node)
    for tolerations in sorted(
        by_tolerations, key=lambda tolerations: (len(tolerations), -len(by_tolerations[tolerations]))
    ):
        nodes = by_tolerations[tolerations]
        more = (*(pod.spec.tolerations or ()), *tolerations)
        tolerant = replace(pod, spec=replace(pod.spec, tolerations=more))
        if can_take(tolerant, cluster, nodes[0]):
            about = ", ".join(taint_text(taint) for taint in _untolerated_taints(nodes[0].node, pod))
            lines = () if target.why_not else (_toleration_command(origin, target, more),)
            yield NodeRemedy("tolerate", nodes[0].name, len(nodes), about=about, commands=lines, why=target.why_not)
            return


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
    patch = _nest_value(f"{target.prefix}spec", {"tolerations": msgspec.to_builtins(own_tolerations)})
    text = json.dumps(patch, separators=(",", ":"))
    target_arguments = (
        f"{target.ref.kind.lower()} {shlex.quote(target.ref.name)} -n {shlex.quote(target.ref.namespace)}"
    )
    return kubectl_line(origin, f"patch {target_arguments} --type merge -p {shlex.quote(text)}")


def _nest_value(path: str, value: Any) -> Any:
    for step in reversed(path.split(".")):
        value = {step: value}
    return value


def _label(
    origin: Origin, pod: scheduling.SchedulingPod, cluster: SchedulingCluster, obstacles: Obstacles
) -> Iterator[NodeRemedy]:
    """Yield the labels of nodeSelector that the nearest node lacks, where nothing else keeps the pod off it."""
    wanted = pod.spec.node_selector or {}
    candidates: list[tuple[int, NodeInfo, dict[str, str]]] = []
    for node, _ in obstacles.sole_obstacle("NodeAffinity"):
        lacks = {key: value for key, value in wanted.items() if node.labels.get(key) != value}
        if lacks and not any(key in node.labels and _is_given(key) for key in lacks):
            candidates.append((len(lacks), node, lacks))
    for _, node, lacks in sorted(candidates, key=lambda item: item[:1])[:3]:
        labels = {**node.labels, **lacks}
        changed = replace(node, node=replace(node.node, metadata=replace(node.node.metadata, labels=labels)))
        nodes = tuple(changed if other.name == node.name else other for other in cluster.nodes)
        if not can_take(pod, SchedulingCluster(nodes, cluster.world), changed):
            continue
        about = ",".join(f"{key}={value}" for key, value in sorted(lacks.items()))
        words = " ".join(shlex.quote(f"{key}={value}") for key, value in sorted(lacks.items()))
        over = " --overwrite" if any(key in node.labels for key in lacks) else ""
        line = kubectl_line(origin, f"label node {shlex.quote(node.name)} {words}{over}")
        yield NodeRemedy("label-node", node.name, 1, about=about, commands=(line,))
        return


def _is_given(label: str) -> bool:
    """Return whether the kubelet or the cloud gives a label to nodes: another value of it would not be true."""
    return label.partition("/")[0] in {"kubernetes.io", "topology.kubernetes.io", "node.kubernetes.io"}


def _uncordon(
    origin: Origin, pod: scheduling.SchedulingPod, cluster: SchedulingCluster, obstacles: Obstacles
) -> Iterator[NodeRemedy]:
    """Yield the remedy of a cordoned node, which a taint of its own repeats."""
    for node, statuses in obstacles.nodes:
        if any(status.plugin not in {"NodeUnschedulable", "TaintToleration"} for status in statuses):
            continue
        if not node.node.spec.unschedulable:
            continue
        changed = replace(node, node=_schedulable(node.node))
        nodes = tuple(changed if other.name == node.name else other for other in cluster.nodes)
        if can_take(pod, SchedulingCluster(nodes, cluster.world), changed):
            line = kubectl_line(origin, f"uncordon {shlex.quote(node.name)}")
            yield NodeRemedy("uncordon", node.name, 1, commands=(line,))
            return


def _schedulable(node: scheduling.SchedulingNode) -> scheduling.SchedulingNode:
    taints = tuple(taint for taint in node.spec.taints or () if taint.key != "node.kubernetes.io/unschedulable")
    return replace(node, spec=replace(node.spec, unschedulable=False, taints=taints))


class _Relaxed(NamedTuple):
    """The pod with less asked of nodes; ``patch``: the same as a JSON patch, its paths within the spec of the pod."""

    action: Literal["spread-anyway", "drop-affinity", "drop-host-port"]
    plugin: str
    about: str
    pod: scheduling.SchedulingPod
    patch: tuple[Mapping[str, Any], ...]


def _relaxation_remedies(
    origin: Origin,
    pod: scheduling.SchedulingPod,
    target: RemedyTarget,
    cluster: SchedulingCluster,
    obstacles: Obstacles,
) -> Iterator[NodeRemedy]:
    """The first constraint, term or port of each kind that the pod would have to ask no longer, and a node takes it."""
    done: set[str] = set()
    for relaxed in (*_spread_anyway(pod), *_without_affinity(pod), *_without_ports(pod)):
        near = [node for node, _ in obstacles.sole_obstacle(relaxed.plugin)]
        if relaxed.action in done or not near:
            continue
        taking = nodes_that_take(relaxed.pod, cluster, near)
        if not taking:
            continue
        done.add(relaxed.action)
        reason = target.why_fixed
        lines = () if reason else (format_json_patch(origin, target, relaxed.patch),)
        node = next(node.name for node in near if node.name in taking)
        yield NodeRemedy(relaxed.action, node, len(taking), about=relaxed.about, commands=lines, why=reason)


def _spread_anyway(pod: scheduling.SchedulingPod) -> Iterator[_Relaxed]:
    constraints = pod.spec.topology_spread_constraints or ()
    for index, constraint in enumerate(constraints):
        if constraint.when_unsatisfiable != "DoNotSchedule":
            continue
        changed = replace(constraint, when_unsatisfiable="ScheduleAnyway")
        spec = replace(pod.spec, topology_spread_constraints=(*constraints[:index], changed, *constraints[index + 1 :]))
        path = f"/topologySpreadConstraints/{index}"
        patch = (
            {"op": "test", "path": f"{path}/topologyKey", "value": constraint.topology_key},
            {"op": "replace", "path": f"{path}/whenUnsatisfiable", "value": "ScheduleAnyway"},
        )
        yield _Relaxed("spread-anyway", "PodTopologySpread", constraint.topology_key, replace(pod, spec=spec), patch)


def _without_affinity(pod: scheduling.SchedulingPod) -> Iterator[_Relaxed]:
    affinity = pod.spec.affinity
    for name, key in (("pod_anti_affinity", "podAntiAffinity"), ("pod_affinity", "podAffinity")):
        kind: scheduling.AffinityTerms | None = getattr(affinity, name, None)
        terms = kind.required_during_scheduling_ignored_during_execution if kind is not None else None
        for index, term in enumerate(terms or ()):
            left = scheduling.AffinityTerms((*(terms or ())[:index], *(terms or ())[index + 1 :]))
            spec = replace(pod.spec, affinity=replace(affinity or scheduling.SchedulingAffinity(), **{name: left}))
            path = f"/affinity/{key}/requiredDuringSchedulingIgnoredDuringExecution/{index}"
            patch = (
                {"op": "test", "path": f"{path}/topologyKey", "value": term.topology_key},
                {"op": "remove", "path": path},
            )
            about = f"{key} over {term.topology_key}"
            yield _Relaxed("drop-affinity", "InterPodAffinity", about, replace(pod, spec=spec), patch)


def _without_ports(pod: scheduling.SchedulingPod) -> Iterator[_Relaxed]:
    """Each port of the node; with hostNetwork all ports are the node's, and none can be left out."""
    containers = () if pod.spec.host_network else pod.spec.containers or ()
    for index, container in enumerate(containers):
        ports = container.ports or ()
        for position, port in enumerate(ports):
            if not port.host_port:
                continue
            fewer = replace(container, ports=(*ports[:position], replace(port, host_port=0), *ports[position + 1 :]))
            spec = replace(pod.spec, containers=(*containers[:index], fewer, *containers[index + 1 :]))
            path = f"/containers/{index}/ports/{position}/hostPort"
            patch = (
                {"op": "test", "path": path, "value": port.host_port},
                {"op": "remove", "path": path},
            )
            about = f"{port.host_port}/{port.protocol or 'TCP'} of {container.name}"
            yield _Relaxed("drop-host-port", "NodePorts", about, replace(pod, spec=spec), patch)


def node_fixes(report: NodeReport | None) -> tuple[Remedy, ...]:
    """Return each remedy in words, in the order of the report; none without a report."""
    if report is None:
        return ()
    return tuple(Remedy(fix_text(each), commands=each.commands, why=each.why, proven=True) for each in report.remedies)


def fix_text(remedy: NodeRemedy) -> str:
    """Return what to change, and what comes of it."""
    more = f" and {remedy.nodes - 1} more" if remedy.nodes > 1 else ""
    what = _format_volume_change(remedy) or _format_change(remedy)
    return f"{what}: {remedy.node}{more} can take the pod then (tried)"


def _format_change(remedy: NodeRemedy) -> str:
    """Return a change of the pod or of a node; empty: it is one of volumes."""
    match remedy.action:
        case "lower-request":
            return ", ".join(map(_format_lowered_request, remedy.lowered))
        case "tolerate":
            return f"tolerate {remedy.about}"
        case "label-node":
            return f"label node {remedy.node} {remedy.about}, if that is true of it"
        case "uncordon":
            return f"uncordon node {remedy.node}"
        case "spread-anyway":
            return f"let its pods spread over {remedy.about} only where that is possible (ScheduleAnyway)"
        case "drop-affinity":
            return f"leave out the required {remedy.about}, if its pods can do without"
        case "drop-host-port":
            return f"leave out host port {remedy.about}, if a Service can reach it instead"
    return ""


def _format_volume_change(remedy: NodeRemedy) -> str:
    """Return a change of claims, volumes, or what leads away from them; empty: it is another one."""
    about, to = remedy.about, remedy.to
    match remedy.action:
        case "create-claim":
            return f"create claim {about} {_format_wanted(remedy.wanted, 'at most')}"
        case "use-claim":
            return f"use claim {to} instead of {about}, if its data is what the pod needs"
        case "change-class":
            return f"give claim {about} the class {to}, which is there"
        case "provide-volume":
            driver = remedy.wanted.provisioner if remedy.wanted is not None else ""
            driver_text = f" (or {driver} makes it)" if driver else ""
            return (
                f"provide a PersistentVolume for claim {about}{driver_text} {_format_wanted(remedy.wanted, 'at least')}"
            )
        case "release-claim":
            holders = ", ".join(f"{holder.kind}/{holder.name}" for holder in remedy.holders)
            return f"end {holders}, which alone may use claim {about} (ReadWriteOncePod)"
        case "change-selector" if to:
            return f"change {about} in nodeSelector to {to}, where the pod's volumes are"
        case "change-selector":
            return f"leave out {about} of nodeSelector, which leads away from the pod's volumes"
    return ""


def _format_lowered_request(value: LoweredRequest) -> str:
    holder_text = f"of {value.container}" if value.container else "of the pod level"
    by = f", which {value.source.ref} sets," if value.source is not None else ""
    return f"lower the {value.resource} request {holder_text} from {value.from_}{by} to {value.to}"


def _format_wanted(wanted: StorageWanted | None, bound: str) -> str:
    """Return what a claim or a volume must have. ``bound``: what the size is."""
    if wanted is None:
        return ""
    parts = [f"named {wanted.volume}"] if wanted.volume else []
    exists = " (there is no such class)" if wanted.class_missing else ""
    parts += [f"of class {wanted.storage_class}{exists}" if wanted.storage_class else "of no class"]
    parts += [f"with {bound} {wanted.storage}"] if wanted.storage else []
    parts += [f"with {' and '.join(wanted.access_modes)}"] if wanted.access_modes else []
    parts += [f"as {wanted.mode}"] if wanted.mode != "Filesystem" else []
    parts += [f"labelled {','.join(f'{key}={value}' for key, value in wanted.labels.items())}"] if wanted.labels else []
    return ", ".join(parts)
