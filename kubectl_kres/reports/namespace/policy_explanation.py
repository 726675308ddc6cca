"""The answer of ``explain`` for policies and other objects that quotas count: structs that text and JSON are
made from.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.provenance.journal import Assumption, Source
from kubectl_kres.quantity import parse
from kubectl_kres.record import HOLDER, Record, Wording
from kubectl_kres.reports.common.explanation import (
    Demand,
    Explanation,
    FailedRead,
    LastEdit,
    QuotaCost,
    RunState,
    Verdict,
)
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.reports.common.system_parts import Parts
from kubectl_kres.reports.quota.quota_report import QuotaReport


class Default(Record, frozen=True):
    """The value that a LimitRange gives a container without one. ``source``: the field that the value comes from.

    ``derived``: why that is another field than the default's own, or that it may be one; empty: it was written there.
    """

    side: str
    resource: str
    value: str
    source: Source
    derived: str = ""


class Band(Record, frozen=True):
    """The range that all LimitRanges together allow one resource of one type; absent: no bound. Sources name the
    tightest.
    """

    type: str
    resource: str
    low: str | None = None
    high: str | None = None
    ratio: str | None = None
    low_source: Source | None = None
    high_source: Source | None = None
    ratio_source: Source | None = None

    @property
    def is_empty(self) -> bool:
        """Return whether no value is within it."""
        return self.low is not None and self.high is not None and parse(self.low) > parse(self.high)


class PolicyExplanation(Record, frozen=True):
    """A ResourceQuota, LimitRange, Namespace, PersistentVolumeClaim or Service.

    verdict: whether the server accepts the object; absent for a stored one that nothing bounds. quotas: what they
    limit; costs: what the object costs them (``counted``: it is in their ``used``). pod_without_values: the explanation
    of a pod of one container without values. namespace_parts: of systems, about the pods of the namespace.
    contradictions: what no pod, or no pod that relies on defaults, can meet. run_state: of a stored claim that is not
    bound.
    """

    subject: ObjectRef
    verdict: Verdict | None = None
    fixes: tuple[Remedy, ...] = ()
    quotas: tuple[QuotaReport, ...] = ()
    demands: tuple[Demand, ...] = ()
    defaults: tuple[Default, ...] = ()
    bands: tuple[Band, ...] = ()
    contradictions: tuple[Wording, ...] = ()
    pod_without_values: Explanation | None = None
    namespace_parts: Parts = msgspec.field(default_factory=dict, name=f"{HOLDER}namespaces")
    costs: tuple[QuotaCost, ...] = ()
    counted: bool = False
    warnings: tuple[Wording, ...] = ()
    edits: Mapping[str, LastEdit] = {}
    assumptions: tuple[Assumption, ...] = ()
    unread: tuple[FailedRead, ...] = ()
    complete: bool = True
    run_state: RunState | None = None
