"""What says why: comparisons of a turn, the controller's checks, the choice of a pool, the sum of a managed quota."""

from __future__ import annotations

from capsule.samples import claim, namespace, pool, world

from kubectl_kres.capsule.replay.reconcile import reconcile
from kubectl_kres.capsule.rules.allocation import ClaimShare, Comparison, amounts
from kubectl_kres.capsule.rules.assignment import steps
from kubectl_kres.capsule.rules.managed_quota import terms_of
from kubectl_kres.capsule.rules.webhooks import choose, stored_pool
from kubectl_kres.provenance.rules import RULES
from kubectl_kres.quantity import parse

CPU, MEMORY = "requests.cpu", "requests.memory"


def queue():
    """One claim has its share, one is too large, one stands behind it; one asks for what the pool does not have."""
    return world(
        namespace("a"),
        pool("green", {CPU: "4", MEMORY: "8Gi"}, ordered_queue=True),
        claim("first", {CPU: "1"}),
        claim("large", {CPU: "5", MEMORY: "9Gi"}, at=1),
        claim("small", {CPU: "1"}, at=2),
    )


def test_comparisons_say_what_is_short_and_who_closed_it():
    turns = {turn.candidate.claim.metadata.name: turn for turn in reconcile(queue(), "green").allocation.turns}
    assert turns["large"].comparisons() == (
        Comparison(CPU, parse("5"), parse("3")),
        Comparison(MEMORY, parse("9Gi"), parse("8Gi")),
    )
    assert turns["large"].message() == (
        f"requested: {CPU}=5, available: {CPU}=3; requested: {MEMORY}=9Gi, available: {MEMORY}=8Gi"
    )
    assert turns["small"].comparisons() == (Comparison(CPU, parse("1"), parse("5"), by=("a", "large")),)
    assert turns["small"].message() == f"requested: {CPU}=1, queued: {CPU}=5"
    assert (turns["first"].result, turns["first"].comparisons()) == ("kept", ())


def test_assignment_ends_at_the_check_that_fails():
    found = queue()
    checks = steps(claim("odd", {"pods": "1", "services": "1"}), found.pools)
    assert [(one.rule, not one.fault) for one in checks] == [
        ("capsule/pool-named", True),
        ("capsule/pool-exists", True),
        ("capsule/namespace-selected", True),
        ("capsule/resource-in-pool", False),
    ]
    assert checks[-1].fault == (
        "resource pods is not available in pool green",
        "resource services is not available in pool green",
    )
    assert {one.rule for one in checks} <= RULES.keys()
    assert steps(claim("none", {}, to=""), found.pools)[-1].fault == ("no pool reference was defined",)
    assert steps(claim("far", {}, space="b"), found.pools)[-1].fault == ("resourcepool not available",)


def test_choice_says_of_each_pool_what_speaks_against_it():
    found = world(
        namespace("a"), pool("green", {CPU: "4"}), pool("blue", {CPU: "9"}), pool("red", {MEMORY: "1Gi"}),
        pool("elsewhere", {CPU: "99"}, selectors=()),
    )  # fmt: skip
    said = choose("a", amounts({CPU: "5"}), found.pools.values())
    assert [(one.pool, one.verdict, one.missing, one.short) for one in said.options] == [
        ("blue", "room", (), ()),
        ("green", "full", (), (CPU,)),
        ("red", "lacking", (CPU,), ()),
    ]
    assert said.possible == ("blue",)


def test_a_managed_quota_adds_up_from_claims_and_a_default():
    green = pool("green", {CPU: "4"}, defaults={CPU: "250m", "pods": "0"})
    shares = [
        ClaimShare(str(at), "a", name, amounts({CPU: text})) for at, (name, text) in enumerate((("x", "1"), ("y", "2")))
    ]
    cpu, pods = sorted(terms_of(green, shares), key=lambda one: one.path, reverse=True)
    assert (cpu.path, cpu.value, cpu.rule) == (f"spec.hard[{CPU}]", "3250m", "capsule/managed-quota")
    assert [(term.path, term.value) for term in cpu.terms] == [
        ("ResourcePoolClaim/a/x", "1"),
        ("ResourcePoolClaim/a/y", "2"),
        (f"spec.defaults[{CPU}]", "250m"),
    ]
    assert (pods.path, pods.value, len(pods.terms)) == ("spec.hard[pods]", "0", 1)


def test_zeros_stand_where_the_pool_has_no_default():
    sent = pool("green", {CPU: "4", "pods": "3"}, defaults={CPU: "1"}, defaults_zero=True)
    assert stored_pool(sent).spec.defaults == {CPU: "1", "pods": "0"}
