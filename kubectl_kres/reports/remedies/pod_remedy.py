"""The smallest change that makes a refused pod pass, as something to type or change.

Of rules for which no edit is computed the catalogue says what to do (``CataloguedRule.by_hand``); a test requires that
every rule has a remedy, such a sentence, or refuses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Literal

from kubectl_kres.admission.base.draft import SIDES, Side
from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.base.resource_names import is_huge_page, is_integer
from kubectl_kres.admission.decoding import better_place
from kubectl_kres.admission.limitrange import Limits
from kubectl_kres.provenance.journal import Set
from kubectl_kres.provenance.rules import RULES
from kubectl_kres.quantity import ZERO, Quantity, maximum, parse
from kubectl_kres.record import Wording, joined
from kubectl_kres.reports.common.system import systems
from kubectl_kres.reports.pod.preflight import nearest_kind
from kubectl_kres.reports.remedies.context import (
    FieldNames,
    RemedyContext,
    RemedyTexts,
    UpperBound,
    group_findings,
    quota_excess,
    room_left,
    within_bounds,
)
from kubectl_kres.reports.remedies.refusal_fixes import (
    ALL_CONTAINERS,
    BoundClaim,
    ByHand,
    Filling,
    LowerContainerLimit,
    LowerOrRaise,
    MakeNamespace,
    MakeRoom,
    MergeLimitRanges,
    MoveField,
    NameContainers,
    NameResource,
    OtherRefusal,
    SetAmount,
    StateAmount,
    UseWholeNumber,
    WriteBothSides,
    WriteQuantity,
    WriteType,
)
from kubectl_kres.reports.remedies.typos import suggest_quantity


def remedies(
    outcomes: Sequence[Outcome],
    names: Mapping[str, str] | None = None,
    special: Mapping[str, RemedyTexts] | None = None,
    limits: Sequence[Limits] = (),
    missing_count: int = 1,
    naming: Callable[[Outcome], FieldNames] = lambda _: FieldNames(),
) -> tuple[Wording, ...]:
    """Return one sentence for each change that the refusals need; none for an admitted pod.

    ``names``: containers by their path, for a pod that could not be decoded. ``special``: remedies by rule that come
    before those for a new pod. ``limits``: the LimitRanges that come after the present refusals. ``missing_count``: how
    many such pods are missing. ``naming``: the names of containers and values.
    """
    of_systems = {rule: say for system in systems() for rule, say in system.sentences.items()}
    text = {**REMEDIES, **of_systems, **(special or {})}
    result: dict[Wording, None] = {}
    for case in _largest([*_cases(outcomes, names or {}, limits, missing_count, naming)]):
        result.update(dict.fromkeys(text.get(case.finding.rule, _by_hand)(case)))
    if not result:
        return ()
    first, *rest = result
    return joined(first, _merge_remedy(outcomes), between=", or "), *rest


def _cases(
    outcomes: Sequence[Outcome],
    names: Mapping[str, str],
    limits: Sequence[Limits],
    missing_count: int,
    naming: Callable[[Outcome], FieldNames],
) -> Iterator[RemedyContext]:
    for outcome in outcomes:
        for group in group_findings(outcome.refusal.findings if outcome.refusal else ()):
            yield RemedyContext(group, outcome, names, limits, missing_count, naming(outcome))


def _largest(cases: Sequence[RemedyContext]) -> Iterator[RemedyContext]:
    """Yield, of one name of one quota, which several orders of LimitRanges exceed, the largest excess: its remedy is
    enough for all.
    """
    most: dict[tuple[str, str], RemedyContext] = {}
    for case in cases:
        key = _quota_of(case)
        if key not in most or _requested_amount(case) > _requested_amount(most[key]):
            most[key] = case
    yield from (case for case in cases if not _quota_of(case)[1] or case is most[_quota_of(case)])


def _quota_of(case: RemedyContext) -> tuple[str, str]:
    """Return the quota and the name of it that is exceeded; empty for another refusal."""
    finding = case.finding
    if finding.rule != "quota/exceeded" or finding.source is None:
        return "", ""
    return finding.source.name, finding.resource


def _requested_amount(case: RemedyContext) -> Quantity:
    result = quota_excess(case.finding)
    return result.requested if result is not None else ZERO


def _merge_remedy(outcomes: Sequence[Outcome]) -> MergeLimitRanges | None:
    """Return the other remedy where only some orders of LimitRanges refuse; None where the order decides nothing."""
    orders = {outcome.order for outcome in outcomes}
    if len(orders) < 2 or len({outcome.allowed for outcome in outcomes}) < 2:
        return None
    return MergeLimitRanges(tuple(sorted({name for order in orders for name in order})))


def usual_remedies(case: RemedyContext) -> Iterator[Wording]:
    """Yield the remedies of a pod that Kubernetes refuses, whoever makes it."""
    yield from REMEDIES.get(case.finding.rule, _by_hand)(case)


def _by_hand(case: RemedyContext) -> Iterator[Wording]:
    """Yield what the catalogue says of a rule for which no edit is computed."""
    rule = RULES.get(case.finding.rule)
    if rule is None or not rule.by_hand:
        yield OtherRefusal(case.finding.rule, case.finding.path)
        return
    yield ByHand(case.finding.rule, case.manifest_path(), case.container_title(), case.finding.resource)


def request_over_limit(case: RemedyContext) -> Iterator[Wording]:
    """Yield the remedies of a request above its limit."""
    finding, slot, holder = case.finding, case.slot(), case.container_title()
    name = finding.resource
    request = slot.requests.get(name) if slot is not None else None
    filled_limit, filled_request = case.setter("limits"), case.setter("requests")
    upper_bound = case.smallest_max()
    if filled_limit and filled_request:
        yield WriteBothSides(name, holder, filled_request, filled_limit)
    elif filled_limit and upper_bound is not None and request is not None and request > upper_bound.quantity:
        sides = SIDES if parse(finding.limit) < upper_bound.quantity else ("requests",)
        amount, max_of = str(upper_bound.quantity), upper_bound.source_text
        yield SetAmount(sides, name, holder, "at most", amount, max_of=max_of)
    elif filled_limit:
        filling = Filling(filled_limit, finding.limit)
        yield SetAmount(("limits",), name, holder, "at least", str(request), filled=filling)
    elif filled_request:
        filling = Filling(filled_request, str(request))
        yield SetAmount(("requests",), name, holder, "at most", finding.limit, filled=filling)
    elif slot is not None and slot.role == "pod" and case.container_sum() > parse(finding.limit):
        minimum = maximum(request or ZERO, case.container_sum())
        if upper_bound is not None and minimum > upper_bound.quantity:
            yield _lower_requests(name, upper_bound)
            return
        all_of_it = minimum == case.container_sum()
        yield SetAmount(("limits",), name, holder, "at least", str(minimum), sum=all_of_it)
    else:
        yield LowerOrRaise(name, holder, finding.limit, str(request))


def _lower_requests(name: str, upper_bound: UpperBound) -> SetAmount:
    """Return the amount that is left where a Pod's max keeps the pod level from being raised."""
    amount, max_of = str(upper_bound.quantity), upper_bound.source_text
    return SetAmount(("requests",), name, ALL_CONTAINERS, "at most", amount, max_of=max_of)


