"""Policies with edits made to them, to try what becomes of a run then."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import structs

from kubectl_kres.admission.limitrange import Limits, ParsedItem
from kubectl_kres.admission.quota.quota_admission import Quota
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.reports.common.parts import Edit, RaiseQuota, SetBound

#: The lists of an item that an edit can change.
_LISTS = {"min": "min", "max": "max", "default": "default", "defaultRequest": "default_request"}


def changed_policies(policies: Policies, edits: Sequence[Edit]) -> Policies:
    """Return the policies after edits of quotas and LimitRanges; other edits change nothing."""
    raised = [edit for edit in edits if isinstance(edit, RaiseQuota)]
    bounds = [edit for edit in edits if isinstance(edit, SetBound)]
    return structs.replace(
        policies,
        quotas=tuple(_raise_quota(quota, raised) for quota in policies.quotas),
        limits=tuple(_set_bounds(limits, bounds) for limits in policies.limits),
    )


def with_lists(item: ParsedItem, lists: Mapping[str, Mapping[str, Quantity]]) -> ParsedItem:
    """Return a copy of an item with some of its lists replaced."""
    twin = object.__new__(ParsedItem)
    for slot in ParsedItem.__slots__:
        setattr(twin, slot, lists.get(slot, getattr(item, slot)))
    return twin


def _raise_quota(quota: Quota, edits: Iterable[RaiseQuota]) -> Quota:
    own = {edit.resource: parse(edit.to) for edit in edits if edit.object.name == quota.name}
    return Quota(quota.name, quota.source, quota.scopes, {**quota.hard, **own}, quota.used) if own else quota


def _set_bounds(limits: Limits, edits: Iterable[SetBound]) -> Limits:
    own = [edit for edit in edits if edit.object.name == limits.source.name]
    if not own:
        return limits
    return Limits(limits.source, tuple(_item(item, own) for item in limits.items), limits.created)


def _item(item: ParsedItem, edits: Iterable[SetBound]) -> ParsedItem:
    lists: dict[str, dict[str, Quantity]] = {}
    for edit in edits:
        if edit.field == f"{item.path}.{edit.bound}[{edit.resource}]":
            name = _LISTS[edit.bound]
            lists.setdefault(name, dict(getattr(item, name)))[edit.resource] = parse(edit.to)
    return with_lists(item, lists) if lists else item
