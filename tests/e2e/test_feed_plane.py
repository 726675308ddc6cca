"""A feed on a real API server that goes away and comes back: the store ends as a fresh list has it."""

from __future__ import annotations

import json
import re
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from cluster.following import Follower, following
from controlplane import BASIC_CONTROLLERS, ControlPlane
from e2e.asking import Asking
from e2e.conftest import watched
from e2e.plugin import environment

from kubectl_kres.cluster.connection import connect
from kubectl_kres.cluster.kubeconfig.current_context import ConnectOptions, Target, load
from kubectl_kres.cluster.read import fill_store
from kubectl_kres.cluster.watch.feed_state import Clock
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.store.store import ReadRequest

pytestmark = pytest.mark.e2e

NEEDS = (
    ReadRequest("Pod"),
    ReadRequest("ResourceQuota"),
    ReadRequest("LimitRange", "kres-feed"),
    ReadRequest("Namespace"),
)
SPACE = "kres-feed"
MANY = 5000


class Hurried(Clock):
    """Tries again ten times as soon."""

    def now(self) -> float:
        return super().now() * 10

    def wait(self, over: threading.Event, seconds: float) -> bool:
        return over.wait(seconds / 10)


@pytest.fixture(scope="module")
def plane(assets: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """One that may be broken: nobody else uses it."""
    with watched(assets, tmp_path_factory.mktemp("feed"), controllers=BASIC_CONTROLLERS) as one:
        yield one


@pytest.fixture(scope="module")
def target(plane: ControlPlane) -> Target:
    return load(ConnectOptions(str(plane.kubeconfig)), {"KUBERC": "off"})


@pytest.fixture
def follower(plane: ControlPlane, target: Target) -> Iterator[Follower]:
    """A feed of some kinds that has read them once; there are some pods."""
    create(plane, "/api/v1/namespaces", {"metadata": {"name": SPACE}})
    for number in range(7):
        create(plane, f"/api/v1/namespaces/{SPACE}/pods", pod(f"first-{number}"))
    with following(target, *NEEDS, clock=Hurried(), silence=10.0) as one:
        one.until(lambda: one.phases() == {"watching"} and one.as_fresh(NEEDS))
        yield one


def create(plane: ControlPlane, path: str, body: dict[str, Any]) -> None:
    """Until it is there: the server may just be coming back."""
    deadline = time.monotonic() + 60
    while True:
        try:
            status, answer = plane.request("POST", path, body)
        except OSError as error:
            status, answer = 0, error
        if status in {201, 409}:
            return
        assert time.monotonic() < deadline, answer
        time.sleep(0.05)


def pod(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "app", "image": "app"}]}}


@contextmanager
def without(plane: ControlPlane, name: str) -> Iterator[None]:
    """A component is stopped, and in the end started again as it was."""
    with plane.processes[name] as process:
        process.stdin.close()
    try:
        yield
    finally:
        plane.processes[name] = subprocess.Popen(process.args, stdin=subprocess.PIPE, start_new_session=True)


def changed(plane: ControlPlane, follower: Follower, name: str) -> None:
    """Something changes; in the end the store knows."""
    create(plane, f"/api/v1/namespaces/{SPACE}/pods", pod(name))
    plane.request("DELETE", f"/api/v1/namespaces/{SPACE}/pods/first-0?gracePeriodSeconds=0")
    follower.until(
        lambda: (
            follower.store.get("Pod", name, SPACE) is not None
            and follower.phases() == {"watching"}
            and follower.as_fresh(NEEDS)
        )
    )


@pytest.mark.parametrize("name", ["kube-apiserver", "etcd"])
def test_a_component_is_restarted_under_a_feed(plane: ControlPlane, follower: Follower, name: str) -> None:
    before = len(list(follower.store.all("Pod")))
    with without(plane, name):
        if name == "kube-apiserver":
            follower.until(lambda: "retrying" in follower.phases())
        # What was read stays.
        follower.drain()
        assert len(list(follower.store.all("Pod"))) == before
    changed(plane, follower, f"after-{name}")


def test_what_changed_is_forgotten_while_the_server_was_away(plane: ControlPlane, follower: Follower) -> None:
    with without(plane, "kube-apiserver"):
        compact(plane)
    changed(plane, follower, "after-compaction")


def test_a_namespace_is_deleted_while_it_is_read(plane: ControlPlane, follower: Follower) -> None:
    create(plane, "/api/v1/namespaces", {"metadata": {"name": "kres-gone"}})
    for number in range(5):
        create(plane, "/api/v1/namespaces/kres-gone/pods", pod(f"p{number}"))
    follower.until(lambda: len(list(follower.store.all("Pod", "kres-gone"))) == 5)
    plane.request("DELETE", "/api/v1/namespaces/kres-gone")
    plane.request("DELETE", "/api/v1/namespaces/kres-gone/pods?gracePeriodSeconds=0")
    follower.until(lambda: follower.store.get("Namespace", "kres-gone") is None)
    follower.until(lambda: not list(follower.store.all("Pod", "kres-gone")) and follower.as_fresh(NEEDS))


