"""Credentials: a kubeconfig's user as header and client certificate, as somebody else if asked for, kept up to date."""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Callable, Iterator
from threading import Lock
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from kubectl_kres.cluster.kubeconfig import files
from kubectl_kres.cluster.kubeconfig.current_context import Target
from kubectl_kres.cluster.kubeconfig.files import AuthProvider, ClusterEntry, UserEntry
from kubectl_kres.cluster.transport.response import one_line
from kubectl_kres.errors import ConfigError

if TYPE_CHECKING:
    from kubectl_kres.cluster.exec_plugin import IssuedCredential

_EXTRA = "Impersonate-Extra-"
#: What must not stand in the name of a header. Source: client-go transport headerKeyEscape.
_OTHER = re.compile(rb"[^!#$&'*+.0-9A-Z^_`a-z|~-]")
_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f]")


def headers(user: UserEntry) -> Iterator[tuple[str, str]]:
    """Name and value of each header, one for each group and each value of an extra; none without impersonation.

    Raises ConfigError for what no header can carry. Source: client-go transport impersonatingRoundTripper.
    """
    if not user.impersonate:
        return
    yield _header("Impersonate-User", user.impersonate)
    if user.impersonate_uid:
        yield _header("Impersonate-Uid", user.impersonate_uid)
    for group in user.impersonate_groups or ():
        yield _header("Impersonate-Group", group)
    for key, values in (user.impersonate_extra or {}).items():
        name = _EXTRA + _OTHER.sub(lambda match: b"%%%02X" % ord(match[0]), key.encode()).decode()
        for value in values:
            yield _header(name, value)


def _header(name: str, value: str) -> tuple[str, str]:
    return name, encode_header_value(value, name)


def encode_header_value(value: str, name: str) -> str:
    """Return the value as http.client sends it: in UTF-8. Raises ConfigError, which does not show it, for control
    characters.

    Source: golang.org/x/net/http/httpguts ValidHeaderFieldValue.
    """
    if _CONTROL.search(value):
        raise ConfigError(f'Unable to connect to the server: net/http: invalid header field value for "{name}"')
    return value.strip(" \t").encode("utf-8", "surrogatepass").decode("latin-1")


#: What to use instead of the providers that kubectl has removed.
_REMOVED = {
    "gcp": 'use the "gke-gcloud-auth-plugin" kubectl/client-go credential plugin instead',
    "azure": "use the https://github.com/Azure/kubelogin kubectl/client-go credential plugin instead",
}
_CONFIG_EXTENSION = "client.authentication.k8s.io/exec"


class Credentials(Struct, frozen=True):
    """``authorization`` is the header's value; certificate and key are PEM. Empty: none. ``repr`` shows nothing."""

    authorization: str = ""
    certificate: bytes = b""
    key: bytes = b""

    def __repr__(self) -> str:
        return "Credentials(…)"


def kubeconfig_credentials(target: Target) -> Credentials:
    """Return what the kubeconfig itself says: a header, empty if a token file or a plugin gives it, and a certificate.

    Raises ConfigError for everything that does not yield what the kubeconfig promises, so that nothing is ever asked
    anonymously by accident.
    Source: client-go clientcmd getUserIdentificationPartialConfig, rest.Config.TransportConfig.
    """
    user, name = target.user, target.user_name
    if user.token_file and user.username:
        raise ConfigError("username/password or bearer token may be set, but not both")
    if user.auth_provider:
        _check_provider(user.auth_provider)
    certificate = read(user.client_certificate_data, user.client_certificate, "client-cert", name)
    if not certificate:
        return Credentials(_authorization(user))
    return Credentials(
        _authorization(user), certificate, read(user.client_key_data, user.client_key, "client-key", name)
    )


def bearer(token: str) -> str:
    """Return the value of the header. Raises ConfigError for a token that no header can carry, without showing it."""
    return encode_header_value(f"Bearer {token}", "Authorization")


def plugin_credentials(answer: IssuedCredential, credentials: Credentials) -> Credentials:
    """Return what a plugin handed out, over what is there already."""
    authorization = bearer(answer.token) if answer.token else credentials.authorization
    if not answer.client_certificate_data:
        return structs.replace(credentials, authorization=authorization)
    return Credentials(authorization, answer.client_certificate_data.encode(), (answer.client_key_data or "").encode())


def token_in(file: str) -> str:
    """Return the token in a file, without the blanks around it. Raises ConfigError if there is none."""
    try:
        token = files.content(file).decode().strip()
    except OSError as error:
        raise ConfigError(files.file_error_text(file, error)) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f'the token file "{file}" is no text') from error
    if not token:
        raise ConfigError(f'read empty token from file "{file}"')
    return token


def authority(cluster: ClusterEntry) -> bytes:
    """Return the certificates that the server's must descend from, as PEM; empty: those of the system."""
    return read(
        cluster.certificate_authority_data, cluster.certificate_authority, "certificate-authority", "the cluster"
    )


def read(data: str | None, file: str | None, what: str, owner: str) -> bytes:
    """Return the content of a kubeconfig's ``X-data`` or else ``X`` field; empty if neither is set."""
    if data:
        try:
            return files.decode_data(data)
        except ValueError as error:
            raise ConfigError(f"{what}-data of {owner} is not base64") from error
    if not file:
        return b""
    try:
        return files.content(file)
    except OSError as error:
        raise ConfigError(
            f"unable to read {what} {file} for {owner} due to {files.file_error_text(file, error)}"
        ) from error


