"""A TaskRun or a Task: each value as its author wrote it, as computed today and as the live pod has it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.reports.explanation import Value
from kubectl_kres.store.coverage import Need
from kubectl_kres.tui.columns import Column
from kubectl_kres.tui.place import Place
from kubectl_kres.tui.screens.pane import Open
from kubectl_kres.tui.screens.pod import PodPane
from kubectl_kres.tui.widgets import values
from kubectl_kres.tui.widgets.values import ValueRow

#: Width from which the journal stands beside the values.
_BESIDE = 120


class TaskRunPane(PodPane):
    """The screen of a pod, for one that Tekton makes: three columns of figures, and what becomes of the run above."""

    DEFAULT_CSS = """
    TaskRunPane {
        & > #verdict { max-height: 7; }
        & > Container { layout: vertical; }
        & > Container > Table { width: 1fr; height: 1fr; }
        & > Container > Lines { width: 1fr; height: 7; border-left: none; border-top: solid $panel-lighten-2; }
        &.beside > Container { layout: horizontal; }
        &.beside > Container > Table { width: 3fr; }
        &.beside > Container > Lines {
            width: 2fr; height: 1fr; border-top: none; border-left: solid $panel-lighten-2;
        }
    }
    """

    def on_resize(self) -> None:
        self.set_class(self.size.width >= _BESIDE, "beside")

    def needs(self) -> Iterable[Need]:
        """What was needed once stays needed, as what a Task refers to is only known when it is there."""
        self._asked.update(dict.fromkeys(super().needs()))
        return self._asked

    def columns(self) -> Sequence[Column]:
        label, text, by, origin = values.columns(self._folded, ascii_only=self.session.setting.ascii_only)
        return (
            label,
            Column("written", "WRITTEN", _written, right=True, most=11),
            Column("text", "COMPUTED", _computed, tone=text.tone, right=True, most=14),
            Column("live", "LIVE", _live, tone=text.tone, right=True, most=11),
            by,
            origin,
        )

    def act(self, action: str) -> bool:
        """As a pod's; its owner is the PipelineRun."""
        part = self.found.tekton if self.found is not None else None
        if action == "owner" and part is not None and part.pipeline_run:
            self.post_message(
                Open(Place("object", ref=ObjectRef("PipelineRun", part.pipeline_run, self.ref.namespace)))
            )
            return True
        return super().act(action)


def _written(row: ValueRow) -> str:
    return (row.of.written or "-") if isinstance(row.of, Value) else ""


def _computed(row: ValueRow) -> str:
    if not isinstance(row.of, Value):
        return row.text
    return " or ".join((row.of.value or "-", *(other.value for other in row.of.alternatives)))


def _live(row: ValueRow) -> str:
    return (row.of.live or "-") if isinstance(row.of, Value) else ""
