"""The sentence that brings a request and a limit within what all LimitRanges demand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kubectl_kres.admission.base.draft import SIDES, Draft, Side, Slot
from kubectl_kres.admission.limitrange.limitrange_admission import pod_sums
from kubectl_kres.admission.pod.aggregate import of_containers
from kubectl_kres.quantity import Quantity
from kubectl_kres.reports.remedies.context import RemedyContext
from kubectl_kres.reports.remedies.limit_bounds import BoundsFit, LimitBound, LimitBounds, bounds_of, changes, fit


def within_bounds(case: RemedyContext) -> Iterator[str]:
    """One sentence for min, max and ratio together, so that mending one does not break another."""
    name, slot = case.finding.resource, case.slot()
    requests, limits = (slot.requests, slot.limits) if slot is not None else _sums(case.draft)
    limit_bounds = bounds_of(case.journal, case.findings, case.finding.path, name)
    impossible = _impossible(case, limit_bounds, name) if slot is None else ""
    if impossible:
        yield f"change a LimitRange: {impossible}"
        return
    if limit_bounds.contradictory and limit_bounds.low is not None and limit_bounds.high is not None:
        low, high = _demand(limit_bounds.low, "at least"), _demand(limit_bounds.high, "at most")
        yield f"change a LimitRange: no {name} is {low} and {high}"
        return
    before = BoundsFit(requests.get(name), limits.get(name))
    after = fit(*before, limit_bounds, name)
    changed = [change for change in changes(before, after) if not _follows(case, change[0], after)]
    if changed:
        yield f"set {_said(changed, name, _whose(case, after))}{_because(case, changed, after, limit_bounds)}"
    elif limit_bounds.ratio is not None:
        apart = f"the limit at most {limit_bounds.ratio.quantity} times the request"
        yield f"set requests.{name} and limits.{name} of {_whose(case, after).rstrip(',')}, {apart}"
    else:
        yield f"change requests.{name} and limits.{name} of {_whose(case, after).rstrip(',')}: {case.finding.text}"


def _impossible(case: RemedyContext, limit_bounds: LimitBounds, name: str) -> str:
    """Why no containers add up to what the pod is held to, since each is held to something of its own; empty: some do.

    A pod level can be larger than what its containers may have, never smaller.
    """
    draft = case.draft
    if draft is None or limit_bounds.contradictory:
        return ""
    own = {slot.path: bounds_of(case.journal, case.findings, slot.path, name) for slot in draft.slots()}
    least = _in_sum(draft, {path: bounds.low for path, bounds in own.items()}, name)
    if least is not None and limit_bounds.high is not None and least > limit_bounds.high.quantity:
        by = _refs(bounds.low for bounds in own.values())
        ceiling = _demand(limit_bounds.high, "at most")
        return f"the containers have at least {least} {name} in sum{by}, and the pod {ceiling}"
    highs = {path: bounds.high for path, bounds in own.items()}
    if draft.pod is not None or limit_bounds.low is None or not all(highs.values()):
        return ""
    most = _in_sum(draft, highs, name)
    if most is not None and most < limit_bounds.low.quantity:
        by = _refs(highs.values())
        return (
            f"the containers have at most {most} {name} in sum{by}, and the pod {_demand(limit_bounds.low, 'at least')}"
        )
    return ""


def _in_sum(draft: Draft, bounds: Mapping[str, LimitBound | None], name: str) -> Quantity | None:
    def bounded(slot: Slot) -> Slot:
        bound = bounds.get(slot.path)
        return Slot(slot.path, slot.name, slot.role, {}, {} if bound is None else {name: bound.quantity})

    return of_containers(map(bounded, draft.containers), [*map(bounded, draft.inits)], "requests").get(name)


def _refs(bounds: Iterable[LimitBound | None]) -> str:
    """The LimitRanges behind bounds, in parentheses."""
    names = sorted({str(bound.source.ref) for bound in bounds if bound is not None and bound.source is not None})
    return f" ({', '.join(names)})" if names else ""


def _sums(draft: Draft | None) -> tuple[Mapping[str, Quantity], Mapping[str, Quantity]]:
    return ({}, {}) if draft is None else (pod_sums(draft, "requests"), pod_sums(draft, "limits"))


def _demand(bound: LimitBound, word: str) -> str:
    by = f" ({bound.source.ref})" if bound.source is not None else ""
    return f"{word} {bound.quantity}{by}"


def _follows(case: RemedyContext, side: Side, after: BoundsFit) -> bool:
    """Whether a request that nobody wrote becomes what it should by itself, once its limit does."""
    last = case.last_set(side)
    return last is not None and last.rule == "defaulting/request-from-limit" and after.request == after.limit


def _whose(case: RemedyContext, after: BoundsFit) -> str:
    """A container, or what makes the pod's figure; a pod level cannot ask for less than its containers do."""
    if case.slot() is not None:
        return case.who()
    level = case.draft.pod if case.draft is not None else None
    if level is None or not any(case.finding.resource in level.side(side) for side in SIDES):
        return "the containers, in sum,"
    low = after.request is not None and after.request < case.in_sum()
    return "the pod level and of the containers, in sum," if low else "the pod level"


def _said(changed: Sequence[tuple[Side, str, Quantity]], name: str, who: str) -> str:
    first, last = changed[0], changed[-1]
    if first[1:] == last[1:]:
        sides = " and ".join(f"{side}.{name}" for side, _, _ in changed)
        return f"{sides} of {who} to {first[1]} {first[2]}"
    return f"{first[0]}.{name} of {who} to {first[1]} {first[2]} and {last[0]}.{name} to {last[1]} {last[2]}"


def _because(
    case: RemedyContext, changed: Sequence[tuple[Side, str, Quantity]], after: BoundsFit, limit_bounds: LimitBounds
) -> str:
    """What the reader may not know: that a LimitRange fills the value in, or which ratio asks for the request."""
    slot, why = case.slot(), []
    for side, word, value in changed:
        filled = case.setter(side)
        if filled and slot is not None:
            why.append(f"{filled} fills in {slot.side(side).get(case.finding.resource)}")
        elif (
            side == "requests"
            and word == "at least"
            and limit_bounds.ratio
            and (limit_bounds.low is None or value != limit_bounds.low[0])
        ):
            why.append(f"limit {after.limit} / {limit_bounds.ratio.quantity}")
    return f" ({'; '.join(dict.fromkeys(why))})" if why else ""
