"""One right missing: a screen that shows something else without a kind says on it that the kind could not be read."""

from __future__ import annotations

import os
import re
from random import Random
from typing import Any

import pytest
from tui.driving import ML, drive, shop
from tui.test_tui_counts import session

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.tui.app import Kres
from kubectl_kres.tui.location import HOME, Location

SCREENS = {
    "overview": HOME,
    **{name: Location(name) for name in ("pods", "quotas", "refused", "limitranges", "claims", "pools", "taskruns")},
    **{name: Location(name) for name in ("namespaces", "timeline", "check")},
    "a quota": Location("quota", ref=ObjectRef("ResourceQuota", "team", "checkout")),
    "a workload": Location("object", ref=ObjectRef("Deployment", "checkout", "checkout")),
    "a claim": Location("claim", ref=ObjectRef("ResourcePoolClaim", "sweep", "checkout")),
}
#: Of the kinds that a screen reads so many are denied, one after the other.
KINDS = 3
NAMED = re.compile(r"forbidden|incomplete|not visible|not readable|could not")
SIZE = (140, 60)


def lines_of(app: Kres) -> list[str]:
    """All but the header, which has numbers for the namespaces that are known."""
    return drive(app, size=SIZE).splitlines()[1:]


@pytest.mark.one_in(7)
@pytest.mark.parametrize("screen", SCREENS)
def test_what_could_not_be_read_is_named_on_the_screen(screen: str):
    whole: Any = shop(ML)
    shown = lines_of(Kres(whole, (SCREENS[screen],)))
    kinds = sorted({read.kind for read in whole.feed.states()})
    for kind in Random(f"{screen} {os.environ.get('KRES_SEED', '0')}").sample(kinds, min(KINDS, len(kinds))):
        found = lines_of(Kres(session((kind,)), (SCREENS[screen],)))
        assert found == shown or NAMED.search("\n".join(found)), (screen, kind)
