"""Hypothesis: the same examples in every run, so that no run fails by chance; KRES_RANDOM=1 looks for new ones."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "kres",
    deadline=None,
    derandomize="KRES_RANDOM" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("kres")
