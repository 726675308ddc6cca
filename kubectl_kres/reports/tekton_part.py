"""What is Tekton's in an answer: the Task that a run uses, and the condition that the run ends with."""

from __future__ import annotations

from kubectl_kres.provenance.journal import Source
from kubectl_kres.reports.record import Record
from kubectl_kres.tekton.answer import Problem


class TektonPart(Record, frozen=True):
    """``task``: where the steps stand. ``steps``: how many there are, which task-level requests are divided by.

    ``problem``: why there is no pod, as Tekton says it; absent: there is one. ``version``: of Tekton, empty if unknown.
    """

    task: Source | None = None
    steps: int = 0
    problem: Problem | None = None
    version: str = ""
