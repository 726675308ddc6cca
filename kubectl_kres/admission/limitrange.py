"""The LimitRanger plugin: defaults into containers, then bounds on containers, pods and claims.

The LimitRange object is here, too: its quantities parsed, the defaults the server gives it, and its validation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from typing import Any

from kubectl_kres.admission.base import resource_names
from kubectl_kres.admission.base.draft import Draft, Quantities, Side, Slot, ValueChange, change, parse_list
from kubectl_kres.admission.base.field_errors import FieldError, duplicate, forbidden, invalid, required
from kubectl_kres.admission.base.outcome import Finding
from kubectl_kres.admission.pod.aggregate import sum_containers
from kubectl_kres.model.objects import LimitRange, LimitRangeItem
from kubectl_kres.provenance.journal import Check, Entry, Set, Source
from kubectl_kres.quantity import MAX_MILLI_UNITS, ZERO, Quantity, read_back

TYPES = ("Pod", "Container", "PersistentVolumeClaim")


class ParsedItem:
    """One item of a LimitRange. ``origin`` names the field of each default that another field filled."""

    __slots__ = ("default", "default_request", "max", "min", "origin", "path", "ratio", "type")

    def __init__(self, path: str, raw: LimitRangeItem, journal: list[Entry] | None = None) -> None:
        self.path, self.type = path, raw.type
        self.max = parse_list(raw.max, f"{path}.max", journal)
        self.min = parse_list(raw.min, f"{path}.min", journal)
        self.default = parse_list(raw.default, f"{path}.default", journal)
        self.default_request = parse_list(raw.default_request, f"{path}.defaultRequest", journal)
        self.ratio = parse_list(raw.max_limit_request_ratio, f"{path}.maxLimitRequestRatio", journal)
        self.origin: dict[str, str] = {}

    def with_amounts(self, name: str, amounts: Mapping[str, Quantity]) -> ParsedItem:
        """Return the item with more amounts, or others, in the list that the attribute ``name`` holds."""
        changed = copy(self)
        setattr(changed, name, {**getattr(self, name), **amounts})
        return changed


class Limits:
    """A LimitRange ready to be applied: parsed once, used for every pod of its namespace.

    created: when, and at which version of the store; None: it is not stored, or that is not known. defaults: limits and
    requests that containers get, and where each comes from. bounds: of each item field, resource and amount of all that
    is held against a pod, in the order of the server.
    """

    __slots__ = ("bounds", "created", "defaults", "items", "source")

    def __init__(self, source: Source, items: tuple[ParsedItem, ...], created: tuple[str, int] | None = None) -> None:
        self.source, self.items, self.created = source, items, created
        self.defaults = self._defaults("default"), self._defaults("defaultRequest")
        self.bounds = tuple((item, _bounds(item)) for item in items)

    def origin(self, item: ParsedItem, field: str, resource: str) -> Source:
        """Return the field that a default really came from: ``max`` where ``max`` filled it."""
        path = f"{item.path}.{field}[{resource}]"
        return self.source.at_path(item.origin.get(path, path))

    def _defaults(self, field: str) -> dict[str, tuple[Quantity, Source]]:
        """Of all Container items; a later item wins, though normally there is one."""
        return {
            name: (quantity, self.origin(item, field, name))
            for item in self.items
            if item.type == "Container"
            for name, quantity in (item.default if field == "default" else item.default_request).items()
        }


def _bounds(item: ParsedItem) -> list[tuple[str, str, Quantity]]:
    fields = {"min": item.min, "max": item.max, "maxLimitRequestRatio": item.ratio}
    return [(field, name, bound) for field, values in fields.items() for name, bound in sorted(values.items())]


def parse(limit_range: LimitRange, journal: list[Entry] | None = None) -> Limits:
    """Parsed, with the defaults that the server gives the object itself (a stored one has them already).

    Raises Unparsable.
    """
    meta = limit_range.metadata
    source = Source("LimitRange", meta.name, meta.namespace)
    items = tuple(
        ParsedItem(f"spec.limits[{index}]", raw, journal) for index, raw in enumerate(limit_range.spec.limits or ())
    )
    for item in items:
        if item.type == "Container":
            _fill_defaults(item, source, journal)
    known = meta.creation_timestamp and meta.resource_version.isdecimal()
    created = (meta.creation_timestamp or "", int(meta.resource_version)) if known else None
    return Limits(source, items, created)


def _fill_defaults(item: ParsedItem, source: Source, journal: list[Entry] | None) -> None:
    """Default from max, defaultRequest from default, then from min. Source: defaults.go SetDefaults_LimitRangeItem."""
    for rule, into, field, from_, origin in (
        ("limitrange/default-from-max", item.default, "default", item.max, "max"),
        ("limitrange/default-request-from-default", item.default_request, "defaultRequest", item.default, "default"),
        ("limitrange/default-request-from-min", item.default_request, "defaultRequest", item.min, "min"),
    ):
        for name, quantity in from_.items():
            if name in into:
                continue
            into[name] = quantity
            path, first = f"{item.path}.{field}[{name}]", f"{item.path}.{origin}[{name}]"
            item.origin[path] = item.origin.get(first, first)
            if journal is not None:
                journal.append(Set(path, rule, str(quantity), source=source.at_path(first)))


def stored_spec(limits: Limits) -> dict[str, Any]:
    """Return the spec as the server stores it; an empty list of items becomes null."""
    return {"limits": [_stored_item(item) for item in limits.items] or None}


def _stored_item(item: ParsedItem) -> dict[str, Any]:
    fields = {
        "max": item.max,
        "min": item.min,
        "default": item.default,
        "defaultRequest": item.default_request,
        "maxLimitRequestRatio": item.ratio,
    }
    shown = {
        key: {name: str(read_back(value)) for name, value in values.items()} for key, values in fields.items() if values
    }
    return {"type": item.type, **shown}


def validate(limits: Limits) -> list[FieldError]:
    """Return what the server refuses in the object, all of it. Source: validation.go ValidateLimitRange."""
    errors: list[FieldError] = []
    seen: set[str] = set()
    for item in limits.items:
        errors += _type_errors(item)
        if item.type in seen:
            errors.append(duplicate(f"{item.path}.type", item.type, "limitrange/object-type", typed=True))
        seen.add(item.type)
        errors += _item_errors(item)
    return errors


def _type_errors(item: ParsedItem) -> Iterator[FieldError]:
    path, rule = f"{item.path}.type", "limitrange/object-type"
    faults = resource_names.qualified_faults(item.type)
    yield from (invalid(path, item.type, fault, rule, typed=True) for fault in faults)
    if not faults and "/" not in item.type and item.type not in TYPES:
        yield invalid(path, item.type, "must be a standard limit type or fully qualified", rule, typed=True)


def _item_errors(item: ParsedItem) -> Iterator[FieldError]:
    name_errors = (
        resource_names.container_name_errors
        if item.type in {"Pod", "Container"}
        else resource_names.resource_name_errors
    )
    named: list[tuple[str, Quantities]] = [("max", item.max), ("min", item.min), ("maxLimitRequestRatio", item.ratio)]
    default, default_request = item.default, item.default_request
    if item.type == "Pod":
        for field, values in (("default", default), ("defaultRequest", default_request)):
            if values:
                text = "may not be specified when `type` is 'Pod'"
                yield forbidden(f"{item.path}.{field}", text, "limitrange/object-pod-defaults")
        default, default_request = {}, {}
    else:
        named += [("default", default), ("defaultRequest", default_request)]
    if item.type == "PersistentVolumeClaim" and "storage" not in item.min and "storage" not in item.max:
        text = "either minimum or maximum storage value is required, but neither was provided"
        yield required(f"{item.path}.limits", text, "limitrange/object-claim")
    for field, values in named:
        for name in values:
            yield from name_errors(name, f"{item.path}.{field}[{name}]")
    for name in sorted({name for _, values in named for name in values}):
        yield from _order_errors(item, name, default.get(name), default_request.get(name))
        yield from _ratio_errors(item, name)


def _order_errors(
    item: ParsedItem, name: str, default: Quantity | None, default_request: Quantity | None
) -> Iterator[FieldError]:
    low, high = item.min.get(name), item.max.get(name)
    rule = "limitrange/object-order"

    def exceeds(a: Quantity | None, b: Quantity | None) -> bool:
        return a is not None and b is not None and a > b

    paths = {field: f"{item.path}.{field}[{name}]" for field in ("min", "default", "defaultRequest")}
    if exceeds(low, high):
        yield invalid(paths["min"], low, f"min value {low} is greater than max value {high}", rule)
    if exceeds(low, default_request):
        text = f"min value {low} is greater than default request value {default_request}"
        yield invalid(paths["defaultRequest"], default_request, text, rule)
    if exceeds(default_request, high):
        text = f"default request value {default_request} is greater than max value {high}"
        yield invalid(paths["defaultRequest"], default_request, text, rule)
    if exceeds(default_request, default):
        text = f"default request value {default_request} is greater than default limit value {default}"
        yield invalid(paths["defaultRequest"], default_request, text, rule)
    if exceeds(low, default):
        yield invalid(paths["default"], low, f"min value {low} is greater than default value {default}", rule)
    if exceeds(default, high):
        yield invalid(paths["default"], high, f"default value {default} is greater than max value {high}", rule)
    if (
        default is not None
        and default_request is not None
        and default != default_request
        and not resource_names.may_overcommit(name)
    ):
        text = f"default value {default} must equal to defaultRequest value {default_request} in {name}"
        yield invalid(paths["defaultRequest"], default_request, text, rule)


def _ratio_errors(item: ParsedItem, name: str) -> Iterator[FieldError]:
    ratio = item.ratio.get(name)
    if ratio is None:
        return
    path, rule = f"{item.path}.maxLimitRequestRatio[{name}]", "limitrange/object-ratio"
    if ratio.nano < 10**9:
        yield invalid(path, ratio, f"ratio {ratio} is less than 1", rule)
    low, high = item.min.get(name), item.max.get(name)
    if low is None or high is None:
        return
    bound = max_over_min(low, high, ratio)
    factor = ratio.whole_value()
    exact = float(factor)
    if max(factor, low.whole_value(), high.whole_value()) < MAX_MILLI_UNITS:
        exact = ratio.milli_value() / 1000
    if exact > bound:
        yield invalid(path, ratio, f"ratio {ratio} is greater than max/min = {shown_float(bound)}", rule)


def max_over_min(low: Quantity, high: Quantity, ratio: Quantity) -> float:
    """max/min in milli-units while they fit 64 bits, else in whole units; infinite for min 0."""
    below, above = low.whole_value(), high.whole_value()
    if max(ratio.whole_value(), below, above) < MAX_MILLI_UNITS:
        below, above = low.milli_value(), high.milli_value()
    if below == 0:
        return float("nan") if above == 0 else float("inf") if above > 0 else float("-inf")
    return float(above) / float(below)


def shown_float(number: float) -> str:
    """Six decimals as Go prints ``%f``."""
    if number in {float("inf"), float("-inf")}:
        return "+Inf" if number > 0 else "-Inf"
    return f"{number:.6f}"


ANNOTATION = "kubernetes.io/limit-ranger"
#: Billionths up to which no number of thousandths overflows.
_EXACT = MAX_MILLI_UNITS * 10**9


def mutate(draft: Draft, limits: Limits, journal: list[Entry] | None) -> None:
    """Fill what is missing from one LimitRange and note it in the annotation, as the plugin does.

    Present values, zero too, are kept; a limit that is filled in makes no request.
    Source: plugin/pkg/admission/limitranger mergePodResourceRequirements.
    """
    defaults = limits.defaults
    if not any(defaults):
        return
    notes: list[str] = []
    for slot in (*draft.containers, *draft.inits):
        puts = [
            *_list_default_values(slot, "limits", defaults[0]),
            *_list_default_values(slot, "requests", defaults[1]),
        ]
        if not puts:
            continue
        change(puts, journal)
        notes += _notes(slot, puts)
    if notes:
        draft.annotation = "LimitRanger plugin set: " + "; ".join(notes)


def _list_default_values(
    slot: Slot, side: Side, defaults: Mapping[str, tuple[Quantity, Source]]
) -> Iterator[ValueChange]:
    rule = "limitrange/default" if side == "limits" else "limitrange/default-request"
    have = slot.amounts_of(side)
    for name, (quantity, source) in defaults.items():
        if name not in have:
            yield ValueChange(slot, side, name, quantity, rule, source)


def _notes(slot: Slot, puts: list[ValueChange]) -> Iterator[str]:
    role_text = "container" if slot.role == "container" else "init container"
    for side in ("requests", "limits"):
        names = sorted(put.resource for put in puts if put.side == side)
        if names:
            yield f"{', '.join(names)} {side[:-1]} for {role_text} {slot.name}"


def violations(draft: Draft, limits: Limits, journal: list[Entry] | None = None) -> list[Finding]:
    """Return what one LimitRange finds wrong with the pod; empty: it passes.

    Pod items see the pod's sums without overhead; pod-level cpu and memory replace them, huge pages do not.
    Source: limitranger PodValidateLimitFunc.
    """
    findings: list[Finding] = []
    for item, bounds in limits.bounds:
        if item.type == "Container":
            every = [
                _Values("Container", slot.path, slot.requests, slot.limits)
                for slot in (*draft.containers, *draft.inits)
            ]
        elif item.type == "Pod":
            every = [_Values("Pod", "pod", pod_sums(draft, "requests"), pod_sums(draft, "limits"))]
        else:
            continue
        for values in every:
            tests = [(name, bound, field, _TESTS[field](values, name, bound)) for field, name, bound in bounds]
            findings += _build_limit_findings(tests, item, limits, values, journal)
    return findings


def claim_violations(requests: Quantities, limits: Limits, journal: list[Entry] | None = None) -> list[Finding]:
    """Return the same for a claim: min and max of its request. Source: PersistentVolumeClaimValidateLimitFunc."""
    findings: list[Finding] = []
    for item in limits.items:
        if item.type == "PersistentVolumeClaim":
            values = _Values(item.type, "spec", requests, {})
            tests: list[_Test] = [
                *((name, bound, "min", _format_min_violation(values, name, bound)) for name, bound in item.min.items()),
                *((name, bound, "max", _claim_above(values, name, bound)) for name, bound in item.max.items()),
            ]
            findings += _build_limit_findings(tests, item, limits, values, journal)
    return findings


def pod_sums(draft: Draft, side: Side) -> Quantities:
    """Return what Pod items are held against: without overhead; pod-level cpu and memory replace the containers'
    sums.
    """
    sums = sum_containers(draft.containers, draft.inits, side)
    if draft.pod is not None:
        sums.update({name: value for name, value in draft.pod.amounts_of(side).items() if name in {"cpu", "memory"}})
    return sums


class _Values:
    """What one item is held against: a container, a pod's sums or a claim."""

    __slots__ = ("limits", "path", "requests", "type")

    def __init__(self, type_: str, path: str, requests: Quantities, limits: Quantities) -> None:
        self.type, self.path, self.requests, self.limits = type_, path, requests, limits


