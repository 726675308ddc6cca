"""``kubectl kres diff``: what admission changes in what was written, or what a live pod would get today."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from msgspec import structs

from kubectl_kres.cli.args.flags import explain_command
from kubectl_kres.cli.args.options import (
    ALLOW_PARTIAL,
    EXIT_CODE,
    INPUT,
    NO_SEEN,
    OUTPUT,
    SERVER,
    SINCE_SNAPSHOT,
    Options,
)
from kubectl_kres.cli.command import Command
from kubectl_kres.cli.files_applied import FilesApplied
from kubectl_kres.cli.output.printer import DOCUMENTS, width
from kubectl_kres.cli.run_loop import AnswerBatch, ObjectAnswer, Page, Query, RunContext, RunSummary, build_runner
from kubectl_kres.cli.select.workloads import select_subjects
from kubectl_kres.cli.source.object_source import Input, ObjectSource
from kubectl_kres.model.kinds import Kind
from kubectl_kres.render.pod import diff as render
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.system import answers_about, makes_one_pod
from kubectl_kres.reports.explain.difference import Difference, Differences, diff
from kubectl_kres.reports.explain.explain import list_unread
from kubectl_kres.reports.remedies.rivals import needs_with_rivals
from kubectl_kres.store.store import ReadRequest, Store


def plan(options: Options, words: tuple[str, ...]) -> Query:
    """The differences of all objects; 1 if there is any. With ``--from`` what changed between two moments."""
    if options.before:
        from kubectl_kres.cli.variants.moments import plan_moments

        return plan_moments(options, words)
    after_change = bool(words and options.filenames)
    return Query(
        partial(DiffPage, options, after_change=after_change),
        words,
        partial(select_subjects, find_reads=_list_read_requests, beside=_is_counted, changed=True),
        needed=True,
    )


def _is_counted(kind: Kind) -> bool:
    """Return whether a file's object is no difference by itself, but may be refused."""
    return answers_about(kind).counted


def _list_read_requests(store: Store, subject: Subject) -> tuple[ReadRequest, ...]:
    if not _is_counted(subject.kind):
        return needs_with_rivals(store, subject)
    from kubectl_kres.reports.namespace.explain_policy import policy_needs

    return policy_needs(store, subject)


class _RunCache:
    """What a run keeps from one batch of objects to the next. ``listed``: whether some are those of a list."""

    def __init__(self, applied: FilesApplied, patterns: render.Patterns) -> None:
        self.applied, self.patterns = applied, patterns
        self.pods: Differences | None = None
        self.listed = False
        self.changed_count = 0


class DiffPage(Page):
    """Differences, a patch each."""

    kind = "Diff"
    names_refused_policies = True

    def __init__(self, options: Options, *, after_change: bool = False) -> None:
        """``after_change``: the files are a change, and what is named is asked about after it."""
        super().__init__(options)
        self._after_change = after_change
        self.width = width(wide=False)

    def run(
        self, request_context: RunContext, source: ObjectSource, inputs: Input, run_summary: RunSummary
    ) -> Iterator[ObjectAnswer]:
        """Of a list it is noted how much of it differs: stdout may be applied as a patch."""
        applied = FilesApplied(self.options, after_change=self._after_change)
        if self.options.filenames and not self.options.selector:
            applied.read(source, inputs)
        cache = _RunCache(applied, render.Patterns(color=self.color, width=self.width))
        yield from self.run_batches(request_context, source, inputs, run_summary, cache)
        if cache.listed:
            run_summary.note(f"{cache.changed_count} of {run_summary.count} objects differ")

    def reports(self, batch: AnswerBatch, run_summary: RunSummary) -> Iterator[ObjectAnswer]:
        """The differences of some objects; one that cannot be compared is missed."""
        cache: _RunCache = batch.cache
        cache.listed = cache.listed or (batch.selection.listed and not self.options.filenames)
        if cache.listed and batch.selection.subjects and batch.selection.subjects[0].ref.kind == "Pod":
            yield from self._pods(batch, run_summary)
            return
        asked = [subject.ref for subject in batch.selection.subjects]
        batch = structs.replace(batch, store=cache.applied.store(batch.store, batch.options.server, asked))
        for subject, difference in run_summary.answer_each(batch.selection.subjects, partial(_difference, batch)):
            if difference is None:
                run_summary.add_answer((), complete=True, negative=False)
                continue
            run_summary.add_answer(difference.unread, complete=difference.complete, negative=difference.changed)
            cache.changed_count += difference.changed
            of_lists = batch.selection.listed and self.options.output in {*DOCUMENTS, "brief"}
            unchanged = self.options.output == "name" or of_lists
            if difference.changed or not unchanged:
                drawn = partial(render.lines, difference, color=self.color, width=self.width)
                yield ObjectAnswer(subject, difference, self._briefly(subject, difference) or drawn)

    def _briefly(self, subject: Subject, difference: Difference) -> Callable[[], Iterable[str]] | None:
        """Return what draws it in few words, where that is asked for."""
        if self.options.output != "brief":
            return None
        more = explain_command(self.options, subject.ref, subject.file, command="diff")
        return self.brief(render.brief(difference, more))

    def _pods(self, batch: AnswerBatch, run_summary: RunSummary) -> Iterator[ObjectAnswer]:
        """Of a list of pods only those that differ; for their names alone it is enough to know that they do."""
        cache: _RunCache = batch.cache
        many = cache.pods = cache.pods or Differences(batch.store, batch.options)
        for subject in batch.selection.subjects:
            pod = batch.store.get("Pod", subject.ref.name, subject.ref.namespace)
            if pod is None:
                continue
            if self.options.output == "name":
                changed, failed_reads = many.differs(pod), list_unread(batch.store, subject)
                complete, answer = (
                    not any(failed_read.required for failed_read in failed_reads),
                    ObjectAnswer(subject, None),
                )
            elif (difference := many.difference_of(pod)) is not None:
                changed, failed_reads, complete = True, difference.unread, difference.complete
                drawn = partial(cache.patterns.lines, difference, many.pattern)
                answer = ObjectAnswer(subject, difference, self._briefly(subject, difference) or drawn)
            else:
                changed, failed_reads, complete, answer = False, (), True, None
            run_summary.add_answer(failed_reads, complete=complete, negative=changed)
            cache.changed_count += changed
            if changed and answer is not None:
                yield answer


