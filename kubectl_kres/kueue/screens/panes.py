"""A Workload, and a queue, on a screen: what the commands say of them, part by part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_kres.kueue import model
from kubectl_kres.kueue.reports.queues import QueuedWork, QueueReport, queue_report, queue_report_needs
from kubectl_kres.kueue.reports.record import FlavorRow
from kubectl_kres.kueue.reports.workload import WorkloadExplanation, workload_explanation, workload_needs
from kubectl_kres.kueue.text import queue as queue_text
from kubectl_kres.kueue.text import workload as workload_text
from kubectl_kres.kueue.text.account import account_lines
from kubectl_kres.kueue.text.causes import short_cause
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.text.line import Line, tone_lines, wrap_text
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.screens.outline import OutlinePane
from kubectl_kres.tui.widgets.items import OutlineItem, Sections, remedy_item


class WorkloadPane(OutlinePane):
    """Everything shown comes from the report of ``explain workload/x``."""

    HEAD = "WORKLOAD"
    answer: WorkloadExplanation | None

    def answer_reads(self) -> Iterable[ReadRequest]:
        return workload_needs(self.session.store, self.subject)

    def compute_answer(self) -> WorkloadExplanation:
        return workload_explanation(self.session.store, self.subject)

    @property
    def word(self) -> str:
        return "workload"

    def owner(self) -> Location | None:
        """Return what it is of."""
        kind, _, name = (self.answer.of if self.answer is not None else "").partition("/")
        return Location("object", ref=ObjectRef(kind, name, self.ref.namespace)) if kind in BY_KIND else None

    def head(self, width: int) -> Iterator[Line]:
        assert self.answer is not None
        tone, text = workload_text.summary(self.answer)
        yield from tone_lines(tone, wrap_text(text, width, rest="  "))
        yield from self.first_fix_lines(width)
        yield from account_lines(self.answer.account, width)

    def rows(self) -> Iterator[OutlineItem]:
        assert self.answer is not None
        account, sections = self.answer.account, Sections()
        charged = (
            OutlineItem((), f"{pod_set.name} {each.resource}", (each.pod, each.total), f"{pod_set.pods} pods")
            for pod_set in account.charges
            for each in pod_set.amounts
        )
        yield from sections.section("charged", charged, ("A POD", "TOTAL"))
        yield from sections.section("flavors", map(_flavor_item, account.flavors), ("ASKED", "FREE", "SHORT"))
        fixes = self.answer.fixes
        yield from sections.section("what to change", map(remedy_item, range(len(fixes)), fixes))

    def text(self, width: int) -> Iterable[Line]:
        assert self.answer is not None
        return workload_text.workload_lines(self.answer, width, whole=True)

    def status(self) -> Line:
        if self.answer is None:
            return [("warn", "not known")]
        tone, _ = workload_text.summary(self.answer)
        return [(tone, self.answer.account.standing)]

    def hints(self) -> tuple[str, ...]:
        return ("open", "copy", "owner", "pane", "explain", "up", "help")


class QueuePane(OutlinePane):
    """Everything shown comes from the report of ``explain localqueue/x`` or ``clusterqueue/x``."""

    HEAD = "QUEUE"
    answer: QueueReport | None

    def answer_reads(self) -> Iterable[ReadRequest]:
        return queue_report_needs(self.session.store, self.subject)

    def compute_answer(self) -> QueueReport:
        return queue_report(self.session.store, self.subject)

    @property
    def word(self) -> str:
        return self.ref.kind.lower()

    def head(self, width: int) -> Iterator[Line]:
        assert self.answer is not None
        tone, text = queue_text.summary(self.answer)
        yield from tone_lines(tone, wrap_text(f"{self.answer.object}: {text}", width, rest="  "))

    def rows(self) -> Iterator[OutlineItem]:
        assert self.answer is not None
        report, sections = self.answer, Sections()
        yield from sections.section("quotas", map(_flavor_item, report.rows), ("NOMINAL", "USED", "FREE"))
        yield from sections.section("waiting", map(_work_item, report.waiting or ()), ("PRIORITY",))
        yield from sections.section("admitted", map(_work_item, report.admitted), ("PRIORITY",))

    def text(self, width: int) -> Iterable[Line]:
        assert self.answer is not None
        return queue_text.queue_lines(self.answer, width, whole=True)

    def status(self) -> Line:
        if self.answer is None:
            return [("warn", "not known")]
        return [(queue_text.summary(self.answer)[0], "inactive" if self.answer.faults else "active")]

    def hints(self) -> tuple[str, ...]:
        return ("open", "copy", "pane", "explain", "up", "help")


def _flavor_item(row: FlavorRow) -> OutlineItem:
    figures = (row.asked, row.left, row.short or "-") if row.asked else (row.nominal, row.used, row.left)
    return OutlineItem((), f"{row.flavor or '-'} {row.resource}", figures, row.text, tone="bad" if row.why else "")


def _work_item(work: QueuedWork) -> OutlineItem:
    place = Location("object", ref=ObjectRef(model.WORKLOAD, work.workload.name, work.workload.namespace))
    why = short_cause(work.cause)
    label = f"{work.workload.namespace}/{work.of}"
    return OutlineItem((), label, (str(work.priority),), why, ref=work.workload, location=place)
