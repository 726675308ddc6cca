"""A pool's next passes tried with a change: claims that leave, an amount that is another one, more to share out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from kubectl_kres.capsule.allocation import Allocation, Candidate, Key, Share, Turn, allocate, in_order, key_of
from kubectl_kres.capsule.amounts import Amounts
from kubectl_kres.model.capsule import ResourcePool
from kubectl_kres.quantity import ZERO
from kubectl_kres.reports.amounts import parsed
from kubectl_kres.reports.pool_room import shares
from kubectl_kres.reports.scene import Scene

#: Passes after which a pool is taken as it is; two are the rule.
_PASSES = 8


class Trial(NamedTuple):
    """A pool as it stands: what it has, who holds what, and who waits in which order."""

    hard: Amounts
    shares: Sequence[Share]
    queue: Sequence[Candidate]
    ordered: bool

    def settled(self) -> tuple[Trial, Allocation]:
        """The pool after its controller has come to rest, with the last pass."""
        now, found = self, allocate(self.hard, self.shares, self.queue, ordered=self.ordered)
        for _ in range(_PASSES):
            if found.settled:
                break
            held = {(share.namespace, share.name) for share in found.shares}
            waiting = [one for one in now.queue if key_of(one.claim) not in held]
            now = now._replace(shares=found.shares, queue=waiting)
            found = allocate(now.hard, now.shares, now.queue, ordered=now.ordered)
        return now, found

    @property
    def size(self) -> int:
        """How many claims a pass goes through."""
        return len(self.shares) + len(self.queue)

    def without(self, keys: Iterable[Key]) -> Trial:
        """The claims leave one after the other, each settled; those that only wait should come first."""
        now = self
        for key in keys:
            left = [share for share in now.shares if (share.namespace, share.name) != key]
            waiting = [one for one in now.queue if key_of(one.claim) != key]
            now = now._replace(shares=left, queue=waiting).settled()[0]
        return now

    def asking(self, key: Key, asks: Amounts) -> Trial:
        """A claim that waits asks for something else, in its old place."""
        queue = [Candidate(one.claim, asks) if key_of(one.claim) == key else one for one in self.queue]
        return self._replace(queue=queue).settled()[0]

    def raised(self, more: Amounts) -> Trial:
        """There is more to share out."""
        hard = {name: self.hard.get(name, ZERO) + more.get(name, ZERO) for name in {**self.hard, **more}}
        return self._replace(hard=hard).settled()[0]

    def joined(self, candidate: Candidate) -> Trial:
        """A claim comes, in the place that its creation gives it."""
        return self._replace(queue=in_order([*self.queue, candidate])).settled()[0]

    def holds(self, key: Key) -> bool:
        """Whether a claim is allocated."""
        return any((share.namespace, share.name) == key for share in self.shares)

    def turn(self, key: Key) -> Turn | None:
        """How it goes for a claim that waits; None: it does not."""
        found = allocate(self.hard, self.shares, self.queue, ordered=self.ordered)
        return next((turn for turn in found.turns if key_of(turn.candidate.claim) == key), None)


def trial_of(scene: Scene, pool: ResourcePool) -> Trial:
    """The pool as its status and the claims that were read say; at rest if the controller is."""
    queue = [Candidate(one.claim, parsed(one.claim.spec.claim)) for one in scene.waiting(pool.metadata.name)]
    return Trial(scene.hard(pool), shares(pool), queue, pool.spec.config.ordered_queue)


def held_by(trial: Trial) -> Mapping[Key, Amounts]:
    """Who holds what."""
    return {(share.namespace, share.name): share.amounts for share in trial.shares}


def waiting_in(trial: Trial, but: Collection[Key] = ()) -> tuple[Key, ...]:
    """Who waits, in order, without some."""
    return tuple(key for one in trial.queue if (key := key_of(one.claim)) not in but)
