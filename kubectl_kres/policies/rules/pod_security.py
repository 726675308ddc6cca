"""Pod Security: which level a namespace asks for, its checks by version, and what is said of a pod.

Source: k8s.io/pod-security-admission.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from kubectl_kres.admission.base.field_errors import FieldError, invalid
from kubectl_kres.admission.base.outcome import Finding, Refusal, invalid_object
from kubectl_kres.model.admission_objects import POD_SECURITY, POD_SECURITY_LEVEL
from kubectl_kres.policies.rules import pod_security_checks as checks
from kubectl_kres.policies.rules.objects import template_of
from kubectl_kres.policies.rules.pod_security_checks import StandardCheck, Violation, unless_windows, user_namespace
from kubectl_kres.policies.rules.request import Request, Review
from kubectl_kres.provenance.journal import Source

Raw = Mapping[str, Any]

__all__ = [
    "CHECKS",
    "MODES",
    "NEWEST_CHECK",
    "RULE",
    "EnforcedLevels",
    "Level",
    "Mode",
    "StandardCheck",
    "Violation",
    "detail",
    "parse_enforced_levels",
    "review",
    "review_namespace",
    "violations",
]


#: The newest minor version that has checks of its own.
NEWEST_CHECK = 37

#: In the order in which they are reported: baseline first, each by its name.
CHECKS: tuple[StandardCheck, ...] = (
    StandardCheck("appArmorProfile", False, ((0, checks.app_armor),)),
    StandardCheck("capabilities_baseline", False, ((0, checks.capabilities_baseline),)),
    StandardCheck("hostNamespaces", False, ((0, checks.host_namespaces),)),
    StandardCheck("hostPathVolumes", False, ((0, checks.host_path),)),
    StandardCheck("hostPorts", False, ((0, checks.host_ports),)),
    StandardCheck("hostProbesAndHostLifecycle", False, ((34, checks.host_probes),)),
    StandardCheck("privileged", False, ((0, checks.privileged),)),
    StandardCheck(
        "procMount",
        False,
        ((0, checks.proc_mount), (35, user_namespace(checks.proc_mount))),
    ),
    StandardCheck(
        "seLinuxOptions",
        False,
        (
            (0, checks.selinux(checks.SELINUX)),
            (31, checks.selinux(checks.SELINUX | {"container_engine_t"})),
        ),
    ),
    StandardCheck(
        "seccompProfile_baseline",
        False,
        ((0, checks.seccomp_annotations), (19, checks.seccomp_baseline)),
    ),
    StandardCheck(
        "sysctls",
        False,
        (
            (0, checks.sysctls(checks.SYSCTLS_0)),
            (27, checks.sysctls(checks.SYSCTLS_27)),
            (29, checks.sysctls(checks.SYSCTLS_29)),
            (32, checks.sysctls(checks.SYSCTLS_32)),
            (37, checks.sysctls(checks.SYSCTLS_37)),
        ),
    ),
    StandardCheck("windowsHostProcess", False, ((0, checks.host_process),)),
    StandardCheck(
        "allowPrivilegeEscalation",
        True,
        ((8, checks.privilege_escalation), (25, unless_windows(checks.privilege_escalation))),
    ),
    StandardCheck(
        "capabilities_restricted",
        True,
        ((22, checks.capabilities_restricted), (25, unless_windows(checks.capabilities_restricted))),
        ("capabilities_baseline",),
    ),
    StandardCheck("procMount_restricted", True, ((35, checks.proc_mount),), ("procMount",)),
    StandardCheck("restrictedVolumes", True, ((0, checks.restricted_volumes),), ("hostPathVolumes",)),
    StandardCheck("runAsNonRoot", True, ((0, checks.non_root), (35, user_namespace(checks.non_root)))),
    StandardCheck("runAsUser", True, ((23, checks.user), (35, user_namespace(checks.user)))),
    StandardCheck(
        "seccompProfile_restricted",
        True,
        ((19, checks.seccomp_restricted), (25, unless_windows(checks.seccomp_restricted))),
        ("seccompProfile_baseline",),
    ),
)


Mode = Literal["enforce", "audit", "warn"]
MODES: tuple[Mode, ...] = ("enforce", "audit", "warn")
_LEVELS = ("privileged", "baseline", "restricted")
_VERSION = re.compile(r"v1\.([0-9]|[1-9][0-9]*)", re.ASCII)
_IGNORED = {"exec", "attach", "binding", "eviction", "log", "portforward", "proxy", "status"}
RULE = "pod-security/violated"


class Level(Struct, frozen=True):
    """A level with a minor version; None: the server's own."""

    name: str = "privileged"
    minor: int | None = None

    def __str__(self) -> str:
        return f"{self.name}:{'latest' if self.minor is None else f'v1.{self.minor}'}"


