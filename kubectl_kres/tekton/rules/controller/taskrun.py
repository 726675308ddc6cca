"""The questions: what becomes of a TaskRun, from the objects to the stored pod or the condition that says why not."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.create import create
from kubectl_kres.admission.request.new_pod import Policies, admit
from kubectl_kres.model.meta import Metadata
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.policy import Namespace
from kubectl_kres.provenance.journal import Assume, Journal, Source
from kubectl_kres.provenance.problem import Problem
from kubectl_kres.tekton.model import Param, Reference, Task, TaskRun, TaskRunSpec, WorkspaceBinding
from kubectl_kres.tekton.rules.base.config import TektonConfig, flags_of, merged
from kubectl_kres.tekton.rules.base.naming import pod_name
from kubectl_kres.tekton.rules.base.result import Built, Fields, Gap, fields_below
from kubectl_kres.tekton.rules.controller import creation
from kubectl_kres.tekton.rules.controller.pod_build import pods
from kubectl_kres.tekton.rules.controller.pod_security import SecuredPod, enforces, refusal, secured_pod
from kubectl_kres.tekton.rules.controller.resolve import (
    Lookups,
    UsedTask,
    remarks,
    task_of,
    without_actions,
    without_task,
)
from kubectl_kres.tekton.rules.controller.workspace_claims import ClaimAnswer, admitted, claims_of, task_problem
from kubectl_kres.tekton.rules.resources.virtual_limitrange import Virtual, virtuals
from kubectl_kres.tekton.rules.validation import webhook


class RunWorld(Struct, frozen=True):
    """What a run meets in its namespace; made by ``world_of`` once for all runs of it."""

    policies: Policies
    server: Server
    config: TektonConfig
    lookups: Lookups
    virtuals: tuple[Virtual, ...]
    namespace: Namespace | None = None


class RunResult(Struct, frozen=True):
    """One way in which a run can go.

    built: the pod that Tekton submits; None if it does not come to that. outcome: the API server's answer to it.
    problem: why there is no pod; None if there is. journal: of Tekton's steps, then of the API server's.
    """

    built: Built | None = None
    outcome: Outcome | None = None
    problem: Problem | None = None
    journal: Journal = ()

    @property
    def submitted(self) -> Pod | None:
        """The pod as Tekton sends it."""
        return self.built.pod if self.built is not None else None

    @property
    def stored(self) -> Mapping[str, Any] | None:
        """The pod as the server stores it, pruned as ``Outcome.object``."""
        return self.outcome.object if self.outcome is not None else None

    @property
    def condition(self) -> tuple[str, str, str]:
        """Status, reason and message of the condition ``Succeeded`` right afterwards."""
        if self.problem is None:
            return ("Unknown", "Pending", "Pending")
        return (self.problem.status, self.problem.reason, self.problem.message)


class SendOutcome(Struct, frozen=True):
    """What becomes of an object that is sent: ``item`` as stored (v1), or every refusal that can come."""

    item: Any = None
    refusals: tuple[Problem, ...] = ()


def world_of(
    policies: Policies,
    server: Server,
    config: TektonConfig,
    lookups: Lookups | None = None,
    *,
    namespace: Namespace | None = None,
) -> RunWorld:
    """What all runs of a namespace share. ``namespace``: itself, for its labels; None: not known."""
    return RunWorld(policies, server, config, lookups or Lookups(), virtuals(policies.limits), namespace)


def sent(raw: Mapping[str, Any], world: RunWorld) -> SendOutcome:
    """A TaskRun, PipelineRun, Task, Pipeline or StepAction as written, v1 or v1beta1, on its way into the cluster.

    Webhooks first, then quotas that count objects of the kind.
    """
    item = webhook.admitted(raw, world.config.flags, world.config.timeout_minutes)
    if isinstance(item, Problem):
        return SendOutcome(refusals=(item,))
    refused = tuple(outcome for outcome in create(raw, world.policies, world.server) if not outcome.allowed)
    if not refused:
        return SendOutcome(item)
    kind = str(raw.get("kind", ""))
    return SendOutcome(
        refusals=tuple(
            Problem("object", kind, outcome.message, "tekton/object-refused", outcome.reason, code=outcome.code)
            for outcome in refused
        )
    )


def task_run(
    run: TaskRun,
    world: RunWorld,
    *,
    task: UsedTask | None = None,
    fields: Fields | None = None,
    journal: bool = True,
    counted: bool = False,
    existing: Collection[str] = (),
) -> tuple[RunResult, ...] | Gap:
    """Every way in which the run can go, or what is missing to tell.

    task: instead of looking for it. fields: where the run's values stand, if not in itself. journal False: keep no
    steps (lists of many runs). counted: its pod exists and is in ``used`` of the quotas already. existing: names of
    claims that are there. A run that has a pod is answered as if the pod were made now.
    """
    result = task if task is not None else task_of(run, world.lookups)
    if isinstance(result, Gap):
        gone = result.why == "missing" and result.name and not run.status.pod_name
        return (RunResult(problem=without_task(run, result)),) if gone else result
    if result.unresolved and not run.status.pod_name:
        return tuple(RunResult(problem=without_action) for without_action in without_actions(result.unresolved))
    flags = flags_of(run.status.provenance, world.config.flags)
    config = msgspec.structs.replace(world.config, flags=flags)
    own = fields or fields_below(Source("TaskRun", run.metadata.name, run.metadata.namespace, "spec"))
    version = world.server.version
    refusals = () if counted else claim_refusals(run, world, existing)
    before = [refusal.problem for refusal in refusals]
    spec, origin = result.spec, result.origin
    answers = pods(run, spec, origin, world.virtuals, config, version, fields=own, journal=journal, before=before)
    if before and answers[0] is before[0]:
        return tuple(RunResult(None, refusal.outcome, refusal.problem) for refusal in refusals)
    template = merged(run.spec.pod_template, config.pod_template)
    if isinstance(answers[0], Built):
        answers = creation.unmountable(run, result.spec, template, config.flags) or answers
    assumed = (*(Assume("", "tekton/step-action-unknown", text) for text in remarks(result.gaps)),)
    secured = secured_pod(run, result.spec, template, flags, version) if enforces(world.namespace) else None
    if secured is not None and secured.unknown:
        text = f"what the security contexts of {', '.join(secured.unknown)} say is not known: taken as sound"
        assumed = (*assumed, Assume("", "tekton/pod-security-unknown", text))
    if secured is not None and config.default_unknown and run.status.provenance is None:
        text = "Tekton's version is not known: set-security-context is taken as off (on by default from 1.16 on)"
        assumed = (*assumed, Assume("", "tekton/pod-security-unknown", text))
    return distinct(_results(run, answers, assumed, world, secured, journal=journal, counted=counted))


class ClaimRefusal(Struct, frozen=True):
    """The server's answer to a claim of a workspace, and the condition that a run has for it."""

    claim: ClaimAnswer
    outcome: Outcome
    problem: Problem


