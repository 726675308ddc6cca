"""Validation of a container beside its resources: environment, mounts, probes. Source: pkg/apis/core/validation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubectl_kres.admission.base.field_errors import (
    FieldError,
    forbidden,
    invalid,
    not_found,
    not_supported,
    number,
    required,
)
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.base.text_rules import backstep_errors, descending_errors, header_faults, variable_faults
from kubectl_kres.admission.structure import reference_structure as references
from kubectl_kres.admission.structure.reference_structure import name_faults, number_faults
from kubectl_kres.model.objects import Raw, integer, items, mapping, pointer, text
from kubectl_kres.wording import join_words

_RULE_PROBE = "validation/probe"
PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_SECONDS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
_USUAL_GRACE = 30

_RULE_MOUNT = "validation/mount"
_PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")
_RECURSIVE = ("Disabled", "Enabled", "IfPossible")

_RULE_ENV = "validation/env"


def probe_errors(container: Raw, path: str, spec: Raw, server: Server, *, pod: bool) -> Iterator[FieldError]:
    """Of a container, or an init container that restarts. Source: validation.go validateProbe, validateLifecycle."""
    given_keys = integer(spec, "terminationGracePeriodSeconds")
    grace = _USUAL_GRACE if given_keys is None else given_keys
    # Of a pod a negative value is made 1 before anybody looks at it.
    grace = 1 if pod and grace < 0 else grace
    lifecycle = pointer(container, "lifecycle")
    for key in ("postStart", "preStop"):
        handler = pointer(lifecycle or {}, key)
        if handler is not None:
            kinds = ("exec", "httpGet", "tcpSocket", "sleep")
            yield from _handler_errors(handler, kinds, f"{path}.lifecycle.{key}", grace, server)
    for key in PROBES:
        probe = pointer(container, key)
        if probe is not None:
            yield from _probe_errors(probe, key, f"{path}.{key}", grace, server)


def _probe_errors(probe: Raw, key: str, path: str, grace: int, server: Server) -> Iterator[FieldError]:
    yield from _handler_errors(probe, ("exec", "httpGet", "tcpSocket", "grpc"), path, grace, server)
    for name in _SECONDS:
        value = integer(probe, name)
        if value is not None and value < 0:
            yield number(f"{path}.{name}", value, "must be greater than or equal to 0", _RULE_PROBE)
    item_path, seconds = f"{path}.terminationGracePeriodSeconds", integer(probe, "terminationGracePeriodSeconds")
    if seconds is not None and seconds <= 0:
        yield number(item_path, seconds, "must be greater than 0", _RULE_PROBE)
    if key == "readinessProbe":
        if seconds is not None:
            yield number(item_path, seconds, "must not be set for readinessProbes", _RULE_PROBE)
    elif (integer(probe, "successThreshold") or 1) != 1:
        yield number(f"{path}.successThreshold", integer(probe, "successThreshold") or 1, "must be 1", _RULE_PROBE)


def _handler_errors(
    handler: Raw, kinds: tuple[str, ...], path: str, grace: int, server: Server
) -> Iterator[FieldError]:
    given_keys = [kind for kind in kinds if pointer(handler, kind) is not None]
    for kind in given_keys[1:]:
        yield forbidden(f"{path}.{kind}", "may not specify more than 1 handler type", _RULE_PROBE)
    if not given_keys:
        yield required(path, "must specify a handler type", _RULE_PROBE)
        return
    result, item_path = mapping(handler, given_keys[0]), f"{path}.{given_keys[0]}"
    match given_keys[0]:
        case "exec":
            if not result.get("command"):
                yield required(f"{item_path}.command", rule=_RULE_PROBE)
        case "httpGet":
            yield from _http_errors(result, item_path)
        case "sleep":
            yield from _sleep_errors(integer(result, "seconds") or 0, item_path, grace, server)
        case _:
            yield from _port_errors(result, f"{item_path}.port")


def _http_errors(action: Raw, path: str) -> Iterator[FieldError]:
    yield from _port_errors(action, f"{path}.port")
    scheme = text(action, "scheme")
    if scheme and scheme not in {"HTTP", "HTTPS"}:
        yield not_supported(f"{path}.scheme", scheme, ("HTTP", "HTTPS"), _RULE_PROBE)
    for header in items(action, "httpHeaders"):
        name = text(header, "name")
        yield from (invalid(f"{path}.httpHeaders", name, fault, _RULE_PROBE) for fault in header_faults(name))


def _port_errors(action: Raw, path: str) -> Iterator[FieldError]:
    """Source: validation.go ValidatePortNumOrName."""
    port = action.get("port")
    if isinstance(port, str):
        yield from (invalid(path, port, fault, _RULE_PROBE) for fault in name_faults(port))
    else:
        value = integer(action, "port") or 0
        yield from (number(path, value, fault, _RULE_PROBE) for fault in number_faults(value))


def _sleep_errors(seconds: int, path: str, grace: int, server: Server) -> Iterator[FieldError]:
    zero = server.is_enabled("PodLifecycleSleepActionAllowZero")
    if (0 if zero else 1) <= seconds <= grace:
        return
    if zero:
        detail = f"must be non-negative and less than terminationGracePeriodSeconds ({grace})"
    else:
        detail = (
            f"must be greater than 0 and less than terminationGracePeriodSeconds ({grace}). "
            "Enable AllowPodLifecycleSleepActionZeroValue feature gate for zero sleep."
        )
    yield number(path, seconds, detail, _RULE_PROBE)


def mount_errors(container: Raw, path: str, volumes: Mapping[str, Raw]) -> Iterator[FieldError]:
    """``volumes``: those that are valid, by name. Source: validation.go ValidateVolumeMounts, ValidateVolumeDevices."""
    mounts, devices = items(container, "volumeMounts"), items(container, "volumeDevices")
    device_paths = {text(device, "name"): text(device, "devicePath") for device in devices}
    mount_paths = {text(mount, "name"): text(mount, "mountPath") for mount in mounts}
    taken: set[str] = set()
    for index, mount in enumerate(mounts):
        item_path, name, mount_path = f"{path}.volumeMounts[{index}]", text(mount, "name"), text(mount, "mountPath")
        if not name:
            yield required(f"{item_path}.name", rule=_RULE_MOUNT)
        if name not in volumes:
            yield not_found(f"{item_path}.name", name, rule=_RULE_MOUNT)
        if not mount_path:
            yield required(f"{item_path}.mountPath", rule=_RULE_MOUNT)
        if mount_path in taken:
            yield invalid(f"{item_path}.mountPath", mount_path, "must be unique", _RULE_MOUNT)
        taken.add(mount_path)
        if name in device_paths:
            yield invalid(f"{item_path}.name", name, "must not already exist in volumeDevices", _RULE_MOUNT)
        if mount_path in device_paths.values():
            yield invalid(
                f"{item_path}.mountPath", mount_path, "must not already exist as a path in volumeDevices", _RULE_MOUNT
            )
        yield from _within_errors(mount, container, f"{path}.volumeMounts", item_path)
    yield from _device_errors(devices, f"{path}.volumeDevices", mount_paths, volumes)


def _within_errors(mount: Raw, container: Raw, path: str, item_path: str) -> Iterator[FieldError]:
    """Here the server names no place in the list, except once."""
    inner, expression = text(mount, "subPath"), text(mount, "subPathExpr")
    yield from descending_errors(inner, f"{path}.subPath", _RULE_MOUNT)
    if inner and expression:
        yield invalid(
            f"{item_path}.subPathExpr", expression, "subPathExpr and subPath are mutually exclusive", _RULE_MOUNT
        )
    yield from descending_errors(expression, f"{path}.subPathExpr", _RULE_MOUNT)
    propagation = mount.get("mountPropagation")
    if isinstance(propagation, str):
        if propagation not in _PROPAGATIONS:
            yield not_supported(f"{path}.mountPropagation", propagation, _PROPAGATIONS, _RULE_MOUNT)
        if propagation == "Bidirectional" and mapping(container, "securityContext").get("privileged") is not True:
            detail = "Bidirectional mount propagation is available only to privileged containers"
            yield forbidden(f"{path}.mountPropagation", detail, _RULE_MOUNT)
    recursive, item_path = mount.get("recursiveReadOnly"), f"{path}.recursiveReadOnly"
    if isinstance(recursive, str) and recursive not in _RECURSIVE:
        yield not_supported(item_path, recursive, _RECURSIVE, _RULE_MOUNT)
    elif recursive in {"Enabled", "IfPossible"}:
        if mount.get("readOnly") is not True:
            yield forbidden(item_path, "may only be specified when readOnly is true", _RULE_MOUNT)
        if isinstance(propagation, str) and propagation != "None":
            yield forbidden(
                item_path, "may only be specified when mountPropagation is None or not specified", _RULE_MOUNT
            )


def _device_errors(
    devices: list[Raw], path: str, mounts: Mapping[str, str], volumes: Mapping[str, Raw]
) -> Iterator[FieldError]:
    names: set[str] = set()
    paths: set[str] = set()
    for index, device in enumerate(devices):
        item_path, name, device_path = f"{path}[{index}]", text(device, "name"), text(device, "devicePath")
        if name in names:
            yield invalid(f"{item_path}.name", name, "must be unique", _RULE_MOUNT)
        yield from _device_name_errors(name, f"{item_path}.name", volumes)
        if not device_path:
            yield required(f"{item_path}.devicePath", rule=_RULE_MOUNT)
        if device_path in paths:
            yield invalid(f"{item_path}.devicePath", device_path, "must be unique", _RULE_MOUNT)
        if [*backstep_errors(device_path, item_path, _RULE_MOUNT)]:
            yield invalid(f"{item_path}.devicePath", device_path, "can not contain backsteps ('..')", _RULE_MOUNT)
        else:
            paths.add(device_path)
        if name in mounts:
            yield invalid(f"{item_path}.name", name, "must not already exist in volumeMounts", _RULE_MOUNT)
        if device_path in mounts.values():
            yield invalid(
                f"{item_path}.devicePath", device_path, "must not already exist as a path in volumeMounts", _RULE_MOUNT
            )
        names |= {name} if name else set()


def _device_name_errors(name: str, path: str, volumes: Mapping[str, Raw]) -> Iterator[FieldError]:
    if not name:
        yield required(path, rule=_RULE_MOUNT)
    if name not in volumes:
        yield not_found(path, name, rule=_RULE_MOUNT)
    elif not {"persistentVolumeClaim", "ephemeral"} & set(volumes[name]):
        detail = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
        yield invalid(path, name, detail, _RULE_MOUNT)


def env_errors(container: Raw, path: str, server: Server) -> Iterator[FieldError]:
    """Source: validation.go ValidateEnv, ValidateEnvFrom."""
    for index, variable in enumerate(items(container, "env")):
        item_path, name = f"{path}.env[{index}]", text(variable, "name")
        if not name:
            yield required(f"{item_path}.name", rule=_RULE_ENV)
        else:
            yield from (invalid(f"{item_path}.name", name, fault, _RULE_ENV) for fault in variable_faults(name, server))
        source = pointer(variable, "valueFrom")
        if source is not None:
            yield from _source_errors(source, f"{item_path}.valueFrom", server, literal=bool(text(variable, "value")))
    for index, source in enumerate(items(container, "envFrom")):
        yield from _from_errors(source, path, index, server)


def _source_errors(source: Raw, path: str, server: Server, *, literal: bool) -> Iterator[FieldError]:
    """Source: validation.go validateEnvVarValueFrom."""
    files = server.is_enabled("EnvFiles")
    keys = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", *(["fileKeyRef"] if files else [])]
    given_keys = {key: result for key in keys if (result := pointer(source, key)) is not None}
    for key, result in given_keys.items():
        item_path = f"{path}.{key}"
        match key:
            case "fieldRef":
                yield from references.field_errors(result, references.VARIABLE_FIELDS, item_path)
            case "resourceFieldRef":
                yield from references.resource_errors(result, item_path, volume=False)
            case "fileKeyRef":
                yield from references.file_errors(result, item_path)
            case _:
                yield from references.key_errors(result, item_path)
    if not given_keys:
        shown = join_words((f"`{key}`" for key in keys), "or")
        yield invalid(path, "", f"must specify one of: {shown}", _RULE_ENV)
    elif literal:
        yield invalid(path, "", "may not be specified when `value` is not empty", _RULE_ENV)
    elif len(given_keys) > 1:
        yield invalid(path, "", "may not have more than one field specified at a time", _RULE_ENV)


def _from_errors(source: Raw, path: str, index: int, server: Server) -> Iterator[FieldError]:
    item_path, prefix = f"{path}.envFrom[{index}]", text(source, "prefix")
    yield from (
        invalid(f"{item_path}.prefix", prefix, fault, _RULE_ENV) for fault in variable_faults(prefix, server) if prefix
    )
    given_keys = [key for key in ("configMapRef", "secretRef") if pointer(source, key) is not None]
    for key in given_keys:
        yield from references.source_errors(mapping(source, key), f"{item_path}.{key}")
    if not given_keys:
        yield invalid(f"{path}.envFrom", "", "must specify one of: `configMapRef` or `secretRef`", _RULE_ENV)
    elif len(given_keys) > 1:
        yield invalid(f"{path}.envFrom", "", "may not have more than one field specified at a time", _RULE_ENV)


def file_volume_errors(spec: Raw, containers: Mapping[str, Raw], server: Server) -> Iterator[FieldError]:
    """Of the volumes that variables are read from. ``containers`` by path. Source: validateFileKeyRefVolumes."""
    if not server.is_enabled("EnvFiles"):
        return
    volumes = {text(volume, "name"): volume for volume in items(spec, "volumes")}
    for path, container in containers.items():
        for index, variable in enumerate(items(container, "env")):
            reference = pointer(mapping(variable, "valueFrom"), "fileKeyRef")
            if reference is None:
                continue
            item_path, name = f"{path}.env[{index}].valueFrom.fileKeyRef.volumeName", text(reference, "volumeName")
            if name not in volumes:
                yield not_found(item_path, name, rule=_RULE_ENV)
            elif not set(volumes[name]) <= {"name", "emptyDir"}:
                yield invalid(item_path, name, "referenced volume must be of type emptyDir", _RULE_ENV)
