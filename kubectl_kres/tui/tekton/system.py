"""What Tekton registers with the terminal interface."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kubectl_kres.store.coverage import Need
from kubectl_kres.tui.system import TuiSystem


class TektonScreens(TuiSystem):
    """TaskRuns and PipelineRuns."""

    def listings(self) -> tuple[Any, ...]:
        from kubectl_kres.tui.tekton import pipelinerun_list, taskrun_list

        return taskrun_list.LISTING, pipelinerun_list.LISTING

    def panes(self) -> Mapping[str, Any]:
        from kubectl_kres.tui.tekton.pipelinerun_screen import PipelineRunPane
        from kubectl_kres.tui.tekton.taskrun_screen import TaskRunPane

        return {
            **dict.fromkeys(("TaskRun", "Task"), TaskRunPane),
            **dict.fromkeys(("PipelineRun", "Pipeline"), PipelineRunPane),
        }

    def areas(self) -> Mapping[str, Any]:
        from kubectl_kres.tui.overview.problem import Making
        from kubectl_kres.tui.tekton.areas import run_area
        from kubectl_kres.tui.tekton.taskrun_list import NO_TEKTON

        return {"taskruns": Making(("TaskRun",), run_area, NO_TEKTON)}

    def area_needs(self, namespace: str) -> Iterable[Need]:
        return (Need("TaskRun", namespace, required=False),)


SYSTEM = TektonScreens()
