"""Why a claim is where it is: the checks of the webhooks and controllers as entries of a journal."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from kubectl_kres.capsule.allocation import Candidate, Comparison, Turn
from kubectl_kres.capsule.amounts import Amounts
from kubectl_kres.capsule.assignment import steps
from kubectl_kres.capsule.choice import Choice, Option
from kubectl_kres.capsule.usage import in_use
from kubectl_kres.model.capsule import ResourcePool, ResourcePoolClaim
from kubectl_kres.provenance.journal import Check, Derive, Entry, Set, Source, Term

_POOL, _BOUND = "spec.pool", "status.conditions[Bound]"


def of_choice(choice: Choice) -> tuple[Check, ...]:
    """Each pool that lists the claim's namespace: whether it could be the one that is written to ``spec.pool``."""
    return tuple(
        Check(
            _POOL,
            "capsule/choice",
            option.pool in choice.possible,
            observed=_words(option),
            source=Source("ResourcePool", option.pool, field="status"),
        )
        for option in choice.options
    )


def of_assignment(claim: ResourcePoolClaim, pools: Mapping[str, ResourcePool]) -> tuple[Check, ...]:
    """The checks of the claim controller in its order, up to the one that fails."""
    source = Source("ResourcePool", claim.spec.pool) if claim.spec.pool else None
    return tuple(
        Check(_POOL, step.rule, not step.fault, claim.spec.pool, message=" or ".join(step.fault), source=source)
        for step in steps(claim, pools)
    )


def of_turn(turn: Turn, pool: str) -> tuple[Check, ...]:
    """Each comparison of a claim with what its pool has left; one entry alone for a claim that keeps what it has.

    Of a claim that got its share the amounts it was held against are not kept: they have changed since.
    """
    source = Source("ResourcePool", pool)
    if turn.allocated:
        rule = {"kept": "capsule/kept", "changed": "capsule/changed"}.get(turn.result, "capsule/room")
        return tuple(
            Check(_path(name), rule, passed=True, observed=str(asked), source=source.at(f"spec.quota.hard[{name}]"))
            for name, asked in sorted(turn.candidate.asks.items())
        )
    return tuple(_of_comparison(one, source, turn.message()) for one in turn.comparisons())


def of_use(used: Amounts, hard: Collection[str], candidates: Sequence[Candidate], quota: Source) -> tuple[Derive, ...]:
    """The claims that are in use, in the order in which they were chosen to cover what the managed quota counts."""
    return tuple(
        Derive(
            f"{one.claim.metadata.namespace}/{one.claim.metadata.name}.{_BOUND}",
            "capsule/in-use",
            "True",
            tuple(Term(f"status.used[{name}]", str(used[name])) for name in sorted(one.asks) if name in used),
            quota,
        )
        for one in in_use(used, hard, candidates)
    )


def of_zeros(sent: ResourcePool, stored: ResourcePool) -> tuple[Entry, ...]:
    """The defaults of 0 that the webhook adds."""
    given, meta = sent.spec.defaults or {}, stored.metadata
    source = Source("ResourcePool", meta.name, field="spec.config.defaultsZero")
    return tuple(
        Set(f"spec.defaults[{name}]", "capsule/defaults-zero", str(value), source=source)
        for name, value in sorted((stored.spec.defaults or {}).items())
        if name not in given
    )


def _of_comparison(one: Comparison, pool: Source, message: str) -> Check:
    if one.by is not None:
        space, name = one.by
        first = Source("ResourcePoolClaim", name, space, f"spec.claim[{one.resource}]")
        return Check(_path(one.resource), "capsule/queue", False, str(one.asked), str(one.room), message, first)
    source = pool.at(f"status.allocation.available[{one.resource}]")
    bound = "" if one.missing else str(one.room)
    return Check(_path(one.resource), "capsule/room", False, str(one.asked), bound, message, source)


def _path(resource: str) -> str:
    return f"spec.claim[{resource}]"


def _words(option: Option) -> str:
    """What was found of a pool."""
    lacks = f"does not have {', '.join(option.missing)}" if option.missing else ""
    short = f"has too little {', '.join(option.short)}" if option.short else ""
    return "; ".join(filter(None, (lacks, short))) or "has room"
