"""The one LimitRange that Tekton makes of all in a namespace, for every order in which they can be listed.

It also computes the share of a LimitRange that each step without a request gets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from math import factorial

import msgspec
from msgspec import Struct

from kubectl_kres.admission.limitrange import Limits, ParsedItem
from kubectl_kres.provenance.journal import Derive, Entry, Source, Term
from kubectl_kres.quantity import ZERO, Quantity
from kubectl_kres.tekton.rules.base.amounts import NAMES, share
from kubectl_kres.tekton.rules.base.result import ListOrder
from kubectl_kres.tekton.rules.resources.container_draft import ContainerDraft, ResourceAmounts, Sourced, note

#: Up to this many LimitRanges every order is tried; beyond, the orders that lead to different amounts are searched for.
MOST_ORDERED = 4

#: The search ends with what it has after this many states; LimitRanges that get there are made up.
MOST_STATES = 20_000

#: About so many pods are followed through the API server, which applies LimitRanges in orders of its own.
MOST_FOLLOWED = 3000

_NOWHERE = Source("", "")


class ShareBounds(Struct, frozen=True):
    """What shares are computed from: amounts by name with the LimitRange that each comes from."""

    minimum: Mapping[str, Sourced]
    default_request: Mapping[str, Sourced]


class VirtualLimitRange(Struct, frozen=True):
    """One possible result. ``orders`` lead to it: all up to MOST_ORDERED, else one; empty if order plays no part.

    ``items`` has several entries only where a single LimitRange has. ``searched`` False: there may be further results.
    """

    items: tuple[ShareBounds, ...]
    orders: tuple[ListOrder, ...] = ()
    searched: bool = True


def virtuals(limits: Sequence[Limits]) -> tuple[VirtualLimitRange, ...]:
    """Return every result that a listing order can have; without LimitRanges one without items.

    Source: limitrange.go GetVirtualLimitRange. The lister's order is that of a hash map.
    """
    if len(limits) < 2:
        return (
            VirtualLimitRange(tuple(_build_share_bounds(limit, item) for limit in limits for item in _items(limit))),
        )
    if len(limits) <= MOST_ORDERED:
        return tuple(_by_permutation(limits))
    return _sample_virtuals([*_by_search(limits)], len(limits))


def _sample_virtuals(virtuals: Sequence[VirtualLimitRange], number: int) -> tuple[VirtualLimitRange, ...]:
    """As many results as can be followed, the least and the largest amounts among them."""
    maximum = max(4, MOST_FOLLOWED // min(factorial(number), number * (number - 1)))
    if len(virtuals) <= maximum:
        return tuple(virtuals)
    ranked = sorted(virtuals, key=_size)
    kept = {round(index * (len(ranked) - 1) / (maximum - 1)) for index in range(maximum)}
    return tuple(msgspec.structs.replace(ranked[index], searched=False) for index in sorted(kept))


def _size(virtual: VirtualLimitRange) -> tuple[int, ...]:
    return tuple(item.default_request[name][0].nano for item in virtual.items for name in NAMES)


def fold_limits(limits: Sequence[Limits]) -> tuple[ShareBounds, ...]:
    """Return the result of one listing order of two or more LimitRanges."""
    pairs = [(limit, item) for limit in limits for item in _items(limit)]
    if not pairs:
        return ()
    minimum: dict[str, Sourced] = {}
    request: dict[str, Sourced] = {}
    for name in NAMES:
        low = asked = (ZERO, _NOWHERE)
        for entry, item in pairs:
            low = _largest(low, _find_bound(entry, item, "min", name))
            asked = _fold(asked, _find_bound(entry, item, "defaultRequest", name))
        minimum[name], request[name] = low, asked
    return (ShareBounds(minimum, request),)


def _by_permutation(limits: Sequence[Limits]) -> Iterator[VirtualLimitRange]:
    result: dict[str, tuple[tuple[ShareBounds, ...], list[ListOrder]]] = {}
    for order in permutations(limits):
        bounds = fold_limits(order)
        key = repr([[str(quantity) for quantity, _ in (*item.minimum.values(), *item.default_request.values())]
                    for item in bounds])  # fmt: skip
        result.setdefault(key, (bounds, []))[1].append(tuple(limits.source.name for limits in order))
    for bounds, orders in result.values():
        yield VirtualLimitRange(bounds, tuple(orders) if len(result) > 1 else ())


#: For each of NAMES the smallest amount so far in billionths, and whether it stands because an item without it was met.
_State = tuple[tuple[int | None, bool], ...]


def _by_search(limits: Sequence[Limits]) -> Iterator[VirtualLimitRange]:
    """Results by amount, searched from the end of the list: what stands before an item that lacks a name is wiped.

    Meeting a LimitRange twice changes nothing, so that a state no LimitRange changes is the result of a whole order.
    """
    steps = [_steps(limit) for limit in limits]
    start: _State = tuple((None, False) for _ in NAMES)
    reached: dict[_State, tuple[int, ...]] = {start: ()}
    waiting = [start]
    settled: dict[_State, tuple[int, ...]] = {}
    while waiting and len(reached) < MOST_STATES:
        state = waiting.pop()
        after = [_prepend_limit_range(state, step) for step in steps]
        if all(item == state for item in after):
            settled[state] = reached[state]
        for index, item in enumerate(after):
            if item not in reached:
                reached[item] = (*reached[state], index)
                waiting.append(item)
    for used in settled.values():
        rest = tuple(index for index in range(len(limits)) if index not in used)
        order = [limits[index] for index in (*rest, *reversed(used))]
        names = tuple(limits.source.name for limits in order)
        yield VirtualLimitRange(fold_limits(order), (names,) if len(settled) > 1 else (), not waiting)


def _steps(limits: Limits) -> list[tuple[int, ...]]:
    """Return what the items of a LimitRange ask for by NAMES, in billionths, the last item first; 0: nothing."""
    return [tuple(item.default_request.get(name, ZERO).nano for name in NAMES) for item in reversed([*_items(limits)])]


def _prepend_limit_range(state: _State, items: Sequence[tuple[int, ...]]) -> _State:
    """Return the state with a LimitRange in front of it."""
    for asked in items:
        state = tuple(
            (minimum, True) if closed or not amount else (amount if minimum is None else min(minimum, amount), False)
            for (minimum, closed), amount in zip(state, asked, strict=True)
        )
    return state


def _items(limits: Limits) -> Iterator[ParsedItem]:
    return (item for item in limits.items if item.type == "Container")


def _build_share_bounds(limits: Limits, item: ParsedItem) -> ShareBounds:
    return ShareBounds(
        {name: _find_bound(limits, item, "min", name) for name in NAMES},
        {name: _find_bound(limits, item, "defaultRequest", name) for name in NAMES},
    )


def _find_bound(limits: Limits, item: ParsedItem, field: str, name: str) -> Sourced:
    """An absent amount is zero."""
    quantity = (item.min if field == "min" else item.default_request).get(name)
    return (ZERO, _NOWHERE) if quantity is None else (quantity, limits.origin(item, field, name))


def _largest(a: Sourced, b: Sourced) -> Sourced:
    return b if b[0] > a[0] else a


def _fold(a: Sourced, b: Sourced) -> Sourced:
    """Zero counts as nothing on the left and as the smallest on the right."""
    return b if not a[0] or a[0] > b[0] else a


class _Part:
    """The share of one name: the amount, its source, and what was compared."""

    __slots__ = ("source", "terms", "value")

    def __init__(self, value: Quantity, source: Source, terms: tuple[Term, ...]) -> None:
        self.value, self.source, self.terms = value, source, terms


def fill_requests(drafts: Sequence[ContainerDraft], virtual: VirtualLimitRange, journal: list[Entry] | None) -> None:
    """Fill missing and zero requests of the steps; a list that several containers share shows it in all of them.

    Source: transformer.go transformPodBasedOnLimitRange.
    """
    steps = [draft for draft in drafts if draft.name.startswith("step-") and not draft.init]
    if not virtual.items or not steps:
        return
    parts = _find_largest_parts(virtual.items, len(steps))
    common: ResourceAmounts = {name: part.value for name, part in parts.items()}
    for step in steps:
        if step.requests is None:
            if common:
                step.requests = dict(common)
                _record(step, parts, {}, journal)
            continue
        quantities = step.requests
        missing = {name: part for name, part in parts.items() if not quantities.get(name, ZERO)}
        before = {name: quantities[name] for name in missing if name in quantities}
        quantities.update({name: part.value for name, part in missing.items()})
        _record(step, missing, before, journal)
        for other in drafts:
            if other is not step and other.requests is quantities:
                for name, part in missing.items():
                    note(
                        other,
                        "requests",
                        name,
                        part.value,
                        before.get(name),
                        "tekton/shared-entry",
                        part.source,
                        journal,
                    )


def _find_largest_parts(items: Sequence[ShareBounds], number: int) -> dict[str, _Part]:
    parts: dict[str, _Part] = {}
    for item in items:
        for name in NAMES:
            best = _find_largest_part(parts.get(name), item.default_request[name], item.minimum[name], name, number)
            if best is not None:
                parts[name] = best
    return parts


def _find_largest_part(part: _Part | None, asked: Sourced, low: Sourced, name: str, number: int) -> _Part | None:
    """Return the largest of what is there, the default request's share and the minimum; the first of equals. None:
    zero.
    """
    quotient = share(asked[0], name, number)
    terms = tuple(_terms(asked, low, quotient, number))
    best = part
    for value, (_, source) in ((quotient, asked), (low[0], low)):
        if value and (best is None or value > best.value):
            best = _Part(value, source, terms)
    return best


def _terms(asked: Sourced, low: Sourced, quotient: Quantity, number: int) -> Iterator[Term]:
    lifted = low[0] > quotient
    if asked[0]:
        yield Term(f"defaultRequest {asked[0]} / {number} steps", str(quotient), not lifted)
    if low[0]:
        yield Term("min", str(low[0]), lifted)


def _record(
    draft: ContainerDraft, parts: Mapping[str, _Part], before: Mapping[str, Quantity], journal: list[Entry] | None
) -> None:
    for name, part in parts.items():
        note(draft, "requests", name, part.value, before.get(name), "tekton/limitrange-share", part.source, journal)
        if journal is not None:
            path = draft.path_of("requests", name)
            journal.append(Derive(path, "tekton/limitrange-share", str(part.value), part.terms, part.source))
