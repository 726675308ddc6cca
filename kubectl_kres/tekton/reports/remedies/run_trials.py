"""A run after edits of its values, of defaults, policies and Tekton's configuration: all steps, in every order."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct, structs

from kubectl_kres.admission.base.draft import Side
from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.limitrange import Limits, ParsedItem
from kubectl_kres.admission.quota.quota_admission import Key, charges, required_hard, sum_price
from kubectl_kres.admission.request.new_pod import Policies, quota_request
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import ResourceRequirements
from kubectl_kres.model.tekton_config import DEFAULTS, FLAGS, NAMESPACE
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.remedy import CreateObject, Edit, RaiseQuota, Remedy, SetBound, SetConfig, SetValue
from kubectl_kres.reports.remedies.engine import RemedySearch, State, changed_policies
from kubectl_kres.reports.remedies.pods import findings_of, lacks_only_room, largest_amounts
from kubectl_kres.reports.remedies.room import build_quota_raises
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.reports.config import config_map
from kubectl_kres.tekton.reports.remedies.run_values import RunCase, RunField
from kubectl_kres.tekton.reports.remedy import for_new_run
from kubectl_kres.tekton.rules.base.config import KEY, Entries, kept_by_operator
from kubectl_kres.tekton.rules.base.result import MissingReference
from kubectl_kres.tekton.rules.controller.taskrun import build_run_namespace, task_run

#: The one object that the operator reads.
_CONFIG = ObjectRef("TektonConfig", "config")

#: Where TektonConfig holds the entries of config-defaults.
IN_TEKTON_CONFIG = f"spec.pipeline.options.configMaps[{DEFAULTS}].data[{KEY}]"

#: The values of an entry by side and resource.
EntryValues = Mapping[str, Mapping[str, str]]


def flag_edit(store: Store, flag: str, to: str) -> SetConfig:
    """Return the edit of one feature flag."""
    return _edit(store, FLAGS, flag, to, f"spec.pipeline.{flag}")


def entries_edit(store: Store, entries: Entries, additions: Mapping[str, EntryValues]) -> SetConfig:
    """Return the edit that gives containers entries of config-defaults. ``entries``: those that are there."""
    texts = {name: _values(entry) for name, entry in entries.items()} | dict(additions)
    return _edit(store, DEFAULTS, KEY, entries_yaml(texts), IN_TEKTON_CONFIG, additions)


def entries_yaml(entries: Mapping[str, EntryValues]) -> str:
    """Return entries as the YAML text that the key holds."""
    lines: list[str] = []
    for name, sides in entries.items():
        lines.append(f"{name}:")
        for side in ("requests", "limits"):
            if values := sides.get(side):
                lines.append(f"  {side}:")
                lines += [f"    {resource}: {_scalar(amount)}" for resource, amount in values.items()]
    return "".join(f"{line}\n" for line in lines)


def _values(entry: ResourceRequirements) -> EntryValues:
    sides = {"requests": entry.requests, "limits": entry.limits}
    return {side: {name: str(amount) for name, amount in values.items()} for side, values in sides.items() if values}


def _scalar(amount: str) -> str:
    """Return the text of a scalar; a quantity that looks like a number is quoted."""
    return f'"{amount}"' if amount.replace(".", "").isdigit() else amount


def _edit(
    store: Store, name: str, key: str, to: str, operator: str, entries: Mapping[str, EntryValues] | None = None
) -> SetConfig:
    stored = config_map(store, name)
    if stored is not None and kept_by_operator(stored.metadata):
        return SetConfig(_CONFIG, operator, key, to, entries=entries or {})
    space = (stored.metadata.namespace if stored is not None else "") or NAMESPACE
    return SetConfig(ObjectRef("ConfigMap", name, space), f"data[{key}]", key, to, entries=entries or {})


_ORDER = ("computeResources", "steps", "stepSpecs", "sidecars", "sidecarSpecs")
_CREATED = "container-defaults"


class RangeDefault(NamedTuple):
    """A default of LimitRanges for containers that state nothing."""

    side: Side
    resource: str


class ConfigEntry(NamedTuple):
    """The entry of config-defaults for a container; what stands there is a tuple of side, resource and amount."""

    container: str


class RunTrial(Struct, frozen=True):
    """What becomes of a run. ``built`` False: it gets no pod whatever its values.

    ``faults``: what not only a lack of room refuses. ``price``: of the pod in the most expensive order; ``hard``: what
    quotas have to be for it, where they are less.
    """

    policies: Policies
    outcomes: Sequence[Outcome]
    faults: Sequence[Outcome]
    price: Mapping[Key, int]
    hard: Mapping[Key, int]
    built: bool = True

    @property
    def valid(self) -> bool:
        """Return whether nothing but a lack of room refuses."""
        return self.built and not self.faults


class RunSearch(RemedySearch[RunTrial]):
    """Trials of one run; ``again``: only a new run gets what is changed, whatever it is."""

    def __init__(self, store: Store, subject: Subject, case: RunCase, *, again: bool) -> None:
        super().__init__(store, subject)
        self.case, self.again = case, again
        self.policies, self.namespace = case.world.policies, subject.ref.namespace

    def evaluate(self, state: State) -> RunTrial:
        """Return what becomes of the run, in every order."""
        raised = [target for target, to in state.items() if isinstance(to, RaiseQuota)]
        if raised:
            base = self.trial({target: to for target, to in state.items() if target not in raised})
            policies = changed_policies(base.policies, state.values())
            return structs.replace(base, hard=required_hard(policies.quotas, base.price))
        case, world = self.case.with_values(values_in(state)), self.case.world
        policies = changed_policies(self.policies, (*self._default_edits(state), *state.values()))
        entries = {name: _read_entry(values) for name, values in _entries_in(state).items()}
        if policies is not self.policies or entries:
            config = structs.replace(world.config, entries={**world.config.entries, **entries})
            world = build_run_namespace(policies, world.server, config, world.lookups, namespace=world.namespace)
        results = task_run(case.run, world, task=case.task, fields=case.fields, added=case.added)
        if isinstance(results, MissingReference):
            return RunTrial(policies, (), (), {}, {}, built=False)
        outcomes, prices, built = [], [], True
        for result in results:
            if result.outcome is None or result.built_pod is None:
                built = False
                continue
            outcomes.append(structs.replace(result.outcome, journal=result.journal))
            if result.outcome.draft is not None:
                request = quota_request(result.built_pod.pod, result.outcome.draft)
                prices.append(sum_price(charges(request, policies.quotas)))
        faults = [outcome for outcome in outcomes if outcome.refusal is not None and not lacks_only_room(outcome)]
        price = largest_amounts(prices)
        return RunTrial(policies, outcomes, faults, price, required_hard(policies.quotas, price), built)

    def passes(self, trial: RunTrial) -> bool:
        """Return whether the run gets its pod."""
        return trial.valid and not trial.hard

    def with_room(self, state: State) -> State:
        """Return the state with quotas raised to what it needs."""
        return {
            **state,
            **{(edit.object, edit.field): edit for edit in build_quota_raises(self.policies, self.trial(state).hard)},
        }

    def edits(self, state: State) -> Iterator[Edit]:
        """Yield quotas, defaults, the configuration, and the values of Task and run."""
        for kind in (RaiseQuota, SetBound):
            yield from (to for to in state.values() if isinstance(to, kind))
        yield from self._default_edits(state)
        entries = _entries_in(state)
        if entries:
            yield entries_edit(self.store, self.case.world.config.entries, entries)
        for field, to in sorted(values_in(state).items(), key=lambda item: (_ORDER.index(item[0].holder), item[0])):
            source, (role, name) = self.case.source(field), self._find_holder(field)
            before = self.case.written_value(field)
            yield SetValue(source.ref, source.field, field.resource, to, before, name, field.side, role)

    def compose(self, state: State, edits: Sequence[Edit]) -> Remedy:
        """Return the remedy, with the new run where only that gets the edits."""
        kept = self.subject.written_subject.raw is None and self.subject.ref.kind == "TaskRun"
        again = self.again or (kept and any(isinstance(edit, SetValue) for edit in edits))
        remedy = super().compose(state, edits)
        return structs.replace(remedy, text=for_new_run(remedy.text, again=again))

    def _default_edits(self, state: State) -> Iterator[SetBound | CreateObject]:
        """Yield the defaults in the first LimitRange that takes them, else in a new one."""
        defaults = {target: to for target, to in state.items() if isinstance(target, RangeDefault)}
        if not defaults:
            return
        stored = self._find_range(defaults)
        if stored is None:
            ref = ObjectRef("LimitRange", _CREATED, self.namespace)
            item: dict[str, Any] = {"type": "Container"}
            for (side, name), text in sorted(defaults.items()):
                item.setdefault(_bound_of(side), {})[name] = text
            metadata = {"name": _CREATED, "namespace": self.namespace}
            head = {"apiVersion": "v1", "kind": "LimitRange", "metadata": metadata}
            yield CreateObject(ref, {**head, "spec": {"limits": [item]}})
            return
        limits, entry = stored
        for (side, name), text in sorted(defaults.items()):
            ref, bound = ObjectRef("LimitRange", limits.source.name, self.namespace), _bound_of(side)
            yield SetBound(ref, f"{entry.path}.{bound}[{name}]", name, text, None, bound, entry.type)

    def _find_range(self, defaults: Collection[RangeDefault]) -> tuple[Limits, ParsedItem] | None:
        """Return the first entry for containers of a LimitRange without these defaults; None: there is none."""
        for limits in self.policies.limits:
            for item in limits.items:
                if item.type == "Container" and not any(
                    name in (item.default if side == "limits" else item.default_request) for side, name in defaults
                ):
                    return limits, item
        return None

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


def values_in(state: State) -> dict[RunField, str]:
    """Return the requests and limits of a state."""
    return {target: to for target, to in state.items() if isinstance(target, RunField)}


def findings_in(trial: RunTrial) -> list[Any]:
    """Return all that refuses the run."""
    return [finding for outcome in trial.outcomes for finding in findings_of(outcome)]


def _entries_in(state: State) -> Mapping[str, EntryValues]:
    entries: dict[str, dict[str, dict[str, str]]] = {}
    for target, to in state.items():
        if isinstance(target, ConfigEntry):
            entry = entries[target.container] = {}
            for side, name, amount in to:
                entry.setdefault(side, {})[name] = amount
    return entries


def _read_entry(values: EntryValues) -> ResourceRequirements:
    return ResourceRequirements(dict(values.get("limits", {})) or None, dict(values.get("requests", {})) or None)


def _bound_of(side: Side) -> str:
    return "default" if side == "limits" else "defaultRequest"
