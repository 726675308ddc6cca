"""Watches byte by byte: framing, lines, events, and how they end."""

from __future__ import annotations

import json
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_kres.cluster.connection import connect
from kubectl_kres.cluster.kubeconfig.current_context import ConnectOptions, Target, load
from kubectl_kres.cluster.kubeconfig.files import ClusterEntry as Entry
from kubectl_kres.cluster.transport import deadline as backoff
from kubectl_kres.cluster.transport.body import split
from kubectl_kres.cluster.transport.deadline import split_chunks
from kubectl_kres.cluster.watch import events as watch
from kubectl_kres.errors import ClusterError, Expired, Forbidden, StatusError, TimedOut, Unauthenticated, Unreachable
from kubectl_kres.model.kinds import BY_KIND

POD = BY_KIND["Pod"]
PODS = "/api/v1/pods"


def pod(name, version, **fields):
    return {"metadata": {"name": name, "namespace": "a", "resourceVersion": str(version)}, **fields}


def event(kind, *arguments, **fields):
    return {"type": kind, "object": pod(*arguments, **fields)}


def lines(*events):
    return [one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n" for one in events]


def decoded(*events, since="10"):
    """The events and the last version of a watch."""
    found = list(watch.batches([lines(*events)], POD, POD.struct, since))
    told = [(one.type, one.name, one.version) for batch in found for one in batch.events]
    return told, next((batch.version for batch in reversed(found) if batch.version), "")


def test_events_and_bookmarks():
    added, bookmark = event("ADDED", "web", 11), {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "15"}}}
    assert decoded(added, b"\n", event("DELETED", "web", 12), bookmark) == (
        [("ADDED", "web", 11), ("DELETED", "web", 12)],
        "15",
    )
    assert decoded() == ([], "")


def test_what_came_before_is_left_out():
    again = (event("ADDED", "old", 9), event("ADDED", "web", 11), event("ADDED", "web", 11), event("ADDED", "db", 10))
    assert decoded(*again, event("MODIFIED", "web", 700)) == ([("ADDED", "web", 11), ("MODIFIED", "web", 700)], "700")


def test_versions_that_are_no_numbers_are_taken_as_they_are():
    found = decoded(event("ADDED", "a", "x1"), event("MODIFIED", "a", "x1"), since="x0")
    assert found == ([("ADDED", "a", 0), ("MODIFIED", "a", 0)], "x1")


def test_an_object_of_the_wrong_form():
    bad = event("MODIFIED", "bad", 11, spec=3)
    (batch,) = watch.batches([lines(bad)], POD, POD.struct, "1")
    (found,) = batch.events
    assert found.item is None and found.fault is not None
    assert found.fault.line == "pods a/bad: Expected `object`, got `int` - at `$.spec`"
    assert (found.namespace, found.name, found.version, batch.version) == ("a", "bad", 11, "11")


def error(code, reason="", message="no"):
    return {"type": "ERROR", "object": {"kind": "Status", "code": code, "reason": reason, "message": message}}


@pytest.mark.parametrize(
    ("line", "kind", "message"),
    [
        (error(410, "Expired", "too old resource version"), Expired, "too old resource version"),
        (error(0, "Expired"), Expired, "no"),
        (error(500, "InternalError"), StatusError, "no"),
        ({"type": "ERROR", "object": 3}, StatusError, "the server answered 500 with no content type"),
        (
            event("SURPRISE", "web", 11),
            ClusterError,
            "the server sent an event about pods of the unknown type 'SURPRISE'",
        ),
        (event("SURPRISE", "web", 11, spec=3), ClusterError, "the server sent an event about pods of the unknown type"),
        ({"type": "ADDED", "object": {"spec": 3}}, ClusterError, "an event about pods could not be decoded: "),
        ({"type": "ADDED", "object": 3}, ClusterError, "an event about pods could not be decoded: "),
        (b"<html>", ClusterError, "an event about pods could not be decoded: JSON is malformed"),
        (b'{"type": "ADD', ClusterError, "an event about pods could not be decoded: Input data was truncated"),
        (b"\xff\xff\xff\n", ClusterError, "an event about pods could not be decoded: "),
    ],
)
def test_what_is_no_event_ends_the_watch_after_what_came_before(line, kind, message):
    found, told = watch.batches([lines(event("ADDED", "web", 11), line)], POD, POD.struct, "1"), []
    with pytest.raises(kind) as caught:
        for batch in found:
            told += [one.name for one in batch.events]
    assert told == ["web"]
    assert type(caught.value) is kind
    assert caught.value.message.startswith(message)


PIECES = st.lists(st.binary(max_size=5) | st.sampled_from([b"\n", b"x\n", b"\n\n", b""]), max_size=20)


@given(groups=st.lists(PIECES, max_size=6))
def test_lines_do_not_depend_on_how_they_come(groups):
    whole = b"".join(map(b"".join, groups))
    found = [line.removesuffix(b"\n") for group in split(groups) for line in group]
    assert [line for line in found if line] == [line for line in whole.split(b"\n")[:-1] if line]


@given(chunks=st.lists(st.binary(min_size=1, max_size=40), max_size=8), cuts=st.lists(st.integers(1, 30), max_size=30))
def test_chunks_do_not_depend_on_how_they_come(chunks, cuts):
    text = b"".join(b"%x;note\r\n%s\r\n" % (len(one), one) for one in chunks) + b"0\r\n\r\n"
    found, held, over = [], b"", False
    for cut in [*cuts, len(text)]:
        piece, text = text[:cut], text[cut:]
        if not over:
            pieces, held, over = split_chunks(held + piece)
            found += pieces
    assert (found, over) == (chunks, True)


