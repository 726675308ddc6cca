"""Schedules of CronJobs, in the words of the parser that the API server uses."""

from __future__ import annotations

import pytest

from kubectl_kres.admission.structure import jobs
from kubectl_kres.admission.structure.jobs import schedule_fault, zone_fault

GOOD = [
    "0 * * * *",
    "*/5 0-6 1,15 jan-mar sun",
    "? ? ? ? ?",
    "@daily",
    "@every 1h30m",
    "5/10 * * * *",
    "@every -1s",
    "CRON_TZ=UTC 0 * * * *",
    "TZ=Europe/Berlin 0 * * * *",
    "TZ= 0 * * * *",
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
    "@every": "unrecognized descriptor: @every",
    "@every 5x": 'failed to parse duration @every 5x: time: unknown unit "x" in duration "5x"',
    "@every ": 'failed to parse duration @every : time: invalid duration ""',
    "TZ=UTC @every 5": 'failed to parse duration @every 5: time: missing unit in duration "5"',
    "TZ=Europe/Berlin  0 * * *": "expected exactly 5 fields, found 4: [0 * * *]",
    "TZ=UTC": "invalid schedule format: runtime error: slice bounds out of range [:-1]",
    "CRON_TZ=Mars/Base 0 * * * *": "provided bad location Mars/Base: unknown time zone Mars/Base",
    "TZ=../x 0 * * * *": "provided bad location ../x: time: invalid location name",
    "TZ=America 0 * * * *": "provided bad location America: is a directory",
}
#: What 1.37.2 says of zones.
ZONES = {
    **dict.fromkeys(("Europe/Berlin", "posix/UTC", "GMT+0", "US/Pacific", "localtime", "UTC"), ""),
    "europe/berlin": "unknown time zone europe/berlin",
    "Etc/GMT+15": "unknown time zone Etc/GMT+15",
}


@pytest.mark.parametrize("schedule", GOOD)
def test_schedules(schedule: str) -> None:
    assert schedule_fault(schedule) == ""


@pytest.mark.parametrize(("schedule", "said"), BAD.items())
def test_what_is_none(schedule: str, said: str) -> None:
    assert schedule_fault(schedule) == said


@pytest.mark.parametrize(("zone", "said"), ZONES.items())
def test_zones(zone: str, said: str) -> None:
    assert zone_fault(zone) == said


def test_where_no_zones_are_installed_none_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "_zones", frozenset)
    assert zone_fault("Mars/Base") == ""
    assert zone_fault("../x") == "time: invalid location name"
