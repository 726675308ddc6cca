"""Remedies in the defaults of containers without values: entries of config-defaults, and the default of a LimitRange.

Each is tried: Tekton's steps and the API server's run again with it, in every order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, structs

from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.admission.base.outcome import Finding
from kubectl_kres.admission.limitrange import Limits, ParsedItem
from kubectl_kres.errors import QuantityError
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import ResourceRequirements
from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.reports.common.parts import Edit, SetBound, SetConfig
from kubectl_kres.reports.remedies.pods import findings_of
from kubectl_kres.reports.remedies.shape import resource_of, units
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.reports.remedies.changed_policies import changed_policies
from kubectl_kres.tekton.reports.remedies.config_edits import EntryValues, entries_edit
from kubectl_kres.tekton.reports.remedies.run_values import RunCase
from kubectl_kres.tekton.rules.base.result import MissingReference
from kubectl_kres.tekton.rules.base.variables import variables_of
from kubectl_kres.tekton.rules.controller.taskrun import task_run, world_of
from kubectl_kres.tekton.rules.resources.config_defaults import entry_of, prefix_orders
from kubectl_kres.tekton.rules.resources.container_draft import ContainerDraft, layout

#: What a container that Tekton adds is given, the first that passes: its work is small.
_SIZES: tuple[Mapping[str, str], ...] = (
    {"cpu": "100m", "memory": "128Mi", "ephemeral-storage": "128Mi"},
    {"cpu": "50m", "memory": "64Mi", "ephemeral-storage": "64Mi"},
    {"cpu": "10m", "memory": "32Mi", "ephemeral-storage": "32Mi"},
)
#: config-defaults has had entries for containers since then.
_SINCE = (0, 56, 0)
#: A default below this is no proposal: containers that Tekton adds are killed under less.
_LEAST = {"cpu": 10 * 10**6, "memory": 32 * 2**20 * 10**9, "ephemeral-storage": 2**20 * 10**9}


class DefaultTrial(Struct, frozen=True):
    """Resources that are still refused, and whether anything else is. ``built`` False: no pod was built."""

    resources: frozenset[str] = frozenset()
    others: bool = False
    built: bool = True

    @property
    def passes(self) -> bool:
        return self.built and not self.resources and not self.others


def try_defaults(case: RunCase, edits: Sequence[Edit] = ()) -> DefaultTrial:
    """Return what still refuses the run's pod after edits of policies and of config-defaults, in any order."""
    world = case.world
    policies = changed_policies(world.policies, edits)
    config = world.config
    for edit in edits:
        if isinstance(edit, SetConfig):
            entries = {name: _entry(values) for name, values in edit.entries.items()}
            config = structs.replace(config, entries={**config.entries, **entries})
    changed = world_of(policies, world.server, config, world.lookups, namespace=world.namespace)
    results = task_run(case.run, changed, task=case.task, fields=case.fields, journal=False)
    if isinstance(results, MissingReference) or any(
        result.outcome is None or result.built is None for result in results
    ):
        return DefaultTrial(built=False)
    findings = [
        finding
        for result in results
        if result.outcome is not None and result.outcome.refusal is not None
        for finding in findings_of(result.outcome)
    ]
    return DefaultTrial(resources_of(findings), any(not finding.resource for finding in findings))


def resources_of(findings: Iterable[Finding]) -> frozenset[str]:
    """Return the resources of containers that findings are about, also where a quota's name for them stands there."""
    return frozenset(resource_of(finding).rpartition(".")[2] for finding in findings if finding.resource)


def added_places(case: RunCase) -> list[ContainerDraft]:
    """Return the containers that Tekton adds to the pod."""
    run, task = case.run.spec, case.task.spec
    groups = layout(task, run.debug, case.world.config.flags, case.world.server.version, variables_of(run, task))
    return [place for group in groups for place in group if place.role == "injected"]


def entry_edit(
    store: Store, case: RunCase, resources: Collection[str], names: Collection[str] = (), least: int = 0
) -> SetConfig | None:
    """Return the edit that gives the containers added by Tekton so much of resources that the run's pod passes.

    ``names``: only these containers; empty: as few as are needed. ``least``: of memory, in billionths. None: no such
    entries help, or Tekton has none.
    """
    config = case.world.config
    if config.version is not None and config.version < _SINCE:
        return None
    if any(entry.claims for entry in config.entries.values()):
        return None
    places = [place for place in added_places(case) if not names or place.name in names]
    for size in _SIZES:
        amounts = {name: _clamp_amount(case, name, size[name], least) for name in sorted(resources) if name in size}
        if len(amounts) < len(resources):
            return None
        additions = {place.name: _build_entry_values(case, place, amounts) for place in places}
        edit = entries_edit(store, config.entries, additions)
        if additions and try_defaults(case, [edit]).passes:
            return edit if names else _drop_needless_entries(store, case, additions)
    return None


