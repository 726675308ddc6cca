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
from kubectl_kres.cli.source.object_source import Input, ObjectSource
from kubectl_kres.cli.variants.overviews import overview_options, read_overview
from kubectl_kres.cli.watch_option import build_watch_runner
from kubectl_kres.errors import UsageError
from kubectl_kres.render import overview as render
from kubectl_kres.reports.common.shown import WORST
from kubectl_kres.reports.overview import (
    MENDED,
    Overview,
    elsewhere,
    elsewhere_needs,
)


def plan(options: Options, words: tuple[str, ...]) -> run_loop.Query:
    """Raises UsageError for words: there is nothing to name."""
    if words:
        raise UsageError(f'overview takes no names, not "{words[0]}"', hint="-n NAMESPACE and -A say of what")
    return run_loop.Query(partial(OverviewPage, options), words)


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
        evaluation_options = overview_options(request_context, source)
        now = evaluation_options.now
        run_summary.listed = False
        for space in source.namespaces or ("",):
            result = read_overview(source, space, evaluation_options, run_summary, mended=self._shown_fixes())
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
