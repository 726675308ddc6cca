"""Validation of the security contexts of a pod and of its containers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kubectl_kres.admission.base.field_errors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    number,
    required,
    too_long,
)
from kubectl_kres.admission.base.text_rules import descending_errors
from kubectl_kres.go_text import as_json
from kubectl_kres.model.objects import Raw, integer, items, mapping, pointer, text, texts

#: Annotations that fields of the security context have replaced; of a container with its name behind them.
SECCOMP_OF_POD = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP = "container.seccomp.security.alpha.kubernetes.io/"
APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"

_RULE = "validation/security"
_MOST_ID = 2**31 - 1
_PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")
_SEGMENT = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SYSCTL = rf"({_SEGMENT}[\./])*{_SEGMENT}"
_LONGEST_SYSCTL, _LONGEST_PATH = 253, 4095
#: What the kernel keeps for each namespace of its own. Source: component-helpers sysctl GetNamespace.
_OF_NETWORK = ("net.",)
_OF_IPC = ("kernel.shm", "kernel.msg", "fs.mqueue.")
_WINDOWS_POD = (
    *("appArmorProfile", "seLinuxOptions", "seccompProfile", "fsGroup", "fsGroupChangePolicy", "runAsUser"),
    *("runAsGroup", "supplementalGroupsPolicy", "seLinuxChangePolicy"),
)
_WINDOWS_CONTAINER = (
    *("appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem", "privileged"),
    *("allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup"),
)


def container_security_errors(container: Raw, path: str, *, host_users: bool) -> Iterator[FieldError]:
    """Windows options are taken as valid. Source: validation.go ValidateSecurityContext."""
    context = pointer(container, "securityContext")
    if context is None:
        return
    path = f"{path}.securityContext"
    yield from _id_errors(context, ("runAsUser", "runAsGroup"), path)
    mount = context.get("procMount")
    if isinstance(mount, str):
        if mount not in {"Default", "Unmasked"}:
            yield not_supported(f"{path}.procMount", mount, ("Default", "Unmasked"), _RULE)
        if mount == "Unmasked" and host_users:
            detail = "`hostUsers` must be false to use `Unmasked`"
            yield invalid(f"{path}.procMount", mount, detail, _RULE)
    yield from _seccomp_errors(context, f"{path}.seccompProfile")
    if context.get("allowPrivilegeEscalation") is False:
        yield from _escalation_errors(context, path)
    yield from _app_armor_errors(context, f"{path}.appArmorProfile")


def _escalation_errors(context: Raw, path: str) -> Iterator[FieldError]:
    head = "cannot set `allowPrivilegeEscalation` to false and"
    details = [f"{head} `privileged` to true"] if context.get("privileged") is True else []
    additions = texts(mapping(context, "capabilities"), "add")
    details += [f"{head} `capabilities.Add` CAP_SYS_ADMIN" for name in additions if name == "CAP_SYS_ADMIN"]
    for detail in details:
        yield FieldError(path, "FieldValueInvalid", f"Invalid value: {_internal(context)}: {detail}", _RULE)


def _internal(context: Raw) -> str:
    """Return the struct as the server prints it, whose fields are called otherwise."""
    capabilities, selinux = pointer(context, "capabilities"), pointer(context, "seLinuxOptions")
    windows, seccomp = pointer(context, "windowsOptions"), pointer(context, "seccompProfile")
    armor = pointer(context, "appArmorProfile")
    named = {
        "Capabilities": None
        if capabilities is None
        else {"Add": capabilities.get("add"), "Drop": capabilities.get("drop")},
        "Privileged": context.get("privileged"),
        "SELinuxOptions": None
        if selinux is None
        else {name.capitalize(): text(selinux, name) for name in ("user", "role", "type", "level")},
        "WindowsOptions": None
        if windows is None
        else {
            "GMSACredentialSpecName": windows.get("gmsaCredentialSpecName"),
            "GMSACredentialSpec": windows.get("gmsaCredentialSpec"),
            "RunAsUserName": windows.get("runAsUserName"),
            "HostProcess": windows.get("hostProcess"),
        },
        "RunAsUser": context.get("runAsUser"),
        "RunAsGroup": context.get("runAsGroup"),
        "RunAsNonRoot": context.get("runAsNonRoot"),
        "ReadOnlyRootFilesystem": context.get("readOnlyRootFilesystem"),
        "AllowPrivilegeEscalation": False,
        "ProcMount": context.get("procMount"),
        "SeccompProfile": None if seccomp is None else _profile(seccomp),
        "AppArmorProfile": None if armor is None else _profile(armor),
    }
    return as_json(named)


def _profile(profile: Raw) -> dict[str, object]:
    return {"Type": text(profile, "type"), "LocalhostProfile": profile.get("localhostProfile")}


def _id_errors(context: Raw, keys: tuple[str, ...], path: str) -> Iterator[FieldError]:
    for key in keys:
        value = integer(context, key)
        if value is not None and not 0 <= value <= _MOST_ID:
            yield number(f"{path}.{key}", value, f"must be between 0 and {_MOST_ID}, inclusive", _RULE)


def _seccomp_errors(context: Raw, path: str) -> Iterator[FieldError]:
    """Source: validation.go validateSeccompProfileField."""
    profile = pointer(context, "seccompProfile")
    if profile is None:
        return
    kind, local = text(profile, "type"), profile.get("localhostProfile")
    if not kind:
        yield required(f"{path}.type", "type is required when seccompProfile is set", _RULE)
    elif kind not in _PROFILES:
        yield not_supported(f"{path}.type", kind, _PROFILES, _RULE, in_order=True)
    if kind == "Localhost":
        if not isinstance(local, str):
            yield required(f"{path}.localhostProfile", "must be set when seccomp type is Localhost", _RULE)
        else:
            yield from descending_errors(local, f"{path}.localhostProfile", _RULE)
    elif isinstance(local, str):
        detail = "can only be set when seccomp type is Localhost"
        yield invalid(f"{path}.localhostProfile", _profile(profile), detail, _RULE)


def _app_armor_errors(context: Raw, path: str) -> Iterator[FieldError]:
    """Source: validation.go ValidateAppArmorProfileField."""
    profile = pointer(context, "appArmorProfile")
    if profile is None:
        return
    kind, local, item_path = text(profile, "type"), profile.get("localhostProfile"), f"{path}.localhostProfile"
    if kind == "Localhost":
        if not isinstance(local, str) or not local:
            yield required(item_path, "must be set when AppArmor type is Localhost", _RULE)
        elif local != local.strip():
            yield invalid(item_path, local, "must not be padded with whitespace", _RULE)
        if isinstance(local, str) and len(local.encode("utf-8", "surrogatepass")) > _LONGEST_PATH:
            yield too_long(item_path, _LONGEST_PATH, _RULE)
    elif kind in _PROFILES:
        if isinstance(local, str):
            yield invalid(item_path, local, "can only be set when AppArmor type is Localhost", _RULE)
    elif not kind:
        yield required(f"{path}.type", "type is required when appArmorProfile is set", _RULE)
    else:
        yield not_supported(f"{path}.type", kind, _PROFILES, _RULE, in_order=True)


def pod_security_errors(spec: Raw, containers: Mapping[str, Raw]) -> Iterator[FieldError]:
    """Source: validation.go validatePodSpecSecurityContext, validateHostUsers."""
    context, path = mapping(spec, "securityContext"), "spec.securityContext"
    yield from _id_errors(context, ("fsGroup", "runAsUser", "runAsGroup"), path)
    groups = context.get("supplementalGroups")
    for index, group in enumerate(groups if isinstance(groups, list | tuple) else ()):
        yield from _group_errors(group, f"{path}.supplementalGroups[{index}]")
    if spec.get("shareProcessNamespace") is True and spec.get("hostPID") is True:
        detail = "ShareProcessNamespace and HostPID cannot both be enabled"
        yield number(f"{path}.shareProcessNamespace", True, detail, _RULE)
    yield from _sysctl_errors(spec, context, f"{path}.sysctls")
    for key, choices in _CHOICES.items():
        value = context.get(key)
        if isinstance(value, str) and value not in choices:
            yield not_supported(f"{path}.{key}", value, choices, _RULE)
    yield from _seccomp_errors(context, f"{path}.seccompProfile")
    yield from _app_armor_errors(context, f"{path}.appArmorProfile")
    if spec.get("hostUsers") is False:
        for key, shown in (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")):
            if spec.get(key) is True:
                yield forbidden(f"spec.{shown}", "when `hostUsers` is false", _RULE)
        for item_path, container in containers.items():
            if container.get("volumeDevices"):
                yield forbidden(f"{item_path}.volumeDevices", "when `hostUsers` is false", _RULE)


_CHOICES = {
    "fsGroupChangePolicy": ("Always", "OnRootMismatch"),
    "supplementalGroupsPolicy": ("Merge", "Strict"),
    "seLinuxChangePolicy": ("Recursive",),
}


def _group_errors(group: object, path: str) -> Iterator[FieldError]:
    if isinstance(group, int) and not 0 <= group <= _MOST_ID:
        yield number(path, group, f"must be between 0 and {_MOST_ID}, inclusive", _RULE)


def _sysctl_errors(spec: Raw, context: Raw, path: str) -> Iterator[FieldError]:
    """Source: validation.go validateSysctls, ValidateHostSysctl."""
    seen: set[str] = set()
    for index, sysctl in enumerate(items(context, "sysctls")):
        item_path, name = f"{path}[{index}].name", text(sysctl, "name")
        if not name:
            yield required(item_path, rule=_RULE)
        elif len(name) > _LONGEST_SYSCTL or not re.fullmatch(_SYSCTL, name):
            detail = f"must have at most {_LONGEST_SYSCTL} characters and match regex ^{_SYSCTL}$"
            yield invalid(item_path, name, detail, _RULE)
        elif name in seen:
            yield duplicate(item_path, name, _RULE)
        dotted = name.replace("/", ".")
        for flag, heads in (("hostNetwork", _OF_NETWORK), ("hostIPC", _OF_IPC)):
            if spec.get(flag) is True and (dotted.startswith(heads) or (flag == "hostIPC" and dotted == "kernel.sem")):
                yield invalid(item_path, name, f"may not be specified when '{flag}' is true", _RULE)
                break
        seen.add(name)


def system_errors(spec: Raw, containers: Mapping[str, Raw]) -> Iterator[FieldError]:
    """Of ``os``, and what only the other system has. ``containers`` by path. Source: validation.go validateOS."""
    system = pointer(spec, "os")
    if system is None:
        return
    name, context = text(system, "name"), mapping(spec, "securityContext")
    if not name:
        yield required("spec.os.name", rule="validation/choice")
    elif name not in {"linux", "windows"}:
        yield not_supported("spec.os", name, ("linux", "windows"), "validation/choice")
    elif name == "linux":
        for item_path, raw in (("spec", spec), *containers.items()):
            if pointer(mapping(raw, "securityContext"), "windowsOptions") is not None:
                detail = "windows options cannot be set for a linux pod"
                yield forbidden(f"{item_path}.securityContext.windowsOptions", detail, _RULE)
    else:
        yield from _windows_errors(spec, context, containers)


def _windows_errors(spec: Raw, context: Raw, containers: Mapping[str, Raw]) -> Iterator[FieldError]:
    """Source: validation.go validateWindows."""
    detail = "cannot be set for a windows pod"
    paths = [f"spec.securityContext.{key}" for key in _WINDOWS_POD if context.get(key) is not None]
    paths += [f"spec.{key}" for key in ("hostUsers", "shareProcessNamespace") if spec.get(key) is not None]
    paths += [f"spec.{key}" for key in ("hostPID", "hostIPC") if spec.get(key) is True]
    paths += ["spec.securityContext.sysctls"] if context.get("sysctls") else []
    paths += ["spec.securityContext.supplementalGroups"] if context.get("supplementalGroups") is not None else []
    for item_path, container in containers.items():
        request_context = mapping(container, "securityContext")
        paths += [
            f"{item_path}.securityContext.{key}" for key in _WINDOWS_CONTAINER if request_context.get(key) is not None
        ]
    yield from (forbidden(path, detail, _RULE) for path in paths)
