"""The screen of all kinds: what was read of each, and the RBAC rule for what was refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from textual.app import ComposeResult

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.render.text.line import Line, Tone, tone_lines, wrap_text
from kubectl_kres.store.store import Changes, ReadRequest
from kubectl_kres.tui.lists.list_registry import LISTINGS
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.rbac_hints import gap_lines, rule_text
from kubectl_kres.tui.screens.pane import Copy, FrameChanged, OpenPlace, TablePane
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.columns import Column
from kubectl_kres.tui.table.row_filter import Faces
from kubectl_kres.tui.table.row_order import RowKey
from kubectl_kres.tui.table.row_table import Table
from kubectl_kres.tui.widgets.lines import Lines


class KindRow(Struct, frozen=True):
    """A screen (``location`` is where it is), or a read with how it went."""

    name: str
    names: str
    state: str
    note: str
    tone: Tone = ""
    location: Location | None = None
    read: ReadRequest | None = None


class KindsPane(TablePane):
    """What ctrl-a shows in k9s, and what is denied."""

    sortable = False

    def __init__(self, session: Session, location: Location) -> None:
        super().__init__(session, location)
        faces = Faces(lambda row: f"{row.name} {row.names} {row.state}", lambda _: {}, lambda row: bool(row.tone))
        self.table = Table(_COLUMNS, faces, sign=_row_mark)
        self.detail = Lines()
        self.detail.entitle("why")

    def compose(self) -> ComposeResult:
        yield self.table
        yield self.detail

    def on_mount(self) -> None:
        self.enter(self.location)

    def enter(self, location: Location) -> None:
        super().enter(location)
        self.table.replace(dict(self._rows()))
        self._show()
        self.table.focus()

    def apply_changes(self, changes: Changes) -> None:
        if changes:
            self.table.replace(dict(self._rows()))
            self._show()

    def _rows(self) -> Iterator[tuple[RowKey, KindRow]]:
        for index, listing in enumerate(LISTINGS.values()):
            target_location = Location(listing.id, self.session.namespace if listing.scoped else "")
            yield (
                ("0", f"{index:03}"),
                KindRow(listing.id, " ".join(listing.names[1:]), "screen", listing.about, location=target_location),
            )
        states = self.session.feed.states()
        for read_request, coverage in sorted(self.session.store.coverages().items(), key=lambda pair: _order(pair[0])):
            feed_state = states.get(read_request)
            read = feed_state.read if feed_state is not None and feed_state.phase in {"listing", "watching"} else 0
            count = f"{read:,} object{'s' * (read != 1)}" if read else ""
            message = coverage.message or (feed_state.reason if feed_state is not None else "") or count
            word = {"read": feed_state.phase if feed_state is not None and self.session.setting.live else "read"}.get(
                coverage.state, coverage.state
            )
            tone: Tone = "" if coverage.is_known else "bad" if coverage.state == "denied" else "warn"
            space = f" in {read_request.namespace}" if read_request.namespace else ""
            name = f"/{read_request.name}" if read_request.name else ""
            name = f"{BY_KIND[read_request.kind].qualified_name}{name}{space}"
            yield ("1", *_order(read_request)), KindRow(name, "", word, message, tone, read=read_request)

    def _show(self) -> None:
        row: KindRow | None = self.table.row
        self.detail.put(lambda width: self._detail(row, width))
        self.post_message(FrameChanged())

    def _detail(self, row: KindRow | None, width: int) -> Iterator[Line]:
        if row is None:
            return
        if row.read is not None and row.tone:
            yield from gap_lines(self.session, (row.read,), width)
        else:
            yield from tone_lines("", wrap_text(row.note, width))

    def on_table_moved(self, event: Table.Moved) -> None:
        event.stop()
        self._show()

    def on_table_opened(self, event: Table.Opened) -> None:
        event.stop()
        row: KindRow | None = self.table.row
        if row is not None and row.location is not None:
            self.post_message(OpenPlace(row.location, fresh=True))
        elif row is not None and row.read is not None and row.tone == "bad":
            self.post_message(Copy(rule_text(row.read), "rule"))

    def act(self, action: str) -> bool:
        row: KindRow | None = self.table.row
        if action == "copy" and row is not None:
            denied = row.read is not None and row.tone == "bad"
            self.post_message(
                Copy(rule_text(row.read) if denied and row.read else row.name, "rule" if denied else "name")
            )
            return True
        if action in {"pane", "pane-back"}:
            (self.detail if self.table.has_focus else self.table).focus()
            return True
        return super().act(action)

    def status(self) -> Line:
        gaps = sum(1 for row in self.table.view.rows.values() if row.tone)
        reads = len(self.table.view.rows) - len(LISTINGS)
        return [
            ("", f"{len(LISTINGS)} screens, {reads} read{'s' * (reads != 1)}"),
            ("warn", f"  {gaps} not visible" if gaps else ""),
        ]

    def hints(self) -> Sequence[str]:
        return ("open", "copy", "up", "help")

    def breadcrumb(self) -> str:
        return "kinds"

    def command(self) -> str:
        return self.session.command("tui kinds")


def _order(read: ReadRequest) -> tuple[str, str, str, str, str]:
    return read.kind, read.namespace, read.name, read.label_selector, read.field_selector


def _row_mark(row: KindRow) -> tuple[str, Tone]:
    return ("?", row.tone) if row.tone else ("", "")


_COLUMNS = (
    Column("name", "NAME", lambda row: row.name, most=48),
    Column("names", "ALSO", lambda row: row.names, most=36),
    Column("state", "STATE", lambda row: row.state, tone=lambda row: row.tone, most=10),
    Column("said", "", lambda row: row.note, tone=lambda row: row.tone or "quiet", most=100),
)
