"""What a hidden list holds follows the store: no object lives on in its rows."""

from __future__ import annotations

from typing import Any

from reports.stored import made, store_of
from tui.driving import drive, press, settled, text, typed
from tui.still import Still, session_on

from kubectl_kres.tui.app import Kres
from kubectl_kres.tui.location import HOME, Location

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
