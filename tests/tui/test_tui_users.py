"""Who uses a quota or a pool: the tree folds at all depths, opens what it names, and says what the command says."""

from __future__ import annotations

import re

import pytest
from reports.stored import made, store_of
from tui.driving import LARGE, ML, SMALL, calm, demo, drive, press, text, until
from tui.still import Still, session_on

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.tui.app import Kres
from kubectl_kres.tui.location import HOME, Location

pytestmark = pytest.mark.one_in(3)


def opened(app: Kres, first: list[str], then: list[str]) -> str:
    """The second keys are pressed once all has been read that the first ones made necessary."""

    async def act(pilot):
        await press(pilot, then)

    return drive(app, first, act=act, size=LARGE)


def test_u_on_a_quota_shows_its_users_and_the_command_that_prints_them():
    shown = drive(demo("quota team", file=ML, namespaces=("checkout",)), ["u"], size=LARGE)
    assert "who uses quota/team" in shown
    assert "$ kubectl kres quota team --by value -n checkout --demo" in shown
    assert "▾ Deployment/checkout" in shown
    assert "▸ Pod/checkout-" in shown
    assert "container app" not in shown


def test_branches_fold_at_every_depth():
    app = demo("pool ml-compute", file=ML)
    shown = opened(app, ["g", "u"], ["down", "down", "down", "right"])
    assert "container model" in shown
    assert shown.count("▸ Pod/") == 2
    shown = opened(demo("pool ml-compute", file=ML), ["g", "u"], ["left"])
    assert "▸ Namespace/ml-serving" in shown
    assert "Deployment/ranker" not in shown
    assert "Job/nightly" in shown


def test_a_value_names_what_set_it_and_enter_goes_there():
    shown = opened(demo("pool ml-compute", file=ML), ["g", "u"], ["down", "down", "down", "right", "down"])
    assert "set by manifest/written" in shown
    shown = opened(demo("quota runs", file=ML, namespaces=("ci",)), ["u"], ["down", "right", "down", "enter"])
    assert "> taskrun/" in shown.splitlines()[1]


def test_elsewhere_u_shows_the_fullest_quota_of_the_namespace():
    shown = drive(demo("pods", file=ML, namespaces=("checkout",)), ["u"], size=LARGE)
    assert "who uses quota/team" in shown
    shown = drive(demo("pods default", file=ML), ["u"])
    assert "there is none here" in shown


def test_a_tenant_is_a_root_and_its_namespaces_have_their_quotas():
    shown = drive(demo("tenant ml", file=ML), size=LARGE)
    assert "who uses tenant/ml" in shown
    assert "$ kubectl kres explain tenant/ml --by value --demo" in shown
    lines = [line.strip(" >") for line in shown.splitlines()]
    at = next(number for number, line in enumerate(lines) if line.startswith("▾ Namespace/ml-training"))
    assert [line.split()[1].partition("/")[0] for line in lines[at : at + 4]] == [
        "Namespace", "ResourceQuota", "Job", "Pod"]  # fmt: skip


def test_a_quota_that_nothing_uses_says_so():
    hard = {"pods": "5"}
    store = store_of(made("ResourceQuota", "team", spec={"hard": hard}, status={"hard": hard, "used": {"pods": "0"}}))
    place = Location("users", ref=ObjectRef("ResourceQuota", "team", "ns"))
    shown = drive(Kres(session_on(store), (HOME, place)))
    assert re.search(r"pods +0 +5 +5 .*0%", shown)
    assert "nothing uses it" in shown


def test_a_quota_that_is_not_there_says_so():
    place = Location("users", ref=ObjectRef("ResourceQuota", "gone", "ns"))
    shown = drive(Kres(session_on(store_of(made("Pod", "web"))), (HOME, place)), size=SMALL)
    assert "not found" in shown


def test_pods_that_come_are_seen_and_what_was_unfolded_stays_so():
    hard = {"requests.cpu": "5"}
    container = {"name": "app", "resources": {"requests": {"cpu": "1"}}}
    feed = Still()
    store = store_of(
        made("ResourceQuota", "team", spec={"hard": hard}, status={"hard": hard, "used": {"requests.cpu": "1"}}),
        made("Pod", "one", spec={"containers": [container]}),
    )
    place = Location("users", ref=ObjectRef("ResourceQuota", "team", "ns"))
    app = Kres(session_on(store, feed), (HOME, place))

    async def act(pilot):
        assert "▸ Pod/one" in text(app)
        await press(pilot, ["right", "down"])
        assert "container app" in text(app)
        two = store_of(made("Pod", "a-two", spec={"containers": [container]}))
        feed.coming += [("put", "Pod", one) for one in two.all("Pod")]
        shown = await until(pilot, "▸ Pod/a-two", "container app")
        assert "50%" in shown
        assert next(line for line in shown.splitlines() if "container app" in line).startswith(" >")
        feed.coming += [("gone", "Pod", one) for one in two.all("Pod")]
        await until(pilot, "Pod/a-two", gone=True)
        await calm(pilot)

    drive(app, act=act, size=LARGE)
