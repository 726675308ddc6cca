"""CREATE of any object that resources are set, bounded or counted for: decode, defaults, checks, quota."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from kubectl_kres.admission import limitrange, limitranger, quota_object
from kubectl_kres.admission.draft import Unparsable, parse_list
from kubectl_kres.admission.fields import unknown_fields
from kubectl_kres.admission.outcome import Outcome, Refusal, forbidden_object, invalid_object, unparsable
from kubectl_kres.admission.pods import Policies, admit
from kubectl_kres.admission.quota import Request, evaluate, parse_quota
from kubectl_kres.admission.scopes import matches_claim
from kubectl_kres.admission.server import Server
from kubectl_kres.admission.usage import claim_names, claim_usage, object_usage, service_names, service_usage
from kubectl_kres.admission.warnings import fraction, hidden_env
from kubectl_kres.model.claim import PersistentVolumeClaim, Service
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.policy import LimitRange, PriorityClass, ResourceQuota, RuntimeClass, ScopedRequirement


class NotCovered(Exception):
    """What was asked is outside the rules of this module."""


def policies_of(
    limit_ranges: Iterable[LimitRange],
    quotas: Iterable[ResourceQuota],
    priorities: Iterable[PriorityClass] | None = None,
    runtimes: Iterable[RuntimeClass] | None = None,
) -> Policies:
    """The policies of one namespace, parsed once. Raises Unparsable for a policy that no server would have stored."""
    return Policies(
        tuple(limitrange.parse(item) for item in sorted(limit_ranges, key=lambda item: item.metadata.name)),
        tuple(parse_quota(item) for item in sorted(quotas, key=lambda item: item.metadata.name)),
        None if priorities is None else {item.metadata.name: item for item in priorities},
        None if runtimes is None else {item.metadata.name: item for item in runtimes},
    )


def create(raw: Mapping[str, Any], policies: Policies, server: Server) -> tuple[Outcome, ...]:
    """Every answer that a CREATE of the object as sent can get, with the decoder's warnings of unknown fields."""
    kind = str(raw.get("kind", ""))
    if kind == "Pod":
        return create_pod(raw, policies, server)
    run = _BY_KIND.get(kind, _create_counted)
    try:
        outcomes = run(raw, policies, server)
    except Unparsable as fault:
        version = str(raw.get("apiVersion", "v1")).rpartition("/")[2]
        refusal = unparsable(kind, version, fault.error.message, fault.path, fault.error.text)
        return (Outcome(allowed=False, code=400, refusal=refusal),)
    decoded = unknown_fields(raw, kind)
    if not decoded:
        return outcomes
    return tuple(msgspec.structs.replace(one, warnings=tuple(sorted({*one.warnings, *decoded}))) for one in outcomes)


def create_pod(raw: Mapping[str, Any], policies: Policies, server: Server) -> tuple[Outcome, ...]:
    """A pod as sent, with the warnings that need what the model leaves out."""
    spec = raw.get("spec") or {}
    more = (
        *hidden_env(spec.get("initContainers") or (), "spec.initContainers"),
        *hidden_env(spec.get("containers") or (), "spec.containers"),
    )
    return admit(msgspec.convert(raw, Pod), policies, server, decoded=sorted(unknown_fields(raw, "Pod")), warnings=more)


def _name(raw: Mapping[str, Any]) -> str:
    metadata = raw.get("metadata") or {}
    return str(metadata.get("name") or metadata.get("generateName") or "")


def _answered(name: str, object_: Mapping[str, Any], request: Request | None, policies: Policies, server: Server,
              warnings: Sequence[str] = ()) -> tuple[Outcome, ...]:  # fmt: skip
    """The end of every CREATE: quota, then storage."""
    warnings = tuple(sorted(set(warnings)))
    stored = {"metadata": {"name": name}, **object_}
    if request is None or "ResourceQuota" in server.disabled_plugins:
        return (Outcome(True, 201, None, warnings, stored),)
    verdict = evaluate(request, policies.quotas, server.limited_resources)
    if verdict.refusals:
        return tuple(Outcome(False, refusal.code, refusal, warnings) for refusal in verdict.refusals)
    return (Outcome(True, 201, None, warnings, stored, verdict.charges),)


def _nowhere(_: ScopedRequirement) -> bool:
    """No scope takes kinds other than pods and claims."""
    return False


def _counted(resource: str, name: str) -> Request:
    usage = object_usage(resource)
    return Request(resource, name, usage, lambda hard: [n for n in hard if n in usage], _nowhere)


