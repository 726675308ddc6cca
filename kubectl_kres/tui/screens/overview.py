"""The first screen: what is worst and what mends it, what there is, and what could not be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from time import perf_counter
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from textual import events
from textual.app import ComposeResult

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.render.overview.lines import BAR, CHECKED, SIGNS, area_bar, area_said, ask_words, problem_said
from kubectl_kres.render.text.line import Line, Tone, size, wrapped
from kubectl_kres.reports.overview.area import OverviewArea, Problem
from kubectl_kres.reports.overview.areas import pod_area
from kubectl_kres.reports.remedies.words import in_short
from kubectl_kres.store.changes import Changes
from kubectl_kres.store.coverage import Need
from kubectl_kres.tui.lists.list_registry import LISTINGS
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.overview.overview_cache import Areas, unseen
from kubectl_kres.tui.screens.pane import Copy, OpenPlace, Told
from kubectl_kres.tui.screens.table_screen import TablePane
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.columns import Column
from kubectl_kres.tui.table.row_table import Table
from kubectl_kres.tui.table.view import Faces, RowKey

#: A drawing is followed by a rest of so many times what it took: keys come first.
_REST = 10
#: Seconds at a tick for what is computed between keys.
_SLICE = 0.012
#: Width from which the areas stand on the left, and the part of it that they may take.
_BESIDE, _LEFT = 120, 0.46
#: Cells of an area's line before its bar, and what a line of its own begins with.
_HEAD, _INDENT = 34, "   "
#: What goes on below a remedy begins with, and the cells of a line that are no text.
_DO, _MARGIN = "      ", 6
#: Cells that the reason has at least on its line.
_SAID = 24
#: Lines that what is worst has at least, below which the areas scroll.
_LEAST = 5


class Notice(Struct, frozen=True):
    """A line. ``what``: an area, or an object; ``where``: how many, or in which namespace.

    ``place``: where Enter goes; None: nowhere. ``command``: what Enter copies instead. ``indented``: it goes on about
    the line above it. ``ask``: the words of the command that says more. ``whole``: all of a text that is broken.
    """

    sign: tuple[str, Tone]
    what: str
    where: str
    said: str
    place: Location | None
    bar: str = ""
    command: str = ""
    indented: bool = False
    ask: str = ""
    whole: str = ""


class OverviewPane(TablePane):
    """Two tables: ``worst`` above ``areas``, or on the right of them. What costs much is computed between keys."""

    DEFAULT_CSS = """
    OverviewPane {
        layout: vertical;
        & > #worst { height: 1fr; }
        & > #areas { height: auto; border-top: solid $foreground 25%; }
        & > #areas:focus { border-top: heavy $accent; }
        &.beside { layout: horizontal; }
        &.beside > #areas { height: 1fr; border-top: none; border-right: solid $foreground 25%; }
        &.beside > #areas:focus { border-right: heavy $accent; }
        &.beside > #worst { width: 1fr; }
    }
    """
    sortable = False

    def __init__(self, session: Session, place: Location) -> None:
        super().__init__(session, place)
        self.worst = Table(_WORST, _FACES, sign=lambda row: row.sign, id="worst")
        self.areas = Table(_AREAS, _FACES, sign=lambda row: row.sign, id="areas")
        self.worst.shy = self.areas.shy = True
        #: The one that keys are about.
        self.table = self.worst
        if session.what_if is not None:
            change = session.what_if
            self.worst.differs = lambda row: (ref := _ref_of(row)) is not None and change.concerns(ref)
        self._areas = Areas(session)
        self._due, self._rested = False, 0.0
        #: Whether the areas have the keys because nothing was wrong.
        self._lent = False

    def ref_of_row(self) -> ObjectRef | None:
        return _ref_of(self.table.row)

    def compose(self) -> ComposeResult:
        yield self.worst
        yield self.areas

    def on_mount(self) -> None:
        self.enter(self.place)

    def on_resize(self) -> None:
        # Where the areas stand decides how their lines are broken.
        self._draw()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if isinstance(event.widget, Table):
            self.table = event.widget
            self.post_message(Told())

    def _arrange(self) -> None:
        """Areas on the left where both have room; else below, as high as they are if that leaves the worst lines."""
        height, beside = self.size.height, self._beside
        if beside != self.has_class("beside"):
            self.set_class(beside, "beside")
            if beside:
                self.move_child(self.areas, before=self.worst)
            else:
                self.move_child(self.worst, before=self.areas)
        rows = len(self.areas.view.keys) + 2
        if beside:
            self.areas.styles.width = self._left
            self.areas.styles.height = "1fr"
        else:
            wanted = min(len(self.worst.view.keys) + 1, _LEAST)
            self.areas.styles.width = "1fr"
            self.areas.styles.height = max(min(4, height), min(rows, height - wanted))

    @property
    def _beside(self) -> bool:
        return self.size.width >= _BESIDE

    @property
    def _left(self) -> int:
        return int(self.size.width * _LEFT)

    def _unfolded(self, row: Notice) -> Iterator[Notice]:
        """The line of an area; on the left, what has no room on it stands on lines of its own."""
        room = self._left - _HEAD - (BAR + 2) * bool(row.bar)
        if not self._beside or size(row.said) <= room:
            yield row
            return
        yield replace(row, said="")
        for text in wrapped(row.said, self._left - len(_INDENT) - 6):
            yield Notice(("", row.sign[1]), f"{_INDENT}{text}", "", "", row.place, indented=True)

    def _in_full(self, rows: Mapping[RowKey, Notice]) -> Iterator[tuple[RowKey, Notice]]:
        """What is worst, the worst of it broken into as many lines as there is room for, not cut."""
        heads = [row for row in rows.values() if not row.indented]
        taken = sum(max((size(getattr(row, part)) for row in heads), default=0) + 2 for part in ("what", "where"))
        width = self.size.width - (self._left + 1 if self._beside else 0) - _MARGIN
        room = max(_SAID, width - taken)
        below = " " * (width - room) if room >= 2 * _SAID else _DO
        spare = self.size.height - 1 - len(rows) - (0 if self._beside else len(self.areas.view.keys) + 2)
        for key, row in rows.items():
            if row.indented:
                first, *rest = wrapped(row.what.strip(), width, first=_INDENT, rest=_DO)
                whole = replace(row, what=first, whole=row.what)
            else:
                first, *rest = wrapped(row.said, width, first=" " * (width - room), rest=below)
                whole = replace(row, said=first.strip(), whole=row.said)
            if len(rest) > spare:
                yield key, row
                continue
            spare -= len(rest)
            yield key, whole
            for at, text in enumerate(rest):
                tone: Tone = "" if row.indented else row.sign[1]
                yield (
                    (*key, f"{at:02}"),
                    replace(
                        row, sign=("", tone), what=text, where="", said="", indented=True, whole=row.said or row.what
                    ),
                )

    def needs(self) -> Iterable[Need]:
        space = self.session.namespace
        first = Need("Namespace", name=space, required=False), Need("Pod", space)
        return (first[0], *self._areas.needs(), first[1])

    def enter(self, place: Location) -> None:
        super().enter(place)
        result = bool(self.session.namespace)
        self.worst.change_columns([column for column in _WORST if not (result and column.id == "where")])
        self._draw()
        self.worst.focus()

    def focus_main(self) -> None:
        self.table.focus()

    def changed(self, changes: Changes) -> None:
        news = self._areas.step(_SLICE)
        self._due = self._due or bool(changes) or news
        if self._due and perf_counter() >= self._rested:
            self._draw()

    @property
    def busy(self) -> bool:
        return super().busy or self._due or self._areas.busy

    @property
    def sums(self) -> bool:
        return True

    def refresh_sums(self) -> None:
        self._due = True

    def _draw(self) -> None:
        self._due, began = False, perf_counter()
        rows = [line for row in self._area_rows() for line in self._unfolded(row)]
        _put(self.areas, {(f"{at:02}", row.what): row for at, row in enumerate(rows)})
        _put(self.worst, dict(self._in_full(dict(self._worst_rows()))))
        if not self.worst.view.keys:
            reading = super().busy or self._areas.busy
            self.worst.empty = [("quiet", "reading" if reading else "nothing is wrong")]
            if not reading and self.worst.has_focus:
                self.areas.focus()
                self._lent = True
        elif self._lent and self.areas.has_focus:
            # Nothing was wrong so far only, and nobody has chosen the areas.
            self.worst.focus()
            self._lent = False
        self._arrange()
        end = perf_counter()
        self._rested = end + _REST * (end - began)
        self.post_message(Told())

    # Areas

    def _area_rows(self) -> Iterator[Notice]:
        areas = self._areas
        made = [areas.area(maker) for maker in areas.makers]
        yield self._refused()
        for area in (made[0], self._pods(), *made[1:]):
            yield self._area(area)
        spaces = OverviewArea("namespaces", "Namespace", sum(1 for _ in self.session.store.all("Namespace")))
        yield self._area(spaces)
        # Found only once the list is open: rules look at every object.
        yield Notice(("", ""), "check", "", CHECKED, Location("check", self.session.namespace))
        yield from self._server()

    def _area(self, area: OverviewArea) -> Notice:
        maker = next((maker for maker in self._areas.makers if maker.name == area.name), None)
        apart = area.name == "namespaces" or (maker is not None and maker.everywhere)
        place = Location(area.name, "" if apart else self.session.namespace)
        if area.state == "absent":
            return Notice(("", ""), area.name, "-", area_said(area), place)
        need = next(need for need in self.needs() if need.kind == area.kind)
        if not area.count and (why := unseen(self.session, need)):
            return Notice(("?", "warn"), area.name, "?", why, place)
        text = area_said(area) if not area.state else ""
        return Notice(
            SIGNS[area.severity], area.name, self._number(need, area.count or 0), text, place, self._bar(area)
        )

    def _bar(self, area: OverviewArea) -> str:
        return "".join(text for _, text in area_bar(area, ascii_only=self.session.setting.ascii_only))

    def _pods(self) -> OverviewArea:
        return pod_area(self.session.adder.done.values())

    def _refused(self) -> Notice:
        area, place = self._areas.refused(), Location("refused", self.session.namespace)
        lacking = [need for need in self.needs() if need.kind in LISTINGS["refused"].kinds[1:] and need.required]
        why = next(filter(None, (unseen(self.session, need) for need in lacking)), "")
        if area.state:
            text = why or "being computed: whose pods are refused, and what unblocks them"
            return Notice(("?", "warn") if why else ("", ""), "refused", "?" if why else "..", text, place)
        return Notice(SIGNS[area.severity], "refused", str(area.count), area_said(area), place, self._bar(area))

    def _number(self, need: Need, count: int) -> str:
        """The count; with ``..`` while it grows, ``?`` where it cannot be known."""
        coverage = self.session.store.covered(need)
        if coverage.known:
            return f"{count:,}"
        if any(self.session.loading((need,))) or coverage.state == "unread":
            return f"{count:,} so far"
        return f"{count:,}+?" if count else "?"

    def _server(self) -> Iterator[Notice]:
        """That the rules of another version are used, once it is known which one the server has."""
        version = self.session.store.origin.version
        if version or not self.session.setting.live:
            for text in self.session.supposed:
                yield Notice(("!", "warn"), "server", version or "?", text, Location("kinds"))

    # What is worst

    def _worst_rows(self) -> Iterator[tuple[RowKey, Notice]]:
        now = self.session.setting.now()
        for at, problem in enumerate(self._areas.problems()):
            key = f"{at:04}", str(problem.subject), problem.subject.namespace
            yield (*key, ""), self._problem(problem, now)
            if remedy := in_short(problem.remedies):
                command = next(iter(problem.remedies[0].commands), "")
                place = _place(problem)
                yield (*key, "do"), Notice(
                    ("", ""), f"   DO {remedy}", problem.subject.namespace, "", place,
                    command=command, indented=True, ask=ask_words(problem),
                )  # fmt: skip
        for at, gap in enumerate(self._gaps()):
            yield ("gap", f"{at:04}"), gap

    def _problem(self, problem: Problem, now: str) -> Notice:
        ref, sign = problem.subject, SIGNS[problem.severity]
        short = LISTINGS[problem.area].names[1:2] if ref.kind in _SHORT else ()
        what = f"{short[0] if short else ref.kind.lower()}/{ref.name}"
        return Notice(sign, what, ref.namespace, problem_said(problem, now), _place(problem), ask=ask_words(problem))

    def _gaps(self) -> Iterator[Notice]:
        result = []
        for need in self.needs():
            coverage = self.session.store.covered(need)
            if coverage.state in {"denied", "failed"}:
                word = "forbidden" if coverage.state == "denied" else "failed"
                text = f"{word}: {coverage.message}" if coverage.message else word
                result.append(Notice(("?", "bad"), BY_KIND[need.kind].plural, need.namespace, text, Location("kinds")))
        if result:
            pod = not self.session.namespace and unseen(self.session, Need("Pod"))
            text = "one namespace may be readable: :pods NAME" if pod else ""
            yield Notice(("", "quiet"), "NOT VISIBLE", "", text, None)
        yield from result

    # The lines around, and keys

    def status(self) -> Line:
        """The line under the cursor, which has more room here."""
        row: Notice | None = self.table.row
        where = f" of {self.session.namespace}" if self.session.namespace else ""
        if row is None or not (row.said or row.indented):
            return [("", f"overview{where}")]
        if row.indented:
            return [("", f"{(row.whole or row.what).strip()}{'  enter copies the command' if row.command else ''}")]
        inside = f" in {row.where}" if row.place is not None and row.place.ref is not None and row.where else ""
        return [("strong", f"{row.what}{inside}"), (row.sign[1], f"  {row.whole or row.said}")]

    def command(self) -> str:
        """What prints more of the line under the cursor."""
        row: Notice | None = self.table.row
        place = row.place if row is not None else None
        if row is not None and row.ask:
            return self.session.command(row.ask)
        if place is not None and place.view in LISTINGS:
            return LISTINGS[place.view].command(self.session, place.namespace)
        return self.session.command("tui kinds" if place is not None else "overview", self.session.namespace)

    def hints(self) -> Sequence[str]:
        return ("open", "pane", "command", "filter", "kinds", "help", "quit-or-up")

    def apply(self) -> None:
        matcher = self.matched()
        for table in (self.worst, self.areas):
            table.filter(matcher)
        if not self.table.view.keys:
            self._other().focus()
        self.post_message(Told())

    def on_table_opened(self, event: Table.Opened) -> None:
        event.stop()
        row: Notice | None = self.table.view.rows.get(event.key)
        if row is not None and row.command:
            self.post_message(Copy(row.command, "command"))
        elif row is not None and row.place is not None:
            self.post_message(OpenPlace(row.place))

    def on_table_moved(self, event: Table.Moved) -> None:
        event.stop()
        self.post_message(Told())

    def _other(self) -> Table:
        return self.areas if self.table is self.worst else self.worst

    def act(self, action: str) -> bool:
        row: Notice | None = self.table.row
        ref = _ref_of(row)
        match action:
            case "pane" | "pane-back":
                self._lent = False
                self._other().focus()
            case "namespace" if ref is not None and ref.namespace:
                self.post_message(OpenPlace(Location("pods", namespace=ref.namespace)))
            case "explain" if ref is not None:
                view = "report" if ref.kind == "ResourceQuota" else "object"
                self.post_message(OpenPlace(Location(view, ref=ref, tab="text")))
            case "copy" if row is not None and row.command:
                self.post_message(Copy(row.command, "command"))
            case "copy" if ref is not None:
                self.post_message(Copy(ref.name, "name"))
            case "copy-ns" if ref is not None and ref.namespace:
                self.post_message(Copy(ref.namespace, "namespace"))
            case _:
                return super().act(action)
        return True


#: Kinds that have a shorter name than their own.
_SHORT = frozenset({"ResourceQuota", "ResourcePool", "ResourcePoolClaim"})


def _place(problem: Problem) -> Location:
    view = "quota" if problem.subject.kind == "ResourceQuota" else "object"
    return Location(view, ref=problem.subject)


def _put(table: Table, rows: dict[RowKey, Notice]) -> None:
    """The rows, as few of them anew as can be."""
    old = table.view.rows
    if rows.keys() != old.keys():
        table.replace(rows)
    elif changed := {key: row for key, row in rows.items() if row != old[key]}:
        table.update(changed)
        # Anew, since "12 so far" must not leave its width behind.
        table.measure()


def _quiet(row: Notice) -> Tone:
    return "" if row.place is not None else "quiet"


_FACES = Faces(lambda row: f"{row.what} {row.where} {row.said}", lambda _: {}, lambda row: bool(row.sign[0]))
_WORST = (
    Column("what", "WORST FIRST", lambda row: row.what, tone=_quiet, most=36, spills=lambda row: row.indented),
    Column("where", "NAMESPACE", lambda row: row.where, tone=_quiet, most=20),
    Column("said", "", lambda row: row.said, tone=lambda row: row.sign[1], most=200),
)
_AREAS = (
    Column("what", "AREA", lambda row: row.what, spills=lambda row: row.indented),
    Column("where", "COUNT", lambda row: row.where, right=True, most=16),
    Column(
        "bar",
        "",
        lambda row: row.bar or row.said,
        tone=lambda row: row.sign[1],
        width=BAR,
        searched=False,
        spills=lambda row: not row.bar,
    ),
    Column("said", "", lambda row: row.said, tone=lambda row: row.sign[1], most=200),
)


def _ref_of(row: Any) -> ObjectRef | None:
    """The object of a line; None for an area, or where there is no line."""
    return row.place.ref if row is not None and row.place is not None else None
