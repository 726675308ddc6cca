"""Kubeconfigs, flags and environments: what is sent, or why nothing is; and that the real kubectl does the same."""

from __future__ import annotations

import base64
import json
import os
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from cluster import kubectl
from cluster.loopback import Server, serving

from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.commands import version
from kubectl_kres.cli.program import Program
from kubectl_kres.cli.source.live import open_connection
from kubectl_kres.errors import KresError

V1 = "client.authentication.k8s.io/v1"
BETA = "client.authentication.k8s.io/v1beta1"
UNABLE = "Unable to connect to the server: "
SKIP = "no kubectl on PATH and none built: what it sends is not compared"
#: Ours and kubectl's own; ``accept`` differs since kubectl asks here for whatever there is.
OWN = {"host", "user-agent", "accept", "kubectl-command", "kubectl-session", "connection"}
CLUSTER = {"server": "SERVER", "certificate-authority": "CA"}


@dataclass
class Case:
    """``row`` of the table of differences, or the flag. ``sent``: headers; ``error``: the message, nothing being sent.

    ``files`` are written first; ``env`` may name them. ``alone`` says why kubectl is not compared, ``worded`` why it
    refuses in other words, ``prefix`` what the path begins with,
    ``since`` which minor version of kubectl does it so. Capital words in any text are replaced.
    """

    row: str
    config: Any
    sent: dict[str, Any] | None = None
    error: str = ""
    flags: str = ""
    files: dict[str, Any] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)
    subject: str = ""
    alone: str = ""
    worded: str = ""
    prefix: str = ""
    since: int = 0


def config(user: Any = None, cluster: Any = None, **changes: Any) -> dict[str, Any]:
    return {
        "clusters": [{"name": "a", "cluster": cluster or CLUSTER}],
        "users": [{"name": "a", "user": {"token": "t"} if user is None else user}],
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        "current-context": "a",
        **changes,
    }


