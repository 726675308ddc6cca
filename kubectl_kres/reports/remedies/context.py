"""Findings that one change remedies, and the smallest change of a request and limit that every LimitRange admits.

It also has what brings a request and a limit within all LimitRanges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct, structs

from kubectl_kres.admission.base.draft import SIDES, Draft, Side, Slot
from kubectl_kres.admission.base.outcome import Finding, Outcome
from kubectl_kres.admission.base.resource_names import huge_page_bytes
from kubectl_kres.admission.limitrange import Limits, pod_sums
from kubectl_kres.admission.pod.aggregate import sum_containers
from kubectl_kres.provenance.journal import Check, Journal, Set, Source
from kubectl_kres.quantity import ZERO, Quantity, parse, quantity_of
from kubectl_kres.record import Wording
from kubectl_kres.reports.remedies.refusal_fixes import (
    ALL_CONTAINERS,
    ApartBounds,
    Bound,
    BoundAmount,
    ChangeValues,
    Filling,
    KeepRatio,
    SetWithin,
    ShareOfLimit,
    SideChange,
)

#: What is counted in bytes.
_BYTES = frozenset({"memory", "ephemeral-storage", "storage"})
RULES = ("limitrange/min", "limitrange/max", "limitrange/ratio")


class FieldNames(Struct, frozen=True):
    """``titles``: of containers by their path, for sentences; ``fields``: by the path of a value, where it stands."""

    titles: Mapping[str, str] = {}
    fields: Mapping[str, str] = {}


class LimitBound(NamedTuple):
    """A quantity and the object that requires it."""

    quantity: Quantity
    source: Source | None


class LimitBounds(Struct, frozen=True):
    """The tightest bounds on one resource of one container or of the pod; None where there is none."""

    low: LimitBound | None = None
    high: LimitBound | None = None
    ratio: LimitBound | None = None

    @property
    def contradictory(self) -> bool:
        return self.low is not None and self.high is not None and self.low.quantity > self.high.quantity


class BoundsFit(NamedTuple):
    """The request and the limit that would fit; None: no change is needed."""

    request: Quantity | None
    limit: Quantity | None


def bounds_of(journal: Journal, findings: Iterable[Finding], path: str, resource: str) -> LimitBounds:
    """Return the bounds of all LimitRanges, also those that were met, so that the remedy of one breaks no other;
    of huge pages in whole pages.

    ``path`` is that of a container, or ``pod``.
    """
    demands = [
        (finding.rule, finding.limit, finding.source)
        for finding in findings
        if finding.path == path and finding.resource == resource
    ]
    field_text = f"{path}.resources[{resource}]"
    demands += [
        (entry.rule, entry.bound, entry.source)
        for entry in journal
        if isinstance(entry, Check) and entry.path == field_text
    ]
    entry = {
        rule: sorted(
            (LimitBound(parse(bound), source) for which, bound, source in demands if which == rule), key=_amount
        )
        for rule in RULES
    }
    lows, highs, ratios = (entry[rule] for rule in RULES)
    bounds = LimitBounds(lows[-1] if lows else None, highs[0] if highs else None, ratios[0] if ratios else None)
    return in_whole_pages(bounds, resource)


def in_whole_pages(bounds: LimitBounds, resource: str) -> LimitBounds:
    """Return the bounds with the nearest whole huge pages within them; those of any other resource as they are."""
    page = huge_page_bytes(resource)
    if page == 1:
        return bounds
    low, high = bounds.low, bounds.high
    return structs.replace(
        bounds,
        low=low and low._replace(quantity=quantity_of(-(-low.quantity.value() // page) * page, "BinarySI")),
        high=high and high._replace(quantity=quantity_of(high.quantity.value() // page * page, "BinarySI")),
    )


def _amount(bound: LimitBound) -> int:
    return bound.quantity.nano


def fit(request: Quantity | None, limit: Quantity | None, bounds: LimitBounds, resource: str) -> BoundsFit:
    """Return the nearest request and limit within ``bounds``, which must not contradict each other.

    For cpu in thousandths, of bytes in whole Mi or M where the other side is, else in whole bytes and pieces. A limit
    that is required and missing is the largest allowed. Under a ratio alone, without request and limit, there is
    nothing near and both stay as they are.
    """
    asked = None if request is None and bounds.low is None else _clamp_quantity(request or ZERO, bounds)
    allowed = _clamp_quantity(limit, bounds) if limit is not None else bounds.high and bounds.high.quantity
    if asked is not None and allowed is not None and asked > allowed:
        allowed = asked
    if bounds.ratio is None:
        return BoundsFit(asked, allowed)
    ratio = bounds.ratio.quantity
    if asked and not limit:
        unit = _unit(asked, resource)
        maximum = Quantity(asked.nano * ratio.nano // 10**9 // unit * unit, asked.format)
        return BoundsFit(
            asked, maximum if bounds.high is None or maximum < bounds.high.quantity else bounds.high.quantity
        )
    if allowed:
        minimum = _smallest_request(allowed, ratio, _unit(allowed, resource))
        asked = minimum if asked is None or asked < minimum else asked
    return BoundsFit(asked, allowed)


def _unit(other: Quantity, resource: str) -> int:
    """Return the steps, in billionths, of a value that is computed from the other side, so that it can be read and
    typed.
    """
    if resource == "cpu":
        return 10**6
    step = 2**20 if other.format == "BinarySI" else 10**6
    return step * 10**9 if resource in _BYTES and other.nano % (step * 10**9) == 0 else 10**9


def _clamp_quantity(quantity: Quantity, bounds: LimitBounds) -> Quantity:
    if bounds.low is not None and quantity < bounds.low.quantity:
        return bounds.low.quantity
    if bounds.high is not None and quantity > bounds.high.quantity:
        return bounds.high.quantity
    return quantity


def _smallest_request(limit: Quantity, ratio: Quantity, unit: int) -> Quantity:
    """Return the smallest request that keeps ``limit`` within the ratio, by the server's own floating point comparison.

    A ratio below one, which no server stores, allows none: the limit itself is the nearest.
    """
    if ratio.nano <= 0:
        return limit
    nano = -(-limit.nano * 10**9 // (ratio.nano * unit)) * unit
    while nano < limit.nano and limit.nano / nano * 1000 > ratio.milli():
        nano += unit
    return Quantity(min(nano, limit.nano), limit.format)


def changes(before: BoundsFit, after: BoundsFit) -> Iterator[tuple[Side, Bound, Quantity]]:
    """Yield the differences: side, ``at least`` or ``at most``, and the value. A new limit has a largest value, a new
    request a smallest one.
    """
    if after.request is not None and before.request != after.request:
        lower = before.request is not None and after.request < before.request
        yield "requests", "at most" if lower else "at least", after.request
    if after.limit is not None and before.limit != after.limit:
        higher = before.limit is not None and after.limit > before.limit
        yield "limits", "at least" if higher else "at most", after.limit


class QuotaExcess(Struct, frozen=True):
    """Amounts of one resource; ``requested`` is what the request adds."""

    used: Quantity
    requested: Quantity
    hard: Quantity

    @property
    def after(self) -> Quantity:
        """The amount that would be in use."""
        return self.used + self.requested

    @property
    def shortage(self) -> Quantity:
        """The amount beyond the quota's hard."""
        return self.after - self.hard


