"""What an event leads to."""

from __future__ import annotations

from msgspec import Struct

from kubectl_kres.admission.outcome import Finding, Refusal
from kubectl_kres.capsule.amounts import Fault
from kubectl_kres.capsule.world import World
from kubectl_kres.model.kinds import BY_KIND


class Outcome(Struct, frozen=True):
    """One of the possible worlds after an event, at rest. ``refusal``: the event was refused and changed nothing."""

    world: World
    refusal: Refusal | None = None


def unreadable(fault: Fault) -> Refusal:
    """422 for an amount that is no quantity; the server's sentence also quotes the pattern of its schema."""
    kind = BY_KIND[fault.ref.kind]
    message = f'{kind.kind}.{kind.group} "{fault.ref.name}" is invalid: {fault.path}: {fault.text}'
    return Refusal(422, "Invalid", message, (Finding(fault.text, "quantity/unparsable", fault.path),))
