"""Every recorded case, and which keys of its answers count."""

from __future__ import annotations

import pytest
from conformance.cases import SYSTEMS, Case, cases
from conformance.systems import judge, system

ALL = [pytest.param(case, id=case.id) for name in SYSTEMS for case in cases(name)]


#: Recordings that a server of the same version contradicts each time that it is asked, with what it says.
CONTRADICTED = {
    "admission@1.37/quota-update-and-resize/resize-node-before-quota": (
        "1.37.2 counts the pod: used requests.cpu 1 in each of eight looks; recorded was the moment before it did"
    ),
}


@pytest.mark.parametrize("case", ALL)
def test_recorded(case: Case, record_property):
    record_property("recorded", f"{case.system}/{case.topic}")
    verdict = judge(case)
    if verdict.uncovered:
        pytest.skip(verdict.uncovered)
    if case.id in CONTRADICTED:
        assert verdict.faults, "it is as recorded: take it out of CONTRADICTED"
        pytest.skip(CONTRADICTED[case.id])
    assert not verdict.faults, "\n".join(["", *verdict.faults])


@pytest.mark.parametrize("name", [name for name in SYSTEMS if system(name) is not None])
def test_every_recorded_key_is_compared_or_named_with_the_reason(name: str):
    adapter = system(name)
    recorded = {key for case in cases(name) for answer in adapter.answers(case.data) for key in answer}
    assert recorded - set(adapter.compared) == recorded & set(adapter.not_compared)
    assert set(adapter.optional) <= set(adapter.compared)
    assert not set(adapter.compared) & set(adapter.not_compared)
    assert all(adapter.not_compared.values())
