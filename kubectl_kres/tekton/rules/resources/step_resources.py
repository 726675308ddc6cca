"""Resources of steps: their own values, those of the template, overrides of steps and sidecars, and those of the whole
Task.

Limits of the whole Task are copied to each step, requests divided among them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kubectl_kres.admission.base.draft import SIDES, Side
from kubectl_kres.model.pod import ResourceRequirements
from kubectl_kres.provenance.journal import Derive, Entry, Source, Term
from kubectl_kres.quantity import Quantity
from kubectl_kres.tekton.model import Override, TaskSpec
from kubectl_kres.tekton.rules.base.amounts import division_loss, read, share
from kubectl_kres.tekton.rules.base.result import SpecOrigin
from kubectl_kres.tekton.rules.resources.container_draft import ContainerDraft, Sourced, put_values, replace

_WRITTEN = {"step": "tekton/step", "sidecar": "tekton/sidecar"}
_OVERRIDDEN = {"step": "tekton/step-spec", "sidecar": "tekton/sidecar-spec"}


def write_task(
    drafts: Sequence[ContainerDraft], spec: TaskSpec, origin: SpecOrigin, journal: list[Entry] | None
) -> None:
    """The values that steps and sidecars have in the Task, then for steps those of the template that they lack.

    Raises QuantityError. Source: v1/merge.go MergeStepsWithStepTemplate.
    """
    template = spec.step_template.compute_resources if spec.step_template is not None else None
    for draft in drafts:
        if draft.role == "injected":
            continue
        field = f"{draft.role}s[{draft.number}]"
        steps = (spec.steps if draft.role == "step" else spec.sidecars) or ()
        _write(draft, steps[draft.number].compute_resources, origin.path_of(field), _WRITTEN[draft.role], journal)
        if draft.role == "step":
            _fill_missing_values(draft, template, origin.path_of("stepTemplate"), journal)


def override(
    drafts: Sequence[ContainerDraft],
    spec: TaskSpec,
    overrides: Sequence[Override] | None,
    source: Source,
    journal: list[Entry] | None,
) -> None:
    """Values of ``stepSpecs`` or ``sidecarSpecs`` (``source``: which) over those of the place with that name.

    The name is the Task's. Resources that are missing stay as they are. Raises QuantityError.
    Source: v1/merge.go MergeStepsWithSpecs.
    """
    by_name = {override.name: (index, override) for index, override in enumerate(overrides or ())}
    for draft in drafts:
        if draft.role == "injected":
            continue
        steps = (spec.steps if draft.role == "step" else spec.sidecars) or ()
        numbers = by_name.get(steps[draft.number].name)
        if numbers is not None:
            index, entry = numbers
            field_source = source.at_path(f"{source.field}[{index}]")
            _write(draft, entry.compute_resources, field_source, _OVERRIDDEN[draft.role], journal)


def _write(
    draft: ContainerDraft,
    resources: ResourceRequirements | None,
    source: Source,
    rule: str,
    journal: list[Entry] | None,
) -> None:
    """Values that win over what is there; a list of claims replaces the one before."""
    if resources is None:
        return
    for side in SIDES:
        values = read(resources.requests if side == "requests" else resources.limits) or {}
        sourced = {
            name: (quantity, source.at_path(f"{source.field}.computeResources.{side}[{name}]"))
            for name, quantity in values.items()
        }
        put_values(draft, side, sourced, rule, journal)
    draft.claims = resources.claims or draft.claims


def _fill_missing_values(
    draft: ContainerDraft, resources: ResourceRequirements | None, source: Source, journal: list[Entry] | None
) -> None:
    """Values for names that are missing."""
    if resources is None:
        return
    for side in SIDES:
        values = read(resources.requests if side == "requests" else resources.limits) or {}
        present = draft.amounts_of(side) or {}
        sourced = {
            name: (quantity, source.at_path(f"{source.field}.computeResources.{side}[{name}]"))
            for name, quantity in values.items()
            if name not in present
        }
        put_values(draft, side, sourced, "tekton/step-template", journal)
    draft.claims = draft.claims or resources.claims or ()


_LIMITS = ("tekton/task-level-limit", "tekton/task-level-dropped")
_REQUESTS = ("tekton/task-level-request", "tekton/task-level-dropped")
_FROM_LIMITS = ("tekton/task-level-request-from-limit", "tekton/task-level-dropped")


def apply(
    steps: Sequence[ContainerDraft], whole: ResourceRequirements | None, source: Source, journal: list[Entry] | None
) -> None:
    """Replace the steps' limits and requests as wholes; claims stay as they are.

    ``source`` is the field that ``whole`` stands in. Raises QuantityError.
    Source: tasklevel.go ApplyTaskLevelComputeResources.
    """
    limits = read(whole.limits) if whole is not None else None
    requests = read(whole.requests) if whole is not None else None
    if limits is None and requests is None:
        return
    for step in steps:
        if step.requests is None and requests is None:
            _divide(step, limits, len(steps), source, "limits", _FROM_LIMITS, journal)
        else:
            _divide(step, requests, len(steps), source, "requests", _REQUESTS, journal)
        replace(step, "limits", _add_limit_sources(limits, source), _LIMITS, source, journal)


def _divide(
    step: ContainerDraft,
    whole: Mapping[str, Quantity] | None,
    number: int,
    source: Source,
    side: Side,
    rules: tuple[str, str],
    journal: list[Entry] | None,
) -> None:
    parts = {
        name: (share(quantity, name, number), source.at_path(f"{source.field}.{side}[{name}]"))
        for name, quantity in (whole or {}).items()
    }
    default_rule, _ = rules
    replace(step, "requests", parts, rules, source, journal)
    if journal is None:
        return
    for name, (part, field_source) in parts.items():
        quantity = (whole or {})[name]
        terms = (
            Term(f"{field_source.field} {quantity} / {number} steps", str(part)),
            Term("lost in the division", str(division_loss(quantity, part, number)), kept=False),
        )
        journal.append(Derive(step.path_of("requests", name), default_rule, str(part), terms, field_source))


def _add_limit_sources(limits: Mapping[str, Quantity] | None, source: Source) -> dict[str, Sourced]:
    return {
        name: (quantity, source.at_path(f"{source.field}.limits[{name}]")) for name, quantity in (limits or {}).items()
    }