def _create_limit_range(raw: Mapping[str, Any], policies: Policies, server: Server) -> tuple[Outcome, ...]:
    limits = limitrange.parse(msgspec.convert(raw, LimitRange))
    errors = limitrange.validate(limits)
    if errors:
        return (_invalid("LimitRange", _name(raw), errors),)
    stored = {"spec": limitrange.stored_spec(limits)}
    return _answered(_name(raw), stored, _counted("limitranges", _name(raw)), policies, server)


def _create_quota(raw: Mapping[str, Any], policies: Policies, server: Server) -> tuple[Outcome, ...]:
    quota = msgspec.convert(raw, ResourceQuota)
    hard = parse_list(quota.spec.hard, "spec.hard")
    errors = quota_object.validate(quota.spec, hard)
    if errors:
        return (_invalid("ResourceQuota", _name(raw), errors),)
    written = {key: value for key, value in (raw.get("spec") or {}).items() if value}
    spec = {**written, **({"hard": {name: str(quantity) for name, quantity in hard.items()}} if hard else {})}
    return _answered(_name(raw), {"spec": spec}, _counted("resourcequotas", _name(raw)), policies, server)


def _create_claim(raw: Mapping[str, Any], policies: Policies, server: Server) -> tuple[Outcome, ...]:
    claim, name = msgspec.convert(raw, PersistentVolumeClaim), _name(raw)
    resources = claim.spec.resources
    requests = parse_list(resources.requests, "spec.resources.requests") if resources else {}
    claim_limits = parse_list(resources.limits, "spec.resources.limits") if resources else {}
    allocated = parse_list(claim.status.allocated_resources, "status.allocatedResources")
    warnings = list(fraction("spec.resources.requests[storage]", requests["storage"])) if "storage" in requests else []
    if "LimitRanger" not in server.disabled_plugins:
        refusals = [
            forbidden_object("persistentvolumeclaims", name, findings)
            for limits in policies.limits
            if (findings := limitranger.claim_violations(requests, limits))
        ]
        if refusals:
            return tuple(Outcome(False, refusal.code, refusal, tuple(warnings)) for refusal in refusals)
    request = Request(
        "persistentvolumeclaims", name, claim_usage(claim, requests, allocated, server), claim_names,
        lambda scope: server.on("VolumeAttributesClass") and matches_claim(scope, claim),
    )  # fmt: skip
    spec: dict[str, Any] = {
        "storageClassName": claim.spec.storage_class_name,
        "volumeAttributesClassName": claim.spec.volume_attributes_class_name,
    }
    shown = {"requests": requests, "limits": claim_limits}
    listed = {side: {k: str(v) for k, v in values.items()} for side, values in shown.items() if values}
    spec["resources"] = listed or None
    stored = {"spec": {key: value for key, value in spec.items() if value is not None}}
    return _answered(name, stored, request, policies, server, warnings)


def _create_service(raw: Mapping[str, Any], policies: Policies, server: Server) -> tuple[Outcome, ...]:
    service, name = msgspec.convert(raw, Service), _name(raw)
    request = Request("services", name, service_usage(service), service_names, _nowhere)
    stored = {"spec": {"type": service.spec.type, "ports": len(service.spec.ports or ())}}
    return _answered(name, stored, request, policies, server)


def _create_counted(raw: Mapping[str, Any], policies: Policies, server: Server) -> tuple[Outcome, ...]:
    kind = str(raw.get("kind", ""))
    known = BY_KIND.get(kind)
    if kind == "ResourceClaim":
        raise NotCovered("devices of ResourceClaims are not computed yet")
    resource = known.qualified if known else _guess_resource(kind, str(raw.get("apiVersion", "v1")))
    return _answered(_name(raw), {}, _counted(resource, _name(raw)), policies, server)


def _guess_resource(kind: str, api_version: str) -> str:
    """Plural and group of a kind that is in no table, by the rule that API types follow."""
    group = api_version.rpartition("/")[0]
    word = kind.lower()
    plural = (
        f"{word}es"
        if word.endswith(("s", "x", "ch", "sh"))
        else f"{word[:-1]}ies"
        if word.endswith("y")
        else f"{word}s"
    )
    return f"{plural}.{group}" if group else plural


def _invalid(kind: str, name: str, errors: list[Any]) -> Outcome:
    refusal: Refusal = invalid_object(kind, name, errors)
    return Outcome(False, refusal.code, refusal)


_BY_KIND: Mapping[str, Callable[[Mapping[str, Any], Policies, Server], tuple[Outcome, ...]]] = {
    "LimitRange": _create_limit_range,
    "ResourceQuota": _create_quota,
    "PersistentVolumeClaim": _create_claim,
    "Service": _create_service,
}
