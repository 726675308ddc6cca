"""Text that means harm, in every field of every object, through every screen."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hostile.test_hostile_text import BAD, HOSTILE, deployment, events, live, pod, policies
from reports.stored import made, store_of
from tui.driving import LARGE, SMALL, drive, text
from tui.still import session_on

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.store.coverage import Coverage, Need
from kubectl_kres.tui.app import Kres
from kubectl_kres.tui.catalogue import LISTINGS
from kubectl_kres.tui.place import Place
from kubectl_kres.tui.screens.pod import TABS

OBEYED = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def renamed(raw: dict, name: str) -> dict:
    return {**raw, "metadata": {**raw["metadata"], "name": name}}


def app_of(text: str) -> Kres:
    """The text in names, labels, amounts, messages, owners, events, and in what the server refused."""
    plain = renamed(pod(text, labels={text: text, "app": text}), text or "p")
    held = store_of(
        *policies(text),
        plain,
        *live(text),
        deployment(text),
        *events(text),
        made("Namespace", text, namespace=""),
        made("Namespace", "ns", namespace=""),
        unread=("Node",),
    )
    held.cover(Need("Event", "ns"), Coverage("denied", text))
    return Kres(session_on(held))


def places(text: str) -> list[Place]:
    refs = [ObjectRef("Pod", text, "ns"), ObjectRef("Pod", "p", "ns"), ObjectRef("Deployment", "web", "ns")]
    quotas = [ObjectRef("ResourceQuota", name, "ns") for name in (text, "broken", "scoped")]
    policy = [ObjectRef("LimitRange", text, "ns"), ObjectRef("Namespace", text)]
    return [
        Place("overview"),
        *(Place(one) for one in LISTINGS),
        Place("pods", "ns", filter=text),
        Place("kinds"),
        *(Place("object", ref=refs[1], tab=tab) for tab, _ in TABS),
        *(Place("object", ref=ref, tab="text") for ref in refs[::2]),
        *(Place("quota", ref=ref) for ref in quotas),
        *(Place("object", ref=ref) for ref in policy),
        Place("report", ref=quotas[0]),
    ]


CASES = [*((name, SMALL) for name in HOSTILE), ("markup", LARGE), ("escape", LARGE), ("wide", LARGE)]


@pytest.mark.parametrize(("name", "size"), CASES)
def test_nothing_that_a_terminal_obeys_reaches_it(name, size):
    word = HOSTILE[name]
    app = app_of(word)

    async def act(pilot):
        for place in places(word):
            app.go(place)
            await pilot.pause()
            app.say(word)
            assert app._exception is None, place
            shown = text(app)
            for line in shown.splitlines():
                assert not {unicodedata.category(character) for character in line} & BAD, (place, ascii(line))
                assert not OBEYED.search(line), (place, ascii(line))

    drive(app, act=act, size=size)


@pytest.mark.parametrize("name", ["markup", "wide", "combining", "emoji", "endless", "escape"])
def test_lines_keep_their_width(name):
    app = app_of(HOSTILE[name])

    async def act(pilot):
        for place in places(HOSTILE[name]):
            app.go(place)
            await pilot.pause()
            strips = app.screen._compositor.render_strips()
            assert {sum(segment.cell_length for segment in strip) for strip in strips} == {80}, place

    drive(app, act=act)
