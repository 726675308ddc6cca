import gzip
import json
import os
import platform
import socket
import threading
from time import monotonic

import pytest

from kubectl_kres import __version__
from kubectl_kres.cluster import connection as module
from kubectl_kres.cluster.kubeconfig.current_context import Target
from kubectl_kres.cluster.kubeconfig.files import ClusterEntry, UserEntry
from kubectl_kres.errors import (
    ClusterError,
    Expired,
    Forbidden,
    NotFound,
    StatusError,
    TimedOut,
    Unauthenticated,
    Unreachable,
)

UNABLE = "Unable to connect to the server: "


@pytest.fixture
def pauses(monkeypatch):
    """The pauses between tries, none of which is really made."""
    made = []
    monkeypatch.setattr(module, "sleep", made.append)
    return made


@pytest.mark.parametrize("framing", ["length", "chunked", "none"])
@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("timeout", [0.0, 20.0])
def test_bodies_arrive_whole_in_every_framing(server, opened, framing, packed, timeout):
    body = {"text": "é" * 50_000, "a": 1}
    server.on("/x", body, framing=framing, packed=packed)
    assert json.loads(opened(server.url, timeout).get("/x")) == body


def test_what_is_sent(server, opened):
    server.on("/prefix/x", {})
    user = UserEntry(token="t")
    opened(Target(server.url + "/prefix", "default", user=user)).get(
        "/x", [("limit", "5"), ("labelSelector", "a=b,c in (d)")]
    )
    request = server.requests[0]
    assert request.query == {"limit": "5", "labelSelector": "a=b,c in (d)"}
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine().lower(), platform.machine().lower())
    assert {key: request.headers[key] for key in ("accept", "accept-encoding", "authorization", "user-agent")} == {
        "accept": "application/json",
        "accept-encoding": "gzip",
        "authorization": "Bearer t",
        "user-agent": f"kubectl-kres/{__version__} ({platform.system().lower()}/{machine})",
    }


def test_compression_can_be_switched_off(server, opened):
    server.on("/x", {})
    opened(Target(server.url, "default", cluster=ClusterEntry(disable_compression=True))).get("/x")
    assert server.requests[0].headers.get("accept-encoding") is None


def test_a_connection_is_used_again(server, connection):
    server.on("/x", {}, framing="chunked", packed=True).on("/y", {})
    for path in ("/x", "/y", "/x", "/y"):
        connection.get(path)
    assert server.connections == 1


@pytest.mark.parametrize(
    ("code", "reason", "kind"),
    [
        (401, "Unauthorized", Unauthenticated),
        (403, "Forbidden", Forbidden),
        (404, "NotFound", NotFound),
        (410, "Expired", Expired),
        (409, "Conflict", StatusError),
        (500, "InternalError", StatusError),
    ],
)
def test_refusals_keep_the_words_of_the_server(server, connection, code, reason, kind):
    server.refuse("/x", code, "not\nthis time", reason)
    with pytest.raises(StatusError) as caught:
        connection.get("/x")
    error = caught.value
    assert (type(error), error.code, error.reason, error.message) == (kind, code, reason, "not this time")
    assert error.exit_code == 3
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (
            {"body": b"<html>bad</html>", "status": 502, "content_type": "text/html; charset=utf-8"},
            "the server answered 502 with text/html, not a Kubernetes Status",
        ),
        ({"body": b"{", "status": 500}, "the server answered 500 with application/json, not a Kubernetes Status"),
        (
            {"body": b'{"kind": "Pod"}', "status": 500},
            "the server answered 500 with application/json, not a Kubernetes Status",
        ),
        (
            {"status": 500, "content_type": None},
            "the server answered 500 with no content type, not a Kubernetes Status",
        ),
        (
            {
                "body": b"Client sent an HTTP request\nto an HTTPS server.\n",
                "status": 400,
                "content_type": "text/plain",
            },
            (
                "the server answered 400 with text/plain, not a Kubernetes Status: "
                "Client sent an HTTP request to an HTTPS server."
            ),
        ),
        (
            {"body": b"Client sent an HTTP request.\n", "status": 400, "content_type": None, "framing": "none"},
            "the server answered 400 with no content type, not a Kubernetes Status: Client sent an HTTP request.",
        ),
        (
            {"status": 302, "headers": {"Location": "/y"}, "content_type": "text/html"},
            "the server answered 302 with text/html, ",
        ),
        (
            {"body": b"404 page not found\n", "status": 404, "content_type": "text/plain"},
            "the server could not find the requested resource",
        ),
        ({"body": {"kind": "Status", "message": "x" * 5000}, "status": 500}, "x" * 999 + "…"),
        ({"body": {"kind": "Status", "message": None}, "status": 500}, "the server answered 500"),
        ({"body": {"kind": "Status", "reason": "Odd"}, "status": 500}, "Odd"),
        (
            {"body": b"[" * 100_000, "status": 500},
            "the server answered 500 with application/json, not a Kubernetes Status",
        ),
    ],
)
def test_what_is_no_status_is_named(server, connection, reply, message):
    server.on("/x", **reply)
    with pytest.raises(StatusError) as caught:
        connection.get("/x")
    assert caught.value.message.startswith(message)
    assert len(caught.value.message) <= 1000


