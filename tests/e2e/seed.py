"""The seed of this run's generated objects, and where the counts wait for the summary."""

from __future__ import annotations

import os
import random

import pytest

_LOOKED_AT = 20261121


def _seed() -> int:
    """The same in every run, so that no run fails by chance; KRES_RANDOM=1 looks for new cases, KRES_SEED repeats."""
    if "KRES_RANDOM" in os.environ:
        return random.SystemRandom().randrange(10**6)
    return int(os.environ.get("KRES_SEED") or _LOOKED_AT)


SEED = _seed()

COUNTS = pytest.StashKey[list[str]]()
