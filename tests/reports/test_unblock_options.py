"""What would let a claim in does so when it is done, event by event, as the controllers go about it."""

from __future__ import annotations

import json
import shlex
from itertools import combinations
from typing import Any

import msgspec
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from kubectl_kres.capsule.replay.events import Create, DeleteEvent, PatchEvent, WorldEvent, replay, replay_all
from kubectl_kres.capsule.replay.reconcile import settle_world
from kubectl_kres.capsule.replay.world import PoolWorld, build_pool_world, with_claims
from kubectl_kres.capsule.reports.common.claim_action import ClaimAction
from kubectl_kres.capsule.reports.common.claim_state import HELD, WAITING, claim_standing_of
from kubectl_kres.capsule.reports.common.part import PoolTrail, TrailClaim
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex
from kubectl_kres.capsule.reports.pool.refusing_pools import waiting_words
from kubectl_kres.capsule.reports.unblock.actions import UnblockOption
from kubectl_kres.capsule.reports.unblock.options import unblock_options
from kubectl_kres.model.kinds import BY_KIND, KINDS
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.store.store import READ, Origin, ReadRequest, Store

NAMES = ("requests.cpu", "requests.memory", "pods")
SPACES = ("a", "b")


def made(kind: str, name: str, namespace: str = "", spec: Any = None, second: int = 0, **meta: Any) -> Any:
    metadata = {
        "name": name,
        "namespace": namespace,
        "uid": f"{kind}-{namespace}-{name}",
        "creationTimestamp": f"2026-11-20T03:00:{second:02}Z",
        **meta,
    }
    return msgspec.convert({"kind": kind, "metadata": metadata, "spec": spec or {}}, BY_KIND[kind].detail)


def pool(name: str, hard: dict[str, int], *, ordered: bool) -> Any:
    config = {"orderedQueue": ordered}
    shown = {key: str(value) for key, value in hard.items()}
    return made("ResourcePool", name, spec={"selectors": [{"matchLabels": {"t": "x"}}], "quota": {"hard": shown},
                                            "config": config})  # fmt: skip


def claim(name: str, namespace: str, asks: dict[str, int], second: int, to: str = "green") -> Any:
    shown = {key: str(value) for key, value in asks.items()}
    return made("ResourcePoolClaim", name, namespace, {"pool": to, "claim": shown}, second)


def store_of(world: PoolWorld) -> Store:
    store = Store(Origin("cluster"))
    for held in (world.namespaces, world.pools, world.claims, world.quotas):
        for item in held.values():
            store.add(item.kind, item)
    for kind in KINDS:
        store.cover(ReadRequest(kind.kind), READ)
    return store


def spaces() -> PoolWorld:
    return build_pool_world([made("Namespace", name, labels={"t": "x"}) for name in SPACES])


amounts = st.dictionaries(st.sampled_from(NAMES), st.integers(0, 6), min_size=1, max_size=3)


@st.composite
def worlds(draw: st.DrawFn) -> PoolWorld:
    """Two pools, up to nine claims, some of which give back what they had."""
    hard = {name: draw(st.integers(0, 9)) for name in NAMES[: draw(st.integers(1, 3))]}
    events: list[WorldEvent] = [Create(pool("green", hard, ordered=draw(st.booleans())))]
    events.append(Create(pool("blue", {name: draw(st.integers(0, 5)) for name in hard}, ordered=draw(st.booleans()))))
    for number in range(draw(st.integers(1, 9))):
        asks = {name: value for name, value in draw(amounts).items() if name in hard} or {NAMES[0]: 1}
        events.append(Create(claim(f"c{number}", draw(st.sampled_from(SPACES)), asks, draw(st.integers(0, 3)))))
    if draw(st.booleans()):
        events.append(DeleteEvent("ResourcePoolClaim", "c0", events[2].item.metadata.namespace))
    return replay_all(spaces(), events)[0]


def events_of(deed: ClaimAction) -> list[WorldEvent]:
    """The commands of a deed as the events that they are."""
    return [event_of(deed, command) for command in deed.command.split(" && ")]


