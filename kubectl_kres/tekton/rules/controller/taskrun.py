"""The admission of TaskRuns: from the objects to the stored pod, or to the condition that says why there is none.

Pod Security looks at the security contexts that Task, run and Tekton write, and at the namespace's level.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from kubectl_kres.admission.base.outcome import Finding, Outcome, Refusal, forbidden_object
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.create import create
from kubectl_kres.admission.request.new_pod import ObjectReview, Policies, admit
from kubectl_kres.admission.request.pod_objects import made_pod
from kubectl_kres.model.admission_objects import POD_SECURITY_LEVEL
from kubectl_kres.model.objects import Metadata, Namespace
from kubectl_kres.model.pod import AddedContainers, Pod, with_containers
from kubectl_kres.policies.rules import pod_security
from kubectl_kres.policies.rules.pod_security import detail, parse_enforced_levels
from kubectl_kres.policies.rules.pod_security_checks import Violation
from kubectl_kres.provenance.journal import Assumption, Journal, Source
from kubectl_kres.tekton import model
from kubectl_kres.tekton.rules.base.config import Flags, TektonConfig, flags_of, merge_pod_templates
from kubectl_kres.tekton.rules.base.problem import Problem
from kubectl_kres.tekton.rules.base.result import BuiltPod, Fields, MissingReference, fields_below, refused_object
from kubectl_kres.tekton.rules.base.variables import pod_name, variables_of
from kubectl_kres.tekton.rules.controller import creation, resolve
from kubectl_kres.tekton.rules.controller.pod_build import pods
from kubectl_kres.tekton.rules.controller.workspace_claims import ClaimAnswer, admit_claims, claims_of, task_problem
from kubectl_kres.tekton.rules.resources.container_draft import layout
from kubectl_kres.tekton.rules.resources.virtual_limitrange import VirtualLimitRange, virtuals
from kubectl_kres.tekton.rules.validation import webhook

RULE = "tekton/pod-security"
Raw = Mapping[str, Any]

#: What set-security-context gives to each container that Tekton adds. Source: pkg/pod/security_context_config.go.
LINUX: Raw = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}
WINDOWS: Raw = {"runAsNonRoot": True}
#: Of a snapshot that did not keep what a security context says.
_HIDDEN = "hidden"


class SecuredPod(Struct, frozen=True):
    """The parts of a pod that Pod Security looks at.

    ``added``: the containers that Tekton adds. ``unknown``: those whose security context is not known; they are taken
    as sound.
    """

    spec: Raw
    added: frozenset[str] = frozenset()
    unknown: tuple[str, ...] = ()


def enforces_level(namespace: Namespace | None) -> bool:
    """Return whether the namespace enforces a level that a pod can break."""
    return (
        namespace is not None
        and (namespace.metadata.labels or {}).get(POD_SECURITY_LEVEL, "privileged") != "privileged"
    )


def secured_pod(
    run: model.TaskRun, spec: model.TaskSpec, template: model.PodTemplate | None, flags: Flags, version: tuple[int, int]
) -> SecuredPod:
    """Return the pod of a run. ``template``: the run's with the default one; ``version``: the API server's.

    Source: pkg/pod/pod.go Build.
    """
    inits, containers = layout(spec, run.spec.debug, flags, version, variables_of(run.spec, spec))
    steps, sidecars = spec.steps or (), spec.sidecars or ()
    pod = template or model.PodTemplate()

    def container(name: str, role: str, number: int) -> dict[str, Any]:
        if name in unknown:
            return _container(name, LINUX)
        if role == "step":
            return _container(name, step_context(steps[number], spec.step_template))
        if role == "sidecar":
            return {**_container(name, sidecars[number].security_context), "ports": _ports(sidecars[number])}
        scripts = [*(step.script for step in steps), *(sidecar.script for sidecar in sidecars)]
        return _container(name, added_context(pod, flags, scripts if name == "place-scripts" else ()))

    unknown = tuple(
        draft.name
        for group in (inits, containers)
        for draft in group
        if (draft.role == "step" and (steps[draft.number].ref is not None or _is_hidden(steps[draft.number])))
        or (draft.role == "sidecar" and _is_hidden(sidecars[draft.number]))
    )
    containers_made = [
        [container(draft.name, draft.role, draft.number) for draft in group] for group in (inits, containers)
    ]
    volumes = [*map(_volume, (*(spec.volumes or ()), *(pod.volumes or ())))]
    additions = frozenset(draft.name for group in (inits, containers) for draft in group if draft.role == "injected")
    return SecuredPod(
        {
            "securityContext": pod.security_context or {},
            "initContainers": containers_made[0],
            "containers": containers_made[1],
            "volumes": volumes,
            "hostNetwork": pod.host_network,
            **({} if pod.host_users is None else {"hostUsers": pod.host_users}),
        },
        additions,
        unknown,
    )


def assistant_pod(template: model.PodTemplate | None, flags: Flags) -> SecuredPod:
    """Return the pod of an affinity assistant. Source: reconciler/pipelinerun/affinity_assistant.go."""
    pod = template or model.PodTemplate()
    own_containers = [_container("affinity-assistant", added_context(pod, flags))]
    spec = {"securityContext": pod.security_context or {}, "initContainers": [], "containers": own_containers}
    return SecuredPod(spec, frozenset({"affinity-assistant"}))


def added_context(template: model.PodTemplate, flags: Flags, scripts: Sequence[str] = ()) -> Raw | None:
    """Return the security context of a container that Tekton adds. ``scripts``: those that it puts in place."""
    if not flags.security_context:
        return None
    if scripts:
        return WINDOWS if any(script.startswith("#!win") for script in scripts) else LINUX
    return WINDOWS if (template.node_selector or {}).get("kubernetes.io/os") == "windows" else LINUX


def step_context(step: model.Step, template: model.Step | None) -> Raw | None:
    """Return a step's security context with what the step template adds, field by field; lists are the step's.

    Source: v1/merge.go MergeStepsWithStepTemplate.
    """
    under = template.security_context if template is not None else None
    if not under or not isinstance(under, Mapping):
        return _mapping(step.security_context)
    return _merge_maps(_mapping(step.security_context) or {}, under)


def refusal(pod: SecuredPod, name: str, namespace: Namespace | None, minor: int) -> Refusal | None:
    """Return what the namespace says of a pod; None: nothing. ``minor``: the API server's minor version."""
    if namespace is None or not enforces_level(namespace):
        return None
    breaches = violations(pod, namespace, minor)
    if not breaches:
        return None
    level = parse_enforced_levels(namespace.metadata.labels).enforce
    text = f'violates PodSecurity "{level}": {detail(breaches)}'
    source = Source("Namespace", namespace.metadata.name, field=f"metadata.labels[{POD_SECURITY_LEVEL}]")
    return forbidden_object("pods", name, (Finding(text, RULE, source=source),))


