"""The checks of the level restricted, with the server's words.

Source: k8s.io/pod-security-admission/policy/check_*.go.
"""

from __future__ import annotations

from kubectl_kres.policies.rules.pod_security.baseline import SECCOMP_PATH, capabilities, seccomp_set
from kubectl_kres.policies.rules.pod_security.parts import (
    Raw,
    Violation,
    containers,
    context,
    named,
    plural,
    quoted,
    setters_of,
)


def escalation(_: Raw, spec: Raw) -> Violation | None:
    names = named(spec, lambda container: context(container).get("allowPrivilegeEscalation") is not False)
    if not names:
        return None
    text = f"{containers(names)} must set securityContext.allowPrivilegeEscalation=false"
    path = "securityContext.allowPrivilegeEscalation"
    return Violation("allowPrivilegeEscalation != false", text, path, "false")


def capabilities_restricted(_: Raw, spec: Raw) -> Violation | None:
    def keeps(container: Raw) -> bool:
        return "ALL" not in ((context(container).get("capabilities") or {}).get("drop") or ())

    names = named(spec, keeps)
    added = capabilities(spec, frozenset(("NET_BIND_SERVICE",)), "")
    details = [f'{containers(names)} must set securityContext.capabilities.drop=["ALL"]'] if names else []
    details += [added.detail] if added else []
    if not details:
        return None
    path = "securityContext.capabilities.drop" if names else "securityContext.capabilities.add"
    return Violation("unrestricted capabilities", "; ".join(details), path, '["ALL"]' if names else "")


_VOLUMES = frozenset(
    (
        "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected",
        "secret",
    )
)  # fmt: skip
_OTHER_VOLUMES = (
    "hostPath", "gcePersistentDisk", "awsElasticBlockStore", "gitRepo", "nfs", "iscsi", "glusterfs", "rbd",
    "flexVolume", "cinder", "cephfs", "flocker", "fc", "azureFile", "vsphereVolume", "quobyte", "azureDisk",
    "photonPersistentDisk", "portworxVolume", "scaleIO", "storageos",
)  # fmt: skip


def restricted_volumes(_: Raw, spec: Raw) -> Violation | None:
    names, kinds = [], set()
    for volume in spec.get("volumes") or ():
        sources = {key for key, value in volume.items() if value is not None}
        if sources & _VOLUMES or sources <= {"name"}:
            continue
        names.append(str(volume.get("name", "")))
        kinds.add(next((kind for kind in _OTHER_VOLUMES if kind in sources), "unknown"))
    if not names:
        return None
    verb, word = plural("uses", len(names), "use"), plural("restricted volume type", len(kinds))
    text = f"{plural('volume', len(names))} {quoted(names)} {verb} {word} {quoted(sorted(kinds))}"
    return Violation("restricted volume types", text, "volumes")


def non_root(_: Raw, spec: Raw) -> Violation | None:
    pod = context(spec).get("runAsNonRoot")
    names = named(spec, lambda container: context(container).get("runAsNonRoot") is False)
    setters = setters_of(names, pod=pod is False)
    path = "securityContext.runAsNonRoot"
    if setters:
        return Violation(
            "runAsNonRoot != true", f"{setters} must not set securityContext.runAsNonRoot=false", path, "true"
        )
    implicit = [] if pod else named(spec, lambda container: context(container).get("runAsNonRoot") is None)
    if not implicit:
        return None
    text = f"pod or {containers(implicit)} must set securityContext.runAsNonRoot=true"
    return Violation("runAsNonRoot != true", text, path, "true")


def user(_: Raw, spec: Raw) -> Violation | None:
    def root(holder: Raw) -> bool:
        user = context(holder).get("runAsUser")
        return user == 0 and not isinstance(user, bool)

    setters = setters_of(named(spec, root), pod=root(spec))
    if not setters:
        return None
    return Violation("runAsUser=0", f"{setters} must not set runAsUser=0", "securityContext.runAsUser")


def seccomp_restricted(_: Raw, spec: Raw) -> Violation | None:
    wrong = seccomp_set(spec)
    if wrong is not None:
        return wrong
    if context(spec).get("seccompProfile") is not None:
        return None
    names = named(spec, lambda container: context(container).get("seccompProfile") is None)
    if not names:
        return None
    text = f'pod or {containers(names)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
    return Violation("seccompProfile", text, SECCOMP_PATH, "RuntimeDefault")
