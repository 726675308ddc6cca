"""The screen of a quota: all its names with bars, and who uses it, largest first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, ClassVar

from msgspec.structs import replace
from textual.app import ComposeResult

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.quantity import parse
from kubectl_kres.render.pictures.holders import holders_lines, quota_rooms
from kubectl_kres.render.quota.quota_blocks import quota_lines, tree_lines
from kubectl_kres.render.text.line import Line
from kubectl_kres.reports.pod.manifest_source import missing_error
from kubectl_kres.reports.quota.quota_report import VALUE, QuotaReport, UsageShare, quota_reports
from kubectl_kres.reports.quota.usage_tree import UsageNode, counting_needs, setter_needs
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.lists.list_spec import no_labels
from kubectl_kres.tui.lists.quotas import tightest_first
from kubectl_kres.tui.lists.timeline import history_lines
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.rbac_hints import gap_lines
from kubectl_kres.tui.screens.object import ObjectPane
from kubectl_kres.tui.screens.pane import Copy, FrameChanged, OpenPlace, StatusRemark, TablePane
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.columns import Column
from kubectl_kres.tui.table.row_filter import Faces
from kubectl_kres.tui.table.row_table import Table
from kubectl_kres.tui.whatif import mark_new_lines
from kubectl_kres.tui.widgets.lines import Lines

_BY = ("workload", "pod", "priority")
_SIDES = {"requests": "REQ", "limits": "LIM"}
#: Cells that the quota's own figures and pictures need beside its users.
_FIGURES = 88
#: Lines that its users have at least.
_FEWEST = 5
#: Lines from which what a user holds is shown, and pods up to which it is.
_HOLDING, _FEW = 6, 200
#: Cells of a column's head, and names that have a short one.
_HEAD = 12
_SHORT = {"persistentvolumeclaims": "PVCS", "replicationcontrollers": "RCS", "services.loadbalancers": "LB SERVICES"}


class QuotaPane(ObjectPane, TablePane):
    """The quota on top, its users below, and what the one under the cursor has; from the report of ``quota --by``."""

    KEY_GROUPS: ClassVar[tuple[str, ...]] = ("everywhere", "lists", "quota")
    answer: QuotaReport | None

    def __init__(self, session: Session, location: Location) -> None:
        super().__init__(session, location)
        self.by = _BY[0]
        self.recounted = False
        self.verdict, self.holding = Lines(id="figures"), Lines(id="holding")
        self.verdict.can_focus = False
        #: The tree of values; None: none was made of this answer. The lines that there are for it.
        self._tree: tuple[UsageNode, ...] | None = None
        self._left = 0
        faces = Faces(lambda row: " ".join([row.name, *row.usage.values()]), no_labels, lambda _: False)
        self.table = Table(_columns(()), faces, sign=lambda _: ("", ""))
        self.table.entitle("who uses it")
        self.holding.entitle("what they hold")

    def compose(self) -> ComposeResult:
        yield self.verdict
        yield self.table
        yield self.holding

    def on_mount(self) -> None:
        # Its lines are broken for a new width only once it has that width.
        self.watch(self.verdict, "virtual_size", self._arrange, init=False)
        self.explain()
        self.table.focus()

    def on_resize(self) -> None:
        self._arrange()

    def _arrange(self) -> None:
        """Its users beside the quota where all of their columns have room there, else below; what they leave is for
        what the one under the cursor has.
        """
        # The line between them has a cell.
        full = self.table.whole_width + 1
        beside = full + _FIGURES <= self.size.width
        self.set_class(beside, "beside")
        # Users have the room that they need, the figures what they leave.
        height, rows = self.size.height, len(self.table.view.keys) + 2
        lines = self.verdict.virtual_size.height
        most = max(height // 2, height - max(rows, _FEWEST))
        self._left = height - lines if beside else height - rows - min(lines, most)
        self.holding.display = self.answer is not None and (self._left >= _HOLDING or self.holding.has_focus)
        self.verdict.styles.max_height = height if beside else most
        self.table.styles.max_height = rows if self.holding.display and not beside else None
        if beside:
            self.styles.grid_columns = f"1fr {full}"
            self.styles.grid_rows = f"{min(lines, height)} 1fr" if self.holding.display else "1fr 0"
        self._show_holding()

    @property
    def _is_small(self) -> bool:
        """Return whether its pods are few enough that their values are looked at between two keys."""
        return self.answer is not None and 0 < sum(share.pods for share in self.answer.shares) <= _FEW

    def _show_holding(self) -> None:
        """What the user under the cursor holds, down to single values; the tree is made when it is first shown. On the
        lines that are left, what happened to the quota.
        """
        if not self.holding.display or self.answer is None:
            return
        if self._tree is None and self._is_small:
            if (quota := self.session.get(self.ref)) is None:
                return
            [report] = quota_reports(self.session.store, [quota], self.session.evaluation_options, by=VALUE)
            self._tree = report.tree
        self.holding.put(self._holding_lines, partial(history_lines, self.session, (self.ref,)))

    def _holding_lines(self, width: int) -> Iterator[Line]:
        """Yield the whole tree where it has room, else that of the user under the cursor."""
        if self.answer is None or self._tree is None:
            return
        names = [use.name for use in tightest_first(self.answer).uses]
        row: UsageShare | None = self.table.row
        nodes_of_user = [node for node in self._tree if row is not None and node.name == row.name]
        lines = list(tree_lines(self._tree, names, width))
        # The first line is blank: the tree mostly stands below a report.
        yield from (
            lines[1:]
            if len(lines) <= self._left or not nodes_of_user
            else list(tree_lines(nodes_of_user, names, width))[1:]
        )

    def on_table_moved(self, event: Table.Moved) -> None:
        event.stop()
        self._show_holding()
        self.post_message(FrameChanged())

    def answer_reads(self) -> Iterable[ReadRequest]:
        """Return the quota and what counts for it, as far as that is known; then what set the values of its pods."""
        yield from self._counted_reads()
        if self._is_small:
            yield from setter_needs(self.session.store, self.ref.namespace)

    def _counted_reads(self) -> Iterator[ReadRequest]:
        quota = self.session.get(self.ref)
        yield ReadRequest("ResourceQuota", self.ref.namespace)
        if quota is not None:
            yield from counting_needs([quota], self.session.server, self.ref.namespace)

    def gap_lines(self, width: int) -> Iterator[Line]:
        """Yield what could not be read of what is counted; what set the values of pods is more than was asked for."""
        yield from gap_lines(self.session, self._counted_reads(), width)

    def compute_answer(self) -> QuotaReport:
        quota: Any = self.session.get(self.ref)
        if quota is None:
            raise missing_error(self.session.store, self.subject)
        [quota_report] = quota_reports(
            self.session.store, [quota], self.session.evaluation_options, recounted=self.recounted, by=self.by
        )
        return quota_report

    def show_answer(self) -> None:
        self._tree = None
        uses, shares = (tightest_first(self.answer).uses, self.answer.shares) if self.answer is not None else ((), ())
        # Where there is no room for all, the names that are nearest to their limit stay.
        self.table.change_columns(_columns([use.name for use in uses]))
        ordered = sorted(shares, key=lambda usage_share: [-usage_share.percents.get(use.name, 0) for use in uses])
        self.table.replace(
            {(f"{index:06}", usage_share.name): usage_share for index, usage_share in enumerate(ordered)}
        )
        before = self.compare_before(
            lambda: {share.name: share.usage for share in self.answer.shares} if self.answer else {}
        )
        self.table.differs = None if before is None else lambda row: before.get(row.name) != row.usage
        self.verdict.put(self._verdict)
        self._arrange()

    def _verdict(self, width: int) -> Iterator[Line]:
        yield from self.state_lines(width)
        if self.answer is not None:
            yield from mark_new_lines(
                self._figure_lines(width), self.compare_before(lambda: list(self._figure_lines(width)))
            )
        if self.answer is not None or not self.is_late:
            yield from self.gap_lines(width)

    def _figure_lines(self, width: int) -> Iterator[Line]:
        if self.answer is not None:
            ascii_only = self.session.setting.ascii_only
            yield from quota_lines(without_users(self.answer), ascii_only=ascii_only, width=width)
            yield from holders_lines(quota_rooms(self.answer), width, ascii_only=ascii_only, figures=False)

    def on_table_opened(self, event: Table.Opened) -> None:
        event.stop()
        row: UsageShare | None = self.table.view.rows.get(event.key)
        kind, slash, name = row.name.partition("/") if row is not None else ("", "", "")
        if not slash or kind not in BY_KIND:
            self.post_message(StatusRemark(f"{row.name if row else 'this'} is no object that can be opened"))
            return
        namespace = self.ref.namespace if BY_KIND[kind].namespaced else ""
        self.post_message(OpenPlace(Location("object", ref=ObjectRef(kind, name, namespace))))

    def act(self, action: str) -> bool:
        row: UsageShare | None = self.table.row
        match action:
            case "pane" | "pane-back" if self.holding.display:
                (self.holding if self.table.has_focus else self.table).focus()
            case "by":
                self.by = _BY[(_BY.index(self.by) + 1) % len(_BY)]
                self.explain()
            case "recount":
                self.recounted = not self.recounted
                self.explain()
            case "copy" if row is not None:
                self.post_message(Copy(row.name.partition("/")[2] or row.name, "name"))
            case "explain":
                self.post_message(OpenPlace(Location("report", ref=self.ref)))
            case _:
                return super().act(action)
        return True

    def value_here(self) -> tuple[ObjectRef | None, str, str]:
        """Return the name that is nearest to its limit."""
        column = next(iter(self.table.columns[2:]), None)
        return self.ref, column.id if column is not None else "", ""

    @property
    def word(self) -> str:
        return "quota"

    def command(self) -> str:
        recount = " --recount" if self.recounted else ""
        return self.session.command(f"quota {self.ref.name} --by {self.by}{recount}", self.ref.namespace)

    def status(self) -> Line:
        count = len(self.table.view.keys)
        counted = "  counted again" if self.recounted else ""
        column = self.table.sorted_by or next((column for column in self.table.columns[2:]), None)
        tight = column.id if column is not None else "what is used"
        return [("", f"{count} by {self.by}, the largest share of {tight} first{counted}")]

    def hints(self) -> Sequence[str]:
        return ("open", "by", "users", "recount", "filter", "up", "help")


def without_users(report: QuotaReport) -> QuotaReport:
    """Return the report without its users, which are the table's."""
    return replace(tightest_first(report), shares=(), tree=())