def quota_excess(finding: Finding) -> QuotaExcess | None:
    """Return the excess of a finding; None for one without the used amount."""
    if not finding.used:
        return None
    return QuotaExcess(parse(finding.used), parse(finding.requested), parse(finding.limit))


def room_left(resource: str, overrun: QuotaExcess) -> str:
    """Return how much can still be asked for; empty where nothing is left, and for a pod, which cannot be less than
    one.
    """
    left = overrun.hard - overrun.used
    return "" if left.nano <= 0 or resource in {"pods", "count/pods"} else str(left)


class UpperBound(Struct, frozen=True):
    """A max and the LimitRange that has it."""

    quantity: Quantity
    source_text: str


_AS_THEY_ARE = FieldNames()


class RemedyContext:
    """Findings that one change remedies, with the context of that change; ``finding`` is the first of them.

    ``names`` gives a container's name by its path, where there is no draft to ask. ``missing_count``: how many such
    pods are missing. ``naming``: the names of containers and values.
    """

    __slots__ = ("draft", "finding", "findings", "journal", "lacking", "limits", "names", "naming")

    def __init__(
        self,
        findings: Sequence[Finding],
        outcome: Outcome,
        names: Mapping[str, str],
        limits: Sequence[Limits] = (),
        missing_count: int = 1,
        naming: FieldNames = _AS_THEY_ARE,
    ) -> None:
        self.lacking, self.naming = missing_count, naming
        self.findings, self.finding, self.names, self.limits = findings, findings[0], names, limits
        self.draft: Draft | None = outcome.draft
        self.journal: Journal = outcome.journal

    def slot(self) -> Slot | None:
        """Return the container that the finding's path starts with; None for the pod as a whole."""
        path = self.finding.path
        slots = () if self.draft is None else tuple(self.draft.slots())
        return next((slot for slot in slots if path == slot.path or path.startswith(f"{slot.path}.")), None)

    def container_title(self) -> str:
        slot = self.slot()
        return "the pod level" if slot is None else self.naming.titles.get(slot.path, slot.title)

    def manifest_path(self) -> str:
        """Return the refused path as it stands in the manifest."""
        return self.naming.fields.get(self.finding.path, self.finding.path)

    def setter(self, side: Side) -> str:
        """Return the LimitRange that filled in one side of the resource; empty if it was written."""
        last = self.last_set(side)
        if last is None or not last.rule.startswith("limitrange/") or last.source is None:
            return ""
        return str(last.source.ref)

    def last_set(self, side: Side) -> Set | None:
        """Return the last step of one side of the resource; None if it is as written, or the finding is about sums."""
        slot = self.slot()
        path = slot.path_of(side, self.finding.resource) if slot is not None else ""
        sets = [step for step in self.journal if isinstance(step, Set) and step.path == path]
        return sets[-1] if sets else None

    def smallest_max(self, name: str = "", kind: str = "") -> UpperBound | None:
        """Return the smallest max of LimitRanges for the resource of a container or (pod level) of the pod; None: there
        is none.
        """
        slot = self.slot()
        kind = kind or ("Pod" if slot is None or slot.role == "pod" else "Container")
        name = name or self.finding.resource
        pairs = [
            UpperBound(item.max[name], str(limits.source.ref))
            for limits in self.limits
            for item in limits.items
            if item.type == kind and name in item.max
        ]
        return min(pairs, key=lambda most: most.quantity.nano, default=None)

    def container_sum(self) -> Quantity:
        """Return the sum of the containers' requests."""
        if self.draft is None:
            return ZERO
        return sum_containers(self.draft.containers, self.draft.inits, "requests").get(self.finding.resource, ZERO)


