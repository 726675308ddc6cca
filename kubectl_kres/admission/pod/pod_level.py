"""Validation of pod-level resources (``spec.resources``, KEP-2837)."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.admission.base.draft import Draft, Slot
from kubectl_kres.admission.base.field_error import FieldError, forbidden, invalid
from kubectl_kres.admission.base.resource_names import is_huge_page, pod_level_name_errors
from kubectl_kres.admission.pod.aggregate import of_containers
from kubectl_kres.admission.pod.validation import claim_errors, requirement_errors


def validate_pod_level(draft: Draft) -> list[FieldError]:
    """Every error about the stanza; none if it is absent or dropped. Source: validation.go validatePodResources."""
    pod = draft.pod
    if pod is None:
        return []
    if draft.spec.os is not None and draft.spec.os.name == "windows":
        return [forbidden("spec.resources", "may not be set for a windows pod", "pod-level/windows")]
    errors: list[FieldError] = []
    claims = draft.spec.resources.claims if draft.spec.resources is not None else None
    if claims is not None:
        path, text = "spec.resources.claims", "claims may not be set for Resources at pod-level"
        errors.append(forbidden(path, text, "pod-level/claims"))
        errors += claim_errors(claims, path, tuple(claim.name for claim in draft.spec.resource_claims or ()))
    errors += requirement_errors(pod, pod_level_name_errors)
    errors += _against_containers(draft, pod)
    return errors


def _against_containers(draft: Draft, pod: Slot) -> Iterator[FieldError]:
    """Source: validation.go validatePodResourceConsistency."""
    for name, total in of_containers(draft.containers, draft.inits, "requests").items():
        level = pod.requests.get(name)
        if level is not None and total > level:
            text = f"must be greater than or equal to aggregate container requests of {total}"
            yield invalid(pod.at("requests", name), level, text, "pod-level/request-below-containers", bound=str(total))
    for name, total in of_containers(draft.containers, draft.inits, "limits").items():
        level = pod.limits.get(name)
        if is_huge_page(name) and level is not None and total > level:
            text = f"must be greater than or equal to aggregate container limits of {total}"
            yield invalid(pod.at("limits", name), level, text, "pod-level/hugepages-below-containers", bound=str(total))
    for index, slot in enumerate(draft.containers):
        for name, limit in slot.limits.items():
            level = pod.limits.get(name)
            if level is not None and limit > level:
                # The server builds this path from the wrong parent; users will search for what it prints.
                path = f"spec.resources.containers[{index}][{name}].limits"
                text = f"must be less than or equal to pod limits of {level}"
                yield invalid(path, limit, text, "pod-level/container-limit", bound=str(level))
