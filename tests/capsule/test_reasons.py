"""Why a claim is where it is, entry by entry."""

from __future__ import annotations

from capsule.samples import claim, namespace, pool, world

from kubectl_kres.capsule.allocation import Share
from kubectl_kres.capsule.amounts import amounts
from kubectl_kres.capsule.choice import choose
from kubectl_kres.capsule.managed import terms_of
from kubectl_kres.capsule.reasons import of_assignment, of_choice, of_turn, of_use, of_zeros
from kubectl_kres.capsule.reconcile import allocation_of
from kubectl_kres.capsule.webhooks import stored_pool
from kubectl_kres.provenance.journal import Check, Set, Source, Term
from kubectl_kres.provenance.rules import RULES

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


def turns(found):
    return {turn.candidate.claim.metadata.name: turn for turn in allocation_of(found, "green").allocation.turns}


def test_comparisons_say_what_is_short_and_who_closed_it():
    found = turns(queue())
    left = Source("ResourcePool", "green")
    text = f"requested: {CPU}=5, available: {CPU}=3; requested: {MEMORY}=9Gi, available: {MEMORY}=8Gi"
    assert of_turn(found["large"], "green") == (
        Check(
            f"spec.claim[{CPU}]", "capsule/room", False, "5", "3", text,
            left.at(f"status.allocation.available[{CPU}]"),
        ),
        Check(
            f"spec.claim[{MEMORY}]", "capsule/room", False, "9Gi", "8Gi", text,
            left.at(f"status.allocation.available[{MEMORY}]"),
        ),
    )  # fmt: skip
    (behind,) = of_turn(found["small"], "green")
    assert (behind.rule, behind.observed, behind.bound) == ("capsule/queue", "1", "5")
    assert behind.source == Source("ResourcePoolClaim", "large", "a", f"spec.claim[{CPU}]")
    assert behind.message == f"requested: {CPU}=1, queued: {CPU}=5"
    (kept,) = of_turn(found["first"], "green")
    assert (kept.rule, kept.passed, kept.observed) == ("capsule/kept", True, "1")


def test_assignment_ends_at_the_check_that_fails():
    found = queue()
    foreign = claim("odd", {"pods": "1", "services": "1"})
    checks = of_assignment(foreign, found.pools)
    assert [(one.rule, one.passed) for one in checks] == [
        ("capsule/pool-named", True),
        ("capsule/pool-exists", True),
        ("capsule/namespace-selected", True),
        ("capsule/resource-in-pool", False),
    ]
    assert checks[-1].message == (
        "resource pods is not available in pool green or resource services is not available in pool green"
    )
    assert of_assignment(claim("none", {}, to=""), found.pools)[-1].message == "no pool reference was defined"
    assert of_assignment(claim("far", {}, space="b"), found.pools)[-1].message == "resourcepool not available"


def test_choice_says_of_each_pool_what_speaks_against_it():
    found = world(
        namespace("a"), pool("green", {CPU: "4"}), pool("blue", {CPU: "9"}), pool("red", {MEMORY: "1Gi"}),
        pool("elsewhere", {CPU: "99"}, selectors=()),
    )  # fmt: skip
    said = of_choice(choose("a", amounts({CPU: "5"}), found.pools.values()))
    assert [(one.source.name, one.passed, one.observed) for one in said] == [
        ("blue", True, "has room"),
        ("green", False, f"has too little {CPU}"),
        ("red", False, f"does not have {CPU}"),
    ]


def test_use_names_the_claims_that_cover_it_and_the_quota_that_counts_it():
    found = turns(queue())
    quota = Source("ResourceQuota", "capsule-pool-green", "a", "status.used")
    (entry,) = of_use(amounts({CPU: "500m"}), (CPU,), [found["first"].candidate], quota)
    assert (entry.path, entry.rule, entry.source) == ("a/first.status.conditions[Bound]", "capsule/in-use", quota)
    assert entry.terms == (Term(f"status.used[{CPU}]", "500m"),)


def test_a_managed_quota_adds_up_from_claims_and_a_default():
    green = pool("green", {CPU: "4"}, defaults={CPU: "250m", "pods": "0"})
    shares = [
        Share(str(at), "a", name, amounts({CPU: text})) for at, (name, text) in enumerate((("x", "1"), ("y", "2")))
    ]
    cpu, pods = sorted(terms_of(green, shares), key=lambda one: one.path, reverse=True)
    assert (cpu.path, cpu.value, cpu.rule) == (f"spec.hard[{CPU}]", "3250m", "capsule/managed-quota")
    assert [(term.path, term.value) for term in cpu.terms] == [
        ("ResourcePoolClaim/a/x", "1"),
        ("ResourcePoolClaim/a/y", "2"),
        (f"spec.defaults[{CPU}]", "250m"),
    ]
    assert (pods.path, pods.value, len(pods.terms)) == ("spec.hard[pods]", "0", 1)


def test_zeros_name_the_option_that_adds_them():
    sent = pool("green", {CPU: "4", "pods": "3"}, defaults={CPU: "1"}, defaults_zero=True)
    source = Source("ResourcePool", "green", field="spec.config.defaultsZero")
    assert of_zeros(sent, stored_pool(sent)) == (
        Set("spec.defaults[pods]", "capsule/defaults-zero", "0", source=source),
    )


def test_every_rule_named_here_is_in_the_catalogue():
    assert {code for code in RULES if code.startswith("capsule/")}
    for turn in turns(queue()).values():
        assert {one.rule for one in of_turn(turn, "green")} <= RULES.keys()
