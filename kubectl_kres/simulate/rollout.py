"""Final states of rollouts under the quotas of a namespace, and the room that remains.

The controllers' moves of ``controllers`` are made until none is left. Every pod gets ready, and every back-off passes.
Where two templates, or two workloads, compete for the same room, each order can be asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct, structs

from kubectl_kres.admission.quota.quota_admission import Key, Price, with_price
from kubectl_kres.model.ordinals import length, overlap
from kubectl_kres.simulate import controllers
from kubectl_kres.simulate.controllers import remaining_pods, sync_deployment
from kubectl_kres.simulate.leaps import LEAST_MOVES, Point, leap, split, with_counts
from kubectl_kres.simulate.replicas import Replica, gaps, joined
from kubectl_kres.simulate.state import (
    DaemonSetState,
    DeploymentState,
    ReplicaSetState,
    StatefulSetState,
    count,
    count_outdated,
    count_updated_pods,
    count_wanted_pods,
    pods_of,
    ready,
    shape_counts,
    with_pod,
)

Sets = tuple[ReplicaSetState, ...]

#: After so many moves rounds are looked for: those of one controller are short.
_LOOKS = (7, 13, LEAST_MOVES)
#: So few pods are gone through one by one: to look for rounds takes longer.
_FEW_PODS = 20
#: Beyond so many steps of a controller nothing is said of the end.
_MOST_STEPS = 20_000


class PodCosts(Struct, frozen=True):
    """What pods cost. ``pods``: by shape. ``shape_of``: how a new pod of a template is stored.

    A template that is in no ``shape_of`` is refused whatever room there is. ``claims``: what the claims of each of some
    pods of a StatefulSet cost that are not there, by rows of ordinals that share none; None: they are refused whatever
    room there is.
    """

    pods: Mapping[int, Price]
    shape_of: Mapping[int, int]
    claims: Sequence[tuple[range, Price | None]] = ()

    def price_of_new_pod(self, template: int) -> Price | None:
        """Return the cost of a new pod of a template; None: it is refused whatever room there is."""
        shape = self.shape_of.get(template)
        return None if shape is None else self.pods[shape]


class RolloutPlan(Struct, frozen=True):
    """What one controller has and wants; its present template is the newest one.

    ``once``: what the object itself costs before its first pod. ``rivals``: what the controllers of other workloads
    want meanwhile, of the same quotas.
    """

    state: DeploymentState | StatefulSetState | ReplicaSetState
    costs: PodCosts
    once: Price = {}
    rivals: Sequence[RolloutPlan] = ()

    @property
    def price(self) -> Price | None:
        """The cost of a further pod of the newest template; None: it is refused whatever room there is."""
        return self.costs.price_of_new_pod(self.state.template)

    @property
    def orders(self) -> tuple[Order, ...]:
        """The orders that can lead to different ends, the usual one first."""
        if isinstance(self.state, DeploymentState):
            return _ORDERS if _competes(self.state) else _ORDERS[::2]
        return _ORDERS[:2] if isinstance(self.state, StatefulSetState) and self.state.parallel else _ORDERS[:1]

    def without_rivals(self) -> RolloutPlan:
        """Return the same where no other workload wants anything."""
        return structs.replace(self, rivals=())


def _competes(state: DeploymentState) -> bool:
    """Return whether older templates may get pods, too: one of their sets lacks some, or is scaled meanwhile."""
    older = [item for item in state.sets if item.template != state.template]
    return any(count(item.pods) < item.wanted or (item.wanted and item.desired != state.replicas) for item in older)


class Order(Struct, frozen=True):
    """Who gets the room: pods of the newest template, or lowest ordinals, before others. ``eager``: pods are made
    before the Deployment's controller looks again.
    """

    newest_first: bool = True
    eager: bool = True


_ORDERS = (Order(), Order(newest_first=False), Order(eager=False), Order(newest_first=False, eager=False))


class SettledRollout(Struct, frozen=True):
    """Where it ends. ``updated``: pods of the newest template, ``old``: of older ones. ``complete``: all that it wants
    is there. ``hard``: with the raises that were made meanwhile, ``first``: that for the first further pod alone.
    """

    wanted: int
    updated: int
    old: int
    complete: bool = False
    hard: Mapping[Key, int] = {}
    first: Mapping[Key, int] = {}


class _Room:
    """The room that the quotas have left. ``grown``: how often it may have become larger."""

    def __init__(self, used: Mapping[Key, int], hard: Mapping[Key, int]) -> None:
        self.used, self.hard, self.grown = dict(used), dict(hard), 0
        self.first: dict[Key, int] = {}

    def times(self, price: Price, most: int) -> int:
        """Return how many in a row fit. What costs nothing of a measure is not held against it."""
        fits = most
        for key, amount in price.items():
            if amount > 0 and key in self.hard:
                fits = min(fits, (self.hard[key] - self.used.get(key, 0)) // amount)
        return max(0, fits)

    def charge(self, price: Price, times: int = 1) -> None:
        """Charge it; with a negative number of times, give it back."""
        given_back = False
        for key, amount in price.items():
            more = amount * times
            self.used[key] = self.used.get(key, 0) + more
            given_back |= more < 0
        self.grown += given_back

    def take(self, price: Price, most: int = 1) -> int:
        """Charge as many as fit; return how many these are."""
        fits = self.times(price, most)
        self.charge(price, fits)
        return fits

    def raise_quotas(self, price: Price) -> bool:
        """Raise the quotas that refuse one more; return False where none does."""
        lacks = {
            key: self.used.get(key, 0) + amount
            for key, amount in price.items()
            if amount > 0 and key in self.hard and self.used.get(key, 0) + amount > self.hard[key]
        }
        self.first = self.first or dict(lacks)
        self.hard.update(lacks)
        self.grown += bool(lacks)
        return bool(lacks)


def settle_rollout(
    plan: RolloutPlan,
    used: Mapping[Key, int],
    hard: Mapping[Key, int],
    order: Order = _ORDERS[0],
    *,
    raising: bool = False,
    rivals_first: bool = False,
) -> SettledRollout:
    """Return the final state. ``raising``: where room is lacking, the quotas are raised by just what the next pod
    needs. ``rivals_first``: other workloads get the room that two need.
    """
    if not raising and is_stuck(plan, used, hard):
        return SettledRollout(count_wanted_pods(plan.state), 0, pods_of(plan.state), hard=dict(hard))
    room = _Room(used, hard)
    run = _Run(plan, room, order)
    rivals = [_Run(rival, room, _ORDERS[0]) for rival in plan.rivals]
    _run_until_stable(run, rivals, rivals_first=rivals_first)

    def go_on_with_more_room() -> bool:
        if run.complete or not run.raise_room():
            return False
        _run_until_stable(run, rivals, rivals_first=rivals_first)
        return True

    if raising:
        _Course((run, *rivals), go_on_with_more_room).follow()
    updated, pods = run.updated, pods_of(run.state)
    return SettledRollout(count_wanted_pods(run.state), updated, pods - updated, run.complete, room.hard, room.first)


def is_stuck(plan: RolloutPlan, used: Mapping[Key, int], hard: Mapping[Key, int]) -> bool:
    """Return whether a rolling update that just starts makes no pod and ends none: the first new pod has no room, and
    all old ones have to stay available. So ends most of what a full quota holds up, with no move to be followed.
    """
    state = plan.state
    if not isinstance(state, DeploymentState) or isinstance(state, DaemonSetState) or plan.once or plan.rivals:
        return False
    if not state.replicas or state.recreate or state.paused or state.unavailable or state.newest is not None:
        return False
    active = [item for item in state.sets if item.wanted or item.pods]
    whole = all(
        item.desired == state.replicas and ready(item.pods) == count(item.pods) == item.wanted for item in active
    )
    if not whole or sum(item.wanted for item in active) != state.replicas:
        return False
    price = plan.price
    return price is None or not _Room(used, hard).times(price, 1)


def _run_until_stable(run: _Run, rivals: Sequence[_Run], *, rivals_first: bool) -> None:
    """Let the controllers act until none changes anything."""
    if not rivals:
        run.run_until_stable()
        return

    def act() -> bool:
        acted = rivals_first and _run_controllers(rivals)
        acted |= run.step() if rivals_first else run.run_until_stable()
        return _run_controllers(rivals) or acted

    _Course((run, *rivals), act).follow()


def _run_controllers(runs: Sequence[_Run]) -> bool:
    """Let each controller act as far as it can; return whether any did anything."""
    return sum(run.run_until_stable() for run in runs) > 0


class _Stand(NamedTuple):
    """Where controllers are: their workloads, what the quotas count and allow, and for each what it has yet to make
    before pods: rows of ordinals that lack claims, with the prices of these, and what it makes once. ``used`` and
    ``hard`` are in the order of the course's keys.
    """

    states: tuple[DeploymentState | StatefulSetState | ReplicaSetState, ...]
    used: tuple[int, ...]
    hard: tuple[int, ...]
    rows: tuple[tuple[tuple[int, int], ...], ...]
    prices: tuple[tuple[Price | None, ...], ...]
    once: tuple[Price, ...]

    @property
    def counted(self) -> Any:
        return self.states, self.used, self.hard, self.rows

    def with_counts(self, counts: Sequence[int]) -> _Stand:
        states, used, hard, rows = with_counts(self.counted, iter(counts))
        return self._replace(states=states, used=used, hard=hard, rows=rows)


class _Course:
    """Moves of controllers that share one room, in order; moves that repeat themselves are taken together."""

    def __init__(self, runs: Sequence[_Run], move: Callable[[], bool]) -> None:
        """``move`` makes the next one; it returns False if there is none."""
        self.runs, self.room, self.move = runs, runs[0].room, move
        prices = (price for run in runs for price in run.prices())
        #: What moves can change the use of: of a namespace with many quotas that is little.
        self.keys = tuple(dict.fromkeys(key for price in prices for key in price))
        self.bounded = tuple(key for key in self.keys if key in self.room.hard)
        self._points: dict[int, tuple[_Stand, Point]] = {}

    def follow(self) -> None:
        """Make all moves."""
        if sum(max(count_wanted_pods(run.state), pods_of(run.state)) for run in self.runs) <= _FEW_PODS:
            while self.move():
                pass
            return
        # Most come to rest soon: what rounds are recognised by is noted of those that do not.
        for _ in range(_LOOKS[0]):
            if not self.move():
                return
        stands = [self._stand()]
        self._points.clear()
        while self.move():
            stands.append(self._stand())
            if len(stands) not in _LOOKS:
                continue
            further = leap(stands, self._point, _Stand.with_counts, self._after)
            if further is not None:
                self._go_on_from(further)
            if further is not None or len(stands) == LEAST_MOVES:
                stands = [self._stand()]
                self._points.clear()

    def _stand(self) -> _Stand:
        return _Stand(
            tuple(run.state for run in self.runs),
            tuple([self.room.used.get(key, 0) for key in self.keys]),
            tuple([self.room.hard[key] for key in self.bounded]),
            tuple(tuple((row.start, row.stop) for row, _ in run.claims) for run in self.runs),
            tuple(tuple(price for _, price in run.claims) for run in self.runs),
            tuple(run.once for run in self.runs),
        )

    def _go_on_from(self, stand: _Stand) -> None:
        self.room.used.update(zip(self.keys, stand.used, strict=True))
        self.room.hard.update(zip(self.bounded, stand.hard, strict=True))
        self.room.grown += 1
        for index, run in enumerate(self.runs):
            rows = (range(*ends) for ends in stand.rows[index])
            run.state, run.once = stand.states[index], stand.once[index]
            run.claims = list(zip(rows, stand.prices[index], strict=True))

    def _after(self, stand: _Stand) -> _Stand | None:
        """Return where the next move leads from somewhere else."""
        present, steps = self._stand(), [run.steps for run in self.runs]
        self._go_on_from(stand)
        after = self._stand() if self.move() else None
        self._go_on_from(present)
        for run, number in zip(self.runs, steps, strict=True):
            run.steps = number
        return after

    def _point(self, stand: _Stand) -> Point:
        """What ends a row of rounds is among the counts: the pods that are wanted still, and the room that is left."""
        # The same stands are looked at again with those that followed.
        known = self._points.get(id(stand))
        if known is not None and known[0] is stand:
            return known[1]
        used = dict(zip(self.keys, stand.used, strict=True))
        wanted = (count_wanted_pods(state) - pods_of(state) for state in stand.states)
        left = (amount - used[key] for key, amount in zip(self.bounded, stand.hard, strict=True))
        counted = split(stand.counted)
        point = Point((*counted.counts, *wanted, *left), (counted.form, stand.prices, stand.once))
        self._points[id(stand)] = stand, point
        return point


def _without_alike(row: range, alike: range) -> range:
    """Return the rest of a row without what stands at one of its ends."""
    return range(alike.stop, row.stop) if alike.start == row.start else range(row.start, alike.start)


class _Run:
    def __init__(self, plan: RolloutPlan, room: _Room, order: Order) -> None:
        self.state, self.costs, self.once, self.room, self.order = plan.state, plan.costs, plan.once, room, order
        self.claims = list(plan.costs.claims)
        self.steps = 0
        #: When nothing was left to do, by the growth of the room: less of it brings nothing new.
        self.stable_at = -1

    @property
    def updated(self) -> int:
        return count(self.state.pods) if isinstance(self.state, ReplicaSetState) else count_updated_pods(self.state)

    def prices(self) -> Iterator[Price]:
        """Yield all that it may charge."""
        yield from self.costs.pods.values()
        yield from (price for _, price in self.claims if price is not None)
        yield self.once

    @property
    def complete(self) -> bool:
        return not self.once and pods_of(self.state) == count_wanted_pods(self.state) and not count_outdated(self.state)

    def run_until_stable(self) -> bool:
        """Act until nothing changes; return whether anything changed."""
        if self.stable_at == self.room.grown:
            return False
        before = self.steps
        _Course((self,), self.step).follow()
        self.stable_at = self.room.grown
        return self.steps > before

    def step(self) -> bool:
        """Act once; return False if nothing is left to do."""
        if self.steps >= _MOST_STEPS:
            return False
        if self.once:
            if not self.room.take(self.once):
                return False
            self.once = {}
        else:
            state = self._next_state()
            if state is None:
                return False
            self.state = state
        self.steps += 1
        self.stable_at = -1
        return True

    def raise_room(self) -> bool:
        """Make room for the next pod of the newest template; return False where room is not what it lacks."""
        self.steps += 1
        if self.steps >= _MOST_STEPS:
            return False
        price = self.once or self._next_price()
        return price is not None and self.room.raise_quotas(price)

    def _next_price(self) -> Price | None:
        """Return the cost of the next pod that has no room; None: there is none, or something else refuses it."""
        match self.state:
            case StatefulSetState() as state:
                for row in controllers.missing_ordinals(state):
                    price = self.costs.price_of_new_pod(controllers.template_of(state, row.start))
                    claims, _ = self._claims_of(row)
                    return None if price is None or claims is None else with_price(price, claims)
                return None
            case DeploymentState() as state:
                item = state.newest
            case state:
                item = state
        return (
            self.costs.price_of_new_pod(item.template) if item is not None and count(item.pods) < item.wanted else None
        )

    def _next_state(self) -> DeploymentState | StatefulSetState | ReplicaSetState | None:
        """Return the workload after the next move; None: there is none."""
        match self.state:
            case StatefulSetState() as state:
                return self._create_replica(state) or self._take_down(state)
            case ReplicaSetState() as state:
                sets = self._delete_surplus((state,)) or self._create_pods((state,))
                return sets[0] if sets is not None else None
            case state:
                sets = self._delete_surplus(state.sets) or (self._create_pods(state.sets) if self.order.eager else None)
                if sets is None:
                    synced = sync_deployment(state, may_create=lambda: True)
                    if synced is not None or self.order.eager:
                        return synced
                    sets = self._create_pods(state.sets)
                return state._replace(sets=sets) if sets is not None else None

    def _delete_surplus(self, sets: Sets) -> Sets | None:
        """Return the sets with no more pods than each is to have; of ways to choose them, the first. None: none has."""
        if all(count(item.pods) <= item.wanted for item in sets):
            return None
        left = tuple(item._replace(pods=next(remaining_pods(item.pods, item.wanted))) for item in sets)
        for part, sign in ((sets, -1), (left, 1)):
            for shape, number in (pair for item in part for pair in shape_counts(item.pods)):
                self.room.charge(self.costs.pods[shape], number * sign)
        return left

    def _create_pods(self, sets: Sets) -> Sets | None:
        """Return the sets with those pods of one of them that fit; None if none does."""
        indexes = range(len(sets))
        for index in reversed(indexes) if self.order.newest_first else indexes:
            item = sets[index]
            lacking, price = item.wanted - count(item.pods), self.costs.price_of_new_pod(item.template)
            number = self.room.take(price, lacking) if lacking > 0 and price is not None else 0
            if number:
                made = item._replace(pods=with_pod(item.pods, self.costs.shape_of[item.template], number))
                return (*sets[:index], made, *sets[index + 1 :])
        return None

    def _create_replica(self, state: StatefulSetState) -> StatefulSetState | None:
        """Return the set with the next pods that are alike; None if none comes. A claim that is made stays, also where
        the pod is refused.
        """
        for row in self._rows_of_missing(state):
            ordinals = row
            while ordinals:
                alike = self._alike(state, ordinals)
                made = self._create_alike(state, alike)
                if made is not None:
                    return made
                ordinals = _without_alike(ordinals, alike)
        return None

    def _rows_of_missing(self, state: StatefulSetState) -> Sequence[range]:
        """Return the rows of ordinals that come next, those first that get the room first."""
        absent = controllers.missing_ordinals(state)
        if not absent or (state.parallel and not self.order.newest_first):
            return absent[::-1]
        if not state.parallel:
            return (self._alike(state, next(gaps(state.own_pods, state.ordinals))),)
        # From the lowest ordinal up one batch goes on where the one before ended, unless it left claims behind.
        return absent if self.claims else tuple(gaps(state.own_pods, state.ordinals))

    def _alike(self, state: StatefulSetState, row: range) -> range:
        """Return the ordinals at the end of a row at which pods come first, as far as these cost the same."""
        first = self.order.newest_first or not state.parallel
        alike = controllers.first_alike(state, row) if first else controllers.last_alike(state, row)
        return self._claims_of(alike, first=first)[1]

    def _claims_of(self, row: range, *, first: bool = True) -> tuple[Price | None, range]:
        """Return what the claims of one pod at an end of a row cost, and the ordinals from there on with that cost."""
        end = row.start if first else row.stop - 1
        for ordinals, price in self.claims:
            if end in ordinals:
                return price, overlap(row, ordinals)
        for ordinals, _ in self.claims:
            if first and row.start < ordinals.start < row.stop:
                row = range(row.start, ordinals.start)
            elif not first and row.start < ordinals.stop < row.stop:
                row = range(ordinals.stop, row.stop)
        return {}, row

    def _create_alike(self, state: StatefulSetState, alike: range) -> StatefulSetState | None:
        """Return the set with as many pods of a row as have room, with their claims; None: with none."""
        first = self.order.newest_first or not state.parallel
        claims, template = self._claims_of(alike)[0], controllers.template_of(state, alike.start)
        if claims is None:
            return None
        price = self.costs.price_of_new_pod(template)
        number = self.room.take(with_price(price, claims), length(alike)) if price is not None else 0
        made = range(alike.start, alike.start + number) if first else range(alike.stop - number, alike.stop)
        if not number:
            kept = self.room.take(claims, length(alike) if state.parallel else 1) if claims else 0
            made = range(alike.start, alike.start + kept) if first else range(alike.stop - kept, alike.stop)
        self._forget_claims(made)
        if not number:
            return None
        replicas = Replica(made.start, template, self.costs.shape_of[template], number=number)
        return state._replace(pods=joined((*state.pods, replicas)))

    def _forget_claims(self, made: range) -> None:
        """Note that the claims of some ordinals are there."""
        self.claims = (
            [
                (left, price)
                for row, price in self.claims
                for left in (range(row.start, min(row.stop, made.start)), range(max(row.start, made.stop), row.stop))
                if left
            ]
            if made
            else self.claims
        )

    def _take_down(self, state: StatefulSetState) -> StatefulSetState | None:
        after = controllers.delete_replaced_pods(state)
        if after is not None:
            for pods, sign in ((state.pods, -1), (after.pods, 1)):
                for replica in pods:
                    self.room.charge(self.costs.pods[replica.shape], replica.number * sign)
        return after
