"""The app on an API server whose objects change: what comes, goes, is forbidden, or stops to come."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cli.apiserver import kubeconfig
from cluster.living import Cluster, living
from tui.driving import LARGE, text, until

from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.terminal import live
from kubectl_kres.tui.app import Kres
from kubectl_kres.tui.commands import start

pytestmark = pytest.mark.one_in(2)

WEB = {"containers": [{"name": "app", "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}}]}


@pytest.fixture
def cluster():
    with living() as one:
        one.put("namespaces", "", "a")
        for name in ("web", "db", "cache"):
            one.put("pods", "a", name, spec=WEB, status={"phase": "Running", "qosClass": "Burstable"})
        hard = {"pods": "4"}
        one.put("resourcequotas", "a", "team", spec={"hard": hard}, status={"hard": hard, "used": {"pods": "3"}})
        yield one


def watch(cluster: Cluster, tmp_path: Path, words: str, act: Callable[..., Any], **options: Any) -> Kres:
    """Runs the app against the server while ``act`` goes on; ``act`` gets the pilot and a way to wait for a text."""
    session = live(Options(kubeconfig=kubeconfig(tmp_path, cluster.url), all_namespaces=not options, **options))
    app = Kres(session, start(tuple(words.split()), session))

    async def run() -> None:
        async with app.run_test(size=LARGE) as pilot:
            await act(pilot, partial(until, pilot))

    asyncio.run(run())
    return app


def test_what_changes_is_seen_and_the_cursor_stays_on_its_object(cluster, tmp_path):
    async def act(pilot, until):
        await until("live", "3 pods")
        await pilot.press("down")
        await until(" >  a          db")
        cluster.put("pods", "a", "aaa", spec=WEB, status={"qosClass": "BestEffort"})
        await until("4 pods", "aaa", " >  a          db")
        cluster.put("pods", "a", "aaa", spec=WEB, status={"qosClass": "Guaranteed"})
        await until("Guaranteed")
        cluster.delete("pods", "a", "db")
        await until("db was deleted", " >  a          web")

    watch(cluster, tmp_path, "pods", act)


def test_a_pause_holds_the_screen_and_loses_nothing(cluster, tmp_path):
    async def act(pilot, until):
        await until("live", "3 pods")
        await pilot.press("p")
        await until("paused: what arrives is kept")
        cluster.put("pods", "a", "aaa", spec=WEB)
        for _ in range(20):
            await pilot.pause(0.05)
            assert "aaa" not in text(pilot.app)
        await pilot.press("p")
        await until("aaa")

    watch(cluster, tmp_path, "pods", act)


def test_sums_follow_and_a_quota_is_recounted_by_its_users(cluster, tmp_path):
    async def act(pilot, until):
        await until("3 Burstable")
        cluster.put("pods", "a", "aaa", spec=WEB, status={"qosClass": "Burstable"})
        await until("4 Burstable")
        await pilot.press(":", *"quota", "space", *"team", "enter")
        await until("Pod/aaa")
        cluster.delete("pods", "a", "aaa")
        await until("Pod/aaa", gone=True)

    watch(cluster, tmp_path, "", act)


def test_what_is_forbidden_says_so_and_names_the_rule(cluster, tmp_path):
    cluster.denied.add(("list", "resourcequotas", ""))

    async def act(pilot, until):
        why = ("forbidden: list resourcequotas", "resourcequotas is forbidden", 'resources: ["resourcequotas"]')
        await until(*why, "incomplete")
        await pilot.press(":", *"overview", "enter")
        await until("not visible")

    watch(cluster, tmp_path, "quotas", act)


def test_a_pod_that_goes_stays_readable(cluster, tmp_path):
    async def act(_pilot, until):
        await until("live")
        await until("cpu limit")
        cluster.delete("pods", "a", "web")
        await until("deleted:", "cpu limit")

    watch(cluster, tmp_path, "pod web", act, namespaces=("a",))


def test_it_asks_only_for_what_the_screen_needs(cluster, tmp_path):
    async def act(_pilot, until):
        await until("1 quota ")

    watch(cluster, tmp_path, "quotas", act)
    assert {path.rpartition("/")[2] for _, path in cluster.asked} <= {
        *("version", "namespaces", "resourcequotas"),
        # What the way back needs: the first screen.
        *("pods", "limitranges"),
    }
    assert {verb for verb, _ in cluster.asked} <= {"list", "watch", "get"}


def test_what_is_not_found_says_where_it_was_looked_for(cluster, tmp_path):
    """Without a namespace it is looked for in the one of the context."""

    async def act(_pilot, until):
        await until('pods "nobody" not found in namespace shop; elsewhere: :pod nobody NAMESPACE')

    watch(cluster, tmp_path, "pod nobody", act)

    async def act_in_one(_pilot, until):
        assert "; elsewhere" not in await until('pods "nobody" not found in namespace a')

    watch(cluster, tmp_path, "pod nobody", act_in_one, namespaces=("a",))
