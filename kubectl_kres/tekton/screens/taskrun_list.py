"""TaskRuns and PipelineRuns as lists: how each fares, and what pods of TaskRuns ask for today beside what live ones
have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from kubectl_kres.errors import KresError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import Condition, ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.quantity import parse
from kubectl_kres.render.pictures.bounds import bounds_pairs, scale_lines
from kubectl_kres.render.pictures.holders import divide_cells
from kubectl_kres.render.pod.verdict import head_lines
from kubectl_kres.render.text import line
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.render.verdict.headline import verdict_word
from kubectl_kres.reports.common.explanation import Explanation, ResourceValue, Subject
from kubectl_kres.reports.common.system_parts import part_of
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.qos.qos_sums import amounts
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tekton.model import PipelineRun, TaskRun
from kubectl_kres.tekton.reports.config import configuration_needs
from kubectl_kres.tekton.reports.part import TektonPart
from kubectl_kres.tekton.reports.run_facts import condition_of, pipeline_run_of, run_status, task_progress
from kubectl_kres.tekton.rules.base.variables import PIPELINE_RUN
from kubectl_kres.tekton.text import NO_TEKTON
from kubectl_kres.tekton.text.taskrun import task_lines
from kubectl_kres.tui.lists.list_spec import (
    WORST_FIRST,
    Costly,
    Listing,
    ListRows,
    RowSearch,
    RowSource,
    RowSubject,
    Wording,
)
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.columns import Column
from kubectl_kres.tui.table.row_order import RowKey

_KIND = BY_KIND["TaskRun"]
#: How a run fares, where that is bad.
MARKS: dict[str, tuple[str, line.Tone]] = {"failed": ("x", "bad"), "waiting": ("!", "warn"), "cancelled": ("!", "warn")}
#: Cells of a bar of tasks at most; what is drawn for those that have ended, are under way, and are to come.
_TASK_CELLS, _TASK_BAR = 10, ((line.FULL, line.ASCII_FULL), ("▓", "+"), (line.EMPTY, line.ASCII_EMPTY))
#: The words for how a run fares, the worst first.
_ORDER = ("failed", "waiting", "cancelled", "new", "pending", "running", "succeeded")


class RunRow:
    """A TaskRun, with what is computed of it once it is looked at."""

    __slots__ = ("_explanation", "_session", "_stamp", "fault", "run")

    def __init__(self, session: Session, run: TaskRun) -> None:
        self.run, self._session = run, session
        self._explanation: Explanation | None = None
        self._stamp: tuple[object, ...] = ()
        self.fault = ""

    @property
    def ref(self) -> ObjectRef:
        return ref_of(self.run)

    def _current_stamp(self) -> tuple[object, ...]:
        """Return what an answer depends on that is not the run's own."""
        pod = self.pod
        live = pod.metadata.resource_version if pod is not None else None
        return (live, self._session.policies, *self._session.store.revision("Task", "ConfigMap", "StepAction"))

    def ready(self, what: str) -> bool:
        """Return whether it is computed; ``fault`` is also known of a run that has ended badly, ``state`` of each."""
        is_known = what == "state" or (what == "fault" and bool(MARKS.get(run_status(self.run))))
        return is_known or self._stamp == self._current_stamp()

    @property
    def explanation(self) -> Explanation | None:
        """What becomes of it under the policies of now; None where nothing can be said, as ``fault`` says."""
        if self._stamp != self._current_stamp():
            self._stamp, self.fault = self._current_stamp(), ""
            try:
                self._explanation = explain(
                    self._session.store, Subject(self.ref, _KIND), self._session.evaluation_options
                )
            except KresError as error:
                self._explanation, self.fault = None, error.message
        return self._explanation

    @property
    def pod(self) -> Pod | None:
        """Its pod, if it is there."""
        name = self.run.status.pod_name
        pod = self._session.store.get("Pod", name, self.run.metadata.namespace) if name else None
        return pod if isinstance(pod, Pod) else None

    def computed(self, side: str, resource: str) -> str | None:
        """Return what the pod would ask for in total."""
        totals = self.explanation.totals if self.explanation is not None else ()
        return next((total.value for total in totals if (total.side, total.resource) == (side, resource)), None)

    def live(self, side: str, resource: str) -> str | None:
        """Return what the live pod asks for in total."""
        pod = self.pod
        pod_amounts = amounts(pod, self._session.server) if pod is not None else None
        if pod_amounts is None:
            return None
        values = pod_amounts.requests if side == "requests" else pod_amounts.limits
        return str(values[resource]) if resource in values else None

    @property
    def differing_values(self) -> list[tuple[str, ResourceValue]]:
        """The values that the live pod has otherwise than computed, with their containers."""
        if self.explanation is None or not self.explanation.live:
            return []
        return [
            (container.name, value)
            for container in self.explanation.containers
            for value in container.values
            if value.note
        ]

    @property
    def age(self) -> str:
        return line.age_text(self.run.metadata.creation_timestamp or "", self._session.setting.now())


