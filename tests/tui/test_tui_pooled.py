"""Pools, claims and runs on screen: the ways between them, and that their values are those of the reports."""

from __future__ import annotations

from typing import Any

import pytest
from reports.stored import made, store_of
from reports.test_claim_or_pool_reports import READY, SHORT, claim, pool, space
from tui.driving import LARGE, ML, demo, drive, settled, text, typed, until
from tui.still import Still, session_on

from kubectl_kres.capsule.reports.claim.claim_detail import claim_detail
from kubectl_kres.capsule.reports.claim.claims import Claims
from kubectl_kres.capsule.reports.explain_claim_or_pool import explain_claim
from kubectl_kres.capsule.reports.pool.pools import pool_report
from kubectl_kres.capsule.screens.pool_data import get_pool_index
from kubectl_kres.cluster.watch.feed_state import FeedState
from kubectl_kres.errors import KresError
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.store.store import READ, Coverage, ReadRequest
from kubectl_kres.tekton.reports.explain_pipeline import explain_pipeline
from kubectl_kres.tui.app import Kres
from kubectl_kres.tui.commands import start
from kubectl_kres.tui.location import HOME, Location
from kubectl_kres.tui.overview import areas as overview_cache

pytestmark = pytest.mark.one_in(2)

DENIED = Coverage("denied", 'resourcepools.capsule.clastix.io is forbidden: User "dev" cannot list resource')
ABSENT = Coverage("absent")


def ml(words: str = "") -> Kres:
    return demo(words, file=ML)


def crumbs(shown: str) -> str:
    return shown.splitlines()[1].strip(" ─")


def cursor(shown: str) -> str:
    [line] = [line for line in shown.splitlines() if line.startswith(" >")]
    return line


def cells(app: Any) -> dict[str, tuple[str, ...]]:
    """The lines of an outline by their label, of equal ones the first."""
    rows = list(app.pane.table.view.rows.values())
    return {item.label: item.cells for item in reversed(rows)}


@pytest.mark.thorough
def test_why_does_my_claim_wait_takes_few_keys():
    """Found on the first screen, or by the list of claims: what would unblock it, then the controller's own words."""
    shown = drive(ml(), ["/", *typed("alice"), "enter", "enter"], size=LARGE)
    assert crumbs(shown) == "overview > claim/alice"
    shown = drive(ml(), ["tab", *["down"] * 4, "enter", "/", *typed("alice"), "enter", "enter"])
    assert crumbs(shown) == "overview > claims > claim/alice"
    places = [shown.index(part) for part in ("queued: ml-notebooks/alice", "behind 1: cpu", "fix ")]
    assert places == sorted(places)
    shown = drive(ml("claim alice"), size=LARGE)
    assert shown.index("fix ") < shown.index("the controller says") < shown.index("place 2 of 3")


def test_the_worst_claim_stands_on_the_first_screen():
    shown = drive(ml(), ["/", *typed("sweep"), "enter", "enter"], size=LARGE)
    assert crumbs(shown).startswith("overview > claim/sweep")
    assert "short by cpu 4, memory 2Gi" in shown


@pytest.mark.one_in(9)
@pytest.mark.parametrize(
    ("words", "crumb"),
    [
        ("pools", "pools"),
        ("pool ml-compute", "pool/ml-compute"),
        ("claims ml-training", "claims"),
        ("claim sweep", "claim/sweep"),
        ("resourcepoolclaim sweep ml-training", "claim/sweep"),
        ("tr ci", "taskruns"),
        ("taskrun integration-12", "taskrun/integration-12"),
        ("task build ci", "task/build"),
        ("pr release-41", "pipelinerun/release-41"),
    ],
)
def test_commands(words, crumb):
    """An object of one of the kinds is found once its kind has been read."""
    ways = ["down", "down", "enter", "escape", "down", "down", "enter", "escape"]
    prompt = [":", *typed(words), "enter"]
    shown = drive(
        ml(), [*ways, *prompt] if words[:2] not in {"pr", "ta"} else [*ways, ":", *typed("tr"), "enter", *prompt]
    )
    assert crumbs(shown).split("filter")[0].endswith(f"> {crumb}"), shown


def test_from_the_queue_to_a_claim_and_to_its_pool():
    shown = drive(ml("pool ml-compute"), ["/", *typed("canary"), "enter", "enter"])
    assert crumbs(shown) == "overview > ml-compute > claim/canary"
    shown = drive(ml("claims"), ["G", "J"])
    assert crumbs(shown) == "overview > claims > pool/ml-compute"
    shown = drive(ml("claim sweep"), ["J"])
    assert crumbs(shown) == "overview > sweep > pool/ml-compute"


