"""Manifests as charts have them, under policies of three kinds: what is stored and what is refused is predicted."""

from __future__ import annotations

import os
import random
import secrets
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from controlplane import ControlPlane
from e2e import manifests
from e2e.asking import Asking
from e2e.differential import Results, Run
from e2e.generate import Setting
from e2e.seed import SEED

from kubectl_kres.admission.base.server import Server

pytestmark = pytest.mark.e2e

#: Objects under each kind of policies; a run that looks for new ones (KRES_RANDOM) may ask for more.
COUNT = int(os.environ.get("KRES_CASES") or 150)


def _limits(name: str, *limits: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": name}, "spec": {"limits": limits}}


def _quota(name: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name}, "spec": spec}


DEFAULTS = {"type": "Container", "default": {"cpu": "500m", "memory": "256Mi"}, "defaultRequest": {"cpu": "100m"}}
BOUNDS = {"type": "Container", "max": {"cpu": "2", "memory": "1Gi"}, "min": {"cpu": "10m"},
          "maxLimitRequestRatio": {"cpu": "10"}}  # fmt: skip
WHOLE = {"type": "Pod", "max": {"cpu": "4", "memory": "2Gi"}}
#: What clusters have: defaults for teams, a budget that wants everything stated, and both with scopes beside them.
POLICIES = {
    "defaults": [_limits("team", DEFAULTS, BOUNDS, WHOLE)],
    "budget": [
        _quota(
            "budget", hard={"requests.cpu": "2", "limits.memory": "2Gi", "pods": "10", "count/deployments.apps": "0"}
        )
    ],
    "both": [
        _limits("team", DEFAULTS),
        _quota("budget", hard={"limits.cpu": "2", "requests.memory": "1Gi", "requests.ephemeral-storage": "1Gi"}),
        _quota("besteffort", hard={"pods": "0"}, scopes=["BestEffort"]),
        _quota("jobs", hard={"limits.cpu": "1"}, scopes=["Terminating"]),
    ],
}


def _objects(kind: str) -> Iterator[dict[str, Any]]:
    for index in range(COUNT):
        rng = random.Random(f"{SEED}/{kind}/{index}")
        make = manifests.workload if rng.random() < 0.2 else manifests.pod
        yield manifests.altered(rng, make(rng, f"one-{index}"), rng.choice((0, 0, 0, 1)))


def _settings() -> Sequence[Setting]:
    return [Setting(name=name, policies=held, cases=list(_objects(name))) for name, held in POLICIES.items()]


@pytest.fixture(scope="module")
def results(controlplane: ControlPlane) -> Results:
    server = Server(disabled_plugins=frozenset({"ServiceAccount"}))
    with Asking(controlplane) as asking:
        return Run(asking, f"corpus-{secrets.token_hex(3)}", server).play(_settings())


@pytest.mark.parametrize("name", POLICIES)
def test_answers_are_predicted(results: Results, name: str) -> None:
    judged = [one for one in results.judged if one.setting == name]
    wrong = [one.about for one in judged if one.faults]
    if wrong:
        pytest.fail("\n".join([f"seed {SEED} (KRES_SEED): {len(wrong)} of {len(judged)}", *wrong[:8]]), pytrace=False)
    assert {one.refused for one in judged} == {True, False}
