"""Retries of a run whose pod a quota refuses: when the next try comes, when they end, whether the pod can ever fit."""

from __future__ import annotations

from datetime import datetime, timedelta

from kubectl_kres import durations
from kubectl_kres.admission.quota.quota_admission import charges
from kubectl_kres.admission.request.new_pod import Policies, quota_request
from kubectl_kres.model.objects import Condition
from kubectl_kres.provenance.journal import QuotaShortfall
from kubectl_kres.quantity import parse
from kubectl_kres.tekton.model import PipelineRun, TaskRun
from kubectl_kres.tekton.rules.controller.creation import AFTER_QUOTA
from kubectl_kres.tekton.rules.controller.taskrun import RunResult

#: Seconds that stand for any longer timeout.
_LONGEST = 10**10

REASON = "ExceededResourceQuota"


def waiting_condition(run: TaskRun) -> Condition | None:
    """Return the condition of a run that a quota holds up; None for any other."""
    conditions = (condition for condition in run.status.conditions or () if condition.type == "Succeeded")
    return next(
        (condition for condition in conditions if condition.status == "Unknown" and condition.reason == REASON), None
    )


def next_try(run: TaskRun, now: datetime) -> datetime | None:
    """About when the pod is tried again: every minute since the quota first refused it, whatever changes meanwhile.

    None if the run does not wait, or since when is not known. Source: taskrun.go handlePodCreationError.
    """
    condition = waiting_condition(run)
    since = _parse_time(condition.last_transition_time) if condition is not None else None
    if since is None:
        return None
    passed = max(0, int((now - since).total_seconds()))
    return since + timedelta(seconds=(passed // AFTER_QUOTA + 1) * AFTER_QUOTA)


def time_left(run: PipelineRun, now: datetime, minutes: int = 60) -> timedelta | None:
    """Return what is left of the PipelineRun's timeout, which runs on while its TaskRuns wait; theirs does not.

    minutes: the timeout where the run names none. Negative: it is over. None: it has none, or has not started.
    """
    started = _parse_time(run.status.start_time)
    text = run.spec.timeouts.pipeline if run.spec.timeouts is not None else None
    limit = durations.parse_or_none(text) if text is not None else None
    allowed = min(minutes * 60 if limit is None else limit // durations.SECOND, _LONGEST)
    if started is None or not allowed:
        return None
    return timedelta(seconds=allowed) - (now - started)


def never_fits(result: RunResult, policies: Policies) -> tuple[QuotaShortfall, ...]:
    """Return what of the pod is more than a quota has at all; empty: it fits once others have gone."""
    if result.built_pod is None or result.outcome is None or result.outcome.draft is None:
        return ()
    request = quota_request(result.built_pod.pod, result.outcome.draft)
    return tuple(
        QuotaShortfall(charge.quota, name, text, charge.hard[name])
        for charge in charges(request, policies.quotas)
        for name, text in charge.requested.items()
        if parse(text) > parse(charge.hard[name])
    )


def _parse_time(text: str | None) -> datetime | None:
    """Return a time of the API; None for what is none."""
    try:
        result = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return result if result is not None and result.tzinfo is not None else None
