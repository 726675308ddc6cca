"""The timeline of a namespace: what decided about its pods, the newest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.meta import ManagedMetadata, ObjectRef
from kubectl_kres.reports.common.explanation import unread
from kubectl_kres.reports.common.system import Happening, System, systems
from kubectl_kres.reports.timeline.edits import edits, rollouts
from kubectl_kres.reports.timeline.entry import Timeline, TimelineEntry
from kubectl_kres.reports.timeline.trouble import TROUBLED, PodNews, troubles
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store

#: Kinds whose edits decide about pods, beside those that systems name.
_POLICIES = ("ResourceQuota", "LimitRange")


def added_kinds() -> tuple[str, ...]:
    """The kinds of systems that are looked at."""
    return tuple(dict.fromkeys(kind for system in systems() for kind in (*system.policies, *system.telling)))


def timeline_needs(namespace: str) -> tuple[Need, ...]:
    """The reads of a timeline but for pods; a cluster may have none of what is not required."""
    own = tuple(Need(kind, namespace) for kind in (*_POLICIES, *TROUBLED))
    added = tuple(Need(kind, namespace if BY_KIND[kind].namespaced else "", required=False) for kind in added_kinds())
    return (*own, Need("Event", namespace, field_selector="type=Warning", required=False), *added)


def timeline(store: Store, namespace: str, news: PodNews | None, after: str = "") -> Timeline:
    """``news``: of the pods of the namespace; None: they could not be read. ``after``: RFC 3339, what is older is left
    out; empty: nothing is.
    """
    happenings = _of_systems(store, namespace)
    entries = [*_edits(store, namespace), *troubles(store, namespace, happenings, news or PodNews())]
    entries.sort(key=_newest_last, reverse=True)
    # What may not be read is somebody's choice; what could not be read has to be asked again.
    unseen = tuple(
        replace(unseen, required=unseen.required or unseen.state != "denied")
        for unseen in unread(store, timeline_needs(namespace))
    )
    whole = news is not None and not any(unseen.required for unseen in unseen)
    return Timeline(namespace, tuple(entry for entry in entries if entry.time >= after), unseen, whole)


def _newest_last(entry: TimelineEntry) -> tuple[str, str, str, str]:
    # Fractions of a second are left out: only some times have them.
    return entry.time[:19], entry.object.full, entry.reason, entry.text


def _edits(store: Store, namespace: str) -> Iterator[TimelineEntry]:
    own = ((kind, item) for kind in _POLICIES for item in store.all(kind, namespace or None))
    added = ((kind, item) for system in systems() for kind, item in _objects(store, system, system.policies, namespace))
    for kind, item in (*own, *added):
        if isinstance(item.metadata, ManagedMetadata):
            yield from edits(ObjectRef(kind, item.metadata.name, item.metadata.namespace), item.metadata)
    yield from rollouts(store.all("ReplicaSet", namespace or None))


def _of_systems(store: Store, namespace: str) -> Iterator[Happening]:
    for system in systems():
        for _, item in _objects(store, system, system.telling, namespace):
            yield from system.happened(item)


def _objects(store: Store, system: System, kinds: Iterable[str], namespace: str) -> Iterator[tuple[str, Any]]:
    """Those that stand in the namespace or decide about its pods; empty: all."""
    for kind in kinds:
        if BY_KIND[kind].namespaced:
            yield from ((kind, item) for item in store.all(kind, namespace or None))
        else:
            everywhere = store.all(kind)
            yield from ((kind, item) for item in everywhere if not namespace or system.concerns(item, namespace))