#: What to say of one group of findings.
RemedyTexts = Callable[[RemedyContext], Iterator[Wording]]


def group_findings(findings: Sequence[Finding]) -> Iterator[list[Finding]]:
    """Yield findings that one change remedies: the bounds on one value, the containers that state no value."""
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        key = (finding.rule, finding.text, finding.path, finding.resource)
        if finding.rule in RULES:
            key = ("", "", finding.path, finding.resource)
        elif finding.rule == "quota/must-specify":
            key = (finding.rule, finding.text, "", finding.resource)
        groups.setdefault(key, []).append(finding)
    yield from groups.values()


def within_bounds(case: RemedyContext) -> Iterator[Wording]:
    """Yield one sentence for min, max and ratio together, so that the remedy of one does not break another."""
    name, slot = case.finding.resource, case.slot()
    requests, limits = (slot.requests, slot.limits) if slot is not None else _draft_sums(case.draft)
    limit_bounds = bounds_of(case.journal, case.findings, case.finding.path, name)
    impossible = _find_contradiction(case, limit_bounds, name) if slot is None else None
    if impossible is not None:
        yield impossible
        return
    if limit_bounds.contradictory and limit_bounds.low is not None and limit_bounds.high is not None:
        yield ApartBounds(name, _demand(limit_bounds.low, "at least"), _demand(limit_bounds.high, "at most"))
        return
    before = BoundsFit(requests.get(name), limits.get(name))
    after = fit(*before, limit_bounds, name)
    changed = [change for change in changes(before, after) if not _is_derived_request(case, change[0], after)]
    holder = _format_value_owner(case, after)
    if changed:
        edits = tuple(SideChange(side, bound, str(amount)) for side, bound, amount in changed)
        yield SetWithin(name, holder, edits, _reasons(case, changed, after, limit_bounds))
    elif limit_bounds.ratio is not None:
        yield KeepRatio(name, holder.rstrip(","), str(limit_bounds.ratio.quantity))
    else:
        yield ChangeValues(name, holder.rstrip(","), case.finding.text)


