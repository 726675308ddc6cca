"""What a Tenant refuses of new namespaces, Services, Ingresses, Gateways and claims on devices.

Every request of a namespace is looked at, those of controllers, too; namespaces are counted whoever makes them.

Source: capsule 0.14.0 internal/webhook/{service,ingress,gateway,dra,namespace/validation}, defaults/ingress.go,
pkg/api/errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address, ip_network
from typing import Any, Final

from msgspec import Struct

from kubectl_kres.admission.base.outcome import Finding, Refusal
from kubectl_kres.capsule.model import AllowedList, AllowedServices, ForbiddenList, ServiceOptions, tenant_name
from kubectl_kres.capsule.rules.object_counts import count_refusal, counted_name, object_counts
from kubectl_kres.capsule.rules.tenant_classes import (
    NIL_POINTER,
    TenantLists,
    bad_pattern,
    by_labels,
    by_pattern,
    has_selector,
    refusal_of,
    refused_class,
    words_of,
)
from kubectl_kres.capsule.versions import has_change
from kubectl_kres.model.objects import Namespace, Raw, decode_object, mapping
from kubectl_kres.model.quota_objects import ClaimRequest, ResourceClaim, ResourceClaimTemplate
from kubectl_kres.policies.cel.base.values import NotComputed
from kubectl_kres.policies.cel.libraries.regex import BadPattern, compile_pattern

_INGRESS_ANNOTATION = "kubernetes.io/ingress.class"
_REACH_OUT = "please, reach out to the system administrators"


class ObjectWebhooks(Struct, frozen=True):
    """What a Tenant makes of new objects that are neither pods nor volume claims."""

    lists: TenantLists

    def looks_at(self, kind: str, api_version: str) -> bool:
        """Return whether an answer about objects of a kind may hang on the Tenant."""
        if kind == "Ingress":
            return True  # a wildcard is refused by a Tenant that says nothing of hosts
        if kind == "Gateway":
            return self.lists.spec.gateway_options.allowed_classes is not None
        return any(count.resource == counted_name(kind, api_version) for count in object_counts(self.lists.annotations))

    def review(self, raw: Raw, *, update: bool = False) -> Refusal | None:
        """Return why an object is refused, by the first that does; None where it passes."""
        kind, version = str(raw.get("kind", "")), str(raw.get("apiVersion", "v1"))
        finding = next(self._findings(kind, version, raw), None) if not update or kind in _ON_UPDATE else None
        if finding is not None:
            return refusal_of(_WEBHOOKS[kind], finding, fails=finding.rule in _FAILING)
        return (
            None
            if update or kind == "Namespace"
            else count_refusal(self.lists.tenant, self.lists.annotations, kind, version)
        )

    def _findings(self, kind: str, version: str, raw: Raw) -> Iterator[Finding]:
        group = version.rpartition("/")[0]
        if kind == "Namespace" and not group:
            yield from self._namespace(raw)
        elif kind == "Service" and not group:
            yield from self._service(raw)
        elif kind == "Ingress" and group in {"networking.k8s.io", "extensions"}:
            yield from self._ingress_class(raw)
            yield from self._hosts(raw)
        elif kind == "Gateway" and group == "gateway.networking.k8s.io":
            yield from self._gateway(raw)
        elif kind == "ResourceClaim" and group == "resource.k8s.io":
            yield from self._devices(decode_object(raw, ResourceClaim).spec.devices.requests or ())
        elif kind == "ResourceClaimTemplate" and group == "resource.k8s.io":
            yield from self._devices(decode_object(raw, ResourceClaimTemplate).spec.spec.devices.requests or ())

    def _namespace(self, raw: Raw) -> Iterator[Finding]:
        if tenant_name(decode_object(raw, Namespace)) != self.lists.tenant:
            return
        quota = self.lists.spec.namespace_options.quota
        if quota is not None and self.lists.namespaces >= quota:
            yield Finding(
                f"Cannot exceed Namespace quota: {_REACH_OUT}",
                "capsule/namespaces",
                observed=str(self.lists.namespaces),
                expected=str(quota),
                source=self.lists.source("namespaceOptions.quota"),
            )

    def _service(self, raw: Raw) -> Iterator[Finding]:
        options, spec, metadata = self.lists.spec.service_options, mapping(raw, "spec"), mapping(raw, "metadata")
        if options is None:
            return
        kind = str(spec.get("type") or "ClusterIP")
        field = _SERVICE_FIELDS.get(kind)
        types = options.allowed_services or AllowedServices()
        if field is not None and not getattr(types, field[0]):
            source = self.lists.source(f"serviceOptions.allowedServices.{field[1]}")
            text = f"{kind} service types are forbidden for the tenant: {_REACH_OUT}"
            yield Finding(text, "capsule/service-type", "spec.type", observed=kind, source=source)
        yield from self._metadata("annotations", "forbiddenAnnotations", options.forbidden_annotations, metadata)
        yield from self._metadata("labels", "forbiddenLabels", options.forbidden_labels, metadata)
        yield from self._addresses(options, spec)

    def _metadata(self, key: str, field: str, denied: ForbiddenList, metadata: Raw) -> Iterator[Finding]:
        source = self.lists.source(f"serviceOptions.{field}")
        for name in sorted(mapping(metadata, key)):
            try:
                listed = name in (denied.denied or ()) or _matches(denied.denied_regex, name)
            except BadPattern as error:
                yield bad_pattern(denied.denied_regex, error, source.at_path(f"{source.field}.deniedRegex"))
                return
            except NotComputed:
                continue
            if listed:
                parts = [f"one of the following ({', '.join(denied.denied)})"] if denied.denied else []
                parts += [f"matching the regex {denied.denied_regex}"] if denied.denied_regex else []
                text = (
                    f"{key} validation failed: {name} is forbidden for the current Tenant. "
                    f"Forbidden are {' or '.join(parts)}"
                )
                yield Finding(text, "capsule/service-metadata", f"metadata.{key}", observed=name, source=source)

    def _addresses(self, options: ServiceOptions, spec: Raw) -> Iterator[Finding]:
        addresses = spec.get("externalIPs")
        if options.external_ips is None or not isinstance(addresses, list):
            return
        allowed = tuple(options.external_ips.allowed or ())
        networks = tuple(_networks(allowed))
        for address in addresses:
            if not any(_is_in(str(address), network) for network in networks):
                cidrs = ", ".join(allowed)
                text = "The current Tenant does not allow the use of Service with external IPs"
                if cidrs:
                    text = (
                        "The selected external IPs for the current Service are violating the following enforced "
                        f"CIDRs: {cidrs}"
                    )
                source = self.lists.source("serviceOptions.externalIPs")
                yield Finding(text, "capsule/external-ip", "spec.externalIPs", observed=str(address),
                              expected=cidrs, source=source)  # fmt: skip

    def _ingress_class(self, raw: Raw) -> Iterator[Finding]:
        """An Ingress without a class gets the Tenant's default one before it is looked at."""
        allowed = self.lists.spec.ingress_options.allowed_classes
        if allowed is None:
            return
        named = mapping(raw, "spec").get("ingressClassName")
        if named is None:
            named = mapping(mapping(raw, "metadata"), "annotations").get(_INGRESS_ANNOTATION)
        named = allowed.default if named is None and allowed.default else named
        source, path = self.lists.source("ingressOptions.allowedClasses"), "spec.ingressClassName"
        if named is None:
            text = "No Ingress Class is forbidden for the current Tenant. Specify a Ingress Class which is allowed within the Tenant: "  # noqa: E501 - the webhook's words
            yield Finding(f"{text}{words_of(allowed, ordered=False)}", "capsule/class-allowed", path,
                          expected=", ".join(allowed.allowed or ()), source=source)  # fmt: skip
        elif named != allowed.default:
            # The labels of Ingress classes are not read.
            selected = None if has_selector(allowed) else False
            head = f"Ingress Class {named} is forbidden for the current Tenant: "
            yield from refused_class(allowed, str(named), head, path, source, selected=selected)

    def _hosts(self, raw: Raw) -> Iterator[Finding]:
        options = self.lists.spec.ingress_options
        rules = mapping(raw, "spec").get("rules")
        hosts = sorted({str(mapping({"rule": rule}, "rule").get("host") or "") for rule in rules or ()})
        allowed, source = options.allowed_hostnames, self.lists.source("ingressOptions.allowedHostnames")
        if allowed is not None and hosts:
            words = f", specify one of the following ({', '.join(allowed.allowed)})" if allowed.allowed else ""
            words += f", or matching the regex {allowed.allowed_regex}" if allowed.allowed_regex else ""
            expected = ", ".join(allowed.allowed or ())
            if "" in hosts:
                text = f"empty hostname is not allowed for the current Tenant{words}"
                yield Finding(text, "capsule/hostname-empty", "spec.rules", expected=expected, source=source)
            wrong = [host for host in hosts if not _is_allowed_host(allowed, host)]
            if wrong:
                text = f"Hostnames [{' '.join(wrong)}] are not valid for the current Tenant{words}"
                yield Finding(text, "capsule/hostname", "spec.rules", observed=", ".join(wrong),
                              expected=expected, source=source)  # fmt: skip
        for host in hosts if not options.allow_wildcard_hostnames else ():
            if host.startswith("*"):
                text = f"Wildcard denied for tenant {self.lists.tenant}"
                source = self.lists.source("ingressOptions.allowWildcardHostnames")
                yield Finding(text, "capsule/wildcard", "spec.rules", observed=host, source=source)

    def _gateway(self, raw: Raw) -> Iterator[Finding]:
        """Which Gateway classes there are is not read: the one that is named is taken to exist, without labels."""
        allowed = self.lists.spec.gateway_options.allowed_classes
        named = str(mapping(raw, "spec").get("gatewayClassName") or "") or (allowed.default if allowed else "")
        if allowed is None or not named or named == allowed.default:
            return
        selected = None if has_selector(allowed) else False
        # The webhook says the name of the Gateway where that of its class would belong.
        name = str(mapping(raw, "metadata").get("name") or "")
        head, source = (
            f"Gateway Class {name} is forbidden for the current Tenant: ",
            self.lists.source("gatewayOptions.allowedClasses"),
        )
        yield from refused_class(allowed, named, head, "spec.gatewayClassName", source, selected=selected)

    @property
    def _asks_all(self) -> bool:
        """Return whether all requests of a claim on devices are looked at, not the first one alone."""
        return has_change("device-requests-all", self.lists.version)

    def _devices(self, requests: tuple[ClaimRequest, ...]) -> Iterator[Finding]:
        allowed = self.lists.spec.device_classes
        if allowed is None or not has_change("device-classes", self.lists.version):
            return
        for index, request in enumerate(requests if self._asks_all else requests[:1]):
            yield from self._device(allowed, request, f"spec.devices.requests[{index}]")

    def _device(self, allowed: AllowedList, request: ClaimRequest, path: str) -> Iterator[Finding]:
        """A list without a selector refuses nothing that exists: a selector without fields matches each class."""
        exact = request.exactly if request.exactly is not None else request
        source = self.lists.source("deviceClasses")
        if request.first_available is not None and request.exactly is None:
            if not self._asks_all:
                yield Finding(NIL_POINTER, "capsule/device-alternatives", f"{path}.firstAvailable", source=source)
            return
        name, path = exact.device_class_name, f"{path}.exactly.deviceClassName"
        devices, expected = self.lists.devices, ", ".join(allowed.allowed or ())
        if devices is not None and name not in devices:
            head = "Selected DeviceClass is forbidden for the current Tenant or does not exist. Specify a device Class which is allowed by "  # noqa: E501 - the webhook's words
            yield Finding(f"{head}{words_of(allowed, ordered=False)}", "capsule/device-class-missing", path,
                          observed=name, expected=expected, source=source)  # fmt: skip
            return
        selected = None
        if devices is not None:
            selected = by_labels(allowed, devices[name].metadata.labels or {})
        elif not has_selector(allowed):
            selected = True
        head = f"Device Class {name} is forbidden for the current Tenant: "
        yield from refused_class(allowed, name, head, path, source, selected=selected)


