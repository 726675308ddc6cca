"""Search for what unblocks a claim: removed claims, a smaller request, a larger pool, or another pool that would take
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

from msgspec import structs

from kubectl_kres.admission.quota.usage import requirements
from kubectl_kres.capsule.model import ResourcePool, ResourcePoolClaim, quota_name
from kubectl_kres.capsule.reports.common.amount_lists import amount_texts, parse_amounts, sentence, whole_number_texts
from kubectl_kres.capsule.reports.common.claim_action import ClaimAction
from kubectl_kres.capsule.reports.common.claim_state import WAITING, ClaimStanding
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex, shares
from kubectl_kres.capsule.reports.common.pool_run import Trial, amounts_by_claim, build_trial, waiting_in
from kubectl_kres.capsule.reports.unblock import actions
from kubectl_kres.capsule.reports.unblock.victims import RemovalSet, find_removals
from kubectl_kres.capsule.rules.allocation import Amounts, ClaimCandidate, ClaimKey, add_amounts, key_of
from kubectl_kres.capsule.rules.assignment import is_writable
from kubectl_kres.capsule.rules.managed_quota import hard_of
from kubectl_kres.model.objects import ScopedRequirement
from kubectl_kres.quantity import Quantity, quantity_of
from kubectl_kres.reports.common.resource_lists import scope_words
from kubectl_kres.reports.remedies.engine import Search, State
from kubectl_kres.reports.remedies.keepers import permanence_of
from kubectl_kres.store.store import Origin
from kubectl_kres.wording import join_some

#: Claims that are named where many wait.
_POOLS_NAMED = 20
_ANEW = "change the claim's spec, or delete and recreate it"
#: A name for no pool.
_NONE = "none"


def other_pool_options(context: PoolIndex, claim: ResourcePoolClaim, but: str) -> Iterator[actions.UnblockOption]:
    """Pools of the namespace that would take the claim as it is, except one; each is tried. The named one is first.

    Pods gain nothing from a pool that counts others than the one that is named does: such a pool is left out.
    """
    key, requested = key_of(claim), parse_amounts(claim.spec.claim)
    named = context.pools.get(but or claim.spec.pool)
    for name, pool in sorted(_list_serving_pools(context, claim), key=lambda texts: texts[0] != claim.spec.pool):
        if name == but or not requested.keys() <= context.hard(pool).keys():
            continue
        if named is not None and _scopes(pool) != _scopes(named):
            continue
        after = build_trial(context, pool).with_claim(ClaimCandidate(claim, requested))
        if not after.holds(key):
            continue
        also, behind = _queue_without_claim(context, claim, but)
        left = (*behind, *waiting_in(after))
        waits = tuple(map(actions.ref_of, left[:_POOLS_NAMED]))
        if claim.spec.pool == name:
            text = f"{_ANEW}: pool {name} has room, but Capsule re-evaluates a claim only after a spec change"
            deeds = (actions.retry_claim(context.store.origin, key, name, no_pool(context)),)
            yield actions.UnblockOption(
                "again", text, deeds, pool=name, replayed=True, still_waiting=waits, waiting=len(left)
            )
            continue
        scopes = "".join(f" and counts {phrase}" for phrase in scope_words(pool.spec.quota))
        yield actions.UnblockOption(
            "pool",
            f"name pool {name}, which has room for it{scopes}",
            (_build_move_deed(context, claim, name),),
            pool=name,
            replayed=True,
            also_admitted=tuple(map(actions.ref_of, also[:_POOLS_NAMED])),
            still_waiting=waits,
            gained=len(also),
            waiting=len(left),
        )


def retry_options(context: PoolIndex, claim: ResourcePoolClaim) -> Iterator[actions.UnblockOption]:
    """For a claim that nobody looks at any more, where its pool has no room, or none that could be seen."""
    name, pool = claim.spec.pool, context.pools.get(claim.spec.pool)
    if not name or (pool is None and context.pools_known):
        return
    if pool is not None and claim.metadata.namespace not in context.spaces(pool):
        return
    seen = pool is not None and context.claims_known(pool)
    then = "it has no room for it now, so the claim waits" if seen else "whether it has room could not be seen"
    text = f"{_ANEW}: only then does pool {name} look at it; {then}"
    yield actions.UnblockOption(
        "again",
        text,
        (actions.retry_claim(context.store.origin, key_of(claim), name, no_pool(context)),),
        pool=name,
        proven=False,
    )


def no_pool(context: PoolIndex) -> str:
    """Return a name that no pool has, as far as pools were read."""
    name = _NONE
    while name in context.pools:
        name += f"-{_NONE}"
    return name


def _build_move_deed(context: PoolIndex, claim: ResourcePoolClaim, to: str) -> ClaimAction:
    """Return the move, and which quotas of other pools go on limiting the same: a pod has to fit all of them."""
    space, requested = claim.metadata.namespace, parse_amounts(claim.spec.claim)
    still = []
    for name, pool in _list_serving_pools(context, claim):
        claim_shares = [share for share in shares(pool) if (share.namespace, share.name) != key_of(claim)]
        limits: dict[str, Quantity] = hard_of(
            pool, [claim_share for claim_share in claim_shares if claim_share.namespace == space]
        )
        limited = {name: amount for name, amount in limits.items() if name in requested}
        if name != to and limited and _scopes(pool) == _scopes(context.pools[to]):
            still.append(f"quota {quota_name(name)} still limits the namespace to {sentence(amount_texts(limited))}")
    follows = f"{join_some(still)}: a pod must fit every quota that counts it" if still else ""
    return structs.replace(actions.move_claim(context.store.origin, key_of(claim), to), effect=follows)


def _scopes(pool: ResourcePool) -> frozenset[ScopedRequirement]:
    """Return what a pool's quotas count, comparably."""
    return frozenset(requirements(pool.spec.quota))


