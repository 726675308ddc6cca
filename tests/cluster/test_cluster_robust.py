"""Files of any kind, random kubeconfigs, servers that drip, and Ctrl-C at any point."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress

import pytest
import yaml
from examples import examples
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from kubectl_kres.cluster.connection import UserInfo, connect, whoami
from kubectl_kres.cluster.kubeconfig import files
from kubectl_kres.cluster.kubeconfig import files as yaml_tree
from kubectl_kres.cluster.kubeconfig.current_context import ConnectOptions, Target, load
from kubectl_kres.errors import ConfigError, KresError, TimedOut, Unauthenticated

REVIEW = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
CONFIG = (
    "clusters: [{name: a, cluster: {server: 'https://h'}}]\nusers: [{name: a, user: {token: t}}]\n"
    "contexts: [{name: a, context: {cluster: a, user: a}}]\ncurrent-context: a\n"
)


def many(count):
    return {
        "clusters": [{"name": f"c{i}", "cluster": {"server": f"https://10.0.0.1:{i + 1}"}} for i in range(count)],
        "users": [{"name": f"u{i}", "user": {"token": f"t{i}"}} for i in range(count)],
        "contexts": [{"name": f"x{i}", "context": {"cluster": f"c{i}", "user": f"u{i}"}} for i in range(count)],
        "current-context": "x7",
    }


@pytest.mark.thorough
def test_five_thousand_contexts_are_read_at_once(tmp_path):
    path = tmp_path / "config"
    path.write_text(yaml.dump(many(5000), Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper)))
    began = time.perf_counter()
    target = load(ConnectOptions(str(path), context="x4999"), {})
    taken = time.perf_counter() - began
    print(f"5,000 contexts, clusters and users: {taken:.2f} s")
    assert (target.server, target.user.token) == ("https://10.0.0.1:5000", "t4999")
    assert taken < 3


@pytest.mark.parametrize("kind", ["huge", "folder", "fifo", "unreadable", "device", "socket", "nul"])
def test_what_is_no_kubeconfig_is_one_line_at_once(tmp_path, monkeypatch, kind):
    path = tmp_path / "config"
    match kind:
        case "huge":
            with path.open("wb") as file:
                file.truncate(50 << 20)
        case "folder":
            path.mkdir()
        case "fifo":
            os.mkfifo(path)
        case "unreadable":
            path.write_text(CONFIG)
            monkeypatch.setattr(os, "open", lambda *_: (_ for _ in ()).throw(PermissionError(13, "Permission denied")))
        case "device":
            path.symlink_to(os.devnull)
        case "socket":
            monkeypatch.chdir(tmp_path)
            held = socket.socket(socket.AF_UNIX)
            held.bind("config")
            held.close()
        case "nul":
            path = tmp_path / "con\0fig"
    began = time.perf_counter()
    with pytest.raises(ConfigError) as caught:
        load(ConnectOptions(str(path)), {})
    assert time.perf_counter() - began < 2
    said = {
        "huge": "larger than 32 MiB",
        "folder": f"read {path}: is a directory",
        "fifo": "it is no file, and nobody writes to it",
        "unreadable": f"open {path}: permission denied",
        "device": "it is no file, and nobody writes to it",
        "socket": f"open {path}: no such device or address",
        "nul": "no such file or directory",
    }[kind]
    assert caught.value.message.endswith(said)
    assert "\n" not in caught.value.message


def test_a_kubeconfig_may_come_through_a_pipe(monkeypatch):
    """Whole before it is read, or only then."""
    monkeypatch.setattr(files, "PATIENCE", 30.0)
    for early in (len(CONFIG), 50, 0):
        reading, writing = os.pipe()
        os.write(writing, CONFIG[:early].encode())

        def rest(writing=writing, early=early):
            with os.fdopen(writing, "w") as pipe:
                pipe.write(CONFIG[early:])

        writer = threading.Thread(target=rest)
        if early == len(CONFIG):
            writer.run()
        else:
            monkeypatch.setattr(
                files.select, "select", lambda *_, writer=writer: (writer.start(), writer.join(), [1])[2:]
            )
        assert load(ConnectOptions(f"/dev/fd/{reading}"), {}).server == "https://h"
        os.close(reading)


def test_a_pipe_that_stays_silent_is_given_up(monkeypatch):
    monkeypatch.setattr(files, "PATIENCE", 0.05)
    reading, writing = os.pipe()
    with pytest.raises(ConfigError, match="nothing came from it"):
        load(ConnectOptions(f"/dev/fd/{reading}"), {})
    os.close(reading), os.close(writing)


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\nb: [x, 'y', \"z\", ~, null, true, False, 1.5, -3, 0x1f, 017, 1e3, .5, '']\nc: {}\nd: |\n  x\n  y\n",
        "a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}\ne: {<<: [*x, {f: 4}]}\ng: *x\n",
        "- a\n- - b\n  - c: d\n-\n",
        "!!str 12",
        "a: !!str 12\nb: !!binary eHl6\nc: !!int 5",
        "a: 1\na: 2\n",
        "yes: no\n? b\n: c\n",
        "",
        "# nothing\n",
        "'<<': 1",
    ],
)
def test_the_tree_is_that_of_yaml(text):
    def plain(value):
        if isinstance(value, dict):
            return {"true" if key is True else key: plain(held) for key, held in value.items()}
        if isinstance(value, list):
            return [plain(held) for held in value]
        return value.decode() if isinstance(value, bytes) else value

    # YAML 1.1 as PyYAML reads it wants a dot and a sign in 1e3; kubectl's parser does not.
    assert yaml_tree.parse(text.encode()) == plain(yaml.safe_load(text.replace("1e3", "1.0e+3")))


@pytest.mark.parametrize(
    ("text", "value"), [("a: 2001-01-02", "2001-01-02"), ("a: y", True), ("a: 1_000", 1000), ("a: 12:30", "12:30")]
)
def test_the_tree_where_kubectl_reads_yaml_otherwise(text, value):
    assert yaml_tree.parse(text.encode()) == {"a": value}


def test_a_bomb_of_aliases_and_deep_nesting_are_harmless(tmp_path):
    path = tmp_path / "config"
    bomb = "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9) if i else 'x'}]\n" for i in range(30))
    path.write_text(bomb + CONFIG)
    with pytest.raises(ConfigError, match="aliases make this document larger"):
        load(ConnectOptions(str(path)), {})
    path.write_text("clusters: " + "[" * 50_000)
    with pytest.raises(ConfigError, match="error loading config file"):
        load(ConnectOptions(str(path)), {})


TEXTS = st.sampled_from(
    ["", "a", "b", "https://127.0.0.1:1", "http://127.0.0.1:1", "/nope", "YWJj", "!!", "sh", "é\0\n"]
)
LEAVES = st.one_of(TEXTS, st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5))
NESTED = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=5
)


def shaped(*names, **held):
    """An object some of whose fields may hold anything."""
    fields = dict.fromkeys(names, TEXTS | NESTED) | held
    return st.fixed_dictionaries({}, optional=fields)


EXEC = shaped(
    "apiVersion",
    "interactiveMode",
    "env",
    "args",
    "installHint",
    "provideClusterInfo",
    command=st.sampled_from(["/nope", "nope-x", "", None]),
)
USER = shaped(
    *("token", "tokenFile", "username", "password", "client-certificate", "client-certificate-data", "client-key"),
    *("client-key-data", "as", "as-uid", "as-groups", "as-user-extra", "auth-provider"),
    exec=EXEC | st.none(),
)
CLUSTER = shaped(
    *("server", "certificate-authority", "certificate-authority-data", "insecure-skip-tls-verify", "proxy-url"),
    *("tls-server-name", "disable-compression", "extensions"),
)
NAMES = st.sampled_from(["a", "b", None, ""])


def entries(kind, held):
    return st.lists(st.fixed_dictionaries({}, optional={"name": NAMES, kind: held | st.none()}), max_size=2) | NESTED


CONFIGS = st.fixed_dictionaries(
    {},
    optional={
        "clusters": entries("cluster", CLUSTER),
        "users": entries("user", USER),
        "contexts": entries("context", shaped("namespace", cluster=NAMES, user=NAMES)),
        "current-context": NAMES,
        "kind": st.sampled_from(["Config", "Pod", None, 1]),
        "apiVersion": st.sampled_from(["v1", "v2", None]),
    },
)


@pytest.mark.thorough
@examples(300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=CONFIGS | NESTED,
    flags=st.fixed_dictionaries(
        {}, optional=dict.fromkeys(("context", "cluster", "user", "server", "token", "impersonate"), TEXTS)
    ),
)
def test_random_kubeconfigs_give_a_target_or_one_line(tmp_path, content, flags):
    path = tmp_path / "config"
    path.write_text(json.dumps(content))
    try:
        target = load(ConnectOptions(str(path), **flags), {"KUBERC": "off"})
        connect(target, environ={}).close()
    except KresError as error:
        assert "\n" not in error.message
        return
    # What is left can be asked: kubectl would have refused nothing of it.
    assert target.server.startswith(("https://", "http://"))
    if target.server.startswith("http://"):
        assert not any((target.user.token, target.user.token_file, target.user.exec, target.user.password))


@examples(200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=60) | st.text(alphabet="ab:[]{}-&*!|>'\"\n ,~<?%@#0.", max_size=60).map(str.encode))
def test_random_bytes_are_a_tree_or_one_line(content):
    with suppress(yaml_tree.TreeError):
        yaml_tree.parse(content)


def drip(text, pause, over):
    """A server that sends one byte after the other."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve():
        client, _ = listening.accept()
        with client, listening, suppress(OSError):
            client.recv(10_000)
            for byte in text:
                if over.wait(pause):
                    return
                client.sendall(bytes([byte]))

    threading.Thread(target=serve, daemon=True).start()
    return f"http://127.0.0.1:{listening.getsockname()[1]}"


