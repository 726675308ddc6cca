"""Runs that a quota holds up."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from tekton.made import pipelinerun, quota, results, step, taskrun, world

from kubectl_kres.provenance.journal import QuotaShortfall
from kubectl_kres.tekton.rules.controller.quota_retry import never_fits, next_try, time_left, waiting_condition

SINCE = "2026-11-20T10:00:00Z"


def at(text: str) -> datetime:
    return datetime.fromisoformat(f"2026-11-20T{text}Z")


def waiting(reason: str = "ExceededResourceQuota", since: str | None = SINCE):
    condition = {"type": "Succeeded", "status": "Unknown", "reason": reason, "lastTransitionTime": since}
    return taskrun(status={"conditions": [condition]})


@pytest.mark.parametrize(
    ("now", "then"),
    [("10:00:00", "10:01:00"), ("10:00:59", "10:01:00"), ("10:01:00", "10:02:00"), ("09:00:00", "10:01:00")],
)
def test_a_try_each_minute(now, then):
    assert next_try(waiting(), at(now)) == at(then)


@pytest.mark.parametrize(
    "run", [taskrun(), waiting("Pending"), waiting(since=None), waiting(since="once"), waiting(since="2026-11-20")]
)
def test_no_next_try(run):
    assert next_try(run, at("10:00:00")) is None
    assert waiting_condition(waiting("Pending")) is None


@pytest.mark.parametrize(
    ("spec", "status", "left"),
    [
        ({}, {"startTime": SINCE}, timedelta(minutes=50)),
        ({"timeouts": {"pipeline": "5m"}}, {"startTime": SINCE}, timedelta(minutes=-5)),
        ({"timeouts": {"tasks": "5m"}}, {"startTime": SINCE}, timedelta(minutes=50)),
        ({"timeouts": {"pipeline": "2562047h"}}, {"startTime": SINCE}, timedelta(hours=2562047, minutes=-10)),
        ({"timeouts": {"pipeline": "999999999999h"}}, {"startTime": SINCE}, timedelta(minutes=50)),
        ({"timeouts": {"pipeline": "0"}}, {"startTime": SINCE}, None),
        ({}, {}, None),
    ],
)
def test_what_is_left_of_the_pipelines_time(spec, status, left):
    assert time_left(pipelinerun([{"name": "a"}], status=status, **spec), at("10:10:00")) == left


@pytest.mark.parametrize(
    ("used", "cpu", "too_much"),
    [("4", "2", ()), ("0", "5", (QuotaShortfall("q", "requests.cpu", "5", "4"),)), ("0", "4", ())],
)
def test_what_can_never_fit(used, cpu, too_much):
    around = world(quota("q", {"requests.cpu": "4", "pods": "9"}, {"requests.cpu": used}))
    run = taskrun([step("a", {"cpu": cpu})], stepSpecs=[])
    (one,) = results(run, around)
    assert never_fits(one, around.policies) == too_much
