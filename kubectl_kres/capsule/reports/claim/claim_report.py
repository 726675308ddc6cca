"""The answer of ``claims``: structs that the text, JSON and screens are made from."""

from __future__ import annotations

from collections.abc import Mapping

from kubectl_kres.capsule.reports.common.claim_state import STUCK
from kubectl_kres.capsule.reports.unblock.actions import UnblockOption
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.common.explanation import FailedRead, LastEdit
from kubectl_kres.reports.common.parts import ClaimState, Record


class Amount(Record, frozen=True):
    """One resource that a claim asks for.

    available: what the pool has left at the claim's turn; absent: not known, or the pool has no such resource
    (``offered`` False). lacks: how much is missing; absent: nothing. behind: the earlier claim's amount that closes the
    resource in an ordered queue.
    """

    name: str
    requested: str
    available: str | None = None
    lacks: str | None = None
    behind: str | None = None
    offered: bool = True


class QueuePlace(Record, frozen=True):
    """A place in a pool's queue: ``of`` claims wait. ``ordered``: nobody behind gets what one ahead waits for."""

    place: int
    of: int
    ordered: bool = False
    ahead: tuple[ObjectRef, ...] = ()


class QuotaLine(Record, frozen=True):
    """One resource of the managed quota: what claims and defaults add up to, what it says, what is in use.

    over: more is in use than it says.
    """

    name: str
    hard: str
    used: str | None = None
    claimed: str | None = None
    default: str | None = None
    over: bool = False


class ManagedQuota(Record, frozen=True):
    """``capsule-pool-<pool>`` of the namespace. ``missing``: it was looked for and is not there. ``note``: what a use
    beyond it means.
    """

    subject: ObjectRef
    lines: tuple[QuotaLine, ...] = ()
    missing: bool = False
    note: str = ""


class VerbEffect(Record, frozen=True):
    """Whether a verb (change, delete, release) is allowed now, the server's refusal if not, and what would follow."""

    verb: str
    allowed: bool
    said: str = ""
    follows: str = ""


class ClaimReport(Record, frozen=True):
    """A claim. ``because``: why, in our words; ``message``: the controller's; ``rule``: the code of what keeps it from
    its share, empty where nothing does.

    asks: what it claims. amounts: each resource, with what is there. ways: what would unblock it, the smallest first;
    in a list only where few claims wait. notes: what does not fit together. old: Capsule before 0.13.
    predicted: it comes from a file, and this is what the controller would make of it, or with ``certain`` False may.
    """

    subject: ObjectRef
    state: ClaimState
    because: str
    pool: str = ""
    wanted_pool: str = ""
    asks: Mapping[str, str] = {}
    amounts: tuple[Amount, ...] = ()
    place: QueuePlace | None = None
    message: str = ""
    created: str = ""
    ways: tuple[UnblockOption, ...] = ()
    may: tuple[VerbEffect, ...] = ()
    quota: ManagedQuota | None = None
    notes: tuple[str, ...] = ()
    edits: Mapping[str, LastEdit] = {}
    old: bool = False
    predicted: bool = False
    certain: bool = True
    rule: str = ""
    unseen: tuple[FailedRead, ...] = ()
    complete: bool = True

    @property
    def is_waiting(self) -> bool:
        """Whether it does not have what it asks for, and will not get it by itself."""
        return self.state in STUCK

    @property
    def missing_amounts(self) -> Mapping[str, str]:
        """What is missing, by resource."""
        return {amount.name: amount.lacks for amount in self.amounts if amount.lacks is not None}
