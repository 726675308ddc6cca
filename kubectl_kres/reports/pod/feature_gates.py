"""The feature gates that an answer depends on, where the pod uses fields behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubectl_kres.admission.base.server import LOCKED, Server
from kubectl_kres.admission.base.versions import GATES, version_text
from kubectl_kres.model.pod import Pod
from kubectl_kres.provenance.journal import Assumption

#: Gate to the field that it is about, and what becomes of that without it.
_WITHOUT: Mapping[str, tuple[str, str]] = {
    "PodLevelResources": ("spec.resources", "spec.resources is dropped"),
    "SidecarContainers": ("spec.initContainers", "sidecars count as plain init containers"),
    "InPlacePodVerticalScaling": ("spec", "there is no resize"),
    "InPlacePodLevelResourcesVerticalScaling": ("spec.resources", "pods with pod-level resources are not resized"),
    "InPlacePodVerticalScalingInitContainers": ("spec.initContainers", "plain init containers are not resized"),
}


def gates(pod: Pod, server: Server, *, resized: bool = False) -> tuple[Assumption, ...]:
    """Return one assumption for each gate that the pod's figures depend on and whose setting nobody gave.

    A gate that is locked in the version needs none. ``resized``: with the gates of a resize.
    """
    used = [*_used_gates(pod), *(_resize_gates(pod) if resized else ())]
    text = ((gate, _format_gate(gate, server)) for gate in used)
    return tuple(Assumption(_WITHOUT[gate][0], "server/feature-gate", text) for gate, text in text if text)


def _used_gates(pod: Pod) -> Iterator[str]:
    if pod.spec.resources is not None:
        yield "PodLevelResources"
    if any(init_container.restart_policy == "Always" for init_container in pod.spec.init_containers or ()):
        yield "SidecarContainers"


def _resize_gates(pod: Pod) -> Iterator[str]:
    yield "InPlacePodVerticalScaling"
    if pod.spec.resources is not None:
        yield "InPlacePodLevelResourcesVerticalScaling"
    if any(init_container.restart_policy != "Always" for init_container in pod.spec.init_containers or ()):
        yield "InPlacePodVerticalScalingInitContainers"


def _format_gate(gate: str, server: Server) -> str:
    """Return the assumption in words; empty where the gate's setting is known."""
    exists, minor, version = GATES[gate][0], server.version[1], version_text(server.version)
    without = _WITHOUT[gate][1]
    if minor < exists:
        return f"Kubernetes {version} has no feature gate {gate}: {without}"
    if gate in server.gates or minor >= LOCKED.get(gate, minor + 1):
        return ""
    if server.is_enabled(gate):
        return f"feature gate {gate} is taken as on, the default in Kubernetes {version}; without it {without}"
    return f"feature gate {gate} is taken as off, the default in Kubernetes {version}: {without}"
