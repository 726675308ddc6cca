"""Hypothesis: the same examples in every run, so that no run fails by chance; KRES_RANDOM=1 looks for new ones.

No test reads the settings of whoever runs it.
"""

from __future__ import annotations

import gc
import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "kres",
    deadline=None,
    derandomize="KRES_RANDOM" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("kres")


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for the whole session: the control plane is built with the developer's own settings of Go."""
    monkeypatch.setenv("XDG_CONFIG_HOME", "/nonexistent")


def pytest_collection_finish() -> None:
    """Keep the garbage collector from looking often, and at thousands of tests: that took a fifth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
