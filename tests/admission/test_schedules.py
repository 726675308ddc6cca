"""Schedules of CronJobs, in the words of the parser that the API server uses."""

from __future__ import annotations

import pytest

from kubectl_kres.admission.structure.jobs import schedule_fault

GOOD = [
    "0 * * * *",
    "*/5 0-6 1,15 jan-mar sun",
    "? ? ? ? ?",
    "@daily",
    "@every 1h30m",
    "5/10 * * * *",
    "CRON_TZ=UTC 0 * * * *",
]
BAD = {
    "a": "expected exactly 5 fields, found 1: [a]",
    "": "expected exactly 5 fields, found 0: []",
    "@often": "unrecognized descriptor: @often",
    "60 * * * *": "end of range (60) above maximum (59): 60",
    "* * 0 * *": "beginning of range (0) below minimum (1): 0",
    "5-1 * * * *": "beginning of range (5) beyond end of range (1): 5-1",
    "*/0 * * * *": "step of range should be a positive number: */0",
    "x * * * *": 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax',
    "1-2-3 * * * *": "too many hyphens: 1-2-3",
    "1/2/3 * * * *": "too many slashes: 1/2/3",
}


@pytest.mark.parametrize("schedule", GOOD)
def test_schedules(schedule: str) -> None:
    assert schedule_fault(schedule) == ""


@pytest.mark.parametrize(("schedule", "said"), BAD.items())
def test_what_is_none(schedule: str, said: str) -> None:
    assert schedule_fault(schedule) == said
