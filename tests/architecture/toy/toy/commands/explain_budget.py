"""``kubectl kres explain budget/x``."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.toy.reports import BudgetExplanation

from kubectl_kres.cli.explainer import Explainer
from kubectl_kres.cli.run_loop import AnswerBatch, ObjectAnswer, RunSummary
from kubectl_kres.reports.common.explanation import Subject, Verdict
from kubectl_kres.store.store import ReadRequest, Store


class BudgetExplainer(Explainer):
    @classmethod
    def reads(cls, store: Store, subject: Subject) -> tuple[ReadRequest, ...]:
        return (ReadRequest("Budget", subject.ref.namespace, subject.ref.name),)

    def reports(
        self, turn: AnswerBatch, subject: Subject, tally: RunSummary
    ) -> Iterator[tuple[ObjectAnswer, Verdict | None]]:
        budget = turn.store.get("Budget", subject.ref.name, subject.ref.namespace)
        found = BudgetExplanation(budget.spec.team)
        yield ObjectAnswer(subject, found, lambda: [f"{subject.ref}: pods name team {found.team}"]), None
        tally.add_answer((), complete=True, negative=False)
