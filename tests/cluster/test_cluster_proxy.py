"""The way to the server: proxies of the kubeconfig and of the environment, and what NO_PROXY exempts from them."""

from __future__ import annotations

import json
import os
import sys
import threading
from urllib.parse import urlsplit

import pytest
from cluster import kubectl
from cluster.relay import Relay

from kubectl_kres.cluster.connection import connect
from kubectl_kres.cluster.kubeconfig.current_context import Target
from kubectl_kres.cluster.kubeconfig.files import ClusterEntry, UserEntry
from kubectl_kres.cluster.transport import proxy
from kubectl_kres.errors import ConfigError, Unreachable


@pytest.fixture
def relay(tls_server):
    running = Relay(tls_server.server_address[1])
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield running
    running.shutdown()
    running.server_close()
    thread.join()


#: Name, ``proxy-url``, environment, what the proxy is asked for and what proves who asks.
THROUGH = [
    ("http://RELAY", {}, ["kube.lab.test:6443"], []),
    ("http://RELAY", {"NO_PROXY": "*"}, ["kube.lab.test:6443"], []),
    ("http://us%40er:s3cret%2F@RELAY", {}, ["kube.lab.test:6443"], ["Basic dXNAZXI6czNjcmV0Lw=="]),
    ("socks5://RELAY", {}, ["kube.lab.test:6443"], []),
    ("socks5://us%40er:s3cret%2F@RELAY", {"NO_PROXY": "*"}, ["kube.lab.test:6443"], ["us@er:s3cret/"]),
    (None, {"HTTPS_PROXY": "http://RELAY"}, ["kube.lab.test:6443"], []),
    (None, {"https_proxy": "RELAY"}, ["kube.lab.test:6443"], []),
    (None, {"HTTPS_PROXY": "http://RELAY", "https_proxy": "http://127.0.0.1:1"}, ["kube.lab.test:6443"], []),
    (None, {"HTTPS_PROXY": "socks5://RELAY"}, ["kube.lab.test:6443"], []),
    (None, {"HTTPS_PROXY": "http://RELAY", "NO_PROXY": "other.test,.kube.lab.test"}, ["kube.lab.test:6443"], []),
    (None, {"HTTPS_PROXY": "http://RELAY", "NO_PROXY": "lab.test:443"}, ["kube.lab.test:6443"], []),
    (None, {"HTTPS_PROXY": "http://RELAY", "NO_PROXY": "0.0.0.0/8"}, [], []),
    (None, {"HTTPS_PROXY": "http://RELAY", "no_proxy": " x, 0.0.0.0:PORT "}, [], []),
    (None, {"HTTP_PROXY": "http://RELAY", "ALL_PROXY": "http://RELAY"}, [], []),
]


@pytest.mark.parametrize("tls_server", ["other"], indirect=True)
@pytest.mark.parametrize(("own", "environ", "asked", "signed"), THROUGH)
def test_rows_30_to_32(tls_server, relay, certificates, opened, tmp_path, own, environ, asked, signed):
    tls_server.on("/x", {"a": 1})
    own = own and own.replace("RELAY", relay.address)
    port = str(tls_server.server_address[1])
    environ = {name: value.replace("RELAY", relay.address).replace("PORT", port) for name, value in environ.items()}
    # 0.0.0.0 is this machine and yet no loopback address: without a proxy it leads to the server as well.
    cluster = {
        "server": "https://kube.lab.test:6443" if asked else f"https://0.0.0.0:{port}",
        "certificate-authority": str(certificates / "ca.crt"),
        "tls-server-name": "kube.lab.test",
    }
    if own:
        cluster["proxy-url"] = own
    target = Target(
        cluster["server"],
        "default",
        user=UserEntry(token="t"),
        cluster=ClusterEntry(
            certificate_authority=cluster["certificate-authority"], proxy_url=own, tls_server_name="kube.lab.test"
        ),
    )
    assert opened(target, environ=environ).get("/x") == b'{"a": 1}'
    assert (relay.targets, relay.signed) == (asked, signed)
    if not kubectl.FOUND:
        print("no kubectl: what it asks proxies for is not compared")
        return
    config = {
        "clusters": [{"name": "a", "cluster": cluster}],
        "users": [{"name": "a", "user": {"token": "t"}}],
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        "current-context": "a",
    }
    (tmp_path / "config").write_text(json.dumps(config))
    relay.targets.clear()
    relay.signed.clear()
    base = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "KUBECONFIG": str(tmp_path / "config")}
    done = kubectl.raw([], {**base, **environ}, tmp_path)
    assert (done.returncode, set(relay.targets), set(relay.signed)) == (0, set(asked), set(signed))


