"""What Tekton registers with the terminal interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubectl_kres.tui.system import TuiSystem


class TektonScreens(TuiSystem):
    """TaskRuns and PipelineRuns."""

    def listings(self) -> tuple[Any, ...]:
        from kubectl_kres.tekton.screens import taskrun_list
        from kubectl_kres.tekton.screens import taskrun_list as pipelinerun_list

        return taskrun_list.TASKRUNS, pipelinerun_list.PIPELINERUNS

    def panes(self) -> Mapping[str, Any]:
        from kubectl_kres.tekton.screens.pipelinerun_screen import PipelineRunPane
        from kubectl_kres.tekton.screens.taskrun_screen import TaskRunPane

        return {
            **dict.fromkeys(("TaskRun", "Task"), TaskRunPane),
            **dict.fromkeys(("PipelineRun", "Pipeline"), PipelineRunPane),
        }


SYSTEM = TektonScreens()
