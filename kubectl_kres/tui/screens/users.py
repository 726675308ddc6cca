"""The screen of who uses a quota: workloads, pods and single values, each with its share and its source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from time import monotonic
from typing import Any

from msgspec import Struct

from kubectl_kres.errors import QuantityError
from kubectl_kres.model.objects import ObjectRef, ResourceQuota
from kubectl_kres.quantity import parse
from kubectl_kres.render.quota.quota_blocks import label_of, quota_lines, row_detail, setter_words
from kubectl_kres.render.text.line import Line, Tone, tone_lines, wrap_text
from kubectl_kres.reports.pod.manifest_source import missing_error
from kubectl_kres.reports.quota.quota_report import VALUE, QuotaReport, quota_reports
from kubectl_kres.reports.quota.usage_tree import UsageNode, counting_needs, owner_needs, setter_needs
from kubectl_kres.store.store import Changes, ReadRequest
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.screens.pane import Copy, OpenPlace, StatusRemark
from kubectl_kres.tui.screens.quota import column_head, without_users
from kubectl_kres.tui.screens.tree import TreePane
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.columns import Column
from kubectl_kres.tui.table.row_order import RowKey
from kubectl_kres.tui.table.row_table import Table

#: Of the time that a tree takes, how many times as long it stands before another one is made.
_REST = 10
#: Lines of the screen from which a quota is drawn above its users.
_ROOMY = 28


class UserRow(Struct, frozen=True):
    """A line of the tree. ``path``: the node and those that it is in; ``order``: the places of these among theirs."""

    path: RowKey
    order: tuple[int, ...]
    node: UsageNode

    @property
    def label(self) -> str:
        return label_of(self.node)


class UsersPane(TreePane):
    """Everything shown comes from the report of ``quota NAME --by value``; a pool's screen has another report."""

    TABS = (("tree", "tree"), ("text", "text"))
    BESIDE = 180
    answer: Any

    def __init__(self, session: Session, location: Location) -> None:
        self._names: tuple[str, ...] = ()
        super().__init__(session, location)
        # Lines are known by what they are about, so that cursor and folds stay on it when the order changes.
        self.table.view.sort(attrgetter("order"))
        self._met: set[RowKey] = set()
        self._made_at, self._took, self._outdated = 0.0, 0.0, False

    def answer_reads(self) -> Iterable[ReadRequest]:
        space, store = self.ref.namespace, self.session.store
        yield ReadRequest("ResourceQuota", space)
        quota: ResourceQuota | None = self.session.get(self.ref)
        if quota is not None:
            yield from users_needs(self.session, quota)
            yield from owner_needs(store, space)

    def compute_answer(self) -> Any:
        quota: Any = self.session.get(self.ref)
        if quota is None:
            raise missing_error(self.session.store, self.subject)
        [quota_report] = quota_reports(self.session.store, [quota], self.session.evaluation_options, by=VALUE)
        return quota_report

    def apply_changes(self, changes: Changes) -> None:
        """A large tree takes its time: where much changes it is made anew now and then, not each time."""
        self._outdated = self._outdated or not changes.kinds.isdisjoint(read.kind for read in self.reads())
        rested = monotonic() - self._made_at >= self._took * _REST
        if self._outdated and rested and self.ref not in changes.removed:
            self.is_deleted = self.is_deleted and self.session.get(self.ref) is None
            self.explain()
        elif self.ref in changes.removed or not self._outdated:
            super().apply_changes(changes)

    @property
    def has_work(self) -> bool:
        """A tree that was put off is still to come."""
        return self._outdated

    def explain(self) -> None:
        began = monotonic()
        self._outdated = False
        super().explain()
        self._made_at = monotonic()
        self._took = self._made_at - began

    def names(self) -> Sequence[str]:
        """The names of the quota, the tightest first."""
        quota_report: QuotaReport = self.answer
        return [
            use.name for use in sorted(quota_report.uses, key=lambda use: (not use.is_exceeded, -(use.percent or 0)))
        ]

    def show_answer(self) -> None:
        if self.answer is not None:
            self._names = tuple(self.names())
            self.table.change_columns(self.columns())
        super().show_answer()

    def rows(self) -> Iterable[UserRow]:
        """Return the tree in the order of the tightest name. A pod is folded when it is first met."""
        rows = list(self._user_rows((), (), self.answer.tree))
        new = {row.path for row in rows} - self._met
        self._met |= new
        self._folded |= {row.path for row in rows if row.path in new and _is_pod(row.node) and row.node.children}
        return rows

    def _user_rows(self, path: RowKey, above: tuple[int, ...], nodes: Sequence[UsageNode]) -> Iterator[UserRow]:
        ordered = sorted(nodes, key=lambda node: (*(-node.percents.get(name, 0) for name in self._names), node.name))
        for index, node in enumerate(ordered):
            key, order = (*path, f"{node.role} {node.name}"), (*above, index)
            yield UserRow(key, order, node)
            yield from self._user_rows(key, order, node.children)

    def columns(self) -> Sequence[Column]:
        opened, closed = ("v ", "> ") if self.session.setting.ascii_only else ("▾ ", "▸ ")

        def label(row: UserRow) -> str:
            mark = "" if not row.node.children else closed if row.path in self._folded else opened
            return f"{'  ' * (len(row.path) - 1)}{mark}{row.label}"

        first = self._names[:1]
        return (
            Column("name", "WHO", label, tone=_tone, most=52),
            *(_amount(name) for name in self._names),
            Column("by", "SET BY", lambda row: _format_setter(row.node, first or tuple(row.node.set_by)), most=60,
                   wide=True, tone=lambda _: "quiet"),
        )  # fmt: skip

    def words(self, row: UserRow) -> str:
        return f"{row.label} {_format_setter(row.node, tuple(row.node.set_by))}"

    def row_mark(self, row: UserRow) -> tuple[str, Tone]:
        """``!``: a value that would be another one if the pod were made today."""
        return ("!", "warn") if any(set_by.note for set_by in row.node.set_by.values()) else ("", "")

    def opens_on(self) -> UserRow | None:
        """Return the largest, which may be another one until all has been read."""
        return self._rows[0] if self._rows else None

    def branch_of(self, row: UserRow) -> RowKey:
        return row.path if row.node.children else row.path[:-1] or row.path

    def head(self, width: int) -> Iterable[Line]:
        """Yield each name with what is used of it, as the picture of the quota's screen where there is room."""
        quota_report: QuotaReport = self.answer
        if self.size.height >= _ROOMY:
            ascii_only = self.session.setting.ascii_only
            yield from quota_lines(without_users(quota_report), ascii_only=ascii_only, width=width)
            return
        for use in sorted(quota_report.uses, key=lambda use: self._names.index(use.name)):
            used = use.used or "not counted yet"
            share = ", over" if use.is_exceeded else f", {use.percent}%" if use.percent is not None else ""
            tone: Tone = "bad" if use.is_exceeded else ""
            yield from tone_lines(tone, wrap_text(f"{use.name}: {used} of {use.hard} used{share}", width, rest="  "))

    def about_lines(self, row: UserRow, width: int) -> Iterable[Line]:
        node = row.node
        yield [("strong", row.label), ("quiet", f"  {node.pods} pod{'s' * (node.pods != 1)}" if node.pods else "")]
        for name in (name for name in self._names if name in node.usage):
            share = f", {node.percents[name]}% of what is used" if name in node.percents else ""
            yield from tone_lines("", wrap_text(f"{name} {node.usage[name]}{share}", width, first="  ", rest="    "))
            if name in node.set_by:
                set_by = node.set_by[name]
                tone: Tone = "warn" if set_by.note else "quiet"
                text = f"set by {setter_words(set_by)}" if set_by.rule else setter_words(set_by)
                yield from tone_lines(tone, wrap_text(text, width, first="    ", rest="      "))
            elif name in node.hard:
                yield from tone_lines("quiet", wrap_text(row_detail(node, name), width, first="    ", rest="      "))
        if node.subject is not None:
            yield [("quiet", "  enter opens it, left and right fold")]

    def text_lines(self, tab: str, width: int) -> Iterable[Line]:
        del tab
        return quota_lines(self.answer, ascii_only=self.session.setting.ascii_only, width=width)

    def copied(self, row: UserRow) -> Copy | None:
        return Copy(row.node.subject.name, "name") if row.node.subject is not None else None

    def on_table_opened(self, event: Table.Opened) -> None:
        """To the object of a node, or to that which set a value."""
        event.stop()
        row: UserRow | None = self.table.view.rows.get(event.key)
        if row is None:
            return
        ref = row.node.subject or next(
            (set_by.source.ref for set_by in row.node.set_by.values() if set_by.source), None
        )
        if ref is not None:
            self.post_message(OpenPlace(Location("object", ref=ref)))
        else:
            self.post_message(StatusRemark("this is no object that can be opened"))

    def ref_of_row(self) -> ObjectRef | None:
        row: UserRow | None = self.row
        return row.node.subject if row is not None else self.ref

    @property
    def word(self) -> str:
        return "quota"

    def breadcrumb(self) -> str:
        return f"who uses {self.word}/{self.ref.name}"

    def command(self) -> str:
        return self.session.command(f"quota {self.ref.name} --by value", self.ref.namespace)

    def status(self) -> Line:
        if self.answer is None:
            return [("warn", "not known")]
        pods = sum(node.pods for node in self.answer.tree)
        if not self.answer.tree:
            return [("", "nothing uses it")]
        partly = "" if self.answer.complete else "  incomplete (ctrl-a)"
        tight = self._names[0] if self._names else "it"
        return [("", f"{pods} pods, the largest share of {tight} first"), ("warn", partly)]

    @property
    def has_table(self) -> bool:
        return self.shows_tree

    def hints(self) -> Sequence[str]:
        return ("open", "pane", "explain", "filter", "fault-next", "up", "help")


