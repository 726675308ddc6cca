"""What a screen says where something is missing, late, gone or too old; and that little room hides no figure."""

from __future__ import annotations

import asyncio
import json
import zlib
from typing import Any

import pytest
from reports.stored import made, store_of
from reports.test_claim_or_pool_reports import space
from textual._compositor import Compositor
from tui.driving import LARGE, ML, SHOP, SMALL, app_on, demo, drive, press, settled, shop, text, typed, until
from tui.still import Still, session_on

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.base.versions import nearest_version
from kubectl_kres.cluster.watch.feed_state import FeedState
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.text.line import size
from kubectl_kres.store.store import Coverage, Origin, ReadRequest
from kubectl_kres.tui.app import Kres
from kubectl_kres.tui.keys import BY_ID
from kubectl_kres.tui.location import HOME, Location
from kubectl_kres.tui.save import name
from kubectl_kres.tui.session import Session, Setting
from kubectl_kres.tui.widgets.header_footer import fresh_line, key_line, where_line

FORBIDDEN = Coverage("denied", 'pods is forbidden: User "dev" cannot list resource "pods"')
AREAS = ("Namespace", "ResourceQuota", "LimitRange", "ResourcePoolClaim", "ResourcePool", "TaskRun", "Pod")
HARD = {"requests.memory": "5Gi"}


def quota(used: str, title: str = "team") -> Any:
    return made("ResourceQuota", title, spec={"hard": HARD}, status={"hard": HARD, "used": {"requests.memory": used}})


def row(shown: str, label: str, at: int = 0) -> str:
    found = [line for line in shown.splitlines() if line[4:].startswith(f"{label} ")]
    assert found, (label, shown)
    return found[at]


def test_what_may_not_be_read_is_neither_none_nor_sound():
    store = store_of(unread=AREAS)
    for kind in AREAS:
        store.cover(ReadRequest(kind), FORBIDDEN)
    areas = ("refused", "workloads", "quotas", "pods", "claims", "pools", "taskruns", "limitranges", "namespaces")
    # Where room is short a strip tells of the areas.
    strip = drive(Kres(session_on(store)))
    assert all(f"{area} ?" in strip for area in areas)
    shown = drive(Kres(session_on(store)), size=LARGE)
    for area in areas:
        # Of two lines the second is the area's: what could not be read stands above the areas.
        assert "not visible" in row(shown, area, -1), area
        assert row(shown, area, -1).startswith(("  ?", " >?"))
    assert "NOT VISIBLE" in shown
    assert ":pods NAME" in shown
    listed = drive(Kres(session_on(store), (HOME, Location("quotas"))))
    assert "? quotas" in listed
    assert "apiGroups" in listed


def test_a_server_that_lets_nothing_be_read_is_not_called_live():
    feed = Still({ReadRequest("Pod"): FeedState("denied", reason="forbidden")})
    session = session_on(store_of(), feed, live=True)
    assert "nothing can be read" in "".join(part for _, part in fresh_line(session, 80, paused=False))


def test_freshness_is_seen_beside_many_namespaces():
    spaces = [space(f"namespace-with-a-long-name-{number}") for number in range(9)]
    feed = Still({ReadRequest("Pod"): FeedState("retrying", has_objects=True, attempts=3, reason="no route to host")})
    shown = drive(Kres(session_on(store_of(*spaces), feed, live=True)), size=LARGE)
    assert "stale, try 4 (ctrl-r now): no route to host" in shown.splitlines()[0]
    assert "1 namespace-with" in shown.splitlines()[0]


def fresh(*states: FeedState, width: int = 100) -> str:
    feed = Still(dict(zip((ReadRequest("Pod"), ReadRequest("LimitRange")), states, strict=False)))
    session = session_on(store_of(), feed, live=True, clock=lambda: 1000.0)
    return "".join(part for _, part in fresh_line(session, width, paused=False))


@pytest.mark.parametrize(
    ("heard", "shown"), [(1000, "live "), (989, "live "), (987, "no word for 13 s "), (908, "no word for 92 s ")]
)
def test_silence_is_said_after_twelve_seconds(heard, shown):
    quiet, dead = (
        FeedState("watching", has_objects=True, answered_at=heard),
        FeedState("watching", has_objects=True, answered_at=1),
    )
    assert fresh(quiet, dead) == shown


def test_a_retry_is_counted_down():
    lost = FeedState("retrying", has_objects=True, attempts=3, reason="no route to the server there", next_try=1007.2)
    assert fresh(lost) == "stale, retry in 8 s (ctrl-r now): no route to the serve… "
    assert fresh(lost, width=140) == "stale, retry in 8 s (ctrl-r now): no route to the server there "
    assert fresh(lost, width=80) == "stale, retry in 8 s "
    heard = FeedState("retrying", has_objects=True, answered_at=959.5, attempts=3, reason="no route", next_try=1007.2)
    assert fresh(heard) == "stale 40 s, retry in 8 s (ctrl-r now): no route "
    assert (
        fresh(FeedState("retrying", attempts=1, reason="no route", next_try=1001.0), width=80)
        == "no answer, retry in 1 s "
    )


