"""Policies and claims with edits made to them, to try what becomes of a pod or a run then."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import convert, structs

from kubectl_kres.admission.base.outcome import Finding
from kubectl_kres.admission.limitrange import Limits, ParsedItem
from kubectl_kres.admission.limitrange import parse as parsed_range
from kubectl_kres.admission.quota.quota_admission import Quota
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.model.objects import LimitRange, ObjectRef
from kubectl_kres.model.pod import ResourceRequirements
from kubectl_kres.model.quota_objects import PersistentVolumeClaim
from kubectl_kres.quantity import parse
from kubectl_kres.reports.common.parts import CreateObject, RaiseQuota, SetBound
from kubectl_kres.reports.remedies.engine import State

#: The lists of an item that an edit can change.
_LISTS = {"min": "min", "max": "max", "default": "default", "defaultRequest": "default_request"}
_MOVED = {"limitrange/min": "min", "limitrange/max": "max"}


def with_storage(claim: PersistentVolumeClaim, amount: str) -> PersistentVolumeClaim:
    """Return the claim with another size."""
    resources = claim.spec.resources or ResourceRequirements()
    resized = structs.replace(resources, requests={**(resources.requests or {}), "storage": amount})
    return structs.replace(claim, spec=structs.replace(claim.spec, resources=resized))


def changed_policies(policies: Policies, edits: Iterable[object]) -> Policies:
    """Return the policies after edits of quotas and LimitRanges; the same where no edit is of them."""
    edits = [*edits]
    raised = [edit for edit in edits if isinstance(edit, RaiseQuota)]
    bounds = [edit for edit in edits if isinstance(edit, SetBound)]
    new = [edit for edit in edits if isinstance(edit, CreateObject) and edit.object.kind == "LimitRange"]
    if not (raised or bounds or new):
        return policies
    made = (parsed_range(convert(edit.manifest, LimitRange, strict=False)) for edit in new)
    return structs.replace(
        policies,
        quotas=tuple(_raise_quota(quota, raised) for quota in policies.quotas),
        limits=(*(_set_bounds(limits, bounds) for limits in policies.limits), *made),
    )


def _raise_quota(quota: Quota, edits: Iterable[RaiseQuota]) -> Quota:
    fields = {(quota.source.ref, f"{quota.hard_at}[{name}]") for name in quota.hard}
    more = {edit.resource: parse(edit.to) for edit in edits if (edit.object, edit.field) in fields}
    return quota.with_hard({**quota.hard, **more}) if more else quota


def _set_bounds(limits: Limits, edits: Iterable[SetBound]) -> Limits:
    matching = [edit for edit in edits if edit.object.name == limits.source.name]
    return (
        Limits(limits.source, tuple(_item(item, matching) for item in limits.items), limits.created)
        if matching
        else limits
    )


def _item(item: ParsedItem, edits: Iterable[SetBound]) -> ParsedItem:
    matching = [edit for edit in edits if edit.field == f"{item.path}.{edit.bound}[{edit.resource}]"]
    for edit in matching:
        amount = {edit.resource: parse(edit.to)}
        item = item.with_amounts(_LISTS[edit.bound], amount)
        if edit.bound == "default":
            # The server makes the default request of it where there is none.
            item = item.with_amounts("default_request", {**amount, **item.default_request})
    return item


def moved_bound(policies: Policies, finding: Finding, namespace: str) -> SetBound | None:
    """Return the bound that refuses, moved to what was asked for; None where it is none that can be moved."""
    source, bound = finding.source, _MOVED.get(finding.rule)
    if source is None or bound is None or not finding.asked:
        return None
    for limits in policies.limits:
        for item in limits.items:
            if limits.source.name == source.name and source.field == f"{item.path}.{bound}[{finding.resource}]":
                ref = ObjectRef("LimitRange", source.name, namespace)
                return SetBound(ref, source.field, finding.resource, finding.asked, finding.limit, bound, item.type)
    return None


def with_moved_bound(state: State, policies: Policies, findings: Iterable[Finding], namespace: str) -> State | None:
    """Return the state with one more bound moved, the first of those that refuse; None: none of them can be."""
    edit = next((edit for finding in findings if (edit := moved_bound(policies, finding, namespace))), None)
    if edit is None:
        return None
    before = state.get((edit.object, edit.field))
    return {**state, (edit.object, edit.field): structs.replace(edit, from_=before.from_) if before else edit}
