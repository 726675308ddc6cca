"""No animation, no NO_COLOR: both change what is drawn. The feed is looked at more often: tests wait for that."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setattr("kubectl_kres.tui.app.TICK", 0.02)
