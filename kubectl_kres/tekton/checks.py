"""What the TaskRun controller looks at before it builds a pod."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_kres.model.tekton import Override, TaskRunSpec, TaskSpec
from kubectl_kres.quantity import Quantity
from kubectl_kres.tekton.amounts import read
from kubectl_kres.tekton.answer import Problem


def problems(run: TaskRunSpec, spec: TaskSpec) -> tuple[Problem, ...]:
    """Each answer that the checks can give, empty if they pass: the name that is met first is random.

    Only the Task's own text is looked at, with StepActions resolved and nothing merged. Raises QuantityError.
    Source: taskrun/validate_taskrun.go.
    """
    texts = _above_limit(spec)
    if texts:
        return tuple(_failed(text, "tekton/request-over-limit") for text in texts)
    unknown = [*_unknown(run.step_specs, {step.name for step in spec.steps or ()}, "Step")]
    unknown += _unknown(run.sidecar_specs, {sidecar.name for sidecar in spec.sidecars or ()}, "Sidecar")
    return (_failed("\n".join(unknown), "tekton/unknown-override"),) if unknown else ()


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
