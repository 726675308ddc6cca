"""Credentials over time: plugins that run again, token files that are read again, certificates that change."""

from __future__ import annotations

import json
import os

import msgspec
import pytest
from cluster import kubectl

from kubectl_kres.cluster.credentials import Identity
from kubectl_kres.cluster.kubeconfig import current_context
from kubectl_kres.cluster.kubeconfig.current_context import ConnectOptions, Target, load
from kubectl_kres.cluster.kubeconfig.files import ClusterEntry, Exec, UserEntry
from kubectl_kres.errors import ConfigError, Unauthenticated

V1 = "client.authentication.k8s.io/v1"


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def script(tmp_path):
    """A credential plugin that counts its runs and prints the answer of the run, or the last one."""

    def write(*answers):
        for number, status in enumerate(answers, start=1):
            said = {"apiVersion": V1, "kind": "ExecCredential", "status": status}
            (tmp_path / f"answer{number}").write_text(json.dumps(said))
        path = tmp_path / "plugin"
        path.write_text(
            f"#!/bin/sh\ncd {tmp_path}; echo run >> runs; n=$(wc -l < runs)\n"
            f"[ -f answer$n ] || n={len(answers)}\n[ -s answer$n ] && cat answer$n\n"
        )
        path.chmod(0o700)
        return UserEntry(
            exec=msgspec.convert({"command": str(path), "apiVersion": V1, "interactiveMode": "Never"}, Exec)
        )

    return write


def runs(tmp_path):
    return len((tmp_path / "runs").read_text().split())


def target(server, user, **cluster):
    return Target(server.url, "default", user=user, user_name="u", cluster=ClusterEntry(**cluster))


def trusting(tls_server, certificates, user):
    return target(tls_server, user, certificate_authority=str(certificates / "ca.crt"))


def tokens(server):
    return [request.headers.get("authorization") for request in server.requests]


@pytest.mark.parametrize(
    ("expires", "passed", "expected"),
    [
        (None, 1e9, ["Bearer 1", "Bearer 1"]),
        ("1970-01-12T13:46:45Z", 4.0, ["Bearer 1", "Bearer 1"]),
        ("1970-01-12T14:46:45+01:00", 6.0, ["Bearer 1", "Bearer 2"]),
    ],
)
def test_what_a_plugin_gave_counts_until_it_expires(script, tmp_path, expires, passed, expected):
    clock = Clock()
    identity = Identity(
        Target("https://h", "", user=script({"token": "1", "expirationTimestamp": expires}, {"token": "2"})), clock
    )
    first = identity.current().authorization
    clock.now += passed
    assert [first, identity.current().authorization] == expected
    assert runs(tmp_path) == len(set(expected))


def test_a_plugin_that_fails_when_its_token_is_over_is_an_error(script, tmp_path):
    clock = Clock()
    identity = Identity(
        Target("https://h", "", user=script({"token": "1", "expirationTimestamp": "1970-01-01T00:00:00Z"})), clock
    )
    identity.current()
    (tmp_path / "answer1").write_text("")
    with pytest.raises(ConfigError, match=r"getting credentials: exec: executable .* failed with exit code 1"):
        identity.current()


def test_after_a_401_the_plugin_runs_once_and_the_request_is_sent_again(
    tls_server, certificates, opened, script, tmp_path
):
    tls_server.refuse("/x", 401, "Unauthorized", "Unauthorized").on("/x", {"a": 1})
    connection = opened(trusting(tls_server, certificates, script({"token": "1"}, {"token": "2"})))
    assert connection.get("/x") == b'{"a": 1}'
    connection.get("/x")
    assert tokens(tls_server) == ["Bearer 1", "Bearer 2", "Bearer 2"]
    assert runs(tmp_path) == 2


def test_a_second_401_is_the_answer(tls_server, certificates, opened, script, tmp_path):
    tls_server.refuse("/x", 401, "Unauthorized", "Unauthorized")
    connection = opened(trusting(tls_server, certificates, script({"token": "1"})))
    with pytest.raises(Unauthenticated):
        connection.get("/x")
    assert (len(tls_server.requests), runs(tmp_path)) == (2, 2)


def test_a_plugin_that_fails_after_a_401_leaves_the_401(tls_server, certificates, opened, script, tmp_path):
    tls_server.refuse("/x", 401, "Unauthorized", "Unauthorized")
    connection = opened(trusting(tls_server, certificates, script({"token": "1"})))
    (tmp_path / "answer1").write_text("")
    with pytest.raises(Unauthenticated):
        connection.get("/x")
    assert len(tls_server.requests) == 1
    assert connection.warnings[0].startswith("refreshing credentials: ")