def _queue_without_claim(
    context: PoolIndex, claim: ResourcePoolClaim, name: str
) -> tuple[tuple[ClaimKey, ...], tuple[ClaimKey, ...]]:
    """Return who gets in, and who still waits, in the pool that a claim leaves; nobody where it was in none."""
    pool = context.pools.get(name)
    if pool is None or not context.claims_known(pool):
        return (), ()
    before = build_trial(context, pool)
    after, result = before.without_claim((key_of(claim),)), amounts_by_claim(before)
    return tuple(key for key in amounts_by_claim(after) if key not in result), waiting_in(after)


def without_foreign(context: PoolIndex, claim: ResourcePoolClaim) -> Iterator[actions.UnblockOption]:
    """For a claim that names what a pool does not have: ask for the rest only, or let the pool have it, too."""
    key, requested = key_of(claim), parse_amounts(claim.spec.claim)
    for name, pool in _list_serving_pools(context, claim):
        missing = {name: requested[name] for name in requested if name not in context.hard(pool)}
        if not missing or claim.spec.pool not in {"", name}:
            continue
        rest = {name: amount for name, amount in requested.items() if name not in missing}
        trial = build_trial(context, pool)
        after = trial.with_claim(ClaimCandidate(claim, rest))
        move = (
            (actions.retry_claim(context.store.origin, key, name, no_pool(context)),)
            if claim.spec.pool
            else (actions.move_claim(context.store.origin, key, name),)
        )
        if rest and after.holds(key):
            waits = tuple(map(actions.ref_of, waiting_in(after)[:_POOLS_NAMED]))
            text = f"do not ask for {join_some(sorted(missing))}, which pool {name} does not have"
            deeds = (
                actions.resize_claim(context.store.origin, key, {}, amount_texts(missing)),
                *(() if claim.spec.pool else move),
            )
            yield actions.UnblockOption(
                "less",
                text,
                deeds,
                amount_texts(rest),
                name,
                replayed=True,
                still_waiting=waits,
                waiting=len(after.queue),
            )
        raised = trial.with_more_hard(missing).with_claim(ClaimCandidate(claim, requested))
        if raised.holds(key):
            waits = tuple(map(actions.ref_of, waiting_in(raised)[:_POOLS_NAMED]))
            text = (
                f"add {sentence(amount_texts(missing))} to hard of pool {name}; then {_ANEW}: Capsule looks at it "
                "again only when its own spec changes"
            )
            deeds = (actions.raise_pool(context.store.origin, name, amount_texts(missing)), *move)
            yield actions.UnblockOption(
                "raise",
                text,
                deeds,
                amount_texts(missing),
                name,
                replayed=True,
                still_waiting=waits,
                waiting=len(raised.queue),
            )


