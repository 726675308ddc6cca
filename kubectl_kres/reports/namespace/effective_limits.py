"""All LimitRanges of a namespace as one: the bound in force of each resource, and what each object contributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_kres.admission.limitrange.limitrange_object import Limits, ParsedItem
from kubectl_kres.provenance.journal import Assume, Source
from kubectl_kres.quantity import Quantity
from kubectl_kres.reports.common.effective_policies import policies
from kubectl_kres.reports.common.record import Record
from kubectl_kres.reports.namespace.allowed_ranges import bands
from kubectl_kres.reports.namespace.policy_explanation import Band
from kubectl_kres.store.store import Store


class Part(Record, frozen=True):
    """What one LimitRange says. ``field`` as in the object. ``force``: it is in force, or may be, for a default."""

    field: str
    value: str
    source: Source
    force: bool = True


class EffectiveLimit(Record, frozen=True):
    """One resource of one type in one namespace.

    ``band``: the bounds in force. ``requests``, ``limits``: the defaults; several where LimitRanges differ, since the
    server takes them in an arbitrary order. ``assumptions``: LimitRanges that were left out.
    """

    namespace: str
    type: str
    resource: str
    band: Band
    requests: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    assumptions: tuple[Assume, ...] = ()

    @property
    def certain(self) -> bool:
        """Whether a container that states nothing gets the same, whatever the order."""
        return len(self.requests) < 2 and len(self.limits) < 2


_FIELDS = ("min", "max", "maxLimitRequestRatio", "defaultRequest", "default")


def merged(store: Store, namespace: str) -> Iterator[EffectiveLimit]:
    """By type and resource."""
    known = policies(store, namespace)
    limits = tuple(known.policies.limits)
    result = {(band.type, band.resource): band for band in bands(limits)}
    left_out = tuple(assumption for assumption in known.assumptions if assumption.path == "LimitRange")
    for type_, resource in sorted({*result, *_named(limits)}):
        band = result.get((type_, resource), Band(type_, resource))
        parts = tuple(_parts(limits, band))
        yield EffectiveLimit(
            namespace,
            type_,
            resource,
            band,
            _values(parts, "defaultRequest"),
            _values(parts, "default"),
            parts,
            left_out,
        )


def _named(limits: Iterable[Limits]) -> Iterator[tuple[str, str]]:
    for limit in limits:
        for item in limit.items:
            yield from ((item.type, name) for name in {*item.default, *item.default_request})


def _parts(limits: Iterable[Limits], band: Band) -> Iterator[Part]:
    forced = {"min": band.low_source, "max": band.high_source, "maxLimitRequestRatio": band.ratio_source}
    for field in _FIELDS:
        for limit in limits:
            for item in limit.items:
                value = _value(item, field, band)
                if value is not None:
                    source = limit.source.at(f"{item.path}.{field}[{band.resource}]")
                    yield Part(field, str(value), source, field not in forced or forced[field] == source)


def _value(item: ParsedItem, field: str, band: Band) -> Quantity | None:
    if item.type != band.type:
        return None
    quantities = {
        "min": item.min,
        "max": item.max,
        "maxLimitRequestRatio": item.ratio,
        "defaultRequest": item.default_request,
        "default": item.default,
    }
    return quantities[field].get(band.resource)


def _values(parts: Iterable[Part], field: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.value for part in parts if part.field == field))
