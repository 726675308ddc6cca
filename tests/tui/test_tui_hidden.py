"""What a hidden list holds follows the store: no object lives on in its rows."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from reports.stored import made, store_of
from tui.driving import drive, press, settled, text, typed
from tui.still import Still, session_on

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.tui.app import Kres
from kubectl_kres.tui.location import HOME, Location

pytestmark = pytest.mark.one_in(2)

SPEC: dict[str, Any] = {"containers": [{"name": "app"}]}


def test_rows_of_a_hidden_list_hold_what_the_store_holds():
    feed = Still()
    session = session_on(store_of(*(made("Pod", name, spec=SPEC) for name in ("a", "b"))), feed)
    app = Kres(session, (HOME, Location("pods")))

    async def act(pilot):
        await press(pilot, ["escape"])
        fresh = list(store_of(*(made("Pod", name, spec=SPEC) for name in ("a", "c"))).all("Pod"))
        feed.coming += [("put", "Pod", one) for one in fresh]
        feed.coming.append(("gone", "Pod", session.get(app.panes["pods"].table.view.rows["ns", "b"].ref)))
        await settled(pilot)
        rows = app.panes["pods"].table.view.rows
        assert {key: id(row.pod) for key, row in rows.items()} == {
            (one.metadata.namespace, one.metadata.name): id(one) for one in session.store.all("Pod")
        }
        assert {name for _, name in rows} == {"a", "c"}

    drive(app, act=act)


def test_a_list_that_is_come_back_to_is_not_made_again_and_has_followed():
    feed = Still()
    session = session_on(store_of(*(made("Pod", name, spec=SPEC) for name in ("a", "b"))), feed)
    app = Kres(session, (HOME, Location("pods")))
    asked = []

    async def act(pilot):
        pane = app.panes["pods"]
        making = pane.rows.making
        rows = making.source.rows
        making.source = replace(making.source, rows=lambda *of: (asked.append(of), rows(*of))[1])
        kept = pane.table.view.rows["ns", "a"]
        await press(pilot, ["escape"])
        feed.coming += [("put", "Pod", pod) for pod in store_of(made("Pod", "c", spec=SPEC)).all("Pod")]
        feed.coming.append(("gone", "Pod", session.store.get("Pod", "b", "ns")))
        await settled(pilot)
        await press(pilot, ["minus"])
        shown = text(app)
        assert ("a  " in shown, " c  " in shown, " b  " in shown) == (True, True, False)
        assert pane.table.view.rows["ns", "a"] is kept

    drive(app, act=act)
    assert asked == []


def test_a_list_follows_what_came_while_another_screen_was_opened():
    feed = Still()
    session = session_on(store_of(made("Pod", "a", spec=SPEC), made("ResourceQuota", "q", spec={})), feed)
    app = Kres(session, (HOME, Location("pods")))

    async def act(pilot):
        feed.coming += [("put", "Pod", pod) for pod in store_of(made("Pod", "c", spec=SPEC)).all("Pod")]
        changes = session.drain()
        app.go(Location("quota", ref=ObjectRef("ResourceQuota", "q", "ns")))
        assert changes and not app.pane.is_mounted
        app._follow(changes, session)
        await settled(pilot)
        await press(pilot, ["escape"])
        assert " c  " in text(app)

    drive(app, act=act)


def test_a_list_that_is_come_back_to_is_in_order():
    """Also where the rows that came meanwhile sort by what has to be computed."""
    feed = Still()
    session = session_on(
        store_of(*(made("Pod", name, spec=asking(cpu)) for name, cpu in (("a", "1"), ("b", "3")))), feed
    )
    app = Kres(session, (HOME, Location("pods")))

    async def act(pilot):
        await press(pilot, ["C"])
        view = app.panes["pods"].table.view
        assert [name for _, name in view.keys] == ["b", "a"]
        await press(pilot, ["escape"])
        feed.coming += [("put", "Pod", pod) for pod in store_of(made("Pod", "c", spec=asking("2"))).all("Pod")]
        await settled(pilot)
        await press(pilot, ["minus"])
        assert [name for _, name in view.keys] == ["b", "c", "a"]

    drive(app, act=act)


def asking(cpu: str) -> dict[str, Any]:
    return {"containers": [{"name": "app", "resources": {"requests": {"cpu": cpu}}}]}


def test_rows_that_depend_on_other_kinds_are_made_again():
    """Sums of a namespace are of its pods."""
    feed = Still()
    session = session_on(store_of(made("Pod", "a", spec=SPEC), made("Namespace", "ns", namespace="")), feed)
    app = Kres(session, (HOME, Location("namespaces")))

    async def act(pilot):
        await settled(pilot)
        await press(pilot, ["escape"])
        feed.coming += [("put", "Pod", pod) for pod in store_of(made("Pod", "c", spec=SPEC)).all("Pod")]
        await settled(pilot)
        await press(pilot, ["minus"])
        [line] = [line for line in text(app).splitlines() if line.startswith(" >")]
        assert line.split()[:4] == [">", "ns", "-", "2"], line

    drive(app, act=act)


def test_what_a_filter_hid_is_as_wide_as_it_needs():
    feed = Still()
    session = session_on(store_of(made("Pod", "a", spec=SPEC)), feed)
    app = Kres(session, (HOME, Location("pods")))

    async def act(pilot):
        await press(pilot, ["/", *typed("a"), "enter", "enter"])
        feed.coming += [("put", "Pod", one) for one in store_of(made("Pod", "much-longer", spec=SPEC)).all("Pod")]
        await press(pilot, ["escape", "escape"])
        assert "much-longer" in text(app)

    drive(app, act=act)