def _round_up(name: str, quantity: Quantity) -> Quantity:
    """Return the next whole number, for a resource that is counted in whole numbers."""
    if not is_integer(name):
        return quantity
    unit = 10**9
    return Quantity(-(-quantity.nano // unit) * unit, quantity.format)


def _integer(case: RemedyContext) -> Iterator[Wording]:
    field_path, slot = case.finding.field_path, case.slot()
    side: Side = "limits" if field_path.requests_or_limits == "limits" else "requests"
    value = slot.amounts_of(side).get(field_path.resource) if slot is not None else None
    amount = str(_round_up(field_path.resource, value)) if value is not None else ""
    yield UseWholeNumber(case.manifest_path(), amount)


def _request_equals_limit(case: RemedyContext) -> Iterator[Wording]:
    slot, name, bound = case.slot(), case.finding.resource, parse(case.finding.limit)
    if slot is not None and slot.role == "pod" and (least := case.container_sum()) > bound:
        yield SetAmount(SIDES, name, case.container_title(), "at least", str(least), sum=True)
        return
    amount = str(_round_up(name, bound))
    yield SetAmount(("requests",), name, case.container_title(), "", amount, equal_to="limit")


def _limit_required(case: RemedyContext) -> Iterator[Wording]:
    slot, name = case.slot(), case.finding.resource
    request = slot.requests.get(name, ZERO) if slot is not None else ZERO
    amount = str(_round_up(name, request))
    yield SetAmount(("limits",), name, case.container_title(), "", amount, equal_to="request")


def _pod_request(case: RemedyContext) -> Iterator[Wording]:
    """Yield the remedies of pod-level requests. Huge pages need equal requests and limits."""
    field_path = case.finding.field_path
    side, name = (
        (field_path.requests_or_limits, field_path.resource)
        if field_path.resource
        else ("requests", case.finding.resource)
    )
    upper_bound = case.smallest_max(name)
    if upper_bound is not None and parse(case.finding.limit) > upper_bound.quantity:
        yield _lower_requests(name, upper_bound)
        return
    sides = SIDES if is_huge_page(name) else (side,)
    yield SetAmount(sides, name, "the pod level", "at least", case.finding.limit, sum=True)


def _container_limit(case: RemedyContext) -> Iterator[Wording]:
    """Yield the remedies of a container's limit.

    The server's path is odd (``spec.resources.containers[0][cpu].limits``); the one here names the container.
    """
    field_path, draft = case.finding.field_path, case.draft
    if field_path.container is None or draft is None:
        yield from _by_hand(case)
        return
    slot, name = draft.containers[field_path.container], field_path.resource
    sets = [step for step in case.journal if isinstance(step, Set) and step.path == slot.path_of("limits", name)]
    source = sets[-1].source if sets else None
    raised, upper_bound = slot.limits[name], case.smallest_max(name, "Pod")
    filled = Filling(f"{source.kind}/{source.name}", str(raised)) if source is not None else ""
    if upper_bound is None or raised <= upper_bound.quantity:
        yield LowerContainerLimit(name, slot.name, case.finding.limit, str(raised), filled)
        return
    most, max_of = str(upper_bound.quantity), upper_bound.source_text
    yield LowerContainerLimit(name, slot.name, case.finding.limit, str(raised), filled, most, max_of)


def exceeded_remedies(case: RemedyContext) -> Iterator[Wording]:
    """Yield the remedies of a quota that is full."""
    finding = case.finding
    name, quota = finding.resource, finding.source.name if finding.source else ""
    result = quota_excess(finding)
    if result is None:
        yield MakeRoom(name, quota)
        return
    # Nothing that is freed would be enough for more than is used.
    freed = str(result.shortage) if result.shortage <= result.used else ""
    missing, for_all = 0, ""
    # Claims of a StatefulSet have a number of their own.
    if case.lacking > 1 and not finding.field_path.claim_template:
        requested = Quantity(result.requested.nano * case.lacking, result.requested.format)
        missing, for_all = case.lacking, str(result.used + requested)
    yield MakeRoom(name, quota, str(result.after), freed, missing, for_all, room_left(name, result))


def _must_specify(case: RemedyContext) -> Iterator[Wording]:
    side, _, name = case.finding.resource.rpartition(".")
    yield StateAmount(side or "requests", name, tuple(finding.path for finding in case.findings))


def _unparsable(case: RemedyContext) -> Iterator[Wording]:
    text, field, field_path = case.finding.observed, case.finding.path, case.finding.field_path
    name = case.names.get(str(field_path.holder))
    if field_path.resource and (name or str(field_path.holder) == "spec"):
        holder = f"container {name}" if name else "the pod level"
        field = f"{field_path.requests_or_limits}.{field_path.resource} of {holder}"
    yield WriteQuantity(field, text, suggest_quantity(text))


def _unknown_field(case: RemedyContext) -> Iterator[Wording]:
    """Yield the remedies of an unknown field. Kubectl sends ``--validate=strict`` by default."""
    path, kind = case.finding.path, case.finding.resource
    yield MoveField(path, better_place(kind, path))


def _containers(case: RemedyContext) -> Iterator[Wording]:
    yield NameContainers(case.finding.path)


_NAMED = ("cpu", "memory", "ephemeral-storage")
_SHORT = {"mem": "memory", "ram": "memory", "cores": "cpu", "storage": "ephemeral-storage", "disk": "ephemeral-storage"}


def _resource_name(case: RemedyContext) -> Iterator[Wording]:
    name = case.finding.field_path.resource
    near_names = get_close_matches(name.lower(), _NAMED, 1, 0.7)
    better = _SHORT.get(name.lower()) or (near_names[0] if near_names else "")
    yield NameResource(case.finding.path, name, better if better != name else "")


def _bounds(case: RemedyContext) -> Iterator[Wording]:
    """Yield the remedies of a claim's bounds. A claim of a StatefulSet comes from a template, which no update
    changes.
    """
    finding = case.finding
    template = finding.field_path.claim_template
    if not template:
        yield from within_bounds(case)
        return
    source = str(finding.source.ref) if finding.source is not None else ""
    side: Literal["min", "max"] = "max" if finding.rule == "limitrange/max" else "min"
    yield BoundClaim(finding.resource, template, side, finding.limit, source)


def _no_namespace(case: RemedyContext) -> Iterator[Wording]:
    yield MakeNamespace(case.finding.observed)


def _terminating_remedies(case: RemedyContext) -> Iterator[Wording]:
    yield MakeNamespace(case.finding.observed, going=True, held=case.finding.expected.rstrip("."))


def _no_kind(case: RemedyContext) -> Iterator[str]:
    yield nearest_kind(case.finding.resource, case.finding.observed)


def _wrong_type(case: RemedyContext) -> Iterator[Wording]:
    yield WriteType(case.finding.path, case.finding.expected, case.finding.observed)


REMEDIES: Mapping[str, RemedyTexts] = {
    "decoding/type": _wrong_type,
    "namespace/not-found": _no_namespace,
    "namespace/terminating": _terminating_remedies,
    "kubectl/no-match": _no_kind,
    "limitrange/max": _bounds,
    "limitrange/min": _bounds,
    "limitrange/ratio": within_bounds,
    "validation/request-over-limit": request_over_limit,
    "validation/request-equals-limit": _request_equals_limit,
    "validation/limit-required": _limit_required,
    "validation/integer": _integer,
    "validation/resource-name": _resource_name,
    "validation/containers": _containers,
    "kubectl/unknown-field": _unknown_field,
    "pod-level/request-below-containers": _pod_request,
    "pod-level/hugepages-below-containers": _pod_request,
    "pod-level/container-limit": _container_limit,
    "quantity/unparsable": _unparsable,
    "quota/exceeded": exceeded_remedies,
    "quota/must-specify": _must_specify,
}
