"""The areas of the first screen: each made anew only where what it is made from has changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from kubectl_kres.render.text.line import Tone
from kubectl_kres.reports.namespace.effective_limits import merged
from kubectl_kres.store.coverage import Need
from kubectl_kres.tui.lists import limitranges, quotas
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.overview.problem import Area, Making, Notice
from kubectl_kres.tui.session import Session, read_as
from kubectl_kres.tui.system import systems

#: Findings of an area that are listed; its list has all of them.
_MOST_QUOTAS = 50

_UNSEEN = {"denied": "not visible", "failed": "not read"}


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


def unseen(session: Session, need: Need) -> str:
    """Why nothing is known of a kind, in a word or two; empty if something is, or may still come."""
    coverage, state = session.store.covered(need), session.feed.states().get(read_as(need))
    if coverage.state in _UNSEEN:
        return _UNSEEN[coverage.state]
    over = state is not None and state.held
    return "not held here" if coverage.state == "unread" and over else ""


def _quota_area(session: Session) -> Area:
    rows = [quotas.quota_row(session, one) for one in session.store.all("ResourceQuota", session.namespace or None)]
    counts: dict[str, int] = {}
    for row in rows:
        counts[quotas.state(row)] = counts.get(quotas.state(row), 0) + 1
    order = ("over", "full", "near", "unreadable", "no status", "empty", "ok")
    said = "  ".join(f"{counts[word]} {word}" for word in order if word in counts)
    sign: tuple[str, Tone] = ("x", "bad") if {"over", "full"} & counts.keys() else ("", "")
    if not sign[0] and "near" in counts:
        sign = ("!", "warn")
    bad = [row for row in rows if quotas.sign(row)[0]]
    bad.sort(key=lambda row: (quotas.sign(row)[0] != "x", -(quotas.rank(row) or 0), row.ref.namespace, row.ref.name))
    return Area(sign, len(rows), said or "none", tuple(map(_quota, bad[:_MOST_QUOTAS])))


def _quota(row: quotas.QuotaRow) -> Notice:
    place = Location("quota", ref=row.ref)
    return Notice(quotas.sign(row), f"quota/{row.ref.name}", row.ref.namespace, _quota_said(row), place)


def _quota_said(row: quotas.QuotaRow) -> str:
    use = row.tight
    if use is None:
        return row.fault or "no status yet, so it enforces nothing"
    percent = f"  {row.percent}%" if row.percent is not None else ""
    return f"{quotas.state(row)}  {use.name}  {use.used or '-'} of {use.hard}{percent}"


def _limits_area(session: Session) -> Area:
    held = list(session.store.all("LimitRange", session.namespace or None))
    spaces = dict.fromkeys(one.metadata.namespace for one in held)
    signs = [limitranges.sign(row)[0] for space in spaces for row in merged(session.store, space)]
    odd, impossible = signs.count("!"), signs.count("x")
    said = [f"{impossible} that nothing can meet"] * bool(impossible) + [
        f"{odd} that depend on LimitRange order"
    ] * bool(odd)
    sign: tuple[str, Tone] = ("x", "bad") if impossible else ("!", "warn") if odd else ("", "")
    return Area(sign, len(held), "  ".join(said) or "sound")


AREAS: Mapping[str, Making] = {
    "quotas": Making(("ResourceQuota",), _quota_area),
    **{name: making for system in systems() for name, making in system.areas().items()},
    "limitranges": Making(("LimitRange",), _limits_area),
}
