"""What Capsule adds to answers about pods and namespaces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from kubectl_kres.capsule.reports.common.claim_action import ClaimAction
from kubectl_kres.capsule.reports.common.claim_state import ClaimState
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.provenance.journal import Source
from kubectl_kres.record import Record
from kubectl_kres.reports.common.system_parts import SystemPart


class RuleSummary(SystemPart, frozen=True):
    """A rule about pods. ``source``: where it stands. ``policies``: what it does with requests and limits, as
    ``limits.cpu: Ratio 2``; ``classes``: the QoS classes that it is about; ``targets`` absent: everywhere.

    ``selector``: which namespaces of its Tenant it is about; empty: all. ``quotas``: those that it makes.
    """

    KEY: ClassVar[str] = "rules"
    PLACE: ClassVar[str] = "namespaces"
    SEVERAL: ClassVar[bool] = True

    source: Source
    action: str = ""
    policies: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    selector: str = ""
    quotas: tuple[str, ...] = ()


class TrailClaim(Record, frozen=True):
    """A claim of the namespace on the pool."""

    subject: ObjectRef
    state: ClaimState
    requested: Mapping[str, str]


class PoolTrail(SystemPart, frozen=True):
    """A managed quota that refuses, and its pool.

    to_claim: what has to be claimed more, by resource. claims: absent: not read. short_by: what the pool itself has too
    little of for that; closed_resources: what earlier claims wait for in its ordered queue, so that a new claim waits,
    too, behind those named in ``closed_by`` where they were read. grow: the edit of an unused claim that gets all of it
    at once. ``known`` False: the pool was not read, and so none of these is known.
    """

    KEY: ClassVar[str] = "pools"
    PLACE: ClassVar[str] = "quotas"
    SEVERAL: ClassVar[bool] = True

    quota: str
    pool: str
    to_claim: Mapping[str, str]
    claims: tuple[TrailClaim, ...] | None = None
    short_by: Mapping[str, str] = {}
    closed_resources: tuple[str, ...] = ()
    closed_by: tuple[ObjectRef, ...] = ()
    grow: ClaimAction | None = None
    known: bool = False


class KeptRange(SystemPart, frozen=True):
    """A LimitRange that refuses, and the field of a Tenant that it follows."""

    KEY: ClassVar[str] = "keptRanges"
    PLACE: ClassVar[str] = "quotas"
    SEVERAL: ClassVar[bool] = True

    limit_range: str
    source: Source
