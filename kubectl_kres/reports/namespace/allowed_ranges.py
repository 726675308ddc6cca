"""The allowed range of each resource under all LimitRanges of a namespace, their defaults, and their contradictions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.admission.limitrange import Limits, ParsedItem, parse
from kubectl_kres.admission.quota.quota_admission import Quota
from kubectl_kres.model.objects import LAST_APPLIED, LimitRange, decode_object
from kubectl_kres.provenance.journal import Source
from kubectl_kres.quantity import ZERO, Quantity
from kubectl_kres.quantity import parse as quantity
from kubectl_kres.record import Record, Sentence
from kubectl_kres.reports.common.explanation import Demand
from kubectl_kres.reports.namespace.policy_explanation import Band, Default

_Bound = tuple[Quantity, Source]

ConflictKind = Literal[
    "empty-range",
    "default-outside",
    "ratio",
    "pod-below-container",
    "order",
    "unmet-requirement",
    "quota-too-small",
]


def bands(limits: Iterable[Limits]) -> tuple[Band, ...]:
    """Return one band for each type and resource that any LimitRange bounds: largest min, smallest max, smallest
    ratio.
    """
    entry: dict[tuple[str, str], dict[str, _Bound]] = {}
    for limit in limits:
        for item in limit.items:
            for field, values in (("min", item.min), ("max", item.max), ("maxLimitRequestRatio", item.ratio)):
                for name, value in values.items():
                    bounds = entry.setdefault((item.type, name), {})
                    have = bounds.get(field)
                    if have is None or (value > have[0] if field == "min" else value < have[0]):
                        bounds[field] = value, limit.source.at_path(f"{item.path}.{field}[{name}]")
    return tuple(_band(*key, entry[key]) for key in sorted(entry))


def _band(type_: str, resource: str, bounds: Mapping[str, _Bound]) -> Band:
    low, high, ratio = (bounds.get(field) for field in ("min", "max", "maxLimitRequestRatio"))
    texts = [str(bound[0]) if bound else None for bound in (low, high, ratio)]
    sources = [bound[1] if bound else None for bound in (low, high, ratio)]
    return Band(type_, resource, texts[0], texts[1], texts[2], sources[0], sources[1], sources[2])


def defaults(limit_range: LimitRange) -> Iterator[Default]:
    """Yield what a LimitRange gives containers, with where each value comes from. Raises Unparsable.

    A stored object has all defaults; whether one came from another field is known from the last applied configuration,
    else assumed.
    """
    limits, applied = parse(limit_range), _read_last_applied(limit_range)
    for index, item in enumerate(limits.items):
        if item.type != "Container":
            continue
        twin = applied.items[index] if applied is not None and index < len(applied.items) else None
        for side, field, values in (
            ("requests", "defaultRequest", item.default_request),
            ("limits", "default", item.default),
        ):
            for name, value in values.items():
                origin, reason = _origin(item, twin, field, name)
                yield Default(side, name, str(value), limits.source.at_path(origin), reason)


def _read_last_applied(limit_range: LimitRange) -> Limits | None:
    """Return the object as it was applied, before the server filled in its defaults; None if that is not known."""
    text = (limit_range.metadata.annotations or {}).get(LAST_APPLIED)
    try:
        return parse(decode_object(json.loads(text), LimitRange)) if text else None
    except (ValueError, Unparsable, msgspec.ValidationError):
        return None


def _origin(item: ParsedItem, twin: ParsedItem | None, field: str, name: str) -> tuple[str, str]:
    """Return the field that a default comes from, and why it is another one than the default's own."""
    path = f"{item.path}.{field}[{name}]"
    filled = item.origin.get(path)
    if filled is None and twin is not None and _is_same_value(item, twin, field, name):
        filled = twin.origin.get(path)
        if filled is None:
            return path, ""
    if filled is not None:
        return filled, f"from {_field(filled)}, as no {field} is written"
    for other, values in _default_sources(item, field):
        if values.get(name) == _values(item, field)[name]:
            return path, f"equal to {other}, which the server takes where no {field} is written"
    return path, ""


