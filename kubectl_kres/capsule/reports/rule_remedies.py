"""Remedies of pods that a Tenant's rules refuse: values that the rules allow, or another rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubectl_kres.admission.base.draft import Side, Slot
from kubectl_kres.capsule.rules.workload_rules import ratio_limit
from kubectl_kres.errors import QuantityError
from kubectl_kres.provenance.journal import Check
from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.reports.common.system import Sentences
from kubectl_kres.reports.remedies.context import RemedyContext


def _resources(case: RemedyContext) -> Iterator[str]:
    """Yield the value that the rule asks for, and that its object can be changed instead."""
    finding = case.finding
    side: Side = "requests" if finding.field_path.requests_or_limits == "requests" else "limits"
    slot, name = case.slot(), finding.resource
    what = f"{side}.{name} of {case.container_title()}"
    change = f"or change {finding.source}" if finding.source is not None else "or change the rule"
    if finding.expected == "Remove":
        setter = case.last_set("requests") if side == "requests" else None
        if setter is not None and setter.rule == "defaulting/request-from-limit":
            yield f"take limits.{name} of {case.container_title()} out, since a limit becomes the request too, {change}"
            return
        by = case.setter(side)
        yield f"take {what} out{f', which {by} sets' if by else ''}, {change}"
        return
    request = slot.requests.get(name) if slot is not None else None
    if request is None or request.nano <= 0:
        yield f"set requests.{name} of {case.container_title()}, {change}"
        return
    if finding.expected == "MatchRequest":
        yield f"set {what} to {request}, as requests.{name} is, {change}"
        return
    yield from _within_ratio(case, slot, name, request, change)


def _within_ratio(case: RemedyContext, slot: Slot | None, name: str, request: Quantity, change: str) -> Iterator[str]:
    ratio = _ratio(case)
    limit = slot.limits.get(name) if slot is not None else None
    if ratio is None:
        yield f"set limits.{name} of {case.container_title()} as the rule asks, {change}"
        return
    maximum = ratio_limit(name, request, ratio)
    if limit is None:
        yield f"set limits.{name} of {case.container_title()} to at most {maximum}, {change}"
        return
    minimum = -(-limit.nano * 10**9 // ratio.nano)
    step = 10**6 if name == "cpu" else 10**9
    more = Quantity(-(-minimum // step) * step, request.format)
    holder = case.container_title()
    yield f"set limits.{name} of {holder} to at most {maximum}, or requests.{name} to at least {more}, {change}"


def _ratio(case: RemedyContext) -> Quantity | None:
    """Return the factor of the rule, which the check of the value notes."""
    checks = [
        entry
        for entry in case.journal
        if isinstance(entry, Check) and entry.path == case.finding.path and entry.source == case.finding.source
    ]
    return _factor(checks[-1].bound) if checks else None


def _factor(bound: str) -> Quantity | None:
    try:
        return parse(bound.removeprefix("Ratio "))
    except QuantityError:
        return None


def _class(case: RemedyContext) -> Iterator[str]:
    source = case.finding.source
    yield f"give the pod QoS class {case.finding.expected} (kubectl kres qos says how), or change {source}"


RULE_REMEDIES: Mapping[str, Sentences] = {"capsule/rule-resources": _resources, "capsule/rule-qos": _class}