def test_enter_copies_what_is_to_be_typed(monkeypatch):
    copied = []
    monkeypatch.setattr(Kres, "copy_to_clipboard", lambda _self, said: copied.append(said))
    shown = drive(ml("claim sweep"), ["/", *typed("release ml"), "enter", "enter", "c"])
    command = "kubectl annotate resourcepoolclaim nightly -n ml-training projectcapsule.dev/release=true"
    assert copied == [command, command]
    assert "copied command" in shown


def test_only_faults():
    shown = drive(ml("claims"), ["ctrl+z"])
    assert "in use" not in shown
    assert "5 of 8 claims" in shown
    assert "1 of 3 pools" in drive(ml("pools"), ["ctrl+z"])
    assert "3 of 9 taskruns" in drive(ml("taskruns"), ["ctrl+z"])


def test_sections_fold():
    shown = drive(ml("claim sweep"), ["left"])
    assert "▸ queue, up to its place" in shown
    assert "1. ml-training/sweep" not in shown
    assert "1. ml-training/sweep" in drive(ml("claim sweep"), ["left", "right"])
    assert "▸ queue, up to its place" in drive(ml("claim sweep"), ["up", "up", "enter"])


def test_the_text_is_what_the_command_prints():
    shown = drive(ml("claim sweep"), ["d"], size=LARGE)
    assert "assignment, by the claim controller" in shown
    assert "kubectl kres explain claim/sweep -n ml-training --demo" in shown
    assert "ahead not shown" not in drive(ml("claim sweep"), ["d", "v"], size=LARGE)
    assert "if it is deleted, which is never refused" in drive(ml("pool ml-compute"), ["d"], size=(140, 90))


def test_the_claim_shows_its_report():
    def compare(app):
        session = app.session
        item = session.store.get("ResourcePoolClaim", "sweep", "ml-training")
        report = explain_claim(get_pool_index(session), item).claim
        shown = cells(app)
        assert report.amounts
        for one in report.amounts:
            assert shown[one.name] == (one.requested, one.available, one.short_by)
        labels = list(shown)
        assert len(report.fixes) > 2
        for number, way in enumerate(report.fixes):
            assert any(label.startswith(f"{'or ' if number else 'fix'} {way.text}") for label in labels), way.text

    drive(ml("claim sweep"), then=compare, size=LARGE)


def test_the_pool_shows_its_report():
    def compare(app):
        session = app.session
        report = pool_report(get_pool_index(session), session.store.get("ResourcePool", "ml-compute"))
        shown = cells(app)
        for use in report.uses:
            assert shown[use.name] == (use.claimed, use.hard, use.available)
        assert report.queue
        for one in report.queue:
            assert f"{one.position}. {one.subject.namespace}/{one.subject.name}" in shown
        first = session.store.get("ResourcePoolClaim", report.queue[0].subject.name, report.queue[0].subject.namespace)
        for way in claim_detail(Claims(get_pool_index(session)), first).fixes:
            assert any(way.text in label for label in shown)
        assert {one.name for one in report.namespaces} <= shown.keys()
        assert set(map(sentence_text, report.warnings)) <= shown.keys()

    drive(ml("pool ml-compute"), then=compare, size=LARGE)


def test_a_taskrun_shows_written_computed_and_live():
    def compare(app):
        session, pane = app.session, app.pane
        found = explain(session.store, pane.subject, session.evaluation_options)
        rows = [row for row in pane.table.view.rows.values() if row.question]
        texts = {column.id: column.text for column in pane.table.columns}
        held = {f"{one.name}.{value.side}.{value.resource}": value for one in found.containers for value in one.values}
        assert len(rows) == len(held) > 4
        for row in rows:
            value = held[row.question]
            assert texts["written"](row) == (value.written or "-")
            assert texts["text"](row) == value.value
            assert texts["live"](row) == value.live

    shown = drive(ml("taskrun build-api-9c4f"), then=compare, size=LARGE)
    assert "SPEC" in shown
    assert "COMPUTED" in shown
    shown = drive(ml("taskrun integration-12"), ["tab"] * 4, size=LARGE)
    assert "ExceededResourceQuota: Tekton retries every 60s without end" in shown


def test_runs_lead_to_each_other():
    shown = drive(ml("taskruns"), ["/", *typed("release-41-unit"), "enter", "J"])
    assert crumbs(shown) == "overview > taskruns > pipelinerun/release-41"
    shown = drive(ml("pipelinerun release-41"), ["down", "enter"])
    assert crumbs(shown) == "overview > release-41 > taskrun/release-41-unit"
    assert "pipelinerun/release-41" in crumbs(drive(ml("taskrun release-41-unit"), ["J"]))