def ref_of(run: TaskRun) -> ObjectRef:
    return ObjectRef("TaskRun", run.metadata.name, run.metadata.namespace)


def row_sign(row: RunRow) -> tuple[str, line.Tone]:
    """``x``: it failed, or its pod would be refused; ``!``: it waits for a quota, or is otherwise than computed."""
    mark = MARKS.get(run_status(row.run))
    if mark is not None or run_status(row.run) == "succeeded":
        return mark or ("", "")
    if row.explanation is None:
        return "?", "warn"
    tone = verdict_word(row.explanation.verdict)[1]
    if tone == "bad":
        return "x", "bad"
    return ("!", "warn") if row.differing_values or tone == "warn" else ("", "")


def difference_text(row: RunRow) -> str:
    """Return how the live pod differs from what is computed."""
    if row.explanation is None:
        return row.fault or "?"
    if not row.explanation.live:
        return "no pod"
    count = len(row.differing_values)
    return f"{count} value{'s' * (count != 1)}" if count else "same"


def _condition(row: RunRow) -> str:
    condition = condition_of(row.run)
    reason = f": {condition.reason}" if condition is not None and _has_telling_reason(condition) else ""
    return f"{run_status(row.run)}{reason}"


def _has_telling_reason(condition: Condition) -> bool:
    return condition.reason.lower() not in {"", "succeeded", "running", "failed", "pending"}


def _amount_column(head: str, side: str, resource: str, *, live: bool = False) -> Column:
    def text(row: RunRow) -> str:
        return (row.live(side, resource) if live else row.computed(side, resource)) or "-"

    def rank(row: RunRow) -> int | None:
        shown = text(row) if live or row.ready("") else "-"
        return parse(shown).nano if shown != "-" else None

    name = f"{'live.' * live}{side}.{resource}"
    wide = live or side == "limits"
    return Column(name, head, text, rank, right=True, wide=wide, most=20, searched=False, down=True)


def _columns(namespace: str) -> tuple[Column, ...]:
    namespace_column = Column("namespace", "NAMESPACE", lambda row: row.run.metadata.namespace)
    return (
        *(() if namespace else (namespace_column,)),
        Column("name", "NAME", lambda row: row.run.metadata.name, most=56, vital=True),
        _condition_column(_condition, row_sign, lambda row: _condition(row).split(": ")[1:]),
        Column("steps", "STEPS", _steps, right=True, wide=True, width=5, searched=False),
        _amount_column("CPU REQ", "requests", "cpu"),
        _amount_column("CPU LIVE", "requests", "cpu", live=True),
        _amount_column("MEM REQ", "requests", "memory"),
        _amount_column("MEM LIVE", "requests", "memory", live=True),
        Column("differs", "LIVE POD", difference_text, searched=False, width=8, wide=True, tone=_differs_tone),
        Column("age", "AGE", lambda row: row.age, _creation_time, right=True, wide=True, width=5, searched=False),
        Column("task", "TASK", _task, wide=True, most=30),
    )


def _condition_column(
    text: Callable[[Any], str],
    sign: Callable[[Any], tuple[str, line.Tone]],
    briefer: Callable[[Any], Sequence[str]] | None = None,
) -> Column:
    """Return the column of how a run fares, by which what is worst comes first."""
    return Column(
        "state", "CONDITION", text, _severity_key, lambda row: sign(row)[1], most=34, vital=True, briefer=briefer
    )


def _severity_key(row: RunRow | PipelineRow) -> int:
    """Return the sort key: runs that nothing can help any more come first, those that have ended well last."""
    return _ORDER.index(run_status(row.run))


def _creation_time(row: RunRow) -> str | None:
    return row.run.metadata.creation_timestamp


def _steps(row: RunRow) -> str:
    part = part_of(row.explanation.pod_parts, TektonPart) if row.explanation is not None else None
    return str(part.steps) if part is not None and part.steps else "-"


def _differs_tone(row: RunRow) -> line.Tone:
    return "warn" if row.differing_values else "quiet"


def _task(row: RunRow) -> str:
    ref = row.run.spec.task_ref
    return ref.name or f"resolver {ref.resolver}" if ref is not None else "its own"


def _rows(session: Session, namespace: str) -> ListRows:
    for run in session.store.all("TaskRun", namespace or None):
        yield (run.metadata.namespace, run.metadata.name), RunRow(session, run)


