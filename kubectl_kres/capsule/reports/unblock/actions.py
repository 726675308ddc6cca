"""What is done to let a waiting claim in: actions on claims and pools with command and side effects, and the options
made of them.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Literal

from kubectl_kres.capsule.reports.common.claim_action import ClaimAction
from kubectl_kres.capsule.reports.common.claim_state import ClaimState
from kubectl_kres.capsule.rules.allocation import ClaimKey
from kubectl_kres.capsule.rules.webhooks import RELEASE
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.record import Record
from kubectl_kres.reports.common.remedy import Permanence
from kubectl_kres.reports.remedies.commands import delete_command, directed_command, patch_command
from kubectl_kres.store.store import Origin

_RELEASED = (
    "its pods keep running, the quota of its namespace falls below their use, and Capsule re-evaluates it only after "
    "a spec change"
)
_OLD = f"Capsule before 0.13 refuses to delete an allocated claim: annotate it with {RELEASE}=true instead"
_UNKNOWN = "it could not be read: if pods use it, deleting is refused, and it has to be released"


def ref_of(key: ClaimKey) -> ObjectRef:
    """Return a claim by namespace and name."""
    return ObjectRef("ResourcePoolClaim", key[1], key[0])


def leaving(
    origin: Origin, key: ClaimKey, state: ClaimState | None, holds: Mapping[str, str], *, old: bool = False
) -> ClaimAction:
    """Return how a claim gives way: one in use is released, any other deleted. ``old``: Capsule before 0.13."""
    if state == "in use":
        space, name = map(shlex.quote, key)
        command = directed_command(origin, f"annotate resourcepoolclaim {name} -n {space} {RELEASE}=true")
        return ClaimAction("release", ref_of(key), state, holds, command=command, effect=_RELEASED)
    command = delete_command(origin, ref_of(key))
    follows = _UNKNOWN if state is None else _OLD if old else ""
    return ClaimAction("delete", ref_of(key), state or "", holds, command=command, effect=follows)


def resize_claim(origin: Origin, key: ClaimKey, amounts: Mapping[str, str], dropped: Mapping[str, str]) -> ClaimAction:
    """A claim asks for something else; ``dropped``: resources that it no longer names."""
    change: dict[str, str | None] = {**amounts, **dict.fromkeys(dropped)}
    return ClaimAction("edit", ref_of(key), amounts=amounts, command=_patch(origin, key, {"claim": change}))


def move_claim(origin: Origin, key: ClaimKey, pool: str) -> ClaimAction:
    """A claim names another pool."""
    return ClaimAction("move", ref_of(key), command=_patch(origin, key, {"pool": pool}))


def retry_claim(origin: Origin, key: ClaimKey, pool: str, other: str) -> ClaimAction:
    """A claim names ``other``, a pool that does not exist, and then its pool again: its spec has changed, and is as it
    was. Its age, and with it its place among those that wait, stays.
    """
    command = f"{_patch(origin, key, {'pool': other})} && {_patch(origin, key, {'pool': pool})}"
    return ClaimAction(
        "move",
        ref_of(key),
        command=command,
        effect=f"between the two commands it fails, as there is no pool {other}; its amounts and age stay",
    )


def raise_pool(origin: Origin, pool: str, amounts: Mapping[str, str]) -> ClaimAction:
    """A pool gets more; ``amounts`` is what its hard is then."""
    ref = ObjectRef("ResourcePool", pool)
    command = patch_command(origin, ref, {"spec": {"quota": {"hard": dict(amounts)}}}, "merge")
    return ClaimAction("raise", ref, amounts=amounts, command=command)


def _patch(origin: Origin, key: ClaimKey, spec: Mapping[str, object]) -> str:
    return patch_command(origin, ref_of(key), {"spec": spec}, "merge")


#: give way: other claims leave. less: it asks for less. raise: the pool gets more. pool: it goes to another one.
#: again: it is written again, which is all that is missing.
OptionKind = Literal["give way", "less", "raise", "pool", "again"]


class UnblockOption(Record, frozen=True):
    """What lets a claim in. ``proven``: no smaller set of claims does. ``replayed``: the controller's own steps were
    gone through, and the claim was in at the end.

    also_admitted: who gets in, too. losing: who loses what it has. still_waiting: who of the queue still waits. Of many
    the first ones are named; ``gained`` and ``waiting`` say how many there are. ``takes_from``: other namespaces whose
    claims give way. ``stays``: what becomes of the edits; absent: there are none, or they are made in a file.
    """

    kind: OptionKind
    text: str
    actions: tuple[ClaimAction, ...] = ()
    amounts: Mapping[str, str] = {}
    pool: str = ""
    proven: bool = True
    replayed: bool = False
    also_admitted: tuple[ObjectRef, ...] = ()
    losing: tuple[ObjectRef, ...] = ()
    still_waiting: tuple[ObjectRef, ...] = ()
    gained: int = 0
    waiting: int = 0
    takes_from: tuple[str, ...] = ()
    stays: Permanence | None = None

    @property
    def edited(self) -> tuple[ObjectRef, ...]:
        """The claims and pools that it changes, and that stay."""
        return tuple(action.subject for action in self.actions if action.verb in {"edit", "move", "raise"})
