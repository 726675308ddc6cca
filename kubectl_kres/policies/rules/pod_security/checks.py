"""The checks of the Pod Security Standards and the versions from which each form of them holds."""

from __future__ import annotations

from kubectl_kres.policies.rules.pod_security import baseline, restricted
from kubectl_kres.policies.rules.pod_security.parts import StandardCheck, Violation, unless_windows, user_namespace

#: The newest minor version that has checks of its own.
NEWEST_CHECK = 37

#: In the order in which they are told: baseline first, each by its name.
CHECKS: tuple[StandardCheck, ...] = (
    StandardCheck("appArmorProfile", False, ((0, baseline.app_armor),)),
    StandardCheck("capabilities_baseline", False, ((0, baseline.capabilities_baseline),)),
    StandardCheck("hostNamespaces", False, ((0, baseline.host_namespaces),)),
    StandardCheck("hostPathVolumes", False, ((0, baseline.host_path),)),
    StandardCheck("hostPorts", False, ((0, baseline.host_ports),)),
    StandardCheck("hostProbesAndHostLifecycle", False, ((34, baseline.host_probes),)),
    StandardCheck("privileged", False, ((0, baseline.privileged),)),
    StandardCheck("procMount", False, ((0, baseline.proc_mount), (35, user_namespace(baseline.proc_mount)))),
    StandardCheck(
        "seLinuxOptions",
        False,
        ((0, baseline.selinux(baseline.SELINUX)), (31, baseline.selinux(baseline.SELINUX | {"container_engine_t"}))),
    ),
    StandardCheck(
        "seccompProfile_baseline", False, ((0, baseline.seccomp_annotations), (19, baseline.seccomp_baseline))
    ),
    StandardCheck(
        "sysctls",
        False,
        (
            (0, baseline.sysctls(baseline.SYSCTLS_0)),
            (27, baseline.sysctls(baseline.SYSCTLS_27)),
            (29, baseline.sysctls(baseline.SYSCTLS_29)),
            (32, baseline.sysctls(baseline.SYSCTLS_32)),
            (37, baseline.sysctls(baseline.SYSCTLS_37)),
        ),
    ),
    StandardCheck("windowsHostProcess", False, ((0, baseline.host_process),)),
    StandardCheck(
        "allowPrivilegeEscalation", True, ((8, restricted.escalation), (25, unless_windows(restricted.escalation)))
    ),
    StandardCheck(
        "capabilities_restricted",
        True,
        ((22, restricted.capabilities_restricted), (25, unless_windows(restricted.capabilities_restricted))),
        ("capabilities_baseline",),
    ),
    StandardCheck("procMount_restricted", True, ((35, baseline.proc_mount),), ("procMount",)),
    StandardCheck("restrictedVolumes", True, ((0, restricted.restricted_volumes),), ("hostPathVolumes",)),
    StandardCheck("runAsNonRoot", True, ((0, restricted.non_root), (35, user_namespace(restricted.non_root)))),
    StandardCheck("runAsUser", True, ((23, restricted.user), (35, user_namespace(restricted.user)))),
    StandardCheck(
        "seccompProfile_restricted",
        True,
        ((19, restricted.seccomp_restricted), (25, unless_windows(restricted.seccomp_restricted))),
        ("seccompProfile_baseline",),
    ),
)

__all__ = ["CHECKS", "NEWEST_CHECK", "StandardCheck", "Violation"]
