"""A list that breaks on its way: what was read stays, what was not read is not invented, and it is said."""

from __future__ import annotations

import json
from itertools import product

import pytest

from kubectl_kres.cluster.read import fill_store
from kubectl_kres.errors import KresError, TimedOut, Unreachable
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.store.store import READ, Origin, ReadRequest, Store

PODS, TASKS = "/api/v1/pods", "/apis/tekton.dev/v1/tasks"
NAMES = ("a", "b", "c")


def pod(name, **fields):
    return {"metadata": {"namespace": "shop", "name": name}, **fields}


def page(names, token="", **fields):
    return {"kind": "PodList", "metadata": {"continue": token}, "items": [pod(name, **fields) for name in names]}


FIRST = page(NAMES, "next")
#: With characters of two bytes, so that a cut can meet one.
SECOND = json.dumps(page(("d",), spec={"nodeName": "ü" * 40}), ensure_ascii=False).encode()
MIDDLE = SECOND.index("ü".encode()) + 1
HEAD = len(b"HTTP/1.1 200 Said\r\nContent-Type: application/json\r\nContent-Length: 220\r\n\r\n")
BUSY = {"body": {"kind": "Status", "message": "later"}, "headers": {"Retry-After": "0"}}


def filled(connection, *needs):
    store = Store(Origin("cluster"))
    fill_store.fill(connection, store, needs, chunk_size=3)
    return store


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ({"body": SECOND}, "read"),
        ({"body": SECOND, "packed": True, "framing": "chunked"}, "read"),
        ({"body": {"kind": "PodList", "items": None}}, "read"),
        ({"body": b'{"kind": "PodList", "items": null, "surprise": [1]}'}, "read"),
        ({"body": {}}, "Object 'Kind' is missing in the server's answer: it is not the list of pods"),
        ({"body": {"kind": "SecretList", "items": []}}, "the server answered with a SecretList instead of"),
        ({"status": 404, "body": {"kind": "Status", "message": "no such path"}}, "no such path"),
        ({"status": 404, "body": b"404 page not found\n", "content_type": "text/plain"}, "the server could not find"),
        ({"status": 404, "body": b"<html>", "content_type": "text/html"}, "the server answered 404 with text/html"),
        ({"status": 500, "body": {"kind": "Status", "message": "etcd leader changed"}}, "etcd leader changed"),
        ({"status": 429, **BUSY}, "later"),
        ({"status": 503, **BUSY}, "later"),
        ({"status": 503, "body": {"kind": "Status", "message": "later"}}, "later"),
        ({"status": 403, "body": {"kind": "Status", "message": "no more"}}, "no more"),
        ({"body": b"<html>Sign in</html>", "content_type": "text/html"}, "the server answered 200 with text/html"),
        ({"body": b"<html>Bad</html>", "content_type": "text/html", "status": 502}, "the server answered 502 with"),
        ({"body": SECOND[:MIDDLE]}, "the list of pods could not be decoded: "),
        ({"body": SECOND.replace(b'"d"', b'"\xff"')}, "the list of pods could not be decoded: "),
        ({"body": b'{"items": 3}'}, "the list of pods could not be decoded: "),
        ({"body": b""}, "the list of pods could not be decoded: "),
        ({"body": SECOND, "headers": {"Content-Encoding": "br"}}, "the server answered with the unknown encoding br"),
        ({"cut": 0, "framing": "none"}, Unreachable),
        ({"body": SECOND, "cut": 30}, Unreachable),
        ({"body": SECOND, "cut": HEAD + 20}, Unreachable),
        ({"body": SECOND, "cut": HEAD + MIDDLE}, Unreachable),
        ({"body": SECOND, "cut": HEAD + 20, "reset": True}, Unreachable),
        ({"body": SECOND, "packed": True, "framing": "none", "cut": -9}, Unreachable),
        ({"body": SECOND, "length": len(SECOND) + 9}, Unreachable),
        ({"body": SECOND, "drip": True}, TimedOut),
        ({"body": SECOND, "stall": HEAD + 20}, TimedOut),
        ({"stall": 0}, TimedOut),
    ],
    ids=lambda value: str(value)[:60],
)
def test_the_second_page_breaks(server, opened, reply, outcome):
    slow = outcome is TimedOut
    connection = opened(server.url, 0.3 if slow else 20.0)
    server.on(PODS, FIRST).on(PODS, **reply)
    if isinstance(outcome, type):
        with pytest.raises(outcome):
            filled(connection, ReadRequest("Pod"))
        return
    store = filled(connection, ReadRequest("Pod"))
    names = [one.metadata.name for one in store.all("Pod")]
    whole = outcome == "read" and reply["body"] == SECOND
    assert names == [*NAMES, *("d" * whole)]
    covered = store.covered(ReadRequest("Pod"))
    assert covered == READ if outcome == "read" else covered.message.startswith(outcome)
    assert covered.is_known == (outcome == "read")


def test_an_extension_that_goes_in_the_middle_of_its_list(server, connection):
    """What was read of it stays, and the answer is not complete."""
    content = {"kind": "TaskList", "metadata": {"continue": "next"}, "items": [pod("a")]}
    server.on(TASKS, content).refuse(TASKS, 404, "the server could not find the requested resource")
    store = filled(connection, ReadRequest("Task"))
    assert store.covered(ReadRequest("Task")).state == "failed"
    assert [one.metadata.name for one in store.all("Task")] == ["a"]


SERVED = {"kind": "APIGroupList", "groups": [{"name": "tekton.dev", "versions": [{"version": "v1"}]}]}
RESOURCES = {"kind": "APIResourceList", "resources": [{"name": "taskruns", "kind": "TaskRun", "namespaced": True}]}
TEXT = {"body": b"404 page not found\n", "status": 404, "content_type": "text/plain; charset=utf-8"}
HTML = {"body": b"<html>Not found</html>", "status": 404, "content_type": "text/html"}


