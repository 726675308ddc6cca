"""A list that breaks on its way: what was read stays, what was not read is not invented, and it is said."""

from __future__ import annotations

import json
from itertools import product

import pytest

from kubectl_kres.cluster import read
from kubectl_kres.errors import KresError, TimedOut, Unreachable
from kubectl_kres.store.coverage import READ, Need
from kubectl_kres.store.store import Origin, Store

PODS = "/api/v1/pods"
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
    read.fill(connection, store, needs, chunk_size=3)
    return store


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ({"body": SECOND}, "read"),
        ({"body": SECOND, "packed": True, "framing": "chunked"}, "read"),
        ({"body": {"items": None}}, "read"),
        ({"body": b'{"items": null, "surprise": [1]}'}, "read"),
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
            filled(connection, Need("Pod"))
        return
    store = filled(connection, Need("Pod"))
    names = [one.metadata.name for one in store.all("Pod")]
    whole = outcome == "read" and reply["body"] == SECOND
    assert names == [*NAMES, *("d" * whole)]
    covered = store.covered(Need("Pod"))
    assert covered == READ if outcome == "read" else covered.message.startswith(outcome)
    assert covered.known == (outcome == "read")


def test_a_kind_that_goes_in_the_middle_of_its_list(server, connection):
    server.on(PODS, FIRST).refuse(PODS, 404, "the server could not find the requested resource")
    store = filled(connection, Need("Pod"))
    assert store.covered(Need("Pod")).state == "absent"
    assert list(store.all("Pod")) == []


def test_an_object_of_ten_megabytes_among_others(server, connection):
    big = pod("big", metadata={"namespace": "shop", "name": "big", "annotations": {"blob": "x" * (10 << 20)}})
    server.on(PODS, {"items": [pod("a"), big, pod("z")]}, packed=True, framing="chunked")
    store = filled(connection, Need("Pod"))
    assert [one.metadata.name for one in store.all("Pod")] == ["a", "big", "z"]


RIGHTS = {
    "readable": ({"items": [{"metadata": {"namespace": "x", "name": "one"}}]}, 200),
    "forbidden": ({"kind": "Status", "message": "is forbidden", "reason": "Forbidden"}, 403),
    "absent": (b"404 page not found\n", 404),
    "unavailable": (b"service unavailable\n", 503),
    "another version": ({"kind": "Status", "message": "the server could not find the requested resource"}, 404),
}
STATES = dict(zip(RIGHTS, ("read", "denied", "absent", "failed", "absent"), strict=True))


@pytest.mark.parametrize("rights", product(RIGHTS, repeat=2), ids="-".join)
def test_every_combination_of_two_kinds_in_two_namespaces(server, connection, rights):
    """One cannot be read: the others are, and each says how it went. An API group may be down, or served elsewhere."""
    needs = [Need(kind, space) for kind in ("LimitRange", "ResourceQuota") for space in ("one", "two")]
    order = [rights[0], rights[1], rights[1], rights[0]]
    for need, right in zip(needs, order, strict=True):
        body, status = RIGHTS[right]
        kind = "text/plain" if isinstance(body, bytes) else "application/json"
        plural = f"{need.kind.lower()}s"
        server.on(f"/api/v1/namespaces/{need.namespace}/{plural}", body, status, content_type=kind)
    try:
        store = filled(connection, *needs)
    except KresError as error:
        pytest.fail(f"{error.message}")
    assert [store.covered(need).state for need in needs] == [STATES[right] for right in order]
    assert bool(list(store.all("LimitRange"))) == ("readable" in order[:2])
