"""The pods that a change creates, and those that go with it: what nodes have to take, and what they get back."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from kubectl_kres.model.objects import ObjectRef, Raw, mapping
from kubectl_kres.reports.changes.report import WorkloadChange
from kubectl_kres.reports.pod.scheduling_needs import PLACED_KINDS
from kubectl_kres.simulate.moves import State
from kubectl_kres.simulate.simulation import NamespaceSimulation
from kubectl_kres.simulate.state import DeploymentState, Key, StatefulSetState, World, pods_of, template_raw

_NOTHING: Raw = {}


class Rollout(NamedTuple):
    """How many pods of an older template are replaced, and how many of them may end before a new one has come."""

    replaced: int
    unavailable: int


class CreatedPods(NamedTuple):
    """Admitted pods of one workload that a change creates.

    ``more``: how many there are more than before. ``rollout``: what a rollout replaces besides; None: there is none.
    ``raw``: the workload as a file has it; None: it is stored, and the steps change it. ``stored``: the spec of such a
    pod as the server stores it, as far as resources decide; empty: not known. ``selector``: of the workload's pods.
    """

    ref: ObjectRef
    more: int
    rollout: Rollout | None = None
    raw: Raw | None = None
    stored: Mapping[str, Any] = {}
    selector: Raw = _NOTHING

    @property
    def number(self) -> int:
        """Return how many pods nodes have to take."""
        return self.more + (self.rollout.replaced if self.rollout is not None else 0)


class GonePods(NamedTuple):
    """A workload, or a pod, whose pods all go; ``selector``: of its pods, empty for a pod."""

    ref: ObjectRef
    selector: Raw = _NOTHING


class PodsOfChange(NamedTuple):
    """All pods that come and go, in the order in which they are named."""

    created: tuple[CreatedPods, ...] = ()
    removed: tuple[GonePods, ...] = ()


#: A namespace on one side of a change: its simulation, and a state that it comes to; None: it is not there.
SideOfSpace = tuple[NamespaceSimulation, State] | None


def _world(side: SideOfSpace) -> World | None:
    return side[0].tables.worlds[side[1].world] if side is not None else None


def pods_of_space(
    space: str,
    changes: Iterable[WorkloadChange],
    worlds: tuple[SideOfSpace, SideOfSpace],
    stored: Mapping[Key, Mapping[str, Any]],
    touched: Container[Key],
) -> PodsOfChange:
    """Return the pods of one namespace. ``stored``: the next pod of each workload after the change. ``touched``: what
    steps are about, of which a rollout is looked for.
    """
    by_key = {(change.subject.kind, change.subject.name): change for change in changes}
    created: list[CreatedPods] = []
    gone: list[GonePods] = []
    before, after = map(_world, worlds)
    keys = [*by_key, *(key for key in (after.objects if after is not None else ()) if key in touched)]
    for key in dict.fromkeys(keys):
        change, ref = by_key.get(key), ObjectRef(key[0], key[1], space)
        if key[0] not in PLACED_KINDS:
            continue
        more = _count_new_pods(change)
        raw = (after.objects.get(key) if after is not None else None) or _NOTHING
        old = (before.objects.get(key) if before is not None else None) or _NOTHING
        whole = after is not None and key in after.complete
        patched = bool(raw) and bool(old) and not whole and template_raw(raw) != template_raw(old)
        rolled = _rolled(key, worlds, patched=patched) if key in touched else None
        if change is not None and change.before is not None and change.before.best and not _pods_left(change):
            gone.append(GonePods(ref, mapping(mapping(old, "spec"), "selector")))
        elif more or rolled is not None:
            selector = mapping(mapping(raw, "spec"), "selector")
            created.append(CreatedPods(ref, more, rolled, raw if whole else None, stored.get(key, {}), selector))
    return PodsOfChange(tuple(created), tuple(gone))


def _pods_left(change: WorkloadChange) -> int:
    return change.after.best if change.after is not None else 0


def _count_new_pods(change: WorkloadChange | None) -> int:
    """Return how many pods are there after the change that were not before; in a race the fewest."""
    if change is None or change.uncounted or change.after is None:
        return 0
    return max(0, change.after.pods - (change.before.pods if change.before is not None else 0))


def _rolled(key: Key, worlds: tuple[SideOfSpace, SideOfSpace], *, patched: bool) -> Rollout | None:
    """Return what a rollout of the workload replaces; None where its template stays or there are no pods.

    ``patched``: a step changed something of its template; templates that cost quotas the same have the same number.
    """
    sides = list(_states(key, worlds))
    if len(sides) != 2:
        return None
    was, now = sides
    if not isinstance(now, DeploymentState | StatefulSetState) or not pods_of(was):
        return None
    if was.template == now.template and not patched:
        return None
    replaced = min(pods_of(was), now.replicas)
    if isinstance(now, DeploymentState):
        return None if now.paused else Rollout(replaced, _ends_first(now))
    return None if now.on_delete else Rollout(replaced, 1)


def _ends_first(workload: DeploymentState) -> int:
    return workload.replicas if workload.recreate else workload.unavailable


def _states(key: Key, worlds: tuple[SideOfSpace, SideOfSpace]) -> Iterator[Any]:
    for pair in worlds:
        index = pair[1].workloads.index_of(key) if pair is not None else None
        if pair is not None and index is not None:
            yield pair[1].workloads[index][1]


def merged_pods(parts: Iterable[PodsOfChange]) -> PodsOfChange:
    """Return the pods of several namespaces together."""
    every = tuple(parts)
    return PodsOfChange(
        tuple(item for part in every for item in part.created), tuple(item for part in every for item in part.removed)
    )
