"""The smallest change to a manifest that leads to another QoS class, tested on the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from msgspec import structs

from kubectl_kres.admission.base.draft import SIDES, Draft, Side, Slot
from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.pod.aggregate import CONSIDERED, compute_class, deciding_slots, sum_containers
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.model.pod import Pod
from kubectl_kres.quantity import ZERO, Quantity, maximum, parse, quantity_of
from kubectl_kres.record import Record
from kubectl_kres.reports.common.last_editor import FieldEdit, ManifestEdit, apply_edits, build_edit, manifest_value

CLASSES = ("Guaranteed", "Burstable", "BestEffort")

#: Tried where any value would do, within the bounds of the LimitRanges.
_EXAMPLES = {"cpu": parse("100m"), "memory": parse("128Mi")}
#: Edits up to which each one is tried to be spared.
_SPARED = 24
_LEVEL_GATE = "PodLevelResources"
#: How many single requests are tried for one that may be lowered.
_TRIED = 8


class ClassChange(Record, frozen=True):
    """The fewest edits after which admission gives the class; none, if no edit of the manifest does.

    ``refused``: the server's refusal of the pod after the edits; empty: it would be admitted. ``gate``: the feature
    gate that the edits need, where the version has it off by default and the pod did not need it before.
    """

    name: str
    edits: tuple[FieldEdit, ...]
    refused: str = ""
    gate: str = ""


class AdmittedPod(NamedTuple):
    """A pod as written, and its outcome; ``again``: a function that admits another manifest."""

    pod: Pod
    draft: Draft
    policies: Policies
    server: Server
    again: Callable[[Pod], tuple[Outcome, ...]]


QosChange = list[ManifestEdit]


def find_reach(case: AdmittedPod, name: str) -> ClassChange:
    """Return the admitted change with the fewest edits; if none is admitted, the shortest of the refused ones."""
    reaches = [
        _try_change(case, name, [put for put in edits if build_edit(case.pod, put)]) for edits in _WAYS[name](case)
    ]
    return min((reach for reach in reaches if reach is not None), key=_reach_sort_key, default=ClassChange(name, ()))


def _reach_sort_key(reach: ClassChange) -> tuple[bool, int]:
    return bool(reach.refused), len(reach.edits)


def _try_change(case: AdmittedPod, name: str, reach_edits: QosChange) -> ClassChange | None:
    """Return the change without needless edits; None if it does not lead to the class, or is invalid."""
    text = _refusal(case, name, reach_edits)
    if text is None or not reach_edits:
        return None
    fewer = _without_needless(case, name, reach_edits, text) if len(reach_edits) <= _SPARED else None
    while fewer is not None:  # an edit can be needless only once another one is left out
        reach_edits, text = fewer
        fewer = _without_needless(case, name, reach_edits, text)
    edits = tuple(edit for edit in (build_edit(case.pod, put) for put in reach_edits) if edit)
    gated = case.draft.pod is None and _leveling(edits) and not _by_default(case.server, _LEVEL_GATE)
    return ClassChange(name, edits, text, _LEVEL_GATE if gated else "")


def _without_needless(case: AdmittedPod, name: str, edits: QosChange, text: str) -> tuple[QosChange, str] | None:
    """Return the change without all edits that are needless one after the other, and its refusal; None: none is."""
    shorter = None
    for put in edits:
        rest = [manifest_edit for manifest_edit in (shorter[0] if shorter else edits) if manifest_edit is not put]
        less = _refusal(case, name, rest) if rest else None
        if less is not None and (text or not less):
            shorter = rest, less
            text = less
    return shorter


def _refusal(case: AdmittedPod, name: str, edits: QosChange) -> str | None:
    """Return the server's refusal of the pod, empty if it is admitted; None if it is of another class."""
    outcomes = case.again(apply_edits(case.pod, edits))
    if any(outcome.draft is None or compute_class(outcome.draft) != name for outcome in outcomes):
        return None
    return next((outcome.message for outcome in outcomes if not outcome.allowed), "")


def _by_default(server: Server, gate: str) -> bool:
    return structs.replace(server, gates={}).is_enabled(gate)


def _leveling(edits: Iterable[FieldEdit]) -> bool:
    return any(edit.path.startswith("spec.resources") for edit in edits)


def _slots(case: AdmittedPod) -> list[Slot]:
    """Return the places of the manifest that can state amounts; admission may add containers anywhere."""
    if case.draft.pod is not None and case.draft.pod in deciding_slots(case.draft):
        return [case.draft.pod]
    return _container_slots(case)


def _container_slots(case: AdmittedPod) -> list[Slot]:
    slots = {slot.name: slot for slot in (*case.draft.containers, *case.draft.inits)}
    lists = (("containers", case.pod.spec.containers), ("initContainers", case.pod.spec.init_containers))
    return [
        Slot(f"spec.{key}[{index}]", slot.name, slot.role, slot.limits, slot.requests)
        for key, containers in lists
        for index, container in enumerate(containers or ())
        if (slot := slots.get(container.name)) is not None
    ]


def _to_guaranteed(case: AdmittedPod) -> Iterator[QosChange]:
    """Yield changes to Guaranteed: each container completed, with no more than is needed; all values written out; the
    pod level.
    """
    slots = _slots(case)
    for full in (False, True):
        yield [
            put
            for slot in slots
            for resource in CONSIDERED
            for put in _missing_value_edits(case, slot, resource, full=full)
        ]
    yield [put for slot in slots for resource in CONSIDERED for put in _both_side_edits(case, slot, resource)]
    if case.draft.pod is not None:
        yield [ManifestEdit("spec", "")]
    elif case.server.is_enabled(_LEVEL_GATE):
        level = Slot("spec", "", "pod", {}, {})
        for full in (False, True):
            yield [put for resource in CONSIDERED for put in _missing_value_edits(case, level, resource, full=full)]


