"""The pool controller's pass over its claims, in amounts that are not rounded: who keeps a share, who gets one, who
waits, and which claims are in use.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from kubectl_kres.capsule.model import ResourcePoolClaim
from kubectl_kres.capsule.rules import conditions
from kubectl_kres.errors import QuantityError
from kubectl_kres.model.objects import ObjectRef, ResourceList
from kubectl_kres.quantity import ZERO, Format, Quantity, from_json, parse

#: Resource name to amount.
Amounts = Mapping[str, Quantity]
#: Resource name to billionths of a unit, for sums over many claims.
Nanos = dict[str, int]


class AmountFault(Struct, frozen=True, rename="camel"):
    """What an object holds that no controller can read. The value is left out of all sums."""

    ref: ObjectRef
    path: str
    text: str


def amounts(raw: ResourceList | None) -> dict[str, Quantity]:
    """Return the amounts as read, neither rounded nor renamed. Raises QuantityError at the first that is none."""
    if not raw:
        return {}
    try:
        return {name: parse(value) if type(value) is str else from_json(value) for name, value in raw.items()}
    except QuantityError:
        return {name: from_json(value) for name, value in raw.items()}


def readable(
    raw: ResourceList | None, ref: ObjectRef, path: str, faults: list[AmountFault] | None
) -> dict[str, Quantity]:
    """Return the amounts that can be read; each other one is a fault. ``faults`` None: they are of no interest."""
    try:
        return amounts(raw)
    except QuantityError:
        pass
    quantities: dict[str, Quantity] = {}
    for name, value in (raw or {}).items():
        try:
            quantities[name] = from_json(value)
        except QuantityError as error:
            if faults is not None:
                faults.append(AmountFault(ref, f"{path}[{name}]", error.message))
    return quantities


def texts(quantities: Amounts) -> dict[str, str] | None:
    """In canonical notation, as a status or a spec holds them; None for an empty list, which is left out."""
    return {name: str(quantity) for name, quantity in sorted(quantities.items())} or None


def canonical(raw: ResourceList | None) -> dict[str, Any] | None:
    """Return a list as the mutating webhook re-encodes it: ``1024Mi`` becomes ``1Gi``, the number 3 becomes "3".

    What is no quantity stays as it is. An empty list stays empty.
    """
    if raw is None:
        return None
    result: dict[str, Any] = {}
    for name, value in raw.items():
        try:
            result[name] = str(from_json(value))
        except QuantityError:
            result[name] = value
    return result


def add_amounts(lists: Iterable[Amounts]) -> dict[str, Quantity]:
    """Return the sum by resource, each in the notation of its first amount that is not zero.

    A sum is a new amount even where it is of one: ``1e0``, which is kept as it was written, becomes 1.
    """
    quantities: dict[str, Quantity] = {}
    for mapping in lists:
        for name, quantity in mapping.items():
            quantities[name] = quantities.get(name, ZERO) + quantity
    return quantities


def amounts_equal(left: Amounts, right: Amounts) -> bool:
    """Return whether both name the same resources with equal amounts, whatever the notation."""
    return left.keys() == right.keys() and all(left[name].nano == right[name].nano for name in left)


def amounts_unchanged(left: Amounts, right: Amounts) -> bool:
    """Return whether both are the same to the controller, to which ``1Gi`` and ``1073741824`` differ."""
    return amounts_equal(left, right) and all(left[name].format == right[name].format for name in left)


ClaimKey = tuple[str, str]
#: kept: has its share and nothing changed. taken: gets it now. changed: has a share, and the new amounts fit.
#: pool: too little is left. queue: an older claim waits for the same resource (ordered queue only).
TurnResult = Literal["kept", "taken", "changed", "pool", "queue"]

#: Sorts behind every time that a server writes: an object without a time is about to be created.
_NEVER = "~"


class ClaimCandidate(Struct, frozen=True, gc=False):
    """A claim that takes part, with its amounts. ``uid`` names it in the pool's status."""

    claim: ResourcePoolClaim
    requested: Amounts

    @property
    def uid(self) -> str:
        return uid_of(self.claim)


class ClaimShare(Struct, frozen=True, gc=False):
    """What a claim holds of a pool."""

    uid: str
    namespace: str
    name: str
    amounts: Amounts