def _row(session: Session, ref: ObjectRef) -> tuple[RowKey, RunRow] | None:
    run = session.get(ref)
    return None if run is None else ((ref.namespace, ref.name), RunRow(session, run))


def _detail(session: Session, row: RunRow, width: int) -> Iterator[line.Line]:
    explanation = row.explanation
    if explanation is None:
        yield from line.tone_lines("warn", line.wrap_text(row.fault, width, rest="  "))
        return
    yield from head_lines(explanation, width, session.setting.now())
    for name, value in row.differing_values:
        what = f"{name} {value.resource} {value.side[:-1]}"
        note = sentence_text(value.note)
        text = f"{what}: computed {value.value or '-'}, live {value.live or '-'}: {note}"
        yield from line.tone_lines("warn", line.wrap_text(text, width, rest="  "))
    if (part := part_of(explanation.pod_parts, TektonPart)) is not None:
        yield from task_lines(part, width)
    yield from scale_lines(bounds_pairs(explanation), width, ascii_only=session.setting.ascii_only)


def list_read_requests(namespace: str) -> tuple[ReadRequest, ...]:
    """The runs, and what their pods are made from."""
    return (
        ReadRequest("TaskRun", namespace),
        ReadRequest("Task", namespace),
        ReadRequest("LimitRange", namespace),
        ReadRequest("ResourceQuota", namespace),
        ReadRequest("Pod", namespace, required=False),
        *(ReadRequest(kind, namespace, required=False) for kind in ("StepAction", "PipelineRun")),
        *(ReadRequest(kind, required=False) for kind in ("PriorityClass", "RuntimeClass")),
    )


def further_read_requests(session: Session, _namespace: str) -> Iterable[ReadRequest]:
    """Return how Tekton is configured."""
    if session.store.covered(ReadRequest("TaskRun", _namespace)).state == "absent":
        return ()
    return configuration_needs(session.store)


def owner(row: RunRow) -> Location | None:
    """Return the PipelineRun that made it."""
    name = pipeline_run_of(row.run)
    return Location("object", ref=ObjectRef("PipelineRun", name, row.ref.namespace)) if name else None


_ready: Callable[[RunRow, str], bool] = RunRow.ready

TASKRUNS = Listing(
    names=("taskruns", "taskrun", "tr", "trs"),
    about="TaskRuns of Tekton: what their pods ask for, computed and live, and how each fares",
    source=RowSource(
        kinds=("TaskRun", "Task", "LimitRange", "ResourceQuota", "ConfigMap", "Pod"),
        reads=list_read_requests,
        rows=_rows,
        row=_row,
        more_reads=further_read_requests,
    ),
    columns=_columns,
    row_mark=row_sign,
    detail=_detail,
    subject=RowSubject(
        ref=lambda row: row.ref,
        opens=lambda row: Location("object", ref=row.ref),
        owner=owner,
        tabs=("diff", "yaml", "computed"),
    ),
    command=lambda session, namespace: session.command("explain taskruns", namespace),
    wording=Wording(absent=NO_TEKTON, runbook="taskrun-waits"),
    order=WORST_FIRST,
    search=RowSearch(
        labels=lambda row: row.run.metadata.labels or {},
        words=lambda row: f"{row.run.metadata.namespace} {row.run.metadata.name} {_condition(row)} {_task(row)}",
    ),
    costly=Costly(prepare=lambda row, _what: row.explanation, ready=_ready),
    hints=("owner", "timeline", "yaml", "sort-state", "faults"),
)


class PipelineRow(Struct, frozen=True):
    """A PipelineRun. ``task_runs``: its TaskRuns that were read. ``age``: since when it exists."""

    run: PipelineRun
    task_runs: tuple[TaskRun, ...]
    age: str
    ascii_only: bool = False

    @property
    def ref(self) -> ObjectRef:
        return ObjectRef("PipelineRun", self.run.metadata.name, self.run.metadata.namespace)

    @property
    def waiting_runs(self) -> Sequence[TaskRun]:
        """Its runs that a quota holds up."""
        return [task_run for task_run in self.task_runs if run_status(task_run) == "waiting"]


def pipelinerun_sign(row: PipelineRow) -> tuple[str, line.Tone]:
    """``x``: it failed; ``!``: some of its runs wait for a quota."""
    return MARKS.get(run_status(row.run)) or (("!", "warn") if row.waiting_runs else ("", ""))


def _runs(row: PipelineRow) -> str:
    """Return how its TaskRuns fare."""
    counts = Counter(map(run_status, row.task_runs))
    return ", ".join(f"{counts[word]} {word}" for word in _ORDER if counts[word]) or "none yet"


