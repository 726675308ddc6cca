"""A canary in every field that may be secret is found in no output, error, log or repr."""

from __future__ import annotations

import base64
import io
import json
import sys

import pytest

from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.main import entry
from kubectl_kres.cluster.credentials import Credentials
from kubectl_kres.cluster.exec_plugin import IssuedCredential
from kubectl_kres.cluster.kubeconfig.current_context import ConnectOptions, Target
from kubectl_kres.cluster.kubeconfig.files import AuthProvider, ClusterEntry, Exec, ExecVariable, UserEntry
from kubectl_kres.cluster.transport.proxy import Proxy

CANARY = "c4n4ry-0f-g0ld"
PACKED = base64.b64encode(CANARY.encode()).decode()
BASIC = base64.b64encode(f"u:{CANARY}".encode()).decode()
V1 = "client.authentication.k8s.io/v1"


def plugin(script: str, **fields):
    return {
        "exec": {
            "command": "sh",
            "args": ["-c", script, CANARY],
            "apiVersion": V1,
            "interactiveMode": "Never",
            **fields,
        }
    }


def said(**status):
    return f"echo '{json.dumps({'apiVersion': V1, 'kind': 'ExecCredential', 'status': status})}'"


ENV = [{"name": "SECRET", "value": CANARY}]
USERS = [
    {"token": CANARY},
    {"token": f"{CANARY}\n"},
    {"token": [CANARY]},
    {"token": CANARY, "username": "u", "password": CANARY},
    {"username": "u", "password": CANARY},
    {"password": CANARY},
    {"client-certificate": "CRT", "client-key-data": PACKED},
    {"client-certificate": "CRT", "client-key-data": CANARY},
    {"client-certificate-data": PACKED, "client-key-data": PACKED},
    {"tokenFile": "SECRET"},
    {"client-certificate": "CRT", "client-key": "SECRET"},
    {
        "auth-provider": {
            "name": "oidc",
            "config": {"id-token": CANARY, "client-secret": CANARY, "refresh-token": CANARY},
        }
    },
    {"auth-provider": {"name": "gcp", "config": {"access-token": CANARY}}},
    {"auth-provider": {"name": "gcp", "config": [CANARY]}},
    plugin(said(token=CANARY), env=ENV),
    plugin(said(token=f"{CANARY}\u0001"), env=ENV),
    plugin(f"echo {CANARY}", env=ENV),
    plugin(said(clientCertificateData=CANARY, clientKeyData=CANARY), env=ENV),
    plugin(said(clientKeyData=CANARY), env=ENV),
    plugin('echo \'{"status": {"token": ["' + CANARY + "\"]}}'", env=ENV),
    plugin("exit 3", env=ENV),
    plugin("true", env=[{"name": "", "value": CANARY}]),
    plugin("true", env=[{"name": "A", "value": [CANARY]}]),
    plugin("true", env=[{"name": "A\0", "value": CANARY}]),
    {**plugin(said(token=CANARY), env=ENV), "as": "eve"},
]
CLUSTERS = [
    {"proxy-url": f"http://u:{CANARY}@127.0.0.1:1"},
    {"proxy-url": f"https://u:{CANARY}@127.0.0.1:1"},
    {"proxy-url": f"socks5://u:{CANARY}@127.0.0.1:1"},
    {"proxy-url": f"ftp://u:{CANARY}@h"},
    {"proxy-url": f"http://u:{CANARY}@h:port"},
    {"proxy-url": f"u:{CANARY}@h"},
    {"server": f"https://u:{CANARY}@127.0.0.1:1"},
    {"server": f"u:{CANARY}@127.0.0.1:1/x"},
    {"server": "PLAIN"},
]
FLAGS = [
    ["--token", CANARY],
    ["--token", f"{CANARY}\n"],
    ["--password", CANARY],
    ["--token", CANARY, "--context", "zz"],
    ["--tokn", CANARY],
    ["-s", f"https://u:{CANARY}@h", "--token", CANARY],
]
TEXTS = [
    f"users: [{{name: a, user: {{token: *{CANARY}}}}}]",
    f"users: [{{name: a, user: {{token: !{CANARY} x}}}}]",
    f"users: [{{name: a, user: {{token: '{CANARY}}}}}]",
    f"users: [{{name: a, user: {{token: {CANARY}: {CANARY}: x",
    f"users: [{{name: a, user: {{token: {CANARY}}}}}, {{name: a}}]",
    f"{CANARY}",
    f"users: {CANARY}",
    f"users: [{{name: a, user: {{token: !!binary {CANARY}}}}}]",
]


