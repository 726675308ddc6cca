"""The most that the tasks of a PipelineRun can ask of quotas at one moment."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct

from kubectl_kres.admission.base.draft import Quantities
from kubectl_kres.admission.request.new_pod import quota_request
from kubectl_kres.quantity import Quantity
from kubectl_kres.tekton.rules.controller.taskrun import RunResult
from kubectl_kres.tekton.rules.pipeline.dag import largest_at_once
from kubectl_kres.tekton.rules.pipeline.pipeline_tasks import Plan, Planned


class Peak(Struct, frozen=True):
    """The most of one name (as quotas have it: ``pods``, ``requests.cpu``), and the tasks that can reach it together.

    at_least: a matrix among them has a number of runs that is not known yet, counted as one.
    """

    resource: str
    amount: Quantity
    tasks: tuple[str, ...]
    is_finally: bool = False
    at_least: bool = False


def peaks(plan: Plan, results: Mapping[str, Sequence[RunResult]], finished: Collection[str] = ()) -> tuple[Peak, ...]:
    """The peak of each name, of the tasks and of ``finally`` apart, which never run together.

    results: by task; one that can end in several ways counts with the largest amount. finished: tasks that are done or
    skipped. Tasks without a pod do not count. Empty for a plan with a cycle.
    """
    if plan.cycle:
        return ()
    open_tasks = [task for task in plan.tasks if task.name not in finished]
    usage = {open_task.name: _usage(results.get(open_task.name, ())) for open_task in open_tasks}
    resources = sorted({resource for quantities in usage.values() for resource in quantities})
    return tuple(_peaks(plan, open_tasks, usage, resources))


def _peaks(
    plan: Plan, tasks: Sequence[Planned], usage: Mapping[str, Quantities], resources: Sequence[str]
) -> Iterator[Peak]:
    unknown = {task.name for task in tasks if task.number is None}
    before = [task for task in tasks if not task.is_finally]
    after = [task for task in tasks if task.is_finally]
    for resource in resources:
        asked = {
            task.name: usage[task.name][resource].nano * (1 if task.number is None else task.number)
            for task in tasks
            if resource in usage[task.name]
        }
        form = next(usage[name][resource].format for name in asked)
        amount, chosen = largest_at_once(plan.graph, {planned.name: asked.get(planned.name, 0) for planned in before})
        if chosen:
            yield Peak(resource, Quantity(amount, form), chosen, at_least=not unknown.isdisjoint(chosen))
        last = tuple(planned.name for planned in after if asked.get(planned.name))
        if last:
            total = Quantity(sum(asked[name] for name in last), form)
            yield Peak(resource, total, last, is_finally=True, at_least=not unknown.isdisjoint(last))


def _usage(results: Sequence[RunResult]) -> Quantities:
    """The largest use of each name among the ways that lead to a pod, now or once a quota has room."""
    quantities: Quantities = {}
    for result in results:
        if result.built is None or result.outcome is None or result.outcome.draft is None:
            continue
        if result.problem is not None and result.problem.final:
            continue
        for name, quantity in quota_request(result.built.pod, result.outcome.draft).usage.items():
            if name not in quantities or quantities[name] < quantity:
                quantities[name] = quantity
    return quantities
