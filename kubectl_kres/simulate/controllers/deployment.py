"""The Deployment controller: how many pods each ReplicaSet is to have.

It never looks at a quota: a pod that was refused is an unavailable one.

Source: pkg/controller/deployment/{sync,rolling,recreate}.go, util/deployment_util.go.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from kubectl_kres.simulate.state import DeploymentState, ReplicaSetState, count, ready

Sets = tuple[ReplicaSetState, ...]


def fenceposts(surge: object, unavailable: object, replicas: int) -> tuple[int, int]:
    """Surge and unavailability as numbers: surge is rounded up, unavailability down, and both are never zero.

    Source: deployment_util.go ResolveFenceposts, MaxUnavailable.
    """
    more, fewer = _resolved(surge, replicas, up=True), _resolved(unavailable, replicas, up=False)
    if more == 0 and fewer == 0:
        fewer = 1
    return more, min(fewer, replicas)


def _resolved(value: object, total: int, *, up: bool) -> int:
    if value is None:
        value = "25%"
    if isinstance(value, str) and value.endswith("%") and value[:-1].isdigit():
        share = int(value[:-1]) * total
        return -(-share // 100) if up else share // 100
    return int(value) if isinstance(value, int | str) and str(value).isdigit() else 0


def synced(state: DeploymentState, *, may_create: Callable[[], bool]) -> DeploymentState | None:
    """The Deployment after the controller's next move; None if it has nothing to do.

    ``may_create``: whether the quota lets one more ReplicaSet in; it is asked only if one is needed.
    """
    active = [item for item in state.sets if item.wanted > 0]
    if state.paused or any(item.desired != state.replicas for item in active):
        sets = _scaled(state)
        return state._replace(sets=sets) if sets != state.sets else None
    moved = _recreate(state, may_create) if state.recreate else _rolling(state, may_create)
    return moved if moved is not None and moved.sets != state.sets else None


def _annotated(state: DeploymentState, item: ReplicaSetState, wanted: int) -> ReplicaSetState:
    """A set that was scaled carries what the Deployment wants now."""
    return item._replace(wanted=wanted, desired=state.replicas, most=state.replicas + state.surge)


def _replaced(sets: Sets, old: ReplicaSetState, new: ReplicaSetState) -> Sets:
    return tuple(new if item is old else item for item in sets)


def _scaled(state: DeploymentState) -> Sets:
    """Source: sync.go scale."""
    active = [item for item in state.sets if item.wanted > 0]
    newest = state.newest
    only = active[0] if len(active) == 1 else None
    if not active:
        only = newest if newest is not None else (state.sets[-1] if state.sets else None)
    if only is None and not active:
        return state.sets
    if only is not None:
        if only.wanted == state.replicas and (not active or only.desired == state.replicas):
            return state.sets
        return _replaced(state.sets, only, _annotated(state, only, state.replicas))
    if newest is not None and newest.desired == newest.wanted == ready(newest.pods) == state.replicas:
        return tuple(item if item is newest else _annotated(state, item, 0) for item in state.sets)
    return state.sets if state.recreate else _proportional(state, active)


def _proportional(state: DeploymentState, active: Sequence[ReplicaSetState]) -> Sets:
    """The pods that are added or taken away are shared among the sets by their size."""
    allowed = state.replicas + state.surge if state.replicas else 0
    to_add = allowed - sum(item.wanted for item in active)
    age = {id(item): index for index, item in enumerate(state.sets)}
    newer_first = -1 if to_add > 0 else 1
    ordered = sorted(active, key=lambda item: (-item.wanted, newer_first * age[id(item)]))
    sizes: list[int] = []
    added = 0
    for item in ordered:
        share = _share(state, item, to_add, added)
        sizes.append(item.wanted + share)
        added += share
    if to_add:
        sizes[0] = max(0, sizes[0] + to_add - added)
    sets = state.sets
    for item, size in zip(ordered, sizes, strict=True):
        sets = _replaced(sets, item, _annotated(state, item, size))
    return sets


def _share(state: DeploymentState, item: ReplicaSetState, to_add: int, added: int) -> int:
    """Source: deployment_util.go GetReplicaSetProportion, getReplicaSetFraction."""
    if to_add in {0, added}:
        return 0
    if state.replicas == 0:
        fraction = -item.wanted
    else:
        size = item.wanted * (state.replicas + state.surge) / (item.most or state.replicas + state.surge)
        fraction = math.floor(size + 0.5) - item.wanted
    allowed = to_add - added
    return min(fraction, allowed) if to_add > 0 else max(fraction, allowed)


def _total(sets: Iterable[ReplicaSetState]) -> int:
    return sum(item.wanted for item in sets)


def _wanted_of_new(state: DeploymentState, have: int, total: int) -> int:
    """Source: deployment_util.go NewRSNewReplicas."""
    if state.recreate:
        return state.replicas
    room = state.replicas + state.surge - total
    return have if room <= 0 else have + min(room, state.replicas - have)


def _with_new(state: DeploymentState, may_create: Callable[[], bool]) -> DeploymentState | None:
    """The Deployment with a ReplicaSet for its template; None if the quota refuses it."""
    if not may_create():
        return None
    new = _annotated(state, ReplicaSetState(state.template, 0), _wanted_of_new(state, 0, _total(state.sets)))
    return state._replace(sets=(*state.sets, new))


def _rolling(state: DeploymentState, may_create: Callable[[], bool]) -> DeploymentState | None:
    new = state.newest
    if new is None:
        return _with_new(state, may_create)
    total = _total(state.sets)
    if new.wanted != state.replicas:
        wanted = state.replicas if new.wanted > state.replicas else _wanted_of_new(state, new.wanted, total)
        if wanted != new.wanted:
            return state._replace(sets=_replaced(state.sets, new, _annotated(state, new, wanted)))
    old = [item for item in state.sets if item is not new]
    if not _total(old):
        return None
    least = state.replicas - state.unavailable
    most_down = total - least - (new.wanted - ready(new.pods))
    if most_down <= 0:
        return None
    return state._replace(sets=_scaled_down(state, new, old, most_down, least))


def _scaled_down(
    state: DeploymentState, new: ReplicaSetState, old: Sequence[ReplicaSetState], most_down: int, least: int
) -> Sets:
    """First what old sets want and do not have, then pods that are available. Source: rolling.go."""
    after = {id(item): item for item in old}
    down = 0
    for item in old:
        lacking = item.wanted - ready(item.pods)
        if down >= most_down or item.wanted == 0 or lacking <= 0:
            continue
        fewer = min(most_down - down, lacking)
        after[id(item)] = _annotated(state, item, item.wanted - fewer)
        down += fewer
    spare = ready(new.pods) + sum(ready(item.pods) for item in old) - least
    for item in old:
        wanted = after[id(item)].wanted
        if spare <= 0 or wanted == 0:
            continue
        fewer = min(wanted, spare)
        after[id(item)] = _annotated(state, item, wanted - fewer)
        spare -= fewer
    return tuple(after.get(id(item), item) for item in state.sets)


def _recreate(state: DeploymentState, may_create: Callable[[], bool]) -> DeploymentState | None:
    new = state.newest
    if any(item.wanted for item in state.sets if item is not new):
        sets = tuple(item if item is new or not item.wanted else _annotated(state, item, 0) for item in state.sets)
        return state._replace(sets=sets)
    if any(count(item.pods) for item in state.sets if item is not new):
        return None
    if new is None:
        return _with_new(state, may_create)
    if new.wanted == state.replicas:
        return None
    return state._replace(sets=_replaced(state.sets, new, _annotated(state, new, state.replicas)))
