"""The conditions of pools and claims, in the controller's words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from kubectl_kres.capsule.model import CapsuleCondition, ResourcePoolClaim
from kubectl_kres.quantity import Quantity

READY, EXHAUSTED, BOUND = "Ready", "Exhausted", "Bound"

Conditions = tuple[CapsuleCondition, ...]

#: What the pool is called in "not found".
_POOLS = "ResourcePool.capsule.clastix.io"


def ready(message: str = "") -> CapsuleCondition:
    """Ready: assigned, or for a pool reconciled; with a message it failed."""
    if message:
        return CapsuleCondition(READY, "False", "Failed", message)
    return CapsuleCondition(READY, "True", "Succeeded", "reconciled")


def claimable(generation: int) -> CapsuleCondition:
    """The claim has its share."""
    return CapsuleCondition(
        EXHAUSTED, "False", "NoExhaustions", "resource claimable from pool", observed_generation=generation
    )


def exhausted(reason: str, message: str, generation: int) -> CapsuleCondition:
    """The claim waits. reason: PoolExhausted or QueueExhausted."""
    return CapsuleCondition(EXHAUSTED, "True", reason, message, observed_generation=generation)


def not_bound(generation: int) -> CapsuleCondition:
    """Bound of a claim that waits."""
    return CapsuleCondition(BOUND, "False", "Failed", "claim causes exhaustions", observed_generation=generation)


def bound(generation: int, *, used: bool) -> CapsuleCondition:
    """Bound of a claim that has its share: whether it is needed for what is used now."""
    if used:
        return CapsuleCondition(BOUND, "True", "InUse", "claim is used", observed_generation=generation)
    return CapsuleCondition(BOUND, "False", "Unused", "claim is unused", observed_generation=generation)


def pool_exhausted(generation: int, *, exhausted: bool) -> CapsuleCondition:
    """Exhausted of a pool: whether some claim did not fit."""
    if exhausted:
        return CapsuleCondition(
            EXHAUSTED, "True", "PoolExhausted", "Pool has exhaustions", observed_generation=generation
        )
    return CapsuleCondition(EXHAUSTED, "False", "NoExhaustions", "no exhaustions", observed_generation=generation)


def short_text(resource: str, requested: Quantity, room: Quantity) -> str:
    """Return one line of a PoolExhausted message."""
    return f"requested: {resource}={requested}, available: {resource}={room}"


def queued_text(resource: str, requested: Quantity, queued: Quantity) -> str:
    """Return one line of a QueueExhausted message."""
    return f"requested: {resource}={requested}, queued: {resource}={queued}"


def join_lines(lines: Iterable[str]) -> str:
    """Return the lines of an Exhausted message as one text. See ``lines`` for the way back."""
    return "; ".join(lines)


def lines(message: str) -> frozenset[str]:
    """Return the lines of an Exhausted message, whose order changes from one reconcile to the next."""
    return frozenset(message.split("; "))


def normalize_message(condition: CapsuleCondition) -> str:
    """Return the message; its queued lines sorted, which Capsule writes in another order with each reconcile."""
    if condition.reason != "QueueExhausted":
        return condition.message
    return join_lines(sorted(lines(condition.message)))


def not_found(pool: str) -> str:
    """Ready of a claim whose pool does not exist."""
    return f'{_POOLS} "{pool}" not found'


NO_POOL = "no pool reference was defined"
NOT_AVAILABLE = "resourcepool not available"


def foreign(resource: str, pool: str) -> str:
    """Ready of a claim for a resource that its pool does not have."""
    return f"resource {resource} is not available in pool {pool}"


def in_use_elsewhere(pool: str) -> str:
    """Ready of a claim in use that names another pool now."""
    return f"can not change pool while claim is in use for pool {pool}"


def find(conditions: Sequence[CapsuleCondition] | None, kind: str) -> CapsuleCondition | None:
    """Return the condition of a type; their order means nothing."""
    return next((condition for condition in conditions or () if condition.type == kind), None)


def is_true(conditions: Sequence[CapsuleCondition] | None, kind: str) -> bool:
    """Return whether there is such a condition and it holds."""
    capsule_condition = find(conditions, kind)
    return capsule_condition is not None and capsule_condition.status == "True"


def is_in_use(claim: ResourcePoolClaim) -> bool:
    """Return whether the claim is marked as needed: then it can neither be changed nor deleted."""
    return is_true(claim.status.conditions, BOUND)


def set_condition(conditions: Conditions | None, new: CapsuleCondition) -> Conditions:
    """Return the conditions with a new one in the place of its type; the very same if it says what the old one said.

    A new condition has no time: it was computed, not observed.
    """
    capsule_conditions = conditions or ()
    for index, old in enumerate(capsule_conditions):
        if old.type == new.type:
            if _compared_fields(old) == _compared_fields(new):
                return capsule_conditions
            kept = old.last_transition_time if old.status == new.status else None
            return (*capsule_conditions[:index], _set_transition_time(new, kept), *capsule_conditions[index + 1 :])
    return (*capsule_conditions, new)


def without_types(conditions: Conditions | None, kinds: Collection[str]) -> Conditions | None:
    """Return the conditions except those of some types; None if none is left."""
    return tuple(condition for condition in conditions or () if condition.type not in kinds) or None


def _compared_fields(condition: CapsuleCondition) -> tuple[str, str, str, int]:
    """Queued lines stand in any order, which is not news."""
    return condition.status, condition.reason, normalize_message(condition), condition.observed_generation


def _set_transition_time(new: CapsuleCondition, time: str | None) -> CapsuleCondition:
    if time is None:
        return new
    return CapsuleCondition(new.type, new.status, new.reason, new.message, time, new.observed_generation)
