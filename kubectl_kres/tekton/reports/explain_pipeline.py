"""The explanation of a PipelineRun: each task's pod or refusal, and what can run at once against the quotas.

The verdict on the run is made of those on its tasks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from shlex import quote

from msgspec import structs

from kubectl_kres.admission.base.outcome import QuotaCharge, Refusal
from kubectl_kres.admission.quota.quota_admission import charges
from kubectl_kres.admission.request.new_pod import quota_request
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import Condition, ObjectRef, struct_as_json
from kubectl_kres.provenance.journal import Assumption
from kubectl_kres.quantity import ZERO, Quantity, parse
from kubectl_kres.record import Wording, joined
from kubectl_kres.reports.common.effective_policies import policies
from kubectl_kres.reports.common.explanation import (
    EvaluationOptions,
    Explanation,
    FailedRead,
    RunState,
    Subject,
    Verdict,
    find_unread,
    not_computed,
    waits_or_fails,
)
from kubectl_kres.reports.common.remedy import Edit, RaiseQuota, Remedy, SetConfig, untested_remedies
from kubectl_kres.reports.common.system import Turn, assumed_of_object, turn_of
from kubectl_kres.reports.common.system_parts import hold, part_of
from kubectl_kres.reports.explain.explain import build_explanation, explain
from kubectl_kres.reports.pod.verdict import outcome_word, verdict_of, with_outcome
from kubectl_kres.reports.remedies.commands import commands
from kubectl_kres.reports.remedies.pod_remedy import remedies
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.model import Pipeline, PipelineRun, TaskRun
from kubectl_kres.tekton.reports.needs import pipeline_needs
from kubectl_kres.tekton.reports.new_run import NewRun
from kubectl_kres.tekton.reports.part import TektonPart
from kubectl_kres.tekton.reports.pinned_tasks import with_lacking_tasks
from kubectl_kres.tekton.reports.pipeline import AssistantPod, AtOnce, PipelineExplanation, PlannedTask, TaskState
from kubectl_kres.tekton.reports.remedies.admitted_remedies import release_remedy
from kubectl_kres.tekton.reports.remedies.assistants import assistant_remedies, assistant_verdict, without_pod
from kubectl_kres.tekton.reports.remedies.claim_remedies import claim_remedies
from kubectl_kres.tekton.reports.remedies.run_trials import entries_yaml
from kubectl_kres.tekton.reports.remedy import TEKTON_REMEDIES, names_new_run, with_operator_location
from kubectl_kres.tekton.reports.run_facts import (
    SETTLING,
    condition_of,
    parse_api_time,
    run_facts,
    spec_status_hold,
    tekton_remarks,
)
from kubectl_kres.tekton.reports.run_objects import existing_claims, existing_pods, pipeline_steps
from kubectl_kres.tekton.reports.run_state import run_state
from kubectl_kres.tekton.reports.taskrun import build_analysis, pod_of, refused_outcome, refused_run, unknown_task
from kubectl_kres.tekton.reports.world import stored_run, tekton_world
from kubectl_kres.tekton.rules.base.problem import Problem
from kubectl_kres.tekton.rules.base.result import MissingReference
from kubectl_kres.tekton.rules.base.variables import PIPELINE_RUN
from kubectl_kres.tekton.rules.controller.quota_retry import time_left, waiting_condition
from kubectl_kres.tekton.rules.controller.taskrun import ClaimRefusal, RunNamespace, RunResult
from kubectl_kres.tekton.rules.pipeline.pipeline_run import (
    RUNS,
    Assistant,
    Peak,
    PipelineAnswer,
    find_peaks,
    has_ended,
    pipeline_run,
)
from kubectl_kres.tekton.rules.pipeline.pipeline_tasks import Planned, default_pipeline_run
from kubectl_kres.wording import join_words

#: States of tasks that ask for nothing any more.
ENDED = frozenset({"done", "failed", "skipped"})

Judgement = tuple[Verdict, tuple[Remedy, ...]]


def evaluate_pipeline(problems: Sequence[Problem], cycle: Sequence[str], tasks: Sequence[PlannedTask]) -> Judgement:
    """Return the verdict over all open tasks, and the remedies, each with its task in front.

    ``problems``: why nothing of the run runs.
    """
    if problems:
        outcomes = tuple(refused_outcome(problem) for problem in problems)
        return verdict_of(outcomes), untested_remedies(remedies(outcomes, special=TEKTON_REMEDIES))
    if cycle:
        text = f"tasks wait for each other: {' -> '.join((*cycle, cycle[0]))}"
        return Verdict(allowed=False, code=400, message=text), untested_remedies(
            ("take one of these tasks out of the other's runAfter",)
        )
    if result := tuple(_faults(tasks)):
        lines, sentences = tuple(text for text, _ in result), tuple(dict.fromkeys(remedy for _, remedy in result))
        return Verdict(allowed=False, code=400, message=lines[0], others=lines[1:]), untested_remedies(sentences)
    explained_tasks = [
        (task.name, task.explanation) for task in tasks if task.explanation is not None and task.state not in ENDED
    ]
    refused = sorted(
        ((name, explanation) for name, explanation in explained_tasks if explanation.verdict.allowed is not True),
        key=_is_retried,
    )
    if not refused:
        return Verdict(allowed=True, code=201), ()
    texts = [f"task {name}: {explanation.verdict.message}" for name, explanation in refused]
    changes = task_remedies(refused)
    allowed = False if any(explanation.verdict.allowed is False for _, explanation in refused) else None
    first = refused[0][1].verdict
    return structs.replace(first, allowed=allowed, message=texts[0], others=tuple(texts[1:])), changes


def task_remedies(refused: Sequence[tuple[str, Explanation]]) -> tuple[Remedy, ...]:
    """Return the remedies of one task, each with its name in front; of several tasks the first remedy of each, all of
    them needed.

    What is tried is tried for each task alone, so that nothing is proven of several.
    """
    if len(refused) == 1:
        name, explanation = refused[0]
        return tuple(
            structs.replace(remedy, text=joined(f"task {name}", remedy.text, between=": "))
            for remedy in explanation.fixes
        )
    first = [(name, explanation.fixes[0]) for name, explanation in refused if explanation.fixes]
    if not first:
        return ()
    # Texts are values that hold manifests, which no table takes as keys.
    alike: list[tuple[Wording, list[str]]] = []
    for name, remedy in first:
        same = next((names for text, names in alike if text == remedy.text), None)
        if same is None:
            alike.append((remedy.text, [name]))
        else:
            same.append(name)
    texts = [
        joined(f"{'task' if len(task_names) == 1 else 'tasks'} {join_words(task_names)}", text, between=": ")
        for text, task_names in alike
    ]
    edits = _merge_edits([edit for _, remedy in first for edit in remedy.edits])
    whys = dict.fromkeys(remedy.no_command_reason for _, remedy in first if remedy.no_command_reason)
    return (Remedy(joined(*texts), edits, no_command_reason=joined(*whys)),)


def _merge_edits(edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Return each field once; of a quota the most that one of the tasks needs."""
    result: dict[tuple[ObjectRef, str], Edit] = {}
    for edit in edits:
        key, outcome = (edit.object, edit.field), result.get((edit.object, edit.field))
        if isinstance(edit, RaiseQuota) and isinstance(outcome, RaiseQuota) and parse(outcome.to) > parse(edit.to):
            continue
        result[key] = _with_entries(outcome, edit)
    return tuple(result.values())


