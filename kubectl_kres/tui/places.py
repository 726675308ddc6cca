"""Where the user is, on which objects, and what is read for that."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kubectl_kres.errors import KresError
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.following import FollowingApp
from kubectl_kres.tui.lists.list_registry import LISTINGS
from kubectl_kres.tui.location import HOME, History, Location, Trail
from kubectl_kres.tui.open_panes import OpenPanes
from kubectl_kres.tui.screens.pane import OpenPlace
from kubectl_kres.tui.session import NAMESPACES, Session
from kubectl_kres.tui.table.strips import safe_text


class PlacesApp(FollowingApp):
    """The part of the app that goes to places; ``app.Kres`` is the rest. ``session`` belongs to the app's loop."""

    #: What was last asked of the feed; None: ask again.
    wanted_key: object = None

    def __init__(self, session: Session, trail: Trail, *, ansi: bool) -> None:
        super().__init__(ansi_color=ansi or None)
        self.session, self.history, self.panes = session, History(trail), OpenPanes()

    def show(self) -> None:
        """The screen of where the history stands."""
        location, body = self.history.current, self.screen.query_one("#body")
        if not body.is_attached:
            # The program is ending: what was asked for before has nowhere to go.
            return
        if location.view in LISTINGS:
            self.session.visit(location.namespace)
        self.panes.show(self.session, location, body, withheld=self._missed_changes)
        self.request_reads()
        self.tell()
        self.look_soon()

    def on_open_place(self, event: OpenPlace) -> None:
        self.go(event.location, fresh=event.fresh)

    def go(self, location: Location, *, fresh: bool = False) -> None:
        """To a place, one step further on the way."""
        if location.view == "object" and location.ref is not None and location.ref.kind == "ResourceQuota":
            location = Location("quota", ref=location.ref)
        self.history.go(location, fresh=fresh)
        self.show_no_remark()
        self.show()

    def change_namespace(self, namespace: str) -> None:
        """The same screen on another namespace; empty: all."""
        self.session.visit(namespace)
        location = self.history.current
        if location.view in LISTINGS and LISTINGS[location.view].scoped:
            self.history.change(Location(location.view, namespace))
        self.show()
        self.show_remark(f"namespace {namespace or 'all'}")

    # What is read

    def request_reads(self) -> None:
        """Read what the screen needs, and what the screens need that are on the way back."""
        screen_reads = (read for pane in self.panes.on_the_way(self.history.trail) for read in pane.reads())
        read_requests = dict.fromkeys((NAMESPACES, *screen_reads, *self.more_reads()))
        if read_requests != self.wanted_key:
            self.wanted_key = read_requests
            self.session.request_reads(read_requests)

    def more_reads(self) -> Iterable[ReadRequest]:
        """Return what is needed beside what the screens need."""
        return ()

    def after_changes(self) -> None:
        # What was computed meanwhile may make more necessary.
        self.request_reads()

    def read_again(self) -> None:
        """All that is shown from its beginning."""
        self.session.feed.stop()
        self.wanted_key = None
        self.request_reads()

    # Other objects

    def replace_session(self, session: Session, history: History) -> None:
        """Other objects under the same app."""
        self.panes.clear()
        self.wanted_key, self.session, self.history = None, session, history
        self.paused = False
        self.show_no_remark()
        session.greets = False
        self.follow_feed()
        self.show()

    def go_in_time(self, step: Callable[[], Session]) -> None:
        """The same screen at another moment; numbers that were tried belong to the moment that is left."""
        change = self.session.what_if
        try:
            session = step()
        except KresError as error:
            self.show_remark(safe_text(error.message), "warn")
            return
        (change.real if change else self.session).feed.close()
        session.visit(self.session.namespace)
        self.replace_session(session, History(self.history.trail_without("whatif")))
        assert session.setting.snapshot_view is not None
        self.show_remark(safe_text(session.setting.snapshot_view.words))

    def switch(self, context: str) -> None:
        """The same screen on another cluster; nothing of this one is kept."""
        assert self.session.setting.switch is not None
        try:
            session = self.session.setting.switch(context)
        except KresError as error:
            self.show_remark(safe_text(error.message), "bad")
            return
        self.session.feed.close()
        view = self.history.current.view
        self.replace_session(
            session, History((HOME, Location(view, session.namespace)) if view in LISTINGS else (HOME,))
        )
        self.show_remark(f"context {safe_text(context)}")
