"""The screen for each location: lists by their entry, objects by their kind, and what becomes of numbers that are
tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from textual.app import ComposeResult

from kubectl_kres.model.kinds import BY_KIND, Kind
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload import Workload
from kubectl_kres.render.before_after import before_after
from kubectl_kres.render.change_report import change_lines
from kubectl_kres.render.pictures.holders import holders_lines, quota_rooms
from kubectl_kres.render.pod.verdict import head_lines
from kubectl_kres.render.quota.quota_blocks import quota_lines
from kubectl_kres.render.text.line import Line, tone_lines, wrap_text
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.remedy import RaiseQuota
from kubectl_kres.reports.common.system import is_shown
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.overview import list_refusals
from kubectl_kres.reports.quota.quota_report import quota_reports
from kubectl_kres.simulate.change import Patch, key_of_step
from kubectl_kres.tui.lists.list_registry import LISTINGS
from kubectl_kres.tui.lists.timeline import history_lines
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.screens.browse.pane import Browse
from kubectl_kres.tui.screens.help import HelpPane
from kubectl_kres.tui.screens.kinds import KindsPane
from kubectl_kres.tui.screens.object import ReportPane
from kubectl_kres.tui.screens.overview.pane import OverviewPane
from kubectl_kres.tui.screens.pane import Pane
from kubectl_kres.tui.screens.pod import PodPane
from kubectl_kres.tui.screens.quota import QuotaPane, without_users
from kubectl_kres.tui.screens.users import UsersPane, users_of
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.system import systems
from kubectl_kres.tui.whatif import TypedNumber, WhatIf
from kubectl_kres.tui.widgets.lines import Lines


def _tried_refs(change: WhatIf) -> tuple[ObjectRef, ...]:
    """Return the objects whose numbers are tried."""
    steps = (typed_number.placed_step for typed_number in change.typed_numbers)
    return tuple(ObjectRef(*key_of_step(placed_step.step), placed_step.namespace) for placed_step in steps)


class WhatIfPane(Pane):
    """One page of text. All other screens are drawn on the state that it tells of, until the change is left."""

    def __init__(self, session: Session, location: Location) -> None:
        super().__init__(session, location)
        self.page = Lines()

    def compose(self) -> ComposeResult:
        yield self.page

    def on_mount(self) -> None:
        self.page.put(self._lines, self._history)
        self.page.focus()

    def _history(self, width: int, room: int) -> Iterable[Line]:
        change = self.session.what_if
        return history_lines(self.session, _tried_refs(change), width, room) if change is not None else ()

    def _lines(self, width: int) -> Iterator[Line]:
        change = self.session.what_if
        if change is None:
            yield [("quiet", "nothing is tried: s on a value does")]
            return
        drawn = list(before_after(change.report, width, ascii_only=self.session.setting.ascii_only))
        yield from drawn
        if len(change.typed_numbers) == 1:
            # Of several each may take the room that another one makes.
            yield from self._smallest(change, change.typed_numbers[0], width)
        if drawn:
            yield [("", "")]
        yield [("strong", "to make it so")]
        for typed_number in change.typed_numbers:
            if typed_number.owner:
                undone = f"{typed_number.owner}; a patch of the cluster would be undone"
                yield from tone_lines("warn", wrap_text(undone, width, first="  ", rest="  "))
            yield [("", "  "), ("command", typed_number.lasting)]
        yield [("", "")]
        yield from change_lines(change.report, width)
        yield from self._states_after(change, width)

    def _states_after(self, change: WhatIf, width: int) -> Iterator[Line]:
        """Yield how it is then: the workloads that were tried, and each quota that changes with who holds it."""
        changed = dict.fromkeys(item.quota for item in change.report.quotas)
        for ref in dict.fromkeys((*_tried_refs(change), *changed)):
            item = self.session.get(ref)
            if item is None:
                continue
            if ref in changed:
                [report] = quota_reports(self.session.store, [item], self.session.evaluation_options, by="workload")
                ascii_only = self.session.setting.ascii_only
                yield [("", "")]
                yield from quota_lines(without_users(report), ascii_only=ascii_only, width=width)
                yield from holders_lines(quota_rooms(report), width, ascii_only=ascii_only, figures=False)
            elif BY_KIND[ref.kind].struct is Workload:
                yield [("", "")]
                yield [("strong", f"{ref.kind.lower()} {ref.name}"), ("", f" in {ref.namespace}")]
                explanation = explain(self.session.store, self.session.subject(ref), self.session.evaluation_options)
                yield from head_lines(explanation, width, self.session.setting.now())

    def _smallest(self, change: WhatIf, typed_number: TypedNumber, width: int) -> Iterator[Line]:
        """Yield the smallest number of a quota with which each workload that it refuses gets all its pods; where that
        number alone is not enough, all that has to change.
        """
        step = typed_number.placed_step.step
        if not isinstance(step, Patch) or step.kind != "ResourceQuota":
            return
        name = typed_number.value.rpartition(" ")[2]
        real, space = change.real, typed_number.placed_step.namespace
        for refusal in list_refusals(real.store, space, real.evaluation_options):
            edits = [(edit, remedy) for remedy in refusal.fixes for edit in remedy.edits] if refusal is not None else []
            for edit, remedy in edits:
                if isinstance(edit, RaiseQuota) and edit.object.name == step.name and edit.resource == name:
                    assert refusal is not None
                    alone = len(remedy.edits) == 1 and not remedy.remaining_refusal
                    text = (
                        f"smallest that lets all of {refusal.subject} in: {edit.to}"
                        if alone
                        else f"{refusal.subject} needs more than {name}: {sentence_text(remedy.text)}"
                    )
                    yield from tone_lines("", wrap_text(text, width, rest="  "))
                    if remedy.remaining_refusal:
                        rest = f"then still refused: {sentence_text(remedy.remaining_refusal)}"
                        yield from tone_lines("warn", wrap_text(rest, width, first="  ", rest="  "))
                    break

    def command(self) -> str:
        return self.session.command("simulate")

    def status(self) -> Line:
        return [("warn", "all screens show this state; ~ marks what differs"), ("quiet", "  shift-u leaves it")]

    def breadcrumb(self) -> str:
        return "what if"

    def hints(self) -> Sequence[str]:
        return ("up", "suppose", "unsuppose", "copy-command", "help")


#: Kinds whose objects have a screen of their own; what makes pods and what is a policy needs no entry.
OBJECTS: Mapping[str, type[Pane]] = {kind: pane for system in systems() for kind, pane in system.panes().items()}
#: What else than quotas is used by somebody.
USERS: Mapping[str, type[Pane]] = {kind: pane for system in systems() for kind, pane in system.users().items()}
_VIEWS: Mapping[str, type[Pane]] = {
    "overview": OverviewPane,
    "quota": QuotaPane,
    "report": ReportPane,
    "kinds": KindsPane,
    "whatif": WhatIfPane,
}


def has_screen(kind: Kind) -> bool:
    """Return whether an object of the kind can be opened."""
    return is_shown(kind)


def users_location(session: Session, ref: ObjectRef | None, owner: Location | None) -> Location | None:
    """Return the screen of who uses an object, or what it belongs to, else the fullest quota of its namespace; None:
    there is none.
    """
    refs = (ref, owner.ref if owner is not None else None)
    shared = next((ref for ref in refs if ref is not None and ref.kind in USERS), None)
    return Location("users", ref=shared) if shared is not None else users_of(session, ref)


def create_pane(session: Session, location: Location, below: Pane | None) -> Pane:
    """Return a new screen; ``below`` is the one that help was asked on."""
    if location.view == "help":
        listing = LISTINGS.get(location.tab)
        return HelpPane(session, location, listing.about if listing else "", below)
    if location.view in LISTINGS:
        return Browse(session, location, LISTINGS[location.view])
    if location.view in _VIEWS:
        return _VIEWS[location.view](session, location)
    assert location.ref is not None
    if location.view == "users":
        return USERS.get(location.ref.kind, UsersPane)(session, location)
    kind = BY_KIND[location.ref.kind]
    if location.ref.kind in OBJECTS:
        return OBJECTS[location.ref.kind](session, location)
    return (PodPane if kind.struct in {Pod, Workload} else ReportPane)(session, location)
