"""What plugins of the scheduler work on: a node with its pods as far as filters ask, and what a plugin says of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from kubectl_kres.model import scheduling
from kubectl_kres.model.objects import LabelSelector, Requirement
from kubectl_kres.model.scheduling import SchedulingPod, SchedulingWorld
from kubectl_kres.model.scheduling_views import CountedContainer, CountedPod
from kubectl_kres.scheduling.requests import Amounts, CountedRequests, read_amounts, requests_of
from kubectl_kres.scheduling.selectors import Labels

#: Address, protocol and number of a port of the node.
HostPort = tuple[str, str, int]
ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - nothing is bound to it
#: Pods that hold nothing of a node any more.
ENDED = frozenset({"Succeeded", "Failed"})


class BoundPod(Struct, frozen=True, gc=False, omit_defaults=True):
    """A pod on a node, as little of it as filters ask for.

    ``ending``: it is being deleted. ``anti_affinity``: the pods that it does not want beside it. ``volumes``: those
    that are claims or disks. ``priority``: 0 where none was given. ``nominated``: it
    is not there yet, and the scheduler has others removed for it.
    """

    namespace: str
    name: str
    requests: Amounts
    labels: Labels = {}
    ending: bool = False
    priority: int = 0
    ports: tuple[HostPort, ...] = ()
    anti_affinity: tuple[scheduling.AffinityTerm, ...] = ()
    volumes: tuple[scheduling.SchedulingVolume, ...] = ()
    nominated: bool = False


class PlacedPod(BoundPod, frozen=True, gc=False, omit_defaults=True):
    """A pod and the node that it is on, or that is promised to it; empty: it holds nothing of any."""

    node: str = ""

    @property
    def metadata(self) -> scheduling.PodIdentity:
        """By which a store finds it."""
        return scheduling.PodIdentity(self.name, self.namespace)


class PodsOnNodes(Struct, frozen=True):
    """All pods that are on nodes, by node, and those that are promised to one.

    ``selects_namespaces``: whether any of them keeps away pods of namespaces with some labels.
    """

    on_nodes: Mapping[str, Sequence[BoundPod]]
    nominated: tuple[tuple[str, BoundPod], ...] = ()
    selects_namespaces: bool = False

    @property
    def metadata(self) -> scheduling.PodIdentity:
        """No name: there is one of them."""
        return scheduling.PodIdentity()


#: A pod that was read as a whole, or as far as it counts on its node.
AnyPod = scheduling.SchedulingPod | CountedPod


def gather_pods(pages: Iterable[Sequence[AnyPod]]) -> PodsOnNodes:
    """Return what the scheduler counts of all pods, page by page, so that no more than one page of them is held."""
    requests = CountedRequests()
    return collect_pods((node, bind(pod, requests)) for page in pages for pod in page if (node := node_of(pod)))


def node_of(pod: AnyPod) -> str:
    """Return the node of which a pod holds something, or that is promised to it; empty where there is none."""
    return "" if pod.status.phase in ENDED else pod.spec.node_name or pod.status.nominated_node_name


def place_pod(pod: AnyPod) -> PlacedPod:
    """Return what of a pod counts on its node, with the node."""
    return placed_pod(bind(pod), node_of(pod))


def placed_pod(pod: BoundPod, node: str) -> PlacedPod:
    """Return the pod with its node."""
    return PlacedPod(**{name: getattr(pod, name) for name in BoundPod.__struct_fields__}, node=node)


def collect_pods(placed: Iterable[tuple[str, BoundPod]]) -> PodsOnNodes:
    """Return pods, each with its node, by node."""
    on_nodes: dict[str, list[BoundPod]] = {}
    nominated: list[tuple[str, BoundPod]] = []
    selects = False
    for node, bound in placed:
        if bound.nominated:
            nominated.append((node, bound))
        else:
            on_nodes.setdefault(node, []).append(bound)
        if bound.anti_affinity and not selects:
            selects = any(term.namespace_selector is not None for term in bound.anti_affinity)
    return PodsOnNodes(on_nodes, tuple(nominated), selects)


class NodeInfo(Struct, frozen=True):
    """A node and its pods. ``requested``: by resource what the pods request together.

    ``guarded``: those of the pods that do not want some others beside them.
    """

    node: scheduling.SchedulingNode
    allocatable: Amounts
    requested: Amounts
    pods: tuple[BoundPod, ...] = ()
    guarded: tuple[BoundPod, ...] = ()

    @property
    def name(self) -> str:
        return self.node.metadata.name

    @property
    def labels(self) -> Labels:
        return self.node.metadata.labels or {}


def bind(pod: AnyPod, requests: CountedRequests | None = None) -> BoundPod:
    """Return what of a pod counts on its node. ``requests``: what is known of pods that are alike."""
    spec, metadata = pod.spec, pod.metadata
    return BoundPod(
        metadata.namespace,
        metadata.name,
        requests.find(pod) if requests and isinstance(pod, CountedPod) else requests_of(pod, on_node=True),
        share_labels(metadata.labels),
        metadata.deletion_timestamp is not None,
        spec.priority or 0,
        tuple(host_ports(pod)),
        () if spec.affinity is None else required_terms(pod, spec.affinity.pod_anti_affinity),
        () if spec.volumes is None else tuple([volume for volume in spec.volumes if _is_checked_volume(volume)]),
        not spec.node_name,
    )


def share_labels(labels: Labels | None) -> Labels:
    """Return the same mapping for equal labels: many pods have the same."""
    return _share_labels(tuple(labels.items())) if labels else {}


@lru_cache(20_000)
def _share_labels(labels: tuple[tuple[str, str], ...]) -> Labels:
    """Return the same labels of many pods once."""
    return dict(labels)


def _is_checked_volume(volume: scheduling.SchedulingVolume) -> bool:
    return (
        volume.persistent_volume_claim is not None
        or volume.ephemeral is not None
        or volume.gce_persistent_disk is not None
        or volume.aws_elastic_block_store is not None
        or volume.iscsi is not None
        or volume.rbd is not None
    )


def build_node(node: scheduling.SchedulingNode, pods: Iterable[BoundPod]) -> NodeInfo:
    """Return a node with its pods counted."""
    counted = tuple(pods)
    amounts = read_amounts(node.status.allocatable)
    return NodeInfo(node, amounts, sum_requests(counted), counted, _select_guarded_pods(counted))


def _select_guarded_pods(pods: Iterable[BoundPod]) -> tuple[BoundPod, ...]:
    return tuple([pod for pod in pods if pod.anti_affinity])


def changed_node(node: NodeInfo, removed: Sequence[BoundPod], additions: Sequence[BoundPod]) -> NodeInfo:
    """Return a node as if some of its pods were gone and others were there."""
    gone = set(map(id, removed))
    pods = (*(pod for pod in node.pods if id(pod) not in gone), *additions)
    return replace(node, pods=pods, requested=sum_requests(pods), guarded=_select_guarded_pods(pods))


def sum_requests(pods: Iterable[BoundPod]) -> Amounts:
    """Return what pods request together."""
    sums: dict[str, int] = {}
    for pod in pods:
        for name, amount in pod.requests.items():
            sums[name] = sums.get(name, 0) + amount
    return sums


def host_ports(pod: AnyPod) -> list[HostPort]:
    """Yield the ports of the node that containers and sidecars take. Source: pkg/scheduler/util/utils.go
    GetHostPorts.
    """
    spec = pod.spec
    containers: Iterable[scheduling.SchedulingContainer | CountedContainer] = spec.containers or ()
    if spec.init_containers:
        containers = (*(init for init in spec.init_containers if init.restart_policy == "Always"), *containers)
    return [
        (port.host_ip or ANY_ADDRESS, port.protocol or "TCP", port.host_port)
        for container in containers
        if container.ports
        for port in container.ports
        if port.host_port > 0
    ]


def required_terms(pod: AnyPod, terms: scheduling.AffinityTerms | None) -> tuple[scheduling.AffinityTerm, ...]:
    """Return the required terms, each with its namespaces named and its matchLabelKeys in the selector.

    The API server writes the keys into the selector of a pod that it stores; once more changes nothing.
    Source: kube-scheduler framework/types.go newAffinityTerm, registry/core/pod/strategy.go.
    """
    listed = terms.required_during_scheduling_ignored_during_execution if terms is not None else None
    return tuple(_resolve_term(pod, term) for term in listed or ())


def _resolve_term(pod: AnyPod, term: scheduling.AffinityTerm) -> scheduling.AffinityTerm:
    own_namespace = () if term.namespaces or term.namespace_selector is not None else (pod.metadata.namespace,)
    selector = term.label_selector
    if selector is not None:
        selector = with_keys(selector, pod, term.match_label_keys, "In")
        selector = with_keys(selector, pod, term.mismatch_label_keys, "NotIn")
    return scheduling.AffinityTerm(
        selector, term.topology_key, (*(term.namespaces or ()), *own_namespace), term.namespace_selector
    )


def with_keys(selector: LabelSelector, pod: AnyPod, keys: Iterable[str] | None, operator: str) -> LabelSelector:
    """Return a selector that also asks for, or against, the pod's own values of some labels; absent ones are
    left out.
    """
    labels = pod.metadata.labels or {}
    more = tuple(Requirement(key, operator, (labels[key],)) for key in keys or () if key in labels)
    if not more:
        return selector
    return LabelSelector(selector.match_labels, (*(selector.match_expressions or ()), *more))


Code = Literal["Unschedulable", "UnschedulableAndUnresolvable", "Error"]

#: No other pod has to go for it, and none could: preemption does not look at the node.
UNRESOLVABLE: Code = "UnschedulableAndUnresolvable"
UNSCHEDULABLE: Code = "Unschedulable"


class Shortage(Struct, frozen=True, omit_defaults=True):
    """A resource of which a node has too little: CPU in thousandths, all others in units, bytes for memory.

    Source: noderesources/fit.go InsufficientResource.
    """

    resource: str
    requested: int
    used: int
    capacity: int

    @property
    def missing_amount(self) -> int:
        """Return how much more would have to be free."""
        return self.requested - (self.capacity - self.used)


class Rejection(Struct, frozen=True, omit_defaults=True):
    """Why a plugin rejects a pod. ``about``: the taint, the label, the claim or the selector that decides.

    Source: kube-scheduler framework/interface.go Status.
    """

    plugin: str
    code: Code
    reasons: tuple[str, ...]
    shortages: tuple[Shortage, ...] = ()
    about: str = ""

    @property
    def message(self) -> str:
        return ", ".join(self.reasons)


class UncomputedFilter(Exception):
    """A filter depends on what is not computed here; the text says on what."""


class SchedulingCluster(Struct, frozen=True):
    """The nodes with their pods, and what else there is."""

    nodes: tuple[NodeInfo, ...]
    world: SchedulingWorld


class Filter:
    """What a plugin found out before it looks at nodes.

    ``names``: the only nodes that come into question; None: all.
    """

    names: frozenset[str] | None = None

    def check(self, node: NodeInfo) -> Rejection | None:
        """Return why the node cannot take the pod; None: it can."""
        raise NotImplementedError

    def change(self, _node: NodeInfo, _removed: Sequence[BoundPod], _added: Sequence[BoundPod], /) -> Filter:
        """Return the filter if some pods of a node were gone and others were there."""
        return self


class Plugin(Protocol):
    """A plugin of the profile: PreFilter gives a filter, which is asked node by node.

    None: the pod has nothing that the plugin looks at. A status: no node will do. Raises NotComputed.
    """

    name: str

    def prepare(self, pod: SchedulingPod, cluster: SchedulingCluster, /) -> Filter | Rejection | None: ...