class Comparison(NamedTuple):
    """One resource of a claim that waits: what it asks for against what is left, or against what waits before it.

    room: what is left; zero for a resource that the pool does not have (``missing``). by: namespace and name of the
    claim that closed the resource for those behind it, which asks for ``room`` then.
    """

    resource: str
    requested: Quantity
    room: Quantity
    missing: bool = False
    by: ClaimKey | None = None


class ClaimTurn(Struct, frozen=True, gc=False):
    """How it went for one claim. ``short``: the resources that it lacks, or that are closed to it, sorted.

    room and notations: what was left of each resource at its turn, in billionths, and how it is printed. For a claim in
    the queue ``queued`` is what the claims before it ask for, and ``closed`` who closed each resource.
    """

    candidate: ClaimCandidate
    result: TurnResult
    short: tuple[str, ...] = ()
    room: Mapping[str, int] = {}
    notations: Mapping[str, Format] = {}
    queued: Mapping[str, Quantity] = {}
    closed: Mapping[str, ClaimKey] = {}

    @property
    def allocated(self) -> bool:
        return self.result not in {"pool", "queue"}

    def comparisons(self) -> tuple[Comparison, ...]:
        """Return why the claim waits, resource by resource; empty if it does not."""
        return tuple(self._comparison(resource) for resource in self.short)

    def _comparison(self, resource: str) -> Comparison:
        requested_amounts, nano = self.candidate.requested[resource], self.room.get(resource)
        if self.result == "queue":
            return Comparison(resource, requested_amounts, self.queued[resource], by=self.closed[resource])
        room = ZERO if nano is None else Quantity(nano, self.notations.get(resource, "DecimalSI"))
        return Comparison(resource, requested_amounts, room, missing=nano is None)

    def message(self) -> str:
        """Return what the claim's Exhausted condition says; the controller writes queued lines in any order, here
        sorted.
        """
        text = conditions.queued_text if self.result == "queue" else conditions.short_text
        return conditions.join_lines(
            text(comparison.resource, comparison.requested, comparison.room) for comparison in self.comparisons()
        )


class Exhausted(NamedTuple):
    """A resource that claims wait for: what was left at the first one, what all of them ask for in sum, the first."""

    available: Quantity
    requesting: Quantity
    first: ClaimKey


class Allocation(Struct, frozen=True):
    """The result of one pass: a turn for each claim in the order of the queue, and what each share is now.

    shares are in the order in which they were given; ``available`` names the resources of ``hard``, ``used`` also those
    that the pool has no more and claims still name.
    settled: no share was given, changed or lost, so that another pass would say the same.
    """

    turns: tuple[ClaimTurn, ...]
    shares: tuple[ClaimShare, ...]
    hard: Amounts
    used: Amounts
    available: Amounts
    exhausted: Mapping[str, Exhausted]
    settled: bool


def uid_of(claim: ResourcePoolClaim) -> str:
    """Return the claim's UID; its name where it has none, as in a file."""
    return claim.metadata.uid or f"{claim.metadata.namespace}/{claim.metadata.name}"


def key_of(claim: ResourcePoolClaim) -> ClaimKey:
    return claim.metadata.namespace, claim.metadata.name


def queue_key(claim: ResourcePoolClaim) -> tuple[str, str, str]:
    """Return what the queue is sorted by: time of creation in whole seconds, then name, then namespace."""
    meta = claim.metadata
    return meta.creation_timestamp or _NEVER, meta.name, meta.namespace


def sort_queue(candidates: Iterable[ClaimCandidate]) -> list[ClaimCandidate]:
    """Return the queue."""
    return sorted(candidates, key=lambda candidate: queue_key(candidate.claim))


def allocate(
    hard: Amounts,
    shares: Sequence[ClaimShare],
    queue: Sequence[ClaimCandidate],
    *,
    ordered: bool,
    lowered: Collection[str] = (),
) -> Allocation:
    """Return one pass over the ``queue`` (see ``sort_queue``). ``shares``: what is allocated already, in order of
    allocation.

    ``lowered``: resources of which ``hard`` itself becomes less by all that is allocated each time the controller adds
    up, see ``reconcile.truncated_in_sum``; the result has what is left of it.

    Costs O(C·R): what is left is a running sum. Shares whose claim is not in the queue count as allocated.
    Source: capsule internal/controllers/resourcepools/pool_controller.go reconcileResourceClaim,
    canClaimWithinNamespace.
    """
    run = _Pass(hard, shares, ordered=ordered, lowered=lowered)
    turns = tuple(map(run.build_turn, queue))
    claim_shares = tuple(run.shares.values())
    used = claimed_amounts(hard, claim_shares)
    still = len(claim_shares) == len(shares) and not any(
        claim_turn.result in {"taken", "changed"} for claim_turn in turns
    )
    left = remaining_amounts(hard, used)
    if lowered:
        run.add_up()
        now = {name: Quantity(run.hard_now(name), hard[name].format) for name in lowered}
        hard, left = {**hard, **now}, {**left, **now}
    return Allocation(turns, claim_shares, hard, used, left, run.exhausted(), still)