def _missing_value_edits(case: AdmittedPod, slot: Slot, resource: str, *, full: bool) -> Iterator[ManifestEdit]:
    """Yield edits: requests follow limits; a missing limit takes the request, and a missing request will follow the
    limit.

    ``full``: a pod-level request is written where the containers' sum would become it.
    """
    limit, request = _positive_value(slot, "limits", resource), _positive_value(slot, "requests", resource)
    if limit is not None:
        if request != limit:
            yield ManifestEdit(slot.path, "requests", resource, limit)
        return
    value = maximum(request or ZERO, _floor(case, slot, resource))
    free = not value
    value = value or _example(case, resource)
    yield ManifestEdit(slot.path, "limits", resource, value, free)
    sums = sum_containers(case.draft.containers, case.draft.inits, "requests") if slot.role == "pod" and full else {}
    if manifest_value(case.pod, slot.path, "requests", resource) is not None or sums.get(resource, value) != value:
        yield ManifestEdit(slot.path, "requests", resource, value, free)


def _both_side_edits(case: AdmittedPod, slot: Slot, resource: str) -> Iterator[ManifestEdit]:
    """Yield edits that write out limit and request, against defaults of LimitRanges."""
    value = _positive_value(slot, "limits", resource) or _positive_value(slot, "requests", resource) or ZERO
    value = maximum(value, _floor(case, slot, resource))
    free = not value
    for side in SIDES:
        yield ManifestEdit(slot.path, side, resource, value or _example(case, resource), free)


def _floor(case: AdmittedPod, slot: Slot, resource: str) -> Quantity:
    """Return the lowest pod-level value: the containers' sum, and the limit of any of them."""
    if slot.role != "pod":
        return ZERO
    containers, inits = case.draft.containers, case.draft.inits
    requests, limits = (sum_containers(containers, inits, side).get(resource, ZERO) for side in reversed(SIDES))
    return maximum(requests, limits)


def _positive_value(slot: Slot, side: Side, resource: str) -> Quantity | None:
    """Return the value if it counts for the class, which it does above zero."""
    value = slot.amounts_of(side).get(resource)
    return value if value is not None and value.nano > 0 else None


def _to_burstable(case: AdmittedPod) -> Iterator[QosChange]:
    """Yield changes to Burstable: from Guaranteed one request below its limit; from BestEffort one request."""
    slots = _slots(case)
    limited = [
        (slot, resource) for slot in slots for resource in CONSIDERED if _positive_value(slot, "limits", resource)
    ]
    for slot, resource in limited[:_TRIED]:
        yield [
            ManifestEdit(slot.path, "requests", resource, _halve_quantity(slot.limits[resource], resource), free=True)
        ]
    for slot, resource in limited[:_TRIED]:
        double = slot.limits[resource] + slot.limits[resource]
        kept = ManifestEdit(slot.path, "requests", resource, slot.limits[resource])
        yield [ManifestEdit(slot.path, "limits", resource, double, free=True), kept]
    if limited:
        return
    if case.draft.pod is not None:
        yield [ManifestEdit("spec", "")]
    for slot in slots[:1]:
        for resource in CONSIDERED:
            value = maximum(_example(case, resource), _floor(case, slot, resource))
            yield [ManifestEdit(slot.path, "requests", resource, value, free=True)]


def _to_best_effort(case: AdmittedPod) -> Iterator[QosChange]:
    """Yield changes to BestEffort: nothing written; where LimitRanges fill values in, a pod-level stanza without
    values, which hides them.
    """
    slots = _slots(case)
    puts = [ManifestEdit(slot.path, side, resource) for slot in slots for side in SIDES for resource in CONSIDERED]
    yield puts
    if case.draft.pod in slots and case.server.has_change("qos/empty-pod-level"):
        # What is left of the pod level hides nothing: the containers decide.
        slots = [*slots, *_container_slots(case)]
        yield [ManifestEdit(slot.path, side, resource) for slot in slots for side in SIDES for resource in CONSIDERED]
    if case.draft.pod is None and case.server.is_enabled(_LEVEL_GATE) and _refusal(case, "BestEffort", puts) is None:
        yield [ManifestEdit("spec", "", empty=True)]


_WAYS: Mapping[str, Callable[[AdmittedPod], Iterator[QosChange]]] = {
    "Guaranteed": _to_guaranteed,
    "Burstable": _to_burstable,
    "BestEffort": _to_best_effort,
}


def _example(case: AdmittedPod, resource: str) -> Quantity:
    """Return a usual value, moved into the bounds that the LimitRanges set for containers and pods."""
    items = [item for limits in case.policies.limits for item in limits.items if item.type in {"Container", "Pod"}]
    value = _EXAMPLES[resource]
    for item in items:
        value = maximum(value, item.min.get(resource, value))
    for item in items:
        value = min(value, item.max.get(resource, value))
    return value


def _halve_quantity(limit: Quantity, resource: str) -> Quantity:
    if resource == "cpu":
        return parse(f"{limit.milli_value() // 2}m")
    return quantity_of(limit.value() // 2, limit.format)
