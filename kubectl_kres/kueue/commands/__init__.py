"""What Kueue registers with the command line."""

from __future__ import annotations

from kubectl_kres.cli.system import CliSystem

SYSTEM = CliSystem(
    "kueue",
    explainer=("kubectl_kres.kueue.commands.explain_queue", "QueueExplainer"),
    explanations=(
        ("kubectl_kres.kueue.reports.workload", "WorkloadExplanation"),
        ("kubectl_kres.kueue.reports.queues", "QueueReport"),
    ),
    parts=(("kubectl_kres.kueue.reports.record", "QueueAccount"),),
)
