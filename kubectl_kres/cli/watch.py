"""The loop of ``-w`` over a source that stays as the cluster is: it prints reports that are other ones than before."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from msgspec import structs

from kubectl_kres.cli.args.arguments import fields_match, labels_match
from kubectl_kres.cli.args.flags import access_flags
from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.output.documents import Items
from kubectl_kres.cli.output.exit_codes import lines, print_stderr
from kubectl_kres.cli.output.printer import DOCUMENTS
from kubectl_kres.cli.run_loop import (
    ObjectAnswer,
    Page,
    Query,
    RunContext,
    RunSummary,
    draw_answers,
    frame_of,
    notes_of,
    prepare_run,
    reports_of,
)
from kubectl_kres.cli.source.live import LiveSource, open_live
from kubectl_kres.cli.source.object_source import Input, current_time
from kubectl_kres.cluster.connection import Connection
from kubectl_kres.cluster.kubeconfig.current_context import Target
from kubectl_kres.cluster.transport.deadline import LONGEST_ASKED
from kubectl_kres.cluster.transport.duration import seconds
from kubectl_kres.cluster.watch.feed import Feed
from kubectl_kres.cluster.watch.feed_state import FeedState
from kubectl_kres.errors import ClusterError, Exit, UsageError
from kubectl_kres.model.kinds import is_view, named_kind
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.record import comparable_value
from kubectl_kres.render.text.line import sanitize_text, truncate_text
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.pod.manifest_source import missing_error
from kubectl_kres.store.store import Changes, LeftOut, ReadRequest

#: Seconds: a server that asks to wait longer is reported at once.
FAR = 10.0
#: States that a user should know of, each with the failures in a row from which on it is no mere hiccup.
_TROUBLE = {"retrying": 2, "failed": 1, "polling": 0}


class WatchedSource(LiveSource):
    """What an answer asked for once is read at once, and watched from then on."""

    def __init__(self, options: Options, target: Target, connection: Connection, inputs: Input) -> None:
        super().__init__(options, target, connection, inputs)
        self._feed = Feed(connection, kinds=self._kinds, chunk_size=options.chunk_size)
        self._requests: dict[ReadRequest, None] = {}
        #: By list what it lacks now.
        self._left_out: dict[ReadRequest, tuple[LeftOut, ...]] = {}
        self._watched = 0
        self._trouble: dict[ReadRequest, tuple[FeedState, str]] = {}

    def changes(self) -> Changes:
        """Return what changed since it was asked last, of all that answers asked for so far."""
        if len(self._requests) > self._watched:
            self._watched = len(self._requests)
            self._feed.request_reads(self._requests)
        changes = self._feed.drain(self.store)
        if changes:
            self._inputs.put_policies(self.store)
        return changes

    def stale_reads(self) -> tuple[str, ...]:
        """Return what is not up to date, and why, a line each; it is until it is watched again."""
        for read, state in self._feed.states().items():
            if state.attempts >= _TROUBLE.get(state.phase, 1 << 30) or (
                state.phase in _TROUBLE and state.retry_after >= FAR
            ):
                self._trouble[read] = self._line_about(read, state)
            elif state.current:
                self._trouble.pop(read, None)
        return tuple(dict.fromkeys(text for _, text in self._trouble.values()))

    def _line_about(self, read: ReadRequest, state: FeedState) -> tuple[FeedState, str]:
        """The line about a need, the same until something else is wrong with it, or nothing."""
        same = FeedState(state.phase, reason=state.reason, retry_after=state.retry_after)
        before = self._trouble.get(read)
        if before is not None and before[0] == same:
            return before
        since = f" since {self._time_of_day(state.answered_at)}" if state.answered_at else ""
        return same, f"{self._kinds[read.kind].qualified_name} {_format_feed_state(state, since)}: {state.reason}"

    def _time_of_day(self, answered_at: float) -> str:
        """Return a moment of the feed's clock as a time of day."""
        return time.strftime("%H:%M:%S", time.localtime(time.time() - (self._feed.clock.now() - answered_at)))

    def close(self) -> None:
        """Stop watching."""
        self._feed.close()

    def fill(self, reads: Iterable[ReadRequest]) -> None:
        read_requests = tuple(reads)
        self._requests |= dict.fromkeys(read_requests)
        super().fill(read_requests)

    def fill_in_order(self, reads: Iterable[ReadRequest]) -> None:
        """All at once, since it stays in the store."""
        self.fill(ReadRequest(read.kind, required=read.required) for read in reads)

    def namespaces_of(self, reads: Sequence[ReadRequest]) -> Iterator[str]:
        """Yield all at once, for the same reason."""
        self.fill(reads)
        yield ""

    def pages(self, read_request: ReadRequest) -> Iterator[list[Any]]:
        """Yield the whole list at once, since it stays in the store."""
        self.fill([read_request])
        covered = self.store.covered(read_request)
        if covered.state in {"denied", "absent"}:
            raise missing_error(
                self.store,
                Subject(ObjectRef(read_request.kind, "", read_request.namespace), self._kinds[read_request.kind]),
            )
        if not covered.has_all_objects:
            raise covered.error()
        self._left_out[read_request] = covered.left_out
        self.skipped[:] = (each for left_out in self._left_out.values() for each in left_out)
        labels, fields = (
            labels_match(read_request.label_selector),
            fields_match(read_request.field_selector, read_request.kind),
        )
        yield [
            item
            for item in self.store.all(read_request.kind, read_request.namespace or None)
            if labels(item.metadata.labels or {}) and fields(item)
        ]


