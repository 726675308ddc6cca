"""Rules about Tekton's runs.

KRES107: a TaskRun waits for room that its quota can never have.

KRES108: tasks of a PipelineRun that run at the same time and do not fit a quota together.

KRES115: a run ended because a container that Tekton adds was killed for memory.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.errors import KresError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.provenance.journal import QuotaShortfall
from kubectl_kres.reports.check.context import CheckContext, EvaluatedWorkload, Rule
from kubectl_kres.reports.check.finding import Diagnostic
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.explain.explain import analysis_of
from kubectl_kres.tekton.reports.run_containers import was_killed


def find_run_never(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the runs whose pod alone is more than the hard of a quota."""
    for evaluated in context.evaluated_workloads:
        excess = never_fits(evaluated)
        if excess and not evaluated.has_ended:
            first = excess[0]
            values = {"asked": first.requested, "resource": first.resource, "quota": first.quota, "hard": first.hard}
            yield Diagnostic(evaluated.ref, values)


def never_fits(evaluated: EvaluatedWorkload) -> tuple[QuotaShortfall, ...]:
    """Return what the pod of a run asks for beyond the whole of a quota; empty for one that may come, and for no
    run.
    """
    part = evaluated.analysis.tekton
    return part.never if part is not None else ()


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
    for pipeline in context.pipelines if context.quotas else ():
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
    texts: set[str] = set()
    for subject in _runs(context):
        try:
            analysis = analysis_of(context.store, subject, context.options)
        except KresError as error:
            context.unanswered.append((subject, error))
            continue
        part = analysis.tekton
        for killed in part.killed if part is not None else ():
            if killed.added and killed.again and killed.name not in texts:
                texts.add(killed.name)
                values = {"container": killed.name, "limit": killed.limit or "unknown"}
                remedy = context.remedy(EvaluatedWorkload(subject, analysis))
                text, commands = (remedy.text, remedy.commands) if remedy is not None else ("", ())
                yield Diagnostic(subject.ref, values, remedy=text, commands=commands)


def _runs(context: CheckContext) -> Iterator[Subject]:
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

RULES = (
    RUN_NEVER,
    PIPELINE_WIDTH,
    RUN_KILLED,
)
