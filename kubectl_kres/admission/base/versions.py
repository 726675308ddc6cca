"""The Kubernetes versions whose rules are known: what each of them changed, as tables, and which one a server has.

A reader can compare two versions: ``GATES`` has the feature gates, ``CHANGES`` what no gate switches, and what a gate's
default changes. Rules ask through ``Server.is_enabled`` and ``Server.has_change``; how a rule works stands where the
rule is.
Functions of CEL carry their version beside their signature, checks of Pod Security in their list of forms;
``scripts/versions_doc.py`` writes all of it to docs/versions.md, ``scripts/version_gates.py`` compares ``GATES`` with
the source of Kubernetes (pkg/features/kube_features.go).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from kubectl_kres.wording import join_words

Version = tuple[int, int]

OLDEST: Version = (1, 27)
NEWEST: Version = (1, 37)

_VERSION = re.compile(r"v?(\d{1,4})\.(\d{1,4})(?:\D.*)?")
_EMULATED = re.compile(r".* \(emulates (\d{1,4}\.\d{1,4})\)")


class Gate(NamedTuple):
    """Minor versions: ``exists``, ``on`` by default, ``locked`` to its default, ``removed``. None: not yet.

    A gate that was removed is as it was locked. ``requires``: gates without which it must not be on.
    """

    exists: int
    on: int | None = None
    locked: int | None = None
    removed: int | None = None
    requires: tuple[str, ...] = ()


GATES: Mapping[str, Gate] = {
    "ClusterTrustBundleProjection": Gate(29, 37),
    "ContainerRestartRules": Gate(34, 35),
    "DRAExtendedResource": Gate(34, 36, 37),
    "DynamicResourceAllocation": Gate(26, 34, 35),
    "EnvFiles": Gate(34, 35),
    "HPAScaleToZero": Gate(16, 37),
    "HostnameOverride": Gate(34, 35, 37),
    "ImageVolume": Gate(31, 35, 36),
    "InPlacePodLevelResourcesVerticalScaling": Gate(35, 36),
    "InPlacePodVerticalScaling": Gate(27, 33, 35),
    "InPlacePodVerticalScalingInitContainers": Gate(36, 36, 37),
    "MatchLabelKeysInPodTopologySpreadSelectorMerge": Gate(34, 34),
    "MaxUnavailableStatefulSet": Gate(24, 37),
    "MemoryQoS": Gate(22, 37),
    "NodeDeclaredFeatures": Gate(35, 36, 37),
    "PodCertificateRequest": Gate(34, 37),
    "PodLevelResources": Gate(32, 34),
    "PodLevelResourcesFixDefaulting": Gate(37, 37, requires=("PodLevelResources",)),
    "PodLevelResourcesFixKubeletQOSClass": Gate(37, 37, requires=("PodLevelResources",)),
    "PodLifecycleSleepActionAllowZero": Gate(32, 33, 34, 37),
    "RecoverVolumeExpansionFailure": Gate(23, 32, 34),
    "RelaxedDNSSearchValidation": Gate(32, 33, 34, 37),
    "RelaxedEnvironmentVariableValidation": Gate(30, 32, 34),
    "RelaxedServiceNameValidation": Gate(34, 36, 37),
    "RestartAllContainersOnContainerExits": Gate(35, 36),
    "SidecarContainers": Gate(28, 29, 33, 37),
    "StrictIPCIDRValidation": Gate(33, 36),
    "VolumeAttributesClass": Gate(29, 34, 36),
}


Area = Literal[
    "pod defaults", "validation", "QoS class", "quota use", "resize", "admission policies", "Pod Security",
    "dropped fields", "messages", "cgroup files",
]  # fmt: skip
#: What a version newer than the rules may answer otherwise, in the order in which it is named.
AREAS: tuple[Area, ...] = (
    "pod defaults", "validation", "QoS class", "quota use", "resize", "admission policies", "Pod Security",
    "dropped fields", "messages", "cgroup files",
)  # fmt: skip


class VersionChange(NamedTuple):
    """What changed from a minor version on. ``source``: the file in Kubernetes. ``gate``: switches it.

    ``emulated``: an emulated older version does not have it, as with everything that a gate switches.
    """

    minor: int
    area: Area
    text: str
    source: str
    gate: str = ""
    emulated: bool = False


CHANGES: Mapping[str, VersionChange] = {
    "pod-level/default-after-admission": VersionChange(
        37, "pod defaults", "pod-level requests are filled in after LimitRanges and policies, from the containers' "
        "sums, also where only pod-level requests are written",
        "pkg/api/pod/util.go DefaultPodLevelResources", "PodLevelResourcesFixDefaulting", True,
    ),
    "pod-level/limit-from-containers": VersionChange(
        37, "pod defaults", "a pod-level limit is filled in where every container has one: the larger of their sum and "
        "the pod-level request",
        "pkg/api/pod/util.go defaultPodLevelLimits", "PodLevelResourcesFixDefaulting", True,
    ),
    "pod-level/kept-by-update": VersionChange(
        37, "resize", "an update or a resize that leaves out spec.resources keeps it",
        "pkg/registry/core/pod/strategy.go", "PodLevelResourcesFixDefaulting", True,
    ),
    "qos/empty-pod-level": VersionChange(
        37, "QoS class", "an empty spec.resources does not hide the containers' requests and limits",
        "pkg/apis/core/helper/qos/qos.go", "PodLevelResourcesFixKubeletQOSClass", True,
    ),
    "qos/each-value": VersionChange(
        37, "QoS class", "request and limit of each container are compared, not their sums, and negative ones count",
        "pkg/apis/core/helper/qos/qos.go",
    ),
    "qos/not-brought": VersionChange(
        37, "QoS class", "status.qosClass in a request is ignored", "pkg/registry/core/pod/strategy.go",
    ),
    "quota/resize-of-sums": VersionChange(
        37, "quota use", "during a resize the largest of three sums counts, not the sum of each container's largest",
        "component-helpers/resource/helpers.go",
    ),
    "resize/claims-kept": VersionChange(
        37, "resize", "a container with resource claims can be resized", "pkg/apis/core/validation/validation.go",
    ),
    "policy/list-of-objects": VersionChange(
        37, "admission policies", "a JSONPatch may set a list of Object values, at which the connection was dropped",
        "apiserver/pkg/cel/mutation/dynamic/objects.go",
    ),
    "policy/typed-values": VersionChange(
        37, "admission policies", "in expressions object, oldObject, params, request and namespaceObject hold Go's "
        "values: a list or an object compared with another kind is an error, and a JSONPatch cannot set one",
        "apiserver/pkg/cel/common/valuesschemalesstyped.go",
    ),
    "policy/actions-required": VersionChange(
        37, "messages", "a binding without validationActions is refused with another text",
        "pkg/apis/admissionregistration/validation",
    ),
    "policy/every-audit-failure": VersionChange(
        37, "messages", "the audit annotation validation_failure lists every failed validation",
        "apiserver/pkg/admission/plugin/policy/validating/dispatcher.go",
    ),
    "validation/causes-once": VersionChange(
        37, "messages", "equal causes of a refusal are listed once", "apiserver/pkg/registry/rest/validate.go",
    ),
    "validation/owner-required": VersionChange(
        37,
        "messages",
        "faults of an owner reference name its place, and what is missing is required",
        "apimachinery/pkg/api/validation/objectmeta.go",
    ),
    "validation/image-volume-of-template": VersionChange(
        37, "validation", "a template with an image volume without reference is refused, not only its pods",
        "pkg/apis/core/validation/validation.go",
    ),
    "pod-security/sysctls": VersionChange(
        37, "Pod Security", "baseline and restricted allow net.ipv4.tcp_slow_start_after_idle and "
        "net.ipv4.tcp_notsent_lowat",
        "pod-security-admission/policy/check_sysctls.go", "", True,
    ),
    "volume/cluster-trust-bundle": VersionChange(
        37, "dropped fields", "projected clusterTrustBundle sources are kept", "pkg/api/pod/util.go",
        "ClusterTrustBundleProjection", True,
    ),
    "volume/pod-certificate": VersionChange(
        37, "dropped fields", "projected podCertificate sources are kept", "pkg/api/pod/util.go",
        "PodCertificateRequest", True,
    ),
    "autoscaler/scale-to-zero": VersionChange(
        37, "validation", "a HorizontalPodAutoscaler may have minReplicas 0",
        "pkg/apis/autoscaling/validation/validation.go", "HPAScaleToZero", True,
    ),
    "autoscaler/most-required": VersionChange(
        37, "messages", "a HorizontalPodAutoscaler without maxReplicas is refused with another text",
        "pkg/apis/autoscaling/v1/zz_generated.validations.go",
    ),
    "statefulset/max-unavailable": VersionChange(
        37, "dropped fields", "rollingUpdate.maxUnavailable of a StatefulSet is kept",
        "pkg/registry/apps/statefulset/strategy.go", "MaxUnavailableStatefulSet", True,
    ),
    "statefulset/each-immutable": VersionChange(
        37, "messages", "a change of a StatefulSet's selector, volumeClaimTemplates, serviceName or "
        "podManagementPolicy is refused at that field",
        "pkg/apis/apps/validation/validation.go",
    ),
    "cgroup/no-throttling-factor": VersionChange(
        37, "cgroup files", "MemoryQoS is on, and memory.high is written only where a throttling factor is configured",
        "pkg/kubelet/apis/config/v1beta1/defaults.go", "", True,
    ),
}  # fmt: skip


def changes_between(old: Version, new: Version) -> Iterator[tuple[str, VersionChange]]:
    """Yield the changes that a server of the newer version has and one of the older version has not."""
    for name, change in CHANGES.items():
        if old[1] < change.minor <= new[1]:
            yield name, change


def parse(text: str) -> Version | None:
    """Major and minor of a ``gitVersion`` such as ``v1.33.2-gke.100``, or of ``1.33``; None if it is neither.

    Of a server that emulates another version the rules are those of that one.
    """
    emulated = _EMULATED.fullmatch(text)
    match = _VERSION.fullmatch(emulated[1] if emulated else text)
    return (int(match[1]), int(match[2])) if match else None


def nearest_version(text: str) -> tuple[Version, str]:
    """Return the version whose rules are used for a server's ``gitVersion``, and what that supposes; empty if
    nothing.
    """
    asked = parse(text)
    if asked is None:
        return NEWEST, f"the server's version is not known: the rules of Kubernetes {version_text(NEWEST)} are used"
    return max(OLDEST, min(NEWEST, asked)), version_caveat(text)


def version_caveat(text: str) -> str:
    """Return what is said of answers for a server older or newer than the rules; empty for any other one."""
    asked = parse(text)
    if asked is None or OLDEST <= asked <= NEWEST:
        return ""
    age, used = ("older", OLDEST) if asked < OLDEST else ("newer", NEWEST)
    text = (
        f"Kubernetes {version_text(asked)} is {age} than the rules known here: those of {version_text(used)} are used"
    )
    return f"{text}; answers may differ in {join_words(AREAS)}"


def binary(text: str) -> Version | None:
    """Of a server that emulates another version its own, as far as rules of it are known; None for any other one."""
    emulated, own_version = _EMULATED.fullmatch(text), _VERSION.fullmatch(text.partition(" ")[0])
    return min(NEWEST, (int(own_version[1]), int(own_version[2]))) if emulated and own_version else None


def with_emulation(git_version: str, major: str, minor: str) -> str:
    """Return a ``gitVersion`` with what the server says that it emulates, if that is another version."""
    numbers = f"{major}.{minor}"
    other = parse(git_version) is not None and parse(numbers) not in {None, parse(git_version)}
    return f"{git_version} (emulates {numbers})" if other else git_version


def version_text(version: Version) -> str:
    """``1.36``."""
    return f"{version[0]}.{version[1]}"
