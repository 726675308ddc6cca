"""UPDATE of any object that resources are bounded or counted for: what may change, and what the change costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from kubectl_kres.admission.base.draft import parse_list
from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.decoding.unknown_fields import unknown_fields
from kubectl_kres.admission.limitrange import limitrange_object
from kubectl_kres.admission.quota import quota_object
from kubectl_kres.admission.quota.requests import service_request
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.admission.request.policy_answer import answered, not_valid, undecodable
from kubectl_kres.admission.request.update_pod import update_pod
from kubectl_kres.admission.request.update_workload import update_workload
from kubectl_kres.admission.request.volume_claims import update_claim
from kubectl_kres.admission.structure.metadata_structure import name_of
from kubectl_kres.model.kinds import WORKLOADS
from kubectl_kres.model.policy import LimitRange, ResourceQuota
from kubectl_kres.model.quota_objects import Service
from kubectl_kres.model.raw import Raw

UpdateRule = Callable[[Raw, Raw, Policies, Server], tuple[Outcome, ...]]


def update(old: Raw, new: Raw, policies: Policies, server: Server) -> tuple[Outcome, ...]:
    """Every answer to a PUT, or to a patch once it is applied: ``old`` as stored, ``new`` as sent, both whole.

    Kinds that are only counted are counted at creation: an update costs them nothing.
    """
    kind = str(new.get("kind", ""))
    undecoded = undecodable(new)
    if undecoded is not None:
        return (undecoded,)
    outcomes = _BY_KIND.get(kind, _update_counted)(old, new, policies, server)
    decoded = unknown_fields(new, kind)
    if not decoded:
        return outcomes
    return tuple(msgspec.structs.replace(one, warnings=tuple(sorted({*one.warnings, *decoded}))) for one in outcomes)


def _update_limit_range(old: Raw, new: Raw, policies: Policies, server: Server) -> tuple[Outcome, ...]:  # noqa: ARG001 - all have one shape
    """Checked like a new one; the whole spec is replaced."""
    limits = limitrange_object.parse(msgspec.convert(new, LimitRange))
    errors = limitrange_object.validate(limits)
    if errors:
        return (not_valid("LimitRange", name_of(new), errors),)
    stored = {"metadata": {"name": name_of(new)}, "spec": limitrange_object.stored_spec(limits)}
    return answered(stored, None, policies, server, code=200)


def _update_quota(old: Raw, new: Raw, policies: Policies, server: Server) -> tuple[Outcome, ...]:
    """``hard`` may go below what is used; it counts once the controller has copied it (``recount.status_after``)."""
    quota, before = (msgspec.convert(raw, ResourceQuota) for raw in (new, old))
    hard = parse_list(quota.spec.hard, "spec.hard")
    errors = quota_object.validate_update(quota.spec, hard, before.spec)
    if errors:
        return (not_valid("ResourceQuota", name_of(new), errors),)
    stored = {"metadata": {"name": name_of(new)}, "spec": quota_object.stored_spec(new, hard)}
    return answered(stored, None, policies, server, code=200)


def _update_service(old: Raw, new: Raw, policies: Policies, server: Server) -> tuple[Outcome, ...]:
    before, after = (msgspec.convert(raw, Service) for raw in (old, new))
    spec = {"type": after.spec.type, "ports": len(after.spec.ports or ())}
    stored = {"metadata": {"name": name_of(new)}, "spec": spec}
    return answered(stored, service_request(after), policies, server, code=200, old=service_request(before))


def _update_counted(old: Raw, new: Raw, policies: Policies, server: Server) -> tuple[Outcome, ...]:  # noqa: ARG001 - all have one shape
    return answered({"metadata": {"name": name_of(new)}}, None, policies, server, code=200)


_BY_KIND: Mapping[str, UpdateRule] = {
    **dict.fromkeys(WORKLOADS, update_workload),
    "Pod": update_pod,
    "LimitRange": _update_limit_range,
    "ResourceQuota": _update_quota,
    "PersistentVolumeClaim": update_claim,
    "Service": _update_service,
}
