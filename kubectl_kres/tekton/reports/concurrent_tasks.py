"""The most that the open tasks of a PipelineRun can ask for at one moment, quota by quota."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kubectl_kres.admission.base.outcome import QuotaCharge
from kubectl_kres.admission.quota.quota_admission import charges
from kubectl_kres.admission.request.new_pod import quota_request
from kubectl_kres.quantity import ZERO, Quantity, parse
from kubectl_kres.tekton.model import TaskRun
from kubectl_kres.tekton.reports.pipeline import AtOnce
from kubectl_kres.tekton.rules.controller.taskrun import RunResult, RunWorld
from kubectl_kres.tekton.rules.pipeline.concurrent_tasks import Peak, peaks
from kubectl_kres.tekton.rules.pipeline.pipeline_run import PipelineAnswer, has_ended
from kubectl_kres.tekton.rules.pipeline.pipeline_tasks import Planned
from kubectl_kres.tekton.rules.pipeline.refused_runs import RUNS

#: What is told where no quota limits it.
_TOLD = ("pods", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory")


def at_once(
    pipeline_answer: PipelineAnswer, world: RunWorld, children: Mapping[str, TaskRun], *, started: bool
) -> tuple[AtOnce, ...]:
    """Names that quotas limit, each with its quota, then the usual ones that none limits.

    ``started``: affinity assistants are there already, and counted.
    """
    limited = (
        *_limited(pipeline_answer, world, children, started=started),
        *_objects(pipeline_answer, world, children),
    )
    named = {at_once.resource for at_once in limited}
    free = (peak for peak in pipeline_answer.peaks if peak.resource in _TOLD and peak.resource not in named)
    return (*limited, *(_shown(peak) for peak in free))


def _shown(peak: Peak) -> AtOnce:
    return AtOnce(peak.resource, str(peak.amount), peak.tasks, is_finally=peak.is_finally, at_least=peak.at_least)


def _limited(
    pipeline_answer: PipelineAnswer, world: RunWorld, children: Mapping[str, TaskRun], *, started: bool
) -> Iterator[AtOnce]:
    for quota in world.policies.quotas:
        name = quota.name
        counted = {task: _charge(results, name, world) for task, results in pipeline_answer.results.items()}
        within = {task: pipeline_answer.results[task] for task, charge in counted.items() if charge is not None}
        first = next((charge for charge in counted.values() if charge is not None), None)
        if first is None:
            continue
        live = _live(pipeline_answer, counted, children)
        extra = _assistants(pipeline_answer, world, name)
        for peak in peaks(pipeline_answer.plan, within, pipeline_answer.finished):
            if peak.resource in first.hard:
                there = _sum(live.get((task, peak.resource), ZERO) for task in peak.tasks)
                yield _against(peak, first, there, extra.get(peak.resource, ZERO), started=started)


def _objects(pipeline_answer: PipelineAnswer, world: RunWorld, children: Mapping[str, TaskRun]) -> Iterator[AtOnce]:
    """Quotas that count TaskRuns: all that the run makes, for those that have ended count on until they are deleted.

    Tekton tries again and again to make one that is refused, and says nothing of it in the PipelineRun.
    """
    for quota in world.policies.quotas:
        if RUNS not in quota.hard or quota.scopes or pipeline_answer.plan.cycle:
            continue
        tasks = [
            task
            for task in pipeline_answer.plan.tasks
            if task.name not in pipeline_answer.finished or _made(task, children)
        ]
        own = [task for task in tasks if task.gap is None or task.gap.why not in {"custom", "nested"}]
        made = sum(_made(planned, children) for planned in own)
        total = sum(max(1 if planned.number is None else planned.number, _made(planned, children)) for planned in own)
        used, hard = quota.used.get(RUNS, ZERO), quota.hard[RUNS]
        after = Quantity(used.nano + (total - made) * 10**9, hard.format)
        yield AtOnce(
            RUNS,
            str(total),
            tuple(planned.name for planned in own),
            quota.name,
            at_least=any(planned.number is None for planned in own),
            counted=str(made) if made else "",
            used=str(used),
            hard=str(hard),
            after=str(after),
            exceeded=after > hard,
        )


def _made(task: Planned, children: Mapping[str, TaskRun]) -> int:
    """How many TaskRuns of a task are there."""
    return sum(1 for name in task.names if name in children)


def _against(peak: Peak, charge: QuotaCharge, there: Quantity, extra: Quantity, *, started: bool) -> AtOnce:
    name = peak.resource
    used, hard = parse(charge.used[name]), parse(charge.hard[name])
    more = ZERO if started else extra
    after = Quantity(used.nano + max(0, peak.amount.nano - there.nano) + more.nano, hard.format)
    return AtOnce(
        name,
        str(peak.amount),
        peak.tasks,
        charge.quota,
        peak.is_finally,
        peak.at_least,
        str(there) if there.nano else "",
        str(extra) if extra.nano else "",
        charge.used[name],
        charge.hard[name],
        str(after),
        after > hard,
    )


def _charge(results: Sequence[RunResult], quota: str, world: RunWorld) -> QuotaCharge | None:
    """What a task's pod costs a quota; None where the quota does not count it."""
    for result in results:
        if result.built is None or result.outcome is None or result.outcome.draft is None:
            continue
        for charge in charges(quota_request(result.built.pod, result.outcome.draft), world.policies.quotas):
            if charge.quota == quota:
                return charge
    return None


def _live(
    pipeline_answer: PipelineAnswer, counted: Mapping[str, QuotaCharge | None], children: Mapping[str, TaskRun]
) -> dict[tuple[str, str], Quantity]:
    """What of each task is in ``used`` already: its TaskRuns that have pods, at what such a pod costs."""
    amounts = {}
    for task in pipeline_answer.plan.tasks:
        charge = counted.get(task.name)
        runs = [children[name] for name in task.names if name in children]
        pods = sum(1 for run in runs if run.status.pod_name and not has_ended(run))
        for name, text in (charge.requested if charge is not None else {}).items():
            quantity = parse(text)
            amounts[task.name, name] = Quantity(quantity.nano * pods, quantity.format)
    return amounts


def _assistants(pipeline_answer: PipelineAnswer, world: RunWorld, quota: str) -> dict[str, Quantity]:
    """What affinity assistants cost a quota."""
    total: dict[str, Quantity] = {}
    for assistant in pipeline_answer.assistants:
        draft = next((outcome.draft for outcome in assistant.outcomes if outcome.draft is not None), None)
        if draft is None or not any(outcome.allowed for outcome in assistant.outcomes):
            continue
        for charge in charges(quota_request(assistant.pod, draft), world.policies.quotas):
            if charge.quota == quota:
                for name, text in charge.requested.items():
                    total[name] = _sum((total.get(name, ZERO), parse(text)))
    return total


def _sum(amounts: Iterable[Quantity]) -> Quantity:
    quantities = tuple(amounts)
    form = next((quantity.format for quantity in quantities if quantity.nano), ZERO.format)
    return Quantity(sum(quantity.nano for quantity in quantities), form)
