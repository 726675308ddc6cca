"""What the toy finds wrong: a Budget without a team, which no pod can have."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.check.context import CheckContext, Rule
from kubectl_kres.reports.check.finding import Diagnostic
from kubectl_kres.reports.check.system import CheckSystem


def find_no_team(context: CheckContext) -> Iterator[Diagnostic]:
    for budget in context.store.all("Budget", context.namespace):
        if not budget.spec.team:
            yield Diagnostic(ObjectRef("Budget", budget.metadata.name, context.namespace), field="spec.team")


NO_TEAM = Rule(
    code="KRES801",
    title="a budget names no team",
    severity="error",
    reason="No pod of the namespace can carry an empty label.",
    remedy="Name the team.",
    message="it names no team",
    find=find_no_team,
)

SYSTEM = CheckSystem(rules=(NO_TEAM,), kinds=("Budget",), exempted=("Budget",))
