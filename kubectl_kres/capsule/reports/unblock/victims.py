"""Search for the fewest claims to remove so that a waiting claim is allocated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from kubectl_kres.capsule.reports.common.pool_run import Trial, amounts_by_claim, fits, waiting_in
from kubectl_kres.capsule.rules.allocation import Amounts, ClaimKey, key_of
from kubectl_kres.reports.remedies.engine import Search, State

#: Up to so many claims every set is looked at.
EXACT = 20
#: Claims that trials may go through, in sum; beyond that what was found so far is taken.
_EFFORT = 400_000
#: The same where claims are taken one after the other, which is only done where many are there.
_QUICK = 50_000
#: Looks at claims where they are taken by their amounts alone.
_PICKS = 1_000_000
_PART = 10**6


class RemovableClaim(NamedTuple):
    """A claim that could go. ``frees``: billionths by resource, of those that are short; none if it waits."""

    key: ClaimKey
    frees: Mapping[str, int]
    waits: bool
    used: bool
    foreign: bool

    @property
    def cost(self) -> tuple[bool, bool]:
        return self.used, self.foreign


class RemovalSet(NamedTuple):
    """Who gives way, those that only wait first. ``proven``: fewer do not do. ``least``: so many it takes at least, by
    the amounts alone. Without keys: among so many claims none were found with reasonable effort.
    """

    keys: tuple[ClaimKey, ...]
    proven: bool
    least: int = 0


def find_removals(
    trial: Trial, key: ClaimKey, requested: Amounts, used: Mapping[ClaimKey, bool], *, unused: bool = False
) -> RemovalSet | None:
    """None: nobody's leaving helps, since the pool has less in total than is asked for. ``used``: claims in use.

    Of equally few: the fewest in use, then the fewest of other namespaces, then the least that is freed for nothing.
    unused: only claims that are not in use are asked.
    """
    hard = trial.hard
    if any(name not in hard or not hard[name].nano or hard[name] < asked for name, asked in requested.items()):
        return None
    return _RemovalSearch(trial, key, requested, used, unused=unused).find_set()


class _RemovalSearch(Search[Trial]):
    """The claims that leave, one after the other; a trial costs what it goes through."""

    def __init__(
        self, trial: Trial, key: ClaimKey, requested: Amounts, used: Mapping[ClaimKey, bool], *, unused: bool
    ) -> None:
        super().__init__(_EFFORT)
        self.start, self.key = trial, key
        self.deficit = _deficit(trial, requested)
        givers = _list_givers(trial, key, requested, self.deficit, used)
        self.givers = sorted(
            (giver for giver in givers if not (unused and giver.used)), key=lambda giver: (giver.cost, giver.key)
        )

    def evaluate(self, state: State) -> Trial:
        """Return the pool once these have left."""
        before, gone = self._go_on_from(state)
        return before.without_claim(gone)

    def cost(self, state: State) -> int:
        """Return how many claims are gone through."""
        return self.start.size * max(1, len(self._go_on_from(state)[1]))

    def passes(self, trial: Trial) -> bool:
        """Return whether the claim is in."""
        return trial.holds(self.key)

    def parts(self, state: State) -> Iterator[Sequence[ClaimKey]]:
        """Yield the claims, the last that was chosen first."""
        yield from ((key,) for key in reversed([*state]))

    def _go_on_from(self, state: State) -> tuple[Trial, Sequence[ClaimKey]]:
        """Return what was tried before the last one left, if it was, and who has to leave from there on."""
        keys = [*state]
        before = self.cached_trial(dict.fromkeys(keys[:-1]))
        return (self.start, keys) if before is None else (before, keys[-1:])

    def find_set(self) -> RemovalSet | None:
        """Return the best set that is found; None: not even all are enough."""
        least = self._count_least_claims()
        if least is None:
            return None
        if len(self.givers) <= EXACT:
            exact = self._find_exact_giving(least)
            if exact is not None:
                return exact
        self.budget = _QUICK
        giving = self._by_amounts(least)
        if giving is None or not giving.proven:
            others = self._find_greedy_giving(least)
            giving = min(
                (giving for giving in (giving, others) if giving is not None),
                key=lambda giving: len(giving.keys),
                default=None,
            )
        return giving or RemovalSet((), proven=False, least=least)

    def _by_amounts(self, least: int) -> RemovalSet | None:
        """Whoever frees most of what is short, until it is enough. None: then others take what is freed, or wait for it
        in front.
        """
        lack, chosen, rest = (
            dict(self.deficit),
            list[RemovableClaim](),
            {giver.key: giver for giver in self.givers if not giver.waits},
        )
        while any(nano > 0 for nano in lack.values()) and len(chosen) * len(rest) < _PICKS:
            giver = max(rest.values(), key=lambda giver: self._giver_sort_key(giver, lack), default=None)
            if giver is None or not self._sum_covered_amounts(giver, lack):
                return None
            del rest[giver.key]
            chosen.append(giver)
            lack = {name: nano - giver.frees.get(name, 0) for name, nano in lack.items()}
        for item in chosen[:-1]:
            without = {name: nano + item.frees.get(name, 0) for name, nano in lack.items()}
            if all(nano <= 0 for nano in without.values()):
                chosen.remove(item)
                lack = without
        done = all(nano <= 0 for nano in lack.values()) and self._is_worth_trying(chosen) and self._is_enough(chosen)
        return RemovalSet(_keys(chosen), proven=len(chosen) == least) if done else None

    def _is_worth_trying(self, chosen: Sequence[RemovableClaim]) -> bool:
        """Return whether trying is worth the time: others of the queue who are served meanwhile make the pool be gone
        through again and again.
        """
        if self.start.size * len(chosen) <= _QUICK:
            return True
        room = self.start.room()
        most = {name: nano + sum(giver.frees.get(name, 0) for giver in chosen) for name, nano in room.items()}
        return not any(
            fits(claim_candidate.requested, most)
            for claim_candidate in self.start.queue
            if key_of(claim_candidate.claim) != self.key
        )

    def _count_least_claims(self) -> int | None:
        """Return how many claims it takes at least, by the amounts alone; None: all of them are not enough."""
        counts = [1]
        for name, lack in self.deficit.items():
            sums = accumulate(sorted((giver.frees.get(name, 0) for giver in self.givers), reverse=True))
            count = next((number for number, freed in enumerate(sums, 1) if freed >= lack), None)
            if count is None:
                return None
            counts.append(count)
        return max(counts) if self.givers else None

    def _find_exact_giving(self, least: int) -> RemovalSet | None:
        """The best of the smallest sets; None: none was found with reasonable effort."""
        for count in range(least, len(self.givers) + 1):
            for chosen in sorted(self._covering(count), key=self._giving_sort_key):
                if self.budget <= 0:
                    return None
                if self._is_enough(chosen):
                    return RemovalSet(_keys(chosen), proven=True)
        return None

    def _covering(self, count: int) -> list[tuple[RemovableClaim, ...]]:
        """The sets of ``count`` claims that free enough; no more than effort allows."""
        pairs: list[tuple[RemovableClaim, ...]] = []
        tails = [_best_sums(self.givers[index:], self.deficit, count) for index in range(len(self.givers) + 1)]

        def grow(index: int, chosen: tuple[RemovableClaim, ...], lack: Mapping[str, int]) -> None:
            self.budget -= 1
            left = count - len(chosen)
            if self.budget <= 0 or len(self.givers) - index < left:
                return
            if not left:
                if all(nano <= 0 for nano in lack.values()):
                    pairs.append(chosen)
                return
            if any(nano > tails[index][name][left] for name, nano in lack.items()):
                return
            giver = self.givers[index]
            grow(index + 1, (*chosen, giver), {name: nano - giver.frees.get(name, 0) for name, nano in lack.items()})
            grow(index + 1, chosen, lack)

        grow(0, (), self.deficit)
        return pairs

    def _is_enough(self, chosen: Sequence[RemovableClaim]) -> bool:
        """Return whether the claim is in once these have left, one after the other."""
        return self.meets_goal(dict.fromkeys(_keys(chosen)), self.passes)

    def _giving_sort_key(self, chosen: Sequence[RemovableClaim]) -> tuple[int, int, int, tuple[ClaimKey, ...]]:
        """Return what makes one of two equally small sets better: less is better."""
        surplus = 0
        for name, lack in self.deficit.items():
            freed = sum(giver.frees.get(name, 0) for giver in chosen)
            surplus += (freed - lack) * _PART // max(1, self.start.hard[name].nano)
        return sum(giver.used for giver in chosen), sum(giver.foreign for giver in chosen), surplus, _keys(chosen)

    def _find_greedy_giving(self, least: int) -> RemovalSet | None:
        """Return one more claim after the other, until it is in; then less by less. None: too many would have to go."""
        self.budget = _QUICK
        state = self.find({}, self._with_next)
        return None if state is None else RemovalSet(tuple(state), proven=len(state) == least)

    def _with_next(self, state: State, now: Trial) -> State | None:
        """Return the state with who should go next: whoever frees most of what is short; of a queue that is closed, who
        closes it, unless a single claim that holds something would let that one in.
        """
        key, rest = self.key, {giver.key: giver for giver in self.givers if giver.key not in state}
        turn = now.find_turn(key)
        if turn is not None and turn.result == "queue":
            key = next(comparison.by for comparison in turn.comparisons() if comparison.by is not None)
            turn = now.find_turn(key)
        if turn is None or turn.allocated:
            return None
        lack = {
            comparison.resource: max(1, comparison.requested.nano - comparison.room.nano)
            for comparison in turn.comparisons()
        }
        best = max(
            (giver for giver in rest.values() if not giver.waits),
            key=lambda giver: self._giver_sort_key(giver, lack),
            default=None,
        )
        enough = best is not None and all(best.frees.get(name, 0) >= nano for name, nano in lack.items())
        if key != self.key and not enough:
            return {**state, key: None} if key in rest else None
        return {**state, best.key: None} if best is not None and self._sum_covered_amounts(best, lack) else None

    def _giver_sort_key(self, giver: RemovableClaim, lack: Mapping[str, int]) -> tuple[int, bool, bool]:
        return self._sum_covered_amounts(giver, lack), not giver.used, not giver.foreign

    def _sum_covered_amounts(self, giver: RemovableClaim, lack: Mapping[str, int]) -> int:
        hard = self.start.hard
        return sum(
            min(max(0, nano), giver.frees.get(name, 0)) * _PART // max(1, hard[name].nano)
            for name, nano in lack.items()
        )


def _deficit(trial: Trial, requested: Amounts) -> dict[str, int]:
    """Return what is missing of each resource that is short, in billionths; of one that is used up at least the
    smallest.
    """
    values_view = amounts_by_claim(trial).values()
    result: dict[str, int] = {}
    for name, asked in requested.items():
        room = trial.hard[name].nano - sum(amounts[name].nano for amounts in values_view if name in amounts)
        if not room or room < asked.nano:
            result[name] = max(1, asked.nano - room)
    return result


def _list_givers(
    trial: Trial, key: ClaimKey, requested: Amounts, deficit: Mapping[str, int], used: Mapping[ClaimKey, bool]
) -> Iterator[RemovableClaim]:
    """Claims that hold something of what is short, for the claim or for one that waits beside it; and those that wait
    for something that is asked for, too.
    """
    short = (
        {*deficit, *(name for claim_candidate in trial.queue for name in claim_candidate.requested)}
        if trial.ordered
        else deficit.keys()
    )
    for other, amounts in amounts_by_claim(trial).items():
        frees = {name: amounts[name].nano for name in short if name in amounts and amounts[name].nano > 0}
        if frees:
            yield RemovableClaim(other, frees, waits=False, used=used.get(other, False), foreign=other[0] != key[0])
    names = requested.keys()
    asking = {
        (claim_candidate.claim.metadata.namespace, claim_candidate.claim.metadata.name): claim_candidate.requested
        for claim_candidate in trial.queue
    }
    for other in waiting_in(trial, but={key}):
        if not names.isdisjoint(asking[other]):
            yield RemovableClaim(other, {}, waits=True, used=False, foreign=other[0] != key[0])


def _best_sums(givers: Sequence[RemovableClaim], deficit: Mapping[str, int], most: int) -> Mapping[str, Sequence[int]]:
    """By resource, what the best 0, 1, 2… of these free; ``most`` + 1 entries."""
    result = {}
    for name in deficit:
        frees = sorted((giver.frees.get(name, 0) for giver in givers), reverse=True)[:most]
        sums = list(accumulate(frees, initial=0))
        result[name] = sums + [sums[-1]] * (most + 1 - len(sums))
    return result


def _keys(chosen: Sequence[RemovableClaim]) -> tuple[ClaimKey, ...]:
    """In the order to go about it: those that only wait first, so that they do not take what is freed."""
    return tuple(giver.key for giver in sorted(chosen, key=lambda giver: (not giver.waits, giver.cost, giver.key)))
