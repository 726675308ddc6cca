"""What proves who we are: a kubeconfig's user turned into a header and a client certificate."""

from __future__ import annotations

import base64
import binascii
import json
import time
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from kubectl_kres.cluster import plugin
from kubectl_kres.cluster.entries import AuthProvider, Cluster, User
from kubectl_kres.cluster.kubeconfig import Target
from kubectl_kres.errors import ConfigError

_CONFIG_EXTENSION = "client.authentication.k8s.io/exec"


class Credentials(Struct, frozen=True):
    """``authorization`` is the header's value; certificate and key are PEM. Empty: none. ``repr`` shows nothing."""

    authorization: str = ""
    certificate: bytes = b""
    key: bytes = b""

    def __repr__(self) -> str:
        return "Credentials(…)"


def resolve(target: Target) -> Credentials:
    """The credentials of the target's user; runs its credential plugin if it has one, which may ask on the terminal.

    A token file wins over a token, a token over a plugin. Raises ConfigError for everything that does not yield what
    the kubeconfig promises, so that nothing is ever asked anonymously by accident.
    Source: client-go clientcmd getUserIdentificationPartialConfig, rest.Config.TransportConfig.
    """
    user, name = target.user, target.user_name
    if user.exec and user.auth_provider:
        raise ConfigError(f"more than one authentication method found for {name}; only one is allowed")
    found = Credentials(
        _authorization(user, name),
        read(user.client_certificate_data, user.client_certificate, "client-cert", name),
        read(user.client_key_data, user.client_key, "client-key", name),
    )
    if bool(found.certificate) != bool(found.key):
        missing = "client-key" if found.certificate else "client-certificate"
        raise ConfigError(
            f"{missing}-data or {missing} must be specified for {name} to use the clientCert authentication method."
        )
    if user.exec is None or found.authorization:
        return found
    issued = plugin.run(user.exec, name, _told(target))
    if issued.token:
        found = structs.replace(found, authorization=f"Bearer {_printable(issued.token, name)}")
    if issued.client_certificate_data:
        certificate, key = issued.client_certificate_data.encode(), issued.client_key_data.encode()
        found = structs.replace(found, certificate=certificate, key=key)
    return found


def authority(cluster: Cluster) -> bytes:
    """The certificates that the server's must descend from, as PEM; empty: those of the system."""
    return read(
        cluster.certificate_authority_data, cluster.certificate_authority, "certificate-authority", "the cluster"
    )


def read(data: str | None, file: str | None, what: str, owner: str) -> bytes:
    """The content of a kubeconfig's ``X-data`` or else ``X`` field; empty if neither is set."""
    if data:
        try:
            return base64.b64decode("".join(data.split()), validate=True)
        except binascii.Error as error:
            raise ConfigError(f"{what}-data of {owner} is not base64: {str(error).lower()}") from error
    if not file:
        return b""
    try:
        return Path(file).read_bytes()
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise ConfigError(f"unable to read {what} {file} for {owner} due to open {file}: {why}") from error


def _authorization(user: User, name: str) -> str:
    if user.token_file:
        try:
            token = Path(user.token_file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            why = (getattr(error, "strerror", None) or str(error)).lower()
            raise ConfigError(f"open {user.token_file}: {why}") from error
        if not token:
            raise ConfigError(f"the token file {user.token_file} is empty")
        return f"Bearer {_printable(token, name)}"
    if user.token:
        return f"Bearer {_printable(user.token, name)}"
    if user.username or user.password:
        pair = f"{user.username or ''}:{user.password or ''}".encode()
        return f"Basic {base64.b64encode(pair).decode()}"
    if user.auth_provider:
        return f"Bearer {_printable(_provided(user.auth_provider), name)}"
    return ""


def _printable(token: str, name: str) -> str:
    """A token that can stand in a header."""
    if not token.isascii() or not token.isprintable():
        raise ConfigError(f'the token of user "{name}" holds characters that no header can carry')
    return token


def _provided(provider: AuthProvider) -> str:
    """The stored token of an ``oidc`` user. It is never refreshed here: kubectl does that, and keeps the result."""
    if provider.name != "oidc":
        raise ConfigError(
            f"The {provider.name} auth plugin has been removed.",
            hint="use a client-go credential plugin (exec) instead",
        )
    token = (provider.config or {}).get("id-token", "")
    try:
        middle = token.split(".")[1]
        expires = float(json.loads(base64.urlsafe_b64decode(middle + "=" * (-len(middle) % 4)))["exp"])
    except (IndexError, KeyError, TypeError, ValueError):
        expires = 0.0
    if expires <= time.time():
        raise ConfigError(
            "the id-token of auth-provider oidc is missing or has expired",
            hint="run any kubectl command with this context first: it fetches a new one",
        )
    return token


def _told(target: Target) -> dict[str, Any]:
    """What a plugin is told of the cluster. Source: client.authentication.k8s.io Cluster."""
    cluster = target.cluster
    config = [entry.extension for entry in cluster.extensions or () if entry.name == _CONFIG_EXTENSION]
    told = {
        "server": target.server,
        "tls-server-name": cluster.tls_server_name,
        "insecure-skip-tls-verify": cluster.insecure_skip_tls_verify,
        "certificate-authority-data": base64.b64encode(authority(cluster)).decode(),
        "proxy-url": cluster.proxy_url,
        "disable-compression": cluster.disable_compression,
        "config": config[0] if config else None,
    }
    return {key: value for key, value in told.items() if value}
