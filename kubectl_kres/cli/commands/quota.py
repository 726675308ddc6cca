"""``kubectl kres quota``: what quotas limit, what is used, by whom, what still fits, and who is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec import structs

from kubectl_kres.cli.args.flags import explain_command, same_source
from kubectl_kres.cli.args.options import (
    ALLOW_PARTIAL,
    ASCII,
    BY,
    DENIED,
    EXIT_CODE,
    FIT,
    INPUT,
    NO_SEEN,
    OUTPUT,
    RECOUNT,
    SERVER,
    WATCHING,
    WHOLE_LIST,
    Options,
)
from kubectl_kres.cli.command import Command
from kubectl_kres.cli.output.printer import speaks_unicode
from kubectl_kres.cli.run_loop import AnswerBatch, ObjectAnswer, Page, Query, RunContext, RunSummary
from kubectl_kres.cli.select.quotas import quotas, select_fit_subject, workloads
from kubectl_kres.cli.source.object_source import Input, ObjectSource
from kubectl_kres.cli.watch_option import build_watch_runner
from kubectl_kres.errors import KresError, UsageError
from kubectl_kres.model.objects import ResourceQuota
from kubectl_kres.model.workload_kinds import WORKLOADS
from kubectl_kres.render import describe
from kubectl_kres.render.quota import fit as render_fit
from kubectl_kres.render.quota import quota_blocks as render
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.shown import WORST
from kubectl_kres.reports.pod.verdict import is_negative
from kubectl_kres.reports.quota.denied import Denied, find_refusal
from kubectl_kres.reports.quota.describe import quota_block
from kubectl_kres.reports.quota.fit import Fit, fit
from kubectl_kres.reports.quota.quota_report import QuotaReport, quota_reports, shared_reports

if TYPE_CHECKING:
    from kubectl_kres.cli.files_applied import FilesApplied

#: What quotas are not looked at with, unless what they count is.
_UNREAD = (*WORKLOADS, "ControllerRevision")


def plan(options: Options, words: tuple[str, ...]) -> Query:
    """Quotas, or with ``--fit`` and ``--denied`` another answer each."""
    _refuse_flag_conflicts(options)
    if options.fit:
        return Query(partial(FitPage, options), words, select_fit_subject)
    if options.denied:
        return Query(partial(DeniedPage, options), words, workloads)
    counted = words or options.filenames or options.recount or options.by
    return Query(partial(QuotaPage, options, listed=not words), words, quotas, unread=() if counted else _UNREAD)


def _refuse_flag_conflicts(options: Options) -> None:
    """Raises UsageError for flags that exclude each other."""
    flags = {"--fit": options.fit, "--denied": options.denied, "--recount": options.recount, "--by": options.by}
    given_flags = [flag for flag, value in flags.items() if value]
    if len(given_flags) > 1 and given_flags != ["--recount", "--by"]:
        raise UsageError(f"{' and '.join(given_flags)} exclude each other")
    if (options.fit and options.selector) or ((options.fit or options.denied) and options.field_selector):
        raise UsageError(f"selectors do not go with {given_flags[0]}")
    if options.output == "describe" and given_flags:
        raise UsageError(f"-o describe does not go with {given_flags[0]}")
    if options.output == "brief" and options.by:
        raise UsageError("-o brief says no more than five lines; it goes with no --by")


class QuotaPage(Page):
    """Quotas of one namespace after the other, a block each."""

    kind = "Quota"

    def __init__(self, options: Options, *, listed: bool) -> None:
        """``listed``: no quota is asked for by name."""
        super().__init__(options)
        self._ascii_only = options.ascii or not speaks_unicode()
        detailed = options.whole or options.recount or options.by or options.filenames
        self.as_table = listed and options.output == "text" and not detailed

    def reports(self, batch: AnswerBatch, run_summary: RunSummary) -> Iterator[ObjectAnswer]:
        """The quotas of a turn."""
        if batch.selection.shared is not None:
            yield from self._shared_quota_answers(batch, run_summary)
            return
        spaces: dict[str, list[Subject]] = {}
        for subject in batch.selection.subjects:
            spaces.setdefault(subject.ref.namespace, []).append(subject)
        for subjects in spaces.values():
            result = [quota for subject in subjects if (quota := batch.store.get(*_key(subject))) is not None]
            recounted, by = self.options.recount, self.options.by
            try:
                reports = quota_reports(batch.store, result, batch.options, recounted=recounted, by=by)
                for subject, quota, report in zip(subjects, result, reports, strict=True):
                    yield self._build_answer(subject, quota, report)
                    bad = any(use.is_exceeded or use.drift is not None for use in report.uses)
                    _count(self.options, run_summary, report, negative=bad)
            except KresError as error:
                run_summary.add_error(error)

    def _shared_quota_answers(self, batch: AnswerBatch, run_summary: RunSummary) -> Iterator[ObjectAnswer]:
        """Capsule's quotas of a namespace, or of all, which kubectl describe knows nothing of."""
        if self.options.output == "describe":
            return
        reports = shared_reports(batch.store, batch.selection.shared or "")
        for subject, report in zip(batch.selection.subjects, reports, strict=True):
            yield self._build_answer(subject, None, report)
            _count(self.options, run_summary, report, negative=any(use.is_exceeded for use in report.uses))

    def table(self, answers: Sequence[ObjectAnswer]) -> Iterator[str]:
        """Draw the fullest quotas, or all if they are few."""
        if len(answers) > WORST:
            reports = [answer.report for answer in answers]
            ascii_only, color, width = self._ascii_only, self.color, self.width
            yield from render.list_lines(
                reports, same_source(self.options), ascii_only=ascii_only, color=color, width=width
            )
            return
        for index, answer in enumerate(answers):
            yield from [""] * bool(index)
            yield from answer.lines()

    def _build_answer(self, subject: Subject, quota: ResourceQuota | None, report: QuotaReport) -> ObjectAnswer:
        if self.options.output == "brief":
            return ObjectAnswer(subject, report, self.brief(render.brief(report, same_source(self.options))))
        if self.options.output == "describe" and quota is not None:
            return ObjectAnswer(subject, report, partial(describe.quota_lines, [quota_block(quota)]), gap=2)
        drawn = partial(render.lines, report, ascii_only=self._ascii_only, color=self.color, width=self.width)
        return ObjectAnswer(subject, report, drawn, gap=1)