def _with_entries(before: Edit | None, edit: Edit) -> Edit:
    """Return the edit of config-defaults with the entries of all tasks, in one text."""
    if not isinstance(before, SetConfig) or not isinstance(edit, SetConfig) or not edit.entries:
        return edit
    more = {name: values for name, values in edit.entries.items() if name not in before.entries}
    return structs.replace(before, to=f"{before.to}{entries_yaml(more)}", entries={**before.entries, **more})


def _faults(tasks: Sequence[PlannedTask]) -> Iterator[tuple[str, str]]:
    """Yield what Tekton's webhook refuses in a Pipeline, in our words, each with what to change.

    Source: apis/pipeline/v1/pipeline_validation.go.
    """
    if not tasks:
        yield "the Pipeline has no tasks", "give the Pipeline a task"
    names = [task.name for task in tasks]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        yield f"several tasks are named {name}", "give each task a name of its own"
    known_names = {task.name for task in tasks if not task.is_finally}
    for task in tasks:
        if task.explanation is None and task.missing is None:
            yield (
                f"task {task.name} neither names a Task nor holds one",
                f"give task {task.name} a taskRef or a taskSpec",
            )
        for other in task.after:
            if other not in known_names:
                yield (
                    f"task {task.name} comes after {other}, which is no task of the Pipeline",
                    f"name a task of the Pipeline in task {task.name}",
                )