@pytest.mark.parametrize(
    "text",
    [
        b"HTTP/1.1 200 OK\r\n" + b"X-Padding: x\r\n" * 1000,
        b"HTTP/1.1 100 Continue\r\n\r\n" * 1000,
        b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n" + b" " * 10000,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\n \r\n" * 1000,
    ],
    ids=["headers", "interim", "body", "chunks"],
)
def test_a_server_that_drips_cannot_outlast_the_time_limit(opened, text):
    over = threading.Event()
    connection = opened(Target(drip(text, 0.01, over), "default"), 0.2)
    began = time.perf_counter()
    with pytest.raises(TimedOut, match="context deadline exceeded"):
        connection.get("/x")
    assert time.perf_counter() - began < 3
    over.set()


def test_who_we_are(server, connection):
    info = {"username": "alice", "groups": ["dev", "system:authenticated"], "uid": "7"}
    server.on(REVIEW, {"status": {"userInfo": info}}, 201)
    assert whoami(connection) == UserInfo("alice", ("dev", "system:authenticated"))
    request = server.requests[0]
    assert (request.method, request.headers["content-type"]) == ("POST", "application/json")


@pytest.mark.parametrize(
    "reply", [{"status": 403}, {"status": 404}, {"body": b"[]"}, {"body": {"status": None}}, {"body": {}}]
)
def test_who_we_are_may_stay_unknown(server, connection, reply):
    server.on(REVIEW, **reply)
    assert whoami(connection) is None


