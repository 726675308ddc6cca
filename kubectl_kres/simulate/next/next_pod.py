"""What becomes of the next pod of a workload: one that takes the place of a pod that is deleted."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import Any, NamedTuple

from msgspec import Struct

from kubectl_kres.simulate.controllers.statefulset import template_of
from kubectl_kres.simulate.moves import State
from kubectl_kres.simulate.shapes import SUFFIX, pruned
from kubectl_kres.simulate.simulation import NamespaceSimulation
from kubectl_kres.simulate.state import DeploymentState, StatefulSetState, WorkloadState, pods_of, shapes_of, wanted_of
from kubectl_kres.simulate.world import Key, template_raw


class Next(Struct, frozen=True):
    """The next pod of a workload. ``messages``: the server's words if it is refused. ``stored``: as it would be stored,
    once for each order of LimitRanges that matters. ``pods``: how many pods of the workload there are.
    """

    key: Key
    pods: int
    wanted: int
    messages: tuple[str, ...] = ()
    stored: tuple[Mapping[str, Any], ...] = ()


def next_pods(namespace: NamespaceSimulation, state: State, known: Container[Key] = ()) -> Iterator[Next]:
    """The next pod of everything that makes pods and has some, or wants some; not of what is ``known``."""
    tables = namespace.tables
    world = tables.worlds[state.world]
    for key, workload in state.workloads:
        if key in known:
            continue
        number, wanted = pods_of(workload), wanted_of(workload)
        if (number or wanted) and not getattr(workload, "ended", ""):
            # Of those that can be next that which is refused.
            every = [_next(namespace, state, key, pod, number, wanted) for pod in _replacements(workload)]
            yield next((item for item in every if item.messages), every[-1])
    controlled = {key for key, _ in state.workloads}
    for key in sorted(key for key in world.objects if key not in controlled and key not in known and key[0] != "Pod"):
        if template_raw(world.objects[key]):
            other = namespace.others.get(key, ())
            pod = _Replacement(
                other[0] if other else None, tables.template_of(world.objects[key], whole=key in world.whole)
            )
            yield _next(namespace, state, key, pod, len(other), len(other))


class _Replacement(NamedTuple):
    """A pod that is deleted, by its shape (None: there is none), and the template of what comes in its place."""

    shape: int | None
    template: int


def _replacements(workload: WorkloadState) -> list[_Replacement]:
    """The pods that can be next; of a StatefulSet one above its partition and one below."""
    shape = next((shape for shape, _ in shapes_of(workload)), None)
    match workload:
        case DeploymentState(paused=True, sets=[*_, newest]):
            # Its sets stay as they are, and each makes its own pods anew.
            item = next((item for item in workload.sets if item.pods), newest)
            return [_Replacement(shape, item.template)]
        case StatefulSetState(pods=[first, *rest]):
            ends = {template_of(workload, pod.ordinal): pod for pod in (*rest[-1:], first)}
            return [
                _Replacement(pod.shape, template) for template, pod in sorted(ends.items(), key=lambda item: item[1])
            ]
    return [_Replacement(shape, workload.template)]


def _next(namespace: NamespaceSimulation, state: State, key: Key, pod: _Replacement, number: int, wanted: int) -> Next:
    tables = namespace.tables
    world = tables.worlds[state.world]
    if pod.shape is not None:
        state = state.charged(tables.shapes[pod.shape].cost, -1)
    options = [tables.shapes[shape] for shape in tables.options(pod.template, world)]
    outcomes = tables.refusals(pod.template, world)
    if not outcomes and all(map(state.admits, options)):
        return Next(key, number, wanted, (), tuple(shape.stored for shape in options))
    if options:
        outcomes = tables.outcomes(pod.template, world, namespace.requests.policies(state))
    messages = dict.fromkeys(
        outcome.message.replace(f'{SUFFIX}"', '-*"', 1) for outcome in outcomes if not outcome.allowed
    )
    stored = {repr(outcome.object): pruned(outcome.object) for outcome in outcomes if outcome.object is not None}
    return Next(key, number, wanted, tuple(messages), tuple(stored.values()))
