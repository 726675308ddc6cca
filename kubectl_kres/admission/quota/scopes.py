"""Scopes of a quota: which pods and claims it counts."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_kres.model.pod import Affinity, PodAffinity, PodSpec
from kubectl_kres.model.policy import ResourceQuotaSpec, ScopedRequirement
from kubectl_kres.model.quota_objects import PersistentVolumeClaim


def requirements(spec: ResourceQuotaSpec) -> tuple[ScopedRequirement, ...]:
    """``scopes`` as Exists expressions, then the selector's; all must match. Source: getScopeSelectorsFromQuota."""
    named = tuple(ScopedRequirement(scope, "Exists") for scope in spec.scopes or ())
    selector = spec.scope_selector
    return (*named, *(selector.match_expressions or ())) if selector else named


def matches_pod(requirement: ScopedRequirement, spec: PodSpec, priority_class: str, qos_class: str) -> bool:
    """Whether a pod is in the scope. ``qos_class``: the stored class if there is one, else the computed one.

    ``priority_class``: the pod's, or the global default that it was given; empty without one.

    Source: quota/v1/evaluator/core/pods.go podMatchesScopeFunc.
    """
    terminating = spec.active_deadline_seconds is not None and spec.active_deadline_seconds >= 0
    match requirement.scope_name:
        case "Terminating":
            return terminating
        case "NotTerminating":
            return not terminating
        case "BestEffort":
            return qos_class == "BestEffort"
        case "NotBestEffort":
            return qos_class != "BestEffort"
        case "PriorityClass":
            return _selects(requirement, (priority_class,) if priority_class else ())
        case "CrossNamespacePodAffinity":
            return _crosses_namespaces(spec.affinity)
        case _:
            return False


def matches_claim(requirement: ScopedRequirement, claim: PersistentVolumeClaim) -> bool:
    """Whether a claim is in the scope: by any attributes class in spec or status. Source: pvcMatchesScopeFunc."""
    if requirement.scope_name != "VolumeAttributesClass":
        return False
    target = claim.status.modify_volume_status
    names = (
        claim.spec.volume_attributes_class_name,
        claim.status.current_volume_attributes_class_name,
        target.target_volume_attributes_class_name if target else None,
    )
    return _selects(requirement, tuple(name for name in names if name))


def _selects(requirement: ScopedRequirement, names: Sequence[str]) -> bool:
    """Label-selector semantics: NotIn and DoesNotExist also match an object without any name."""
    values = requirement.values or ()
    match requirement.operator:
        case "Exists":
            return bool(names)
        case "DoesNotExist":
            return not names
        case "In":
            return any(name in values for name in names)
        case "NotIn":
            return not names or any(name not in values for name in names)
        case _:
            return False


def _crosses_namespaces(affinity: Affinity | None) -> bool:
    if affinity is None:
        return False
    return any(_any_crosses(group) for group in (affinity.pod_affinity, affinity.pod_anti_affinity))


def _any_crosses(group: PodAffinity | None) -> bool:
    """A term crosses with namespaces named, or with any namespaceSelector, even an empty one."""
    if group is None:
        return False
    preferred = group.preferred_during_scheduling_ignored_during_execution or ()
    terms = (
        *(group.required_during_scheduling_ignored_during_execution or ()),
        *(weighted.pod_affinity_term for weighted in preferred),
    )
    return any(term is not None and (term.namespaces or term.namespace_selector is not None) for term in terms)
