"""Objects and namespaces that tests of changes share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kubectl_kres.admission.base.server import Server
from kubectl_kres.simulate.change import Step, WaitForControllers
from kubectl_kres.simulate.final_states import FinalState
from kubectl_kres.simulate.moves import Kubelet, State
from kubectl_kres.simulate.simulation import NamespaceSimulation
from kubectl_kres.simulate.state import World

Raw = dict[str, Any]


def quota(name: str = "q", **hard: str) -> Raw:
    named = {key.replace("_", "."): value for key, value in hard.items()}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name}, "spec": {"hard": named}}


def limit_range(name: str = "l", **item: Any) -> Raw:
    limits = [{"type": "Container", **item}]
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": name}, "spec": {"limits": limits}}


def template(name: str, cpu: str = "") -> Raw:
    resources = {"requests": {"cpu": cpu}} if cpu else {}
    containers = [{"name": "c", "image": "example.test/x", "resources": resources}]
    return {"metadata": {"labels": {"app": name}}, "spec": {"containers": containers}}


def workload(kind: str, name: str, cpu: str = "", replicas: int = 1, **spec: Any) -> Raw:
    more: Raw = {"serviceName": name} if kind == "StatefulSet" else {}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": template(name, cpu),
            **more,
            **spec,
        },
    }


RUNNING = Kubelet()


def play(
    steps: Sequence[Step], *, given: Sequence[Step] = (), kubelet: Kubelet = RUNNING, between: bool = False
) -> tuple[NamespaceSimulation, tuple[State, ...], list[FinalState]]:
    """The ends of some steps after others that were given time to settle."""
    world = World.from_objects(())
    namespace = NamespaceSimulation(Server(), world, [*given, *steps])
    settled = [step for one in given for step in (one, WaitForControllers())]
    starts = namespace.after([namespace.empty(world)], settled, Kubelet(), between=False).states
    ends = namespace.after(starts, steps, kubelet, between=between)
    return namespace, ends.states, [namespace.describe_final_state(state) for state in ends.states]


def pods(end: FinalState) -> dict[str, int]:
    return {one.name: one.pods for one in end.workloads}
