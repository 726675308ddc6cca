"""The security contexts that a level of Pod Security asks for, with as little change as possible."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from kubectl_kres.wording import join_words

Raw = Mapping[str, Any]

_SECCOMP = frozenset({"RuntimeDefault", "Localhost"})
#: What the level baseline lets containers add to their capabilities.
_ADDED = frozenset({
    "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP",
    "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
})  # fmt: skip


def compliant_spec(spec: Raw, level: str, kept: Collection[str] = ()) -> dict[str, Any]:
    """Return the spec of a pod with contexts that keep to the level; those of the containers ``kept`` stay.

    Volumes, ports, sysctls and the host's namespaces stay as they are: nobody but their author knows what to do.
    """
    pod_context = _drop_forbidden_fields(spec.get("securityContext") or {}, level)
    if level == "restricted":
        pod_context = {key: value for key, value in pod_context.items() if (key, value) != ("runAsNonRoot", False)}
    groups = {
        key: [
            container
            if container.get("name") in kept
            else {**container, "securityContext": _context(container.get("securityContext") or {}, pod_context, level)}
            for container in spec[key]
        ]
        for key in ("initContainers", "containers")
        if spec.get(key) is not None
    }
    return {**spec, **groups, "securityContext": pod_context}


def context_patch(old: Raw, new: Raw) -> dict[str, Any]:
    """Return what a strategic merge patch of the pod's spec has to say to make ``new`` of ``old``; empty: nothing."""
    patch: dict[str, Any] = {}
    if change := _difference(old.get("securityContext") or {}, new.get("securityContext") or {}):
        patch["securityContext"] = change
    for key in ("initContainers", "containers"):
        items = [
            {"name": after.get("name", ""), "securityContext": change}
            for before, after in zip(old.get(key) or (), new.get(key) or (), strict=True)
            if (change := _difference(before.get("securityContext") or {}, after.get("securityContext") or {}))
        ]
        if items:
            patch[key] = items
    return patch


def merged_spec(spec: Raw, patch: Raw) -> dict[str, Any]:
    """Return the spec of a pod with such a patch merged into it: containers by name, null takes a field out."""
    result = {**spec}
    if "securityContext" in patch:
        result["securityContext"] = _merge_maps(spec.get("securityContext") or {}, patch["securityContext"])
    for key in ("initContainers", "containers"):
        changes = {item.get("name", ""): item["securityContext"] for item in patch.get(key, ())}
        if changes:
            result[key] = [
                {
                    **item,
                    "securityContext": _merge_maps(item.get("securityContext") or {}, changes[item.get("name", "")]),
                }
                if item.get("name") in changes
                else item
                for item in spec.get(key) or ()
            ]
    return result


def _merge_maps(old: Raw, change: Raw) -> dict[str, Any]:
    result = {**old}
    for key, value in change.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, Mapping):
            result[key] = _merge_maps(old.get(key) or {}, value)
        else:
            result[key] = value
    return result


def _difference(old: Raw, new: Raw) -> dict[str, Any]:
    change: dict[str, Any] = {}
    for key in (*new, *(key for key in old if key not in new)):
        before, after = old.get(key), new.get(key)
        if before == after:
            continue
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            change[key] = _difference(before, after)
        else:
            change[key] = after
    return change


def context_changes(old: Raw, new: Raw) -> str:
    """Return in words what a context has to set and to leave out; empty: nothing."""
    was, now = old.get("securityContext") or {}, new.get("securityContext") or {}
    texts = dict(_list_leaves(now))
    texts_found = [f"{path} {text}" for path, text in texts.items() if dict(_list_leaves(was)).get(path) != text]
    gone = [f"{path} {text}" for path, text in _list_leaves(was) if path not in texts]
    return " and ".join(
        filter(
            None,
            (f"set {join_words(texts_found)}" if texts_found else "", f"take out {join_words(gone)}" if gone else ""),
        )
    )


def _list_leaves(context: Raw, path: str = "") -> Iterator[tuple[str, str]]:
    for key, value in context.items():
        item_path = f"{path}.{key}" if path else key
        if isinstance(value, Mapping):
            yield from _list_leaves(value, item_path)
        elif isinstance(value, list):
            yield item_path, f"[{', '.join(map(str, value))}]"
        elif value is not None:
            yield item_path, str(value).lower() if isinstance(value, bool) else str(value)


def _context(context: Raw, pod_context: Raw, level: str) -> Raw:
    result = _drop_forbidden_fields(context, level)
    if level != "restricted":
        return result
    capabilities = dict(result.get("capabilities") or {})
    if "ALL" not in (capabilities.get("drop") or ()):
        capabilities["drop"] = ["ALL"]
    result |= {"allowPrivilegeEscalation": False, "capabilities": capabilities}
    if result.get("runAsNonRoot") is not True and not (
        result.get("runAsNonRoot") is None and pod_context.get("runAsNonRoot")
    ):
        result["runAsNonRoot"] = True
    if not result.get("seccompProfile") and not pod_context.get("seccompProfile"):
        result["seccompProfile"] = {"type": "RuntimeDefault"}
    return result


def _drop_forbidden_fields(context: Raw, level: str) -> dict[str, Any]:
    """Without what the level forbids."""
    result = dict(context)
    if result.get("privileged"):
        del result["privileged"]
    if result.get("procMount") not in {None, "Default"}:
        del result["procMount"]
    if level == "restricted" and result.get("runAsUser") == 0:
        del result["runAsUser"]
    if (result.get("seccompProfile") or {}).get("type") not in {None, *_SECCOMP}:
        del result["seccompProfile"]
    if (result.get("windowsOptions") or {}).get("hostProcess"):
        del result["windowsOptions"]
    capabilities = result.get("capabilities") or {}
    allowed = {"NET_BIND_SERVICE"} if level == "restricted" else _ADDED
    additions = [name for name in capabilities.get("add") or () if name in allowed]
    if len(additions) < len(capabilities.get("add") or ()):
        rest = {key: value for key, value in capabilities.items() if key != "add"}
        result["capabilities"] = {**rest, **({"add": additions} if additions else {})}
    return result
