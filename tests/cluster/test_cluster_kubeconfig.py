import json
import os
from pathlib import Path

import pytest

from kubectl_kres.cluster.kubeconfig import current_context
from kubectl_kres.cluster.kubeconfig.current_context import ConnectOptions, load
from kubectl_kres.cluster.kubeconfig.files import UserEntry
from kubectl_kres.errors import ConfigError

HTTPS = "https://10.0.0.1:6443"


def config(current="a", **changes):
    """A kubeconfig with the context ``a`` (cluster ``a``, user ``a``), its parts replaced."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "a", "cluster": changes.pop("cluster", {"server": HTTPS})}],
        "users": [{"name": "a", "user": changes.pop("user", {"token": "s3cret"})}],
        "contexts": [{"name": "a", "context": changes.pop("context", {"cluster": "a", "user": "a"})}],
        "current-context": current,
        **changes,
    }


@pytest.fixture
def write(tmp_path):
    def write_one(content, name="config"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    return write_one


def loaded(path, **options):
    return load(ConnectOptions(kubeconfig=path, **options), {})


def listed(*paths, **options):
    return load(ConnectOptions(**options), {"KUBECONFIG": os.pathsep.join(paths)})


@pytest.mark.parametrize(
    ("context", "flag", "expected"),
    [
        ({}, "", "default"),
        ({"namespace": "team-a"}, "", "team-a"),
        ({"namespace": "team-a"}, "team-b", "team-b"),
        ({"namespace": None}, "", "default"),
    ],
)
def test_the_namespace_is_the_flag_then_the_context_then_default(write, context, flag, expected):
    path = write(config(context={"cluster": "a", "user": "a", **context}))
    assert loaded(path, namespace=flag).namespace == expected


@pytest.mark.parametrize(
    ("cluster", "expected"),
    [
        ({"server": "https://h:1/"}, "https://h:1"),
        ({"server": "https://h:1/prefix/"}, "https://h:1/prefix"),
        ({"server": "HTTPS://h"}, "https://h"),
        ({"server": "https://h:1", "tls-server-name": "x"}, "https://h:1"),
        ({"server": "https://[::1]:6443"}, "https://[::1]:6443"),
    ],
)
def test_addresses(write, cluster, expected):
    assert loaded(write(config(cluster=cluster))).server == expected


def test_an_address_without_scheme_is_http(write):
    assert loaded(write(config(cluster={"server": "127.0.0.1:8080"}, user={}))).server == "http://127.0.0.1:8080"


@pytest.mark.parametrize(
    "server", ["ftp://h", "https://", "https://h:port", "https://u:hunter2@h", "https://h?a=b", "", None]
)
def test_what_is_no_address_is_refused_without_showing_a_password(write, server):
    with pytest.raises(ConfigError) as caught:
        loaded(write(config(cluster={"server": server})))
    assert "hunter2" not in caught.value.message


def test_another_context_may_be_chosen(write):
    content = config(contexts=[{"name": "b", "context": {"cluster": "a", "user": "a", "namespace": "n"}}])
    target = loaded(write(content), context="b")
    assert (target.context, target.namespace, target.user_name) == ("b", "n", "a")


def test_files_are_merged_entry_by_entry_and_the_first_wins(write):
    first = write({"clusters": [{"name": "a", "cluster": {"server": "https://first"}}], "users": None}, "one/config")
    user = {"client-certificate": "a.crt", "client-key": "keys/a.key", "exec": None}
    write("", "two/a.crt"), write("", "two/keys/a.key")
    second = write(config(user=user, cluster={"server": "https://second", "proxy-url": "http://p"}), "two/config")
    empty = write("", "three/config")
    target = listed(empty, first, "/nowhere/config", second, second, "")
    assert (target.server, target.cluster.proxy_url) == ("https://first", None)
    base = Path(second).parent
    assert target.user.client_certificate == str(base / "a.crt")
    assert target.user.client_key == str(base / "keys/a.key")


def test_an_empty_current_context_in_a_later_file_changes_nothing(write):
    assert listed(write(config()), write({"current-context": ""}, "b")).context == "a"


def test_yaml_with_a_byte_order_mark_windows_lines_and_unknown_fields_is_read(write):
    text = "\ufeff" + json.dumps(config(preferences={}, extensions=[])) + "\r\n"
    assert loaded(write(text)).server == HTTPS


def test_thousands_of_contexts_are_read(write):
    many = config(contexts=[{"name": f"c{i}", "context": {"cluster": "a", "user": "a"}} for i in range(2000)])
    assert loaded(write(many), context="c1999").context == "c1999"


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (config(), {"context": "zz"}, 'context "zz" does not exist'),
        (config("zz"), {}, "Error in configuration: context was not found for specified context: zz"),
        (config(context={"cluster": "x", "user": "a"}), {}, 'cluster "x" does not exist'),
        (config(context={"cluster": "a", "user": "x"}), {}, 'auth info "x" does not exist'),
        (config(clusters=[{"name": "a"}, {"name": "a"}]), {}, 'error loading config file "PATH": "a" is defined twice'),
        (
            {"clusters": []},
            {},
            "no current context is set in PATH; use --context or kubectl config use-context",
        ),
        (
            "a: [\n b: c: d\n",
            {},
            'error loading config file "PATH": yaml: line 2: ',
        ),
        ("just text", {}, 'error loading config file "PATH": Expected `object`, got `str`'),
        (
            config(user={"token": 12345}),
            {},
            'error loading config file "PATH": Expected `str | null`, got `int` - at `$.users[0].user.token`',
        ),
        ("!!python/object/apply:os.system [false]", {}, "Expected `object`, got `array`"),
        ("a: *s3cret", {}, "error loading config file \"PATH\": yaml: line 1: unknown anchor '…' referenced"),
        (config(kind="Pod"), {}, 'error loading config file "PATH": it is Pod of v1'),
    ],
)
def test_a_wrong_file_is_one_line(write, content, options, message):
    path = write(content)
    with pytest.raises(ConfigError) as caught:
        loaded(path, **options)
    assert message.replace("PATH", path) in caught.value.message
    assert "\n" not in caught.value.message
    assert "s3cret" not in caught.value.message
    assert caught.value.exit_code == 3


def test_a_file_that_is_named_must_exist_and_be_a_file(tmp_path):
    with pytest.raises(ConfigError, match=r"^stat nope: no such file or directory$"):
        loaded("nope")
    with pytest.raises(ConfigError) as caught:
        loaded(str(tmp_path))
    assert caught.value.message == f'error loading config file "{tmp_path}": read {tmp_path}: is a directory'


def test_without_any_file_the_answer_names_those_looked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(ConfigError) as caught:
        load(ConnectOptions(), {"HOME": str(tmp_path)})
    assert caught.value.message.startswith(f"no kubeconfig: {tmp_path}/.kube/config does not exist")
    with pytest.raises(ConfigError) as caught:
        load(ConnectOptions(), {"KUBECONFIG": "~/kube.yaml"})
    assert caught.value.message.startswith("no kubeconfig: ~/kube.yaml does not exist")
    assert "literally" in caught.value.hint


@pytest.mark.parametrize("separators", [":", "::"])
def test_separators_name_no_file(separators, write, tmp_path):
    """kubectl asks localhost:8080 then, and never the file in the home."""
    write(config(), ".kube/config")
    with pytest.raises(ConfigError, match=r"^no kubeconfig: KUBECONFIG names no file; "):
        load(ConnectOptions(), {"KUBECONFIG": separators, "HOME": str(tmp_path)})


@pytest.mark.parametrize("environ", [{}, {"HOME": ""}])
def test_without_a_home_it_is_the_folder_that_we_stand_in(environ, write, tmp_path, monkeypatch):
    write(config(cluster={"server": "https://here"}), ".kube/config")
    monkeypatch.chdir(tmp_path)
    assert load(ConnectOptions(), environ).server == "https://here"


@pytest.mark.parametrize("name", ["HOST", "PORT"])
def test_half_of_a_cluster_is_none(pod, name):
    with pytest.raises(ConfigError, match="no kubeconfig: "):
        load(ConnectOptions(), {f"KUBERNETES_SERVICE_{name}": "443"})


@pytest.mark.parametrize("server", [" https://h", "https://h ", "https://h\n"])
def test_a_server_with_blanks_around_is_refused(write, server):
    with pytest.raises(ConfigError):
        load(ConnectOptions(kubeconfig=write(config(cluster={"server": server}))), {})


def test_of_two_files_with_different_current_contexts_the_first_wins(write):
    one = write(config(), "one")
    two = write(config("b", contexts=[{"name": "b", "context": {"cluster": "a", "user": "a"}}]), "two")
    assert (listed(one, two).context, listed(two, one).context) == ("a", "b")
    assert listed(one, two, context="b").context == "b"
    assert listed(write({"current-context": None}, "none"), two).context == "b"


CREDENTIALS = [
    {"token": "s3cret"},
    {"tokenFile": "token"},
    {"username": "u", "password": "s3cret"},
    {"exec": {"command": "s3cret", "apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never"}},
    {"auth-provider": {"name": "oidc", "config": {"id-token": "s3cret"}}},
]


@pytest.mark.parametrize("user", CREDENTIALS)
def test_credentials_are_never_sent_in_clear(write, user):
    path = write(config(user={**user, "as": "eve"}, cluster={"server": "http://127.0.0.1:1"}))
    target = loaded(path)
    assert target.user == UserEntry(impersonate="eve", impersonate_extra={})
    assert target.warnings == ('the credentials of user "a" are not sent: http://127.0.0.1:1 is not encrypted',)
    assert "s3cret" not in repr((target, ConnectOptions(token="s3cret")))


def test_secrets_do_not_show_in_a_target(write):
    user = {"token": "s3cret", "client-key-data": "czNjcmV0"}
    shown = repr(loaded(write(config(user=user))))
    assert "s3cret" not in shown
    assert "czNjcmV0" not in shown


@pytest.fixture
def pod(tmp_path, monkeypatch):
    """A service account as the kubelet mounts it."""
    monkeypatch.setattr(current_context, "SERVICE_ACCOUNT", tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "token").write_text("t")
    (tmp_path / "ca.crt").write_text("c")
    (tmp_path / "namespace").write_text("mounted\n")
    return tmp_path


@pytest.mark.parametrize(
    ("environ", "flag", "server", "namespace"),
    [
        ({}, "", "https://10.0.0.1:443", "mounted"),
        ({"POD_NAMESPACE": "env"}, "", "https://10.0.0.1:443", "env"),
        ({"POD_NAMESPACE": "env"}, "flag", "https://10.0.0.1:443", "flag"),
        (
            {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "6443"},
            "",
            "https://[fd00::1]:6443",
            "mounted",
        ),
    ],
)
def test_inside_a_cluster_the_service_account_is_used(pod, environ, flag, server, namespace):
    target = load(
        ConnectOptions(namespace=flag),
        {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443", **environ},
    )
    assert (target.server, target.namespace, target.context) == (server, namespace, "")
    assert target.user.token_file == str(pod / "token")
    assert target.cluster.certificate_authority == str(pod / "ca.crt")


def test_inside_a_cluster_a_kubeconfig_wins_and_a_missing_account_is_said(pod, write):
    environ = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}
    assert load(ConnectOptions(), {**environ, "KUBECONFIG": write(config())}).server == HTTPS
    with pytest.raises(ConfigError, match="no current context"):
        load(ConnectOptions(kubeconfig=write({}, "none")), environ)
    (pod / "token").unlink()
    with pytest.raises(ConfigError, match="does not exist"):
        load(ConnectOptions(), environ)
