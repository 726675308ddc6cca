"""InterPodAffinity: pods that must be near a pod, pods that must not, and pods that do not want it beside them.

Source: pkg/scheduler/framework/plugins/interpodaffinity/filtering.go, plugin.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kubectl_kres.model.scheduling import AffinityTerm, SchedulingPod
from kubectl_kres.scheduling.node_info import (
    UNRESOLVABLE,
    UNSCHEDULABLE,
    BoundPod,
    Filter,
    NodeInfo,
    Rejection,
    SchedulingCluster,
    required_terms,
)
from kubectl_kres.scheduling.selectors import Labels, is_empty, matches

#: By label of nodes and its value the number of pods, which is never 0.
Counts = dict[tuple[str, str], int]


class InterPodAffinity:
    """Pods around a pod."""

    name = "InterPodAffinity"

    def prepare(self, pod: SchedulingPod, cluster: SchedulingCluster, /) -> Filter | Rejection | None:
        affinity, namespaces = pod.spec.affinity, cluster.world.namespaces
        near = _merge_namespaces(required_terms(pod, affinity.pod_affinity if affinity else None), namespaces)
        apart = _merge_namespaces(required_terms(pod, affinity.pod_anti_affinity if affinity else None), namespaces)
        own_labels = namespaces.get(pod.metadata.namespace, {})
        result = _AffinityIndex(pod, near, apart, own_labels, ({}, {}, {}))
        for node in cluster.nodes:
            result.count(node, node.pods if near or apart else node.guarded, 1)
        if not near and not apart and not result.existing:
            return None
        return result


def _merge_namespaces(terms: Iterable[AffinityTerm], namespaces: Mapping[str, Labels]) -> tuple[AffinityTerm, ...]:
    """Return the terms of the pod itself, their namespaceSelector replaced by the namespaces that it selects now."""
    merged = []
    for term in terms:
        if term.namespace_selector is not None and not is_empty(term.namespace_selector):
            chosen = (name for name, labels in namespaces.items() if matches(term.namespace_selector, labels))
            listed = (*(term.namespaces or ()), *chosen)
            merged.append(AffinityTerm(term.label_selector, term.topology_key, listed))
        else:
            merged.append(term)
    return tuple(merged)


def _matches_term(term: AffinityTerm, namespace: str, labels: Labels, namespace_labels: Labels) -> bool:
    """Source: kube-scheduler framework/types.go AffinityTerm.Matches."""
    if namespace not in (term.namespaces or ()) and not matches(term.namespace_selector, namespace_labels):
        return False
    return matches(term.label_selector, labels)


def _matches_all_terms(terms: Sequence[AffinityTerm], namespace: str, labels: Labels) -> bool:
    return bool(terms) and all(_matches_term(term, namespace, labels, {}) for term in terms)


class _AffinityIndex(Filter):
    """Where pods are that affinity, anti-affinity and the anti-affinity of others speak of."""

    def __init__(
        self,
        pod: SchedulingPod,
        near: tuple[AffinityTerm, ...],
        apart: tuple[AffinityTerm, ...],
        namespace_labels: Labels,
        counts: tuple[Counts, Counts, Counts],
    ) -> None:
        self._pod, self._near_terms, self._apart_terms, self._namespace_labels = pod, near, apart, namespace_labels
        self._affinity, self._anti_affinity, self.existing = counts

    def count(self, node: NodeInfo, pods: Sequence[BoundPod], step: int) -> None:
        """Add the pods of a node, or with ``step`` -1 take them away."""
        namespace, labels = self._pod.metadata.namespace, self._pod.metadata.labels or {}
        for pod in pods:
            for term in pod.anti_affinity:
                if _matches_term(term, namespace, labels, self._namespace_labels):
                    _update(self.existing, node, term.topology_key, step)
            if self._near_terms and _matches_all_terms(self._near_terms, pod.namespace, pod.labels):
                for term in self._near_terms:
                    _update(self._affinity, node, term.topology_key, step)
            for term in self._apart_terms:
                if _matches_term(term, pod.namespace, pod.labels, {}):
                    _update(self._anti_affinity, node, term.topology_key, step)

    def change(self, node: NodeInfo, removed: Sequence[BoundPod], additions: Sequence[BoundPod], /) -> Filter:
        counts = (dict(self._affinity), dict(self._anti_affinity), dict(self.existing))
        other = _AffinityIndex(self._pod, self._near_terms, self._apart_terms, self._namespace_labels, counts)
        other.count(node, removed, -1)
        other.count(node, additions, 1)
        return other

    def check(self, node: NodeInfo) -> Rejection | None:
        name = InterPodAffinity.name
        if not self._fits_affinity(node):
            about = ", ".join(dict.fromkeys(term.topology_key for term in self._near_terms))
            return Rejection(name, UNRESOLVABLE, ("node(s) didn't match pod affinity rules",), about=about)
        for term in self._apart_terms:
            value = node.labels.get(term.topology_key)
            if value is not None and self._anti_affinity.get((term.topology_key, value), 0) > 0:
                reason = "node(s) didn't match pod anti-affinity rules"
                return Rejection(name, UNSCHEDULABLE, (reason,), about=term.topology_key)
        if self.existing:
            for key, value in node.labels.items():
                if self.existing.get((key, value), 0) > 0:
                    reason = "node(s) didn't satisfy existing pods anti-affinity rules"
                    return Rejection(name, UNSCHEDULABLE, (reason,), about=key)
        return None

    def _fits_affinity(self, node: NodeInfo) -> bool:
        present = True
        for term in self._near_terms:
            value = node.labels.get(term.topology_key)
            if value is None:
                return False
            if self._affinity.get((term.topology_key, value), 0) <= 0:
                present = False
        # The first of its kind may start where nothing that it wants near it runs anywhere.
        first = not self._affinity and _matches_all_terms(
            self._near_terms, self._pod.metadata.namespace, self._pod.metadata.labels or {}
        )
        return present or first


def _update(counts: Counts, node: NodeInfo, key: str, step: int) -> None:
    value = node.labels.get(key)
    if value is None:
        return
    count = counts.get((key, value), 0) + step
    if count:
        counts[key, value] = count
    else:
        counts.pop((key, value), None)
