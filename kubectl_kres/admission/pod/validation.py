"""Validation of requests, limits, claims and resize policies of containers, and of the pod level (KEP-2837)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kubectl_kres.admission.base import resource_names
from kubectl_kres.admission.base.draft import Draft, Side, Slot
from kubectl_kres.admission.base.field_errors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
)
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.pod.aggregate import sum_containers
from kubectl_kres.errors import QuantityError
from kubectl_kres.model.pod import Container, ResizePolicy, ResourceClaimEntry, ResourceRequirements
from kubectl_kres.quantity import Quantity, parse

NameErrors = Callable[[str, str], list[FieldError]]


def validate_containers(draft: Draft, server: Server) -> list[FieldError]:
    """Return every error about resources outside the pod level. Source: validation.go ValidatePodSpec."""
    errors: list[FieldError] = []
    spec = draft.spec
    declared = tuple(claim.name for claim in spec.resource_claims or ())
    pairs = (*zip(draft.containers, spec.containers or (), strict=True),
             *zip(draft.inits, spec.init_containers or (), strict=True))  # fmt: skip
    for slot, container in pairs:
        errors += requirement_errors(slot, resource_names.container_name_errors)
        claims = container.resources.claims if container.resources else None
        errors += claim_errors(claims or (), f"{slot.path}.resources.claims", declared)
        errors += _resize_policy_errors(slot, container, spec.restart_policy, server)
    for name, quantity in draft.overhead.items():
        # The server validates overhead as if it were limits, which shows in the path.
        path = f"spec.overhead.limits[{name}]"
        errors += resource_names.container_name_errors(name, path)
        errors += value_errors(name, quantity, path)
    for index, ephemeral in enumerate(spec.ephemeral_containers or ()):
        if ephemeral.resources not in (None, ResourceRequirements()):
            path, text = f"spec.ephemeralContainers[{index}].resources", "cannot be set for an Ephemeral Container"
            errors.append(forbidden(path, text, "validation/ephemeral"))
    if spec.ephemeral_containers:
        errors.append(forbidden("spec.ephemeralContainers", "cannot be set on create", "validation/ephemeral"))
    if draft.overhead:
        errors += _huge_pages_alone(tuple(draft.overhead), "spec.overhead")
        errors += [
            invalid(f"spec.overhead.limits[{name}]", quantity, _indivisible(name, quantity), "validation/hugepages")
            for name, quantity in draft.overhead.items()
            if resource_names.is_huge_page(name) and not _divisible(name, quantity)
        ]
    return errors


def image_errors(draft: Draft) -> Iterator[FieldError]:
    """Images that a template may have and a pod may not. Source: validation.go validateContainers."""
    spec = draft.spec
    for slot, container in zip(
        (*draft.containers, *draft.inits), (*(spec.containers or ()), *(spec.init_containers or ())), strict=True
    ):
        if container.image != container.image.strip():
            text = "must not have leading or trailing whitespace"
            yield invalid(f"{slot.path}.image", container.image, text, "validation/image")


def requirement_errors(slot: Slot, name_errors: NameErrors) -> Iterator[FieldError]:
    """Names and values of one slot's limits and requests. Source: validation.go validateResourceRequirements."""
    yield from _list_errors(slot, "limits", name_errors)
    yield from _list_errors(slot, "requests", name_errors)
    for name, request in slot.requests.items():
        yield from _against_limit(slot, name, request)
    yield from _huge_pages_alone((*slot.limits, *slot.requests), f"{slot.path}.resources")


def _list_errors(slot: Slot, side: Side, name_errors: NameErrors) -> Iterator[FieldError]:
    for name, quantity in slot.amounts_of(side).items():
        path = slot.path_of(side, name)
        yield from name_errors(name, path)
        yield from value_errors(name, quantity, path)
        if resource_names.is_huge_page(name) and not _divisible(name, quantity):
            yield invalid(path, quantity, _indivisible(name, quantity), "validation/hugepages")


def value_errors(name: str, quantity: Quantity, path: str) -> Iterator[FieldError]:
    """Source: validation.go ValidateResourceQuantityValue."""
    if quantity.nano < 0:
        yield invalid(path, quantity, "must be greater than or equal to 0", "validation/non-negative")
    if resource_names.is_integer(name) and quantity.milli_value() % 1000:
        yield invalid(path, quantity, "must be an integer", "validation/integer")


def _against_limit(slot: Slot, name: str, request: Quantity) -> Iterator[FieldError]:
    limit, path = slot.limits.get(name), f"{slot.path}.resources"
    if limit is None:
        if not resource_names.may_overcommit(name):
            text = "Limit must be set for non overcommitable resources"
            yield required(f"{path}.limits", text, "validation/limit-required", resource=name)
    elif request != limit and not resource_names.may_overcommit(name):
        text = f"must be equal to {name} limit of {limit}"
        rule = "validation/request-equals-limit"
        yield invalid(f"{path}.requests", request, text, rule, resource=name, bound=str(limit))
    elif request > limit:
        text = f"must be less than or equal to {name} limit of {limit}"
        rule = "validation/request-over-limit"
        yield invalid(f"{path}.requests", request, text, rule, resource=name, bound=str(limit))


def _huge_pages_alone(names: Sequence[str], path: str) -> Iterator[FieldError]:
    if any(resource_names.is_huge_page(name) for name in names) and not {"cpu", "memory"} & set(names):
        yield forbidden(path, "HugePages require cpu or memory", "validation/hugepages-alone")


