"""Controllers of Deployments, ReplicaSets, Jobs and StatefulSets: how they change the number of pods.

None of them looks at a quota: a pod that was refused is an unavailable one.

Source: pkg/controller/deployment/{sync,rolling,recreate}.go, util/deployment_util.go;
pkg/controller/replicaset/replica_set.go manageReplicas, controller_utils.go ActivePodsWithRanks;
pkg/controller/statefulset/stateful_set_control.go updateStatefulSet, stateful_pod_control.go CreateStatefulPod.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from kubectl_kres.model.ordinals import length
from kubectl_kres.simulate.replicas import Replica, Replicas, count_pods, gaps, joined, outside, within
from kubectl_kres.simulate.state import (
    DaemonSetState,
    DeploymentState,
    Pods,
    ReplicaSetState,
    StatefulSetState,
    count,
    ready,
)

Sets = tuple[ReplicaSetState, ...]


def sync_deployment(state: DeploymentState, *, may_create: Callable[[], bool]) -> DeploymentState | None:
    """Return the Deployment after the controller's next move; None if it has nothing to do.

    ``may_create``: whether the quota lets one more ReplicaSet in; it is asked only if one is needed.
    """
    if isinstance(state, DaemonSetState):
        return _sync_daemon_set(state)
    active = [item for item in state.sets if item.wanted > 0]
    if state.paused or any(item.desired != state.replicas for item in active):
        sets = _scale_sets(state)
        return state._replace(sets=sets) if sets != state.sets else None
    moved = _recreate(state, may_create) if state.recreate else _roll_sets(state, may_create)
    return moved if moved is not None and moved.sets != state.sets else None


def _set_replica_annotations(state: DeploymentState, item: ReplicaSetState, wanted: int) -> ReplicaSetState:
    """Return a set that was scaled carries what the Deployment wants now."""
    return ReplicaSetState(item.template, wanted, item.pods, state.replicas, state.replicas + state.surge)


def _replace_set(sets: Sets, old: ReplicaSetState, new: ReplicaSetState) -> Sets:
    return tuple(new if item is old else item for item in sets)


def _scale_sets(state: DeploymentState) -> Sets:
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
        return _replace_set(state.sets, only, _set_replica_annotations(state, only, state.replicas))
    if newest is not None and newest.desired == newest.wanted == ready(newest.pods) == state.replicas:
        return tuple(item if item is newest else _set_replica_annotations(state, item, 0) for item in state.sets)
    return state.sets if state.recreate else _proportional(state, active)


def _proportional(state: DeploymentState, active: Sequence[ReplicaSetState]) -> Sets:
    """Return the sets with the pods that are added or taken away shared among them by their size."""
    allowed = state.replicas + state.surge if state.replicas else 0
    to_add = allowed - sum(item.wanted for item in active)
    age = {id(item): index for index, item in enumerate(state.sets)}
    newer_first = -1 if to_add > 0 else 1
    ordered = sorted(active, key=lambda item: (-item.wanted, newer_first * age[id(item)]))
    sizes: list[int] = []
    additions = 0
    for item in ordered:
        share = _share(state, item, to_add, additions)
        sizes.append(item.wanted + share)
        additions += share
    if to_add:
        sizes[0] = max(0, sizes[0] + to_add - additions)
    sets = state.sets
    for item, size in zip(ordered, sizes, strict=True):
        sets = _replace_set(sets, item, _set_replica_annotations(state, item, size))
    return sets


def _share(state: DeploymentState, item: ReplicaSetState, to_add: int, additions: int) -> int:
    """Source: deployment_util.go GetReplicaSetProportion, getReplicaSetFraction."""
    if to_add in {0, additions}:
        return 0
    if state.replicas == 0:
        fraction = -item.wanted
    else:
        size = item.wanted * (state.replicas + state.surge) / (item.most or state.replicas + state.surge)
        fraction = math.floor(size + 0.5) - item.wanted
    allowed = to_add - additions
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
    """Return the Deployment with a ReplicaSet for its template; None if the quota refuses it."""
    if not may_create():
        return None
    new = _set_replica_annotations(
        state, ReplicaSetState(state.template, 0), _wanted_of_new(state, 0, _total(state.sets))
    )
    return state._replace(sets=(*state.sets, new))


def _roll_sets(state: DeploymentState, may_create: Callable[[], bool]) -> DeploymentState | None:
    new = state.newest
    if new is None:
        return _with_new(state, may_create)
    total = _total(state.sets)
    if new.wanted != state.replicas:
        wanted = state.replicas if new.wanted > state.replicas else _wanted_of_new(state, new.wanted, total)
        if wanted != new.wanted:
            return state._replace(sets=_replace_set(state.sets, new, _set_replica_annotations(state, new, wanted)))
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
        after[id(item)] = _set_replica_annotations(state, item, item.wanted - fewer)
        down += fewer
    spare = ready(new.pods) + sum(ready(item.pods) for item in old) - least
    for item in old:
        wanted = after[id(item)].wanted
        if spare <= 0 or wanted == 0:
            continue
        fewer = min(wanted, spare)
        after[id(item)] = _set_replica_annotations(state, item, wanted - fewer)
        spare -= fewer
    return tuple(after.get(id(item), item) for item in state.sets)


def _recreate(state: DeploymentState, may_create: Callable[[], bool]) -> DeploymentState | None:
    new = state.newest
    if any(item.wanted for item in state.sets if item is not new):
        sets = tuple(
            item if item is new or not item.wanted else _set_replica_annotations(state, item, 0) for item in state.sets
        )
        return state._replace(sets=sets)
    if any(count(item.pods) for item in state.sets if item is not new):
        return None
    if new is None:
        return _with_new(state, may_create)
    if new.wanted == state.replicas:
        return None
    return state._replace(sets=_replace_set(state.sets, new, _set_replica_annotations(state, new, state.replicas)))


def _sync_daemon_set(state: DaemonSetState) -> DaemonSetState | None:
    """Return the DaemonSet after its next move. Without a surge an old pod ends first, with one once its node has a new
    one, too. Source: controller/daemon update.go rollingUpdate, where all pods are available.
    """
    new = state.newest or ReplicaSetState(state.template, 0)
    old = [item for item in state.sets if item.template != state.template]
    before = sum(count(item.pods) for item in old)
    running = count(new.pods)
    if state.surge:
        wanted, left = min(state.replicas, state.replicas - before + state.surge), min(before, state.replicas - running)
    else:
        left = before - max(0, min(before, state.unavailable - (state.replicas - before - running)))
        wanted = state.replicas - left
    sets = []
    for item in old:
        keeps = min(left, count(item.pods))
        left -= keeps
        sets.append(item._replace(wanted=keeps))
    after = state._replace(sets=(*sets, new._replace(wanted=max(wanted, running))))
    return after if after.sets != state.sets else None


def kept_sets(state: DeploymentState) -> Sets:
    """Return the ReplicaSets that the history limit lets stay, once the rollout is complete or while it is paused.

    Source: sync.go cleanupDeployment, deployment_util.go DeploymentComplete.
    """
    if len(state.sets) <= state.history:
        return state.sets
    newest = state.newest
    old = [item for item in state.sets if item is not newest]
    updated = ready(newest.pods) if newest is not None else 0
    complete = updated == state.replicas == sum(count(item.pods) for item in state.sets)
    if not (complete and newest is not None) and not state.paused:
        return state.sets
    surplus = old[: max(0, len(old) - state.history)]
    gone = {id(item) for item in surplus if not item.wanted and not item.pods}
    return tuple(item for item in state.sets if id(item) not in gone) if gone else state.sets


def remaining_pods(pods: Pods, wanted: int) -> Iterator[Pods]:
    """Yield every way to be left with ``wanted`` pods: pods that are not ready go first, among equals any can go."""
    surplus = count(pods) - wanted
    if surplus <= 0:
        yield pods
        return
    waiting = tuple(item for item in pods if not item[1])
    running = tuple(item for item in pods if item[1])
    unready = count(waiting)
    if surplus <= unready:
        yield from (tuple(sorted((*left, *running))) for left in _list_remaining_pods(waiting, unready - surplus))
    else:
        yield from _list_remaining_pods(running, count(running) - (surplus - unready))


def _list_remaining_pods(pods: Pods, number: int) -> Iterator[Pods]:
    """Yield every choice of ``number`` among the pods."""
    if not pods:
        yield ()
        return
    (shape, is_ready, have), rest = pods[0], pods[1:]
    others = count(rest)
    for kept in range(max(0, number - others), min(have, number) + 1):
        head = ((shape, is_ready, kept),) if kept else ()
        for tail in _list_remaining_pods(rest, number - kept):
            yield (*head, *tail)


def missing_ordinals(state: StatefulSetState) -> tuple[range, ...]:
    """Return the ordinals that the controller tries to make now, each row of them at once.

    In order: the first that is not there, once all before it are ready; it alone. In parallel: those of one batch;
    batches of 1, 2, 4, ... ordinals follow each other, and one that was refused ends the round.
    """
    absent = next(gaps(state.own_pods, state.ordinals), None)
    if absent is None:
        return ()
    if not state.parallel:
        all_ready = all(replica.ready for replica in state.own_pods if replica.ordinal < absent.start)
        return (absent[:1],) if all_ready else ()
    return tuple(gaps(state.own_pods, _batch_with(state.ordinals, absent.start)))


def _batch_with(ordinals: range, ordinal: int) -> range:
    """Return the batch in which an ordinal is. Source: slowStartBatch."""
    size = 1 << ((ordinal - ordinals.start + 1).bit_length() - 1)
    first = ordinals.start + size - 1
    return range(first, min(first + size, ordinals.stop))


def first_alike(state: StatefulSetState, row: range) -> range:
    """Return the first of a row of missing ordinals whose new pods have one template."""
    border = state.start + state.partition
    return range(row.start, border) if row.start < border < row.stop else row


def last_alike(state: StatefulSetState, row: range) -> range:
    """Return the last of a row of missing ordinals whose new pods have one template."""
    border = state.start + state.partition
    return range(border, row.stop) if row.start < border < row.stop else row


def template_of(state: StatefulSetState, ordinal: int) -> int:
    """Return the template of a new pod. Source: newVersionedStatefulSetPod."""
    if not state.on_delete and ordinal < state.start + state.partition:
        return state.current
    return state.template


def delete_replaced_pods(state: StatefulSetState) -> StatefulSetState | None:
    """Return the set after pods were deleted: those beyond its ordinals, then those that an update replaces. None: none
    is.

    Nothing is deleted while an ordinal is missing.
    """
    own_pods, ordinals = state.own_pods, state.ordinals
    if count_pods(own_pods) < length(ordinals):
        return None
    if not state.parallel and not all(replica.ready for replica in own_pods):
        return None
    if own_pods != state.pods:
        if state.parallel:
            return state._replace(pods=own_pods)
        last = outside(state.pods, ordinals)[-1].last
        return state._replace(pods=outside(state.pods, range(last, last + 1)))
    return None if state.on_delete else _update_stateful_set(state)


def _update_stateful_set(state: StatefulSetState) -> StatefulSetState | None:
    """Return the set, all of whose pods are there, after the next step of an update; None: there is none."""
    gone = _one_replaced(state) if state.unavailable is None else _several_replaced(state)
    if gone:
        pods = state.pods
        for ordinals in gone:
            pods = outside(pods, ordinals)
        return state._replace(pods=pods)
    finished = all(replica.template == state.template and replica.ready for replica in state.pods)
    if finished and state.current != state.template:
        return state._replace(current=state.template)
    return None


def _one_replaced(state: StatefulSetState) -> tuple[range, ...]:
    """Return the highest old ordinal, unless one above it is not ready. Source: updateStatefulSet without the gate."""
    for replica in reversed(_updatable(state)):
        if replica.template != state.template:
            return (range(replica.last, replica.last + 1),)
        if not replica.ready:
            break
    return ()


def _several_replaced(state: StatefulSetState) -> list[range]:
    """As many as may be away; in parallel also each old one that is not ready, as nothing is lost with it.

    Source: updateStatefulSetAfterInvariantEstablished.
    """
    old = [item for item in reversed(_updatable(state)) if item.template != state.template]
    room = max(0, (state.unavailable or 1) - count_pods(replica for replica in state.pods if not replica.ready))
    gone = [item.ordinals for item in old if state.parallel and not item.ready]
    for item in old:
        if (item.ready or not state.parallel) and room:
            replaced = min(room, item.number)
            gone.append(range(item.last + 1 - replaced, item.last + 1))
            room -= replaced
    return gone


def _updatable(state: StatefulSetState) -> Replicas:
    """Return the pods that no partition keeps."""
    first = state.start + state.partition
    return within(state.pods, range(first, max(first, state.pods[-1].last + 1))) if state.pods else ()


def kept_revisions(state: StatefulSetState) -> tuple[int, ...]:
    """Return the templates whose ControllerRevisions the history limit lets stay; those in use always do.

    Source: stateful_set_control.go truncateHistory, which runs at each sync, also where the newest one was refused.
    """
    if len(state.revisions) <= state.history or state.history < 0:
        return state.revisions
    live = {replica.template for replica in state.pods}
    if state.template in state.revisions:
        live |= {state.template, state.current}
    old = [template for template in state.revisions if template not in live]
    gone = set(old[: max(0, len(old) - state.history)])
    return tuple(template for template in state.revisions if template not in gone) if gone else state.revisions


def with_replica(state: StatefulSetState, replica: Replica) -> StatefulSetState:
    """Return the set and new pods."""
    return state._replace(pods=joined((*state.pods, replica)))
