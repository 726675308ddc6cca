"""Anything may happen in any order: the engine never fails, and its statuses always add up."""

from __future__ import annotations

import msgspec
from capsule.samples import claim, namespace, pool
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from kubectl_kres.capsule.replay.events import Create, CreatedTogether, DeleteEvent, PatchEvent, TimePasses, replay
from kubectl_kres.capsule.replay.metrics import lines
from kubectl_kres.capsule.replay.reconcile import reconcile, shares_of
from kubectl_kres.capsule.replay.world import PoolWorld
from kubectl_kres.capsule.rules.allocation import add_amounts, readable
from kubectl_kres.capsule.rules.conditions import is_true
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Pod

RESOURCES = ("pods", "requests.cpu")
SPACES = ("a", "b")
REF = ObjectRef("ResourcePool", "green")

names = st.sampled_from(("one", "two", "three"))
spaces = st.sampled_from(SPACES)
pools = st.sampled_from(("green", "blue", ""))
amounts = st.dictionaries(st.sampled_from(RESOURCES), st.sampled_from(("0", "1", "1500m", "4", "-1")), max_size=2)
flags = st.fixed_dictionaries(
    {}, optional={name: st.booleans() for name in ("ordered_queue", "defaults_zero", "delete_bound_resources")}
)


def _known(item, known):
    """As the server stores it, or as a file has it: without a UID."""
    return item if known else msgspec.structs.replace(item, metadata=msgspec.structs.replace(item.metadata, uid=""))


def _pod(name, space, cpu):
    spec = {"containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]}
    return msgspec.convert({"metadata": {"name": name, "namespace": space}, "spec": spec}, Pod)


claims = st.builds(
    lambda name, space, asks, to, at: Create(claim(name, asks, to=to, space=space, at=at)),
    names, spaces, amounts, pools, st.integers(0, 3),
)  # fmt: skip
events = st.one_of(
    claims,
    claims,
    st.builds(lambda few: CreatedTogether(tuple(few)), st.lists(claims, max_size=2)),
    st.builds(
        lambda name, hard, options, known: Create(_known(pool(name, hard, **options), known)),
        st.sampled_from(("green", "blue")), amounts, flags, st.booleans(),
    ),
    st.builds(lambda name, hard: PatchEvent("ResourcePool", name, {"spec": {"quota": {"hard": hard}}}), pools, amounts),
    st.builds(
        lambda name, space, asks: PatchEvent("ResourcePoolClaim", name, {"spec": {"claim": asks}}, space),
        names, spaces, amounts,
    ),
    st.builds(
        lambda name, space, to: PatchEvent("ResourcePoolClaim", name, {"spec": {"pool": to}}, space),
        names,
        spaces,
        pools,
    ),
    st.builds(
        lambda name, space: PatchEvent(
            "ResourcePoolClaim", name, {"metadata": {"annotations": {"projectcapsule.dev/release": "true"}}}, space
        ),
        names, spaces,
    ),
    st.builds(DeleteEvent,
              st.sampled_from(("ResourcePoolClaim", "Pod")), names, spaces),
    st.builds(lambda name: DeleteEvent("ResourcePool", name), pools),
    st.builds(lambda name: DeleteEvent("Namespace", name), spaces),
    st.builds(lambda name, team: Create(namespace(name, team=team)), spaces, st.sampled_from(("solar", "wind"))),
    st.builds(lambda name, team: PatchEvent("Namespace", name, {"metadata": {"labels": {"team": team}}}),
              spaces, st.sampled_from(("solar", "wind"))),
    st.builds(lambda name, space, cpu: Create(_pod(name, space, cpu)), names, spaces, st.sampled_from(("1", "250m"))),
    st.just(TimePasses()),
)  # fmt: skip


def _read(raw):
    return readable(raw, REF, "", None)


def _adds_up(world: PoolWorld) -> None:
    for green in world.pools.values():
        allocation, shares = green.status.allocation, shares_of(green)
        hard, used, left = map(_read, (allocation.hard, allocation.used, allocation.available))
        claimed = add_amounts(share.amounts for share in shares)
        assert all(used[name] + left[name] == hard[name] for name in hard)
        assert all(name not in claimed or used[name] == claimed[name] for name in hard)
        assert green.status.claim_count == len(shares)
        assert {share.namespace for share in shares} <= set(green.status.namespaces or ())
        for share in shares:
            held = world.claims[share.namespace, share.name]
            assert held.status.pool.name == green.metadata.name
            assert not is_true(held.status.conditions, "Exhausted")


@examples(60, deadline=None)
@given(st.lists(events, max_size=12))
def test_whatever_happens_it_adds_up_and_is_at_rest(happened):
    world = PoolWorld()
    for event in (Create(namespace("a")), Create(namespace("b")), Create(pool("green", {"pods": "4"})), *happened):
        outcomes = replay(world, event)
        assert outcomes
        assert all(outcome.refusal is None or outcome.world is world for outcome in outcomes)
        for outcome in outcomes:
            _adds_up(outcome.world)
        world = outcomes[-1].world
    assert lines(world) == tuple(sorted(lines(world)))
    for name in world.pools:
        found = reconcile(world, name)
        assert found.world.claims == world.claims or any(
            one.metadata.deletion_timestamp for one in world.namespaces.values()
        )
