"""Changes after which a node takes the pod, each tried with the filters, and the same as fixes of an explanation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from msgspec.structs import replace

from kubectl_kres.admission.base.draft import Side
from kubectl_kres.model import scheduling
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.common.nodes import LoweredRequest, NodeFix, NodeRemedy, NodeReport
from kubectl_kres.reports.common.remedy import Remedy, SetValue
from kubectl_kres.reports.common.system import RequestCap, cap_of_request
from kubectl_kres.reports.remedies.commands import (
    commands,
    unchangeable,
)
from kubectl_kres.reports.remedies.room import starves
from kubectl_kres.reports.scheduling.lowered_requests import LoweredPod, LoweredValue, lower_requests, sides_of
from kubectl_kres.reports.scheduling.node_changes import (
    NodeChange,
    first_changes,
    label,
    missing_labels,
    tolerate,
    tolerated_taints,
    uncordon,
)
from kubectl_kres.reports.scheduling.obstacles import (
    Obstacles,
    RemedyTarget,
    can_take,
    can_take_changed,
    find_obstacles_of,
    format_json_patch,
    nodes_that_take,
    with_node,
)
from kubectl_kres.reports.scheduling.rollout_remedies import with_old_first
from kubectl_kres.reports.scheduling.trial import try_for_all, with_deletions, without_own_pods
from kubectl_kres.reports.scheduling.volume_remedies import find_volume_remedies
from kubectl_kres.scheduling.node_info import NodeInfo, SchedulingCluster, changed_node
from kubectl_kres.store.store import Origin, Store
from kubectl_kres.wording import join_words


def find_remedies(
    store: Store,
    pod: scheduling.SchedulingPod,
    target: RemedyTarget,
    cluster: SchedulingCluster,
    obstacles: Obstacles,
) -> Iterator[NodeRemedy]:
    """Yield the smallest change of each kind, on the node that needs the least of it.

    What lets all pods that wait find a node comes before what helps some of them.
    """
    partly: list[NodeRemedy] = []
    single = list(_find_remedies(store, pod, target, cluster, obstacles))
    for remedy in single or _several_changes(store, pod, target, cluster, obstacles):
        if remedy.helped < remedy.waiting:
            partly.append(remedy)
        else:
            yield remedy
    yield from sorted(partly, key=lambda remedy: -remedy.helped)


def _find_remedies(
    store: Store,
    pod: scheduling.SchedulingPod,
    target: RemedyTarget,
    cluster: SchedulingCluster,
    obstacles: Obstacles,
) -> Iterator[NodeRemedy]:
    origin = store.origin
    yield from _wait_for_end(pod, target, cluster, obstacles)
    yield from _lower_request_remedies(store, pod, target, cluster, obstacles)
    yield from _tolerate(origin, pod, target, cluster, obstacles)
    yield from _label(origin, pod, target, cluster, obstacles)
    yield from _uncordon(origin, pod, target, cluster, obstacles)
    yield from _relaxation_remedies(origin, pod, target, cluster, obstacles)
    yield from find_volume_remedies(origin, pod, target, cluster, obstacles)


def _wait_for_end(
    pod: scheduling.SchedulingPod, target: RemedyTarget, cluster: SchedulingCluster, obstacles: Obstacles
) -> Iterator[NodeRemedy]:
    """Yield the node whose pods that are being deleted hold what the pod lacks: it finds room once they are gone."""
    for node, _ in obstacles.sole_obstacle("NodeResourcesFit"):
        ending = [each for each in node.pods if each.ending]
        changed = changed_node(node, ending, ())
        if not ending or not can_take_changed(pod, cluster, changed):
            continue
        holders = tuple(ObjectRef("Pod", each.name, each.namespace) for each in ending)
        remedy = NodeRemedy("wait-for-end", node.name, 1, holders=holders)
        tried = try_for_all(remedy, target, pod, with_node(cluster, changed), anew=False)
        yield from (tried,) if tried is not None else ()
        return


def _lower_request_remedies(
    store: Store,
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
    best: NodeRemedy | None = None
    for node, _ in near[:3]:
        for lowered in _lowered_for_all(pod, node, target):
            remedy = _lower_request(store, lowered, node, [other for other, _ in near], target, cluster)
            if remedy is not None and (best is None or remedy.helped > best.helped):
                best = remedy
            if best is not None and best.helped >= best.waiting:
                break
        if best is not None:
            yield best
            return


#: So many pods that wait are made to fit on one node.
_MOST_ON_ONE_NODE = 8


def _lowered_for_all(pod: scheduling.SchedulingPod, node: NodeInfo, target: RemedyTarget) -> Iterator[LoweredPod]:
    """Yield the pod lowered to what is free on the node, then so far that more and more of its kind fit there."""
    free = {name: amount - node.requested.get(name, 0) for name, amount in node.allocatable.items()}
    empty = without_own_pods(target.waiting, node)
    last: LoweredPod | None = None
    for number in range(1, min(target.waiting.wanted, _MOST_ON_ONE_NODE) + 1):
        shared = {
            name: min(left, (node.allocatable[name] - empty.requested.get(name, 0)) // number)
            for name, left in free.items()
        }
        lowered = lower_requests(pod, shared)
        if lowered is not None and lowered != last:
            last = lowered
            yield lowered


def _lower_request(
    store: Store,
    lowered: LoweredPod,
    node: NodeInfo,
    near: Sequence[NodeInfo],
    target: RemedyTarget,
    cluster: SchedulingCluster,
) -> NodeRemedy | None:
    """Return the remedy of lower requests; None where the server or the node does not take them."""
    if any(_starves(store, target, value) for value in lowered.values) or not target.admits(lowered.values):
        return None
    taking = nodes_that_take(lowered.pod, cluster, near)
    if node.name not in taking:
        return None
    edits = tuple(_edit(target, value, side) for value in lowered.values for side in sides_of(value.resource))
    caps = [cap for value in lowered.values if (cap := _cap(store, target, value)) is not None]
    if caps:
        about = join_words([cap.text for cap in caps])
        lines = tuple(dict.fromkeys(line for cap in caps for line in cap.commands))
        remedy = NodeRemedy("cap-request", node.name, len(taking), about=about, commands=lines)
    else:
        fixed = unchangeable(edits)
        reason = target.why_not or next(iter(fixed.values()), "")
        lines = () if reason else commands(store.origin, edits, {})
        values = tuple(
            LoweredRequest(value.container, value.resource, value.before, value.after, target.sources.get(_key(value)))
            for value in lowered.values
        )
        remedy = NodeRemedy(
            "lower-request", node.name, len(taking), lowered=values, commands=lines, no_command_reason=reason
        )
    remedy = with_deletions(store.origin, remedy, target)
    tried = try_for_all(remedy, target, lowered.pod, cluster, anew=target.makes_anew)
    if target.waiting.surge is None or (tried is not None and tried.helped == tried.waiting):
        return tried
    joined, changed = with_old_first(store.origin, remedy, target)
    again = try_for_all(joined, changed, lowered.pod, cluster, anew=True)
    return again if again is not None and (tried is None or again.helped > tried.helped) else tried


def _starves(store: Store, target: RemedyTarget, value: LoweredValue) -> bool:
    """Return whether a container would be promised less than half of the memory that its author wrote: what it uses
    does not shrink with it.
    """
    if not starves(value.resource, value.before, value.after):
        return False
    return _key(value) not in target.sources and _cap(store, target, value) is None


def _key(value: LoweredValue) -> str:
    return f"{value.path}.resources.requests[{value.resource}]"


def _cap(store: Store, target: RemedyTarget, value: LoweredValue) -> RequestCap | None:
    """Return what keeps a request low that a system writes again over the template; None: the template decides."""
    source = target.setters.get(_key(value))
    return None if source is None else cap_of_request(store, source, value.container, value.resource, value.after)


def _edit(target: RemedyTarget, value: LoweredValue, side: Side) -> SetValue:
    field = f"{target.prefix}{value.path}.resources.{side}[{value.resource}]"
    role = "pod" if not value.container else "container"
    return SetValue(target.ref, field, value.resource, value.after, value.before, value.container, side, role)


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
        if tolerations := tolerated_taints(pod, node):
            by_tolerations.setdefault(tolerations, []).append(node)
    for _, nodes in sorted(by_tolerations.items(), key=lambda group: (len(group[0]), -len(group[1]))):
        change = tolerate(origin, pod, target, cluster, nodes[0])
        if change is not None and can_take(change.pod, cluster, nodes[0]):
            remedy = with_deletions(origin, replace(change.remedy, nodes=len(nodes)), target)
            yield from _tried(change._replace(remedy=remedy), target)
            return


def _label(
    origin: Origin,
    pod: scheduling.SchedulingPod,
    target: RemedyTarget,
    cluster: SchedulingCluster,
    obstacles: Obstacles,
) -> Iterator[NodeRemedy]:
    """Yield the labels of nodeSelector that the nearest node lacks, where nothing else keeps the pod off it."""
    nodes = [node for node, _ in obstacles.sole_obstacle("NodeAffinity") if missing_labels(pod, node)]
    for node in sorted(nodes, key=lambda node: len(missing_labels(pod, node)))[:3]:
        change = label(origin, pod, cluster, node)
        if change is not None and _takes(change, node):
            yield from _tried(change, target)
            return


def _uncordon(
    origin: Origin,
    pod: scheduling.SchedulingPod,
    target: RemedyTarget,
    cluster: SchedulingCluster,
    obstacles: Obstacles,
) -> Iterator[NodeRemedy]:
    """Yield the remedy of a cordoned node, which a taint of its own repeats."""
    for node, statuses in obstacles.nodes:
        if any(status.plugin not in {"NodeUnschedulable", "TaintToleration"} for status in statuses):
            continue
        change = uncordon(origin, pod, cluster, node)
        if change is not None and _takes(change, node):
            yield from _tried(change, target)
            return


def _takes(change: NodeChange, node: NodeInfo) -> bool:
    changed = next(each for each in change.cluster.nodes if each.name == node.name)
    return can_take(change.pod, change.cluster, changed)


def _tried(change: NodeChange, target: RemedyTarget) -> Iterator[NodeRemedy]:
    tried = try_for_all(change.remedy, target, change.pod, change.cluster, anew=change.anew)
    yield from (tried,) if tried is not None else ()


#: So many nodes are looked at for several changes at once, and so many changes are made of one.
_MOST_NODES, _MOST_CHANGES = 3, 3


def _several_changes(
    store: Store,
    pod: scheduling.SchedulingPod,
    target: RemedyTarget,
    cluster: SchedulingCluster,
    obstacles: Obstacles,
    depth: int = 1,
) -> Iterator[NodeRemedy]:
    """Yield the changes that together let the nearest node take the pod, where no single one does."""
    for node, _ in obstacles.nodes[:_MOST_NODES]:
        for change in first_changes(store.origin, pod, target, cluster, node):
            changed = next(each for each in change.cluster.nodes if each.name == node.name)
            left = find_obstacles_of(change.pod, change.cluster, (changed,))
            rest = next(_find_remedies(store, change.pod, target, change.cluster, left), None)
            if rest is None and depth < _MOST_CHANGES - 1:
                rest = next(_several_changes(store, change.pod, target, change.cluster, left, depth + 1), None)
            if rest is not None:
                yield _joined(
                    with_deletions(store.origin, change.remedy, target) if change.anew else change.remedy, rest
                )
                return


def _changing_commands(remedy: NodeRemedy) -> tuple[str, ...]:
    """Return its commands without the deletions, which come last."""
    return remedy.commands[: len(remedy.commands) - len(remedy.replaced)]


def _joined(first: NodeRemedy, rest: NodeRemedy) -> NodeRemedy:
    """Return both changes as one: the pods that have to be deleted go once, at the end."""
    lines = (*_changing_commands(first), *_changing_commands(rest))
    deletions = first.commands[len(_changing_commands(first)) :] or rest.commands[len(_changing_commands(rest)) :]
    reason = first.no_command_reason or rest.no_command_reason
    return replace(
        first,
        also=(replace(rest, also=()), *rest.also),
        commands=(*lines, *deletions),
        no_command_reason=reason,
        helped=rest.helped,
        waiting=rest.waiting,
        replaced=first.replaced or rest.replaced,
    )


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
        reason = target.why_fixed
        lines = () if reason else (format_json_patch(origin, target, relaxed.patch),)
        node = next(node.name for node in near if node.name in taking)
        remedy = NodeRemedy(
            relaxed.action, node, len(taking), about=relaxed.about, commands=lines, no_command_reason=reason
        )
        remedy = with_deletions(origin, remedy, target)
        tried = try_for_all(remedy, target, relaxed.pod, cluster, anew=target.makes_anew)
        if tried is not None:
            done.add(relaxed.action)
            yield tried


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
    """Return each remedy as a fix, in the order of the report; none without a report."""
    if report is None:
        return ()
    return tuple(
        Remedy(NodeFix(each), commands=each.commands, no_command_reason=each.no_command_reason, proven=True)
        for each in report.fixes
    )
