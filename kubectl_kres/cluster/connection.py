"""One connection to an API server: GETs with their time limit, retries and warnings, and the question who we are.

It goes through urllib3's pool with our own TLS context (whom we trust, and the certificate that we show) and proxy;
urllib3 itself retries nothing.
"""

from __future__ import annotations

import base64
import os
import platform
import re
import ssl
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import Any, Protocol, Self
from urllib.parse import urlencode

import msgspec
import urllib3
from msgspec import Struct, structs
from urllib3 import connectionpool, exceptions
from urllib3.util import SKIP_HEADER, make_headers

from kubectl_kres import __version__
from kubectl_kres.cluster.credentials import Credentials, Identity, authority, headers
from kubectl_kres.cluster.kubeconfig.current_context import ConnectOptions, Target
from kubectl_kres.cluster.transport import body as bodies
from kubectl_kres.cluster.transport import proxy
from kubectl_kres.cluster.transport import response as errors
from kubectl_kres.cluster.transport.body import Stream
from kubectl_kres.cluster.transport.deadline import TimedConnection, TimedTlsConnection
from kubectl_kres.cluster.transport.proxy import Proxy
from kubectl_kres.cluster.transport.response import Response, body, error, one_line
from kubectl_kres.cluster.transport.trace import Log, Trace, mask_secrets
from kubectl_kres.errors import ConfigError, Unauthenticated
from kubectl_kres.model.kinds import OLDER

#: Seconds to wait for a connection, whatever the time limit of the request.
CONNECT_TIMEOUT = 10.0
#: How often one request is sent at most; once more with new credentials.
TRIES = 3
#: A server that asks for a longer pause than this many seconds is not waited for.
LONGEST_PAUSE = 30.0
#: Seconds; whoever is asked to wait longer is reported so many.
_AGES = 1e9
#: Shorter texts are not looked for in what a server says: they would be found in everything.
_SHORTEST_SECRET = 6

#: ``Warning`` headers; Kubernetes uses code 299 only. Source: apimachinery net.ParseWarningHeaders.
_WARNING = re.compile(r'299 \S+ "((?:[^"\\]|\\.)*)"')

#: The one thing that is ever posted: nothing is stored by it.
_REVIEW = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
_QUESTION = b'{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}'

Query = Iterable[tuple[str, str]]
#: A pool of connections that shows the certificate of these credentials.
Dial = Callable[[Credentials], Any]


class CredentialSource(Protocol):
    """Credentials that may change while we are connected; see ``identity.Identity``."""

    def current(self) -> Credentials: ...

    def renew_credentials(self, refused: Credentials) -> Credentials | None: ...