def event_of(deed: ClaimAction, command: str = "") -> WorldEvent:
    """One command of a deed, the only one unless it is said."""
    words = shlex.split(command or deed.command)
    if words[1] == "delete":
        assert words[2:] == ["resourcepoolclaim", deed.subject.name, "-n", deed.subject.namespace]
        return DeleteEvent("ResourcePoolClaim", deed.subject.name, deed.subject.namespace)
    if words[1] == "annotate":
        annotations = dict([words[-1].split("=")])
        return PatchEvent("ResourcePoolClaim", deed.subject.name, {"metadata": {"annotations": annotations}},
                     deed.subject.namespace)  # fmt: skip
    assert words[1] == "patch"
    return PatchEvent(deed.subject.kind, deed.subject.name, json.loads(words[-1]), deed.subject.namespace)


def in_after(world: PoolWorld, way: UnblockOption, key: tuple[str, str]) -> bool:
    return all(
        claim_standing_of(found.claims[key]).state in HELD
        for found in replay_all(world, [event for one in way.actions for event in events_of(one)])
    )


@examples(80, deadline=None)
@given(worlds())
def test_what_would_let_it_in_does(world: PoolWorld):
    scene = PoolIndex(store_of(world))
    for one in scene.claims:
        if one.standing.state not in WAITING:
            continue
        key = (one.claim.metadata.namespace, one.claim.metadata.name)
        for way in unblock_options(scene, one.claim, one.standing):
            assert way.replayed
            assert way.actions
            assert in_after(world, way, key), way


@examples(30, deadline=None)
@given(worlds())
def test_no_fewer_claims_do(world: PoolWorld):
    """Every smaller set, in any order that puts those first that only wait, leaves the claim out."""
    scene = PoolIndex(store_of(world))
    for one in scene.claims:
        found = [
            way for way in unblock_options(scene, one.claim, one.standing) if way.kind == "give way" and way.proven
        ]
        if one.standing.state not in WAITING or not found:
            continue
        key = (one.claim.metadata.namespace, one.claim.metadata.name)
        others = sorted((other.standing.state not in WAITING, *other_key(other)) for other in scene.claims)
        smaller = len(found[0].actions) - 1
        for chosen in combinations([other[1:] for other in others if other[1:] != key], smaller):
            events = [DeleteEvent("ResourcePoolClaim", name, space) for space, name in chosen]
            after = replay_all(world, events)[0]
            assert claim_standing_of(after.claims[key]).state not in HELD


def other_key(one: Any) -> tuple[str, str]:
    return one.claim.metadata.namespace, one.claim.metadata.name


def situation(
    *claims: Any, hard: dict[str, int], ordered: bool = False, more: tuple[WorldEvent, ...] = ()
) -> PoolIndex:
    events: list[WorldEvent] = [Create(pool("green", hard, ordered=ordered)), *map(Create, claims), *more]
    return PoolIndex(store_of(replay_all(spaces(), events)[0]))


def ways_of(scene: PoolIndex, name: str, namespace: str = "a") -> dict[str, UnblockOption]:
    found = next(one for one in scene.claims if other_key(one) == (namespace, name))
    return {way.kind: way for way in unblock_options(scene, found.claim, found.standing)}


CPU = "requests.cpu"


@pytest.mark.parametrize(
    ("asks", "gives"),
    [
        # One that frees enough comes before two.
        (({CPU: 1}, {CPU: 1}, {CPU: 4}), ["c2"]),
        # Of two that free enough the own namespace's, then the one that frees least for nothing.
        (({CPU: 3}, {CPU: 2}, {CPU: 1}), ["c1"]),
        (({CPU: 2}, {CPU: 2}, {CPU: 2}), ["c0"]),
    ],
)
def test_the_fewest_and_the_least_give_way(asks, gives):
    claims = [claim(f"c{place}", "a", one, place) for place, one in enumerate(asks)]
    scene = situation(*claims, claim("w", "a", {CPU: 2}, 9), hard={CPU: 6})
    way = ways_of(scene, "w")["give way"]
    assert [deed.subject.name for deed in way.actions] == gives
    assert way.proven


def test_own_namespace_before_others():
    scene = situation(claim("x", "b", {CPU: 2}, 0), claim("y", "a", {CPU: 3}, 1), claim("w", "a", {CPU: 2}, 9),
                      hard={CPU: 5})  # fmt: skip
    assert [deed.subject.name for deed in ways_of(scene, "w")["give way"].actions] == ["y"]


