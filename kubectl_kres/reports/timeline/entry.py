"""A line of a timeline, and the timeline of a namespace."""

from __future__ import annotations

from typing import ClassVar

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.reports.common.explanation import Unseen
from kubectl_kres.reports.common.record import Record
from kubectl_kres.reports.common.system_parts import Severity

#: The reasons that are ours; all others are the cluster's own words, as FailedCreate.
CREATED, CHANGED, NEW_TEMPLATE = "Created", "Changed", "NewTemplate"


class TimelineEntry(Record, frozen=True):
    """Something that happened. ``time``: RFC 3339; of what repeats, the last time. ``count``: how often.

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
    """``namespace`` empty: all of them. ``entries``: the newest first. ``unseen``: what could not be read."""

    namespace: str
    entries: tuple[TimelineEntry, ...] = ()
    unseen: tuple[Unseen, ...] = ()
    complete: bool = True