def test_a_page_of_html_is_no_answer(server, connection):
    server.on("/x", b"<html>log in</html>", content_type="text/html")
    with pytest.raises(ClusterError, match=r"^the server answered 200 with text/html, not JSON$"):
        connection.get("/x")


BODY = json.dumps({"text": "é" * 400}, ensure_ascii=False).encode()
HEAD = len(b"HTTP/1.1 200 Said\r\nContent-Type: application/json\r\n")


@pytest.mark.parametrize("timeout", [0.0, 20.0])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cut": HEAD}, "unexpected EOF: the answer was cut off after 0 bytes"),
        ({"cut": HEAD + 9}, "unexpected EOF: the answer was cut off after 0 bytes"),
        ({"cut": HEAD + len("Content-Length: 8")}, "unexpected EOF: the answer was cut off after 0 bytes"),
        (
            {"cut": HEAD + len("Content-Length: 812\r\n\r\n") + 11},
            "unexpected EOF: the answer was cut off after 11 bytes",
        ),
        (
            {"cut": HEAD + len("Content-Length: 812\r\n\r\n") + 12},
            "unexpected EOF: the answer was cut off after 12 bytes",
        ),
        ({"length": 2000}, f"unexpected EOF: the answer was cut off after {len(BODY)} bytes"),
        ({"framing": "none", "cut": -1}, f"unexpected EOF: the answer was cut off after {len(BODY) - 1} bytes"),
        ({"framing": "none", "packed": True, "cut": -9}, "unexpected EOF: the answer was cut off after "),
        ({"framing": "chunked", "cut": -40}, "unexpected EOF: the answer was cut off after "),
        ({"framing": "chunked", "cut": -5}, "unexpected EOF: the answer was cut off after "),
        (
            {"body": b"zz\r\nno chunk", "framing": "none", "headers": {"Transfer-Encoding": "chunked"}},
            "unexpected EOF: the answer was cut off after 0 bytes",
        ),
        ({"cut": -1, "reset": True}, "unexpected EOF: the answer was cut off after "),
    ],
)
def test_an_answer_that_is_cut_off_is_never_taken_for_whole(server, opened, options, message, timeout):
    server.on("/x", **{"body": BODY, **options})
    with pytest.raises(Unreachable) as caught:
        opened(server.url, timeout).get("/x")
    assert caught.value.message.startswith(UNABLE + message)
    assert len(server.requests) == 1


def test_gzip_that_is_cut_or_broken(server, connection):
    packed = gzip.compress(BODY)
    header = {"Content-Encoding": "gzip"}
    server.on("/cut", packed[:-12], headers=header).on("/huge", packed[:-4] + b"\xff" * 4, headers=header)
    server.on("/broken", b"no gzip at all", headers=header).on("/empty", headers=header)
    server.on("/other", BODY, headers={"Content-Encoding": "br"})
    with pytest.raises(Unreachable, match=f"cut off after {len(packed) - 12} bytes"):
        connection.get("/cut")
    for path in ("/broken", "/huge"):
        with pytest.raises(Unreachable, match="the answer is not valid gzip"):
            connection.get(path)
    with pytest.raises(Unreachable, match="cut off after 0 bytes"):
        connection.get("/empty")
    with pytest.raises(ClusterError, match="the unknown encoding br"):
        connection.get("/other")


def test_a_content_length_that_is_too_small_ends_the_connection(server, connection):
    server.on("/x", BODY, length=10).on("/y", {})
    assert connection.get("/x") == BODY[:10]
    assert connection.get("/y") == b"{}"


def test_early_hints_come_before_the_answer(server, connection):
    server.on("/x", {"a": 1}, hints=5).on("/y", {"b": 2})
    assert connection.get("/x") == b'{"a": 1}'
    assert connection.get("/y") == b'{"b": 2}'
    server.on("/endless", {}, hints=6)
    with pytest.raises(ClusterError, match="too many 1xx informational responses"):
        connection.get("/endless")