def _tasks(row: PipelineRow) -> str:
    """Return how many of its tasks have ended, as a bar with a cell a task where there are few, and in figures."""
    progress = task_progress(row.run, row.task_runs)
    if progress is None:
        return "-"
    parts = progress.ended, progress.under_way, progress.tasks - progress.ended - progress.under_way
    widths = divide_cells(parts, min(progress.tasks, _TASK_CELLS))
    bar = "".join(cell[row.ascii_only] * width for cell, width in zip(_TASK_BAR, widths, strict=True))
    return f"{bar} {progress.ended} of {progress.tasks}"


def _unfinished(row: PipelineRow) -> float:
    """Return the part of the tasks that has not ended."""
    progress = task_progress(row.run, row.task_runs)
    return 1 - progress.ended / progress.tasks if progress is not None and progress.tasks else 2.0


def _pipelinerun_condition(row: PipelineRow) -> str:
    condition = condition_of(row.run)
    word = run_status(row.run)
    texts = condition is not None and condition.reason.lower() not in {"", word}
    return f"{word}: {condition.reason}" if texts and condition is not None else word


def _pipeline(row: PipelineRow) -> str:
    ref = row.run.spec.pipeline_ref
    return ref.name or f"resolver {ref.resolver}" if ref is not None else "its own"


def _pipelinerun_columns(namespace: str) -> tuple[Column, ...]:
    namespace_column = Column("namespace", "NAMESPACE", lambda row: row.run.metadata.namespace)
    return (
        *(() if namespace else (namespace_column,)),
        Column("name", "NAME", lambda row: row.run.metadata.name, most=56, vital=True),
        Column("pipeline", "PIPELINE", _pipeline, most=30),
        _condition_column(_pipelinerun_condition, pipelinerun_sign),
        Column("tasks", "TASKS", _tasks, _unfinished, lambda row: pipelinerun_sign(row)[1], most=24, drawn=True),
        Column("runs", "TASKRUNS", _runs, most=48),
        Column("age", "AGE", lambda row: row.age, _pipelinerun_created, right=True, wide=True, width=5),
    )


def _pipelinerun_created(row: PipelineRow) -> str | None:
    return row.run.metadata.creation_timestamp


def _pipelinerun_rows(session: Session, namespace: str) -> ListRows:
    runs_by_pipeline: dict[tuple[str, str], list[TaskRun]] = {}
    for task_run in session.store.all("TaskRun", namespace or None):
        owner = (task_run.metadata.labels or {}).get(PIPELINE_RUN, "")
        runs_by_pipeline.setdefault((task_run.metadata.namespace, owner), []).append(task_run)
    for run in session.store.all("PipelineRun", namespace or None):
        key = (run.metadata.namespace, run.metadata.name)
        age = line.age_text(run.metadata.creation_timestamp or "", session.setting.now())
        yield key, PipelineRow(run, tuple(runs_by_pipeline.get(key, ())), age, session.setting.ascii_only)


def _pipelinerun_detail(session: Session, row: PipelineRow, width: int) -> Iterator[line.Line]:
    del session
    yield [("strong", row.run.metadata.name), (pipelinerun_sign(row)[1], f"  {_pipelinerun_condition(row)}")]
    condition = condition_of(row.run)
    if condition is not None and condition.message:
        yield from line.tone_lines("", line.wrap_text(condition.message, width, first="  ", rest="    "))
    for task_run in row.task_runs:
        words = condition_of(task_run)
        tone = MARKS.get(run_status(task_run), ("", ""))[1]
        reason = f", {words.reason}" if words is not None and tone else ""
        text = f"{task_run.metadata.name}: {run_status(task_run)}{reason}"
        yield from line.tone_lines(tone, line.wrap_text(text, width, first="  ", rest="    "))


PIPELINERUNS = Listing(
    names=("pipelineruns", "pipelinerun", "pr", "prs"),
    about="PipelineRuns of Tekton: how each fares, and which of its runs wait for a quota",
    source=RowSource(
        kinds=("PipelineRun", "TaskRun"),
        reads=lambda namespace: (
            ReadRequest("PipelineRun", namespace),
            ReadRequest("TaskRun", namespace, required=False),
        ),
        rows=_pipelinerun_rows,
    ),
    columns=_pipelinerun_columns,
    row_mark=pipelinerun_sign,
    detail=_pipelinerun_detail,
    subject=RowSubject(ref=lambda row: row.ref, opens=lambda row: Location("object", ref=row.ref)),
    command=lambda session, namespace: session.command("explain pipelineruns", namespace),
    wording=Wording(absent=NO_TEKTON),
    order=WORST_FIRST,
    search=RowSearch(labels=lambda row: row.run.metadata.labels or {}),
    hints=("timeline", "sort-state", "explain", "faults"),
)