def _drop_needless_entries(store: Store, case: RunCase, additions: Mapping[str, EntryValues]) -> SetConfig:
    """Return the edit without the containers that pass as they are."""
    for name in additions:
        fewer = {other: values for other, values in additions.items() if other != name}
        if fewer and try_defaults(case, [entries_edit(store, case.world.config.entries, fewer)]).passes:
            additions = fewer
    return entries_edit(store, case.world.config.entries, additions)


def _clamp_amount(case: RunCase, name: str, amount: str, least: int) -> str:
    """Return the amount within what LimitRanges allow a container."""
    quantity = parse(amount)
    if name == "memory" and quantity.nano < least:
        quantity = Quantity(least, "BinarySI")
    for limits in case.world.policies.limits:
        for item in limits.items:
            if item.type == "Container":
                low, high = item.min.get(name), item.max.get(name)
                quantity = low if low is not None and quantity < low else quantity
                quantity = high if high is not None and high < quantity else quantity
    return str(quantity)


def _build_entry_values(case: RunCase, place: ContainerDraft, amounts: Mapping[str, str]) -> EntryValues:
    """Return the entry that a container has at present, with other amounts."""
    entries = case.world.config.entries
    order = next(iter(prefix_orders([place], entries)), ())
    name = entry_of(place, entries, order)
    there = entries[name] if name is not None else ResourceRequirements()
    sides = {"requests": there.requests or {}, "limits": there.limits or {}}
    return {side: {**{key: str(value) for key, value in own.items()}, **amounts} for side, own in sides.items()}


def _entry(values: EntryValues) -> ResourceRequirements:
    return ResourceRequirements(dict(values.get("limits", {})) or None, dict(values.get("requests", {})) or None)


def default_edits(case: RunCase, resources: Collection[str], namespace: str) -> tuple[SetBound, ...]:
    """Return the largest lower defaults of LimitRanges with which the run's pod passes; none: no such defaults help."""
    edits: tuple[SetBound, ...] = ()
    try:
        for name in sorted(resources):
            own = _lower_bound_edits(case, name, namespace, edits)
            if not own:
                return ()
            edits = (*edits, *own)
        return edits if edits and try_defaults(case, edits).passes else ()
    except (Unparsable, QuantityError):
        return ()


def _lower_bound_edits(case: RunCase, name: str, namespace: str, before: Sequence[SetBound]) -> tuple[SetBound, ...]:
    holders = [*_holders(case.world.policies.limits, name)]
    now = max((amount.nano for _, item in holders for amount in _amounts(item, name)), default=0)
    low = max([_LEAST.get(name, 10**9), *(item.min[name].nano for _, item in holders if name in item.min)])
    if now <= low:
        return ()
    unit = units(name) if name == "cpu" else 2**20 * 10**9
    form = next(amount.format for _, item in holders for amount in _amounts(item, name))

    def passes(count: int) -> bool:
        return (
            name not in try_defaults(case, (*before, *_edits(holders, name, count * unit, form, namespace))).resources
        )

    least, most = -(-low // unit), now // unit
    if not passes(least):
        return ()
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if passes(middle) else (least, middle)
    return tuple(_edits(holders, name, least * unit, form, namespace))


def _holders(limits: Sequence[Limits], name: str) -> Iterator[tuple[Limits, ParsedItem]]:
    for entry in limits:
        for item in entry.items:
            if item.type == "Container" and [*_amounts(item, name)]:
                yield entry, item


def _amounts(item: ParsedItem, name: str) -> Iterator[Quantity]:
    yield from (values[name] for values in (item.default, item.default_request) if name in values)


def _edits(
    holders: Sequence[tuple[Limits, ParsedItem]], name: str, nano: int, form: str, namespace: str
) -> Iterator[SetBound]:
    """Yield both defaults that are more than an amount, set to it."""
    to = Quantity(nano, form)  # type: ignore[arg-type]
    for limits, item in holders:
        ref = ObjectRef("LimitRange", limits.source.name, namespace)
        for bound, values in (("default", item.default), ("defaultRequest", item.default_request)):
            if name in values and to < values[name]:
                field = f"{item.path}.{bound}[{name}]"
                yield SetBound(ref, field, name, str(to), str(values[name]), bound, item.type)
