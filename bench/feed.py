#!/usr/bin/env python3
"""Measure the live feed: watched events for a second of CPU, and memory under a steady stream of them.

    python bench/feed.py                        200,000 events as fast as they come; then 20 s of 1,000 a second
    python bench/feed.py --seconds 1800         half an hour of them

All happens in this process: decoding on the feed's thread, the store on this one.  In the end the store must hold what
a fresh list says; else there are no figures and the run ends with 1.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import replay
from measure import WrongError
from served import cluster, served

from kubectl_kres.cluster.connection import Connection, connect
from kubectl_kres.cluster.kubeconfig.current_context import Target
from kubectl_kres.cluster.read import fill_store
from kubectl_kres.cluster.watch.feed import Feed
from kubectl_kres.store.store import Origin, ReadRequest, Store

PODS = ReadRequest("Pod")
#: The pace of a screen that shows the store.
PAUSE = 0.1
WARM_SECONDS = 3.0
PATIENCE = 120.0


class Watched(NamedTuple):
    """Events and seconds; mebibytes at the beginning and in the end."""

    events: int
    wall: float
    cpu: float
    before: float
    after: float


class Run:
    """A feed of all pods of a server, drained as a screen does it."""

    def __init__(self, server: str, connection: Connection, feed: Feed) -> None:
        self.server, self.connection, self.feed = server, connection, feed
        self.store = Store(Origin("cluster"))

    def drain(self) -> bool:
        """Whether anything came."""
        any_ = False
        while changes := self.feed.drain(self.store):
            any_ = any_ or bool(changes)
        return any_

    def until(self, holds: Callable[[], bool]) -> None:
        """Drain until it holds, which is asked for where nothing came."""
        deadline = time.monotonic() + PATIENCE
        while self.drain() or not holds():
            if time.monotonic() > deadline:
                raise WrongError(f"the feed does not come to an end: {self.feed.states()}")
            time.sleep(PAUSE)

    def through(self, seconds: float) -> None:
        """Drain for so long."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.drain()
            time.sleep(PAUSE)

    def events(self) -> int:
        """How many events there were."""
        return int(json.loads(urllib.request.urlopen(f"{self.server}/bench/state").read())["events"])

    def pace(self, rate: int) -> None:
        urllib.request.urlopen(f"{self.server}/bench/pace?rate={rate}").read()

    def is_fresh(self) -> bool:
        """Whether the store holds what a list says now. To be asked when nothing changes any more."""
        fresh = Store(Origin("cluster"))
        fill_store.fill(self.connection, fresh, [PODS])
        return list(fresh.all("Pod")) == list(self.store.all("Pod"))


@contextmanager
def following(server: str) -> Iterator[Run]:
    """A feed whose first list has come."""
    with connect(Target(server, "default"), environ={}) as connection:
        feed = Feed(connection)
        feed.request_reads([PODS])
        try:
            run = Run(server, connection, feed)
            run.until(lambda: feed.states()[PODS].phase == "watching")
            run.drain()
            yield run
        finally:
            feed.close()


def at_once(pods: int, events: int) -> Watched:
    """So many events, as fast as they can be read."""
    with served(cluster(pods)) as environment:
        listed = json.loads(urllib.request.urlopen(f"{environment['BENCH_SERVER']}/api/v1/pods").read())
    with replay.serving(listed["items"], events) as server, following(server) as run:
        before, wall, cpu = resident(), time.monotonic(), time.process_time()
        urllib.request.urlopen(f"{server}/go").read()
        run.until(lambda: newest(run.store) == replay.FIRST + events)
        found = Watched(events, time.monotonic() - wall, time.process_time() - cpu, before, resident())
        run.until(run.is_fresh)
        return found


def newest(store: Store) -> int:
    return max(int(pod.metadata.resource_version) for pod in store.all("Pod"))


def steadily(pods: int, rate: int, seconds: float) -> Watched:
    """So many events a second. Memory is looked at when the first seconds have passed, and in the end."""
    with served(cluster(pods), "--pace", "pods=0") as environment, following(environment["BENCH_SERVER"]) as run:
        run.pace(rate)
        run.through(WARM_SECONDS)
        first, before, wall, cpu = run.events(), resident(), time.monotonic(), time.process_time()
        run.through(seconds)
        found = Watched(run.events() - first, time.monotonic() - wall, time.process_time() - cpu, before, resident())
        run.pace(0)
        run.until(run.is_fresh)
        return found


def resident() -> float:
    """Mebibytes of memory of this process now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pods", type=int, default=1000)
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=20)
    options = parser.parse_args()
    try:
        fast = at_once(options.pods, options.events)
        slow = steadily(options.pods, options.rate, options.seconds)
    except WrongError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print("| watched | events | wall s | CPU s | events a second of CPU | MiB before | MiB after |")
    print("|---|---|---|---|---|---|---|")
    for name, found in (("as fast as they come", fast), (f"{options.rate} a second", slow)):
        figures = (f"{found.wall:.1f}", f"{found.cpu:.2f}", f"{found.events / found.cpu:,.0f}")
        print(f"| {name} | {found.events:,} | {' | '.join(figures)} | {found.before:.0f} | {found.after:.0f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
