"""Search for every final state of a namespace, over all orders of moves that can matter: who wants something, and who
only waits for room.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from random import Random
from typing import Any, NamedTuple

from msgspec import Struct

from kubectl_kres.simulate import controllers
from kubectl_kres.simulate.change import Delete, Step, WaitForControllers
from kubectl_kres.simulate.controllers import kept_revisions, kept_sets, sync_deployment
from kubectl_kres.simulate.leaps import LEAST_MOVES
from kubectl_kres.simulate.moves import ALL, Controllers, State, leap_of_state
from kubectl_kres.simulate.requests import Requests
from kubectl_kres.simulate.state import (
    Common,
    Cost,
    DeploymentState,
    JobState,
    ReplicaSetState,
    StatefulSetState,
    Workloads,
    WorkloadState,
    count,
    count_wanted_pods,
    pods_of,
    shapes_of,
)

#: What one of a workload's next pods costs, and the measures for which it states nothing: one of these must have room.
Wish = frozenset[tuple[Cost, tuple[int, ...]]]
#: Places, the newest first: one more is added without a copy of those before.
_Places = tuple[int, Any] | None


class Busy(NamedTuple):
    """The active workloads of those that states have in common.

    ``free``: the places of those that may do more than make pods. ``waiting``: the others, by what they wish.
    ``asked``: the most that all of them can still ask for, by measure.
    """

    common: Common
    free: _Places
    waiting: dict[Wish, _Places]
    asked: dict[int, int]


class RoomDemand:
    """What workloads can still ask for. Of thousands that wait for the same room only one is looked at."""

    def __init__(self, controllers: Controllers) -> None:
        self.controllers, self.tables = controllers, controllers.tables
        self._demand_cache: dict[tuple[Any, WorkloadState], tuple[dict[int, int], frozenset[int]]] = {}
        self._wishes: dict[tuple[str, int], tuple[WorkloadState, Wish | None]] = {}
        self._busy: dict[tuple[str, int], Busy] = {}
        #: The places of those with too many pods, by the identity of what states have in common.
        self._surplus: dict[int, tuple[Common, list[int]]] = {}

    def movable(self, state: State) -> list[int]:
        """Return the places of the active workloads, without those whose pods have no room now."""
        busy, changed = self._busy_of(state), state.workloads.changed
        indexes = [index for index in _iterate_places(busy.free) if index not in changed]
        for wish, linked in busy.waiting.items():
            if self._has_room(state, wish):
                indexes += [index for index in _iterate_places(linked) if index not in changed]
        for index, (_, workload) in changed.items():
            if not self.controllers.is_idle(workload):
                own_names = self._find_wish(state, workload)
                if own_names is None or self._has_room(state, own_names):
                    indexes.append(index)
        return sorted(indexes)

    def surplus_workloads(self, state: State) -> list[int]:
        """Return the places of the workloads that have too many pods. Of no pod it is asked whether it would be
        admitted.
        """
        changed, common = state.workloads.changed, state.workloads.common
        known = self._surplus.get(id(common))
        if known is None:
            before = self._surplus.get(id(common.before))
            first = len(common.items) - 1 if before is not None else 0
            more = [index for index in range(first, len(common.items)) if _has_surplus(common.items[index][1])]
            known = self._surplus[id(common)] = common, [*(before[1] if before is not None else ()), *more]
        indexes = [index for index in known[1] if index not in changed]
        return sorted([*indexes, *(index for index, item in changed.items() if _has_surplus(item[1]))])

    def contended_measures(self, state: State) -> set[int]:
        """Return the measures that do not have room for all that can still be asked of them."""
        if not any(limit is not None for limit in state.limits):
            return set()
        asked = list(state.used)
        for number, amount in self._busy_of(state).asked.items():
            asked[number] += amount
        items = state.workloads.common.items
        for index, (_, workload) in state.workloads.changed.items():
            self._add(asked, state, items[index][1], -1)
            self._add(asked, state, workload, 1)
        return {number for number, limit in enumerate(state.limits) if limit is not None and asked[number] > limit}

    def measures(self, state: State, workload: WorkloadState) -> frozenset[int]:
        """Return the measures that a workload counts for."""
        return self._demand(state, workload)[1]

    def _add(self, asked: list[int], state: State, workload: WorkloadState, sign: int) -> None:
        if not self.controllers.is_idle(workload):
            for number, amount in self._demand(state, workload)[0].items():
                asked[number] += sign * amount

    def _has_room(self, state: State, wish: Wish) -> bool:
        return any(state.fits(cost) and all(state.limits[number] is None for number in bare) for cost, bare in wish)

    def _busy_of(self, state: State) -> Busy:
        common, deciding = state.workloads.common, self.tables.worlds[state.world].deciding
        known = self._busy.get((deciding, id(common)))
        if known is None:
            before = self._busy.get((deciding, id(common.before)))
            indexes = range(len(common.items))
            if before is not None:
                known = self._add_demand(before, state, indexes[-1:])
            else:
                known = self._add_demand(Busy(common, None, {}, {}), state, indexes)
            self._busy[deciding, id(common)] = known
        return known

    def _add_demand(self, before: Busy, state: State, indexes: Iterable[int]) -> Busy:
        free, waiting, asked = before.free, dict(before.waiting), dict(before.asked)
        common = state.workloads.common
        for index in indexes:
            workload = common.items[index][1]
            if self.controllers.is_idle(workload):
                continue
            wish = self._find_wish(state, workload)
            if wish is None:
                free = index, free
            else:
                waiting[wish] = index, waiting.get(wish)
            for number, amount in self._demand(state, workload)[0].items():
                asked[number] = asked.get(number, 0) + amount
        return Busy(common, free, waiting, asked)

    def _find_wish(self, state: State, workload: WorkloadState) -> Wish | None:
        """Return what a workload waits for that can do nothing but make pods; None: it may do something else."""
        world = self.tables.worlds[state.world]
        known = self._wishes.get((world.deciding, id(workload)))
        if known is None:
            templates = self._missing_pod_templates(workload)
            wish = None
            if templates is not None:
                shapes = {shape for template in templates for shape in self.tables.options(template, world)}
                wish = frozenset((item.cost, item.unstated) for item in map(self.tables.shapes.__getitem__, shapes))
            known = self._wishes[world.deciding, id(workload)] = workload, wish
        return known[1]

    def _missing_pod_templates(self, workload: WorkloadState) -> set[int] | None:
        """Return the templates of the pods that a workload lacks; None: its controllers may do something else."""
        match workload:
            case DeploymentState():
                if (
                    kept_sets(workload) is not workload.sets
                    or sync_deployment(workload, may_create=lambda: True) is not None
                ):
                    return None
                sets = workload.sets
            case ReplicaSetState():
                sets = (workload,)
            case StatefulSetState():
                if workload.claims or self.tables.lacks_revision(workload):
                    return None
                if kept_revisions(workload) is not workload.revisions:
                    return None
                if controllers.delete_replaced_pods(workload) is not None:
                    return None
                return {
                    controllers.template_of(workload, ends[0])
                    for row in controllers.missing_ordinals(workload)
                    for ends in (controllers.first_alike(workload, row), controllers.last_alike(workload, row))
                }
            case JobState():
                return None
        if _has_surplus(workload):
            return None
        return {item.template for item in sets if count(item.pods) < item.wanted}

    def _demand(self, state: State, workload: WorkloadState) -> tuple[dict[int, int], frozenset[int]]:
        """Return what a workload can still ask for, and the measures that it counts for."""
        key = (self.tables.worlds[state.world].deciding, workload)
        if key not in self._demand_cache:
            self._demand_cache[key] = self._growth(state, workload), self._measures(state, workload)
        return self._demand_cache[key]

    def _growth(self, state: State, workload: WorkloadState) -> dict[int, int]:
        """Return the most that a workload can still ask for."""
        maximum = count_wanted_pods(workload) + getattr(workload, "surge", 0)
        more = maximum if isinstance(workload, DeploymentState) else max(0, maximum - pods_of(workload))
        grown: dict[int, int] = {}
        world = self.tables.worlds[state.world]
        for template in self._templates(workload):
            for shape in self.tables.options(template, world):
                for number, amount in self.tables.shapes[shape].cost:
                    grown[number] = max(grown.get(number, 0), amount * more)
        return self._with_objects(state, workload, grown)

    def _with_objects(self, state: State, workload: WorkloadState, grown: dict[int, int]) -> dict[int, int]:
        costs = [(self.tables.revision_cost(workload), 1)]
        claims = getattr(workload, "claims", ())
        if claims:
            world = self.tables.worlds[state.world]
            raw = world.objects.get(("StatefulSet", getattr(workload, "name", "")), {})
            result = (self.tables.claim_cost(raw, claim, world) for claim in claims)
            costs += [(cost, count_wanted_pods(workload)) for cost in result if cost is not None]
        for cost, times in costs:
            for number, amount in cost:
                grown[number] = grown.get(number, 0) + amount * times
        return grown

    def _measures(self, state: State, workload: WorkloadState) -> frozenset[int]:
        """Return the measures that a workload's pods and claims count for."""
        world = self.tables.worlds[state.world]
        shapes = {shape for shape, _ in shapes_of(workload)}
        for template in self._templates(workload):
            shapes.update(self.tables.options(template, world))
        counted = {number for shape in shapes for number, _ in self.tables.shapes[shape].cost}
        return frozenset(counted | set(self._with_objects(state, workload, {})))

    def _templates(self, workload: WorkloadState) -> set[int]:
        templates = {item.template for item in getattr(workload, "sets", ())}
        current = getattr(workload, "current", None)
        return {workload.template, *templates, *(() if current is None else (current,))}


