"""The bench's server: lists, pages and watches of objects that change agree with each other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bench.made import Served, keyed, objects, served, truth

from kubectl_kres.quantity import parse

pytestmark = pytest.mark.thorough

Objects = dict[str, dict[str, Any]]
PODS = "/api/v1/pods"
#: As fast as the machine can: the test then waits for nothing.
PACE = ("--pace", "pods=4000", "--pace-events", "3000", "--bookmark-every", "0.05", "--framing", "one")


@pytest.fixture(scope="module")
def still(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(folder, tmp_path_factory.mktemp("still")) as one:
        yield one


def listed(server: Served, path: str, limit: int = 0) -> tuple[Objects, str]:
    """All pages of a list and its version; read again from the start if it expires."""
    found: Objects = {}
    token = ""
    while True:
        code, page = server.get(f"{path}?limit={limit}&continue={token}")
        if code == 410:
            return listed(server, path, limit)
        found |= keyed(page["items"])
        token = page["metadata"].get("continue", "")
        if not token:
            return found, page["metadata"]["resourceVersion"]


def began(folder: Path) -> int:
    """The version before anything happens."""
    return int(json.loads((folder / "index.json").read_text())["resourceVersion"])


def followed(server: Served, objects: Objects, version: str, until: int, faults: int) -> None:
    """Apply events up to a version, and list again after each ERROR; there have to be so many ``faults``."""
    while int(version) < until or faults > 0:
        query = f"watch=1&allowWatchBookmarks=true&resourceVersion={version}&timeoutSeconds=30"
        for event in server.watch(f"{PODS}?{query}"):
            if event["type"] == "ERROR":
                assert event["object"]["code"] == 410
                faults -= 1
                objects.clear()
                fresh, version = listed(server, PODS, 50)
                objects |= fresh
                break
            meta = event["object"]["metadata"]
            assert int(meta["resourceVersion"]) >= int(version)
            version = meta["resourceVersion"]
            if event["type"] == "DELETED":
                del objects[f"{meta['namespace']}/{meta['name']}"]
            elif event["type"] != "BOOKMARK":
                objects |= keyed([event["object"]])
            if int(version) >= until:
                break


def plain(objects: Objects) -> Objects:
    """Without what an item of a list does not say."""
    return {key: {k: v for k, v in one.items() if k not in ("kind", "apiVersion")} for key, one in objects.items()}


@pytest.mark.parametrize(
    ("faults", "heals"),
    [((), 0), (("--watch-close", "0.1"), 0), (("--watch-gone", "2", "--watch-close", "0.1"), 1)],
)
def test_a_watch_leads_to_what_a_fresh_list_says(
    folder: Path, tmp_path: Path, faults: tuple[str, ...], heals: int
) -> None:
    with served(folder, tmp_path, *PACE, *faults) as server:
        pods, version = listed(server, PODS, 50)
        followed(server, pods, version, began(folder) + 3000, heals)
        fresh, last = listed(server, PODS)
    assert int(last) == began(folder) + 3000
    assert plain(pods) == plain(fresh)
    assert len({one["metadata"]["resourceVersion"] for one in fresh.values()} - {last}) > 100


def test_a_watch_can_be_closed_early(folder: Path, tmp_path: Path) -> None:
    with served(folder, tmp_path, "--watch-close", "0.05", "--bookmark-every", "0.01") as server:
        _, page = server.get(f"{PODS}?limit=1")
        version = page["metadata"]["resourceVersion"]
        events = list(server.watch(f"{PODS}?watch=1&allowWatchBookmarks=1&resourceVersion={version}"))
    assert {event["type"] for event in events} <= {"BOOKMARK"}


def passed(server: Served, rate: int, version: int, count: int) -> None:
    """Let things happen at a rate until ``count`` versions after ``version``, or that one is too old, then stop."""
    server.get(f"/bench/pace?rate={rate}")
    for event in server.watch(f"{PODS}?watch=1&resourceVersion={version}&allowWatchBookmarks=1"):
        if event["type"] == "ERROR" or int(event["object"]["metadata"]["resourceVersion"]) > version + count:
            break
    server.get("/bench/pace?rate=0")


def test_all_pages_are_of_one_moment_and_an_old_one_is_gone(folder: Path, tmp_path: Path) -> None:
    with served(folder, tmp_path, "--pace", "pods=0", "--pace-keep", "2000", "--bookmark-every", "0.05") as server:
        _, first = server.get(f"{PODS}?limit=10")
        version, token = int(first["metadata"]["resourceVersion"]), first["metadata"]["continue"]
        passed(server, 400, version, 50)
        code, second = server.get(f"{PODS}?limit=1000&continue={token}")
        assert (code, second["metadata"]["resourceVersion"]) == (200, str(version))
        assert all(int(one["metadata"]["resourceVersion"]) <= version for one in second["items"])
        passed(server, 20000, int(server.get("/bench/state")[1]["resourceVersion"]), 2500)
        code, gone = server.get(f"{PODS}?limit=10&continue={token}")
        assert (code, gone["reason"]) == (410, "Expired")
        code, rest = server.get(f"{PODS}?limit=10&continue={gone['metadata']['continue']}")
        assert code == 200
        assert list(keyed(rest["items"])) > list(keyed(first["items"]))
        late = next(iter(server.watch(f"{PODS}?watch=1&resourceVersion={version}")))
        assert (late["type"], late["object"]["code"]) == ("ERROR", 410)


def test_a_selecting_watch_hears_objects_come_and_go(folder: Path, tmp_path: Path) -> None:
    with served(folder, tmp_path, *PACE) as server:
        last = began(folder) + 3000
        path = f"{PODS}?fieldSelector=status.phase%3DFailed"
        _, page = server.get(path)
        known = set(keyed(page["items"]))
        version = page["metadata"]["resourceVersion"]
        for event in server.watch(f"{path}&watch=1&resourceVersion={version}&allowWatchBookmarks=1"):
            if event["type"] == "BOOKMARK" and int(event["object"]["metadata"]["resourceVersion"]) >= last:
                break
            if event["type"] == "BOOKMARK":
                continue
            key = next(iter(keyed([event["object"]])))
            assert (event["type"] == "ADDED") == (key not in known)
            known = known - {key} if event["type"] == "DELETED" else known | {key}
        _, fresh = server.get(path)
    assert known == set(keyed(fresh["items"]))


def test_the_rate_can_be_set(folder: Path, tmp_path: Path) -> None:
    with served(folder, tmp_path, "--pace", "pods=1000") as server:
        _, state = server.get("/bench/pace?rate=0")
        _, page = server.get(PODS)
        assert page["metadata"]["resourceVersion"] == state["resourceVersion"]
        assert state["rates"] == {"pods": 0.0}


def test_pages_hold_every_object_once(still: Served, folder: Path) -> None:
    for path, kind in ((PODS, "pods"), ("/apis/tekton.dev/v1/taskruns", "taskruns")):
        found, _ = listed(still, path, 37)
        assert list(found) == list(keyed(objects(folder, kind)))


def test_one_object_is_served_by_its_name_and_a_missing_one_is_not_found(still: Served, folder: Path) -> None:
    claim = objects(folder, "resourcepoolclaims")[5]["metadata"]
    root = f"/apis/capsule.clastix.io/v1beta2/namespaces/{claim['namespace']}/resourcepoolclaims"
    code, one = still.get(f"{root}/{claim['name']}")
    assert (code, one["kind"], one["metadata"]) == (200, "ResourcePoolClaim", claim)
    code, none = still.get(f"{root}/nobody")
    assert (code, none["details"]["name"]) == (404, "nobody")
    assert still.get("/apis/apps/v1/pods")[0] == 404


def test_a_recount_over_the_server_finds_what_the_truth_says(still: Served, folder: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kubectl_kres", "quota", "--recount", "-A", "-o", "json"]
    environment = {**os.environ, "KUBECONFIG": str(still.kubeconfig), "HOME": str(tmp_path)}
    answer = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    told = truth(folder)["quotas"]
    found = json.loads(answer.stdout)["items"]
    for one in found:
        subject = one["subject"]
        uses = {use["name"]: use for use in one["uses"]}
        counted = {name: str(parse(use["counted"]).milli()) for name, use in uses.items()}
        assert counted == told[f"{subject['namespace']}/{subject['name']}"]["used"]
    assert len(found) == len(told)
