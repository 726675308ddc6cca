"""A cluster that changes: so many events a second, each with a resource version of its own, and the past for a while.

Nothing is kept of an object but the versions at which it changed: its bytes at a version follow from its bytes on disk
and the version. So lists, pages of an older list, and watches from any version that is not too old agree.
"""

from __future__ import annotations

import json
import random
import re
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from store import Store

TICK = 0.02
#: Objects that are not there at first: one in so many.
ABSENT = 50
#: Of the changes of what is there, one in so many is its end.
ENDS = 40
#: Every so many versions a change makes a running pod fail. Quotas count another number of pods each time.
FAILS = 10

_VERSION = re.compile(rb'"resourceVersion":"\d+"')
_UID = re.compile(rb'"uid":"([0-9a-f-]{36})"')


class GoneError(Exception):
    """What happened since this version is no longer known."""


class Change(NamedTuple):
    """What happened to an object at a version. ``born``: the version it was made at, 0 if it always was there."""

    version: int
    kind: str
    i: int
    verb: str
    born: int


class Pace:
    """Changes of some kinds, ``rates`` a second each; ``most`` changes in all; the last ``keep`` are known."""

    def __init__(
        self, stores: Mapping[str, Store], rates: Mapping[str, float], version: int, *, keep: int, most: int, seed: int
    ) -> None:
        self.stores, self.rates = {kind: stores[kind] for kind in rates if len(stores[kind])}, dict(rates)
        self.version, self.keep, self.most = version, keep, most
        self.began = version
        self.oldest = version
        self.log: deque[Change] = deque()
        self.past: dict[str, dict[int, list[Change]]] = {kind: {} for kind in self.stores}
        self.r = random.Random(seed)
        self.changed = threading.Condition()

    def start(self) -> None:
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        due = dict.fromkeys(self.stores, 0.0)
        last = time.monotonic()
        while True:
            time.sleep(TICK)
            now = time.monotonic()
            with self.changed:
                for kind in self.stores:
                    due[kind] += self.rates[kind] * (now - last)
                    self.advance(kind, int(due[kind]))
                    due[kind] -= int(due[kind])
                self.changed.notify_all()
            last = now

    def advance(self, kind: str, count: int) -> None:
        """Let ``count`` changes happen, unless ``most`` is reached."""
        if self.most:
            count = min(count, self.most - (self.version - self.began))
        size = len(self.stores[kind])
        for _ in range(count):
            i = self.r.randrange(size)
            there, born = self.at(kind, i, self.version)
            self.version += 1
            if there is None:
                verb, born = "ADDED", self.version
            else:
                verb = "DELETED" if self.r.randrange(ENDS) == 0 else "MODIFIED"
            self._note(Change(self.version, kind, i, verb, born))

    def _note(self, change: Change) -> None:
        self.log.append(change)
        if len(self.log) > self.keep:
            self.oldest = self.log.popleft().version
        past = self.past[change.kind].setdefault(change.i, [])
        past.append(change)
        while len(past) > 1 and past[1].version <= self.oldest:
            past.pop(0)

    def at(self, kind: str, i: int, version: int) -> tuple[int | None, int]:
        """The version of an object as it was at ``version`` (0: as on disk; None: not there), and when it was made."""
        for change in reversed(self.past[kind].get(i, ())):
            if change.version <= version:
                return (None if change.verb == "DELETED" else change.version), change.born
        return (None if i % ABSENT == ABSENT - 1 else 0), 0

    def there(self, kind: str, i: int, version: int) -> tuple[int, int] | None:
        with self.changed:
            found, born = self.at(kind, i, version)
        return None if found is None else (found, born)

    def since(self, version: int, kind: str, seconds: float) -> tuple[int, list[Change]]:
        """The version now, and what happened to the kind after ``version``; waits if nothing did. Raises GoneError."""
        with self.changed:
            if version >= self.version:
                self.changed.wait(seconds)
            if version < self.oldest:
                raise GoneError
            skip = len(self.log) - (self.version - version)
            return max(version, self.version), [one for one in islice(self.log, max(0, skip), None) if one.kind == kind]

    def listed(self, kind: str, a: int, b: int, version: int) -> Iterator[tuple[int, bytes]]:
        """The objects from a to b-1 that were there at ``version``, with their numbers. Raises GoneError."""
        for i in range(a, b):
            with self.changed:
                if version < self.oldest:
                    raise GoneError
                found = self.there(kind, i, version)
            if found:
                yield i, self.body(kind, i, *found)

    def body(self, kind: str, i: int, version: int, born: int) -> bytes:
        """An object as it was from this version on."""
        text = bytes(self.stores[kind].one(i))
        if not version:
            return text
        text = _VERSION.sub(b'"resourceVersion":"%d"' % version, text, count=1)
        if born:
            text = _UID.sub(lambda found: b'"uid":"%s%012d"' % (found[1][:24], born), text, count=1)
        if kind == "pods" and version % FAILS == 0:
            return text.replace(b'"phase":"Running"', b'"phase":"Failed"', 1)
        if kind == "resourcequotas" and (at := text.rfind(b'"pods":"')) > text.find(b'"used":'):
            end = text.index(b'"', at + 8)
            text = b"%s%d%s" % (text[: at + 8], version % 100, text[end:])
        turn = b'"bench.example.com/turn":"%d"' % version
        if b'"annotations":{' in text:
            return text.replace(b'"annotations":{', b'"annotations":{%s,' % turn, 1)
        return text.replace(b'"metadata":{', b'"metadata":{"annotations":{%s},' % turn, 1)

    def state(self) -> bytes:
        with self.changed:
            happened = {"events": self.version - self.began, "oldest": self.oldest, "rates": self.rates}
            return json.dumps({"resourceVersion": str(self.version), **happened}).encode()

    def set_rate(self, rate: float) -> None:
        """All paced kinds change at this rate from now on; 0: nothing changes."""
        with self.changed:
            self.rates = dict.fromkeys(self.rates, rate)
