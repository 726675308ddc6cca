"""The loop of ``-w``: answers again when something changed, and prints the reports that are other ones."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

from msgspec import structs

from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.args.repeat_flags import access_flags
from kubectl_kres.cli.output.documents import Items
from kubectl_kres.cli.output.exit_codes import lines, say
from kubectl_kres.cli.output.printer import DOCUMENTS, named
from kubectl_kres.cli.run.run_loop import Answered, Frame, Page, Query, framed
from kubectl_kres.cli.run.run_result import Tally
from kubectl_kres.cli.source.live import open_live
from kubectl_kres.cli.source.object_source import Input, moment
from kubectl_kres.cli.watch.watched_source import Followed
from kubectl_kres.cluster.transport.duration import seconds
from kubectl_kres.errors import ClusterError, Exit, UsageError
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.render.text.line import capped, plain
from kubectl_kres.reports.common.record import steady

#: Seconds between two looks for changes, and at least between two answers: changes seldom come alone.
TICK, EVERY = 0.05, 0.5
#: Objects that are named as the cause of a new answer.
_NAMED = 3


class Pass(NamedTuple):
    """The answers of one pass over the objects. ``reports``: by object, without what only says when or how often."""

    page: Page
    tally: Tally
    answers: tuple[Answered, ...] = ()
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
    frame = framed(options, query)
    source, given = open_live(options, Followed)
    try:
        return _Loop(options, source, given, frame).run(limit)
    finally:
        source.close()


class _Loop:
    def __init__(self, options: Options, source: Followed, given: Input, frame: Frame) -> None:
        self._options, self._source, self._given, self._frame = options, source, given, frame
        #: What changed since the last answer; true: it is gone.
        self._causes: dict[ObjectRef, bool] = {}
        self._last: Pass
        self._trouble: tuple[str, ...] = ()
        self._warned: set[str] = set()

    def run(self, limit: float) -> int:
        """Returns the exit code."""
        end = time.monotonic() + limit if limit else float("inf")
        self._last = self._answer(first=True)
        self._reached()
        _write(self._text(self._last, self._last.answers), self._notes(self._last))
        if self._last.code == Exit.UNREAD and not self._last.tally.count:
            return Exit.UNREAD
        while not self._reached():
            if not self._changed(end):
                if not self._options.until:
                    return 0
                say(f"error: timed out after {limit:g}s{self._waited()}")
                return Exit.NEGATIVE
            self._again()
        return 0

    def _reached(self) -> bool:
        word = self._options.until
        tally = self._last.tally
        if word and tally.count and word not in tally.met:
            told = " or ".join(f"--until {known}" for known in sorted(tally.met))
            raise UsageError(
                f"--until {word} does not apply to this answer",
                hint=f"it knows {told}" if told else "it is never done: leave --until out",
            )
        return bool(word and tally.count and tally.met[word])

    def _waited(self) -> str:
        until = {
            "admitted": "it is admitted",
            "exist": "its pods exist",
            "ready": "its pods are ready",
            "fits": "it fits",
            "allocated": "it is allocated",
        }
        return f" of waiting until {until[self._options.until]}"

    def _changed(self, end: float) -> bool:
        """Wait until something changed, and for what changes with it; False: the time is over."""
        quiet: float | None = None
        while quiet is None or time.monotonic() < quiet:
            if time.monotonic() >= end:
                return False
            changes = self._source.changes()
            self._causes |= dict.fromkeys(changes.added | changes.changed, False) | dict.fromkeys(changes.gone, True)
            if changes and quiet is None:
                quiet = time.monotonic() + EVERY
            self._tell_trouble()
            time.sleep(TICK)
        return True

    def _again(self) -> None:
        """Answer, and print what is another report than in the last answer."""
        now = moment()
        self._source.store.origin = structs.replace(self._source.store.origin, time=now)
        before, self._last = self._last, self._answer()
        if not self._same(before, self._last):
            notes = self._notes(self._last) if self._last.notes != before.notes else ""
            _write(self._headed(self._news(before, self._last), now), notes)
        self._causes = {}

    def _same(self, before: Pass, now: Pass) -> bool:
        same = (before.reports, before.closing, before.notes) == (now.reports, now.closing, now.notes)
        return same and before.tally.complete == now.tally.complete

    def _news(self, before: Pass, now: Pass) -> str:
        """Of lists the reports that the reader does not know yet; everything else is printed whole, and may be looked
        at alone.
        """
        options = self._options
        whole = options.steps or options.container or options.question or options.cgroup
        if not now.tally.listed or whole or options.output in {*DOCUMENTS, "name", "describe"}:
            changed = (before.reports, before.closing) != (now.reports, now.closing)
            return self._text(now, now.answers) if changed or options.output in DOCUMENTS else ""
        fresh = [
            answered for answered in now.answers if before.reports.get(_key(answered)) != now.reports[_key(answered)]
        ]
        closing = now.closing if now.closing != before.closing else ()
        if not fresh and not closing and before.reports.keys() == now.reports.keys():
            return ""
        return self._text(now._replace(closing=closing), fresh).strip("\n") + "\n"

    def _text(self, value: Pass, answers: Iterable[Answered]) -> str:
        """What standard output gets of these answers."""
        out = io.StringIO()
        if self._options.output in DOCUMENTS:
            if not value.tally.barren:
                with Items(self._options.output) as items:
                    for answered in answers:
                        items.add(answered.report)
                    origin, asked = self._source.store.origin, self._options.kube_version
                    complete = value.tally.complete
                    items.write(value.page.kind, origin, complete=complete, kube_version=asked, file=out)
            return out.getvalue()
        if self._options.output == "name":
            drawn = [named(answered.subject) for answered in answers if answered.subject is not None]
        elif value.page.tabled:
            drawn = [*value.page.table(tuple(answers))]
        else:
            drawn = [line for answered in answers for line in answered.lines()]
        return "".join(f"{line}\n" for line in (*drawn, *value.closing))

    def _notes(self, value: Pass) -> str:
        return "".join(f"{plain(capped(note))}\n" for note in value.notes)

    def _headed(self, out: str, now: str) -> str:
        """A block of text says when and after what it came; documents and names stand for themselves."""
        if not out or self._options.output in {"json", "name"}:
            return out
        if self._options.output in DOCUMENTS:
            return f"---\n{out}"
        # An event is seldom the cause, and seldom missing among what changed.
        refs = sorted(self._causes, key=lambda ref: ref.kind == "Event")
        names = [f"{plain(str(ref))}{' (gone)' * self._causes[ref]}" for ref in refs]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        cause = f" after a change of {', '.join(names[:_NAMED])}{more}" if names else ""
        return f"\n{now}{cause}\n{out}"

    def _answer(self, *, first: bool = False) -> Pass:
        """One pass over the objects. Raises ClusterError if it is the first; later ones note it."""
        notes: list[str] = []
        tally, page = Tally(self._options, notes.append), self._frame.query.page()
        try:
            answers = tuple(page.run(self._frame, self._source, self._given, tally))
            closing = () if self._options.output in DOCUMENTS else tuple(page.closing(tally))
            code = tally.code(self._source)
        except ClusterError as error:
            if first:
                raise
            notes += lines(error, access_flags(self._options))
            done = Pass(page, tally, notes=tuple(notes))
        else:
            by_name = self._options.output == "name"
            reports = {_key(answered): None if by_name else steady(answered.report) for answered in answers}
            done = Pass(page, tally, answers, reports, closing, tuple(notes), code)
        for warning in self._source.warnings:
            if warning not in self._warned:
                self._warned.add(warning)
                say(f"Warning: {warning}")
        return done

    def _tell_trouble(self) -> None:
        trouble = self._source.trouble()
        if trouble == self._trouble:
            return
        for line in trouble:
            if line not in self._trouble:
                say(line)
        if not trouble:
            say("up to date again")
        self._trouble = trouble


def _key(answered: Answered) -> Hashable:
    """What holds the answer's place between two passes: its object, or for sums their namespace."""
    subject = answered.subject
    return (subject.ref, subject.file) if subject is not None else getattr(answered.report, "namespace", "")


def _write(out: str, err: str) -> None:
    for stream, text in ((sys.stdout, out), (sys.stderr, err)):
        if text and stream is not None:
            stream.write(text)
            stream.flush()