def violations(pod: SecuredPod, namespace: Namespace, minor: int) -> tuple[Violation, ...]:
    """Return what the pod does against the level that the namespace enforces."""
    level = parse_enforced_levels(namespace.metadata.labels).enforce
    return pod_security.violations(level, {"metadata": {}, "spec": pod.spec}, minor)


def _is_hidden(part: model.Step | model.Sidecar) -> bool:
    return _HIDDEN in (_mapping(part.security_context) or {})


def _container(name: str, context: Any) -> dict[str, Any]:
    return {"name": name, "securityContext": _mapping(context) or {}}


def _ports(sidecar: model.Sidecar) -> list[Raw]:
    return (
        [port for port in sidecar.ports or () if isinstance(port, Mapping)] if isinstance(sidecar.ports, list) else []
    )


def _mapping(value: Any) -> Raw | None:
    return value if isinstance(value, Mapping) else None


def _merge_maps(over: Raw, under: Raw) -> dict[str, Any]:
    result = {**under, **over}
    for key, value in over.items():
        if isinstance(value, Mapping) and isinstance(under.get(key), Mapping):
            result[key] = _merge_maps(value, under[key])
    return result


def _volume(volume: model.Volume) -> Raw:
    return dict(_fields(volume))


def _fields(volume: model.Volume) -> Iterator[tuple[str, Any]]:
    for field, name in zip(volume.__struct_fields__, volume.__struct_encode_fields__, strict=True):
        value = getattr(volume, field)
        if value is not None:
            yield name, value


#: Where nothing tells which there are.
_NO_ACCOUNTS = creation.Accounts()


class RunNamespace(Struct, frozen=True):
    """What a run meets in its namespace; made by ``build_run_namespace`` once for all runs of it."""

    policies: Policies
    server: Server
    config: TektonConfig
    lookups: resolve.Lookups
    virtuals: tuple[VirtualLimitRange, ...]
    namespace: Namespace | None = None
    accounts: creation.Accounts = _NO_ACCOUNTS


