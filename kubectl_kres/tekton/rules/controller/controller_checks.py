"""What the TaskRun controller looks at before it builds a pod."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kubectl_kres.provenance.problem import Problem
from kubectl_kres.quantity import Quantity
from kubectl_kres.tekton.model import Override, Param, TaskRun, TaskRunSpec, TaskSpec
from kubectl_kres.tekton.rules.base.amounts import read
from kubectl_kres.tekton.rules.base.config import TektonConfig
from kubectl_kres.tekton.rules.base.naming import PIPELINE_RUN
from kubectl_kres.tekton.rules.validation.declarations import Declaration, declared, type_of
from kubectl_kres.tekton.rules.validation.variable_faults import mounts, texts

_VARIABLE = re.compile(r"\$\([_a-zA-Z0-9.-]+(?:\[(?:[0-9]+|\*)\])?\)")
_INDEXED = re.compile(
    r"\$\(params(?:\.([_a-zA-Z0-9.-]{1,200})|\['([_a-zA-Z0-9./]{1,200})'\]|\[\"([_a-zA-Z0-9./]{1,200})\"\])"
    r"\[([0-9]{1,18})\]\)"
)


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
        if text := _unfit(run.spec, spec, name):
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
    bound = [workspace.name for workspace in run.workspaces or ()]
    declared = [workspace.name for workspace in spec.workspaces or ()]
    for workspace in spec.workspaces or ():
        if not workspace.optional and workspace.name not in bound:
            return f'declared workspace "{workspace.name}" is required but has not been bound'
    for name in bound if run.task_spec is None else ():
        if name not in declared:
            return f'workspace binding "{name}" does not match any declared workspace'
    return ""


def _claims(run: TaskRunSpec) -> int:
    """How many claims there are behind the workspaces: the affinity assistant can follow one.

    Source: pkg/workspace/validate.go ValidateOnlyOnePVCIsUsed.
    """
    claim_names = {
        workspace.persistent_volume_claim.claim_name
        for workspace in run.workspaces or ()
        if workspace.persistent_volume_claim
    }
    return len(claim_names) + len(
        {workspace.name for workspace in run.workspaces or () if workspace.volume_claim_template is not None}
        - claim_names
    )


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
    for override in overrides or ():
        if override.name not in names:
            yield f"invalid {kind}Override: No {kind} named {override.name}"


def _failed(text: str, rule: str) -> Problem:
    return Problem("reconcile", "TaskRun", f"[User error] {text}", rule, "TaskRunValidationFailed", "False")


def _unfit(run: TaskRunSpec, spec: TaskSpec, name: str) -> str:
    """A sentence of the parameters that do not fit the Task called ``name``; empty: all do.

    Source: taskrun/validate_taskrun.go validateParams, resources/validate_params.go ValidateParamArrayIndex.
    """
    wanted, given = declared(spec.params), run.params or ()
    text = _missing(given, wanted) or _mistyped(given, wanted) or _keyless(given, wanted)
    return f"invalid input params for task {name}: {text}" if text else _beyond(given, spec)


def _missing(given: Sequence[Param], wanted: Sequence[Declaration]) -> str:
    known = {param.name for param in given}
    missing = [declaration.name for declaration in wanted if not declaration.default and declaration.name not in known]
    return f"missing values for these params which have no default values: [{' '.join(missing)}]" if missing else ""


def _mistyped(given: Sequence[Param], wanted: Sequence[Declaration]) -> str:
    """A text may turn out to be a list or an object if it refers to one."""
    types = {declaration.name: declaration.type for declaration in wanted}
    wrong = [
        param.name
        for param in given
        if (kind := types.get(param.name, "")) and type_of(param.value) != kind and not _may_become(param, kind)
    ]
    return f"param types don't match the user-specified type: [{' '.join(wrong)}]" if wrong else ""


def _may_become(param: Param, kind: str) -> bool:
    return kind in {"array", "object"} and isinstance(param.value, str) and _VARIABLE.search(param.value) is not None


def _keyless(given: Sequence[Param], wanted: Sequence[Declaration]) -> str:
    """Keys are only looked for where the default or the run gives some."""
    needed = {declaration.name: declaration.properties or {} for declaration in wanted if declaration.type == "object"}
    result: dict[str, set[str]] = {
        declaration.name: set(declaration.keys) for declaration in wanted if declaration.default == "object"
    }
    for param in given:
        if type_of(param.value) == "object":
            result.setdefault(param.name, set()).update(param.value)
    lacking = {name: sorted(set(needed.get(name, ())) - keys) for name, keys in sorted(result.items())}
    shown = " ".join(f"{name}:[{' '.join(keys)}]" for name, keys in lacking.items() if keys)
    text = f"missing keys for these params which are required in ParamSpec's properties map[{shown}]"
    return text if shown else ""


def _beyond(given: Sequence[Param], spec: TaskSpec) -> str:
    """Entries that a list does not have."""
    lengths = {param.name: len(param.default) for param in spec.params or () if type_of(param.default) == "array"}
    lengths |= {param.name: len(param.value) for param in given if type_of(param.value) == "array"}
    result = {match[0]: match for text in _texts(spec) for match in _INDEXED.finditer(text)} if lengths else {}
    wrong = sorted(
        written
        for written, match in result.items()
        if int(match[4]) >= lengths.get((match[1] or "").split(".")[0] or match[2] or match[3], int(match[4]) + 1)
    )
    return f"non-existent param references:[{' '.join(wrong)}]" if wrong else ""


def _texts(spec: TaskSpec) -> Iterator[str]:
    for step in (*(spec.steps or ()), *((spec.step_template,) if spec.step_template is not None else ())):
        yield from (text for _, text in (*texts(step), *mounts(step, ("", "", ""))) if "$(params" in text)
    yield from (workspace.mount_path for workspace in spec.workspaces or ())
    for sidecar in spec.sidecars or ():
        yield from (sidecar.script, sidecar.image, *(sidecar.command or ()))
