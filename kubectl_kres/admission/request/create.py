"""CREATE of any object that resources are set, bounded or counted for: decode, defaults, checks, quota."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from kubectl_kres.admission.base.draft import parse_list
from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.base.resource_names import given_name
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.decoding.gated_fields import with_known_volumes
from kubectl_kres.admission.decoding.unknown_fields import unknown_fields
from kubectl_kres.admission.limitrange import limitrange_object
from kubectl_kres.admission.quota import quota_object
from kubectl_kres.admission.quota.requests import count_request, device_request, resource_of, service_request
from kubectl_kres.admission.request.new_pod import Policies, admit
from kubectl_kres.admission.request.policy_answer import answered, not_valid, undecodable
from kubectl_kres.admission.request.volume_claims import admit_claim, create_claim
from kubectl_kres.admission.request.workload import create_workload
from kubectl_kres.admission.structure.metadata_structure import metadata_errors, name_of, owner_notices
from kubectl_kres.admission.structure.pod_warnings import name_notices, pod_notices
from kubectl_kres.admission.structure.service_structure import service_errors, service_notices
from kubectl_kres.admission.structure.template_structure import pod_errors
from kubectl_kres.model.kinds import WORKLOADS
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.policy import LimitRange, ResourceQuota
from kubectl_kres.model.quota_objects import PersistentVolumeClaim, ResourceClaim, Service
from kubectl_kres.model.raw import decoded, on_wire


def create(raw: Mapping[str, Any], policies: Policies, server: Server) -> tuple[Outcome, ...]:
    """Every answer that a CREATE of the object as sent can get, with the decoder's warnings of unknown fields."""
    kind = str(raw.get("kind", ""))
    if kind == "Pod":
        return create_pod(raw, policies, server)
    undecoded = undecodable(raw)
    if undecoded is not None:
        return (undecoded,)
    metadata = raw.get("metadata") or {}
    if kind == "Job" and metadata.get("uid"):  # the server gives it another one, which its selector goes by
        raw = {**raw, "metadata": {key: value for key, value in metadata.items() if key != "uid"}}
    create_it = _BY_KIND.get(kind, create_workload if kind in WORKLOADS else _create_counted)
    outcomes = create_it(raw, policies, server)
    unknown = (*unknown_fields(raw, kind), *owner_notices(raw))
    if not unknown:
        return outcomes
    return tuple(
        msgspec.structs.replace(outcome, warnings=tuple(sorted({*outcome.warnings, *unknown}))) for outcome in outcomes
    )


def create_decoded(item: Any, policies: Policies, server: Server) -> tuple[Outcome, ...]:
    """Every answer to a CREATE of an object that is known as its struct: what that leaves out is taken as valid."""
    if isinstance(item, Pod):
        return admit(item, policies, server)
    if isinstance(item, PersistentVolumeClaim):
        return admit_claim(item, policies, server)
    if isinstance(item, Service):
        return admit_service(item, policies, server)
    raw = {"kind": item.kind, "apiVersion": item.api_version, **on_wire(item)}
    return create(raw, policies, server)


def create_pod(raw: Mapping[str, Any], policies: Policies, server: Server) -> tuple[Outcome, ...]:
    """A pod as sent, with the errors and warnings that need what the model leaves out."""
    undecoded = undecodable(raw)
    if undecoded is not None:
        return (undecoded,)
    pod, unknown = decoded(raw, Pod), sorted((*unknown_fields(raw, "Pod"), *owner_notices(raw)))
    kept = with_known_volumes(raw, server)
    more = (*name_notices(name_of(raw)), *pod_notices(kept))
    return admit(pod, policies, server, decoded=unknown, warnings=more, faults=pod_errors(kept, server))


def _create_limit_range(raw: Mapping[str, Any], policies: Policies, server: Server) -> tuple[Outcome, ...]:
    name = name_of(raw)
    limits = limitrange_object.parse(decoded(raw, LimitRange))
    errors = [*metadata_errors(raw, server), *limitrange_object.validate(limits)]
    if errors:
        return (not_valid("LimitRange", name, errors, server),)
    stored = {"metadata": {"name": name}, "spec": limitrange_object.stored_spec(limits)}
    return answered(stored, count_request("limitranges", name), policies, server)


def _create_quota(raw: Mapping[str, Any], policies: Policies, server: Server) -> tuple[Outcome, ...]:
    name = name_of(raw)
    quota = decoded(raw, ResourceQuota)
    hard = parse_list(quota.spec.hard, "spec.hard")
    errors = [*metadata_errors(raw, server), *quota_object.validate(quota.spec, hard)]
    if errors:
        return (not_valid("ResourceQuota", name, errors, server),)
    stored = {"metadata": {"name": name}, "spec": quota_object.stored_spec(raw, hard)}
    warnings = [*quota_object.warnings(hard)]
    return answered(stored, count_request("resourcequotas", name), policies, server, warnings=warnings)


def _create_service(raw: Mapping[str, Any], policies: Policies, server: Server) -> tuple[Outcome, ...]:
    errors = [*service_errors(raw, server)]
    if errors:
        return (not_valid("Service", name_of(raw), errors, server),)
    return admit_service(decoded(raw, Service), policies, server, [*service_notices(raw, server)])


def admit_service(
    service: Service, policies: Policies, server: Server, warnings: Sequence[str] = ()
) -> tuple[Outcome, ...]:
    """The quotas' answer to a Service that is valid."""
    name = given_name(service.metadata.name, service.metadata.generate_name)
    stored = {"metadata": {"name": name}, "spec": {"type": service.spec.type, "ports": len(service.spec.ports or ())}}
    return answered(stored, service_request(service), policies, server, warnings=warnings)


def _create_device_claim(raw: Mapping[str, Any], policies: Policies, server: Server) -> tuple[Outcome, ...]:
    request = device_request(decoded(raw, ResourceClaim), server, policies.extended)
    return answered({"metadata": {"name": name_of(raw)}}, request, policies, server)


def _create_counted(raw: Mapping[str, Any], policies: Policies, server: Server) -> tuple[Outcome, ...]:
    name = name_of(raw)
    resource = resource_of(str(raw.get("kind", "")), str(raw.get("apiVersion", "v1")))
    return answered({"metadata": {"name": name}}, count_request(resource, name), policies, server)


def _create_autoscaler(raw: Mapping[str, Any], policies: Policies, server: Server) -> tuple[Outcome, ...]:
    from kubectl_kres.admission.structure.autoscaler_structure import autoscaler_errors  # noqa: PLC0415, rarely asked

    errors = [*autoscaler_errors(raw, server)]
    if errors:
        name = "HorizontalPodAutoscaler.autoscaling"
        return (not_valid(name, name_of(raw), errors, server),)
    return _create_counted(raw, policies, server)


_BY_KIND: Mapping[str, Callable[[Mapping[str, Any], Policies, Server], tuple[Outcome, ...]]] = {
    "LimitRange": _create_limit_range,
    "ResourceQuota": _create_quota,
    "PersistentVolumeClaim": create_claim,
    "ResourceClaim": _create_device_claim,
    "Service": _create_service,
    "HorizontalPodAutoscaler": _create_autoscaler,
}
