"""The smallest tested change to a Task, its run and config-defaults that leads to another QoS class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import structs

from kubectl_kres.admission.base.draft import SIDES, Draft, Side, Slot
from kubectl_kres.admission.pod.aggregate import CONSIDERED, compute_class
from kubectl_kres.model.pod import ResourceRequirements
from kubectl_kres.model.tekton_config import DEFAULTS
from kubectl_kres.provenance.journal import Source
from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.common.last_editor import FieldEdit
from kubectl_kres.reports.common.system import object_behind
from kubectl_kres.reports.qos.qos_reach import CLASSES, ClassChange
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.model import Override, Step, TaskRun
from kubectl_kres.tekton.reports.remedies.run_trials import IN_TEKTON_CONFIG
from kubectl_kres.tekton.reports.run_facts import pipeline_run_of
from kubectl_kres.tekton.reports.taskrun import run_of
from kubectl_kres.tekton.reports.world import tekton_world
from kubectl_kres.tekton.rules.base.config import KEY
from kubectl_kres.tekton.rules.base.result import MissingReference
from kubectl_kres.tekton.rules.controller.resolve import UsedTask, task_of
from kubectl_kres.tekton.rules.controller.taskrun import RunNamespace, RunResult, task_run

#: Tried where any value would do.
_EXAMPLES = {"cpu": "100m", "memory": "128Mi"}
#: Edits up to which each one is tried to be spared.
_SPARED = 24


class CurrentRun(NamedTuple):
    """The present values of a run."""

    run: TaskRun
    task: UsedTask
    world: RunNamespace
    draft: Draft


class ValueEdit(NamedTuple):
    """One value of a container of the pod; ``text`` None: taken out. ``free``: any other would do as well.

    ``of_run``: in the run's entry for the step or sidecar, whose values win over the Task's.
    """

    container: str
    side: Side
    resource: str
    text: str | None
    free: bool = False
    of_run: bool = False


#: Values, and whether those for the whole Task are taken out of the run.
RunChange = tuple[tuple[ValueEdit, ...], bool]


def run_case(store: Store, subject: Subject, options: EvaluationOptions, draft: Draft) -> CurrentRun | None:
    """Return the explained run, or the one that made the pod; None if there is no answer about it."""
    result = object_behind(store, subject)
    world = tekton_world(store, subject.ref.namespace, options)
    run = run_of(store, result, world)[0] if result is not None else None
    task = task_of(run, world.lookups) if run is not None else None
    return CurrentRun(run, task, world, draft) if run is not None and isinstance(task, UsedTask) else None


def find_reaches(case: CurrentRun) -> Iterator[ClassChange]:
    """Yield the way to each other class: Guaranteed takes equal values everywhere, also of what Tekton adds to
    the pod.
    """
    now = compute_class(case.draft)
    for name in CLASSES:
        if name != now:
            reaches = [reach for change in _WAYS[name](case) if (reach := _try_change(case, name, change)) is not None]
            yield min(reaches, key=lambda reach: (bool(reach.refused), len(reach.edits)), default=ClassChange(name, ()))


def _try_change(case: CurrentRun, name: str, change: RunChange) -> ClassChange | None:
    """Return the change without needless edits; None if it does not lead to the class."""
    planned, whole = change
    placed = (each for value_edit in planned for each in _redirect_edit(case, value_edit))
    edits = tuple(value_edit for value_edit in placed if (to := _build_field_edit(case, value_edit)).before != to.after)
    text = _refusal(case, name, (edits, whole)) if edits or whole else None
    if text is None:
        return None
    for edit in edits if len(edits) <= _SPARED else ():
        rest = tuple(value_edit for value_edit in edits if value_edit is not edit)
        less = _refusal(case, name, (rest, whole)) if rest or whole else None
        if less is not None and (text or not less):
            edits, text = rest, less
    shown = tuple(_build_field_edit(case, edit) for edit in edits)
    if whole:
        item_path = f"{_run_field(case.run)}.computeResources"
        shown = (FieldEdit(item_path, "{...}", None), *shown)
    return ClassChange(name, shown, text)


def _redirect_edit(case: CurrentRun, edit: ValueEdit) -> Iterator[ValueEdit]:
    """Yield the edit where it has an effect: what the run overrides is changed in the run."""
    result = _read_side(_override(case, edit.container)[1], edit.side)
    if edit.resource in result:
        yield edit._replace(of_run=True)
    if edit.resource not in result or edit.text is None:
        yield edit


def _override(case: CurrentRun, container: str) -> tuple[str, ResourceRequirements | None]:
    """Return the field and the values of the run's entry for a step or sidecar; empty and None without one."""
    spec = case.run.spec
    for field, prefix, entries in (
        ("stepSpecs", "step", spec.step_specs),
        ("sidecarSpecs", "sidecar", spec.sidecar_specs),
    ):
        for index, entry in enumerate(entries or ()):
            if f"{prefix}-{entry.name}" == container:
                return f"{field}[{index}]", entry.compute_resources
    return "", None