@pytest.mark.parametrize("width", [60, 71, 80, 100, 140, 300])
def test_the_header_fits(width):
    line = where_line(demo("pods").session, width, width - 25)
    assert sum(size(part) for _, part in line) <= width - 25


@pytest.mark.parametrize("width", range(10, 140, 7))
def test_the_footer_names_whole_keys(width):
    line = key_line(BY_ID, width)
    assert sum(size(part) for _, part in line) <= width
    words = {f"{key.shown} {key.word}" for key in BY_ID.values()}
    assert {part.strip() for part in "".join(part for _, part in line).split("  ") if part.strip()} <= words


def test_the_rules_of_another_version_are_named():
    store = store_of()
    store.origin = Origin("snapshot", "old", "v1.20.3")
    setting = Setting(
        lambda version: (Server(nearest_version(version)[0]), (nearest_version(version)[1],)), str, lambda _: bool
    )
    shown = drive(Kres(Session(store, Still(), setting)), size=(300, 40))
    lines = [line.partition("│")[0] for line in shown.splitlines()]
    [index] = [index for index, line in enumerate(lines) if line.startswith("  ! server ")]
    assert "v1.20.3" in lines[index]
    # The sentence is longer than the line of its area has room.
    assert "Kubernetes 1.20 is older than the rules known here: those of 1.27 are used" in " ".join(lines[index:])


def test_no_digit_of_a_figure_is_cut_off_when_larger_ones_come():
    feed = Still()
    app = Kres(session_on(store_of(quota("1Gi", "a")), feed), (HOME, Location("quotas")))

    async def act(pilot):
        feed.coming += [("put", "ResourceQuota", one) for one in store_of(quota("1234567Ki", "b")).all("ResourceQuota")]
        await settled(pilot)

    assert "1234567Ki" in drive(app, act=act)


@pytest.mark.parametrize(
    "words", ["claim sweep", "pool ml-compute", "taskrun build-api-9c4f", "pipelinerun release-41"]
)
def test_little_room_leaves_lines_to_choose_from(words):
    heights = []

    def measure(app: Kres) -> None:
        assert app.pane is not None
        heights.extend(app.pane.query_one(part).size.height for part in ("Table", "Container > Lines"))

    shown = drive(demo(words, file=ML), [], measure, size=(60, 16))
    assert "…" not in shown.splitlines()[0]
    assert heights[0] >= 5
    assert heights[1] >= 2


def test_little_room_keeps_the_names_that_are_nearest_to_their_limit():
    app = demo("quota team", namespaces=("shop",))
    heads: list[str] = []
    shown = drive(app, [], lambda app: heads.extend(column.head for column in app.pane.table.columns))
    assert heads[:5] == ["WHO", "N", "REQ MEM", "LIM MEM", "DEPLOYMENTS"]
    assert "REQ MEM" in shown
    assert "share of requests.memory first" in shown


def test_a_quota_that_goes_stays_readable():
    store, feed = store_of(quota("4Gi"), made("Pod", "web")), Still()
    app = Kres(session_on(store, feed), (HOME, Location("quota", ref=ObjectRef("ResourceQuota", "team", "ns"))))

    async def act(pilot):
        held = store.get("ResourceQuota", "team", "ns")
        feed.coming.append(("gone", "ResourceQuota", held))
        await settled(pilot)
        feed.coming.append(("put", "Pod", store.get("Pod", "web", "ns")))
        await settled(pilot)
        assert "deleted: this is how it was last" in text(pilot.app)
        assert "4Gi" in text(pilot.app)
        feed.coming.append(("put", "ResourceQuota", held))
        await settled(pilot)
        assert "deleted:" not in text(pilot.app)

    drive(app, act=act)


def test_the_lines_around_may_go_before_the_last_tick():
    async def act(pilot):
        await pilot.app.screen.query("Bar").remove()
        pilot.app.tell()

    async def run() -> None:
        app = demo("pods")
        async with app.run_test(size=SMALL) as pilot:
            await settled(pilot)
            await act(pilot)
            app.exit()

    asyncio.run(run())


@pytest.mark.parametrize(
    ("crumb", "table", "file"),
    [
        ("pods", True, "kres-pods.csv"),
        ("pod/web-1", False, "kres-pod-web-1.svg"),
        ("claim/../$(reboot)", True, "kres-claim-..-reboot.csv"),
    ],
)
def test_a_file_is_named_after_its_screen(crumb, table, file):
    assert name(crumb, table=table) == file


def test_a_page_of_text_is_no_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    keys = ["ctrl+s", *["backspace"] * 3, *typed("csv"), "enter"]
    assert "there is no table on this screen" in drive(demo("pod debug-shell"), keys)
    assert list(tmp_path.iterdir()) == []


