"""What becomes of a PipelineRun: each task's pod or refusal, and what can run at once against the quotas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import structs

from kubectl_kres.admission.base.outcome import Refusal
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.provenance.journal import Assume
from kubectl_kres.provenance.problem import Problem
from kubectl_kres.reports.common.effective_policies import policies
from kubectl_kres.reports.common.explanation import Explanation, Unseen, unread
from kubectl_kres.reports.common.remedy import Remedy, SetConfig
from kubectl_kres.reports.common.subject import Ask, Subject
from kubectl_kres.reports.explain.explain import explained
from kubectl_kres.reports.pod.verdict import verdict_of, word_of, worded
from kubectl_kres.reports.remedies.commands import commands
from kubectl_kres.reports.remedies.words import told
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.model import Pipeline, PipelineRun, TaskRun
from kubectl_kres.tekton.reports.concurrent_tasks import at_once
from kubectl_kres.tekton.reports.pipeline import AssistantPod, PipelineExplanation, PlannedTask, TaskState
from kubectl_kres.tekton.reports.pipeline_needs import pipeline_needs
from kubectl_kres.tekton.reports.pipeline_verdict import ENDED, Judgement, judged, of_tasks
from kubectl_kres.tekton.reports.remedy import kept_elsewhere
from kubectl_kres.tekton.reports.run_facts import SETTLING, held_back, moment_of, run_facts, tekton_remarks
from kubectl_kres.tekton.reports.run_objects import existing_claims, existing_pods, of_pipeline
from kubectl_kres.tekton.reports.run_state import run_state
from kubectl_kres.tekton.reports.taskrun import analysed, pod_of, refused_run, unknown_task
from kubectl_kres.tekton.reports.ways.admitted_remedies import released
from kubectl_kres.tekton.reports.ways.assistants import assistant_remedies, assistant_verdict, without_pod
from kubectl_kres.tekton.reports.ways.claim_remedies import claim_remedies
from kubectl_kres.tekton.reports.world import stored_run, tekton_world
from kubectl_kres.tekton.rules.base.naming import PIPELINE_RUN
from kubectl_kres.tekton.rules.base.result import Gap
from kubectl_kres.tekton.rules.controller.quota_retry import time_left, waits
from kubectl_kres.tekton.rules.controller.taskrun import ClaimRefusal, RunResult, RunWorld
from kubectl_kres.tekton.rules.pipeline.affinity_assistant import Assistant
from kubectl_kres.tekton.rules.pipeline.pipeline_run import PipelineAnswer, has_ended, pipeline_run
from kubectl_kres.tekton.rules.pipeline.pipeline_tasks import Planned, alone


def explain_pipeline(store: Store, subject: Subject, ask: Ask) -> PipelineExplanation:
    """Raises NotFound or Forbidden if the object or its Pipeline cannot be had, ClusterError if that is remote."""
    world = tekton_world(store, subject.ref.namespace, ask)
    run, refusals = stored_run(store, subject, world, PipelineRun, Pipeline, alone)
    if run is None:
        return _not_stored(store, subject, ask, refusals)
    children = _children(store, run) if subject.raw is None else {}
    waiting_status = held_back(run)
    result = pipeline_run(
        run, world, children=children, claims=existing_claims(store, run), pods=existing_pods(store, run)
    )
    if isinstance(result, Gap):
        raise unknown_task(store, subject, result)
    if has_ended(run):
        names = frozenset(task.name for task in result.plan.tasks)
        result = structs.replace(result, finished=names, peaks=(), assistants=(), claims=())
    tasks = tuple(_task(store, subject, ask, task, result, children) for task in result.plan.tasks)
    verdict, remedy = _judged(store, subject, run, result, world, tasks)
    if waiting_status and not remedy and verdict.allowed is True:
        remedy = (released(store, subject.ref, waiting_status, stored=subject.raw is None),)
    if (why := _failure(run)) is not None and not remedy:
        remedy = _of_failed(tasks, f"start a new run: this one has failed{why} and nothing revives it")
    moment = moment_of(ask.now)
    left = time_left(run, moment, world.config.timeout_minutes) if moment is not None and not has_ended(run) else None
    unseen = _unseen(store, subject)
    source = result.plan.pipeline.origin.source
    return PipelineExplanation(
        subject.ref,
        f"{source.kind}/{source.name}{f' {source.field}' if source.kind == 'PipelineRun' else ''}",
        worded(verdict, unseen),
        remedy,
        result.plan.problem,
        result.plan.cycle,
        tasks,
        () if has_ended(run) else at_once(result, world, children, started=run.status.start_time is not None),
        tuple(_assistant(assistant) for assistant in result.assistants),
        int(left.total_seconds()) if left is not None else None,
        has_ended(run),
        tuple(run_facts(run)) if subject.raw is None else (),
        _assumptions(store, subject, ask),
        unseen,
        ".".join(map(str, world.config.version or ())),
        not any(unseen.required for unseen in unseen),
        waiting_status,
        tuple(made for made in of_pipeline(run, result, world) if made.object.kind == "PersistentVolumeClaim"),
        run_state(store, run, ask.now) if subject.raw is None and subject.ref.kind == "PipelineRun" else None,
    )


def _judged(
    store: Store,
    subject: Subject,
    run: PipelineRun,
    result: PipelineAnswer,
    world: RunWorld,
    tasks: Sequence[PlannedTask],
) -> Judgement:
    """The verdict with the claims of workspaces, which come before the tasks, and the assistants, which come beside."""
    if result.refusals:
        own = [structs.replace(refusal.outcome, refusal=_worded(refusal)) for refusal in result.refusals]
        claims = result.claims or tuple(refusal.claim.claim for refusal in result.refusals)
        return verdict_of(own), claim_remedies(store, subject, claims, world.policies, world.server)
    problems = (result.plan.problem,) if result.plan.problem is not None else ()
    verdict, remedy = judged(problems, result.plan.cycle, tasks)
    remedy = tuple(_with_commands(store, way) for way in remedy)
    if world.config.by_operator:
        remedy = tuple(structs.replace(way, text=kept_elsewhere(way.text)) for way in remedy)
    open_tasks = [task.name for task in tasks if task.state not in ENDED]
    lacking = without_pod(result.assistants, open_tasks)
    if not lacking or problems or result.plan.cycle:
        return verdict, remedy
    beside = assistant_verdict(lacking, open_tasks)
    ways = assistant_remedies(store, subject, run, result.plan.pipeline, world, lacking)
    if verdict.allowed is True:
        return beside, ways
    both = [_joined(first, second) for first, second in zip(remedy[:1], ways[:1], strict=False)]
    return structs.replace(verdict, others=(*verdict.others, beside.message, *beside.others)), (*both, *remedy[1:])


def _with_commands(store: Store, way: Remedy) -> Remedy:
    """The edits of several tasks with the lines that make those of Tekton's configuration."""
    own = [edit for edit in way.edits if isinstance(edit, SetConfig)]
    return way if way.commands or not own else structs.replace(way, commands=commands(store.origin, own, {}))