class RunResult(Struct, frozen=True):
    """One way in which a run can go.

    built: the pod that Tekton submits; None if it does not come to that. outcome: the API server's answer to it.
    problem: why there is no pod; None if there is. journal: of Tekton's steps, then of the API server's. gaps: what
    policies would say that was not computed.
    """

    built_pod: BuiltPod | None = None
    outcome: Outcome | None = None
    problem: Problem | None = None
    journal: Journal = ()
    gaps: tuple[str, ...] = ()

    @property
    def submitted(self) -> Pod | None:
        """The pod as Tekton sends it."""
        return self.built_pod.pod if self.built_pod is not None else None

    @property
    def stored_run(self) -> Mapping[str, Any] | None:
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


def build_run_namespace(
    policies: Policies,
    server: Server,
    config: TektonConfig,
    lookups: resolve.Lookups | None = None,
    *,
    namespace: Namespace | None = None,
    accounts: creation.Accounts = _NO_ACCOUNTS,
) -> RunNamespace:
    """Return what all runs of a namespace share. ``namespace``: itself, for its labels; None: not known."""
    ranges = virtuals(policies.limits)
    return RunNamespace(policies, server, config, lookups or resolve.Lookups(), ranges, namespace, accounts)


def send_object(raw: Mapping[str, Any], world: RunNamespace, *, exists: bool = False) -> SendOutcome:
    """Return a TaskRun, PipelineRun, Task, Pipeline or StepAction as written, v1 or v1beta1, on its way into the
    cluster.

    Webhooks first, then quotas that count objects of the kind; one that is ``exists`` already is counted.
    """
    item = webhook.admit_object(raw, world.config.flags, world.config.timeout_minutes)
    if isinstance(item, Problem):
        return SendOutcome(refusals=(item,))
    policies = msgspec.structs.replace(world.policies, quotas=()) if exists else world.policies
    refused = [outcome.refusal for outcome in create(raw, policies, world.server) if outcome.refusal is not None]
    if not refused:
        return SendOutcome(item)
    kind = str(raw.get("kind", ""))
    return SendOutcome(refusals=tuple(refused_object(kind, refusal) for refusal in refused))


def task_run(
    run: model.TaskRun,
    world: RunNamespace,
    *,
    task: resolve.UsedTask | None = None,
    fields: Fields | None = None,
    journal: bool = True,
    counted: bool = False,
    existing: Collection[str] = (),
    added: AddedContainers = (),
) -> tuple[RunResult, ...] | MissingReference:
    """Return every way in which the run can go, or what is missing to tell.

    task: instead of looking for it. fields: where the run's values stand, if not in itself. journal False: keep no
    steps (lists of many runs). counted: its pod exists and is in ``used`` of the quotas already. existing: names of
    claims that are there. added: containers that something
    adds to the pod once Tekton has made it. A run that has a pod is answered as if the pod were made now.
    """
    result = task if task is not None else resolve.task_of(run, world.lookups)
    if isinstance(result, MissingReference):
        gone = result.reason == "missing" and result.name and not run.status.pod_name
        return (RunResult(problem=resolve.without_task(run, result)),) if gone else result
    if result.unresolved and not run.status.pod_name:
        return tuple(RunResult(problem=without_action) for without_action in resolve.without_actions(result.unresolved))
    flags = flags_of(run.status.provenance, world.config.flags)
    config = msgspec.structs.replace(world.config, flags=flags)
    run_fields = fields or fields_below(Source("TaskRun", run.metadata.name, run.metadata.namespace, "spec"))
    version = world.server.version
    refusals = () if counted else claim_refusals(run, world, existing)
    before = [refusal.problem for refusal in refusals]
    before += creation.without_account(run, config, world.accounts) if not counted else ()
    spec, origin = result.spec, result.origin
    answers = pods(
        run, spec, origin, world.virtuals, config, version, fields=run_fields, journal=journal, before=before
    )
    if before and answers[0] is before[0]:
        refused = tuple(RunResult(None, refusal.outcome, refusal.problem) for refusal in refusals)
        return refused or (RunResult(problem=before[0]),)
    template = merge_pod_templates(run.spec.pod_template, config.pod_template)
    if isinstance(answers[0], BuiltPod):
        answers = creation.unmountable(run, result.spec, template, config.flags) or answers
    assumed = (*(Assumption("", "tekton/step-action-unknown", text) for text in resolve.remarks(result.gaps)),)
    secured = secured_pod(run, result.spec, template, flags, version) if enforces_level(world.namespace) else None
    if secured is not None and secured.unknown:
        text = f"what the security contexts of {', '.join(secured.unknown)} say is not known: taken as sound"
        assumed = (*assumed, Assumption("", "tekton/pod-security-unknown", text))
    if secured is not None and config.default_unknown and run.status.provenance is None:
        text = "Tekton's version is not known: set-security-context is taken as off (on by default from 1.16 on)"
        assumed = (*assumed, Assumption("", "tekton/pod-security-unknown", text))
    results = _results(run, answers, assumed, world, secured, added, journal=journal, counted=counted)
    return distinct_results(results)


