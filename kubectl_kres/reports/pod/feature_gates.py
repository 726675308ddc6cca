"""The feature gates that an answer depends on, where the pod uses fields behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubectl_kres.admission.base.server import LOCKED, Server
from kubectl_kres.admission.base.versions import GATES, version_text
from kubectl_kres.model.pod import Pod
from kubectl_kres.provenance.journal import Assumption, GateState

#: Gate to the field that it is about.
_FIELDS: Mapping[str, str] = {
    "PodLevelResources": "spec.resources",
    "SidecarContainers": "spec.initContainers",
    "InPlacePodVerticalScaling": "spec",
    "InPlacePodLevelResourcesVerticalScaling": "spec.resources",
    "InPlacePodVerticalScalingInitContainers": "spec.initContainers",
}


def gates(pod: Pod, server: Server, *, resized: bool = False) -> tuple[Assumption, ...]:
    """Return one assumption for each gate that the pod's figures depend on and whose setting nobody gave.

    A gate that is locked in the version needs none. ``resized``: with the gates of a resize.
    """
    used = [*_used_gates(pod), *(_resize_gates(pod) if resized else ())]
    states = (_gate_state(gate, server) for gate in used)
    return tuple(Assumption(_FIELDS[state.gate], "server/feature-gate", state) for state in states if state)


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


def _gate_state(gate: str, server: Server) -> GateState | None:
    """Return how the gate is taken to be set; None where that is known."""
    exists, minor, version = GATES[gate][0], server.version[1], version_text(server.version)
    if minor < exists:
        return GateState(gate, "absent", version)
    if gate in server.gates or minor >= LOCKED.get(gate, minor + 1):
        return None
    return GateState(gate, "on" if server.is_enabled(gate) else "off", version)
