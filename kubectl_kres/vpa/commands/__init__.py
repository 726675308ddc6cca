"""What the vertical autoscaler registers with the command line."""

from __future__ import annotations

from kubectl_kres.cli.system import CliSystem

SYSTEM = CliSystem(
    "vpa",
    explainer=("kubectl_kres.vpa.commands.explain_vpa", "VpaExplainer"),
    explanations=(("kubectl_kres.vpa.reports.effects", "VpaEffects"),),
    parts=(("kubectl_kres.vpa.reports.updater_run", "Eviction"),),
)
