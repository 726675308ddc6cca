"""The words of what of a claim does not fit together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kubectl_kres.capsule.reports.claim import claim_notes as note
from kubectl_kres.capsule.reports.common.amount_lists import sentence
from kubectl_kres.capsule.rules.assignment import LONGEST_NAME
from kubectl_kres.wording import join_some


def _unwritable_name(said: note.UnwritableClaimName) -> str:
    fault = "has a dot" if "." in said.name else f"is longer than {LONGEST_NAME}"
    return (
        f'the name "{said.name}" {fault}: its pool cannot write its status any more, and every later change of the '
        "pool is lost; create it under another name"
    )


WORDS: Mapping[type, Callable[[Any], str]] = {
    note.UnwritableClaimName: _unwritable_name,
    note.NegativeAmounts: lambda said: (
        f"it claims less than nothing ({sentence(said.amounts)}): that raises what others can take"
    ),
    note.AboutToRelease: lambda _: "it carries the annotation for its release; the controller is about to let it go",
    note.OldWord: lambda said: (
        f"what the controller says is about generation {said.generation} of it, and it has changed since"
    ),
    note.OtherPool: lambda said: (
        f"its spec names pool {said.named}, and what the controller says is of pool {said.said}: it has not looked "
        "yet, or an older word of it was written over the new one"
    ),
    note.ClaimBeingDeleted: lambda said: f"it is being deleted, since {said.since}",
    note.PoolBeingDeleted: lambda said: (
        f"pool {said.pool} is being deleted, and the claim is {'deleted with it' if said.with_claim else 'let go of'}"
    ),
    note.NotServed: lambda said: (
        f"what the controller says is stale: pool {said.pool} no longer serves namespace {said.namespace}"
    ),
    note.NotListed: lambda said: (
        f"the status of pool {said.pool} does not list it as allocated: the two are written one after the other"
    ),
    note.ListedWhileWaiting: lambda said: (
        f"the status of pool {said.pool} lists it as allocated, with {sentence(said.amounts)}"
    ),
    note.HeldAfterFailure: lambda said: f"it still holds {sentence(said.amounts)} of pool {said.pool}",
    note.HeldBefore: lambda said: f"it holds {sentence(said.amounts)}; what it asks for now is not decided yet",
    note.CountedWrong: lambda said: (
        f"not certain: Capsule counts {join_some(said.resources)} of pool {said.pool} wrong, since there is so much of "
        "it"
    ),
    note.CutOff: lambda said: (
        f"not certain: pool {said.pool} has so much {join_some(said.resources)} that the API server cuts sums off "
        "(at 2^63-1)"
    ),
    note.NeverEnough: lambda said: (
        f"pool {said.pool} has less in total than it asks for ({sentence(said.hard)}): it waits forever unless one of "
        "the two changes"
    ),
}
