"""A server with a configuration of its own, which no client can read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from controlplane import ControlPlane
from e2e.generate import LIMITED

#: A server does not start with one of them alone.
GATES = dict.fromkeys(
    (
        "PodLevelResources",
        "InPlacePodLevelResourcesVerticalScaling",
        "PodLevelResourcesFixDefaulting",
        "PodLevelResourcesFixKubeletQOSClass",
    ),
    False,
)


class Limiting(NamedTuple):
    """It allows LIMITED only under a quota. ``config`` is its admission configuration."""

    plane: ControlPlane
    config: Path
    gates: dict[str, bool]


def write_config(folder: Path) -> Path:
    """The file of ``--admission-control-config-file``."""
    quota = {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "ResourceQuotaConfiguration",
        "limitedResources": LIMITED,
    }
    config = {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AdmissionConfiguration",
        "plugins": [{"name": "ResourceQuota", "configuration": quota}],
    }
    path = folder / "admission.json"
    path.write_text(json.dumps(config))
    return path
