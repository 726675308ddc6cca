"""Every remedy that is printed brings the pods that it promises, on a real control plane with its controllers.

KRES_ADVICE: how many refused situations are tried (25). KRES_SEED: the first of them.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from controlplane import ControlPlane
from e2e.asking import Asking
from e2e.plugin import environment
from e2e.refused_worlds import world
from e2e.remedy_runs import Runs, Trial

pytestmark = pytest.mark.e2e

_SITUATIONS = int(os.environ.get("KRES_ADVICE", "25"))
_FIRST = int(os.environ.get("KRES_ADVICE_FIRST", "1"))
_AT_ONCE = 4


def test_what_a_remedy_promises_comes(controlplane: ControlPlane, kubectl: Path, tmp_path: Path):
    env = environment(controlplane.kubeconfig, kubectl, tmp_path)
    tried: list[Trial] = []
    refused, seed = 0, _FIRST
    with Asking(controlplane) as asking, ThreadPoolExecutor(_AT_ONCE) as pool:
        runs = Runs(controlplane, asking, kubectl, env, tmp_path)
        while refused < _SITUATIONS:
            seeds = range(seed, seed + _AT_ONCE * 2)
            seed += len(seeds)
            for found in pool.map(lambda one: runs.trials(world(one)), seeds):
                refused += bool(found)
                tried += found
                for one in found:
                    if not one.kept:
                        print(_told(one), flush=True)
    kept = sum(one.kept for one in tried)
    print(f"{refused} refused situations, {len(tried)} remedies tried, {kept} brought what they promised")
    broken = [_told(one) for one in tried if not one.kept]
    assert broken == [], "\n".join(broken)


def _told(one: Trial) -> str:
    return f"seed {one.world.seed} {one.world.kind} #{one.number}: {one.text}: {one.fault}"
