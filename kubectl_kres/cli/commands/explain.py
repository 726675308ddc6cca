"""``kubectl kres explain``: why pods get the requests and limits that they get."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import structs

from kubectl_kres.cli.args.options import (
    ALLOW_PARTIAL,
    BY_VALUE,
    CONTAINER,
    EXIT_CODE,
    INPUT,
    NO_SEEN,
    OUTPUT,
    QUESTION,
    RESIZE,
    SERVER,
    STEPS,
    WATCHING,
    WHOLE,
    Options,
)
from kubectl_kres.cli.command import Command
from kubectl_kres.cli.output.printer import DOCUMENTS, is_terminal, qualified_name, speaks_unicode
from kubectl_kres.cli.run_loop import AnswerBatch, Choose, ObjectAnswer, Page, Query, RunContext, RunSummary
from kubectl_kres.cli.select.workloads import select_subjects
from kubectl_kres.cli.source.object_source import Input, ObjectSource
from kubectl_kres.cli.watch_option import build_watch_runner
from kubectl_kres.errors import KresError, UsageError
from kubectl_kres.model.kinds import find
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.pod import explain as render
from kubectl_kres.render.verdict.headline import verdict_word
from kubectl_kres.reports.common.explanation import Explanation, Subject, is_held_up
from kubectl_kres.reports.common.system import answers_about, is_explained
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.pod.verdict import is_negative
from kubectl_kres.reports.remedies.rivals import needs_with_rivals
from kubectl_kres.store.store import ReadRequest, Store

if TYPE_CHECKING:
    from kubectl_kres.cli.explainer import Explainer
    from kubectl_kres.cli.files_applied import FilesApplied
    from kubectl_kres.cli.output.documents import TextOnlyDifference
    from kubectl_kres.model.kinds import Kind
    from kubectl_kres.render.verdict import object_list
    from kubectl_kres.reports.changes.combined_answer import CombinedAnswer
    from kubectl_kres.reports.common.explanation import RunState
    from kubectl_kres.reports.explain.summary import Outline, Outlines
    from kubectl_kres.reports.namespace.policy_explanation import PolicyExplanation


def plan(options: Options, words: tuple[str, ...]) -> Query:
    """Return the query: one object in full, several with a line each. Some flags have queries of their own."""
    if options.output == "describe":
        from kubectl_kres.cli.variants import describe

        return describe.plan(options, words)
    if options.output == "brief" and (options.container or options.question or options.steps):
        raise UsageError("-o brief says no more than five lines; it goes with no -c, --for and --steps")
    if options.resize:
        from kubectl_kres.cli.variants import resize

        return resize.plan(options, words)
    if options.by:
        return _by_value(options, words)
    choose = _find_explainer_choice(options, words) or partial(
        select_subjects, find_reads=_list_read_requests, takes=is_explained, changed=True, of_list=_nodes_of_list
    )
    after_change = bool(words and options.filenames)
    return Query(partial(ExplainPage, options, after_change=after_change), words, choose, needed=True)


def _explainer(kind: Kind | None) -> type[Explainer] | None:
    """Return the explainer of a system's kind; None: the command explains the objects itself."""
    if kind is None or answers_about(kind).explained in {"", "pod", "policy"}:
        return None
    from kubectl_kres.cli.explainer import explainer_of

    return explainer_of(kind)


def _by_value(options: Options, words: tuple[str, ...]) -> Query:
    kind = find(words[0].partition("/")[0]) if words and not options.filenames else None
    explainer = _explainer(kind)
    result = explainer.by_value(options, words) if explainer is not None else None
    if result is None or options.output == "brief":
        raise UsageError(
            "explain --by value is about Tenants, and not with -o brief",
            hint="of quotas and pools: quota NAME --by value, pools NAME --by value",
        )
    return result


def _find_explainer_choice(options: Options, words: tuple[str, ...]) -> Choose | None:
    kind = find(words[0].partition("/")[0]) if words else None
    explainer = _explainer(kind)
    return explainer.choose(options, words) if explainer is not None else None


def _list_read_requests(store: Store, subject: Subject) -> tuple[ReadRequest, ...]:
    explainer = _explainer(subject.kind)
    if explainer is not None:
        return explainer.reads(store, subject)
    if answers_about(subject.kind).explained == "policy":
        from kubectl_kres.reports.namespace.explain_policy import policy_needs

        return policy_needs(store, subject)
    return needs_with_rivals(store, subject)