@pytest.mark.parametrize(
    ("asks", "text"),
    [
        ({"x": "a"}, "delete a/x"),
        ({"x": "b"}, "delete b/x (takes from others, in namespace b: ask there first)"),
        ({"x": "a", "y": "b"}, "delete a/x and b/y (takes from others, in namespace b: ask there first)"),
    ],
)
def test_who_of_other_namespaces_is_to_be_asked(asks: dict[str, str], text: str):
    held = [claim(name, space, {CPU: 2}, place) for place, (name, space) in enumerate(asks.items())]
    scene = situation(*held, claim("w", "a", {CPU: 2 * len(held)}, 9), hard={CPU: 2 * len(held)})
    assert ways_of(scene, "w")["give way"].text == text


def test_a_claim_in_use_is_released_and_unused_ones_are_offered_beside():
    world = replay_all(
        spaces(), [Create(pool("green", {CPU: 4}, ordered=False)), Create(claim("u", "a", {CPU: 3}, 0))]
    )[0]
    world = msgspec.structs.replace(world, objects=dict.fromkeys(SPACES, ()))
    pod = made("Pod", "p", "a", {"containers": [{"name": "a", "resources": {"requests": {"cpu": "3"}}}]})
    events: list[WorldEvent] = [Create(pod), Create(claim("v", "b", {CPU: 1}, 1)), Create(claim("w", "a", {CPU: 3}, 2))]
    world = replay_all(world, events)[0]
    scene = PoolIndex(store_of(world))
    one = next(one for one in scene.claims if one.claim.metadata.name == "w")
    first = unblock_options(scene, one.claim, one.standing)[0]
    assert [deed.verb for deed in first.actions] == ["release"]
    assert in_after(world, first, ("a", "w"))
    # A deletion would have been refused.
    assert replay(world, DeleteEvent("ResourcePoolClaim", "u", "a"))[0].refusal is not None


def test_more_than_the_pool_has_only_a_larger_pool_helps():
    found = ways_of(situation(claim("w", "a", {CPU: 9}, 0), hard={CPU: 4}), "w")
    assert list(found) == ["less", "raise"]
    assert found["raise"].amounts == {CPU: "5"}
    assert found["less"].amounts == {CPU: "4"}


def test_many_candidates_are_not_proven_unless_one_is_enough():
    claims = [claim(f"c{place:02}", "a", {CPU: 1 + place % 3}, place) for place in range(24)]
    taken = sum(1 + place % 3 for place in range(24))
    scene = situation(*claims, claim("w", "a", {CPU: 8}, 59), hard={CPU: taken})
    way = ways_of(scene, "w")["give way"]
    assert len(way.actions) == 3
    assert way.proven  # eight of at most three each cannot be had from two


def test_a_queue_of_a_thousand_takes_no_minutes():
    claims = [claim(f"c{place:04}", "a", {CPU: 1}, 0) for place in range(400)]
    scene = situation(hard={CPU: 100}, ordered=True)
    world = build_pool_world(
        scene.store.all("Namespace"), scene.store.all("ResourcePool"), (), scene.store.all("ResourceQuota")
    )
    keyed = {("a", one.metadata.name): one for one in claims}
    scene = PoolIndex(store_of(settle_world(with_claims(world, keyed), claims=tuple(keyed))[0]))
    found = ways_of(scene, "c0399")
    assert "raise" in found
    assert not found["raise"].proven


def crowd(held: int, others: int, asks: int) -> PoolIndex:
    """So many claims of 1 hold all there is; so many wait for 2 each, and after them one for more."""
    scene = situation(hard={CPU: held})
    world = build_pool_world(
        scene.store.all("Namespace"), scene.store.all("ResourcePool"), (), scene.store.all("ResourceQuota")
    )
    claims = [claim(f"c{place:04}", "a", {CPU: 1}, 0) for place in range(held)]
    claims += [claim(f"o{place:04}", "a", {CPU: 2}, 1) for place in range(others)]
    claims.append(claim("w", "a", {CPU: asks}, 2))
    keyed = {("a", one.metadata.name): one for one in claims}
    return PoolIndex(store_of(settle_world(with_claims(world, keyed), claims=tuple(keyed))[0]))


