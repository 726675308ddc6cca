"""What becomes of a PipelineRun: each task's pod or refusal, and what can run at once against the quotas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import structs

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.model.tekton import Pipeline, PipelineRun, TaskRun
from kubectl_kres.provenance.journal import Assume
from kubectl_kres.reports.common.effective_policies import policies
from kubectl_kres.reports.common.explanation import Explanation, Unseen
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.reports.common.subject import Ask, Subject
from kubectl_kres.reports.common.unseen import unread
from kubectl_kres.reports.explain.explain import explained
from kubectl_kres.reports.pod.verdict import word_of, worded
from kubectl_kres.reports.remedies.words import told
from kubectl_kres.reports.tekton.concurrent_tasks import at_once
from kubectl_kres.reports.tekton.pipeline import AssistantPod, PipelineExplanation, PlannedTask, TaskState
from kubectl_kres.reports.tekton.pipeline_needs import pipeline_needs
from kubectl_kres.reports.tekton.pipeline_verdict import judged, of_tasks
from kubectl_kres.reports.tekton.run_facts import SETTLING, moment_of, run_facts, tekton_remarks
from kubectl_kres.reports.tekton.taskrun import analysed, pod_of, refused_run, unknown_task
from kubectl_kres.reports.tekton.world import stored_run, tekton_world
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.base.naming import PIPELINE_RUN
from kubectl_kres.tekton.base.result import Gap, Problem
from kubectl_kres.tekton.controller.quota_retry import time_left, waits
from kubectl_kres.tekton.controller.taskrun import RunResult
from kubectl_kres.tekton.pipeline.affinity_assistant import Assistant
from kubectl_kres.tekton.pipeline.pipeline_run import PipelineAnswer, has_ended, pipeline_run
from kubectl_kres.tekton.pipeline.pipeline_tasks import Planned, alone


def explain_pipeline(store: Store, subject: Subject, ask: Ask) -> PipelineExplanation:
    """Raises NotFound or Forbidden if the object or its Pipeline cannot be had, ClusterError if that is remote."""
    world = tekton_world(store, subject.ref.namespace, ask)
    run, refusals = stored_run(store, subject, world, PipelineRun, Pipeline, alone)
    if run is None:
        return _not_stored(store, subject, ask, refusals)
    children = _children(store, run) if subject.raw is None else {}
    found = pipeline_run(run, world, children=children)
    if isinstance(found, Gap):
        raise unknown_task(store, subject, found)
    if has_ended(run):
        names = frozenset(one.name for one in found.plan.tasks)
        found = structs.replace(found, finished=names, peaks=(), assistants=())
    tasks = tuple(_task(store, subject, ask, one, found, children) for one in found.plan.tasks)
    problems = (found.plan.problem,) if found.plan.problem is not None else ()
    verdict, remedy = judged(problems, found.plan.cycle, tasks)
    if (why := _failure(run)) is not None and not remedy:
        remedy = _of_failed(tasks, f"start a new run: this one has failed{why} and nothing revives it")
    moment = moment_of(ask.now)
    left = time_left(run, moment, world.config.timeout_minutes) if moment is not None and not has_ended(run) else None
    unseen = _unseen(store, subject)
    source = found.plan.pipeline.origin.source
    return PipelineExplanation(
        subject.ref,
        f"{source.kind}/{source.name}{f' {source.field}' if source.kind == 'PipelineRun' else ''}",
        worded(verdict, unseen),
        remedy,
        found.plan.problem,
        found.plan.cycle,
        tasks,
        () if has_ended(run) else at_once(found, world, children, started=run.status.start_time is not None),
        tuple(_assistant(one) for one in found.assistants),
        int(left.total_seconds()) if left is not None else None,
        has_ended(run),
        tuple(run_facts(run)) if subject.raw is None else (),
        _assumptions(store, subject, ask),
        unseen,
        ".".join(map(str, world.config.version or ())),
        not any(one.required for one in unseen),
    )


def _not_stored(store: Store, subject: Subject, ask: Ask, refusals: Sequence[Problem]) -> PipelineExplanation:
    verdict, remedy = judged(refusals, (), ())
    unseen, where = _unseen(store, subject), subject.file or "the input"
    return PipelineExplanation(
        subject.ref,
        where,
        worded(verdict, unseen),
        remedy,
        refusals[0],
        assumptions=_assumptions(store, subject, ask),
        unseen=unseen,
        complete=not any(one.required for one in unseen),
    )


def _of_failed(tasks: Sequence[PlannedTask], anew: str) -> tuple[Remedy, ...]:
    """What to change before the next run, for tasks that have failed and would be refused again; then to run it."""
    failed = [(one.name, one.explanation) for one in tasks if one.state == "failed" and one.explanation is not None]
    ways = of_tasks([(name, one) for name, one in failed if one.verdict.allowed is not True])
    return tuple(structs.replace(one, text=f"{one.text}; {anew}") for one in ways) or told((anew,))


def _failure(run: PipelineRun) -> str | None:
    """The reason of a run that has failed, in parentheses; None for any other."""
    found = (one for one in run.status.conditions or () if one.type == "Succeeded" and one.status == "False")
    return next((f" ({one.reason})" if one.reason else "" for one in found), None)


def _children(store: Store, run: PipelineRun) -> Mapping[str, TaskRun]:
    name = run.metadata.name
    return {
        one.metadata.name: one
        for one in store.all("TaskRun", run.metadata.namespace)
        if (one.metadata.labels or {}).get(PIPELINE_RUN) == name
    }


def _task(
    store: Store, subject: Subject, ask: Ask, planned: Planned, found: PipelineAnswer, children: Mapping[str, TaskRun]
) -> PlannedTask:
    results = found.results.get(planned.name, ())
    explanation = _explained(store, subject, ask, planned, results, children) if results else None
    return PlannedTask(
        planned.name,
        planned.number,
        planned.names,
        planned.after,
        planned.is_finally,
        _state(planned, found, children),
        planned.task.origin.source if planned.task is not None else None,
        planned.gap if not results else None,
        explanation,
    )


def _state(planned: Planned, found: PipelineAnswer, children: Mapping[str, TaskRun]) -> TaskState:
    made = [children[name] for name in planned.names if name in children]
    if planned.name in found.finished:
        failed = any(one.status == "False" for run in made for one in run.status.conditions or ())
        return ("failed" if failed else "done") if made else "skipped"
    if any(waits(one) is not None for one in made):
        return "waiting"
    return "running" if any(one.status.pod_name and not has_ended(one) for one in made) else ""


def _explained(
    store: Store,
    subject: Subject,
    ask: Ask,
    planned: Planned,
    results: Sequence[RunResult],
    children: Mapping[str, TaskRun],
) -> Explanation | None:
    """The explanation of the task's first TaskRun; what is seen of it and supposed stands at the PipelineRun."""
    run = children.get(planned.names[0], planned.run) if planned.names else planned.run
    ref = ObjectRef("TaskRun", run.metadata.name, subject.ref.namespace)
    if planned.task is None:
        return None
    if (
        results[0].built is None
        and results[0].problem is not None
        and results[0].problem.stage in {"object", "validation"}
    ):
        analysis = refused_run(store, ref, ask, planned.name, tuple(one.problem for one in results if one.problem))
    else:
        analysis = analysed(store, ref, ask, run, planned.task, results, pod_of(store, run), planned.fields)
    if analysis.tekton is not None:
        owner = subject.ref.name if subject.ref.kind == "PipelineRun" else ""
        part = structs.replace(analysis.tekton, pipeline_run=owner)
        analysis = structs.replace(analysis, tekton=part)
    told = explained(store, Subject(ref, subject.kind), ask, analysis)
    # What could not be read is said once, of the whole run.
    verdict = structs.replace(told.verdict, outcome=word_of(told.verdict))
    return structs.replace(told, verdict=verdict, unseen=(), assumptions=(), complete=True)


def _assistant(one: Assistant) -> AssistantPod:
    return AssistantPod(one.name, one.workspace, tuple(filter(None, map(one.event, one.outcomes))))


def _assumptions(store: Store, subject: Subject, ask: Ask) -> tuple[Assume, ...]:
    stated = tuple(Assume("server", "server/assumed", text) for text in ask.assumptions)
    known = policies(store, subject.ref.namespace, ask.server).assumptions
    return (*known, *stated, *tekton_remarks(store, subject.ref.namespace, ask, ()))


def _unseen(store: Store, subject: Subject) -> tuple[Unseen, ...]:
    wanted = unread(store, pipeline_needs(store, subject))
    return tuple(one for one in wanted if one.required or one.kind not in SETTLING)