class FitPage(Page):
    """How often a template fits."""

    kind = "Fit"

    def run(
        self, request_context: RunContext, source: ObjectSource, inputs: Input, run_summary: RunSummary
    ) -> Iterator[ObjectAnswer]:
        """Quotas of files count what is there."""
        applied: FilesApplied | None = None
        if self.options.filenames:
            from kubectl_kres.cli.files_applied import FilesApplied

            applied = FilesApplied(self.options, after_change=False)
            applied.read(source, inputs)
        yield from self.run_batches(request_context, source, inputs, run_summary, applied)

    def reports(self, batch: AnswerBatch, run_summary: RunSummary) -> Iterator[ObjectAnswer]:
        """The one object that was asked about."""
        applied: FilesApplied | None = batch.cache
        store = batch.store if applied is None else applied.store(batch.store, batch.options.server, ())
        for subject, item in run_summary.answer_each(
            batch.selection.subjects, lambda subject: fit(store, subject, batch.options)
        ):
            draw_whole: Callable[[], Iterable[str]] = partial(
                render_fit.lines, item, color=self.color, width=self.width
            )
            if self.options.output == "brief":
                draw_whole = self.brief(render_fit.brief(item, _explain(self.options, subject)))
            yield ObjectAnswer(subject, item, draw_whole)
            run_summary.note_condition("fits", item.enough)
            _count(self.options, run_summary, item, negative=not item.all_fit)


#: Refused workloads of one page whose fixes are looked for: trying them takes longer than all else.
MENDED = 25


