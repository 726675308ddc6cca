"""The screens that were made, and which of them is shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from textual.widget import Widget

from kubectl_kres.tui.lists.list_registry import LISTINGS
from kubectl_kres.tui.location import Location, Trail
from kubectl_kres.tui.screens.pane import Pane, PlaceOnScreen
from kubectl_kres.tui.screens.screen_factory import create_pane
from kubectl_kres.tui.session import Session

#: Screens of which there is one, beside the lists.
_KEPT = frozenset({"overview", "kinds"})


def _key(location: Location) -> str:
    return location.view if location.view in LISTINGS or location.view in _KEPT else repr(location)


class OpenPanes(Mapping[str, Pane]):
    """Lists are kept, one of each, by their names; other screens are made when asked for."""

    def __init__(self) -> None:
        self.shown: Pane | None = None
        self._panes: dict[str, Pane] = {}
        #: By screen where the user was on it when other objects came.
        self._places: dict[str, PlaceOnScreen] = {}

    def __getitem__(self, key: str) -> Pane:
        return self._panes[key]

    def __len__(self) -> int:
        return len(self._panes)

    def __iter__(self) -> Iterator[str]:
        return iter(self._panes)

    def at(self, location: Location) -> Pane | None:
        """Return the screen of a place, if there is one by now."""
        return self._panes.get(_key(location))

    def on_the_way(self, trail: Trail) -> list[Pane]:
        """Return the screens of a trail that there are by now, each once."""
        keys = dict.fromkeys(map(_key, trail))
        return [self._panes[key] for key in keys if key in self._panes]

    def show(self, session: Session, location: Location, body: Widget, *, withheld: bool) -> None:
        """The screen of a place in the place of the one that is shown; ``withheld``: changes came that it does not
        know of.
        """
        old, key = self.shown, _key(location)
        if (new := self._panes.get(key)) is None:
            self.shown = new = self._panes[key] = create_pane(session, location, old)
            if (place := self._places.pop(key, None)) is not None:
                new.return_to(place)
            body.mount(new)
        else:
            self.shown = new
            new.display = True
            new.enter(location)
        if old is not None and old is not new:
            self._leave(old, withheld=withheld)

    def _leave(self, old: Pane, *, withheld: bool) -> None:
        if withheld:
            old.mark_withheld()
        if (key := _key(old.location)) == old.location.view:
            old.display = False
            return
        self._panes.pop(key, None)
        old.remove()

    def clear(self) -> None:
        """Other objects come: all screens are made anew, with the user where they were."""
        self._places |= {key: place for key, pane in self._panes.items() if (place := pane.place) is not None}
        for pane in self._panes.values():
            pane.remove()
        self._panes, self.shown = {}, None
