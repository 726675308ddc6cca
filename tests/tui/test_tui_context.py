"""Another context of the kubeconfig: the same screen, another cluster."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from cluster.living import living
from tui.driving import LARGE, shop, strike, typed, until

from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.terminal import live
from kubectl_kres.tui.app import Kres
from kubectl_kres.tui.commands import completions, parse_command, start

pytestmark = pytest.mark.one_in(2)


def kubeconfig(folder: Path, **urls: str) -> str:
    path = folder / "kubeconfig"
    config = {
        "clusters": [{"name": name, "cluster": {"server": url}} for name, url in urls.items()],
        "contexts": [{"name": name, "context": {"cluster": name, "namespace": f"in-{name}"}} for name in urls],
        "current-context": next(iter(urls)),
    }
    path.write_text(json.dumps(config))
    return str(path)


def session_of(path: str) -> Any:
    return live(Options(kubeconfig=path))


@pytest.mark.parametrize("paused", [False, True])
def test_the_same_screen_on_another_cluster(tmp_path, paused):
    with living() as one, living() as other:
        one.put("pods", "in-east", "alpha")
        other.put("pods", "in-west", "gamma")
        session = session_of(kubeconfig(tmp_path, east=one.url, west=other.url))
        app = Kres(session, start(("pods",), session))

        async def run() -> None:
            async with app.run_test(size=LARGE) as pilot:
                await until(pilot, "alpha")
                await pilot.press(*(["p"] if paused else []), ":", *typed("ctx w"), "tab", "enter")
                shown = await until(pilot, "gamma", "context west  ns in-west", "overview > pods")
                assert "alpha" not in shown
                assert app.session is not session
                assert not session.feed.states()

        asyncio.run(run())


def test_while_it_connects_escape_offers_another(tmp_path):
    with living() as other:
        other.put("pods", "in-west", "gamma")
        # Nobody listens on this port: it is reserved.
        session = session_of(kubeconfig(tmp_path, east="http://127.0.0.1:1", west=other.url))
        app = Kres(session, start((), session))

        async def run() -> None:
            async with app.run_test(size=LARGE) as pilot:
                await until(pilot, "no answer")
                await strike(pilot, ("escape", "w", "tab", "enter"))
                await until(pilot, "context west", "live")

        asyncio.run(run())


def test_what_is_no_context_says_so(tmp_path):
    session = session_of(kubeconfig(tmp_path, east="http://127.0.0.1:1", west="http://127.0.0.1:1"))
    assert list(completions("ctx ", session)) == ["ctx east", "ctx west"]
    assert parse_command("ctx wset", session).fault == 'no context "wset", near: west'
    assert parse_command("ctx", session).fault == "contexts: east, west"
    session.feed.close()
    assert "ctx is for live ones" in parse_command("ctx a", shop()).fault
