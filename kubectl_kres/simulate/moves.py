"""Moves: every single step that a controller can take next, and what becomes of the claims of pods that go for good.

Source: pkg/controller/statefulset/stateful_set_utils.go getPersistentVolumeClaimRetentionPolicy: such a claim is owned
by the pod or the set, and garbage collection takes it with its owner.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from kubectl_kres.model.objects import Raw, mapping, text
from kubectl_kres.model.ordinals import Names, length
from kubectl_kres.simulate import controllers
from kubectl_kres.simulate.controllers import kept_revisions, kept_sets, remaining_pods, sync_deployment
from kubectl_kres.simulate.leaps import Point, leap, split, with_counts
from kubectl_kres.simulate.replicas import Replica, gaps, outside
from kubectl_kres.simulate.shapes import Shape, add_costs
from kubectl_kres.simulate.state import (
    Common,
    Cost,
    DeploymentState,
    JobState,
    Pods,
    ReplicaSetState,
    StatefulSetState,
    Workloads,
    WorkloadState,
    count,
    pods_of,
    revisions_of,
    shape_counts,
    with_pod,
)
from kubectl_kres.simulate.tables import Tables

#: More pods than any workload makes.
ALL = sys.maxsize
#: Rounds of moves are looked for among so many workloads.
_MOST_MOVED = 4
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
    claims: Names
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


def leap_of_state(states: Sequence[State], move: Callable[[State], State | None]) -> State | None:
    """Return a state many rounds of moves behind the last of some that follow each other; None: they are no rounds.

    ``move`` returns the state that follows; None: there is none, or more than one.
    """
    last = states[-1].workloads
    indexes: set[int] = set()
    for state in states[:-1]:
        if len(state.workloads) != len(last):
            return None
        indexes.update(state.workloads.differing_indexes(last))
    if len(indexes) > _MOST_MOVED:
        return None
    places = sorted(indexes)

    def point_of(state: State) -> Point:
        value = (state.used, *(state.workloads[index][1] for index in places))
        others = state.world, state.step, state.limits, state.claims, state.answers
        left = (limit - have for limit, have in zip(state.limits, state.used, strict=True) if limit is not None)
        point = split(value)
        return Point((*point.counts, *left), (point.form, others))

    def moved(state: State, counts: Sequence[int]) -> State:
        value = (state.used, *(state.workloads[index][1] for index in places))
        used, *workloads = with_counts(value, iter(counts))
        changed = state.workloads.with_replaced(dict(zip(places, workloads, strict=True)))
        return state._replace(used=used, workloads=changed)

    return leap(states, point_of, moved, move)


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

    def next_moves(self, state: State, index: int, *, at_once: int = 1) -> Iterator[State]:
        """Yield every other move of one workload's controllers. ``at_once``: so many of its pods come together, where
        they have room; ``ALL``: nobody can come between two of them.
        """
        workload = state.workloads[index][1]
        match workload:
            case DeploymentState():
                yield from self._deployment(state, index, workload, at_once)
            case ReplicaSetState():
                for pods, shape, number in self._add_missing_pods(state, workload, at_once):
                    next_state = state.with_entry(index, workload._replace(pods=pods))
                    yield next_state.with_charge(self.tables.shapes[shape].cost, number)
            case StatefulSetState():
                yield from self._stateful_set(state, index, workload, at_once)
            case JobState():
                yield from self._job(state, index, workload, at_once)

    def fitting(self, state: State, template: int) -> Iterator[int]:
        """Yield the shapes in which a new pod of a template would be admitted now."""
        world = self.tables.worlds[state.world]
        for shape in self.tables.options(template, world):
            if state.admits(self.tables.shapes[shape]):
                yield shape

    def _add_missing_pods(
        self, state: State, item: ReplicaSetState | JobState, at_once: int
    ) -> Iterator[tuple[Pods, int, int]]:
        """Yield the pods with new ones, their shape and their number, for each shape."""
        missing = item.wanted - count(item.pods)
        if missing <= 0:
            return
        fitting = list(self.fitting(state, item.template))
        for shape in fitting:
            number = state.room(self.tables.shapes[shape].cost, min(missing, at_once)) if len(fitting) == 1 else 1
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

    def _deployment(self, state: State, position: int, workload: DeploymentState, at_once: int) -> Iterator[State]:
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
            for pods, shape, number in self._add_missing_pods(state, item, at_once):
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
            if not isinstance(was, StatefulSetState) or pods_of(was) <= pods_of(workload):
                continue
            if self.tables.lacks_revision(was):
                continue
            for row in controllers.missing_ordinals(was):
                for alike in _rows_alike(after, workload, row):
                    if not _lacking_claims(after, workload, alike.start):
                        yield from self._one_replica(after, index, workload, alike)

    def _missing_replicas(self, state: State, index: int, workload: StatefulSetState, at_once: int) -> Iterator[State]:
        """With the next pods, or a claim of one. In parallel any of them may come first."""
        absent = controllers.missing_ordinals(workload)
        if absent and not workload.parallel and self.kubelet.ready:
            absent = (next(gaps(workload.own_pods, workload.ordinals)),)
        rows = [alike for row in absent for alike in _rows_alike(state, workload, row)]
        if not workload.parallel:
            rows = rows[:1]
        if at_once > 1 and rows:
            every = rows
            if workload.parallel and at_once == ALL:
                every = [alike for row in gaps(workload.own_pods, workload.ordinals)
                         for alike in _rows_alike(state, workload, row)]  # fmt: skip
            after = self._with_rows(state, index, workload, every, at_once)
            made = pods_of(after.workloads[index][1]) - pods_of(workload) if after is not None else 0
            if after is not None:
                yield after
                if not workload.parallel or made >= min(at_once, sum(map(length, every))):
                    return
        for row in rows:
            yield from self._one_replica(state, index, workload, row if workload.parallel else row[:1])

    def _with_rows(
        self, state: State, index: int, workload: StatefulSetState, rows: Iterable[range], at_once: int
    ) -> State | None:
        """Return the state with as many pods in a row as have room, at most ``at_once``; None: with none, or not one
        form alone can come of them.
        """
        made = 0
        for row in rows:
            set_state = state.workloads[index][1]
            template = controllers.template_of(workload, row.start)
            shapes, claims = (
                list(self.fitting(state, template)),
                self._cost_of_claims(state, index, workload, row.start),
            )
            if len(shapes) != 1 or claims is None or not isinstance(set_state, StatefulSetState):
                break
            cost = add_costs(self.tables.shapes[shapes[0]].cost, claims)
            number = state.room(cost, min(length(row), at_once - made))
            if number <= 0:
                break
            names = state.claims
            for base in workload.claim_bases:
                names = names.with_row(base, row[:number])
            replica = Replica(row.start, template, shapes[0], self.kubelet.ready, number)
            state = state._replace(claims=names).with_entry(index, controllers.with_replica(set_state, replica))
            state, made = state.with_charge(cost, number), made + number
            if number < length(row):
                break
        return state if made else None

    def _one_replica(self, state: State, index: int, workload: StatefulSetState, alike: range) -> Iterator[State]:
        """With one pod of ordinals that are alike, or one of the claims that it lacks: in each form in which that is
        admitted now.
        """
        template = controllers.template_of(workload, alike.start)
        claims = _lacking_claims(state, workload, alike.start)
        costs = [(base, self._cost_of_claim(state, index, claim)) for claim, base in claims]
        fits = [(base, cost) for base, cost in costs if cost is not None and state.fits(cost)]
        shapes = [] if claims else list(self.fitting(state, template))
        for ordinal in alike if fits or shapes else ():
            for base, cost in fits:
                names = state.claims.with_row(base, range(ordinal, ordinal + 1))
                yield state._replace(claims=names).with_charge(cost)
            for shape in shapes:
                replica = Replica(ordinal, template, shape, self.kubelet.ready)
                next_state = state.with_entry(index, controllers.with_replica(workload, replica))
                yield next_state.with_charge(self.tables.shapes[shape].cost)

    def _cost_of_claim(self, state: State, index: int, claim: str) -> Cost | None:
        """Return what the claim of a template costs; None: it is refused whatever room there is."""
        world = self.tables.worlds[state.world]
        return self.tables.claim_cost(world.objects[state.workloads[index][0]], claim, world)

    def _cost_of_claims(self, state: State, index: int, workload: StatefulSetState, ordinal: int) -> Cost | None:
        """Return what the claims cost that the pod of an ordinal lacks; None: one is refused."""
        total: Cost = ()
        for claim, _ in _lacking_claims(state, workload, ordinal):
            cost = self._cost_of_claim(state, index, claim)
            if cost is None:
                return None
            total = add_costs(total, cost)
        return total

    def _stateful_set(self, state: State, index: int, workload: StatefulSetState, at_once: int) -> Iterator[State]:
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
            next_state = state.with_entry(index, after)
            for pods, sign in ((workload.pods, -1), (after.pods, 1)):
                for replica in pods:
                    next_state = next_state.with_charge(self.tables.shapes[replica.shape].cost, replica.number * sign)
            raw = self.tables.worlds[state.world].objects[state.workloads[index][0]]
            if deletes_claims(raw, "whenScaled"):
                excess = outside(workload.pods, workload.ordinals)
                gone = [row for replica in excess for row in gaps(after.pods, replica.ordinals)]
                next_state = without_claims(next_state, self.tables, raw, workload, gone)
            yield next_state
            return
        yield from self._missing_replicas(state, index, workload, at_once)

    def _job(self, state: State, index: int, workload: JobState, at_once: int) -> Iterator[State]:
        if workload.ended:
            return
        if self.kubelet.jobs != "run" and self.kubelet.ready:
            yield from self._finish_pods(state, index, workload)
        at_once = at_once if self.kubelet.jobs == "run" else 1
        for pods, shape, number in self._add_missing_pods(state, workload, at_once):
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


def without_claims(state: State, tables: Tables, raw: Raw, workload: StatefulSetState, rows: Iterable[range]) -> State:
    """Return the state without the claims of the pods of some ordinals, and without what they use of quotas."""
    world = tables.worlds[state.world]
    for row in rows:
        for claim, base in zip(workload.claims, workload.claim_bases, strict=True):
            existing = length(row) - sum(map(length, state.claims.missing(base, row)))
            cost = tables.claim_cost(raw, claim, world)
            state = state._replace(claims=state.claims.without_row(base, row)).with_charge(cost or (), -existing)
    return state


def _rows_alike(state: State, workload: StatefulSetState, row: range) -> Iterator[range]:
    """Yield the parts of a row of missing ordinals whose new pods have one template, and lack the same claims."""
    ends = {row.stop, workload.start + workload.partition}
    for base in workload.claim_bases:
        for part in state.claims.missing(base, row):
            ends |= {part.start, part.stop}
    first = row.start
    for end in sorted(ends):
        if first < end <= row.stop:
            yield range(first, end)
            first = end


def _lacking_claims(state: State, workload: StatefulSetState, ordinal: int) -> list[tuple[str, str]]:
    """Return the claims that the pod of an ordinal lacks, by template: each with what its name begins with."""
    pairs = zip(workload.claims, workload.claim_bases, strict=True)
    return [(claim, base) for claim, base in pairs if f"{base}-{ordinal}" not in state.claims]