_Test = tuple[str, Quantity, str, str]


def _build_limit_findings(
    tests: list[_Test], item: ParsedItem, limits: Limits, values: _Values, journal: list[Entry] | None
) -> list[Finding]:
    """Findings for the sentences; with a journal also a Check for every test that passed."""
    findings: list[Finding] = []
    for name, bound, field, sentence in tests:
        if not sentence and journal is None:
            continue
        rule = "limitrange/ratio" if field == "maxLimitRequestRatio" else f"limitrange/{field}"
        observed = f"request {values.requests.get(name, '-')}, limit {values.limits.get(name, '-')}"
        source = limits.source.at_path(f"{item.path}.{field}[{name}]")
        if sentence:
            findings.append(
                Finding(
                    sentence,
                    rule,
                    values.path,
                    name,
                    requested=_refused_amount(values, name, rule),
                    limit=str(bound),
                    source=source,
                )
            )
        if journal is not None:
            path = f"{values.path}.resources[{name}]"
            journal.append(Check(path, rule, not sentence, observed, str(bound), sentence, source))
    return findings


def _refused_amount(values: _Values, name: str, rule: str) -> str:
    """Return the figure that a bound refuses: of min the smaller one, else the limit; empty: there is none."""
    request, limit = values.requests.get(name), values.limits.get(name)
    first, second = (
        (request, limit) if rule == "limitrange/min" or values.type not in {"Container", "Pod"} else (limit, request)
    )
    shown = first if first is not None else second
    return "" if shown is None else str(shown)


