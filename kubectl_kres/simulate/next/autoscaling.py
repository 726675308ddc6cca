"""How far the autoscalers of a namespace get under its quotas as they are in a state."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from kubectl_kres.model.raw import decoded
from kubectl_kres.model.workload import HorizontalPodAutoscaler
from kubectl_kres.quantity import Quantity
from kubectl_kres.simulate.moves import State
from kubectl_kres.simulate.simulation import NamespaceSimulation
from kubectl_kres.simulate.state import Cost, StatefulSetState, WorkloadState, pods_of
from kubectl_kres.simulate.world import Key


class Maximum(Struct, frozen=True):
    """An autoscaler at its maxReplicas (``most``): ``fits`` of them there can be, those that exist with them.

    ``lacks``: quota, resource and amount that is missing for the rest; empty where a pod is refused for another reason.
    """

    autoscaler: str
    most: int
    fits: int
    lacks: tuple[tuple[str, str, str], ...] = ()


def maxima(namespace: NamespaceSimulation, state: State) -> dict[Key, Maximum]:
    """By workload; of several autoscalers of one the one that asks for most."""
    world = namespace.tables.worlds[state.world]
    result = dict(state.workloads)
    maximums: dict[Key, Maximum] = {}
    for raw in world.of_kind("HorizontalPodAutoscaler"):
        scaler = decoded(raw, HorizontalPodAutoscaler)
        key = (scaler.spec.scale_target_ref.kind, scaler.spec.scale_target_ref.name)
        most = scaler.spec.max_replicas
        if key in result and most > (maximums[key].most if key in maximums else 0):
            maximums[key] = _maximum(namespace, state, key, result[key], scaler.metadata.name, most)
    return maximums


def _maximum(
    namespace: NamespaceSimulation, state: State, key: Key, workload: WorkloadState, name: str, most: int
) -> Maximum:
    tables = namespace.tables
    world = tables.worlds[state.world]
    existing = pods_of(workload)
    more = max(0, most - existing)
    shapes = [tables.shapes[number] for number in tables.options(workload.template, world)]
    if not shapes or tables.refusals(workload.template, world):
        return Maximum(name, most, min(most, existing))
    if any(state.limits[number] is not None for shape in shapes for number in shape.unstated):
        return Maximum(name, most, min(most, existing))
    costs = [_summed((*shape.cost, *_claims(namespace, state, key, workload))) for shape in shapes]
    cost = min(costs, key=lambda value: state.room(value, more))
    fits = existing + max(0, state.room(cost, more))
    return Maximum(name, most, min(most, fits), tuple(_lacks(namespace, state, cost, more)))


def _claims(
    namespace: NamespaceSimulation, state: State, key: Key, workload: WorkloadState
) -> Iterator[tuple[int, int]]:
    if isinstance(workload, StatefulSetState):
        world = namespace.tables.worlds[state.world]
        for claim in workload.claims:
            yield from namespace.tables.claim_cost(world.objects[key], claim, world) or ()


def _summed(parts: Cost) -> Cost:
    sums: dict[int, int] = {}
    for number, amount in parts:
        sums[number] = sums.get(number, 0) + amount
    return tuple(sums.items())


def _lacks(namespace: NamespaceSimulation, state: State, cost: Cost, more: int) -> Iterator[tuple[str, str, str]]:
    measures = namespace.tables.measures
    for number, amount in cost:
        limit = state.limits[number]
        if limit is not None and amount > 0 and state.used[number] + more * amount > limit:
            short = Quantity(state.used[number] + more * amount - limit, measures.formats.get(number, "DecimalSI"))
            yield measures.items[number].quota, measures.items[number].resource, str(short)