def _format_feed_state(state: FeedState, since: str) -> str:
    """Return how objects that are not up to date are read. ``since``: the last moment at which they were, if it is
    known.
    """
    if state.phase == "polling":
        return "cannot be watched and are read again every half minute"
    if state.retry_after < FAR:
        return f"may be out of date{since}; trying again"
    wait = min(state.retry_after, LONGEST_ASKED)
    asked = f"the server asks to wait {state.retry_after:.0f} seconds"
    return f"may be out of date{since}; {asked}, the next try is in {wait:.0f}"


#: Seconds between two looks for changes, and at least between two answers: changes seldom come alone.
TICK, EVERY = 0.05, 0.5
#: Objects that are named as the cause of a new answer.
_NAMED = 3


class Pass(NamedTuple):
    """The answers of one pass over the objects. ``reports``: by object, without what only says when or how often."""

    page: Page
    run_summary: RunSummary
    answers: tuple[ObjectAnswer, ...] = ()
    reports: dict[Hashable, Any] = {}  # noqa: RUF012, never changed
    closing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    code: int = Exit.UNREAD


def follow(options: Options, query: Query) -> int:
    """Answer whenever the answer may have changed. Returns when ``--until`` holds, or after ``--timeout``, with 1 if
    there was something to wait for.

    An object that is not there, or may not be read, at the beginning ends it with the code of that. Raises what the
    first answer raises; UsageError for an ``--until`` that the command does not answer.
    """
    limit = seconds(options.timeout)
    context = prepare_run(options, query)
    source, inputs = open_live(options, WatchedSource)
    try:
        return _Loop(options, source, inputs, context).run(limit)
    finally:
        source.close()


