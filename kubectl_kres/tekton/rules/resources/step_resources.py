"""A step's own values, those of the template, and overrides of steps and sidecars."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_kres.admission.base.draft import SIDES
from kubectl_kres.model.pod import ResourceRequirements
from kubectl_kres.provenance.journal import Entry, Source
from kubectl_kres.tekton.model import Override, TaskSpec
from kubectl_kres.tekton.rules.base.amounts import read
from kubectl_kres.tekton.rules.base.result import SpecOrigin
from kubectl_kres.tekton.rules.resources.container_draft import ContainerDraft, put

_WRITTEN = {"step": "tekton/step", "sidecar": "tekton/sidecar"}
_OVERRIDDEN = {"step": "tekton/step-spec", "sidecar": "tekton/sidecar-spec"}


def write_task(
    places: Sequence[ContainerDraft], spec: TaskSpec, origin: SpecOrigin, journal: list[Entry] | None
) -> None:
    """The values that steps and sidecars have in the Task, then for steps those of the template that they lack.

    Raises QuantityError. Source: v1/merge.go MergeStepsWithStepTemplate.
    """
    template = spec.step_template.compute_resources if spec.step_template is not None else None
    for place in places:
        if place.role == "injected":
            continue
        field = f"{place.role}s[{place.number}]"
        steps = (spec.steps if place.role == "step" else spec.sidecars) or ()
        _write(place, steps[place.number].compute_resources, origin.at(field), _WRITTEN[place.role], journal)
        if place.role == "step":
            _fill(place, template, origin.at("stepTemplate"), journal)


def override(
    places: Sequence[ContainerDraft],
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
    for place in places:
        if place.role == "injected":
            continue
        steps = (spec.steps if place.role == "step" else spec.sidecars) or ()
        numbers = by_name.get(steps[place.number].name)
        if numbers is not None:
            index, entry = numbers
            where = source.at(f"{source.field}[{index}]")
            _write(place, entry.compute_resources, where, _OVERRIDDEN[place.role], journal)


def _write(
    place: ContainerDraft,
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
            name: (quantity, source.at(f"{source.field}.computeResources.{side}[{name}]"))
            for name, quantity in values.items()
        }
        put(place, side, sourced, rule, journal)
    place.claims = resources.claims or place.claims


def _fill(
    place: ContainerDraft, resources: ResourceRequirements | None, source: Source, journal: list[Entry] | None
) -> None:
    """Values for names that are missing."""
    if resources is None:
        return
    for side in SIDES:
        values = read(resources.requests if side == "requests" else resources.limits) or {}
        present = place.side(side) or {}
        sourced = {
            name: (quantity, source.at(f"{source.field}.computeResources.{side}[{name}]"))
            for name, quantity in values.items()
            if name not in present
        }
        put(place, side, sourced, "tekton/step-template", journal)
    place.claims = place.claims or resources.claims or ()
