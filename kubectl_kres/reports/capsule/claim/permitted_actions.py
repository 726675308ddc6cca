"""Whether a claim may be changed, deleted or released now, in the webhooks' words, and what would follow."""

from __future__ import annotations

from msgspec import structs

from kubectl_kres.capsule.rules.webhooks import refuse_claim, refuse_deletion
from kubectl_kres.model.capsule import ResourcePoolClaim, ResourcePoolClaimSpec
from kubectl_kres.reports.capsule.claim.claim_report import May
from kubectl_kres.reports.capsule.common.claim_state import HELD, WAITING, Standing

_VANISHES = "the annotation is taken off again and nothing happens: only a claim in use can be released"


def may(claim: ResourcePoolClaim, found: Standing, *, holds: bool = False) -> tuple[May, May, May]:
    """Change, delete, release. The webhooks go by the Bound condition, which lags behind the pods by a reconcile.

    ``holds``: its pool lists it, whatever its own conditions say.
    """
    other = structs.replace(claim, spec=ResourcePoolClaimSpec(claim.spec.pool, {"changed": "1"}))
    change, deletion = refuse_claim(other, claim), refuse_deletion(claim)
    return (
        May("change", change is None, change.message if change else "", "" if change else _changed(found)),
        May(
            "delete",
            deletion is None,
            deletion.message if deletion else "",
            "" if deletion else _deleted(found, holds=holds),
        ),
        May("release", found.state == "in use", follows=_released(found)),
    )


def _changed(found: Standing) -> str:
    if found.state in HELD:
        return (
            "less, or more that fits, is taken over at once; more that does not fit costs it all that it holds; "
            "another pool loses it: no pool would count it"
        )
    if found.state in WAITING:
        return "it is looked at again at once, in its old place of the queue; it may also go to another pool"
    return "a change of its spec makes the controller look at it again; an annotation does not"


def _deleted(found: Standing, *, holds: bool) -> str:
    if holds or found.state in HELD:
        return "what it holds is free at once, for whoever waits first"
    return "it holds nothing; who waits behind it moves up" if found.state in WAITING else "it holds nothing"


def _released(found: Standing) -> str:
    if found.state != "in use":
        return _VANISHES
    return (
        "what it holds is free at once; its pods keep running, the quota of its namespace falls below their use; it is "
        "not queued again until its spec changes (Capsule 0.13.0 to 0.13.5 take the annotation off instead)"
    )
