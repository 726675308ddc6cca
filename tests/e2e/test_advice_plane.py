"""Every remedy that is printed brings the pods that it promises, on a real control plane with its controllers.

KRES_ADVICE: how many refused situations are tried (25). KRES_ADVICE_FIRST: the first seed. KRES_CONTESTED: how many
are tried in which other workloads of the namespace lack pods, too (6).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from controlplane import ControlPlane
from e2e.asking import Asking
from e2e.plugin import environment
from e2e.refused_worlds import World, contested, world
from e2e.remedy_runs import Runs, Trial

pytestmark = pytest.mark.e2e

_SITUATIONS = int(os.environ.get("KRES_ADVICE", "25"))
_FIRST = int(os.environ.get("KRES_ADVICE_FIRST", "1"))
_CONTESTED = int(os.environ.get("KRES_CONTESTED", "6"))
_AT_ONCE = 4


def test_what_a_remedy_promises_comes(controlplane: ControlPlane, kubectl: Path, tmp_path: Path):
    refused, tried = _tried(controlplane, kubectl, tmp_path, world, _SITUATIONS)
    kept = sum(one.kept for one in tried)
    print(f"{refused} refused situations, {len(tried)} remedies tried, {kept} brought what they promised")
    broken = [_told(one) for one in tried if not one.kept]
    assert broken == [], "\n".join(broken)


def test_what_a_remedy_promises_comes_where_other_workloads_lack_pods(
    controlplane: ControlPlane, kubectl: Path, tmp_path: Path
):
    refused, tried = _tried(controlplane, kubectl, tmp_path, contested, _CONTESTED)
    kept, shared = sum(one.kept for one in tried), sum(one.shared for one in tried)
    print(f"{refused} contested situations, {len(tried)} remedies tried ({shared} make room for others), {kept} kept")
    broken = [_told(one) for one in tried if not one.kept]
    assert broken == [], "\n".join(broken)


def _tried(
    plane: ControlPlane, kubectl: Path, folder: Path, made: Callable[[int], World], count: int
) -> tuple[int, list[Trial]]:
    """So many refused situations, and all their remedies."""
    env = environment(plane.kubeconfig, kubectl, folder)
    tried: list[Trial] = []
    refused, seed = 0, _FIRST
    with Asking(plane) as asking, ThreadPoolExecutor(_AT_ONCE) as pool:
        runs = Runs(plane, asking, kubectl, env, folder)
        while refused < count:
            seeds = range(seed, seed + _AT_ONCE * 2)
            seed += len(seeds)
            for found in pool.map(lambda one: runs.trials(made(one)), seeds):
                refused += bool(found)
                tried += found
                for one in found:
                    if not one.kept:
                        print(_told(one), flush=True)
    return refused, tried


def _told(one: Trial) -> str:
    return f"seed {one.world.seed} {one.world.kind} #{one.number}: {one.text}: {one.fault}"
