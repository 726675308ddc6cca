"""Who gets what of a pool, in which order the others wait, and which claims are in use: Capsule's rules, once more.

Written from the description of the controller and not from the project's engine, so that the two can be held against
each other. Amounts are whole thousandths.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from podspec import show


@dataclass(slots=True)
class Claim:
    """A claim; ``state`` is allocated, in use, exhausted or queued, or what went wrong before a pool saw it."""

    ns: str
    name: str
    uid: str
    created: int
    amounts: dict[str, int]
    state: str = "new"
    message: str = ""

    @property
    def turn(self) -> tuple[int, str, str]:
        """Claims are looked at in this order: the second of their creation, their name, their namespace."""
        return self.created, self.name, self.ns

    @property
    def held(self) -> bool:
        return self.state in ("allocated", "in use")


@dataclass(slots=True)
class Pool:
    """A pool with its claims. ``exhausted``: what was there and what is asked for, of each resource that is short."""

    name: str
    uid: str
    namespaces: list[str]
    hard: dict[str, int]
    ordered: bool
    claims: list[Claim] = field(default_factory=list)
    exhausted: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def held(self) -> list[Claim]:
        return [claim for claim in self.claims if claim.held]

    @property
    def waiting(self) -> list[Claim]:
        return [claim for claim in self.claims if not claim.held]


def settle(pool: Pool) -> None:
    """Reconcile a pool whose claims were there before it, until nothing changes."""
    pool.claims.sort(key=lambda claim: claim.turn)
    room = dict(pool.hard)
    while True:
        before = [(claim.state, claim.message) for claim in pool.claims]
        once(pool, room)
        if before == [(claim.state, claim.message) for claim in pool.claims]:
            return


def once(pool: Pool, room: dict[str, int]) -> None:
    """One reconcile: who has something keeps it; the others are tried in order. ``room`` shrinks."""
    pool.exhausted = {}
    for claim in pool.claims:
        if claim.held:
            continue
        asked = sorted(claim.amounts.items())
        closed = [(name, value) for name, value in asked if pool.ordered and name in pool.exhausted]
        short = [(name, value) for name, value in asked if room[name] == 0 or room[name] < value]
        if closed:
            claim.state = "queued"
            claim.message = said(closed, "queued", {name: pool.exhausted[name][1] for name, _ in closed})
        elif short:
            claim.state, claim.message = "exhausted", said(short, "available", room)
            for name, value in short:
                there, sum_ = pool.exhausted.get(name, (room[name], 0))
                pool.exhausted[name] = there, sum_ + value
        else:
            claim.state, claim.message = "allocated", "resource claimable from pool"
            for name, value in asked:
                room[name] -= value


def said(asked: list[tuple[str, int]], what: str, amounts: dict[str, int]) -> str:
    return "; ".join(
        f"requested: {name}={show(name, value)}, {what}: {name}={show(name, amounts[name])}" for name, value in asked
    )


def mark_used(claims: list[Claim], used: dict[str, int]) -> None:
    """Mark the claims of one namespace that cover what its quota has used, the largest share first."""
    left, free = dict(used), list(claims)
    while free and any(left.values()):
        scores = [sum(min(left.get(name, 0), value) for name, value in claim.amounts.items()) for claim in free]
        best = max(range(len(free)), key=lambda i: (scores[i], -i))
        if scores[best] <= 0:
            return
        claim = free.pop(best)
        claim.state = "in use"
        for name, value in claim.amounts.items():
            left[name] = max(0, left.get(name, 0) - value)
