"""The share of a LimitRange that each step gets where it asks for nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kubectl_kres.provenance.journal import Derive, Entry, Source, Term
from kubectl_kres.quantity import ZERO, Quantity
from kubectl_kres.tekton.rules.base.amounts import NAMES, share
from kubectl_kres.tekton.rules.resources.container_draft import ContainerDraft, ResourceAmounts, Sourced, note
from kubectl_kres.tekton.rules.resources.virtual_limitrange import ShareBounds, Virtual


class _Part:
    """The share of one name: the amount, its source, and what was compared."""

    __slots__ = ("source", "terms", "value")

    def __init__(self, value: Quantity, source: Source, terms: tuple[Term, ...]) -> None:
        self.value, self.source, self.terms = value, source, terms


def fill(places: Sequence[ContainerDraft], virtual: Virtual, journal: list[Entry] | None) -> None:
    """Fill missing and zero requests of the steps; a list that several containers share shows it in all of them.

    Source: transformer.go transformPodBasedOnLimitRange.
    """
    steps = [place for place in places if place.name.startswith("step-") and not place.init]
    if not virtual.items or not steps:
        return
    parts = _parts(virtual.items, len(steps))
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
        for other in places:
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


def _parts(items: Sequence[ShareBounds], number: int) -> dict[str, _Part]:
    parts: dict[str, _Part] = {}
    for item in items:
        for name in NAMES:
            best = _best(parts.get(name), item.default_request[name], item.minimum[name], name, number)
            if best is not None:
                parts[name] = best
    return parts


def _best(part: _Part | None, asked: Sourced, low: Sourced, name: str, number: int) -> _Part | None:
    """The largest of what is there, the default request's share and the minimum; the first of equals. None: zero."""
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
    place: ContainerDraft, parts: Mapping[str, _Part], before: Mapping[str, Quantity], journal: list[Entry] | None
) -> None:
    for name, part in parts.items():
        note(place, "requests", name, part.value, before.get(name), "tekton/limitrange-share", part.source, journal)
        if journal is not None:
            path = place.at("requests", name)
            journal.append(Derive(path, "tekton/limitrange-share", str(part.value), part.terms, part.source))
