"""Why a TaskRun gets no pod: the API server refuses it, or Tekton cannot build it, as with a volume named twice."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from kubectl_kres.go_text import quote
from kubectl_kres.provenance.journal import Source
from kubectl_kres.tekton.model import Named, PodTemplate, TaskRun, TaskSpec
from kubectl_kres.tekton.rules.base.config import Flags, TektonConfig, merge_templates
from kubectl_kres.tekton.rules.base.problem import MessageFault, Problem
from kubectl_kres.tekton.rules.base.variables import pod_name, replace_variables, variables_of
from kubectl_kres.tekton.rules.resources.container_draft import has_breakpoint, has_scripts
from kubectl_kres.tekton.rules.validation.task_faults import sidecar_faults, volume_faults
from kubectl_kres.tekton.rules.validation.variable_faults import result_faults
from kubectl_kres.tekton.rules.validation.webhook_error import WebhookError, by_rule, join_errors

#: How the volume of a workspace is called, with random letters behind it; a run's status has that name in its Task.
_OF_WORKSPACE = "ws-"
_IMPLICIT = ("workspace", "home", "results", "steps", "artifacts")

RULE_OF_ACCOUNTS = "tekton/service-account"
#: Seconds until the next try.
AFTER_QUOTA, AFTER_CONFLICT = 60, 1


def refusal_problem(run: TaskRun, code: int, reason: str, message: str, kind: str = "pods") -> Problem:
    """Return the condition after a refusal; ``reason``, ``message`` and ``kind`` (of what) as in the API server's
    status.

    Source: reconciler/taskrun/taskrun.go handlePodCreationError.
    """
    if code == 403 and "exceeded quota" in message:
        text = f"TaskRun Pod exceeded available resources: {message}"
        return _condition("ExceededResourceQuota", text, "tekton/exceeded-quota", after=AFTER_QUOTA)
    if kind == "resourcequotas" and reason == "Conflict":
        text = "tried to create pod, but it failed with ResourceQuotaConflictError"
        return _condition("Pending", text, "tekton/quota-conflict", after=AFTER_CONFLICT)
    if reason == "AlreadyExists":
        return _condition("Pending", "tried to create pod, but it already exists", "tekton/pod-exists")
    if code == 403 and ("violates PodSecurity" in message or "security context constraint" in message):
        return _condition("PodAdmissionFailed", message, "tekton/pod-security", status="False")
    if "TaskRun validation failed" in message:
        return _condition("TaskRunValidationFailed", message, "tekton/pod-creation-failed", status="False")
    text = f'failed to create task run pod "{run.metadata.name}": {message}. Maybe {_format_suspect(run)}'
    return _condition("PodCreationFailed", text, "tekton/pod-creation-failed", status="False")


def unbuildable(run: TaskRun, spec: TaskSpec, template: PodTemplate | None, flags: Flags) -> tuple[Problem, ...]:
    """Return what ends a run before its pod is sent; empty if nothing does.

    Faults that v1beta1 lets pass, or that come up once StepActions are put in; then volumes with one name.
    ``template``: the run's with what config-defaults adds. Source: reconciler/taskrun/taskrun.go createPod.
    """
    if run.status.pod_name:
        return ()
    pairs = [fault for sidecar in spec.sidecars or () for fault in sidecar_faults(sidecar, "sidecars")]
    if spec is not run.spec.task_spec:
        pairs += result_faults(spec.steps or (), spec.results, "")
    text = join_errors([webhook_error._replace(path=webhook_error.path.removeprefix(".")) for webhook_error in pairs])
    if not pairs:
        pairs += _volume_named_twice(run, spec, template, flags)
        text = f"translating TaskSpec to Pod: {join_errors(pairs)}"
    if not pairs:
        return ()
    problem = refusal_problem(run, 0, "", text)
    return (msgspec.structs.replace(problem, rule=pairs[0].rule, faults=by_rule(pairs)),)


class Accounts(msgspec.Struct, frozen=True):
    """The ServiceAccounts of a namespace. ``absent``: those that were looked for and are not there; ``complete``: all
    that there are were read.
    """

    names: frozenset[str] = frozenset()
    absent: frozenset[str] = frozenset()
    complete: bool = False

    def lacks(self, name: str) -> bool:
        """Return whether an account is known not to exist; each namespace is given the one called default."""
        return name != "default" and (name in self.absent or (self.complete and name not in self.names))


def without_account(run: TaskRun, config: TektonConfig, accounts: Accounts) -> tuple[Problem, ...]:
    """Return what ends a run whose ServiceAccount does not exist: Tekton looks for it, else the API server does.

    Source: pkg/pod/creds_init.go credsInit; plugin/pkg/admission/serviceaccount.
    """
    name, space = account_of(run, config), run.metadata.namespace
    if run.status.pod_name or not accounts.lacks(name):
        return ()
    if config.flags.creds_init:
        problem = refusal_problem(run, 0, "", f"translating TaskSpec to Pod: serviceaccounts {quote(name)} not found")
    else:
        pod = pod_name(run.metadata.name or run.metadata.generate_name, len(run.status.retries_status or ()))
        text = f"error looking up service account {space}/{name}: serviceaccount {quote(name)} not found"
        problem = refusal_problem(run, 403, "Forbidden", f"pods {quote(pod)} is forbidden: {text}")
    fault = MessageFault(problem.message, RULE_OF_ACCOUNTS, source=Source("ServiceAccount", name, space))
    return (msgspec.structs.replace(problem, rule=RULE_OF_ACCOUNTS, faults=(fault,)),)


def account_of(run: TaskRun, config: TektonConfig) -> str:
    """Return the ServiceAccount that the pod of a run gets."""
    return run.spec.service_account_name or config.service_account or "default"


def unmountable(run: TaskRun, spec: TaskSpec, template: PodTemplate | None, flags: Flags) -> tuple[Problem, ...]:
    """Return what ends a run whose pod has mounts that the API server refuses, which it says before it looks at any
    policy.

    Other faults that it would name beside these are left out.
    """
    wrong = () if run.status.pod_name else _mounted_twice(run, spec, template, flags)
    if not wrong:
        return ()
    name = pod_name(run.metadata.name or run.metadata.generate_name, len(run.status.retries_status or ()))
    text = wrong[0] if len(wrong) == 1 else f"[{', '.join(wrong)}]"
    problem = refusal_problem(run, 422, "Invalid", f'Pod "{name}" is invalid: {text}')
    return (msgspec.structs.replace(problem, rule="tekton/unmountable"),)


def _format_suspect(run: TaskRun) -> str:
    ref = run.spec.task_ref
    if ref is not None and ref.name:
        return f"missing or invalid Task {run.metadata.namespace}/{ref.name}"
    return "invalid TaskSpec"


def _condition(reason: str, message: str, rule: str, *, after: int = 0, status: str = "Unknown") -> Problem:
    return Problem("create", "TaskRun", message, rule, reason, status, after)


def _volume_named_twice(
    run: TaskRun, spec: TaskSpec, template: PodTemplate | None, flags: Flags
) -> tuple[WebhookError, ...]:
    """Volumes whose name is taken, by their place among all of the pod; volumes of workspaces have random names.

    Volumes for annotated Secrets of the service account come early, too, and are not counted: with such, the place is
    a higher one. Source: pkg/pod/pod.go Build.
    """
    own_volumes = (*(spec.volumes or ()), *((template.volumes if template is not None else None) or ()))
    if not own_volumes:
        return ()
    variables = variables_of(run.spec, spec)
    names = (
        *_volumes_of_tekton(run, spec, flags),
        *(replace_variables(named.name, variables) for named in own_volumes),
    )
    return tuple(volume_faults([Named(name) for name in names], ""))


def _mounted_twice(run: TaskRun, spec: TaskSpec, template: PodTemplate | None, flags: Flags) -> tuple[str, ...]:
    """Return what the API server says of mounts of volumes that there are not, and of two at one path.

    Mounts are in the order of the pod: a step's own come first. What a workspace's volume is called is not known.
    Source: pkg/apis/core/validation/validation.go ValidateVolumeMounts.
    """
    variables = variables_of(run.spec, spec)
    own_volumes = (*(spec.volumes or ()), *((template.volumes if template is not None else None) or ()))
    names = {
        *_volumes_of_tekton(run, spec, flags),
        *(replace_variables(named.name, variables) for named in own_volumes),
    }
    pairs = [step.volume_mounts or () for step in merge_templates(spec.steps, spec.step_template)]
    if not flags.kubernetes_sidecar:
        pairs += [sidecar.volume_mounts or () for sidecar in spec.sidecars or ()]
    texts: list[str] = []
    for index, mounts in enumerate(pairs):
        paths: set[str] = set()
        for position, mount in enumerate(mounts):
            item_path = f"spec.containers[{index}].volumeMounts[{position}]"
            name, path = replace_variables(mount.name, variables), replace_variables(mount.mount_path, variables)
            if name not in names and "$(" not in name and not name.startswith(_OF_WORKSPACE):
                texts.append(f"{item_path}.name: Not found: {quote(name)}")
            if path in paths:
                texts.append(f"{item_path}.mountPath: Invalid value: {quote(path)}: must be unique")
            paths.add(path)
    return tuple(texts)


def _volumes_of_tekton(run: TaskRun, spec: TaskSpec, flags: Flags) -> Iterator[str]:
    for name in _IMPLICIT:
        yield f"tekton-internal-{name}"
    debugged = has_breakpoint(run.spec.debug, flags)
    if has_scripts(spec) or debugged:
        yield "tekton-internal-scripts"
    if debugged:
        yield from ("tekton-internal-debug-scripts", "tekton-internal-debug-info")
    yield "tekton-internal-bin"
    waits = flags.await_sidecars and (bool(spec.sidecars) or flags.injected_sidecars)
    if waits or flags.keep_pod:
        yield "tekton-internal-downward"
    for index in range(len(spec.steps or ())):
        if flags.creds_init:
            yield f"tekton-creds-init-home-{index}"
        yield f"tekton-internal-run-{index}"
