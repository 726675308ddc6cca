"""What admission policies register with the command line."""

from __future__ import annotations

from kubectl_kres.cli.system import CliSystem

SYSTEM = CliSystem(
    "policing",
    explainer=("kubectl_kres.policies.commands.explain_policies", "PoliciesExplainer"),
    explanations=(("kubectl_kres.policies.reports.effects", "PolicyEffects"),),
)
