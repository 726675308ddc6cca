"""What the ``resize`` subresource refuses with 422: anything but new cpu and memory of the same containers.

What a resize changes in the containers that run, and which of them restart for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from kubectl_kres.admission.base.draft import SIDES, Draft, Quantities, Side, Slot
from kubectl_kres.admission.base.outcome import FieldError, Outcome, Server, forbidden, invalid, required
from kubectl_kres.admission.pod.aggregate import class_of
from kubectl_kres.admission.pod.defaulting import decoded_draft
from kubectl_kres.admission.pod.validation import validate_containers, validate_pod_level
from kubectl_kres.model.pod import Container, Pod, ResourceRequirements
from kubectl_kres.quantity import Quantity

#: Annotation of a pod that a kubelet runs from a file.
MIRROR = "kubernetes.io/config.mirror"
RESIZABLE = ("cpu", "memory")

#: The server builds this path from an empty name, which prints so.
_NO_PATH = "[]"
_ONLY = "only cpu and memory resources are mutable"


class PodVersion:
    """A pod with its quantities: as stored, or as the resize would store it."""

    __slots__ = ("draft", "pod")

    def __init__(self, pod: Pod, draft: Draft) -> None:
        self.pod, self.draft = pod, draft

    @property
    def has_resources(self) -> bool:
        """Whether the pod level sets anything. An empty stanza does not."""
        return self.draft.pod is not None and bool(self.draft.pod.requests or self.draft.pod.limits)


def same_containers(old: Pod, new: Pod) -> bool:
    """Return whether the names of both are the same, in the same order."""
    return not [*_order_errors(old, new)]


def resize_errors(old: PodVersion, new: PodVersion, server: Server) -> list[FieldError]:
    """Return every error, as far as the server goes on looking. Source: validation.go ValidatePodResize."""
    errors = [error for error in validate_containers(new.draft, server) if error.rule != "validation/ephemeral"]
    errors += validate_pod_level(new.draft)
    if MIRROR in (old.pod.metadata.annotations or {}):
        return [forbidden(_NO_PATH, "static pods cannot be resized", "resize/unsupported")]
    if old.pod.spec.os is not None and old.pod.spec.os.name == "windows":
        return [forbidden(_NO_PATH, "windows pods cannot be resized", "resize/unsupported")]
    errors += _pod_errors(old, new)
    if old.has_resources or new.has_resources:
        if not server.is_enabled("InPlacePodLevelResourcesVerticalScaling"):
            text = (
                "resize of pods with pod-level resources is forbidden when "
                "InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled"
            )
            return [*errors, forbidden(_NO_PATH, text, "resize/pod-level")]
        errors += _level_errors(old, new)
    moved = [*_order_errors(old.pod, new.pod)]
    if moved:
        return [*errors, *moved]
    errors += [*_container_errors(old, new, server), *_init_errors(old, new, server)]
    if not errors and (old.draft.pod is None) != (new.draft.pod is None) and not new.has_resources:
        errors.append(forbidden("spec", _ONLY, "resize/immutable"))
    return errors


def _pod_errors(old: PodVersion, new: PodVersion) -> Iterator[FieldError]:
    if (old.pod.status.qos_class or class_of(old.draft)) != class_of(new.draft):
        text = "Pod QOS Class may not change as a result of resizing"
        yield invalid("spec", new.pod.status.qos_class, text, "resize/qos")
    running = [status for status in old.pod.status.container_statuses or () if status.state and status.state.running]
    if running and running[0].resources is None:
        yield forbidden("spec", "Pod running on node without support for resize", "resize/unsupported")


def _level_errors(old: PodVersion, new: PodVersion) -> Iterator[FieldError]:
    """Source: validation.go validatePodLevelResourcesResize."""
    before, after = old.draft.pod, new.draft.pod
    if before is not None and after is None:
        yield forbidden("spec.resources", "pod-level resources cannot be removed", "resize/removed")
        return
    for side in reversed(SIDES):
        if before is not None and after is not None and before.amounts_of(side).keys() - after.amounts_of(side).keys():
            text = f"pod-level resource {side} cannot be removed"
            yield forbidden(f"spec.resources.{side}", text, "resize/removed")
    if _other_resources(before) != _other_resources(after):
        yield forbidden("spec", f"{_ONLY} at pod-level", "resize/immutable")


def _order_errors(old: Pod, new: Pod) -> Iterator[FieldError]:
    """Source: validation.go validatePodResizeContainerOrdering."""
    pairs: tuple[tuple[str, Sequence[Container], Sequence[Container]], ...] = (
        ("containers", old.spec.containers or (), new.spec.containers or ()),
        ("initContainers", old.spec.init_containers or (), new.spec.init_containers or ()),
    )
    for key, before, after in pairs:
        if len(before) != len(after):
            yield forbidden(f"spec.{key}", f"{key} may not be added or removed on resize", "resize/containers")
            known_names = {container.name for container in before}
            bare = (
                index
                for index, container in enumerate(after)
                if container.name not in known_names and not container.image
            )
            yield from (required(f"spec.{key}[{index}].image", rule="validation/image") for index in bare)
            continue
        for index, (previous, is_) in enumerate(zip(before, after, strict=True)):
            if previous.name != is_.name:
                text = f"{key} may not be renamed or reordered on resize"
                yield forbidden(f"spec.{key}[{index}].name", text, "resize/containers")


def _container_errors(old: PodVersion, new: PodVersion, server: Server) -> Iterator[FieldError]:
    slots = zip(old.draft.containers, new.draft.containers, strict=True)
    raws = zip(old.pod.spec.containers or (), new.pod.spec.containers or (), strict=True)
    for (before, is_), raw in zip(slots, raws, strict=True):
        yield from _removal_errors(before, is_)
        if _other_resources(before) != _other_resources(is_) or _has_other_changes(
            *raw, claims_lost=not server.has_change("resize/claims-kept")
        ):
            yield forbidden("spec", _ONLY, "resize/immutable")


def _init_errors(old: PodVersion, new: PodVersion, server: Server) -> Iterator[FieldError]:
    resizable = server.is_enabled("InPlacePodVerticalScalingInitContainers")
    slots = zip(old.draft.inits, new.draft.inits, strict=True)
    raws = zip(old.pod.spec.init_containers or (), new.pod.spec.init_containers or (), strict=True)
    for (before, is_), raw in zip(slots, raws, strict=True):
        modified = (
            before.requests != is_.requests
            or before.limits != is_.limits
            or _has_other_changes(*raw, claims_lost=False)
        )
        if is_.role != "sidecar" and not resizable:
            if modified:
                text = "resources for non-sidecar init containers are immutable"
                yield forbidden("spec", text, "resize/init")
            continue
        yield from _removal_errors(before, is_)
        if _other_resources(before) != _other_resources(is_) or _has_other_changes(
            *raw, claims_lost=not server.has_change("resize/claims-kept")
        ):
            text = "only cpu and memory resources for init or sidecar containers are mutable"
            yield forbidden(is_.path, text, "resize/immutable")
        if modified and is_.role != "sidecar":
            text = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"
            for policy in raw[1].resize_policy or ():
                if policy.restart_policy == "RestartContainer":
                    yield forbidden(is_.path, text, "resize/init")


def _removal_errors(before: Slot, is_: Slot) -> Iterator[FieldError]:
    for side in reversed(SIDES):
        if before.amounts_of(side).keys() - is_.amounts_of(side).keys():
            text = f"resource {side} cannot be removed"
            yield forbidden(f"{is_.path}.resources.{side}", text, "resize/removed")


def _other_resources(slot: Slot | None) -> list[Quantities]:
    """Return what of a stanza is not cpu or memory; an absent stanza holds nothing."""
    if slot is None:
        return [{}, {}]
    return [{name: value for name, value in slot.amounts_of(side).items() if name not in RESIZABLE} for side in SIDES]


def _has_other_changes(before: Container, is_: Container, *, claims_lost: bool = True) -> bool:
    """Return whether something besides quantities differs: the resize policy, or claims.

    ``claims_lost``: the server compares the new container without its claims, so that one with claims never passes; up
    to 1.36 it does.
    """
    claims = [(container.resources or ResourceRequirements()).claims or () for container in (before, is_)]
    return (before.resize_policy or ()) != (is_.resize_policy or ()) or claims[0] != (() if claims_lost else claims[1])


class Change(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One request or limit that a resize changes. ``before``, ``after`` absent: there is none.

    ``restart``: the container's resizePolicy wants a restart for it. A container without a limit of its own has the pod
    level's.
    """

    path: str
    container: str
    resource: str
    side: Side
    before: str | None = None
    after: str | None = None
    restart: bool = False