class DeniedPage(Page):
    """The workloads that are refused; those that are not are only counted."""

    kind = "Denied"

    def run(
        self, request_context: RunContext, source: ObjectSource, inputs: Input, run_summary: RunSummary
    ) -> Iterator[ObjectAnswer]:
        """All of them, with a list of those that were met so far."""
        yield from self.run_batches(request_context, source, inputs, run_summary, [])

    def reports(self, batch: AnswerBatch, run_summary: RunSummary) -> Iterator[ObjectAnswer]:
        """The refused workloads of a turn. Names come without fixes, a long page with those of its beginning, a
        document with all.
        """
        refused: list[Subject] = batch.cache

        def is_mended() -> bool:
            return self.options.output != "name" and (self._mends_all or len(refused) < MENDED)

        for subject, item in run_summary.answer_each(
            batch.selection.subjects,
            lambda subject: find_refusal(batch.store, subject, structs.replace(batch.options, remedies=is_mended())),
        ):
            if item is None:
                run_summary.add_answer((), complete=True, negative=False)
                continue
            mended = is_mended()
            refused.append(subject)
            explain = _explain(self.options, subject)
            draw_whole: Callable[[], Iterable[str]] = partial(
                render_fit.denied_lines,
                item,
                now=batch.options.now,
                color=self.color,
                width=self.width,
                explain=explain if is_negative(item.verdict) and not mended else "",
            )
            if self.options.output == "brief":
                draw_whole = self.brief(render_fit.denied_brief(item, explain))
            yield ObjectAnswer(subject, item, draw_whole, note="refused")
            _count(self.options, run_summary, item, negative=True)

    def closing_lines(self, notes: Sequence[str], run_summary: RunSummary) -> Iterator[str]:
        """Yield how many are refused, and of how many the fixes are shown."""
        if run_summary.count and self.options.output not in {"name", "brief"}:
            yield render_fit.denied_count(len(notes), run_summary.count)
            if len(notes) > MENDED and not self._mends_all:
                yield render_fit.mended_count(MENDED)

    @property
    def _mends_all(self) -> bool:
        return self.options.whole or self.options.output not in {"text", "wide", "brief"}


def _count(options: Options, run_summary: RunSummary, value: QuotaReport | Fit | Denied, *, negative: bool) -> None:
    run_summary.add_answer(value.unread, complete=value.complete, negative=negative and options.exit_code)


def _explain(options: Options, subject: Subject) -> str:
    """The command that explains an object of these answers."""
    return explain_command(options, subject.ref, subject.file)


def _key(subject: Subject) -> tuple[str, str, str]:
    return subject.ref.kind, subject.ref.name, subject.ref.namespace


command = Command(
    "quota",
    build_watch_runner(plan),
    text="""
        Show what the quotas of a namespace limit, in which scopes, what is used and what is left. Only quotas are
        read; objects only where they are counted. Of more than five quotas the fullest are shown, or all with --all.
        With --denied, fixes are looked for and tried for the first 25 refused workloads, or for all with --all.

        A status that differs from a recount is named with its cause. What fits, and who is refused, is computed
        with the server's own admission rules.

        With --exit-code it exits with 1 where more is used than a quota allows (a full quota is no such answer), with
        --recount also where the status is wrong, with --fit where not all missing pods fit, with --denied where
        anything is refused.
        """,
    examples="""
        # The quotas of a namespace
        kubectl kres quota -n shop

        # Is the status of this quota right, and who uses it?
        kubectl kres quota team --recount --by workload

        # And down to single values: who set what each pod takes?
        kubectl kres quota team --by value

        # How many more pods of this deployment fit, and a rolling update?
        kubectl kres quota --fit deploy/web

        # Which workloads are being refused, and what would free them?
        kubectl kres quota --denied -A

        # What kubectl describe shows
        kubectl kres quota team -o describe

        # On the bundled example, without a cluster
        kubectl kres quota --demo
        """,
    usage="[NAME...]",
    flags=(
        RECOUNT,
        BY,
        FIT,
        DENIED,
        NO_SEEN,
        WHOLE_LIST,
        ASCII,
        *INPUT,
        OUTPUT,
        EXIT_CODE,
        ALLOW_PARTIAL,
        *WATCHING,
        *SERVER,
    ),
    formats=("text", "wide", "brief", "json", "yaml", "name", "describe"),
    completes="resourcequotas",
)
