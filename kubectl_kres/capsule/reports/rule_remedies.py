"""Remedies of pods and claims that a Tenant refuses: what its rules and lists allow, or another rule or entry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from shlex import quote
from typing import Any

from kubectl_kres.admission.base.draft import Side, Slot
from kubectl_kres.admission.base.outcome import Finding
from kubectl_kres.capsule.model import TENANT_LABEL
from kubectl_kres.capsule.reports import rule_fixes as fixes
from kubectl_kres.capsule.rules.tenant_classes import image_name
from kubectl_kres.capsule.rules.workload_rules import ratio_limit
from kubectl_kres.errors import QuantityError
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.provenance.journal import Check, Source
from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.record import Wording
from kubectl_kres.reports.common.system import Sentences
from kubectl_kres.reports.remedies.commands import nest_value, patch_command
from kubectl_kres.reports.remedies.context import RemedyContext
from kubectl_kres.store.store import Origin


def _resources(case: RemedyContext) -> Iterator[Wording]:
    """Yield the value that the rule asks for, and that its object can be changed instead."""
    finding = case.finding
    side: Side = "requests" if finding.field_path.requests_or_limits == "requests" else "limits"
    slot, name, holder, source = case.slot(), finding.resource, case.container_title(), finding.source
    if finding.expected == "Remove":
        setter = case.last_set("requests") if side == "requests" else None
        from_limit = setter is not None and setter.rule == "defaulting/request-from-limit"
        yield fixes.DropAmount(side, name, holder, source, case.setter(side), from_limit)
        return
    request = slot.requests.get(name) if slot is not None else None
    if request is None or request.nano <= 0:
        yield fixes.StateRequest(name, holder, source)
        return
    if finding.expected == "MatchRequest":
        yield fixes.MatchRequest(side, name, holder, str(request), source)
        return
    yield _within_ratio(case, slot, name, request)


def _within_ratio(case: RemedyContext, slot: Slot | None, name: str, request: Quantity) -> fixes.LimitWithinRatio:
    ratio, source, holder = _ratio(case), case.finding.source, case.container_title()
    limit = slot.limits.get(name) if slot is not None else None
    if ratio is None:
        return fixes.LimitWithinRatio(name, holder, source)
    maximum = str(ratio_limit(name, request, ratio))
    if limit is None:
        return fixes.LimitWithinRatio(name, holder, source, maximum)
    minimum = -(-limit.nano * 10**9 // ratio.nano)
    step = 10**6 if name == "cpu" else 10**9
    more = Quantity(-(-minimum // step) * step, request.format)
    return fixes.LimitWithinRatio(name, holder, source, maximum, str(more))


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


def _class(case: RemedyContext) -> Iterator[Wording]:
    yield fixes.ReachClass(case.finding.expected, case.finding.source)


def _listed(text: str) -> tuple[str, ...]:
    """Return the names that a finding expects, of which one will do."""
    return tuple(text.split(", ")) if text else ()


def _source(finding: Finding) -> Source:
    return finding.source or Source("Tenant", "")


def _not_allowed(case: RemedyContext) -> Iterator[Wording]:
    """Yield the names that are allowed, and the edit of the Tenant that allows the one that was refused."""
    finding, names = case.finding, _listed(case.finding.expected)
    command = _allow(finding, finding.observed)
    if not finding.observed:
        source = _source(finding)
        given = nest_value(source.field.split("."), {"default": names[0] if names else "NAME"})
        command = _merge(source, given)
    yield fixes.NameAllowed(names, case.manifest_path(), finding.observed, command=command)


def _registry(case: RemedyContext) -> Iterator[Wording]:
    finding, image = case.finding, image_name(case.finding.observed)
    _, slash, rest = finding.observed.partition("/")
    name = rest if slash and image.registry else finding.observed
    images = tuple(f"{registry}/{name}" for registry in _listed(finding.expected))
    command = _allow(finding, image.registry) if image.registry else ""
    yield fixes.TakeFromRegistry(case.container_title(), images, image.registry, command=command)


def _pull_policy(case: RemedyContext) -> Iterator[Wording]:
    finding = case.finding
    operations = [{"op": "add", "path": "/spec/imagePullPolicies/-", "value": finding.observed}]
    command = _command(_source(finding), operations)
    yield fixes.SetPullPolicy(case.container_title(), _listed(finding.expected), finding.observed, command=command)


def _default_missing(case: RemedyContext) -> Iterator[Wording]:
    yield fixes.CreateDefaultClass(case.finding.source)


def _bad_pattern(case: RemedyContext) -> Iterator[Wording]:
    yield fixes.CorrectPattern(case.finding.source)


def _class_missing(case: RemedyContext) -> Iterator[Wording]:
    yield fixes.CreateNamedClass(case.finding.observed, case.manifest_path())


def _volume(case: RemedyContext) -> Iterator[Wording]:
    finding, volume = case.finding, case.finding.observed
    tenant = finding.source.name if finding.source is not None else ""
    if "not yet existing" in finding.text:
        yield fixes.UseOwnVolume(volume, tenant, "missing")
    elif "cross-tenant mount for" in finding.text:
        yield fixes.UseOwnVolume(volume, tenant, "other-tenant")
    else:
        command = f"kubectl label pv {quote(volume)} {TENANT_LABEL}={quote(tenant)}"
        yield fixes.UseOwnVolume(volume, tenant, "unlabelled", command=command)


def _count(case: RemedyContext) -> Iterator[Wording]:
    finding, source = case.finding, _source(case.finding)
    key = source.field.removeprefix("metadata.annotations[").removesuffix("]")
    more = nest_value(("metadata", "annotations", key), str(int(finding.observed) + 1))
    yield fixes.DeleteOneOf(finding.observed, finding.resource.partition(".")[0], command=_merge(source, more))


def _namespaces(case: RemedyContext) -> Iterator[Wording]:
    finding = case.finding
    raised = nest_value(("spec", "namespaceOptions", "quota"), int(finding.observed) + 1)
    yield fixes.DeleteOneOf(finding.observed, "namespaces", command=_merge(_source(finding), raised))


def _service_type(case: RemedyContext) -> Iterator[Wording]:
    source = _source(case.finding)
    allowed = nest_value(source.field.split("."), value=True)
    yield fixes.UseServiceType(case.finding.observed, command=_merge(source, allowed))


def _service_metadata(case: RemedyContext) -> Iterator[Wording]:
    yield fixes.LeaveOutMetadata(case.finding.observed, case.manifest_path(), case.finding.source)


def _address(case: RemedyContext) -> Iterator[Wording]:
    finding = case.finding
    command = _allow(finding, finding.observed)
    yield fixes.UseAddresses(finding.expected, case.manifest_path(), finding.observed, command=command)


def _hostname(case: RemedyContext) -> Iterator[Wording]:
    finding, first = case.finding, case.finding.observed.partition(", ")[0]
    yield fixes.UseHost(_listed(finding.expected), first, command=_allow(finding, first) if first else "")


def _wildcard(case: RemedyContext) -> Iterator[Wording]:
    source = _source(case.finding)
    allowed = nest_value(source.field.split("."), value=True)
    yield fixes.WriteHosts(case.finding.observed, command=_merge(source, allowed))


def _volume_selector(case: RemedyContext) -> Iterator[Wording]:
    yield fixes.LeaveOutField(case.manifest_path())


def _device_missing(case: RemedyContext) -> Iterator[Wording]:
    yield fixes.NameDeviceClass(_listed(case.finding.expected), case.manifest_path(), case.finding.observed)


def _alternatives(case: RemedyContext) -> Iterator[Wording]:
    yield fixes.AskForOneClass(case.finding.source)


def _allow(finding: Finding, value: str) -> str:
    """Return the command that adds a name to a list of the Tenant."""
    source = _source(finding)
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
