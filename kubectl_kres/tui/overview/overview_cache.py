"""The areas of the first screen: each made anew only where what it is made from has changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from kubectl_kres.store.coverage import Need
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.overview import problems
from kubectl_kres.tui.overview.problem import Area, Making, Notice
from kubectl_kres.tui.session import Session, read_as
from kubectl_kres.tui.system import systems

AREAS: Mapping[str, Making] = {
    "quotas": Making(("ResourceQuota",), problems.quota_area),
    **{name: making for system in systems() for name, making in system.areas().items()},
    "limitranges": Making(("LimitRange",), problems.limits_area),
}


_UNSEEN = {"denied": "not visible", "failed": "not read"}


def unseen(session: Session, need: Need) -> str:
    """Why nothing is known of a kind, in a word or two; empty if something is, or may still come."""
    coverage, state = session.store.covered(need), session.feed.states().get(read_as(need))
    if coverage.state in _UNSEEN:
        return _UNSEEN[coverage.state]
    over = state is not None and state.held
    return "not held here" if coverage.state == "unread" and over else ""


class Areas:
    """What was made last, of the namespace that is shown."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._held: dict[str, tuple[tuple[object, ...], Area]] = {}

    def needs(self) -> tuple[Need, ...]:
        """What the areas are made from; a cluster may have none of what is not required."""
        space = self._session.namespace
        return (
            Need("ResourceQuota", space),
            Need("LimitRange", space),
            *(need for system in systems() for need in system.area_needs(space)),
        )

    def line(self, name: str, number: Callable[[str, int], str]) -> Notice:
        """The line of an area; ``number`` says how many there are of a kind, as far as is known."""
        making, kind = AREAS[name], AREAS[name].kinds[0]
        place = Location(name, "" if making.everywhere else self._session.namespace)
        need = next(one for one in self.needs() if one.kind == kind)
        coverage = self._session.store.covered(need)
        if making.absent and coverage.state == "absent":
            return Notice(("", ""), name, "-", making.absent, place)
        area = self._area(name)
        if not area.count and (why := unseen(self._session, need)):
            return Notice(("?", "warn"), name, "?", why, place)
        return Notice(area.sign, name, number(kind, area.count), area.said, place)

    def notices(self) -> Iterable[Notice]:
        """What is wrong, area by area, faults first."""
        found = [one for name in AREAS for one in self._area(name).notices]
        return sorted(found, key=lambda one: one.sign[0] != "x")

    def _area(self, name: str) -> Area:
        making = AREAS[name]
        stamp = (self._session.namespace, *self._session.store.revision(*making.kinds))
        held = self._held.get(name)
        if held is None or held[0] != stamp:
            held = self._held[name] = (stamp, making.make(self._session))
        return held[1]