def test_a_tree_keeps_its_order_and_a_list_computes_what_a_head_sorts_by():
    async def click(pilot):
        table = pilot.app.pane.table
        await pilot.click(table, offset=(8, 0))
        await settled(pilot)
        assert table.sorted_by is None

    drive(demo("pool ml-compute", file=ML), act=click)

    async def why(pilot):
        table = pilot.app.pane.table
        await press(pilot, ["ctrl+w"])
        shown = text(pilot.app).splitlines()[2]
        await pilot.click(table, offset=(shown.index("WHY QOS"), 0))
        await settled(pilot)
        assert table.sorted_by.id == "why"
        assert all(one.ready("why") for one in table.view.rows.values())

    drive(demo("pods"), act=why, size=(320, 40))


def test_what_textual_tells_nobody_of_its_size_is_drawn_at_its_size(monkeypatch):
    reflow = Compositor.reflow

    def silent(self, parent, size):
        return reflow(self, parent, size)._replace(shown=set(), resized=set())

    monkeypatch.setattr(Compositor, "reflow", silent)
    shown = drive(Kres(session_on(store_of(), Still()), (HOME, Location("kinds"))), size=LARGE)
    assert "pods by QoS class" in row(shown, "namespaces")
    # In the list, and under it.
    assert shown.count("pods by QoS class") == 2


def test_kinds_counts_what_a_snapshot_holds():
    shown = drive(demo("kinds", file=ML), size=(140, 60))
    assert "15 objects" in row(shown, "namespaces                ")


def test_a_list_that_is_empty_says_so_on_all_of_the_screen_until_a_row_comes():
    feed = Still()
    app = Kres(session_on(store_of(), feed), (HOME, Location("pods")))

    async def act(pilot):
        lines = (await until(pilot, "no pods")).splitlines()
        assert lines[2].strip() == "no pods"
        feed.coming += [("put", "Pod", one) for one in store_of(made("Pod", "web")).all("Pod")]
        lines = (await until(pilot, "NAME")).splitlines()
        assert "NAME" in lines[2]
        await press(pilot, ["enter"])
        assert "pod/web" in text(pilot.app).splitlines()[1]

    drive(app, act=act)


def test_an_answer_that_makes_more_reads_necessary_is_called_one_so_far():
    feed = Still()
    store = store_of(made("Pod", "web", spec={"containers": [{"name": "app"}]}))
    app = Kres(session_on(store, feed), (HOME, Location("object", ref=ObjectRef("Pod", "web", "ns"))))

    async def act(pilot):
        assert "so far" not in text(pilot.app)
        feed.given[ReadRequest("LimitRange", "ns")] = FeedState("listing")
        await until(pilot, "still reading: this is so far")
        feed.given.clear()
        await until(pilot, "so far", gone=True)

    drive(app, act=act)


def test_a_pod_with_a_quantity_that_is_none_costs_itself_alone(tmp_path):
    """It is left out of every list and sum; the others are there, and the screens say what is missing."""
    head, *pages = SHOP.read_text("utf-8").splitlines()
    body, spoilt = [head], ""
    for page in map(json.loads, pages[:-1]):
        if page["kind"] == "Pod" and not spoilt:
            spoilt = page["items"][0]["metadata"]["name"]
            page["items"][0]["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "much"}}
        body.append(json.dumps(page, separators=(",", ":")))
    last = "".join(f"{line}\n" for line in body).encode()
    ending = pages[-1].rpartition(":")[0].encode() + b":"
    path = tmp_path / "spoilt.kres"
    path.write_bytes(last + ending + b"%d}\n" % zlib.crc32(ending, zlib.crc32(last)))
    for words in ("pods", "overview", "namespaces", "quotas", "refused"):
        app, seen = app_on(shop(path), words), []

        async def act(pilot, app=app, seen=seen):
            await settled(pilot)
            seen.append(text(app))

        drive(app, act=act)
        assert f" > {words}" in seen[0] or words == "overview"
        assert spoilt not in seen[0], words


@pytest.mark.parametrize(
    ("status", "sign", "shown", "why"),
    [
        (
            {"phase": "Failed", "reason": "Evicted", "message": "the node was low on memory"},
            "x",
            "Evicted",
            "Evicted: the node was low on memory",
        ),
        (
            {
                "phase": "Pending",
                "conditions": [
                    {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes fit"}
                ],
            },
            "!",
            "Unschedulable",
            "Unschedulable: 0/3 nodes fit",
        ),
        ({"phase": "Succeeded"}, " ", "Succeeded", ""),
        ({"phase": "Running"}, " ", "Running", ""),
    ],
)
def test_a_pod_that_does_not_run_is_marked_and_says_why(status, sign, shown, why):
    store = store_of(made("Pod", "web", spec={"containers": [{"name": "app"}]}, status=status))
    screen = drive(Kres(session_on(store), (HOME, Location("pods"))), size=LARGE)
    line = next(line for line in screen.splitlines() if " web " in line)
    assert line[2] == sign
    assert shown in line
    assert why in screen
