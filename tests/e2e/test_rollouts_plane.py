"""Prophecies of rollouts against the real Deployment and StatefulSet controllers; KRES_ROLLOUTS=100 makes as many."""

from __future__ import annotations

import os
from collections import Counter

import pytest
from controlplane import ControlPlane
from e2e.rollouts import watched, wrong

pytestmark = pytest.mark.e2e


def test_rollouts_rest_where_it_was_foretold(controlplane: ControlPlane) -> None:
    count = int(os.environ.get("KRES_ROLLOUTS", "6"))
    seen = watched(controlplane, int(os.environ.get("KRES_SEED", "20261122")), count)
    assert len(seen) > count / 2
    told = Counter(str(one.before.next_rollout) for one in seen)
    going = Counter(one.on_the_way.rollout.state for one in seen if one.on_the_way and one.on_the_way.rollout)
    print(f"foretold before: {dict(told)}; on the way: {dict(going)}; outcomes: {Counter(one.outcome for one in seen)}")
    faults = [text for one in seen for text in wrong(one)]
    assert faults == [], "\n".join(faults)
