"""What mends a refusal by a Tenant, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kubectl_kres.capsule.model import TENANT_LABEL
from kubectl_kres.capsule.reports import rule_fixes as fixes
from kubectl_kres.provenance.journal import Source


def _or_change(source: Source | None) -> str:
    return f"or change {source if source is not None else 'the rule'}"


def _dropped(fix: fixes.DropAmount) -> str:
    change = _or_change(fix.source)
    if fix.from_limit:
        return f"take limits.{fix.resource} of {fix.holder} out, since a limit becomes the request too, {change}"
    by = f", which {fix.by} sets" if fix.by else ""
    return f"take {fix.side}.{fix.resource} of {fix.holder} out{by}, {change}"


def _ratio(fix: fixes.LimitWithinRatio) -> str:
    head = f"set limits.{fix.resource} of {fix.holder}"
    if not fix.limit:
        return f"{head} as the rule asks, {_or_change(fix.source)}"
    raised = f", or requests.{fix.resource} to at least {fix.request}" if fix.request else ""
    return f"{head} to at most {fix.limit}{raised}, {_or_change(fix.source)}"


def _allowed(fix: fixes.NameAllowed) -> str:
    names = " or ".join(fix.names)
    name = f"name {names} in {fix.field}" if names else f"name a class in {fix.field} that the Tenant allows"
    other = f"allow {fix.observed}" if fix.observed else "give the Tenant a default"
    return f"{name}, or {other}: {fix.command}"


def _registry(fix: fixes.TakeFromRegistry) -> str:
    take = f"take the image of {fix.holder} from a registry that the Tenant allows"
    take += f" ({' or '.join(fix.images)})" if fix.images else ""
    if fix.registry:
        return f"{take}, or allow {fix.registry}: {fix.command}"
    return f"{take}: an image whose name has no registry is always refused"


def _volume(fix: fixes.UseOwnVolume) -> str:
    if fix.state == "missing":
        label = f"{TENANT_LABEL}={fix.tenant}"
        return f"create PersistentVolume {fix.volume} with label {label} first, or leave out spec.volumeName"
    if fix.state == "other-tenant":
        return f"name another volume in spec.volumeName: {fix.volume} belongs to another Tenant"
    return f"who keeps the volumes has to say whose it is: {fix.command}"


def _one_of(fix: fixes.DeleteOneOf) -> str:
    which = f"one of its {fix.count} {fix.plural}" if fix.count != "1" else f"the one of its {fix.plural}"
    return f"delete {which}, or allow more: {fix.command}"


def _service(fix: fixes.UseServiceType) -> str:
    other = "an Ingress or a Gateway" if fix.observed != "ExternalName" else "a Service with a selector"
    return f"use type ClusterIP, and {other}, or allow {fix.observed}: {fix.command}"


def _addresses(fix: fixes.UseAddresses) -> str:
    within = f"name addresses of {fix.ranges} in" if fix.ranges else "leave out"
    return f"{within} {fix.field}, or allow {fix.observed}: {fix.command}"


def _host(fix: fixes.UseHost) -> str:
    names = " or ".join(fix.hosts)
    name = f"use host {names}" if names else "use a host that the Tenant allows"
    return f"{name}, or allow {fix.observed}: {fix.command}" if fix.observed else f"give each rule a host: {name}"


def _device(fix: fixes.NameDeviceClass) -> str:
    other = " or ".join(fix.names) or "one that exists"
    return f"name {other} in {fix.field}: there is no DeviceClass {fix.observed}"


WORDS: Mapping[type, Callable[[Any], str]] = {
    fixes.DropAmount: _dropped,
    fixes.StateRequest: lambda fix: f"set requests.{fix.resource} of {fix.holder}, {_or_change(fix.source)}",
    fixes.MatchRequest: lambda fix: (
        f"set {fix.side}.{fix.resource} of {fix.holder} to {fix.request}, as requests.{fix.resource} is, "
        f"{_or_change(fix.source)}"
    ),
    fixes.LimitWithinRatio: _ratio,
    fixes.ReachClass: lambda fix: (
        f"give the pod QoS class {fix.qos_class} (kubectl kres qos says how), or change {fix.source}"
    ),
    fixes.NameAllowed: _allowed,
    fixes.TakeFromRegistry: _registry,
    fixes.SetPullPolicy: lambda fix: (
        f"set imagePullPolicy of {fix.holder} to {' or '.join(fix.policies)}, or allow {fix.observed}: {fix.command}"
    ),
    fixes.CreateDefaultClass: lambda fix: (
        f"create the class that {fix.source} names, or change that field: until then no pod without a class is admitted"
    ),
    fixes.CorrectPattern: lambda fix: f"correct {fix.source}: until then the Tenant refuses every such object",
    fixes.CreateNamedClass: lambda fix: f"create StorageClass {fix.name}, or name one that exists in {fix.field}",
    fixes.UseOwnVolume: _volume,
    fixes.DeleteOneOf: _one_of,
    fixes.UseServiceType: _service,
    fixes.LeaveOutMetadata: lambda fix: f"leave {fix.names} out of {fix.field}, or change {fix.source}",
    fixes.UseAddresses: _addresses,
    fixes.UseHost: _host,
    fixes.WriteHosts: lambda fix: f"write out the hosts in place of {fix.observed}, or allow wildcards: {fix.command}",
    fixes.LeaveOutField: lambda fix: f"leave out {fix.field}: this version of Capsule refuses it",
    fixes.NameDeviceClass: _device,
    fixes.AskForOneClass: lambda fix: (
        f"ask for one class with exactly in place of firstAvailable, or take {fix.source} away"
    ),
}
