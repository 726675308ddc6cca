"""Remedies of a refused TaskRun, found by trying: values of Task and run, a default for what Tekton adds, more room.

Every trial goes through Tekton's steps and the API server's again, in every order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from msgspec import structs

from kubectl_kres.admission.base.draft import SIDES, Draft, Side, Slot, Unparsable
from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.pod.aggregate import sum_containers
from kubectl_kres.admission.quota.quota_admission import amounts
from kubectl_kres.errors import QuantityError
from kubectl_kres.model.pod import ResourceRequirements
from kubectl_kres.provenance.journal import Set
from kubectl_kres.quantity import ZERO, Quantity, parse
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.remedy import CreateObject, Edit, RaiseQuota, Remedy, SetBound, SetConfig
from kubectl_kres.reports.common.system_parts import part_of
from kubectl_kres.reports.remedies.engine import State
from kubectl_kres.reports.remedies.pods import OF_VALUES, TRIED, findings_of
from kubectl_kres.reports.remedies.resource_values import solve
from kubectl_kres.reports.remedies.room import LEAST, measured_resource, starves
from kubectl_kres.reports.remedies.shape import Direction, scale_down, units
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.reports.part import TektonPart
from kubectl_kres.tekton.reports.remedies.admitted_remedies import admitted_remedies
from kubectl_kres.tekton.reports.remedies.claim_remedies import claim_remedies
from kubectl_kres.tekton.reports.remedies.container_defaults import entry_states, lower_defaults, resources_of
from kubectl_kres.tekton.reports.remedies.run_trials import RangeDefault, RunSearch, RunTrial, findings_in, values_in
from kubectl_kres.tekton.reports.remedies.run_values import RunCase, RunField
from kubectl_kres.tekton.reports.remedies.security_remedies import security_remedies
from kubectl_kres.tekton.reports.remedy import for_new_run
from kubectl_kres.tekton.reports.run_objects import existing_claims
from kubectl_kres.tekton.rules.base.variables import variables_of
from kubectl_kres.tekton.rules.controller.taskrun import RULE as SECURITY
from kubectl_kres.tekton.rules.controller.workspace_claims import RULE as CLAIM
from kubectl_kres.tekton.rules.controller.workspace_claims import claims_of
from kubectl_kres.tekton.rules.resources.container_draft import layout

#: What is divided and comes in whole numbers has no value for the whole Task that is right.
_WHOLE = frozenset({"validation/integer", "validation/request-equals-limit", "validation/hugepages"})
_OVERRIDDEN = frozenset({"tekton/step-spec", "tekton/sidecar-spec"})


def run_remedies(store: Store, subject: Subject, analysis: Analysis) -> tuple[Remedy, ...]:
    """Return the remedies with which the run, or a new one like it, gets its pod; none where no such edits were
    found.
    """
    case = analysis.made_pod.source if analysis.made_pod is not None else None
    findings = [finding for outcome in analysis.outcomes for finding in findings_of(outcome)]
    part = part_of(analysis.parts, TektonPart)
    if not isinstance(case, RunCase):
        return ()
    if not findings:
        return tuple(admitted_remedies(store, subject, part, case)) if part is not None else ()
    if part is not None and part.problem is not None and part.problem.rule == CLAIM:
        claims = claims_of(case.run, existing_claims(store, case.run))
        remedies = claim_remedies(store, subject, claims, case.world.policies, case.world.server)
        again = subject.written_subject.raw is None and subject.ref.kind == "TaskRun"
        return tuple(_for_new_run(remedy, again=again) for remedy in remedies)
    if all(finding.rule == SECURITY for finding in findings):
        remedies = security_remedies(store, subject, case)
        again = part is not None and part.has_ended
        return tuple(_for_new_run(remedy, again=again) for remedy in remedies)
    if any(finding.rule not in TRIED for finding in findings):
        return ()
    if case.run.spec.compute_resources is not None and any(finding.rule in _WHOLE for finding in findings):
        return ()
    try:
        again = part is not None and part.has_ended
        return tuple(_RefusedRunSearch(store, subject, case, again=again).remedies())
    except (Unparsable, QuantityError):
        return ()


class _RefusedRunSearch(RunSearch):
    def __init__(self, store: Store, subject: Subject, case: RunCase, *, again: bool) -> None:
        super().__init__(store, subject, case, again=again)
        run, task = case.run.spec, case.task.spec
        groups = layout(task, run.debug, case.world.config.flags, case.world.server.version, variables_of(run, task))
        self.containers = {container.path: container for group in groups for container in group}
        self.steps = [path for path, container in self.containers.items() if container.role == "step"]
        #: A run that is only supposed has no field of its own to change.
        self.has_run = subject.ref.kind not in {"Task", "Pipeline"}
        whole = run.compute_resources
        self.task_level = whole is not None and bool(whole.requests or whole.limits)

    def states(self) -> Iterator[State]:
        """Yield the ways in which the run, or a new one like it, gets its pod; own objects come first."""
        correct = (partial(self._correct_values, direction) for direction in ("lower", "raise"))
        valid = [
            state
            for correction in correct
            if (state := self.find({}, correction, lambda trial: trial.valid)) is not None
        ]
        lower = [*self._fit_to_room(valid[0])] if valid and self.trial(valid[0]).hard else []
        result = [*map(self.with_room, valid), *lower, *self._default_changes((*valid, *lower))]
        yield from sorted(result, key=lambda state: (_rank(edits := [*self.edits(state)]), len(edits)))

    def _default_changes(self, states: Sequence[State]) -> Iterator[State]:
        """Yield changes of the defaults that containers without values get, with the values of a state where those are
        needed, too.
        """
        resources = resources_of(findings_in(self.trial({})))
        for values in ({}, *(state_values for state in states if (state_values := values_in(state)))):
            entries = ({**values, **entry} for entry in entry_states(self.case, resources))
            state = None if self.meets_goal(values, self.passes) else self.find_first_passing(entries)
            if state is not None:
                yield self.reduce(state, self.passes)
                break
        yield lower_defaults(self, resources)

    def parts(self, state: State) -> Iterator[Sequence[object]]:
        """Yield entries, then requests, then limits, then defaults.

        Values for the whole Task that it did not have say together what its steps said before.
        """
        values, defaults = values_in(state), [target for target in state if isinstance(target, RangeDefault)]
        yield from ((target,) for target in state if target not in values and target not in defaults)
        removable = [target for target in values if self.task_level or target.holder != "computeResources"]
        yield from ((target,) for target in sorted(removable, key=lambda target: (target.side == "limits", target)))
        yield from ((target,) for target in sorted(defaults, key=lambda target: target.side == "limits"))

    def _correct_values(self, direction: Direction, state: State, trial: RunTrial) -> State | None:
        """Return the state with what the refusal requires; None: there is no such value."""
        fault = trial.faults[0] if trial.faults else None
        draft: Draft | None = fault.draft if fault is not None else None
        if fault is None or draft is None:
            return None
        if any(finding.rule not in {*OF_VALUES, "quota/exceeded"} for finding in findings_of(fault)):
            return None
        result = dict(state)
        for solved in solve(fault, trial.policies.limits, direction):
            for old, slot in zip(draft.slots(), solved.draft.slots(), strict=True):
                for side in SIDES:
                    before, amount = old.amounts_of(side).get(solved.name), slot.amounts_of(side).get(solved.name)
                    if amount is None or before == amount:
                        continue
                    container = self.containers.get(slot.path)
                    if container is None or (container.role == "injected" and before is not None):
                        return None
                    if container.role == "injected":
                        result[RangeDefault(side, solved.name)] = str(amount)
                    else:
                        result.update([self._field(fault, slot, side, solved.name, amount)])
        return result

    def _field(self, fault: Outcome, slot: Slot, side: Side, name: str, quantity: Quantity) -> tuple[RunField, str]:
        """Return the field for a container's value: in the run, where that sets it, else in the Task."""
        container = self.containers[slot.path]
        if container.role == "step" and self.task_level:
            whole = RunField("computeResources", 0, side, name)
            shared = quantity if side == "limits" else Quantity(quantity.nano * len(self.steps), quantity.format)
            return whole, str(shared)
        last = next(
            (
                entry
                for entry in reversed(fault.journal)
                if isinstance(entry, Set) and entry.path == slot.path_of(side, name)
            ),
            None,
        )
        if last is not None and last.rule in _OVERRIDDEN and last.source is not None:
            specs = (
                self.case.run.spec.step_specs if container.role == "step" else self.case.run.spec.sidecar_specs
            ) or ()
            steps = (self.case.task.spec.steps if container.role == "step" else self.case.task.spec.sidecars) or ()
            container_name = steps[container.number].name
            number = next(index for index, spec in enumerate(specs) if spec.name == container_name)
            return RunField("stepSpecs" if container.role == "step" else "sidecarSpecs", number, side, name), str(
                quantity
            )
        return RunField("steps" if container.role == "step" else "sidecars", container.number, side, name), str(
            quantity
        )

    def _fit_to_room(self, state: State) -> Iterator[State]:
        """Yield states within the room that there is: values for the whole Task, then those of the steps in
        proportion.
        """
        whole = self._for_task() if self.has_run and not self.task_level and len(self.steps) > 1 else None
        defaults = {target: to for target, to in state.items() if isinstance(target, RangeDefault)}
        starts = (state,) if whole is None else ({**whole, **defaults}, state)
        for start in starts:
            lower = self.find(start, self._fit_values)
            if lower is not None and not self._starves(start, lower):
                yield lower

    def _starves(self, start: State, lower: State) -> bool:
        """Return whether a step gets less than half of the memory that it states."""
        before = values_in(start)
        return any(
            starves(field.resource, before.get(field) or self.case.written_value(field), to)
            for field, to in values_in(lower).items()
            if field.holder != "computeResources"
        )

    def _for_task(self) -> State | None:
        """Return the sum of the steps' values, as values of the run for the whole Task; None where the run may not
        state them.
        """
        run, flags = self.case.run.spec, self.case.world.config.flags
        if not flags.takes_task_level or any(
            step_spec.compute_resources is not None for step_spec in run.step_specs or ()
        ):
            return None
        if "taskRunSpecs" not in self.case.fields.compute_resources.field and self.subject.ref.kind != "TaskRun":
            return None
        limits: dict[str, Quantity] = {}
        requests: dict[str, Quantity] = {}
        template = self.case.task.spec.step_template
        for item in self.case.task.spec.steps or ():
            steps = [step for step in (template, item) if step is not None and step.compute_resources is not None]
            mine: dict[Side, dict[str, Quantity]] = {"limits": {}, "requests": {}}
            for step in steps:
                for field in SIDES:
                    mine[field] |= _amounts(step.compute_resources, field)
            for name, limit in mine["limits"].items():
                limits[name] = max(limit, limits.get(name, ZERO), key=lambda amount: amount.nano)
            for name, amount in {**mine["limits"], **mine["requests"]}.items():
                requests[name] = requests.get(name, ZERO) + amount
        sides: tuple[tuple[Side, dict[str, Quantity]], ...] = (("limits", limits), ("requests", requests))
        return {
            RunField("computeResources", 0, side, name): str(amount)
            for side, total in sides
            for name, amount in total.items()
        }

    def _fit_values(self, state: State, trial: RunTrial) -> State | None:
        """Return the state with the first resource that is short lowered to what there is room for."""
        if not trial.valid or any(measured_resource(name) is None for _, name in trial.hard):
            return None
        side, name = min(measured for _, key in trial.hard if (measured := measured_resource(key)) is not None)
        draft: Draft | None = trial.outcomes[0].draft
        most = self._find_room(trial, side, name)
        if draft is None or most < LEAST.get(name, 10**9):
            return None
        if self.task_level or any(value.holder == "computeResources" for value in values_in(state)):
            fewer = self._split_task_value(state, draft, side, name, most)
        else:
            fewer = self._scale_values(trial.outcomes[0], draft, side, name, most)
        return None if fewer is None else {**state, **fewer}

    def _find_room(self, trial: RunTrial, side: Side, name: str) -> int:
        """Return the most of a resource that the pod may have."""
        used, hard = amounts(self.policies.quotas)
        keys = [key for key in trial.price if key in hard and measured_resource(key[1]) == (side, name)]
        return min(hard[key] - used.get(key, 0) for key in keys)

    def _scale_values(self, evaluated: Outcome, draft: Draft, side: Side, name: str, most: int) -> State | None:
        after = draft.copy()
        overhead = draft.overhead.get(name, ZERO).nano
        scale_down(after, side, name, Quantity(most - overhead))
        result: dict[RunField, str] = {}
        for old, new in zip(draft.slots(), after.slots(), strict=True):
            for which in SIDES:
                amount = new.amounts_of(which).get(name)
                if amount is None or amount == old.amounts_of(which).get(name):
                    continue
                container = self.containers.get(new.path)
                # What Tekton or a webhook adds has no field in Task or run.
                if amount.nano < units(name, amount) or container is None or container.role == "injected":
                    return None
                result.update([self._field(evaluated, new, which, name, amount)])
        return result

    def _split_task_value(self, values: State, draft: Draft, side: Side, name: str, most: int) -> State | None:
        """Return the value for the whole Task with which its steps leave room for the containers beside them."""
        running = draft.running_slots()
        beside = (
            sum_containers([slot for slot in running if slot.path not in self.steps], [], side).get(name, ZERO).nano
        )
        room = most - beside - draft.overhead.get(name, ZERO).nano
        part = room // len(self.steps) // units(name) * units(name)
        if part < units(name):
            return None
        limit, request = (RunField("computeResources", 0, field, name) for field in SIDES)
        outcome = {field: values.get(field) or self.case.written_value(field) for field in (limit, request)}
        result: dict[RunField, str] = {}
        text = outcome[limit]
        if side == "limits" and text is not None:
            result[limit] = str(Quantity(part, parse(text).format))
        text = outcome[request]
        share = part * len(self.steps)
        if text is not None and parse(text).nano > share:
            result[request] = str(Quantity(share, parse(text).format))
        elif text is None and side == "requests" and outcome[limit] is not None:
            result[request] = str(Quantity(share, parse(str(outcome[limit])).format))
        return result or None


def _for_new_run(remedy: Remedy, *, again: bool) -> Remedy:
    return structs.replace(remedy, text=for_new_run(remedy.text, again=again))


def _rank(edits: Sequence[Edit]) -> int:
    """Return the sort key: own objects first, then defaults of Tekton's containers, the namespace's LimitRanges, and
    its quotas.
    """
    if any(isinstance(edit, RaiseQuota) for edit in edits):
        return 3
    if any(isinstance(edit, (SetBound, CreateObject)) for edit in edits):
        return 2
    return 1 if any(isinstance(edit, SetConfig) for edit in edits) else 0


def _amounts(resources: ResourceRequirements | None, side: Side) -> dict[str, Quantity]:
    texts = (resources.limits if side == "limits" else resources.requests) if resources is not None else None
    return {name: parse(str(text)) for name, text in (texts or {}).items()}
