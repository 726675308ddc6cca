"""A TaskRun or a Task: each value as its author wrote it, as computed today and as the live pod has it."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.common.explanation import ResourceValue
from kubectl_kres.reports.common.system_parts import part_of
from kubectl_kres.tekton.reports.part import TektonPart
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.screens.pod import PodPane
from kubectl_kres.tui.table.columns import Column
from kubectl_kres.tui.widgets import values
from kubectl_kres.tui.widgets.values import ValueRow


class TaskRunPane(PodPane):
    """The screen of a pod, for one that Tekton makes: three columns of figures, and what becomes of the run above."""

    BESIDE = 120

    def columns(self) -> Sequence[Column]:
        label, text, by, origin = values.columns(self._folded, ascii_only=self.session.setting.ascii_only)
        return (
            label,
            Column("written", "SPEC", _format_written, right=True, most=11),
            Column("text", "COMPUTED", _format_computed, tone=text.tone, right=True, most=14),
            Column("live", "LIVE", _live, tone=text.tone, right=True, most=11),
            by,
            origin,
        )

    def owner(self) -> Location | None:
        """Return the PipelineRun that it is part of."""
        part = part_of(self.answer.pod_parts, TektonPart) if self.answer is not None else None
        if part is None or not part.pipeline_run:
            return None
        return Location("object", ref=ObjectRef("PipelineRun", part.pipeline_run, self.ref.namespace))


def _format_written(row: ValueRow) -> str:
    return (row.report.written or "-") if isinstance(row.report, ResourceValue) else ""


def _format_computed(row: ValueRow) -> str:
    if not isinstance(row.report, ResourceValue):
        return row.text
    return " or ".join((row.report.value or "-", *(other.value for other in row.report.alternatives)))


def _live(row: ValueRow) -> str:
    return (row.report.live or "-") if isinstance(row.report, ResourceValue) else ""
