"""What an event leads to."""

from __future__ import annotations

from msgspec import Struct

from kubectl_kres.admission.base.outcome import Finding, Refusal
from kubectl_kres.capsule.replay.world import PoolWorld
from kubectl_kres.capsule.rules.amounts import AmountFault

#: The webhook that decodes first, and what it calls the object.
_DECODING = {
    "ResourcePool": ("resourcepools.mutating.projectcapsule.dev", "object"),
    "ResourcePoolClaim": ("resourcepoolclaims.mutating.projectcapsule.dev", "new object"),
}


class WorldOutcome(Struct, frozen=True):
    """One of the possible worlds after an event, at rest. ``refusal``: the event was refused and changed nothing."""

    world: PoolWorld
    refusal: Refusal | None = None


def unreadable(fault: AmountFault) -> Refusal:
    """What the mutating webhook answers to an amount that is no quantity: it comes before the schema. No reason."""
    hook, word = _DECODING[fault.ref.kind]
    message = f'admission webhook "{hook}" denied the request: failed to decode {word}: {fault.text}'
    return Refusal(500, "", message, (Finding(fault.text, "quantity/unparsable", fault.path),))
