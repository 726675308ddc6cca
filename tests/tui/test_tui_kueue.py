"""What waits in queues of Kueue, on screens: a recorded world."""

from __future__ import annotations

from pathlib import Path

import pytest
from kueue.recorded import snapshot
from tui.driving import demo, drive


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The snapshot of a world in which four wait for two."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / snapshot("s101x026/0")


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("waiting", ("cq/s101x026-cq", "wl/job-alpha-a7d64", "more than there is")),
        ("queued", ("more than there is", "Job/alpha")),
        ("workload job-alpha-a7d64", ("can have: cpu 6", "raise nominalQuota")),
        ("localqueue main", ("2 admitted, 4 waiting",)),
        ("clusterqueue s101x026-cq", ("2 admitted, 4 waiting",)),
    ],
)
def test_screen(file: Path, words: str, parts: tuple[str, ...]):
    shown = " ".join(drive(demo(words, file=file, namespaces=("s101x026-team",)), size=(140, 40)).split())
    assert [part for part in parts if part not in shown] == [], shown
