"""The smallest change that makes a refused pod pass, as something to type or change.

Of rules for which no edit is computed the catalogue says what to do (``CataloguedRule.by_hand``); a test requires that
every rule has a remedy, such a sentence, or refuses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches

from kubectl_kres.admission.base.draft import Side
from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.base.resource_names import is_huge_page, is_integer
from kubectl_kres.admission.decoding import better_place
from kubectl_kres.admission.limitrange import Limits
from kubectl_kres.provenance.journal import Set
from kubectl_kres.provenance.rules import RULES
from kubectl_kres.quantity import ZERO, Quantity, maximum, parse
from kubectl_kres.reports.common.system import systems
from kubectl_kres.reports.pod.preflight import nearest_kind
from kubectl_kres.reports.remedies.context import (
    FieldNames,
    QuotaExcess,
    RemedyContext,
    RemedyTexts,
    UpperBound,
    group_findings,
    lower_request_clause,
    quota_excess,
    within_bounds,
)
from kubectl_kres.reports.remedies.typos import suggest_quantity
from kubectl_kres.wording import join_words


def remedies(
    outcomes: Sequence[Outcome],
    names: Mapping[str, str] | None = None,
    special: Mapping[str, RemedyTexts] | None = None,
    limits: Sequence[Limits] = (),
    missing_count: int = 1,
    naming: Callable[[Outcome], FieldNames] = lambda _: FieldNames(),
) -> tuple[str, ...]:
    """Return one sentence for each change that the refusals need; none for an admitted pod.

    ``names``: containers by their path, for a pod that could not be decoded. ``special``: remedies by rule that come
    before those for a new pod. ``limits``: the LimitRanges that come after the present refusals. ``missing_count``: how
    many such pods are missing. ``naming``: the names of containers and values.
    """
    of_systems = {rule: say for system in systems() for rule, say in system.sentences.items()}
    text = {**REMEDIES, **of_systems, **(special or {})}
    result: dict[str, None] = {}
    for case in _largest([*_cases(outcomes, names or {}, limits, missing_count, naming)]):
        result.update(dict.fromkeys(text.get(case.finding.rule, _by_hand)(case)))
    if not result:
        return ()
    first, *rest = result
    return f"{first}{_format_merge_remedy(outcomes)}", *rest


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


def _format_merge_remedy(outcomes: Sequence[Outcome]) -> str:
    """Return the other remedy where only some orders of LimitRanges refuse; empty where the order decides nothing."""
    orders = {outcome.order for outcome in outcomes}
    if len(orders) < 2 or len({outcome.allowed for outcome in outcomes}) < 2:
        return ""
    names = sorted({name for order in orders for name in order})
    return f", or merge the LimitRanges {' and '.join(names)} into one"


def usual_remedies(case: RemedyContext) -> Iterator[str]:
    """Yield the remedies of a pod that Kubernetes refuses, whoever makes it."""
    yield from REMEDIES.get(case.finding.rule, _by_hand)(case)


def _by_hand(case: RemedyContext) -> Iterator[str]:
    """Yield what the catalogue says of a rule for which no edit is computed."""
    rule = RULES.get(case.finding.rule)
    if rule is None or not rule.by_hand:
        yield f"change what {case.finding.path or 'the pod'} says: {case.finding.rule}"
        return
    yield rule.by_hand.format(
        path=case.manifest_path(), container=case.container_title(), resource=case.finding.resource
    )


_SUM = "what the containers add up to"


def request_over_limit(case: RemedyContext) -> Iterator[str]:
    """Yield the remedies of a request above its limit."""
    finding, slot, holder = case.finding, case.slot(), case.container_title()
    name = finding.resource
    request = slot.requests.get(name) if slot is not None else None
    filled_limit, filled_request = case.setter("limits"), case.setter("requests")
    upper_bound = case.smallest_max()
    if filled_limit and filled_request:
        yield f"write requests.{name} and limits.{name} of {holder}: {filled_request} and {filled_limit} differ"
    elif filled_limit and upper_bound is not None and request is not None and request > upper_bound.quantity:
        both = f" and limits.{name}" if parse(finding.limit) < upper_bound.quantity else ""
        yield f"set requests.{name}{both} of {holder} to at most {upper_bound.text}"
    elif filled_limit:
        yield f"set limits.{name} of {holder} to at least {request} ({filled_limit} fills in {finding.limit})"
    elif filled_request:
        yield f"set requests.{name} of {holder} to at most {finding.limit} ({filled_request} fills in {request})"
    elif slot is not None and slot.role == "pod" and case.container_sum() > parse(finding.limit):
        minimum = maximum(request or ZERO, case.container_sum())
        if upper_bound is not None and minimum > upper_bound.quantity:
            yield _format_lower_requests(name, upper_bound)
            return
        reason = f", {_SUM}" if minimum == case.container_sum() else ""
        yield f"set limits.{name} of {holder} to at least {minimum}{reason}"
    else:
        yield f"set requests.{name} of {holder} to at most {finding.limit}, or limits.{name} to at least {request}"


def _format_lower_requests(name: str, upper_bound: UpperBound) -> str:
    """Return the amount that is left where a Pod's max keeps the pod level from being raised."""
    return f"set requests.{name} of the containers, in sum, to at most {upper_bound.text}"


