"""The controllers that make pods, simulated against quotas: how many pods of the newest template exist at the end.

Every pod that is made becomes Ready, and every controller tries again until nothing changes any more. Amounts are
billionths of a unit.
Source: replicaset manageReplicas; statefulset stateful_set_control.go; job manageJob; of Deployments
``simulate.controllers``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

#: A quota and one of its names.
Key = tuple[str, str]
Price = Mapping[Key, int]

#: Beyond so many steps of a controller nothing is said of the end.
_MOST_STEPS = 20_000


class Group(Struct):
    """The pods of one template: the wanted and existing number, the cost of another one, and what one gives back.

    ``open``: nothing but a quota refuses one of them.
    """

    wanted: int
    pods: int
    price: Price
    back: Price
    open: bool = True

    def copy(self) -> Group:
        return Group(self.wanted, self.pods, self.price, self.back, self.open)


class RolloutPlan(Struct):
    """The plan of a controller: ``groups`` oldest first, the newest template last.

    ``strategy``: RollingUpdate or Recreate of a Deployment, Ordered where old pods are replaced one after the other (a
    StatefulSet, a DaemonSet), else empty. ``claims``: what the claims of each further pod cost, in the order in which
    pods are made. ``once``: what the object itself costs before its first pod. ``rivals``: what the controllers of
    other workloads want meanwhile, of the same quotas.
    """

    wanted: int
    groups: list[Group]
    strategy: str = ""
    surge: int = 0
    unavailable: int = 0
    claims: Sequence[Price] = ()
    once: Price = {}
    rivals: Sequence[RolloutPlan] = ()

    def copy(self) -> RolloutPlan:
        groups = [group.copy() for group in self.groups]
        return RolloutPlan(
            self.wanted, groups, self.strategy, self.surge, self.unavailable, self.claims, self.once, self.rivals
        )

    def alone(self) -> RolloutPlan:
        """Return the same where no other workload wants anything."""
        plan = self.copy()
        plan.rivals = ()
        return plan


class RolloutOutcome(NamedTuple):
    """The final state of the rollout. ``hard``: with the raises that were made during the simulation, with ``first``
    for the first further pod alone.
    """

    pods: int
    complete: bool
    hard: dict[Key, int]
    first: dict[Key, int]


class _Room:
    """The room that the quotas have left."""

    def __init__(self, used: Mapping[Key, int], hard: Mapping[Key, int]) -> None:
        self.used, self.hard = dict(used), dict(hard)
        self.first: dict[Key, int] = {}

    def times(self, price: Price, most: int) -> int:
        fits = most
        for key, amount in price.items():
            if amount > 0 and key in self.hard:
                fits = min(fits, (self.hard[key] - self.used.get(key, 0)) // amount)
        return max(0, fits)

    def take(self, price: Price, count: int = 1) -> None:
        for key, amount in price.items():
            self.used[key] = self.used.get(key, 0) + amount * count

    def make_way(self, price: Price) -> bool:
        """Raise the quotas that refuse one more; return False where none does."""
        lacks = {
            key: self.used.get(key, 0) + amount
            for key, amount in price.items()
            if amount > 0 and key in self.hard and self.used.get(key, 0) + amount > self.hard[key]
        }
        self.first = self.first or dict(lacks)
        self.hard.update(lacks)
        return bool(lacks)


def at_rest(
    plan: RolloutPlan,
    used: Mapping[Key, int],
    hard: Mapping[Key, int],
    *,
    raising: bool = False,
    old_first: bool = False,
    rivals_first: bool = False,
) -> RolloutOutcome:
    """Return the final state. ``raising``: where room is lacking, the quotas are raised by just what the next pod
    needs.

    ``old_first``: which template's pods get the room, where two need it; ``rivals_first``: where two workloads do.
    """
    room = _Room(used, hard)
    run = _Run(plan.copy(), room, old_first=old_first)
    rivals = [_Run(rival.copy(), room, old_first=False) for rival in plan.rivals]
    _until_still(run, rivals, rivals_first=rivals_first)
    while raising and not run.complete and run.raise_room():
        _until_still(run, rivals, rivals_first=rivals_first)
    return RolloutOutcome(run.newest.pods, run.complete, run.room.hard, run.room.first)


def _until_still(run: _Run, rivals: Sequence[_Run], *, rivals_first: bool) -> None:
    """Let the controllers act until none changes anything."""
    going = True
    while going:
        going = rivals_first and _run_controllers(rivals)
        going |= run.step() if rivals_first and rivals else run.until_still()
        going |= _run_controllers(rivals)


def _run_controllers(runs: Sequence[_Run]) -> bool:
    """Let each controller act as far as it can; return whether any did anything."""
    return sum(run.until_still() for run in runs) > 0


class _Run:
    def __init__(self, plan: RolloutPlan, room: _Room, *, old_first: bool) -> None:
        self.plan, self.room, self.old_first = plan, room, old_first
        self.newest, self.old = plan.groups[-1], plan.groups[:-1]
        self.claims = list(plan.claims)
        self.steps = 0
        self.ready = not plan.once

    @property
    def complete(self) -> bool:
        return (
            self.ready
            and self.newest.pods >= self.plan.wanted
            and not any(group.pods for group in self._replaced_groups())
        )

    def _replaced_groups(self) -> list[Group]:
        return self.old if self.plan.strategy else []

    def until_still(self) -> bool:
        """Act until nothing changes; return whether anything changed."""
        before = self.steps
        while self.step():
            pass
        return self.steps > before

    def step(self) -> bool:
        """Act once; return False if nothing is left to do."""
        if not self.ready:
            if not self.room.times(self.plan.once, 1):
                return False
            self.room.take(self.plan.once)
            self.ready = True
            self.steps += 1
            return True
        if self.steps < _MOST_STEPS and (self._fill_groups() or self._spread_pods()):
            self.steps += 1
            return True
        return False

    def raise_room(self) -> bool:
        """Make room for the next pod of the newest template; return False where room is not what it lacks."""
        self.steps += 1
        if self.steps >= _MOST_STEPS:
            return False
        if not self.ready:
            return self.room.make_way(self.plan.once)
        if not self.newest.open:
            return False
        if self.newest.pods >= self.newest.wanted:
            return False
        return self.room.make_way(self._next_price())

    def _next_price(self) -> Price:
        if not self.claims:
            return self.newest.price
        return _sum_prices(self.newest.price, self.claims[0])

    def _fill_groups(self) -> bool:
        groups = [*self.old, self.newest] if self.old_first else [self.newest, *self.old]
        changed = [self._fill_group(group) for group in groups]
        return any(changed)

    def _fill_group(self, group: Group) -> bool:
        """Create pods up to the wanted number, as far as there is room, and delete those beyond it; return whether any
        changed.
        """
        if group.pods > group.wanted:
            self.room.take(group.back, group.wanted - group.pods)
            group.pods = group.wanted
            return True
        if group.pods == group.wanted or not group.open:
            return False
        if group is self.newest and self.claims:
            if not self.room.times(self._next_price(), 1):
                return False
            self.room.take(self._next_price())
            self.claims.pop(0)
            group.pods += 1
            return True
        count = self.room.times(group.price, group.wanted - group.pods)
        self.room.take(group.price, count)
        group.pods += count
        return count > 0

    def _spread_pods(self) -> bool:
        """Let the controller that spreads the pods over the templates act once; return False if it changes nothing."""
        plan = self.plan
        if plan.strategy in {"", "Ordered"}:
            return bool(plan.strategy) and self._replace_one()
        from kubectl_kres.simulate.controllers import sync_deployment
        from kubectl_kres.simulate.state import DeploymentState, ReplicaSetState

        sets = tuple(
            ReplicaSetState(place, group.wanted, ((0, True, group.pods),), plan.wanted)
            for place, group in enumerate(plan.groups)
        )
        recreate = plan.strategy == "Recreate"
        state = DeploymentState(len(self.old), plan.wanted, plan.surge, plan.unavailable, recreate, sets=sets)
        after = sync_deployment(state, may_create=lambda: True)
        for group, item in zip(plan.groups, after.sets if after is not None else (), strict=False):
            group.wanted = item.wanted
        return after is not None

    def _replace_one(self) -> bool:
        """End the next old pod, once all wanted pods exist; return whether one ended."""
        old = next((group for group in self.old if group.pods), None)
        if old is None or sum(group.pods for group in self.plan.groups) < self.plan.wanted:
            return False
        old.wanted = old.pods - 1
        self.newest.wanted += 1
        return True


def _sum_prices(price: Price, other: Price) -> Price:
    return {key: price.get(key, 0) + other.get(key, 0) for key in {**price, **other}}
