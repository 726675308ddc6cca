"""Taints, tolerations and affinity of flavors and pods, out of what stands in the objects.

What is of another type than the server stores counts as not there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from kubectl_kres.kueue.model import PodSetSpec, ResourceFlavor
from kubectl_kres.model.scheduling import NodeSelectorTerm, RequiredNodeAffinity, Taint, Toleration
from kubectl_kres.scheduling.node_filters import untolerated
from kubectl_kres.scheduling.selectors import term_matches

T = TypeVar("T")


def _read(value: Any, form: type[T]) -> T | None:
    try:
        return msgspec.convert(value, form)
    except msgspec.ValidationError:
        return None


def taints_of(flavor: ResourceFlavor) -> tuple[Taint, ...]:
    """Return the taints of the nodes of a flavor."""
    return _read(flavor.spec.node_taints, tuple[Taint, ...]) or ()


def untolerated_taint(flavor: ResourceFlavor, spec: PodSetSpec) -> Taint | None:
    """Return the first taint that neither the pods nor the flavor itself tolerate; None: there is none."""
    every = tuple(_read(value, tuple[Toleration, ...]) or () for value in (spec.tolerations, flavor.spec.tolerations))
    return untolerated(taints_of(flavor), (*every[0], *every[1]))


def is_placed(flavor: ResourceFlavor, spec: PodSetSpec) -> bool:
    """Return whether node selector and required affinity match, as far as they are about the keys of its labels.

    Source: pkg/scheduler/flavorassigner flavorSelector.
    """
    labels = flavor.spec.node_labels or {}
    if any(labels[key] != value for key, value in (spec.node_selector or {}).items() if key in labels):
        return False
    node = spec.affinity.get("nodeAffinity") if isinstance(spec.affinity, Mapping) else None
    affinity = _read(node, RequiredNodeAffinity)
    required = affinity.required_during_scheduling_ignored_during_execution if affinity is not None else None
    terms: list[NodeSelectorTerm] = []
    for term in (required.node_selector_terms if required is not None else None) or ():
        known = tuple(expression for expression in term.match_expressions or () if expression.key in labels)
        if not known:
            return True
        terms.append(NodeSelectorTerm(match_expressions=known))
    return not terms or any(term_matches(term, labels, "") for term in terms)
