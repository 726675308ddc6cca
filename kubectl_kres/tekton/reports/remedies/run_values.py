"""Requests and limits where they are written: in steps and sidecars of a Task, and in a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeVar

from msgspec import Struct, structs

from kubectl_kres.admission.base.draft import Side
from kubectl_kres.model.pod import AddedContainers, ResourceRequirements
from kubectl_kres.provenance.journal import Source
from kubectl_kres.tekton.model import Override, Sidecar, Step, TaskRun
from kubectl_kres.tekton.rules.base.result import Fields
from kubectl_kres.tekton.rules.controller.resolve import UsedTask
from kubectl_kres.tekton.rules.controller.taskrun import RunNamespace

#: steps, sidecars: of the Task. stepSpecs, sidecarSpecs: of the run, by their place in its list. computeResources: of
#: the run, for the whole Task.
Holder = Literal["steps", "sidecars", "stepSpecs", "sidecarSpecs", "computeResources"]

Held = TypeVar("Held", Step, Sidecar, Override)


class RunField(NamedTuple):
    """One request or limit."""

    holder: Holder
    number: int
    side: Side
    resource: str


#: What is written where; None takes a value out.
RunValues = Mapping[RunField, str | None]


class RunCase(Struct, frozen=True):
    """The sources of a run's pod. ``fields``: where the values of the run stand. ``added``: containers that something
    adds to it, as earlier pods of the Task have them.
    """

    run: TaskRun
    task: UsedTask
    fields: Fields
    world: RunNamespace
    added: AddedContainers = ()

    def source(self, field: RunField) -> Source:
        """Return the object that holds a value, and the path in it."""
        match field.holder:
            case "steps" | "sidecars":
                above = self.task.origin.path_of(f"{field.holder}[{field.number}].computeResources")
            case "computeResources":
                above = self.fields.compute_resources
            case _:
                own_source = self.fields.step_specs if field.holder == "stepSpecs" else self.fields.sidecar_specs
                above = own_source.at_path(f"{own_source.field}[{field.number}].computeResources")
        return above.at_path(f"{above.field}.{field.side}[{field.resource}]")

    def written_value(self, field: RunField) -> str | None:
        """Return the value that is written there; None: nothing."""
        resources = self._resources(field)
        values = (resources.limits if field.side == "limits" else resources.requests) if resources else None
        value = (values or {}).get(field.resource)
        return None if value is None else str(value)

    def _resources(self, field: RunField) -> ResourceRequirements | None:
        steps: Sequence[Step | Sidecar | Override]
        match field.holder:
            case "computeResources":
                return self.run.spec.compute_resources
            case "steps":
                steps = self.task.spec.steps or ()
            case "sidecars":
                steps = self.task.spec.sidecars or ()
            case "stepSpecs":
                steps = self.run.spec.step_specs or ()
            case _:
                steps = self.run.spec.sidecar_specs or ()
        return steps[field.number].compute_resources if field.number < len(steps) else None

    def with_values(self, values: RunValues) -> RunCase:
        """Return the same with the values written."""
        if not values:
            return self
        run, task = self.run.spec, self.task.spec
        spec = structs.replace(
            run,
            step_specs=_edit_overrides(run.step_specs, "stepSpecs", values),
            sidecar_specs=_edit_overrides(run.sidecar_specs, "sidecarSpecs", values),
            compute_resources=_edit_resources(run.compute_resources, "computeResources", 0, values),
        )
        steps, sidecars = (
            _edit_overrides(task.steps, "steps", values),
            _edit_overrides(task.sidecars, "sidecars", values),
        )
        used = structs.replace(self.task, spec=structs.replace(task, steps=steps, sidecars=sidecars))
        return structs.replace(self, run=structs.replace(self.run, spec=spec), task=used)


def _edit_overrides(overrides: tuple[Held, ...] | None, holder: Holder, values: RunValues) -> tuple[Held, ...] | None:
    if overrides is None:
        return None
    return tuple(
        structs.replace(override, compute_resources=_edit_resources(override.compute_resources, holder, number, values))
        for number, override in enumerate(overrides)
    )


def _edit_resources(
    resources: ResourceRequirements | None, holder: Holder, number: int, values: RunValues
) -> ResourceRequirements | None:
    field_values = {field: text for field, text in values.items() if (field.holder, field.number) == (holder, number)}
    if not field_values:
        return resources
    base = resources or ResourceRequirements()
    sides: dict[str, dict[str, object]] = {"limits": dict(base.limits or {}), "requests": dict(base.requests or {})}
    for field, text in field_values.items():
        if text is None:
            sides[field.side].pop(field.resource, None)
        else:
            sides[field.side][field.resource] = text
    return structs.replace(base, limits=sides["limits"] or None, requests=sides["requests"] or None)
