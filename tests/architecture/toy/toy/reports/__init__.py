"""What the toy registers with the answers: its kind, what it reads, what it refuses, what helps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kubectl_kres.toy.model import GROUP
from msgspec import structs

from kubectl_kres.admission.base.outcome import Finding, Outcome, Refusal
from kubectl_kres.model.pod import PodSpec
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.common.parts import Record
from kubectl_kres.reports.common.system import KindAnswers, Right, Sentences, System
from kubectl_kres.store.store import ReadRequest, Store

RULE = "toy/team"


class BudgetExplanation(Record, frozen=True):
    """What a Budget asks for."""

    team: str


def _labelled(case: Any) -> Iterator[str]:
    yield f"label the pod with team={case.finding.expected}"


class Toy(System):
    """Budgets."""

    name = "toy"
    group = GROUP
    answers: Mapping[str, KindAnswers] = {"Budget": KindAnswers("toy")}
    rights: Mapping[str, tuple[Right, ...]] = {"pods": (Right("Budget", ("list",), "which team pods have to name"),)}

    def needs_beside(self, store: Store, namespace: str, spec: PodSpec | None, *, new: bool) -> Iterable[ReadRequest]:
        return (ReadRequest("Budget", namespace, required=False),)

    def apply_to_pod(self, store: Store, subject: Subject, ask: EvaluationOptions, analysis: Analysis) -> Analysis:
        labels = analysis.start.pod.metadata.labels or {}
        for budget in store.all("Budget", subject.ref.namespace):
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

    def remedies(self) -> Mapping[str, Sentences]:
        return {RULE: _labelled}


SYSTEM = Toy()