class ClaimRefusal(Struct, frozen=True):
    """The server's answer to a claim of a workspace, and the condition that a run has for it."""

    claim: ClaimAnswer
    outcome: Outcome
    problem: Problem


def claim_refusals(run: model.TaskRun, world: RunNamespace, existing: Collection[str] = ()) -> tuple[ClaimRefusal, ...]:
    """Return what refuses a claim of the run's workspaces; none where all of them are made, or are there.

    They are made in the order of the workspaces, before the pod. Source: reconciler/taskrun/taskrun.go reconcile.
    """
    version = world.config.version
    return tuple(
        ClaimRefusal(answer, outcome, task_problem(run, answer, outcome.refusal, version))
        for answer in admit_claims(claims_of(run, existing), world.policies, world.server)
        for outcome in answer.outcomes
        if outcome.refusal is not None
    )


def default_task_run(task: model.Task) -> model.TaskRun:
    """Return a run of the Task with defaults, as ``tkn task start`` makes one; it is named like the Task.

    It has all that it needs, but not known what: parameters without a default stay names.
    """
    meta, spec = task.metadata, task.spec
    params = tuple(
        model.Param(param.name, f"$(params.{param.name})") for param in spec.params or () if param.default is None
    )
    workspaces = tuple(
        model.WorkspaceBinding(workspace.name) for workspace in spec.workspaces or () if not workspace.optional
    )
    run = model.TaskRunSpec(
        task_ref=model.Reference(name=meta.name), params=params or None, workspaces=workspaces or None
    )
    return model.TaskRun(Metadata(name=meta.name, namespace=meta.namespace), run)


def distinct_results(results: Iterator[RunResult]) -> tuple[RunResult, ...]:
    """Results that differ in what is stored or said, each with the first journal that leads to it.

    Different pods that end in the same refusal, or in the same stored pod, are one.
    """
    run_results: dict[str, RunResult] = {}
    for result in results:
        key = repr((result.problem, result.stored_run, result.outcome.charges if result.outcome is not None else ()))
        run_results.setdefault(key, result)
    return tuple(run_results.values())


def _results(
    run: model.TaskRun,
    answers: tuple[BuiltPod, ...] | tuple[Problem, ...],
    assumed: Journal,
    world: RunNamespace,
    secured: SecuredPod | None,
    added: AddedContainers,
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
        sent = with_containers(answer.pod, added)
        review = ObjectReview({}) if counted else made_pod(sent, world.policies, world.server)
        for outcome in _admit_with_retries(run, sent, world, journal=journal, counted=counted):
            text = outcome
            for denial in review.refusals[:1] if passed_limits(outcome) else ():
                text = Outcome(
                    False, denial.code, denial, outcome.warnings, journal=outcome.journal, draft=outcome.draft
                )
            if insecure is not None and passed_limits(outcome):
                text = Outcome(False, 403, insecure, outcome.warnings, journal=outcome.journal, draft=outcome.draft)
            problem = None
            if text.refusal is not None:
                problem = creation.refusal_problem(run, text.code, text.reason, text.message)
            yield RunResult(answer, text, problem, (*assumed, *answer.journal, *text.journal), review.gaps)


def _admit_with_retries(
    run: model.TaskRun, pod: Pod, world: RunNamespace, *, journal: bool, counted: bool
) -> Iterator[Outcome]:
    """Yield what admission says of the pod; what is refused for good is tried as often as the run may, each time anew
    named.

    Source: reconciler/taskrun/taskrun.go, which retries a run whose pod could not be created.
    """
    last = pod_name(run.metadata.name or run.metadata.generate_name, run.spec.retries)
    for outcome in admit(pod, world.policies, world.server, journal=journal, counted=counted):
        refusal = outcome.refusal
        again = run.spec.retries > len(run.status.retries_status or ()) and not counted
        if (
            refusal is None
            or not again
            or not creation.refusal_problem(run, refusal.code, refusal.reason, refusal.message).final
        ):
            yield outcome
            continue
        message = refusal.message.replace(f'"{pod.metadata.name}"', f'"{last}"', 1)
        yield msgspec.structs.replace(outcome, refusal=msgspec.structs.replace(refusal, message=message))


def passed_limits(outcome: Outcome) -> bool:
    """Return whether the pod got as far as the quotas, which are asked after Pod Security."""
    return outcome.refusal is None or outcome.refusal.findings[0].rule.startswith("quota/")