def named(name: str, **changes: Any) -> dict[str, Any]:
    """A kubeconfig whose every name is this one, and so is its token."""
    return {
        "clusters": [{"name": name, "cluster": CLUSTER}],
        "users": [{"name": name, "user": {"token": name}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
        **changes,
    }


def answered(version: str = V1, **status: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": "ExecCredential", "status": status}


def plugin(version: str = V1, **fields: Any) -> dict[str, Any]:
    said = json.dumps(answered(version, token="p"))
    whole = {"command": "sh", "args": ["-c", f"echo '{said}'"], "apiVersion": version, "interactiveMode": "Never"}
    return {"exec": {**whole, **fields}}


def bearer(token: str, **more: Any) -> dict[str, Any]:
    return {"authorization": f"Bearer {token}", "accept-encoding": "gzip", **more}


BOTH = {"clientCertificateData": "CRT-TEXT", "clientKeyData": "KEY-TEXT"}
BARE = {"accept-encoding": "gzip"}
T = bearer("t")
PAIR = {"client-certificate": "CRT", "client-key": "KEY"}
CLEAR = {"server": "PLAIN"}
EVE = {"token": "t", "as": "eve"}
WHOLE = {**EVE, "as-uid": "7", "as-groups": ["g1", "g 2"], "as-user-extra": {"Sco/pes": ["a", "b"], "x%": ["ü"]}}
ACTING = {
    "impersonate-user": "eve",
    "impersonate-uid": "7",
    "impersonate-group": ["g1", "g 2"],
    "impersonate-extra-sco%2fpes": ["a", "b"],
    "impersonate-extra-x%25": "ü".encode().decode("latin-1"),
}
ASKS = "kubectl asks on the terminal"
HOST = "kubectl asks localhost:8080"
OIDC = {"client-id": "x", "idp-issuer-url": "https://127.0.0.1:1"}
LATER = f"h.{base64.urlsafe_b64encode(json.dumps({'exp': 4_102_444_800}).encode()).decode().rstrip('=')}.s"
PAST = f"h.{base64.urlsafe_b64encode(json.dumps({'exp': 1}).encode()).decode().rstrip('=')}.s"
KUBERC = {"apiVersion": "kubectl.config.k8s.io/v1beta1", "kind": "Preference", "defaults": [], "aliases": []}
ISSUED = f"{UNABLE}getting credentials: "


def denied(**fields: Any) -> dict[str, Any]:
    return {"kuberc": {**KUBERC, **fields}}


#: The minor version of kubectl that first knows all of it.
SINCE = {"kuberc": 36, "--kuberc": 36, "--as-user-extra": 36}
RC = {"KUBERC": "DIR/kuberc"}

CASES = [
    Case("1", None, bearer("one"), files={"1": named("one"), "2": named("two")}, env={"KUBECONFIG": "DIR/1:DIR/2"}),
    Case("1", None, bearer("two"), files={"1": named("one"), "2": named("two")}, env={"KUBECONFIG": "DIR/2:DIR/1"}),
    Case(
        "2",
        None,
        bearer("one"),
        files={"1": named("one"), "2": {"current-context": ""}},
        env={"KUBECONFIG": "DIR/2:DIR/1:"},
    ),
    Case(
        "3",
        None,
        bearer("x"),
        files={"1": {"users": [{"name": "one", "user": {"token": "x"}}]}, "2": named("one")},
        env={"KUBECONFIG": "DIR/1:DIR/2"},
    ),
    Case(
        "3",
        None,
        error='context "one" has no credentials',
        files={"1": {"users": [{"name": "one", "user": {}}]}, "2": named("one")},
        env={"KUBECONFIG": "DIR/1:DIR/2"},
        worded=ASKS,
    ),
    Case("4", None, bearer("one"), files={"0": "", "1": named("one")}, env={"KUBECONFIG": "DIR/0:DIR/1:DIR/1"}),
    Case("4", None, bearer("one"), files={"1": named("one")}, env={"KUBECONFIG": "/nope:DIR/1"}),
    Case(
        "5",
        None,
        BARE,
        subject="client",
        files={
            "x/1": {"users": [{"name": "one", "user": {"client-certificate": "c.crt", "client-key": "k/c.key"}}]},
            "x/c.crt": "CRT-TEXT",
            "x/k/c.key": "KEY-TEXT",
            "2": named("one"),
        },
        env={"KUBECONFIG": "DIR/x/1:DIR/2"},
    ),
    Case("6", config(plugin(command="false")), error=f"{ISSUED}exec: executable false failed with exit code 1"),
    Case("6", config(plugin(command="nope-x")), error=f"{ISSUED}exec: executable nope-x not found"),
    Case(
        "6",
        config(plugin(args=["-c", 'echo \'{"apiVersion": "' + BETA + '", "kind": "ExecCredential"}\''])),
        error=f"{ISSUED}exec plugin is configured to use API version {V1}, plugin returned version {BETA}",
    ),
    Case("6", config(plugin(args=["-c", "echo s3cret"])), error=f"{ISSUED}decoding stdout: ", worded="shorter"),
    Case("7", config(plugin(interactiveMode=None)), error="interactiveMode must be specified for a to use exec auth"),
    Case("7", config(plugin(version=BETA, interactiveMode=None)), bearer("p")),
    Case("7", config(plugin(interactiveMode="Often")), error='invalid interactiveMode for a: "Often"'),
    Case(
        "7",
        config(plugin(interactiveMode="Always")),
        error=f"{ISSUED}exec plugin cannot support interactive mode: standard input is not a terminal",
    ),
    Case("8", config(plugin(version=f"{V1}alpha1")), error=f'exec plugin: invalid apiVersion "{V1}alpha1"'),
    Case(
        "9",
        config(plugin(args=["-c", "cat answer"])),
        bearer("p"),
        subject="client",
        files={"answer": answered(token="p", **BOTH)},
    ),
    Case("9", config(plugin(args=["-c", "cat answer"])), BARE, subject="client", files={"answer": answered(**BOTH)}),
    Case("9", config({**plugin(command="false"), "token": "t"}), T),
    Case("9", config({**plugin(command="false"), **PAIR}), BARE, subject="client"),
    Case(
        "10",
        None,
        bearer("p"),
        files={"sub/1": config({**plugin(command="./run", args=[])}), "sub/run": "#!SCRIPT"},
        env={"KUBECONFIG": "DIR/sub/1"},
    ),
    Case(
        "10",
        config(plugin(args=["-c", 'test "$PWD" = "DIR" && exit 7'])),
        error=f"{ISSUED}exec: executable sh failed with exit code 7",
    ),
    Case(
        "10",
        config(plugin(args=["-c", "exit $CODE"], env=[{"name": "CODE", "value": "8"}])),
        error=f"{ISSUED}exec: executable sh failed with exit code 8",
    ),
    Case(
        "12", config(plugin(command="nope-x", installHint="GET-IT")), error=f"{ISSUED}exec: executable nope-x not found"
    ),
    Case("15", config(EVE), bearer("t", **{"impersonate-user": "eve"})),
    Case("15", config(WHOLE), bearer("t", **ACTING)),
    Case("15", config(WHOLE), {**BARE, **ACTING}, flags="-s PLAIN"),
    Case("15", config({"as": "eve"}), error='context "a" has no credentials', worded=ASKS),
    Case(
        "15",
        config({"token": "t", "as-groups": ["g"]}),
        error="requesting uid, groups or user-extra for a without impersonating a user",
    ),
    Case(
        "15",
        config({"token": "t", "as-uid": "7"}),
        error="requesting uid, groups or user-extra for a without impersonating a user",
    ),
    Case(
        "15",
        config({"token": "t", "as": "a\nb"}),
        error=f'{UNABLE}net/http: invalid header field value for "Impersonate-User"',
    ),
    Case("15", config({"token": "t", "as": None, "as-groups": None, "as-user-extra": None}), T),
    Case("16", config({"tokenFile": "token"}), bearer("file"), files={"token": " file\n\n"}),
    Case("17", config({"tokenFile": "token", "token": "t"}), bearer("file"), files={"token": "file"}),
    Case("17", config({"tokenFile": "/nope", "token": "t"}), T),
    Case("17", config({"tokenFile": "/nope"}), error="open /nope: no such file or directory"),
    Case(
        "17",
        config({"tokenFile": "token"}),
        error='read empty token from file "DIR/token"',
        files={"token": "\n"},
        worded=ASKS,
    ),
    Case("18", config({"token": None, "exec": None, **PAIR}), BARE, subject="client"),
    Case("18", config(users=[{"name": "a", "user": None}]), error='context "a" has no credentials', worded=ASKS),
    Case(
        "19",
        config({"token": 12345}),
        error='error loading config file "DIR/config": ',
        worded="another decoder's words",
    ),
    Case("20", config(cluster=CLEAR), BARE),
    Case("20", config({"username": "u", "password": "s3cret"}, CLEAR), BARE),
    Case("20", config(plugin(command="false"), CLEAR), BARE),
    Case("20", config({"tokenFile": "/nope"}, CLEAR), BARE),
    Case("20", config(EVE, CLEAR), {**BARE, "impersonate-user": "eve"}),
    Case("21", config(cluster={"server": "PLAIN-HOST"}), BARE),
    Case("21", config(cluster={"server": "PLAIN-HOST", "certificate-authority": "CA"}), BARE),
    Case(
        "21",
        config(cluster={"server": "PLAIN-HOST/prefix"}),
        error='host must be a URL or a host:port pair: "PLAIN-HOST/prefix"',
    ),
    Case(
        "21",
        config(cluster={"server": "http://u:s3cret@127.0.0.1:1"}),
        error='the server "http://127.0.0.1:1" is given with a user; name and password belong to the user entry',
        alone=HOST,
    ),
    Case("22", config({**PAIR, "token": "t"}, {**CLUSTER, "server": "UPPER"}), T, subject="client"),
    Case("23", config(cluster={"certificate-authority": "CA"}), error='no server found for cluster "a"', alone=HOST),
    Case("23", config(**{"current-context": ""}), error="no current context is set in DIR/config", alone=HOST),
    Case(
        "23",
        config(contexts=[{"name": "a", "context": {"cluster": "x", "user": "a"}}]),
        error='cluster "x" does not exist',
        alone=HOST,
    ),
    Case(
        "23",
        config(**{"current-context": "zz"}),
        error="Error in configuration: context was not found for specified context: zz",
    ),
    Case(
        "24",
        config(contexts=[{"name": "a", "context": {"cluster": "a", "user": "x"}}]),
        error='auth info "x" does not exist',
        worded=ASKS,
    ),
    Case(
        "24",
        config(contexts=[{"name": "a", "context": {"cluster": "a"}}]),
        error='context "a" has no credentials',
        worded=ASKS,
    ),
    Case("25", config(cluster={**CLUSTER, "certificate-authority-data": ""}), T),
    Case(
        "25",
        config(cluster={**CLUSTER, "certificate-authority-data": "CA-DATA"}),
        error="certificate-authority-data and certificate-authority are both specified for a. certificate-auth",
    ),
    Case("25", config(cluster={"server": "SERVER", "certificate-authority-data": "CA-DATA"}), T),
    Case(
        "26",
        config(cluster={"server": "SERVER", "certificate-authority-data": "!!"}),
        error='error loading config file "DIR/config": illegal base64 data',
        worded="another decoder's words",
    ),
    Case(
        "26",
        config(cluster={"server": "SERVER", "certificate-authority": "/nope"}),
        error="unable to read certificate-authority /nope for a due to open /nope: no such file or directory",
    ),
    Case(
        "27",
        config(cluster={**CLUSTER, "insecure-skip-tls-verify": True}),
        error="specifying a root certificates file with the insecure flag is not allowed",
    ),
    Case(
        "28",
        config({"client-certificate": "CRT"}),
        error="client-key-data or client-key must be specified for a to use the clientCert authentication method.",
    ),
    Case("28", config({"client-key": "/nope", "token": "t"}), T),
    Case(
        "28",
        config({**PAIR, "client-certificate-data": "CRT-DATA"}),
        error="client-cert-data and client-cert are both specified for a. client-cert-data will override.",
    ),
    Case(
        "29",
        config(users=[{"name": "a"}, {"name": "a"}]),
        error='error loading config file "DIR/config": "a" is defined twice',
        worded="kubectl prints the entries, secrets included",
    ),
    Case("31", config(), T, env={"HTTPS_PROXY": "http://127.0.0.1:1", "https_proxy": "http://127.0.0.1:1"}),
    Case(
        "32",
        config(cluster={**CLUSTER, "proxy-url": "ftp://u:s3cret@h"}),
        error='invalid \'proxy-url\' "ftp://h" for cluster "a": unsupported scheme "ftp", must be http, https',
        worded="kubectl prints the password",
    ),
    Case("33", config(cluster={**CLUSTER, "disable-compression": True}), {"authorization": "Bearer t"}),
    Case("34", None, error="no kubeconfig: ~/kube.yaml does not exist", env={"KUBECONFIG": "~/kube.yaml"}, alone=HOST),
    Case("35", config({"auth-provider": {"name": "gcp"}}), error="The gcp auth plugin has been removed."),
    Case("35", config({"auth-provider": {"name": "azure"}}), error="The azure auth plugin has been removed."),
    Case("35", config({"auth-provider": {"name": "zork"}}), error='no Auth Provider found for name "zork"'),
    Case("36", config({"auth-provider": {"name": "oidc", "config": {**OIDC, "id-token": LATER}}}), bearer(LATER)),
    Case(
        "36",
        config({"auth-provider": {"name": "oidc", "config": {**OIDC, "id-token": PAST}}}),
        error="the id-token of auth-provider oidc is missing or has expired",
        worded="kubectl would renew it",
    ),
    Case(
        "36",
        config({**plugin(), "auth-provider": {"name": "oidc", "config": OIDC}}),
        error="authProvider cannot be provided in combination with an exec plugin for a",
    ),
    Case("same", config({"username": "u", "password": "p"}), {**BARE, "authorization": "Basic dTpw"}),
    Case(
        "same",
        config({"username": "u", "token": "t"}),
        error="more than one authentication method found for a; found [token basicAuth], only one is allowed",
    ),
    Case(
        "same",
        config({"username": "u", "tokenFile": "token"}),
        error="username/password or bearer token may be set, but not both",
        files={"token": "x"},
    ),
    Case("same", config({**plugin(), "password": "s3cret"}), bearer("p")),
    Case("same", config({"password": "s3cret"}), error='context "a" has no credentials', worded=ASKS),
    Case(
        "17",
        config({"tokenFile": "token", "token": "t"}),
        error=f'{UNABLE}net/http: invalid header field value for "Authorization"',
        files={"token": "a\nb"},
    ),
    Case(
        "26",
        config(users=[{"name": "a", "user": {"token": "t"}}, {"name": "b", "user": {"client-key-data": "YQ="}}]),
        error='error loading config file "DIR/config": illegal base64 data',
        worded="kubectl counts bytes",
    ),
    Case("26", config({"token": "t", "client-key-data": "YW\nJj"}), T),
    Case(
        "26",
        config({"token": "t", "client-key-data": "YW Jj"}),
        error='error loading config file "DIR/config": illegal',
        worded="kubectl counts bytes",
    ),
    Case("same", config(PAIR), BARE, subject="client"),
    Case(
        "same", config({"client-certificate-data": "CRT-DATA", "client-key-data": "KEY-DATA"}), BARE, subject="client"
    ),
    Case("same", config({**PAIR, "token": "t"}), T, subject="client"),
    Case(
        "same",
        config(cluster={**CLUSTER, "tls-server-name": "kube.lab.test"}),
        error="failed to verify certificate",
        worded="Go names the names",
    ),
    Case("same", config(cluster={"server": "SERVER", "insecure-skip-tls-verify": True}), T),
    Case(
        "same",
        config(cluster={"server": "SERVER"}),
        error="failed to verify certificate: x509: certificate signed by unknown authority",
    ),
    Case("same", config(cluster={**CLUSTER, "server": "SERVER/pre/fix/"}), T, prefix="/pre/fix", since=36),
    Case("same", None, T, files={"c": "\ufeffYAML\r\n"}, env={"KUBECONFIG": "DIR/c"}),
    Case("same", config({"token": "tö"}), bearer("tö".encode().decode("latin-1"))),
    Case(
        "same", config({"token": "a\u0001b"}), error=f'{UNABLE}net/http: invalid header field value for "Authorization"'
    ),
    Case("same", config(preferences={"x": 1}, extensions=[], future=[1]), T),
    Case(
        "same",
        config(clusters=None, contexts=None, users=None, **{"current-context": ""}),
        T,
        flags="-s SERVER --certificate-authority CA --token t",
    ),
    Case(
        "same",
        config(kind="Pod"),
        error='error loading config file "DIR/config": it is Pod of no version',
        worded="another decoder's words",
    ),
    Case("same", config(apiVersion="v1", kind="Config"), T),
    Case("--kubeconfig", None, error="stat nope: no such file or directory", flags="--kubeconfig nope"),
    Case(
        "--kubeconfig",
        None,
        error='error loading config file "DIR": read DIR: is a directory',
        flags="--kubeconfig DIR",
    ),
    Case(
        "--kubeconfig",
        None,
        bearer("one"),
        files={"1": named("one"), "2": named("two")},
        env={"KUBECONFIG": "DIR/2"},
        flags="--kubeconfig 1",
    ),
    Case("--context", named("one"), bearer("one"), flags="--context one"),
    Case("--context", config(), error='context "zz" does not exist', flags="--context zz"),
    Case(
        "--cluster",
        config(clusters=[{"name": "a", "cluster": CLEAR}, {"name": "b", "cluster": CLUSTER}]),
        T,
        flags="--cluster b",
    ),
    Case("--cluster", config(), error='cluster "zz" does not exist', flags="--cluster zz"),
    Case(
        "--user",
        config(users=[{"name": "a", "user": {"token": "t"}}, {"name": "b", "user": {"token": "u"}}]),
        bearer("u"),
        flags="--user b",
    ),
    Case("--user", config(), error='auth info "zz" does not exist', flags="--user zz"),
    Case("--user", config(), error='auth info "zz" does not exist', flags="--user zz --context yy --cluster xx"),
    Case("--server", config(), BARE, flags="-s PLAIN"),
    Case("--server", config(cluster={**CLUSTER, "tls-server-name": "kube.lab.test"}), T, flags="--server=SERVER"),
    Case("--server", None, T, flags="-s SERVER --token t --certificate-authority CA"),
    Case("--server", None, error="there are no credentials for SERVER", flags="-s SERVER", worded=ASKS),
    Case("--token", config(), bearer("flag"), flags="--token flag"),
    Case("--token", config({**PAIR, "token": "t"}), bearer("flag"), flags="--token flag", subject="client"),
    Case("--token", config({"tokenFile": "token"}), bearer("file"), flags="--token flag", files={"token": "file"}),
    Case("--token", config(plugin(command="false")), bearer("flag"), flags="--token flag"),
    Case(
        "--token",
        config(contexts=[{"name": "a", "context": {"cluster": "a", "user": "x"}}]),
        bearer("flag"),
        flags="--token flag",
    ),
    Case("--client-certificate", config({}), BARE, flags="--client-certificate CRT --client-key KEY", subject="client"),
    Case(
        "--client-certificate",
        config({"client-certificate-data": "bm8=", "client-key-data": "bm8="}),
        BARE,
        since=36,
        flags="--client-certificate CRT --client-key KEY",
        subject="client",
    ),
    Case(
        "--client-certificate",
        config({}),
        BARE,
        files={"c.crt": "CRT-TEXT", "c.key": "KEY-TEXT"},
        flags="--client-certificate c.crt --client-key=c.key",
        subject="client",
    ),
    Case(
        "--client-key",
        config(),
        error="unable to read client-key /nope for a due to open /nope: no such file or directory",
        flags="--client-certificate CRT --client-key /nope",
    ),
    Case(
        "--certificate-authority",
        config(cluster={"server": "SERVER", "insecure-skip-tls-verify": True}),
        T,
        flags="--certificate-authority CA",
    ),
    Case(
        "--certificate-authority",
        config(cluster={"server": "SERVER", "certificate-authority-data": "bm8="}),
        T,
        flags="--certificate-authority CA",
    ),
    Case(
        "--certificate-authority",
        config(),
        error="unable to load root certificates: unable to parse bytes as PEM block",
        flags="--certificate-authority KEY",
        worded="Go finds PEM, but no certificate",
    ),
    Case("--insecure-skip-tls-verify", config(), T, flags="--insecure-skip-tls-verify"),
    Case(
        "--insecure-skip-tls-verify",
        config(),
        error="specifying a root certificates file with the insecure flag is not allowed",
        flags="--insecure-skip-tls-verify --certificate-authority CA",
    ),
    Case(
        "--tls-server-name",
        config(cluster={**CLUSTER, "tls-server-name": "kube.lab.test"}),
        T,
        flags="--tls-server-name 127.0.0.1",
    ),
    Case("--disable-compression", config(), {"authorization": "Bearer t"}, flags="--disable-compression"),
    Case("--as", config(), bearer("t", **{"impersonate-user": "eve"}), flags="--as eve"),
    Case("--as", config(WHOLE), bearer("t", **{**ACTING, "impersonate-user": "bob"}), flags="--as bob"),
    Case("--as", config(WHOLE), bearer("t", **ACTING), flags="--as="),
    Case(
        "--as-group",
        config(EVE),
        bearer("t", **{"impersonate-user": "eve", "impersonate-group": ["x,y", "z"]}),
        flags="--as-group x,y --as-group z",
    ),
    Case("--as-group", config(WHOLE), bearer("t", **{**ACTING, "impersonate-group": "x"}), flags="--as-group x"),
    Case(
        "--as-group",
        config(),
        error="requesting uid, groups or user-extra for a without impersonating a user",
        flags="--as-group x",
    ),
    Case("--as-uid", config(WHOLE), bearer("t", **{**ACTING, "impersonate-uid": "8"}), flags="--as-uid 8"),
    Case(
        "--as-uid",
        config(),
        error="requesting uid, groups or user-extra for a without impersonating a user",
        flags="--as-uid x",
    ),
    Case(
        "--as-user-extra",
        config(WHOLE),
        bearer("t", **ACTING, **{"impersonate-extra-k": ["v=1", "w"]}),
        flags="--as-user-extra k=v=1 --as-user-extra k=w",
    ),
    Case(
        "--as-user-extra",
        config(WHOLE),
        bearer("t", **{**ACTING, "impersonate-extra-sco%2fpes": "c"}),
        flags="--as-user-extra Sco/pes=c",
    ),
    Case(
        "--as-user-extra",
        config(),
        error="requesting uid, groups or user-extra for a without impersonating a user",
        flags="--as-user-extra k=v",
    ),
    Case(
        "--as-user-extra",
        config(),
        error='invalid argument "kv" for "--as-user-extra" flag: KEY=VALUE is expected',
        flags="--as eve --as-user-extra kv",
        alone="kubectl drops it in silence",
    ),
    Case("--request-timeout", config(), T, flags="--request-timeout 1m30s"),
    Case(
        "--request-timeout",
        config(),
        error="Invalid timeout value. Timeout must be a single integer in seconds, or an integer",
        flags="--request-timeout soon",
    ),
    Case(
        "kuberc",
        config(plugin()),
        error=f'{ISSUED}plugin "sh" not allowed: policy set to "DenyAll"',
        files=denied(credentialPluginPolicy="DenyAll"),
        env=RC,
    ),
    Case(
        "kuberc",
        config(plugin()),
        error=f'{ISSUED}plugin path "',
        files=denied(credentialPluginPolicy="Allowlist", credentialPluginAllowlist=[{"command": "other"}]),
        env=RC,
    ),
    Case(
        "kuberc",
        config(plugin()),
        bearer("p"),
        files=denied(credentialPluginPolicy="Allowlist", credentialPluginAllowlist=[{"command": "sh"}]),
        env=RC,
    ),
    Case(
        "kuberc",
        config(plugin()),
        bearer("p"),
        files=denied(credentialPluginPolicy="Allowlist", credentialPluginAllowlist=[{"name": "sh"}]),
        env=RC,
    ),
    Case("kuberc", config(plugin()), bearer("p"), files=denied(credentialPluginPolicy="AllowAll"), env=RC),
    Case(
        "kuberc", config(plugin()), bearer("p"), files=denied(credentialPluginPolicy="DenyAll"), env={"KUBERC": "off"}
    ),
    Case(
        "kuberc",
        config(plugin()),
        bearer("p"),
        files=denied(credentialPluginPolicy="DenyAll"),
        env={**RC, "KUBECTL_KUBERC": "false"},
    ),
    Case(
        "kuberc",
        config(plugin()),
        error=f'{ISSUED}plugin "sh" not allowed: policy set to "DenyAll"',
        files={".kube/kuberc": {**KUBERC, "credentialPluginPolicy": "DenyAll"}},
    ),
    Case("kuberc", config(plugin()), error="kuberc: open DIR/kuberc: no such file or directory", env=RC),
    Case("kuberc", config(plugin()), bearer("p"), files={".kube/kuberc": "["}),
    Case(
        "kuberc",
        config(plugin()),
        error='unknown plugin policy: "Some"',
        files=denied(credentialPluginPolicy="Some"),
        env=RC,
    ),
    Case(
        "kuberc",
        config(plugin()),
        error="misconfigured credential plugin allowlist",
        files=denied(credentialPluginAllowlist=[{"command": "sh"}]),
        env=RC,
    ),
    Case(
        "kuberc",
        config(plugin()),
        error='credential plugin policy set to "Allowlist", but allowlist is empty',
        files=denied(credentialPluginPolicy="Allowlist", credentialPluginAllowlist=[]),
        env=RC,
    ),
    Case(
        "kuberc",
        config(plugin()),
        error='non-normalized file path: "/bin/../sh" vs "/sh"',
        files=denied(credentialPluginPolicy="Allowlist", credentialPluginAllowlist=[{"command": "/bin/../sh"}]),
        env=RC,
    ),
    Case(
        "--kuberc",
        config(plugin()),
        error=f'{ISSUED}plugin "sh" not allowed',
        files=denied(credentialPluginPolicy="DenyAll"),
        flags="--kuberc DIR/kuberc",
    ),
    Case(
        "--kuberc",
        config(plugin()),
        error="disabling kuberc via KUBERC=off and passing kuberc flag are mutually exclusive",
        env={"KUBERC": "off"},
        flags="--kuberc DIR/kuberc",
    ),
]


@pytest.fixture(scope="module")
def lab(certificates: Path):
    """A server with TLS that takes a client's certificate if there is one, and one without TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.verify_mode = ssl.CERT_OPTIONAL
    context.load_verify_locations(certificates / "ca.crt")
    context.load_cert_chain(certificates / "server.crt", certificates / "server.key")
    secure, plain = serving(Server(context)), serving(Server())
    pair = next(secure), next(plain)
    for server in pair:
        server.on("/x", {}).on("/pre/fix/x", {})
    yield pair
    for running in (secure, plain):
        next(running, None)


@pytest.fixture
def place(lab, certificates, tmp_path):
    """Replaces the capital words of a case."""
    secure, plain = lab
    pem = {name: (certificates / f"{name}.{kind}").read_text() for name, kind in (("ca", "crt"),)}
    pem |= {"CRT": (certificates / "client.crt").read_text(), "KEY": (certificates / "client.key").read_text()}
    words = {
        "CRT-TEXT": json.dumps(pem["CRT"])[1:-1],
        "KEY-TEXT": json.dumps(pem["KEY"])[1:-1],
        "CRT-DATA": base64.b64encode(pem["CRT"].encode()).decode(),
        "KEY-DATA": base64.b64encode(pem["KEY"].encode()).decode(),
        "CA-DATA": base64.b64encode(pem["ca"].encode()).decode(),
        "PLAIN-HOST": plain.url.removeprefix("http://"),
        "PLAIN": plain.url,
        "SERVER": secure.url,
        "UPPER": secure.url.replace("https", "HTTPS"),
        '"CA"': json.dumps(str(certificates / "ca.crt")),
        '"CRT"': json.dumps(str(certificates / "client.crt")),
        '"KEY"': json.dumps(str(certificates / "client.key")),
        "DIR": str(tmp_path),
    }

    def replaced(text: str) -> str:
        for word, value in words.items():
            text = text.replace(word, value)
        return text

    return replaced


def written(case: Case, place, folder: Path) -> tuple[list[str], dict[str, str]]:
    """The flags and the environment of a case whose files are written."""
    files = dict(case.files)
    if case.config is not None:
        files["config"] = case.config
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = place(content if isinstance(content, str) else json.dumps(content))
        if "YAML" in text:
            text = text.replace("YAML", place(json.dumps(config(), indent=1)).replace("\n", "\r\n"))
        if text.startswith("-----") or "-TEXT" in str(content):
            text = text.replace("\\n", "\n") if isinstance(content, str) else text
        if text == "#!SCRIPT":
            text = f"#!/bin/sh\necho '{json.dumps(answered(token='p'))}'\n"
        path.write_text(text, encoding="utf-8", newline="")
        path.chmod(0o700)
    base = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    if case.config is not None:
        base["KUBECONFIG"] = str(folder / "config")
    flags = [place(f'"{word}"')[1:-1] if word in {"CA", "CRT", "KEY"} else place(word) for word in case.flags.split()]
    return flags, {**base, **{name: place(value) for name, value in case.env.items()}}


def parsed(flags: list[str], monkeypatch: pytest.MonkeyPatch) -> Options:
    seen: list[Options] = []
    monkeypatch.setattr(version.command, "run", lambda options, _words: seen.append(options) or 0)
    program = Program()
    with program.make_context("kubectl kres", [*flags, "version"]) as ctx:
        program.invoke(ctx)
    return seen[0]


def asked(lab) -> list[tuple[Any, ...]]:
    """What both servers were sent, in a form to compare."""
    secure, _ = lab
    return [
        (server is secure, request.path, request.subject, sorted(line for line in request.lines if line[0] not in OWN))
        for server in lab
        for request in server.requests
        if not request.path.endswith("/version")  # kubectl compares versions before anything else
    ]


def title(case: Case) -> str:
    return f"{case.row}-{CASES.index(case)}"


@pytest.mark.one_in(5)
@pytest.mark.parametrize("case", CASES, ids=title)
def test_as_kubectl(case: Case, lab, place, tmp_path, monkeypatch, capsys):
    flags, environ = written(case, place, tmp_path)
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("KUBE") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    for server in lab:
        server.requests.clear()
    message = ""
    try:
        _, connection = open_connection(parsed(flags, monkeypatch))
        with connection:
            connection.get("/x")
    except KresError as error:
        message = error.message
        assert (error.exit_code in {2, 3}, "\n" in message) == (True, False)
        assert "s3cret" not in message + error.hint
    ours = asked(lab)
    if case.error:
        assert ours == []
        assert place(case.error) in message
    else:
        assert message == ""
        assert len(ours) == 1
        lines = [
            (name, value)
            for name, values in (case.sent or {}).items()
            for value in (values if isinstance(values, list) else [values])
        ]
        assert ours[0][1:] == (f"{case.prefix}/x", case.subject, sorted(lines))
    compare(case, lab, flags, environ, tmp_path, ours, message)
    assert "s3cret" not in "".join(capsys.readouterr())


def compare(case: Case, lab, flags, environ, folder, ours, message) -> None:
    """kubectl sends the same, or refuses too, in words that hold ours."""
    if not kubectl.FOUND:
        print(SKIP)
        return
    if case.alone or kubectl.minor() < max(case.since, SINCE.get(case.row, 0)):
        return
    for server in lab:
        server.requests.clear()
    done = kubectl.raw(flags, environ, folder)
    assert asked(lab) == ours, done.stderr
    assert (done.returncode != 0) == bool(case.error)
    if case.error and not case.worded:
        assert message.split(" due to ")[0] in done.stderr


def test_kubectl_is_there_to_compare_with():
    if not kubectl.FOUND:
        pytest.skip(SKIP)
    assert kubectl.raw(["--kubeconfig", "nope"], os.environ, Path.cwd()).returncode == 1
