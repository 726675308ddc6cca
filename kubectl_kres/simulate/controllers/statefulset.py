"""The StatefulSet controller: which ordinals it makes, and which it takes down.

Source: pkg/controller/statefulset/stateful_set_control.go updateStatefulSet, stateful_pod_control.go CreateStatefulPod.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.simulate.state import Replica, StatefulSetState


def missing(state: StatefulSetState) -> tuple[int, ...]:
    """The ordinals that the controller tries to make now.

    In order: the first that is not there, once all before it are ready. In parallel: those of one batch; batches of 1,
    2, 4, ... ordinals follow each other, and one that was refused ends the round.
    """
    pods = {replica.ordinal: replica for replica in state.pods}
    if not state.parallel:
        for ordinal in state.ordinals:
            if ordinal not in pods:
                return (ordinal,)
            if not pods[ordinal].ready:
                return ()
        return ()
    for batch in _batches(state.ordinals):
        absent = tuple(ordinal for ordinal in batch if ordinal not in pods)
        if absent:
            return absent
    return ()


def _batches(ordinals: range) -> Iterator[range]:
    """Source: slowStartBatch."""
    done, size = 0, 1
    while done < len(ordinals):
        yield ordinals[done : done + size]
        done += size
        size *= 2


def template_of(state: StatefulSetState, ordinal: int) -> int:
    """The template of a new pod. Source: newVersionedStatefulSetPod."""
    if not state.on_delete and ordinal < state.start + state.partition:
        return state.current
    return state.template


def taken_down(state: StatefulSetState) -> StatefulSetState | None:
    """The set after pods were deleted: those beyond its ordinals, then those that an update replaces. None: none is.

    Nothing is deleted while an ordinal is missing.
    """
    ordinals = state.ordinals
    present = {replica.ordinal: replica for replica in state.pods}
    if any(ordinal not in present for ordinal in ordinals):
        return None
    ready = all(present[ordinal].ready for ordinal in ordinals)
    if not ready and not state.parallel:
        return None
    beyond = [replica for replica in state.pods if replica.ordinal not in ordinals]
    if beyond:
        gone = set(beyond) if state.parallel else {max(beyond)}
        return state._replace(pods=tuple(replica for replica in state.pods if replica not in gone))
    if state.on_delete:
        return None
    return _updated(state, present)


def _updated(state: StatefulSetState, present: dict[int, Replica]) -> StatefulSetState | None:
    gone = _one_replaced(state, present) if state.unavailable is None else _several_replaced(state, present)
    if gone:
        return state._replace(pods=tuple(replica for replica in state.pods if replica.ordinal not in gone))
    finished = all(present[ordinal].template == state.template and present[ordinal].ready for ordinal in state.ordinals)
    if finished and state.current != state.template:
        return state._replace(current=state.template)
    return None


def _one_replaced(state: StatefulSetState, present: dict[int, Replica]) -> set[int]:
    """The highest old ordinal, unless one above it is not ready. Source: updateStatefulSet without the gate."""
    for ordinal in reversed(state.ordinals):
        if ordinal < state.start + state.partition:
            break
        if present[ordinal].template != state.template:
            return {ordinal}
        if not present[ordinal].ready:
            break
    return set()


def _several_replaced(state: StatefulSetState, present: dict[int, Replica]) -> set[int]:
    """As many as may be away; in parallel also each old one that is not ready, as nothing is lost with it.

    Source: updateStatefulSetAfterInvariantEstablished.
    """
    waiting = [ordinal for ordinal in state.ordinals if not present[ordinal].ready]
    old = [
        ordinal
        for ordinal in reversed(state.ordinals)
        if ordinal >= state.start + state.partition and present[ordinal].template != state.template
    ]
    room = max(0, (state.unavailable or 1) - len(waiting))
    gone = set(old) & set(waiting) if state.parallel else set()
    return gone | set([ordinal for ordinal in old if present[ordinal].ready or not state.parallel][:room])


def with_replica(state: StatefulSetState, replica: Replica) -> StatefulSetState:
    """The set and a new pod."""
    return state._replace(pods=tuple(sorted((*state.pods, replica))))
