"""``kubectl kres explain pipelinerun/x`` and ``pipeline/x``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from kubectl_kres.cli.args.flags import explain_command
from kubectl_kres.cli.explainer import Explainer
from kubectl_kres.cli.output.printer import DOCUMENTS
from kubectl_kres.cli.run_loop import AnswerBatch, ObjectAnswer, Page, RunSummary
from kubectl_kres.errors import KresError, UsageError
from kubectl_kres.reports.common.explanation import Subject, Verdict, waits_or_fails
from kubectl_kres.reports.pod.verdict import is_negative
from kubectl_kres.reports.run_state.workload_state import is_ready, is_there
from kubectl_kres.store.store import ReadRequest, Store
from kubectl_kres.tekton.model import PipelineRun
from kubectl_kres.tekton.reports.explain_pipeline import explain_pipeline
from kubectl_kres.tekton.reports.needs import known_object, pipeline_needs
from kubectl_kres.tekton.reports.pinned_tasks import assistant_node_needs
from kubectl_kres.tekton.reports.pipeline import PipelineExplanation, narrow_to_task
from kubectl_kres.tekton.text import pipeline as render


class PipelineExplainer(Explainer):
    """PipelineRuns and Pipelines, task by task."""

    @classmethod
    def reads(cls, store: Store, subject: Subject) -> tuple[ReadRequest, ...]:
        """Return the reads of the tasks, and of what each of them depends on."""
        run = known_object(store, subject) if subject.raw is None else None
        more = assistant_node_needs(store, run) if isinstance(run, PipelineRun) else ()
        return (*pipeline_needs(store, subject), *more)

    def reports(
        self, batch: AnswerBatch, subject: Subject, run_summary: RunSummary
    ) -> Iterator[tuple[ObjectAnswer, Verdict | None]]:
        """Yield the explanation of one object, or with ``-c`` of one task. Raises UsageError for a question about a
        value.
        """
        options = self.page.options
        if options.question:
            raise UsageError(f"--for asks about a pod, not about {subject.ref}", hint="-c TASK shows one task in full")
        try:
            run = explain_pipeline(batch.store, subject, batch.options)
            shown = narrow_to_task(run, options.container) if options.container else run
        except KresError as error:
            run_summary.add_error(error)
            return
        row = batch.many and not (options.steps or options.container)
        report = shown if options.output in DOCUMENTS else run
        if options.output == "brief":
            more = explain_command(options, subject.ref, subject.file)
            yield (
                ObjectAnswer(subject, report, self.page.brief(render.brief(run, more, batch.options.now))),
                None,
            )
        elif row:
            in_table = options.output in {"text", "wide"}
            cells = render.row_of(run, batch.options.now) if in_table else None
            yield ObjectAnswer(subject, report, row=cells), run.verdict
        else:
            yield (
                ObjectAnswer(
                    subject,
                    report,
                    partial(_render_pipeline, self.page, run, now=batch.options.now, many=batch.many),
                ),
                None,
            )
        refused = is_negative(run.verdict)
        run_summary.note_condition("admitted", not refused, complete=run.complete)
        state = run.run_state
        for word, reached in (("exist", is_there), ("ready", is_ready)):
            yes = reached(run.verdict, state, None)
            run_summary.note_condition(word, yes, complete=run.complete)
        negative = options.exit_code and (refused or waits_or_fails(state))
        run_summary.add_answer(run.unread, complete=run.complete, negative=negative)


def _render_pipeline(page: Page, run: PipelineExplanation, *, now: str, many: bool) -> list[str]:
    options = page.options
    if not (options.whole or options.steps or options.container or options.output == "wide"):
        return [*render.page(run, now=now, color=page.color, width=page.width), *[""] * many]
    lines = render.lines(
        run,
        steps=options.steps,
        task=options.container,
        now=now,
        color=page.color,
        width=page.width,
    )
    return [*lines, *[""] * many]