def claimed_amounts(hard: Amounts, shares: Iterable[ClaimShare]) -> dict[str, Quantity]:
    """Return what claims hold of each resource of ``hard``, and of each other that one of them names."""
    quantities = add_amounts(share.amounts for share in sorted(shares, key=lambda share: share.namespace))
    return {**dict.fromkeys(hard, ZERO), **quantities}


def remaining_amounts(hard: Amounts, used: Amounts) -> dict[str, Quantity]:
    """Return what is left, hard - used, in the notation of hard; negative where more is claimed than there is."""
    return {name: quantity - used.get(name, ZERO) for name, quantity in hard.items()}


class _Pass:
    """The running sums of one pass."""

    def __init__(self, hard: Amounts, shares: Sequence[ClaimShare], *, ordered: bool, lowered: Collection[str]) -> None:
        self.shares = {share.uid: share for share in shares}
        self._ordered = ordered
        used = claimed_amounts(hard, shares)
        left = remaining_amounts(hard, used)
        self._room: Nanos = {name: quantity.nano for name, quantity in left.items()}
        self._notations = {name: quantity.format for name, quantity in left.items()}
        #: What claims that did not fit ask for, who was first, and what was left then.
        self._requested: dict[str, Quantity] = {}
        self._first_claims: dict[str, ClaimKey] = {}
        self._left: dict[str, Quantity] = {}
        #: Copies of the sums that turns refer to; None once the sums have changed.
        self._seen_room: Nanos | None = None
        self._seen_asked: dict[str, Quantity] | None = None
        #: What is allocated of the resources whose hard becomes less.
        self._used: Nanos = {name: used[name].nano for name in lowered}
        self.add_up()

    def add_up(self) -> None:
        """The controller adds up, which takes what is allocated off hard once more."""
        for name, nano in self._used.items():
            self._room[name] -= nano
            self._seen_room = None

    def hard_now(self, name: str) -> int:
        """Return what is left of hard, in billionths."""
        return self._room[name] + self._used[name]

    def build_turn(self, candidate: ClaimCandidate) -> ClaimTurn:
        """Return the next claim's."""
        share = self.shares.get(candidate.uid) if self.shares else None
        if share is not None:
            if amounts_unchanged(share.amounts, candidate.requested):
                self.add_up()
                return ClaimTurn(candidate, "kept")
            return self._change_claim(candidate, share)
        if self._ordered and self._requested and not self._requested.keys().isdisjoint(candidate.requested):
            return self._build_queued_turn(candidate)
        room = self._room
        short = [
            name
            for name, requested_amounts in candidate.requested.items()
            if not (left := room.get(name)) or left < requested_amounts.nano
        ]
        if short:
            return self._short(candidate, short)
        self._take(candidate)
        return ClaimTurn(candidate, "taken")

    def exhausted(self) -> dict[str, Exhausted]:
        return {
            name: Exhausted(self._left[name], requested, self._first_claims[name])
            for name, requested in self._requested.items()
        }

    def _change_claim(self, candidate: ClaimCandidate, share: ClaimShare) -> ClaimTurn:
        """Return the old amounts count as free for the new ones; if these do not fit, all is lost.

        Of a resource of which nothing is left, or that the pool has no more, the old amount is all there is.
        """
        freed = {name: quantity for name, quantity in share.amounts.items() if not self._room.get(name)}
        self._add(share.amounts, 1)
        room = {**self._room, **{name: quantity.nano for name, quantity in freed.items()}}
        short = [
            name
            for name, requested_amounts in candidate.requested.items()
            if not (left := room.get(name)) or left < requested_amounts.nano
        ]
        if short:
            del self.shares[share.uid]
            formats = {name: quantity.format for name, quantity in freed.items()}
            self.add_up()
            return self._short(candidate, short, room, {**self._notations, **formats})
        self._take(candidate)
        return ClaimTurn(candidate, "changed")

    def _take(self, candidate: ClaimCandidate) -> None:
        namespace, name = key_of(candidate.claim)
        self.shares[candidate.uid] = ClaimShare(candidate.uid, namespace, name, candidate.requested)
        self._add(candidate.requested, -1)
        self.add_up()

    def _add(self, amounts: Amounts, sign: int) -> None:
        self._seen_room = None
        for name, quantity in amounts.items():
            if name in self._room:
                self._room[name] += sign * quantity.nano
            if name in self._used:
                self._used[name] -= sign * quantity.nano

    def _build_queued_turn(self, candidate: ClaimCandidate) -> ClaimTurn:
        if self._seen_asked is None:
            self._seen_asked = dict(self._requested)
        short = sorted(name for name in candidate.requested if name in self._requested)
        return ClaimTurn(candidate, "queue", tuple(short), queued=self._seen_asked, closed=self._first_claims)

    def _short(
        self,
        candidate: ClaimCandidate,
        short: list[str],
        room: Mapping[str, int] | None = None,
        notations: Mapping[str, Format] | None = None,
    ) -> ClaimTurn:
        """The claim waits. room and notations: what is left for it, where that is not what is left for all."""
        if room is None:
            room = self._seen_room = self._seen_room or dict(self._room)
        notations = notations or self._notations
        short.sort()
        for name in short:
            requested_amounts = candidate.requested[name]
            quantity = self._requested.get(name)
            if quantity is None:
                self._first_claims[name] = key_of(candidate.claim)
                self._left[name] = Quantity(room.get(name, 0), notations.get(name, "DecimalSI"))
            self._requested[name] = requested_amounts if quantity is None else quantity + requested_amounts
        self._seen_asked = None
        return ClaimTurn(candidate, "pool", tuple(short), room, notations)


