"""What the TaskRun controller looks at before it builds a pod."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.model.tekton import Override, TaskRun, TaskRunSpec, TaskSpec
from kubectl_kres.quantity import Quantity
from kubectl_kres.tekton.base.amounts import read
from kubectl_kres.tekton.base.config import TektonConfig
from kubectl_kres.tekton.base.naming import PIPELINE_RUN
from kubectl_kres.tekton.base.result import Problem
from kubectl_kres.tekton.controller.param_checks import unfit


def problems(run: TaskRun, spec: TaskSpec, config: TektonConfig) -> tuple[Problem, ...]:
    """Each answer that the checks can give, empty if they pass: the name that is met first is random.

    Only the Task's own text is looked at, with StepActions resolved and nothing merged; parameters and workspaces only
    where they have not passed already, as in a run that has its pod and in a PipelineRun's. Raises QuantityError.
    Source: taskrun/validate_taskrun.go, taskrun.go prepare.
    """
    texts = _above_limit(spec)
    if texts:
        return tuple(_failed(text, "tekton/request-over-limit") for text in texts)
    if PIPELINE_RUN not in (run.metadata.labels or {}) and not run.status.pod_name:
        name = run.spec.task_ref.name if run.spec.task_ref is not None else run.metadata.name
        if text := unfit(run.spec, spec, name):
            return (_failed(text, "tekton/params"),)
        if not config.binds_workspaces and (text := _unbound(run.spec, spec)):
            return (_failed(text, "tekton/workspaces"),)
    if config.flags.coschedule == "workspaces" and not run.status.pod_name and _claims(run.spec) > 1:
        return (_failed("more than one PersistentVolumeClaim is bound", "tekton/one-claim"),)
    unknown = [*_unknown(run.spec.step_specs, {step.name for step in spec.steps or ()}, "Step")]
    unknown += _unknown(run.spec.sidecar_specs, {sidecar.name for sidecar in spec.sidecars or ()}, "Sidecar")
    return (_failed("\n".join(unknown), "tekton/unknown-override"),) if unknown else ()


def _unbound(run: TaskRunSpec, spec: TaskSpec) -> str:
    """A sentence of the first workspace that lacks its other side; empty if there is none."""
    bound = [one.name for one in run.workspaces or ()]
    declared = [one.name for one in spec.workspaces or ()]
    for one in spec.workspaces or ():
        if not one.optional and one.name not in bound:
            return f'declared workspace "{one.name}" is required but has not been bound'
    for name in bound if run.task_spec is None else ():
        if name not in declared:
            return f'workspace binding "{name}" does not match any declared workspace'
    return ""


def _claims(run: TaskRunSpec) -> int:
    """How many claims there are behind the workspaces: the affinity assistant can follow one.

    Source: pkg/workspace/validate.go ValidateOnlyOnePVCIsUsed.
    """
    held = {one.persistent_volume_claim.claim_name for one in run.workspaces or () if one.persistent_volume_claim}
    return len(held) + len({one.name for one in run.workspaces or () if one.volume_claim_template is not None} - held)


def _above_limit(spec: TaskSpec) -> list[str]:
    """Of the first step with requests above its limits, else the template's, a sentence for each name."""
    template = spec.step_template.compute_resources if spec.step_template is not None else None
    general = read(template.limits) if template is not None else None
    for step in spec.steps or ():
        own = step.compute_resources
        if own is None:
            continue
        requests = read(own.requests) or {}
        limits: dict[str, Quantity] = {**(general or {}), **(read(own.limits) or {})}
        texts = [
            f"invalid request resource value: {request} must be less or equal to limit {limits[name]}"
            for name, request in requests.items()
            if name in limits and limits[name] < request
        ]
        if texts:
            return texts
    return []


def _unknown(overrides: Sequence[Override] | None, names: set[str], kind: str) -> Iterator[str]:
    for one in overrides or ():
        if one.name not in names:
            yield f"invalid {kind}Override: No {kind} named {one.name}"


def _failed(text: str, rule: str) -> Problem:
    return Problem("reconcile", "TaskRun", f"[User error] {text}", rule, "TaskRunValidationFailed", "False")
