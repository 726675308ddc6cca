"""What becomes of the claims of a StatefulSet's pods that go for good.

Source: pkg/controller/statefulset/stateful_set_utils.go getPersistentVolumeClaimRetentionPolicy: such a claim is owned
by the pod or the set, and garbage collection takes it with its owner.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from kubectl_kres.model.raw import Raw, mapping, text
from kubectl_kres.simulate.state import Replica, StatefulSetState
from kubectl_kres.simulate.tables import Tables

if TYPE_CHECKING:
    from kubectl_kres.simulate.moves import State


def deletes_claims(raw: Raw, when: Literal["whenDeleted", "whenScaled"]) -> bool:
    """Return whether claims go with the set, or with a pod that it is scaled down by. Without a word they stay."""
    return text(mapping(mapping(raw, "spec"), "persistentVolumeClaimRetentionPolicy"), when) == "Delete"


def without_claims(
    state: State, tables: Tables, raw: Raw, workload: StatefulSetState, replicas: Iterable[Replica]
) -> State:
    """Return the state without the claims of some pods, and without what they use of quotas."""
    world = tables.worlds[state.world]
    for replica in replicas:
        for claim, name in zip(workload.claims, workload.claim_names(replica.ordinal), strict=True):
            if name not in state.claims:
                continue
            cost = tables.claim_cost(raw, claim, world)
            state = state._replace(claims=state.claims - {name}).charged(cost or (), -1)
    return state
