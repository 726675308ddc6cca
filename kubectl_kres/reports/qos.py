"""The QoS class of pods and workloads: what decides it, and the smallest change to another one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_kres.admission import qos
from kubectl_kres.admission.draft import Draft, Slot
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.reports.explain import Analysis, analysis_of
from kubectl_kres.reports.explanation import Record, Unseen
from kubectl_kres.reports.subject import Ask, Subject
from kubectl_kres.store.store import Store

CLASSES = ("Guaranteed", "Burstable", "BestEffort")


class Reach(Record, frozen=True):
    """What to change, all of it, for the pod to be of another class; each change as ``path: before -> after``."""

    name: str
    changes: tuple[str, ...]


class Quality(Record, frozen=True):
    """The class that admission gives today; ``live`` the class a live pod keeps from its creation, empty without one.

    ``alternatives``: classes under other orders of LimitRanges. ``refused``: the pod would not be admitted, and the
    class is that of what admission had come to.
    """

    subject: ObjectRef
    qos: qos.QoS
    reach: tuple[Reach, ...]
    live: str = ""
    alternatives: tuple[str, ...] = ()
    refused: str = ""
    unseen: tuple[Unseen, ...] = ()
    complete: bool = True


def quality(store: Store, subject: Subject, ask: Ask) -> Quality | None:
    """None where a quantity does not parse, so that there is no class. Raises what ``explain`` raises."""
    return _of(subject, analysis_of(store, subject, ask))


def _of(subject: Subject, analysis: Analysis) -> Quality | None:
    first = analysis.outcomes[0]
    draft: Draft | None = first.draft
    if draft is None:
        return None
    found = qos.explain(draft)
    live = analysis.start.live
    others = {qos.class_of(one.draft) for one in analysis.outcomes if one.draft is not None} - {found.name}
    return Quality(
        subject.ref,
        found,
        tuple(reach(draft, name) for name in CLASSES if name != found.name),
        live.status.qos_class if live is not None else "",
        tuple(sorted(others)),
        first.message,
    )


def reach(draft: Draft, name: str) -> Reach:
    """The fewest changes to cpu and memory that lead to the class."""
    slots = [draft.pod] if draft.pod is not None else [*draft.containers, *draft.inits]
    if name == "Guaranteed":
        return Reach(name, tuple(_to_guaranteed(slots)))
    if name == "BestEffort":
        return Reach(name, tuple(_to_best_effort(slots)))
    return Reach(name, tuple(_to_burstable(slots)))


def _to_guaranteed(slots: Iterable[Slot]) -> Iterator[str]:
    """Requests follow limits where there is a limit; a missing limit takes the request, or must be chosen."""
    for slot in slots:
        for resource in qos.CONSIDERED:
            limit, request = slot.limits.get(resource), slot.requests.get(resource)
            if limit is None or not limit:
                value = str(request) if request is not None and request else "a value"
                yield f"{slot.at('limits', resource)}: {limit or '-'} -> {value}"
                if request is None or not request:
                    yield f"{slot.at('requests', resource)}: {request or '-'} -> the same value"
            elif request != limit:
                yield f"{slot.at('requests', resource)}: {request or '-'} -> {limit}"


def _to_best_effort(slots: Iterable[Slot]) -> Iterator[str]:
    for slot in slots:
        for side in ("requests", "limits"):
            for resource in qos.CONSIDERED:
                value = (slot.requests if side == "requests" else slot.limits).get(resource)
                if value is not None and value:
                    yield f"{slot.at(side, resource)}: {value} -> -"


def _to_burstable(slots: Iterable[Slot]) -> Iterator[str]:
    """One request below its limit is enough; where there is nothing at all, any one request."""
    for slot in slots:
        for resource in qos.CONSIDERED:
            limit = slot.limits.get(resource)
            if limit is not None and limit:
                yield f"{slot.at('requests', resource)}: {slot.requests.get(resource)} -> less than {limit}"
                return
    first = next(iter(slots), None)
    if first is not None:
        yield f"{first.at('requests', 'cpu')}: - -> a value"
