"""What of a claim does not fit together: its status and its pool's, names and amounts that nobody could serve."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.model.capsule import ResourcePool, ResourcePoolClaim
from kubectl_kres.quantity import ZERO
from kubectl_kres.reports.amounts import faults, parsed, sentence, shown, texts
from kubectl_kres.reports.claim_state import HELD, WAITING, Standing
from kubectl_kres.reports.scene import Scene

#: A name longer than this, or with a dot, is legal for the claim and illegal in the pool's status.
_LONGEST = 63


def notes_of(scene: Scene, claim: ResourcePoolClaim, pool: ResourcePool | None, found: Standing) -> tuple[str, ...]:
    """A sentence each; empty for nearly all."""
    return (*_of_itself(claim), *(_beside(scene, claim, pool, found) if pool is not None else ()))


def unwritable(name: str) -> bool:
    """Whether a pool's status cannot list a claim of that name."""
    return "." in name or len(name) > _LONGEST


def _of_itself(claim: ResourcePoolClaim) -> Iterator[str]:
    name = claim.metadata.name
    if unwritable(name):
        yield (
            f'the name "{name}" {"has a dot" if "." in name else f"is longer than {_LONGEST}"}: its pool cannot '
            "write its status any more, and every later change of the pool is lost; create it under another name"
        )
    yield from faults(claim.spec.claim, "spec.claim")
    values = parsed(claim.spec.claim)
    negative = {name: value for name, value in values.items() if value < ZERO}
    if negative:
        yield f"it claims less than nothing ({sentence(shown(negative))}): that raises what others can take"
    if claim.metadata.deletion_timestamp:
        yield f"it is being deleted, since {claim.metadata.deletion_timestamp}"


def _beside(scene: Scene, claim: ResourcePoolClaim, pool: ResourcePool, found: Standing) -> Iterator[str]:
    """Against the pool, which knows the claim by its UID."""
    name, space = pool.metadata.name, claim.metadata.namespace
    served = space in scene.spaces(pool)
    entry = scene.entry(pool, claim)
    if found.state in WAITING and not served:
        yield f"what the controller says is stale: pool {name} no longer serves namespace {space}"
    if found.state in HELD and entry is None and not unwritable(claim.metadata.name):
        yield f"the status of pool {name} does not list it as allocated: the two are written one after the other"
    if found.state in WAITING and entry is not None:
        yield f"the status of pool {name} lists it as allocated, with {sentence(texts(entry.claims))}"
    if found.state == "failed" and entry is not None:
        yield f"it still holds {sentence(texts(entry.claims))} of pool {name}"
    if found.state in HELD and entry is not None and parsed(entry.claims) != parsed(claim.spec.claim):
        yield f"it holds {sentence(texts(entry.claims))}; what it asks for now is not decided yet"
    hard = scene.hard(pool)
    never = {one: value for one, value in parsed(claim.spec.claim).items() if one in hard and value > hard[one]}
    if never and entry is None:
        yield (
            f"pool {name} has less in all than it asks for ({sentence(shown({one: hard[one] for one in never}))}): "
            "it waits for ever unless one of the two changes"
        )