def _numbers(request: Quantity, limit: Quantity, bound: Quantity) -> tuple[int, int, int]:
    """Thousandths while all three fit, else whole units rounded up. Source: requestLimitEnforcedValues."""
    amounts = request.nano, limit.nano, bound.nano
    if min(amounts) >= 0 and max(amounts) <= _EXACT:
        return request.milli(), limit.milli(), bound.milli()
    whole = request.whole_value(), limit.whole_value(), bound.whole_value()
    if max(whole) <= MAX_MILLI_UNITS:
        return request.milli_value(), limit.milli_value(), bound.milli_value()
    return whole


def _format_min_violation(values: _Values, name: str, bound: Quantity) -> str:
    request, limit = values.requests.get(name), values.limits.get(name)
    if request is None:
        fault = ".  No request is specified"
    else:
        asked, allowed, floor = _numbers(request, limit or ZERO, bound)
        if asked < floor:
            fault = f", but request is {request}"
        elif limit is not None and allowed < floor:
            fault = f", but limit is {limit}"
        else:
            return ""
    return f"minimum {name} usage per {values.type} is {bound}{fault}"


def _format_max_violation(values: _Values, name: str, bound: Quantity) -> str:
    request, limit = values.requests.get(name), values.limits.get(name)
    if limit is None:
        fault = ".  No limit is specified"
    else:
        asked, allowed, ceiling = _numbers(request or ZERO, limit, bound)
        if allowed > ceiling:
            fault = f", but limit is {limit}"
        elif request is not None and asked > ceiling:
            fault = f", but request is {request}"
        else:
            return ""
    return f"maximum {name} usage per {values.type} is {bound}{fault}"


