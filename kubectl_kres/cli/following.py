"""The loop of ``-w``: answers again when something changed, and prints what is another answer."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, NamedTuple

from msgspec import structs

from kubectl_kres.cli.anew import anew
from kubectl_kres.cli.clock import moment
from kubectl_kres.cli.exit import NEGATIVE, UNREAD, say, tell
from kubectl_kres.cli.followed import Followed
from kubectl_kres.cli.live import open_live
from kubectl_kres.cli.options import Options
from kubectl_kres.cli.output import DOCUMENTS
from kubectl_kres.cli.repeats import Told
from kubectl_kres.cli.source import KEPT, Kept
from kubectl_kres.cluster.duration import seconds
from kubectl_kres.errors import ClusterError, UsageError
from kubectl_kres.model.meta import ObjectRef

#: Seconds between two looks for changes, and at least between two answers: changes seldom come alone.
TICK, EVERY = 0.05, 0.5
#: Objects that are named as the cause of a new answer.
_NAMED = 3


class Said(NamedTuple):
    """What a run wrote, and the code that it ended with."""

    out: str
    err: str
    code: int


class Captured(io.StringIO):
    """Text that is kept, for writers who ask what it will be shown on. ``drawn_on``: it may be a terminal to them."""

    def __init__(self, shown_on: Any, *, drawn_on: bool) -> None:
        super().__init__()
        self._shown_on, self._drawn_on = shown_on, drawn_on

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return getattr(self._shown_on, "encoding", None) or "utf-8"

    def isatty(self) -> bool:
        return self._drawn_on and self._shown_on is not None and bool(self._shown_on.isatty())


def follow(options: Options, once: Callable[[], int]) -> int:
    """Run ``once`` whenever its answer may have changed. Returns when ``--until`` holds, or after ``--timeout``, with 1
    if there was something to wait for.

    An object that is not there, or may not be read, at the beginning ends it with the code of that. Raises what
    ``once`` raises the first time; UsageError for an ``--until`` that the command does not answer.
    """
    limit = seconds(options.timeout)
    source, given = open_live(options, Followed)
    kept = Kept(source, given)
    token = KEPT.set(kept)
    try:
        return _Loop(options, source, kept, once).run(limit)
    finally:
        KEPT.reset(token)
        source.close()


class _Loop:
    def __init__(self, options: Options, source: Followed, kept: Kept, once: Callable[[], int]) -> None:
        self._options, self._source, self._kept, self._once = options, source, kept, once
        #: What changed since the last answer; true: it is gone.
        self._causes: dict[ObjectRef, bool] = {}
        self._said = Said("", "", 0)
        self._trouble: tuple[str, ...] = ()
        self._warned: set[str] = set()
        self._told = Told()

    def run(self, limit: float) -> int:
        """Returns the exit code."""
        end = time.monotonic() + limit if limit else float("inf")
        self._said = self._answer(first=True)
        self._told.keep(self._source.store)
        self._reached()
        _write(self._said.out, self._said.err)
        if self._said.code == UNREAD and not self._kept.count:
            return UNREAD
        while not self._reached():
            if not self._changed(end):
                if not self._options.until:
                    return 0
                say(f"error: timed out after {limit:g}s{self._waited()}")
                return NEGATIVE
            self._again()
        return 0

    def _reached(self) -> bool:
        word = self._options.until
        if word and self._kept.count and word not in self._kept.met:
            told = " or ".join(f"--until {one}" for one in sorted(self._kept.met))
            raise UsageError(
                f"--until {word} is nothing that this answer tells",
                hint=f"it tells {told}" if told else "it is never done: leave --until out",
            )
        return bool(word and self._kept.count and self._kept.met[word])

    def _waited(self) -> str:
        until = {"admitted": "it is admitted", "fits": "it fits", "allocated": "it is allocated"}
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
        """Answer with the time of the last answer, and how often events had come by then, so that only another answer
        is another text; then with the real.
        """
        with self._told.without_repeats(self._source.store):
            said = self._answer()
        if (said.out, said.err) == (self._said.out, self._said.err):
            self._causes = {}
            return
        now = moment()
        self._source.store.origin = structs.replace(self._source.store.origin, time=now)
        before, self._said = self._said, self._answer()
        self._told.keep(self._source.store)
        out = self._new(before.out, self._said.out) if said.out != before.out else ""
        err = self._said.err if said.err != before.err else ""
        _write(self._headed(out, now), err)
        self._causes = {}

    def _new(self, before: str, now: str) -> str:
        """Of lists what the reader does not know yet; everything else is printed whole, and may be looked at alone."""
        options = self._options
        whole = options.steps or options.container or options.question or options.cgroup
        if not self._kept.listed or whole or options.output in {*DOCUMENTS, "name", "describe"}:
            return now
        return anew(before, now) or "\n"

    def _headed(self, out: str, now: str) -> str:
        """A block of text says when and after what it came; documents and names stand for themselves."""
        if not out or self._options.output in {"json", "name"}:
            return out
        if self._options.output in DOCUMENTS:
            return f"---\n{out}"
        from kubectl_kres.render.escape import plain  # noqa: PLC0415

        # An event is seldom the cause, and seldom missing among what changed.
        refs = sorted(self._causes, key=lambda ref: ref.kind == "Event")
        names = [f"{plain(str(ref))}{' (gone)' * self._causes[ref]}" for ref in refs]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        cause = f" after a change of {', '.join(names[:_NAMED])}{more}" if names else ""
        return f"\n{now}{cause}\n{out}"

    def _answer(self, *, first: bool = False) -> Said:
        # How far a read has come is no part of an answer, so that standard error is no terminal to it.
        out, err = Captured(sys.stdout, drawn_on=True), Captured(sys.stderr, drawn_on=False)
        code = UNREAD
        with redirect_stdout(out), redirect_stderr(err):
            try:
                code = self._once()
            except ClusterError as error:
                if first:
                    raise
                tell(error)
        for warning in self._source.warnings:
            if warning not in self._warned:
                self._warned.add(warning)
                say(f"Warning: {warning}")
        return Said(out.getvalue(), err.getvalue(), code)

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


def _write(out: str, err: str) -> None:
    for stream, text in ((sys.stdout, out), (sys.stderr, err)):
        if text and stream is not None:
            stream.write(text)
            stream.flush()
