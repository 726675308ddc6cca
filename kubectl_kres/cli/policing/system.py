"""What admission policies register with the command line."""

from __future__ import annotations

from kubectl_kres.cli.system import CliSystem

SYSTEM = CliSystem(
    "policing",
    explainer=("kubectl_kres.cli.policing.explain_policies", "PoliciesExplainer"),
    explanations=(("kubectl_kres.reports.policing.effects", "PolicyEffects"),),
)
