"""Validation and warnings of a Service as sent: its type, and the ports that quotas count."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kubectl_kres.admission.base.field_errors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    number,
    required,
)
from kubectl_kres.admission.base.resource_names import label_faults, subdomain_faults
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.structure.metadata_structure import metadata_errors
from kubectl_kres.admission.structure.pod_warnings import address_notices
from kubectl_kres.admission.structure.reference_structure import PROTOCOLS, name_faults, number_faults
from kubectl_kres.model.objects import Raw

_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_AFFINITIES = ("ClientIP", "None")
_RULE = "validation/service"
_HINTS = "service.kubernetes.io/topology-aware-hints"
_TOPOLOGY = "service.kubernetes.io/topology-mode"


def service_errors(raw: Raw, server: Server) -> Iterator[FieldError]:
    """Addresses, sources and traffic policies are taken as valid. Source: validation.go validateService."""
    result = raw.get("spec")
    spec: Raw = result if isinstance(result, Mapping) else {}
    yield from metadata_errors(raw, server, label_faults)
    kind = str(spec.get("type") or "ClusterIP")
    ports = [port for port in spec.get("ports") or () if isinstance(port, Mapping)]
    allocated = [*_allocated_twice(ports)] if kind in {"NodePort", "LoadBalancer"} else []
    if allocated:
        # Ports are allocated before anything is validated.
        yield allocated[0]
        return
    if kind not in _TYPES:
        yield not_supported("spec.type", kind, _TYPES, _RULE)
    affinity = spec.get("sessionAffinity")
    if affinity and affinity not in _AFFINITIES:
        yield not_supported("spec.sessionAffinity", str(affinity), _AFFINITIES, _RULE)
    yield from _type_errors(spec, kind, ports)
    names: set[str] = set()
    for index, port in enumerate(ports):
        yield from _port_errors(port, f"spec.ports[{index}]", names, several=len(ports) > 1)
        if kind == "ClusterIP" and port.get("nodePort"):
            yield forbidden(f"spec.ports[{index}].nodePort", "may not be used when `type` is 'ClusterIP'", _RULE)
    yield from _duplicate_port_errors(ports)


def _type_errors(spec: Raw, kind: str, ports: Sequence[Raw]) -> Iterator[FieldError]:
    headless = spec.get("clusterIP") == "None"
    if not ports and not headless and kind != "ExternalName":
        yield required("spec.ports", rule=_RULE)
    if headless and kind in {"LoadBalancer", "NodePort"}:
        yield invalid("spec.clusterIPs[0]", "None", f"may not be set to 'None' for {kind} services", _RULE)
    if kind == "ExternalName":
        name = str(spec.get("externalName") or "").removesuffix(".")
        if not name:
            yield required("spec.externalName", rule=_RULE)
        yield from (invalid("spec.externalName", name, fault, _RULE) for fault in subdomain_faults(name) if name)
        if spec.get("clusterIP") or spec.get("clusterIPs"):
            yield forbidden("spec.clusterIPs", "may not be set for ExternalName services", _RULE)
    for key in ("allocateLoadBalancerNodePorts", "loadBalancerClass"):
        if spec.get(key) is not None and kind != "LoadBalancer":
            yield forbidden(f"spec.{key}", "may only be used when `type` is 'LoadBalancer'", _RULE)
    policy = spec.get("externalTrafficPolicy")
    if policy and kind not in {"LoadBalancer", "NodePort"} and not spec.get("externalIPs"):
        text = "may only be set for externally-accessible services"
        yield invalid("spec.externalTrafficPolicy", str(policy), text, _RULE, typed=True)


def _port_errors(port: Raw, path: str, names: set[str], *, several: bool) -> Iterator[FieldError]:
    """Take the port's name into ``names``. Source: validation.go validateServicePort."""
    name, port_number, target, protocol = (port.get(key) for key in ("name", "port", "targetPort", "protocol"))
    if name:
        yield from (invalid(f"{path}.name", name, fault, _RULE) for fault in label_faults(str(name)))
        if name in names:
            yield duplicate(f"{path}.name", str(name), _RULE)
        names.add(str(name))
    elif several:
        yield required(f"{path}.name", rule=_RULE)
    port_number = port_number if isinstance(port_number, int) else 0
    yield from (number(f"{path}.port", port_number, fault, _RULE) for fault in number_faults(port_number))
    if protocol and protocol not in PROTOCOLS:
        yield not_supported(f"{path}.protocol", str(protocol), PROTOCOLS, _RULE)
    target = target or port_number
    if isinstance(target, str):
        yield from (invalid(f"{path}.targetPort", target, fault, _RULE) for fault in name_faults(target))
    elif isinstance(target, int):
        yield from (number(f"{path}.targetPort", target, fault, _RULE) for fault in number_faults(target))


