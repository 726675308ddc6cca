"""The feature gates that rules depend on, and from which minor version each state holds.

``scripts/version_gates.py`` compares the table with the source of Kubernetes (pkg/features/kube_features.go).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Gate(NamedTuple):
    """Minor versions: ``exists``, ``on`` by default, ``locked`` to its default, ``removed``. None: not yet.

    A gate that was removed is as it was locked. ``needs``: gates without which it must not be on.
    """

    exists: int
    on: int | None = None
    locked: int | None = None
    removed: int | None = None
    needs: tuple[str, ...] = ()


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
    "PodLevelResourcesFixDefaulting": Gate(37, 37, needs=("PodLevelResources",)),
    "PodLevelResourcesFixKubeletQOSClass": Gate(37, 37, needs=("PodLevelResources",)),
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
