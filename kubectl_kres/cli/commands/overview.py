"""``kubectl kres overview``: what there is, how it fares, and what is worst with its remedy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from msgspec.structs import replace

from kubectl_kres.cli import run_loop
from kubectl_kres.cli.args.flags import same_source
from kubectl_kres.cli.args.options import (
    ALL_NAMESPACES,
    ALLOW_PARTIAL,
    ASCII,
    DEMO,
    EXIT_CODE,
    OUTPUT,
    SERVER,
    SNAPSHOT,
    WATCH,
    WHOLE_LIST,
    Options,
)
from kubectl_kres.cli.command import Command
from kubectl_kres.cli.output.printer import speaks_unicode
from kubectl_kres.cli.select.workloads import complete
from kubectl_kres.cli.source.object_source import Input, ObjectSource, current_time
from kubectl_kres.cli.watch_option import build_watch_runner
from kubectl_kres.errors import UsageError
from kubectl_kres.model.pod import Pod
from kubectl_kres.render import overview as render
from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.reports.common.shown import WORST
from kubectl_kres.reports.explain.all_states import PodStates
from kubectl_kres.reports.overview import (
    MENDED,
    Overview,
    elsewhere,
    elsewhere_needs,
    overview,
    overview_needs,
    recount_needs,
)
from kubectl_kres.reports.pod.needs import list_read_requests
from kubectl_kres.reports.pod.scheduling_needs import list_node_needs
from kubectl_kres.reports.qos.qos_sums import NamespaceSums, SumCollector
from kubectl_kres.reports.quota.denied import needs_of_systems, subjects_of
from kubectl_kres.store.store import ReadRequest, Store, fill_all


def plan(options: Options, words: tuple[str, ...]) -> run_loop.Query:
    """Raises UsageError for words: there is nothing to name."""
    if words:
        raise UsageError(f'overview takes no names, not "{words[0]}"', hint="-n NAMESPACE and -A say of what")
    return run_loop.Query(partial(OverviewPage, options), words)


def _node_needs(store: Store, states: PodStates) -> tuple[ReadRequest, ...]:
    """Return what the scheduler looks at for pods that wait for a node, as far as that is known by now."""
    return list_node_needs(store, states.pods_without_node())


class OverviewPage(run_loop.Page):
    """One overview for each namespace that is asked about, or one of all."""

    kind = "Overview"

    def run(
        self,
        request_context: run_loop.RunContext,
        source: ObjectSource,
        inputs: Input,
        run_summary: run_loop.RunSummary,
    ) -> Iterator[run_loop.ObjectAnswer]:
        """Pods are read page by page, of which only numbers are kept."""
        del inputs
        options = self.options
        server, assumptions = request_context.server_of(source.version())
        now = source.store.origin.time or current_time()
        evaluation_options = EvaluationOptions(server, (*source.assumptions, *assumptions), now, run_loop.read_yaml)
        run_summary.listed = False
        for space in source.namespaces or ("",):
            source.fill(overview_needs(space))
            source.fill(read for read in needs_of_systems(source.store, space) if source.store.should_read(read))
            states = PodStates(source.store, now)
            sums = self._sum_pods(source, space, SumCollector(server), states, run_summary)
            # Only now: of pods that are read page by page none stays.
            complete(source, subjects_of(source.store, space), list_read_requests, scope=space, listed=True)
            fill_all(source, partial(_node_needs, source.store, states))
            source.fill(recount_needs(source.store, space))
            result = overview(source.store, space, evaluation_options, sums, states, mended=self._shown_fixes())
            if space and not result.problems and not (source.store.origin.kind == "cluster" and options.namespaces):
                # Whoever names no namespace has not chosen to look at this one alone.
                source.fill(elsewhere_needs())
                result = replace(result, others=elsewhere(source.store, space))
            draw_whole: Callable[[], Iterable[str]] = partial(self._lines, now, result)
            if options.output == "brief":
                draw_whole = self.brief(render.brief(result, now, same_source(options)))
            yield run_loop.ObjectAnswer(None, result, draw_whole)
            negative = options.exit_code and any(problem.severity == "bad" for problem in result.problems)
            run_summary.add_answer(result.unread, complete=result.complete, negative=negative)
            if options.output in {"text", "wide"}:
                run_summary.note_printed(result.unread)
        run_summary.note_unread((), complete=not source.skipped)

    def _shown_fixes(self) -> int:
        """Return of how many problems the fixes are shown."""
        options = self.options
        if options.summary:
            return 0
        if options.output == "brief":
            return 1
        return WORST if options.output == "text" and not options.whole else MENDED

    def _sum_pods(
        self,
        source: ObjectSource,
        space: str,
        collector: SumCollector,
        states: PodStates,
        run_summary: run_loop.RunSummary,
    ) -> list[NamespaceSums] | None:
        """Of the pods; None where they may not be read, which a line says."""

        def add(pod: Pod) -> None:
            collector.add(pod)
            states.add(pod)

        if not run_loop.each_pod(source, space, add, run_summary):
            return None
        return [namespace_sums for namespace_sums in collector.sums() if not namespace_sums.total]

    def _lines(self, now: str, overview: Overview) -> Iterator[str]:
        plain = self.options.ascii or not speaks_unicode()
        flags = same_source(self.options)
        whole = self.options.whole
        yield from render.lines(
            overview, now, ascii_only=plain, color=self.color, width=self.width, flags=flags, whole=whole
        )


command = Command(
    "overview",
    build_watch_runner(plan),
    text="""
        Show at a glance what there is and how it is doing: workloads, quotas, pods by QoS class, LimitRanges, and
        pools, claims and runs where they are installed. Then come the five worst problems, each with its cause and
        its fix; --all lists all of them.

        It is the first screen of the terminal interface as text, and what kubectl kres prints without a command where
        it is not on a terminal. With --exit-code it exits with 1 where anything is refused, waits, fails, is full or
        over.
        """,
    examples="""
        # What is wrong in this namespace?
        kubectl kres overview -n shop

        # In all of them
        kubectl kres overview -A

        # For scripts
        kubectl kres overview -A -o json --exit-code

        # On the bundled example, without a cluster
        kubectl kres overview --demo
        """,
    flags=(ALL_NAMESPACES, SNAPSHOT, DEMO, WHOLE_LIST, ASCII, OUTPUT, EXIT_CODE, ALLOW_PARTIAL, WATCH, *SERVER),
    formats=("text", "brief", "json", "yaml"),
)
