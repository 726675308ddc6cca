"""The most that the tasks of a PipelineRun can ask of quotas at one moment."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct

from kubectl_kres.admission.base.draft import Quantities
from kubectl_kres.admission.request.new_pod import quota_request
from kubectl_kres.quantity import Quantity
from kubectl_kres.tekton.controller.taskrun import RunResult
from kubectl_kres.tekton.pipeline.dag import largest_at_once
from kubectl_kres.tekton.pipeline.pipeline_tasks import Plan, Planned


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
    open_tasks = [one for one in plan.tasks if one.name not in finished]
    usage = {one.name: _usage(results.get(one.name, ())) for one in open_tasks}
    resources = sorted({resource for one in usage.values() for resource in one})
    return tuple(_peaks(plan, open_tasks, usage, resources))


def _peaks(
    plan: Plan, tasks: Sequence[Planned], usage: Mapping[str, Quantities], resources: Sequence[str]
) -> Iterator[Peak]:
    unknown = {one.name for one in tasks if one.number is None}
    before = [one for one in tasks if not one.is_finally]
    after = [one for one in tasks if one.is_finally]
    for resource in resources:
        asked = {
            one.name: usage[one.name][resource].nano * (1 if one.number is None else one.number)
            for one in tasks
            if resource in usage[one.name]
        }
        form = next(usage[name][resource].format for name in asked)
        amount, chosen = largest_at_once(plan.graph, {one.name: asked.get(one.name, 0) for one in before})
        if chosen:
            yield Peak(resource, Quantity(amount, form), chosen, at_least=not unknown.isdisjoint(chosen))
        last = tuple(one.name for one in after if asked.get(one.name))
        if last:
            total = Quantity(sum(asked[name] for name in last), form)
            yield Peak(resource, total, last, is_finally=True, at_least=not unknown.isdisjoint(last))


def _usage(results: Sequence[RunResult]) -> Quantities:
    """The largest use of each name among the ways that lead to a pod, now or once a quota has room."""
    found: Quantities = {}
    for one in results:
        if one.built is None or one.outcome is None or one.outcome.draft is None:
            continue
        if one.problem is not None and one.problem.final:
            continue
        for name, quantity in quota_request(one.built.pod, one.outcome.draft).usage.items():
            if name not in found or found[name] < quantity:
                found[name] = quantity
    return found
