"""The runner itself: whatever a recording asks, it goes on."""

from __future__ import annotations

from conformance.cases import Case
from conformance.systems import judge


def test_what_a_play_cannot_express_is_a_failure():
    case = Case("tekton", "made-up", {"name": "x", "setup": [{"kind": 7}], "steps": "none"}, {})
    assert judge(case).faults
