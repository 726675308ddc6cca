"""Where the rollout of one workload comes to rest under the quotas of its namespace.

Pure arithmetic over counts: the controllers' moves of ``controllers`` are made until none is left. Every pod gets
ready, and every back-off passes. Where two ReplicaSets compete for the same room, each order is tried.

Where the rollout of one StatefulSet comes to rest under the quotas of its namespace: ``rollout`` for its kind.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from kubectl_kres.simulate import controllers as statefulset
from kubectl_kres.simulate.controllers import sync_deployment
from kubectl_kres.simulate.state import (
    Cost,
    DeploymentState,
    Replica,
    ReplicaSetState,
    StatefulSetState,
    count,
    shape_counts,
    with_pod,
)

#: Rounds after which a rollout would have ended; each makes or deletes at least one pod.
MOST_ROUNDS = 100_000


class PodCosts(Struct, frozen=True):
    """What pods cost. ``pods``: by shape, per measure. ``shape_of``: how a new pod of a template is stored.

    A template that is in no ``shape_of`` is refused whatever room there is. ``claims``: what the claims of one pod of a
    StatefulSet cost; None: they are refused whatever room there is.
    """

    pods: Mapping[int, Cost]
    shape_of: Mapping[int, int]
    claims: Cost | None = ()


class SettledRollout(Struct, frozen=True):
    """Where it ends. ``updated``: pods of the newest template, ``old``: of older ones."""

    wanted: int
    updated: int
    old: int

    @property
    def complete(self) -> bool:
        """Whether all wanted pods are of the newest template, and no other is left."""
        return self.updated >= self.wanted and not self.old


class FreeAmounts(dict[int, int]):
    """What is left of each measure; a measure that no quota bounds is not in it. Below zero: used over hard."""

    def fits(self, cost: Cost) -> bool:
        """Return whether there is room. What costs nothing of a measure is not held against it."""
        return all(amount <= 0 or measure not in self or self[measure] >= amount for measure, amount in cost)

    def take(self, cost: Cost, times: int = 1) -> None:
        """Charge it; with a negative number of times, give it back."""
        for measure, amount in cost:
            if measure in self:
                self[measure] -= amount * times

    def room(self, cost: Cost) -> int | None:
        """Return how many in a row fit; None: any number."""
        rooms = [self[measure] // amount for measure, amount in cost if amount > 0 and measure in self]
        return max(0, min(rooms)) if rooms else None


def deployment_rests(state: DeploymentState, prices: PodCosts, free: Mapping[int, int]) -> tuple[SettledRollout, ...]:
    """Return every rest that a Deployment can come to, the usual one first. The template of ``state`` is the newest
    one.

    ``free``: what is left of each measure now, its pods counted.
    """
    fromkeys = dict.fromkeys(
        _deployment(state, prices, FreeAmounts(free), newest_first=newest, eager=eager)
        for newest in (True, False)
        for eager in (True, False)
    )
    return tuple(fromkeys)


def _deployment(
    state: DeploymentState, prices: PodCosts, free: FreeAmounts, *, newest_first: bool, eager: bool
) -> SettledRollout:
    """``eager``: pods are made before the Deployment's controller looks again."""
    for _ in range(MOST_ROUNDS):
        state = _delete_surplus_pods(state, prices, free)
        after = None if eager else sync_deployment(state, may_create=_can_create)
        after = after or _create_fitting_pods(state, prices, free, newest_first=newest_first)
        after = after or (sync_deployment(state, may_create=_can_create) if eager else None)
        if after is None:
            break
        state = after
    new = state.newest
    updated = count(new.pods) if new is not None else 0
    return SettledRollout(state.replicas, updated, sum(count(item.pods) for item in state.sets) - updated)


def _can_create() -> bool:
    return True


def _delete_surplus_pods(state: DeploymentState, prices: PodCosts, free: FreeAmounts) -> DeploymentState:
    """With no more pods than each ReplicaSet is to have; of ways to choose them, the first."""
    if all(count(item.pods) <= item.wanted for item in state.sets):
        return state
    from kubectl_kres.simulate.controllers import remaining_pods  # noqa: PLC0415 - few rollouts delete pods

    sets = []
    for item in state.sets:
        pods = remaining_pods(item.pods, item.wanted)[0]
        if pods == item.pods:
            sets.append(item)
            continue
        for part, sign in ((item.pods, -1), (pods, 1)):
            for shape, number in shape_counts(part):
                free.take(prices.pods[shape], number * sign)
        sets.append(item._replace(pods=pods))
    return state._replace(sets=tuple(sets))


def _create_fitting_pods(
    state: DeploymentState, prices: PodCosts, free: FreeAmounts, *, newest_first: bool
) -> DeploymentState | None:
    """With the pods of one ReplicaSet that fit; None if none does."""
    places = range(len(state.sets))
    for place in reversed(places) if newest_first else places:
        item = state.sets[place]
        number = _count_fitting_pods(item, prices, free)
        if number:
            shape = prices.shape_of[item.template]
            free.take(prices.pods[shape], number)
            made = item._replace(pods=with_pod(item.pods, shape, number))
            return state._replace(sets=(*state.sets[:place], made, *state.sets[place + 1 :]))
    return None


def _count_fitting_pods(item: ReplicaSetState, prices: PodCosts, free: FreeAmounts) -> int:
    lacking = item.wanted - count(item.pods)
    shape = prices.shape_of.get(item.template)
    if lacking <= 0 or shape is None:
        return 0
    room = free.room(prices.pods[shape])
    return lacking if room is None else min(lacking, room)


def stateful_set_rests(
    state: StatefulSetState, prices: PodCosts, free: Mapping[int, int], *, claims: frozenset[int] = frozenset()
) -> tuple[SettledRollout, ...]:
    """Return every rest that a StatefulSet can come to, the usual one first. ``claims``: ordinals that have theirs."""
    orders = (False, True) if state.parallel else (False,)
    return tuple(
        dict.fromkeys(_stateful_set(state, prices, FreeAmounts(free), set(claims), last=last) for last in orders)
    )


def _stateful_set(
    state: StatefulSetState, prices: PodCosts, free: FreeAmounts, claims: set[int], *, last: bool
) -> SettledRollout:
    """``last``: in parallel the highest ordinals get the room."""
    for _ in range(MOST_ROUNDS):
        made = _replica(state, prices, free, claims, last=last)
        if made is not None:
            state = made
            continue
        after = statefulset.taken_down(state)
        if after is None:
            break
        for replica in set(state.pods) - set(after.pods):
            free.take(prices.pods[replica.shape], -1)
        state = after
    updated = sum(1 for replica in state.pods if replica.template == state.template)
    return SettledRollout(state.replicas, updated, len(state.pods) - updated)


def _replica(
    state: StatefulSetState, prices: PodCosts, free: FreeAmounts, claims: set[int], *, last: bool
) -> StatefulSetState | None:
    """With the next pod that comes; None if none does. A claim that is made stays, also where the pod is refused."""
    absent = statefulset.missing_ordinals(state)
    for ordinal in reversed(absent) if last else absent:
        if ordinal not in claims:
            if prices.claims is None or not free.fits(prices.claims):
                continue
            free.take(prices.claims)
            claims.add(ordinal)
        template = statefulset.template_of(state, ordinal)
        shape = prices.shape_of.get(template)
        if shape is not None and free.fits(prices.pods[shape]):
            free.take(prices.pods[shape])
            return statefulset.with_replica(state, Replica(ordinal, template, shape))
    return None
