"""What the toy registers with the command line."""

from __future__ import annotations

from kubectl_kres.cli.system import CliSystem

SYSTEM = CliSystem(
    "toy",
    explainer=("kubectl_kres.toy.commands.explain_budget", "BudgetExplainer"),
    explanations=(("kubectl_kres.toy.reports", "BudgetExplanation"),),
)
