"""What a PipelineRun makes: claims of its workspaces, affinity assistants, TaskRuns and pods, as steps of its
account.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import structs

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.account import creation_step, pod_step
from kubectl_kres.reports.common.analysis import AccountStep, ObjectState, state_of
from kubectl_kres.store.store import ReadRequest, Store
from kubectl_kres.tekton.model import PipelineRun, TaskRun
from kubectl_kres.tekton.rules.base.variables import PIPELINE_RUN
from kubectl_kres.tekton.rules.controller.taskrun import RunNamespace, RunResult
from kubectl_kres.tekton.rules.controller.workspace_claims import WorkspaceClaim, admit_claims, assistants_claims
from kubectl_kres.tekton.rules.pipeline.pipeline_run import PER_RUN, Assistant, PipelineAnswer, assistant_name


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


def pipeline_steps(run: PipelineRun, answer: PipelineAnswer, world: RunNamespace) -> Iterator[AccountStep]:
    """Yield the steps of a PipelineRun's account, in the order in which its objects are made."""
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
            yield AccountStep(made, parent, state, messages, tasks=(task.name,))
            if not refused:
                yield from _pod(results, made, world, (task.name,), stopped=stopped)


def _claims(claims: Sequence[WorkspaceClaim], maker: ObjectRef, world: RunNamespace) -> Iterator[AccountStep]:
    answers = {answer.claim.name: answer for answer in admit_claims(claims, world.policies, world.server)}
    for claim in claims:
        answer = answers.get(claim.name)
        requests = claim.claim.spec.resources.requests if claim.claim.spec.resources is not None else None
        yield AccountStep(
            ObjectRef("PersistentVolumeClaim", claim.name, maker.namespace),
            maker,
            "there" if claim.exists else state_of(answer.outcomes if answer is not None else ()),
            tuple(refusal.message for refusal in answer.refusals) if answer is not None else (),
            answer.charges if answer is not None else (),
            claim.workspace,
            storage=str((requests or {}).get("storage", "")),
        )


def _assistant(
    run: PipelineRun, assistant: Assistant, parent: ObjectRef, world: RunNamespace, *, stopped: bool
) -> Iterator[AccountStep]:
    ref = ObjectRef("StatefulSet", assistant.name, parent.namespace)
    fields: dict[str, Any] = {"workspace": assistant.workspace, "tasks": assistant.tasks}
    if assistant.exists or not assistant.objects:
        yield AccountStep(ref, parent, "there", **fields)
    for creation, _ in () if assistant.exists else assistant.objects:
        step = creation_step(creation, parent if creation.kind == "StatefulSet" else ref, world.policies, world.server)
        yield structs.replace(step, state="none" if stopped and step.state == "admitted" else step.state, **fields)
    if world.config.flags.coschedule in PER_RUN:
        yield from _claims(assistants_claims(run, assistant.name), ref, world)
    before = stopped or assistant.claims or any(refusals for _, refusals in assistant.objects)
    state = {"state": "there"} if assistant.exists else {"state": "none"} if before else {}
    yield pod_step(assistant.pod, assistant.outcomes, ref, world.policies, **fields, **state)


def _pod(
    results: Sequence[RunResult], maker: ObjectRef, world: RunNamespace, tasks: tuple[str, ...], *, stopped: bool
) -> Iterator[AccountStep]:
    built_pod = next((result.built_pod for result in results if result.built_pod is not None), None)
    outcomes = [result.outcome for result in results if result.outcome is not None]
    state = {"state": "none"} if stopped else {}
    if built_pod is not None:
        yield pod_step(built_pod.pod, outcomes, maker, world.policies, tasks=tasks, **state)