def test_groups_stay_apart_through_a_proxy_without_tls(server, opened):
    server.on("/x", {})
    user = UserEntry(impersonate="eve", impersonate_groups=("a", "b"))
    opened(Target("http://kube.lab.test", "", user=user, cluster=ClusterEntry(proxy_url=server.url))).get("/x")
    assert [value for name, value in server.requests[0].lines if name == "impersonate-group"] == ["a", "b"]


@pytest.mark.parametrize(
    ("host", "exempt", "through"),
    [
        ("10.1.2.3:443", "10.0.0.0/8", False),
        ("10.1.2.3:443", "11.0.0.0/8", True),
        ("10.1.2.3:443", "10.1.2.3", False),
        ("10.1.2.3:443", "10.1.2.3:80", True),
        ("10.1.2.3:443", "1.2.3", True),
        ("[fd00::1]:6443", "fd00::/8", False),
        ("[fd00::1]:6443", "[fd00::1]:6443", False),
        ("[fd00::1]:6443", "fd00::1", False),
        ("[fd00::1]:6443", "[fd00::1]:1", True),
        ("[::1]:6443", "", False),
        ("localhost", "", False),
        ("127.8.9.1", "", False),
        ("localhost.test", "", True),
        ("a.test", "a.test:443", False),
        ("a.test", "A.TEST", False),
        ("a.test", ".a.test", True),
        ("b.a.test", "*.a.test", False),
        ("b.a.test", " x, *.A.test:443 ", False),
        ("b.a.test", "a.test:80", True),
        ("xa.test", "a.test", True),
        ("a.test", " , :443, /", True),
        ("a.test", "x,*", False),
    ],
)
def test_what_no_proxy_means(host, exempt, through):
    environ = {"HTTPS_PROXY": "http://proxy.test", "NO_PROXY": exempt}
    chosen = proxy.choose(f"https://{host}", None, environ)
    assert (chosen is not None) == through
    if chosen:
        assert chosen.url == "http://proxy.test:80"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ftp://u:s3cret@h", 'unsupported scheme "ftp", must be http, https, or socks5'),
        ("s3cret", 'unsupported scheme "", must be http, https, or socks5'),
        ("s3cret:x@h", 'unsupported scheme "", must be http, https, or socks5'),
        ("http://u:s3cret@", "it names no host"),
        ("http://u:s3cret@h:port", "it is no address"),
        ("http://u:s3cret@[", "it is no address"),
        ("http://u:s3cret@a b", "it names no host"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_told_without_its_password(text, message):
    for chosen in (
        lambda: connect(Target("http://c.test", "", cluster=ClusterEntry(proxy_url=text))),
        lambda: proxy.parse(text),
    ):
        with pytest.raises(ConfigError) as caught:
            chosen()
        assert caught.value.message == message
    assert "s3cret" not in repr(proxy.parse("http://u:s3cret@h")) + repr(ClusterEntry(proxy_url=text))
    with pytest.raises(ConfigError) as caught:
        proxy.choose("https://c.test", None, {"HTTPS_PROXY": "ftp://u:s3cret@h"})
    assert "s3cret" not in caught.value.message


def test_a_proxy_that_is_not_there(opened):
    for scheme in ("http", "socks5"):
        target = Target("https://c.test", "", cluster=ClusterEntry(proxy_url=f"{scheme}://u:s3cret@127.0.0.1:1"))
        with pytest.raises(Unreachable) as caught:
            opened(target).get("/x")
        assert "s3cret" not in caught.value.message
        assert urlsplit(target.server).hostname


def test_without_pysocks_a_socks_proxy_is_one_line(monkeypatch):
    pytest.importorskip("urllib3.contrib.socks", reason="not installed: pip install PySocks")
    monkeypatch.setitem(sys.modules, "socks", None)
    for module in ("kubectl_kres.cluster.transport.socks", "urllib3.contrib.socks"):
        monkeypatch.delitem(sys.modules, module, raising=False)
        monkeypatch.delattr(sys.modules[module.rpartition(".")[0]], "socks", raising=False)
    with pytest.raises(ConfigError, match=r"^the proxy socks5://h:1080 needs the Python package PySocks$"):
        connect(Target("https://c.test", "", cluster=ClusterEntry(proxy_url="socks5://u:s3cret@h")))


def test_in_a_cgi_program_http_proxy_is_the_visitors():
    environ = {"HTTP_PROXY": "http://evil.test", "HTTPS_PROXY": "http://good.test", "REQUEST_METHOD": "GET"}
    with pytest.raises(ConfigError, match=r"^refusing to use HTTP_PROXY value in CGI environment; see golang.org/"):
        proxy.choose("http://c.test", None, environ)
    assert proxy.choose("https://c.test", None, environ).host == "good.test"
    assert proxy.choose("http://c.test", None, {"REQUEST_METHOD": "GET"}) is None