def _nodes_of_list(store: Store, subjects: Sequence[Subject]) -> tuple[ReadRequest, ...]:
    """Return what the scheduler looks at for listed pods that wait for a node."""
    from kubectl_kres.reports.pod.scheduling_needs import list_node_needs, waiting_pods

    return list_node_needs(store, waiting_pods(store, subjects))


class ExplainPage(Page):
    """The explanations: one object in full, several objects with a line each."""

    kind = "Explanation"
    most_rows = 500

    def __init__(self, options: Options, *, after_change: bool = False) -> None:
        """``after_change``: the files are a change, and the named objects are explained as they are after it."""
        super().__init__(options)
        self._files_applied: FilesApplied | None = None
        if options.filenames:
            from kubectl_kres.cli.files_applied import FilesApplied

            self._files_applied = FilesApplied(options, after_change=after_change)
        self._words: list[str] = []
        self._blocks = 0
        self._lined = False
        self._left_out: tuple[str, ...] = ()
        self._explainers: dict[type[Explainer], Explainer] = {}
        self._outlines: tuple[Store, Outlines] | None = None
        self._rows: object_list.Rows | None = None
        self._similar: TextOnlyDifference[Explanation] | None = None
        self._table: object_list.PrintedTable | None = None
        #: What objects of the table are called by their names alone: those of the first of its kinds.
        self._plain_kinds: set[str] = set()
        self._combined: CombinedAnswer | None = None
        #: The server's sentences of the refusals that are shown.
        self._refusals: list[str] = []
        self._inputs: Input | None = None

    def run(
        self, request_context: RunContext, source: ObjectSource, inputs: Input, run_summary: RunSummary
    ) -> Iterator[ObjectAnswer]:
        """Yield the answers; for several objects of files also whether they fit together."""
        if self._files_applied and not (self.options.selector or self.options.container or self.options.question):
            self._files_applied.read(source, inputs)
            self._inputs = inputs
        yield from super().run(request_context, source, inputs, run_summary)
        combined = self._combined
        if combined is not None:
            negative = combined.negative and self.options.exit_code
            run_summary.add_answer(combined.unseen, complete=combined.complete, negative=negative, counts=False)
            if self.options.output in DOCUMENTS:
                yield ObjectAnswer(None, combined)

    def _with_files(self, batch: AnswerBatch) -> AnswerBatch:
        """Return the batch with the store that its objects are evaluated with."""
        applied = self._files_applied
        if applied is None:
            return batch
        asked = [subject.ref for subject in batch.selection.subjects]
        if not applied.after_change:
            self._evaluate_files(applied, batch, asked)
        return batch._replace(store=applied.store(batch.store, batch.options.server, asked))

    def _evaluate_files(self, applied: FilesApplied, batch: AnswerBatch, asked: Sequence[ObjectRef]) -> None:
        """Find out whether the objects of the files fit together, or are refused whatever else there is."""
        store, server = batch.store, batch.options.server
        if applied.files is not None and applied.files.several:
            if applied.fresh(store):
                from kubectl_kres.reports.changes.combined_answer import evaluate_together

                self._combined = evaluate_together(store, applied.files, server)
        elif self._inputs is not None:
            from kubectl_kres.cli.simulation import files_of
            from kubectl_kres.reports.changes.combined_answer import find_refused_objects

            files = files_of(self._inputs)
            if files.has_policies or any(store.get(ref.kind, ref.name, ref.namespace) for ref in asked):
                # What is there is known of the objects of this batch and of those before it.
                self._combined = find_refused_objects(store, files, server) or self._combined

    def reports(self, batch: AnswerBatch, run_summary: RunSummary) -> Iterator[ObjectAnswer]:
        """Yield the explanations of a batch; for an object without one the error is added."""
        self._left_out += batch.selection.left_out
        read, batch = batch, self._with_files(batch)
        for subject in batch.selection.subjects:
            explainer = _explainer(subject.kind)
            if explainer is not None:
                yield from self._explain_subject(
                    explainer, batch if explainer.judges_files else read, subject, run_summary
                )
                continue
            try:
                result, answer = self._answer(batch, subject)
            except KresError as error:
                run_summary.add_error(error)
                continue
            yield answer
            verdict = result.verdict
            state = getattr(result, "run_state", None)
            refused = verdict is not None and is_negative(verdict)
            conflicts = verdict is None and self._has_conflict(result)
            if verdict is not None:
                run_summary.note_condition("admitted", not refused, complete=result.complete)
                if self.options.until:
                    self._record_pod_states(run_summary, result, state)
            negative = self.options.exit_code and (refused or conflicts or is_held_up(state))
            run_summary.add_answer(result.unseen, complete=result.complete, negative=negative)
            if not batch.many and self._shows_whole_object:
                run_summary.note_printed(result.unseen)

    def _record_pod_states(self, run_summary: RunSummary, result: Any, state: RunState | None) -> None:
        """Note whether the pods exist and are ready, for ``--until``."""
        from kubectl_kres.reports.run_state.workload_state import is_ready, is_there

        for word, reached in (("exist", is_there), ("ready", is_ready)):
            yes = reached(result.verdict, state, getattr(result, "replicas", None))
            run_summary.note_condition(word, yes, complete=result.complete)

    @property
    def shows_all(self) -> bool:
        """Whether the whole answer is shown, not the short page."""
        return self.options.whole or self.options.steps or self.options.output == "wide"

    @property
    def _shows_whole_object(self) -> bool:
        """Whether an object is shown with all of its containers and values."""
        options = self.options
        return options.output in {"text", "wide"} and not (options.container or options.question)

    def _explain_subject(
        self, explainer: type[Explainer], batch: AnswerBatch, subject: Subject, run_summary: RunSummary
    ) -> Iterator[ObjectAnswer]:
        own_explainer = self._explainers.get(explainer) or self._explainers.setdefault(explainer, explainer(self))
        for answer, verdict in own_explainer.reports(batch, subject, run_summary):
            if verdict is not None:
                self._line(verdict_word(verdict)[0])
            yield answer

    def _row(self, subject: Subject, report: Any, row: Callable[[], object_list.Row]) -> ObjectAnswer:
        """Return the answer for an object that is a row of the table."""
        if self.options.output not in {"text", "wide"}:
            return ObjectAnswer(subject, report)
        self.as_table = True
        return ObjectAnswer(subject, report, row=row())

    def table(self, answers: Sequence[ObjectAnswer]) -> Iterator[str]:
        """Yield the lines of the table, and of answers that are no rows."""
        return self._render_answers(answers, more=False)

    def piece(self, answers: Sequence[ObjectAnswer]) -> Iterator[str]:
        """Yield the next rows of a long table."""
        return self._render_answers(answers, more=True)

    def _render_answers(self, answers: Sequence[ObjectAnswer], *, more: bool) -> Iterator[str]:
        rows = [(answer.subject, answer.row) for answer in answers if answer.row is not None]
        by_ref = {row.ref: subject for subject, row in rows if subject is not None}
        kinds = {subject.kind.qualified_name for subject in by_ref.values()}
        if self._table is None and rows:
            from kubectl_kres.render.verdict import object_list

            wide = self.options.output == "wide"
            cut = self.width if is_terminal() and not wide else 0
            self._table, self._plain_kinds = object_list.PrintedTable(width=cut, wide=wide, color=self.color), kinds
        several = len(kinds | self._plain_kinds) > 1

        def name(ref: ObjectRef) -> str:
            return qualified_name(by_ref[ref]) if several and ref in by_ref else ref.name

        if self._table is not None:
            yield from self._table.lines([row for _, row in rows], name, more=more)
        for answer in answers:
            if answer.row is None:
                yield from answer.lines()

    def _line(self, word: str) -> None:
        """Note an object that has one line, and the word that counts it in the last line."""
        if self.options.output in {"text", "wide"}:
            self._words.append(word)
            self._lined = True

    def _answer(
        self, batch: AnswerBatch, subject: Subject
    ) -> tuple[Explanation | PolicyExplanation | Outline, ObjectAnswer]:
        if answers_about(subject.kind).explained == "policy":
            return self._policy(batch, subject)
        if self._brief(many=batch.many):
            outline = self._outline(batch, subject)
            self._line(verdict_word(outline.verdict)[0])
            return outline, self._row(subject, outline, partial(self._outline_row, outline))
        options = self.options
        if options.output in DOCUMENTS:
            return self._document(batch, subject)
        explanation = explain(batch.store, subject, batch.options)
        if options.output == "brief":
            from kubectl_kres.render.pod.explain import brief

            return explanation, ObjectAnswer(
                subject, explanation, self.brief(brief(explanation, self._explain_command(subject), batch.options.now))
            )
        return explanation, ObjectAnswer(
            subject, explanation, self._explanation_lines(explanation, now=batch.options.now, many=batch.many)
        )

    def _document(self, batch: AnswerBatch, subject: Subject) -> tuple[Explanation, ObjectAnswer]:
        """Return the explanation for a document. In a list as JSON similar objects share the text of the first."""
        from kubectl_kres.cli.output.documents import CustomFormat, TextOnlyDifference
        from kubectl_kres.render.text import data
        from kubectl_kres.reports.common.system import likeness_of
        from kubectl_kres.reports.explain.value_query import narrow_explanation

        options = self.options
        is_drawn = (
            batch.many and options.output == "json" and not (options.watch or isinstance(options.output, CustomFormat))
        )
        like = likeness_of(batch.store, subject, batch.options) if is_drawn else None
        known = self._similar.previous_text(like) if like is not None and self._similar is not None else None
        if known is not None:
            return known[0], ObjectAnswer(subject, known[1])
        explanation = explain(batch.store, subject, batch.options)
        whole = explanation if options.steps else structs.replace(explanation, journal=())
        report = narrow_explanation(whole, options.container, options.question)
        if like is None or any(failed_read.required for failed_read in explanation.unseen):
            return explanation, ObjectAnswer(subject, report)
        item = data.item(report)
        self._similar = self._similar or TextOnlyDifference()
        self._similar.record_answer(like, explanation, item)
        return explanation, ObjectAnswer(subject, item)

    def _brief(self, *, many: bool) -> bool:
        """Whether an object is shown by a single line."""
        options = self.options
        asked = options.steps or options.container or options.question
        return options.output == "name" or (many and not asked and options.output not in {*DOCUMENTS, "brief"})

    def _outline(self, batch: AnswerBatch, subject: Subject) -> Outline:
        if self._outlines is None or self._outlines[0] is not batch.store:
            from kubectl_kres.reports.explain.summary import Outlines

            self._outlines = batch.store, Outlines(batch.store, batch.options)
        return self._outlines[1].outline(subject)

    def _outline_row(self, outline: Outline) -> object_list.Row:
        if self._rows is None:
            from kubectl_kres.render.verdict import object_list

            self._rows = object_list.Rows()
        return self._rows.row(outline)

    def _policy(self, batch: AnswerBatch, subject: Subject) -> tuple[PolicyExplanation, ObjectAnswer]:
        """Return the explanation of a policy, or of an object that quotas count; its modules are imported here."""
        from kubectl_kres.render.quota import policy as drawn
        from kubectl_kres.reports.namespace.explain_policy import explain_policy

        policy_explanation = explain_policy(batch.store, subject, batch.options)
        for flag in ("container", "question", "steps"):
            if getattr(self.options, flag):
                name = "for" if flag == "question" else flag
                raise UsageError(f"--{name} asks about a pod, not about {subject.ref}")
        if self.options.output == "brief":
            return policy_explanation, ObjectAnswer(
                subject, policy_explanation, self.brief(drawn.brief(policy_explanation, self._explain_command(subject)))
            )
        if batch.many:
            self._line(drawn.policy_word(policy_explanation)[0])
            return policy_explanation, self._row(subject, policy_explanation, partial(drawn.row_of, policy_explanation))
        gap = [""] * (self._blocks > 0)
        self._blocks = 1
        if policy_explanation.verdict is not None and policy_explanation.verdict.message:
            self._refusals.append(policy_explanation.verdict.message)
        plain = not speaks_unicode()
        draw_whole: Callable[[], Iterable[str]] = partial(
            drawn.lines, policy_explanation, now=batch.options.now, ascii_only=plain, color=self.color, width=self.width
        )
        if not self.shows_all:
            from kubectl_kres.render.quota.policy import page

            draw_whole = partial(
                page, policy_explanation, now=batch.options.now, ascii_only=plain, color=self.color, width=self.width
            )
        return policy_explanation, ObjectAnswer(subject, policy_explanation, lambda: [*gap, *draw_whole()])

    def _has_conflict(self, value: Any) -> bool:
        """Whether policies contradict each other, or more is used than they allow."""
        from kubectl_kres.render.quota.policy import policy_word

        return policy_word(value)[0] in {"conflict", "over"}

    def _explanation_lines(self, explanation: Explanation, *, now: str, many: bool) -> Callable[[], list[str]]:
        options = self.options
        gap = [""] * (self._blocks > 0)
        self._blocks = 0 if many else 1
        self._words.append(verdict_word(explanation.verdict)[0])
        if explanation.verdict.message:
            self._refusals.append(explanation.verdict.message)
        draw_whole = partial(
            render.lines,
            explanation,
            steps=options.steps,
            container=options.container,
            question=options.question,
            whole=self.shows_all,
            now=now,
            color=self.color,
            width=self.width,
        )
        return lambda: [*gap, *draw_whole(), *[""] * many]

    def _explain_command(self, subject: Subject) -> str:
        """Return the command that prints the whole answer."""
        from kubectl_kres.cli.args.flags import explain_command

        return explain_command(self.options, subject.ref, subject.file)

    def _repeats_refusals(self, combined: CombinedAnswer) -> bool:
        """Whether the refusals of the files together were all printed for single objects."""
        if combined.workloads or combined.lacks or not combined.refused:
            return False
        return all(any(text in refused.message for text in self._refusals) for refused in combined.refused)

    def closing_lines(self, run_summary: RunSummary) -> Iterator[str]:
        """Yield the counts, and the objects of files that were not looked at."""
        del run_summary
        if self._lined:
            yield render.count_line(self._words)
        if (
            self._combined is not None
            and self.options.output in {"text", "wide"}
            and not self._repeats_refusals(self._combined)
        ):
            from kubectl_kres.render import change_report as together

            yield from together.altered_lines(self._combined, color=self.color, width=self.width)
        if self._left_out and self._shows_whole_object:
            yield from [""] * (self._blocks > 0)
            yield from render.left_out_lines(self._left_out, color=self.color, width=self.width)


