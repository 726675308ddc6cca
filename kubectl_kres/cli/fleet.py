"""One cluster of a ``fleet``: the report's command is asked about it as a user would ask, and its answer becomes rows
and a line.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from threading import Lock
from typing import Any, Final, cast

from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.args.target_version import server_from_flags
from kubectl_kres.cli.program import module_of
from kubectl_kres.cli.run_loop import Plan, RunContext, RunSummary, reports_of
from kubectl_kres.cli.source.open_source import open_source
from kubectl_kres.cli.system import FleetReport, systems
from kubectl_kres.errors import Exit, KresError
from kubectl_kres.fleet.rows import Summary, open_writer
from kubectl_kres.fleet.status import ClusterStatus, FleetState, encode, state_of
from kubectl_kres.fleet.task import FleetTask, answer_task, serve, task_of
from kubectl_kres.render.text.sentences import in_words
from kubectl_kres.snapshot.read import header
from kubectl_kres.store.store import Origin

_SUMMARIES: Final = "kubectl_kres.fleet.summaries"

#: The report that is about two moments.
COMPARED: Final = "diff"

#: Each by the command that it asks. A further one is a line here, or in the system of that command.
REPORTS: Final[Mapping[str, FleetReport]] = {
    "qos": FleetReport((_SUMMARIES, "QosSummary"), {"summary": True}),
    "quota": FleetReport((_SUMMARIES, "QuotaSummary")),
    "overview": FleetReport((_SUMMARIES, "OverviewSummary"), {"summary": True}),
    COMPARED: FleetReport((_SUMMARIES, "ChangeSummary")),
    "check": FleetReport((_SUMMARIES, "CheckSummary"), counted={"summary": True}),
    **{name: report for system in systems() for name, report in system.fleet.items()},
}


def summary_of(report: str) -> Callable[[str], Summary]:
    """Make the summary of a cluster, out of its name."""
    module, name = REPORTS[report].summary
    return cast("Callable[[str], Summary]", getattr(import_module(module), name))


def summed_by(report: str) -> tuple[str, ...]:
    """Return the figures that add up over clusters."""
    return cast("tuple[str, ...]", summary_of(report).summed)  # type: ignore[attr-defined]  # the class says it, too


def load_plan(report: str) -> Plan:
    """Return what makes the query of the report's command."""
    return cast("Plan", import_module(module_of(report)).plan)


#: Notes of one cluster that are kept.
_NOTED = 20

_ONE = Lock()


def run_worker() -> int:
    """Answers tasks until there are no more."""
    return serve(answer)


def answer_line(line: bytes) -> bytes:
    """Return the status for a task, both as lines; one at a time, since what goes to standard error is collected."""
    with _ONE:
        return encode(answer_task(task_of(line), answer))


def options_of(values: Mapping[str, Any]) -> Options:
    """Flags out of JSON."""
    result: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }
    return Options(**result)


def answer(task: FleetTask) -> ClusterStatus:
    """Return the status of the cluster, once its rows are written. Whatever goes wrong is a status, too."""
    with _capture_stderr() as notes:
        try:
            return _answer(task, notes)
        except KresError as error:
            return _build_failed_status(task, state_of(error), error.message, error.hint, notes)
        except MemoryError:
            return _build_failed_status(task, "failed", "the memory does not suffice", "", notes)
        except OSError as error:
            return _build_failed_status(task, "failed", (error.strerror or str(error)).lower(), "", notes)
        except Exception as error:  # noqa: BLE001, a bug costs this cluster, not the others
            return _build_failed_status(
                task, "failed", f"a bug in kubectl-kres: {type(error).__name__}: {error}", "", notes
            )


class _FleetTally(RunSummary):
    """Keeps the first error of an answer that is none."""

    first: KresError | None = None

    def add_error(self, error: KresError) -> None:
        self.first = self.first or error
        super().add_error(error)


def _answer(task: FleetTask, notes: list[str]) -> ClusterStatus:
    options = options_of(task.options)
    query = load_plan(task.report)(options, ())
    page, run_summary = query.page(), _FleetTally(options, notes.append, task.report)
    summary = summary_of(task.report)(task.cluster)
    context = RunContext(query, f"kubectl kres {task.report}", server_from_flags(options))
    count = 0
    with (
        open_source(options, query.unread) as (source, inputs),
        open_writer(task.file, task.part, task.format, summary.row) as write,
    ):
        run_summary.look_at(source)
        for report in reports_of(page.run(context, source, inputs, run_summary)):
            rows = list(summary.add(in_words(report)))
            count += len(rows)
            write(rows)
        code = run_summary.code(source)
        origin = source.store.origin
        if run_summary.no_answers and run_summary.first is not None:
            raise run_summary.first
    is_complete = code in {Exit.ANSWERED, Exit.NEGATIVE}
    return _build_status(task, "answered" if is_complete else "partial", summary, origin, count, notes)


def _build_status(
    task: FleetTask, state: FleetState, summary: Summary, origin: Origin, rows: int, notes: list[str]
) -> ClusterStatus:
    return ClusterStatus(
        task.cluster,
        state,
        task.source,
        server=origin.name if origin.kind == "cluster" else header(origin.name).origin,
        server_version=origin.version,
        time=origin.time,
        figures=summary.figures(),
        rank=summary.rank(),
        negative=summary.negative(),
        rows=rows,
        file=task.file,
        notes=tuple(notes[:_NOTED]),
    )


def _build_failed_status(
    task: FleetTask, state: FleetState, message: str, hint: str, notes: list[str]
) -> ClusterStatus:
    # A snapshot's error begins with its file, which the row names already.
    message = message.removeprefix(f"{task.options.get('snapshot', '')}: ")
    return ClusterStatus(task.cluster, state, task.source, message=message, hint=hint, notes=tuple(notes[:_NOTED]))


class _Lines(io.TextIOBase):
    """A stream whose lines go to a list."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = texts

    def write(self, text: str) -> int:
        self._texts.extend(text.splitlines())
        return len(text)


@contextmanager
def _capture_stderr() -> Iterator[list[str]]:
    """Yield what would go to standard error, line by line; that of credential plugins still goes there."""
    notes: list[str] = []
    before = sys.stderr
    sys.stderr = _Lines(notes)
    try:
        yield notes
    finally:
        sys.stderr = before