class Connection:
    """Sends GETs to ``server``. Threads may share it. ``request_timeout`` in seconds, retries included; 0: none."""

    def __init__(
        self,
        server: str,
        credential_source: CredentialSource,
        dial: Dial,
        headers: Iterable[tuple[str, str]],
        *,
        request_timeout: float = 0.0,
        trace: Trace | None = None,
    ) -> None:
        """Get the first credentials. Raises ConfigError if there are none, or if they cannot be used."""
        self.server = server
        self._credential_source, self._dial = credential_source, dial
        self._headers = tuple(headers)
        self._timeout = request_timeout
        self._trace = trace or Trace()
        #: Hears the code and the seconds of each wait that the server asked for, from several threads.
        self.waiting: Callable[[int, float], None] = lambda _code, _seconds: None
        self._warnings: dict[str, None] = {}
        self._served: dict[str, str] = {}
        self._lock = Lock()
        self._ceiling = bodies.Ceiling()
        self._credentials = credential_source.current()
        self._pool = dial(self._credentials)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what the server's ``Warning`` headers said so far, each once."""
        return tuple(self._warnings)

    def close(self) -> None:
        """Close the idle connections."""
        self._pool.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, path: str, query: Query = (), accept: str = "application/json") -> bytes:
        """Return the JSON at ``path``. Raises a StatusError if the server refuses, else as ``ask`` does."""
        return body(self.request(path, query, accept))

    def request(self, path: str, query: Query = (), accept: str = "application/json") -> Response:
        """Return the server's answer, whatever its code, its body decompressed.

        429 and 503 are tried again where the server says when, a connection that broke before any answer at once, at
        most three times in total and never beyond the time limit. After a 401 the credential plugin runs again, and the
        request is sent once more with what it gave. Kinds of a version that the server lacks are asked for in their
        older one. Raises Unreachable, also for an answer that was cut off, TimedOut, and ConfigError if the plugin
        fails.
        """
        text = urlencode(tuple(query))
        rest = f"?{text}" if text else ""
        root = _root(path)
        if root not in OLDER:
            return self._answer("GET", f"{path}{rest}", accept)
        asked = self._served.get(root, root)
        answer = self._answer("GET", f"{path.replace(root, asked, 1)}{rest}", accept)
        # Another thread may have found the older version since this one asked for the newer.
        if answer.code == 404 and asked == root and self._served.get(root) != root:
            older = self._answer("GET", f"{path.replace(root, OLDER[root], 1)}{rest}", accept)
            if older.code != 404:
                self._served[root] = OLDER[root]
                return older
        elif answer.code == 200:
            # Who may not read a kind is told so before it is known whether that is there.
            self._served.setdefault(root, asked)
        return answer

    def _in_served_version(self, path: str) -> str:
        """Return the path in the version that the server turned out to have."""
        root = _root(path)
        return path.replace(root, self._served.get(root, root), 1)

    def watch(self, path: str, query: Query, silence: float) -> Stream:
        """Return what the server says from now on. ``silence``: so many seconds without a byte are taken for a broken
        line.

        New credentials are got after a 401, nothing else is tried again. Raises a StatusError if the server refuses,
        Unreachable, TimedOut, and ConfigError if the credential plugin fails.
        """
        url = f"{self.server}{self._in_served_version(path)}?{urlencode(tuple(query))}"
        started, credentials = monotonic(), self._credential_source.current()
        response = self._open_watch(url, credentials, silence)
        if response.status == 401 and (renewed := self._renew_credentials(credentials)) is not None:
            response.close()
            credentials = renewed
            response = self._open_watch(url, credentials, silence)
        if not 200 <= response.status < 300:
            raise error(self._read_answer(response, "GET", url, credentials, started))
        self._trace_answer(response, "GET", url, credentials, started)
        return Stream(response, silence)

    def _open_watch(self, url: str, credentials: Credentials, silence: float) -> Any:
        try:
            return self._send_request("GET", url, "application/json", None, credentials, monotonic() + silence)
        except (exceptions.HTTPError, OSError) as fault:
            raise errors.connection_error(fault, self.server) from fault

    def ping(self, seconds: float) -> None:
        """Ask for anything, once. Raises Unreachable or TimedOut if no answer, whatever it says, comes in time."""
        path = f"{self.server}/version"
        try:
            self._send_once(
                "GET", path, "application/json", None, self._credential_source.current(), monotonic() + seconds
            )
        except (exceptions.HTTPError, OSError) as fault:
            raise errors.connection_error(fault, self.server) from fault

    def whoami(self) -> Response:
        """Return the server's answer to a SelfSubjectReview. Raises as ``ask`` does."""
        return self._answer("POST", _REVIEW, "application/json", _QUESTION)

    def _answer(self, method: str, path: str, accept: str, content: bytes | None = None) -> Response:
        deadline = monotonic() + self._timeout if self._timeout else float("inf")
        credentials = self._credential_source.current()

        def send(shown: Credentials) -> Response:
            return self._send_with_retries(method, self.server + path, accept, content, shown, deadline)

        answer = send(credentials)
        if answer.code != 401:
            return answer
        renewed = self._renew_credentials(credentials)
        return answer if renewed is None else send(renewed)

    def _renew_credentials(self, refused: Credentials) -> Credentials | None:
        """Return other credentials than those that were refused; None if there are none."""
        try:
            return self._credential_source.renew_credentials(refused)
        except ConfigError as fault:
            self._warnings.setdefault(f"refreshing credentials: {fault.message}")
            return None

    def _send_with_retries(
        self, method: str, url: str, accept: str, content: bytes | None, credentials: Credentials, deadline: float
    ) -> Response:
        for tries_left in reversed(range(TRIES)):
            try:
                answer = self._send_once(method, url, accept, content, credentials, deadline)
            except (exceptions.HTTPError, OSError) as fault:
                if tries_left and errors.before_answer(fault):
                    continue
                raise errors.connection_error(fault, self.server) from fault
            pause = answer.retry_after if answer.code in {429, 503} else -1.0
            if not tries_left or not 0 <= pause <= LONGEST_PAUSE or monotonic() + pause >= deadline:
                return answer
            self.waiting(answer.code, pause)
            sleep(pause)
        raise AssertionError(TRIES)

    def _send_once(
        self, method: str, url: str, accept: str, content: bytes | None, credentials: Credentials, deadline: float
    ) -> Response:
        started = monotonic()
        response = self._send_request(method, url, accept, content, credentials, deadline)
        return self._read_answer(response, method, url, credentials, started)

    def _send_request(
        self, method: str, url: str, accept: str, content: bytes | None, credentials: Credentials, deadline: float
    ) -> Any:
        """Return the answer, its body not read yet."""
        left = deadline - monotonic()
        if left <= 0:
            raise errors.timed_out(reading=False)
        headers = urllib3.HTTPHeaderDict(self._headers)
        headers["Accept"] = accept
        if credentials.authorization:
            headers["Authorization"] = credentials.authorization
        if content is not None:
            headers["Content-Type"] = "application/json"
        self._trace.request(method, url, headers)
        limit = None if left == float("inf") else left
        response = self._pool_for(credentials).request(
            method,
            url,
            body=content,
            headers=headers,
            timeout=urllib3.Timeout(total=limit, connect=min(CONNECT_TIMEOUT, left)),
            retries=False,
            redirect=False,
            preload_content=False,
            decode_content=False,
        )
        self._note(response.headers.getlist("Warning"), _secrets(credentials))
        return response

    def _read_answer(self, response: Any, method: str, url: str, credentials: Credentials, started: float) -> Response:
        """Return the answer with its body."""
        result = bodies.read(response, self._ceiling)
        self._trace_answer(response, method, url, credentials, started)
        kind = response.headers.get("Content-Type", "")
        answer = Response(response.status, result, kind, _pause(response.headers.get("Retry-After", "")))
        return answer if answer.ok else _mask_secrets(answer, _secrets(credentials))

    def _trace_answer(self, response: Any, method: str, url: str, credentials: Credentials, started: float) -> None:
        status = f"{response.status} {response.reason}"
        self._trace.answer(method, url, status, monotonic() - started, response.headers, _secrets(credentials))

    def _pool_for(self, credentials: Credentials) -> Any:
        """Return the pool whose connections show this certificate: another certificate needs other connections."""
        with self._lock:
            if (credentials.certificate, credentials.key) != (self._credentials.certificate, self._credentials.key):
                self._pool = self._dial(credentials)
            self._credentials = credentials
            return self._pool

    def _note(self, headers: Iterable[str], secrets: tuple[str, ...]) -> None:
        for header in headers:
            for text in _WARNING.findall(header):
                self._warnings.setdefault(one_line(mask_secrets(re.sub(r"\\(.)", r"\1", text), secrets)))


