"""Final states of rollouts under the quotas of a namespace, and the room that remains.

The controllers' moves of ``controllers`` are made until none is left. Every pod gets ready, and every back-off passes.
Where two templates, or two workloads, compete for the same room, each order can be asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct, structs

from kubectl_kres.admission.quota.quota_admission import Key, Price, with_price
from kubectl_kres.simulate import controllers
from kubectl_kres.simulate.controllers import remaining_pods, sync_deployment
from kubectl_kres.simulate.state import (
    DeploymentState,
    Replica,
    ReplicaSetState,
    StatefulSetState,
    count,
    count_outdated,
    count_updated_pods,
    count_wanted_pods,
    pods_of,
    shape_counts,
    with_pod,
)

Sets = tuple[ReplicaSetState, ...]

#: Beyond so many steps of a controller nothing is said of the end.
_MOST_STEPS = 20_000


class PodCosts(Struct, frozen=True):
    """What pods cost. ``pods``: by shape. ``shape_of``: how a new pod of a template is stored.

    A template that is in no ``shape_of`` is refused whatever room there is. ``claims``: by ordinal what the claims of a
    StatefulSet's pod cost that are not there; None: they are refused whatever room there is.
    """

    pods: Mapping[int, Price]
    shape_of: Mapping[int, int]
    claims: Mapping[int, Price | None] = {}

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
            return _ORDERS
        return _ORDERS[:2] if isinstance(self.state, StatefulSetState) and self.state.parallel else _ORDERS[:1]

    def without_rivals(self) -> RolloutPlan:
        """Return the same where no other workload wants anything."""
        return structs.replace(self, rivals=())


class Order(NamedTuple):
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
    """The room that the quotas have left."""

    def __init__(self, used: Mapping[Key, int], hard: Mapping[Key, int]) -> None:
        self.used, self.hard = dict(used), dict(hard)
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
        for key, amount in price.items():
            self.used[key] = self.used.get(key, 0) + amount * times

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
    room = _Room(used, hard)
    run = _Run(plan, room, order)
    rivals = [_Run(rival, room, _ORDERS[0]) for rival in plan.rivals]
    _run_until_stable(run, rivals, rivals_first=rivals_first)
    while raising and not run.complete and run.raise_room():
        _run_until_stable(run, rivals, rivals_first=rivals_first)
    updated, pods = run.updated, pods_of(run.state)
    return SettledRollout(count_wanted_pods(run.state), updated, pods - updated, run.complete, room.hard, room.first)


def _run_until_stable(run: _Run, rivals: Sequence[_Run], *, rivals_first: bool) -> None:
    """Let the controllers act until none changes anything."""
    going = True
    while going:
        going = rivals_first and _run_controllers(rivals)
        going |= run.step() if rivals_first and rivals else run.run_until_stable()
        going |= _run_controllers(rivals)


def _run_controllers(runs: Sequence[_Run]) -> bool:
    """Let each controller act as far as it can; return whether any did anything."""
    return sum(run.run_until_stable() for run in runs) > 0


class _Run:
    def __init__(self, plan: RolloutPlan, room: _Room, order: Order) -> None:
        self.state, self.costs, self.once, self.room, self.order = plan.state, plan.costs, plan.once, room, order
        self.claims = dict(plan.costs.claims)
        self.steps = 0

    @property
    def updated(self) -> int:
        return count(self.state.pods) if isinstance(self.state, ReplicaSetState) else count_updated_pods(self.state)

    @property
    def complete(self) -> bool:
        return not self.once and pods_of(self.state) == count_wanted_pods(self.state) and not count_outdated(self.state)

    def run_until_stable(self) -> bool:
        """Act until nothing changes; return whether anything changed."""
        before = self.steps
        while self.step():
            pass
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
                for ordinal in controllers.missing_ordinals(state):
                    price, claims = (
                        self.costs.price_of_new_pod(controllers.template_of(state, ordinal)),
                        self._claims_of(ordinal),
                    )
                    return None if price is None or claims is None else with_price(price, claims)
                return None
            case DeploymentState() as state:
                item = state.newest
            case state:
                item = state
        return (
            self.costs.price_of_new_pod(item.template) if item is not None and count(item.pods) < item.wanted else None
        )

    def _claims_of(self, ordinal: int) -> Price | None:
        return self.claims.get(ordinal, {})

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
        """Return the set with the next pod; None if none comes. A claim that is made stays, also where the pod is
        refused.
        """
        absent = controllers.missing_ordinals(state)
        for ordinal in absent if self.order.newest_first else reversed(absent):
            claims, template = self._claims_of(ordinal), controllers.template_of(state, ordinal)
            if claims is None or not self.room.take(claims):
                continue
            self.claims.pop(ordinal, None)
            price = self.costs.price_of_new_pod(template)
            number = self.room.take(price, self._count_alike(state, ordinal)) if price is not None else 0
            if number:
                shape = self.costs.shape_of[template]
                made = (Replica(ordinal + further, template, shape) for further in range(number))
                return state._replace(pods=tuple(sorted((*state.pods, *made))))
        return None

    def _count_alike(self, state: StatefulSetState, ordinal: int) -> int:
        """Return how many pods of the same template, and without claims to be made, follow each other from an ordinal
        on.
        """
        if state.parallel or self.claims or (state.pods and state.pods[-1].ordinal > ordinal):
            return 1
        border = state.start + state.partition
        return (border if ordinal < border < state.ordinals.stop else state.ordinals.stop) - ordinal

    def _take_down(self, state: StatefulSetState) -> StatefulSetState | None:
        after = controllers.delete_replaced_pods(state)
        for replica in set(state.pods) - set(after.pods) if after is not None else ():
            self.room.charge(self.costs.pods[replica.shape], -1)
        return after
