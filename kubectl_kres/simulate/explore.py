"""Every rest that a namespace can come to: all orders of the controllers' moves, as far as they can matter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Any

from msgspec import Struct

from kubectl_kres.simulate.change import Delete, Step, WaitForControllers
from kubectl_kres.simulate.controllers import sync_deployment
from kubectl_kres.simulate.demand import RoomDemand
from kubectl_kres.simulate.moves import Controllers, State
from kubectl_kres.simulate.requests import Requests
from kubectl_kres.simulate.state import DeploymentState, Workloads, WorkloadState

#: States that are looked at before orders are only drawn, and how many are drawn then.
MOST_STATES, MOST_DRAWN, LEAST_DRAWN = 10_000, 100, 8
#: States with one way on, for each step and each workload, that are gone through beside those.
_STRAIGHT = 8
#: Ways on over all states, for each one that may be looked at, and of one state: where more race for room, their orders
#: are too many for a search.
_WAYS, _MOST_WAYS = 5, 24
#: Workloads and steps of all the orders that are drawn.
_MOST_OF_ALL = 20_000
#: The same where the controllers may act between two steps.
MOST_BETWEEN = 6_000


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
            while len(next_answer) == 1 and straight > 0:
                straight -= 1
                state = next_answer[0].compacted()
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
                moves.extend(after for answered in sent for after in self.controllers.under_way(state, answered))
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
                    moves = list(self.controllers.next_moves(state, index, alone=True))
                    if moves:
                        yield from moves
                        return
        for index in active:
            yield from self.controllers.next_moves(state, index, alone=one_by_one and len(active) == 1)

    def _with_first_sets(self, state: State, active: Sequence[int]) -> State | None:
        """With the first set of each Deployment that has none, if no quota counts sets: it hinders nobody.

        None if there is no such Deployment.
        """
        made: dict[int, WorkloadState] = {}
        for index in active:
            workload = state.workloads[index][1]
            if not isinstance(workload, DeploymentState) or self.tables.revision_cost(workload) or self.tables.reviews:
                continue
            if not workload.sets:
                after = sync_deployment(workload, may_create=lambda: True)
                if after is not None:
                    made[index] = after
        return state._replace(workloads=state.workloads.having_all(made)) if made else None

    def _sample_final_states(self, starts: Sequence[State]) -> Iterator[State]:
        """Rests after some orders, the same ones each time: the first comes first, the last does, then by lot."""
        lot = Random(0)  # noqa: S311 - no secret
        often = _MOST_OF_ALL // max(1, *(len(state.workloads) + len(self.steps) for state in starts))
        for number in range(max(LEAST_DRAWN, min(MOST_DRAWN, self.most // 100, often))):
            yield self._in_one_order(starts[number % len(starts)], number, lot)

    def _in_one_order(self, state: State, number: int, lot: Random) -> State:
        """Return the rest that one order leads to. Only the moves of the workload whose turn it is are looked for."""
        queue = self._queue(state, number)
        while True:
            if queue:
                index = len(queue) - 1 if number < 2 else lot.randrange(len(queue))
                position = queue[index]
                next_answer = list(self.controllers.delete_surplus(state, position)) or list(
                    self.controllers.next_moves(state, position)
                )
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

    def _queue(self, state: State, number: int) -> list[int]:
        """Return the workloads whose controllers can act, those at the end that come first."""
        return self.demand.movable(state)[:: -1 if number == 0 else 1] if self._is_controllers_turn(state) else []

    def _is_controllers_turn(self, state: State) -> bool:
        """Return whether it is the controllers' turn: every step up to the next wait was carried out, and quotas are
        seen.
        """
        waits = state.step >= len(self.steps) or isinstance(self.steps[state.step], WaitForControllers)
        return waits and self._limits(state) == state.limits