def _joined(first: Remedy, second: Remedy) -> Remedy:
    """Two remedies that are both needed, the same edits once."""
    if set(second.commands) <= set(first.commands) and second.edits == first.edits[: len(second.edits)]:
        return first
    more = [command for command in second.commands if command not in first.commands]
    why = "; ".join(dict.fromkeys(filter(None, (first.why, second.why))))
    return Remedy(f"{first.text}; {second.text}", (*first.edits, *second.edits), (*first.commands, *more), why)


def _worded(refusal: ClaimRefusal) -> Refusal | None:
    own = refusal.outcome.refusal
    return structs.replace(own, message=refusal.problem.text) if own is not None else None


def _not_stored(store: Store, subject: Subject, ask: Ask, refusals: Sequence[Problem]) -> PipelineExplanation:
    verdict, remedy = judged(refusals, (), ())
    if tekton_world(store, subject.ref.namespace, ask).config.by_operator:
        remedy = tuple(structs.replace(way, text=kept_elsewhere(way.text)) for way in remedy)
    unseen, where = _unseen(store, subject), subject.file or "the input"
    return PipelineExplanation(
        subject.ref,
        where,
        worded(verdict, unseen),
        remedy,
        refusals[0],
        assumptions=_assumptions(store, subject, ask),
        unseen=unseen,
        complete=not any(unseen.required for unseen in unseen),
    )