def _difference(batch: AnswerBatch, subject: Subject) -> Difference | None:
    """Of a claim or a service of a file what refuses it; None: it is taken."""
    if not _is_counted(subject.kind):
        return diff(batch.store, subject, batch.options)
    from kubectl_kres.reports.namespace.explain_policy import explain_policy

    policy_explanation = explain_policy(batch.store, subject, batch.options)
    if policy_explanation.verdict is None or policy_explanation.verdict.allowed is True:
        return None
    return Difference(
        subject.ref,
        before_label="WRITTEN",
        after_label="STORED",
        before={},
        after={},
        reasons={},
        verdict=policy_explanation.verdict,
        changed=True,
        fixes=policy_explanation.fixes,
        unread=policy_explanation.unread,
        complete=policy_explanation.complete,
    )


command = Command(
    "diff",
    build_runner(plan),
    text="""
        Compare a manifest or a template as it is written with what the API server would store; compare a live pod with
        what it would get today. Each changed line says which rule of which object changed it.

        With --from SNAPSHOT it compares two moments of the same cluster instead: which workloads, quotas, claims and
        runs came to be refused, to wait, to fail, to be full or over since then, and which are well again.

        Exits with 1 if anything differs or would be refused, else with 0; with --from only with --exit-code, if
        something bad is new.
        """,
    examples="""
        # What would the API server change in this manifest?
        kubectl kres diff -f pod.yaml

        # What does it change in the pods of this deployment?
        kubectl kres diff deploy/web -n shop

        # And once this change is made?
        kubectl kres diff deploy/web -n shop -f limitrange.yaml

        # Would this pod be the same if it were made today?
        kubectl kres diff pod/web-5d9c7b-x2x4q

        # Which pods of all namespaces would not?
        kubectl kres diff pods -A -o name

        # What becomes of what the author of a Task wrote?
        kubectl kres diff taskrun/build-7f -n ci

        # What went wrong since the snapshot of yesterday?
        kubectl kres diff --from yesterday.kres -A

        # Between two snapshots
        kubectl kres diff --from yesterday.kres --snapshot today.kres -A

        # The policies of a snapshot applied to local files
        kubectl kres diff -f manifests/ -R --snapshot prod.kres
        """,
    usage="(TYPE/NAME | TYPE [NAME...] | -f FILE | --from FILE)",
    flags=(*INPUT, SINCE_SNAPSHOT, NO_SEEN, OUTPUT, EXIT_CODE, ALLOW_PARTIAL, *SERVER),
    formats=("text", "brief", "json", "yaml", "name"),
    completes=makes_one_pod,
)
