"""Findings that one change mends, with what the sentence about it looks at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kubectl_kres.admission.base.draft import Draft, Side, Slot
from kubectl_kres.admission.base.outcome import Finding, Outcome
from kubectl_kres.admission.limitrange.limitrange_object import Limits
from kubectl_kres.admission.pod.aggregate import of_containers
from kubectl_kres.provenance.journal import Journal, Set
from kubectl_kres.quantity import ZERO, Quantity, parse
from kubectl_kres.reports.common.system import Naming
from kubectl_kres.reports.remedies.limit_bounds import RULES


class Overrun(NamedTuple):
    """Amounts of one resource; ``asked`` is what the request adds."""

    used: Quantity
    asked: Quantity
    hard: Quantity

    @property
    def after(self) -> Quantity:
        """What would be in use."""
        return self.used + self.asked

    @property
    def lack(self) -> Quantity:
        """By how much that is more than the quota allows."""
        return self.after - self.hard


def overrun(finding: Finding) -> Overrun | None:
    """None for a finding that does not say what is in use."""
    if not finding.used:
        return None
    return Overrun(parse(finding.used), parse(finding.asked), parse(finding.limit))


def asking_less(resource: str, overrun: Overrun) -> str:
    """The end of a sentence; empty where nothing is left, and for a pod, which cannot be less than one."""
    left = overrun.hard - overrun.used
    return "" if left.nano <= 0 or resource in {"pods", "count/pods"} else f", or ask for at most {left} in total"


class Most(NamedTuple):
    """A max and the LimitRange that has it."""

    quantity: Quantity
    by: str


_AS_THEY_ARE = Naming()


class RemedyContext:
    """Findings that one change mends, with what its remedy looks at; ``finding`` is the first of them.

    ``names`` gives a container's name by its path, where there is no draft to ask. ``lacking``: how many such pods are
    missing. ``naming``: what containers and values are called.
    """

    __slots__ = ("draft", "finding", "findings", "journal", "lacking", "limits", "names", "naming")

    def __init__(
        self,
        findings: Sequence[Finding],
        outcome: Outcome,
        names: Mapping[str, str],
        limits: Sequence[Limits] = (),
        lacking: int = 1,
        naming: Naming = _AS_THEY_ARE,
    ) -> None:
        self.lacking, self.naming = lacking, naming
        self.findings, self.finding, self.names, self.limits = findings, findings[0], names, limits
        self.draft: Draft | None = outcome.draft
        self.journal: Journal = outcome.journal

    def slot(self) -> Slot | None:
        """The container that the finding's path starts with; None for the pod as a whole."""
        path = self.finding.path
        slots = () if self.draft is None else tuple(self.draft.slots())
        return next((slot for slot in slots if path == slot.path or path.startswith(f"{slot.path}.")), None)

    def who(self) -> str:
        slot = self.slot()
        return "the pod level" if slot is None else self.naming.titles.get(slot.path, slot.title)

    def place(self) -> str:
        """The path that is refused, as a reader finds it."""
        return self.naming.fields.get(self.finding.path, self.finding.path)

    def setter(self, side: Side) -> str:
        """The LimitRange that filled in one side of the resource; empty if somebody wrote it."""
        last = self.last_set(side)
        if last is None or not last.rule.startswith("limitrange/") or last.source is None:
            return ""
        return str(last.source.ref)

    def last_set(self, side: Side) -> Set | None:
        """The last step of one side of the resource; None if it is as written, or the finding is about sums."""
        slot = self.slot()
        path = slot.at(side, self.finding.resource) if slot is not None else ""
        sets = [step for step in self.journal if isinstance(step, Set) and step.path == path]
        return sets[-1] if sets else None

    def most(self, name: str = "", kind: str = "") -> Most | None:
        """The smallest max of a LimitRange for the resource, of a container or (pod level) of the pod; None: none."""
        slot = self.slot()
        kind = kind or ("Pod" if slot is None or slot.role == "pod" else "Container")
        name = name or self.finding.resource
        pairs = [
            Most(item.max[name], str(limits.source.ref))
            for limits in self.limits
            for item in limits.items
            if item.type == kind and name in item.max
        ]
        return min(pairs, key=lambda most: most.quantity.nano, default=None)

    def in_sum(self) -> Quantity:
        """What the containers request together."""
        if self.draft is None:
            return ZERO
        return of_containers(self.draft.containers, self.draft.inits, "requests").get(self.finding.resource, ZERO)


#: What to say of one group of findings.
Remedy = Callable[[RemedyContext], Iterator[str]]


def grouped(findings: Sequence[Finding]) -> Iterator[list[Finding]]:
    """Findings that one change mends together: the bounds on one value, the containers that state no value."""
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        key = (finding.rule, finding.text, finding.path, finding.resource)
        if finding.rule in RULES:
            key = ("", "", finding.path, finding.resource)
        elif finding.rule == "quota/must-specify":
            key = (finding.rule, finding.text, "", finding.resource)
        groups.setdefault(key, []).append(finding)
    yield from groups.values()
