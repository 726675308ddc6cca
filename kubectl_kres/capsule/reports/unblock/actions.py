"""Actions on a claim or a pool: the verb, the command, and its side effects.

Ways to let a waiting claim in: structs, each with what to do and what then happens to the others.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Literal

from kubectl_kres.capsule.rules.allocation import ClaimKey
from kubectl_kres.capsule.rules.webhooks import RELEASE
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.common.parts import ClaimAction, ClaimState, Record
from kubectl_kres.store.store import Origin

_RELEASED = (
    "its pods keep running, the quota of its namespace falls below their use, and it is not queued again until its "
    "spec changes"
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
    space, name = map(shlex.quote, key)
    if state == "in use":
        command = _kubectl(origin, f"annotate resourcepoolclaim {name} -n {space} {RELEASE}=true")
        return ClaimAction("release", ref_of(key), state, holds, command=command, follows=_RELEASED)
    command = _kubectl(origin, f"delete resourcepoolclaim {name} -n {space}")
    follows = _UNKNOWN if state is None else _OLD if old else ""
    return ClaimAction("delete", ref_of(key), state or "", holds, command=command, follows=follows)


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
        follows=f"between the two commands it fails, as there is no pool {other}; its amounts and age stay",
    )


def raise_pool(origin: Origin, pool: str, amounts: Mapping[str, str]) -> ClaimAction:
    """A pool gets more; ``amounts`` is what its hard is then."""
    patch = json.dumps({"spec": {"quota": {"hard": dict(amounts)}}}, separators=(",", ":"))
    command = _kubectl(origin, f"patch resourcepool {shlex.quote(pool)} --type merge -p {shlex.quote(patch)}")
    return ClaimAction("raise", ObjectRef("ResourcePool", pool), amounts=amounts, command=command)


def _patch(origin: Origin, key: ClaimKey, spec: Mapping[str, object]) -> str:
    space, name = map(shlex.quote, key)
    patch = json.dumps({"spec": spec}, separators=(",", ":"))
    return _kubectl(origin, f"patch resourcepoolclaim {name} -n {space} --type merge -p {shlex.quote(patch)}")


def _kubectl(origin: Origin, words: str) -> str:
    """Return a command to the server that the answer is about, as the user who asked."""
    return f"kubectl {words}{f' {origin.flags}' if origin.flags else ''}"


#: give way: other claims leave. less: it asks for less. raise: the pool gets more. pool: it goes to another one.
#: again: it is written again, which is all that is missing.
OptionKind = Literal["give way", "less", "raise", "pool", "again"]


class UnblockOption(Record, frozen=True):
    """What lets a claim in. ``proven``: no smaller set of claims does. ``replayed``: the controller's own steps were
    gone through, and the claim was in at the end.

    also: who gets in, too. out: who loses what it has. waits: who of the queue still waits. Of many the first ones are
    named; ``gained`` and ``waiting`` say how many there are. ``takes_from``: other namespaces whose claims give way.
    """

    kind: OptionKind
    text: str
    deeds: tuple[ClaimAction, ...] = ()
    amounts: Mapping[str, str] = {}
    pool: str = ""
    proven: bool = True
    replayed: bool = False
    also: tuple[ObjectRef, ...] = ()
    out: tuple[ObjectRef, ...] = ()
    waits: tuple[ObjectRef, ...] = ()
    gained: int = 0
    waiting: int = 0
    takes_from: tuple[str, ...] = ()
