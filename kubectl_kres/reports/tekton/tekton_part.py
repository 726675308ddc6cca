"""What is Tekton's in an answer: the Task that a run uses, how the run ends, and what it waits for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from kubectl_kres.provenance.journal import Source
from kubectl_kres.reports.common.record import Record
from kubectl_kres.tekton.base.result import Problem
from kubectl_kres.tekton.controller.quota_retry import TooMuch


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


class TektonPart(Record, frozen=True):
    """``task``: where the steps stand; absent: the run is not even stored. ``steps``: how many, which task-level
    requests and shares of LimitRanges are divided by. ``added``: containers that Tekton adds. ``status``, ``reason``:
    of the condition ``Succeeded`` that the run has now; empty: there is none.

    ``problem``: why there is no pod, as Tekton says it; absent: there is one. ``never``: what a quota that refuses it
    has too little of even when nothing else runs; empty: it fits once others have gone. ``retries``: tries that are
    left. ``lost``: what the division of task-level requests loses, by resource. ``version``: of Tekton, empty if
    unknown.
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
