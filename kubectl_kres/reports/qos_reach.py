"""The smallest change to a manifest that leads to another QoS class, tried out on the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from msgspec.structs import replace

from kubectl_kres.admission.aggregate import of_containers
from kubectl_kres.admission.draft import Draft, Side, Slot
from kubectl_kres.admission.outcome import Outcome
from kubectl_kres.admission.pods import Policies, admit
from kubectl_kres.admission.qos import CONSIDERED, class_of
from kubectl_kres.admission.server import Server
from kubectl_kres.model.pod import Container, Pod, ResourceRequirements
from kubectl_kres.quantity import ZERO, Quantity, maximum, parse, quantity_of
from kubectl_kres.reports.explanation import Record

CLASSES = ("Guaranteed", "Burstable", "BestEffort")

#: Tried where any value would do, within the bounds of the LimitRanges.
_EXAMPLES = {"cpu": parse("100m"), "memory": parse("128Mi")}
#: How many single requests are tried for one that may be lowered.
_TRIED = 8


class Edit(Record, frozen=True):
    """One field to write. ``after`` absent: it is to be removed. ``free``: other values would do as well."""

    path: str
    before: str | None = None
    after: str | None = None
    free: bool = False


class Reach(Record, frozen=True):
    """The fewest edits after which admission gives the class; none, if no edit of the manifest leads there.

    ``refused``: what the server would say of the pod after the edits; empty: it would be admitted.
    """

    name: str
    edits: tuple[Edit, ...]
    refused: str = ""


class Put(NamedTuple):
    """A value for one place of the manifest. ``side`` empty: the whole pod-level stanza, set to nothing or removed."""

    path: str
    side: Side | Literal[""]
    resource: str = ""
    after: Quantity | None = None
    free: bool = False
    empty: bool = False


class Case(NamedTuple):
    """A pod as written, and what admission made of it."""

    pod: Pod
    draft: Draft
    policies: Policies
    server: Server
    live: bool = False


Way = list[Put]


def reach(case: Case, name: str) -> Reach:
    """The way with the fewest edits that is admitted; if none is, the shortest of those refused."""
    found: list[tuple[bool, int, Reach]] = []
    for way in _WAYS[name](case):
        edits = tuple(edit for edit in (_edit(case.pod, put) for put in way) if edit.before != edit.after)
        outcomes = admit(applied(case.pod, way), case.policies, case.server, journal=False, counted=case.live)
        if not edits or {_class(outcome) for outcome in outcomes} != {name}:
            continue
        refused = next((outcome.message for outcome in outcomes if not outcome.allowed), "")
        found.append((bool(refused), len(edits), Reach(name, edits, refused)))
    return min(found, key=lambda one: one[:2])[2] if found else Reach(name, ())


def _class(outcome: Outcome) -> str:
    return class_of(outcome.draft) if outcome.draft is not None else ""


def _slots(draft: Draft) -> list[Slot]:
    return [draft.pod] if draft.pod is not None else [*draft.containers, *draft.inits]


def _to_guaranteed(case: Case) -> Iterator[Way]:
    """Each slot made complete; all values written out, where LimitRanges fill in what differs; the pod level."""
    slots = _slots(case.draft)
    yield [put for slot in slots for resource in CONSIDERED for put in _completed(case, slot, resource)]
    yield [put for slot in slots for resource in CONSIDERED for put in _spelt_out(case, slot, resource)]
    if case.draft.pod is not None:
        yield [Put("spec", "")]
    elif case.server.on("PodLevelResources"):
        yield [put for resource in CONSIDERED for put in _leveled(case, resource)]


def _completed(case: Case, slot: Slot, resource: str) -> Iterator[Put]:
    """Requests follow limits; a missing limit takes the request, and a missing request will follow the limit."""
    limit, request = slot.limits.get(resource), slot.requests.get(resource)
    if limit:
        if request != limit:
            yield Put(slot.path, "requests", resource, limit)
        return
    value = maximum(request or ZERO, _floor(case, slot, resource))
    free = not value
    value = value or _example(case, resource)
    yield Put(slot.path, "limits", resource, value, free)
    if _written(case.pod, slot.path, "requests", resource) is not None or (slot.role == "pod" and request != value):
        yield Put(slot.path, "requests", resource, value, free)


def _spelt_out(case: Case, slot: Slot, resource: str) -> Iterator[Put]:
    value = slot.limits.get(resource) or slot.requests.get(resource) or ZERO
    value = maximum(value, _floor(case, slot, resource))
    free = not value
    for side in ("limits", "requests"):
        yield Put(slot.path, side, resource, value or _example(case, resource), free)  # type: ignore[arg-type]


def _leveled(case: Case, resource: str) -> Iterator[Put]:
    level = Slot("spec", "", "pod", {}, {})
    value = _floor(case, level, resource)
    free = not value
    value = value or _example(case, resource)
    yield Put("spec", "limits", resource, value, free)
    asked = of_containers(case.draft.containers, case.draft.inits, "requests").get(resource)
    if asked is not None and asked != value:
        yield Put("spec", "requests", resource, value, free)


def _floor(case: Case, slot: Slot, resource: str) -> Quantity:
    """What a pod-level value may not be below: the containers' sum, and the limit of any of them."""
    if slot.role != "pod":
        return ZERO
    containers, inits = case.draft.containers, case.draft.inits
    sums = [of_containers(containers, inits, side).get(resource, ZERO) for side in ("requests", "limits")]  # type: ignore[arg-type]
    return maximum(*sums)


