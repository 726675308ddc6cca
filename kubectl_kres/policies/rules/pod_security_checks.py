"""The checks of the Pod Security Standards, levels baseline and restricted, with the server's words.

Source: k8s.io/pod-security-admission/policy/check_*.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from kubectl_kres.go_text import quote
from kubectl_kres.policies.rules.objects import containers_of

Raw = Mapping[str, Any]


class Violation(Struct, frozen=True):
    """``path``: a field to look at; ``expected``: what it has to be, empty where there are several ways out."""

    reason: str
    detail: str
    path: str = ""
    expected: str = ""


Version = Callable[[Raw, Raw], Violation | None]


class StandardCheck(Struct, frozen=True):
    """``versions``: minor version from which each form holds. ``overrides``: baseline checks that it replaces."""

    name: str
    restricted: bool
    versions: tuple[tuple[int, Version], ...]
    overrides: tuple[str, ...] = ()

    def path_of(self, minor: int) -> Version | None:
        """Return the form for a minor version; None: there is none yet."""
        result = None
        for since, version in self.versions:
            if since <= minor:
                result = version
        return result


def quote_names(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def plural(word: str, count: int, several: str = "") -> str:
    return word if count == 1 else several or f"{word}s"


def containers(names: Sequence[str]) -> str:
    return f"{plural('container', len(names))} {quote_names(names)}"


def context(container: Raw) -> Raw:
    return container.get("securityContext") or {}


def container_names(spec: Raw, bad: Callable[[Raw], bool]) -> list[str]:
    return [str(container.get("name", "")) for container in containers_of(spec) if bad(container)]


def setter_names(names: Sequence[str], *, pod: bool) -> str:
    """``pod and containers "a", "b"``."""
    return " and ".join([*(["pod"] if pod else []), *([containers(names)] if names else [])])


def _windows(spec: Raw) -> bool:
    return (spec.get("os") or {}).get("name") == "windows"


def unless_windows(check: Version) -> Version:
    return lambda metadata, spec: None if _windows(spec) else check(metadata, spec)


def user_namespace(check: Version) -> Version:
    return lambda metadata, spec: None if spec.get("hostUsers") is False else check(metadata, spec)


def app_armor(metadata: Raw, spec: Raw) -> Violation | None:
    allowed = ("RuntimeDefault", "Localhost")
    values: set[str] = set()

    def bad(holder: Raw) -> bool:
        profile = context(holder).get("appArmorProfile")
        wrong = profile is not None and profile.get("type") not in allowed
        if wrong:
            values.add(str((profile or {}).get("type", "")))
        return wrong

    pod, names = bad(spec), container_names(spec, bad)
    annotations = sorted(
        f"{key}={quote(value)}"
        for key, value in (metadata.get("annotations") or {}).items()
        if key.startswith("container.apparmor.security.beta.kubernetes.io/")
        and value
        and value != "runtime/default"
        and not value.startswith("localhost/")
    )
    setters = [part for part in (setter_names(names, pod=pod),) if part]
    if annotations:
        setters.append(plural("annotation", len(annotations)))
    if not setters:
        return None
    shown = [*sorted(values), *annotations]
    text = f"{' and '.join(setters)} must not set AppArmor profile type to {quote_names(shown)}"
    path = "securityContext.appArmorProfile.type"
    return Violation(plural("forbidden AppArmor profile", len(shown)), text, path, "RuntimeDefault")


_DEFAULT_CAPABILITIES = frozenset(
    (
        "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP",
        "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
    )
)  # fmt: skip


def _added_capabilities(container: Raw) -> list[str]:
    return list((context(container).get("capabilities") or {}).get("add") or ())


def capabilities_baseline(_: Raw, spec: Raw) -> Violation | None:
    return capabilities(spec, _DEFAULT_CAPABILITIES, "non-default capabilities")


def capabilities(spec: Raw, allowed: frozenset[str], reason: str) -> Violation | None:
    values: set[str] = set()

    def bad(container: Raw) -> bool:
        wrong = [name for name in _added_capabilities(container) if name not in allowed]
        values.update(wrong)
        return bool(wrong)

    names = container_names(spec, bad)
    if not names:
        return None
    text = f"{containers(names)} must not include {quote_names(sorted(values))} in securityContext.capabilities.add"
    return Violation(reason, text, "securityContext.capabilities.add")


def host_namespaces(_: Raw, spec: Raw) -> Violation | None:
    used = [f"{key}=true" for key in ("hostNetwork", "hostPID", "hostIPC") if spec.get(key)]
    return Violation("host namespaces", ", ".join(used), used[0].partition("=")[0], "false") if used else None


def host_path(_: Raw, spec: Raw) -> Violation | None:
    names = [str(volume.get("name", "")) for volume in spec.get("volumes") or () if volume.get("hostPath") is not None]
    if not names:
        return None
    return Violation("hostPath volumes", f"{plural('volume', len(names))} {quote_names(names)}", "volumes")


def host_ports(_: Raw, spec: Raw) -> Violation | None:
    ports: set[str] = set()

    def bad(container: Raw) -> bool:
        used = {str(port["hostPort"]) for port in container.get("ports") or () if port.get("hostPort")}
        ports.update(used)
        return bool(used)

    names = container_names(spec, bad)
    if not names:
        return None
    verb, word = plural("uses", len(names), "use"), plural("hostPort", len(ports))
    return Violation("hostPort", f"{containers(names)} {verb} {word} {', '.join(sorted(ports))}", "ports")


def _hosts(container: Raw) -> Iterator[str]:
    handlers = [container.get(key) or {} for key in ("livenessProbe", "readinessProbe", "startupProbe")]
    lifecycle = container.get("lifecycle") or {}
    handlers += [lifecycle.get(key) or {} for key in ("postStart", "preStop")]
    for handler in handlers:
        for key in ("httpGet", "tcpSocket"):
            host = (handler.get(key) or {}).get("host")
            if host:
                yield str(host)


def host_probes(_: Raw, spec: Raw) -> Violation | None:
    hosts: set[str] = set()

    def bad(container: Raw) -> bool:
        used = set(_hosts(container))
        hosts.update(used)
        return bool(used)

    names = sorted(set(container_names(spec, bad)))
    if not names:
        return None
    verb, word = plural("uses", len(names), "use"), plural("probe or lifecycle host", len(hosts))
    return Violation("probe or lifecycle host", f"{containers(names)} {verb} {word} {quote_names(sorted(hosts))}")


def privileged(_: Raw, spec: Raw) -> Violation | None:
    names = container_names(spec, lambda container: context(container).get("privileged") is True)
    if not names:
        return None
    text = f"{containers(names)} must not set securityContext.privileged=true"
    return Violation("privileged", text, "securityContext.privileged", "false")


def proc_mount(_: Raw, spec: Raw) -> Violation | None:
    values: set[str] = set()

    def bad(container: Raw) -> bool:
        mount = context(container).get("procMount")
        wrong = mount is not None and mount != "Default"
        if wrong:
            values.add(str(mount))
        return wrong

    names = container_names(spec, bad)
    if not names:
        return None
    text = f"{containers(names)} must not set securityContext.procMount to {quote_names(sorted(values))}"
    return Violation("procMount", text, "securityContext.procMount", "Default")


SELINUX = frozenset(("", "container_t", "container_init_t", "container_kvm_t"))


def selinux(allowed: frozenset[str]) -> Version:
    def check(_: Raw, spec: Raw) -> Violation | None:
        types: set[str] = set()
        parts: set[str] = set()

        def bad(holder: Raw) -> bool:
            options = context(holder).get("seLinuxOptions")
            if options is None:
                return False
            wrong = {part for part in ("user", "role") if options.get(part)}
            parts.update(wrong)
            kind = str(options.get("type") or "")
            if kind not in allowed:
                types.add(kind)
            return bool(wrong) or kind not in allowed

        pod = bad(spec)
        setters = setter_names(container_names(spec, bad), pod=pod)
        if not setters:
            return None
        data = [f"{plural('type', len(types))} {quote_names(sorted(types))}"] if types else []
        data += [f"{part} may not be set" for part in ("user", "role") if part in parts]
        text = f"{setters} set forbidden securityContext.seLinuxOptions: {'; '.join(data)}"
        return Violation("seLinuxOptions", text, "securityContext.seLinuxOptions")

    return check


_POD_ANNOTATION = "seccomp.security.alpha.kubernetes.io/pod"
_CONTAINER_ANNOTATION = "container.seccomp.security.alpha.kubernetes.io/"


def seccomp_annotations(metadata: Raw, spec: Raw) -> Violation | None:
    annotations = metadata.get("annotations") or {}
    keys = [
        _POD_ANNOTATION,
        *(f"{_CONTAINER_ANNOTATION}{container.get('name', '')}" for container in containers_of(spec)),
    ]
    wrong = sorted(
        {
            f"{key}={quote(annotations[key])}"
            for key in keys
            if key in annotations
            and annotations[key] not in ("runtime/default", "docker/default")
            and not annotations[key].startswith("localhost/")
        }
    )
    if not wrong:
        return None
    return Violation("seccompProfile", f"forbidden {plural('annotation', len(wrong))} {', '.join(wrong)}")


SECCOMP_PATH = "securityContext.seccompProfile.type"


def seccomp_set(spec: Raw) -> Violation | None:
    values: set[str] = set()

    def bad(holder: Raw) -> bool:
        profile = context(holder).get("seccompProfile")
        wrong = profile is not None and profile.get("type") not in ("Localhost", "RuntimeDefault")
        if wrong:
            values.add(str((profile or {}).get("type", "")))
        return wrong

    pod = bad(spec)
    setters = setter_names(container_names(spec, bad), pod=pod)
    if not setters:
        return None
    text = f"{setters} must not set securityContext.seccompProfile.type to {quote_names(sorted(values))}"
    return Violation("seccompProfile", text, SECCOMP_PATH, "RuntimeDefault")


def seccomp_baseline(_: Raw, spec: Raw) -> Violation | None:
    return seccomp_set(spec)


SYSCTLS_0 = frozenset(
    (
        "kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies",
        "net.ipv4.ping_group_range", "net.ipv4.ip_unprivileged_port_start",
    )
)  # fmt: skip
SYSCTLS_27 = SYSCTLS_0 | {"net.ipv4.ip_local_reserved_ports"}
SYSCTLS_29 = SYSCTLS_27 | {
    "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
}  # fmt: skip
SYSCTLS_32 = SYSCTLS_29 | {"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"}
SYSCTLS_37 = SYSCTLS_32 | {"net.ipv4.tcp_slow_start_after_idle", "net.ipv4.tcp_notsent_lowat"}


def sysctls(allowed: frozenset[str]) -> Version:
    def check(_: Raw, spec: Raw) -> Violation | None:
        used = [str(sysctl.get("name", "")) for sysctl in context(spec).get("sysctls") or ()]
        wrong = [name for name in used if name not in allowed]
        return Violation("forbidden sysctls", ", ".join(wrong), "securityContext.sysctls") if wrong else None

    return check


def host_process(_: Raw, spec: Raw) -> Violation | None:
    def bad(holder: Raw) -> bool:
        return (context(holder).get("windowsOptions") or {}).get("hostProcess") is True

    setters = setter_names(container_names(spec, bad), pod=bad(spec))
    if not setters:
        return None
    text = f"{setters} must not set securityContext.windowsOptions.hostProcess=true"
    return Violation("hostProcess", text, "securityContext.windowsOptions.hostProcess", "false")


def privilege_escalation(_: Raw, spec: Raw) -> Violation | None:
    names = container_names(spec, lambda container: context(container).get("allowPrivilegeEscalation") is not False)
    if not names:
        return None
    text = f"{containers(names)} must set securityContext.allowPrivilegeEscalation=false"
    path = "securityContext.allowPrivilegeEscalation"
    return Violation("allowPrivilegeEscalation != false", text, path, "false")


def capabilities_restricted(_: Raw, spec: Raw) -> Violation | None:
    def keeps_capability(container: Raw) -> bool:
        return "ALL" not in ((context(container).get("capabilities") or {}).get("drop") or ())

    names = container_names(spec, keeps_capability)
    additions = capabilities(spec, frozenset(("NET_BIND_SERVICE",)), "")
    details = [f'{containers(names)} must set securityContext.capabilities.drop=["ALL"]'] if names else []
    details += [additions.detail] if additions else []
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
    text = f"{plural('volume', len(names))} {quote_names(names)} {verb} {word} {quote_names(sorted(kinds))}"
    return Violation("restricted volume types", text, "volumes")


def non_root(_: Raw, spec: Raw) -> Violation | None:
    pod = context(spec).get("runAsNonRoot")
    names = container_names(spec, lambda container: context(container).get("runAsNonRoot") is False)
    setters = setter_names(names, pod=pod is False)
    path = "securityContext.runAsNonRoot"
    if setters:
        return Violation(
            "runAsNonRoot != true", f"{setters} must not set securityContext.runAsNonRoot=false", path, "true"
        )
    implicit = [] if pod else container_names(spec, lambda container: context(container).get("runAsNonRoot") is None)
    if not implicit:
        return None
    text = f"pod or {containers(implicit)} must set securityContext.runAsNonRoot=true"
    return Violation("runAsNonRoot != true", text, path, "true")


def user(_: Raw, spec: Raw) -> Violation | None:
    def root(holder: Raw) -> bool:
        user = context(holder).get("runAsUser")
        return user == 0 and not isinstance(user, bool)

    setters = setter_names(container_names(spec, root), pod=root(spec))
    if not setters:
        return None
    return Violation("runAsUser=0", f"{setters} must not set runAsUser=0", "securityContext.runAsUser")


def seccomp_restricted(_: Raw, spec: Raw) -> Violation | None:
    wrong = seccomp_set(spec)
    if wrong is not None:
        return wrong
    if context(spec).get("seccompProfile") is not None:
        return None
    names = container_names(spec, lambda container: context(container).get("seccompProfile") is None)
    if not names:
        return None
    text = f'pod or {containers(names)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
    return Violation("seccompProfile", text, SECCOMP_PATH, "RuntimeDefault")
