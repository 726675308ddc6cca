"""Every rest that a namespace can come to: all orders of the controllers' moves, as far as they can matter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Any

from msgspec import Struct

from kubectl_kres.simulate.change import Delete, Settle, Step
from kubectl_kres.simulate.moves import Controllers, State
from kubectl_kres.simulate.requests import Requests
from kubectl_kres.simulate.state import DeploymentState, Workloads, WorkloadState, pods_of, shapes_of, wanted_of

#: States that are looked at before orders are only drawn, and how many are drawn then.
MOST_STATES, MOST_DRAWN, LEAST_DRAWN = 10_000, 100, 8
#: States with one way on, for each step and each workload, that are gone through beside those.
_STRAIGHT = 8
#: The same where the controllers may act between two steps.
MOST_BETWEEN = 6_000


class Ends(Struct, frozen=True):
    """States at rest, those first that are reached when each step is carried out before any controller acts.

    complete: no order was left out. usual: so many of the first are the usual ones.
    """

    states: tuple[State, ...]
    usual: int
    complete: bool = True


class Explorer:
    """Carries steps out and lets controllers act until nothing moves."""

    def __init__(
        self, requests: Requests, controllers: Controllers, steps: Sequence[Step], most: int = MOST_STATES
    ) -> None:
        """``most``: so many states are looked at before orders are drawn."""
        self.requests, self.controllers, self.steps, self.most = requests, controllers, steps, most
        self.tables = requests.tables
        self._limits_of: dict[int, tuple[int | None, ...]] = {}
        self._known: dict[tuple[Any, WorkloadState], tuple[dict[int, int], frozenset[int]]] = {}
        self._numbers: dict[Any, int] = {}
        self._numbered: dict[int, tuple[Any, int]] = {}
        #: The first workloads that were looked at, by how many they are.
        self._first: dict[int, Workloads] = {}

    def ends(self, starts: Sequence[State], *, between: bool, drawn: bool = True) -> Ends:
        """``between``: also those where controllers act between two steps, or before a quota's controller does.

        ``drawn``: where there are too many states some orders are drawn.
        """
        usual, complete = self._reached(starts, self.most, between=False)
        if drawn and not complete:
            usual = self._distinct([*usual, *self._drawn(starts)])
        if not between:
            return Ends(tuple(usual), len(usual), complete)
        rare, all_of_them = self._reached(starts, MOST_BETWEEN, between=True)
        states = self._distinct([*usual, *rare])
        return Ends(tuple(states), len(usual), complete and all_of_them)

    def _distinct(self, states: Iterable[State]) -> list[State]:
        result: dict[Any, State] = {}
        for state in states:
            result.setdefault(self._mark(state), state)
        return list(result.values())

    def _reached(self, starts: Sequence[State], most: int, *, between: bool) -> tuple[list[State], bool]:
        seen: set[Any] = set()
        ends: list[State] = []
        stack = list(reversed(starts))
        #: States that have one way on: as many as there are steps and workloads are no search.
        straight = most + _STRAIGHT * (len(self.steps) + max((len(state.workloads) for state in starts), default=0))
        while stack:
            state = stack.pop()
            following = self._next(state, between=between)
            while len(following) == 1 and straight > 0:
                straight -= 1
                (state,) = following
                following = self._next(state, between=between)
            mark = self._mark(state)
            if mark in seen:
                continue
            if len(seen) >= most:
                return ends, False
            seen.add(mark)
            if following:
                stack.extend(following)
            else:
                ends.append(state)
        return ends, True

    def _mark(self, state: State) -> Any:
        """Equal for equal states. To hash all workloads takes long, and few are others than in the first state."""
        workloads = state.workloads
        first = self._first.setdefault(len(workloads), workloads)
        marks = []
        for place in workloads.places(first):
            item = workloads[place]
            known = self._numbered.get(id(item))
            if known is None:
                known = self._numbered[id(item)] = item, self._numbers.setdefault(item, len(self._numbers))
            if item != first[place]:
                marks.append(known[1])
        others = state.world, state.step, state.used, state.limits, state.claims, state.answers
        return others, len(workloads), frozenset(marks)

    def _next(self, state: State, *, between: bool) -> list[State]:
        """The states that can follow; none if the namespace is at rest."""
        limits = self._limits(state)
        deletions = self.controllers.deletions(state)
        if deletions:
            return list(deletions)
        pending = self.steps[state.step] if state.step < len(self.steps) else None
        if not between:
            if limits != state.limits:
                return [state._replace(limits=limits)]
            if pending is not None and not isinstance(pending, Settle):
                return list(self.requests.sent(state, pending))
        moves = list(self._moves(state, one_by_one=pending is None or isinstance(pending, Settle)))
        if between and limits != state.limits:
            moves.append(state._replace(limits=limits))
        if isinstance(pending, Settle) and (between or not moves):
            moves.append(state._replace(step=state.step + 1))
        elif pending is not None and not isinstance(pending, Settle):
            sent = list(self.requests.sent(state, pending))
            moves.extend(sent)
            if between and isinstance(pending, Delete):
                moves.extend(after for answered in sent for after in self.controllers.under_way(state, answered))
        return moves

    def _limits(self, state: State) -> tuple[int | None, ...]:
        """What the quotas of the world say."""
        if state.world not in self._limits_of:
            limits: list[int | None] = [None] * len(state.limits)
            for quota in self.tables.worlds[state.world].quotas:
                for number, amount in self.tables.measures.limits(quota):
                    limits[number] = amount
            self._limits_of[state.world] = tuple(limits)
        return self._limits_of[state.world]

    def _moves(self, state: State, *, one_by_one: bool) -> Iterator[State]:
        """The controllers' moves; of workloads that no other one can hinder, one goes after the other."""
        active = self.controllers.active(state)
        if one_by_one:
            contended = self._contended(state, active)
            for place in active:
                if not contended & self._demand(state, state.workloads[place][1])[1]:
                    moves = list(self.controllers.moves(state, place, alone=True))
                    if moves:
                        yield from moves
                        return
        for place in active:
            yield from self.controllers.moves(state, place, alone=one_by_one and len(active) == 1)

    def _contended(self, state: State, active: Sequence[int]) -> set[int]:
        """The measures that do not have room for all that can still be asked of them."""
        asked = list(state.used)
        for place in active:
            for number, amount in self._demand(state, state.workloads[place][1])[0].items():
                asked[number] += amount
        return {number for number, limit in enumerate(state.limits) if limit is not None and asked[number] > limit}

    def _demand(self, state: State, workload: WorkloadState) -> tuple[dict[int, int], frozenset[int]]:
        """What a workload can still ask for, and the measures that it counts for."""
        key = (self.tables.worlds[state.world].deciding, workload)
        if key not in self._known:
            self._known[key] = self._growth(state, workload), self._measures(state, workload)
        return self._known[key]

    def _growth(self, state: State, workload: WorkloadState) -> dict[int, int]:
        """The most that a workload can still ask for."""
        most = wanted_of(workload) + getattr(workload, "surge", 0)
        more = most if isinstance(workload, DeploymentState) else max(0, most - pods_of(workload))
        grown: dict[int, int] = {}
        world = self.tables.worlds[state.world]
        for template in self._templates(workload):
            for shape in self.tables.options(template, world):
                for number, amount in self.tables.shapes[shape].cost:
                    grown[number] = max(grown.get(number, 0), amount * more)
        return self._with_objects(state, workload, grown)

    def _with_objects(self, state: State, workload: WorkloadState, grown: dict[int, int]) -> dict[int, int]:
        costs = [(self.tables.set_cost(), 1)] if isinstance(workload, DeploymentState) else []
        claims = getattr(workload, "claims", ())
        if claims:
            world = self.tables.worlds[state.world]
            raw = world.objects.get(("StatefulSet", getattr(workload, "name", "")), {})
            result = (self.tables.claim_cost(raw, claim, world) for claim in claims)
            costs += [(cost, wanted_of(workload)) for cost in result if cost is not None]
        for cost, times in costs:
            for number, amount in cost:
                grown[number] = grown.get(number, 0) + amount * times
        return grown

    def _measures(self, state: State, workload: WorkloadState) -> frozenset[int]:
        """The measures that a workload's pods and claims count for."""
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

    def _drawn(self, starts: Sequence[State]) -> Iterator[State]:
        """Rests after orders that were drawn by lot, the same ones each time."""
        lot = Random(0)  # noqa: S311 - no secret
        for number in range(min(MOST_DRAWN, max(LEAST_DRAWN, self.most // 100))):
            state = starts[number % len(starts)]
            while True:
                following = self._next(state, between=False)
                if not following:
                    yield state
                    break
                state = lot.choice(following)
