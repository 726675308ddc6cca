"""The content of kubectl describe for quotas, LimitRanges and namespaces, to compare with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from kubectl_kres.admission.base.draft import parse_list
from kubectl_kres.model.objects import LimitRange, Namespace, ObjectRef, ResourceQuota
from kubectl_kres.quantity import ZERO, Quantity, quantity_of
from kubectl_kres.store.store import ReadRequest

#: Resource, used and hard.
UsedRow = tuple[str, str, str]
#: Type, resource, min, max, default request, default limit, ratio.
LimitRow = tuple[str, str, str, str, str, str, str]


class QuotaBlock(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A quota: rows by name of the resource. A selector is not shown."""

    name: str
    namespace: str
    scopes: tuple[str, ...] = ()
    rows: tuple[UsedRow, ...] = ()


class LimitRangeBlock(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A LimitRange: its items in order, the rows of each by name (kubectl's own order of those is arbitrary)."""

    name: str
    namespace: str
    items: tuple[tuple[LimitRow, ...], ...] = ()


class NamespaceBlock(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A namespace with its quotas and LimitRanges. Conditions, which come with deletion only, are left out."""

    name: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    phase: str
    quotas: tuple[QuotaBlock, ...] = ()
    limit_ranges: tuple[LimitRangeBlock, ...] = ()


def describe_needs(ref: ObjectRef) -> tuple[ReadRequest, ...]:
    """Return the read of the object, and for a namespace those of its policies."""
    own_read = ReadRequest(ref.kind, ref.namespace, ref.name)
    if ref.kind != "Namespace":
        return (own_read,)
    return (own_read, ReadRequest("ResourceQuota", ref.name), ReadRequest("LimitRange", ref.name))


def quota_block(quota: ResourceQuota, *, converted: bool = True) -> QuotaBlock:
    """Return the block of a quota. ``converted``: a use in another notation than its limit is shown in whole units of
    that one, rounded up.

    Source: kubectl describe.go describeQuota; DescribeResourceQuotas for False. Raises Unparsable.
    """
    meta, status = quota.metadata, quota.status
    hard, used = parse_list(status.hard, "status.hard"), parse_list(status.used, "status.used")
    rows = tuple(
        (
            name,
            str(_convert_format(used.get(name, ZERO), hard[name]) if converted else used.get(name, ZERO)),
            str(hard[name]),
        )
        for name in sorted(hard)
    )
    return QuotaBlock(meta.name, meta.namespace, tuple(sorted(quota.spec.scopes or ())), rows)


def _convert_format(used: Quantity, hard: Quantity) -> Quantity:
    return used if used.format == hard.format else quantity_of(used.value(), hard.format)


def limit_range_block(limit_range: LimitRange) -> LimitRangeBlock:
    """Return the block of a LimitRange. Source: kubectl describe.go describeLimitRangeSpec. Raises Unparsable."""
    items: list[tuple[LimitRow, ...]] = []
    for item in limit_range.spec.limits or ():
        lists = [
            parse_list(mapping, "spec.limits")
            for mapping in (item.min, item.max, item.default_request, item.default, item.max_limit_request_ratio)
        ]
        names = sorted({name for quantities in lists for name in quantities})
        items.append(tuple(_row(item.type, name, lists) for name in names))
    return LimitRangeBlock(limit_range.metadata.name, limit_range.metadata.namespace, tuple(items))


def _row(scope: str, name: str, lists: Iterable[Mapping[str, Quantity]]) -> LimitRow:
    low, high, request, limit, ratio = (str(quantities[name]) if name in quantities else "-" for quantities in lists)
    return scope, name, low, high, request, limit, ratio


def namespace_block(
    namespace: Namespace, quotas: Iterable[ResourceQuota], limit_ranges: Iterable[LimitRange]
) -> NamespaceBlock:
    """Return the block of a namespace. ``limit_ranges`` in the listed order: kubectl does not sort them. Source:
    kubectl describe.go describeNamespace.
    """
    by_name = sorted(quotas, key=lambda quota: quota.metadata.name)
    meta = namespace.metadata
    return NamespaceBlock(
        meta.name,
        dict(meta.labels or {}),
        dict(meta.annotations or {}),
        namespace.status.phase,
        tuple(quota_block(quota, converted=False) for quota in by_name),
        tuple(map(limit_range_block, limit_ranges)),
    )
