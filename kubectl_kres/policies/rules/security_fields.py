"""Security fields of a new pod: the values that storage fills in, and those that it refuses.

Source: kubernetes pkg/registry/core/pod/strategy.go, pkg/apis/core/validation/validation.go, pkg/api/pod/warnings.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kubectl_kres.admission.base.field_errors import FieldError, forbidden, invalid, not_supported, number, required
from kubectl_kres.admission.structure.security_structure import APP_ARMOR

Raw = Mapping[str, Any]
_MIRROR = "kubernetes.io/config.mirror"
_TYPES = ("Localhost", "RuntimeDefault", "Unconfined")
_RULE = "pod/security-field"
_KEYS = ("initContainers", "containers", "ephemeralContainers")


def _annotations(pod: Raw) -> Raw:
    return (pod.get("metadata") or {}).get("annotations") or {}


def _windows(spec: Raw) -> bool:
    return (spec.get("os") or {}).get("name") == "windows"


def _contexts(spec: Raw) -> Iterator[tuple[str, Raw, Raw]]:
    """Path, container and its security context."""
    for key in _KEYS:
        for index, container in enumerate(spec.get(key) or ()):
            yield f"spec.{key}[{index}]", container, container.get("securityContext") or {}


def _profile(annotation: str) -> dict[str, str] | None:
    """Return the AppArmor field that an annotation stands for."""
    if annotation == "runtime/default":
        return {"type": "RuntimeDefault"}
    if annotation == "unconfined":
        return {"type": "Unconfined"}
    if annotation.startswith("localhost/") and annotation.removeprefix("localhost/").strip():
        return {"type": "Localhost", "localhostProfile": annotation.removeprefix("localhost/")}
    return None


def sync_app_armor(pod: dict[str, Any]) -> list[str]:
    """Copy AppArmor annotations into fields, in place; the warnings."""
    spec, annotations, texts = pod.get("spec") or {}, _annotations(pod), []
    if _windows(spec):
        return []
    pod_value = (spec.get("securityContext") or {}).get("appArmorProfile")
    for _, container, context in _contexts(spec):
        key = APP_ARMOR + str(container.get("name", ""))
        if key not in annotations or context.get("appArmorProfile") is not None:
            continue
        profile = _profile(str(annotations[key]))
        if profile is not None and profile == pod_value:
            continue
        if profile is not None:
            container["securityContext"] = {**context, "appArmorProfile": profile}  # type: ignore[index]
        texts.append(f'metadata.annotations[{key}]: deprecated since v1.30; use the "appArmorProfile" field instead')
    return texts


def errors(pod: Raw) -> Iterator[FieldError]:
    """Yield what is wrong with the fields that Pod Security looks at."""
    spec, annotations = pod.get("spec") or {}, _annotations(pod)
    if _MIRROR in annotations and not spec.get("nodeName"):
        text = "must set spec.nodeName if mirror pod annotation is set"
        yield invalid(f"metadata.annotations[{_MIRROR}]", annotations[_MIRROR], text, _RULE)
    yield from _profiles(spec.get("securityContext") or {}, "spec.securityContext")
    yield from _host_process(spec)
    yield from _app_armor(spec, annotations)
    host_users = spec.get("hostUsers") is not False
    for path, _, context in _contexts(spec):
        item_path = f"{path}.securityContext"
        mount = context.get("procMount")
        if mount is not None and mount not in ("Default", "Unmasked"):
            yield not_supported(f"{item_path}.procMount", str(mount), ("Default", "Unmasked"), _RULE)
        if host_users and mount == "Unmasked":
            yield invalid(f"{item_path}.procMount", mount, "`hostUsers` must be false to use `Unmasked`", _RULE)
        yield from _profiles(context, item_path)


def _app_armor(spec: Raw, annotations: Raw) -> Iterator[FieldError]:
    """Yield an annotation that says another profile than the field. Source: validateAppArmorAnnotations..."""
    if _windows(spec):
        return
    pod_value = (spec.get("securityContext") or {}).get("appArmorProfile")
    for path, container, context in _contexts(spec):
        written = annotations.get(APP_ARMOR + str(container.get("name", "")))
        profile = context.get("appArmorProfile") or pod_value
        if written is None or not profile:
            continue
        item_path, kind = f"{path}.securityContext.appArmorProfile", profile.get("type")
        wanted = {"Unconfined": "unconfined", "RuntimeDefault": "runtime/default"}
        local = kind == "Localhost" and str(written).startswith("localhost/")
        if local and str(written).removeprefix("localhost/") != profile.get("localhostProfile"):
            text = "apparmor profile in annotation and field must match"
            yield forbidden(f"{item_path}.localhostProfile", text, _RULE)
        elif not local and (kind == "Localhost" or (kind in wanted and wanted[kind] != written)):
            yield forbidden(f"{item_path}.type", "apparmor type in annotation and field must match", _RULE)


def _host_process(spec: Raw) -> Iterator[FieldError]:
    """Source: validateWindowsHostProcessPod."""

    def host_process_of(context: Raw) -> bool | None:
        value: bool | None = (context.get("windowsOptions") or {}).get("hostProcess")
        return value

    pod_value = host_process_of(spec.get("securityContext") or {})
    inside = [(path, host_process_of(context)) for path, _, context in _contexts(spec)]
    for path, own_value in inside:
        if pod_value is not None and own_value is not None and own_value != pod_value:
            text = f"pod hostProcess value must be identical if both are specified, was {str(pod_value).lower()}"
            yield number(f"{path}.securityContext.windowsOptions.hostProcess", own_value, text, _RULE)
    used = [pod_value if own_value is None else own_value for _, own_value in inside]
    if not any(used):
        return
    if not all(used):
        text = "If pod contains any hostProcess containers then all containers must be HostProcess containers"
        yield invalid("spec", "", text, _RULE)
    if not spec.get("hostNetwork"):
        text = "hostNetwork must be true if pod contains any hostProcess containers"
        yield FieldError("spec.hostNetwork", "FieldValueInvalid", f"Invalid value: false: {text}", _RULE)


def _profiles(context: Raw, item_path: str) -> Iterator[FieldError]:
    for field, word in (("seccompProfile", "seccomp"), ("appArmorProfile", "AppArmor")):
        profile = context.get(field)
        if profile is None:
            continue
        path, kind, local = f"{item_path}.{field}", profile.get("type") or "", profile.get("localhostProfile")
        if not kind:
            yield required(f"{path}.type", f"type is required when {field} is set", _RULE)
        elif kind not in _TYPES:
            yield not_supported(f"{path}.type", str(kind), _TYPES, _RULE)
        if kind == "Localhost":
            if not local and (local is None or word == "AppArmor"):
                yield required(f"{path}.localhostProfile", f"must be set when {word} type is Localhost", _RULE)
            elif word == "seccomp":
                yield from _descending(str(local), f"{path}.localhostProfile")
        elif local is not None:
            text = f"can only be set when {word} type is Localhost"
            yield invalid(f"{path}.localhostProfile", local if word == "AppArmor" else dict(profile), text, _RULE)


def _descending(path: str, item_path: str) -> Iterator[FieldError]:
    if path.startswith("/"):
        yield invalid(item_path, path, "must be a relative path", _RULE)
    if ".." in path.split("/"):
        yield invalid(item_path, path, "must not contain '..'", _RULE)
