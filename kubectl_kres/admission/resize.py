"""A resize of a running pod through the ``resize`` subresource: what is kept of the request, and every check in order.

Refused with 422 is anything but new cpu and memory of the same containers. Then plugins ask the node of the pod whether
it can resize it and could hold it. What is admitted says which running containers change, and which of them restart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from kubectl_kres.admission import limitrange as limitrange_admission
from kubectl_kres.admission.base.draft import SIDES, Draft, Quantities, Side, Slot, Unparsable, draft_pod, parse_list
from kubectl_kres.admission.base.field_errors import FieldError, forbidden, invalid, required
from kubectl_kres.admission.base.outcome import (
    Finding,
    Outcome,
    Refusal,
    StatusCause,
    forbidden_object,
    invalid_object,
    unparsable,
)
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.pod.aggregate import compute_class, sum_pod
from kubectl_kres.admission.pod.defaulting import complete_pod_level, decoded_draft, default_pod, default_pod_level
from kubectl_kres.admission.pod.validation import validate_containers, validate_pod_level
from kubectl_kres.admission.quota.quota_admission import QuotaVerdict, evaluate, pod_request
from kubectl_kres.admission.request.new_pod import Policies, defaulted_drafts, distinct_outcomes, stored_pod
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Container, Node, Pod, ResourceRequirements
from kubectl_kres.provenance.journal import Assumption, Check, Entry, Source
from kubectl_kres.quantity import ZERO, Quantity, from_json, kept_text

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
        """Return whether the pod level sets anything. An empty stanza does not."""
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
    if (old.pod.status.qos_class or compute_class(old.draft)) != compute_class(new.draft):
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


_OS = "kubernetes.io/os"
_POD_LEVEL, _INIT = "InPlacePodLevelResourcesVerticalScaling", "InPlacePodVerticalScalingInitContainers"


def check_features(
    pod: Pod, old: Draft, new: Draft, node: Node | None, journal: list[Entry] | None, *, bounded: bool = False
) -> Iterator[Refusal]:
    """403 for a node that does not declare what the resize needs: for the pod level, or for plain init containers.

    ``node`` as for ``check_node``. ``bounded``: LimitRanges of the namespace were applied.
    Source: plugin/pkg/admission/nodedeclaredfeatures, component-helpers nodedeclaredfeatures/features/inplacepodresize.
    """
    needed = [*_list_needed_gates(old, new, bounded=bounded)]
    if not needed or not pod.spec.node_name or node is None:
        return
    if not node.metadata.name:
        yield _refuse_absent_node(pod)
        return
    source = Source("Node", pod.spec.node_name, field="status.declaredFeatures")
    declared = node.status.declared_features or ()
    missing = [name for name in needed if name not in declared]
    text = f'pod update requires features {", ".join(missing)} which are not available on node "{pod.spec.node_name}"'
    if journal is not None:
        observed, bound = ", ".join(needed), ", ".join(declared)
        journal.append(
            Check("spec", "resize/node-features", not missing, observed, bound, text if missing else "", source)
        )
    if missing:
        finding = Finding(text, "resize/node-features", "spec", observed=", ".join(missing), source=source)
        yield forbidden_object("pods", pod.metadata.name, [finding])


def _list_needed_gates(old: Draft, new: Draft, *, bounded: bool) -> Iterator[str]:
    if (old.pod is None) != (new.pod is None) or (
        old.pod is not None and new.pod is not None and _slot_sides(old.pod) != _slot_sides(new.pod)
    ):
        yield _POD_LEVEL
    slots = zip(old.inits, new.inits, old.spec.init_containers or (), new.spec.init_containers or (), strict=False)
    for previous, is_, before, after in slots:
        if previous.role == "init" and (
            _kept_by_node(previous, before) != _kept_by_node(is_, after)
            or _has_emptied_side(is_, after, bounded=bounded)
        ):
            yield _INIT
            return


def _has_emptied_side(slot: Slot, raw: Container, *, bounded: bool) -> bool:
    """Return whether a side that holds nothing is empty instead of absent, as it is stored: to the server a difference.

    LimitRanges make both sides, whether or not they give them anything. Source: limitranger mergeContainerResources.
    """
    stanza = raw.resources or ResourceRequirements()
    made = {"limits": stanza.limits is not None, "requests": stanza.limits is not None or stanza.requests is not None}
    return any(not slot.amounts_of(side) and (bounded or made[side]) for side in SIDES)


def _kept_by_node(slot: Slot, raw: Container) -> set[tuple[str, ...]]:
    """Return the values as the server holds them in memory, where ``10m`` and ``0.01`` differ: it compares that, not
    amounts.

    Source: nodedeclaredfeatures nonsidecar_initcontainers_resize.go InferForUpdate; reflect.DeepEqual of Quantity.
    """
    stanza = raw.resources or ResourceRequirements()
    limits = stanza.limits or {}
    pairs: set[tuple[str, ...]] = set()
    for side, written in (("limits", limits), ("requests", {**limits, **(stanza.requests or {})})):
        for name, quantity in (slot.limits if side == "limits" else slot.requests).items():
            written_as = str(written.get(name, quantity))
            text = kept_text(written_as) if from_json(written_as) == quantity else ""
            pairs.add((side, name, str(quantity.nano), quantity.format, str(quantity.scale), text))
    return pairs


def _slot_sides(slot: Slot) -> tuple[Quantities, Quantities]:
    return slot.requests, slot.limits


def _refuse_absent_node(pod: Pod) -> Refusal:
    text = f'node "{pod.spec.node_name}" not found'
    finding = Finding(text, "resize/node-absent", "spec.nodeName", source=Source("Node", pod.spec.node_name))
    return forbidden_object("pods", pod.metadata.name, [finding])


def check_node(pod: Pod, draft: Draft, node: Node | None, journal: list[Entry] | None) -> Iterator[Refusal]:
    """403 for a node without the room or of another system; nothing for a pod that no node runs.

    Only this pod is held against the whole allocatable. ``node`` None: not known, supposed to be large enough;
    without a name: the server has none that is called so.
    Source: plugin/pkg/admission/podresize.
    """
    name = pod.spec.node_name
    if not name:
        return
    if node is None:
        if journal is not None:
            text = f"node {name} is not known: it is assumed to have room for the pod and to be able to resize it"
            journal.append(Assumption("spec.nodeName", "resize/node-unknown", text))
        return
    if not node.metadata.name:
        yield _refuse_absent_node(pod)
        return
    system = (node.metadata.labels or {}).get(_OS, "linux")
    if system != "linux":
        text = f'pod resize is only supported on linux nodes, node "{name}" is "{system}"'
        source = Source("Node", name, field=f"metadata.labels[{_OS}]")
        yield _build_refusal(pod, [Finding(text, "resize/node-platform", source=source)], "UnsupportedPlatform")
        return
    findings = [*_exceeding_requests(draft, node, journal)]
    if findings:
        yield _build_refusal(pod, findings, "NodeCapacity")


def _exceeding_requests(draft: Draft, node: Node, journal: list[Entry] | None) -> Iterator[Finding]:
    """Requests that exceed the allocatable: in the sentence cpu counts in thousandths, memory in bytes."""
    requests, allocatable = sum_pod(draft, "requests"), parse_list(node.status.allocatable, "status.allocatable")
    tests = [(name, requests.get(name, ZERO), allocatable.get(name, ZERO)) for name in ("cpu", "memory")]
    over = [test for test in tests if test[1] > test[2]]
    parts = "; ".join(
        f"{name}, requested: {_round_amount(name, requested)}, allocatable: {_round_amount(name, room)}"
        for name, requested, room in over
    )
    text = f"node didn't have enough allocatable resources: {parts}"
    for name, requested, room in tests:
        source = Source("Node", node.metadata.name, field=f"status.allocatable[{name}]")
        passed = requested <= room
        if journal is not None:
            message = "" if passed else text
            entry = Check(
                f"pod.requests[{name}]", "resize/node-capacity", passed, str(requested), str(room), message, source
            )
            journal.append(entry)
        if not passed:
            yield Finding(
                text, "resize/node-capacity", "pod", name, requested=str(requested), limit=str(room), source=source
            )


def _round_amount(name: str, quantity: Quantity) -> int:
    return quantity.milli_value() if name == "cpu" else quantity.value()


def _build_refusal(pod: Pod, findings: Sequence[Finding], reason: str) -> Refusal:
    return replace(forbidden_object("pods", pod.metadata.name, findings), causes=(StatusCause("", reason, ""),))


def resize(
    old: Pod,
    patched: Pod,
    policies: Policies,
    server: Server,
    *,
    node: Node | None = None,
    decoded: Sequence[str] = (),
    journal: bool = True,
) -> tuple[Outcome, ...]:
    """Return every answer to a PUT of ``patched`` to the resize subresource of the stored pod ``old``.

    A patch is applied to the stored pod first. Of what was sent only resources and resize policies are kept. ``node``:
    the one that runs the pod (see ``check_node``). ``decoded``: the decoder's warnings. Order: LimitRange defaults,
    422, LimitRange bounds, what the node can do, its capacity, quota by what grows.
    Source: registry/core/pod/strategy.go podResizeStrategy.
    """
    name = old.metadata.name or patched.metadata.name
    if not server.is_enabled("InPlacePodVerticalScaling"):
        text = "the server could not find the requested resource"
        return (Outcome(False, 404, Refusal(404, "NotFound", text, (Finding(text, "resize/absent"),))),)
    steps: list[Entry] | None = [] if journal else None
    ref = ObjectRef("Pod", name, old.metadata.namespace)
    try:
        draft, stored = draft_pod(patched, server, steps), draft_pod(old, server)
        default_pod(draft, ref, steps)
        default_pod(stored, ref, None)
    except Unparsable as fault:
        refusal = unparsable("Pod", "v1", fault.error.message, fault.path, fault.error.text)
        return (Outcome(allowed=False, code=400, refusal=refusal),)
    bounded = replace(policies, limits=()) if old.metadata.deletion_timestamp else policies
    run = _Run(ref, PodVersion(old, stored), patched, bounded, server, node, tuple(decoded))
    return distinct_outcomes(
        outcome for order, twin, entries in defaulted_drafts(draft, bounded, steps, server)
        for outcome in run.outcomes(order, twin, entries)
    )  # fmt: skip


def _drop_other_updates(old: Pod, patched: Pod, server: Server) -> Pod:
    """Return the pod that would be stored; containers that are not the same stay as sent, which validation then
    refuses.

    Source: registry/core/pod/strategy.go dropNonResizeUpdates.
    """
    if not _as_many(old, patched):
        return patched
    spec = replace(old.spec, containers=_copy_container_sizes(old.spec.containers, patched.spec.containers))
    if server.is_enabled("SidecarContainers"):
        spec = replace(
            spec, init_containers=_copy_container_sizes(old.spec.init_containers, patched.spec.init_containers)
        )
    if server.is_enabled("InPlacePodLevelResourcesVerticalScaling"):
        spec = replace(spec, resources=patched.spec.resources)
    return replace(old, spec=spec)


def _as_many(old: Pod, new: Pod) -> bool:
    """Return whether both have as many containers, and as many init containers."""
    counts = [[len(listed or ()) for listed in (pod.spec.containers, pod.spec.init_containers)] for pod in (old, new)]
    return counts[0] == counts[1]


def _copy_container_sizes(old: Sequence[Container] | None, new: Sequence[Container] | None) -> tuple[Container, ...]:
    if [before.name for before in old or ()] != [is_.name for is_ in new or ()]:
        return tuple(new or ())
    return tuple(
        replace(before, resources=is_.resources, resize_policy=is_.resize_policy)
        for before, is_ in zip(old or (), new or (), strict=True)
    )


class _Run:
    """One request with everything that its later steps look up."""

    def __init__(
        self,
        ref: ObjectRef,
        old: PodVersion,
        patched: Pod,
        policies: Policies,
        server: Server,
        node: Node | None,
        decoded: tuple[str, ...],
    ) -> None:
        self.ref, self.old, self.policies, self.server, self.node = ref, old, policies, server, node
        self.pod, self.decoded = _drop_other_updates(old.pod, patched, server), decoded

    def outcomes(self, order: tuple[str, ...], draft: Draft, entries: list[Entry] | None) -> Iterator[Outcome]:
        self._restore_stored_fields(draft)
        complete_pod_level(draft, self.ref, entries)
        refusals = [*self._refusals(draft, entries)]
        verdict = QuotaVerdict() if refusals else self._quota(draft, entries)
        refusals += verdict.refusals
        for refusal in refusals:
            journal = tuple(entries or ())
            yield Outcome(False, refusal.code, refusal, self.decoded, None, (), journal, order, draft)
        if refusals:
            return
        # Like any object that is read back, it is defaulted once more.
        default_pod_level(draft, self.ref, entries)
        stored = stored_pod(self.pod, draft, self.old.pod.status.qos_class or compute_class(draft))
        yield Outcome(True, 200, None, self.decoded, stored, verdict.charges, tuple(entries or ()), order, draft)

    def _restore_stored_fields(self, draft: Draft) -> None:
        """Take from the stored pod what a resize does not change."""
        stored = self.old.draft
        draft.spec, draft.overhead, draft.priority_class = self.pod.spec, dict(stored.overhead), stored.priority_class
        draft.annotation = None
        if _as_many(self.old.pod, self.pod):
            kept = draft.pod is None and self.server.has_change("pod-level/kept-by-update")
            if kept or not self.server.is_enabled("InPlacePodLevelResourcesVerticalScaling"):
                draft.pod = stored.pod and stored.pod.copy()
            if not self.server.is_enabled("SidecarContainers"):
                draft.inits = [slot.copy() for slot in stored.inits]

    def _refusals(self, draft: Draft, entries: list[Entry] | None) -> Iterator[Refusal]:
        errors = resize_errors(self.old, PodVersion(self.pod, draft), self.server)
        if errors:
            yield invalid_object("Pod", self.ref.name, errors, self.server)
            return
        bounds = [] if "LimitRanger" in self.server.disabled_plugins else [*self._bounds(draft, entries)]
        yield from bounds
        if not bounds and self._has_changed(draft):
            yield from self._node_refusals(draft, entries)

    def _node_refusals(self, draft: Draft, entries: list[Entry] | None) -> Iterator[Refusal]:
        """Yield what the plugins that look at the node refuse; the first of them answers."""
        disabled, pod = self.server.disabled_plugins, self.old.pod
        refusals: list[Refusal] = []
        if self.server.is_enabled("NodeDeclaredFeatures") and "NodeDeclaredFeatureValidator" not in disabled:
            bounded = bool(self.policies.limits) and "LimitRanger" not in disabled
            refusals += check_features(pod, self.old.draft, draft, self.node, entries, bounded=bounded)
        if not refusals and "PodResizeValidator" not in disabled:
            refusals += check_node(pod, draft, self.node, entries)
        yield from refusals

    def _bounds(self, draft: Draft, entries: list[Entry] | None) -> Iterator[Refusal]:
        """Yield one refusal for each violated LimitRange: any of them can be the one that answers."""
        for limits in self.policies.limits:
            findings = limitrange_admission.violations(draft, limits, entries)
            if findings:
                yield forbidden_object("pods", self.ref.name, findings)

    def _has_changed(self, draft: Draft) -> bool:
        """Return whether the generation would rise."""
        return draft.values() != self.old.draft.values() or (draft.pod is None) != (self.old.draft.pod is None)

    def _quota(self, draft: Draft, entries: list[Entry] | None) -> QuotaVerdict:
        if "ResourceQuota" in self.server.disabled_plugins:
            return QuotaVerdict()
        before = pod_request(self.old.pod, self.server, draft=self.old.draft)
        after = pod_request(self.pod, self.server, draft=draft)
        limited = self.server.limited_resources
        return evaluate(after, self.policies.quotas, limited, entries, old=before)