def _list_serving_pools(context: PoolIndex, claim: ResourcePoolClaim) -> Iterator[tuple[str, ResourcePool]]:
    """Yield the pools whose status lists the claim's namespace and whose claims are known, by name; no claim gets into
    a pool that no status of a claim can name.
    """
    space = claim.metadata.namespace
    for name, pool in sorted(context.pools.items()):
        open_ = is_writable(name) and not pool.metadata.deletion_timestamp
        if open_ and space in context.spaces(pool) and context.claims_known(pool):
            yield name, pool


#: The smallest room that serves a claim for 0 of a resource that is used up.
_ONE = quantity_of(1)
#: Claims that are named where many get in or wait.
_NAMED = 20
#: So many claims ahead are let in one after the other to find the least that has to be added; beyond that their sum.
_STEPS = 8
#: Claims that these steps may go through, in sum.
_EFFORT = 40_000


def unblock_options(
    context: PoolIndex, claim: ResourcePoolClaim, standing: ClaimStanding
) -> tuple[actions.UnblockOption, ...]:
    """Return what lets a waiting claim in, each tried by the controller's own steps; other pools also for one that
    failed.

    None where the pool or its other claims are not known, except to ask for less, and to be looked at again. Each says
    what becomes of its edits.
    """
    return tuple(
        structs.replace(option, stays=permanence_of(context.store, option.edited))
        for option in _find_options(context, claim, standing)
    )


def _find_options(
    context: PoolIndex, claim: ResourcePoolClaim, standing: ClaimStanding
) -> tuple[actions.UnblockOption, ...]:
    pool = context.pool_of(claim)
    if standing.state in WAITING:
        if pool is None or not context.claims_known(pool):
            return tuple(_options_from_condition(context.store.origin, claim, standing))
        if claim.metadata.namespace not in context.spaces(pool):
            return tuple(other_pool_options(context, claim, pool.metadata.name))
        known = tuple(_written_plain(context, claim, pool))
        return known or tuple(_QueuedClaimSearch(context, claim, pool).options())
    if standing.state in {"failed", "unassigned", "lost", "released"}:
        known = (*other_pool_options(context, claim, ""), *without_foreign(context, claim))
        alone = standing.state in {"lost", "released"} and all(
            unblock_option.pool != claim.spec.pool for unblock_option in known
        )
        return (*known, *retry_options(context, claim)) if alone else known
    return ()


class _Amount(NamedTuple):
    """How much more of a resource the pool has, or how much the claim asks for; None: it does not name it."""

    whose: Literal["pool", "claim"]
    resource: str