def test_the_pipelinerun_shows_its_report():
    def compare(app):
        session = app.session
        found = explain_pipeline(session.store, app.pane.subject, session.evaluation_options)
        shown = cells(app)
        for one in found.tasks:
            totals = {(total.side, total.resource): total.value for total in one.explanation.totals}
            assert shown[one.name] == (str(one.runs), totals["requests", "cpu"], totals["requests", "memory"])

    drive(ml("pipelinerun release-41"), then=compare, size=LARGE)


def tenant(**states: Coverage) -> Kres:
    """A claim that waits, as those see it who may not read pools."""
    name = "capsule-pool-green"
    hard = {"requests.cpu": "2"}
    quota = made("ResourceQuota", name, spec={"hard": hard}, status={"hard": hard, "used": {"requests.cpu": "1"}})
    store = store_of(claim("big", READY, SHORT), quota, unread=("ResourcePool", *states))
    store.cover(ReadRequest("ResourcePool"), DENIED)
    for kind, state in states.items():
        store.cover(ReadRequest(kind), state)
    return Kres(session_on(store))


def opened(app: Kres, place: Location, size: tuple[int, int] = LARGE) -> str:
    async def act(pilot):
        app.go(place)
        await settled(pilot)

    return drive(app, act=act, size=size)


def test_without_pools_claims_answer_from_themselves_and_their_quota():
    listed = opened(tenant(), Location("claims", "ns"))
    assert "exhausted" in listed
    assert "cpu 2" in listed
    assert "not visible" in listed
    assert "incomplete" not in listed
    shown = opened(tenant(), Location("object", ref=ObjectRef("ResourcePoolClaim", "big", "ns")))
    for said in (
        "the controller says: requested: requests.cpu=3",
        "ask for at most requests.cpu 1",
        "quota capsule-pool",
    ):
        assert said in shown
    assert "not visible" in shown
    assert "resourcepools.capsule.clastix.io is forbidden" in shown


def test_a_pool_that_may_not_be_read_names_the_rule_that_is_missing():
    shown = opened(tenant(), Location("pools"))
    assert 'resources: ["resourcepools"]' in shown
    assert "not visible" in opened(tenant(), Location("overview"))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("view", "kind", "sentence"),
    [
        ("pools", "ResourcePool", "Capsule is not installed, or too old for pools (0.10)"),
        ("claims", "ResourcePoolClaim", "Capsule is not installed, or too old for pools (0.10)"),
        ("taskruns", "TaskRun", "Tekton is not installed, or too old for tekton.dev/v1"),
    ],
)
def test_what_is_not_installed_is_said_in_a_sentence(view, kind, sentence):
    store = store_of(unread=(kind,))
    store.cover(ReadRequest(kind), ABSENT)
    shown = opened(Kres(session_on(store)), Location(view))
    assert sentence in shown
    assert "pods, quotas, LimitRanges and what is refused are shown without it." in " ".join(shown.split())
    above = shown.partition("\n─")[0]
    assert "STATE" not in above
    assert "POOL" not in above
    store = store_of(unread=(kind,))
    store.cover(ReadRequest(kind), ABSENT)
    assert sentence in drive(Kres(session_on(store)), size=(200, 50))


def test_what_was_needed_once_stays_needed():
    """Who waits in a pool is only wanted until it is known; a feed would drop it and read it again, forever."""
    store = store_of(space("ns", t="x"), pool(), claim("big", READY, SHORT), unread=("ResourcePoolClaim",))
    feed = Still()
    app = Kres(session_on(store, feed))
    wanted = []

    async def act(pilot):
        app.go(Location("object", ref=ObjectRef("ResourcePool", "green")))
        await settled(pilot)
        wanted.append(set(feed.wanted))
        feed.uncovered.append((ReadRequest("ResourcePoolClaim"), READ))
        await settled(pilot)
        wanted.append(set(feed.wanted))

    shown = drive(app, act=act, size=LARGE)
    assert ReadRequest("ResourcePoolClaim") in wanted[0]
    assert wanted[0] <= wanted[1]
    assert "1. ns/big" in shown


def test_a_claim_that_gets_in_and_one_that_goes():
    store = store_of(space("ns", t="x"), pool(), claim("big", READY, SHORT), claim("small", READY, SHORT))
    feed = Still()
    app = Kres(session_on(store, feed))
    seen = []

    async def act(pilot):
        app.go(Location("object", ref=ObjectRef("ResourcePoolClaim", "big", "ns")))
        await settled(pilot)
        seen.append(text(app))
        feed.coming.append(("gone", "ResourcePoolClaim", store.get("ResourcePoolClaim", "big", "ns")))
        await settled(pilot)
        seen.append(text(app))

    drive(app, act=act, size=LARGE)
    assert "exhausted: ns/big" in seen[0]
    assert "deleted: this is how it was last" in seen[1]
    assert "exhausted: ns/big" in seen[1]


