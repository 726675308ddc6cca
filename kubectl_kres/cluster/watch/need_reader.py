"""Reads one need for as long as it is wanted: a list, then what changes, and again whatever breaks."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event, Thread
from typing import Any

from msgspec.structs import replace

from kubectl_kres import errors
from kubectl_kres.cluster.connection import Connection
from kubectl_kres.cluster.read import fill_store as parameters
from kubectl_kres.cluster.read.fill_store import is_absent_kind, path_of, read_list_pages, read_named_object
from kubectl_kres.cluster.read.lists import struct_of
from kubectl_kres.cluster.transport import deadline as backoff
from kubectl_kres.cluster.transport.body import Stream
from kubectl_kres.cluster.watch import events
from kubectl_kres.cluster.watch.event_queue import Inbox, ReaderMessage, What
from kubectl_kres.cluster.watch.feed_state import Clock, FeedState, Phase
from kubectl_kres.model.admission_objects import Parameter
from kubectl_kres.model.kinds import Kind
from kubectl_kres.store.sharing import Sharing
from kubectl_kres.store.store import Coverage, LeftOut, ReadRequest, coverage_after_error

#: Seconds that the server is asked to keep a watch open, and after how long a silent one is taken for broken. The
#: server sends a bookmark about every minute.
OPEN, SILENCE = 290, 90.0
#: Seconds until something that was refused, or cannot be watched, is asked for again.
RECHECK, POLL = 60.0, 30.0
#: Seconds that a watch must last to be no failure if it sent nothing.
BRIEF = 5.0
#: After so many refusals in a row a watch is given up for a fresh list.
REFUSALS = 3
#: Codes of a server that will not be watched, and of one that is busy.
_UNWATCHED, _BUSY = {403, 405}, {401, 429, 503}


class Reader:
    """One thread that never keeps the program from ending. ``state`` may be looked at from any thread."""

    def __init__(
        self,
        connection: Connection,
        kind: Kind,
        read: ReadRequest,
        inbox: Inbox,
        *,
        clock: Clock,
        chunk_size: int,
        silence: float = SILENCE,
    ) -> None:
        self.kind, self.read = kind, read
        self.struct = (kind.detail if read.name else None) or struct_of(kind)
        self.state = FeedState("connecting")
        self._connection, self._inbox, self._clock = connection, inbox, clock
        self._chunk_size, self._silence = chunk_size, silence
        self._sharing = Sharing()
        self._stopped, self._woken = Event(), Event()
        #: Whether it waits for a server that did not answer.
        self.lost = False
        self._stream: Stream | None = None
        self._attempts = 0
        self._hasty = self._was_refused = False
        name = f"metadata.name={read.name}" if read.name else ""
        fields = ",".join(filter(None, (read.field_selector, name)))
        self._listed = replace(read, name="", field_selector=fields)

    @property
    def is_refused(self) -> bool:
        """Return whether the server did not let us list when it was asked last."""
        return self._was_refused

    def start(self) -> None:
        """Begin."""
        Thread(target=self._run, name=f"feed {self.kind.plural}", daemon=True).start()

    def stop(self) -> None:
        """End soon; what it still says is not to be heard."""
        self._stopped.set()
        self.hang_up()

    def hang_up(self) -> None:
        """End what is going on: a wait for the next try, or a watch whose line is taken for broken."""
        self.retry_now()
        if self._stream is not None:
            self._stream.close()

    def retry_now(self) -> None:
        """Try again now."""
        self._woken.set()

    def _run(self) -> None:
        try:
            while not self._stopped.is_set():
                try:
                    if self.kind.struct is Parameter:
                        self._poll()
                    else:
                        self._watch(self._list())
                except errors.KresError as error:
                    self._failed_coverage(error)
        except Exception as error:  # noqa: BLE001, whoever drains the feed raises it
            self._post_word("fault", error)

    def _list(self) -> str:
        """Tell all objects. Returns the version from which they can be watched."""
        version, read = "", 0
        skipped: dict[LeftOut, None] = {}
        self._post_word("begin")
        # A list that expires again and again is asked for in one piece.
        size = 0 if self._hasty else self._chunk_size
        for page in read_list_pages(self._connection, self.kind, self._listed, size, self.struct):
            # Of a list that was resumed with newer objects the oldest part counts: watching from there on misses none.
            version = version or page.version
            skipped |= dict.fromkeys(page.skipped)
            for item in page.items:
                self._sharing.share(item)
            if page.items:
                self._post_word("items", page.items)
            read += len(page.items)
            self._set_state("listing", read=read, estimate=read + page.remaining if page.remaining else 0)
            if self._stopped.is_set():
                break
        self._was_refused, self._sharing = False, Sharing()
        self.state = replace(self.state, has_objects=True, answered_at=self._clock.now())
        self._post_word("listed", tuple(skipped))
        return version

    def _poll(self) -> None:
        """Read parameters of policies now and again: they seldom change. Raises as ``parameters.read``."""
        items, coverage = parameters.read(self._connection, self.kind, self.read)
        self._attempts = 0
        if coverage.state != "read":
            self._post_word("cover", coverage)
            phase: Phase = "denied" if coverage.state == "denied" else "absent" if coverage.is_known else "failed"
            self._wait_until_due(phase, errors.ClusterError(coverage.message), RECHECK)
            return
        self._post_word("begin")
        if items:
            self._post_word("items", items)
        self.state = replace(self.state, has_objects=True, answered_at=self._clock.now())
        self._post_word("listed", ())
        self._wait_until_due("polling", errors.ClusterError("parameters of policies are read now and again"), POLL)

    def _watch(self, version: str) -> None:
        """Tell what changes from ``version`` on. Returns when a fresh list is needed."""
        refusals = 0
        while not self._stopped.is_set():
            began, before = self._clock.now(), version
            fault: errors.ClusterError | None = None
            try:
                for batch in self._batches(version):
                    version = batch.version or version
                    if batch.events:
                        self._post_word("events", batch.events)
            except errors.StatusError as refused:
                if refused.code in _UNWATCHED:
                    self._wait_until_due("polling", refused, POLL)
                    return
                refusals += refused.code not in _BUSY
                if isinstance(refused, errors.Expired | errors.NotFound) or refusals >= REFUSALS:
                    self._restart_list(refused)
                    return
                fault = refused
            except errors.ClusterError as broken:
                fault = broken
            if version != before or (fault is None and self._clock.now() - began >= BRIEF):
                refusals = self._attempts = 0
            else:
                self._retry(fault)

    def _batches(self, version: str) -> Iterator[events.Batch]:
        """Yield the batches of one watch, during which the state is ``watching``."""
        query = (
            ("watch", "true"),
            ("allowWatchBookmarks", "true"),
            ("timeoutSeconds", str(OPEN)),
            ("resourceVersion", version),
            ("labelSelector", self._listed.label_selector),
            ("fieldSelector", self._listed.field_selector),
        )
        path = path_of(self.kind, self.read.namespace)
        with self._connection.watch(path, [pair for pair in query if pair[1]], self._silence) as stream:
            self._stream = stream
            self._set_state("watching", answered_at=self._clock.now())
            if self._stopped.is_set():
                return
            for batch in events.batches(stream.lines(), self.kind, self.struct, version):
                self._attempts, self._hasty = 0, False
                self._set_state("watching", answered_at=self._clock.now())
                for event in batch.events:
                    if event.item is not None and event.type != events.DELETED:
                        self._sharing.share(event.item)
                yield batch

    def _restart_list(self, refused: errors.StatusError) -> None:
        """Before a fresh list: at once, unless this one was no better than the last."""
        self._hasty = self._attempts > 0
        if self._attempts:
            self._retry(refused)
        else:
            self._attempts = 1

    def _failed_coverage(self, error: errors.KresError) -> None:
        """A list that could not be read: say so, and wait."""
        if isinstance(error, errors.Forbidden) and self.read.name:
            try:
                self._by_name(error)
            except errors.KresError as other:
                error = other
            else:
                return
        if isinstance(error, errors.Forbidden):
            self._was_refused = True
            self._post_word("cover", coverage_after_error("denied", error))
            self._wait_until_due("denied", error, RECHECK)
        elif isinstance(error, errors.NotFound) and self._is_absent_kind(error):
            self._post_word("cover", Coverage("absent", error.message))
            self._wait_until_due("absent", error, RECHECK)
        else:
            if not self.state.has_objects:
                self._post_word("cover", _failed_coverage(error))
            passing = isinstance(error, errors.Unreachable | errors.TimedOut | errors.StatusError | errors.ConfigError)
            self._retry(error, "retrying" if passing else "failed")

    def _is_absent_kind(self, missing: errors.NotFound) -> bool:
        """Return whether the server has no such kind, as far as it can be asked."""
        try:
            return is_absent_kind(self._connection, self.kind, missing)
        except errors.KresError:
            return False

    def _by_name(self, refused: errors.KresError) -> None:
        """Read an object that may not be listed, but may be got by its name. Raises as ``read.get``."""
        items, _ = read_named_object(self._connection, self.kind, self.read)
        self._post_word("begin")
        self._post_word("items", items)
        self.state = replace(self.state, has_objects=True)
        self._post_word("listed", ())
        self._wait_until_due("polling", refused, POLL)

    def _retry(self, error: errors.KresError | None, phase: Phase = "retrying") -> None:
        """Wait longer each time. ``error`` None: the server ended a watch at once."""
        self._attempts += 1
        asked = error.retry_after if isinstance(error, errors.StatusError) else 0.0
        self.lost = isinstance(error, errors.Unreachable | errors.TimedOut)
        self._wait_until_due(phase, error, backoff.delay(self._attempts, self._clock.random_fraction(), asked), asked)
        self.lost = False

    def _wait_until_due(self, phase: Phase, error: errors.KresError | None, seconds: float, asked: float = 0.0) -> None:
        reason = error.message if error is not None else "the server ended the watch at once"
        next_try = self._clock.now() + seconds
        self._set_state(phase, attempts=self._attempts, reason=reason, next_try=next_try, retry_after=asked)
        self._woken.clear()
        if not self._stopped.is_set():
            self._clock.wait(self._woken, seconds)

    def _set_state(self, phase: Phase, **facts: Any) -> None:
        before = self.state.phase
        kept = {"has_objects": self.state.has_objects, "answered_at": self.state.answered_at}
        self.state = FeedState(phase, **{**kept, **facts})
        if phase != before:
            self._inbox.on_word()

    def _post_word(self, what: What, load: Any = None) -> None:
        self._inbox.put(ReaderMessage(self, what, load), self._stopped)


def _failed_coverage(error: errors.KresError) -> Coverage:
    return (
        coverage_after_error("failed", error)
        if isinstance(error, errors.ClusterError)
        else Coverage("failed", error.message)
    )