def changes(old: Pod, outcome: Outcome, server: Server) -> tuple[Change, ...]:
    """Return what an outcome of ``resize`` changes in the containers that run, and which changes restart them.

    Source: kuberuntime_manager.go computePodResizeAction.
    """
    before, after = decoded_draft(old, server), outcome.draft
    policies = {
        (raw.name, resize_policy.resource_name): resize_policy.restart_policy == "RestartContainer"
        for raw in (*(old.spec.containers or ()), *(old.spec.init_containers or ()))
        for resize_policy in raw.resize_policy or ()
    }
    slots = zip((*before.containers, *before.inits), (*after.containers, *after.inits), strict=False)
    return tuple(
        Change(is_.path_of(side, resource), is_.name, resource, side, _format_amount(values[0]),
               _format_amount(values[1]), policies.get((is_.name, resource), False))
        for previous, is_ in slots for resource in RESIZABLE for side in reversed(SIDES)
        for values in [(_effective(before, previous.amounts_of(side), side, resource),
                        _effective(after, is_.amounts_of(side), side, resource))]
        if values[0] != values[1]
    )  # fmt: skip


def _effective(draft: Draft, values: Quantities, side: Side, resource: str) -> Quantity | None:
    own_amount = values.get(resource)
    if side == "limits" and not own_amount and draft.pod is not None:
        return draft.pod.limits.get(resource)
    return own_amount


def _format_amount(quantity: Quantity | None) -> str | None:
    return None if quantity is None else str(quantity)
