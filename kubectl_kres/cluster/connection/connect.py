"""Opens the connection to a target: urllib3's pool with our TLS context and proxy, without retries."""

from __future__ import annotations

import os
import platform
import warnings
from collections.abc import Mapping
from typing import Any

import urllib3
from urllib3 import connectionpool
from urllib3.util import SKIP_HEADER, make_headers

from kubectl_kres import __version__
from kubectl_kres.cluster.auth.credentials import Credentials, authority
from kubectl_kres.cluster.auth.impersonation import headers
from kubectl_kres.cluster.auth.refresh import Identity
from kubectl_kres.cluster.connection import tls
from kubectl_kres.cluster.connection.api_connection import Connection
from kubectl_kres.cluster.kubeconfig.target import ConnectOptions, Target
from kubectl_kres.cluster.transport import proxy
from kubectl_kres.cluster.transport.deadline import TimedConnection, TimedTlsConnection
from kubectl_kres.cluster.transport.proxy import Proxy
from kubectl_kres.cluster.transport.trace import Log, Trace
from kubectl_kres.errors import ConfigError

#: Idle connections kept: the reads of one answer run side by side, each with one page ahead.
_KEPT = 10
_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}


class _Plain(connectionpool.HTTPConnectionPool):
    ConnectionCls = TimedConnection


class _Encrypted(connectionpool.HTTPSConnectionPool):
    ConnectionCls = TimedTlsConnection


class _Through(urllib3.ProxyManager):
    def _set_proxy_headers(self, url: str, headers: Any = None) -> Any:
        """The headers as they are: urllib3 would join lines of the same name, such as several groups."""
        del url
        return headers


def connect(
    target: Target,
    options: ConnectOptions | None = None,
    *,
    log: Log | None = None,
    level: int = 6,
    environ: Mapping[str, str] = os.environ,
) -> Connection:
    """A connection to the target. Nothing is sent yet, but a credential plugin runs here and may ask on the terminal.

    ``log`` gets what ``level`` of ``-v`` tells of each request. Raises ConfigError if credentials, certificates or
    proxy cannot be used.
    """
    cluster = target.cluster
    way = proxy.choose(target.server, cluster.proxy_url, environ)
    insecure = bool(cluster.insecure_skip_tls_verify)
    trusted = authority(cluster) if target.server.startswith("https://") else b""
    if insecure:
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)

    def dial(credentials: Credentials) -> Any:
        settings: dict[str, Any] = {"maxsize": _KEPT}
        if target.server.startswith("https://"):
            settings["ssl_context"] = tls.context(trusted, credentials, insecure=insecure)
            if cluster.tls_server_name:
                settings["server_hostname"] = cluster.tls_server_name
        return _pool(way, settings)

    sent = [
        ("User-Agent", _agent()),
        ("Accept-Encoding", SKIP_HEADER if cluster.disable_compression else "gzip"),
        *headers(target.user),
    ]
    timeout = options.request_timeout if options else 0.0
    return Connection(
        target.server,
        Identity(target, plugin_seconds=timeout),
        dial,
        sent,
        request_timeout=timeout,
        trace=Trace(log, level),
    )


def _agent() -> str:
    machine = platform.machine().lower()
    return f"kubectl-kres/{__version__} ({platform.system().lower()}/{_MACHINES.get(machine, machine)})"


def _pool(way: Proxy | None, settings: dict[str, Any]) -> Any:
    """The connections, straight or through the proxy, which is trusted as the server is."""
    if way is None:
        pool: Any = urllib3.PoolManager(**settings)
    elif way.scheme.startswith("socks"):
        return _socks(way, settings)
    else:
        signed = {}
        if way.username is not None or way.password is not None:
            signed = make_headers(proxy_basic_auth=f"{way.username or ''}:{way.password or ''}")
        context = settings.get("ssl_context") if way.scheme == "https" else None
        pool = _Through(way.url, proxy_headers=signed, proxy_ssl_context=context, **settings)
    pool.pool_classes_by_scheme = {"http": _Plain, "https": _Encrypted}
    return pool


def _socks(way: Proxy, settings: dict[str, Any]) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # urllib3 warns of a missing PySocks before it raises
            from kubectl_kres.cluster.transport import socks  # noqa: PLC0415, rarely needed
    except ImportError as error:
        raise ConfigError(f"the proxy {way.url} needs the Python package PySocks") from error
    return socks.pool(way, settings)