def users_needs(session: Session, quota: ResourceQuota) -> Iterator[ReadRequest]:
    """Yield what counts for a quota, and what set the values of its pods."""
    space = quota.metadata.namespace
    yield from counting_needs([quota], session.server, space)
    yield ReadRequest("LimitRange", space)
    yield from setter_needs(session.store, space)


def users_of(session: Session, ref: ObjectRef | None) -> Location | None:
    """Return the screen for an object: of a quota its own, else that of the fullest quota of the namespace; None: no
    quota.
    """
    if ref is None:
        return None
    if ref.kind == "ResourceQuota":
        return Location("users", ref=ref)
    space = ref.name if ref.kind == "Namespace" else ref.namespace
    quotas: Iterable[ResourceQuota] = session.store.all("ResourceQuota", space) if space else ()
    fullest = max(quotas, key=_share, default=None)
    return Location("users", ref=ObjectRef("ResourceQuota", fullest.metadata.name, space)) if fullest else None


def _share(quota: ResourceQuota) -> float:
    """Of the name that is nearest to its hard; what has nothing to give is full."""
    hard, used = quota.status.hard or {}, quota.status.used or {}

    def share(name: str) -> float:
        try:
            maximum, now = parse(str(hard[name])).nano, parse(str(used.get(name, "0"))).nano
        except QuantityError:
            return 0.0
        return now / maximum if maximum else float(now > 0)

    return max(map(share, hard), default=0.0)


def _is_pod(node: UsageNode) -> bool:
    return node.subject is not None and node.subject.kind == "Pod"


def _tone(row: UserRow) -> Tone:
    if any(set_by.note for set_by in row.node.set_by.values()):
        return "warn"
    return "strong" if len(row.path) == 1 else "quiet" if not row.node.children else ""


def _amount(name: str) -> Column:
    def text(row: UserRow) -> str:
        node = row.node
        return f"{node.usage[name]} {node.percents.get(name, 0):>3}%" if name in node.usage else "-"

    return Column(name, column_head(name), text, right=True, most=20)


def _format_setter(node: UsageNode, names: Sequence[str]) -> str:
    return next((text for name in names if (text := row_detail(node, name))), "")
