"""The app on a real API server, while keys are pressed and objects come, change and go."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from typing import Any

import pytest
from controlplane import ControlPlane
from e2e.plugin import Kres
from textual.pilot import Pilot
from tui.driving import LARGE, strike, text, typed, until

from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.terminal import live
from kubectl_kres.tui.app import Kres as App
from kubectl_kres.tui.commands import start

pytestmark = pytest.mark.e2e

#: Looks at the screen, 20 ms and more apart; all that is waited for comes in a few.
_LOOKS = 3000
FAIR: dict[str, Any] = {"requests": {"cpu": "100m", "memory": "64Mi"}}
EVEN: dict[str, Any] = {**FAIR, "limits": FAIR["requests"]}
Row = tuple[str, str]


def pod(name: str, resources: dict[str, Any]) -> dict[str, Any]:
    return {
        "metadata": {"name": name},
        "spec": {"containers": [{"name": "app", "image": "app", "resources": resources}]},
    }


class Screen:
    """The app under keys."""

    def __init__(self, app: App, pilot: Pilot[None]) -> None:
        self.app, self.pilot = app, pilot

    async def press(self, *keys: str) -> None:
        await strike(self.pilot, keys)

    async def until(self, *parts: str, gone: bool = False) -> None:
        await until(self.pilot, *parts, gone=gone)

    def rows(self) -> list[Row]:
        """Name and class of each row, as the screen saves them."""
        assert self.app.pane is not None
        found = csv.DictReader(io.StringIO(self.app.pane.table_csv() or ""))
        return sorted((row["NAME"], row["QOS"]) for row in found)


def printed(kres: Kres, namespace: str) -> list[Row]:
    result = kres("qos", "-n", namespace, "-o", "json")
    assert result.returncode == 0, result.stderr
    return sorted((one["subject"]["name"], one["liveClass"]) for one in json.loads(result.stdout)["items"])


def test_the_pods_on_screen_are_those_of_the_command(controlplane: ControlPlane, kres: Kres, namespace: str) -> None:
    base = f"/api/v1/namespaces/{namespace}"

    def ask(verb: str, path: str, body: dict[str, Any] | None = None) -> None:
        status, answer = controlplane.request(verb, f"{base}/{path}", body)
        assert status in {200, 201, 202}, answer

    def delete(name: str) -> None:
        ask("DELETE", f"pods/{name}?gracePeriodSeconds=0")

    async def play(screen: Screen) -> None:
        for number in range(6):
            ask("POST", "pods", pod(f"web-{number}", FAIR if number % 2 else {}))
        await screen.until("web-5")
        delete("web-1")
        ask("POST", "pods", pod("job-1", EVEN))
        await screen.until("job-1")
        await screen.until("web-1", gone=True)
        # A filter, a pod and its values, the way back.
        await screen.press("/", *typed("job"), "enter")
        await screen.until("1 of 6 pods")
        await screen.press("enter")
        await screen.until("cpu request")
        limits = {"type": "Container", "default": {"cpu": "1"}, "defaultRequest": {"memory": "32Mi"}}
        ask("POST", "limitranges", {"metadata": {"name": "defaults"}, "spec": {"limits": [limits]}})
        ask("POST", "pods", pod("late-1", {}))
        await screen.press("escape")
        await screen.until("1 of 7 pods")
        await screen.press("escape")
        await screen.until("late-1")
        # Another screen, while a pod goes that is not seen.
        await screen.press(":", *typed("limitranges"), "enter")
        await screen.until("LimitRange/defaults")
        delete("web-3")
        await screen.press(":", *typed("pods"), "enter")
        await screen.until("web-3", gone=True)

    async def run() -> None:
        session = live(Options(kubeconfig=str(controlplane.kubeconfig), namespaces=(namespace,)))
        app = App(session, start(("pods",), session))
        async with app.run_test(size=LARGE) as pilot:
            screen = Screen(app, pilot)
            await play(screen)
            told = await asyncio.to_thread(printed, kres, namespace)
            assert [name for name, _ in told] == ["job-1", "late-1", "web-0", "web-2", "web-4", "web-5"]
            for _ in range(_LOOKS):
                if screen.rows() == told:
                    break
                await pilot.pause(0.02)
            assert screen.rows() == told
            assert all(name in text(app) for name, _ in told)

    asyncio.run(run())
