"""Moves: every single step that a controller can take next.

What becomes of the claims of a StatefulSet's pods that go for good.

Source: pkg/controller/statefulset/stateful_set_utils.go getPersistentVolumeClaimRetentionPolicy: such a claim is owned
by the pod or the set, and garbage collection takes it with its owner.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from kubectl_kres.model.objects import Raw, mapping, text
from kubectl_kres.simulate import controllers
from kubectl_kres.simulate.controllers import kept_revisions, kept_sets, remaining_pods, sync_deployment
from kubectl_kres.simulate.shapes import Shape
from kubectl_kres.simulate.state import (
    Common,
    Cost,
    DeploymentState,
    JobState,
    Pods,
    Replica,
    ReplicaSetState,
    StatefulSetState,
    Workloads,
    WorkloadState,
    count,
    revisions_of,
    shape_counts,
    with_pod,
)
from kubectl_kres.simulate.tables import Tables

#: How pods of Jobs end.
Ends = Literal["run", "complete", "fail"]


class State(NamedTuple):
    """A namespace at one moment. ``limits``: what each measure is held against, None where no quota does; it lags
    behind the quotas of the world until their controller has seen them. ``answers``: what the server said to each step.
    """

    world: int
    step: int
    used: tuple[int, ...]
    limits: tuple[int | None, ...]
    workloads: Workloads
    claims: frozenset[str]
    answers: tuple[int, ...] = ()

    def fits(self, cost: Cost) -> bool:
        """Return whether every quota has room."""
        limits, used = self.limits, self.used
        for number, amount in cost:
            limit = limits[number]
            if limit is not None and used[number] + amount > limit:
                return False
        return True

    def admits(self, shape: Shape) -> bool:
        """Return whether every quota has room for a pod of a shape, and none wants stated what it does not state."""
        return self.fits(shape.cost) and all(self.limits[number] is None for number in shape.unstated)

    def room(self, cost: Cost, maximum: int) -> int:
        """Return how often every quota has room for it, at most ``maximum``."""
        for number, amount in cost:
            limit = self.limits[number]
            if limit is not None and amount > 0:
                maximum = min(maximum, (limit - self.used[number]) // amount)
        return maximum

    def with_charge(self, cost: Cost, times: int = 1) -> State:
        """Return the state once something was made, or with a negative number of times, is gone."""
        if not cost or not times:
            return self
        used = list(self.used)
        for number, amount in cost:
            used[number] += amount * times
        return State(self.world, self.step, tuple(used), *self[3:])

    def compacted(self) -> State:
        """Return the same state; where many workloads have changed, those that follow have them in common."""
        workloads = self.workloads.compacted()
        return self if workloads is self.workloads else self._replace(workloads=workloads)

    def with_entry(self, index: int, workload: WorkloadState) -> State:
        """Return the state with one workload changed."""
        return self._replace(workloads=self.workloads.with_entry(index, workload))


class Kubelet(NamedTuple):
    """What becomes of pods once they exist: whether new ones get ready, and how those of Jobs end."""

    ready: bool = True
    jobs: Ends = "run"


class Controllers:
    """All controllers of a namespace over the tables of one simulation."""

    def __init__(self, tables: Tables, kubelet: Kubelet) -> None:
        self.tables, self.kubelet = tables, kubelet
        #: Workloads whose controllers have nothing to do, by identity: of many only few are looked at in each state.
        self._idle: dict[int, tuple[WorkloadState, bool]] = {}
        #: The active ones of what states have in common, by its identity.
        self._common: dict[int, tuple[Common, list[int]]] = {}

    def active(self, state: State) -> list[int]:
        """Return the places of the workloads whose controllers would do something, whatever room there is."""
        workloads, common = state.workloads, state.workloads.common
        known = self._common.get(id(common))
        if known is None:
            before = self._common.get(id(common.before))
            first = len(common.items) - 1 if before is not None else 0
            active = [index for index in range(first, len(common.items)) if not self.is_idle(common.items[index][1])]
            known = self._common[id(common)] = common, [*(before[1] if before is not None else ()), *active]
        indexes = sorted({*known[1], *workloads.changed})
        return [index for index in indexes if not self.is_idle(workloads[index][1])]

    def is_idle(self, workload: WorkloadState) -> bool:
        """Return whether the controllers of a workload have nothing to do, whatever room there is."""
        outcome = self._idle.get(id(workload))
        if outcome is None:
            outcome = self._idle[id(workload)] = workload, self._is_idle(workload)
        return outcome[1]

    def _is_idle(self, workload: WorkloadState) -> bool:
        match workload:
            case DeploymentState():
                settled = kept_sets(workload) is workload.sets
                settled &= all(count(item.pods) == item.wanted for item in workload.sets)
                return settled and sync_deployment(workload, may_create=lambda: True) is None
            case StatefulSetState():
                rests = (
                    not controllers.missing_ordinals(workload) and controllers.delete_replaced_pods(workload) is None
                )
                rests &= kept_revisions(workload) is workload.revisions
                return rests and not self.tables.lacks_revision(workload)
            case JobState() if not workload.ended and self.kubelet.jobs != "run":
                return False
        return count(workload.pods) == workload.wanted

    def deletions(self, state: State, indexes: Iterable[int]) -> tuple[State, ...]:
        """Return every way in which the first controller that has too many pods deletes them; empty if none has."""
        for index in indexes:
            result = tuple(self.delete_surplus(state, index))
            if result:
                return result
        return ()

    def next_moves(self, state: State, index: int, *, alone: bool = False) -> Iterator[State]:
        """Yield every other move of one workload's controllers. ``alone``: nobody can come between two of its pods, so
        that all that have room come at once.
        """
        workload = state.workloads[index][1]
        match workload:
            case DeploymentState():
                yield from self._deployment(state, index, workload, alone=alone)
            case ReplicaSetState():
                for pods, shape, number in self._add_missing_pods(state, workload, alone=alone):
                    next_state = state.with_entry(index, workload._replace(pods=pods))
                    yield next_state.with_charge(self.tables.shapes[shape].cost, number)
            case StatefulSetState():
                yield from self._stateful_set(state, index, workload)
            case JobState():
                yield from self._job(state, index, workload, alone=alone)

    def fitting(self, state: State, template: int) -> Iterator[int]:
        """Yield the shapes in which a new pod of a template would be admitted now."""
        world = self.tables.worlds[state.world]
        for shape in self.tables.options(template, world):
            if state.admits(self.tables.shapes[shape]):
                yield shape

    def _add_missing_pods(
        self, state: State, item: ReplicaSetState | JobState, *, alone: bool
    ) -> Iterator[tuple[Pods, int, int]]:
        """Yield the pods with new ones, their shape and their number, for each shape."""
        missing = item.wanted - count(item.pods)
        if missing <= 0:
            return
        fitting = list(self.fitting(state, item.template))
        for shape in fitting:
            number = state.room(self.tables.shapes[shape].cost, missing) if alone and len(fitting) == 1 else 1
            yield with_pod(item.pods, shape, number, is_ready=self.kubelet.ready), shape, number

    def delete_surplus(self, state: State, position: int) -> Iterator[State]:
        """Yield every way in which the controllers of one workload delete pods of which there are too many."""
        workload = state.workloads[position][1]
        if isinstance(workload, DeploymentState):
            for index, item in enumerate(workload.sets):
                if count(item.pods) > item.wanted:
                    for pods in remaining_pods(item.pods, item.wanted):
                        sets = (*workload.sets[:index], item._replace(pods=pods), *workload.sets[index + 1 :])
                        yield self._charge_pod_change(state, item.pods, pods).with_entry(
                            position, workload._replace(sets=sets)
                        )
                    return
        elif isinstance(workload, ReplicaSetState | JobState) and count(workload.pods) > workload.wanted:
            for pods in remaining_pods(workload.pods, workload.wanted):
                yield self._charge_pod_change(state, workload.pods, pods).with_entry(
                    position, workload._replace(pods=pods)
                )

    def _trimmed(self, state: State, index: int, before: WorkloadState, after: WorkloadState) -> State:
        """Return the state without the ReplicaSets or ControllerRevisions that a history limit does not let stay."""
        removed = revisions_of(before) - revisions_of(after)
        return state.with_entry(index, after).with_charge(self.tables.revision_cost(before), -removed)

    def _charge_pod_change(self, state: State, before: Pods, after: Pods) -> State:
        for shape, number in shape_counts(before):
            state = state.with_charge(self.tables.shapes[shape].cost, -number)
        for shape, number in shape_counts(after):
            state = state.with_charge(self.tables.shapes[shape].cost, number)
        return state

    def _deployment(self, state: State, position: int, workload: DeploymentState, *, alone: bool) -> Iterator[State]:
        kept = kept_sets(workload)
        if kept is not workload.sets:
            yield self._trimmed(state, position, workload, workload._replace(sets=kept))
            return
        cost = self.tables.revision_cost(workload)
        world, key = self.tables.worlds[state.world], state.workloads[position][0]
        after = sync_deployment(
            workload, may_create=lambda: state.fits(cost) and self.tables.may_revise(key, workload, world)
        )
        if after is not None:
            grown = len(after.sets) - len(workload.sets)
            yield state.with_entry(position, after).with_charge(cost, grown)
        for index, item in enumerate(workload.sets):
            for pods, shape, number in self._add_missing_pods(state, item, alone=alone):
                sets = (*workload.sets[:index], item._replace(pods=pods), *workload.sets[index + 1 :])
                next_state = state.with_entry(position, workload._replace(sets=sets))
                yield next_state.with_charge(self.tables.shapes[shape].cost, number)

    def interleave_restarts(self, before: State, after: State) -> Iterator[State]:
        """After a step that deleted a pod of a parallel StatefulSet: another one, which had no room, may come first.

        A round that had begun before takes the deleted pod for present, and goes on with those behind it.
        """
        for index, (_, workload) in enumerate(after.workloads):
            if not isinstance(workload, StatefulSetState) or not workload.parallel or index >= len(before.workloads):
                continue
            was = before.workloads[index][1]
            if not isinstance(was, StatefulSetState) or len(was.pods) <= len(workload.pods):
                continue
            if self.tables.lacks_revision(was):
                continue
            for ordinal in controllers.missing_ordinals(was):
                if all(name in after.claims for name in workload.claim_names(ordinal)):
                    yield from self._replicas(after, index, workload, ordinal)

    def _replicas(self, state: State, index: int, workload: StatefulSetState, ordinal: int) -> Iterator[State]:
        """With the pod of an ordinal, in each form in which it is admitted now."""
        template = controllers.template_of(workload, ordinal)
        for shape in self.fitting(state, template):
            replica = Replica(ordinal, template, shape, self.kubelet.ready)
            next_state = state.with_entry(index, controllers.with_replica(workload, replica))
            yield next_state.with_charge(self.tables.shapes[shape].cost)

    def _stateful_set(self, state: State, index: int, workload: StatefulSetState) -> Iterator[State]:
        revisions = kept_revisions(workload)
        if revisions is not workload.revisions:
            yield self._trimmed(state, index, workload, workload._replace(revisions=revisions))
            return
        if self.tables.lacks_revision(workload):
            cost, key = self.tables.revision_cost(workload), state.workloads[index][0]
            if state.fits(cost) and self.tables.may_revise(key, workload, self.tables.worlds[state.world]):
                next_workload = workload._replace(revisions=(*workload.revisions, workload.template))
                yield state.with_entry(index, next_workload).with_charge(cost)
            return
        after = controllers.delete_replaced_pods(workload)
        if after is not None:
            kept = set(after.pods)
            next_state = state.with_entry(index, after)
            gone = [replica for replica in workload.pods if replica not in kept]
            for replica in gone:
                next_state = next_state.with_charge(self.tables.shapes[replica.shape].cost, -1)
            raw = self.tables.worlds[state.world].objects[state.workloads[index][0]]
            if deletes_claims(raw, "whenScaled"):
                excess = [replica for replica in gone if replica.ordinal not in workload.ordinals]
                next_state = without_claims(next_state, self.tables, raw, workload, excess)
            yield next_state
            return
        for ordinal in controllers.missing_ordinals(workload):
            claims = [name for name in workload.claim_names(ordinal) if name not in state.claims]
            if claims:
                yield from self._claims(state, index, workload, ordinal)
            else:
                yield from self._replicas(state, index, workload, ordinal)

    def _claims(self, state: State, index: int, workload: StatefulSetState, ordinal: int) -> Iterator[State]:
        world = self.tables.worlds[state.world]
        raw = world.objects[state.workloads[index][0]]
        for claim, name in zip(workload.claims, workload.claim_names(ordinal), strict=True):
            if name in state.claims:
                continue
            cost = self.tables.claim_cost(raw, claim, world)
            if cost is not None and state.fits(cost):
                yield state._replace(claims=state.claims | {name}).with_charge(cost)

    def _job(self, state: State, index: int, workload: JobState, *, alone: bool) -> Iterator[State]:
        if workload.ended:
            return
        if self.kubelet.jobs != "run" and self.kubelet.ready:
            yield from self._finish_pods(state, index, workload)
        for pods, shape, number in self._add_missing_pods(state, workload, alone=alone and self.kubelet.jobs == "run"):
            yield state.with_entry(index, workload._replace(pods=pods)).with_charge(
                self.tables.shapes[shape].cost, number
            )
        first = workload.succeeded + workload.failed + count(workload.pods)
        if workload.completions is None and workload.succeeded and first < workload.parallelism:
            # All pods of one round are created, also if one of them has succeeded meanwhile.
            for shape in self.fitting(state, workload.template):
                pods = with_pod(workload.pods, shape, is_ready=self.kubelet.ready)
                yield state.with_entry(index, workload._replace(pods=pods)).with_charge(self.tables.shapes[shape].cost)

    def _finish_pods(self, state: State, index: int, workload: JobState) -> Iterator[State]:
        done = workload.completions
        if self.kubelet.jobs == "complete":
            enough = workload.succeeded >= done if done is not None else workload.succeeded and not workload.pods
            if enough:
                yield state.with_entry(index, workload._replace(ended="Complete"))
                return
        elif workload.failed > workload.backoff_limit:
            failed = workload.failed + count(workload.pods)
            yield state.with_entry(index, workload._replace(ended="Failed", failed=failed))
            return
        for shape, is_ready, _ in workload.pods:
            pods = with_pod(workload.pods, shape, -1, is_ready=is_ready)
            finished = with_pod(workload.finished, shape)
            after = workload._replace(pods=pods, finished=finished)
            if self.kubelet.jobs == "complete":
                after = after._replace(succeeded=workload.succeeded + 1)
            else:
                after = after._replace(failed=workload.failed + 1)
            freed = state.with_charge(self.tables.shapes[shape].cost, -1).with_charge(self.tables.finished_cost(shape))
            yield freed.with_entry(index, after)


def deletes_claims(raw: Raw, when: Literal["whenDeleted", "whenScaled"]) -> bool:
    """Return whether claims go with the set, or with a pod that it is scaled down by. Without a word they stay."""
    return text(mapping(mapping(raw, "spec"), "persistentVolumeClaimRetentionPolicy"), when) == "Delete"


def without_claims(
    state: State, tables: Tables, raw: Raw, workload: StatefulSetState, replicas: Iterable[Replica]
) -> State:
    """Return the state without the claims of some pods, and without what they use of quotas."""
    world = tables.worlds[state.world]
    for replica in replicas:
        for claim, name in zip(workload.claims, workload.claim_names(replica.ordinal), strict=True):
            if name not in state.claims:
                continue
            cost = tables.claim_cost(raw, claim, world)
            state = state._replace(claims=state.claims - {name}).with_charge(cost or (), -1)
    return state
