"""A toy system's only kind: a Budget, which says which team a namespace's pods have to name."""

from __future__ import annotations

from kubectl_kres.model.objects import Base, Kind, Metadata

GROUP = "toy.example.com"


class BudgetSpec(Base, frozen=True):
    """``team``: the value of the label that every pod of the namespace has to carry. ``pods``: so many may be there."""

    team: str = ""
    pods: int = 0


class Budget(Base, frozen=True):
    metadata: Metadata = Metadata()
    spec: BudgetSpec = BudgetSpec()


KINDS = (Kind("Budget", ("budgets", "budget", "bud"), GROUP, struct=Budget),)