command = Command(
    "explain",
    build_watch_runner(plan),
    text="""
        Explain why pods get the requests and limits that they get: whether they are admitted, what to change if they
        are not, and which rule of which object set each value.

        Workloads are explained by the next pod of their template. Several objects get a line each.

        Tekton's TaskRuns and Tasks are explained by the pod that Tekton makes of them, with what becomes of the run; a
        PipelineRun or Pipeline by its tasks, and by what they ask for at once. -c TASK shows one of them in full.

        Of a quota, a LimitRange or a namespace: what it allows, what it gives, what contradicts what. Of a
        PersistentVolumeClaim or a service: what it costs each quota. Of a pool or a claim of Capsule: how the pool was
        chosen, the queue with each comparison, the conditions, the managed quota, and what may be done to it.

        "policies", or the plural of one of their kinds, names the admission policies that decide about pods of a
        namespace, and what each makes of the pods that are there.
        """,
    examples="""
        # Why does this pod have the requests and limits that it has?
        kubectl kres explain pod/web

        # Why are no pods of this deployment created?
        kubectl kres explain deploy/web -n shop

        # What sets one value, step by step?
        kubectl kres explain pod/web --for app.limits.memory

        # The value alone, for a script
        kubectl kres explain pod/web --for app.limits.memory -o json

        # What would become of this manifest, with the policies of the cluster?
        kubectl kres explain -f pod.yaml

        # What becomes of this deployment once a change is made?
        kubectl kres explain deploy/web -n shop -f limitrange.yaml

        # The same with nothing but the files, for a certain version
        kubectl kres explain -f manifests/ --offline --kube-version 1.31

        # Which deployments of all namespaces would be refused? For scripts
        kubectl kres explain deployments -A --exit-code -o json

        # May this running pod get more, and would it restart?
        kubectl kres explain pod/web --resize '{"spec": {"containers": [
            {"name": "app", "resources": {"limits": {"cpu": "2"}}}]}}'

        # Wait until the pods of this deployment would be admitted, for a runbook
        kubectl kres explain deploy/web -w --until admitted --timeout 10m

        # Why does this TaskRun wait, and what do its steps get?
        kubectl kres explain taskrun/build-7f -n ci

        # What would this PipelineRun ask for at once, with Tekton configured as here?
        kubectl kres explain -f run.yaml --tekton-config config.yaml

        # What does a namespace give, what does it allow, what contradicts what?
        kubectl kres explain ns/shop

        # Who uses what the quotas in a Tenant's namespaces allow, down to values?
        kubectl kres explain tenant/ml --by value

        # Which admission policies decide about pods here, and what of those there?
        kubectl kres explain policies -n shop

        # Why does this claim on a resource pool wait?
        kubectl kres explain claim/batch -n shop --steps

        # What kubectl describe shows of a LimitRange, for comparison
        kubectl kres explain limits/defaults -n shop -o describe

        # On the bundled example, without a cluster
        kubectl kres explain --demo deployments
        """,
    usage="(TYPE/NAME | TYPE [NAME...] | -f FILE)",
    flags=(
        *INPUT,
        CONTAINER,
        QUESTION,
        WHOLE,
        STEPS,
        BY_VALUE,
        RESIZE,
        NO_SEEN,
        OUTPUT,
        EXIT_CODE,
        ALLOW_PARTIAL,
        *WATCHING,
        *SERVER,
    ),
    formats=("text", "wide", "brief", "json", "yaml", "name", "describe"),
    completes=is_explained,
)
