import base64
import json
import stat
from pathlib import Path
from time import monotonic

import msgspec
import pytest

from kubectl_kres.cluster.credentials import Identity, authority
from kubectl_kres.cluster.kubeconfig.current_context import ConnectOptions, Target, load
from kubectl_kres.cluster.kubeconfig.files import ClusterEntry, UserEntry
from kubectl_kres.errors import ConfigError

GETTING = "Unable to connect to the server: getting credentials: "
UNABLE = "Unable to connect to the server: "
V1 = "client.authentication.k8s.io/v1"
BETA = "client.authentication.k8s.io/v1beta1"


def target(user, **cluster):
    return Target(
        "https://10.0.0.1",
        "default",
        user=msgspec.convert(user, UserEntry),
        user_name="u",
        cluster=msgspec.convert(cluster, ClusterEntry),
    )


def resolve(asked):
    return Identity(asked).current()


def encoded(text):
    return base64.b64encode(text.encode()).decode()


def id_token(expires):
    payload = base64.urlsafe_b64encode(json.dumps({"exp": expires}).encode()).decode().rstrip("=")
    return f"header.{payload}.signature"


LATER = id_token(4_102_444_800)


@pytest.mark.parametrize(
    ("user", "expected"),
    [
        ({}, ""),
        ({"token": None}, ""),
        ({"token": "t"}, "Bearer t"),
        ({"token": "ключ"}, "Bearer ключ".encode().decode("latin-1")),
        ({"tokenFile": "FILE"}, "Bearer from-file"),
        ({"tokenFile": "FILE", "token": "t"}, "Bearer from-file"),
        ({"username": "u", "password": "p"}, "Basic dTpw"),
        ({"auth-provider": {"name": "oidc", "config": {"id-token": LATER}}}, f"Bearer {LATER}"),
        ({"token": "t", "exec": {"command": "/nowhere", "apiVersion": V1}}, "Bearer t"),
    ],
)
def test_the_header(tmp_path, user, expected):
    file = tmp_path / "token"
    file.write_text("from-file\n")
    user = {key: str(file) if value == "FILE" else value for key, value in user.items()}
    assert resolve(target(user)).authorization == expected


def test_certificates_come_from_data_or_files_and_data_wins(tmp_path):
    (tmp_path / "file").write_text("file")
    file = str(tmp_path / "file")
    found = resolve(
        target({"client-certificate-data": encoded("data"), "client-certificate": "/nowhere", "client-key": file})
    )
    assert (found.certificate, found.key) == (b"data", b"file")
    assert authority(ClusterEntry(certificate_authority=file, certificate_authority_data="")) == b"file"
    assert authority(ClusterEntry()) == b""


@pytest.mark.parametrize(
    ("user", "message"),
    [
        ({"client-certificate-data": "!!"}, "client-cert-data of u is not base64"),
        (
            {"client-certificate": "/nowhere"},
            "unable to read client-cert /nowhere for u due to open /nowhere: no such file or directory",
        ),
        ({"tokenFile": "/nowhere"}, "open /nowhere: no such file or directory"),
        ({"tokenFile": "EMPTY"}, 'read empty token from file "'),
        ({"token": "a\nb"}, f'{UNABLE}net/http: invalid header field value for "Authorization"'),
        ({"tokenFile": "EMPTY", "username": "x"}, "username/password or bearer token may be set, but not both"),
        ({"auth-provider": {"name": "azure"}}, "The azure auth plugin has been removed."),
        ({"auth-provider": {"name": "zork"}}, 'no Auth Provider found for name "zork"'),
        ({"auth-provider": {"name": "gcp"}}, "The gcp auth plugin has been removed."),
        ({"auth-provider": {"name": "oidc"}}, "the id-token of auth-provider oidc is missing or has expired"),
        (
            {"auth-provider": {"name": "oidc", "config": {"id-token": id_token(1)}}},
            "the id-token of auth-provider oidc is missing or has expired",
        ),
    ],
)
def test_what_cannot_be_used_is_one_line(tmp_path, user, message):
    (tmp_path / "empty").write_text(" \n")
    user = {key: str(tmp_path / "empty") if value == "EMPTY" else value for key, value in user.items()}
    with pytest.raises(ConfigError) as caught:
        resolve(target(user))
    assert caught.value.message.startswith(message)
    assert "\n" not in caught.value.message


@pytest.fixture
def script(tmp_path):
    """A credential plugin that runs a line of shell."""

    def write(line):
        path = tmp_path / "plugin"
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    return write


def credential(version=V1, kind="ExecCredential", **status):
    return "echo '" + json.dumps({"apiVersion": version, "kind": kind, "status": status}) + "'"


def plugged(command, version=V1, **fields):
    return target({"exec": {"command": command, "apiVersion": version, "interactiveMode": "Never", **fields}})


def test_a_plugin_gives_token_and_certificate(script):
    command = script(credential(token="t", clientCertificateData="c", clientKeyData="k"))
    found = resolve(plugged(command))
    assert (found.authorization, found.certificate, found.key) == ("Bearer t", b"c", b"k")
    assert "Bearer" not in repr(found)


def test_a_plugin_of_the_older_version_needs_no_interactive_mode(script):
    assert resolve(plugged(script(credential(BETA, token="t")), BETA, interactiveMode=None)).authorization == "Bearer t"


