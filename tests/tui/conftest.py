"""No animation, no NO_COLOR: both change what is drawn. And no waiting for a clock: the app looks often."""

from __future__ import annotations

import asyncio

import pytest

_PLACES = ("textual.app.wait_for_idle", "textual.pilot.wait_for_idle")


async def _yielded(_min_sleep: float = 0, _max_sleep: float = 0) -> None:
    """Instead of Textual's guess by the processor's time, which a loaded machine fools: ``settled`` asks the app."""
    await asyncio.sleep(0)


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setattr("kubectl_kres.tui.following.PACE", 0.01)
    monkeypatch.setattr("kubectl_kres.tui.following.CLOCK", 0.1)
    for place in _PLACES:
        monkeypatch.setattr(place, _yielded)