def select_used_claims(
    used: Amounts, hard: Collection[str], candidates: Sequence[ClaimCandidate]
) -> list[ClaimCandidate]:
    """Return the claims that are marked as used, in the order in which they are chosen; ``candidates`` in queue order.

    used: of the managed quota; only resources of the pool's ``hard`` count. The claim that covers most comes first,
    cores and bytes added as plain numbers; of equal ones the earlier. Nothing else is chosen once no claim covers any.
    Source: capsule internal/controllers/resourcepools, selectClaimsCoveringUsageGreedy.
    """
    left = {name: used[name].nano for name in hard if name in used and used[name].nano > 0}
    requested = [
        {name: candidate.requested[name].nano for name in left if name in candidate.requested}
        for candidate in candidates
    ]
    if any(nano < 0 for mapping in requested for nano in mapping.values()):
        return [candidates[index] for index in _select_by_scan(left, requested)]
    return [candidates[index] for index in _select_by_heap(left, requested)]


def _select_by_heap(left: Nanos, requested: Sequence[Nanos]) -> list[int]:
    """Scores never grow while amounts are taken off, so that an old score bounds the new one."""
    heap = [(-score, index) for index, mapping in enumerate(requested) if (score := _score(left, mapping)) > 0]
    heapq.heapify(heap)
    chosen: list[int] = []
    while heap and any(left.values()):
        _, index = heapq.heappop(heap)
        score = _score(left, requested[index])
        if score <= 0:
            continue
        if heap and (-score, index) > heap[0]:
            heapq.heappush(heap, (-score, index))
            continue
        chosen.append(index)
        _take(left, requested[index])
    return chosen


def _select_by_scan(left: Nanos, requested: Sequence[Nanos]) -> list[int]:
    """With a claim of a negative amount every score has to be looked at each time."""
    open_, chosen = list(range(len(requested))), list[int]()
    while open_ and any(left.values()):
        score, negated = max((_score(left, requested[index]), -index) for index in open_)
        if score <= 0:
            break
        chosen.append(-negated)
        open_.remove(-negated)
        _take(left, requested[-negated])
    return chosen


def _score(left: Nanos, requested: Nanos) -> int:
    """Return what is covered already counts for nothing, not even against a claim of a negative amount."""
    return sum(min(left[name], nano) for name, nano in requested.items() if left[name])


def _take(left: Nanos, requested: Nanos) -> None:
    for name, nano in requested.items():
        left[name] = max(left[name] - nano, 0)
