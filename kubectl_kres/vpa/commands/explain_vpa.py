"""``kubectl kres explain vpa/x``: what a vertical autoscaler makes of pods, and what its updater evicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from kubectl_kres.cli.explainer import Explainer, refuse_pod_flags
from kubectl_kres.cli.run_loop import AnswerBatch, ObjectAnswer, RunSummary
from kubectl_kres.errors import KresError
from kubectl_kres.reports.common.explanation import Subject, Verdict
from kubectl_kres.store.store import ReadRequest, Store
from kubectl_kres.vpa.reports.effects import VpaEffects, effects_needs, vpa_effects
from kubectl_kres.vpa.reports.updater_run import BAD
from kubectl_kres.vpa.text.effects import effects_lines, summary


class VpaExplainer(Explainer):
    """Autoscalers, each by itself; of several a line each."""

    judges_files = False

    @classmethod
    def reads(cls, store: Store, subject: Subject) -> tuple[ReadRequest, ...]:
        return effects_needs(store, subject)

    def reports(
        self, batch: AnswerBatch, subject: Subject, run_summary: RunSummary
    ) -> Iterator[tuple[ObjectAnswer, Verdict | None]]:
        options = self.page.options
        refuse_pod_flags(options, subject.ref)
        try:
            effects = vpa_effects(batch.store, subject, batch.options)
        except KresError as error:
            run_summary.add_error(error)
            return
        yield ObjectAnswer(subject, effects, self._lines(effects, many=batch.many)), None
        bad = effects.allowed is False or (effects.eviction is not None and effects.eviction.result in BAD)
        run_summary.add_answer(effects.unread, complete=effects.complete, negative=options.exit_code and bad)

    def _lines(self, effects: VpaEffects, *, many: bool) -> Callable[[], Iterable[str]]:
        color, width = self.page.color, self.page.width
        if many and not self.page.options.whole:
            return lambda: (summary(effects, color=color),)
        return partial(effects_lines, effects, color=color, width=width)
