"""A watch as the fake API server answers it: events as they happen, bookmarks, and the ways in which it can end."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from itertools import islice

from kinds import KINDS
from listing import App, Asked, failure, stamp
from pace import Change, GoneError
from store import Store

#: The longest that a watch waits before it looks at the clock.
WAIT = 0.1
#: Events sent in one go where there is no wait.
BATCH = 40


class Watch:
    """One request's watch of a kind: ``batches`` of events, each a line of JSON, to be sent at once."""

    def __init__(self, app: App, store: Store, asked: Asked) -> None:
        self.app, self.store, self.asked = app, store, asked
        self.kind, self.stamp = store.kind, stamp(store.kind)
        self.a, self.b = store.bounds(asked.ns)
        self.bookmarks = asked.query.get("allowWatchBookmarks") in ("true", "1")

    def batches(self, until: float) -> Iterator[list[bytes]]:
        """Events until the clock says so; empty batches in between. A version that is too old ends it with an ERROR."""
        version = self.asked.query.get("resourceVersion") or "0"
        begin = self.asked.query.get("sendInitialEvents") == "true"
        try:
            if begin or version == "0":
                at = self.app.pace.version
                yield from self.initial(at)
                yield [self.bookmark(at, end=True)] if begin else []
            else:
                at = int(version)
            yield from self.burst()
            if self.bookmarks and self.app.o.watch_events:
                yield [self.bookmark(at)]
            yield from self.follow(at, until)
        except GoneError:
            status = failure(f"too old resource version: {version} ({self.app.pace.oldest})", "Expired", 410)
            yield [line(b"ERROR", json.dumps(status).encode())]

    def follow(self, at: int, until: float) -> Iterator[list[bytes]]:
        told, every = time.monotonic(), self.app.o.bookmark_every
        while (now := time.monotonic()) < until:
            at, changes = self.app.pace.since(at, self.kind, min(WAIT, until - now))
            events = [event for one in changes if self.a <= one.i < self.b for event in self.event(one)]
            if self.bookmarks and now - told >= every:
                told = now
                events.append(self.bookmark(at))
            yield events

    def initial(self, version: int) -> Iterator[list[bytes]]:
        if self.kind in self.app.pace.stores:
            texts: Iterator[bytes] = (text for _, text in self.app.pace.listed(self.kind, self.a, self.b, version))
        else:
            texts = (bytes(self.store.one(i)) for i in range(self.a, self.b))
        return together(line(b"ADDED", self.stamp + text[1:]) for text in texts if self.asked.takes(text))

    def burst(self) -> Iterator[list[bytes]]:
        """As many events as the server was started with, as fast as they are taken, which change nothing."""
        size, one = self.b - self.a, self.store.one
        turns = range(self.app.o.watch_events if size else 0)
        return together(line(b"MODIFIED", self.stamp + bytes(one(self.a + n % size)[1:])) for n in turns)

    def event(self, change: Change) -> Iterator[bytes]:
        """What this watch hears of a change: with a selector, objects come and go as they match."""
        pace, (_, kind, i, verb, born) = self.app.pace, change
        text = pace.body(kind, i, change.version, born)
        if not self.asked.selects:
            yield line(verb.encode(), self.stamp + text[1:])
            return
        before = pace.there(kind, i, change.version - 1) if verb != "ADDED" else None
        was = before is not None and self.asked.takes(pace.body(kind, i, *before))
        now = verb != "DELETED" and self.asked.takes(text)
        if was or now:
            seen = b"ADDED" if not was else b"MODIFIED" if now else b"DELETED"
            yield line(seen, self.stamp + text[1:])

    def bookmark(self, version: int, *, end: bool = False) -> bytes:
        meta: dict = {"resourceVersion": str(version), "creationTimestamp": None}
        if end:
            meta["annotations"] = {"k8s.io/initial-events-end": "true"}
        kind = KINDS[self.kind]
        thing = {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": meta}
        return line(b"BOOKMARK", json.dumps(thing, separators=(",", ":")).encode())


def together(events: Iterator[bytes]) -> Iterator[list[bytes]]:
    while batch := list(islice(events, BATCH)):
        yield batch


def line(verb: bytes, text: bytes) -> bytes:
    return b'{"type":"%s","object":%s}\n' % (verb, text)