def _find_contradiction(case: RemedyContext, limit_bounds: LimitBounds, name: str) -> ApartBounds | None:
    """Return why no containers add up to the pod's bounds, since each has bounds of its own; None: some do.

    A pod level can be larger than what its containers may have, never smaller.
    """
    draft = case.draft
    if draft is None or limit_bounds.contradictory:
        return None
    bounds_by_slot = {slot.path: bounds_of(case.journal, case.findings, slot.path, name) for slot in draft.slots()}
    minimum = _in_sum(draft, {path: bounds.low for path, bounds in bounds_by_slot.items()}, name)
    if minimum is not None and limit_bounds.high is not None and minimum > limit_bounds.high.quantity:
        by = _refs(bounds.low for bounds in bounds_by_slot.values())
        return ApartBounds(
            name, BoundAmount("at least", str(minimum), by), _demand(limit_bounds.high, "at most"), summed=True
        )
    highs = {path: bounds.high for path, bounds in bounds_by_slot.items()}
    if draft.pod is not None or limit_bounds.low is None or not all(highs.values()):
        return None
    maximum = _in_sum(draft, highs, name)
    if maximum is not None and maximum < limit_bounds.low.quantity:
        by = _refs(highs.values())
        return ApartBounds(
            name, BoundAmount("at most", str(maximum), by), _demand(limit_bounds.low, "at least"), summed=True
        )
    return None


def _in_sum(draft: Draft, bounds: Mapping[str, LimitBound | None], name: str) -> Quantity | None:
    def bounded(slot: Slot) -> Slot:
        bound = bounds.get(slot.path)
        return Slot(slot.path, slot.name, slot.role, {}, {} if bound is None else {name: bound.quantity})

    return sum_containers(map(bounded, draft.containers), [*map(bounded, draft.inits)], "requests").get(name)


def _refs(bounds: Iterable[LimitBound | None]) -> tuple[str, ...]:
    """Return the LimitRanges behind bounds."""
    return tuple(sorted({str(bound.source.ref) for bound in bounds if bound is not None and bound.source is not None}))


def _draft_sums(draft: Draft | None) -> tuple[Mapping[str, Quantity], Mapping[str, Quantity]]:
    return ({}, {}) if draft is None else (pod_sums(draft, "requests"), pod_sums(draft, "limits"))


def _demand(limit_bound: LimitBound, bound: Bound) -> BoundAmount:
    return BoundAmount(bound, str(limit_bound.quantity), _refs((limit_bound,)))


def _is_derived_request(case: RemedyContext, side: Side, after: BoundsFit) -> bool:
    """Return whether a request that was not written becomes correct by itself, once its limit does."""
    last = case.last_set(side)
    return last is not None and last.rule == "defaulting/request-from-limit" and after.request == after.limit


def _format_value_owner(case: RemedyContext, after: BoundsFit) -> str:
    """Return the subject of the sentence: a container, or what makes the pod's figure; a pod level cannot request less
    than its containers.
    """
    if case.slot() is not None:
        return case.container_title()
    level = case.draft.pod if case.draft is not None else None
    if level is None or not any(case.finding.resource in level.amounts_of(side) for side in SIDES):
        return ALL_CONTAINERS
    low = after.request is not None and after.request < case.container_sum()
    return "the pod level and of the containers, in sum," if low else "the pod level"


def _reasons(
    case: RemedyContext, changed: Sequence[tuple[Side, Bound, Quantity]], after: BoundsFit, limit_bounds: LimitBounds
) -> tuple[Wording, ...]:
    """Return the reasons to add: that a LimitRange fills the value in, or which ratio requires the request."""
    slot = case.slot()
    reasons: dict[Wording, None] = {}
    for side, bound, value in changed:
        filled = case.setter(side)
        if filled and slot is not None:
            reasons[Filling(filled, str(slot.amounts_of(side).get(case.finding.resource)))] = None
        elif (
            side == "requests"
            and bound == "at least"
            and limit_bounds.ratio
            and (limit_bounds.low is None or value != limit_bounds.low[0])
        ):
            reasons[ShareOfLimit(str(after.limit), str(limit_bounds.ratio.quantity))] = None
    return tuple(reasons)
