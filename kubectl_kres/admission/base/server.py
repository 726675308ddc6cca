"""The API server that admission is computed for: version, feature gates, plugin configuration."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from kubectl_kres.admission.base.versions import NEWEST, Version
from kubectl_kres.model.policy import ScopedRequirement

#: Gate to the minor versions from which it exists and from which it is on by default (kube_features.go at v1.36.3).
GATES: Mapping[str, tuple[int, int]] = {
    "SidecarContainers": (28, 29),
    "InPlacePodVerticalScaling": (27, 33),
    "InPlacePodVerticalScalingInitContainers": (36, 36),
    "PodLevelResources": (32, 34),
    "InPlacePodLevelResourcesVerticalScaling": (35, 36),
    "NodeDeclaredFeatures": (35, 36),
    "ContainerRestartRules": (34, 35),
    "VolumeAttributesClass": (29, 34),
    "DynamicResourceAllocation": (26, 34),
    "DRAExtendedResource": (34, 36),
    "RecoverVolumeExpansionFailure": (23, 32),
    "RelaxedEnvironmentVariableValidation": (30, 32),
    "RelaxedDNSSearchValidation": (32, 33),
    "PodLifecycleSleepActionAllowZero": (32, 33),
    "EnvFiles": (34, 35),
    "ImageVolume": (31, 35),
    "HostnameOverride": (34, 35),
    "MatchLabelKeysInPodTopologySpreadSelectorMerge": (34, 34),
    "StrictIPCIDRValidation": (33, 36),
    "RelaxedServiceNameValidation": (34, 36),
    "RestartAllContainersOnContainerExits": (35, 36),
}

#: Gates that can no longer be switched off, from this minor version on.
LOCKED: Mapping[str, int] = {"SidecarContainers": 33}


class LimitedResource(Struct, frozen=True, rename="camel"):
    """An entry of ``limitedResources`` in the ResourceQuota plugin's configuration."""

    resource: str
    api_group: str = ""
    match_contains: tuple[str, ...] = ()
    match_scopes: tuple[ScopedRequirement, ...] = ()


class Server(Struct, frozen=True):
    """Version and configuration. Gates that are not named have the version's default."""

    version: Version = NEWEST
    gates: Mapping[str, bool] = {}
    limited_resources: tuple[LimitedResource, ...] = ()
    disabled_plugins: frozenset[str] = frozenset()

    def on(self, gate: str) -> bool:
        """Whether a gate is on: as configured if the version knows it, else the version's default."""
        exists, default = GATES[gate]
        minor = self.version[1]
        if minor < exists:
            return False
        if minor >= LOCKED.get(gate, 999):
            return True
        return self.gates.get(gate, minor >= default)