#: Where a Service of a type is allowed: in the struct, and in the Tenant.
_SERVICE_FIELDS: Final = {
    "NodePort": ("node_port", "nodePort"),
    "ExternalName": ("external_name", "externalName"),
    "LoadBalancer": ("load_balancer", "loadBalancer"),
}
_WEBHOOKS: Final = {
    "Namespace": "namespaces.validating.projectcapsule.dev",
    "Service": "services.validating.projectcapsule.dev",
    "Ingress": "ingress.validating.projectcapsule.dev",
    "Gateway": "gateway.validating.projectcapsule.dev",
    "ResourceClaim": "devices.validating.projectcapsule.dev",
    "ResourceClaimTemplate": "devices.validating.projectcapsule.dev",
}
#: What is looked at when it is changed, too.
_ON_UPDATE: Final = frozenset({"Service", "Ingress", "Gateway"})
#: Rules whose webhook answers with an error, not with a refusal.
_FAILING: Final = frozenset({"capsule/bad-pattern", "capsule/hostname-empty", "capsule/device-alternatives"})


def _matches(pattern: str, value: str) -> bool:
    """Raises BadPattern, and NotComputed."""
    return bool(pattern) and any(True for _ in compile_pattern(pattern).spans(value))


def _is_allowed_host(allowed: AllowedList, host: str) -> bool:
    """Of a pattern that does not compile no host is allowed; of one that is not known each."""
    if host in (allowed.allowed or ()):
        return True
    try:
        return by_pattern(allowed, host)
    except BadPattern:
        return False
    except NotComputed:
        return True


def _networks(allowed: tuple[str, ...]) -> Iterator[Any]:
    """Yield the networks; what is none allows nothing."""
    for text in allowed:
        try:
            yield ip_network(text if "/" in text else f"{text}/32", strict=False)
        except ValueError:
            continue


def _is_in(address: str, network: Any) -> bool:
    try:
        return ip_address(address) in network
    except ValueError:
        return False