def _columns(names: Sequence[str]) -> tuple[Column, ...]:
    return (
        Column("name", "WHO", lambda row: row.name, most=48),
        Column("pods", "N", lambda row: str(row.pods or "-"), lambda row: row.pods, right=True, down=True),
        *(Column(name, column_head(name), _share(name), _rank(name), right=True, down=True, most=20) for name in names),
    )


def column_head(name: str) -> str:
    """Short enough for a column: the whole name is known from the quota above."""
    if name in _SHORT:
        return _SHORT[name]
    kind = name.removeprefix("count/")
    if kind != name:
        return kind.partition(".")[0].upper()[:_HEAD]
    side, dot, resource = name.partition(".")
    if dot and side in _SIDES:
        return f"{_SIDES[side]} {resource.rpartition('/')[2].upper().replace('MEMORY', 'MEM')}"[:_HEAD]
    return name.upper()[:_HEAD]


def _share(name: str) -> Callable[[Any], str]:
    def text(row: UsageShare) -> str:
        return f"{row.usage[name]} {row.percents.get(name, 0):>3}%" if name in row.usage else "-"

    return text


def _rank(name: str) -> Callable[[Any], int | None]:
    def rank(row: UsageShare) -> int | None:
        return parse(row.usage[name]).nano if name in row.usage else None

    return rank
