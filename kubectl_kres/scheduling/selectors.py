"""Matching of label selectors and node selectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kubectl_kres.model.objects import LabelSelector, Requirement, decode_object
from kubectl_kres.model.scheduling import NodeSelector, NodeSelectorTerm, SchedulingNode, SchedulingPod, TopologyTerm

Labels = Mapping[str, str]


def matches(selector: LabelSelector | None, labels: Labels) -> bool:
    """Return whether a label selector selects labels; none selects nothing, an empty one everything."""
    if selector is None:
        return False
    for key, value in (selector.match_labels or {}).items():
        if labels.get(key) != value:
            return False
    return all(meets_requirement(requirement, labels) for requirement in selector.match_expressions or ())


def read_selector(raw: Mapping[str, Any] | None) -> LabelSelector | None:
    """Return the selector of a workload as it was sent, of a ReplicationController labels alone; None: there is none.

    Raises ValidationError for one that the server would not store.
    """
    if not raw:
        return None
    if not {"matchLabels", "matchExpressions"} & raw.keys():
        return LabelSelector(match_labels=dict(raw))
    return decode_object(raw, LabelSelector)


def is_empty(selector: LabelSelector | None) -> bool:
    """Return whether a selector is there and selects everything."""
    return selector is not None and not selector.match_labels and not selector.match_expressions


def meets_requirement(requirement: Requirement, labels: Labels) -> bool:
    """Return whether labels meet one expression. Source: apimachinery labels/selector.go Requirement.Matches."""
    value, values = labels.get(requirement.key), requirement.values or ()
    match requirement.operator:
        case "In":
            return value is not None and value in values
        case "NotIn":
            return value is None or value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt" as operator:
            left, right = _integer(value), _integer(values[0] if len(values) == 1 else None)
            if left is None or right is None:
                return False
            return left > right if operator == "Gt" else left < right
    return False


def _integer(text: str | None) -> int | None:
    """Return what Go's ParseInt reads; None for anything else."""
    digits = (text or "").removeprefix("-") if (text or "").startswith("-") else (text or "").removeprefix("+")
    if not digits.isascii() or not digits.isdigit() or text is None:
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


def is_valid(requirement: Requirement) -> bool:
    """Return whether an expression of a node selector can be parsed; a term with another one matches nothing."""
    values = requirement.values or ()
    match requirement.operator:
        case "In" | "NotIn":
            return bool(values)
        case "Exists" | "DoesNotExist":
            return not values
        case "Gt" | "Lt":
            return len(values) == 1 and _integer(values[0]) is not None
    return False


def _is_valid_field(requirement: Requirement) -> bool:
    return requirement.operator in {"In", "NotIn"} and len(requirement.values or ()) == 1


def term_matches(term: NodeSelectorTerm, labels: Labels, name: str) -> bool:
    """Return whether a node with these labels and this name is what a term asks for; an empty term asks for none.

    ``name`` empty: there is no node, so fields are not looked at. Source: component-helpers nodeaffinity.go.
    """
    expressions, fields = term.match_expressions or (), term.match_fields or ()
    if not expressions and not fields:
        return False
    if not all(map(is_valid, expressions)) or not all(map(_is_valid_field, fields)):
        return False
    if not all(meets_requirement(requirement, labels) for requirement in expressions):
        return False
    return not name or all(meets_requirement(field, {"metadata.name": name}) for field in fields)


def selector_matches(selector: NodeSelector, labels: Labels, name: str = "") -> bool:
    """Return whether any term of a node selector matches."""
    return any(term_matches(term, labels, name) for term in selector.node_selector_terms or ())


def topology_matches(terms: Sequence[TopologyTerm], labels: Labels) -> bool:
    """Return whether a volume may be made for a node; no terms allow all nodes, an empty one allows none."""
    return not terms or any(
        term.match_label_expressions
        and all(
            labels.get(requirement.key) in (requirement.values or ()) for requirement in term.match_label_expressions
        )
        for term in terms
    )


def required_selector(pod: SchedulingPod) -> NodeSelector | None:
    """Return what node affinity requires of a node; None: nothing."""
    affinity = pod.spec.affinity
    if affinity is None or affinity.node_affinity is None:
        return None
    return affinity.node_affinity.required_during_scheduling_ignored_during_execution


def node_matches(pod: SchedulingPod, node: SchedulingNode) -> bool:
    """Return whether a node is what nodeSelector and node affinity of a pod require.

    Source: component-helpers nodeaffinity.go RequiredNodeAffinity.
    """
    labels = node.metadata.labels or {}
    if any(labels.get(key) != value for key, value in (pod.spec.node_selector or {}).items()):
        return False
    selector = required_selector(pod)
    return selector is None or selector_matches(selector, labels, node.metadata.name)
