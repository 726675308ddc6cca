"""What becomes of the next pod of a workload: one that takes the place of a pod that is deleted."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import Any

from msgspec import Struct

from kubectl_kres.simulate.moves import State
from kubectl_kres.simulate.shapes import SUFFIX, pruned
from kubectl_kres.simulate.simulation import NamespaceSimulation
from kubectl_kres.simulate.state import WorkloadState, shapes_of, wanted_of
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
    world = namespace.tables.worlds[state.world]
    for key, workload in state.workloads:
        if key in known:
            continue
        counts = list(shapes_of(workload))
        wanted = wanted_of(workload)
        if (counts or wanted) and not getattr(workload, "ended", ""):
            shapes, number = [shape for shape, _ in counts], sum(many for _, many in counts)
            yield _next(namespace, state, key, shapes, number, wanted, workload)
    controlled = {key for key, _ in state.workloads}
    for key in sorted(key for key in world.objects if key not in controlled and key not in known and key[0] != "Pod"):
        if template_raw(world.objects[key]):
            other = namespace.others.get(key, ())
            yield _next(namespace, state, key, other, len(other), len(other))


def _next(
    namespace: NamespaceSimulation,
    state: State,
    key: Key,
    shapes: Any,
    number: int,
    wanted: int,
    workload: WorkloadState | None = None,
) -> Next:
    tables = namespace.tables
    world = tables.worlds[state.world]
    template = (
        workload.template if workload is not None else tables.template_of(world.objects[key], whole=key in world.whole)
    )
    if shapes:
        state = state.charged(tables.shapes[shapes[0]].cost, -1)
    options = [tables.shapes[shape] for shape in tables.options(template, world)]
    outcomes = tables.refusals(template, world)
    if not outcomes and all(map(state.admits, options)):
        return Next(key, number, wanted, (), tuple(shape.stored for shape in options))
    if options:
        outcomes = tables.outcomes(template, world, namespace.requests.policies(state))
    messages = dict.fromkeys(
        outcome.message.replace(f'{SUFFIX}"', '-*"', 1) for outcome in outcomes if not outcome.allowed
    )
    stored = {repr(outcome.object): pruned(outcome.object) for outcome in outcomes if outcome.object is not None}
    return Next(key, number, wanted, tuple(messages), tuple(stored.values()))