def _is_retried(named: tuple[str, Explanation]) -> bool:
    """Return whether the refusal is tried again; what is final comes first."""
    part = part_of(named[1].pod_parts, TektonPart)
    return part is not None and part.problem is not None and not part.problem.final


#: What is reported where no quota limits it.
_TOLD = ("pods", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory")


def at_once(
    pipeline_answer: PipelineAnswer, world: RunNamespace, children: Mapping[str, TaskRun], *, started: bool
) -> tuple[AtOnce, ...]:
    """Return the names that quotas limit, each with its quota, then the usual ones that none limits.

    ``started``: affinity assistants are there already, and counted.
    """
    limited = (
        *_list_quota_peaks(pipeline_answer, world, children, started=started),
        *_objects(pipeline_answer, world, children),
    )
    named = {at_once.resource for at_once in limited}
    free = (peak for peak in pipeline_answer.peaks if peak.resource in _TOLD and peak.resource not in named)
    return (*limited, *(_format_peak(peak) for peak in free))


def _format_peak(peak: Peak) -> AtOnce:
    return AtOnce(peak.resource, str(peak.amount), peak.tasks, is_finally=peak.is_finally, at_least=peak.at_least)


def _list_quota_peaks(
    pipeline_answer: PipelineAnswer, world: RunNamespace, children: Mapping[str, TaskRun], *, started: bool
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
        for peak in find_peaks(pipeline_answer.plan, within, pipeline_answer.finished):
            if peak.resource in first.hard:
                running = _sum_amounts(live.get((task, peak.resource), ZERO) for task in peak.tasks)
                yield _compare_with_quota(peak, first, running, extra.get(peak.resource, ZERO), started=started)


def _objects(pipeline_answer: PipelineAnswer, world: RunNamespace, children: Mapping[str, TaskRun]) -> Iterator[AtOnce]:
    """Yield the quotas that count TaskRuns: all that the run makes, since ended ones count until they are deleted.

    Tekton tries again and again to make one that is refused, and says nothing of it in the PipelineRun.
    """
    for quota in world.policies.quotas:
        if RUNS not in quota.hard or quota.scopes or pipeline_answer.plan.cycle:
            continue
        tasks = [
            task
            for task in pipeline_answer.plan.tasks
            if task.name not in pipeline_answer.finished or _count_task_runs(task, children)
        ]
        counted_tasks = [task for task in tasks if task.gap is None or task.gap.reason not in {"custom", "nested"}]
        run_count = sum(_count_task_runs(planned, children) for planned in counted_tasks)
        total = sum(
            max(1 if planned.number is None else planned.number, _count_task_runs(planned, children))
            for planned in counted_tasks
        )
        used, hard = quota.used.get(RUNS, ZERO), quota.hard[RUNS]
        after = Quantity(used.nano + (total - run_count) * 10**9, hard.format)
        yield AtOnce(
            RUNS,
            str(total),
            tuple(planned.name for planned in counted_tasks),
            quota.name,
            at_least=any(planned.number is None for planned in counted_tasks),
            counted=str(run_count) if run_count else "",
            used=str(used),
            hard=str(hard),
            after=str(after),
            exceeded=after > hard,
        )


def _count_task_runs(task: Planned, children: Mapping[str, TaskRun]) -> int:
    """Return how many TaskRuns of a task are there."""
    return sum(1 for name in task.names if name in children)


def _compare_with_quota(peak: Peak, charge: QuotaCharge, live: Quantity, extra: Quantity, *, started: bool) -> AtOnce:
    name = peak.resource
    used, hard = parse(charge.used[name]), parse(charge.hard[name])
    more = ZERO if started else extra
    after = Quantity(used.nano + max(0, peak.amount.nano - live.nano) + more.nano, hard.format)
    return AtOnce(
        name,
        str(peak.amount),
        peak.tasks,
        charge.quota,
        peak.is_finally,
        peak.at_least,
        str(live) if live.nano else "",
        str(extra) if extra.nano else "",
        charge.used[name],
        charge.hard[name],
        str(after),
        after > hard,
    )


def _charge(results: Sequence[RunResult], quota: str, world: RunNamespace) -> QuotaCharge | None:
    """Return the cost of a task's pod for a quota; None where the quota does not count it."""
    for result in results:
        if result.built_pod is None or result.outcome is None or result.outcome.draft is None:
            continue
        for charge in charges(quota_request(result.built_pod.pod, result.outcome.draft), world.policies.quotas):
            if charge.quota == quota:
                return charge
    return None


def _live(
    pipeline_answer: PipelineAnswer, counted: Mapping[str, QuotaCharge | None], children: Mapping[str, TaskRun]
) -> dict[tuple[str, str], Quantity]:
    """Return what of each task is in ``used`` already: its TaskRuns that have pods, at what such a pod costs."""
    amounts = {}
    for task in pipeline_answer.plan.tasks:
        charge = counted.get(task.name)
        runs = [children[name] for name in task.names if name in children]
        pods = sum(1 for run in runs if run.status.pod_name and not has_ended(run))
        for name, text in (charge.requested if charge is not None else {}).items():
            quantity = parse(text)
            amounts[task.name, name] = Quantity(quantity.nano * pods, quantity.format)
    return amounts


def _assistants(pipeline_answer: PipelineAnswer, world: RunNamespace, quota: str) -> dict[str, Quantity]:
    """Return what affinity assistants cost a quota."""
    total: dict[str, Quantity] = {}
    for assistant in pipeline_answer.assistants:
        draft = next((outcome.draft for outcome in assistant.outcomes if outcome.draft is not None), None)
        if draft is None or not any(outcome.allowed for outcome in assistant.outcomes):
            continue
        for charge in charges(quota_request(assistant.pod, draft), world.policies.quotas):
            if charge.quota == quota:
                for name, text in charge.requested.items():
                    total[name] = _sum_amounts((total.get(name, ZERO), parse(text)))
    return total


def _sum_amounts(amounts: Iterable[Quantity]) -> Quantity:
    quantities = tuple(amounts)
    form = next((quantity.format for quantity in quantities if quantity.nano), ZERO.format)
    return Quantity(sum(quantity.nano for quantity in quantities), form)


def explain_pipeline(store: Store, subject: Subject, options: EvaluationOptions) -> PipelineExplanation:
    """Return the explanation. Raises NotFound or Forbidden if the object or its Pipeline cannot be read, ClusterError
    if that is remote.
    """
    world = tekton_world(store, subject.ref.namespace, options)
    run, refusals = stored_run(store, subject, world, PipelineRun, Pipeline, default_pipeline_run)
    if run is None:
        return _not_stored(store, subject, options, refusals)
    children = _children(store, run) if subject.raw is None else {}
    waiting_status = spec_status_hold(run)
    result = pipeline_run(
        run, world, children=children, claims=existing_claims(store, run), pods=existing_pods(store, run)
    )
    if isinstance(result, MissingReference):
        raise unknown_task(store, subject, result)
    if has_ended(run):
        names = frozenset(task.name for task in result.plan.tasks)
        result = structs.replace(result, finished=names, peaks=(), assistants=(), claims=())
    tasks = tuple(_task(store, subject, options, task, result, children) for task in result.plan.tasks)
    verdict, remedy = _with_claims_and_assistants(store, subject, run, result, world, tasks)
    turn = None if has_ended(run) else turn_of(store, subject)
    if turn is not None and turn.state is not None:
        waiting_status = ""
        remedy = remedy or (turn.fixes if verdict.allowed is True else ())
    if waiting_status and not remedy and verdict.allowed is True:
        remedy = (release_remedy(store, subject.ref, waiting_status, run, stored=subject.raw is None),)
    failure = _failure(run)
    if failure is not None and not remedy:
        remedy = _remedies_of_failed(tasks, NewRun("failed", failure.reason))
    time = parse_api_time(options.now)
    left = time_left(run, time, world.config.timeout_minutes) if time is not None and not has_ended(run) else None
    gaps = dict.fromkeys(
        gap for run_results in result.results.values() for run_result in run_results for gap in run_result.gaps
    )
    failed_reads = (*_list_unseen(store, subject), *map(not_computed, gaps))
    source = result.plan.pipeline.origin.source
    return PipelineExplanation(
        subject.ref,
        f"{source.kind}/{source.name}{f' {source.field}' if source.kind == 'PipelineRun' else ''}",
        with_outcome(verdict, failed_reads),
        remedy,
        result.plan.problem,
        result.plan.cycle,
        tasks,
        () if has_ended(run) else at_once(result, world, children, started=run.status.start_time is not None),
        tuple(with_lacking_tasks(store, run, _assistant(assistant), tasks, result) for assistant in result.assistants),
        int(left.total_seconds()) if left is not None else None,
        has_ended(run),
        tuple(run_facts(run)) if subject.raw is None else (),
        tuple(
            dict.fromkeys(
                (
                    *_assumptions(store, subject, options),
                    *(() if has_ended(run) else _asked_webhooks(store, result.results.values(), options)),
                )
            )
        ),
        failed_reads,
        ".".join(map(str, world.config.version or ())),
        not any(failed_read.required for failed_read in failed_reads),
        waiting_status,
        tuple(
            run_object
            for run_object in pipeline_steps(run, result, world)
            if run_object.object.kind == "PersistentVolumeClaim"
        ),
        _state_of_run(store, run, options, turn, stored=subject.raw is None)
        if subject.ref.kind == "PipelineRun"
        else None,
        hold(turn.part) if turn is not None and turn.part is not None else {},
    )


def _state_of_run(
    store: Store, run: PipelineRun, options: EvaluationOptions, turn: Turn | None, *, stored: bool
) -> RunState | None:
    """Return the state; where a task stops the run, with the first fix of that task's own page, and its command.

    ``turn``: why it waits for its turn. Of a file there is no other state.
    """
    if turn is not None and turn.state is not None:
        return turn.state
    if not stored:
        return None
    state, space = run_state(store, run, options.now), run.metadata.namespace
    if not waits_or_fails(state):
        return state
    for child in run.status.child_references or ():
        task_run = store.get("TaskRun", child.name, space) if child.kind == "TaskRun" else None
        if task_run is None or run_state(store, task_run, options.now) != state:
            continue
        ref = ObjectRef("TaskRun", child.name, space)
        fixes = explain(store, Subject(ref, BY_KIND["TaskRun"]), options).fixes
        fix = fixes[0].text if fixes else state.next
        page = f"kubectl kres explain taskrun/{quote(child.name)} -n {quote(space)}"
        return structs.replace(
            state,
            next=joined(f"task {child.pipeline_task_name}: ", fix, f" (all of it: {page})", between=""),
        )
    return state


def _with_claims_and_assistants(
    store: Store,
    subject: Subject,
    run: PipelineRun,
    result: PipelineAnswer,
    world: RunNamespace,
    tasks: Sequence[PlannedTask],
) -> Judgement:
    """Return the verdict with the claims of workspaces, which come before the tasks, and the assistants, which come
    beside.
    """
    if result.refusals:
        own_outcomes = [
            structs.replace(refusal.outcome, refusal=_set_problem_text(refusal)) for refusal in result.refusals
        ]
        claims = result.claims or tuple(refusal.claim.claim for refusal in result.refusals)
        return verdict_of(own_outcomes), claim_remedies(store, subject, claims, world.policies, world.server)
    problems = (result.plan.problem,) if result.plan.problem is not None else ()
    verdict, remedy = evaluate_pipeline(problems, result.plan.cycle, tasks)
    if problems and problems[0].rule == "tekton/unknown-pipeline-task":
        remedy = untested_remedies(tuple(_meant_tasks(run, [task.name for task in tasks])))
    remedy = tuple(_with_commands(store, found_remedy) for found_remedy in remedy)
    if world.config.by_operator:
        remedy = tuple(
            structs.replace(found_remedy, text=with_operator_location(found_remedy.text)) for found_remedy in remedy
        )
    open_tasks = [task.name for task in tasks if task.state not in ENDED]
    lacking = without_pod(result.assistants, open_tasks)
    fails = any(assistant.refused_set for assistant in lacking)
    if not lacking or (problems and not fails) or result.plan.cycle:
        return verdict, remedy
    beside = assistant_verdict(lacking, open_tasks)
    assistant_fixes = assistant_remedies(store, subject, run, result.plan.pipeline, world, lacking)
    if verdict.allowed is True or fails:
        return (verdict if fails else beside), assistant_fixes
    both = [_join_remedies(first, second) for first, second in zip(remedy[:1], assistant_fixes[:1], strict=False)]
    return structs.replace(verdict, others=(*verdict.others, beside.message, *beside.others)), (*both, *remedy[1:])


def _meant_tasks(run: PipelineRun, names: Sequence[str]) -> Iterator[str]:
    """Yield, for each task that the Pipeline does not have, the one whose name is nearest, else all names."""
    for entry in run.spec.task_run_specs or ():
        wrong = entry.pipeline_task_name
        if wrong in names:
            continue
        near = get_close_matches(wrong, names, 1)
        yield f"name task {near[0] if near else ' or '.join(names)} instead of {wrong} in taskRunSpecs of a new run"


def _with_commands(store: Store, remedy: Remedy) -> Remedy:
    """Return the edits of several tasks with the commands for those of Tekton's configuration."""
    own_edits = [edit for edit in remedy.edits if isinstance(edit, SetConfig)]
    return (
        remedy
        if remedy.commands or not own_edits
        else structs.replace(remedy, commands=commands(store.origin, own_edits, {}))
    )


def _join_remedies(first: Remedy, second: Remedy) -> Remedy:
    """Return two remedies that are both needed, the same edits once."""
    if set(second.commands) <= set(first.commands) and second.edits == first.edits[: len(second.edits)]:
        return first
    more = [command for command in second.commands if command not in first.commands]
    reason = joined(*dict.fromkeys((first.no_command_reason, second.no_command_reason)))
    return Remedy(joined(first.text, second.text), (*first.edits, *second.edits), (*first.commands, *more), reason)


def _set_problem_text(refusal: ClaimRefusal) -> Refusal | None:
    own_refusal = refusal.outcome.refusal
    return structs.replace(own_refusal, message=refusal.problem.text) if own_refusal is not None else None


def _not_stored(
    store: Store, subject: Subject, options: EvaluationOptions, refusals: Sequence[Problem]
) -> PipelineExplanation:
    verdict, remedy = evaluate_pipeline(refusals, (), ())
    if tekton_world(store, subject.ref.namespace, options).config.by_operator:
        remedy = tuple(
            structs.replace(found_remedy, text=with_operator_location(found_remedy.text)) for found_remedy in remedy
        )
    failed_reads, file_name = _list_unseen(store, subject), subject.file or "the input"
    return PipelineExplanation(
        subject.ref,
        file_name,
        with_outcome(verdict, failed_reads),
        remedy,
        refusals[0],
        assumptions=_assumptions(store, subject, options),
        unread=failed_reads,
        complete=not any(failed_read.required for failed_read in failed_reads),
    )


def _remedies_of_failed(tasks: Sequence[PlannedTask], anew: NewRun) -> tuple[Remedy, ...]:
    """Return what to change before the next run, for tasks that have failed and would be refused again; then to
    run it.
    """
    failed = [
        (task.name, task.explanation) for task in tasks if task.state == "failed" and task.explanation is not None
    ]
    remedies = task_remedies([(name, explanation) for name, explanation in failed if _fails_again(explanation)])
    texts = (remedy.text if names_new_run(remedy.text) else joined(remedy.text, anew) for remedy in remedies)
    return tuple(
        structs.replace(remedy, text=text) for remedy, text in zip(remedies, texts, strict=True)
    ) or untested_remedies((anew,))


def _fails_again(explanation: Explanation) -> bool:
    """Return whether a new run of a task would be refused, or one of its containers be killed again."""
    part = part_of(explanation.pod_parts, TektonPart)
    killed = part is not None and any(killed.again for killed in part.killed)
    return explanation.verdict.allowed is not True or killed


def _failure(run: PipelineRun) -> Condition | None:
    """Return the condition of a run that has failed; None for any other."""
    condition = condition_of(run)
    return condition if condition is not None and condition.status == "False" else None


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
    options: EvaluationOptions,
    planned: Planned,
    pipeline_answer: PipelineAnswer,
    children: Mapping[str, TaskRun],
) -> PlannedTask:
    results = pipeline_answer.results.get(planned.name, ())
    explanation = _explain_task(store, subject, options, planned, results, children) if results else None
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
    children_made = [children[name] for name in planned.names if name in children]
    if planned.name in pipeline_answer.finished:
        failed = any(condition.status == "False" for run in children_made for condition in run.status.conditions or ())
        return ("failed" if failed else "done") if children_made else "skipped"
    if any(waiting_condition(task_run) is not None for task_run in children_made):
        return "waiting"
    return "running" if any(task_run.status.pod_name and not has_ended(task_run) for task_run in children_made) else ""


def _explain_task(
    store: Store,
    subject: Subject,
    options: EvaluationOptions,
    planned: Planned,
    results: Sequence[RunResult],
    children: Mapping[str, TaskRun],
) -> Explanation | None:
    """Return the explanation of the task's first TaskRun; its facts and assumptions are reported with the
    PipelineRun.
    """
    run = children.get(planned.names[0], planned.run) if planned.names else planned.run
    ref = ObjectRef("TaskRun", run.metadata.name, subject.ref.namespace)
    if planned.task is None:
        return None
    if (
        results[0].built_pod is None
        and results[0].problem is not None
        and results[0].problem.stage in {"object", "validation"}
    ):
        analysis = refused_run(
            store, ref, options, planned.name, tuple(result.problem for result in results if result.problem)
        )
    else:
        live, exists = pod_of(store, run), bool(run.status.pod_name)
        analysis = build_analysis(store, ref, options, run, planned.task, results, live, planned.fields, exists=exists)
    if (part := part_of(analysis.parts, TektonPart)) is not None:
        owner = subject.ref.name if subject.ref.kind == "PipelineRun" else ""
        parts = {**analysis.parts, **hold(structs.replace(part, pipeline_run=owner))}
        analysis = structs.replace(analysis, parts=parts)
    maker = subject if subject.raw is not None else None
    texts = build_explanation(store, Subject(ref, subject.kind, maker=maker), options, analysis)
    # What could not be read is said once, of the whole run.
    verdict = structs.replace(texts.verdict, outcome=outcome_word(texts.verdict))
    return structs.replace(texts, verdict=verdict, unread=(), assumptions=(), complete=True)


def _assistant(assistant: Assistant) -> AssistantPod:
    before = [refusal.message for _, refusals in assistant.objects for refusal in refusals]
    events = before or [*assistant.claim_events()] or map(assistant.event, assistant.outcomes)
    refused = () if assistant.exists else tuple(filter(None, events))
    return AssistantPod(assistant.name, assistant.workspace, refused, assistant.tasks, assistant.exists)


def _asked_webhooks(
    store: Store, results: Iterable[Sequence[RunResult]], options: EvaluationOptions
) -> Iterator[Assumption]:
    """Yield the webhooks that are asked about pods of tasks and whose answers are not computed."""
    for run_results in results:
        pod = run_results[0].submitted if run_results else None
        if pod is not None:
            raw = struct_as_json(pod, "v1", "Pod")
            yield from assumed_of_object(store, pod.metadata.namespace, raw, options.server)


def _assumptions(store: Store, subject: Subject, options: EvaluationOptions) -> tuple[Assumption, ...]:
    stated = tuple(Assumption("server", "server/assumed", text) for text in options.assumptions)
    known = policies(store, subject.ref.namespace, options.server).assumptions
    return (*known, *stated, *tekton_remarks(store, subject.ref.namespace, options, ()))


def _list_unseen(store: Store, subject: Subject) -> tuple[FailedRead, ...]:
    wanted = find_unread(store, pipeline_needs(store, subject))
    return tuple(failed_read for failed_read in wanted if failed_read.required or failed_read.kind not in SETTLING)
