"""Rules of ``check`` about Tekton's runs, and about what they meet.

- KRES107: a TaskRun waits for room that its quota can never have.
- KRES108: tasks of a PipelineRun that run at the same time and do not fit a quota together.
- KRES115: a run ended because a container that Tekton adds was killed for memory.
- KRES208: a quota that refuses the pods of TaskRuns for the containers that Tekton adds.
- KRES407: a TaskRun that asks for the sum of steps that run one after another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kubectl_kres.errors import KresError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef, Raw, mapping
from kubectl_kres.model.pod import Pod
from kubectl_kres.quantity import Quantity
from kubectl_kres.reports.check.context import CheckContext, EvaluatedWorkload, Rule
from kubectl_kres.reports.check.finding import Diagnostic
from kubectl_kres.reports.check.refused_pods import missing_pods_diagnostic
from kubectl_kres.reports.check.system import CheckSystem
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.system_parts import part_of
from kubectl_kres.reports.explain.explain import analysis_of
from kubectl_kres.reports.pod.verdict import is_negative
from kubectl_kres.tekton.model import TaskRun
from kubectl_kres.tekton.reports.part import TektonPart
from kubectl_kres.tekton.reports.pipeline import PipelineExplanation
from kubectl_kres.tekton.reports.run_containers import was_killed
from kubectl_kres.tekton.reports.world import refused_definitions
from kubectl_kres.tekton.rules.base.config import version_of, version_remarks

_PIPELINE_RUN = "PipelineRun"


def explain_pipelines(context: CheckContext) -> Sequence[PipelineExplanation]:
    """Return the PipelineRuns that have not ended, and the Pipelines of files, that have an answer.

    Each makes several pods.
    """
    kind = BY_KIND[_PIPELINE_RUN]
    stored = (ObjectRef(_PIPELINE_RUN, item.metadata.name, context.namespace)
              for item in context.store.all(_PIPELINE_RUN, context.namespace))  # fmt: skip
    runs = {ref: Subject(ref, kind) for ref in stored if context.selects(ref)}
    runs |= {subject.ref: subject for subject in context.subjects if subject.ref.kind in {_PIPELINE_RUN, "Pipeline"}}
    if not runs:
        return ()
    from kubectl_kres.tekton.reports.explain_pipeline import explain_pipeline  # noqa: PLC0415 - few namespaces have any

    explanations: list[PipelineExplanation] = []
    for subject in runs.values():
        try:
            explanations.append(explain_pipeline(context.store, subject, context.options))
        except KresError as error:
            context.unanswered.append((subject, error))
    return tuple(explanation for explanation in explanations if not explanation.ended)


def find_refused_pipelines(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the PipelineRuns that are refused; those TaskRuns of one that exist are evaluated themselves."""
    for run in context.compute_once(explain_pipelines):
        if is_negative(run.verdict) and (context.of_files or run.lacks_objects or _lacks_runs(context, run)):
            remarks = (remark.text for remark in version_remarks(version_of(run.version)))
            yield missing_pods_diagnostic(run.subject, run.verdict, next(iter(run.fixes), None), remarks)