class _QueuedClaimSearch(Search[Trial]):
    """What a claim asks for that stands in a queue, and what its pool has."""

    def __init__(self, context: PoolIndex, claim: ResourcePoolClaim, pool: ResourcePool) -> None:
        self.context, self.claim, self.pool = context, claim, pool
        self.key, self.requested = key_of(claim), parse_amounts(claim.spec.claim)
        self.start = build_trial(context, pool)
        super().__init__()
        #: That claims could give way, where it is not known which.
        self.unnamed_reason = ""

    def evaluate(self, state: State) -> Trial:
        """Return the pool once its controller has come to rest."""
        more = {amount.resource: to for amount, to in state.items() if amount.whose == "pool"}
        requested = {amount.resource: to for amount, to in state.items() if amount.whose == "claim"}
        trial = self.start.with_more_hard(more) if more else self.start
        left = {name: amount for name, amount in {**self.requested, **requested}.items() if amount is not None}
        return trial.with_request(self.key, left) if requested else trial

    def passes(self, trial: Trial) -> bool:
        """Return whether the claim is in."""
        return trial.holds(self.key)

    def options(self) -> Iterator[actions.UnblockOption]:
        """Yield what touches objects of the claim's namespace alone, then a larger pool, then what takes from
        others.
        """
        now = self.start.settle()
        if now.holds(self.key):
            text = "nothing: as things stand its pool has room for it, and the controller is about to see that"
            yield actions.UnblockOption("again", text, replayed=True)
            return
        giving = tuple(self._list_removal_options())
        yield from (option for option in giving if not option.takes_from)
        yield from self._lower_request_options()
        yield from other_pool_options(self.context, self.claim, self.pool.metadata.name)
        yield from self._raise_pool_options()
        yield from (option for option in giving if option.takes_from)
        if self.unnamed_reason:
            yield actions.UnblockOption("give way", self.unnamed_reason, proven=False)

    def _build_option(
        self, option: actions.UnblockOption, after: Trial, gone: Sequence[ClaimKey] = ()
    ) -> actions.UnblockOption:
        """Return the way with what becomes of the others."""
        before, now = amounts_by_claim(self.start), amounts_by_claim(after)
        also = [key for key in now if key not in before and key != self.key]
        out = [key for key in before if key not in now and key not in gone]
        return actions.UnblockOption(
            option.kind,
            option.text,
            option.actions,
            option.amounts,
            option.pool,
            option.proven,
            replayed=True,
            also_admitted=tuple(map(actions.ref_of, also[:_NAMED])),
            losing=tuple(map(actions.ref_of, out)),
            still_waiting=tuple(map(actions.ref_of, waiting_in(after)[:_NAMED])),
            gained=len(also),
            waiting=len(after.queue),
            takes_from=option.takes_from,
        )

    def _list_removal_options(self) -> Iterator[actions.UnblockOption]:
        states = self.context.states()
        result = amounts_by_claim(self.start)
        used = {key: (state := states.get(key)) is not None and state.state == "in use" for key in result}
        giving = find_removals(self.start, self.key, self.requested, used)
        if giving is None:
            return
        if not giving.keys:
            self.unnamed_reason = (
                f"{giving.least} or more claims of pool {self.pool.metadata.name} would have to go: which are the "
                f"fewest was not found among {self.start.size:,}"
            )
            return
        yield self._build_giving_option(giving, result)
        if any(used.get(key) for key in giving.keys):
            gentle = find_removals(self.start, self.key, self.requested, used, unused=True)
            if gentle is not None and gentle.keys:
                yield self._build_giving_option(gentle, result)

    def _build_giving_option(self, giving: RemovalSet, mapping: Mapping[ClaimKey, Amounts]) -> actions.UnblockOption:
        deeds, states = [], self.context.states()
        for key in giving.keys:
            state = states.get(key)
            holds = {name: amount for name, amount in mapping.get(key, {}).items() if name in self.requested}
            word, old = (state.state, state.old) if state is not None else (None, False)
            deeds.append(
                actions.leaving(self.context.store.origin, key, word, amount_texts(holds), old=old and bool(holds))
            )
        doubt = "" if giving.proven else " (not proven smallest)"
        others = tuple(sorted({space for space, _ in giving.keys if space != self.key[0]}))
        text = f"{_format_deeds(deeds)}{_format_other_owners(others)}{doubt}"
        option = actions.UnblockOption("give way", text, tuple(deeds), proven=giving.proven, takes_from=others)
        return self._build_option(option, self.start.without_claim(giving.keys), giving.keys)

    def _lower_request_options(self) -> Iterator[actions.UnblockOption]:
        turn = self.start.find_turn(self.key)
        if turn is None or turn.allocated:
            return
        short = {comparison.resource: comparison for comparison in turn.comparisons()}
        state: dict[_Amount, Quantity | None] = {}
        for name in (name for name in self.requested if name in short):
            if not short[name].missing and (turn.result == "queue" or short[name].room.nano <= 0):
                # It is closed for the claim, or used up: to ask for nothing of it helps nobody who needs it.
                return
            drop = short[name].missing
            state[_Amount("claim", name)] = None if drop else short[name].room
        lowered = {target.resource: to for target, to in state.items() if to is not None}
        dropped = {target.resource: self.requested[target.resource] for target, to in state.items() if to is None}
        requested = {name: amount for name, amount in {**self.requested, **lowered}.items() if name not in dropped}
        if requested and self.meets_goal(state, self.passes):
            deed = actions.resize_claim(
                self.context.store.origin, self.key, amount_texts(lowered), amount_texts(dropped)
            )
            option = actions.UnblockOption("less", _less_words(lowered, dropped), (deed,), amount_texts(requested))
            yield self._build_option(option, self.trial(state))

    def _raise_pool_options(self) -> Iterator[actions.UnblockOption]:
        self.budget = 1 + max(2, min(_STEPS, _EFFORT // max(1, self.start.size)))
        state = self.walk({}, self._with_blocking_amounts, self.passes)
        least = self.meets_goal(state, self.passes)
        if not least:
            state, self.budget = self._for_all_ahead(), 1
        if not state or not self.meets_goal(state, self.passes):
            return
        after, more = self.trial(state), {target.resource: amount for target, amount in state.items()}
        hard = {name: after.hard[name] for name in sorted(more)}
        name = self.pool.metadata.name
        text = f"raise hard of pool {name} by {sentence(amount_texts(more))}, to {sentence(amount_texts(hard))}"
        deed = actions.raise_pool(self.context.store.origin, name, amount_texts(hard))
        option = actions.UnblockOption("raise", text, (deed,), amount_texts(more), pool=name, proven=least)
        yield self._build_option(option, after)

    def _with_blocking_amounts(self, state: State, trial: Trial) -> State:
        """Return the state with what else is missing; the same where nothing is."""
        more = {_Amount("pool", name): lack for name, lack in self._find_blocking_amounts(trial).items()}
        return {**state, **{target: state[target] + lack if target in state else lack for target, lack in more.items()}}

    def _for_all_ahead(self) -> State:
        """Return what is missing so that everyone up to the claim gets what it asks for."""
        keys = [key_of(claim_candidate.claim) for claim_candidate in self.start.queue]
        if self.key not in keys:
            # Its status says that it waits, and not for which pool.
            return {}
        wanted = add_amounts(
            claim_candidate.requested for claim_candidate in self.start.queue[: keys.index(self.key) + 1]
        )
        room = self.context.room(self.pool)
        missing = {name: amount - room[name] for name, amount in wanted.items() if name in room}
        return {_Amount("pool", name): amount for name, amount in missing.items() if amount.nano > 0}

    def _find_blocking_amounts(self, trial: Trial) -> Mapping[str, Quantity]:
        """Return what is missing for the claim; while it is queued, for the claim that closes its resources."""
        key, seen = self.key, set[ClaimKey]()
        while key not in seen:
            seen.add(key)
            turn = trial.find_turn(key)
            if turn is None or turn.allocated:
                return {}
            if turn.result == "pool":
                return {
                    comparison.resource: _missing_amount(comparison.requested, comparison.room)
                    for comparison in turn.comparisons()
                }
            key = next(comparison.by for comparison in turn.comparisons() if comparison.by is not None)
        return {}


def _format_deeds(deeds: Iterable[ClaimAction]) -> str:
    """``delete a/x and a/y, then release b/z``."""
    runs = groupby(deeds, key=lambda deed: deed.verb)
    return ", then ".join(f"{verb} {join_some((deed.subject.key for deed in run), 8)}" for verb, run in runs)


def _format_other_owners(spaces: Sequence[str]) -> str:
    """Return who has to be asked before claims of other namespaces give way; empty where there are none."""
    if not spaces:
        return ""
    return f" (takes from others, in namespace{'s' * (len(spaces) > 1)} {join_some(spaces, 8)}: ask there first)"


def _missing_amount(asked: Quantity, room: Quantity) -> Quantity:
    return asked - room if asked > room else _ONE


def _written_plain(context: PoolIndex, claim: ResourcePoolClaim, pool: ResourcePool) -> Iterator[actions.UnblockOption]:
    """Yield where Capsule cannot count with the pool's amounts, all else is of no use before they are written another
    way.
    """
    names = context.lowered_resources(pool) & (claim.spec.claim or {}).keys()
    if names:
        hard = whole_number_texts({name: context.hard(pool)[name] for name in sorted(names)})
        text = (
            f"write hard of pool {pool.metadata.name} without a suffix ({sentence(hard)}), and look whether it is what "
            "was meant: Capsule cannot count with amounts as large otherwise, and takes hard down by itself"
        )
        deed = actions.raise_pool(context.store.origin, pool.metadata.name, hard)
        yield actions.UnblockOption("raise", text, (deed,), hard, pool=pool.metadata.name, proven=False)


def _less_words(lowered: Amounts, dropped: Amounts) -> str:
    parts = []
    if lowered:
        parts.append(f"ask for at most {sentence(amount_texts(lowered))}")
    if dropped:
        parts.append(f"{'do' if not lowered else 'and do'} not ask for {join_some(sorted(dropped))} at all")
    return " ".join(parts)


def _options_from_condition(
    origin: Origin, claim: ResourcePoolClaim, standing: ClaimStanding
) -> Iterator[actions.UnblockOption]:
    """From the claim alone: what its condition says is left."""
    requested = parse_amounts(claim.spec.claim)
    left = {name: amount for name, amount in parse_amounts(standing.available).items() if name in requested}
    closed = not requested.keys().isdisjoint(standing.queued)
    if left and not closed and all(amount.nano > 0 for amount in left.values()):
        deed = actions.resize_claim(origin, key_of(claim), amount_texts(left), {})
        amounts = amount_texts({**requested, **left})
        yield actions.UnblockOption("less", _less_words(left, {}), (deed,), amounts, proven=False)
