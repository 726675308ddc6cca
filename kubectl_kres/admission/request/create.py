"""CREATE of an object that resources are set, bounded or counted for, and of what makes pods, whose template is
validated without defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from kubectl_kres.admission import limitrange as limitrange_object
from kubectl_kres.admission.base.draft import parse_list
from kubectl_kres.admission.base.outcome import Outcome, Refusal
from kubectl_kres.admission.base.resource_names import given_name
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.decoding import unknown_fields, with_known_volumes
from kubectl_kres.admission.quota import quota_admission, quota_object
from kubectl_kres.admission.request.new_pod import Policies, admit
from kubectl_kres.admission.request.policy_answer import answer_request, not_valid, undecodable, with_webhooks
from kubectl_kres.admission.request.sent_workload import look_at_workload
from kubectl_kres.admission.request.volume_claims import admit_claim, create_claim
from kubectl_kres.admission.structure.metadata_structure import metadata_errors, name_of, owner_notices
from kubectl_kres.admission.structure.pod_structure import pod_errors
from kubectl_kres.admission.structure.pod_warnings import name_notices, pod_notices
from kubectl_kres.admission.structure.service_structure import service_errors, service_notices
from kubectl_kres.admission.structure.workload_structure import autoscaler_errors
from kubectl_kres.model.objects import LimitRange, Raw, ResourceQuota, decode_object, to_wire
from kubectl_kres.model.pod import Pod, SentPod
from kubectl_kres.model.quota_objects import PersistentVolumeClaim, ResourceClaim, Service
from kubectl_kres.model.workload_kinds import WORKLOADS


def create_workload(raw: Raw, policies: Policies, server: Server) -> tuple[Outcome, ...]:
    """Return every answer to a CREATE of a built-in kind that decodes: its template, then the quotas that count it."""
    found = look_at_workload(raw, server)
    if found.invalid is not None:
        return (found.invalid,)
    stored = {"metadata": {"name": name_of(raw)}}
    return answer_request(stored, counting_request(raw), policies, server, warnings=found.warnings)


def counting_request(raw: Raw) -> quota_admission.QuotaRequest:
    """Return what quotas count a workload as that does not exist yet."""
    return quota_admission.count_request(
        quota_admission.resource_of(str(raw.get("kind", "")), str(raw.get("apiVersion", "v1"))), name_of(raw)
    )


def quota_refusals(raw: Raw, policies: Policies, server: Server) -> Sequence[Outcome]:
    """403 of each quota that has no room for one more object of the kind; none if there is."""
    if "ResourceQuota" in server.disabled_plugins:
        return ()
    verdict = quota_admission.evaluate(counting_request(raw), policies.quotas, server.limited_resources)
    return [_build_refused_outcome(refusal, None) for refusal in verdict.refusals]


def _build_refused_outcome(refusal: Refusal, draft: Any) -> Outcome:
    return Outcome(False, refusal.code, refusal, draft=draft)


def create(raw: Mapping[str, Any], policies: Policies, server: Server) -> tuple[Outcome, ...]:
    """Return every answer that a CREATE of the object as sent can get, with the decoder's warnings of unknown
    fields.
    """
    kind = str(raw.get("kind", ""))
    if kind == "Pod":
        return create_pod(raw, policies, server)
    undecoded = look_at_workload(raw, server).undecodable if kind in WORKLOADS else undecodable(raw)
    if undecoded is not None:
        return (undecoded,)
    metadata = raw.get("metadata") or {}
    if kind == "Job" and metadata.get("uid"):  # the server gives it another one, which its selector goes by
        raw = {**raw, "metadata": {key: value for key, value in metadata.items() if key != "uid"}}
    create_it = _BY_KIND.get(kind, create_workload if kind in WORKLOADS else _create_counted)
    outcomes = with_webhooks(create_it(raw, policies, server), raw, policies)
    unknown = (*unknown_fields(raw, kind), *owner_notices(raw))
    if not unknown:
        return outcomes
    return tuple(
        msgspec.structs.replace(outcome, warnings=tuple(sorted({*outcome.warnings, *unknown}))) for outcome in outcomes
    )


def create_decoded(item: Any, policies: Policies, server: Server) -> tuple[Outcome, ...]:
    """Return every answer to a CREATE of an object that is known as its struct: what that leaves out is taken as
    valid.
    """
    if isinstance(item, Pod):
        return admit(item, policies, server)
    if isinstance(item, PersistentVolumeClaim):
        return admit_claim(item, policies, server)
    if isinstance(item, Service):
        return admit_service(item, policies, server)
    raw = {"kind": item.kind, "apiVersion": item.api_version, **to_wire(item)}
    return create(raw, policies, server)


def create_pod(raw: Mapping[str, Any], policies: Policies, server: Server) -> tuple[Outcome, ...]:
    """Return a pod as sent, with the errors and warnings that need what the model leaves out."""
    undecoded = undecodable(raw)
    if undecoded is not None:
        return (undecoded,)
    pod, unknown = decode_object(raw, SentPod), sorted((*unknown_fields(raw, "Pod"), *owner_notices(raw)))
    kept = with_known_volumes(raw, server)
    more = (*name_notices(name_of(raw)), *pod_notices(kept))
    return admit(pod, policies, server, decoded=unknown, warnings=more, faults=pod_errors(kept, server))


def _create_limit_range(raw: Mapping[str, Any], policies: Policies, server: Server) -> tuple[Outcome, ...]:
    name = name_of(raw)
    limits = limitrange_object.parse(decode_object(raw, LimitRange))
    errors = [*metadata_errors(raw, server), *limitrange_object.validate(limits)]
    if errors:
        return (not_valid("LimitRange", name, errors, server),)
    stored = {"metadata": {"name": name}, "spec": limitrange_object.stored_spec(limits)}
    return answer_request(stored, quota_admission.count_request("limitranges", name), policies, server)


def _create_quota(raw: Mapping[str, Any], policies: Policies, server: Server) -> tuple[Outcome, ...]:
    name = name_of(raw)
    quota = decode_object(raw, ResourceQuota)
    hard = parse_list(quota.spec.hard, "spec.hard")
    errors = [*metadata_errors(raw, server), *quota_object.validate(quota.spec, hard)]
    if errors:
        return (not_valid("ResourceQuota", name, errors, server),)
    stored = {"metadata": {"name": name}, "spec": quota_object.stored_spec(raw, hard)}
    warnings = [*quota_object.warnings(hard)]
    return answer_request(
        stored, quota_admission.count_request("resourcequotas", name), policies, server, warnings=warnings
    )


def _create_service(raw: Mapping[str, Any], policies: Policies, server: Server) -> tuple[Outcome, ...]:
    errors = [*service_errors(raw, server)]
    if errors:
        return (not_valid("Service", name_of(raw), errors, server),)
    return admit_service(decode_object(raw, Service), policies, server, [*service_notices(raw, server)])


def admit_service(
    service: Service, policies: Policies, server: Server, warnings: Sequence[str] = ()
) -> tuple[Outcome, ...]:
    """Return the quotas' answer to a Service that is valid."""
    name = given_name(service.metadata.name, service.metadata.generate_name)
    stored = {"metadata": {"name": name}, "spec": {"type": service.spec.type, "ports": len(service.spec.ports or ())}}
    return answer_request(stored, quota_admission.service_request(service), policies, server, warnings=warnings)


def _create_device_claim(raw: Mapping[str, Any], policies: Policies, server: Server) -> tuple[Outcome, ...]:
    request = quota_admission.device_request(decode_object(raw, ResourceClaim), server, policies.extended)
    return answer_request({"metadata": {"name": name_of(raw)}}, request, policies, server)


def _create_counted(raw: Mapping[str, Any], policies: Policies, server: Server) -> tuple[Outcome, ...]:
    name = name_of(raw)
    resource = quota_admission.resource_of(str(raw.get("kind", "")), str(raw.get("apiVersion", "v1")))
    return answer_request({"metadata": {"name": name}}, quota_admission.count_request(resource, name), policies, server)


def _create_autoscaler(raw: Mapping[str, Any], policies: Policies, server: Server) -> tuple[Outcome, ...]:
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
