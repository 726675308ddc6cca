"""What a hidden list holds follows the store: no object lives on in its rows."""

from __future__ import annotations

from reports.stored import made, store_of
from tui.driving import drive, press, settled
from tui.still import Still, session_on

from kubectl_kres.tui.app import Kres
from kubectl_kres.tui.place import HOME, Place


def test_rows_of_a_hidden_list_hold_what_the_store_holds():
    spec = {"containers": [{"name": "app"}]}
    feed = Still()
    session = session_on(store_of(*(made("Pod", name, spec=spec) for name in ("a", "b"))), feed)
    app = Kres(session, (HOME, Place("pods")))

    async def act(pilot):
        await press(pilot, ["escape"])
        fresh = list(store_of(*(made("Pod", name, spec=spec) for name in ("a", "c"))).all("Pod"))
        feed.coming += [("put", "Pod", one) for one in fresh]
        feed.coming.append(("gone", "Pod", session.get(app.panes["pods"].table.view.rows["ns", "b"].ref)))
        await settled(pilot)
        rows = app.panes["pods"].table.view.rows
        assert {key: id(row.pod) for key, row in rows.items()} == {
            (one.metadata.namespace, one.metadata.name): id(one) for one in session.store.all("Pod")
        }
        assert {name for _, name in rows} == {"a", "c"}

    drive(app, act=act)
