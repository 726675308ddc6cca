"""Threads that read send word of what arrives: nobody looks while nothing came, at a burst now and then."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest
from reports.stored import made, store_of
from tui.driving import app_on, drive, settled, text, until
from tui.still import Still, session_on

from kubectl_kres.store.store import READ, ReadRequest
from kubectl_kres.tui.app import Kres

SPEC = {"containers": [{"name": "app", "image": "x"}]}


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """No clock that would look by itself."""
    monkeypatch.setattr("kubectl_kres.tui.following.CLOCK", 600.0)


def pods(feed: Still) -> Kres:
    store = store_of(made("Pod", "a", spec=SPEC))
    store.cover(ReadRequest("Pod"), READ)
    return app_on(session_on(store, feed), "pods")


def counted(app: Kres, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    looks: list[float] = []
    drain = app.session.drain
    monkeypatch.setattr(app.session, "drain", lambda: (looks.append(time.monotonic()), drain())[1])
    return looks


def test_what_a_thread_brings_is_shown_without_a_clock(monkeypatch):
    app = pods(feed := Still())

    async def act(pilot):
        looks = counted(app, monkeypatch)
        await asyncio.sleep(0.2)
        assert not looks, "nothing came"
        pod = next(store_of(made("Pod", "later", spec=SPEC)).all("Pod"))
        thread = threading.Thread(target=feed.coming.append, args=[("put", "Pod", pod)])
        thread.start()
        await until(pilot, "later")
        thread.join()

    drive(app, act=act)


def test_a_burst_is_looked_at_now_and_then(monkeypatch):
    monkeypatch.setattr("kubectl_kres.tui.following.PACE", 0.1)
    app = pods(feed := Still())
    many = [next(store_of(made("Pod", f"pod-{number}", spec=SPEC)).all("Pod")) for number in range(1_000)]

    def bring() -> None:
        for number, pod in enumerate(many):
            feed.coming.append(("put", "Pod", pod))
            if number % 10 == 0:
                time.sleep(0.005)

    async def act(pilot):
        looks, most = counted(app, monkeypatch), 0
        began = time.monotonic()
        thread = threading.Thread(target=bring)
        thread.start()
        while thread.is_alive():
            most = max(most, app.message_queue_size)
            await asyncio.sleep(0.002)
        await settled(pilot)
        assert len(looks) <= (time.monotonic() - began) / 0.1 + 2
        assert most <= 5
        assert "1001 pods" in text(app) or "1,001 pods" in text(app)

    drive(app, act=act)
