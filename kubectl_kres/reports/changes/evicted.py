"""What comes of it if the updater of a vertical autoscaler runs, of what its passes did in a simulation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from msgspec.structs import replace

from kubectl_kres.reports.changes.report import StepResult, WorkloadChange
from kubectl_kres.simulate.requests import StepAnswer, UpdaterPass
from kubectl_kres.vpa.reports.eviction import Eviction, OutsideValue, Result
from kubectl_kres.vpa.rules.disruption import VIOLATED


def eviction_of(answers: Iterable[StepAnswer]) -> Eviction | None:
    """Return the end with the fewest pods; None: the step was none of an updater."""
    ends = [_end(answer.passes) for answer in answers if answer.passes]
    return max(ends, key=lambda end: end.missing, default=None)


def _end(passes: tuple[UpdaterPass, ...]) -> Eviction:
    first, last = passes[0], passes[-1]
    outside = tuple(OutsideValue("", *texts) for texts in first.values)
    evicted = min(sum(done.evicted for done in passes), first.outside)
    resized = any(done.resized for done in passes)
    refused = next((done.in_place for done in passes if done.in_place), "")
    if not evicted and not resized:
        result = cast("Result", first.reason or "as-recommended")
        return Eviction(
            result, first.running, outside, first.held, kept=first.running, in_place=refused,
            message=VIOLATED if result == "budget" else "", budgets=first.budgets, healthy=first.healthy,
        )  # fmt: skip
    kept = first.running - evicted
    missing = max(0, last.wanted - last.running)
    again = bool(last.evicted or last.resized)
    word: Result = "again" if again else "refused" if missing else "comes-back"
    return Eviction(
        word, first.running, outside, first.held, evicted, kept, max(0, last.running - kept), missing,
        again=tuple(OutsideValue("", *texts) for texts in last.values) if again else (),
        resized=resized, in_place=refused, budgets=first.budgets, healthy=first.healthy,
    )  # fmt: skip


def with_messages(steps: Iterable[StepResult], workloads: Iterable[WorkloadChange]) -> tuple[StepResult, ...]:
    """Return the steps; those whose evicted pods do not come back with what the server says to these."""
    by_name = {(str(change.subject), change.subject.namespace): change for change in workloads}
    return tuple(_with_message(step, by_name.get((step.target, step.subject.namespace))) for step in steps)


def _with_message(step: StepResult, change: WorkloadChange | None) -> StepResult:
    if step.eviction is None or not step.eviction.missing or change is None:
        return step
    texts = change.refusals or ((change.next_after.message,) if change.next_after is not None else ())
    return replace(step, eviction=replace(step.eviction, message=next(iter(texts), "")))
