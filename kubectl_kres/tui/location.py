"""Where the user is, and the way there and back."""

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
        self._at = 0
        self._last: Trail = start

    @property
    def trail(self) -> Trail:
        return self._trails[self._at]

    @property
    def current(self) -> Location:
        return self.trail[-1]

    def go(self, place: Location, *, fresh: bool = False) -> None:
        """One step further; ``fresh``: from the start."""
        if place == self.current:
            return
        base: Trail = (HOME,) if fresh else self.trail
        if place in base:
            base = base[: base.index(place)]
        self._add_trail((*base, place) if place != HOME else (HOME,))

    def change(self, place: Location) -> None:
        """The same screen, somewhere else."""
        if place != self.current:
            self._add_trail((*self.trail[:-1], place))

    def go_up(self) -> bool:
        """Return one step back on the trail; False at the start."""
        if len(self.trail) < 2:
            return False
        self._add_trail(self.trail[:-1])
        return True

    def go_back(self) -> bool:
        return self._move(self._at - 1)

    def forward(self) -> bool:
        return self._move(self._at + 1)

    def visited(self) -> Iterator[Location]:
        """Yield where the user was before, the latest first."""
        return (trail[-1] for trail in reversed(self._trails[: self._at]))

    def return_to_last(self) -> bool:
        """To where the user was before, wherever that is."""
        if self._last == self.trail:
            return False
        self._add_trail(self._last)
        return True

    def _add_trail(self, trail: Trail) -> None:
        self._last = self.trail
        self._trails = [*self._trails[: self._at + 1], trail][-100:]
        self._at = len(self._trails) - 1

    def _move(self, at: int) -> bool:
        if not 0 <= at < len(self._trails):
            return False
        self._last, self._at = self.trail, at
        return True
