"""The comparison notices a wrong expectation: every topic, every compared key, every small change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from conformance.alter import alterations
from conformance.cases import SYSTEMS, Case, topics
from conformance.compare import differences
from conformance.systems import System, judge, system

TOPICS = [
    pytest.param(adapter, found, id=f"{name}/{topic}")
    for name in SYSTEMS
    for adapter in [system(name)]
    if adapter is not None
    for topic, found in topics(name).items()
]


@pytest.mark.one_in(5)
@pytest.mark.parametrize(("adapter", "found"), TOPICS)
def test_an_altered_answer_differs(adapter: System, found: tuple[Case, ...]):
    examples = {key: example for key in adapter.compared if (example := _passing(adapter, found, key)) is not None}
    if not examples:
        pytest.skip(f"{found[0].system}: no case of this topic passes yet")
    missed = [
        f"{case.id}: {key} altered to {altered.get(key, 'absent')!r} is not noticed"
        for key, (case, answer) in examples.items()
        for altered in _altered(answer, key, adapter)
        if not differences(
            altered,
            judge(case).outcomes,
            adapter.compared,
            optional=adapter.optional,
            loose=adapter.loose(case.data, case.file),
        )
    ]
    assert not missed, "\n".join(missed)


def _passing(adapter: System, found: tuple[Case, ...], key: str) -> tuple[Case, dict[str, Any]] | None:
    """A case of the topic that passes, and the first of its answers that has the key."""
    for case in found:
        answer = next((answer for answer in adapter.answers(case.data) if key in answer), None)
        if answer is not None and not judge(case).uncovered and not judge(case).faults:
            return case, answer
    return None


def _altered(answer: dict[str, Any], key: str, adapter: System) -> Iterator[dict[str, Any]]:
    if key not in adapter.optional:
        yield {other: value for other, value in answer.items() if other != key}
    yield from ({**answer, key: altered} for altered in alterations(answer[key]))
