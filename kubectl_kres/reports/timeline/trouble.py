"""What the cluster says went wrong, each kind of trouble once: events, conditions, ends of containers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from msgspec.structs import replace

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload import Workload
from kubectl_kres.reports.common.explanation import Fact, gist
from kubectl_kres.reports.common.owned import controller
from kubectl_kres.reports.common.system import Happening
from kubectl_kres.reports.common.system_parts import Severity
from kubectl_kres.reports.pod.events import event_facts, of_pod, stuck
from kubectl_kres.reports.timeline.entry import TimelineEntry
from kubectl_kres.store.store import Store

#: Kinds whose conditions say why pods are missing.
TROUBLED = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "ReplicationController")
#: Reasons that may pass by themselves.
_WAITING = frozenset({"FailedScheduling", "Unschedulable", "ResizeDeferred", "Deferred"})
_AVAILABLE = "status.conditions[Available]"
#: Kinds that others make for themselves: who made them is named instead.
_PARTS = frozenset({"ReplicaSet", "Job"})


class PodNews:
    """What pods say of themselves, and what made them; pods are looked at one by one, since there may be many."""

    def __init__(self) -> None:
        self.happenings: list[Happening] = []
        self._owners: dict[tuple[str, str], tuple[str, str]] = {}

    def add(self, pod: Pod) -> None:
        """One more pod, which is not kept."""
        self._owners[pod.metadata.namespace, pod.metadata.name] = controller(pod)
        self.happenings.extend(Happening(fact, _severity(fact)) for fact in of_pod(pod))

    def workload(self, store: Store, ref: ObjectRef) -> ObjectRef:
        """Of a pod what made it; all else is itself."""
        kind, name = self._owners.get((ref.namespace, ref.name), ("", "")) if ref.kind == "Pod" else ("", "")
        return _maker(store, ObjectRef(kind, name, ref.namespace)) if name else ref


def troubles(store: Store, namespace: str, happenings: Iterable[Happening], news: PodNews) -> Iterator[TimelineEntry]:
    """Those of the store, of ``happenings`` and of pods; what says the same of pods of one workload is counted."""
    merged: dict[tuple[ObjectRef, str, str], TimelineEntry] = {}
    events = (Happening(fact, _severity(fact)) for fact in event_facts(store, namespace))
    conditions = (Happening(fact, _severity(fact)) for fact in _conditions(store, namespace))
    # What a condition repeats of an event is no further time.
    counted = ((happening, True) for happening in chain(events, news.happenings, happenings))
    for (fact, severity), counts in chain(counted, ((happening, False) for happening in conditions)):
        if not fact.time:
            continue
        ref = _maker(store, fact.source.ref)
        key = (news.workload(store, ref), fact.reason, gist(fact.text))
        entry = TimelineEntry(fact.time, fact.reason, ref, fact.text, severity, fact.count)
        have = merged.get(key)
        if have is None:
            merged[key] = entry
        elif counts:
            latest = max(have, entry, key=lambda entry: entry.time)
            merged[key] = replace(latest, count=have.count + entry.count)
    yield from merged.values()


def _conditions(store: Store, namespace: str) -> Iterator[Fact]:
    for kind in TROUBLED:
        for workload in store.all(kind, namespace or None):
            # That pods are not ready says nothing of why.
            yield from (fact for fact in stuck(kind, workload) if fact.source.field != _AVAILABLE)


def _severity(fact: Fact) -> Severity:
    return "warn" if fact.reason in _WAITING else "bad"


def _maker(store: Store, ref: ObjectRef) -> ObjectRef:
    """What a Deployment or a CronJob makes for itself goes by its maker's name."""
    item = store.get(ref.kind, ref.name, ref.namespace) if ref.kind in _PARTS else None
    kind, name = controller(item) if isinstance(item, Workload) else ("", "")
    return ObjectRef(kind, name, ref.namespace) if name else ref