def _authorization(user: UserEntry) -> str:
    if user.token:
        return bearer(user.token)
    if user.username:  # a password alone is none, says client-go transport HasBasicAuth
        pair = f"{user.username}:{user.password or ''}".encode()
        return f"Basic {base64.b64encode(pair).decode()}"
    if user.auth_provider and not user.token_file:
        return bearer(_read_id_token(user.auth_provider))
    return ""


def _check_provider(provider: AuthProvider) -> None:
    """Raise ConfigError for the providers that kubectl has no more. Source: kubectl's own words."""
    if provider.name == "oidc":
        return
    if provider.name in _REMOVED:
        raise ConfigError(f"The {provider.name} auth plugin has been removed.", hint=_REMOVED[provider.name])
    raise ConfigError(f'no Auth Provider found for name "{one_line(provider.name)}"')


def _read_id_token(provider: AuthProvider) -> str:
    """Return the stored token of an ``oidc`` user. It is never refreshed here: kubectl does that, and keeps the
    result.
    """
    token = (provider.config or {}).get("id-token", "")
    try:
        middle = token.split(".")[1]
        expires = float(json.loads(base64.urlsafe_b64decode(middle + "=" * (-len(middle) % 4)))["exp"])
    except (IndexError, KeyError, TypeError, ValueError, RecursionError):
        expires = 0.0
    if expires <= time.time():
        raise ConfigError(
            "the id-token of auth-provider oidc is missing or has expired",
            hint="run any kubectl command with this context first: it fetches a new one",
        )
    return token


def cluster_info(target: Target) -> dict[str, Any]:
    """Return what a plugin is reported of the cluster. Source: client.authentication.k8s.io Cluster."""
    cluster = target.cluster
    config = [entry.extension for entry in cluster.extensions or () if entry.name == _CONFIG_EXTENSION]
    texts = {
        "server": target.server,
        "tls-server-name": cluster.tls_server_name,
        "insecure-skip-tls-verify": cluster.insecure_skip_tls_verify,
        "certificate-authority-data": base64.b64encode(authority(cluster)).decode(),
        "proxy-url": cluster.proxy_url,
        "disable-compression": cluster.disable_compression,
        "config": config[0] if config else None,
    }
    return {key: value for key, value in texts.items() if value}


#: Seconds for which the content of a token file counts. Source: client-go transport NewCachedFileTokenSource.
_FILE_PERIOD = 50.0
_FOREVER = float("inf")


class Identity:
    """The credentials of a target. Threads may share it; a plugin runs once at a time.

    A token file wins over a token, which counts while the file cannot be read. A plugin is only run for a user without
    token, password and certificate. Source: client-go transport bearerAuthRoundTripper, exec UpdateTransportConfig.
    """

    def __init__(self, target: Target, now: Callable[[], float] = time.time, *, plugin_seconds: float = 0.0) -> None:
        """``plugin_seconds``: what a plugin may take; 0: any time.

        Raises ConfigError for what the kubeconfig promises and does not yield. No plugin runs yet.
        """
        self._target, self._now, self._plugin_seconds = target, now, plugin_seconds
        self._fixed = kubeconfig_credentials(target)
        self._file = target.user.token_file or ""
        fixed = self._fixed.authorization or self._fixed.certificate or self._file
        self._plugin = None if fixed else target.user.exec
        self._lock = Lock()
        self._current: Credentials | None = None
        self._expires_at = _FOREVER

    def current(self) -> Credentials:
        """Return the credentials for a request that is sent now; may run a plugin, which may ask on the terminal.

        Raises ConfigError if there are none.
        """
        with self._lock:
            if self._current is None or self._now() > self._expires_at:
                self._current = self._load_credentials()
            return self._current

    def renew_credentials(self, refused: Credentials) -> Credentials | None:
        """Return the credentials to try after a 401: a plugin's new ones, or what the token file holds by now.

        None if there are none but those that were refused. Raises ConfigError if the plugin fails.
        """
        with self._lock:
            if self._file:
                self._current = self._read()
                return self._current if self._current != refused else None
            if self._plugin is None:
                return None
            if self._current is refused:
                self._current = self._load_credentials()
            return self._current

    def _load_credentials(self) -> Credentials:
        if self._file:
            return self._read()
        if self._plugin is None:
            return self._fixed
        from kubectl_kres.cluster import exec_plugin  # noqa: PLC0415 - it starts programs, which few users have

        target = self._target
        texts, seconds = cluster_info(target), self._plugin_seconds
        answer = exec_plugin.run(self._plugin, target.user_name, texts, target.policy, seconds)
        expires = answer.expiration_timestamp
        self._expires_at = expires.timestamp() if expires else _FOREVER
        return plugin_credentials(answer, self._fixed)

    def _read(self) -> Credentials:
        """Return what the token file holds now; while it cannot be read, what was known before."""
        try:
            token = token_in(self._file)
        except ConfigError:
            known = self._current or (self._fixed if self._fixed.authorization else None)
            if known is None:
                raise
            return known
        self._expires_at = self._now() + _FILE_PERIOD
        return Credentials(bearer(token), self._fixed.certificate, self._fixed.key)
