"""Remedies in the defaults of containers without values: entries of config-defaults, defaults of LimitRanges."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from kubectl_kres.admission.base.draft import SIDES, Unparsable
from kubectl_kres.admission.base.outcome import Finding
from kubectl_kres.admission.limitrange import Limits, ParsedItem
from kubectl_kres.errors import QuantityError
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import ResourceRequirements
from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.reports.common.remedy import SetBound
from kubectl_kres.reports.remedies.engine import State
from kubectl_kres.reports.remedies.shape import resource_of, units
from kubectl_kres.tekton.reports.remedies.run_trials import ConfigEntry, RunSearch, findings_in
from kubectl_kres.tekton.reports.remedies.run_values import RunCase
from kubectl_kres.tekton.rules.base.variables import variables_of
from kubectl_kres.tekton.rules.resources.config_defaults import match_entry, prefix_orders
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


def resources_of(findings: Iterable[Finding]) -> frozenset[str]:
    """Return the resources of containers that findings are about, also where a quota's name for them stands there."""
    return frozenset(resource_of(finding).rpartition(".")[2] for finding in findings if finding.resource)


def _injected_containers(case: RunCase) -> list[ContainerDraft]:
    """Return the containers that Tekton adds to the pod."""
    run, task = case.run.spec, case.task.spec
    groups = layout(task, run.debug, case.world.config.flags, case.world.server.version, variables_of(run, task))
    return [container for group in groups for container in group if container.role == "injected"]


def entry_states(
    case: RunCase, resources: Collection[str], names: Collection[str] = (), least: int = 0
) -> Iterator[State]:
    """Yield entries for the containers added by Tekton, the largest amounts first; nothing where Tekton has none.

    ``names``: only these containers; empty: all. ``least``: of memory, in billionths.
    """
    config = case.world.config
    if (config.version is not None and config.version < _SINCE) or any(
        entry.claims for entry in config.entries.values()
    ):
        return
    containers = [container for container in _injected_containers(case) if not names or container.name in names]
    for size in _SIZES:
        amounts = {name: _clamp_amount(case, name, size[name], least) for name in sorted(resources) if name in size}
        if len(amounts) < len(resources):
            return
        yield {ConfigEntry(container.name): _build_entry_values(case, container, amounts) for container in containers}


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


def _build_entry_values(
    case: RunCase, container: ContainerDraft, amounts: Mapping[str, str]
) -> tuple[tuple[str, str, str], ...]:
    """Return the entry that a container has at present, with other amounts."""
    entries = case.world.config.entries
    order = next(iter(prefix_orders([container], entries)), ())
    name = match_entry(container, entries, order)
    present = entries[name] if name is not None else ResourceRequirements()
    sides = {"requests": present.requests or {}, "limits": present.limits or {}}
    changed = {side: {**{key: str(value) for key, value in sides[side].items()}, **amounts} for side in reversed(SIDES)}
    return tuple((side, key, amount) for side, values in changed.items() for key, amount in values.items())


def lower_defaults(search: RunSearch, resources: Collection[str]) -> State:
    """Return the largest lower defaults of LimitRanges with which no resource is refused; empty: there are none."""
    state: State = {}
    try:
        for name in sorted(resources):
            lower = _lower_bounds(search, name, state)
            if not lower:
                return {}
            state = {**state, **lower}
    except (Unparsable, QuantityError):
        return {}
    return state


def _lower_bounds(search: RunSearch, name: str, before: State) -> State:
    holders = [*_holders(search.policies.limits, name)]
    now = max((amount.nano for _, item in holders for amount in _amounts(item, name)), default=0)
    low = max([_LEAST.get(name, 10**9), *(item.min[name].nano for _, item in holders if name in item.min)])
    if now <= low:
        return {}
    unit = units(name) if name == "cpu" else 2**20 * 10**9
    form = next(amount.format for _, item in holders for amount in _amounts(item, name))

    def state(count: int) -> State:
        edits = _bound_edits(holders, name, Quantity(count * unit, form), search.namespace)
        return {**before, **{(edit.object, edit.field): edit for edit in edits}}

    def passes(count: int) -> bool:
        return name not in resources_of(findings_in(search.trial(state(count))))

    least, most = -(-low // unit), now // unit
    if not passes(least):
        return {}
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if passes(middle) else (least, middle)
    return state(least)


def _holders(limits: Sequence[Limits], name: str) -> Iterator[tuple[Limits, ParsedItem]]:
    for entry in limits:
        for item in entry.items:
            if item.type == "Container" and [*_amounts(item, name)]:
                yield entry, item


def _amounts(item: ParsedItem, name: str) -> Iterator[Quantity]:
    yield from (values[name] for values in (item.default, item.default_request) if name in values)


def _bound_edits(
    holders: Sequence[tuple[Limits, ParsedItem]], name: str, to: Quantity, namespace: str
) -> Iterator[SetBound]:
    """Yield both defaults that are more than an amount, set to it."""
    for limits, item in holders:
        ref = ObjectRef("LimitRange", limits.source.name, namespace)
        for bound, values in (("default", item.default), ("defaultRequest", item.default_request)):
            if name in values and to < values[name]:
                field = f"{item.path}.{bound}[{name}]"
                yield SetBound(ref, field, name, str(to), str(values[name]), bound, item.type)
