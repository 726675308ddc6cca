"""The objects that a run makes: claims of its workspaces, affinity assistants, TaskRuns and pods, each with its
state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from kubectl_kres.admission.base.outcome import Outcome, QuotaCharge
from kubectl_kres.admission.quota.quota_admission import charges
from kubectl_kres.admission.request.new_pod import quota_request
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.common.parts import Record
from kubectl_kres.store.store import ReadRequest, Store
from kubectl_kres.tekton.model import Pipeline, PipelineRun, Task, TaskRun
from kubectl_kres.tekton.reports.world import stored_run, tekton_world
from kubectl_kres.tekton.rules.base.result import MissingReference
from kubectl_kres.tekton.rules.base.variables import PIPELINE_RUN
from kubectl_kres.tekton.rules.controller import taskrun as of_task
from kubectl_kres.tekton.rules.controller.taskrun import RunNamespace, RunResult, task_run
from kubectl_kres.tekton.rules.controller.workspace_claims import (
    WorkspaceClaim,
    admit_claims,
    assistants_claims,
    claims_of,
)
from kubectl_kres.tekton.rules.pipeline import pipeline_tasks
from kubectl_kres.tekton.rules.pipeline.pipeline_run import (
    PER_RUN,
    Assistant,
    PipelineAnswer,
    assistant_name,
    has_ended,
    pipeline_run,
)

#: there: it exists. admitted, refused: it would be. depends-on-order: result or the other. none: it is not even tried,
#: since something before it is refused or held back.
ObjectState = Literal["there", "admitted", "refused", "depends-on-order", "none"]


class RunObject(Record, frozen=True):
    """An object that a run makes, or that something makes for it.

    ``maker``: the object that makes it. ``state``: what becomes of it alone, under the quotas as they are used now.
    ``messages``: the server's refusals. ``charges``: what it costs quotas. ``workspace``, ``tasks``: those that it
    serves. ``storage``: what a claim asks for.
    """

    object: ObjectRef
    maker: ObjectRef
    state: ObjectState
    messages: tuple[str, ...] = ()
    charges: tuple[QuotaCharge, ...] = ()
    workspace: str = ""
    tasks: tuple[str, ...] = ()
    storage: str = ""


def objects_of_run(store: Store, subject: Subject, options: EvaluationOptions) -> tuple[RunObject, ...]:
    """Return the objects that a TaskRun, PipelineRun, Task or Pipeline makes, in the order in which they are made.

    Empty for a run that has ended, is not stored, or whose Task or Pipeline is not known. Raises NotFound or Forbidden
    if the object cannot be had.
    """
    world = tekton_world(store, subject.ref.namespace, options)
    if subject.ref.kind in {"PipelineRun", "Pipeline"}:
        whole, _ = stored_run(store, subject, world, PipelineRun, Pipeline, pipeline_tasks.default_pipeline_run)
        if whole is None or has_ended(whole):
            return ()
        answer = pipeline_run(
            whole, world, claims=existing_claims(store, whole), pods=existing_pods(store, whole), journal=False
        )
        return () if isinstance(answer, MissingReference) else tuple(of_pipeline(whole, answer, world))
    run, _ = stored_run(store, subject, world, TaskRun, Task, of_task.default_task_run)
    if run is None or has_ended(run):
        return ()
    counted = bool(run.status.pod_name)
    results = task_run(run, world, journal=False, counted=counted, existing=existing_claims(store, run))
    return () if isinstance(results, MissingReference) else tuple(_of_task(run, results, world, store))


def existing_claims(store: Store, run: TaskRun | PipelineRun) -> frozenset[str]:
    """Return the names of the claims that are there in the run's namespace."""
    return frozenset(claim.metadata.name for claim in store.all("PersistentVolumeClaim", run.metadata.namespace))


def existing_pods(store: Store, run: PipelineRun) -> frozenset[str]:
    """Return the names of the run's pods that are there; those of its assistants, where pods were not read."""
    space, name = run.metadata.namespace, run.metadata.name
    if run.status.child_references and not _pods_known(store, space, name):
        names = ("", *(workspace.name for workspace in run.spec.workspaces or ()))
        return frozenset(f"{assistant_name(workspace, name)}-0" for workspace in names)
    return frozenset(pod.metadata.name for pod in store.all("Pod", space))


def _pods_known(store: Store, space: str, name: str) -> bool:
    own_read = ReadRequest("Pod", space, label_selector=f"{PIPELINE_RUN}={name}", required=False)
    return store.covered(own_read).is_known or store.covered(ReadRequest("Pod", space)).is_known