def test_a_token_is_not_tried_twice(tls_server, certificates, opened):
    tls_server.refuse("/x", 401, "Unauthorized", "Unauthorized")
    with pytest.raises(Unauthenticated):
        opened(trusting(tls_server, certificates, UserEntry(token="t"))).get("/x")
    assert len(tls_server.requests) == 1


@pytest.mark.parametrize("tls_server", ["optional"], indirect=True)
def test_another_certificate_gets_another_connection(tls_server, certificates, opened, script):
    pair = {name: (certificates / f"{name}.crt").read_text() for name in ("client", "server")}
    keys = {name: (certificates / f"{name}.key").read_text() for name in pair}
    answers = [{"clientCertificateData": pair[name], "clientKeyData": keys[name]} for name in ("server", "client")]
    tls_server.refuse("/x", 401, "Unauthorized", "Unauthorized").on("/x", {})
    opened(trusting(tls_server, certificates, script(*answers))).get("/x")
    assert [request.subject for request in tls_server.requests] == ["server", "client"]


def test_a_token_file_is_read_again_and_an_unreadable_one_is_remembered(tmp_path):
    clock = Clock()
    file = tmp_path / "token"
    file.write_text("one\n")
    identity = Identity(Target("https://h", "", user=UserEntry(token_file=str(file))), clock)
    seen = [identity.current().authorization]
    file.write_text("two\n")
    for passed in (49.0, 2.0):
        clock.now += passed
        seen.append(identity.current().authorization)
    file.unlink()
    clock.now += 60
    seen.append(identity.current().authorization)
    assert seen == ["Bearer one", "Bearer one", "Bearer two", "Bearer two"]
    assert identity.renew_credentials(identity.current()) is None


def test_a_token_that_is_refused_is_read_again_at_once(tmp_path):
    file = tmp_path / "token"
    file.write_text("one\n")
    identity = Identity(Target("https://h", "", user=UserEntry(token_file=str(file))), Clock())
    refused = identity.current()
    assert identity.renew_credentials(refused) is None
    file.write_text("two\n")
    renewed = identity.renew_credentials(refused)
    assert renewed is not None
    assert renewed.authorization == "Bearer two"
    assert identity.current() == renewed
    file.unlink()
    assert identity.renew_credentials(renewed) is None


def test_inside_a_cluster_the_token_is_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(current_context, "SERVICE_ACCOUNT", tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "token").write_text("one")
    clock = Clock()
    inside = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}
    identity = Identity(load(ConnectOptions(), inside), clock)
    first = identity.current().authorization
    (tmp_path / "token").write_text("two")
    clock.now += 61
    assert (first, identity.current().authorization) == ("Bearer one", "Bearer two")
    flagged = load(ConnectOptions(token="t", certificate_authority="/x", insecure_skip_tls_verify=True), inside)
    assert (Identity(flagged).current().authorization, flagged.cluster.certificate_authority) == ("Bearer t", "/x")
    assert not flagged.cluster.insecure_skip_tls_verify
    with pytest.raises(ConfigError, match="--as needs a kubeconfig"):
        load(ConnectOptions(impersonate="eve"), inside)


def test_a_plugin_is_told_of_the_cluster_as_by_kubectl(tls_server, certificates, opened, tmp_path, monkeypatch):
    """Row 11."""
    told = tmp_path / "told"
    said = json.dumps({"apiVersion": V1, "kind": "ExecCredential", "status": {"token": "p"}})
    plugin = {
        "command": "sh",
        "args": ["-c", f"echo \"$KUBERNETES_EXEC_INFO\" > {told}; echo '{said}'"],
        "apiVersion": V1,
        "interactiveMode": "Never",
        "provideClusterInfo": True,
    }
    extension = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x", "n": [1, 1.5, True, None]}}
    cluster = {
        "server": tls_server.url,
        "certificate-authority": str(certificates / "ca.crt"),
        "extensions": [{"name": "other", "extension": 1}, extension],
        "tls-server-name": "127.0.0.1",
        "disable-compression": True,
    }
    content = {
        "clusters": [{"name": "a", "cluster": cluster}],
        "users": [{"name": "a", "user": {"exec": plugin}}],
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        "current-context": "a",
    }
    path = tmp_path / "config"
    path.write_text(json.dumps(content))
    tls_server.on("/x", {})
    opened(load(ConnectOptions(str(path)), {})).get("/x")
    ours = json.loads(told.read_text())
    assert ours["spec"]["cluster"]["config"] == extension["extension"]
    if kubectl.FOUND:
        environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "KUBECONFIG": str(path)}
        assert kubectl.raw([], environ, tmp_path).returncode == 0
        assert json.loads(told.read_text()) == ours
    else:
        print("no kubectl: what it tells plugins is not compared")
