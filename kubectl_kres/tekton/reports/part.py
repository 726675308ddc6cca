"""What Tekton adds to answers about pods and namespaces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from kubectl_kres.provenance.journal import QuotaShortfall, Source
from kubectl_kres.record import Record
from kubectl_kres.reports.common.system_parts import SystemPart
from kubectl_kres.tekton.rules.base.problem import Problem


class WaitingRun(Record, frozen=True):
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


class OversizedAddition(Record, frozen=True):
    """A resource that a container added by Tekton requests more of than all steps and sidecars together.

    ``containers``: those that ask for ``amount``, one after the other. ``steps``: what the others ask for.
    """

    side: str
    resource: str
    amount: str
    containers: tuple[str, ...]
    steps: str


class SummedSteps(Record, frozen=True):
    """A resource of which a pod asks for the sum of its steps, which run one after another, and the largest of them."""

    resource: str
    total: str
    largest: str
    steps: int


class TektonPart(SystemPart, frozen=True):
    """The part of an answer that is about Tekton.

    ``task``: the path of the steps; absent: the run is not even stored. ``steps``: how many, which task-level requests
    and shares of LimitRanges are divided by. ``added``: containers that Tekton adds. ``status``, ``reason``: of the
    condition ``Succeeded`` that the run has now; empty: there is none.

    ``problem``: why there is no pod, in Tekton's words; absent: there is one. ``never_fits``: what a quota that refuses
    it has too little of even when nothing else runs; empty: it fits once others have gone. ``retries``: tries that are
    left. ``lost``: what the division of task-level requests loses, by resource. ``version``: of Tekton, empty if
    unknown. ``held_by``: the value of ``spec.status`` that holds the run back: nothing of it is made until that is
    taken out. ``killed``: containers of the run's pod that were killed for memory. ``outweighed``: where the containers
    that Tekton adds decide what is refused. ``throttled``: limits of cpu that Tekton itself gives containers that it
    adds. ``by_operator``: the Tekton Operator keeps Tekton's configuration. ``summed``: what the pod finds no node
    for since it asks for the sum of its steps. ``left_running``: containers of an ended run that go on, so that its pod
    counts in quotas.
    """

    KEY: ClassVar[str] = "tekton"
    PLACE: ClassVar[str] = "pods"

    task: Source | None = None
    steps: int = 0
    sidecars: int = 0
    added: tuple[str, ...] = ()
    status: str = ""
    reason: str = ""
    problem: Problem | None = None
    never_fits: tuple[QuotaShortfall, ...] = ()
    retries: int = 0
    lost: Mapping[str, str] = {}
    task_level: bool = False
    waiting: WaitingRun | None = None
    pipeline_run: str = ""
    version: str = ""
    held_by: str = ""
    killed: tuple[KilledContainer, ...] = ()
    outweighed: tuple[OversizedAddition, ...] = ()
    throttled: Mapping[str, str] = {}
    by_operator: bool = False
    summed: tuple[SummedSteps, ...] = ()
    left_running: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Return whether the run has failed: nothing revives it."""
        return self.status == "False"

    @property
    def has_ended(self) -> bool:
        """Return whether the run has succeeded or failed, so that only a new one is made again."""
        return self.status in {"True", "False"}

    @property
    def about_another(self) -> bool:
        """Return whether the answer is about a new run, and not about this one."""
        return self.has_ended and (self.problem is None or self.problem.reason != self.reason)


class MergedLimit(SystemPart, frozen=True):
    """The values that steps get for one resource, each with what sets it; absent: nothing does.

    ``default_request``: divided by the number of steps that do not state the resource. ``minimum``: the least request
    of a step. ``others``: how many further results the order has in which Tekton's lister names the LimitRanges.
    """

    KEY: ClassVar[str] = "tekton"
    PLACE: ClassVar[str] = "namespaces"
    SEVERAL: ClassVar[bool] = True

    resource: str
    default_request: str | None = None
    minimum: str | None = None
    default_source: Source | None = None
    minimum_source: Source | None = None
    others: int = 0