def claim_refusals(run: TaskRun, world: RunWorld, existing: Collection[str] = ()) -> tuple[ClaimRefusal, ...]:
    """Return what refuses a claim of the run's workspaces; none where all of them are made, or are there.

    They are made in the order of the workspaces, before the pod. Source: reconciler/taskrun/taskrun.go reconcile.
    """
    version = world.config.version
    return tuple(
        ClaimRefusal(answer, outcome, task_problem(run, answer, outcome.refusal, version))
        for answer in admitted(claims_of(run, existing), world.policies, world.server)
        for outcome in answer.outcomes
        if outcome.refusal is not None
    )


def alone(task: Task) -> TaskRun:
    """A run of the Task with defaults, as ``tkn task start`` makes one; it is named like the Task.

    It has all that it needs, but not known what: parameters without a default stay names.
    """
    meta, spec = task.metadata, task.spec
    params = tuple(Param(param.name, f"$(params.{param.name})") for param in spec.params or () if param.default is None)
    workspaces = tuple(
        WorkspaceBinding(workspace.name) for workspace in spec.workspaces or () if not workspace.optional
    )
    run = TaskRunSpec(task_ref=Reference(name=meta.name), params=params or None, workspaces=workspaces or None)
    return TaskRun(Metadata(name=meta.name, namespace=meta.namespace), run)


def distinct(results: Iterator[RunResult]) -> tuple[RunResult, ...]:
    """Results that differ in what is stored or said, each with the first journal that leads to it.

    Different pods that end in the same refusal, or in the same stored pod, are one.
    """
    run_results: dict[str, RunResult] = {}
    for result in results:
        key = repr((result.problem, result.stored, result.outcome.charges if result.outcome is not None else ()))
        run_results.setdefault(key, result)
    return tuple(run_results.values())


def _results(
    run: TaskRun,
    answers: tuple[Built, ...] | tuple[Problem, ...],
    assumed: Journal,
    world: RunWorld,
    secured: SecuredPod | None,
    *,
    journal: bool,
    counted: bool,
) -> Iterator[RunResult]:
    for answer in answers:
        if isinstance(answer, Problem):
            yield RunResult(problem=answer, journal=assumed)
            continue
        name, minor = answer.pod.metadata.name, world.server.version[1]
        insecure = refusal(secured, name, world.namespace, minor) if secured is not None else None
        for outcome in _tried(run, answer, world, journal=journal, counted=counted):
            text = outcome
            if insecure is not None and passed_limits(outcome):
                text = Outcome(False, 403, insecure, outcome.warnings, journal=outcome.journal, draft=outcome.draft)
            problem = None
            if text.refusal is not None:
                problem = creation.refused(run, text.code, text.reason, text.message)
            yield RunResult(answer, text, problem, (*assumed, *answer.journal, *text.journal))


def _tried(run: TaskRun, answer: Built, world: RunWorld, *, journal: bool, counted: bool) -> Iterator[Outcome]:
    """What admission says of the pod; what is refused for good is tried as often as the run may, each time anew named.

    Source: reconciler/taskrun/taskrun.go, which retries a run whose pod could not be created.
    """
    last = pod_name(run.metadata.name or run.metadata.generate_name, run.spec.retries)
    for outcome in admit(answer.pod, world.policies, world.server, journal=journal, counted=counted):
        refusal = outcome.refusal
        again = run.spec.retries > len(run.status.retries_status or ()) and not counted
        if (
            refusal is None
            or not again
            or not creation.refused(run, refusal.code, refusal.reason, refusal.message).final
        ):
            yield outcome
            continue
        message = refusal.message.replace(f'"{answer.pod.metadata.name}"', f'"{last}"', 1)
        yield msgspec.structs.replace(outcome, refusal=msgspec.structs.replace(refusal, message=message))


def passed_limits(outcome: Outcome) -> bool:
    """Return whether the pod got as far as the quotas, which are asked after Pod Security."""
    return outcome.refusal is None or outcome.refusal.findings[0].rule.startswith("quota/")
