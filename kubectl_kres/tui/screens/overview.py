"""The first screen: the worst problems with remedies, counts of each area, and what could not be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from time import perf_counter
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from textual import events
from textual.app import ComposeResult
from textual.containers import Container

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.workload_kinds import POD_MAKERS
from kubectl_kres.render.overview import (
    BAR,
    CHECKED,
    SIGNS,
    area_bar,
    ask_words,
    brief_areas,
    describe_area,
    describe_problem,
    pods_of,
    short_causes,
    short_ref,
)
from kubectl_kres.render.text.line import Line, Tone, age_text, labelled_lines, size, tone_lines, wrap_text
from kubectl_kres.render.verdict.remedy import first_fix_lines, not_copied, to_copy
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.reports.overview import OverviewArea, Problem, pod_area
from kubectl_kres.reports.pod.verdict import list_refusers
from kubectl_kres.store.store import Changes, ReadRequest
from kubectl_kres.tui.lists.list_registry import LISTINGS, find_row
from kubectl_kres.tui.lists.timeline import history_lines
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.overview import Areas, unread_reason
from kubectl_kres.tui.screens.pane import Copy, FrameChanged, OpenPlace, StatusRemark, TablePane
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.columns import Column
from kubectl_kres.tui.table.row_filter import Faces
from kubectl_kres.tui.table.row_order import RowKey
from kubectl_kres.tui.table.row_table import Table
from kubectl_kres.tui.whatif import number_of_fix
from kubectl_kres.tui.widgets.lines import Lines

#: A drawing is followed by a rest of so many times what it took: keys come first.
_REST = 10
#: Seconds at a time for what is computed between keys.
_SLICE = 0.012
#: Width from which a second pane stands beside what is worst, the part that what is worst has of it then, and the
#: cells beyond which the second pane leaves it more.
_BESIDE, _LEFT, _SIDE = 150, 0.6, 80
#: Problems that are in sight before the areas have a table of their own, below what is worst; on a lower screen a strip
#: tells of them.
_IN_SIGHT = 10
#: Cells of an area's line before its bar, and what a line of its own begins with.
_HEAD, _INDENT = 34, "   "
#: What stands in the place of a number of which nothing was heard so far.
_NOT_HEARD = ".."
#: Lines of what mends the problem under the cursor, below the problems.
_FIXES = 6
#: Cells of the status line that are no text.
_STATUS = 6
#: Lines of the strip at the most.
_STRIP = 2
#: Lines that what is worst has at least.
_LEAST = 5


#: What the first screen says until it is left for the first time, and the lines that it has at the least then.
_FIRST_STEPS = (
    ("enter", "opens what is under the cursor, esc goes back"),
    ("s", "tries the fix: all screens show what it leads to; shift-u ends that"),
    (": / ^p", "go to a list (deploy, nodes, waiting), filter it, find an object"),
    ("?", "says what the keys and words of a screen mean"),
    ("ctrl-y", "copies the command of a screen; nothing is written to the cluster"),
)
_ROOM_TO_GREET = 17


class Notice(Struct, frozen=True):
    """A line. ``what``: an area, or an object; ``scope``: how many, or in which namespace.

    ``location``: where Enter goes; None: nowhere. ``indented``: it continues the line above. ``command``: the words of
    the command that says more. ``pods``, ``age``: how many pods there are of how many wanted, and since when.
    ``briefer``: the text in fewer and fewer words.
    """

    mark: tuple[str, Tone]
    what: str
    scope: str
    text: str
    location: Location | None
    bar: str = ""
    indented: bool = False
    command: str = ""
    pods: str = ""
    age: str = ""
    problem: Problem | None = None
    briefer: tuple[str, ...] = ()


class OverviewPane(TablePane):
    """What is worst, a line a problem; what mends the one under the cursor; the areas, as a strip where room is short.

    What costs much is computed between keys.
    """

    sortable = False

    def __init__(self, session: Session, location: Location) -> None:
        super().__init__(session, location)
        self.strip, self.fixes, self.both = Lines(id="strip"), Lines(id="fixes"), Container(id="both")
        self.steps = Lines(lambda _: _first_steps(), id="steps")
        self.steps.entitle("first steps")
        self.strip.can_focus = self.steps.can_focus = False
        self.worst = Table(_WORST, _FACES, sign=lambda row: row.mark, id="worst")
        self.areas = Table(_AREAS, _FACES, sign=lambda row: row.mark, id="areas")
        self.areas.entitle("areas")
        self.worst.cursor_needs_focus = self.areas.cursor_needs_focus = True
        #: The one that keys are about.
        self.table = self.worst
        if session.what_if is not None:
            change = session.what_if
            self.worst.differs = lambda row: (ref := _ref_of(row)) is not None and change.is_changed(ref)
        self._areas = Areas(session)
        self._counted_areas: list[tuple[OverviewArea | None, Notice]] = []
        self._needs_update, self._rested = False, 0.0
        #: Whether the areas have the keys because nothing was wrong.
        self._focus_moved = False
        self._greets = False
        #: The line whose remedies are shown.
        self._reported: Notice | None = None

    def ref_of_row(self) -> ObjectRef | None:
        return _ref_of(self.table.row)

    def compose(self) -> ComposeResult:
        yield self.strip
        with self.both:
            yield self.worst
            yield self.fixes
            yield self.areas
        yield self.steps

    def on_mount(self) -> None:
        # Its lines are broken for a new width only once it has that width.
        self.watch(self.strip, "virtual_size", self._arrange, init=False)
        self.enter(self.location)

    def on_resize(self) -> None:
        # Where the areas stand decides how their lines are broken.
        self._draw()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if not self.is_attached:
            return  # the screen was left while the focus was on its way
        if isinstance(event.widget, Table):
            self.table = event.widget
        self._arrange()
        self.post_message(FrameChanged())

    def _arrange(self) -> None:
        """What mends it beside what is worst where both have room, else below; the areas below what is worst.

        On a low screen they take its place while they have the keys, and a strip on top tells of them.
        """
        height, beside, high = self.size.height, self._is_wide_screen, self._is_high_screen
        self.set_class(beside, "beside")
        self.strip.display = not high
        self.steps.display = self._greets and height >= _ROOM_TO_GREET
        height -= len(_FIRST_STEPS) + 1 if self.steps.display else 0
        at_areas = self.areas.has_focus or self.screen.focused is self.areas
        self.areas.display = high or at_areas
        self.fixes.display = beside or ((high or not at_areas) and height >= _LEAST + _FIXES) or self.fixes.has_focus
        # The strip is asked for its lines: its size is still that of its last ones.
        height -= 0 if high else min(_STRIP, self.strip.virtual_size.height)
        problems, rows = len(self.worst.view.keys) + 1, len(self.areas.view.keys) + 2
        areas = max(min(4, height), min(rows, height - min(problems, _LEAST))) if self.areas.display else 0
        if beside:
            self.both.styles.grid_size_columns, self.both.styles.grid_size_rows = 2, 2
            self.both.styles.grid_columns = f"{self._left_width} 1fr"
            self.both.styles.grid_rows = f"1fr {areas}"
            self.areas.styles.height = self.fixes.styles.height = "1fr"
            return
        self.areas.styles.height = areas
        # Problems have the room that they need; what they leave is for what mends them.
        self.fixes.styles.height = max(_FIXES if high else min(_FIXES, height // 2), height - areas - problems)

    @property
    def _is_wide_screen(self) -> bool:
        return self.size.width >= _BESIDE

    @property
    def _is_high_screen(self) -> bool:
        problems = min(len(self.worst.view.keys), _IN_SIGHT) + 1
        below = 0 if self._is_wide_screen else _FIXES
        return self.size.height >= problems + below + len(self.areas.view.keys) + 2

    @property
    def _left_width(self) -> int:
        """Return the cells that what is worst has beside a second pane: what its texts need, if that leaves enough."""
        width = self.size.width
        maximum = max(int(width * _LEFT), width - _SIDE)
        areas = max((_HEAD + BAR + 2 + size(row.text) for _, row in self._counted_areas), default=0)
        return max(width // 2, min(max(self.worst.whole_width, areas), maximum))

    def _wrap_row(self, row: Notice) -> Iterator[Notice]:
        """Yield the line of an area; below what is worst, what has no room on it stands on lines of its own."""
        room = self._left_width - _HEAD - (BAR + 2) * bool(row.bar)
        if not self._is_wide_screen or size(row.text) <= room:
            yield row
            return
        yield replace(row, text="")
        for text in wrap_text(row.text, self._left_width - len(_INDENT) - 7):
            yield Notice(("", row.mark[1]), f"{_INDENT}{text}", "", "", row.location, indented=True)

    def _strip(self, width: int) -> Iterable[Line]:
        """The counts of all areas: how many are not as they should be, of how many; where there is no room for all,
        of those where something is not, and then without the refused ones, which are workloads, too.
        """
        wrong = [pair for pair in self._counted_areas if pair[1].mark[0]]
        once = [(area, row) for area, row in wrong if area is None or area.name != "refused"]
        for counted in (self._counted_areas, wrong):
            lines = list(self._strip_lines(counted, width))
            if len(lines) <= _STRIP:
                return lines
        return self._strip_lines(once, width)

    def _strip_lines(self, counted: Sequence[tuple[OverviewArea | None, Notice]], width: int) -> Iterator[Line]:
        line: list[tuple[Tone, str]] = []
        for area, row in counted:
            off = sum(part.count for part in area.parts if part.severity) if area is not None and not area.unit else 0
            if row.scope == "-" or not row.scope:
                continue
            text = f"{row.what} {f'{off} of ' if off else ''}{row.scope}"
            if line and sum(size(part) for _, part in line) + size(text) + 2 > width:
                yield line
                line = []
            line.append((row.mark[1], f"{'  ' if line else ''}{text}"))
        yield line

    def _fixes(self, width: int) -> Iterator[Line]:
        """Yield what mends the problem under the cursor, whose it is, and the whole of what is wrong."""
        row: Notice | None = self.worst.row
        if row is None:
            return
        if row.problem is None:
            yield from tone_lines(row.mark[1], wrap_text(row.text, width))
            return
        yield from first_fix_lines(row.problem.fixes, width)
        cause = describe_problem(row.problem, self.session.setting.now())
        (label, (_, text)), *rest = labelled_lines("because", cause, width)
        word, colon, more = text.partition(":")
        yield [label, (row.mark[1], word), ("", f"{colon}{more}")]
        yield from rest
        if not row.problem.fixes and row.problem.area != "refused":
            yield [("strong", f"{'next':<8}"), ("command", self.session.command(row.command))]
        if self._is_wide_screen:
            yield from self._details(row.problem, width)

    def _details(self, problem: Problem, width: int) -> Iterator[Line]:
        """Yield what the lists say of the object that is wrong, and of the quotas that refuse it."""
        for ref in _refs_of_problem(problem):
            if (row_of_list := find_row(self.session, ref)) is not None:
                listing, row = row_of_list
                yield []
                yield from listing.detail(self.session, row, width)

    def _history(self, width: int, room: int) -> Iterator[Line]:
        """Yield what happened, on the lines that are left."""
        row: Notice | None = self.worst.row
        if row is not None and row.problem is not None:
            yield from history_lines(self.session, _refs_of_problem(row.problem), width, room)

    @property
    def _fix(self) -> Remedy | None:
        """The first remedy of the problem under the cursor."""
        return next(iter(_list_remedies(self.worst.row)), None)

    def value_here(self) -> tuple[ObjectRef | None, str, str]:
        return number_of_fix(_list_remedies(self.table.row)) or super().value_here()

    def reads(self) -> Iterable[ReadRequest]:
        space = self.session.namespace
        first = ReadRequest("Namespace", name=space, required=False), ReadRequest("Pod", space)
        return (first[0], *self._areas.reads(), first[1])

    def enter(self, location: Location) -> None:
        super().enter(location)
        self._greets, self.session.greets = self.session.greets, False
        if self._areas.namespace != self.session.namespace:
            # What was found in another one stands on the screen no longer.
            self._areas = Areas(self.session)
        self.worst.change_columns([column for column in _WORST if column.id != "where" or not self.session.namespace])
        self._draw()
        self.worst.focus()

    def focus_main(self) -> None:
        self.table.focus()

    def apply_changes(self, changes: Changes) -> None:
        news = self._areas.step(_SLICE)
        self._needs_update = self._needs_update or bool(changes) or news
        if self._needs_update and perf_counter() >= self._rested:
            self._draw()

    @property
    def has_work(self) -> bool:
        return self._needs_update or self._areas.busy

    @property
    def awaits_rows(self) -> bool:
        return not self.worst.view.rows and self.session.is_reading(self.reads())

    @property
    def sums(self) -> bool:
        return True

    def refresh_sums(self) -> None:
        self._needs_update = True

    def _draw(self) -> None:
        self._needs_update, began = False, perf_counter()
        self._counted_areas = list(self._area_rows())
        rows = [line for _, row in self._counted_areas for line in self._wrap_row(row)]
        _update_table(self.areas, {(f"{index:02}", row.what): row for index, row in enumerate(rows)})
        _update_table(self.worst, dict(self._worst_rows()))
        self.strip.put(self._strip)
        self._show_remedies()
        if not self.worst.view.keys:
            reading = super().busy or self._areas.busy
            self.worst.empty = [("quiet", "reading" if reading else self._empty_text())]
            if not reading and self.worst.has_focus:
                self.areas.focus()
                self._focus_moved = True
        elif self._focus_moved and self.areas.has_focus:
            # Nothing was wrong so far only, and nobody has chosen the areas.
            self.worst.focus()
            self._focus_moved = False
        self._arrange()
        end = perf_counter()
        self._rested = end + _REST * (end - began)
        self.post_message(FrameChanged())

    def _show_remedies(self) -> None:
        """What mends the problem under the cursor, made anew where that is another one."""
        row: Notice | None = self.worst.row
        if row != self._reported or row is None:
            same = row is not None and self._reported is not None and row.location == self._reported.location
            self._reported = row
            self.fixes.entitle(row.what if row is not None else "")
            self.fixes.put(self._fixes, self._history, keep=same)

    # Areas

    def _area_rows(self) -> Iterator[tuple[OverviewArea | None, Notice]]:
        areas = self._areas
        area_list = [areas.area(maker) for maker in areas.makers]
        yield self._areas.refused_workloads(), self._refused_notice()
        pods = self._pods()
        yield pods, self._area(pods)
        yield areas.workloads(), self._workloads_notice()
        spaces = OverviewArea("namespaces", "Namespace", sum(1 for _ in self.session.store.all("Namespace")))
        for area in (*area_list, spaces):
            yield area, self._area(area)
        # Found only once the list is open: rules look at every object.
        yield None, Notice(("", ""), "check", "", CHECKED, Location("check", self.session.namespace))
        for row in self._server():
            yield None, row

    def _area(self, area: OverviewArea) -> Notice:
        maker = next((maker for maker in self._areas.makers if maker.name == area.name), None)
        apart = area.name == "namespaces" or (maker is not None and maker.everywhere)
        location = Location(area.name, "" if apart else self.session.namespace)
        if area.state == "absent":
            return Notice(("", ""), area.name, "-", describe_area(area), location)
        read = next(read for read in self.reads() if read.kind == area.kind)
        if not area.count and (reason := unread_reason(self.session, read)):
            return Notice(("?", "warn"), area.name, "?", reason, location)
        number = self._number(read, area.count or 0)
        text = describe_area(area) if not area.state and number != _NOT_HEARD else ""
        return Notice(
            SIGNS[area.severity], area.name, number, text, location, self._bar(area),
            briefer=brief_areas(area),
        )  # fmt: skip

    def _bar(self, area: OverviewArea) -> str:
        return "".join(text for _, text in area_bar(area, ascii_only=self.session.setting.ascii_only))

    def _pods(self) -> OverviewArea:
        done, space = self.session.adder.done, self.session.namespace
        return pod_area(done.values() if not space else [done[space]] if space in done else [])

    def _refused_notice(self) -> Notice:
        area, location = self._areas.refused_workloads(), Location("refused", self.session.namespace)
        lacking = [read for read in self.reads() if read.kind in LISTINGS["refused"].source.kinds[1:] and read.required]
        reason = next(filter(None, (unread_reason(self.session, read) for read in lacking)), "")
        if area.state:
            text = reason or self._told_later("whose pods are refused, and what unblocks them")
            sign: tuple[str, Tone] = ("?", "warn") if reason else ("", "")
            return Notice(sign, "refused", "?" if reason else _NOT_HEARD, text, location)
        if reason and not area.count:
            return Notice(("?", "warn"), "refused", "?", reason, location)
        count = f"{area.count}{'+?' if reason else ''}"
        # Of how many, the area of all workloads says.
        text = "why, and what unblocks them" if area.count else "none"
        return Notice(SIGNS[area.severity], "refused", count, text, location)

    def _workloads_notice(self) -> Notice:
        """Return how many workloads are refused, run, wait or fail."""
        area, location = self._areas.workloads(), Location("workloads", self.session.namespace)
        made_of = [ReadRequest("Pod", self.session.namespace)]
        made_of += [read for read in self.reads() if read.kind in POD_MAKERS and read.required]
        reason = next(filter(None, (unread_reason(self.session, read) for read in made_of)), "")
        if area.state or (reason and not area.count):
            text = reason or self._told_later("what runs, waits or fails")
            sign: tuple[str, Tone] = ("?", "warn") if reason else ("", "")
            return Notice(sign, "workloads", "?" if reason else _NOT_HEARD, text, location)
        count = f"{area.count}{'+?' if reason else ''}"
        return Notice(SIGNS[area.severity], "workloads", count, describe_area(area), location, self._bar(area),
                      briefer=brief_areas(area))  # fmt: skip

    def _told_later(self, what: str) -> str:
        """Return what an area will tell, and what it waits for."""
        silent = [state for _, state in self.session.unread_requests(self.reads()) if state.phase == "connecting"]
        return f"{'no answer so far' if silent else 'being computed'}: {what}"

    def _number(self, read: ReadRequest, count: int) -> str:
        """Return the count; ``..`` where none was heard of so far, ``?`` where it cannot be known."""
        coverage = self.session.store.covered(read)
        if coverage.is_known:
            return f"{count:,}"
        if any(self.session.unread_requests((read,))) or coverage.state == "unread":
            return f"{count:,} so far" if count else _NOT_HEARD
        return f"{count:,}+?" if count else "?"

    def _server(self) -> Iterator[Notice]:
        """Yield the sentence that the rules of another version are used, once it is known which one the server has."""
        version = self.session.store.origin.version
        if version or not self.session.setting.live:
            for text in self.session.assumptions:
                yield Notice(("!", "warn"), "server", version or "?", text, Location("kinds"))

    # What is worst

    def _empty_text(self) -> str:
        """Return the sentence that nothing is wrong, and where else to look."""
        space, count = self.session.namespace, sum(1 for _ in self.session.store.all("Namespace"))
        namespace_text = f" in {space}; 0 shows all {f'{count} ' if count > 1 else ''}namespaces" if space else ""
        return f"nothing is wrong{namespace_text}"

    def _worst_rows(self) -> Iterator[tuple[RowKey, Notice]]:
        now = self.session.setting.now()
        for index, problem in enumerate(self._areas.problems()):
            key = f"{index:04}", str(problem.subject), problem.subject.namespace
            yield key, self._problem(problem, now)
        for index, gap in enumerate(self._gaps()):
            yield ("gap", f"{index:04}"), gap

    def _problem(self, problem: Problem, now: str) -> Notice:
        ref = problem.subject
        sign: tuple[str, Tone] = ("", "quiet") if problem.elsewhere else SIGNS[problem.severity]
        what = short_ref(ref)
        location = Location("quota" if ref.kind == "ResourceQuota" else "object", ref=ref)
        before = "other namespaces: " if problem.elsewhere else ""
        text, *briefer = (f"{before}{form}" for form in short_causes(problem))
        return Notice(
            sign, what, ref.namespace, text, location, command=ask_words(problem),
            pods=pods_of(problem), age=age_text(problem.since, now), problem=problem, briefer=tuple(briefer),
        )  # fmt: skip

    def _gaps(self) -> Iterator[Notice]:
        result = []
        # What nodes say is more than was asked for: without them the scheduler's own words stand there.
        more = set(self._areas.node_reads())
        for read in (read for read in self.reads() if read not in more):
            coverage = self.session.store.covered(read)
            if coverage.state in {"denied", "failed"}:
                word = "forbidden" if coverage.state == "denied" else "failed"
                text = f"{word}: {coverage.message}" if coverage.message else word
                result.append(Notice(("?", "bad"), BY_KIND[read.kind].plural, read.namespace, text, Location("kinds")))
        if result:
            pod = not self.session.namespace and unread_reason(self.session, ReadRequest("Pod"))
            yield Notice(("", "quiet"), "NOT VISIBLE", "", "one namespace may be: :pods NAME" if pod else "", None)
        yield from result

    # The lines around, and keys

    def status(self) -> Line:
        """Return the line under the cursor, which has more room here."""
        row: Notice | None = self.table.row
        namespace_text = f" of {self.session.namespace}" if self.session.namespace else ""
        if row is None or not (row.text or row.indented):
            return [("", f"overview{namespace_text}")]
        inside = f" in {row.scope}" if row.location is not None and row.location.ref is not None and row.scope else ""
        what = f"{row.what}{inside}".strip()
        text = describe_problem(row.problem, self.session.setting.now()) if row.problem is not None else row.text
        room = self.size.width - _STATUS - size(what)
        fitting = next((form for form in (text, row.text, *row.briefer) if size(form) < room), row.text)
        return [("strong", what), (row.mark[1], f"  {fitting}")]

    def command(self) -> str:
        """Return what prints more of the line under the cursor."""
        row: Notice | None = self.table.row
        location = row.location if row is not None else None
        if row is not None and row.command:
            return self.session.command(row.command)
        if location is not None and location.view in LISTINGS:
            return LISTINGS[location.view].command(self.session, location.namespace)
        return self.session.command("tui kinds" if location is not None else "overview", self.session.namespace)

    def hints(self) -> Sequence[str]:
        return ("filter", "command", "help", "suppose", "timeline", "pane", "kinds", "quit-or-up")

    def apply(self) -> None:
        matcher = self.matched()
        for table in (self.worst, self.areas):
            table.filter(matcher)
        if not self.table.view.keys:
            (self.areas if self.table is self.worst else self.worst).focus()
        self.post_message(FrameChanged())

    def on_table_opened(self, event: Table.Opened) -> None:
        event.stop()
        row: Notice | None = self.table.view.rows.get(event.key)
        if row is not None and row.location is not None:
            self.post_message(OpenPlace(row.location))

    def on_table_moved(self, event: Table.Moved) -> None:
        event.stop()
        self._show_remedies()
        self.post_message(FrameChanged())

    def _turn_page(self, by: int) -> None:
        """From what is worst to the areas, then to what mends it, and back."""
        panes = [self.worst, self.areas, self.fixes]
        now = next((index for index, pane in enumerate(panes) if pane.has_focus), 0)
        chosen = panes[(now + by) % len(panes)]
        # What has no room beside another one is not shown, and what is not shown takes no keys.
        chosen.display = True
        chosen.focus()

    def on_lines_nothing_to_copy(self, event: Lines.NothingToCopy) -> None:
        """Why the first remedy has no command."""
        event.stop()
        self.post_message(StatusRemark(not_copied(self._fix), "warn"))

    def act(self, action: str) -> bool:
        row: Notice | None = self.table.row
        ref = _ref_of(row)
        match action:
            case "pane" | "pane-back":
                self._focus_moved = False
                self._turn_page(1 if action == "pane" else -1)
            case "right" if self.worst.has_focus:
                self._turn_page(-1)
            case "left" if self.fixes.has_focus:
                self.worst.focus()
            case "copy" if self.fixes.has_focus and (text := to_copy(self._fix)):
                self.post_message(Copy(text, "command" if self._fix and self._fix.commands else "field and value"))
            case "namespace" if ref is not None and ref.namespace:
                self.post_message(OpenPlace(Location("pods", namespace=ref.namespace)))
            case "explain" if ref is not None:
                view = "report" if ref.kind == "ResourceQuota" else "object"
                self.post_message(OpenPlace(Location(view, ref=ref, tab="text")))
            case "copy" if ref is not None:
                self.post_message(Copy(ref.name, "name"))
            case "copy-ns" if ref is not None and ref.namespace:
                self.post_message(Copy(ref.namespace, "namespace"))
            case _:
                return super().act(action)
        return True


def _first_steps() -> Iterator[Line]:
    for key, text in _FIRST_STEPS:
        yield [("strong", f" {key:<8}"), ("", text)]


def _update_table(table: Table, rows: dict[RowKey, Notice]) -> None:
    """The rows, as few of them anew as can be."""
    old = table.view.rows
    if table.cursor is not None and table.cursor not in rows and table.returns_to is None and table.line:
        # Its object may stand at another place now.
        table.returns_to = table.cursor
    if table.returns_to is not None:
        objects = {key[1:]: key for key in rows}
        table.returns_to = objects.get(table.returns_to[1:], table.returns_to)
    if rows.keys() != old.keys():
        table.replace(rows)
    elif changed := {key: row for key, row in rows.items() if row != old[key]}:
        table.update(changed)
        # Anew, since "12 so far" must not leave its width behind.
        table.measure_widths()


def _row_tone(row: Notice) -> Tone:
    return "" if row.location is not None else "quiet"


_FACES = Faces(lambda row: f"{row.what} {row.scope} {row.text}", lambda _: {}, lambda row: bool(row.mark[0]))
_WORST = (
    Column("where", "NAMESPACE", lambda row: row.scope, tone=_row_tone, most=18),
    Column("what", "WORST FIRST", lambda row: row.what, tone=_row_tone, most=22),
    Column("said", "", lambda row: row.text, tone=lambda row: row.mark[1], most=200, briefer=lambda row: row.briefer,
           spills=lambda row: row.problem is None, leads=True),
    Column("pods", "PODS", lambda row: row.pods, tone=lambda row: row.mark[1], right=True),
    Column("age", "AGE", lambda row: row.age, right=True),
)  # fmt: skip
_AREAS = (
    Column("what", "AREA", lambda row: row.what, spills=lambda row: row.indented),
    Column("where", "COUNT", lambda row: row.scope, tone=lambda row: row.mark[1], right=True, most=16),
    Column(
        "bar",
        "",
        lambda row: row.bar or row.text,
        tone=lambda row: row.mark[1],
        width=BAR,
        searched=False,
        spills=lambda row: not row.bar,
    ),
    Column("said", "", lambda row: row.text, most=200, briefer=lambda row: row.briefer),
)


def _list_remedies(row: Notice | None) -> Sequence[Remedy]:
    """Return what mends the problem of a line; of none, nothing."""
    return row.problem.fixes if row is not None and row.problem is not None else ()


def _refs_of_problem(problem: Problem) -> tuple[ObjectRef, ...]:
    """Return the object that is wrong, and those that refuse its pods."""
    refusers = list_refusers(problem.verdict) if problem.verdict is not None else ()
    return tuple(dict.fromkeys((problem.subject, *refusers)))


def _ref_of(row: Any) -> ObjectRef | None:
    """Return the object of a line; None for an area, or where there is no line."""
    return row.location.ref if row is not None and row.location is not None else None