def test_a_server_that_hangs_up_between_requests_is_asked_again(server, connection):
    server.on("/x", {"a": 1}, cut=10_000)
    assert [connection.get("/x") for _ in range(3)] == [b'{"a": 1}'] * 3
    assert server.connections == 3


def closed_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_a_refused_connection(opened):
    port = closed_port()
    with pytest.raises(Unreachable) as caught:
        opened(f"http://127.0.0.1:{port}").get("/x")
    assert caught.value.refused
    assert caught.value.message == (
        f"The connection to the server 127.0.0.1:{port} was refused - did you specify the right host or port?"
    )


def test_a_name_that_does_not_exist(opened, monkeypatch):
    def unknown(*_args, **_options):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(Unreachable) as caught:
        opened("http://nope.invalid:8080").get("/x")
    assert caught.value.message == UNABLE + "dial tcp: lookup nope.invalid: no such host"
    assert not caught.value.refused


def test_an_unreachable_network_keeps_the_reason(opened, monkeypatch):
    def no_route(*_args, **_options):
        raise OSError(113, "No route to host")

    monkeypatch.setattr("urllib3.util.connection.create_connection", no_route)
    with pytest.raises(Unreachable) as caught:
        opened("http://10.0.0.1:80").get("/x")
    assert caught.value.message == f"{UNABLE}dial tcp 10.0.0.1:80: connect: {os.strerror(113).lower()}"


def test_a_connection_that_cannot_be_made_in_time(opened, monkeypatch):
    def late(*_args, **_options):
        raise TimeoutError

    monkeypatch.setattr("urllib3.util.connection.create_connection", late)
    with pytest.raises(TimedOut) as caught:
        opened("http://10.0.0.1:80").get("/x")
    assert caught.value.message == UNABLE + "dial tcp 10.0.0.1:80: i/o timeout"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"stall": 0}, "Client.Timeout exceeded while awaiting headers"),
        ({"stall": 20}, "Client.Timeout exceeded while awaiting headers"),
        ({"stall": HEAD + 30}, "Client.Timeout or context cancellation while reading body"),
    ],
)
def test_a_server_that_falls_silent(server, opened, options, words):
    server.on("/x", BODY, **options)
    started = monotonic()
    with pytest.raises(TimedOut) as caught:
        opened(server.url, 0.2).get("/x")
    assert caught.value.message == f"{UNABLE}context deadline exceeded ({words})"
    assert 0.15 < monotonic() - started < 5
    assert len(server.requests) == 1


def test_dripping_does_not_outlast_the_time_limit(server, opened):
    server.on("/x", BODY, drip=True)
    started = monotonic()
    with pytest.raises(TimedOut, match="while reading body"):
        opened(server.url, 0.2).get("/x")
    assert monotonic() - started < 0.01 * len(BODY)


def test_tries_share_one_time_limit(server, opened):
    again = {"headers": {"Retry-After": "0"}}
    server.refuse("/x", 503, "later", **again).refuse("/x", 503, "later", **again).on("/x", {}, stall=0)
    started = monotonic()
    with pytest.raises(TimedOut):
        opened(server.url, 0.3).get("/x")
    assert 0.25 < monotonic() - started < 5
    assert len(server.requests) == 3


