"""One quota: all its names with their bars, and who uses it, the largest first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from textual.app import ComposeResult

from kubectl_kres.errors import KresError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.quantity import parse
from kubectl_kres.render.line import Line, toned, wrapped
from kubectl_kres.render.quota import quota_lines
from kubectl_kres.reports.counted import counting_needs
from kubectl_kres.reports.quota import QuotaReport, Share, quota_reports
from kubectl_kres.store.changes import Changes
from kubectl_kres.store.coverage import Need
from kubectl_kres.tui.columns import Column
from kubectl_kres.tui.matching import matcher
from kubectl_kres.tui.place import Place
from kubectl_kres.tui.rights import gap_lines
from kubectl_kres.tui.save import as_csv
from kubectl_kres.tui.screens.pane import Copy, Open, Pane, Say, Told
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table import Table
from kubectl_kres.tui.view import Faces
from kubectl_kres.tui.widgets.lines import Lines

_BY = ("workload", "pod", "priority")


class QuotaPane(Pane):
    """The quota on top, its users below; both from the report of ``kubectl kres quota --by``."""

    DEFAULT_CSS = """
    QuotaPane {
        layout: vertical;
        & > Lines { height: auto; max-height: 50%; border-bottom: solid $panel-lighten-2; }
        & > Table { height: 1fr; }
    }
    """

    def __init__(self, session: Session, place: Place) -> None:
        super().__init__(session, place)
        assert place.ref is not None
        self.ref = place.ref
        self.by = _BY[0]
        self.recounted = False
        self.report: QuotaReport | None = None
        self.fault = ""
        self.head = Lines()
        self.head.can_focus = False
        faces = Faces(lambda row: " ".join([row.who, *row.usage.values()]), lambda _: {}, lambda _: False)
        self.table = Table(_columns(()), faces, sign=lambda _: ("", ""))
        self._filter = ""

    def compose(self) -> ComposeResult:
        yield self.head
        yield self.table

    def on_mount(self) -> None:
        self._ask()
        self.table.focus()

    def needs(self) -> Iterable[Need]:
        """The quota, and what counts for it, as far as that is known."""
        quota = self.session.get(self.ref)
        yield Need("ResourceQuota", self.ref.namespace)
        if quota is not None:
            yield from counting_needs([quota], self.session.server, self.ref.namespace)

    def changed(self, changes: Changes) -> None:
        if changes.kinds & {need.kind for need in self.needs()}:
            if self.ref in changes.gone:
                self.post_message(Say(f"{self.ref} was deleted; this is how it was", "warn"))
                return
            self._ask()

    def _ask(self) -> None:
        quota = self.session.get(self.ref)
        self.report, self.fault = None, ""
        if quota is not None:
            try:
                [self.report] = quota_reports(
                    self.session.store, [quota], self.session.ask, recounted=self.recounted, by=self.by
                )
            except KresError as error:
                self.fault = error.message
        shares = self.report.shares if self.report is not None else ()
        self.table.change_columns(_columns([use.name for use in self.report.uses] if self.report else ()))
        self.table.replace({(f"{place:06}", one.who): one for place, one in enumerate(shares)})
        self.head.put(self._head)
        self.post_message(Told())

    def _head(self, width: int) -> Iterator[Line]:
        if self.report is None:
            if any(self.session.loading(self.needs())):
                yield [("quiet", f"reading {self.ref}")]
                return
            text = self.fault or f"{self.ref} is not there"
            yield from toned("bad", wrapped(text, width, rest="  "))
            yield from gap_lines(self.session, self.needs(), width)
            return
        ascii_only = self.session.setting.ascii_only
        yield from quota_lines(_alone(self.report), ascii_only=ascii_only, width=width)
        if any(self.session.loading(self.needs())):
            yield [("quiet", "its users are still being read: shares are so far")]
        yield from gap_lines(self.session, self.needs(), width)

    def on_table_opened(self, event: Table.Opened) -> None:
        event.stop()
        row: Share | None = self.table.view.rows.get(event.key)
        kind, slash, name = row.who.partition("/") if row is not None else ("", "", "")
        if not slash or kind not in BY_KIND:
            self.post_message(Say(f"{row.who if row else 'this'} is no object that can be opened"))
            return
        namespace = self.ref.namespace if BY_KIND[kind].namespaced else ""
        self.post_message(Open(Place("object", ref=ObjectRef(kind, name, namespace))))

    def act(self, action: str) -> bool:
        row: Share | None = self.table.row
        match action:
            case "by":
                self.by = _BY[(_BY.index(self.by) + 1) % len(_BY)]
                self._ask()
            case "recount":
                self.recounted = not self.recounted
                self._ask()
            case "up" if self._filter:
                self.filter("")
            case "copy":
                self.post_message(Copy(row.who.partition("/")[2] or row.who if row else self.ref.name, "name"))
            case "copy-ns":
                self.post_message(Copy(self.ref.namespace, "namespace"))
            case "explain":
                self.post_message(Open(Place("report", ref=self.ref)))
            case "namespace":
                self.post_message(Open(Place("pods", namespace=self.ref.namespace)))
            case "sort-name" | "sort-cpu" | "sort-memory" | "sort-column" | "column-left" | "column-right":
                return self._sort(action)
            case _:
                return False
        self.post_message(Told())
        return True

    def _sort(self, action: str) -> bool:
        table = self.table
        if action.startswith("column"):
            shown = len(table.shown)
            table.picked = (table.picked - 2 if action.endswith("left") else table.picked) % shown + 1
            table.refresh()
            return True
        word = action.removeprefix("sort-")
        fits = [one for one in table.columns if word in one.id or (word == "name" and one.id == "who")]
        if action == "sort-column" and 0 < table.picked <= len(table.shown):
            fits = [table.shown[table.picked - 1]]
        if fits:
            table.toggle(fits[0])
        return bool(fits)

    def filter(self, text: str) -> None:
        self._filter = text
        self.table.filter(matcher(text))
        self.post_message(Told())

    @property
    def filtered(self) -> str:
        return self._filter

    @property
    def filters(self) -> bool:
        return True

    def crumb(self) -> str:
        return f"quota/{self.ref.name}"

    def command(self) -> str:
        recount = " --recount" if self.recounted else ""
        return self.session.command(f"quota {self.ref.name} --by {self.by}{recount}", self.ref.namespace)

    def status(self) -> Line:
        count = len(self.table.view.keys)
        counted = "  counted again" if self.recounted else ""
        return [("", f"{count} by {self.by}, the largest share first{counted}")]

    def hints(self) -> Sequence[str]:
        return ("open", "by", "recount", "explain", "filter", "up", "help")

    def table_csv(self) -> str:
        return as_csv(self.table)


def _alone(report: QuotaReport) -> QuotaReport:
    """The report without its users, which are the table's."""
    return QuotaReport(
        report.subject,
        report.uses,
        report.scopes,
        report.enforced,
        recounted=report.recounted,
        faults=report.faults,
        unseen=report.unseen,
        complete=report.complete,
    )


def _columns(names: Sequence[str]) -> tuple[Column, ...]:
    return (
        Column("who", "WHO", lambda row: row.who, most=48),
        Column("pods", "N", lambda row: str(row.pods or "-"), lambda row: row.pods, right=True, down=True),
        *(Column(name, _head(name), _share(name), _rank(name), right=True, down=True, most=16) for name in names),
    )


def _head(name: str) -> str:
    """Short enough for a column: the largest name is known from the quota above."""
    return name.upper().replace("REQUESTS.", "REQ ").replace("LIMITS.", "LIM ").replace("MEMORY", "MEM")[:16]


def _share(name: str) -> Callable[[Any], str]:
    def text(row: Share) -> str:
        return f"{row.usage[name]} {row.percents.get(name, 0):>3}%" if name in row.usage else "-"

    return text


def _rank(name: str) -> Callable[[Any], int | None]:
    def rank(row: Share) -> int | None:
        return parse(row.usage[name]).nano if name in row.usage else None

    return rank
