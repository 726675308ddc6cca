"""What the toy registers with the reports of changes: when Budgets are applied, and what becomes of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.changes.given_steps import GivenStep
from kubectl_kres.reports.changes.report import ClaimChange
from kubectl_kres.reports.changes.system import Altered, ChangeSystem, KeptObjects
from kubectl_kres.simulate.change import key_of_step
from kubectl_kres.store.store import Store


def _remarks(steps: Sequence[GivenStep], store: Store, default: str) -> Iterator[str]:
    del store, default
    if any(key_of_step(item.step)[0] == "Budget" for item in steps):
        yield "a budget counts pods alone"


def _claims(before: Any, after: Any) -> Iterator[ClaimChange]:
    for space, name in sorted(after.keys() - before.keys()):
        yield ClaimChange(ObjectRef("Budget", name, space), "other", after="in force")


def _altered(before: Any, after: Any) -> Altered:
    return Altered(tuple(("Budget", budget) for key, budget in after.items() if budget != before.get(key)))


SYSTEM = ChangeSystem(
    "toy", applied_before={"Budget": "ResourceQuota"}, remarks=_remarks, kept=KeptObjects(_claims, _altered)
)
