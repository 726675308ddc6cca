"""Where the rollout of one StatefulSet comes to rest under the quotas of its namespace: ``rollout`` for its kind."""

from __future__ import annotations

from collections.abc import Mapping

from kubectl_kres.simulate.controllers import statefulset
from kubectl_kres.simulate.rollout import MOST_ROUNDS, Free, Prices, RolloutRest
from kubectl_kres.simulate.state import Replica, StatefulSetState


def stateful_set_rests(
    state: StatefulSetState, prices: Prices, free: Mapping[int, int], *, claims: frozenset[int] = frozenset()
) -> tuple[RolloutRest, ...]:
    """Every rest that a StatefulSet can come to, the usual one first. ``claims``: ordinals that have theirs."""
    orders = (False, True) if state.parallel else (False,)
    return tuple(dict.fromkeys(_stateful_set(state, prices, Free(free), set(claims), last=last) for last in orders))


def _stateful_set(state: StatefulSetState, prices: Prices, free: Free, claims: set[int], *, last: bool) -> RolloutRest:
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
    return RolloutRest(state.replicas, updated, len(state.pods) - updated)


def _replica(
    state: StatefulSetState, prices: Prices, free: Free, claims: set[int], *, last: bool
) -> StatefulSetState | None:
    """With the next pod that comes; None if none does. A claim that is made stays, also where the pod is refused."""
    absent = statefulset.missing(state)
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
