"""Assumptions about feature gates: only where the pod uses one, only where nobody gave it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubectl_kres.admission.base.server import Server
from kubectl_kres.model.pod import Pod
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.pod.feature_gates import gates

LEVEL = {"resources": {"limits": {"cpu": "1"}}}
SIDECAR = {"initContainers": [{"name": "s", "restartPolicy": "Always"}]}
ON, OFF, NONE = "is taken as on, the default", "is taken as off, the default", "has no feature gate"


def said(spec: Any, server: Server, **how: bool) -> list[str]:
    return [sentence_text(one.text) for one in gates(msgspec.convert({"spec": spec}, Pod), server, **how)]


@pytest.mark.parametrize(
    ("spec", "server", "texts"),
    [
        ({}, Server(), []),
        ({"initContainers": [{"name": "i"}]}, Server(), []),
        (LEVEL, Server(), [("PodLevelResources", ON)]),
        (LEVEL, Server((1, 33)), [("PodLevelResources", OFF)]),
        (LEVEL, Server((1, 31)), [("PodLevelResources", NONE)]),
        (LEVEL, Server((1, 33), {"PodLevelResources": True}), []),
        (LEVEL, Server((1, 31), {"PodLevelResources": True}), [("PodLevelResources", NONE)]),
        (SIDECAR, Server(), []),
        (SIDECAR, Server((1, 30)), [("SidecarContainers", ON)]),
        (SIDECAR, Server((1, 28)), [("SidecarContainers", OFF)]),
        (SIDECAR, Server((1, 33), {"SidecarContainers": False}), []),
        (LEVEL | SIDECAR, Server((1, 29)), [("PodLevelResources", NONE), ("SidecarContainers", ON)]),
    ],
)
def test_gates(spec: Any, server: Server, texts: list[tuple[str, str]]):
    found = said(spec, server)
    assert len(found) == len(texts)
    assert all(gate in text and how in text for text, (gate, how) in zip(found, texts, strict=True))


def test_a_resize_hangs_on_more():
    found = said(LEVEL | {"initContainers": [{"name": "i"}]}, Server((1, 36)), resized=True)
    assert [text.split()[2] for text in found] == [
        "PodLevelResources",
        "InPlacePodLevelResourcesVerticalScaling",
        "InPlacePodVerticalScalingInitContainers",
    ]


def test_a_gate_that_is_locked_is_no_supposition():
    found = said(LEVEL | {"initContainers": [{"name": "i"}]}, Server((1, 37)), resized=True)
    assert [text.split()[2] for text in found] == ["PodLevelResources", "InPlacePodLevelResourcesVerticalScaling"]
