"""``kubectl kres timeline``: what decided about pods, and when."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial

from kubectl_kres.cli.args.options import (
    ALL_NAMESPACES,
    ALLOW_PARTIAL,
    DEMO,
    OUTPUT,
    SINCE,
    SNAPSHOT,
    WATCH,
    WHOLE_LIST,
    Options,
)
from kubectl_kres.cli.command import Command
from kubectl_kres.cli.run_loop import ObjectAnswer, Page, Query, RunContext, RunSummary, each_pod
from kubectl_kres.cli.source.object_source import Input, ObjectSource, current_time
from kubectl_kres.cli.watch_option import build_watch_runner
from kubectl_kres.cluster.transport.duration import seconds
from kubectl_kres.errors import UsageError, on_one_line
from kubectl_kres.render import timeline as render
from kubectl_kres.reports.timeline import PodNews, timeline, timeline_needs


def plan(options: Options, words: tuple[str, ...]) -> Query:
    """Raises UsageError for words, and for a time that is none."""
    if words:
        raise UsageError(
            f'timeline takes no names, not "{on_one_line(words[0])}"', hint="-n NAMESPACE and -A say of what"
        )
    if options.since and not _length(options.since):
        raise UsageError(f"--since {on_one_line(options.since)}: a time is expected, as 30m or 24h")
    return Query(partial(TimelinePage, options), words)


class TimelinePage(Page):
    """One timeline for each namespace that is asked about, or one of all."""

    kind = "Timeline"

    def run(
        self, request_context: RunContext, source: ObjectSource, inputs: Input, run_summary: RunSummary
    ) -> Iterator[ObjectAnswer]:
        """Pods are read page by page; only what they say of themselves is kept."""
        del request_context, inputs
        run_summary.listed = False
        now = source.store.origin.time or current_time()
        after = _format_start_time(now, _length(self.options.since)) if self.options.since else ""
        for space in source.namespaces or ("",):
            source.fill(timeline_needs(space))
            pod_news = PodNews()
            readable = each_pod(source, space, pod_news.add, run_summary)
            result = timeline(source.store, space, pod_news if readable else None, after)
            whole = self.options.whole
            draw_whole = partial(render.lines, result, now, color=self.color, width=self.width, whole=whole)
            yield ObjectAnswer(None, result, draw_whole)
            run_summary.add_answer(result.unread, complete=result.complete, negative=False)
            if self.options.output in {"text", "wide"}:
                run_summary.note_printed(result.unread)
        run_summary.note_unread((), complete=not source.skipped)


def _length(text: str) -> float:
    """Seconds; 0 for what is no time."""
    try:
        return seconds(text)
    except UsageError:
        return 0.0


def _format_start_time(now: str, length: float) -> str:
    start_time = datetime.fromisoformat(now) - timedelta(seconds=length)
    return start_time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


command = Command(
    "timeline",
    build_watch_runner(plan),
    text="""
        Show what decided about the pods of a namespace, the newest first: who created or last edited quotas,
        LimitRanges, pools and claims and which fields; templates that are new; pods that were refused, killed for
        memory, evicted or not scheduled; claims that got or lost room; TaskRuns that wait or failed. Without --all the
        last ten are listed.

        Of each manager of an object the server keeps the last edit only, and events for an hour by default.
        """,
    examples="""
        # What happened in this namespace?
        kubectl kres timeline -n shop

        # In the last half hour, in all of them
        kubectl kres timeline -A --since 30m

        # Stay, and print it again when something happens
        kubectl kres timeline -n shop -w

        # On the bundled example, without a cluster
        kubectl kres timeline --demo -n checkout
        """,
    flags=(ALL_NAMESPACES, SNAPSHOT, DEMO, SINCE, WHOLE_LIST, OUTPUT, ALLOW_PARTIAL, WATCH),
    formats=("text", "json", "yaml"),
)
