"""The timeline of a namespace: what decided about its pods, the newest first.

Its lines are creations and edits of objects that decide about pods, from creation times and managedFields, and what
went wrong, each kind of trouble once, from events, conditions and ends of containers. The server keeps for each manager
when it last changed a field that it owns, not each edit: of several edits by one manager the last is known.

Source: apimachinery managedfields, buildManagerInfo; ManagedFieldsEntry.time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, ClassVar

from msgspec.structs import replace

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ManagedFields, ManagedMetadata, ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload import Workload
from kubectl_kres.model.workload_kinds import MADE_BY, RETRIED
from kubectl_kres.record import Record
from kubectl_kres.reports.common.explanation import Fact, FailedRead, find_unread, normalize_message
from kubectl_kres.reports.common.owners import controller
from kubectl_kres.reports.common.system import Severity, TimelineEvent, describe, kinds_of, object_history, systems
from kubectl_kres.reports.pod.events import event_facts, pod_facts, stuck_facts
from kubectl_kres.store.store import ReadRequest, Store

#: The reasons that are ours; all others are the cluster's own words, as FailedCreate.
CREATED, CHANGED, NEW_TEMPLATE = "Created", "Changed", "NewTemplate"


class TimelineEntry(Record, frozen=True):
    """A line of a timeline. ``time``: RFC 3339; of what repeats, the last time. ``count``: how often.

    ``reason``: Created, Changed, NewTemplate, or the cluster's own word. ``text``: the server's or the controller's
    words; empty where the object was edited. ``fields``: what the edit wrote; empty: the server does not say.
    ``manager`` and ``operation`` (Apply or Update): who edited; empty: not known.
    """

    TRANSIENT: ClassVar[frozenset[str]] = frozenset({"time", "count"})
    ORDERED: ClassVar[bool] = False

    time: str
    reason: str
    object: ObjectRef
    text: str = ""
    severity: Severity = ""
    count: int = 1
    fields: tuple[str, ...] = ()
    manager: str = ""
    operation: str = ""


class Timeline(Record, frozen=True):
    """The timeline of a namespace; ``namespace`` empty: of all. ``entries``: the newest first. ``unread``: what could
    not be read.
    """

    namespace: str
    entries: tuple[TimelineEntry, ...] = ()
    unread: tuple[FailedRead, ...] = ()
    complete: bool = True


#: What stands for an item of a list, and for the object itself, in a tree of fields.
_KEY, _VALUE, _SELF = "k:", "v:", "."
_SPEC = "f:spec"
#: Parts of a specification whose fields are names of resources.
_AMOUNTS = (".hard", ".claim", ".defaults")


def edits(ref: ObjectRef, metadata: ManagedMetadata) -> Iterator[TimelineEntry]:
    """Yield the creation of an object that decides, and the last edit of each manager."""
    created = metadata.creation_timestamp or ""
    writers = [(entry, fields) for entry in metadata.managed_fields or () if (fields := written_fields(entry))]
    first = next((entry for entry, _ in writers if entry.time == created), None)
    if created:
        manager, operation = (first.manager, first.operation) if first is not None else ("", "")
        yield TimelineEntry(created, CREATED, ref, manager=manager, operation=operation)
    for entry, fields in writers:
        if entry.time and entry.time != created:
            yield TimelineEntry(
                entry.time, CHANGED, ref, fields=fields, manager=entry.manager, operation=entry.operation
            )


def written_fields(entry: ManagedFields) -> tuple[str, ...]:
    """Return the fields of the specification that a manager owns, as ``spec.hard[requests.cpu]``; none of a status."""
    if entry.subresource == "status" or not isinstance(entry.fields_v1, Mapping):
        return ()
    tree = entry.fields_v1
    return tuple(_leaf_paths(tree[_SPEC], "spec")) if _SPEC in tree else ()


def _leaf_paths(tree: Any, path: str) -> Iterator[str]:
    steps = [step for step in tree if step != _SELF] if isinstance(tree, Mapping) else []
    if not steps:
        yield path
    for step in steps:
        name = step.removeprefix("f:")
        if step.startswith((_KEY, _VALUE)):
            yield path
            return
        bracketed = path.endswith(_AMOUNTS) or not name.isidentifier()
        yield from _leaf_paths(tree[step], f"{path}[{name}]" if bracketed else f"{path}.{name}")


def rollouts(replica_sets: Iterable[Workload]) -> Iterator[TimelineEntry]:
    """Yield an entry for each new template of a Deployment, when its ReplicaSet was made."""
    for replica_set in replica_sets:
        kind, name = controller(replica_set)
        meta = replica_set.metadata
        if kind == "Deployment" and meta.creation_timestamp:
            text = f"ReplicaSet {meta.name}"
            yield TimelineEntry(meta.creation_timestamp, NEW_TEMPLATE, ObjectRef(kind, name, meta.namespace), text)


#: Reasons that may pass by themselves.
_WAITING = frozenset({"FailedScheduling", "Unschedulable", "ResizeDeferred", "Deferred"})
_AVAILABLE = "status.conditions[Available]"


class PodNews:
    """The facts that pods report, and what made the pods, collected one by one, since there may be many."""

    def __init__(self) -> None:
        self.happenings: list[TimelineEvent] = []
        self._owners: dict[tuple[str, str], tuple[str, str]] = {}

    def add(self, pod: Pod) -> None:
        """Add the facts of a pod, which is not kept."""
        self._owners[pod.metadata.namespace, pod.metadata.name] = controller(pod)
        self.happenings.extend(TimelineEvent(fact, _severity(fact)) for fact in pod_facts(pod))

    def workload(self, store: Store, ref: ObjectRef) -> ObjectRef:
        """Return what made a pod; any other object is returned itself."""
        kind, name = self._owners.get((ref.namespace, ref.name), ("", "")) if ref.kind == "Pod" else ("", "")
        return _maker(store, ObjectRef(kind, name, ref.namespace)) if name else ref


def troubles(
    store: Store, namespace: str, happenings: Iterable[TimelineEvent], pod_news: PodNews
) -> Iterator[TimelineEntry]:
    """Yield the facts of the store, of ``happenings`` and of pods; equal facts about pods of one workload are
    counted.
    """
    merged: dict[tuple[ObjectRef, str, str], TimelineEntry] = {}
    events = (TimelineEvent(fact, _severity(fact)) for fact in event_facts(store, namespace))
    conditions = (TimelineEvent(fact, _severity(fact)) for fact in _conditions(store, namespace))
    # What a condition repeats of an event is no further time.
    counted = ((happening, True) for happening in chain(events, pod_news.happenings, happenings))
    for happening, counts in chain(counted, ((happening, False) for happening in conditions)):
        fact = happening.fact
        if not fact.time:
            continue
        ref = _maker(store, fact.source.ref)
        key = (pod_news.workload(store, ref), fact.reason, normalize_message(fact.text))
        entry = TimelineEntry(fact.time, fact.reason, ref, fact.text, happening.severity, fact.count)
        have = merged.get(key)
        if have is None:
            merged[key] = entry
        elif counts:
            latest = max(have, entry, key=lambda entry: entry.time)
            merged[key] = replace(latest, count=have.count + entry.count)
    yield from merged.values()


def _conditions(store: Store, namespace: str) -> Iterator[Fact]:
    for kind in RETRIED:
        for workload in store.all(kind, namespace or None):
            # That pods are not ready says nothing of why.
            yield from (fact for fact in stuck_facts(kind, workload) if fact.source.field != _AVAILABLE)


def _severity(fact: Fact) -> Severity:
    return "warn" if fact.reason in _WAITING else "bad"


def _maker(store: Store, ref: ObjectRef) -> ObjectRef:
    """Return the Deployment or CronJob of what it made; any other object is returned itself."""
    item = store.get(ref.kind, ref.name, ref.namespace) if ref.kind in MADE_BY else None
    kind, name = controller(item) if isinstance(item, Workload) else ("", "")
    return ObjectRef(kind, name, ref.namespace) if name else ref


#: Kinds whose edits decide about pods, beside those that systems name.
_POLICIES = ("ResourceQuota", "LimitRange")


def added_kinds() -> tuple[str, ...]:
    """Return the kinds of systems that are looked at."""
    return tuple(
        dict.fromkeys(
            kind for system in systems() for kind in (*system.kinds.get("edited", ()), *system.kinds.get("events", ()))
        )
    )


def timeline_needs(namespace: str) -> tuple[ReadRequest, ...]:
    """Return the reads of a timeline but for pods; a cluster may have none of what is not required."""
    own_reads = tuple(ReadRequest(kind, namespace) for kind in (*_POLICIES, *RETRIED))
    additions = tuple(
        ReadRequest(kind, namespace if BY_KIND[kind].namespaced else "", required=False) for kind in added_kinds()
    )
    return (*own_reads, ReadRequest("Event", namespace, field_selector="type=Warning", required=False), *additions)


def timeline(store: Store, namespace: str, pod_news: PodNews | None, after: str = "") -> Timeline:
    """Return the timeline of a namespace. ``after``: RFC 3339, what is older is left out; empty: nothing is."""
    happenings = _system_events(store, namespace)
    entries = [*_edits(store, namespace), *troubles(store, namespace, happenings, pod_news or PodNews())]
    entries.sort(key=_newest_last, reverse=True)
    # What may not be read is somebody's choice; what could not be read has to be asked again.
    failed_reads = tuple(
        replace(failed_read, required=failed_read.required or failed_read.state != "denied")
        for failed_read in find_unread(store, timeline_needs(namespace))
    )
    is_complete = pod_news is not None and not any(failed_read.required for failed_read in failed_reads)
    return Timeline(namespace, tuple(entry for entry in entries if entry.time >= after), failed_reads, is_complete)


def _newest_last(entry: TimelineEntry) -> tuple[str, str, str, str]:
    # Fractions of a second are left out: only some times have them.
    return entry.time[:19], entry.object.full_name, entry.reason, entry.text


def _edits(store: Store, namespace: str) -> Iterator[TimelineEntry]:
    policy_objects = ((kind, item) for kind in _POLICIES for item in store.all(kind, namespace or None))
    for kind, item in (*policy_objects, *_objects(store, kinds_of("edited"), namespace)):
        if isinstance(item.metadata, ManagedMetadata):
            yield from edits(ObjectRef(kind, item.metadata.name, item.metadata.namespace), item.metadata)
    yield from rollouts(store.all("ReplicaSet", namespace or None))


def _system_events(store: Store, namespace: str) -> Iterator[TimelineEvent]:
    for _, item in _objects(store, kinds_of("events"), namespace):
        history = object_history(item)
        yield from history.events if history is not None else ()


def _objects(store: Store, kinds: Iterable[str], namespace: str) -> Iterator[tuple[str, Any]]:
    """Yield the objects that are in the namespace or decide about its pods; empty: all."""
    for kind in kinds:
        if BY_KIND[kind].namespaced:
            yield from ((kind, item) for item in store.all(kind, namespace or None))
        else:
            yield from ((kind, item) for item in store.all(kind) if not namespace or _is_relevant(item, namespace))


def _is_relevant(item: Any, namespace: str) -> bool:
    """Return whether an object that stands in no namespace decides about pods of this one."""
    description = describe(item)
    return description is None or description.namespaces is None or namespace in description.namespaces
