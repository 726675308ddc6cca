"""The current location and the history of locations."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from kubectl_kres.model.objects import ObjectRef


class Location(Struct, frozen=True):
    """A screen and what it is about.

    ``view``: ``overview``, a listing, ``object``, ``quota``, ``help``, ``kinds``, ``users`` or ``whatif``. ``ref``: the
    object, of a screen that is about one. ``namespace``: what a list is of; empty: all. ``filter`` and ``tab``: how the
    screen is to open.
    """

    view: str
    namespace: str = ""
    ref: ObjectRef | None = None
    filter: str = ""
    tab: str = ""

    @property
    def title(self) -> str:
        """As a crumb."""
        return self.ref.name if self.ref is not None else self.view


HOME = Location("overview")
Trail = tuple[Location, ...]


class History:
    """The trails that were walked. A trail is the way from the start to where the user is."""

    def __init__(self, start: Trail) -> None:
        self._trails: list[Trail] = [start]
        self._index = 0
        self._last_trail: Trail = start

    @property
    def trail(self) -> Trail:
        return self._trails[self._index]

    @property
    def current(self) -> Location:
        return self.trail[-1]

    def trail_without(self, view: str) -> Trail:
        """Return the way here but for screens of a sort, the start at the least."""
        return tuple(location for location in self.trail if location.view != view) or (HOME,)

    def go(self, location: Location, *, fresh: bool = False) -> None:
        """One step further; ``fresh``: from the start."""
        if location == self.current:
            return
        base: Trail = (HOME,) if fresh else self.trail
        if location in base:
            base = base[: base.index(location)]
        self._add_trail((*base, location) if location != HOME else (HOME,))

    def change(self, location: Location) -> None:
        """The same screen, somewhere else."""
        if location != self.current:
            self._add_trail((*self.trail[:-1], location))

    def go_up(self) -> bool:
        """Return one step back on the trail; False at the start."""
        if len(self.trail) < 2:
            return False
        self._add_trail(self.trail[:-1])
        return True

    def go_back(self) -> bool:
        return self._move(self._index - 1)

    def forward(self) -> bool:
        return self._move(self._index + 1)

    def visited(self) -> Iterator[Location]:
        """Yield where the user was before, the latest first."""
        return (trail[-1] for trail in reversed(self._trails[: self._index]))

    def return_to_last(self) -> bool:
        """To where the user was before, wherever that is."""
        if self._last_trail == self.trail:
            return False
        self._add_trail(self._last_trail)
        return True

    def _add_trail(self, trail: Trail) -> None:
        self._last_trail = self.trail
        self._trails = [*self._trails[: self._index + 1], trail][-100:]
        self._index = len(self._trails) - 1

    def _move(self, index: int) -> bool:
        if not 0 <= index < len(self._trails):
            return False
        self._last_trail, self._index = self.trail, index
        return True
