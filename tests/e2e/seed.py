"""The seed of this run's generated objects, and where the counts wait for the summary."""

from __future__ import annotations

import os
import random

import pytest

#: KRES_SEED repeats a run.
SEED = int(os.environ.get("KRES_SEED") or random.SystemRandom().randrange(10**6))

COUNTS = pytest.StashKey[list[str]]()