def test_many_of_a_thousand_give_way_to_one_that_waits_alone():
    way = ways_of(crowd(1000, 0, 60), "w")["give way"]
    assert (len(way.actions), way.proven, way.replayed, way.waiting) == (60, True, True, 0)


def test_where_those_who_give_way_cannot_be_found_that_is_said_last():
    """Whatever is freed goes to others that wait: to go through that for each of hundreds takes too long."""
    found = list(ways_of(crowd(700, 100, 300), "w").values())
    assert found[-1].kind == "give way"
    assert found[-1].text == (
        "300 or more claims of pool green would have to go: which are the fewest was not found among 801"
    )
    assert (found[-1].actions, found[-1].proven, found[-1].replayed) == ((), False, False)


def lost(*more: WorldEvent) -> PoolWorld:
    """A claim of 2 that was moved from pool blue to pool green while it was allocated."""
    events: list[WorldEvent] = [Create(pool(name, {CPU: 4}, ordered=False)) for name in ("green", "blue", "none")]
    move = PatchEvent("ResourcePoolClaim", "w", {"spec": {"pool": "green"}}, "a")
    return replay_all(spaces(), [*events, Create(claim("w", "a", {CPU: 2}, 0, "blue")), move, *more])[0]


def test_a_lost_claim_gets_in_by_naming_no_pool_and_then_its_own_again():
    world = lost()
    way = ways_of(PoolIndex(store_of(world)), "w")["again"]
    assert '"none-none"' in way.actions[0].command
    assert way.replayed
    assert in_after(world, way, ("a", "w"))
    assert len(replay_all(world, events_of(way.actions[0]))[0].pools["green"].status.claims["a"]) == 1


def test_a_lost_claim_without_room_is_told_how_to_wait():
    world = lost(Create(claim("x", "b", {CPU: 3}, 1)))
    way = ways_of(PoolIndex(store_of(world)), "w")["again"]
    assert (way.replayed, way.proven) == (False, False)
    assert "so the claim waits" in way.text
    after = replay_all(world, events_of(way.actions[0]))[0]
    assert claim_standing_of(after.claims["a", "w"]).state == "exhausted"


def test_the_share_of_a_claim_that_was_made_anew_is_not_that_of_the_new_one():
    """The pool's status lists the old one still: it could not be written since."""
    scene = situation(claim("w", "a", {CPU: 1}, 0), claim("x", "b", {CPU: 3}, 1), hard={CPU: 4})
    (old,) = [one.claim for one in scene.claims if other_key(one) == ("a", "w")]
    says = {"type": "Exhausted", "status": "True", "reason": "PoolExhausted",
            "message": "requested: requests.cpu=2, available: requests.cpu=0"}  # fmt: skip
    ready = next(one for one in old.status.conditions if one.type == "Ready")
    conditions = (ready, msgspec.convert(says, type(ready)))
    new = msgspec.structs.replace(
        claim("w", "a", {CPU: 2}, 9), status=msgspec.structs.replace(old.status, conditions=conditions)
    )
    new = msgspec.structs.replace(new, metadata=msgspec.structs.replace(new.metadata, uid="anew"))
    world = build_pool_world(
        scene.store.all("Namespace"),
        scene.store.all("ResourcePool"),
        [new, *(one.claim for one in scene.claims if one.claim is not old)],
    )
    found = ways_of(PoolIndex(store_of(world)), "w")
    assert "again" not in found
    assert [deed.subject.name for deed in found["give way"].actions] == ["x"]


@pytest.mark.parametrize(
    ("states", "said"),
    [
        (
            {"burst": "queued", "old": "allocated"},
            "claim burst of this namespace already waits in pool shared",
        ),
        (
            {"burst": "queued", "web": "exhausted"},
            "claims burst and web of this namespace already wait in pool shared",
        ),
        ({"old": "in use"}, ""),
    ],
)
def test_of_a_pool_that_may_not_be_read_the_own_claims_that_wait_are_named(states: dict[str, str], said: str):
    claims = tuple(
        TrailClaim(ObjectRef("ResourcePoolClaim", name, "blue"), state, {})  # type: ignore[arg-type]
        for name, state in states.items()
    )
    trail = PoolTrail("capsule-pool-shared", "shared", {"requests.cpu": "1"}, claims)
    assert waiting_words(trail).startswith(said) and bool(waiting_words(trail)) == bool(said)
