"""The first screen: what there is, what is worst, and what could not be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from time import perf_counter

from textual.app import ComposeResult

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.render.line import Line
from kubectl_kres.store.changes import Changes
from kubectl_kres.store.coverage import Need
from kubectl_kres.tui.areas import Areas
from kubectl_kres.tui.columns import Column
from kubectl_kres.tui.matching import matcher
from kubectl_kres.tui.notice import Notice
from kubectl_kres.tui.place import Place
from kubectl_kres.tui.screens.pane import Open, Pane, Told
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table import Table
from kubectl_kres.tui.view import Faces, Key

#: A drawing is followed by a rest of so many times what it took: keys come first.
_REST = 10


class OverviewPane(Pane):
    """Only what is read anyway: nothing is asked that costs more than a look."""

    DEFAULT_CSS = """
    OverviewPane > Table { height: 1fr; }
    """

    def __init__(self, session: Session, place: Place) -> None:
        super().__init__(session, place)
        faces = Faces(lambda row: f"{row.what} {row.where} {row.said}", lambda _: {}, lambda row: row.sign[0] in "x!")
        self.table = Table(_COLUMNS, faces, sign=lambda row: row.sign)
        self._filter = ""
        self._areas = Areas(session)
        self._due, self._rested = False, 0.0

    def compose(self) -> ComposeResult:
        yield self.table

    def on_mount(self) -> None:
        self.enter(self.place)

    def needs(self) -> Iterable[Need]:
        space = self.session.namespace
        return (
            Need("Namespace", name=space, required=False),
            *self._areas.needs(),
            Need("Pod", space),
        )

    def enter(self, place: Place) -> None:
        super().enter(place)
        self._draw()
        self.table.focus()

    def changed(self, changes: Changes) -> None:
        self._due = self._due or bool(changes)
        if self._due and perf_counter() >= self._rested:
            self._draw()

    @property
    def busy(self) -> bool:
        return super().busy or self._due

    @property
    def sums(self) -> bool:
        return True

    def refresh_sums(self) -> None:
        self._due = True

    def _draw(self) -> None:
        self._due, began = False, perf_counter()
        rows: dict[Key, Notice] = {}
        for place, row in enumerate(self._rows()):
            rows[f"{place:04}", row.what] = row
        old = self.table.view.rows
        if rows.keys() != old.keys():
            self.table.replace(rows)
        elif changed := {key: row for key, row in rows.items() if row != old[key]}:
            self.table.update(changed)
            self.table.settle()
        end = perf_counter()
        self._rested = end + _REST * (end - began)
        self.post_message(Told())

    def _rows(self) -> Iterator[Notice]:
        areas = self._areas
        yield areas.line("quotas", self._number)
        yield self._pods()
        yield from (areas.line(name, self._number) for name in ("claims", "pools", "taskruns", "limitranges"))
        yield self._count("namespaces", "Namespace", "pods, requests and the tightest quota of each")
        yield Notice(
            ("", ""), "refused", "", "computed when opened: which workloads are being refused, what would let them in",
            Place("refused", self.session.namespace),
        )  # fmt: skip
        yield from areas.notices()
        yield from self._gaps()

    def _pods(self) -> Notice:
        sums = self.session.adder.done.values()
        total: dict[str, int] = {}
        for one in sums:
            for name, count in one.classes.items():
                total[name] = total.get(name, 0) + count
        said = "  ".join(f"{count} {name}" for name, count in total.items()) or "none"
        finished = sum(one.finished for one in sums)
        more = f"  {finished} finished" if finished else ""
        return Notice(
            ("", ""), "pods", self._number("Pod", sum(total.values()) + finished), f"{said}{more}",
            Place("pods", self.session.namespace),
        )  # fmt: skip

    def _count(self, what: str, kind: str, said: str) -> Notice:
        count = sum(1 for _ in self.session.store.all(kind))
        return Notice(("", ""), what, self._number(kind, count), said, Place(what))

    def _number(self, kind: str, count: int) -> str:
        """The count; ``so far`` while it grows, ``?`` where it cannot be known."""
        need = next(need for need in self.needs() if need.kind == kind)
        coverage = self.session.store.covered(need)
        if coverage.known:
            return f"{count:,}"
        if any(self.session.loading((need,))) or coverage.state == "unread":
            return f"{count:,} so far"
        return f"{count:,}+?" if count else "?"

    def _gaps(self) -> Iterator[Notice]:
        for need in self.needs():
            coverage = self.session.store.covered(need)
            if coverage.state in {"denied", "failed"}:
                kind = BY_KIND[need.kind]
                word = "forbidden" if coverage.state == "denied" else "failed"
                said = f"{word}: {coverage.message}" if coverage.message else word
                yield Notice(("?", "bad"), kind.plural, need.namespace, f"not visible, {said}", Place("kinds"))

    def status(self) -> Line:
        where = f" of {self.session.namespace}" if self.session.namespace else ""
        origin = self.session.store.origin
        return [("", f"overview{where}"), ("quiet", f"  {origin.kind} {origin.context or origin.name}")]

    def command(self) -> str:
        return self.session.command("quota", self.session.namespace)

    def hints(self) -> Sequence[str]:
        return ("open", "command", "filter", "kinds", "help", "quit-or-up")

    def on_table_opened(self, event: Table.Opened) -> None:
        event.stop()
        row = self.table.view.rows.get(event.key)
        if row is not None:
            self.post_message(Open(row.place))

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

    def act(self, action: str) -> bool:
        row: Notice | None = self.table.row
        match action:
            case "up" if self._filter:
                self.filter("")
            case "namespace" if row is not None and row.place.ref is not None:
                self.post_message(Open(Place("pods", namespace=row.place.ref.namespace)))
            case "explain" if row is not None and row.place.ref is not None:
                self.post_message(Open(Place("report", ref=row.place.ref)))
            case _:
                return False
        return True


_COLUMNS = (
    Column("what", "WHAT", lambda row: row.what, most=32),
    Column("where", "WHERE", lambda row: row.where, most=24),
    Column("said", "", lambda row: row.said, tone=lambda row: row.sign[1], most=200),
)
