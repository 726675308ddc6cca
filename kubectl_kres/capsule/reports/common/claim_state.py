"""The state of a claim and its reason, from its own status and, where it could be read, from that of its pool."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from kubectl_kres.capsule.model import CapsuleCondition, ResourcePool, ResourcePoolClaim
from kubectl_kres.capsule.rules.assignment import is_writable
from kubectl_kres.capsule.rules.conditions import NO_POOL, normalize_message
from kubectl_kres.wording import join_words

#: allocated: it has its amounts. in use: and pods use them. exhausted: the pool has too little for it. queued: it waits
#: behind an exhausted claim. unassigned: it names no pool. failed: its pool would not take it. lost: the controller
#: says that all is well, but it is in no pool. released: it was let go by the annotation. pending: not decided yet.
ClaimState = Literal[
    "allocated", "in use", "exhausted", "queued", "unassigned", "failed", "lost", "released", "pending"
]

HELD = frozenset({"allocated", "in use"})
#: States of claims that stand in a pool's queue.
WAITING = frozenset({"exhausted", "queued"})
#: States of claims that do not get what they ask for until someone does something.
STUCK = frozenset({*WAITING, "unassigned", "failed", "lost", "pending"})

#: Why a pool gives nothing to anybody.
UNWRITABLE_POOL = "the name of its pool has a dot, or more than 63 characters, which no status of a claim can hold"

#: The rule of a pool that is named and is not there.
POOL_EXISTS = "capsule/pool-exists"

_LINE = re.compile(r"requested: ([^=]+)=([^,]*), (available|queued): ([^=]+)=(.*)")


class ClaimStanding(NamedTuple):
    """State and why. ``message``: the controller's own words, of the condition that decides. ``old``: Capsule < 0.13.

    available, queued: what the message says of each resource that is short, as text. rule: the code of what keeps it
    from its share; empty where nothing does, or the controller gives another reason.
    """

    state: ClaimState
    reason: str
    message: str = ""
    old: bool = False
    available: Mapping[str, str] = {}
    queued: Mapping[str, str] = {}
    rule: str = ""


def claim_standing_of(claim: ResourcePoolClaim, pool: ResourcePool | None = None) -> ClaimStanding:
    """``pool``: the one that the claim names, if it was read; it tells a released claim from a lost one."""
    status = claim.status
    if status.conditions is None and status.condition is not None:
        return _before_013(status.condition)
    capsule_conditions = {condition.type: condition for condition in status.conditions or ()}
    ready, exhausted, bound = (
        capsule_conditions.get("Ready"),
        capsule_conditions.get("Exhausted"),
        capsule_conditions.get("Bound"),
    )
    if ready is None and claim.spec.pool and not is_writable(claim.spec.pool):
        text = f"{UNWRITABLE_POOL}: no claim ever gets anything of it"
        return ClaimStanding("failed", text, rule="capsule/pool-name")
    if ready is None:
        return ClaimStanding("pending", "it has no status yet: Capsule's controller has not seen it, or is not running")
    if ready.status != "True":
        return _unready(ready)
    if status.pool is None:
        return _without_pool(claim, pool, ready.message)
    if exhausted is None:
        return ClaimStanding("pending", "it is assigned; its pool's controller has not decided about it", ready.message)
    if exhausted.status == "True":
        return _read_waiting_standing(exhausted)
    if bound is not None and bound.status == "True":
        return ClaimStanding("in use", "pods use what it holds", bound.message)
    return ClaimStanding(
        "allocated", "it holds what it asks for, and no pod needs it now", bound.message if bound else ""
    )


def _unready(ready: CapsuleCondition) -> ClaimStanding:
    if ready.message == NO_POOL:
        return ClaimStanding(
            "unassigned",
            "it names no pool, and none was chosen for it when it was written",
            ready.message,
            rule="capsule/pool-named",
        )
    rule, reason = _failure(ready.message)
    return ClaimStanding("failed", reason, ready.message, rule=rule)


def _failure(message: str) -> tuple[str, str]:
    """Return the rule behind the controller's sentence, empty for one that is not known, and the sentence in our words.

    Source: the claim controller's checks, in their order.
    """
    if message.endswith(" not found"):
        return POOL_EXISTS, "the pool that it names does not exist"
    if message == "resourcepool not available":
        return "capsule/namespace-selected", "its pool does not serve its namespace, or is being deleted"
    if message.startswith("resource ") and " is not available in pool " in message:
        name = message.removeprefix("resource ").partition(" is not available")[0]
        return "capsule/resource-in-pool", f"its pool has no {name} at all"
    return "", message or "the controller gives no reason"


def _read_waiting_standing(exhausted: CapsuleCondition) -> ClaimStanding:
    available: dict[str, str] = {}
    queued: dict[str, str] = {}
    for line in exhausted.message.split("; "):
        match = _LINE.fullmatch(line)
        if match is not None:
            (available if match[3] == "available" else queued)[match[1]] = match[5]
    if exhausted.reason == "QueueExhausted":
        names = join_words(sorted(queued)) or "a resource"
        return ClaimStanding(
            "queued",
            f"an earlier claim waits for {names}",
            normalize_message(exhausted),
            available=available,
            queued=queued,
            rule="capsule/queue",
        )
    names = join_words(sorted(available)) or "a resource"
    return ClaimStanding(
        "exhausted",
        f"its pool is short of {names}",
        exhausted.message,
        available=available,
        rule="capsule/room",
    )


def _without_pool(claim: ResourcePoolClaim, pool: ResourcePool | None, message: str) -> ClaimStanding:
    """Ready, and yet in no pool. The owner reference stays with one that was moved, not with one that was released."""
    owned = any(owner.kind == "ResourcePool" for owner in claim.metadata.owner_references or ())
    if owned:
        return ClaimStanding("lost", "moved to another pool while allocated; now neither pool counts it", message)
    if pool is not None and claim.metadata.namespace not in (pool.status.namespaces or ()):
        return ClaimStanding("lost", f"pool {pool.metadata.name} no longer serves its namespace", message)
    if pool is not None:
        return ClaimStanding("released", "it holds nothing; Capsule re-evaluates it only after a spec change", message)
    return ClaimStanding(
        "released", "it holds nothing until its spec changes; it was released, or its namespace left the pool", message
    )


def _before_013(condition: CapsuleCondition) -> ClaimStanding:
    """Return one condition for all, where Bound with reason Succeeded means allocated; whether pods use it is
    not said.
    """
    if condition.reason in {"PoolExhausted", "QueueExhausted"}:
        return _read_waiting_standing(condition)._replace(old=True)
    if condition.status == "True" and condition.type == "Bound":
        return ClaimStanding("allocated", "it holds what it asks for; whether pods use it this Capsule does not say",
                        condition.message, old=True)  # fmt: skip
    if condition.status == "True":
        return ClaimStanding("pending", "it is assigned; its pool's controller has not decided about it",
                        condition.message, old=True)  # fmt: skip
    return _unready(condition)._replace(old=True)