def _of_failed(tasks: Sequence[PlannedTask], anew: str) -> tuple[Remedy, ...]:
    """What to change before the next run, for tasks that have failed and would be refused again; then to run it."""
    failed = [
        (task.name, task.explanation) for task in tasks if task.state == "failed" and task.explanation is not None
    ]
    ways = of_tasks([(name, explanation) for name, explanation in failed if _fails_again(explanation)])
    return tuple(structs.replace(way, text=f"{way.text}; {anew}") for way in ways) or told((anew,))


def _fails_again(explanation: Explanation) -> bool:
    """Whether a new run of a task would be refused, or one of its containers be killed again."""
    part = explanation.tekton
    killed = part is not None and any(killed.again for killed in part.killed)
    return explanation.verdict.allowed is not True or killed


def _failure(run: PipelineRun) -> str | None:
    """The reason of a run that has failed, in parentheses; None for any other."""
    conditions = (
        condition
        for condition in run.status.conditions or ()
        if condition.type == "Succeeded" and condition.status == "False"
    )
    return next((f" ({condition.reason})" if condition.reason else "" for condition in conditions), None)


def _children(store: Store, run: PipelineRun) -> Mapping[str, TaskRun]:
    name = run.metadata.name
    return {
        task_run.metadata.name: task_run
        for task_run in store.all("TaskRun", run.metadata.namespace)
        if (task_run.metadata.labels or {}).get(PIPELINE_RUN) == name
    }


def _task(
    store: Store,
    subject: Subject,
    ask: Ask,
    planned: Planned,
    pipeline_answer: PipelineAnswer,
    children: Mapping[str, TaskRun],
) -> PlannedTask:
    results = pipeline_answer.results.get(planned.name, ())
    explanation = _explained(store, subject, ask, planned, results, children) if results else None
    return PlannedTask(
        planned.name,
        planned.number,
        planned.names,
        planned.after,
        planned.is_finally,
        _state(planned, pipeline_answer, children),
        planned.task.origin.source if planned.task is not None else None,
        planned.gap if not results else None,
        explanation,
    )


def _state(planned: Planned, pipeline_answer: PipelineAnswer, children: Mapping[str, TaskRun]) -> TaskState:
    made = [children[name] for name in planned.names if name in children]
    if planned.name in pipeline_answer.finished:
        failed = any(condition.status == "False" for run in made for condition in run.status.conditions or ())
        return ("failed" if failed else "done") if made else "skipped"
    if any(waits(task_run) is not None for task_run in made):
        return "waiting"
    return "running" if any(task_run.status.pod_name and not has_ended(task_run) for task_run in made) else ""


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
        analysis = refused_run(
            store, ref, ask, planned.name, tuple(result.problem for result in results if result.problem)
        )
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


def _assistant(assistant: Assistant) -> AssistantPod:
    events = (*assistant.claim_events(),) if assistant.claims else map(assistant.event, assistant.outcomes)
    refused = () if assistant.there else tuple(filter(None, events))
    return AssistantPod(assistant.name, assistant.workspace, refused, assistant.tasks, assistant.there)


def _assumptions(store: Store, subject: Subject, ask: Ask) -> tuple[Assume, ...]:
    stated = tuple(Assume("server", "server/assumed", text) for text in ask.assumptions)
    known = policies(store, subject.ref.namespace, ask.server).assumptions
    return (*known, *stated, *tekton_remarks(store, subject.ref.namespace, ask, ()))


def _unseen(store: Store, subject: Subject) -> tuple[Unseen, ...]:
    wanted = unread(store, pipeline_needs(store, subject))
    return tuple(unseen for unseen in wanted if unseen.required or unseen.kind not in SETTLING)
