"""What Tekton registers with the reports of changes: the pods of the next runs."""

from __future__ import annotations

from kubectl_kres.reports.changes.system import ChangeSystem, NextPods
from kubectl_kres.tekton.reports.next_runs import decides, defines, run_needs, with_runs

SYSTEM = ChangeSystem(
    "tekton",
    not_followed={
        **dict.fromkeys(("TaskRun", "PipelineRun"), "what becomes of the pods of a {kind} is not simulated"),
        "Pipeline": "what changes for the runs of a {kind} is not simulated",
    },
    next_pods=NextPods("TaskRun", ("TaskRun", "Task", "StepAction"), defines, decides, run_needs, with_runs),
)