@pytest.mark.parametrize(
    ("reply", "groups", "resources", "state"),
    [
        # The API server's own Status needs nobody to confirm it.
        ({"body": {"kind": "Status", "message": "no such resource"}, "status": 404}, None, None, "absent"),
        (TEXT, {"kind": "APIGroupList", "groups": []}, None, "absent"),
        (TEXT, {"kind": "APIGroupList", "groups": [{"name": "tekton.dev", "versions": []}]}, None, "absent"),
        (TEXT, SERVED, RESOURCES, "absent"),
        (TEXT, SERVED, {**RESOURCES, "resources": [{"name": "tasks", "kind": "Task"}]}, "failed"),
        (TEXT, SERVED, {}, "failed"),
        (TEXT, SERVED, None, "failed"),
        (TEXT, None, None, "failed"),
        (TEXT, {}, None, "failed"),
        (TEXT, {"kind": "SecretList"}, None, "failed"),
        (HTML, {"kind": "APIGroupList", "groups": []}, None, "failed"),
        ({"body": b"{}", "status": 404}, {"kind": "APIGroupList", "groups": []}, None, "failed"),
    ],
    ids=lambda value: str(value)[:50],
)
def test_an_extension_is_absent_only_by_status_or_discovery(server, connection, reply, groups, resources, state):
    server.on(TASKS, **reply)
    for path, found in (("/apis", groups), ("/apis/tekton.dev/v1", resources)):
        if found is not None:
            server.on(path, found)
    assert filled(connection, ReadRequest("Task")).covered(ReadRequest("Task")).state == state


@pytest.mark.parametrize("reply", [TEXT, HTML, {"body": {"kind": "Status", "message": "none"}, "status": 404}])
@pytest.mark.parametrize("kind", ["LimitRange", "Pod", "Deployment", "Job", "Namespace"])
def test_a_built_in_kind_is_never_absent(server, connection, kind, reply):
    server.on(BY_KIND[kind].path(), **reply).on("/apis", {"kind": "APIGroupList", "groups": []})
    assert filled(connection, ReadRequest(kind)).covered(ReadRequest(kind)).state == "failed"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "Object 'Kind' is missing in the server's answer: it is not pods \"web\""),
        ({"kind": "Secret", "metadata": {"name": "web"}}, 'the server answered with a Secret instead of pods "web"'),
        ({"kind": "Pod", "metadata": {"name": "other"}}, 'the server answered with "other" instead of pods "web"'),
        (
            {"kind": "Pod", "apiVersion": "v2", "metadata": {"name": "web"}},
            "the server answered with Pod of v2 instead",
        ),
    ],
)
def test_one_object_that_is_another(server, connection, body, message):
    server.on("/api/v1/namespaces/shop/pods/web", body)
    covered = filled(connection, need := ReadRequest("Pod", "shop", "web")).covered(need)
    assert covered.state == "failed"
    assert covered.message.startswith(message)


@pytest.mark.parametrize("reply", [TEXT, HTML])
def test_a_page_of_a_gateway_says_nothing_of_an_object(server, connection, reply):
    server.on("/api/v1/namespaces/shop/pods/web", **reply)
    assert filled(connection, need := ReadRequest("Pod", "shop", "web")).covered(need).state == "failed"


def test_an_object_of_ten_megabytes_among_others(server, connection):
    big = pod("big", metadata={"namespace": "shop", "name": "big", "annotations": {"blob": "x" * (10 << 20)}})
    server.on(PODS, {"kind": "PodList", "items": [pod("a"), big, pod("z")]}, packed=True, framing="chunked")
    store = filled(connection, ReadRequest("Pod"))
    assert [one.metadata.name for one in store.all("Pod")] == ["a", "big", "z"]


RIGHTS = {
    "readable": ({"items": [{"metadata": {"namespace": "x", "name": "one"}}]}, 200),
    "another kind": ({"kind": "SecretList", "items": []}, 200),
    "forbidden": ({"kind": "Status", "message": "is forbidden", "reason": "Forbidden"}, 403),
    "absent": (b"404 page not found\n", 404),
    "unavailable": (b"service unavailable\n", 503),
    "another version": ({"kind": "Status", "message": "the server could not find the requested resource"}, 404),
}
STATES = dict(zip(RIGHTS, ("read", "failed", "denied", "failed", "failed", "failed"), strict=True))


@pytest.mark.parametrize("rights", product(RIGHTS, repeat=2), ids="-".join)
def test_every_combination_of_two_kinds_in_two_namespaces(server, connection, rights):
    """One cannot be read: the others are, and each says how it went. An API group may be down, or served elsewhere."""
    needs = [ReadRequest(kind, space) for kind in ("LimitRange", "ResourceQuota") for space in ("one", "two")]
    order = [rights[0], rights[1], rights[1], rights[0]]
    for need, right in zip(needs, order, strict=True):
        body, status = RIGHTS[right]
        body = {"kind": f"{need.kind}List", **body} if isinstance(body, dict) else body
        kind = "text/plain" if isinstance(body, bytes) else "application/json"
        plural = f"{need.kind.lower()}s"
        server.on(f"/api/v1/namespaces/{need.namespace}/{plural}", body, status, content_type=kind)
    try:
        store = filled(connection, *needs)
    except KresError as error:
        pytest.fail(f"{error.message}")
    assert [store.covered(need).state for need in needs] == [STATES[right] for right in order]
    assert bool(list(store.all("LimitRange"))) == ("readable" in order[:2])
