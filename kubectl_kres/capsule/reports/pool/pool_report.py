"""The answer of ``pools``: structs that the text, JSON and screens are made from."""

from __future__ import annotations

from collections.abc import Mapping

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.reports.common.explanation import LastEdit, Unseen
from kubectl_kres.reports.common.record import Record
from kubectl_kres.reports.common.system_parts import ClaimState
from kubectl_kres.reports.quota.usage_tree import UsageNode


class PoolUse(Record, frozen=True):
    """One resource of a pool: ``claimed`` + ``available`` = ``hard``; ``available`` may be negative.

    percent: claimed of hard, in whole hundredths; absent if hard is zero. used: what pods use of the managed quotas,
    absent where those were not read. wanted: what claims that do not fit ask for, in sum; offered: what they were
    offered. default: what every namespace gets without a claim.
    """

    name: str
    hard: str
    claimed: str
    available: str
    percent: int | None = None
    used: str | None = None
    wanted: str | None = None
    offered: str | None = None
    default: str | None = None

    @property
    def over(self) -> bool:
        """Whether claims hold more than there is."""
        return self.available.startswith("-")


class PoolNamespace(Record, frozen=True):
    """A namespace of a pool. ``chosen``: the selectors that match it, in words; empty: none of them does now.

    claimed: what its claims hold. percents: of ``hard``. used: what its pods use of the managed quota. note: what is
    wrong with it. quota: what the managed quota allows, only where the pool itself was not read.
    """

    name: str
    chosen: tuple[str, ...] = ()
    claims: int = 0
    claimed: Mapping[str, str] = {}
    percents: Mapping[str, int] = {}
    used: Mapping[str, str] | None = None
    note: str = ""
    quota: Mapping[str, str] | None = None


class Holder(Record, frozen=True):
    """A claim that the pool's status lists, with what it holds. ``state`` absent: the claim was not read."""

    subject: ObjectRef
    holds: Mapping[str, str]
    state: ClaimState | None = None


class Queued(Record, frozen=True):
    """A claim that waits, in its place. ``lacks``: what is missing; ``behind``: resources that are closed for it."""

    place: int
    subject: ObjectRef
    state: ClaimState
    asks: Mapping[str, str]
    lacks: Mapping[str, str] = {}
    behind: tuple[str, ...] = ()
    created: str = ""


class PoolReport(Record, frozen=True):
    """A pool. ``ready`` absent: the controller has not said; ``message`` is its own sentence.

    selectors: in words, as they are ORed. options: those that are on, in words. queue: who waits, absent where claims
    were not read. claims: how many hold something. tree: who uses what is shared out, down to the values of pods,
    where that was asked for. glimpse: the pool may not be read, and this is what the quotas and
    claims of the namespaces that were read tell; a place of 0 in the queue is not known.
    """

    subject: ObjectRef
    uses: tuple[PoolUse, ...] = ()
    namespaces: tuple[PoolNamespace, ...] = ()
    selectors: tuple[str, ...] = ()
    claims: int = 0
    holders: tuple[Holder, ...] = ()
    queue: tuple[Queued, ...] | None = None
    tree: tuple[UsageNode, ...] = ()
    ordered: bool = False
    options: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    ready: bool | None = None
    message: str = ""
    warnings: tuple[str, ...] = ()
    edits: Mapping[str, LastEdit] = {}
    predicted: bool = False
    glimpse: bool = False
    unseen: tuple[Unseen, ...] = ()
    complete: bool = True

    @property
    def exhausted(self) -> bool:
        """Whether claims do not fit."""
        return any(use.wanted is not None for use in self.uses)