def test_silence_during_the_handshake(opened, monkeypatch):
    monkeypatch.setattr(module, "CONNECT_TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(TimedOut) as caught:
        opened(f"https://127.0.0.1:{silent.getsockname()[1]}").get("/x")
    assert caught.value.message == UNABLE + "net/http: TLS handshake timeout"


@pytest.mark.parametrize("code", [429, 503])
def test_a_server_that_says_when_is_asked_again(server, connection, pauses, code):
    server.refuse("/x", code, "later", headers={"Retry-After": "1"}).on("/x", {"a": 1})
    assert connection.get("/x") == b'{"a": 1}'
    assert pauses == [1.0]


@pytest.mark.parametrize(
    ("timeout", "retry_after", "asked"),
    [
        (0.0, "0", 3),
        (0.0, "7", 3),
        (20.0, "1", 3),
        (0.0, "31", 1),
        (0.0, None, 1),
        (0.0, "Wed, 21 Oct 2026 07:28:00 GMT", 1),
        (0.0, "-1", 1),
        (5.0, "6", 1),
    ],
)
def test_retries_are_three_and_stay_within_the_time_limit(server, opened, pauses, timeout, retry_after, asked):
    server.refuse("/x", 503, "later", headers={"Retry-After": retry_after} if retry_after else {})
    with pytest.raises(StatusError, match=r"^later$") as caught:
        opened(server.url, timeout).get("/x")
    assert len(server.requests) == asked
    assert pauses == [float(retry_after)] * (asked - 1) if asked > 1 else not pauses
    assert ("wait" in caught.value.hint) == (retry_after not in {"0", None, "-1"} and retry_after.isdigit())


def test_other_codes_are_not_asked_again(server, connection, pauses):
    server.refuse("/x", 500, "broken", headers={"Retry-After": "1"})
    with pytest.raises(StatusError):
        connection.get("/x")
    assert (len(server.requests), pauses) == (1, [])


@pytest.mark.parametrize("options", [{"cut": 0}, {"cut": 0, "reset": True}])
def test_a_connection_that_breaks_before_an_answer_is_tried_again(server, connection, options):
    server.on("/x", {}, **options).on("/x", {}, **options).on("/x", {"a": 1})
    assert connection.get("/x") == b'{"a": 1}'


@pytest.mark.parametrize(
    ("options", "words"),
    [({"cut": 0}, "EOF"), ({"cut": 0, "reset": True}, "read tcp HOST: connection reset by peer")],
)
def test_three_broken_connections_are_enough(server, connection, options, words):
    server.on("/x", {}, **options)
    with pytest.raises(Unreachable) as caught:
        connection.get("/x")
    assert caught.value.message == UNABLE + words.replace("HOST", server.url.removeprefix("http://"))
    assert len(server.requests) == 3


def test_what_is_no_http_is_one_line(opened):
    with socket.create_server(("127.0.0.1", 0)) as odd:

        def greet():
            client, _ = odd.accept()
            with client:
                client.recv(1000)
                client.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")

        thread = threading.Thread(target=greet)
        thread.start()
        with pytest.raises(Unreachable) as caught:
            opened(f"http://127.0.0.1:{odd.getsockname()[1]}").get("/x")
        thread.join()
    assert caught.value.message == UNABLE + "malformed HTTP response: SSH-2.0-OpenSSH_9.2"


def test_warnings_are_collected_once_each(server, connection):
    first = [("Warning", '299 - "v1beta1 is deprecated"'), ("Warning", '299 - "say \\"no\\"", 299 agent "two\tlines"')]
    server.on("/x", {}, headers=first)
    server.refuse("/y", 403, "no", headers=[("Warning", '299 - "v1beta1 is deprecated"'), ("Warning", "garbage")])
    connection.get("/x")
    with pytest.raises(Forbidden):
        connection.get("/y")
    assert connection.warnings == ("v1beta1 is deprecated", 'say "no"', "two lines")


def test_the_log_has_a_line_for_each_request(server, opened, pauses):
    lines = []
    server.refuse("/x", 429, "later", headers={"Retry-After": "1"}).on("/x", {})
    opened(server.url, log=lines.append).get("/x", [("limit", "1")])
    assert len(lines) == 2
    assert lines[0].startswith(f"GET {server.url}/x?limit=1 429 Said in ")
    assert lines[1].startswith(f"GET {server.url}/x?limit=1 200 Said in ")
    assert lines[1].endswith(" milliseconds")


def test_the_proxy_of_the_kubeconfig_is_used_and_that_of_the_environment_is_not_for_loopback(
    server, opened, monkeypatch
):
    server.on("/x", {"direct": 1}).on("/y", {"proxied": 1})
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{closed_port()}")
    monkeypatch.setenv("no_proxy", "cluster.test")
    assert opened(server.url).get("/x") == b'{"direct": 1}'
    through = Target("http://cluster.test", "default", cluster=ClusterEntry(proxy_url=server.url))
    assert opened(through).get("/y") == b'{"proxied": 1}'
    port = closed_port()
    broken = Target("http://cluster.test", "default", cluster=ClusterEntry(proxy_url=f"http://127.0.0.1:{port}"))
    told = rf"proxyconnect tcp: dial tcp 127.0.0.1:{port}: connect: connection refused$"
    with pytest.raises(Unreachable, match=told):
        opened(broken).get("/y")


def test_threads_share_a_connection(server, connection):
    server.on("/x", {"text": "x" * 10_000}, packed=True, framing="chunked")
    sizes = []
    threads = [threading.Thread(target=lambda: sizes.append(len(connection.get("/x")))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sizes == [len(json.dumps({"text": "x" * 10_000}))] * 8
