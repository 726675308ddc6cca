"""What Tekton and Capsule add to answers about pods: data alone, made in ``tekton.reports`` and ``capsule.reports``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.provenance.journal import Source
from kubectl_kres.provenance.problem import Problem, TooMuch
from kubectl_kres.reports.common.record import Record

#: ``bad``: a fault. ``warn``: near one. ``unknown``: it cannot be said. Empty: nothing is wrong.
Severity = Literal["bad", "warn", "unknown", ""]

#: allocated: it has its amounts. in use: and pods use them. exhausted: the pool has too little for it. queued: it waits
#: behind an exhausted claim. unassigned: it names no pool. failed: its pool would not take it. lost: the controller
#: says that all is well, but it is in no pool. released: it was let go by the annotation. pending: not decided yet.
ClaimState = Literal[
    "allocated", "in use", "exhausted", "queued", "unassigned", "failed", "lost", "released", "pending"
]

#: delete: also stands for an edit to less. release: of a claim in use. edit, move: of the waiting claim itself.
Verb = Literal["delete", "release", "edit", "move", "raise", "annotate"]


class Waiting(Record, frozen=True):
    """A run whose pod a quota refuses now. Moments are RFC 3339, empty where they are not known.

    ``seconds_left``: of the timeout of ``pipeline_run``, negative: it is over; absent: there is none, or it is not
    known.
    """

    TRANSIENT: ClassVar[frozenset[str]] = frozenset({"next_try", "seconds_left"})

    since: str = ""
    next_try: str = ""
    pipeline_run: str = ""
    seconds_left: int | None = None


class KilledContainer(Record, frozen=True):
    """A container that was killed for memory.

    ``limit``: its memory limit; ``source``: what set it, absent if that is not known. ``added``: Tekton added it.
    ``again``: a new run has no more.
    """

    name: str
    limit: str = ""
    source: Source | None = None
    added: bool = False
    again: bool = True


class Outweighed(Record, frozen=True):
    """A resource of which a container that Tekton adds asks for more than all steps and sidecars together.

    ``containers``: those that ask for ``amount``, one after the other. ``steps``: what the others ask for.
    """

    side: str
    resource: str
    amount: str
    containers: tuple[str, ...]
    steps: str


class TektonPart(Record, frozen=True):
    """``task``: where the steps stand; absent: the run is not even stored. ``steps``: how many, which task-level
    requests and shares of LimitRanges are divided by. ``added``: containers that Tekton adds. ``status``, ``reason``:
    of the condition ``Succeeded`` that the run has now; empty: there is none.

    ``problem``: why there is no pod, as Tekton says it; absent: there is one. ``never``: what a quota that refuses it
    has too little of even when nothing else runs; empty: it fits once others have gone. ``retries``: tries that are
    left. ``lost``: what the division of task-level requests loses, by resource. ``version``: of Tekton, empty if
    unknown. ``held``: the value of ``spec.status`` that holds the run back: nothing of it is made until that is taken
    out. ``killed``: containers of the run's pod that were killed for memory. ``outweighed``: where the containers that
    Tekton adds decide what is refused. ``throttled``: limits of cpu that Tekton itself gives containers that it adds.
    ``by_operator``: the Tekton Operator keeps Tekton's configuration.
    """

    task: Source | None = None
    steps: int = 0
    sidecars: int = 0
    added: tuple[str, ...] = ()
    status: str = ""
    reason: str = ""
    problem: Problem | None = None
    never: tuple[TooMuch, ...] = ()
    retries: int = 0
    lost: Mapping[str, str] = {}
    task_level: bool = False
    waiting: Waiting | None = None
    pipeline_run: str = ""
    version: str = ""
    held: str = ""
    killed: tuple[KilledContainer, ...] = ()
    outweighed: tuple[Outweighed, ...] = ()
    throttled: Mapping[str, str] = {}
    by_operator: bool = False

    @property
    def failed(self) -> bool:
        """Whether the run has failed: nothing revives it."""
        return self.status == "False"

    @property
    def ended(self) -> bool:
        """Whether the run has succeeded or failed, so that only a new one is made again."""
        return self.status in {"True", "False"}

    @property
    def about_another(self) -> bool:
        """Whether the answer is what a new run would meet, and not what this one has met."""
        return self.ended and (self.problem is None or self.problem.reason != self.reason)


class MergedLimit(Record, frozen=True):
    """What steps get of one resource. ``default_request``: divided by the number of steps that state nothing of it.

    ``minimum``: no step gets less. Each with what sets it; absent: nothing does. ``others``: how many further results
    the order has in which Tekton's lister names the LimitRanges.
    """

    resource: str
    default_request: str | None = None
    minimum: str | None = None
    default_source: Source | None = None
    minimum_source: Source | None = None
    others: int = 0


class RuleSummary(Record, frozen=True):
    """A rule about pods. ``source``: where it stands. ``policies``: what it does with requests and limits, as
    ``limits.cpu: Ratio 2``; ``classes``: the QoS classes that it is about; ``targets`` absent: everywhere.

    ``selector``: which namespaces of its Tenant it is about; empty: all. ``quotas``: those that it makes.
    """

    source: Source
    action: str = ""
    policies: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    selector: str = ""
    quotas: tuple[str, ...] = ()


class Deed(Record, frozen=True):
    """One thing to do to one object. ``holds``: what a claim that gives way holds, empty if it only waits.

    ``command``: as something to type; empty where an edit in a manifest is meant.
    """

    verb: Verb
    subject: ObjectRef
    state: str = ""
    holds: Mapping[str, str] = {}
    amounts: Mapping[str, str] = {}
    command: str = ""
    follows: str = ""


class TrailClaim(Record, frozen=True):
    """A claim of the namespace on the pool."""

    subject: ObjectRef
    state: ClaimState
    asks: Mapping[str, str]


class PoolTrail(Record, frozen=True):
    """A managed quota that refuses. lacks: what has to be claimed more, by resource. claims: absent: not read.

    short: what the pool itself has too little of for that; closed: what earlier claims wait for in its ordered queue,
    so that a new claim waits, too, behind those named in ``behind`` where they were read. grow: the edit of an unused
    claim that gets all of it at once. ``known`` False: the pool was not read, and so none of these is known.
    """

    quota: str
    pool: str
    lacks: Mapping[str, str]
    claims: tuple[TrailClaim, ...] | None = None
    short: Mapping[str, str] = {}
    closed: tuple[str, ...] = ()
    behind: tuple[ObjectRef, ...] = ()
    grow: Deed | None = None
    known: bool = False