def test_a_list_goes_on_after_a_compaction(plane: ControlPlane, target: Target) -> None:
    """Whatever the server answers to the token of a list that it has forgotten, no pod is missing or comes twice."""
    create(plane, "/api/v1/namespaces", {"metadata": {"name": SPACE}})
    names = [f"page-{number}" for number in range(6)]
    for name in names:
        create(plane, f"/api/v1/namespaces/{SPACE}/pods", pod(name))
    path = f"/api/v1/namespaces/{SPACE}/pods?limit=1"
    token = plane.request("GET", path)[1]["metadata"]["continue"]
    with connect(target, environ={}) as connection:
        pages = fill_store.pages(connection, BY_KIND["Pod"], ReadRequest("Pod", SPACE), 1)
        found = [item.metadata.name for item in next(pages)]
        create(plane, f"/api/v1/namespaces/{SPACE}/pods", pod("zz-late"))
        compact(plane)
        found += [item.metadata.name for page in pages for item in page]
    status, _ = plane.request("GET", f"{path}&continue={token}")
    assert status in {200, 410}
    assert [name for name in found if name in names] == names
    assert len(found) == len(set(found))


def test_five_thousand_pods_come_and_half_of_them_go(plane: ControlPlane, follower: Follower) -> None:
    """They come while the feed watches; then the server goes away, and comes back with a gap in what it remembers."""
    space = "/api/v1/namespaces/kres-many"
    create(plane, "/api/v1/namespaces", {"metadata": {"name": "kres-many"}})
    with Asking(plane) as asking, ThreadPoolExecutor(8) as pool:
        made = [
            pool.submit(asking.send, "POST", f"{space}/pods", pod(f"p{number}") | {"kind": "Pod"})
            for number in range(MANY)
        ]
        follower.until(lambda: all(one.done() for one in made), 600)
        assert {one.result().status for one in made} == {201}
        follower.until(lambda: len(list(follower.store.all("Pod", "kres-many"))) == MANY, 300)
        assert follower.as_fresh(NEEDS)
        gone = [
            pool.submit(asking.send, "DELETE", f"{space}/pods/p{number}?gracePeriodSeconds=0")
            for number in range(0, MANY, 2)
        ]
        follower.until(lambda: all(one.done() for one in gone), 600)
    with without(plane, "kube-apiserver"):
        compact(plane)
    follower.until(lambda: follower.phases() == {"watching"} and follower.as_fresh(NEEDS))
    assert len(list(follower.store.all("Pod", "kres-many"))) == MANY // 2


def test_a_runbook_waits_for_room(plane: ControlPlane, kubectl: Path, tmp_path: Path) -> None:
    space = "/api/v1/namespaces/kres-room"
    create(plane, "/api/v1/namespaces", {"metadata": {"name": "kres-room"}})
    create(plane, f"{space}/resourcequotas", {"metadata": {"name": "none"}, "spec": {"hard": {"pods": "0"}}})
    deadline = time.monotonic() + 60
    # The quota refuses nothing before its controller has seen it.
    while "hard" not in plane.request("GET", f"{space}/resourcequotas/none")[1]["status"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    (tmp_path / "pod.json").write_text(json.dumps({"apiVersion": "v1", "kind": "Pod", **pod("web")}))
    words = ("explain", "-f", "pod.json", "-n", "kres-room", "-w", "--until", "admitted", "--timeout", "60s")
    environ = environment(plane.kubeconfig, kubectl, tmp_path)
    with subprocess.Popen(
        [str(kubectl), "kres", *words], env=environ, cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        more = {"spec": {"hard": {"pods": "5"}}}
        plane.request("PATCH", f"{space}/resourcequotas/none", more, content_type="application/merge-patch+json")
        rest = process.stdout.read()
    assert process.returncode == 0
    assert first.startswith("refused: ") and "quota none" in first
    # Nodes and their pods are followed for its next pod, too: what else changed may be named beside the quota.
    assert re.search(r"after a change of [^\n]*ResourceQuota/none[^\n]*\nadmitted: kres-room/Pod/web", rest), rest


def compact(plane: ControlPlane) -> None:
    """etcd forgets all that is not now. Source: etcd's JSON gateway to its KV service."""
    arguments = plane.processes["kube-apiserver"].args
    etcd = next(word.partition("=")[2] for word in arguments if str(word).startswith("--etcd-servers="))

    def call(method: str, body: dict[str, Any]) -> Any:
        request = urllib.request.Request(f"{etcd}/v3/kv/{method}", json.dumps(body).encode(), method="POST")
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read())

    revision = call("range", {"key": "AA=="})["header"]["revision"]
    call("compaction", {"revision": revision, "physical": True})
