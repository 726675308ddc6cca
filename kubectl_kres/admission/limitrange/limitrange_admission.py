"""The LimitRanger plugin: defaults into containers, then bounds on containers, pods and claims."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from kubectl_kres.admission.base.draft import Draft, Put, Quantities, Side, Slot, change
from kubectl_kres.admission.base.outcome import Finding
from kubectl_kres.admission.limitrange.limitrange_object import Limits, ParsedItem, shown_float
from kubectl_kres.admission.pod.aggregate import of_containers
from kubectl_kres.provenance.journal import Check, Entry, Source
from kubectl_kres.quantity import MAX_MILLI_UNITS, ZERO, Quantity

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
        puts = [*_missing(slot, "limits", defaults[0]), *_missing(slot, "requests", defaults[1])]
        if not puts:
            continue
        change(puts, journal)
        notes += _notes(slot, puts)
    if notes:
        draft.annotation = "LimitRanger plugin set: " + "; ".join(notes)


def _missing(slot: Slot, side: Side, defaults: Mapping[str, tuple[Quantity, Source]]) -> Iterator[Put]:
    rule = "limitrange/default" if side == "limits" else "limitrange/default-request"
    have = slot.side(side)
    for name, (quantity, source) in defaults.items():
        if name not in have:
            yield Put(slot, side, name, quantity, rule, source)


def _notes(slot: Slot, puts: list[Put]) -> Iterator[str]:
    who = "container" if slot.role == "container" else "init container"
    for side in ("requests", "limits"):
        names = sorted(put.resource for put in puts if put.side == side)
        if names:
            yield f"{', '.join(names)} {side[:-1]} for {who} {slot.name}"


def violations(draft: Draft, limits: Limits, journal: list[Entry] | None = None) -> list[Finding]:
    """What one LimitRange finds wrong with the pod; empty: it passes.

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
            findings += _recorded(tests, item, limits, values, journal)
    return findings


def claim_violations(requests: Quantities, limits: Limits, journal: list[Entry] | None = None) -> list[Finding]:
    """The same for a claim: min and max of its request. Source: PersistentVolumeClaimValidateLimitFunc."""
    findings: list[Finding] = []
    for item in limits.items:
        if item.type == "PersistentVolumeClaim":
            values = _Values(item.type, "spec", requests, {})
            tests: list[_Test] = [
                *((name, bound, "min", _below(values, name, bound)) for name, bound in item.min.items()),
                *((name, bound, "max", _claim_above(values, name, bound)) for name, bound in item.max.items()),
            ]
            findings += _recorded(tests, item, limits, values, journal)
    return findings


def pod_sums(draft: Draft, side: Side) -> Quantities:
    """What Pod items are held against: without overhead; pod-level cpu and memory replace the containers' sums."""
    sums = of_containers(draft.containers, draft.inits, side)
    if draft.pod is not None:
        sums.update({name: value for name, value in draft.pod.side(side).items() if name in {"cpu", "memory"}})
    return sums


class _Values:
    """What one item is held against: a container, a pod's sums or a claim."""

    __slots__ = ("limits", "path", "requests", "type")

    def __init__(self, type_: str, path: str, requests: Quantities, limits: Quantities) -> None:
        self.type, self.path, self.requests, self.limits = type_, path, requests, limits


_Test = tuple[str, Quantity, str, str]


def _recorded(
    tests: list[_Test], item: ParsedItem, limits: Limits, values: _Values, journal: list[Entry] | None
) -> list[Finding]:
    """Findings for the sentences; with a journal also a Check for every test that passed."""
    findings: list[Finding] = []
    for name, bound, field, sentence in tests:
        if not sentence and journal is None:
            continue
        rule = "limitrange/ratio" if field == "maxLimitRequestRatio" else f"limitrange/{field}"
        observed = f"request {values.requests.get(name, '-')}, limit {values.limits.get(name, '-')}"
        source = limits.source.at(f"{item.path}.{field}[{name}]")
        if sentence:
            findings.append(
                Finding(
                    sentence, rule, values.path, name, asked=_asked(values, name, rule), limit=str(bound), source=source
                )
            )
        if journal is not None:
            path = f"{values.path}.resources[{name}]"
            journal.append(Check(path, rule, not sentence, observed, str(bound), sentence, source))
    return findings


def _asked(values: _Values, name: str, rule: str) -> str:
    """The figure that a bound refuses: of min the smaller one, else the limit; empty: there is none."""
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


def _below(values: _Values, name: str, bound: Quantity) -> str:
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


def _above(values: _Values, name: str, bound: Quantity) -> str:
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
    "min": _below,
    "max": _above,
    "maxLimitRequestRatio": _out_of_ratio,
}