def test_who_we_are_is_refused_to_nobody(server, connection):
    server.refuse(REVIEW, 401, "Unauthorized", "Unauthorized")
    with pytest.raises(Unauthenticated):
        whoami(connection)


PLUGIN = {
    "command": "sleep",
    "args": ["60"],
    "apiVersion": "client.authentication.k8s.io/v1",
    "interactiveMode": "Never",
}


@pytest.mark.one_in(6)
@pytest.mark.parametrize("point", ["silent", "headers", "body", "pause", "plugin", "list"])
def test_ctrl_c_ends_at_once(server, tmp_path, point):
    """With 130, and without a word, wherever the program is."""
    reached = threading.Event()
    replies = {
        "silent": {"stall": 0},
        "headers": {"stall": 9},
        "body": {"body": b" " * 1000, "stall": 500},
        "pause": {"status": 429, "headers": {"Retry-After": "29"}},
    }
    path = "/api/v1/namespaces/default/pods" if point == "list" else "/version"
    server.on(path, **replies.get(point, {"stall": 0}), before=reached.set)
    if point == "list":
        server.on("/version", {"gitVersion": "v1.33.0"})
        for kind in ("limitranges", "resourcequotas"):
            server.on(f"/api/v1/namespaces/default/{kind}", {"kind": "List", "items": []})
    user = {"exec": {**PLUGIN, "args": ["-c", f"touch {tmp_path}/runs; exec sleep 60"], "command": "sh"}}
    url = server.url if point != "plugin" else "https://127.0.0.1:1"
    config = {
        "clusters": [{"name": "a", "cluster": {"server": url}}],
        "users": [{"name": "a", "user": user if point == "plugin" else {}}],
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        "current-context": "a",
    }
    (tmp_path / "config").write_text(json.dumps(config))
    command = [sys.executable, "-m", "kubectl_kres", *(["explain", "pods"] if point == "list" else ["version"])]
    environ = {**os.environ, "KUBECONFIG": str(tmp_path / "config"), "HOME": str(tmp_path)}
    with (
        subprocess.Popen(
            command,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process,
    ):
        if point == "plugin":
            deadline = time.monotonic() + 30
            while not (tmp_path / "runs").exists() and time.monotonic() < deadline:
                time.sleep(0.01)
        else:
            assert reached.wait(30)
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=10)
    assert (process.returncode, said) == (130, b"")
