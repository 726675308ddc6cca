"""The areas as lines: how many there are, and how they fare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from kubectl_kres.model.workload_kinds import POD_MAKERS
from kubectl_kres.render.overview import BAR, CHECKED, SIGNS, area_bar, brief_areas, describe_area
from kubectl_kres.render.text.line import size, wrap_text
from kubectl_kres.reports.overview import OverviewArea, pod_area
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.lists.list_registry import LISTINGS
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.overview.areas import Areas, unread_reason
from kubectl_kres.tui.screens.overview.notice import Notice
from kubectl_kres.tui.screens.overview.strip import CountedArea
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.columns import Column

#: Cells of an area's line before its bar, and what a line of its own begins with.
_HEAD, _INDENT = 34, "   "
#: What stands in the place of a number of which nothing was heard so far.
_NOT_HEARD = ".."

AREA_COLUMNS = (
    Column("what", "AREA", lambda row: row.what, spills=lambda row: row.indented),
    Column("where", "COUNT", lambda row: row.scope, tone=lambda row: row.mark[1], right=True, most=16),
    Column("bar", "", lambda row: row.bar or row.text, tone=lambda row: row.mark[1], width=BAR, searched=False,
           spills=lambda row: not row.bar),
    Column("said", "", lambda row: row.text, most=200, briefer=lambda row: row.briefer),
)  # fmt: skip


def needed_width(counted: Sequence[CountedArea]) -> int:
    """Return the cells that the longest of these lines takes."""
    return max((_HEAD + BAR + 2 + size(row.text) for _, row in counted), default=0)


def wrapped(row: Notice, width: int) -> Iterator[Notice]:
    """Yield the line of an area; what has no room on it stands on lines of its own."""
    if size(row.text) <= width - _HEAD - (BAR + 2) * bool(row.bar):
        yield row
        return
    yield replace(row, text="")
    for text in wrap_text(row.text, width - len(_INDENT) - 7):
        yield Notice(("", row.mark[1]), f"{_INDENT}{text}", "", "", row.location, indented=True)


class AreaRows:
    """``reads``: what the screen needs to be read."""

    def __init__(self, session: Session, areas: Areas, reads: Sequence[ReadRequest]) -> None:
        self._session, self._areas, self._reads = session, areas, reads

    def __iter__(self) -> Iterator[CountedArea]:
        areas, session = self._areas, self._session
        made = [areas.area(maker) for maker in areas.makers]
        yield areas.refused_workloads(), self._refused()
        done, space = session.adder.done, session.namespace
        pods = pod_area(done.values() if not space else [done[space]] if space in done else [])
        yield pods, self._area(pods)
        yield areas.workloads(), self._workloads()
        spaces = OverviewArea("namespaces", "Namespace", sum(1 for _ in session.store.all("Namespace")))
        for area in (*made, spaces):
            yield area, self._area(area)
        # Found only once the list is open: rules look at every object.
        yield None, Notice(("", ""), "check", "", CHECKED, Location("check", space))
        for row in self._server():
            yield None, row

    def _area(self, area: OverviewArea) -> Notice:
        maker = next((maker for maker in self._areas.makers if maker.name == area.name), None)
        apart = area.name == "namespaces" or (maker is not None and maker.everywhere)
        location = Location(area.name, "" if apart else self._session.namespace)
        if area.state == "absent":
            return Notice(("", ""), area.name, "-", describe_area(area), location)
        read = next(read for read in self._reads if read.kind == area.kind)
        if not area.count and (reason := unread_reason(self._session, read)):
            return Notice(("?", "warn"), area.name, "?", reason, location)
        number = self._number(read, area.count or 0)
        text = describe_area(area) if not area.state and number != _NOT_HEARD else ""
        return Notice(
            SIGNS[area.severity], area.name, number, text, location, self._bar(area),
            briefer=brief_areas(area),
        )  # fmt: skip

    def _bar(self, area: OverviewArea) -> str:
        return "".join(text for _, text in area_bar(area, ascii_only=self._session.setting.ascii_only))

    def _refused(self) -> Notice:
        area, location = self._areas.refused_workloads(), Location("refused", self._session.namespace)
        kinds = LISTINGS["refused"].source.kinds[1:]
        reason = self._why_unread(read for read in self._reads if read.kind in kinds and read.required)
        if area.state:
            return self._untold(location, reason, "whose pods are refused, and what unblocks them")
        if reason and not area.count:
            return Notice(("?", "warn"), "refused", "?", reason, location)
        count = f"{area.count}{'+?' if reason else ''}"
        # Of how many, the area of all workloads says.
        text = "why, and what unblocks them" if area.count else "none"
        return Notice(SIGNS[area.severity], "refused", count, text, location)

    def _workloads(self) -> Notice:
        """Return how many workloads are refused, run, wait or fail."""
        area, space = self._areas.workloads(), self._session.namespace
        location = Location("workloads", space)
        made_of = (read for read in self._reads if read.kind in POD_MAKERS and read.required)
        reason = self._why_unread((ReadRequest("Pod", space), *made_of))
        if area.state or (reason and not area.count):
            return self._untold(location, reason, "what runs, waits or fails")
        count = f"{area.count}{'+?' if reason else ''}"
        return Notice(SIGNS[area.severity], "workloads", count, describe_area(area), location, self._bar(area),
                      briefer=brief_areas(area))  # fmt: skip

    def _why_unread(self, reads: Iterable[ReadRequest]) -> str:
        return next(filter(None, (unread_reason(self._session, read) for read in reads)), "")

    def _untold(self, location: Location, reason: str, what: str) -> Notice:
        """Return why nothing is known of an area, else what it will tell, and what it waits for."""
        if reason:
            return Notice(("?", "warn"), location.view, "?", reason, location)
        silent = [state for _, state in self._session.unread_requests(self._reads) if state.phase == "connecting"]
        text = f"{'no answer so far' if silent else 'being computed'}: {what}"
        return Notice(("", ""), location.view, _NOT_HEARD, text, location)

    def _number(self, read: ReadRequest, count: int) -> str:
        """Return the count; ``..`` where none was heard of so far, ``?`` where it cannot be known."""
        coverage = self._session.store.covered(read)
        if coverage.is_known:
            return f"{count:,}"
        if any(self._session.unread_requests((read,))) or coverage.state == "unread":
            return f"{count:,} so far" if count else _NOT_HEARD
        return f"{count:,}+?" if count else "?"

    def _server(self) -> Iterator[Notice]:
        """Yield the sentence that the rules of another version are used, once it is known which one the server has."""
        version = self._session.store.origin.version
        if version or not self._session.setting.live:
            for text in self._session.assumptions:
                yield Notice(("!", "warn"), "server", version or "?", text, Location("kinds"))