def _to_burstable(case: Case) -> Iterator[Way]:
    """From Guaranteed one request below its limit; from nothing one request."""
    slots = _slots(case.draft)
    limited = [(slot, resource) for slot in slots for resource in CONSIDERED if slot.limits.get(resource)]
    for slot, resource in limited[:_TRIED]:
        yield [Put(slot.path, "requests", resource, _half(slot.limits[resource], resource), free=True)]
    for slot, resource in limited[:_TRIED]:
        double = slot.limits[resource] + slot.limits[resource]
        kept = Put(slot.path, "requests", resource, slot.limits[resource])
        yield [Put(slot.path, "limits", resource, double, free=True), kept]
    if limited:
        return
    if case.draft.pod is not None:
        yield [Put("spec", "")]
    for slot in slots[:1]:
        for resource in CONSIDERED:
            value = maximum(_example(case, resource), _floor(case, slot, resource))
            yield [Put(slot.path, "requests", resource, value, free=True)]


def _to_best_effort(case: Case) -> Iterator[Way]:
    """Nothing written; where LimitRanges fill that in, a pod-level stanza without values, which hides it."""
    puts = [
        Put(slot.path, side, resource)
        for slot in _slots(case.draft)
        for side in ("limits", "requests")
        for resource in CONSIDERED
    ]  # fmt: skip
    yield puts  # type: ignore[misc]
    if case.draft.pod is None and case.server.on("PodLevelResources"):
        outcomes = admit(applied(case.pod, puts), case.policies, case.server, journal=False, counted=case.live)  # type: ignore[arg-type]
        if any(_class(outcome) != "BestEffort" for outcome in outcomes):
            yield [Put("spec", "", empty=True)]


_WAYS: Mapping[str, Callable[[Case], Iterator[Way]]] = {
    "Guaranteed": _to_guaranteed,
    "Burstable": _to_burstable,
    "BestEffort": _to_best_effort,
}


def _example(case: Case, resource: str) -> Quantity:
    """A usual value, moved into the bounds that the LimitRanges set for containers."""
    items = [item for limits in case.policies.limits for item in limits.items if item.type == "Container"]
    value = _EXAMPLES[resource]
    for item in items:
        value = maximum(value, item.min.get(resource, value))
    for item in items:
        value = min(value, item.max.get(resource, value))
    return value


def _half(limit: Quantity, resource: str) -> Quantity:
    if resource == "cpu":
        return parse(f"{limit.milli_value() // 2}m")
    return quantity_of(limit.value() // 2, limit.format)


def _group(pod: Pod, path: str) -> Sequence[Container]:
    return (pod.spec.init_containers if "initContainers" in path else pod.spec.containers) or ()


def _resources(pod: Pod, path: str) -> ResourceRequirements | None:
    if path == "spec":
        return pod.spec.resources
    return _group(pod, path)[_index(path)].resources


def _index(path: str) -> int:
    return int(path.partition("[")[2].rstrip("]"))


def _written(pod: Pod, path: str, side: Side, resource: str) -> str | None:
    resources = _resources(pod, path)
    values = None if resources is None else resources.limits if side == "limits" else resources.requests
    if not values or resource not in values:
        return None
    return "0" if values[resource] is None else str(values[resource])


def _edit(pod: Pod, put: Put) -> Edit:
    if not put.side:
        return Edit("spec.resources", None if pod.spec.resources is None else "{...}", "{}" if put.empty else None)
    path = f"{put.path}.resources.{put.side}[{put.resource}]"
    before = _written(pod, put.path, put.side, put.resource)
    if before is not None and put.after is not None and parse(before) == put.after:
        return Edit(path, before, before)
    return Edit(path, before, None if put.after is None else str(put.after), put.free)


def applied(pod: Pod, way: Iterable[Put]) -> Pod:
    """The manifest after every put."""
    spec = pod.spec
    for put in way:
        if not put.side:
            spec = replace(spec, resources=ResourceRequirements() if put.empty else None)
        elif put.path == "spec":
            spec = replace(spec, resources=_changed(spec.resources, put))
        else:
            key = "init_containers" if "initContainers" in put.path else "containers"
            group, index = list(getattr(spec, key)), _index(put.path)
            group[index] = replace(group[index], resources=_changed(group[index].resources, put))
            spec = replace(spec, **{key: tuple(group)})
    return replace(pod, spec=spec)


def _changed(resources: ResourceRequirements | None, put: Put) -> ResourceRequirements | None:
    if resources is None and put.after is None:
        return None
    held = resources or ResourceRequirements()
    values = dict((held.limits if put.side == "limits" else held.requests) or {})
    values.pop(put.resource, None)
    if put.after is not None:
        values[put.resource] = str(put.after)
    return replace(held, limits=values) if put.side == "limits" else replace(held, requests=values)