def _round_up(name: str, quantity: Quantity) -> Quantity:
    """Return the next whole number, for a resource that is counted in whole numbers."""
    if not is_integer(name):
        return quantity
    unit = 10**9
    return Quantity(-(-quantity.nano // unit) * unit, quantity.format)


def _integer(case: RemedyContext) -> Iterator[str]:
    field_path, slot = case.finding.field_path, case.slot()
    side: Side = "limits" if field_path.requests_or_limits == "limits" else "requests"
    value = slot.amounts_of(side).get(field_path.resource) if slot is not None else None
    such = f", as {_round_up(field_path.resource, value)}," if value is not None else ""
    yield f"use a whole number{such} at {case.manifest_path()}"


def _request_equals_limit(case: RemedyContext) -> Iterator[str]:
    slot, name, bound = case.slot(), case.finding.resource, parse(case.finding.limit)
    if slot is not None and slot.role == "pod" and (least := case.container_sum()) > bound:
        yield f"set requests.{name} and limits.{name} of {case.container_title()} to at least {least}, {_SUM}"
        return
    yield f"set requests.{name} of {case.container_title()} to {_round_up(name, bound)}, equal to its limit"


def _limit_required(case: RemedyContext) -> Iterator[str]:
    slot, name = case.slot(), case.finding.resource
    request = slot.requests.get(name, ZERO) if slot is not None else ZERO
    yield f"set limits.{name} of {case.container_title()} to {_round_up(name, request)}, equal to its request"


def _pod_request(case: RemedyContext) -> Iterator[str]:
    """Yield the remedies of pod-level requests. Huge pages need equal requests and limits."""
    field_path = case.finding.field_path
    side, name = (
        (field_path.requests_or_limits, field_path.resource)
        if field_path.resource
        else ("requests", case.finding.resource)
    )
    upper_bound = case.smallest_max(name)
    if upper_bound is not None and parse(case.finding.limit) > upper_bound.quantity:
        yield _format_lower_requests(name, upper_bound)
        return
    sides = f"requests.{name} and limits.{name}" if is_huge_page(name) else f"{side}.{name}"
    yield f"set {sides} of the pod level to at least {case.finding.limit}, {_SUM}"


def _container_limit(case: RemedyContext) -> Iterator[str]:
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
    filled = f" ({source.kind}/{source.name} fills in {slot.limits[name]})" if source is not None else ""
    upper_bound = case.smallest_max(name, "Pod")
    raised = f", or limits.{name} of the pod level to at least {slot.limits[name]}"
    if upper_bound is not None and slot.limits[name] > upper_bound.quantity:
        raised = f": the max of {upper_bound.source_text} for a pod is {upper_bound.quantity}"
    yield f"set limits.{name} of container {slot.name} to at most {case.finding.limit}{filled}{raised}"


def exceeded_remedies(case: RemedyContext) -> Iterator[str]:
    """Yield the remedies of a quota that is full."""
    finding = case.finding
    name, quota = finding.resource, finding.source.name if finding.source else ""
    result = quota_excess(finding)
    if result is None:
        yield f"raise {name} of quota {quota}"
        return
    end = f"{result.after}{_for_all(case, result)}{lower_request_clause(name, result)}"
    if result.shortage > result.used:
        # Nothing that is freed would be enough.
        yield f"raise {name} of quota {quota} to {end}"
    else:
        yield f"free {result.shortage} of {name} in quota {quota}, or raise its hard to {end}"


def _for_all(case: RemedyContext, overrun: QuotaExcess) -> str:
    """Return the raise that is needed where more pods than the next one are missing; claims of a StatefulSet have a
    number of their own.
    """
    if case.lacking < 2 or case.finding.field_path.claim_template:
        return ""
    requested = Quantity(overrun.requested.nano * case.lacking, overrun.requested.format)
    return f" ({overrun.used + requested} for the {case.lacking} missing pods)"


def _must_specify(case: RemedyContext) -> Iterator[str]:
    side, _, name = case.finding.resource.rpartition(".")
    holders = [finding.path for finding in case.findings]
    whose = f"container{'s' * (len(holders) != 1)} {join_words(holders)}"
    default = "default" if side == "limits" else "defaultRequest"
    yield f"set {side or 'requests'}.{name} of {whose}, or add a LimitRange with {default}.{name}"


def _unparsable(case: RemedyContext) -> Iterator[str]:
    text, field, field_path = case.finding.observed, case.finding.path, case.finding.field_path
    name = case.names.get(str(field_path.holder))
    if field_path.resource and (name or str(field_path.holder) == "spec"):
        holder = f"container {name}" if name else "the pod level"
        field = f"{field_path.requests_or_limits}.{field_path.resource} of {holder}"
    better = suggest_quantity(text)
    yield f'write {field} as {better or "a quantity such as 500m or 128Mi"}, not "{text}"'


def _unknown_field(case: RemedyContext) -> Iterator[str]:
    """Yield the remedies of an unknown field. Kubectl sends ``--validate=strict`` by default."""
    path, kind = case.finding.path, case.finding.resource
    better = better_place(kind, path)
    drop = "or send it with --validate=warn, which drops it"
    yield f"write {better}, not {path}, {drop}" if better else f"take {path} out, {drop}"


def _containers(case: RemedyContext) -> Iterator[str]:
    path = case.finding.path
    yield f"give each container a name of its own: {path}" if path.endswith(".name") else f"list a container: {path}"


_NAMED = ("cpu", "memory", "ephemeral-storage")
_SHORT = {"mem": "memory", "ram": "memory", "cores": "cpu", "storage": "ephemeral-storage", "disk": "ephemeral-storage"}


def _resource_name(case: RemedyContext) -> Iterator[str]:
    path = case.finding.path
    name = case.finding.field_path.resource
    near_names = get_close_matches(name.lower(), _NAMED, 1, 0.7)
    better = _SHORT.get(name.lower()) or (near_names[0] if near_names else "")
    if better and better != name:
        yield f"write {better}, not {name}, at {path}"
    else:
        yield f"name cpu, memory, ephemeral-storage or DOMAIN/NAME at {path}"


def _bounds(case: RemedyContext) -> Iterator[str]:
    """Yield the remedies of a claim's bounds. A claim of a StatefulSet comes from a template, which no update
    changes.
    """
    finding = case.finding
    template = finding.field_path.claim_template
    if not template:
        yield from within_bounds(case)
        return
    most = finding.rule == "limitrange/max"
    word, change, side = ("most", "raise", "max") if most else ("least", "lower", "min")
    by = f" of {finding.source.ref}" if finding.source is not None else ""
    asked = f"set requests.{finding.resource} of {template} to at {word} {finding.limit}"
    yield f"{change} {side}.{finding.resource}{by}, or {asked} (a StatefulSet that exists is made anew for that)"


def _no_namespace(case: RemedyContext) -> Iterator[str]:
    name = case.finding.observed
    yield f"create the namespace first (kubectl create namespace {name}), or name one that there is"


def _terminating_remedies(case: RemedyContext) -> Iterator[str]:
    name, held = case.finding.observed, case.finding.expected.rstrip(".")
    if held:
        yield f"clear what holds namespace {name}, which does not go by itself ({held}), or name another one"
        return
    yield f"wait until namespace {name} is gone and create it again, or name another one"


def _no_kind(case: RemedyContext) -> Iterator[str]:
    yield nearest_kind(case.finding.resource, case.finding.observed)


def _wrong_type(case: RemedyContext) -> Iterator[str]:
    text, expected = case.finding.observed, case.finding.expected
    quoted = ", in quotes," if expected == "string" and text in {"number", "boolean"} else ""
    yield f"write a {expected}{quoted} at {case.finding.path}, not a {text}"


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
