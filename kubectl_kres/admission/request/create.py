"""CREATE of an object that resources are set, bounded or counted for, and of what makes pods, whose template is
validated without defaults.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import structs

from kubectl_kres.admission import limitrange as limitrange_object
from kubectl_kres.admission.base.draft import Unparsable, draft_pod, parse_list, pod_warnings, round_up
from kubectl_kres.admission.base.field_errors import FieldError, forbidden
from kubectl_kres.admission.base.outcome import Outcome, Refusal, invalid_object
from kubectl_kres.admission.base.resource_names import given_name
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.decoding import unknown_fields, with_known_strategy, with_known_volumes
from kubectl_kres.admission.pod.defaulting import without_unknown
from kubectl_kres.admission.pod.validation import validate_containers, validate_pod_level
from kubectl_kres.admission.quota import quota_admission, quota_object
from kubectl_kres.admission.request.new_pod import Policies, admit
from kubectl_kres.admission.request.policy_answer import answer_request, not_valid, undecodable, with_webhooks
from kubectl_kres.admission.request.volume_claims import admit_claim, create_claim
from kubectl_kres.admission.structure import workload_structure
from kubectl_kres.admission.structure.metadata_structure import metadata_errors, name_of, owner_notices, tag_errors
from kubectl_kres.admission.structure.pod_structure import annotation_errors, pod_errors, spec_errors
from kubectl_kres.admission.structure.pod_warnings import name_notices, pod_notices, template_notices
from kubectl_kres.admission.structure.service_structure import service_errors, service_notices
from kubectl_kres.admission.structure.volume_structure import claim_warnings, template_errors
from kubectl_kres.admission.structure.workload_structure import autoscaler_errors
from kubectl_kres.model.objects import LimitRange, Raw, ResourceQuota, decode_object, mapping, to_wire
from kubectl_kres.model.pod import Pod, SentPod
from kubectl_kres.model.quota_objects import PersistentVolumeClaim, ResourceClaim, Service
from kubectl_kres.model.workload import template_in
from kubectl_kres.model.workload_kinds import WORKLOADS


def invalid_workload(raw: Raw, path: str, spec: Raw, pod: Pod, server: Server) -> Outcome | None:
    """422 of a workload whose template or name is not valid; None if it is, or no quantity parses.

    ``path`` leads to the template, ``spec`` is its pod's as sent and ``pod`` the same decoded. Of kinds that are not
    built in only the name is looked at: their template is validated when it becomes a pod.
    A template gets no request from its limit: defaults.go SetDefaults_Pod is for pods alone.
    Source: validation.go ValidatePodTemplateSpec.
    """
    kind, own_errors = str(raw.get("kind", "")), list(metadata_errors(raw, server))
    group = str(raw.get("apiVersion", "")).rpartition("/")[0]
    called = f"{kind}.{group}" if group else kind
    if kind not in WORKLOADS:
        return (
            _build_refused_outcome(invalid_object(called, name_of(raw), own_errors, server), None)
            if own_errors
            else None
        )
    try:
        draft = draft_pod(without_unknown(pod, server), server)
    except Unparsable:
        return None
    round_up(draft)
    metadata = _metadata_at(raw, path)
    own_errors += workload_structure.workload_errors(with_known_strategy(raw, server), path)
    errors: list[FieldError] = []
    if not workload_structure.skips_template(raw):
        kept = mapping(with_known_volumes({"spec": spec}, server), "spec")
        shaped = spec_errors(workload_structure.checked_spec(raw, kept), server)
        within = [*shaped, *validate_containers(draft, server), *validate_pod_level(draft)]
        errors = [_in_template(error) for error in within]
        tags = [*tag_errors(metadata, path), *annotation_errors(metadata, spec, f"{path}.annotations")]
        own_errors += tags * (2 if kind == "StatefulSet" else 1)
    own_errors += template_errors(raw, server) if kind == "StatefulSet" else ()
    if not own_errors and not errors:
        return None
    placed = [structs.replace(error, field=f"{path}.{error.field}") for error in errors]
    refusal = invalid_object(called, name_of(raw), [*own_errors, *placed], server)
    # What a remedy is about stands in the pod.
    findings = tuple(
        structs.replace(finding, path=error.field)
        for finding, error in zip(refusal.findings, [*own_errors, *errors], strict=True)
    )
    return _build_refused_outcome(structs.replace(refusal, findings=findings), draft)


def create_workload(raw: Raw, policies: Policies, server: Server) -> tuple[Outcome, ...]:
    """Return every answer to a CREATE of a built-in kind: its template, then the quotas that count it. Raises
    Unparsable.
    """
    path, template = template_in(raw) or _without_containers(raw)
    item_path, pod = ".".join(path), decode_object(template, Pod)
    refused = invalid_workload(raw, item_path, mapping(template, "spec"), pod, server)
    if refused is not None:
        return (refused,)
    warnings = workload_warnings(raw, server)
    stored = {"metadata": {"name": name_of(raw)}}
    return answer_request(stored, counting_request(raw), policies, server, warnings=warnings)


def workload_warnings(raw: Raw, server: Server) -> list[str]:
    """Return the warnings about a built-in kind and its template, which gets fewer defaults than a pod. Raises
    Unparsable.
    """
    path, template = template_in(raw) or _without_containers(raw)
    draft = draft_pod(decode_object(template, Pod), server)
    round_up(draft)
    seen = pod_notices(with_known_volumes(template, server), template=True)
    notices = (*pod_warnings(draft), *seen, *template_notices(template))
    return [
        *(_prefix_warning_paths(text, ".".join(path)) for text in notices),
        *workload_structure.workload_warnings(raw),
        *claim_warnings(raw),
    ]


def _without_containers(raw: Raw) -> tuple[tuple[str, ...], Raw]:
    """Return where the template of a built-in kind stands, and what of it is there."""
    path, result = WORKLOADS[str(raw.get("kind"))].template, raw
    for key in path:
        result = mapping(result, key)
    return path, result


def _prefix_warning_paths(warning: str, path: str) -> str:
    """With each path in it as that of the template. Of files that overlap the server names no path."""
    return warning if warning.startswith('volume "') else f"{path}.{_PATH.sub(f' {path}.spec.', warning)}"


_PATH = re.compile(r" spec\.(?=(?:init)?[cC]ontainers\[)")


def _in_template(error: FieldError) -> FieldError:
    if error.field != "spec.ephemeralContainers":
        return error
    return forbidden(error.field, "ephemeral containers not allowed in pod template", error.rule)


def _metadata_at(raw: Raw, path: str) -> Raw:
    """Return the metadata of the template at a path."""
    result = raw
    for key in (*path.split("."), "metadata"):
        result = mapping(result, key)
    return result


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
    undecoded = undecodable(raw)
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