class EnforcedLevels(Struct, frozen=True):
    """What a namespace asks for in each mode, and what was wrong with its labels."""

    enforce: Level = Level()
    audit: Level = Level()
    warn: Level = Level()
    faults: tuple[FieldError, ...] = ()

    @property
    def privileged(self) -> bool:
        return all(level.name == "privileged" for level in (self.enforce, self.audit, self.warn))


def parse_enforced_levels(labels: Mapping[str, str] | None) -> EnforcedLevels:
    """From the namespace's labels. A wrong enforce level is read as restricted, others as privileged."""
    labels = labels or {}
    faults: list[FieldError] = []
    levels: dict[str, str] = {}
    minors: dict[str, int | None] = {}
    good = set()
    for mode in MODES:
        key = POD_SECURITY + mode
        if key in labels:
            if labels[key] in _LEVELS:
                levels[mode] = labels[key]
                good.add(mode)
            else:
                levels[mode] = "restricted" if mode == "enforce" else "privileged"
                detail = "must be one of privileged, baseline, restricted"
                faults.append(invalid(f"metadata.labels[{key}]", labels[key], detail, "pod-security/label"))
        key += "-version"
        if key in labels:
            match = _VERSION.fullmatch(labels[key])
            minors[mode] = int(match[1]) if match else None
            if match is None and labels[key] != "latest":
                detail = 'must be "latest" or "v1.x"'
                faults.append(invalid(f"metadata.labels[{key}]", labels[key], detail, "pod-security/label"))
    result = {mode: Level(levels.get(mode, "privileged"), minors.get(mode)) for mode in MODES}
    if POD_SECURITY + "warn" not in labels and "enforce" in good and result["enforce"].name != "privileged":
        version = result["warn"].minor if POD_SECURITY + "warn-version" in labels else result["enforce"].minor
        result["warn"] = Level(result["enforce"].name, version)
    return EnforcedLevels(result["enforce"], result["audit"], result["warn"], tuple(faults))


def violations(level: Level, pod: Mapping[str, Any], server_minor: int) -> tuple[Violation, ...]:
    """Return what a pod (or template) does against a level. ``latest``, and what is newer, is the server's version."""
    if level.name == "privileged":
        return ()
    newest = min(server_minor, NEWEST_CHECK)
    minor = newest if level.minor is None else min(level.minor, newest)
    restricted = level.name == "restricted"
    chosen = [(check, check.path_of(minor)) for check in CHECKS if restricted or not check.restricted]
    overridden = {name for check, version in chosen if version for name in check.overrides}
    results = (
        version(pod.get("metadata") or {}, pod.get("spec") or {})
        for check, version in chosen
        if version is not None and check.name not in overridden
    )
    return tuple(violation for violation in results if violation is not None)


def detail(violations: Sequence[Violation]) -> str:
    return ", ".join(
        f"{violation.reason} ({violation.detail})" if violation.detail else violation.reason for violation in violations
    )


def review(request: Request, namespace: Mapping[str, Any], server_minor: int) -> Review:
    """Return what the plugin says of a pod, or of a template (which it never refuses)."""
    is_pod = request.kind == "Pod"
    pod = None if request.object is None else template_of(request.object)
    if pod is None or request.operation not in ("CREATE", "UPDATE"):
        return Review()
    if request.subresource and (not is_pod or request.subresource in _IGNORED):
        return Review()
    standard = parse_enforced_levels((namespace.get("metadata") or {}).get("labels"))
    if standard.privileged and not standard.faults:
        return Review(audit={POD_SECURITY + "enforce-policy": "privileged:latest"} if is_pod else {})
    if not is_pod and not standard.faults and standard.warn.name == standard.audit.name == "privileged":
        return Review()
    if is_pod and request.operation == "UPDATE" and not _significant(request.object or {}, request.old or {}):
        return Review()
    return _review_standard(request, standard, pod, server_minor, enforce=is_pod)