def _divisible(name: str, quantity: Quantity) -> bool:
    """Source: core/v1/helper IsHugePageResourceValueDivisible."""
    try:
        size = parse(name.removeprefix("hugepages-"))
    except QuantityError:
        return False
    whole = size.whole_value()
    return size.nano > 0 and size.milli_value() % 1000 == 0 and whole != 0 and quantity.whole_value() % whole == 0


def _indivisible(name: str, quantity: Quantity) -> str:
    return f"{quantity} is not positive integer multiple of {name}"


_CLAIM = "validation/resource-claim"


def claim_errors(claims: Sequence[ResourceClaimEntry], path: str, declared: Sequence[str]) -> Iterator[FieldError]:
    """Yield each claim once and declared in the pod. Source: validation.go validateResourceClaimNames."""
    seen: set[str] = set()
    for index, claim in enumerate(claims):
        item_path = f"{path}[{index}]"
        if not claim.name:
            yield required(item_path, rule=_CLAIM)
            continue
        yield from _claim_duplicate_errors(claim, item_path, seen)
        if claim.name not in declared:
            rest = f": {', '.join(sorted(set(declared)))}" if declared else " which is empty"
            yield not_found(item_path, claim.name, f"must be one of the names in pod.spec.resourceClaims{rest}", _CLAIM)


def _claim_duplicate_errors(claim: ResourceClaimEntry, item_path: str, seen: set[str]) -> Iterator[FieldError]:
    """Yield a claim as a whole overlaps with each of its requests. Takes the claim into ``seen``."""
    if claim.name in seen:
        yield duplicate(item_path, claim.name, _CLAIM)
        return
    key = claim.name
    if claim.request:
        yield from (
            invalid(f"{item_path}.request", claim.request, fault, _CLAIM)
            for fault in resource_names.label_faults(claim.request)
        )
        key = f"{claim.name}/{claim.request}"
        if key in seen:
            yield duplicate(item_path, key, _CLAIM)
    else:
        overlaps = [other for other in seen if other.startswith(f"{claim.name}/")]
        yield from (duplicate(item_path, claim.name, _CLAIM) for _ in overlaps)
    seen.add(key)


_RULE = "validation/resize-policy"


def _resize_policy_errors(
    slot: Slot, container: Container, pod_restart_policy: str, server: Server
) -> Iterator[FieldError]:
    """Source: validation.go validateResizePolicy, validateInitContainers."""
    policies = container.resize_policy or ()
    if not policies or not server.is_enabled("InPlacePodVerticalScaling"):
        return
    path = f"{slot.path}.resizePolicy"
    yield from _policy_list_errors(policies, path, never=pod_restart_policy == "Never")
    if slot.role == "init":
        for index, policy in enumerate(policies):
            if policy.restart_policy == "RestartContainer":
                text = "must not be set to 'RestartContainer' for non-sidecar initContainers"
                yield invalid(f"{path}[{index}].restartPolicy", policy.restart_policy, text, _RULE, typed=True)


def _policy_list_errors(policies: Sequence[ResizePolicy], path: str, *, never: bool) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, policy in enumerate(policies):
        name, restart = policy.resource_name, policy.restart_policy
        if name in seen:
            yield duplicate(f"{path}[{index}]", name, _RULE, typed=True)
        seen.add(name)
        if not name:
            yield required(path, rule=_RULE)
        elif name not in {"cpu", "memory"}:
            yield not_supported(path, name, ("cpu", "memory"), _RULE)
        if not restart:
            yield required(path, rule=_RULE)
        elif restart not in {"NotRequired", "RestartContainer"}:
            yield not_supported(path, restart, ("NotRequired", "RestartContainer"), _RULE)
        if never and restart != "NotRequired":
            yield invalid(path, restart, "must be 'NotRequired' when pod `restartPolicy` is 'Never'", _RULE, typed=True)


def validate_pod_level(draft: Draft) -> list[FieldError]:
    """Return every error about the stanza; none if it is absent or dropped. Source: validation.go
    validatePodResources.
    """
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
    errors += requirement_errors(pod, resource_names.pod_level_name_errors)
    errors += _against_containers(draft, pod)
    return errors


def _against_containers(draft: Draft, pod: Slot) -> Iterator[FieldError]:
    """Source: validation.go validatePodResourceConsistency."""
    for name, total in sum_containers(draft.containers, draft.inits, "requests").items():
        level = pod.requests.get(name)
        if level is not None and total > level:
            text = f"must be greater than or equal to aggregate container requests of {total}"
            yield invalid(
                pod.path_of("requests", name), level, text, "pod-level/request-below-containers", bound=str(total)
            )
    for name, total in sum_containers(draft.containers, draft.inits, "limits").items():
        level = pod.limits.get(name)
        if resource_names.is_huge_page(name) and level is not None and total > level:
            text = f"must be greater than or equal to aggregate container limits of {total}"
            yield invalid(
                pod.path_of("limits", name), level, text, "pod-level/hugepages-below-containers", bound=str(total)
            )
    for index, slot in enumerate(draft.containers):
        for name, limit in slot.limits.items():
            level = pod.limits.get(name)
            if level is not None and limit > level:
                # The server builds this path from the wrong parent; users will search for what it prints.
                path = f"spec.resources.containers[{index}][{name}].limits"
                text = f"must be less than or equal to pod limits of {level}"
                yield invalid(path, limit, text, "pod-level/container-limit", bound=str(level))