def of_pipeline(run: PipelineRun, answer: PipelineAnswer, world: RunNamespace) -> Iterator[RunObject]:
    """Yield what a PipelineRun makes, in the order in which it is made."""
    parent = ObjectRef("PipelineRun", run.metadata.name, run.metadata.namespace)
    yield from _claims(answer.claims, parent, world)
    stopped = bool(answer.refusals or answer.plan.problem)
    for assistant in answer.assistants:
        yield from _assistant(run, assistant, parent, world, stopped=stopped)
    for task in answer.plan.tasks:
        for name in task.names or (task.run.metadata.name,):
            made = ObjectRef("TaskRun", name, parent.namespace)
            results = answer.results.get(task.name, ())
            problem = next((result.problem for result in results if result.problem is not None), None)
            refused = problem is not None and problem.stage in {"object", "validation"}
            exists = any(child.name == name for child in run.status.child_references or ())
            state: ObjectState = "there" if exists else "none" if stopped else "refused" if refused else "admitted"
            messages = (problem.text,) if refused and problem is not None else ()
            yield RunObject(made, parent, state, messages, tasks=(task.name,))
            if not refused:
                yield from _pod(results, made, world, (task.name,), stopped=stopped)


def _of_task(run: TaskRun, results: Sequence[RunResult], world: RunNamespace, store: Store) -> Iterator[RunObject]:
    parent = ObjectRef("TaskRun", run.metadata.name, run.metadata.namespace)
    yield from _claims(claims_of(run, existing_claims(store, run)), parent, world)
    if run.status.pod_name:
        pod = ObjectRef("Pod", run.status.pod_name, parent.namespace)
        yield RunObject(pod, parent, "there")
    else:
        yield from _pod(results, parent, world, ())


def _claims(claims: Sequence[WorkspaceClaim], maker: ObjectRef, world: RunNamespace) -> Iterator[RunObject]:
    answers = {answer.claim.name: answer for answer in admit_claims(claims, world.policies, world.server)}
    for claim in claims:
        answer = answers.get(claim.name)
        requests = claim.claim.spec.resources.requests if claim.claim.spec.resources is not None else None
        yield RunObject(
            ObjectRef("PersistentVolumeClaim", claim.name, maker.namespace),
            maker,
            "there" if claim.exists else _state(answer.outcomes if answer is not None else ()),
            tuple(refusal.message for refusal in answer.refusals) if answer is not None else (),
            answer.charges if answer is not None else (),
            claim.workspace,
            storage=str((requests or {}).get("storage", "")),
        )


def _assistant(
    run: PipelineRun, assistant: Assistant, parent: ObjectRef, world: RunNamespace, *, stopped: bool
) -> Iterator[RunObject]:
    ref = ObjectRef("StatefulSet", assistant.name, parent.namespace)
    state: ObjectState = "none" if stopped else "admitted"
    yield RunObject(
        ref, parent, "there" if assistant.exists else state, workspace=assistant.workspace, tasks=assistant.tasks
    )
    if world.config.flags.coschedule in PER_RUN:
        yield from _claims(assistants_claims(run, assistant.name), ref, world)
    draft = next((outcome.draft for outcome in assistant.outcomes if outcome.draft is not None), None)
    costs = charges(quota_request(assistant.pod, draft), world.policies.quotas) if draft is not None else ()
    own = "none" if stopped or assistant.claims else _state(assistant.outcomes)
    yield RunObject(
        ObjectRef("Pod", f"{assistant.name}-0", parent.namespace),
        ref,
        "there" if assistant.exists else own,
        tuple(outcome.message for outcome in assistant.outcomes if not outcome.allowed),
        tuple(costs),
        assistant.workspace,
        assistant.tasks,
    )


def _pod(
    results: Sequence[RunResult],
    maker: ObjectRef,
    world: RunNamespace,
    tasks: tuple[str, ...],
    *,
    stopped: bool = False,
) -> Iterator[RunObject]:
    built = next((result for result in results if result.built_pod is not None), None)
    if built is None or built.built_pod is None:
        return
    draft = next(
        (result.outcome.draft for result in results if result.outcome is not None and result.outcome.draft is not None),
        None,
    )
    costs = charges(quota_request(built.built_pod.pod, draft), world.policies.quotas) if draft is not None else ()
    yield RunObject(
        ObjectRef("Pod", built.built_pod.pod.metadata.name, maker.namespace),
        maker,
        "none" if stopped else _state([result.outcome for result in results if result.outcome is not None]),
        tuple(
            dict.fromkeys(
                result.outcome.message
                for result in results
                if result.outcome is not None and not result.outcome.allowed
            )
        ),
        tuple(costs),
        tasks=tasks,
    )


def _state(outcomes: Sequence[Outcome]) -> ObjectState:
    """Return the state of an object; one that is never sent, as after a refusal, has no outcome."""
    if not outcomes:
        return "none"
    allowed = {outcome.allowed for outcome in outcomes}
    return "depends-on-order" if len(allowed) > 1 else "admitted" if True in allowed else "refused"