def _overridden(
    entries: Sequence[Override] | None, edits: Sequence[ValueEdit], prefix: str
) -> tuple[Override, ...] | None:
    mine = [edit for edit in edits if edit.of_run]
    if not mine or entries is None:
        return tuple(entries) if entries is not None else None
    return tuple(
        structs.replace(
            entry, compute_resources=_edit_resources(entry.compute_resources, mine, f"{prefix}-{entry.name}")
        )
        for entry in entries
    )


def _refusal(case: CurrentRun, name: str, change: RunChange) -> str | None:
    """Return the refusal of the run, empty if it gets its pod; None if the pod is of another class, or there is
    none.
    """
    results = _simulate_change(case, change)
    for result in results:
        if result.outcome is None or result.outcome.draft is None or compute_class(result.outcome.draft) != name:
            return None
    return next((result.problem.text for result in results if result.problem is not None), "") if results else None


def _simulate_change(case: CurrentRun, change: RunChange) -> tuple[RunResult, ...]:
    every, whole = change
    edits = tuple(edit for edit in every if not edit.of_run)
    spec = case.task.spec
    steps = tuple(
        structs.replace(step, compute_resources=_edit_resources(step.compute_resources, edits, _step(step, index)))
        for index, step in enumerate(spec.steps or ())
    )
    sidecars = tuple(
        structs.replace(
            sidecar, compute_resources=_edit_resources(sidecar.compute_resources, edits, f"sidecar-{sidecar.name}")
        )
        for sidecar in spec.sidecars or ()
    )
    task = structs.replace(case.task, spec=structs.replace(spec, steps=steps, sidecars=sidecars or None))
    own_names = _own_containers(case)
    additions = {edit.container for edit in edits} - own_names
    entries = {name: _edit_resources(case.world.config.entries.get(name), edits, name) for name in sorted(additions)}
    config = structs.replace(
        case.world.config,
        entries={**case.world.config.entries, **{name: entry for name, entry in entries.items() if entry is not None}},
    )
    world = structs.replace(case.world, config=config)
    run = case.run
    asked = structs.replace(
        run.spec,
        compute_resources=None if whole else run.spec.compute_resources,
        step_specs=_overridden(run.spec.step_specs, every, "step"),
        sidecar_specs=_overridden(run.spec.sidecar_specs, every, "sidecar"),
    )
    run = structs.replace(run, spec=asked)
    result = task_run(run, world, task=task, journal=False)
    return () if isinstance(result, MissingReference) else result


def _own_containers(case: CurrentRun) -> frozenset[str]:
    """Return the containers that the Task itself defines."""
    steps = (_step(step, index) for index, step in enumerate(case.task.spec.steps or ()))
    return frozenset(steps) | {f"sidecar-{sidecar.name}" for sidecar in case.task.spec.sidecars or ()}


def _step(step: Step, index: int) -> str:
    """Return the name of a step's container."""
    return f"step-{step.name or f'unnamed-{index}'}"


def _edit_resources(
    resource_requirements: ResourceRequirements | None, edits: Sequence[ValueEdit], name: str
) -> ResourceRequirements | None:
    mine = [edit for edit in edits if edit.container == name]
    if not mine:
        return resource_requirements
    sides: dict[Side, dict[str, str]] = {side: dict(_read_side(resource_requirements, side)) for side in SIDES}
    for edit in mine:
        if edit.text is None:
            sides[edit.side].pop(edit.resource, None)
        else:
            sides[edit.side][edit.resource] = edit.text
    return ResourceRequirements(
        sides["limits"] or None,
        sides["requests"] or None,
        resource_requirements.claims if resource_requirements else None,
    )


def _read_side(resource_requirements: ResourceRequirements | None, side: Side) -> Mapping[str, str]:
    if resource_requirements is None:
        return {}
    return (resource_requirements.limits if side == "limits" else resource_requirements.requests) or {}