def find_refused_definitions(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the Tasks, Pipelines and StepActions of files that are not stored and are no subjects themselves."""
    if not context.of_files:
        return
    asked = {subject.ref for subject in context.subjects}
    for ref, problem in refused_definitions(context.store, context.namespace, context.options).items():
        if ref not in asked:
            yield Diagnostic(ref, {"outcome": "refused", "why": problem.text}, remedy=_CORRECT)


#: What to do with a definition that the webhook refuses.
_CORRECT = "correct the field that the message names"


def used_definitions(raws: Sequence[Raw]) -> Iterator[ObjectRef]:
    """Yield the Tasks and Pipelines that runs and Pipelines of the same files use: they stand for them."""
    for raw in raws:
        if raw.get("kind") in {"TaskRun", _PIPELINE_RUN, "Pipeline"}:
            space = str(mapping(raw, "metadata").get("namespace") or "")
            for kind, name in _references(raw.get("spec")):
                yield ObjectRef(kind, name, space)


def _references(part: Any) -> Iterator[tuple[str, str]]:
    """Yield each Task and Pipeline that is named somewhere in a part of a manifest."""
    if isinstance(part, Mapping):
        for key, value in part.items():
            name = value.get("name") if isinstance(value, Mapping) else None
            if key in _REFERENCES and isinstance(name, str):
                yield _REFERENCES[key], name
            else:
                yield from _references(value)
    elif isinstance(part, list | tuple):
        for item in part:
            yield from _references(item)


_REFERENCES = {"taskRef": "Task", "pipelineRef": "Pipeline"}


def _lacks_runs(context: CheckContext, run: PipelineExplanation) -> bool:
    """Return whether something of a refused run is refused that none of its TaskRuns stands for."""
    refused = [task for task in run.tasks if task.explanation is not None and is_negative(task.explanation.verdict)]
    space = run.subject.namespace
    made = (any(context.store.get("TaskRun", name, space) for name in task.names) for task in refused)
    return not refused or not all(made)


def find_run_never(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the runs whose pod alone is more than the hard of a quota."""
    for evaluated in context.evaluated_workloads:
        made = evaluated.analysis.made_pod
        if made is not None and made.never and not evaluated.has_ended:
            first = made.never[0]
            values = {"asked": first.requested, "resource": first.resource, "quota": first.quota, "hard": first.hard}
            yield Diagnostic(evaluated.ref, values)


RUN_NEVER = Rule(
    code="KRES107",
    title="a TaskRun never starts",
    severity="error",
    reason="Tekton tries again until the run times out: its pod alone asks for more than the quota allows in total.",
    remedy="Ask for less: spec.computeResources of the run bounds all steps together. Or raise the quota.",
    message="its pod asks for {asked} of {resource}, quota {quota} allows {hard} in total",
    find=find_run_never,
)


def find_pipeline_width(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the runs that have not ended, with each quota that their tasks exceed together although each fits alone."""
    for pipeline in context.compute_once(explain_pipelines) if context.quotas else ():
        if pipeline.verdict.allowed is False:
            continue
        for at_once in pipeline.at_once:
            if at_once.exceeded and len(at_once.tasks) > 1:
                values = {
                    "tasks": ", ".join(at_once.tasks),
                    "amount": at_once.amount,
                    "resource": at_once.resource,
                    "quota": at_once.quota,
                    "used": at_once.used,
                    "hard": at_once.hard,
                }
                yield Diagnostic(pipeline.subject, values, f"quota[{at_once.quota}].{at_once.resource}")


PIPELINE_WIDTH = Rule(
    code="KRES108",
    title="tasks that run at the same time do not fit together",
    severity="warning",
    reason="Each task is admitted alone, and some wait for the others: the run takes longer than planned, "
    "and fails where a task waits beyond its timeout.",
    remedy="Raise the quota, let one task run after the other (runAfter), or ask for less in each.",
    message="tasks {tasks} ask for {amount} of {resource} at the same time, quota {quota} has {used} of {hard} used",
    find=find_pipeline_width,
)


def find_run_killed(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the newest run for each container that would be killed again, with its limit."""
    names: set[str] = set()
    for subject in _killed_runs(context):
        try:
            analysis = analysis_of(context.store, subject, context.options)
        except KresError as error:
            context.unanswered.append((subject, error))
            continue
        part = part_of(analysis.parts, TektonPart)
        for killed in part.killed if part is not None else ():
            if killed.added and killed.again and killed.name not in names:
                names.add(killed.name)
                values = {"container": killed.name, "limit": killed.limit or "unknown"}
                remedy = context.remedy(RUN_KILLED.code, EvaluatedWorkload(subject, analysis))
                text, commands = (remedy.text, remedy.commands) if remedy is not None else ("", ())
                yield Diagnostic(subject.ref, values, remedy=text, commands=commands)


def _killed_runs(context: CheckContext) -> Iterator[Subject]:
    """Yield the runs whose pod has a container that was killed, the newest first."""
    runs = [] if context.of_files else [*context.store.all("TaskRun", context.namespace)]
    for run in sorted(runs, key=lambda run: run.status.completion_time or "", reverse=True):
        pod = context.store.get("Pod", run.status.pod_name, context.namespace) if run.status.pod_name else None
        if isinstance(pod, Pod) and was_killed(pod):
            yield Subject(ObjectRef("TaskRun", run.metadata.name, context.namespace), BY_KIND["TaskRun"])


RUN_KILLED = Rule(
    code="KRES115",
    title="a container that Tekton adds was killed for memory",
    severity="error",
    reason="prepare, place-scripts and the like have no limit of their own: what a LimitRange gives them can be too "
    "little, and then every run in the namespace ends the same way.",
    remedy="Give the container more in config-defaults (default-container-resource-requirements), or raise the default "
    "of the LimitRange.",
    message="{container}, which Tekton adds, was killed for memory at its limit {limit}; a new run dies the same way",
    find=find_run_killed,
)


_RUNS = ("TaskRun", _PIPELINE_RUN)


def find_quota_of_runs(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the quotas that require what no LimitRange gives, in namespaces with runs."""
    runs = any(subject.ref.kind in _RUNS for subject in context.subjects)
    if not runs and not any(any(True for _ in context.store.all(kind, context.namespace)) for kind in _RUNS):
        return
    for demand in context.demands:
        if demand.unfilled:
            ref = ObjectRef("ResourceQuota", demand.quota, context.namespace)
            yield Diagnostic(ref, {"names": ", ".join(demand.unfilled)}, f"spec.hard[{demand.unfilled[0]}]")


QUOTA_OF_RUNS = Rule(
    code="KRES208",
    title="a quota refuses the containers that Tekton adds",
    severity="warning",
    reason="Tekton adds containers of its own to the pod of a TaskRun, and they state nothing: the quota "
    "refuses the pod however well the steps are written.",
    remedy="Add a LimitRange with a default for it, or set default-container-resource-requirements in "
    "Tekton's config-defaults.",
    message="it requires {names} on every container, and the containers that Tekton adds state none",
    find=find_quota_of_runs,
)


#: So many times as much as the largest step asks for is worth a word.
_TIMES = 2
_RESOURCES = ("cpu", "memory")


def find_sum_of_steps(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the runs whose pod asks for more than twice what their largest step asks for."""
    for evaluated in context.evaluated_workloads:
        draft = evaluated.draft
        if part_of(evaluated.analysis.parts, TektonPart) is None or draft is None or evaluated.has_ended:
            continue
        steps = [slot for slot in draft.containers if slot.name.startswith("step-")]
        for name in _RESOURCES:
            asked = [slot.requests[name] for slot in steps if name in slot.requests]
            if asked and sum(quantity.nano for quantity in asked) > _TIMES * max(quantity.nano for quantity in asked):
                if _is_task_level(context, evaluated):
                    break
                total = Quantity(sum(quantity.nano for quantity in asked), asked[0].format)
                values = {"total": str(total), "resource": name, "largest": str(max(asked)), "steps": str(len(asked))}
                yield Diagnostic(evaluated.ref, values)


def _is_task_level(context: CheckContext, evaluated: EvaluatedWorkload) -> bool:
    """Return whether the run bounds all steps together, which only the steps of the computation say."""
    run = context.store.get(evaluated.ref.kind, evaluated.ref.name, evaluated.ref.namespace)
    if evaluated.subject.raw is None and isinstance(run, TaskRun) and run.spec.compute_resources is None:
        return False
    part = part_of(analysis_of(context.store, evaluated.subject, context.options).parts, TektonPart)
    return part is not None and part.task_level


SUM_OF_STEPS = Rule(
    code="KRES407",
    title="steps are summed up",
    severity="note",
    reason="Steps run one after another, and the pod asks for all of them together: it waits for room that it "
    "never uses at once.",
    remedy="Set spec.computeResources of the run: it bounds all steps together.",
    message="its {steps} steps ask for {total} of {resource} together, the largest for {largest}",
    find=find_sum_of_steps,
)

SYSTEM = CheckSystem(
    rules=(RUN_NEVER, PIPELINE_WIDTH, RUN_KILLED, QUOTA_OF_RUNS, SUM_OF_STEPS),
    finders={"KRES101": find_refused_pipelines, "KRES116": find_refused_definitions},
    kinds=(_PIPELINE_RUN,),
    uses=used_definitions,
)
