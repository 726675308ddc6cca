"""``kubectl kres pools``: what Capsule's resource pools share out, among whom, who waits, and what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from msgspec import structs

from kubectl_kres.capsule.commands.select_pools import pools
from kubectl_kres.capsule.replay.world import build_pool_world
from kubectl_kres.capsule.reports.common.needs import further_failed_reads, is_whole, unseen_of_pool
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex
from kubectl_kres.capsule.reports.pool.pool_report import PoolReport, pool_tree, report_unreadable_pool, tree_needs
from kubectl_kres.capsule.reports.pool.pools import pool_report
from kubectl_kres.capsule.reports.simulate import build_prediction
from kubectl_kres.capsule.text import pools as render
from kubectl_kres.cli.args.flags import same_source
from kubectl_kres.cli.args.options import (
    ALLOW_PARTIAL,
    ASCII,
    BY_VALUE,
    EXIT_CODE,
    INPUT,
    OUTPUT,
    SERVER,
    WATCHING,
    WHOLE,
    Options,
)
from kubectl_kres.cli.command import Command
from kubectl_kres.cli.output.printer import speaks_unicode
from kubectl_kres.cli.run_loop import AnswerBatch, ObjectAnswer, Page, Query, RunSummary
from kubectl_kres.cli.watch_option import build_watch_runner
from kubectl_kres.errors import UsageError
from kubectl_kres.render.text.line import sanitize_text
from kubectl_kres.render.verdict.brief import object_command
from kubectl_kres.reports.common.explanation import EvaluationOptions, find_unread
from kubectl_kres.reports.quota.usage_tree import UsageNode
from kubectl_kres.store.store import Store


def plan(options: Options, words: tuple[str, ...]) -> Query:
    """All pools, or some in full."""
    if options.by and options.output == "brief":
        raise UsageError("-o brief says no more than five lines; it goes with no --by")
    return Query(partial(PoolsPage, options, shows_all=bool(words)), words, pools)


class PoolsPage(Page):
    """Pools, a block each. ``shows_all``: with namespaces, holders and queue."""

    kind = "Pools"

    def __init__(self, options: Options, *, shows_all: bool) -> None:
        super().__init__(options)
        self._shows_all = shows_all or options.output == "wide"
        self._ascii_only = options.ascii or not speaks_unicode()

    def reports(self, batch: AnswerBatch, run_summary: RunSummary) -> Iterator[ObjectAnswer]:
        """The pools of a turn, which is one for all of them."""
        prediction = build_prediction(batch.store)
        context = PoolIndex(prediction.store)
        run_summary.note_assumption(prediction.assumptions)
        if self.options.output == "metrics":
            names = {subject.ref.name for subject in batch.selection.subjects}
            yield ObjectAnswer(None, None, partial(_metrics, prediction.store, names))
        for subject in batch.selection.subjects:
            if subject.ref in prediction.refused:
                run_summary.add_error(UsageError(f"{subject.ref}: {prediction.refused[subject.ref]}"))
                continue
            report = self._report(context, subject.ref.name, batch.options)
            report = structs.replace(report, predicted=subject.ref in prediction.created)
            draw_whole: Callable[[], Iterable[str]] = partial(self._lines, report, now=batch.options.now)
            if self.options.output == "brief":
                more = object_command("pools", report.subject, same_source(self.options), kind=False)
                draw_whole = self.brief(render.pool_brief(report, more))
            yield ObjectAnswer(subject, report, draw_whole, gap=1)
            bad = report.exhausted or bool(report.queue) or report.ready is False
            run_summary.add_answer(report.unread, complete=report.complete, negative=bad and self.options.exit_code)
        run_summary.note_unread(gaps := further_failed_reads(context), complete=not gaps)

    def _report(self, context: PoolIndex, name: str, options: EvaluationOptions) -> PoolReport:
        """Of a pool that may not be read what the user's own namespaces tell of it."""
        pool: Any = context.store.get("ResourcePool", name)
        if pool is None:
            return report_unreadable_pool(context, name)
        failed_reads = unseen_of_pool(context, pool)
        tree: tuple[UsageNode, ...] = ()
        if self.options.by:
            tree = pool_tree(context, pool, options)
            failed_reads = tuple(
                dict.fromkeys(
                    (*failed_reads, *find_unread(context.store, tree_needs(context.store, name, options.server)))
                )
            )
        return structs.replace(
            pool_report(context, pool), tree=tree, unread=failed_reads, complete=is_whole(failed_reads)
        )

    def _lines(self, report: PoolReport, *, now: str) -> Iterator[str]:
        if self.options.output == "metrics":
            return
        shows_all, plain = self._shows_all, self._ascii_only
        if shows_all and not (self.options.whole or self.options.by or self.options.output == "wide"):
            from kubectl_kres.capsule.text.page import pool_lines

            yield from pool_lines(report, now=now, ascii_only=plain, color=self.color, width=self.width)
            return
        yield from render.lines(report, whole=shows_all, now=now, ascii_only=plain, color=self.color, width=self.width)


def _metrics(store: Store, names: set[str]) -> Iterator[str]:
    """Capsule's series in Prometheus' text format, each name with its type before it."""
    from kubectl_kres.capsule.replay.metrics import lines

    pools = [pool for pool in store.all("ResourcePool") if pool.metadata.name in names]
    claims = [claim for claim in store.all("ResourcePoolClaim") if claim.spec.pool in names]
    last = ""
    for line in lines(build_pool_world((), pools, claims)):
        name = line.partition("{")[0].partition(" ")[0]
        if name != last:
            yield f"# TYPE {name} gauge"
            last = name
        yield sanitize_text(line)


command = Command(
    "pools",
    build_watch_runner(plan),
    text="""
        Show Capsule's resource pools: what they share out, what claims hold and pods use of it, what is left, and
        what is wrong with them.

        Of one pool also its namespaces and which selector chose each, who holds what, and the queue.
        """,
    examples="""
        # All pools
        kubectl kres pools

        # Who holds what of this pool, and who waits?
        kubectl kres pools green

        # Who uses what this pool shares out, down to values and what set them?
        kubectl kres pools green --by value

        # For scripts: is any pool exhausted?
        kubectl kres pools --exit-code -o json

        # What would become of these pools and claims, without a cluster?
        kubectl kres pools -f pools.yaml --offline

        # On the bundled example, without a cluster
        kubectl kres pools --demo
        """,
    usage="[NAME...]",
    flags=(WHOLE, BY_VALUE, ASCII, *INPUT, OUTPUT, EXIT_CODE, ALLOW_PARTIAL, *WATCHING, *SERVER),
    formats=("text", "wide", "brief", "json", "yaml", "name", "metrics"),
    completes="resourcepools",
)
