"""Which screen shows a place: lists by their entry, objects by their kind."""

from __future__ import annotations

from collections.abc import Mapping

from kubectl_kres.model.kinds import BY_KIND, Kind
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload import Workload
from kubectl_kres.reports.common.kind_answers import is_shown
from kubectl_kres.tui.keys import groups
from kubectl_kres.tui.lists.list_registry import LISTINGS
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.screens.browse import Browse
from kubectl_kres.tui.screens.denied import KindsPane
from kubectl_kres.tui.screens.help import HelpPane
from kubectl_kres.tui.screens.overview import OverviewPane
from kubectl_kres.tui.screens.pane import Pane
from kubectl_kres.tui.screens.pod import PodPane
from kubectl_kres.tui.screens.quota import QuotaPane
from kubectl_kres.tui.screens.report import ReportPane
from kubectl_kres.tui.screens.users import UsersPane
from kubectl_kres.tui.screens.whatif import WhatIfPane
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.system import systems

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
    """Whether an object of the kind can be opened."""
    return is_shown(kind)


def pane_of(session: Session, place: Location, below: Pane | None) -> Pane:
    """A new screen; ``below`` is the one that help was asked on."""
    if place.view == "help":
        listing = LISTINGS.get(place.tab)
        about, keys = listing.about if listing else "", below.hints() if below else ()
        return HelpPane(session, place, about, keys, below.KEY_GROUPS if below else tuple(groups()))
    if place.view in LISTINGS:
        return Browse(session, place, LISTINGS[place.view])
    if place.view in _VIEWS:
        return _VIEWS[place.view](session, place)
    assert place.ref is not None
    if place.view == "users":
        return USERS.get(place.ref.kind, UsersPane)(session, place)
    kind = BY_KIND[place.ref.kind]
    if place.ref.kind in OBJECTS:
        return OBJECTS[place.ref.kind](session, place)
    return (PodPane if kind.struct in {Pod, Workload} else ReportPane)(session, place)
