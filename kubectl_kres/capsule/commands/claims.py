"""``kubectl kres claims``: which claims wait, why, and what would unblock them; with ``--for`` what has to be claimed
for a workload.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from msgspec import structs

from kubectl_kres.capsule.commands.select_pools import claims
from kubectl_kres.capsule.reports.claim.claim_detail import claim_detail, with_fixes
from kubectl_kres.capsule.reports.claim.claims import ClaimReport, Claims
from kubectl_kres.capsule.reports.claim.sizing import size_claim, sizing_needs
from kubectl_kres.capsule.reports.common.needs import further_failed_reads
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex
from kubectl_kres.capsule.reports.simulate import Prediction, build_prediction
from kubectl_kres.capsule.text import claim as render_claim
from kubectl_kres.capsule.text import claims as render
from kubectl_kres.capsule.text import sizing as text_sizing
from kubectl_kres.cli.args.flags import explain_command, same_source
from kubectl_kres.cli.args.options import (
    ALLOW_PARTIAL,
    EXIT_CODE,
    INPUT,
    OUTPUT,
    POOL,
    SERVER,
    SIZED,
    WAITING,
    WATCHING,
    WHOLE,
    Options,
)
from kubectl_kres.cli.command import Command
from kubectl_kres.cli.run_loop import AnswerBatch, ObjectAnswer, Page, Query, RunSummary
from kubectl_kres.cli.select.workloads import Selection, one_named
from kubectl_kres.cli.source.object_source import Input, ObjectSource
from kubectl_kres.cli.watch_option import build_watch_runner
from kubectl_kres.errors import UsageError
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.workload_kinds import WORKLOADS
from kubectl_kres.render.verdict.brief import object_command
from kubectl_kres.reports.common.explanation import Subject

#: The claims that somebody has to look at come first; within a state they stay by namespace and name.
_ORDER = ("failed", "lost", "exhausted", "queued", "unassigned", "pending", "released", "allocated", "in use")


def plan(options: Options, words: tuple[str, ...]) -> Query:
    """Claims; with ``--for`` the claim that a workload needs."""
    if options.sized:
        return sizing_plan(options, words)
    if words and (options.pool or options.waiting):
        raise UsageError("--pool and --waiting choose among claims; names do not go with them")
    unread = () if words or options.filenames else (*WORKLOADS, "ControllerRevision")
    return Query(partial(ClaimsPage, options, shows_all=bool(words)), words, claims, unread=unread)


class ClaimsPage(Page):
    """Claims, a row each. ``shows_all``: each in full, not a row."""

    kind = "Claims"

    def __init__(self, options: Options, *, shows_all: bool) -> None:
        super().__init__(options)
        self._shows_all, self.as_table = shows_all, not shows_all and options.output != "brief"

    def reports(self, batch: AnswerBatch, run_summary: RunSummary) -> Iterator[ObjectAnswer]:
        """The claims of a turn, which is one for all of them."""
        prediction = build_prediction(batch.store)
        making = Claims(PoolIndex(prediction.store))
        run_summary.note_assumption(prediction.assumptions)
        count = 0
        for subject, report in self._answers(making, prediction, batch, run_summary):
            count += 1
            draw_whole: Callable[[], Iterable[str]] = partial(self._lines, report, now=batch.options.now)
            if self.options.output == "brief":
                draw_whole = self.brief(render_claim.claim_brief(report, self._explain_command(report.subject)))
            yield ObjectAnswer(subject, report, draw_whole, gap=1, note=report)
            run_summary.note_condition("allocated", report.state in {"allocated", "in use"})
            run_summary.add_answer(
                report.unread, complete=report.complete, negative=report.is_waiting and self.options.exit_code
            )
        run_summary.note_unread(gaps := further_failed_reads(making.index), complete=not gaps)
        pool = self.options.pool
        if pool and not count and making.index.pools_known and pool not in making.index.pools:
            run_summary.note(f'There is no pool "{pool}".')

    def _lines(self, report: ClaimReport, *, now: str) -> Iterator[str]:
        if self.options.whole or self.options.output == "wide":
            yield from render_claim.lines(report, now=now, color=self.color, width=self.width)
            return
        from kubectl_kres.capsule.text.page import claim_lines

        yield from claim_lines(report, same_source(self.options), now=now, color=self.color, width=self.width)

    def _answers(
        self, making: Claims, prediction: Prediction, batch: AnswerBatch, run_summary: RunSummary
    ) -> Iterator[tuple[Subject, ClaimReport]]:
        """The claims that were chosen, each with its report."""
        made = [
            (subject, self._report(making, prediction, subject, run_summary)) for subject in batch.selection.subjects
        ]
        kept = [(subject, report) for subject, report in made if report is not None and self._is_selected(report)]
        if not self._shows_all:
            kept.sort(key=lambda subjects: _ORDER.index(subjects[1].state))
        reports = [report for _, report in kept]
        named_ = self._shows_all or self.options.output == "name"
        yield from zip(
            (subject for subject, _ in kept), reports if named_ else with_fixes(making, reports), strict=True
        )

    def _report(
        self, making: Claims, prediction: Prediction, subject: Subject, run_summary: RunSummary
    ) -> ClaimReport | None:
        """None for one that the server would not take; the error is printed."""
        if subject.ref in prediction.refused:
            run_summary.add_error(UsageError(f"{subject.ref}: {prediction.refused[subject.ref]}"))
            return None
        ref = subject.ref
        claim: Any = prediction.store.get(ref.kind, ref.name, ref.namespace)
        report = claim_detail(making, claim) if self._shows_all else making.report(claim)
        return prediction.add_prediction(ref, report)

    def _is_selected(self, report: ClaimReport) -> bool:
        pool = self.options.pool
        if pool and pool not in {report.pool, report.wanted_pool if not report.pool else ""}:
            return False
        return report.is_waiting or not self.options.waiting

    def table(self, answers: Sequence[ObjectAnswer]) -> Iterable[str]:
        """A row each, below a heading."""
        reports = [answer.report for answer in answers]
        return render.table(reports, color=self.color, width=self.width) if reports else ()

    def closing_lines(self, notes: Sequence[ClaimReport], run_summary: RunSummary) -> Iterator[str]:
        """The counts; the command that goes on from here is noted."""
        if not notes or self._shows_all or self.options.output in {"name", "brief"}:
            return
        yield render.count_line([report.state for report in notes], self.width)
        waiting = sorted((report for report in notes if report.is_waiting), key=_queue_sort_key)
        if waiting:
            ref = waiting[0].subject
            run_summary.note(f'For one claim, with commands: "{self._explain_command(ref)}"')

    def _explain_command(self, ref: ObjectRef) -> str:
        """The command that gives the whole answer about a claim."""
        if self.options.filenames:
            ref = structs.replace(ref, namespace="")
        return object_command("claims", ref, same_source(self.options), kind=False)


def _queue_sort_key(report: ClaimReport) -> tuple[bool, int]:
    """Return who is named first: the first of a queue, before those that stand in none."""
    return report.queue is None, report.queue.position if report.queue is not None else 0


command = Command(
    "claims",
    build_watch_runner(plan),
    text="""
        Show the claims on Capsule's resource pools: which have what they ask for, which wait at which place of the
        queue, and what is short, which kubectl get does not print.

        Of one claim also what would unblock it: the fewest other claims to remove, asking for less, a larger pool or
        another one, each gone through with the controller's own steps, and what then becomes of the others.
        """,
    examples="""
        # The claims of a namespace
        kubectl kres claims -n shop

        # Which claims wait, in all namespaces? For scripts
        kubectl kres claims -A --waiting --exit-code

        # Why does this claim wait, and what would unblock it?
        kubectl kres claims batch -n shop

        # As a tenant who may not list namespaces
        kubectl kres claims -n shop-dev -n shop-prod

        # Wait until this claim is allocated, for a runbook
        kubectl kres claims batch -n shop -w --until allocated --timeout 10m

        # What has to be claimed for this deployment, rolling update included?
        kubectl kres claims --for deploy/web

        # What would become of these pools and claims, without a cluster?
        kubectl kres claims -f pools.yaml --offline

        # On the bundled example, without a cluster
        kubectl kres claims --demo
        """,
    usage="[NAME...]",
    flags=(POOL, WAITING, SIZED, WHOLE, *INPUT, OUTPUT, EXIT_CODE, ALLOW_PARTIAL, *WATCHING, *SERVER),
    formats=("text", "wide", "brief", "json", "yaml", "name"),
    completes="resourcepoolclaims",
)


def sizing_plan(options: Options, words: tuple[str, ...]) -> Query:
    """One workload, of a file if it stands there."""
    flags = (options.pool, options.waiting, options.selector, options.field_selector, options.all_namespaces)
    if words or any(flags):
        raise UsageError("--for looks at one workload; it goes with no claim's name and no flag that chooses claims")
    return Query(partial(SizingPage, options), words, _choose)


def _choose(
    source: ObjectSource, inputs: Input, options: Options, words: Sequence[str], program: str
) -> Iterator[Selection]:
    del words, program
    yield one_named(source, inputs, "--for", options.sized, sizing_needs)


class SizingPage(Page):
    """What has to be claimed, in full."""

    kind = "Sizing"

    def reports(self, batch: AnswerBatch, run_summary: RunSummary) -> Iterator[ObjectAnswer]:
        """The one workload."""
        store = build_prediction(batch.store).store
        for subject, item in run_summary.answer_each(
            batch.selection.subjects, lambda subject: size_claim(store, subject, batch.options)
        ):
            drawn: Callable[[], Iterable[str]] = partial(text_sizing.lines, item, color=self.color, width=self.width)
            if self.options.output == "brief":
                drawn = self.brief(text_sizing.brief(item, self._sizing_command(subject), self._claim_command))
            yield ObjectAnswer(subject, item, drawn)
            negative = self.options.exit_code and not all(pool.fits for pool in item.pools)
            run_summary.add_answer(item.unread, complete=item.complete, negative=negative)

    def _sizing_command(self, subject: Subject) -> str:
        """The command that gives the whole answer."""
        return explain_command(self.options, subject.ref, subject.file, command="claims --for")

    def _claim_command(self, ref: ObjectRef) -> str:
        """The command that says why a claim waits."""
        return object_command("claims", ref, same_source(self.options), kind=False)
