"""What Tekton registers with the command line."""

from __future__ import annotations

from kubectl_kres.cli.system import CliSystem

SYSTEM = CliSystem(
    "tekton",
    explainer=("kubectl_kres.tekton.commands.explain_pipeline", "PipelineExplainer"),
    explanations=(("kubectl_kres.tekton.reports.pipeline", "PipelineExplanation"),),
    parts=(("kubectl_kres.tekton.reports.part", "TektonPart"), ("kubectl_kres.tekton.reports.part", "MergedLimit")),
)
