"""``kubectl kres explain`` for ``workload/x``, ``localqueue/x`` and ``clusterqueue/x``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from kubectl_kres.cli.explainer import Explainer, refuse_pod_flags
from kubectl_kres.cli.run_loop import AnswerBatch, ObjectAnswer, RunSummary
from kubectl_kres.errors import KresError
from kubectl_kres.kueue import model
from kubectl_kres.kueue.reports.queues import QueueReport, queue_report, queue_report_needs
from kubectl_kres.kueue.reports.workload import WorkloadExplanation, workload_explanation, workload_needs
from kubectl_kres.kueue.text import queue as queue_text
from kubectl_kres.kueue.text import workload as workload_text
from kubectl_kres.render.text.line import Line, draw
from kubectl_kres.reports.common.explanation import Subject, Verdict
from kubectl_kres.store.store import ReadRequest, Store


class QueueExplainer(Explainer):
    """Workloads and queues, each by itself; of several a line each."""

    @classmethod
    def reads(cls, store: Store, subject: Subject) -> tuple[ReadRequest, ...]:
        """Return the reads of a Workload, or of a queue and those who stand in it."""
        needs = workload_needs if subject.ref.kind == model.WORKLOAD else queue_report_needs
        return tuple(dict.fromkeys(needs(store, subject)))

    def reports(
        self, batch: AnswerBatch, subject: Subject, run_summary: RunSummary
    ) -> Iterator[tuple[ObjectAnswer, Verdict | None]]:
        """Yield the explanation of one object, which has no verdict to count."""
        options = self.page.options
        refuse_pod_flags(options, subject.ref)
        try:
            found: WorkloadExplanation | QueueReport
            if subject.ref.kind == model.WORKLOAD:
                found = workload_explanation(batch.store, subject, remedies=not batch.many)
            else:
                found = queue_report(batch.store, subject)
        except KresError as error:
            run_summary.add_error(error)
            return
        yield ObjectAnswer(subject, found, self._lines(found, many=batch.many)), None
        bad = found.negative if isinstance(found, WorkloadExplanation) else bool(found.faults)
        run_summary.add_answer(found.unread, complete=found.complete, negative=options.exit_code and bad)

    def _lines(self, found: WorkloadExplanation | QueueReport, *, many: bool) -> Callable[[], Iterable[str]]:
        color, width, whole = self.page.color, self.page.width, self.page.options.whole
        if many and not whole:
            tone, text = (
                workload_text.summary(found) if isinstance(found, WorkloadExplanation) else queue_text.summary(found)
            )
            line: Line = [("strong", found.object.full_name), ("", "  "), (tone, text)]
            return lambda: (draw(line, color=color),)
        lines = (
            partial(workload_text.workload_lines, found)
            if isinstance(found, WorkloadExplanation)
            else partial(queue_text.queue_lines, found)
        )
        return lambda: (draw(line, color=color) for line in lines(width, whole=whole))
