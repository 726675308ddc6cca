"""PipelineRuns: how each fares by its own status, and which of its runs wait or failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.render.text.line import Line, Tone, toned, wrapped
from kubectl_kres.render.text.times import since
from kubectl_kres.store.coverage import Need
from kubectl_kres.tekton.model import PipelineRun, TaskRun
from kubectl_kres.tekton.reports.run_facts import condition_of, fares
from kubectl_kres.tekton.rules.base.naming import PIPELINE_RUN
from kubectl_kres.tekton.screens.taskrun_list import MARKS
from kubectl_kres.tekton.text import NO_TEKTON
from kubectl_kres.tui.lists.list_spec import Listing, ListRows
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.columns import Column


class PipelineRow(Struct, frozen=True):
    """A PipelineRun. ``made``: its TaskRuns that were read. ``age``: since when it exists."""

    run: PipelineRun
    made: tuple[TaskRun, ...]
    age: str

    @property
    def ref(self) -> ObjectRef:
        return ObjectRef("PipelineRun", self.run.metadata.name, self.run.metadata.namespace)

    @property
    def waiting(self) -> Sequence[TaskRun]:
        """Its runs that a quota holds up."""
        return [task_run for task_run in self.made if fares(task_run) == "waiting"]


def sign(row: PipelineRow) -> tuple[str, Tone]:
    """``x``: it failed; ``!``: some of its runs wait for a quota."""
    return MARKS.get(fares(row.run)) or (("!", "warn") if row.waiting else ("", ""))


def _runs(row: PipelineRow) -> str:
    """How its TaskRuns fare."""
    counts = Counter(map(fares, row.made))
    order = ("failed", "waiting", "cancelled", "new", "pending", "running", "succeeded")
    return ", ".join(f"{counts[word]} {word}" for word in order if counts[word]) or "none yet"


def _condition(row: PipelineRow) -> str:
    condition = condition_of(row.run)
    word = fares(row.run)
    told = condition is not None and condition.reason.lower() not in {"", word}
    return f"{word}: {condition.reason}" if told and condition is not None else word


def _pipeline(row: PipelineRow) -> str:
    ref = row.run.spec.pipeline_ref
    return ref.name or f"resolver {ref.resolver}" if ref is not None else "its own"


def _columns(namespace: str) -> tuple[Column, ...]:
    where = Column("namespace", "NAMESPACE", lambda row: row.run.metadata.namespace)
    return (
        *(() if namespace else (where,)),
        Column("name", "NAME", lambda row: row.run.metadata.name, most=56),
        Column("pipeline", "PIPELINE", _pipeline, most=30),
        Column("state", "CONDITION", _condition, tone=lambda row: sign(row)[1], most=34),
        Column("runs", "TASKRUNS", _runs, most=48),
        Column("age", "AGE", lambda row: row.age, _created, right=True, wide=True, width=5),
    )


def _created(row: PipelineRow) -> str | None:
    return row.run.metadata.creation_timestamp


def _rows(session: Session, namespace: str) -> ListRows:
    made: dict[tuple[str, str], list[TaskRun]] = {}
    for task_run in session.store.all("TaskRun", namespace or None):
        owner = (task_run.metadata.labels or {}).get(PIPELINE_RUN, "")
        made.setdefault((task_run.metadata.namespace, owner), []).append(task_run)
    for run in session.store.all("PipelineRun", namespace or None):
        key = (run.metadata.namespace, run.metadata.name)
        age = since(run.metadata.creation_timestamp or "", session.setting.now())
        yield key, PipelineRow(run, tuple(made.get(key, ())), age)


def _detail(session: Session, row: PipelineRow, width: int) -> Iterator[Line]:
    del session
    yield [("strong", row.run.metadata.name), (sign(row)[1], f"  {_condition(row)}")]
    condition = condition_of(row.run)
    if condition is not None and condition.message:
        yield from toned("", wrapped(condition.message, width, first="  ", rest="    "))
    for task_run in row.made:
        words = condition_of(task_run)
        tone = MARKS.get(fares(task_run), ("", ""))[1]
        text = f"{task_run.metadata.name}: {fares(task_run)}{f', {words.reason}' if words is not None and tone else ''}"
        yield from toned(tone, wrapped(text, width, first="  ", rest="    "))


LISTING = Listing(
    names=("pipelineruns", "pipelinerun", "pr", "prs"),
    about="PipelineRuns of Tekton: how each fares, and which of its runs wait for a quota",
    kinds=("PipelineRun", "TaskRun"),
    needs=lambda namespace: (Need("PipelineRun", namespace), Need("TaskRun", namespace, required=False)),
    absent=NO_TEKTON,
    columns=_columns,
    rows=_rows,
    sign=sign,
    detail=_detail,
    opens=lambda row: Location("object", ref=row.ref),
    ref=lambda row: row.ref,
    command=lambda session, namespace: session.command("explain pipelineruns", namespace),
    labels=lambda row: row.run.metadata.labels or {},
    hints=("sort-state", "explain", "faults"),
)
