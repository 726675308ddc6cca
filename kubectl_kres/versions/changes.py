"""Behaviour that changed in a version without a feature gate, and what each change is about.

A server that emulates an older version keeps what its own code does where ``emulated`` is False. Entries with a
``gate`` say what the gate's default changes; the state itself stands in ``gates``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

Version = tuple[int, int]
Area = Literal[
    "pod defaults", "validation", "QoS class", "quota use", "resize", "admission policies", "Pod Security",
    "dropped fields", "messages", "cgroup files",
]  # fmt: skip
#: What a version newer than the rules may answer otherwise, in the order in which it is named.
AREAS: tuple[Area, ...] = (
    "pod defaults", "validation", "QoS class", "quota use", "resize", "admission policies", "Pod Security",
    "dropped fields", "messages", "cgroup files",
)  # fmt: skip


class Change(NamedTuple):
    """What changed from a minor version on. ``source``: the file in Kubernetes. ``gate``: switches it.

    ``emulated``: an emulated older version does not have it, as with everything that a gate switches.
    """

    minor: int
    area: Area
    text: str
    source: str
    gate: str = ""
    emulated: bool = False


CHANGES: Mapping[str, Change] = {
    "pod-level/default-after-admission": Change(
        37, "pod defaults", "pod-level requests are filled in after LimitRanges and policies, from the containers' "
        "sums, also where only pod-level requests are written",
        "pkg/api/pod/util.go DefaultPodLevelResources", "PodLevelResourcesFixDefaulting", True,
    ),
    "pod-level/limit-from-containers": Change(
        37, "pod defaults", "a pod-level limit is filled in where every container has one: the larger of their sum and "
        "the pod-level request",
        "pkg/api/pod/util.go defaultPodLevelLimits", "PodLevelResourcesFixDefaulting", True,
    ),
    "pod-level/kept-by-update": Change(
        37, "resize", "an update or a resize that leaves out spec.resources keeps it",
        "pkg/registry/core/pod/strategy.go", "PodLevelResourcesFixDefaulting", True,
    ),
    "qos/empty-pod-level": Change(
        37, "QoS class", "an empty spec.resources does not hide the containers' requests and limits",
        "pkg/apis/core/helper/qos/qos.go", "PodLevelResourcesFixKubeletQOSClass", True,
    ),
    "qos/not-brought": Change(
        37, "QoS class", "status.qosClass in a request is ignored", "pkg/registry/core/pod/strategy.go",
    ),
    "quota/resize-of-sums": Change(
        37, "quota use", "during a resize the largest of three sums counts, not the sum of each container's largest",
        "component-helpers/resource/helpers.go",
    ),
    "resize/claims-kept": Change(
        37, "resize", "a container with resource claims can be resized", "pkg/apis/core/validation/validation.go",
    ),
    "policy/list-of-objects": Change(
        37, "admission policies", "a JSONPatch may set a list of Object values, at which the connection was dropped",
        "apiserver/pkg/cel/mutation/dynamic/objects.go",
    ),
    "policy/actions-required": Change(
        37, "messages", "a binding without validationActions is refused with another text",
        "pkg/apis/admissionregistration/validation",
    ),
    "policy/every-audit-failure": Change(
        37, "messages", "the audit annotation validation_failure lists every failed validation",
        "apiserver/pkg/admission/plugin/policy/validating/dispatcher.go",
    ),
    "validation/causes-once": Change(
        37, "messages", "equal causes of a refusal are listed once", "apiserver/pkg/registry/rest/validate.go",
    ),
    "validation/image-volume-of-template": Change(
        37, "validation", "a template with an image volume without reference is refused, not only its pods",
        "pkg/apis/core/validation/validation.go",
    ),
    "pod-security/sysctls": Change(
        37, "Pod Security", "baseline and restricted allow net.ipv4.tcp_slow_start_after_idle and "
        "net.ipv4.tcp_notsent_lowat",
        "pod-security-admission/policy/check_sysctls.go", "", True,
    ),
    "volume/cluster-trust-bundle": Change(
        37, "dropped fields", "projected clusterTrustBundle sources are kept", "pkg/api/pod/util.go",
        "ClusterTrustBundleProjection", True,
    ),
    "volume/pod-certificate": Change(
        37, "dropped fields", "projected podCertificate sources are kept", "pkg/api/pod/util.go",
        "PodCertificateRequest", True,
    ),
    "autoscaler/scale-to-zero": Change(
        37, "validation", "a HorizontalPodAutoscaler may have minReplicas 0",
        "pkg/apis/autoscaling/validation/validation.go", "HPAScaleToZero", True,
    ),
    "autoscaler/most-required": Change(
        37, "messages", "a HorizontalPodAutoscaler without maxReplicas is refused with another text",
        "pkg/apis/autoscaling/v1/zz_generated.validations.go",
    ),
    "statefulset/max-unavailable": Change(
        37, "dropped fields", "rollingUpdate.maxUnavailable of a StatefulSet is kept",
        "pkg/registry/apps/statefulset/strategy.go", "MaxUnavailableStatefulSet", True,
    ),
    "cgroup/no-throttling-factor": Change(
        37, "cgroup files", "MemoryQoS is on, and memory.high is written only where a throttling factor is configured",
        "pkg/kubelet/apis/config/v1beta1/defaults.go", "", True,
    ),
}  # fmt: skip


def changes_between(old: Version, new: Version) -> Iterator[tuple[str, Change]]:
    """The changes that a server of the newer version has and one of the older version has not."""
    for name, change in CHANGES.items():
        if old[1] < change.minor <= new[1]:
            yield name, change
