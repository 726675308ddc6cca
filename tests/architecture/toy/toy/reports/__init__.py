"""What the toy registers with the answers: its kind, what it reads, what it refuses, what helps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kubectl_kres.toy.model import GROUP
from msgspec import structs

from kubectl_kres.admission.base.outcome import Finding, Outcome, Refusal
from kubectl_kres.record import Record
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.common.system import AboutPod, Admitter, KindAnswers, Question, ReadRight, System, Target
from kubectl_kres.store.store import ReadRequest, Store

RULE = "toy/team"


class BudgetExplanation(Record, frozen=True):
    """What a Budget asks for."""

    team: str


def _labelled(case: Any) -> Iterator[str]:
    yield f"label the pod with team={case.finding.expected}"


def _reads(store: Store, question: Question) -> Iterable[ReadRequest] | None:
    del store
    if isinstance(question, AboutPod):
        return (ReadRequest("Budget", question.namespace, required=False),)
    return None


def _apply(store: Store, subject: Subject, ask: EvaluationOptions, analysis: Analysis, target: Target) -> Analysis:
    del ask
    labels = analysis.manifest.pod.metadata.labels or {}
    for budget in store.all("Budget", subject.ref.namespace) if target == "pod" else ():
        if labels.get("team") != budget.spec.team:
            text = f"budget {budget.metadata.name} wants the label team={budget.spec.team}"
            finding = Finding(text, RULE, "metadata.labels", expected=budget.spec.team)
            refusal = Refusal(403, "Forbidden", text, (finding,))
            outcomes = tuple(
                structs.replace(one, allowed=False, code=403, refusal=refusal) if isinstance(one, Outcome) else one
                for one in analysis.outcomes
            )
            return structs.replace(analysis, outcomes=outcomes)
    return analysis


SYSTEM = System(
    "toy",
    GROUP,
    answers={"Budget": KindAnswers("toy")},
    rights={"pods": (ReadRight("Budget", ("list",), "which team pods have to name"),)},
    sentences={RULE: _labelled},
    reads=_reads,
    admission=Admitter(apply=_apply),
)
