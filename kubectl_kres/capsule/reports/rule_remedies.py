"""Remedies of pods and claims that a Tenant refuses: what its rules and lists allow, or another rule or entry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from shlex import quote
from typing import Any

from kubectl_kres.admission.base.draft import Side, Slot
from kubectl_kres.admission.base.outcome import Finding
from kubectl_kres.capsule.model import TENANT_LABEL
from kubectl_kres.capsule.rules.tenant_classes import image_name
from kubectl_kres.capsule.rules.workload_rules import ratio_limit
from kubectl_kres.errors import QuantityError
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.provenance.journal import Check, Source
from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.reports.common.system import Sentences
from kubectl_kres.reports.remedies.commands import nest_value, patch_command
from kubectl_kres.reports.remedies.context import RemedyContext
from kubectl_kres.store.store import Origin


def _resources(case: RemedyContext) -> Iterator[str]:
    """Yield the value that the rule asks for, and that its object can be changed instead."""
    finding = case.finding
    side: Side = "requests" if finding.field_path.requests_or_limits == "requests" else "limits"
    slot, name = case.slot(), finding.resource
    what = f"{side}.{name} of {case.container_title()}"
    change = f"or change {finding.source}" if finding.source is not None else "or change the rule"
    if finding.expected == "Remove":
        setter = case.last_set("requests") if side == "requests" else None
        if setter is not None and setter.rule == "defaulting/request-from-limit":
            yield f"take limits.{name} of {case.container_title()} out, since a limit becomes the request too, {change}"
            return
        by = case.setter(side)
        yield f"take {what} out{f', which {by} sets' if by else ''}, {change}"
        return
    request = slot.requests.get(name) if slot is not None else None
    if request is None or request.nano <= 0:
        yield f"set requests.{name} of {case.container_title()}, {change}"
        return
    if finding.expected == "MatchRequest":
        yield f"set {what} to {request}, as requests.{name} is, {change}"
        return
    yield from _within_ratio(case, slot, name, request, change)


def _within_ratio(case: RemedyContext, slot: Slot | None, name: str, request: Quantity, change: str) -> Iterator[str]:
    ratio = _ratio(case)
    limit = slot.limits.get(name) if slot is not None else None
    if ratio is None:
        yield f"set limits.{name} of {case.container_title()} as the rule asks, {change}"
        return
    maximum = ratio_limit(name, request, ratio)
    if limit is None:
        yield f"set limits.{name} of {case.container_title()} to at most {maximum}, {change}"
        return
    minimum = -(-limit.nano * 10**9 // ratio.nano)
    step = 10**6 if name == "cpu" else 10**9
    more = Quantity(-(-minimum // step) * step, request.format)
    holder = case.container_title()
    yield f"set limits.{name} of {holder} to at most {maximum}, or requests.{name} to at least {more}, {change}"


def _ratio(case: RemedyContext) -> Quantity | None:
    """Return the factor of the rule, which the check of the value notes."""
    checks = [
        entry
        for entry in case.journal
        if isinstance(entry, Check) and entry.path == case.finding.path and entry.source == case.finding.source
    ]
    return _factor(checks[-1].bound) if checks else None


def _factor(bound: str) -> Quantity | None:
    try:
        return parse(bound.removeprefix("Ratio "))
    except QuantityError:
        return None


def _class(case: RemedyContext) -> Iterator[str]:
    source = case.finding.source
    yield f"give the pod QoS class {case.finding.expected} (kubectl kres qos says how), or change {source}"


def _not_allowed(case: RemedyContext) -> Iterator[str]:
    """Yield the names that are allowed, and the edit of the Tenant that allows the one that was refused."""
    finding = case.finding
    names, field = finding.expected.replace(", ", " or "), case.manifest_path()
    name = f"name {names} in {field}" if names else f"name a class in {field} that the Tenant allows"
    if finding.observed:
        yield f"{name}, or allow {finding.observed}: {_allow(finding, finding.observed)}"
    else:
        default = {"default": names.partition(" or ")[0] or "NAME"}
        source = finding.source or Source("Tenant", "")
        given = nest_value(source.field.split("."), default)
        yield f"{name}, or give the Tenant a default: {_merge(source, given)}"


def _registry(case: RemedyContext) -> Iterator[str]:
    finding, image = case.finding, image_name(case.finding.observed)
    registries = finding.expected.split(", ") if finding.expected else []
    _, slash, rest = finding.observed.partition("/")
    name = rest if slash and image.registry else finding.observed
    examples = " or ".join(f"{registry}/{name}" for registry in registries)
    take = f"take the image of {case.container_title()} from a registry that the Tenant allows"
    take += f" ({examples})" if examples else ""
    if image.registry:
        yield f"{take}, or allow {image.registry}: {_allow(finding, image.registry)}"
    else:
        yield f"{take}: an image whose name has no registry is always refused"


def _pull_policy(case: RemedyContext) -> Iterator[str]:
    finding, values = case.finding, case.finding.expected.replace(", ", " or ")
    source = finding.source or Source("Tenant", "")
    allow = _command(source, [{"op": "add", "path": "/spec/imagePullPolicies/-", "value": finding.observed}])
    yield f"set imagePullPolicy of {case.container_title()} to {values}, or allow {finding.observed}: {allow}"


def _default_missing(case: RemedyContext) -> Iterator[str]:
    source = case.finding.source
    yield f"create the class that {source} names, or change that field: until then no pod without a class is admitted"


def _bad_pattern(case: RemedyContext) -> Iterator[str]:
    yield f"correct {case.finding.source}: until then the Tenant refuses every such object"


def _class_missing(case: RemedyContext) -> Iterator[str]:
    yield f"create StorageClass {case.finding.observed}, or name one that exists in {case.manifest_path()}"


def _volume(case: RemedyContext) -> Iterator[str]:
    finding = case.finding
    tenant, volume = finding.source.name if finding.source is not None else "", finding.observed
    label = f"kubectl label pv {quote(volume)} {TENANT_LABEL}={quote(tenant)}"
    if "not yet existing" in finding.text:
        yield f"create PersistentVolume {volume} with label {TENANT_LABEL}={tenant} first, or leave out spec.volumeName"
    elif "cross-tenant mount for" in finding.text:
        yield f"name another volume in spec.volumeName: {volume} belongs to another Tenant"
    else:
        yield f"who keeps the volumes has to say whose it is: {label}"


def _count(case: RemedyContext) -> Iterator[str]:
    finding = case.finding
    source = finding.source or Source("Tenant", "")
    key = source.field.removeprefix("metadata.annotations[").removesuffix("]")
    more = nest_value(("metadata", "annotations", key), str(int(finding.observed) + 1))
    yield f"delete {_one_of(finding, finding.resource.partition('.')[0])}, or allow more: {_merge(source, more)}"


def _namespaces(case: RemedyContext) -> Iterator[str]:
    finding = case.finding
    raised = nest_value(("spec", "namespaceOptions", "quota"), int(finding.observed) + 1)
    source = finding.source or Source("Tenant", "")
    yield f"delete {_one_of(finding, 'namespaces')}, or allow more: {_merge(source, raised)}"


def _one_of(finding: Finding, plural: str) -> str:
    """Return which of the objects that are counted is one too many."""
    return f"one of its {finding.observed} {plural}" if finding.observed != "1" else f"the one of its {plural}"


def _service_type(case: RemedyContext) -> Iterator[str]:
    source = case.finding.source or Source("Tenant", "")
    allowed = nest_value(source.field.split("."), value=True)
    other = "an Ingress or a Gateway" if case.finding.observed != "ExternalName" else "a Service with a selector"
    yield f"use type ClusterIP, and {other}, or allow {case.finding.observed}: {_merge(source, allowed)}"


def _service_metadata(case: RemedyContext) -> Iterator[str]:
    yield f"leave {case.finding.observed} out of {case.manifest_path()}, or change {case.finding.source}"


def _address(case: RemedyContext) -> Iterator[str]:
    finding = case.finding
    within = f"name addresses of {finding.expected} in" if finding.expected else "leave out"
    yield f"{within} {case.manifest_path()}, or allow {finding.observed}: {_allow(finding, finding.observed)}"


def _hostname(case: RemedyContext) -> Iterator[str]:
    finding = case.finding
    names = finding.expected.replace(", ", " or ")
    name = f"use host {names}" if names else "use a host that the Tenant allows"
    first = finding.observed.partition(", ")[0]
    yield f"{name}, or allow {first}: {_allow(finding, first)}" if first else f"give each rule a host: {name}"


def _wildcard(case: RemedyContext) -> Iterator[str]:
    source = case.finding.source or Source("Tenant", "")
    allowed = nest_value(source.field.split("."), value=True)
    yield f"write out the hosts in place of {case.finding.observed}, or allow wildcards: {_merge(source, allowed)}"


def _volume_selector(case: RemedyContext) -> Iterator[str]:
    yield f"leave out {case.manifest_path()}: this version of Capsule refuses it"


def _device_missing(case: RemedyContext) -> Iterator[str]:
    names = case.finding.expected.replace(", ", " or ")
    other = names or "one that exists"
    yield f"name {other} in {case.manifest_path()}: there is no DeviceClass {case.finding.observed}"


def _alternatives(case: RemedyContext) -> Iterator[str]:
    yield f"ask for one class with exactly in place of firstAvailable, or take {case.finding.source} away"


def _allow(finding: Finding, value: str) -> str:
    """Return the command that adds a name to a list of the Tenant."""
    source = finding.source or Source("Tenant", "")
    if finding.expected:
        pointer = f"/{source.field.replace('.', '/')}/allowed/-"
        return _command(source, [{"op": "add", "path": pointer, "value": value}])
    return _merge(source, nest_value((*source.field.split("."), "allowed"), [value]))


def _merge(source: Source, patch: object) -> str:
    return patch_command(_ANYWHERE, ObjectRef("Tenant", source.name), patch, "merge")


def _command(source: Source, operations: Sequence[Mapping[str, Any]]) -> str:
    return patch_command(_ANYWHERE, ObjectRef("Tenant", source.name), operations, "json")


#: Which cluster it is stands in no finding: see ``add_access_flags``.
_ANYWHERE = Origin("files")


RULE_REMEDIES: Mapping[str, Sentences] = {
    "capsule/rule-resources": _resources,
    "capsule/rule-qos": _class,
    "capsule/class-allowed": _not_allowed,
    "capsule/class-default": _default_missing,
    "capsule/registry": _registry,
    "capsule/pull-policy": _pull_policy,
    "capsule/bad-pattern": _bad_pattern,
    "capsule/storage-class-missing": _class_missing,
    "capsule/volume": _volume,
    "capsule/volume-selector": _volume_selector,
    "capsule/count": _count,
    "capsule/namespaces": _namespaces,
    "capsule/service-type": _service_type,
    "capsule/service-metadata": _service_metadata,
    "capsule/external-ip": _address,
    "capsule/hostname": _hostname,
    "capsule/hostname-empty": _hostname,
    "capsule/wildcard": _wildcard,
    "capsule/device-class-missing": _device_missing,
    "capsule/device-alternatives": _alternatives,
}