def _values(item: ParsedItem, field: str) -> Mapping[str, Quantity]:
    return item.default if field == "default" else item.default_request


def _is_same_value(item: ParsedItem, twin: ParsedItem, field: str, name: str) -> bool:
    return item.type == twin.type and _values(item, field).get(name) == _values(twin, field).get(name)


def _default_sources(item: ParsedItem, field: str) -> tuple[tuple[str, Mapping[str, Quantity]], ...]:
    """Return the fields that can fill a default. Source: defaults.go SetDefaults_LimitRangeItem."""
    if field == "default":
        return (("max", item.max),)
    return (("default", item.default), ("min", item.min))


def _field(path: str) -> str:
    return path.rpartition(".")[2].partition("[")[0]


class StatedBound(Record, frozen=True):
    """An amount, and the object that states it; empty: it is not named."""

    amount: str
    by: str = ""


class Contradiction(Sentence, frozen=True):
    """What a conflict says. ``low`` and ``high``: the bounds that are apart; of a quota what it allows.

    ``values``: the default that is outside of a bound, the limit and request of a ratio, those between which the order
    of LimitRanges decides. ``side``: limit or request, of these defaults.
    """

    kind: ConflictKind
    resource: str
    type: str = ""
    quota: str = ""
    side: str = ""
    low: StatedBound | None = None
    high: StatedBound | None = None
    values: tuple[StatedBound, ...] = ()

    @property
    def stated_by(self) -> frozenset[str]:
        """The objects that state the amounts."""
        return frozenset(stated.by for stated in (self.low, self.high, *self.values) if stated is not None)


class Conflict(NamedTuple):
    """A condition that no pod can meet, or none that relies on the defaults.

    ``sources``: the fields of LimitRanges and quotas that are in conflict.
    """

    kind: ConflictKind
    text: Contradiction
    sources: tuple[Source, ...]


def contradictions(
    limits: Sequence[Limits], quotas: Sequence[Quota], demanded: Iterable[Demand]
) -> Iterator[Contradiction]:
    """Yield what the conflicts say."""
    return (conflict.text for conflict in find_conflicts(limits, quotas, demanded))


def find_conflicts(limits: Sequence[Limits], quotas: Sequence[Quota], demanded: Iterable[Demand]) -> Iterator[Conflict]:
    """Yield the contradictions between LimitRanges and quotas. ``demanded``: what quotas require of each container."""
    result = bands(limits)
    for band in result:
        yield from _find_empty_range(band)
    outcome = {band.resource: band for band in result if band.type == "Container"}
    for limit in limits:
        for item in limit.items:
            if item.type == "Container":
                yield from _find_outside_defaults(item, limit, outcome)
    yield from _pods_below_containers(result)
    yield from _rivals(limits)
    for demand in demanded:
        for name in demand.unfilled:
            text = Contradiction("unmet-requirement", name, quota=demand.quota)
            yield Conflict("unmet-requirement", text, (_hard(demand.quota, name),))
    yield from _too_small(result, quotas)


def _find_empty_range(band: Band) -> Iterator[Conflict]:
    if band.is_empty:
        low, high = _stated(band.low, band.low_source), _stated(band.high, band.high_source)
        text = Contradiction("empty-range", band.resource, band.type, low=low, high=high)
        yield Conflict("empty-range", text, _known_sources(band.low_source, band.high_source))


def _stated(amount: object, source: Source | None = None) -> StatedBound:
    return StatedBound(str(amount), str(source.ref) if source is not None else "")


def _hard(quota: str, name: str) -> Source:
    return Source("ResourceQuota", quota, field=f"spec.hard[{name}]")


def _known_sources(*sources: Source | None) -> tuple[Source, ...]:
    return tuple(source for source in sources if source is not None)


