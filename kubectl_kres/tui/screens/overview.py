"""The first screen: what there is, what is worst, and what could not be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from time import perf_counter

from textual.app import ComposeResult

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.render.text.line import Line
from kubectl_kres.store.changes import Changes
from kubectl_kres.store.coverage import Need
from kubectl_kres.tui.lists.list_registry import LISTINGS
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.overview.overview_cache import AREAS, Areas, unseen
from kubectl_kres.tui.overview.problem import Notice, under
from kubectl_kres.tui.screens.pane import Copy, Open, Told
from kubectl_kres.tui.screens.table_screen import TablePane
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.columns import Column
from kubectl_kres.tui.table.row_table import Table
from kubectl_kres.tui.table.view import Faces, RowKey

#: A drawing is followed by a rest of so many times what it took: keys come first.
_REST = 10


class OverviewPane(TablePane):
    """Only what is read anyway: nothing is asked that costs more than a look."""

    DEFAULT_CSS = """
    OverviewPane > Table { height: 1fr; }
    """
    sortable = False

    def __init__(self, session: Session, place: Location) -> None:
        super().__init__(session, place)
        faces = Faces(lambda row: f"{row.what} {row.where} {row.said}", lambda _: {}, lambda row: row.sign[0] in "x!")
        self.table = Table(_COLUMNS, faces, sign=lambda row: row.sign)
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

    def enter(self, place: Location) -> None:
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
        rows: dict[RowKey, Notice] = {}
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
        yield from (areas.line(name, self._number) for name in AREAS if name != "quotas")
        yield self._count("namespaces", "Namespace", "pods, requests and the tightest quota of each")
        yield Notice(
            ("", ""), "refused", "", "computed when opened: which workloads are being refused, what would unblock them",
            Location("refused", self.session.namespace),
        )  # fmt: skip
        yield from self._server()
        yield from under("WORST FIRST", "NAMESPACE", areas.notices())
        yield from under("NOT VISIBLE", "NAMESPACE", self._gaps())

    def _server(self) -> Iterator[Notice]:
        """That the rules of another version are used, once it is known which one the server has."""
        version = self.session.store.origin.version
        if version or not self.session.setting.live:
            for said in self.session.supposed:
                yield Notice(("!", "warn"), "server", version or "?", said, Location("kinds"))

    def _pods(self) -> Notice:
        place = Location("pods", self.session.namespace)
        sums = self.session.adder.done.values()
        if not sums and (why := unseen(self.session, Need("Pod", self.session.namespace))):
            return Notice(("?", "warn"), "pods", "?", why, place)
        total: dict[str, int] = {}
        for one in sums:
            for name, count in one.classes.items():
                total[name] = total.get(name, 0) + count
        said = "  ".join(f"{count} {name}" for name, count in total.items()) or "none"
        finished = sum(one.finished for one in sums)
        more = f"  {finished} finished" if finished else ""
        return Notice(("", ""), "pods", self._number("Pod", sum(total.values()) + finished), f"{said}{more}", place)

    def _count(self, what: str, kind: str, said: str) -> Notice:
        count = sum(1 for _ in self.session.store.all(kind))
        return Notice(("", ""), what, self._number(kind, count), said, Location(what))

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
                yield Notice(("?", "bad"), kind.plural, need.namespace, said, Location("kinds"))
        if not self.session.namespace and unseen(self.session, Need("Pod")):
            said = "one namespace may be readable: :pods NAME"
            yield Notice(("", ""), "", "", said, None)

    def status(self) -> Line:
        """The line under the cursor, which has more room here."""
        row: Notice | None = self.table.row
        where = f" of {self.session.namespace}" if self.session.namespace else ""
        if row is None or not row.said:
            return [("", f"overview{where}")]
        inside = f" in {row.where}" if row.place is not None and row.place.ref is not None and row.where else ""
        return [("strong", f"{row.what}{inside}"), (row.sign[1], f"  {row.said}")]

    def command(self) -> str:
        """What prints more of the line under the cursor."""
        row: Notice | None = self.table.row
        place = row.place if row is not None else None
        if row is not None and place is not None and place.ref is not None:
            ref = place.ref
            words = f"quota {ref.name}" if place.view == "quota" else f"explain {row.what}"
            return self.session.command(words, ref.namespace or None)
        if place is not None and place.view in LISTINGS:
            return LISTINGS[place.view].command(self.session, place.namespace)
        return self.session.command("tui kinds" if place is not None else "quota", self.session.namespace)

    def hints(self) -> Sequence[str]:
        return ("open", "command", "filter", "kinds", "help", "quit-or-up")

    def on_table_opened(self, event: Table.Opened) -> None:
        event.stop()
        row: Notice | None = self.table.view.rows.get(event.key)
        if row is not None and row.place is not None:
            self.post_message(Open(row.place))

    def on_table_moved(self, event: Table.Moved) -> None:
        event.stop()
        self.post_message(Told())

    def act(self, action: str) -> bool:
        row: Notice | None = self.table.row
        ref = row.place.ref if row is not None and row.place is not None else None
        match action:
            case "namespace" if ref is not None and ref.namespace:
                self.post_message(Open(Location("pods", namespace=ref.namespace)))
            case "explain" if ref is not None:
                view = "report" if ref.kind == "ResourceQuota" else "object"
                self.post_message(Open(Location(view, ref=ref, tab="text")))
            case "copy" if ref is not None:
                self.post_message(Copy(ref.name, "name"))
            case "copy-ns" if ref is not None and ref.namespace:
                self.post_message(Copy(ref.namespace, "namespace"))
            case _:
                return super().act(action)
        return True


_COLUMNS = (
    Column("what", "AREA", lambda row: row.what, tone=lambda row: "" if row.place is not None else "quiet", most=32),
    Column("where", "COUNT", lambda row: row.where, tone=lambda row: "" if row.place is not None else "quiet", most=24),
    Column("said", "", lambda row: row.said, tone=lambda row: row.sign[1], most=200),
)
