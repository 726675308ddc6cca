"""What holds for every allocation, and the rules once more, written down naively."""

from __future__ import annotations

import random

from capsule.samples import assigned, claim, namespace, pool
from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_kres.capsule.replay.reconcile import reconcile, settle_world
from kubectl_kres.capsule.replay.world import build_pool_world
from kubectl_kres.capsule.rules.allocation import (
    ClaimCandidate,
    ClaimShare,
    allocate,
    amounts,
    queue_key,
    select_used_claims,
    sort_queue,
    uid_of,
)
from kubectl_kres.quantity import parse

RESOURCES = ("requests.cpu", "requests.memory", "pods")

#: Small whole numbers meet each other often; a negative one is legal.
asks = st.dictionaries(st.sampled_from(RESOURCES), st.integers(-1, 6), max_size=3)
hards = st.dictionaries(st.sampled_from(RESOURCES), st.integers(0, 12), max_size=3)
claims = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("xy"), st.integers(0, 3), asks, st.none() | asks),
    max_size=9,
    unique_by=lambda one: one[:2],
)


def texts(found):
    return {name: str(value) for name, value in found.items()}


def built(drawn):
    """Candidates in their order, and the shares that some of them have already."""
    queue, shares = [], []
    for name, space, at, asked, had in drawn:
        one = claim(name, texts(asked), space=space, at=at)
        queue.append(ClaimCandidate(one, amounts(one.spec.claim)))
        if had is not None:
            shares.append(ClaimShare(uid_of(one), space, name, amounts(texts(had))))
    return sort_queue(queue), shares


def naive(hard, shares, queue, ordered):
    """Section by section as the controller goes, everything added up anew each time. Returns result by claim."""
    held = {share.uid: {name: q.nano for name, q in share.amounts.items()} for share in shares}
    hard = {name: q.nano for name, q in hard.items()}
    exhausted, results = {}, {}

    def left(name):
        return hard[name] - sum(one.get(name, 0) for one in held.values())

    def lacking(asked):
        return sorted(n for n, value in asked.items() if n not in hard or left(n) == 0 or left(n) < value)

    for one in queue:
        uid, asked = one.uid, {name: q.nano for name, q in one.requested.items()}
        had = held.get(uid)
        if had == asked:
            results[uid] = ("kept", [])
            continue
        if had is None and ordered and set(asked) & set(exhausted):
            results[uid] = ("queue", sorted(set(asked) & set(exhausted)))
            continue
        freed = held.pop(uid, {})
        short = [n for n in lacking(asked) if n in hard or not freed.get(n) or freed[n] < asked[n]]
        if short:
            results[uid] = ("pool", short)
            for name in short:
                there, total = exhausted.get(name, (left(name) if name in hard else freed.get(name, 0), 0))
                exhausted[name] = (there, total + asked[name])
        else:
            results[uid] = ("taken" if had is None else "changed", [])
            held[uid] = asked
    return results, held, exhausted


@given(hards, claims, st.booleans())
def test_as_the_rules_say_one_by_one(hard, drawn, ordered):
    hard = amounts(texts(hard))
    queue, shares = built(drawn)
    found = allocate(hard, shares, queue, ordered=ordered)
    results, held, exhausted = naive(hard, shares, queue, ordered)
    assert {turn.candidate.uid: (turn.result, list(turn.short)) for turn in found.turns} == results
    assert {one.uid: {n: q.nano for n, q in one.amounts.items()} for one in found.shares} == held
    assert {n: (one.available.nano, one.requesting.nano) for n, one in found.exhausted.items()} == exhausted


@given(hards, claims, st.booleans())
def test_allocated_and_available_are_hard(hard, drawn, ordered):
    hard = amounts(texts(hard))
    queue, shares = built(drawn)
    found = allocate(hard, shares, queue, ordered=ordered)
    assert found.available.keys() == hard.keys() <= found.used.keys()
    assert all(found.used[name] + found.available[name] == hard[name] for name in hard)


@given(hards, claims, st.booleans())
def test_nothing_is_taken_beyond_hard_that_was_not_inherited(hard, drawn, ordered):
    hard = amounts(texts(hard))
    queue, shares = built(drawn)
    found = allocate(hard, shares, queue, ordered=ordered)
    before = {name: sum(share.amounts[name].nano for share in shares if name in share.amounts) for name in hard}
    plain = all(
        q.nano >= 0
        for one in (*queue, *shares)
        for q in getattr(one, "requested", getattr(one, "amounts", {})).values()
    )
    if plain:
        assert all(found.used[name].nano <= max(hard[name].nano, before[name]) for name in hard)


@given(claims)
def test_the_order_of_the_queue_is_total(drawn):
    queue, _ = built(drawn)
    places = [queue_key(one.claim) for one in queue]
    assert len(set(places)) == len(places)
    assert places == sorted(places)


@settings(deadline=None)
@given(hards, claims, st.booleans(), st.randoms(use_true_random=False))
def test_the_order_of_what_was_read_does_not_matter(hard, drawn, ordered, chance):
    spaces = [namespace("x"), namespace("y")]
    held = [assigned(claim(name, texts(asked), space=space, at=at)) for name, space, at, asked, _ in drawn]
    green = pool("green", texts(hard), ordered_queue=ordered)
    (first,) = settle_world(build_pool_world(spaces, [green], held), pools=("green",))
    shuffled = random.Random(chance.random()).sample(held, len(held))
    (second,) = settle_world(build_pool_world(spaces[::-1], [green], shuffled), pools=("green",))
    assert first == second
    assert reconcile(first, "green").world == first


@settings(deadline=None)
@given(hards, claims, st.booleans())
def test_at_rest_no_claim_waits_that_fits(hard, drawn, ordered):
    held = [assigned(claim(name, texts(asked), space=space, at=at)) for name, space, at, asked, _ in drawn]
    green = pool("green", texts(hard), ordered_queue=ordered)
    (found,) = settle_world(build_pool_world([namespace("x"), namespace("y")], [green], held), pools=("green",))
    allocation = reconcile(found, "green").allocation
    assert allocation.settled
    for turn in allocation.turns:
        if turn.result == "pool":
            assert all(one.missing or not one.room or one.room < one.requested for one in turn.comparisons())


@given(asks, claims)
def test_the_claims_in_use_are_those_that_a_plain_search_finds(used, drawn):
    used = amounts(texts(used))
    queue, _ = built(drawn)
    found = [one.uid for one in select_used_claims(used, RESOURCES, queue)]
    left = {name: q.nano for name, q in used.items() if q.nano > 0}
    free, chosen = list(queue), []
    while free and any(left.values()):
        scores = [
            sum(min(left[n], one.requested[n].nano) for n in left if left[n] and n in one.requested) for one in free
        ]
        best = max(range(len(free)), key=lambda index: (scores[index], -index))
        if scores[best] <= 0:
            break
        one = free.pop(best)
        chosen.append(one.uid)
        left = {n: max(0, value - (one.requested[n].nano if n in one.requested else 0)) for n, value in left.items()}
    assert found == chosen


def test_cores_and_bytes_are_added_as_numbers_so_that_bytes_decide():
    many, large = claim("many", {"requests.cpu": "8"}), claim("large", {"requests.memory": "1Mi"}, at=1)
    queue = sort_queue([ClaimCandidate(one, amounts(one.spec.claim)) for one in (many, large)])
    used = {"requests.cpu": parse("1"), "requests.memory": parse("1Ki")}
    assert [one.claim.metadata.name for one in select_used_claims(used, tuple(used), queue)] == ["large", "many"]