def _duplicate_port_errors(ports: Sequence[Raw]) -> Iterator[FieldError]:
    """Yield the same number under the same protocol. What is shown of the port is the server's internal type."""
    taken: set[tuple[str, str, Any]] = set()
    for index, port in enumerate(ports):
        protocol = str(port.get("protocol") or "TCP")
        for key in ("nodePort", "port"):
            value = port.get(key)
            if key == "nodePort" and not value:
                continue
            if (key, protocol, value) in taken:
                yield _build_duplicate_error(f"spec.ports[{index}]", key, protocol, value)
            taken.add((key, protocol, value))


def _allocated_twice(ports: Sequence[Raw]) -> Iterator[FieldError]:
    """Yield the faults of node ports: a number of the nodes serves one port. Source: registry/core/service/storage
    alloc.go allocNodePorts.
    """
    allocated: dict[Any, int] = {}
    for index, port in enumerate(ports):
        wanted_count, port_number = int(port.get("nodePort") or 0), port.get("port")
        if wanted_count and allocated.get(port_number) != wanted_count and wanted_count in allocated.values():
            yield number(f"spec.ports[{index}].nodePort", wanted_count, "provided port is already allocated", _RULE)
        if wanted_count:
            allocated[port_number] = wanted_count


def _build_duplicate_error(path: str, key: str, protocol: str, value: Any) -> FieldError:
    if key == "nodePort":
        shown, path = str(value), f"{path}.nodePort"
    else:
        inner = {"Name": "", "Protocol": protocol, "AppProtocol": None, "Port": value, "TargetPort": 0, "NodePort": 0}
        shown = json.dumps(inner, separators=(",", ":"))
    return FieldError(path, "FieldValueDuplicate", f"Duplicate value: {shown}", _RULE)


def service_notices(raw: Raw, server: Server) -> Iterator[str]:
    """Yield the Warning headers for a Service. Source: pkg/api/service/warnings.go GetWarningsForService."""
    metadata, result = raw.get("metadata"), raw.get("spec")
    spec: Raw = result if isinstance(result, Mapping) else {}
    annotations = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    if isinstance(annotations, Mapping) and _HINTS in annotations:
        yield f"annotation {_HINTS} is deprecated, please use {_TOPOLOGY} instead"
    external, kind = spec.get("externalIPs") or (), spec.get("type") or "ClusterIP"
    headless = kind == "ClusterIP" and spec.get("clusterIP") == "None"
    if headless:
        yield from _ignored_field_warnings(spec)
    for index, address in enumerate(external):
        yield from address_notices(str(address), f"spec.externalIPs[{index}]")
    if external and not headless and kind != "ExternalName" and server.version >= (1, 36):
        yield "spec.externalIPs is deprecated and may no longer be implemented in some clusters"
    if spec.get("loadBalancerIP"):
        yield from address_notices(str(spec["loadBalancerIP"]), "spec.loadBalancerIP")
    if kind == "ExternalName" and external:
        yield 'spec.externalIPs is ignored when spec.type is "ExternalName"'
    if kind != "ExternalName" and spec.get("externalName"):
        yield 'spec.externalName is ignored when spec.type is not "ExternalName"'
    if spec.get("trafficDistribution") == "PreferClose" and server.version >= (1, 35):
        yield 'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'


def _ignored_field_warnings(spec: Raw) -> Iterator[str]:
    """Yield what a headless Service says in vain."""
    for key in ("loadBalancerIP", "externalIPs"):
        if spec.get(key):
            yield f"spec.{key} is ignored for headless services"
    if (spec.get("sessionAffinity") or "None") != "None":
        yield "spec.SessionAffinity is ignored for headless services"