def test_a_plugin_gets_arguments_environment_and_cluster_and_runs_where_we_are(script, tmp_path):
    out = tmp_path / "out"
    command = script(f'pwd > {out}; echo "$1 $MINE $KUBERNETES_EXEC_INFO" >> {out}; {credential(token="t")}')
    extension = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}}
    asked = plugged(command, args=["one"], env=[{"name": "MINE", "value": "two"}], provideClusterInfo=True)
    resolve(msgspec.structs.replace(asked, cluster=msgspec.convert({"extensions": [extension]}, ClusterEntry)))
    where, rest = out.read_text().splitlines()
    assert Path(where) == Path.cwd()
    assert rest.startswith("one two {")
    assert json.loads(rest[8:]) == {
        "kind": "ExecCredential",
        "apiVersion": V1,
        "spec": {"interactive": False, "cluster": {"server": "https://10.0.0.1", "config": {"audience": "x"}}},
    }


def test_a_command_with_a_slash_belongs_to_the_directory_of_its_kubeconfig(script, tmp_path):
    script(credential(token="t"))
    content = {
        "clusters": [{"name": "a", "cluster": {"server": "https://h"}}],
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        "users": [
            {"name": "a", "user": {"exec": {"command": "./plugin", "apiVersion": V1, "interactiveMode": "Never"}}}
        ],
        "current-context": "a",
    }
    (tmp_path / "config").write_text(json.dumps(content))
    assert resolve(load(ConnectOptions(str(tmp_path / "config")), {})).authorization == "Bearer t"


@pytest.mark.parametrize(
    ("line", "fields", "message"),
    [
        ("exit 3", {}, f"{GETTING}exec: executable COMMAND failed with exit code 3"),
        (
            credential(BETA, token="t"),
            {},
            f"{GETTING}exec plugin is configured to use API version {V1}, plugin returned version {BETA}",
        ),
        (
            "echo '{}'",
            {},
            f"{GETTING}exec plugin is configured to use API version {V1}, plugin returned version none",
        ),
        (
            credential(kind="Pod", token="t"),
            {},
            f"{GETTING}decoding stdout: it is of kind Pod, not an ExecCredential",
        ),
        (credential(), {}, f"{GETTING}exec plugin didn't return a token or cert/key pair"),
        (
            credential(clientCertificateData="c"),
            {},
            f"{GETTING}exec plugin returned only certificate or key, not both",
        ),
        ("echo nonsense", {}, f"{GETTING}decoding stdout: it is no ExecCredential"),
        ("true", {}, f"{GETTING}decoding stdout: it is no ExecCredential"),
        (
            credential(token="t"),
            {"command": "no-such-plugin"},
            f"{GETTING}exec: executable no-such-plugin not found",
        ),
        (
            credential(token="t"),
            {"apiVersion": "client.authentication.k8s.io/v1alpha1"},
            'exec plugin: invalid apiVersion "client.authentication.k8s.io/v1alpha1"',
        ),
        (
            credential(token="t"),
            {"interactiveMode": None},
            "interactiveMode must be specified for u to use exec authentication plugin",
        ),
        (credential(token="t"), {"interactiveMode": "Perhaps"}, 'invalid interactiveMode for u: "Perhaps"'),
        (
            credential(token="t"),
            {"interactiveMode": "Always"},
            f"{GETTING}exec plugin cannot support interactive mode: standard input is not a terminal",
        ),
    ],
)
def test_a_plugin_that_gives_nothing_is_an_error_and_never_anonymous(script, line, fields, message):
    command = script(line)
    user = {"command": command, "apiVersion": V1, "interactiveMode": "Never", "installHint": "get it", **fields}
    with pytest.raises(ConfigError) as caught:
        resolve(target({"exec": user}))
    assert caught.value.message.startswith(message.replace("COMMAND", command))
    assert caught.value.exit_code == 3
    assert caught.value.hint == ("get it" if "exec: executable" in message else "")


def test_a_file_that_is_no_program_is_an_error(tmp_path):
    path = tmp_path / "plugin"
    path.write_bytes(b"\x7fELF nonsense")
    path.chmod(0o700)
    with pytest.raises(ConfigError, match="exec format error"):
        resolve(plugged(str(path)))


def test_a_plugin_may_answer_in_yaml(script):
    """As kubectl's decoder takes it."""
    command = script(f"printf 'apiVersion: {V1}\\nkind: ExecCredential\\nstatus: {{token: abc}}\\n'")
    user = {"command": command, "apiVersion": V1, "interactiveMode": "Never"}
    assert resolve(target({"exec": user})).authorization == "Bearer abc"


def test_a_plugin_that_may_not_be_run(script):
    command = script("true")
    Path(command).chmod(0o600)
    user = {"command": command, "apiVersion": V1, "interactiveMode": "Never", "installHint": "get it"}
    with pytest.raises(ConfigError) as caught:
        resolve(target({"exec": user}))
    assert caught.value.message == f"{GETTING}exec: fork/exec {command}: permission denied"


def test_a_plugin_that_hangs_obeys_the_request_timeout(script):
    began = monotonic()
    with pytest.raises(ConfigError, match=r"was still running after 0\.5s") as caught:
        Identity(plugged(script("sleep 60")), plugin_seconds=0.5).current()
    assert monotonic() - began < 10 and "--request-timeout" in caught.value.hint


def test_a_plugin_that_prints_without_end_is_left(script):
    began = monotonic()
    with pytest.raises(ConfigError, match="printed more than 1024 KiB"):
        resolve(plugged(script("yes")))
    assert monotonic() - began < 30


def test_a_plugin_whose_child_keeps_the_output_open_has_answered(script):
    began = monotonic()
    assert resolve(plugged(script("sleep 60 & " + credential(token="t")))).authorization == "Bearer t"
    assert monotonic() - began < 20