def config(user=None, cluster=None):
    return {
        "clusters": [{"name": "a", "cluster": {"server": "SERVER", "certificate-authority": "CA", **(cluster or {})}}],
        "users": [{"name": "a", "user": user or {"token": CANARY}}],
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        "current-context": "a",
    }


RUNS = [
    *((json.dumps(config(user)), []) for user in USERS),
    *((json.dumps(config(None, cluster)), []) for cluster in CLUSTERS),
    *((json.dumps(config()), flags) for flags in FLAGS),
    *((text, []) for text in TEXTS),
]


def echo(server, basic):
    """The server repeats what it got, as a proxy that looks for faults does."""
    text = f"GET / Authorization: {f'Basic {BASIC}' if basic else 'Bearer'} {CANARY}"
    headers = [("Warning", f'299 - "{text}"'), ("X-Echo", text), ("Set-Cookie", CANARY)]
    server.on("/version", text.encode(), 500, content_type="text/plain", headers=headers)
    server.refuse("/apis/authentication.k8s.io/v1/selfsubjectreviews", 403, text, headers=headers)


@pytest.mark.parametrize("number", range(len(RUNS)))
def test_nothing_secret_is_shown(number, tls_server, server, certificates, tmp_path, monkeypatch, capfd):
    text, flags = RUNS[number]
    echo(tls_server, '"username"' in text)
    (tmp_path / "secret").write_text(CANARY)
    for word, value in {
        '"CA"': json.dumps(str(certificates / "ca.crt")),
        '"CRT"': json.dumps(str(certificates / "client.crt")),
        '"SECRET"': json.dumps(str(tmp_path / "secret")),
        '"SERVER"': json.dumps(tls_server.url),
        '"PLAIN"': json.dumps(server.url),
    }.items():
        text = text.replace(word, value)
    (tmp_path / "config").write_text(text)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    monkeypatch.setattr(sys, "argv", ["kubectl-kres", "version", "-v", "9", *flags])
    code = entry()
    assert code in {0, 2, 3}
    shown = "".join(capfd.readouterr())
    assert "error" in shown.lower() or " milliseconds" in shown or "Unable" in shown
    for secret in (CANARY, PACKED, BASIC):
        assert secret not in shown
    assert "this is a bug" not in shown
    assert list((tmp_path / "temporary").iterdir()) == []


def test_nothing_secret_is_in_a_repr():
    user = UserEntry(token=CANARY, password=CANARY, client_key_data=CANARY, impersonate=CANARY)
    exec_ = Exec("x", args=(CANARY,), env=(ExecVariable("A", CANARY),))
    cluster = ClusterEntry("https://h", proxy_url=CANARY, certificate_authority_data=CANARY)
    values = [
        *(user, exec_, *(exec_.env or ()), AuthProvider("oidc", {"id-token": CANARY}), cluster),
        *(Credentials(CANARY, CANARY.encode(), CANARY.encode()), IssuedCredential(CANARY, CANARY, CANARY)),
        *(ConnectOptions(token=CANARY), Options(token=CANARY), Proxy("http", "h", 1, CANARY, CANARY)),
        Target("https://h", "", user=user, cluster=cluster),
    ]
    assert CANARY not in repr(values) + str(values)