def _has_surplus(workload: WorkloadState) -> bool:
    match workload:
        case DeploymentState():
            return any(count(item.pods) > item.wanted for item in workload.sets)
        case ReplicaSetState() | JobState():
            return count(workload.pods) > workload.wanted
    return False


def _iterate_places(indexes: _Places) -> Iterable[int]:
    while indexes is not None:
        index, indexes = indexes
        yield index


#: States that are looked at before orders are only drawn, and how many are drawn then.
MOST_STATES, MOST_DRAWN, LEAST_DRAWN = 10_000, 100, 8
#: States with one way on, for each step and each workload, that are gone through beside those.
_STRAIGHT = 8
#: Ways on over all states, for each one that may be looked at, and of one state: where more race for room, their orders
#: are too many for a search.
_WAYS, _MOST_WAYS = 5, 24
#: Of so many parts at least the pods of a workload are made where orders are drawn.
_SHARES = 64
#: So many moves are drawn by lot; then each workload goes as far as it can.
_MOST_MOVES = 5_000
#: Workloads and steps of all the orders that are drawn.
_MOST_OF_ALL = 20_000
#: The same where the controllers may act between two steps.
MOST_BETWEEN = 6_000


def _share(workload: WorkloadState) -> int:
    """Return how many pods come at once where orders are drawn: of many no single one is told apart."""
    return max(1, (count_wanted_pods(workload) - pods_of(workload)) // _SHARES)


class FinalStates(Struct, frozen=True):
    """States at rest, those first that are reached when each step is carried out before any controller acts.

    complete: no order was left out. usual: so many of the first are the usual ones.
    """

    states: tuple[State, ...]
    usual: int
    complete: bool = True


class Explorer:
    """Carries steps out and lets controllers act until nothing moves."""

    def __init__(
        self, requests: Requests, controllers: Controllers, steps: Sequence[Step], maximum: int = MOST_STATES
    ) -> None:
        """``maximum``: so many states are looked at before orders are drawn."""
        self.requests, self.controllers, self.steps, self.most = requests, controllers, steps, maximum
        self.tables = requests.tables
        self._limits_of: dict[int, tuple[int | None, ...]] = {}
        self.demand = RoomDemand(controllers)
        self._numbers: dict[Any, int] = {}
        self._numbered: dict[int, tuple[Any, int]] = {}
        #: The first workloads that were looked at, by how many they are.
        self._first_by_count: dict[int, Workloads] = {}

    def final_states(self, starts: Sequence[State], *, between: bool, is_drawn: bool = True) -> FinalStates:
        """``between``: also those where controllers act between two steps, or before a quota's controller does.

        ``is_drawn``: where there are too many states some orders are drawn.
        """
        sent = [self._after_steps(state) for state in starts]
        usual, complete = self._find_reached_states(sent, self.most, between=False)
        if is_drawn and not complete:
            usual = self._drop_equal_states([*usual, *self._sample_final_states(sent)])
        if not between:
            return FinalStates(tuple(usual), len(usual), complete)
        rare, all_of_them = self._find_reached_states(starts, MOST_BETWEEN, between=True)
        states = self._drop_equal_states([*usual, *rare])
        return FinalStates(tuple(states), len(usual), complete and all_of_them)

    def _after_steps(self, state: State) -> State:
        """Return the state after all steps that have one answer each, up to where controllers act."""
        while not self._is_controllers_turn(state):
            next_answer = self._next_states(state, between=False)
            if len(next_answer) != 1:
                break
            state = next_answer[0].compacted()
        return state

    def _drop_equal_states(self, states: Iterable[State]) -> list[State]:
        result: dict[Any, State] = {}
        for state in states:
            result.setdefault(self._state_key(state), state)
        return list(result.values())

    def _find_reached_states(self, starts: Sequence[State], maximum: int, *, between: bool) -> tuple[list[State], bool]:
        seen: set[Any] = set()
        final_states: list[State] = []
        stack = list(reversed(starts))
        room = _WAYS * maximum
        straight = maximum + _STRAIGHT * (len(self.steps) + max((len(state.workloads) for state in starts), default=0))
        while stack:
            state = stack.pop()
            next_answer = self._next_states(state, between=between)
            trail = [state]
            while len(next_answer) == 1 and straight > 0:
                straight -= 1
                state = next_answer[0].compacted()
                trail.append(state)
                if len(trail) == LEAST_MOVES:
                    state = leap_of_state(trail, partial(self._only_next, between=between)) or state
                    trail = [state]
                next_answer = self._next_states(state, between=between)
            mark = self._state_key(state)
            if mark in seen:
                continue
            room -= len(next_answer)
            if len(seen) >= maximum or room < 0 or len(next_answer) > _MOST_WAYS:
                return final_states, False
            seen.add(mark)
            if next_answer:
                stack.extend(next_answer)
            else:
                final_states.append(state)
        return final_states, True

    def _only_next(self, state: State, *, between: bool) -> State | None:
        """Return the one state that can follow; None: there is none, or more than one."""
        states = self._next_states(state, between=between)
        return states[0].compacted() if len(states) == 1 else None

    def _state_key(self, state: State) -> Any:
        """Equal for equal states. To hash all workloads takes long, and few are others than in the first state."""
        workloads = state.workloads
        first = self._first_by_count.setdefault(len(workloads), workloads)
        marks = []
        for index in workloads.differing_indexes(first):
            item = workloads[index]
            known = self._numbered.get(id(item))
            if known is None:
                known = self._numbered[id(item)] = item, self._numbers.setdefault(item, len(self._numbers))
            if item != first[index]:
                marks.append(known[1])
        others = state.world, state.step, state.used, state.limits, state.claims, state.answers
        return others, len(workloads), frozenset(marks)

    def _next_states(self, state: State, *, between: bool) -> list[State]:
        """Return the states that can follow; none if the namespace is at rest."""
        limits = self._limits(state)
        deletions = self.controllers.deletions(state, self.demand.surplus_workloads(state))
        if deletions:
            return list(deletions)
        pending = self.steps[state.step] if state.step < len(self.steps) else None
        if not between:
            if limits != state.limits:
                return [state._replace(limits=limits)]
            if pending is not None and not isinstance(pending, WaitForControllers):
                return list(self.requests.apply_step(state, pending))
        moves = list(
            self._controller_moves(state, one_by_one=pending is None or isinstance(pending, WaitForControllers))
        )
        if between and limits != state.limits:
            moves.append(state._replace(limits=limits))
        if isinstance(pending, WaitForControllers) and (between or not moves):
            moves.append(state._replace(step=state.step + 1))
        elif pending is not None and not isinstance(pending, WaitForControllers):
            sent = list(self.requests.apply_step(state, pending))
            moves.extend(sent)
            if between and isinstance(pending, Delete):
                moves.extend(
                    after for answered in sent for after in self.controllers.interleave_restarts(state, answered)
                )
        return moves

    def _limits(self, state: State) -> tuple[int | None, ...]:
        """Return what the quotas of the world say."""
        if state.world not in self._limits_of:
            limits: list[int | None] = [None] * len(state.limits)
            for quota in self.tables.worlds[state.world].quotas:
                for number, amount in self.tables.measures.limits(quota):
                    limits[number] = amount
            self._limits_of[state.world] = tuple(limits)
        return self._limits_of[state.world]

    def _controller_moves(self, state: State, *, one_by_one: bool) -> Iterator[State]:
        """Yield the controllers' moves; of workloads that no other one can hinder, one goes after the other."""
        active = self.demand.movable(state)
        if one_by_one:
            begun = self._with_first_sets(state, active)
            if begun is not None:
                yield begun
                return
            contended = self.demand.contended_measures(state)
            for index in active:
                if not contended & self.demand.measures(state, state.workloads[index][1]):
                    moves = list(islice(self.controllers.next_moves(state, index, at_once=ALL), _MOST_WAYS + 1))
                    if moves:
                        yield from moves
                        return
        for index in active:
            at_once = ALL if one_by_one and len(active) == 1 else 1
            yield from islice(self.controllers.next_moves(state, index, at_once=at_once), _MOST_WAYS + 1)

    def _with_first_sets(self, state: State, active: Sequence[int]) -> State | None:
        """With the first set of each Deployment that has none, if no quota counts sets: it hinders nobody.

        None if there is no such Deployment.
        """
        if self.tables.reviews:
            return None
        made: dict[int, WorkloadState] = {}
        for index in active:
            workload = state.workloads[index][1]
            if not isinstance(workload, DeploymentState) or workload.sets or self.tables.revision_cost(workload):
                continue
            after = sync_deployment(workload, may_create=lambda: True)
            if after is not None:
                made[index] = after
        return state._replace(workloads=state.workloads.with_replaced(made)) if made else None

    def _sample_final_states(self, starts: Sequence[State]) -> Iterator[State]:
        """Rests after some orders, the same ones each time: the first comes first, the last does, then by lot."""
        lot = Random(0)  # noqa: S311 - no secret
        often = _MOST_OF_ALL // max(1, *(len(state.workloads) + len(self.steps) for state in starts))
        for number in range(max(LEAST_DRAWN, min(MOST_DRAWN, self.most // 100, often))):
            yield self._in_one_order(starts[number % len(starts)], number, lot)

    def _in_one_order(self, state: State, number: int, lot: Random) -> State:
        """Return the rest that one order leads to. Only the moves of the workload whose turn it is are looked for."""
        queue, moves, trail, last = self._queue(state, number), 0, [state], -1
        while True:
            if queue:
                moves += 1
                index = len(queue) - 1 if number < 2 or moves > _MOST_MOVES else lot.randrange(len(queue))
                position = queue[index]
                trail = [*trail, state] if position == last else [state]
                last = position
                if len(trail) == LEAST_MOVES:
                    state = leap_of_state(trail, partial(self._first_move, position=position)) or state
                    trail = [state]
                next_answer = self._moves_of(state, position)
                if not next_answer:
                    queue[index] = queue[-1]
                    queue.pop()
                    continue
            else:
                next_answer = self._next_states(state, between=False)
                if not next_answer:
                    return state
            state = lot.choice(next_answer).compacted()
            queue = queue or self._queue(state, number)

    def _moves_of(self, state: State, position: int) -> list[State]:
        """Return the next moves of one workload's controllers."""
        moves = list(islice(self.controllers.delete_surplus(state, position), _MOST_WAYS))
        if not moves:
            at_once = _share(state.workloads[position][1])
            moves = list(islice(self.controllers.next_moves(state, position, at_once=at_once), _MOST_WAYS))
        return moves

    def _first_move(self, state: State, position: int) -> State | None:
        return next(iter(self._moves_of(state, position)), None)

    def _queue(self, state: State, number: int) -> list[int]:
        """Return the workloads whose controllers can act, those at the end that come first."""
        return self.demand.movable(state)[:: -1 if number == 0 else 1] if self._is_controllers_turn(state) else []

    def _is_controllers_turn(self, state: State) -> bool:
        """Return whether it is the controllers' turn: every step up to the next wait was carried out, and quotas are
        seen.
        """
        waits = state.step >= len(self.steps) or isinstance(self.steps[state.step], WaitForControllers)
        return waits and self._limits(state) == state.limits
