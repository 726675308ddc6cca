"""The TaskRuns of a PipelineRun that quotas on the number of objects refuse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import structs

from kubectl_kres.admission.quota.quota_admission import Quota
from kubectl_kres.admission.request.create import create
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.provenance.problem import Problem
from kubectl_kres.quantity import ZERO, Quantity
from kubectl_kres.tekton.model import TaskRun
from kubectl_kres.tekton.rules.controller.taskrun import RunWorld
from kubectl_kres.tekton.rules.pipeline.pipeline_tasks import Plan, Planned

#: What a quota calls TaskRuns.
RUNS = "count/taskruns.tekton.dev"
#: Condition of a PipelineRun whose first TaskRuns could not all be made: the controller ends before it says more.
STARTED = ("Unknown", "Started", "")
#: The longest that the controller's queue waits between two tries.
_LONGEST_WAIT = 1000


def refused_runs(
    plan: Plan, finished: frozenset[str], children: Mapping[str, TaskRun], world: RunWorld
) -> Mapping[str, Problem]:
    """By task: the API server's words where one of its TaskRuns is not made.

    TaskRuns are made in the order of the tasks, and count until they are deleted, so that each finds what those before
    it have left. ``children``: those that are there, which ``used`` counts already.
    Source: reconciler/pipelinerun/pipelinerun.go runNextSchedulableTask, createTaskRun.
    """
    if plan.cycle or not any(RUNS in quota.hard for quota in world.policies.quotas):
        return {}
    policies, result = world.policies, {}
    for task in _in_order(plan):
        if task.name in finished or (task.gap is not None and task.gap.why in {"custom", "nested"}):
            continue
        for name in task.names or (task.run.metadata.name,):
            if name in children or task.name in result:
                continue
            problem = _refusal(name, policies, world)
            if problem is None:
                policies = structs.replace(policies, quotas=tuple(map(_one_more, policies.quotas)))
            else:
                result[task.name] = problem
    return result


def _in_order(plan: Plan) -> Iterator[Planned]:
    """The tasks as they become ready, ``finally`` last."""
    waiting: Sequence[Planned] = [task for task in plan.tasks if not task.is_finally]
    done: set[str] = set()
    known = {planned.name for planned in waiting}
    while waiting:
        ready = [planned for planned in waiting if done.issuperset(known.intersection(planned.after))]
        yield from ready
        done.update(planned.name for planned in ready)
        waiting = [planned for planned in waiting if planned.name not in done]
    yield from (task for task in plan.tasks if task.is_finally)


def _refusal(name: str, policies: Policies, world: RunWorld) -> Problem | None:
    raw = {"apiVersion": "tekton.dev/v1", "kind": "TaskRun", "metadata": {"name": name}}
    refused = next((outcome for outcome in create(raw, policies, world.server) if not outcome.allowed), None)
    if refused is None:
        return None
    status = STARTED[0]
    return Problem(
        "object",
        "TaskRun",
        refused.message,
        "tekton/object-refused",
        refused.reason,
        status,
        _LONGEST_WAIT,
        refused.code,
    )


def _one_more(quota: Quota) -> Quota:
    if RUNS not in quota.hard or quota.scopes:
        return quota
    used = quota.used.get(RUNS, ZERO)
    return quota.using({**quota.used, RUNS: Quantity(used.nano + 10**9, used.format)})