def _root(path: str) -> str:
    """Return the group and version of a path, as ``/apis/apps/v1``."""
    return "/".join(path.split("/")[:4])


def _pause(text: str) -> float:
    return min(float(text), _AGES) if text.isascii() and text.isdigit() else -1.0


def _secrets(credentials: Credentials) -> tuple[str, ...]:
    """Return what must not be repeated if a server, or a proxy before it, sends our own headers back."""
    scheme, _, sent = credentials.authorization.partition(" ")
    password = base64.b64decode(sent).decode().partition(":")[2] if scheme == "Basic" else ""
    return tuple(secret for secret in (sent, password) if len(secret) >= _SHORTEST_SECRET)


def _mask_secrets(answer: Response, secrets: tuple[str, ...]) -> Response:
    """Return a refusal without our own secrets in it."""
    content = answer.body
    for secret in secrets:
        content = content.replace(secret.encode(), b"<masked>")
    return structs.replace(answer, body=content)


class UserInfo(Struct, frozen=True):
    """A user as the server knows it. Source: authentication.k8s.io/v1 UserInfo."""

    username: str | None = None
    groups: tuple[str, ...] | None = None


class _Status(Struct, frozen=True, rename="camel"):
    user_info: UserInfo | None = None


class _Review(Struct, frozen=True):
    status: _Status | None = None


_DECODER = msgspec.json.Decoder(_Review)


def whoami(connection: Connection) -> UserInfo | None:
    """Return the user; None if the server does not say or may not be asked. Raises Unreachable, TimedOut,
    Unauthenticated.
    """
    answer = connection.whoami()
    if answer.code == 401:
        raise Unauthenticated("the server has asked for the client to provide credentials", code=401)
    if not answer.ok:
        return None
    try:
        review = _DECODER.decode(answer.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    person = review.status.user_info if review.status else None
    return person if person and person.username else None


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
