"""Accounts of workloads against the real controllers; KRES_ACCOUNTS=150 makes as many worlds."""

from __future__ import annotations

import os
from collections import Counter

import pytest
from controlplane import ControlPlane
from e2e.account_runs import watched, wrong
from e2e.made_runs import faults_of_history, faults_of_policies, faults_of_revisions

pytestmark = pytest.mark.e2e


def test_what_is_foretold_is_what_the_controllers_leave(controlplane: ControlPlane) -> None:
    count = int(os.environ.get("KRES_ACCOUNTS", "150"))
    seen = watched(controlplane, int(os.environ.get("KRES_SEED", "20261126")), count)
    words = Counter(one.file.verdict.outcome for one in seen)
    print(f"foretold: {dict(words)}; changed: {Counter(one.changed for one in seen)}")
    assert len(words) > 2
    faults = [text for one in seen for text in wrong(one)]
    assert faults == [], "\n".join(faults)


def test_policies_about_what_controllers_make(controlplane: ControlPlane) -> None:
    faults = list(faults_of_policies(controlplane))
    assert faults == [], "\n".join(faults)


def test_a_change_whose_controller_revision_is_refused(controlplane: ControlPlane) -> None:
    faults = list(faults_of_revisions(controlplane))
    assert faults == [], "\n".join(faults)


def test_a_lower_history_limit_makes_room_for_a_revision_of_a_statefulset(controlplane: ControlPlane) -> None:
    assert list(faults_of_history(controlplane)) == []