def _build_field_edit(case: CurrentRun, edit: ValueEdit) -> FieldEdit:
    """Return the object and field of the value: in the Task, or in config-defaults for containers that Tekton adds."""
    field = f"{edit.side}[{edit.resource}]"
    if edit.of_run:
        entry, values = _override(case, edit.container)
        before = _read_side(values, edit.side).get(edit.resource)
        item_path = f"{_run_field(case.run)}.{entry}.computeResources.{field}"
        return FieldEdit(item_path, None if before is None else str(before), edit.text, edit.free)
    origin, ref = case.task.origin.source, case.run.spec.task_ref
    if ref is not None and ref.name and origin.field.startswith("status."):
        origin = Source("Task", ref.name, field="spec")
    spec = case.task.spec
    steps = (
        (f"steps[{index}]", _step(step, index), step.compute_resources) for index, step in enumerate(spec.steps or ())
    )
    sidecars = (
        (f"sidecars[{index}]", f"sidecar-{sidecar.name}", sidecar.compute_resources)
        for index, sidecar in enumerate(spec.sidecars or ())
    )
    for path, name, resource_requirements in (*steps, *sidecars):
        if name == edit.container:
            before = _read_side(resource_requirements, edit.side).get(edit.resource)
            item_path = f"{origin}.{path}.computeResources.{field}"
            return FieldEdit(item_path, None if before is None else str(before), edit.text, edit.free)
    holder = f"ConfigMap/{DEFAULTS} {KEY}"
    if case.world.config.by_operator:
        holder = f"TektonConfig/config {IN_TEKTON_CONFIG}"
    item_path = f"{holder}[{edit.container}].{field}"
    return FieldEdit(item_path, None, edit.text, edit.free)


def _run_field(run: TaskRun) -> str:
    """Return the field for the values of a run: in itself, or for its task in the PipelineRun that made it."""
    owner, task = pipeline_run_of(run), (run.metadata.labels or {}).get("tekton.dev/pipelineTask", "")
    return f"PipelineRun/{owner} spec.taskRunSpecs[{task}]" if owner else f"TaskRun/{run.metadata.name} spec"


def _slots(draft: Draft) -> tuple[Slot, ...]:
    return (*draft.containers, *draft.inits)


def _value(values: Mapping[str, Quantity], resource: str) -> Quantity | None:
    quantity = values.get(resource)
    return quantity if quantity is not None and quantity.nano > 0 else None


def _to_guaranteed(case: CurrentRun) -> Iterator[RunChange]:
    """Yield changes that make requests and limits of every container equal: at its present limit, or at its request.

    Values for the whole Task have to go where there are several steps: they divide requests, and not limits.
    """
    whole = case.run.spec.compute_resources is not None
    for order in (("limits", "requests"), ("requests", "limits")):
        edits: list[ValueEdit] = []
        for slot in _slots(case.draft):
            for resource in CONSIDERED:
                quantities = {"limits": _value(slot.limits, resource), "requests": _value(slot.requests, resource)}
                value = next((quantity for side in order if (quantity := quantities[side]) is not None), None)
                if whole or value is None or quantities["limits"] != quantities["requests"]:
                    text = str(value) if value is not None else _EXAMPLES[resource]
                    edits += [ValueEdit(slot.name, side, resource, text, value is None) for side in SIDES]
        yield tuple(edits), whole


def _to_burstable(case: CurrentRun) -> Iterator[RunChange]:
    """Yield one request: below its limit where there is one."""
    name = next((slot.name for slot in case.draft.containers), "")
    for resource in CONSIDERED:
        yield (ValueEdit(name, "requests", resource, _EXAMPLES[resource], free=True),), False
        limit = next((_value(slot.limits, resource) for slot in case.draft.containers), None)
        if limit is not None:
            half = f"{limit.milli_value() // 2}m" if resource == "cpu" else str(limit.value() // 2)
            yield (ValueEdit(name, "requests", resource, str(parse(half)), free=True),), False


def _to_best_effort(case: CurrentRun) -> Iterator[RunChange]:
    """Yield the change without values; what a LimitRange or config-defaults gives stays."""
    edits = [
        ValueEdit(slot.name, side, resource, None)
        for slot in _slots(case.draft)
        if slot.name in _own_containers(case)
        for side in SIDES
        for resource in CONSIDERED
    ]
    yield tuple(edits), case.run.spec.compute_resources is not None


_WAYS = {"Guaranteed": _to_guaranteed, "Burstable": _to_burstable, "BestEffort": _to_best_effort}
