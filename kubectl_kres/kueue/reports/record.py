"""The account of one object in its queue, as a record: why it waits, who is before it, what is charged and short."""

from __future__ import annotations

from typing import ClassVar, Literal

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.provenance.journal import Derive, Set, Source
from kubectl_kres.record import Record, Sentence, Wording
from kubectl_kres.reports.common.explanation import FailedRead
from kubectl_kres.reports.common.system_parts import SystemPart

#: How it stands. new: it does not exist yet, and would be admitted; unknown: too little was read.
Standing = Literal["new", "waits", "reserved", "admitted", "finished", "over", "unknown"]


class Waiter(Record, frozen=True):
    """One that stands before. ``of``: the object that it is of, as ``Job/alpha``."""

    workload: ObjectRef
    of: str
    priority: int = 0


class SlotDifference(Record, frozen=True):
    """A container whose request of a resource is one for Kueue and another one in the pod."""

    path: str
    container: str
    charged: str
    made: str


class ChargedAmount(Record, frozen=True):
    """What is charged of a resource: ``pod`` for one pod, ``total`` for all, and how that of a pod comes about.

    ``asked``: what the pod will ask for when it is made, where that is known and another amount; ``differs``: where.
    ``alternatives``: what it may also be, since LimitRanges have no order.
    """

    resource: str
    pod: str
    total: str
    derivation: Derive | None = None
    sets: tuple[Set, ...] = ()
    asked: str = ""
    differs: tuple[SlotDifference, ...] = ()
    alternatives: tuple[str, ...] = ()


class ChargedPodSet(Record, frozen=True):
    """What is charged for pods that are alike."""

    name: str
    pods: int
    amounts: tuple[ChargedAmount, ...] = ()


class FlavorRow(Record, frozen=True):
    """One resource in one flavor. ``most``: what the queue can have with all that it may borrow; ``left``: now.

    ``why`` empty: it has room. ``text``: Kueue's sentence. ``source``: the quota.
    """

    flavor: str
    resource: str = ""
    asked: str = ""
    nominal: str = ""
    used: str = ""
    most: str = ""
    left: str = ""
    short: str = ""
    why: str = ""
    text: str = ""
    source: Source | None = None


class OpenCheck(Record, frozen=True):
    """An admission check of a Workload."""

    name: str
    state: str
    message: str = ""


class QueueAccount(SystemPart, frozen=True):
    """How an object stands with Kueue.

    ``cause``: as ``rules.world.Cause`` and, beside these, no-workload, no-priority-class, group-incomplete, checks,
    evicted, webhook (tekton-kueue refuses to create it), webhook-unknown (nobody knows what that makes of it), quoted
    (nothing of what is said here is known to this program). ``reason``, ``says``, ``since``: Kueue's own condition.
    ``flavor_names``: what it has. ``meant``: the name that was probably meant. ``others``: the LocalQueues of its
    namespace. ``place``: in the queue, of ``waiting``; 0: not known. ``head``: who stands in the way of all others,
    ``head_cause`` and ``head_says`` why. ``faults``: of an inactive ClusterQueue, reason and name. ``beyond``: what is
    not computed and may get it admitted. ``unread``: what could not be read and may change the answer.
    """

    KEY: ClassVar[str] = "queue"
    PLACE: ClassVar[str] = "pods"

    standing: Standing
    local_queue: str
    cause: str = ""
    cluster_queue: str = ""
    workload: ObjectRef | None = None
    priority: int = 0
    reason: str = ""
    says: str = ""
    since: str = ""
    meant: str = ""
    others: tuple[str, ...] = ()
    place: int = 0
    waiting: int = 0
    ahead: tuple[Waiter, ...] = ()
    head: Waiter | None = None
    head_cause: str = ""
    head_says: Wording = ""
    strategy: str = ""
    charges: tuple[ChargedPodSet, ...] = ()
    flavors: tuple[FlavorRow, ...] = ()
    flavor_names: tuple[str, ...] = ()
    checks: tuple[OpenCheck, ...] = ()
    faults: tuple[tuple[str, str], ...] = ()
    details: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    unread: tuple[FailedRead, ...] = ()


class WhyItWaits(Sentence, frozen=True):
    """Why an object waits. ``part``: cause, state (with its place in the queue), quota (what its flavors lack, as if
    nobody stood before it), faults (of its ClusterQueue).
    """

    account: QueueAccount
    part: Literal["cause", "state", "quota", "faults"] = "cause"


class QueueStanding(Sentence, frozen=True):
    """How a Workload stands: the ``flavors`` that it has, or the cause that it waits for."""

    flavors: tuple[str, ...] = ()
    waits_for: str = ""
