"""The report of ``simulate``: what differs after a change, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, Self

import msgspec

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.record import HOLDER, Record, Wording
from kubectl_kres.reports.common.explanation import Autoscaled, FailedRead
from kubectl_kres.reports.common.nodes import NodeReport
from kubectl_kres.reports.common.system_parts import Parts, SystemPart

#: worse: something that ran or would come does no longer. better: something comes that did not. other: next pods get
#: other values, or it is not certain which way it goes.
Effect = Literal["worse", "better", "other"]


class StepPart(SystemPart, frozen=True):
    """What a system says of a step of its own."""

    PLACE: ClassVar[str] = "steps"

    @property
    def is_worse(self) -> bool:
        """Return whether pods are lost by it."""
        return False

    def with_refusal(self, message: str) -> Self:
        """Return it with the server's words to pods that are missing afterwards."""
        del message
        return self


class StepResult(Record, frozen=True):
    """The API server's answer to one step. ``others``: other possible answers. ``label``: where the step was written.

    ``parts``: what a system says of it, as of an updater what came of it, with the ``target``, kind and name, whose
    pods it evicts.
    """

    number: int
    step: str
    subject: ObjectRef
    allowed: bool
    code: int
    message: str = ""
    others: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    label: str = ""
    target: str = ""
    parts: Parts = msgspec.field(default_factory=dict, name=f"{HOLDER}steps")


class Count(Record, frozen=True):
    """The pods of a workload once the controllers have finished: ``wanted``, and how many exist. ``best`` differs where
    a race decides.
    """

    wanted: int
    pods: int
    best: int


class NextPod(Record, frozen=True):
    """The outcome of the next pod of a workload. ``message``: the server's refusal. ``values``: requests
    and limits that it gets, by container.
    """

    admitted: bool
    message: str = ""
    qos: str = ""
    values: Mapping[str, str] = {}


class Resized(Record, frozen=True):
    """A request or limit of the next pods that changes; absent: it is not set."""

    path: str
    before: str | None = None
    after: str | None = None


class NextRollout(Record, frozen=True):
    """A rollout of the present template that does not complete: it ends with ``updated`` new pods of ``wanted``.

    ``best``: with more luck in the race for room. ``concurrent``: workloads whose rollouts are under way meanwhile.
    ``message``: the server's words of a refusal.
    """

    updated: int
    best: int
    wanted: int
    concurrent: tuple[ObjectRef, ...] = ()
    message: str = ""


class WorkloadChange(Record, frozen=True):
    """A workload that a change affects. ``before`` absent: it is new; ``after`` absent: it is deleted.

    ``rollout_before``, ``rollout_after``: its next rollout where it does not complete; absent where it does, and of a
    workload that lacks pods or whose next pod is refused.

    next_before, next_after: what becomes of its next pod. refusals: the server's words to the pods that are missing.
    stalled: a rollout that does not progress. autoscaled_before, autoscaled_after: how far its autoscaler gets, where
    that changes or the workload is new. uncounted: only its next pod is evaluated; ``before`` and ``after`` are then
    the numbers of its status.
    """

    subject: ObjectRef
    effect: Effect
    before: Count | None = None
    after: Count | None = None
    next_before: NextPod | None = None
    next_after: NextPod | None = None
    resized: tuple[Resized, ...] = ()
    refusals: tuple[str, ...] = ()
    stalled: bool = False
    rollout_before: NextRollout | None = None
    rollout_after: NextRollout | None = None
    autoscaled_before: Autoscaled | None = None
    autoscaled_after: Autoscaled | None = None
    uncounted: bool = False


class QuotaChange(Record, frozen=True):
    """One resource of a quota that changes. ``most``: use where a race decides. ``over_by``: used is more than hard."""

    quota: ObjectRef
    resource: str
    effect: Effect
    hard_before: str = ""
    hard_after: str = ""
    used_before: str = ""
    used_after: str = ""
    over_by: str = ""


class ClaimChange(Record, frozen=True):
    """A claim on a resource pool whose state changes; empty: it does not exist."""

    subject: ObjectRef
    effect: Effect
    pool: str = ""
    before: Wording = ""
    after: Wording = ""


class NodesForChange(Record, frozen=True):
    """Whether nodes take the admitted pods that a change creates of one workload.

    ``new``: how many pods; ``fits``: how many of them find a node, each on the first that takes it after those that are
    named before; absent: not known. ``at_least``: counting ended there. ``rollout``: they replace pods of an older
    template. ``stalls``: no pod of it comes, since no old one may end first. ``first``: what nodes say of the first
    that finds none; absent where all do. ``autoscaler``: who made nodes, as labels of theirs say, and may add some.
    ``not_computed``: what else decides about a node for its pods and is known only once they exist.
    """

    subject: ObjectRef
    effect: Effect
    new: int
    fits: int | None = None
    at_least: bool = False
    rollout: bool = False
    stalls: bool = False
    first: NodeReport | None = None
    autoscaler: str = ""
    not_computed: tuple[str, ...] = ()

    @property
    def unplaced(self) -> int:
        """The number of pods that are known to find no node."""
        return 0 if self.fits is None or self.at_least else self.new - self.fits


class ChangeReport(Record, frozen=True):
    """What a change does. ``outcome``: worse if anything is, else better, other or none.

    ends: how many final states the controllers' races can lead to; ``exhaustive`` False: there may be more. computed
    False: not all of what admits pods was computed, as notes say, so that more may change. nodes: of each workload with
    new pods that were placed; empty where there are none, or nodes were not read, as notes say.
    """

    outcome: Literal["worse", "better", "other", "none"]
    steps: tuple[StepResult, ...] = ()
    workloads: tuple[WorkloadChange, ...] = ()
    quotas: tuple[QuotaChange, ...] = ()
    claims: tuple[ClaimChange, ...] = ()
    nodes: tuple[NodesForChange, ...] = ()
    ends: int = 1
    exhaustive: bool = True
    computed: bool = True
    notes: tuple[Wording, ...] = ()
    unread: tuple[FailedRead, ...] = ()
    complete: bool = True

    @property
    def is_refused(self) -> bool:
        """Return whether the API server refuses a step."""
        return any(not step.allowed for step in self.steps)
