"""Sums of pods by class, requests and limits of each namespace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from kubectl_kres.admission.base.draft import Quantities, draft_pod
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.pod.aggregate import add_into, compute_class, sum_stored_pod
from kubectl_kres.admission.quota.usage import is_terminal
from kubectl_kres.model.content_key import content_key
from kubectl_kres.model.pod import Pod
from kubectl_kres.quantity import Quantity
from kubectl_kres.record import Record
from kubectl_kres.reports.qos.qos_reach import CLASSES

#: Kinds of pods that are kept at a time.
_MOST = 10_000


class NamespaceSums(Record, frozen=True):
    """The pods of a namespace, or with ``total`` of all of them. ``classes``: number of pods by class.

    ``requests``, ``limits``: effective, as a quota without scopes counts them. ``finished``: pods that have ended,
    which no other figure counts. ``namespaces``: how many there are in a total.
    """

    namespace: str = ""
    pods: int = 0
    classes: Mapping[str, int] = {}
    requests: Mapping[str, str] = {}
    limits: Mapping[str, str] = {}
    finished: int = 0
    total: bool = False
    namespaces: int = 0


class PodAmounts(Struct, frozen=True, gc=False):
    """The amounts of one pod: its class, and its requests and limits by resource."""

    qos_class: str
    requests: Quantities
    limits: Quantities


def amounts(pod: Pod, server: Server) -> PodAmounts:
    """Return the amounts that a quota without scopes counts while the pod runs."""
    draft = draft_pod(pod, server)
    stored = pod.status.qos_class
    requests, limits = (sum_stored_pod(draft, pod.status, side) for side in ("requests", "limits"))
    return PodAmounts(stored if stored in CLASSES else compute_class(draft), requests, limits)


class AlikeAmounts:
    """A cache of ``amounts`` for many pods: copies of one pod share one result."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._amounts_by_pod: dict[bytes, PodAmounts] = {}

    def amounts_of(self, pod: Pod) -> PodAmounts:
        key = _key(pod)
        if key not in self._amounts_by_pod:
            if len(self._amounts_by_pod) >= _MOST:
                self._amounts_by_pod.clear()
            self._amounts_by_pod[key] = amounts(pod, self.server)
        return self._amounts_by_pod[key]


class _NamespaceSum:
    """The sum so far. ``alike``: how many pods of each kind are still to be added, in the order they came."""

    __slots__ = ("alike", "classes", "finished", "limits", "requests")

    def __init__(self) -> None:
        self.classes = dict.fromkeys(CLASSES, 0)
        self.requests: Quantities = {}
        self.limits: Quantities = {}
        self.finished = 0
        self.alike: dict[bytes, int] = {}

    def fold(self, known: Mapping[bytes, PodAmounts]) -> None:
        """Add the pods that are alike."""
        for key, count in self.alike.items():
            pod_amounts = known[key]
            self.classes[pod_amounts.qos_class] += count
            add_into(self.requests, _times(pod_amounts.requests, count))
            add_into(self.limits, _times(pod_amounts.limits, count))
        self.alike.clear()

    def add(self, other: _NamespaceSum) -> None:
        for name, count in other.classes.items():
            self.classes[name] += count
        add_into(self.requests, other.requests)
        add_into(self.limits, other.limits)
        self.finished += other.finished


class SumCollector:
    """A collector of sums, one for each namespace; it keeps numbers only."""

    def __init__(self, server: Server) -> None:
        self._server, self._spaces = server, dict[str, _NamespaceSum]()
        #: Most pods are copies: what one of them counts for, by all that this depends on.
        self._amounts_by_pod: dict[bytes, PodAmounts] = {}

    def add(self, pod: Pod) -> None:
        """Add a pod."""
        space = self._spaces.get(pod.metadata.namespace)
        if space is None:
            space = self._spaces[pod.metadata.namespace] = _NamespaceSum()
        if is_terminal(pod):
            space.finished += 1
            return
        key = _key(pod)
        if key not in self._amounts_by_pod:
            if len(self._amounts_by_pod) >= _MOST:
                self._fold()
                self._amounts_by_pod.clear()
            self._amounts_by_pod[key] = amounts(pod, self._server)
        space.alike[key] = space.alike.get(key, 0) + 1

    def _fold(self) -> None:
        for space in self._spaces.values():
            space.fold(self._amounts_by_pod)

    def sums(self) -> Iterator[NamespaceSums]:
        """Yield the namespaces by name, then the total."""
        self._fold()
        whole = _NamespaceSum()
        for name in sorted(self._spaces):
            whole.add(self._spaces[name])
            yield _build_sums(self._spaces[name], namespace=name)
        yield _build_sums(whole, total=True, namespaces=len(self._spaces))


def _key(pod: Pod) -> bytes:
    """Return the part of a pod that ``amounts`` depends on."""
    spec, status = pod.spec, pod.status
    statuses = (*(status.container_statuses or ()), *(status.init_container_statuses or ()))
    actual = [
        (status.name, status.resources, status.allocated_resources)
        for status in statuses
        if status.resources is not None or status.allocated_resources is not None
    ]
    conditions = status.conditions if actual else None
    parts = (spec.containers, spec.init_containers, spec.resources, spec.overhead, actual, conditions, status.qos_class)
    return content_key(parts)


def _times(values: Quantities, count: int) -> Quantities:
    """Return the sum multiplied by a count."""
    if count == 1:
        return values
    return {name: value + Quantity(value.nano * (count - 1), value.format) for name, value in values.items()}


def _build_sums(
    space: _NamespaceSum, *, namespace: str = "", total: bool = False, namespaces: int = 0
) -> NamespaceSums:
    requests, limits = (
        {name: str(values[name]) for name in sorted(values)} for values in (space.requests, space.limits)
    )
    pods = sum(space.classes.values())
    return NamespaceSums(namespace, pods, dict(space.classes), requests, limits, space.finished, total, namespaces)
