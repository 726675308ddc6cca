"""A run that a quota holds up: when it is tried next, whether it can ever fit, what of the timeout is left."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.model.tekton import PipelineRun, TaskRun
from kubectl_kres.reports.common.system_parts import Waiting
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.base.result import TooMuch
from kubectl_kres.tekton.controller.quota_retry import REASON, never_fits, next_try, time_left, waits
from kubectl_kres.tekton.controller.taskrun import RunResult


def waiting_of(store: Store, run: TaskRun, now: str, minutes: int) -> Waiting | None:
    """None: the run does not wait for a quota. ``minutes``: the timeout of a PipelineRun that names none."""
    held = waits(run)
    if held is None:
        return None
    moment = moment_of(now)
    tried = next_try(run, moment) if moment is not None else None
    owner = pipeline_run_of(run)
    found = store.get("PipelineRun", owner, run.metadata.namespace) if owner else None
    left = time_left(found, moment, minutes) if isinstance(found, PipelineRun) and moment is not None else None
    return Waiting(
        held.last_transition_time or "",
        tried.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if tried is not None else "",
        owner,
        int(left.total_seconds()) if left is not None else None,
    )


def too_much(results: Sequence[RunResult], policies: Policies) -> tuple[TooMuch, ...]:
    """What of a pod that a quota refuses is more than that has at all; empty: in one way or another it can fit."""
    if any(one.problem is None or one.problem.reason != REASON for one in results):
        return ()
    found = [never_fits(one, policies) for one in results]
    return found[0] if found and all(found) else ()


def pipeline_run_of(run: TaskRun) -> str:
    """The PipelineRun that made the run; empty if none did."""
    owners = (one for one in run.metadata.owner_references or () if one.kind == "PipelineRun")
    return next((one.name for one in owners), "")


def moment_of(text: str) -> datetime | None:
    """A time of the API; None for what is none."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None
