"""``kubectl kres explain``: why pods get the requests and limits that they get."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from kubectl_kres.cli.args.flags import explain_command
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
from kubectl_kres.cli.run_loop import AnswerBatch, Choose, DrawRows, ObjectAnswer, Page, Query, RunContext, RunSummary
from kubectl_kres.cli.select.workloads import select_subjects
from kubectl_kres.cli.source.object_source import Input, ObjectSource
from kubectl_kres.cli.watch_option import build_watch_runner
from kubectl_kres.errors import KresError, UsageError
from kubectl_kres.model.kinds import find
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.pod import explain as render
from kubectl_kres.render.pod.explain import brief
from kubectl_kres.render.text.sentences import decisive_texts
from kubectl_kres.render.verdict.headline import verdict_word
from kubectl_kres.reports.common.effective_policies import policies
from kubectl_kres.reports.common.explanation import Explanation, Subject, waits_or_fails
from kubectl_kres.reports.common.system import answers_about, explanation_cache_key, is_explained
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
    result = explainer.plan_by_value(options, words) if explainer is not None else None
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


#: So many namespaces of a table are looked at for what may turn its answers.
_FEW = 20


class _Note(Struct, frozen=True):
    """What the last lines need to know of an answer: the word that counts it, whether it takes one line, the server's
    sentence of a refusal that is shown, and whether an empty line ends it. ``stuck``: of a list the first object that
    is refused, finds no node or fails.
    """

    word: str
    in_line: bool = False
    refusal: str = ""
    ends_empty: bool = True
    stuck: Subject | None = None


#: One for each word: lists are long.
_line_note = cache(partial(_Note, in_line=True))


def _decisive_of(batch: AnswerBatch) -> Iterator[tuple[str, None]]:
    """Yield what may turn the answers about a namespace, whatever the object; of many namespaces nothing."""
    spaces = dict.fromkeys(subject.ref.namespace for subject in batch.selection.subjects if subject.ref.namespace)
    for space in spaces if len(spaces) <= _FEW else ():
        for text in decisive_texts(policies(batch.store, space, batch.options.server).assumptions):
            yield text, None


class RunCache:
    """What a run keeps from one batch of objects to the next."""

    def __init__(self, applied: FilesApplied | None = None, inputs: Input | None = None) -> None:
        self.applied, self.inputs = applied, inputs
        self.explainers: dict[type[Explainer], Explainer] = {}
        self.outlines: tuple[Store, Outlines] | None = None
        self.rows: object_list.Rows | None = None
        #: Whether an object of the list was found that is stuck.
        self.has_stuck = False
        self.similar: TextOnlyDifference[Explanation] | None = None
        #: Whether the objects of the files fit together.
        self.combined: CombinedAnswer | None = None


class ExplainTable:
    """The table of a run, in pieces. Objects of the kinds of its first rows are called by their names alone as long as
    there is one kind.
    """

    def __init__(self, *, width: int, wide: bool, color: bool) -> None:
        self._width, self._is_wide, self._color = width, wide, color
        self._table: object_list.PrintedTable | None = None
        self._first_kinds: set[str] = set()

    def __call__(self, answers: Sequence[ObjectAnswer], /, *, more: bool = False) -> Iterator[str]:
        """Yield the lines of the rows, then those of answers that are no rows."""
        rows = [(answer.subject, answer.row) for answer in answers if answer.row is not None]
        by_ref = {row.ref: subject for subject, row in rows if subject is not None}
        kinds = {subject.kind.qualified_name for subject in by_ref.values()}
        if self._table is None and rows:
            from kubectl_kres.render.verdict import object_list

            cut = self._width if is_terminal() and not self._is_wide else 0
            self._table = object_list.PrintedTable(width=cut, wide=self._is_wide, color=self._color)
            self._first_kinds = kinds
        several = len(kinds | self._first_kinds) > 1

        def name(ref: ObjectRef) -> str:
            return qualified_name(by_ref[ref]) if several and ref in by_ref else ref.name

        if self._table is not None:
            yield from self._table.lines([row for _, row in rows], name, more=more)
        for answer in answers:
            if answer.row is None:
                yield from answer.lines()


class ExplainPage(Page):
    """The explanations: one object in full, several objects with a line each."""

    kind = "Explanation"
    most_rows = 500

    def __init__(self, options: Options, *, after_change: bool = False) -> None:
        """``after_change``: the files are a change, and the named objects are explained as they are after it."""
        super().__init__(options)
        self._after_change = after_change

    def run(
        self, request_context: RunContext, source: ObjectSource, inputs: Input, run_summary: RunSummary
    ) -> Iterator[ObjectAnswer]:
        """Yield the answers; for several objects of files also whether they fit together."""
        cache = self._start_run(source, inputs)
        yield from self.run_batches(request_context, source, inputs, run_summary, cache)
        combined = cache.combined
        if combined is not None:
            negative = combined.negative and self.options.exit_code
            run_summary.add_answer(combined.unread, complete=combined.complete, negative=negative, counts=False)
            # Of one object its own answer is the document, unless it is refused beside it.
            shown = self.options.output in DOCUMENTS and bool(combined.workloads or combined.refused)
            yield ObjectAnswer(None, combined if shown else None, note=combined)

    def _start_run(self, source: ObjectSource, inputs: Input) -> RunCache:
        """Return the cache of a run; its files are read where objects are evaluated with them."""
        if not self.options.filenames:
            return RunCache()
        from kubectl_kres.cli.files_applied import FilesApplied

        applied = FilesApplied(self.options, after_change=self._after_change)
        if self.options.selector or self.options.container or self.options.question:
            return RunCache(applied)
        applied.read(source, inputs)
        return RunCache(applied, inputs)

    def _with_files(self, batch: AnswerBatch) -> AnswerBatch:
        """Return the batch with the store that its objects are evaluated with."""
        cache: RunCache = batch.cache
        applied = cache.applied
        if applied is None:
            return batch
        asked = [subject.ref for subject in batch.selection.subjects]
        if not applied.after_change:
            cache.combined = self._evaluate_files(applied, batch, asked)
        return structs.replace(batch, store=applied.store(batch.store, batch.options.server, asked))

    def _evaluate_files(
        self, applied: FilesApplied, batch: AnswerBatch, asked: Sequence[ObjectRef]
    ) -> CombinedAnswer | None:
        """Return whether the objects of the files fit together, or are refused whatever else there is.

        What is there is known of the objects of this batch and of those before it.
        """
        cache: RunCache = batch.cache
        store, server, before = batch.store, batch.options.server, cache.combined
        if applied.files is not None and applied.files.several:
            if not applied.fresh(store):
                return before
            from kubectl_kres.reports.changes.combined_answer import evaluate_together

            return evaluate_together(store, applied.files, server)
        if cache.inputs is None:
            return before
        from kubectl_kres.cli.simulation import files_of
        from kubectl_kres.reports.changes.combined_answer import find_refused_objects

        files = files_of(cache.inputs)
        if not files.has_policies and not any(store.get(ref.kind, ref.name, ref.namespace) for ref in asked):
            return before
        return find_refused_objects(store, files, server) or before

    def reports(self, batch: AnswerBatch, run_summary: RunSummary) -> Iterator[ObjectAnswer]:
        """Yield the explanations of a batch; for an object without one the error is added."""
        read, batch = batch, self._with_files(batch)
        if batch.many:
            run_summary.decisive.update(_decisive_of(batch))
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
            negative = self.options.exit_code and (refused or conflicts or waits_or_fails(state))
            run_summary.add_answer(result.unread, complete=result.complete, negative=negative)
            if not batch.many and self._shows_whole_object:
                run_summary.note_printed(result.unread)

    def _record_pod_states(self, run_summary: RunSummary, result: Any, state: RunState | None) -> None:
        """Note whether the pods exist and are ready, for ``--until``."""
        from kubectl_kres.reports.run_state.workload_state import is_ready, is_there

        for word, reached in (("exist", is_there), ("ready", is_ready)):
            yes = reached(result.verdict, state, getattr(result, "replicas", None))
            run_summary.note_condition(word, yes, complete=result.complete)

    @property
    def shows_all(self) -> bool:
        """Return whether the whole answer is shown, not the short page."""
        return self.options.whole or self.options.steps or self.options.output == "wide"

    @property
    def _shows_whole_object(self) -> bool:
        """Return whether an object is shown with all of its containers and values."""
        options = self.options
        return options.output in {"text", "wide"} and not (options.container or options.question)

    def _explain_subject(
        self, explainer: type[Explainer], batch: AnswerBatch, subject: Subject, run_summary: RunSummary
    ) -> Iterator[ObjectAnswer]:
        explainers: dict[type[Explainer], Explainer] = batch.cache.explainers
        own_explainer = explainers.get(explainer) or explainers.setdefault(explainer, explainer(self))
        for answer, verdict in own_explainer.reports(batch, subject, run_summary):
            if verdict is None:
                yield answer
                continue
            # Of a run that has ended nothing is refused any more.
            ended = answer.row is not None and answer.row.outcome == "ended"
            word = "ended" if ended else verdict_word(verdict)[0]
            note = _note_of_line(batch.cache, subject, word, stuck=is_negative(verdict) and not ended)
            yield structs.replace(answer, note=note)

    def _row(self, subject: Subject, report: Any, row: Callable[[], object_list.Row], note: _Note) -> ObjectAnswer:
        """Return the answer for an object that is a row of the table."""
        if self.options.output not in {"text", "wide"}:
            return ObjectAnswer(subject, report)
        return ObjectAnswer(subject, report, row=row(), note=note)

    def start_table(self) -> DrawRows:
        """Return what draws the rows, and answers that are no rows."""
        return ExplainTable(width=self.width, wide=self.options.output == "wide", color=self.color)

    def _answer(
        self, batch: AnswerBatch, subject: Subject
    ) -> tuple[Explanation | PolicyExplanation | Outline, ObjectAnswer]:
        if answers_about(subject.kind).explained == "policy":
            return self._policy(batch, subject)
        if self._brief(many=batch.many):
            outline = self._outline(batch, subject)
            row = partial(self._outline_row, batch.cache, outline)
            note = _note_of_line(batch.cache, subject, verdict_word(outline.verdict)[0], stuck=_is_stuck(outline))
            return outline, self._row(subject, outline, row, note)
        options = self.options
        if options.output in DOCUMENTS:
            return self._document(batch, subject)
        explanation = explain(batch.store, subject, batch.options)
        if options.output == "brief":
            return explanation, ObjectAnswer(
                subject, explanation, self.brief(brief(explanation, self._explain_command(subject), batch.options.now))
            )
        note = _Note(
            verdict_word(explanation.verdict)[0], refusal=explanation.verdict.message or "", ends_empty=batch.many
        )
        drawn = self._explanation_lines(explanation, now=batch.options.now, many=batch.many)
        return explanation, ObjectAnswer(subject, explanation, drawn, gap=1, note=note)

    def _document(self, batch: AnswerBatch, subject: Subject) -> tuple[Explanation, ObjectAnswer]:
        """Return the explanation for a document. In a list as JSON similar objects share the text of the first."""
        from kubectl_kres.cli.output.documents import CustomFormat, TextOnlyDifference
        from kubectl_kres.render.text import data
        from kubectl_kres.reports.explain.value_query import narrow_explanation

        options = self.options
        is_drawn = (
            batch.many and options.output == "json" and not (options.watch or isinstance(options.output, CustomFormat))
        )
        like = explanation_cache_key(batch.store, subject, batch.options) if is_drawn else None
        cache: RunCache = batch.cache
        known = cache.similar.previous_text(like) if like is not None and cache.similar is not None else None
        if known is not None:
            return known[0], ObjectAnswer(subject, known[1])
        explanation = explain(batch.store, subject, batch.options)
        whole = explanation if options.steps else structs.replace(explanation, journal=())
        report = narrow_explanation(whole, options.container, options.question)
        if like is None or any(failed_read.required for failed_read in explanation.unread):
            return explanation, ObjectAnswer(subject, report)
        item = data.item(report)
        cache.similar = cache.similar or TextOnlyDifference()
        cache.similar.record_answer(like, explanation, item)
        return explanation, ObjectAnswer(subject, item)

    def _brief(self, *, many: bool) -> bool:
        """Return whether an object is shown by a single line."""
        options = self.options
        asked = options.steps or options.container or options.question
        return options.output == "name" or (many and not asked and options.output not in {*DOCUMENTS, "brief"})

    def _outline(self, batch: AnswerBatch, subject: Subject) -> Outline:
        cache: RunCache = batch.cache
        if cache.outlines is None or cache.outlines[0] is not batch.store:
            from kubectl_kres.reports.explain.summary import Outlines

            cache.outlines = batch.store, Outlines(batch.store, batch.options)
        return cache.outlines[1].outline(subject)

    def _outline_row(self, cache: RunCache, outline: Outline) -> object_list.Row:
        if cache.rows is None:
            from kubectl_kres.render.verdict import object_list

            cache.rows = object_list.Rows()
        return cache.rows.row(outline)

    def _policy(self, batch: AnswerBatch, subject: Subject) -> tuple[PolicyExplanation, ObjectAnswer]:
        """Return the explanation of a policy, or of an object that quotas count; its modules are imported here."""
        from kubectl_kres.cli.explainer import refuse_pod_flags
        from kubectl_kres.render.quota import policy as drawn
        from kubectl_kres.reports.namespace.explain_policy import explain_policy

        policy_explanation = explain_policy(batch.store, subject, batch.options)
        refuse_pod_flags(self.options, subject.ref, also=("steps",))
        if self.options.output == "brief":
            return policy_explanation, ObjectAnswer(
                subject, policy_explanation, self.brief(drawn.brief(policy_explanation, self._explain_command(subject)))
            )
        if batch.many:
            row = partial(drawn.row_of, policy_explanation)
            return policy_explanation, self._row(
                subject, policy_explanation, row, _line_note(drawn.policy_word(policy_explanation)[0])
            )
        plain = not speaks_unicode()
        draw_whole: Callable[[], Iterable[str]] = partial(
            drawn.lines, policy_explanation, now=batch.options.now, ascii_only=plain, color=self.color, width=self.width
        )
        if not self.shows_all:
            from kubectl_kres.render.quota.policy import page

            draw_whole = partial(
                page, policy_explanation, now=batch.options.now, ascii_only=plain, color=self.color, width=self.width
            )
        verdict = policy_explanation.verdict
        note = _Note("", refusal=(verdict.message or "") if verdict is not None else "", ends_empty=False)
        return policy_explanation, ObjectAnswer(subject, policy_explanation, draw_whole, gap=1, note=note)

    def _has_conflict(self, value: Any) -> bool:
        """Return whether policies contradict each other, or more is used than they allow."""
        from kubectl_kres.render.quota.policy import policy_word

        return policy_word(value)[0] in {"conflict", "over"}

    def _explanation_lines(self, explanation: Explanation, *, now: str, many: bool) -> Callable[[], list[str]]:
        options = self.options
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
        return lambda: [*draw_whole(), *[""] * many]

    def _explain_command(self, subject: Subject) -> str:
        """Return the command that prints the whole answer."""
        return explain_command(self.options, subject.ref, subject.file)

    def closing_lines(self, notes: Sequence[_Note | CombinedAnswer], run_summary: RunSummary) -> Iterator[str]:
        """Yield the counts, and the objects of files that were not looked at."""
        shown = [note for note in notes if isinstance(note, _Note)]
        if any(note.in_line for note in shown):
            yield render.count_line([note.word for note in shown if note.word])
            for text in run_summary.decisive:
                yield from render.assumed_lines(text, color=self.color, width=self.width)
            for stuck in (note.stuck for note in shown if note.stuck is not None):
                yield from render.fix_question_lines(self._explain_command(stuck), color=self.color)
        for combined in notes:
            if isinstance(combined, _Note) or self.options.output not in {"text", "wide"}:
                continue
            if not _repeats_refusals(combined, [note.refusal for note in shown if note.refusal]):
                from kubectl_kres.render import change_report as together

                yield from together.altered_lines(combined, color=self.color, width=self.width)
        if run_summary.kinds_left_out and self._shows_whole_object:
            yield from [""] * bool(shown and not shown[-1].ends_empty)
            yield from render.left_out_lines(run_summary.kinds_left_out, color=self.color, width=self.width)


def _note_of_line(cache: RunCache, subject: Subject, word: str, *, stuck: bool) -> _Note:
    """Return the note of an object that takes one line; of the first one that is stuck it says so."""
    if not stuck or cache.has_stuck or subject.raw is not None:
        return _line_note(word)
    cache.has_stuck = True
    return _Note(word, in_line=True, stuck=subject)


def _is_stuck(outline: Outline) -> bool:
    """Return whether there may be a fix for an object of a list, which is looked for where it is asked about alone."""
    state = outline.run_state
    return is_negative(outline.verdict) or (state is not None and (state.state == "fails" or state.reason == "NoNode"))


def _repeats_refusals(combined: CombinedAnswer, refusals: Sequence[str]) -> bool:
    """Return whether the refusals of the files together were all printed for single objects."""
    if combined.workloads or combined.shortfalls or not combined.refused:
        return False
    return all(any(text in refused.message for text in refusals) for refused in combined.refused)


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
