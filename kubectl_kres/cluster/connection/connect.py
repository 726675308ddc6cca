"""Opens the connection to a target: urllib3's pool with our TLS context and proxy, without retries.

The TLS context: whom we trust and the certificate that we show.
"""

from __future__ import annotations

import os
import platform
import re
import ssl
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import urllib3
from urllib3 import connectionpool
from urllib3.util import SKIP_HEADER, make_headers

from kubectl_kres import __version__
from kubectl_kres.cluster.auth.credentials import Credentials, authority, headers
from kubectl_kres.cluster.auth.refresh import Identity
from kubectl_kres.cluster.connection.api_connection import Connection
from kubectl_kres.cluster.kubeconfig.current_context import ConnectOptions, Target
from kubectl_kres.cluster.transport import proxy
from kubectl_kres.cluster.transport.deadline import TimedConnection, TimedTlsConnection
from kubectl_kres.cluster.transport.proxy import Proxy
from kubectl_kres.cluster.transport.trace import Log, Trace
from kubectl_kres.errors import ConfigError

#: Where systems keep the certificates that they trust. Source: Go crypto/x509 root_linux.go, root_bsd.go.
_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/tls/cacert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
)

_PEM = re.compile(rb"-----BEGIN [A-Z0-9 ]+-----.+?-----END [A-Z0-9 ]+-----", re.DOTALL)


def context(authority: bytes, credentials: Credentials, *, insecure: bool) -> ssl.SSLContext:
    """Return a context that trusts ``authority`` (PEM; empty: the system's), and nothing at all is checked if
    ``insecure``.

    It judges certificates as Go does: any certificate given may be the root of trust, a CA needs no key usage, names
    are only looked up in subjectAltName. Raises ConfigError if a certificate or key cannot be used.
    """
    if insecure and authority:
        raise ConfigError("specifying a root certificates file with the insecure flag is not allowed")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.hostname_checks_common_name = False
    # Python 3.13 adds strictness that refuses chains of many clusters; Go has none of it.
    context.verify_flags = context.verify_flags & ~ssl.VERIFY_X509_STRICT | ssl.VERIFY_X509_PARTIAL_CHAIN
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif authority:
        _load_authority(context, authority)
    else:
        _trust_the_system(context)
    if credentials.certificate:
        _load_client_certificate(context, credentials)
    return context


def _load_authority(context: ssl.SSLContext, authority: bytes) -> None:
    blocks = b"\n".join(_PEM.findall(authority))
    try:
        context.load_verify_locations(cadata=blocks.decode("ascii"))
    except (ssl.SSLError, ValueError) as error:
        raise ConfigError("unable to load root certificates: unable to parse bytes as PEM block") from error


def _trust_the_system(context: ssl.SSLContext) -> None:
    """Trust whom the system trusts, also where OpenSSL was built for another system that keeps it elsewhere."""
    context.load_default_certs()
    set_by_user = {"SSL_CERT_FILE", "SSL_CERT_DIR"} & set(os.environ)
    if os.name == "nt" or set_by_user or ssl.get_default_verify_paths().cafile:
        return
    bundle = next((name for name in _BUNDLES if Path(name).is_file()), "")
    if bundle:
        context.load_verify_locations(bundle)


def _load_client_certificate(context: ssl.SSLContext, credentials: Credentials) -> None:
    with _file(credentials.certificate + b"\n" + credentials.key) as name:
        try:
            # The empty password keeps OpenSSL from asking for one on the terminal.
            context.load_cert_chain(name, password="")
        except (ssl.SSLError, ValueError) as error:
            reason = getattr(error, "reason", None) or str(error)
            if b"ENCRYPTED" in credentials.key:
                reason = "the key is encrypted, and nobody is asked for its password"
            raise ConfigError(
                f"the client certificate and key cannot be used: {reason.replace('_', ' ').lower()}"
            ) from error


@contextmanager
def _file(content: bytes) -> Iterator[str]:
    """The name of a file with this content: in memory where the system can, else gone as soon as it was read."""
    if hasattr(os, "memfd_create") and Path("/proc/self/fd").is_dir():
        handle = os.memfd_create("kres")
        try:
            os.write(handle, content)
            yield f"/proc/self/fd/{handle}"
        finally:
            os.close(handle)
        return
    handle, name = tempfile.mkstemp()
    try:
        os.write(handle, content)
        os.close(handle)
        yield name
    finally:
        Path(name).unlink()


#: Idle connections kept: the reads of one answer run side by side, each with one page ahead.
_KEPT = 10
_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}


class _PlainPool(connectionpool.HTTPConnectionPool):
    ConnectionCls = TimedConnection


class _EncryptedPool(connectionpool.HTTPSConnectionPool):
    ConnectionCls = TimedTlsConnection


class _ProxyManager(urllib3.ProxyManager):
    def _set_proxy_headers(self, url: str, headers: Any = None) -> Any:
        """Return the headers as they are: urllib3 would join lines of the same name, such as several groups."""
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
    """Return a connection to the target. Nothing is sent yet, but a credential plugin runs here and may ask on the
    terminal.

    ``log`` gets what ``level`` of ``-v`` tells of each request. Raises ConfigError if credentials, certificates or
    proxy cannot be used.
    """
    cluster = target.cluster
    proxy_used = proxy.choose(target.server, cluster.proxy_url, environ)
    insecure = bool(cluster.insecure_skip_tls_verify)
    trusted = authority(cluster) if target.server.startswith("https://") else b""
    if insecure:
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)

    def dial(credentials: Credentials) -> Any:
        settings: dict[str, Any] = {"maxsize": _KEPT}
        if target.server.startswith("https://"):
            settings["ssl_context"] = context(trusted, credentials, insecure=insecure)
            if cluster.tls_server_name:
                settings["server_hostname"] = cluster.tls_server_name
        return _pool(proxy_used, settings)

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


def _pool(proxy_used: Proxy | None, settings: dict[str, Any]) -> Any:
    """Return the connections, straight or through the proxy, which is trusted as the server is."""
    if proxy_used is None:
        pool: Any = urllib3.PoolManager(**settings)
    elif proxy_used.scheme.startswith("socks"):
        return _socks(proxy_used, settings)
    else:
        signed = {}
        if proxy_used.username is not None or proxy_used.password is not None:
            signed = make_headers(proxy_basic_auth=f"{proxy_used.username or ''}:{proxy_used.password or ''}")
        context = settings.get("ssl_context") if proxy_used.scheme == "https" else None
        pool = _ProxyManager(proxy_used.url, proxy_headers=signed, proxy_ssl_context=context, **settings)
    pool.pool_classes_by_scheme = {"http": _PlainPool, "https": _EncryptedPool}
    return pool


def _socks(proxy_used: Proxy, settings: dict[str, Any]) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # urllib3 warns of a missing PySocks before it raises
            from kubectl_kres.cluster.transport import socks  # noqa: PLC0415, rarely needed
    except ImportError as error:
        raise ConfigError(f"the proxy {proxy_used.url} needs the Python package PySocks") from error
    return socks.pool(proxy_used, settings)
