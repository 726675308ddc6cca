"""Opens the connection to a target; the only module that uses the kubernetes package, for its transport."""

from __future__ import annotations

import platform
import warnings
from typing import Any
from urllib.parse import urlsplit

from kubectl_kres import __version__
from kubectl_kres.cluster import tls
from kubectl_kres.cluster.connection import Connection, Log
from kubectl_kres.cluster.credentials import Credentials, authority, resolve
from kubectl_kres.cluster.kubeconfig import ConnectOptions, Target
from kubectl_kres.errors import ConfigError

#: Idle connections kept: the reads of one answer run side by side, each with one page ahead.
_KEPT = 10
_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}


def connect(target: Target, options: ConnectOptions | None = None, *, log: Log | None = None) -> Connection:
    """A connection to the target. Nothing is sent yet, but a credential plugin runs here and may ask on the terminal.

    ``log`` gets one line for each request. Raises ConfigError if credentials, certificates or proxy cannot be used.
    """
    credentials = resolve(target)
    pool = _pool(target, credentials)
    headers = {"User-Agent": _agent()}
    headers["Accept-Encoding"] = "identity" if target.cluster.disable_compression else "gzip"
    if credentials.authorization:
        headers["Authorization"] = credentials.authorization
    timeout = options.request_timeout if options else 0.0
    return Connection(pool, target.server, headers, request_timeout=timeout, log=log)


def _agent() -> str:
    machine = platform.machine().lower()
    return f"kubectl-kres/{__version__} ({platform.system().lower()}/{_MACHINES.get(machine, machine)})"


def _pool(target: Target, credentials: Credentials) -> Any:
    """The connection pool of the kubernetes client, with our TLS context and without its retries and refreshing."""
    from kubernetes.client import ApiClient, Configuration  # noqa: PLC0415, a quarter of a second

    cluster = target.cluster
    insecure = bool(cluster.insecure_skip_tls_verify)
    settings = Configuration(host=target.server)
    settings.refresh_api_key_hook = None
    settings.retries = False
    settings.connection_pool_maxsize = _KEPT
    settings.verify_ssl = not insecure
    settings.tls_server_name = cluster.tls_server_name
    _choose_proxy(settings, target)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # urllib3 warns of a missing PySocks before it raises
            pool: Any = ApiClient(settings).rest_client.pool_manager
    except ImportError as error:
        raise ConfigError(f"proxy-url {cluster.proxy_url}: SOCKS needs the Python package PySocks") from error
    except ValueError as error:
        raise ConfigError(f"the proxy {settings.proxy} cannot be used: {error}") from error
    if target.server.startswith("https://"):
        for key in ("ca_certs", "ca_cert_data", "cert_file", "key_file"):
            pool.connection_pool_kw.pop(key, None)
        pool.connection_pool_kw["ssl_context"] = tls.context(authority(cluster), credentials, insecure=insecure)
    if insecure:
        import urllib3  # noqa: PLC0415, loaded already

        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    return pool


def _choose_proxy(settings: Any, target: Target) -> None:
    """``proxy-url`` is always used; a proxy of the environment never for this machine itself."""
    host = urlsplit(target.server).hostname or ""
    if target.cluster.proxy_url:
        settings.proxy, settings.no_proxy = target.cluster.proxy_url, None
    elif host in {"localhost", "::1"} or host.startswith("127."):
        settings.proxy = None
