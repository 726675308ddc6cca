"""What becomes of a PipelineRun: each task's pod or refusal, what can run at once, the affinity assistants."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct, structs

from kubectl_kres.provenance.journal import Source
from kubectl_kres.provenance.problem import Problem
from kubectl_kres.tekton.model import PipelineRun, PipelineSpec, TaskRun
from kubectl_kres.tekton.rules.base.result import Gap, SpecOrigin
from kubectl_kres.tekton.rules.controller.resolve import (
    UsedPipeline,
    UsedTask,
    task_of,
    without_pipeline,
    without_pipeline_task,
)
from kubectl_kres.tekton.rules.controller.taskrun import ClaimRefusal, RunResult, RunWorld, task_run
from kubectl_kres.tekton.rules.controller.workspace_claims import (
    WorkspaceClaim,
    claims_of,
    pipeline_problem,
    set_problem,
)
from kubectl_kres.tekton.rules.controller.workspace_claims import refused as refused_claims
from kubectl_kres.tekton.rules.pipeline.affinity_assistant import PER_RUN, Assistant, assistants
from kubectl_kres.tekton.rules.pipeline.concurrent_tasks import Peak, peaks
from kubectl_kres.tekton.rules.pipeline.pipeline_tasks import Plan, Planned, plan
from kubectl_kres.tekton.rules.pipeline.refused_runs import refused_runs
from kubectl_kres.tekton.rules.validation.webhook import refused


class PipelineAnswer(Struct, frozen=True):
    """results: by the name of the pipeline task; a task that cannot be told (``Planned.gap``) has none, and one of
    which a TaskRun is refused has that alone.

    finished: tasks that are done or skipped, which ``peaks`` leaves out. claims: of workspaces, as far as the run
    makes them itself. refusals: what refuses one of them, whichever is made first; the plan then has the problem of
    one.
    """

    plan: Plan
    results: Mapping[str, tuple[RunResult, ...]] = {}
    peaks: tuple[Peak, ...] = ()
    assistants: tuple[Assistant, ...] = ()
    finished: frozenset[str] = frozenset()
    claims: tuple[WorkspaceClaim, ...] = ()
    refusals: tuple[ClaimRefusal, ...] = ()


def pipeline_run(
    run: PipelineRun,
    world: RunWorld,
    *,
    children: Mapping[str, TaskRun] | None = None,
    journal: bool = True,
    claims: Collection[str] = (),
    pods: Collection[str] = (),
) -> PipelineAnswer | Gap:
    """The answer for each task as if nothing else ran, and what the tasks ask for together.

    children: TaskRuns of the run by name, as far as they are there; what they say of themselves (status.taskSpec) is
    used. claims, pods: names of claims and pods that are there. A plan with a problem of its own has no results.
    """
    result = plan(run, world.lookups, world.config.timeout_minutes)
    if isinstance(result, Gap):
        return PipelineAnswer(_without_pipeline(run, result)) if result.why == "missing" and result.name else result
    problem = _lacks_params(run, result) or result.problem or _task_not_there(run, result)
    if problem is not None:
        return PipelineAnswer(structs.replace(result, problem=problem))
    task_runs = children or {}
    answers = {task.name: one_task(task, world, task_runs, journal=journal) for task in result.tasks}
    results = {name: answer for name, answer in answers.items() if answer}
    done = finished(run, result.tasks, task_runs)
    extra = assistants(run, result.pipeline, world, claims=claims, pods=pods)
    together = peaks(result, results, done)
    not_made = refused_runs(result, done, task_runs, world)
    results |= {name: (RunResult(problem=problem),) for name, problem in not_made.items()}
    own = () if world.config.flags.coschedule in PER_RUN else claims_of(run, claims)
    if run.status.child_references:
        # They are made before the first TaskRun.
        own = tuple(structs.replace(claim, there=True) for claim in own)
    refusals = (*_claim_refusals(run, own, world), *_set_refusals(run, extra))
    if refusals:
        result = structs.replace(result, problem=refusals[0].problem)
    return PipelineAnswer(result, results, together, extra, done, own, refusals)


def _claim_refusals(run: PipelineRun, claims: Sequence[WorkspaceClaim], world: RunWorld) -> tuple[ClaimRefusal, ...]:
    """What refuses a claim of the run's workspaces, which are made before its first TaskRun.

    Source: reconciler/pipelinerun/affinity_assistant.go createOrUpdateAffinityAssistantsAndPVCs.
    """
    if run.status.child_references or has_ended(run):
        return ()
    version = world.config.version
    return tuple(
        ClaimRefusal(answer, outcome, pipeline_problem(run, answer, outcome.refusal, version))
        for answer in refused_claims(claims, world.policies, world.server)
        for outcome in answer.outcomes
        if outcome.refusal is not None
    )


def _without_pipeline(run: PipelineRun, gap: Gap) -> Plan:
    origin = SpecOrigin(Source("Pipeline", gap.name, run.metadata.namespace, "spec"))
    return Plan(UsedPipeline(PipelineSpec(), origin, gap.name), problem=without_pipeline(run, gap))


def _set_refusals(run: PipelineRun, made: Sequence[Assistant]) -> Iterator[ClaimRefusal]:
    for assistant in made if not (run.status.child_references or has_ended(run)) else ():
        for answer in assistant.claims:
            for outcome in answer.outcomes:
                refusal = outcome.refusal
                problem = set_problem(run, assistant.name, refusal) if refusal is not None else None
                if problem is not None:
                    yield ClaimRefusal(answer, outcome, problem)


def _lacks_params(run: PipelineRun, plan: Plan) -> Problem | None:
    """A run has to give what its Pipeline has no default for; what has started has given it.

    Source: pipelinerun/pipelinerun.go reconcile, resources/validate_params.go ValidateRequiredParametersProvided.
    """
    given = {param.name for param in run.spec.params or ()}
    params = plan.pipeline.spec.params or ()
    missing = [param.name for param in params if param.default is None and param.name not in given]
    if not missing or run.status.child_references:
        return None
    meta = run.metadata
    text = (
        f"[User error] PipelineRun {meta.namespace}/{meta.name} is missing some parameters required by Pipeline "
        f"{meta.namespace}/{plan.pipeline.name or meta.name}: pipelineRun missing parameters: [{' '.join(missing)}]"
    )
    return Problem("reconcile", "PipelineRun", text, "tekton/params", "ParameterMissing", "False")


def _task_not_there(run: PipelineRun, plan: Plan) -> Problem | None:
    """All Tasks are looked for before the first one runs; what has started keeps its own."""
    started = {child_reference.pipeline_task_name for child_reference in run.status.child_references or ()}
    for task in plan.tasks:
        gap = task.gap
        if gap is not None and gap.why == "missing" and gap.name and task.name not in started:
            return without_pipeline_task(run, plan.pipeline.name, gap)
    return None


def one_task(
    task: Planned, world: RunWorld, children: Mapping[str, TaskRun] | None = None, *, journal: bool = True
) -> tuple[RunResult, ...]:
    """The answer for one task; empty if what it runs is not known. Its TaskRun passes the webhook like any other."""
    if task.gap is not None and task.gap.why in {"custom", "nested"}:
        return ()
    problem = refused(task.run, world.config.flags)
    if problem is not None:
        return (RunResult(problem=problem),)
    child = (children or {}).get(task.names[0]) if task.names else None
    own = task_of(child, world.lookups) if child is not None else None
    used = task.task
    if isinstance(own, UsedTask) and (used is None or own.spec != used.spec):
        used = own
    if used is None:
        return ()
    answer = task_run(child or task.run, world, task=used, fields=task.fields, journal=journal)
    return () if isinstance(answer, Gap) else answer


def finished(run: PipelineRun, tasks: Sequence[Planned], children: Mapping[str, TaskRun]) -> frozenset[str]:
    """Tasks that ask for nothing any more: skipped, or all their TaskRuns have ended."""
    skipped = {skipped_task.name for skipped_task in run.status.skipped_tasks or ()}
    made = {child_reference.pipeline_task_name for child_reference in run.status.child_references or ()}
    ended = {task.name for task in tasks if task.name in made and _all_ended(task.names, children)}
    return frozenset(skipped | ended)


def _all_ended(names: Collection[str], children: Mapping[str, TaskRun]) -> bool:
    return all(name in children and has_ended(children[name]) for name in names)


def has_ended(run: TaskRun | PipelineRun) -> bool:
    """Whether a run has succeeded or failed."""
    return any(
        condition.type == "Succeeded" and condition.status in {"True", "False"}
        for condition in run.status.conditions or ()
    )


def progress(failed: int, incomplete: int, completed: int = 0, skipped: int = 0) -> tuple[str, str, str]:
    """Status, reason and message of a PipelineRun's condition while tasks are left.

    ``completed``: with the failed ones. Source: pipelinerun/resources/pipelinerunstate.go GetPipelineConditionStatus.
    """
    text = f"Tasks Completed: {completed} (Failed: {failed}, Cancelled 0), Incomplete: {incomplete}, Skipped: {skipped}"
    return ("Unknown", "PipelineRunStopping" if failed else "Running", text)
