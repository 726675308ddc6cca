"""What makes a report another one for ``-w``, and what only says when or how often."""

from __future__ import annotations

import pytest
from msgspec import structs

from kubectl_kres.provenance.journal import Source
from kubectl_kres.record import Record, comparable_value
from kubectl_kres.reports.common.explanation import Fact, LastEdit
from kubectl_kres.tekton.reports.part import TektonPart, WaitingRun

SET = Source("ReplicaSet", "web-7", "shop")
FACT = Fact("FailedCreate", 'Error creating: pods "web-7-a" is forbidden: no room', SET, "2026-11-21T10:00:00Z", 2)
OTHER = Fact("FailedCreate", "no luck", SET, "2026-11-21T09:00:00Z")


class Seen(Record, frozen=True):
    """A report with facts."""

    facts: tuple[Fact, ...]
    amounts: dict[str, str] = {}  # noqa: RUF012


@pytest.mark.parametrize(
    ("before", "now", "same"),
    [
        (FACT, structs.replace(FACT, count=5, time="2026-11-21T11:00:00Z"), True),
        (FACT, structs.replace(FACT, text=FACT.text.replace("web-7-a", "web-7-b")), True),
        (FACT, structs.replace(FACT, text="something else"), False),
        (FACT, structs.replace(FACT, source=Source("ReplicaSet", "web-8", "shop")), False),
        (Seen((FACT, OTHER)), Seen((OTHER, FACT)), True),
        (Seen((FACT,)), Seen((FACT, OTHER)), False),
        (Seen((), {"cpu": "1"}), Seen((), {"cpu": "2"}), False),
        (LastEdit("kubectl", "Apply", "a"), LastEdit("kubectl", "Apply", "b"), True),
        (LastEdit("kubectl", "Apply"), LastEdit("helm", "Apply"), False),
        (
            TektonPart(waiting=WaitingRun("a", next_try="b", seconds_left=9)),
            TektonPart(waiting=WaitingRun("a", next_try="c", seconds_left=8)),
            True,
        ),
        (TektonPart(waiting=WaitingRun("a")), TektonPart(), False),
    ],
)
def test_only_what_says_something_new_is_another_report(before: Record, now: Record, same: bool):
    assert (comparable_value(before) == comparable_value(now)) is same