def test_one_claim_that_goes_changes_what_others_say():
    """Their rows stay, and say something else: what they sort by, and what a filter looks for, follows."""
    store = store_of(space("ns", t="x"), pool(), *(claim(name, READY, SHORT) for name in ("a", "b", "c")))
    feed = Still()
    app = Kres(session_on(store, feed), (HOME, Location("claims", filter="of 2")))

    async def act(pilot):
        view = app.pane.table.view
        kept = {key: id(row) for key, row in view.rows.items() if key[1] != "a"}
        assert "0 of 3 claims" in text(app)
        [place] = [column for column in app.pane.table.columns if column.id == "place"]
        app.pane.toggle(place)
        feed.coming.append(("gone", "ResourcePoolClaim", store.get("ResourcePoolClaim", "a", "ns")))
        await settled(pilot)
        assert {key: id(row) for key, row in view.rows.items()} == kept
        assert [key[1] for key in view.keys] == ["b", "c"]
        assert [row.known.queue.position for row in view.rows.values()] == [1, 2]

    shown = drive(app, act=act, size=LARGE)
    assert ("1 of 2" in shown, "2 of 2" in shown) == (True, True)


def test_a_name_that_is_nobodys():
    session = ml().session
    with pytest.raises(KresError):
        start(["pools", "a", "b"], session)
    shown = drive(Kres(session, start(["claim", "nobody"], session)), size=LARGE)
    assert "not found" in shown


def test_the_first_screen_makes_only_what_changed(monkeypatch):
    """Pods come and go by the thousand; what claims and quotas come to does not change with them."""
    made_of = []
    known = overview_cache.makers()

    def counted(maker):
        def counting(scene):
            made_of.append(maker.name)
            return maker.make(scene)

        return maker._replace(make=counting)

    monkeypatch.setattr(overview_cache, "makers", lambda: tuple(map(counted, known)))
    store = store_of(space("ns", t="x"), pool(), claim("big", READY, SHORT), made("Pod", "web"))
    feed = Still()
    app = Kres(session_on(store, feed))

    async def act(pilot):
        first = sorted(set(made_of))
        made_of.clear()
        feed.coming.append(("put", "Pod", store.get("Pod", "web", "ns")))
        await settled(pilot)
        assert (first, made_of) == (sorted(maker.name for maker in known), [])
        feed.coming.append(("put", "ResourcePoolClaim", store.get("ResourcePoolClaim", "big", "ns")))
        await settled(pilot)
        assert sorted(made_of) == ["claims", "pools"]

    drive(app, act=act)


def test_rows_follow_objects_of_other_kinds():
    """A run's row says whether its live pod differs: the pod may come after the run."""
    step = {"name": "s", "computeResources": {"requests": {"cpu": "100m"}}}
    status = {"podName": "r-pod", "conditions": [{"type": "Succeeded", "status": "Unknown", "reason": "Running"}]}
    run = made("TaskRun", "r", spec={"taskSpec": {"steps": [step]}}, status=status)
    container = {"name": "step-s", "resources": {"requests": {"cpu": "900m"}}}
    pod = made("Pod", "r-pod", spec={"containers": [container]}, resourceVersion="7", ownerReferences=[
        {"kind": "TaskRun", "name": "r", "controller": True}])  # fmt: skip
    store, feed = store_of(run), Still()
    app = Kres(session_on(store, feed))
    seen = []

    async def act(pilot):
        app.go(Location("taskruns"))
        await settled(pilot)
        seen.append(text(app))
        feed.coming.append(("put", "Pod", store_of(pod).get("Pod", "r-pod", "ns")))
        await settled(pilot)
        seen.append(text(app))

    drive(app, act=act, size=(200, 40))
    assert "no pod" in seen[0]
    assert "1 value" in seen[1]
    assert "computed 100m, live 900m" in seen[1]


def test_what_is_still_being_read_is_not_called_invisible():
    store = store_of(space("ns", t="x"), claim("big", READY, SHORT), unread=("ResourcePool",))
    feed = Still()
    place = Location("object", ref=ObjectRef("ResourcePoolClaim", "big", "ns"))
    app = Kres(session_on(store, feed))

    async def act(pilot):
        feed.given[ReadRequest("ResourcePool")] = FeedState("listing")
        app.go(place)
        shown = await until(pilot, "exhausted", "still reading: this is so far", "still being read")
        assert "reads not visible" not in shown
        assert "could not be read" not in shown
        feed.given.clear()

    drive(app, act=act, size=LARGE)
