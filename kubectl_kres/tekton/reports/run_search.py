"""Remedies of a refused TaskRun, found by trying: values of Task and run, a default for what Tekton adds, more room.

Every trial goes through Tekton's steps and the API server's again, in every order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from msgspec import Struct, convert, structs

from kubectl_kres.admission.base.draft import SIDES, Draft, Side, Slot, Unparsable
from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.limitrange import Limits, ParsedItem
from kubectl_kres.admission.limitrange import parse as parsed_range
from kubectl_kres.admission.pod.aggregate import of_containers
from kubectl_kres.admission.quota.quota_admission import Key, amounts, charges, price_of
from kubectl_kres.admission.request.new_pod import Policies, quota_request
from kubectl_kres.errors import QuantityError
from kubectl_kres.model.objects import LimitRange, ObjectRef
from kubectl_kres.model.pod import ResourceRequirements
from kubectl_kres.provenance.journal import Set
from kubectl_kres.quantity import ZERO, Quantity, parse
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.parts import (
    CreateObject,
    Edit,
    RaiseQuota,
    Remedy,
    SetBound,
    SetConfig,
    SetValue,
)
from kubectl_kres.reports.remedies.candidates import Candidate, remedies_of
from kubectl_kres.reports.remedies.pods import (
    OF_VALUES,
    TRIED,
    PodFaults,
    findings_of,
    lacks_only_room,
    largest_amounts,
)
from kubectl_kres.reports.remedies.resource_values import Resource
from kubectl_kres.reports.remedies.room import LEAST, RaisedHard, measured_resource
from kubectl_kres.reports.remedies.shape import Direction, needed_sides, resource_of, scale_down, units
from kubectl_kres.reports.remedies.words import for_new_run, raises
from kubectl_kres.simulate.rollout import SettledRollout
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.reports.remedies.admitted_remedies import admitted_remedies
from kubectl_kres.tekton.reports.remedies.changed_policies import with_lists
from kubectl_kres.tekton.reports.remedies.claim_remedies import claim_remedies
from kubectl_kres.tekton.reports.remedies.container_defaults import (
    default_edits,
    entry_edit,
    resources_of,
    try_defaults,
)
from kubectl_kres.tekton.reports.remedies.run_values import RunCase, RunField
from kubectl_kres.tekton.reports.remedies.security_remedies import security_remedies
from kubectl_kres.tekton.reports.run_objects import existing_claims
from kubectl_kres.tekton.rules.base.result import MissingReference
from kubectl_kres.tekton.rules.base.variables import variables_of
from kubectl_kres.tekton.rules.controller.taskrun import RULE as SECURITY
from kubectl_kres.tekton.rules.controller.taskrun import task_run, world_of
from kubectl_kres.tekton.rules.controller.workspace_claims import RULE as CLAIM
from kubectl_kres.tekton.rules.controller.workspace_claims import claims_of
from kubectl_kres.tekton.rules.resources.container_draft import layout

#: What is divided and comes in whole numbers has no value for the whole Task that is right.
_WHOLE = frozenset({"validation/integer", "validation/request-equals-limit", "validation/hugepages"})
_ROUNDS = 8
_OVERRIDDEN = frozenset({"tekton/step-spec", "tekton/sidecar-spec"})
_ORDER = ("computeResources", "steps", "stepSpecs", "sidecars", "sidecarSpecs")
_CREATED = "container-defaults"

#: A default of LimitRanges for containers that state nothing.
Default = tuple[Side, str]
Values = dict[RunField, str | None]


class RunTrial(Struct, frozen=True):
    """One set of edits: values, defaults of LimitRanges, and what quotas have to be."""

    values: Mapping[RunField, str | None]
    defaults: Mapping[Default, str]
    faults: PodFaults
    hard: Mapping[Key, int]


def run_remedies(store: Store, subject: Subject, analysis: Analysis) -> tuple[Remedy, ...]:
    """Return the remedies with which the run, or a new one like it, gets its pod; none where no such edits were
    found.
    """
    case = analysis.made.source if analysis.made is not None else None
    findings = [finding for outcome in analysis.outcomes for finding in findings_of(outcome)]
    part = analysis.tekton
    if not isinstance(case, RunCase):
        return ()
    if not findings:
        return tuple(admitted_remedies(store, subject, part, case)) if part is not None else ()
    if part is not None and part.problem is not None and part.problem.rule == CLAIM:
        claims = claims_of(case.run, existing_claims(store, case.run))
        ways = claim_remedies(store, subject, claims, case.world.policies, case.world.server)
        again = subject.written_subject.raw is None and subject.ref.kind == "TaskRun"
        return tuple(_for_new_run(way, again=again) for way in ways)
    if all(finding.rule == SECURITY for finding in findings):
        ways = security_remedies(store, subject, case)
        again = analysis.tekton is not None and analysis.tekton.has_ended
        return tuple(_for_new_run(way, again=again) for way in ways)
    if any(finding.rule not in TRIED for finding in findings):
        return ()
    if case.run.spec.compute_resources is not None and any(finding.rule in _WHOLE for finding in findings):
        return ()
    try:
        return tuple(remedies_of(store, subject, _RunSearch(store, subject, analysis, case).candidates()))
    except (Unparsable, QuantityError):
        return ()


class _RunSearch:
    def __init__(self, store: Store, subject: Subject, analysis: Analysis, case: RunCase) -> None:
        self.store, self.subject, self.analysis, self.case = store, subject, analysis, case
        self.policies, self.namespace = analysis.known.policies, subject.ref.namespace
        run, task = case.run.spec, case.task.spec
        places = layout(task, run.debug, case.world.config.flags, case.world.server.version, variables_of(run, task))
        self.places = {place.path: place for group in places for place in group}
        self.steps = [path for path, place in self.places.items() if place.role == "step"]
        #: A run that is only supposed has no field of its own to change.
        self.has_run = subject.ref.kind not in {"Task", "Pipeline"}
        whole = run.compute_resources
        self.task_level = whole is not None and bool(whole.requests or whole.limits)
        self._tried: dict[tuple[frozenset[tuple[RunField, str | None]], frozenset[tuple[Default, str]]], PodFaults] = {}

    def candidates(self) -> Iterator[Candidate]:
        """Yield the sets of edits with which the run, or a new one like it, gets its pod; own objects come first."""
        trials = [*self._list_trials()]
        ways = [*(tuple(self._edits(trial)) for trial in trials), *self._of_defaults_given(trials)]
        for edits in sorted(ways, key=_rank):
            yield Candidate(edits, finish=partial(_for_new_run, again=self._of_new_run(edits)))

    def _of_defaults_given(self, trials: Sequence[RunTrial]) -> Iterator[tuple[Edit, ...]]:
        """Yield changes of the defaults that containers without values get, with the values of a trial where those are
        needed, too.
        """
        resources = resources_of(finding for outcome in self.analysis.outcomes for finding in findings_of(outcome))
        for values in ({}, *(trial.values for trial in trials if trial.values)):
            case = self.case.with_values(values)
            edit = None if try_defaults(case).passes else entry_edit(self.store, case, resources)
            if edit is not None:
                yield (edit, *self._of_values(values))
                break
        yield default_edits(self.case, resources, self.namespace)

    def _of_new_run(self, edits: Sequence[Edit]) -> bool:
        """Return whether the existing run is not helped: it has ended, or keeps what it was made from."""
        part = self.analysis.tekton
        there = self.subject.written_subject.raw is None and self.subject.ref.kind == "TaskRun"
        return part is not None and (part.has_ended or (there and any(isinstance(edit, SetValue) for edit in edits)))

    def _list_trials(self) -> Iterator[RunTrial]:
        run_trials = [trial for way in ("lower", "raise") if (trial := self._find_passing_trial(way)) is not None]
        yield from run_trials
        for trial in run_trials[:1]:
            if trial.hard:
                yield from self._fit_trial_to_room(trial)

    def judge(self, values: Mapping[RunField, str | None], defaults: Mapping[Default, str]) -> PodFaults:
        """Return the outcomes of the run with these values, in every order; results are cached."""
        tried = frozenset(values.items()), frozenset(defaults.items())
        if tried not in self._tried:
            self._tried[tried] = self._evaluate(values, defaults)
        return self._tried[tried]

    def _evaluate(self, values: Mapping[RunField, str | None], defaults: Mapping[Default, str]) -> PodFaults:
        case, policies = self.case.with_values(values), self._with_defaults(defaults)
        world = case.world
        if defaults:
            world = world_of(policies, world.server, world.config, world.lookups, namespace=world.namespace)
        results = task_run(case.run, world, task=case.task, fields=case.fields)
        if isinstance(results, MissingReference) or any(
            result.outcome is None or result.built is None for result in results
        ):
            refused = tuple(outcome for outcome in self.analysis.outcomes if outcome.refusal is not None)
            return PodFaults(refused, refused, {})
        outcomes, prices = [], []
        for result in results:
            if result.outcome is None or result.built is None:
                continue
            outcomes.append(structs.replace(result.outcome, journal=result.journal))
            if result.outcome.draft is not None:
                request = quota_request(result.built.pod, result.outcome.draft)
                prices.append(price_of(charges(request, policies.quotas)))
        faults = tuple(outcome for outcome in outcomes if outcome.refusal is not None and not lacks_only_room(outcome))
        return PodFaults(tuple(outcomes), faults, largest_amounts(prices))

    def _find_passing_trial(self, way: Direction) -> RunTrial | None:
        """Return values and defaults that everything but quotas admits, as few as are needed; None: none were found."""
        values: Values = {}
        defaults: dict[Default, str] = {}
        for _ in range(_ROUNDS):
            evaluated = self.judge(values, defaults)
            if not evaluated.faults:
                return self._drop_needless_values(values, defaults)
            before = dict(values), dict(defaults)
            if not self._correct_values(evaluated.faults[0], values, defaults, way) or before == (values, defaults):
                return None
        return None

    def _correct_values(self, fault: Outcome, values: Values, defaults: dict[Default, str], way: Direction) -> bool:
        """Add what the refusal requires to values and defaults; return False if there is no such value."""
        draft: Draft | None = fault.draft
        findings = [finding for finding in findings_of(fault) if finding.rule != "quota/exceeded"]
        if draft is None or any(finding.rule not in OF_VALUES for finding in findings):
            return False
        needed = needed_sides(findings)
        for name in sorted({resource_of(finding) for finding in findings}):
            solved = Resource(name, draft, self._with_defaults(defaults).limits, needed.get(name, set()), way)
            solved.solve()
            if not self._store_values(fault, draft, solved.draft, name, values, defaults):
                return False
        return True

    def _store_values(
        self, fault: Outcome, before: Draft, after: Draft, name: str, values: Values, defaults: dict[Default, str]
    ) -> bool:
        changed = [
            (new, side, new.amounts_of(side)[name])
            for old, new in zip(before.slots(), after.slots(), strict=True)
            for side in SIDES
            if name in new.amounts_of(side) and old.amounts_of(side).get(name) != new.amounts_of(side)[name]
        ]
        for slot, side, quantity in changed:
            place = self.places.get(slot.path)
            if place is None:
                return False
            if place.role == "injected":
                if slot_states(before, slot.path, side, name):
                    return False
                defaults[side, name] = str(quantity)
            else:
                values.update([self._field(fault, slot, side, name, quantity)])
        return True

    def _field(self, fault: Outcome, slot: Slot, side: Side, name: str, quantity: Quantity) -> tuple[RunField, str]:
        """Return the field for a container's value: in the run, where that sets it, else in the Task."""
        place = self.places[slot.path]
        if place.role == "step" and self.task_level:
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
            specs = (self.case.run.spec.step_specs if place.role == "step" else self.case.run.spec.sidecar_specs) or ()
            steps = (self.case.task.spec.steps if place.role == "step" else self.case.task.spec.sidecars) or ()
            own = steps[place.number].name
            number = next(at for at, spec in enumerate(specs) if spec.name == own)
            return RunField("stepSpecs" if place.role == "step" else "sidecarSpecs", number, side, name), str(quantity)
        return RunField("steps" if place.role == "step" else "sidecars", place.number, side, name), str(quantity)

    def _drop_needless_values(self, values: Values, defaults: dict[Default, str]) -> RunTrial:
        """Return the trial without the needless values."""
        for field in sorted(values, key=lambda run_field: (run_field.side == "limits", run_field)):
            fewer = {run_field: text for run_field, text in values.items() if run_field != field}
            if not self.judge(fewer, defaults).faults:
                values = fewer
        for key in sorted(defaults, key=lambda value: value[0] == "limits"):
            less = {item: text for item, text in defaults.items() if item != key}
            if not self.judge(values, less).faults:
                defaults = less
        return self._build_trial(values, defaults, self.judge(values, defaults))

    def _build_trial(self, values: Values, defaults: Mapping[Default, str], evaluated: PodFaults) -> RunTrial:
        used, hard = amounts(self.policies.quotas)
        needs = {
            key: used.get(key, 0) + amount for key, amount in evaluated.price.items() if amount > 0 and key in hard
        }
        return RunTrial(values, defaults, evaluated, {key: need for key, need in needs.items() if need > hard[key]})

    def _fit_trial_to_room(self, trial: RunTrial) -> Iterator[RunTrial]:
        """Yield trials within the room that there is: values for the whole Task, then those of the steps in
        proportion.
        """
        whole = self._for_task() if self.has_run and not self.task_level and len(self.steps) > 1 else None
        if whole is not None:
            yield from self._lower_values(whole, trial.defaults)
        yield from self._lower_values(dict(trial.values), trial.defaults)

    def _for_task(self) -> Values | None:
        """Return the sum of the steps' values, as values of the run for the whole Task; None where the run may not
        state them.
        """
        run, flags = self.case.run.spec, self.case.world.config.flags
        if flags.api_fields == "stable" or any(
            step_spec.compute_resources is not None for step_spec in run.step_specs or ()
        ):
            return None
        if "taskRunSpecs" not in self.case.fields.compute_resources.field and self.subject.ref.kind != "TaskRun":
            return None
        limits: dict[str, Quantity] = {}
        requests: dict[str, Quantity] = {}
        template = self.case.task.spec.step_template
        for item in self.case.task.spec.steps or ():
            own = [step for step in (template, item) if step is not None and step.compute_resources is not None]
            mine: dict[Side, dict[str, Quantity]] = {"limits": {}, "requests": {}}
            for step in own:
                for field in SIDES:
                    mine[field] |= _amounts(step.compute_resources, field)
            for name, limit in mine["limits"].items():
                limits[name] = max(limit, limits.get(name, ZERO), key=lambda it: it.nano)
            for name, amount in {**mine["limits"], **mine["requests"]}.items():
                requests[name] = requests.get(name, ZERO) + amount
        sides: tuple[tuple[Side, dict[str, Quantity]], ...] = (("limits", limits), ("requests", requests))
        return {RunField("computeResources", 0, side, name): str(it) for side, own in sides for name, it in own.items()}

    def _lower_values(self, values: Values, defaults: Mapping[Default, str]) -> Iterator[RunTrial]:
        for _ in range(_ROUNDS):
            evaluated = self.judge(values, defaults)
            trial = self._build_trial(values, defaults, evaluated)
            if evaluated.faults or any(measured_resource(name) is None for _, name in trial.hard):
                return
            if not trial.hard:
                yield self._without_followers(trial)
                return
            side, name = min(it for _, key in trial.hard if (it := measured_resource(key)) is not None)
            draft: Draft | None = evaluated.outcomes[0].draft
            most = self._find_room(evaluated, side, name)
            if draft is None or most < LEAST.get(name, 10**9):
                return
            if self.task_level or any(value.holder == "computeResources" for value in values):
                fewer = self._split_task_value(values, draft, side, name, most)
            else:
                fewer = self._scale_values(evaluated.outcomes[0], draft, side, name, most)
            if fewer is None or {**values, **fewer} == values:
                return
            values = {**values, **fewer}

    def _without_followers(self, trial: RunTrial) -> RunTrial:
        """Return the trial without the sides that follow by themselves, as a request follows its limit."""
        for which in sorted({(value.holder, value.side, value.resource) for value in trial.values}, reverse=True):
            if which[0] == "computeResources":
                continue
            fewer = {it: text for it, text in trial.values.items() if (it.holder, it.side, it.resource) != which}
            run_trial = self._build_trial(fewer, trial.defaults, self.judge(fewer, trial.defaults))
            if not run_trial.faults.faults and not run_trial.hard:
                trial = run_trial
        return trial

    def _find_room(self, evaluated: PodFaults, side: Side, name: str) -> int:
        """Return the most of a resource that the pod may have."""
        used, hard = amounts(self.policies.quotas)
        keys = [key for key in evaluated.price if key in hard and measured_resource(key[1]) == (side, name)]
        return min(hard[key] - used.get(key, 0) for key in keys)

    def _scale_values(self, evaluated: Outcome, draft: Draft, side: Side, name: str, most: int) -> Values | None:
        after = draft.copy()
        overhead = draft.overhead.get(name, ZERO).nano
        scale_down(after, side, name, Quantity(most - overhead))
        result: Values = {}
        for old, new in zip(draft.slots(), after.slots(), strict=True):
            for which in SIDES:
                amount = new.amounts_of(which).get(name)
                if amount is None or amount == old.amounts_of(which).get(name):
                    continue
                if amount.nano < units(name, amount) or self.places[new.path].role == "injected":
                    return None
                result.update([self._field(evaluated, new, which, name, amount)])
        return result

    def _split_task_value(self, values: Values, draft: Draft, side: Side, name: str, most: int) -> Values | None:
        """Return the value for the whole Task with which its steps leave room for the containers beside them."""
        running = [*draft.containers, *(slot for slot in draft.inits if slot.role == "sidecar")]
        beside = of_containers([slot for slot in running if slot.path not in self.steps], [], side).get(name, ZERO).nano
        room = most - beside - draft.overhead.get(name, ZERO).nano
        part = room // len(self.steps) // units(name) * units(name)
        if part < units(name):
            return None
        limit, request = (RunField("computeResources", 0, it, name) for it in SIDES)
        outcome = {it: values.get(it) or self.case.written_value(it) for it in (limit, request)}
        result: Values = {}
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

    def _with_defaults(self, defaults: Mapping[Default, str]) -> Policies:
        if not defaults:
            return self.policies
        all_limits = self._holder(defaults)
        if all_limits is None:
            spec = {"limits": [_item(defaults)]}
            made = convert(
                {"metadata": {"name": _CREATED, "namespace": self.namespace}, "spec": spec}, LimitRange, strict=False
            )
            return structs.replace(self.policies, limits=(*self.policies.limits, parsed_range(made)))
        limits, item = all_limits
        items = tuple(
            _add_defaults(parsed_item, defaults) if parsed_item is item else parsed_item for parsed_item in limits.items
        )
        changed = Limits(limits.source, items, limits.created)
        return structs.replace(
            self.policies, limits=tuple(changed if limit is limits else limit for limit in self.policies.limits)
        )

    def _holder(self, defaults: Mapping[Default, str]) -> tuple[Limits, ParsedItem] | None:
        """Return the first entry for containers of a LimitRange, which takes the defaults, too; None: there is none."""
        for limits in self.policies.limits:
            for item in limits.items:
                if item.type == "Container" and not any(
                    name in (item.default if side == "limits" else item.default_request) for side, name in defaults
                ):
                    return limits, item
        return None

    def _edits(self, trial: RunTrial) -> Iterator[Edit]:
        need = RaisedHard(trial.hard, {}, complete=True, rest=SettledRollout(0, 0, 0))
        yield from raises(self.policies, need)
        yield from self._of_defaults(trial.defaults)
        yield from self._of_values(trial.values)

    def _of_values(self, values: Mapping[RunField, str | None]) -> Iterator[Edit]:
        for field, to in sorted(values.items(), key=lambda it: (_ORDER.index(it[0].holder), it[0])):
            source = self.case.source(field)
            role, name = self._find_holder(field)
            yield SetValue(
                source.ref, source.field, field.resource, to, self.case.written_value(field), name, field.side, role
            )

    def _of_defaults(self, defaults: Mapping[Default, str]) -> Iterator[Edit]:
        if not defaults:
            return
        all_limits = self._holder(defaults)
        if all_limits is None:
            ref = ObjectRef("LimitRange", _CREATED, self.namespace)
            manifest = {
                "apiVersion": "v1",
                "kind": "LimitRange",
                "metadata": {"name": _CREATED, "namespace": self.namespace},
                "spec": {"limits": [_item(defaults)]},
            }
            yield CreateObject(ref, manifest)
            return
        limits, item = all_limits
        for (side, name), text in sorted(defaults.items()):
            bound = "default" if side == "limits" else "defaultRequest"
            ref = ObjectRef("LimitRange", limits.source.name, self.namespace)
            yield SetBound(ref, f"{item.path}.{bound}[{name}]", name, text, None, bound, item.type)

    def _find_holder(self, field: RunField) -> tuple[str, str]:
        run, task = self.case.run.spec, self.case.task.spec
        match field.holder:
            case "computeResources":
                return "task", ""
            case "steps":
                return "step", (task.steps or ())[field.number].name or f"unnamed-{field.number}"
            case "sidecars":
                return "sidecar", (task.sidecars or ())[field.number].name
            case "stepSpecs":
                return "step", (run.step_specs or ())[field.number].name
            case _:
                return "sidecar", (run.sidecar_specs or ())[field.number].name


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


def slot_states(draft: Draft, path: str, side: Side, name: str) -> bool:
    """Return whether a container has such a value."""
    return any(name in slot.amounts_of(side) for slot in draft.slots() if slot.path == path)


def _item(defaults: Mapping[Default, str]) -> dict[str, object]:
    item: dict[str, object] = {"type": "Container"}
    for side, field in (("limits", "default"), ("requests", "defaultRequest")):
        own = {name: text for (which, name), text in sorted(defaults.items()) if which == side}
        if own:
            item[field] = own
    return item


def _add_defaults(item: ParsedItem, defaults: Mapping[Default, str]) -> ParsedItem:
    """Return the entry with further defaults, and the default requests that the server makes of them."""
    limits = {name: parse(text) for (side, name), text in defaults.items() if side == "limits"}
    requests = {name: parse(text) for (side, name), text in defaults.items() if side == "requests"}
    return with_lists(
        item, {"default": {**item.default, **limits}, "default_request": {**limits, **item.default_request, **requests}}
    )
