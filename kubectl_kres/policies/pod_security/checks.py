"""The checks of the Pod Security Standards and the versions from which each form of them holds."""

from __future__ import annotations

from kubectl_kres.policies.pod_security import baseline, restricted
from kubectl_kres.policies.pod_security.parts import Check, Violation, unless_windows, user_namespace

#: The newest minor version that has checks of its own.
NEWEST_CHECK = 36

#: In the order in which they are told: baseline first, each by its name.
CHECKS: tuple[Check, ...] = (
    Check("appArmorProfile", False, ((0, baseline.app_armor),)),
    Check("capabilities_baseline", False, ((0, baseline.capabilities_baseline),)),
    Check("hostNamespaces", False, ((0, baseline.host_namespaces),)),
    Check("hostPathVolumes", False, ((0, baseline.host_path),)),
    Check("hostPorts", False, ((0, baseline.host_ports),)),
    Check("hostProbesAndHostLifecycle", False, ((34, baseline.host_probes),)),
    Check("privileged", False, ((0, baseline.privileged),)),
    Check("procMount", False, ((0, baseline.proc_mount), (35, user_namespace(baseline.proc_mount)))),
    Check(
        "seLinuxOptions",
        False,
        ((0, baseline.selinux(baseline.SELINUX)), (31, baseline.selinux(baseline.SELINUX | {"container_engine_t"}))),
    ),
    Check("seccompProfile_baseline", False, ((0, baseline.seccomp_annotations), (19, baseline.seccomp_baseline))),
    Check(
        "sysctls",
        False,
        (
            (0, baseline.sysctls(baseline.SYSCTLS_0)),
            (27, baseline.sysctls(baseline.SYSCTLS_27)),
            (29, baseline.sysctls(baseline.SYSCTLS_29)),
            (32, baseline.sysctls(baseline.SYSCTLS_32)),
        ),
    ),
    Check("windowsHostProcess", False, ((0, baseline.host_process),)),
    Check("allowPrivilegeEscalation", True, ((8, restricted.escalation), (25, unless_windows(restricted.escalation)))),
    Check(
        "capabilities_restricted",
        True,
        ((22, restricted.capabilities_restricted), (25, unless_windows(restricted.capabilities_restricted))),
        ("capabilities_baseline",),
    ),
    Check("procMount_restricted", True, ((35, baseline.proc_mount),), ("procMount",)),
    Check("restrictedVolumes", True, ((0, restricted.restricted_volumes),), ("hostPathVolumes",)),
    Check("runAsNonRoot", True, ((0, restricted.non_root), (35, user_namespace(restricted.non_root)))),
    Check("runAsUser", True, ((23, restricted.user), (35, user_namespace(restricted.user)))),
    Check(
        "seccompProfile_restricted",
        True,
        ((19, restricted.seccomp_restricted), (25, unless_windows(restricted.seccomp_restricted))),
        ("seccompProfile_baseline",),
    ),
)

__all__ = ["CHECKS", "NEWEST_CHECK", "Check", "Violation"]
