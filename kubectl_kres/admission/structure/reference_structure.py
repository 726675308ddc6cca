"""Validation of what a container refers to: fields, resources, keys and files in variables and volumes; its ports."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kubectl_kres.admission.base import resource_names
from kubectl_kres.admission.base.field_errors import FieldError, duplicate, invalid, not_supported, number, required
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.base.text_rules import backstep_errors, key_faults, variable_faults
from kubectl_kres.errors import QuantityError
from kubectl_kres.model.objects import Raw, items, text
from kubectl_kres.quantity import from_json

RULE = "validation/reference"

#: What a variable and a file of a volume can be made of.
VARIABLE_FIELDS = (
    *("metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName"),
    *("status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"),
)
FILE_FIELDS = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
_FIELDS = {*VARIABLE_FIELDS, *FILE_FIELDS, "spec.restartPolicy", "spec.schedulerName", "status.phase"}
_RESOURCES = tuple(
    f"{side}.{name}" for side in ("limits", "requests") for name in ("cpu", "memory", "ephemeral-storage")
)
_PAGES = ("limits.hugepages-", "requests.hugepages-")
_UNITS = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")


def field_errors(reference: Raw, fields: tuple[str, ...], path: str) -> Iterator[FieldError]:
    """Of ``fieldRef``. Source: validateObjectFieldSelector; pods/helpers.go ConvertDownwardAPIFieldLabel."""
    version, name = text(reference, "apiVersion") or "v1", text(reference, "fieldPath")
    if not name:
        yield required(f"{path}.fieldPath", rule=RULE)
        return
    head, key = _split_subscript(name)
    reason = ""
    if version != "v1":
        reason = f"unsupported pod version: {version}"
    elif key is not None and head not in {"metadata.annotations", "metadata.labels"}:
        reason = f"field label does not support subscript: {name}"
    elif key is None and name not in _FIELDS | {"spec.host"}:
        reason = f"field label not supported: {name}"
    if reason:
        yield invalid(f"{path}.fieldPath", name, f"error converting fieldPath: {reason}", RULE)
    elif key is not None:
        key = key.lower() if head == "metadata.annotations" else key
        yield from (invalid(path, key, fault, RULE) for fault in resource_names.qualified_faults(key))
    else:
        name = "spec.nodeName" if name == "spec.host" else name
        if name not in fields:
            yield not_supported(f"{path}.fieldPath", name, fields, RULE, typed=False)


def _split_subscript(name: str) -> tuple[str, str | None]:
    """Return the path before ``['KEY']`` and the key; None: there is none. Source: fieldpath
    SplitMaybeSubscriptedPath.
    """
    head, bracket, key = name.removesuffix("']").partition("['")
    return (head, key) if name.endswith("']") and bracket and head else (name, None)


def resource_errors(reference: Raw, path: str, *, volume: bool) -> Iterator[FieldError]:
    """Of ``resourceFieldRef``. Source: validation.go validateContainerResourceFieldSelector."""
    name = text(reference, "resource")
    if volume and not text(reference, "containerName"):
        yield required(f"{path}.containerName", rule=RULE)
    elif not name:
        yield required(f"{path}.resource", rule=RULE)
    elif name not in _RESOURCES and not name.startswith(_PAGES):
        yield not_supported(f"{path}.resource", name, _RESOURCES, RULE, typed=False)
    yield from _divisor_errors(name, reference, f"{path}.divisor")


def _divisor_errors(name: str, reference: Raw, path: str) -> Iterator[FieldError]:
    """Source: validation.go validateContainerResourceDivisor."""
    try:
        divisor = from_json(reference.get("divisor"))
    except QuantityError:
        return
    if not divisor.nano:
        return
    resource = name.partition(".")[2]
    if name.startswith(_PAGES):
        allowed, what = _UNITS, "hugepages"
    elif name not in _RESOURCES:
        return
    elif resource == "cpu":
        if str(divisor) not in {"1m", "1"}:
            yield invalid(path, name, "only divisor's values 1m and 1 are supported with the cpu resource", RULE)
        return
    else:
        allowed, what = _UNITS, "memory" if resource == "memory" else "local ephemeral storage"
    if str(divisor) not in allowed:
        detail = f"only divisor's values {', '.join(_UNITS)} are supported with the {what} resource"
        yield invalid(path, name, detail, RULE)


def key_errors(reference: Raw, path: str) -> Iterator[FieldError]:
    """Of a key of a ConfigMap or Secret. Source: validation.go validateConfigMapKeySelector."""
    name, key = text(reference, "name"), text(reference, "key")
    yield from (invalid(f"{path}.name", name, fault, RULE) for fault in resource_names.subdomain_faults(name))
    if not key:
        yield required(f"{path}.key", rule=RULE)
    else:
        yield from (invalid(f"{path}.key", key, fault, RULE) for fault in key_faults(key))


def file_errors(reference: Raw, path: str) -> Iterator[FieldError]:
    """Of a key of a file. Source: validation.go validateFileKeySelector."""
    key, volume, file = (text(reference, name) for name in ("key", "volumeName", "path"))
    if not key:
        yield required(f"{path}.key", rule=RULE)
    else:
        yield from (invalid(f"{path}.key", key, fault, RULE) for fault in variable_faults(key, Server()))
    if not volume:
        yield required(f"{path}.volumeName", rule=RULE)
    else:
        yield from (invalid(f"{path}.volumeName", volume, fault, RULE) for fault in resource_names.label_faults(volume))
    if not file:
        yield required(f"{path}.path", rule=RULE)
    else:
        yield from backstep_errors(file, f"{path}.path", RULE)


def source_errors(reference: Raw, path: str) -> Iterator[FieldError]:
    """Of a ConfigMap or Secret as a whole. Source: validation.go validateConfigMapEnvSource."""
    name = text(reference, "name")
    if not name:
        yield required(f"{path}.name", rule=RULE)
    else:
        yield from (
            invalid(f"{path}.name", name, fault, RULE)
            for fault in resource_names.subdomain_faults(resource_names.mask_trailing_dash(name))
        )


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
        yield from _port_errors(ports, path)
        yield from _taken_twice(ports, path, taken)
        for position, port in enumerate(ports) if shared else ():
            port_number, host = port.get("containerPort"), _number(port, "hostPort")
            if host and host != port_number:
                text = "must match `containerPort` when `hostNetwork` is true"
                yield number(f"{path}[{position}].hostPort", host, text, _RULE)
    for index, ports in _ports(spec, "initContainers", filled=filled):
        yield from _port_errors(ports, f"spec.initContainers[{index}].ports")
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
        yield index, [*map(_default_host_port, ports)] if filled else ports


def _default_host_port(port: Raw) -> Raw:
    return port if port.get("hostPort") else {**port, "hostPort": port.get("containerPort")}


def _number(port: Raw, key: str) -> int:
    value = port.get(key)
    return value if isinstance(value, int) else 0


def _port_errors(ports: Sequence[Raw], path: str) -> Iterator[FieldError]:
    names: set[str] = set()
    for index, port in enumerate(ports):
        item_path, name, protocol = f"{path}[{index}]", str(port.get("name") or ""), port.get("protocol")
        faults = tuple(name_faults(name)) if name else ()
        yield from (invalid(f"{item_path}.name", name, fault, _RULE) for fault in faults)
        if not faults and name in names:
            yield duplicate(f"{item_path}.name", name, _RULE)
        names |= {name} if name and not faults else set()
        if not _number(port, "containerPort"):
            yield required(f"{item_path}.containerPort", rule=_RULE)
        for key in ("containerPort", "hostPort"):
            value = _number(port, key)
            yield from (
                number(f"{item_path}.{key}", value, fault, _RULE) for fault in (number_faults(value) if value else ())
            )
        if protocol and protocol not in PROTOCOLS:
            yield not_supported(f"{item_path}.protocol", str(protocol), PROTOCOLS, _RULE)


def _taken_twice(ports: Sequence[Raw], path: str, taken: set[str]) -> Iterator[FieldError]:
    """Take what is used into ``taken``."""
    for index, port in enumerate(ports):
        host = _number(port, "hostPort")
        key = f"{port.get('protocol') or 'TCP'}/{port.get('hostIP') or ''}/{host}"
        if host and key in taken:
            yield duplicate(f"{path}[{index}].hostPort", key, _RULE)
        taken |= {key} if host else set()