def _claim_above(values: _Values, name: str, bound: Quantity) -> str:
    request = values.requests.get(name)
    asked, _, ceiling = _numbers(request or ZERO, ZERO, bound)
    head = f"maximum {name} usage per {values.type} is {bound}"
    if request is None:
        return f"{head}.  No request is specified"
    return f"{head}, but request is {request}" if asked > ceiling else ""


def _out_of_ratio(values: _Values, name: str, bound: Quantity) -> str:
    request, limit = values.requests.get(name), values.limits.get(name)
    asked, allowed, _ = _numbers(request or ZERO, limit or ZERO, bound)
    head = f"{name} max limit to request ratio per {values.type} is {bound}"
    if request is None or asked == 0:
        return f"{head}, but no request is specified or request is 0"
    if limit is None or allowed == 0:
        return f"{head}, but no limit is specified or limit is 0"
    ratio = float(allowed) / float(asked)
    observed, most = ratio, float(bound.whole_value())
    if bound.whole_value() <= MAX_MILLI_UNITS:
        observed, most = ratio * 1000, float(bound.milli_value())
    return f"{head}, but provided ratio is {shown_float(ratio)}" if observed > most else ""


_TESTS: dict[str, Callable[[_Values, str, Quantity], str]] = {
    "min": _format_min_violation,
    "max": _format_max_violation,
    "maxLimitRequestRatio": _out_of_ratio,
}
