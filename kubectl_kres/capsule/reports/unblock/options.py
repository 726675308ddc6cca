"""What would let a claim in: claims that give way, asking for less, a larger pool, another pool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from kubectl_kres.capsule.model import ResourcePool, ResourcePoolClaim
from kubectl_kres.capsule.reports.common.amount_lists import parsed, plain, sentence, shown
from kubectl_kres.capsule.reports.common.claim_state import WAITING, Standing
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex
from kubectl_kres.capsule.reports.common.pool_run import Trial, held_by, trial_of, waiting_in
from kubectl_kres.capsule.reports.unblock.actions import asking, leaving, raising, ref_of
from kubectl_kres.capsule.reports.unblock.option import UnblockOption
from kubectl_kres.capsule.reports.unblock.other_pools import elsewhere, once_more, without_foreign
from kubectl_kres.capsule.reports.unblock.victims import Giving, give_way
from kubectl_kres.capsule.rules.allocation import ClaimKey, key_of
from kubectl_kres.capsule.rules.amounts import Amounts, added
from kubectl_kres.quantity import Quantity, quantity_of
from kubectl_kres.reports.common.resource_lists import listed
from kubectl_kres.reports.common.system_parts import Deed
from kubectl_kres.store.store import Origin

#: The smallest room that serves a claim for 0 of a resource that is used up.
_ONE = quantity_of(1)
#: Claims that are named where many get in or wait.
_NAMED = 20
#: So many claims ahead are let in one after the other to find the least that has to be added; beyond that their sum.
_STEPS = 8
#: Claims that these steps may go through, in sum.
_EFFORT = 40_000


def ways(scene: PoolIndex, claim: ResourcePoolClaim, standing: Standing) -> tuple[UnblockOption, ...]:
    """What lets a waiting claim in, each tried by the controller's own steps; other pools also for one that failed.

    None where the pool or its other claims are not known, except to ask for less, and to be looked at again.
    """
    pool = scene.pool_of(claim)
    if standing.state in WAITING:
        if pool is None or not scene.claims_known(pool):
            return tuple(_by_message(scene.store.origin, claim, standing))
        if claim.metadata.namespace not in scene.spaces(pool):
            return tuple(elsewhere(scene, claim, pool.metadata.name))
        known = tuple(_written_plain(scene, claim, pool))
        return known or tuple(_Ways(scene, claim, pool).all())
    if standing.state in {"failed", "unassigned", "lost", "released"}:
        known = (*elsewhere(scene, claim, ""), *without_foreign(scene, claim))
        alone = standing.state in {"lost", "released"} and all(
            unblock_option.pool != claim.spec.pool for unblock_option in known
        )
        return (*known, *once_more(scene, claim)) if alone else known
    return ()


class _Ways:
    """The ways of one claim that stands in a queue."""

    def __init__(self, scene: PoolIndex, claim: ResourcePoolClaim, pool: ResourcePool) -> None:
        self.scene, self.claim, self.pool = scene, claim, pool
        self.key, self.asks = key_of(claim), parsed(claim.spec.claim)
        self.trial = trial_of(scene, pool)
        #: That claims could give way, where it is not known which.
        self.untold = ""

    def all(self) -> Iterator[UnblockOption]:
        """What touches objects of the claim's namespace alone, then a larger pool, then what takes from others."""
        now = self.trial.settled()
        if now.holds(self.key):
            text = "nothing: as things stand its pool has room for it, and the controller is about to see that"
            yield UnblockOption("again", text, replayed=True)
            return
        giving = tuple(self._give_way())
        yield from (option for option in giving if not option.takes_from)
        yield from self._less()
        yield from elsewhere(self.scene, self.claim, self.pool.metadata.name)
        yield from self._raise()
        yield from (option for option in giving if option.takes_from)
        if self.untold:
            yield UnblockOption("give way", self.untold, proven=False)

    def _way(self, way: UnblockOption, after: Trial, gone: Sequence[ClaimKey] = ()) -> UnblockOption:
        """The way with what becomes of the others."""
        before, now = held_by(self.trial), held_by(after)
        also = [key for key in now if key not in before and key != self.key]
        out = [key for key in before if key not in now and key not in gone]
        return UnblockOption(
            way.kind,
            way.text,
            way.deeds,
            way.amounts,
            way.pool,
            way.proven,
            replayed=True,
            also=tuple(map(ref_of, also[:_NAMED])),
            out=tuple(map(ref_of, out)),
            waits=tuple(map(ref_of, waiting_in(after)[:_NAMED])),
            gained=len(also),
            waiting=len(after.queue),
            takes_from=way.takes_from,
        )

    def _give_way(self) -> Iterator[UnblockOption]:
        states = self.scene.states()
        result = held_by(self.trial)
        used = {key: (state := states.get(key)) is not None and state.state == "in use" for key in result}
        giving = give_way(self.trial, self.key, self.asks, used)
        if giving is None:
            return
        if not giving.keys:
            self.untold = (
                f"{giving.least} or more claims of pool {self.pool.metadata.name} would have to go: which are the "
                f"fewest was not found among {self.trial.size:,}"
            )
            return
        yield self._giving(giving, result)
        if any(used.get(key) for key in giving.keys):
            gentle = give_way(self.trial, self.key, self.asks, used, unused=True)
            if gentle is not None and gentle.keys:
                yield self._giving(gentle, result)

    def _giving(self, giving: Giving, mapping: Mapping[ClaimKey, Amounts]) -> UnblockOption:
        deeds, states = [], self.scene.states()
        for key in giving.keys:
            state = states.get(key)
            holds = {name: amount for name, amount in mapping.get(key, {}).items() if name in self.asks}
            word, old = (state.state, state.old) if state is not None else (None, False)
            deeds.append(leaving(self.scene.store.origin, key, word, shown(holds), old=old and bool(holds)))
        doubt = "" if giving.proven else " (not proven smallest)"
        others = tuple(sorted({space for space, _ in giving.keys if space != self.key[0]}))
        text = f"{_words(deeds)}{_whose(others)}{doubt}"
        way = UnblockOption("give way", text, tuple(deeds), proven=giving.proven, takes_from=others)
        return self._way(way, self.trial.without(giving.keys), giving.keys)

    def _less(self) -> Iterator[UnblockOption]:
        turn = self.trial.turn(self.key)
        if turn is None or turn.allocated:
            return
        asks = dict(self.asks)
        for comparison in turn.comparisons():
            # What is closed for the claim, or used up, must not be named at all.
            if turn.result == "queue" or comparison.missing or comparison.room.nano <= 0:
                del asks[comparison.resource]
            else:
                asks[comparison.resource] = comparison.room
        lowered = {name: amount for name, amount in asks.items() if amount != self.asks[name]}
        dropped = {name: amount for name, amount in self.asks.items() if name not in asks}
        after = self.trial.asking(self.key, asks)
        if asks and after.holds(self.key):
            deed = asking(self.scene.store.origin, self.key, shown(lowered), shown(dropped))
            yield self._way(UnblockOption("less", _less_words(lowered, dropped), (deed,), shown(asks)), after)

    def _raise(self) -> Iterator[UnblockOption]:
        more: dict[str, Quantity] = {}
        after = self.trial
        for _ in range(max(2, min(_STEPS, _EFFORT // max(1, after.size)))):
            blocking = self._blocking(after)
            if not blocking:
                break
            for name, lack in blocking.items():
                more[name] = more[name] + lack if name in more else lack
            after = self.trial.raised(more)
        least = after.holds(self.key)
        if not least:
            more = self._for_all_ahead()
            after = self.trial.raised(more)
        if not more or not after.holds(self.key):
            return
        hard = {name: after.hard[name] for name in sorted(more)}
        name = self.pool.metadata.name
        text = f"raise hard of pool {name} by {sentence(shown(more))}, to {sentence(shown(hard))}"
        way = UnblockOption(
            "raise", text, (raising(self.scene.store.origin, name, shown(hard)),), shown(more), pool=name, proven=least
        )
        yield self._way(way, after)

    def _for_all_ahead(self) -> dict[str, Quantity]:
        """What is missing so that everyone up to the claim gets what it asks for."""
        keys = [key_of(claim_candidate.claim) for claim_candidate in self.trial.queue]
        wanted = added(claim_candidate.asks for claim_candidate in self.trial.queue[: keys.index(self.key) + 1])
        room = self.scene.room(self.pool)
        missing = {name: amount - room[name] for name, amount in wanted.items() if name in room}
        return {name: amount for name, amount in missing.items() if amount.nano > 0}

    def _blocking(self, trial: Trial) -> Mapping[str, Quantity]:
        """What is missing for the claim; while it is queued, for the claim that closes its resources."""
        key, seen = self.key, set[ClaimKey]()
        while key not in seen:
            seen.add(key)
            turn = trial.turn(key)
            if turn is None or turn.allocated:
                return {}
            if turn.result == "pool":
                return {
                    comparison.resource: _missing(comparison.asked, comparison.room)
                    for comparison in turn.comparisons()
                }
            key = next(comparison.by for comparison in turn.comparisons() if comparison.by is not None)
        return {}


def _words(deeds: Iterable[Deed]) -> str:
    """``delete a/x and a/y, then release b/z``."""
    runs = groupby(deeds, key=lambda deed: deed.verb)
    return ", then ".join(f"{verb} {listed((deed.subject.key for deed in run), 8)}" for verb, run in runs)


def _whose(spaces: Sequence[str]) -> str:
    """Who has to be asked before claims of other namespaces give way; empty where there are none."""
    if not spaces:
        return ""
    return f" (takes from others, in namespace{'s' * (len(spaces) > 1)} {listed(spaces, 8)}: ask there first)"


def _missing(asked: Quantity, room: Quantity) -> Quantity:
    return asked - room if asked > room else _ONE


def _written_plain(scene: PoolIndex, claim: ResourcePoolClaim, pool: ResourcePool) -> Iterator[UnblockOption]:
    """Where Capsule cannot count with the pool's amounts, all else is of no use before they are written another way."""
    names = scene.lowered(pool) & (claim.spec.claim or {}).keys()
    if names:
        hard = plain({name: scene.hard(pool)[name] for name in sorted(names)})
        text = (
            f"write hard of pool {pool.metadata.name} without a suffix ({sentence(hard)}), and look whether it is what "
            "was meant: Capsule cannot count with amounts as large otherwise, and takes hard down by itself"
        )
        deed = raising(scene.store.origin, pool.metadata.name, hard)
        yield UnblockOption("raise", text, (deed,), hard, pool=pool.metadata.name, proven=False)


def _less_words(lowered: Amounts, dropped: Amounts) -> str:
    parts = []
    if lowered:
        parts.append(f"ask for at most {sentence(shown(lowered))}")
    if dropped:
        parts.append(f"{'do' if not lowered else 'and do'} not ask for {listed(sorted(dropped))} at all")
    return " ".join(parts)


def _by_message(of: Origin, claim: ResourcePoolClaim, standing: Standing) -> Iterator[UnblockOption]:
    """From the claim alone: what its condition says is left."""
    asks = parsed(claim.spec.claim)
    left = {name: amount for name, amount in parsed(standing.available).items() if name in asks}
    lowered = {name: amount for name, amount in left.items() if amount.nano > 0}
    dropped = {name: asks[name] for name in [*left, *standing.queued] if name in asks and name not in lowered}
    if (lowered or dropped) and len(dropped) < len(asks):
        deed = asking(of, key_of(claim), shown(lowered), shown(dropped))
        yield UnblockOption("less", _less_words(lowered, dropped), (deed,), shown({**asks, **lowered}), proven=False)
