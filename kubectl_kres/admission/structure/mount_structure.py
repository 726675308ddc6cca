"""What validation finds in the mounts and devices of a container."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubectl_kres.admission.base.field_error import FieldError, forbidden, invalid, not_found, not_supported, required
from kubectl_kres.admission.base.raw_fields import items, mapping, text
from kubectl_kres.admission.base.text_rules import backstep_errors, descending_errors
from kubectl_kres.model.raw import Raw

_RULE = "validation/mount"
_PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")
_RECURSIVE = ("Disabled", "Enabled", "IfPossible")


def mount_errors(container: Raw, path: str, volumes: Mapping[str, Raw]) -> Iterator[FieldError]:
    """``volumes``: those that are valid, by name. Source: validation.go ValidateVolumeMounts, ValidateVolumeDevices."""
    mounts, devices = items(container, "volumeMounts"), items(container, "volumeDevices")
    device_paths = {text(device, "name"): text(device, "devicePath") for device in devices}
    mount_paths = {text(mount, "name"): text(mount, "mountPath") for mount in mounts}
    taken: set[str] = set()
    for index, mount in enumerate(mounts):
        at, name, where = f"{path}.volumeMounts[{index}]", text(mount, "name"), text(mount, "mountPath")
        if not name:
            yield required(f"{at}.name", rule=_RULE)
        if name not in volumes:
            yield not_found(f"{at}.name", name, rule=_RULE)
        if not where:
            yield required(f"{at}.mountPath", rule=_RULE)
        if where in taken:
            yield invalid(f"{at}.mountPath", where, "must be unique", _RULE)
        taken.add(where)
        if name in device_paths:
            yield invalid(f"{at}.name", name, "must not already exist in volumeDevices", _RULE)
        if where in device_paths.values():
            yield invalid(f"{at}.mountPath", where, "must not already exist as a path in volumeDevices", _RULE)
        yield from _within_errors(mount, container, f"{path}.volumeMounts", at)
    yield from _device_errors(devices, f"{path}.volumeDevices", mount_paths, volumes)


def _within_errors(mount: Raw, container: Raw, path: str, at: str) -> Iterator[FieldError]:
    """Here the server names no place in the list, except once."""
    inner, expression = text(mount, "subPath"), text(mount, "subPathExpr")
    yield from descending_errors(inner, f"{path}.subPath", _RULE)
    if inner and expression:
        yield invalid(f"{at}.subPathExpr", expression, "subPathExpr and subPath are mutually exclusive", _RULE)
    yield from descending_errors(expression, f"{path}.subPathExpr", _RULE)
    propagation = mount.get("mountPropagation")
    if isinstance(propagation, str):
        if propagation not in _PROPAGATIONS:
            yield not_supported(f"{path}.mountPropagation", propagation, _PROPAGATIONS, _RULE)
        if propagation == "Bidirectional" and mapping(container, "securityContext").get("privileged") is not True:
            detail = "Bidirectional mount propagation is available only to privileged containers"
            yield forbidden(f"{path}.mountPropagation", detail, _RULE)
    recursive, at = mount.get("recursiveReadOnly"), f"{path}.recursiveReadOnly"
    if isinstance(recursive, str) and recursive not in _RECURSIVE:
        yield not_supported(at, recursive, _RECURSIVE, _RULE)
    elif recursive in {"Enabled", "IfPossible"}:
        if mount.get("readOnly") is not True:
            yield forbidden(at, "may only be specified when readOnly is true", _RULE)
        if isinstance(propagation, str) and propagation != "None":
            yield forbidden(at, "may only be specified when mountPropagation is None or not specified", _RULE)


def _device_errors(
    devices: list[Raw], path: str, mounts: Mapping[str, str], volumes: Mapping[str, Raw]
) -> Iterator[FieldError]:
    names: set[str] = set()
    paths: set[str] = set()
    for index, device in enumerate(devices):
        at, name, where = f"{path}[{index}]", text(device, "name"), text(device, "devicePath")
        if name in names:
            yield invalid(f"{at}.name", name, "must be unique", _RULE)
        yield from _device_name_errors(name, f"{at}.name", volumes)
        if not where:
            yield required(f"{at}.devicePath", rule=_RULE)
        if where in paths:
            yield invalid(f"{at}.devicePath", where, "must be unique", _RULE)
        if [*backstep_errors(where, at, _RULE)]:
            yield invalid(f"{at}.devicePath", where, "can not contain backsteps ('..')", _RULE)
        else:
            paths.add(where)
        if name in mounts:
            yield invalid(f"{at}.name", name, "must not already exist in volumeMounts", _RULE)
        if where in mounts.values():
            yield invalid(f"{at}.devicePath", where, "must not already exist as a path in volumeMounts", _RULE)
        names |= {name} if name else set()


def _device_name_errors(name: str, path: str, volumes: Mapping[str, Raw]) -> Iterator[FieldError]:
    if not name:
        yield required(path, rule=_RULE)
    if name not in volumes:
        yield not_found(path, name, rule=_RULE)
    elif not {"persistentVolumeClaim", "ephemeral"} & set(volumes[name]):
        detail = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
        yield invalid(path, name, detail, _RULE)