def _review_standard(
    request: Request, standard: EnforcedLevels, pod: Mapping[str, Any], server_minor: int, *, enforce: bool
) -> Review:
    audit: dict[str, str] = {}
    if standard.faults:
        texts = [str(fault) for fault in standard.faults]
        shown = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
        audit[POD_SECURITY + "error"] = f"Failed to parse policy: {shown}"
    refusals: tuple[Refusal, ...] = ()
    if enforce:
        audit[POD_SECURITY + "enforce-policy"] = str(standard.enforce)
        result = violations(standard.enforce, pod, server_minor)
        if result:
            refusals = (_refusal(request, standard.enforce, result),)
    audited = violations(standard.audit, pod, server_minor)
    if audited:
        audit[POD_SECURITY + "audit-violations"] = f'would violate PodSecurity "{standard.audit}": {detail(audited)}'
    warned = () if refusals else violations(standard.warn, pod, server_minor)
    warnings = (f'would violate PodSecurity "{standard.warn}": {detail(warned)}',) if warned else ()
    return Review(refusals, warnings, audit)


def _refusal(request: Request, level: Level, violations: Sequence[Violation]) -> Refusal:
    text = f'violates PodSecurity "{level}": {detail(violations)}'
    source = Source("Namespace", request.namespace, field=f"metadata.labels[{POD_SECURITY_LEVEL}]")
    findings = tuple(
        Finding(text, RULE, violation.path, observed=violation.detail, expected=violation.expected, source=source)
        for violation in violations
    )
    return Refusal(403, "Forbidden", f'{request.qualified_name} "{request.name}" is forbidden: {text}', findings)


def _significant(new: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    """Return whether an update changes an image or adds a container."""
    new_spec, old_spec = new.get("spec") or {}, old.get("spec") or {}
    for key in ("containers", "initContainers"):
        images = [[item.get("image") for item in spec.get(key) or ()] for spec in (new_spec, old_spec)]
        if images[0] != images[1]:
            return True
    before = {
        ephemeral_container.get("name"): ephemeral_container.get("image")
        for ephemeral_container in old_spec.get("ephemeralContainers") or ()
    }
    return any(
        ephemeral_container.get("name") not in before
        or before[ephemeral_container.get("name")] != ephemeral_container.get("image")
        for ephemeral_container in new_spec.get("ephemeralContainers") or ()
    )


def review_namespace(request: Request, pods: Sequence[Mapping[str, Any]], server_minor: int) -> Review:
    """Return what is said of a namespace's own labels, and of pods there that a raised level would refuse."""
    new = parse_enforced_levels(((request.object or {}).get("metadata") or {}).get("labels"))
    if request.operation == "CREATE":
        return Review((invalid_object("Namespace", request.name, new.faults),)) if new.faults else Review()
    if request.operation != "UPDATE" or request.subresource:
        return Review()
    old = parse_enforced_levels(((request.old or {}).get("metadata") or {}).get("labels"))
    if new.faults and new.faults != old.faults:
        return Review((invalid_object("Namespace", request.name, new.faults),))
    lowered = new.enforce.minor == old.enforce.minor and _LEVELS.index(new.enforce.name) <= _LEVELS.index(
        old.enforce.name
    )
    if new.enforce == old.enforce or new.enforce.name == "privileged" or lowered:
        return Review()
    return Review(warnings=_existing(request.name, new.enforce, pods, server_minor))


def _existing(name: str, level: Level, pods: Sequence[Mapping[str, Any]], server_minor: int) -> tuple[str, ...]:
    by_reason: dict[str, list[str]] = {}
    for pod in pods:
        result = violations(level, pod, server_minor)
        if result:
            by_reason.setdefault(", ".join(violation.reason for violation in result), []).append(
                pod["metadata"]["name"]
            )
    if not by_reason:
        return ()
    first = f'existing pods in namespace "{name}" violate the new PodSecurity enforce level "{level}"'
    return (first, *sorted(_format_pod_reason(reason, names) for reason, names in by_reason.items()))


def _format_pod_reason(reason: str, names: Sequence[str]) -> str:
    more = len(names) - 1
    others = "" if not more else f" (and {more} other pod{'' if more == 1 else 's'})"
    return f"{min(names)}{others}: {reason}"
