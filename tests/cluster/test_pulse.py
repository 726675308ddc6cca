"""What a feed does about a server that is silent, gone, or back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster import forwarder
from cluster.following import following
from cluster.living import Cluster, Fast, Fault, living
from cluster.loopback import Server

from kubectl_kres.cluster.connection import Connection
from kubectl_kres.cluster.kubeconfig.current_context import Target
from kubectl_kres.cluster.transport import deadline as backoff
from kubectl_kres.cluster.watch import feed as pulse
from kubectl_kres.cluster.watch.feed import Feed, Pulse
from kubectl_kres.cluster.watch.feed_state import Clock, FeedState
from kubectl_kres.errors import TimedOut, Unreachable
from kubectl_kres.store.store import Origin, ReadRequest, Store

PODS = ReadRequest("Pod")


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with living() as one:
        yield one


class Line:
    """A reader as the pulse sees it."""

    def __init__(self, phase: str, heard: float = 0.0, *, lost: bool = False) -> None:
        self.state = FeedState(phase, answered_at=heard)
        self.lost = lost
        self.done: list[str] = []

    def retry_now(self) -> None:
        self.done.append("wake")

    def hang_up(self) -> None:
        self.done.append("hang up")


class Answering:
    """A connection that answers, or does not. ``asked``: how often it was."""

    def __init__(self, *, answers: bool) -> None:
        self.answers, self.asked = answers, 0

    def ping(self, seconds: float) -> None:
        self.asked += 1
        assert seconds == pulse.PATIENCE
        if not self.answers:
            raise Unreachable("gone")


class Steps(Clock):
    """A clock on which nothing passes but ``LOOK``, so many times."""

    def __init__(self, looks: int) -> None:
        self.time, self.looks = 100.0, looks

    def now(self) -> float:
        return self.time

    def wait(self, over: threading.Event, seconds: float) -> bool:
        self.time += seconds
        self.looks -= 1
        return over.is_set() or self.looks < 0


def beat(connection: Answering, *lines: Line, looks: int) -> Pulse:
    found = Pulse(connection, lambda: lines, Steps(looks))  # type: ignore[arg-type]
    found._run()
    return found


def test_a_silent_watch_makes_one_question_every_ten_seconds() -> None:
    line, server = Line("watching", 100.0), Answering(answers=True)
    found = beat(server, line, looks=30)
    assert server.asked == 6
    assert found.answered_at >= 150.0
    assert line.done == []


def test_a_watch_that_hears_something_is_not_asked_about() -> None:
    server = Answering(answers=False)
    quiet, busy = Line("watching", 0.0), Line("watching", 1000.0)
    beat(server, quiet, busy, looks=30)
    assert server.asked == 0


def test_watches_of_a_line_that_is_dead_are_hung_up() -> None:
    line, listing, server = Line("watching", 100.0), Line("listing"), Answering(answers=False)
    beat(server, line, listing, looks=5)
    assert line.done == ["hang up"]
    assert listing.done == []


def test_who_waits_for_a_lost_server_is_woken_when_it_answers() -> None:
    lost, busy = Line("retrying", lost=True), Line("retrying")
    beat(Answering(answers=False), lost, busy, looks=3)
    assert lost.done == []
    beat(Answering(answers=True), lost, busy, looks=1)
    assert (lost.done, busy.done) == (["wake"], [])


def test_nothing_is_asked_where_nothing_is_watched() -> None:
    server = Answering(answers=True)
    beat(server, Line("denied"), Line("absent"), Line("polling"), looks=20)
    assert server.asked == 0


def test_a_ping_takes_any_answer(server: Server, connection: Connection) -> None:
    server.on("/version", b"<html>", 503, content_type="text/html", headers={"Retry-After": "20"})
    connection.ping(5.0)
    assert server.asked() == ["/version"]


def test_a_ping_waits_no_longer_than_it_is_told(server: Server, connection: Connection) -> None:
    server.on("/version", {}, stall=0)
    began = time.monotonic()
    with pytest.raises(TimedOut):
        connection.ping(0.2)
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(("asked", "waits"), [(0.0, 0.8), (5.0, 5.0), (59.0, 59.0), (100_000.0, 60.0), (1e9, 60.0)])
def test_a_server_that_asks_for_a_day_is_asked_after_a_minute(asked: float, waits: float) -> None:
    assert backoff.delay(1, 0.0, asked) == waits


def test_a_watch_that_is_refused_for_a_day_says_so_and_goes_on(server: Server, connection: Connection) -> None:
    """One 429 with an absurd Retry-After."""
    content = {"kind": "PodList", "metadata": {"resourceVersion": "5"}, "items": []}
    server.on("/api/v1/pods", content)
    server.refuse("/api/v1/pods", 429, "slow down", "TooManyRequests", headers={"Retry-After": "100000"})
    feed, store = Feed(connection, clock=Fast()), Store(Origin("cluster"))
    feed.request_reads([PODS])
    try:
        end = time.monotonic() + 30
        while len(server.requests) < 4 and time.monotonic() < end:
            feed.drain(store)
            time.sleep(0.002)
        state = feed.states()[PODS]
        assert len(server.requests) >= 4
        assert (state.phase, state.reason, state.retry_after, state.has_objects) == (
            "retrying",
            "slow down",
            100_000.0,
            True,
        )
    finally:
        feed.close()


def test_a_dead_line_is_found_long_before_the_watch_would_end(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server says nothing any more on any line, then it is back."""
    monkeypatch.setattr(pulse, "PATIENCE", 0.2)
    cluster.put("pods", "a", "web")
    cluster.faults.append(Fault("mute", 0, "watch"))
    with following(cluster, PODS, silence=60.0) as follower:
        follower.until(lambda: follower.phases() == {"watching"})
        connection = follower.connection
        alive, dead = connection.ping, threading.Event()

        def ping(seconds: float) -> None:
            if not dead.is_set():
                raise TimedOut("no answer")
            alive(seconds)

        monkeypatch.setattr(connection, "ping", ping)
        cluster.put("pods", "a", "late")
        follower.until(lambda: len(list(follower.store.all("Pod"))) == 2, 20)
        dead.set()
        follower.until(lambda: follower.phases() == {"watching"}, 20)