@pytest.mark.parametrize("size", [b"x", b"-5", b"", b" "])
def test_a_chunk_of_no_size(size):
    with pytest.raises(ValueError, match=r"chunk|invalid literal"):
        split_chunks(size + b"\r\nabc\r\n")


def read_all(connection, silence=20.0):
    with connection.watch(PODS, [("watch", "true")], silence) as stream:
        return [line.strip() for group in stream.lines() for line in group]


BODY = b'{"a": "\xc3\xbc"}\n{"b": 2}\n'


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("framing", ["length", "chunked", "none"])
def test_every_framing(server, connection, framing, packed):
    server.on(PODS, BODY, framing=framing, packed=packed)
    assert read_all(connection) == BODY.split(b"\n")[:2]
    assert server.requests[0].query == {"watch": "true"}


def test_an_empty_watch(server, connection):
    server.on(PODS, b"")
    assert read_all(connection) == []


@pytest.mark.parametrize("cut", range(-len(BODY) - 12, -2))
def test_a_cut_loses_only_the_line_that_it_meets(server, connection, cut):
    """In the framing, in an event, in the middle of a character. An end within the last line is no end of the watch."""
    server.on(PODS, BODY, framing="chunked", cut=cut)
    found = []
    with pytest.raises(Unreachable), connection.watch(PODS, [], 20.0) as stream:
        for group in stream.lines():
            found += [line.strip() for line in group]
    assert found == BODY.split(b"\n")[: len(found)]


def test_gzip_that_is_broken(server, connection):
    server.on(PODS, b"no gzip at all", headers={"Content-Encoding": "gzip"})
    with pytest.raises(Unreachable, match="not valid gzip"):
        read_all(connection)


def test_silence_ends_a_watch(server, connection):
    whole = len(server.on("/whole", BODY, framing="none")._replies["/whole"][0].encode())
    server.on(PODS, BODY, framing="none", stall=whole)
    assert len(read_all(connection, silence=0.1)) == 2


def test_no_answer_to_a_watch(server, connection):
    server.on(PODS, stall=0)
    with pytest.raises(TimedOut):
        read_all(connection, silence=0.1)


def test_a_refused_watch_keeps_the_words(server, connection):
    server.refuse(PODS, 403, "pods is forbidden", "Forbidden")
    with pytest.raises(Forbidden, match=r"^pods is forbidden$"):
        read_all(connection)


def test_the_wait_that_a_server_asks_for_is_kept(server, connection):
    server.refuse(PODS, 429, "later", headers={"Retry-After": "17"})
    with pytest.raises(StatusError) as caught:
        read_all(connection)
    assert caught.value.retry_after == 17.0


def test_new_credentials_after_401(server, tmp_path):
    """A token that expired is asked for once more; one that stays refused is an error."""
    server.refuse(PODS, 401, "Unauthorized").on(PODS, BODY).refuse(PODS, 401, "Unauthorized")
    plugin = tmp_path / "plugin"
    plugin.write_text(
        f"#!/bin/sh\necho x >> {tmp_path}/runs\n"
        'echo "{\\"apiVersion\\": \\"client.authentication.k8s.io/v1\\", \\"kind\\": \\"ExecCredential\\", '
        f'\\"status\\": {{\\"token\\": \\"token-$(wc -l < {tmp_path}/runs | tr -d " ")\\"}}}}"\n'
    )
    plugin.chmod(0o700)
    exec_ = {"apiVersion": "client.authentication.k8s.io/v1", "command": str(plugin), "interactiveMode": "Never"}
    config = {
        "clusters": [{"name": "a", "cluster": {"server": server.url.replace("http:", "https:")}}],
        "users": [{"name": "a", "user": {"exec": exec_}}],
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        "current-context": "a",
    }
    (tmp_path / "config").write_text(json.dumps(config))
    target = load(ConnectOptions(str(tmp_path / "config")), {"KUBERC": "off"})
    with connect(target, environ={}) as connection:
        connection.server = server.url
        assert len(read_all(connection)) == 2
        with pytest.raises(Unauthenticated):
            read_all(connection)
    shown = [request.headers["authorization"] for request in server.requests]
    assert shown[:2] == ["Bearer token-1", "Bearer token-2"]


@pytest.mark.parametrize("secure", [False, True])
def test_another_thread_ends_a_silent_watch(request, opened, secure):
    server = request.getfixturevalue("tls_server" if secure else "server")
    entry = Entry(insecure_skip_tls_verify=True) if secure else Entry()
    connection = opened(Target(server.url, "default", cluster=entry))
    server.on(PODS, BODY, framing="none", stall=200)
    heard, ended = threading.Event(), threading.Event()
    stream = connection.watch(PODS, [], 60.0)

    def follow():
        with stream:
            try:
                for _ in stream.lines():
                    heard.set()
            except Unreachable:
                pass
        ended.set()

    server.on("/other", {})
    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    assert heard.wait(30)
    stream.close()
    assert ended.wait(30)
    thread.join()


def test_waits_grow_to_a_limit():
    assert [backoff.delay(tries, 0.0) for tries in (0, 1, 2, 3, 6, 7, 1000)] == [0.8, 0.8, 1.6, 3.2, 25.6, 30, 30]
    assert backoff.delay(1, 1.0) == 1.6
    assert backoff.delay(1, 0.0, asked=17.0) == 17.0
