"""What validation finds in the ports of containers: numbers, names, protocols, and ports of the host taken twice."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kubectl_kres.admission.base.field_error import FieldError, duplicate, invalid, not_supported, number, required
from kubectl_kres.model.raw import Raw, items

PROTOCOLS = ("SCTP", "TCP", "UDP")
_RULE = "validation/port"
_LONGEST = 15
_LARGEST = 65535


def port_errors(spec: Raw, *, pod: bool) -> Iterator[FieldError]:
    """Of a pod's spec as sent; with ``pod`` False of a template's, whose ports on the host's network come later.

    Source: validation.go validateContainerPorts, checkHostPortConflicts, validatePodHostNetworkDeps; defaults.go
    defaultHostNetworkPorts.
    """
    shared = spec.get("hostNetwork") is True
    taken: set[str] = set()
    filled = shared and pod
    for index, ports in _ports(spec, "containers", filled=filled):
        path = f"spec.containers[{index}].ports"
        yield from _each(ports, path)
        yield from _taken_twice(ports, path, taken)
        for place, port in enumerate(ports) if shared else ():
            own, host = port.get("containerPort"), _number(port, "hostPort")
            if host and host != own:
                text = "must match `containerPort` when `hostNetwork` is true"
                yield number(f"{path}[{place}].hostPort", host, text, _RULE)
    for index, ports in _ports(spec, "initContainers", filled=filled):
        yield from _each(ports, f"spec.initContainers[{index}].ports")
        # The server looks at each of these by itself, and calls it the first.
        yield from _taken_twice(ports, "spec.initContainers[0].ports", set())


def number_faults(value: int) -> Iterator[str]:
    """Source: apimachinery util/validation IsValidPortNum."""
    if not 1 <= value <= _LARGEST:
        yield f"must be between 1 and {_LARGEST}, inclusive"


def name_faults(name: str) -> Iterator[str]:
    """Source: apimachinery util/validation IsValidPortName."""
    if len(name) > _LONGEST:
        yield f"must be no more than {_LONGEST} characters"
    if not re.fullmatch(r"[-a-z0-9]+", name):
        yield "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"
    if not re.search("[a-z]", name):
        yield "must contain at least one letter (a-z)"
    if "--" in name:
        yield "must not contain consecutive hyphens"
    if name.startswith("-") or name.endswith("-"):
        yield "must not begin or end with a hyphen"


def _ports(spec: Raw, key: str, *, filled: bool) -> Iterator[tuple[int, Sequence[Raw]]]:
    """``filled``: a port that names none of the host gets its own number there."""
    for index, container in enumerate(items(spec, key)):
        ports = items(container, "ports")
        yield index, [*map(_filled, ports)] if filled else ports


def _filled(port: Raw) -> Raw:
    return port if port.get("hostPort") else {**port, "hostPort": port.get("containerPort")}


def _number(port: Raw, key: str) -> int:
    value = port.get(key)
    return value if isinstance(value, int) else 0


def _each(ports: Sequence[Raw], path: str) -> Iterator[FieldError]:
    names: set[str] = set()
    for index, port in enumerate(ports):
        at, name, protocol = f"{path}[{index}]", str(port.get("name") or ""), port.get("protocol")
        faults = tuple(name_faults(name)) if name else ()
        yield from (invalid(f"{at}.name", name, fault, _RULE) for fault in faults)
        if not faults and name in names:
            yield duplicate(f"{at}.name", name, _RULE)
        names |= {name} if name and not faults else set()
        if not _number(port, "containerPort"):
            yield required(f"{at}.containerPort", rule=_RULE)
        for key in ("containerPort", "hostPort"):
            value = _number(port, key)
            yield from (number(f"{at}.{key}", value, fault, _RULE) for fault in (number_faults(value) if value else ()))
        if protocol and protocol not in PROTOCOLS:
            yield not_supported(f"{at}.protocol", str(protocol), PROTOCOLS, _RULE)


def _taken_twice(ports: Sequence[Raw], path: str, taken: set[str]) -> Iterator[FieldError]:
    """Takes what is used into ``taken``."""
    for index, port in enumerate(ports):
        host = _number(port, "hostPort")
        key = f"{port.get('protocol') or 'TCP'}/{port.get('hostIP') or ''}/{host}"
        if host and key in taken:
            yield duplicate(f"{path}[{index}].hostPort", key, _RULE)
        taken |= {key} if host else set()