class _Loop:
    def __init__(self, options: Options, source: WatchedSource, inputs: Input, context: RunContext) -> None:
        self._options, self._source, self._inputs, self._frame = options, source, inputs, context
        #: What changed since the last answer; true: it is gone.
        self._causes: dict[ObjectRef, bool] = {}
        self._last_pass: Pass
        self._trouble: tuple[str, ...] = ()
        self._warned: set[str] = set()

    def run(self, limit: float) -> int:
        """Returns the exit code."""
        end = time.monotonic() + limit if limit else float("inf")
        self._last_pass = self._answer(first=True)
        self._is_until_met()
        _write(self._text(self._last_pass, self._last_pass.answers), self._notes(self._last_pass))
        if self._last_pass.code == Exit.UNREAD and not self._last_pass.run_summary.count:
            return Exit.UNREAD
        while not self._is_until_met():
            if not self._wait_for_change(end):
                if not self._options.until:
                    return 0
                print_stderr(f"error: timed out after {limit:g}s{self._format_until()}")
                return Exit.NEGATIVE
            self._print_changes()
        return 0

    def _is_until_met(self) -> bool:
        word = self._options.until
        run_summary = self._last_pass.run_summary
        if word and run_summary.count and word not in run_summary.met:
            texts = " or ".join(f"--until {known}" for known in sorted(run_summary.met))
            raise UsageError(
                f"--until {word} does not apply to this answer",
                hint=f"it knows {texts}" if texts else "it is never done: leave --until out",
            )
        return bool(word and run_summary.count and run_summary.met[word])

    def _format_until(self) -> str:
        until = {
            "admitted": "it is admitted",
            "exist": "its pods exist",
            "ready": "its pods are ready",
            "fits": "it fits",
            "allocated": "it is allocated",
        }
        return f" of waiting until {until[self._options.until]}"

    def _wait_for_change(self, end: float) -> bool:
        """Wait until something changed, and for what changes with it; False: the time is over."""
        quiet: float | None = None
        while quiet is None or time.monotonic() < quiet:
            if time.monotonic() >= end:
                return False
            changes = self._source.changes()
            self._causes |= dict.fromkeys(changes.added | changes.changed, False) | dict.fromkeys(changes.removed, True)
            if changes and quiet is None:
                quiet = time.monotonic() + EVERY
            self._print_trouble()
            time.sleep(TICK)
        return True

    def _print_changes(self) -> None:
        """Answer, and print what is another report than in the last answer."""
        now = current_time()
        self._source.store.origin = structs.replace(self._source.store.origin, time=now)
        before, self._last_pass = self._last_pass, self._answer()
        if not self._is_same_pass(before, self._last_pass):
            notes = self._notes(self._last_pass) if self._last_pass.notes != before.notes else ""
            _write(self._add_heading(self._render_changes(before, self._last_pass), now), notes)
        self._causes = {}

    def _is_same_pass(self, before: Pass, now: Pass) -> bool:
        same = (before.reports, before.closing, before.notes) == (now.reports, now.closing, now.notes)
        return same and before.run_summary.complete == now.run_summary.complete

    def _render_changes(self, before: Pass, now: Pass) -> str:
        """Of lists the reports that the reader does not know yet; everything else is printed whole, and may be looked
        at alone.
        """
        options = self._options
        whole = options.steps or options.container or options.question or options.cgroup
        if not now.run_summary.listed or whole or options.output in {*DOCUMENTS, "name", "describe"}:
            changed = (before.reports, before.closing) != (now.reports, now.closing)
            return self._text(now, now.answers) if changed or options.output in DOCUMENTS else ""
        fresh = [answer for answer in now.answers if before.reports.get(_key(answer)) != now.reports[_key(answer)]]
        closing = now.closing if now.closing != before.closing else ()
        if not fresh and not closing and before.reports.keys() == now.reports.keys():
            return ""
        return self._text(now._replace(closing=closing), fresh).strip("\n") + "\n"

    def _text(self, value: Pass, answers: Iterable[ObjectAnswer]) -> str:
        """Return what standard output gets of these answers."""
        out = io.StringIO()
        if self._options.output in DOCUMENTS:
            if not value.run_summary.no_answers:
                with Items(self._options.output) as items:
                    for report in reports_of(answers):
                        items.add(report)
                    origin, asked = self._source.store.origin, self._options.kube_version
                    items.write(value.page.kind, origin, frame_of(value.run_summary), kube_version=asked, file=out)
            return out.getvalue()
        drawn = [line for lines in draw_answers(value.page, answers) for line in lines]
        return "".join(f"{line}\n" for line in (*drawn, *value.closing))

    def _notes(self, value: Pass) -> str:
        return "".join(f"{sanitize_text(truncate_text(note))}\n" for note in value.notes)

    def _add_heading(self, out: str, now: str) -> str:
        """A block of text says when and after what it came; documents and names stand for themselves."""
        if not out or self._options.output in {"json", "name"}:
            return out
        if self._options.output in DOCUMENTS:
            return f"---\n{out}"
        # An event is seldom the cause, and seldom missing among what changed; so are pods on nodes of others.
        named = [ref for ref in self._causes if ref.name]
        refs = sorted([ref for ref in named if not is_view(ref.kind)] or named, key=lambda ref: ref.kind == "Event")
        names = [sanitize_text(f"{named_kind(ref.kind)}/{ref.name}") + " (gone)" * self._causes[ref] for ref in refs]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        cause = f" after a change of {', '.join(names[:_NAMED])}{more}" if names else ""
        return f"\n{now}{cause}\n{out}"

    def _answer(self, *, first: bool = False) -> Pass:
        """Return one pass over the objects. Raises ClusterError if it is the first; later ones note it."""
        notes: list[str] = []
        run_summary, page = RunSummary(self._options, notes.append), self._frame.query.page()
        run_summary.look_at(self._source)
        try:
            answers = tuple(page.run(self._frame, self._source, self._inputs, run_summary))
            closing = (
                ()
                if self._options.output in DOCUMENTS
                else tuple(page.closing_lines([*notes_of(answers)], run_summary))
            )
            code = run_summary.code(self._source)
        except ClusterError as error:
            if first:
                raise
            notes += lines(error, access_flags(self._options))
            done = Pass(page, run_summary, notes=tuple(notes))
        else:
            by_name = self._options.output == "name"
            reports = {_key(answer): None if by_name else comparable_value(answer.report) for answer in answers}
            done = Pass(page, run_summary, answers, reports, closing, tuple(notes), code)
        for warning in self._source.warnings:
            if warning not in self._warned:
                self._warned.add(warning)
                print_stderr(f"Warning: {warning}")
        return done

    def _print_trouble(self) -> None:
        trouble = self._source.stale_reads()
        if trouble == self._trouble:
            return
        for line in trouble:
            if line not in self._trouble:
                print_stderr(line)
        if not trouble:
            print_stderr("up to date again")
        self._trouble = trouble


def _key(answer: ObjectAnswer) -> Hashable:
    """Return what holds the answer's place between two passes: its object, or for sums their namespace."""
    subject = answer.subject
    return (subject.ref, subject.file) if subject is not None else getattr(answer.report, "namespace", "")


def _write(out: str, err: str) -> None:
    for stream, text in ((sys.stdout, out), (sys.stderr, err)):
        if text and stream is not None:
            stream.write(text)
            stream.flush()