def _find_outside_defaults(item: ParsedItem, limits: Limits, bands: Mapping[str, Band]) -> Iterator[Conflict]:
    """Yield defaults that the bounds of any LimitRange refuse."""
    holder = str(limits.source.ref)
    for word, field, values in (
        ("limit", "default", item.default),
        ("request", "defaultRequest", item.default_request),
    ):
        for name, value in values.items():
            default = (StatedBound(str(value), holder),)
            band, own_source = bands.get(name), limits.source.at_path(f"{item.path}.{field}[{name}]")
            if band is not None and band.high is not None and value > quantity(band.high):
                bound = _stated(band.high, band.high_source)
                text = Contradiction("default-outside", name, side=word, high=bound, values=default)
                yield Conflict("default-outside", text, _known_sources(own_source, band.high_source))
            if band is not None and band.low is not None and value < quantity(band.low):
                bound = _stated(band.low, band.low_source)
                text = Contradiction("default-outside", name, side=word, low=bound, values=default)
                yield Conflict("default-outside", text, _known_sources(own_source, band.low_source))
    for name, value in item.default.items():
        band, request = bands.get(name), item.default_request.get(name, value)
        if band is None or band.ratio is None:
            continue
        if request == ZERO or value.nano * 10**9 > quantity(band.ratio).nano * request.nano:
            ratio = _stated(band.ratio, band.ratio_source)
            pair = (StatedBound(str(value), holder), StatedBound(str(request), holder))
            text = Contradiction("ratio", name, high=ratio, values=pair)
            own_source = limits.source.at_path(f"{item.path}.default[{name}]")
            yield Conflict("ratio", text, _known_sources(own_source, band.ratio_source))


def _pods_below_containers(bands: Iterable[Band]) -> Iterator[Conflict]:
    result = {(band.type, band.resource): band for band in bands}
    for (type_, resource), band in result.items():
        pod = result.get(("Pod", resource))
        if type_ != "Container" or pod is None or band.low is None or pod.high is None:
            continue
        if quantity(band.low) > quantity(pod.high):
            low, high = _stated(band.low, band.low_source), _stated(pod.high, pod.high_source)
            text = Contradiction("pod-below-container", resource, low=low, high=high)
            yield Conflict("pod-below-container", text, _known_sources(band.low_source, pod.high_source))


def _rivals(limits: Iterable[Limits]) -> Iterator[Conflict]:
    """Yield defaults of several LimitRanges that differ: which one a pod gets depends on LimitRange order."""
    by_key: dict[tuple[str, str], dict[str, tuple[Quantity, Source]]] = {}
    for limit in limits:
        for item in limit.items:
            for word, field, values in (
                ("limit", "default", item.default),
                ("request", "defaultRequest", item.default_request),
            ):
                for name, value in values.items():
                    source = limit.source.at_path(f"{item.path}.{field}[{name}]")
                    by_key.setdefault((name, word), {})[limit.source.name] = value, source
    for (name, word), entry in by_key.items():
        if len({value for value, _ in entry.values()}) > 1:
            stated = tuple(StatedBound(str(value), holder) for holder, (value, _) in entry.items())
            text = Contradiction("order", name, side=word, values=stated)
            yield Conflict("order", text, tuple(source for _, source in entry.values()))


def _too_small(bands: Iterable[Band], quotas: Iterable[Quota]) -> Iterator[Conflict]:
    for band in bands:
        for quota in quotas if band.type == "Container" and band.low is not None else ():
            for name in (f"requests.{band.resource}", band.resource):
                if name in quota.hard and quota.hard[name] < quantity(band.low or "0"):
                    low, high = _stated(band.low, band.low_source), _stated(quota.hard[name])
                    text = Contradiction("quota-too-small", band.resource, quota=quota.name, low=low, high=high)
                    yield Conflict("quota-too-small", text, (*_known_sources(band.low_source), _hard(quota.name, name)))