def test_a_line_that_stands_still_is_given_up_and_taken_up_again(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No clock and no answer is made up but for how soon: a process on the way is stopped, and goes on."""
    monkeypatch.setattr(pulse, "PATIENCE", 0.5)
    port = cluster.url.rpartition(":")[2]
    program = Path(forwarder.__file__)
    with subprocess.Popen([sys.executable, program, port], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            target = Target(f"http://127.0.0.1:{process.stdout.readline().strip()}", "default")
            with following(target, PODS, silence=60.0) as follower:
                follower.until(lambda: follower.phases() == {"watching"})
                process.send_signal(signal.SIGSTOP)
                os.waitpid(process.pid, os.WUNTRACED)
                cluster.put("pods", "a", "late")
                follower.until(lambda: follower.phases() != {"watching"})
                assert list(follower.store.all("Pod")) == []
                process.send_signal(signal.SIGCONT)
                follower.until(lambda: len(list(follower.store.all("Pod"))) == 1)
                follower.until(lambda: follower.phases() == {"watching"})
        finally:
            process.kill()


def test_what_is_as_fresh_as_the_last_answer(cluster: Cluster) -> None:
    with following(cluster, PODS, silence=60.0) as follower:
        follower.until(lambda: follower.phases() == {"watching"})
        first = follower.state(PODS).answered_at
        follower.until(lambda: follower.state(PODS).answered_at >= first + 10, 20)
        assert cluster.asked.count(("watch", "/api/v1/pods")) == 1
