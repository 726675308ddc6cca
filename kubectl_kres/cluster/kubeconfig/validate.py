"""Refuses entries of a kubeconfig that contradict themselves, in kubectl's words, before anything is run or sent."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.cluster.kubeconfig import files
from kubectl_kres.cluster.kubeconfig.types import ClusterEntry, Exec, UserEntry
from kubectl_kres.cluster.transport import proxy
from kubectl_kres.errors import ConfigError

_V1BETA1 = "client.authentication.k8s.io/v1beta1"


def confirm(cluster: ClusterEntry, cluster_name: str, user: UserEntry, user_name: str) -> None:
    """Raise ConfigError with everything that kubectl finds wrong. Files are opened here, not kept.

    Source: client-go clientcmd DirectClientConfig.ConfirmUsable, validateAuthInfo, validateClusterInfo.
    """
    faults = [*_user(user, user_name), *_cluster(cluster, cluster_name)]
    if len(faults) == 1:
        raise ConfigError(faults[0])
    if faults:
        raise ConfigError(f"Error in configuration: {'; '.join(faults)}")


def _cluster(cluster: ClusterEntry, name: str) -> Iterator[str]:
    if not cluster.server:
        yield f'no server found for cluster "{name}"'
    if cluster.proxy_url:
        try:
            proxy.parse(cluster.proxy_url)
        except ConfigError as error:
            yield f'invalid \'proxy-url\' "{proxy.shown(cluster.proxy_url)}" for cluster "{name}": {error.message}'
    if cluster.certificate_authority and cluster.certificate_authority_data:
        yield (
            f"certificate-authority-data and certificate-authority are both specified for {name}. "
            "certificate-authority-data will override."
        )
    yield from _openable(cluster.certificate_authority, "certificate-authority", name)


def _user(user: UserEntry, name: str) -> Iterator[str]:
    if user.client_certificate or user.client_certificate_data:
        yield from _certificate(user, name)
    if user.exec:
        yield from _exec(user.exec, name, other=user.auth_provider is not None)
    if user.token and (user.username or user.password):
        yield (f"more than one authentication method found for {name}; found [token basicAuth], only one is allowed")
    extras = user.impersonate_uid or user.impersonate_groups or user.impersonate_extra
    if extras and not user.impersonate:
        yield f"requesting uid, groups or user-extra for {name} without impersonating a user"


def _certificate(user: UserEntry, name: str) -> Iterator[str]:
    if user.client_certificate and user.client_certificate_data:
        yield f"client-cert-data and client-cert are both specified for {name}. client-cert-data will override."
    if user.client_key and user.client_key_data:
        yield f"client-key-data and client-key are both specified for {name}; client-key-data will override"
    if not user.client_key and not user.client_key_data:
        yield (
            f"client-key-data or client-key must be specified for {name} to use the clientCert authentication method."
        )
    yield from _openable(user.client_certificate, "client-cert", name)
    yield from _openable(user.client_key, "client-key", name)


def _exec(plugin: Exec, name: str, *, other: bool) -> Iterator[str]:
    if other:
        yield f"authProvider cannot be provided in combination with an exec plugin for {name}"
    for value, what in ((plugin.command, "command"), (plugin.api_version, "apiVersion")):
        if not value:
            yield f"{what} must be specified for {name} to use exec authentication plugin"
    if any(not entry.name for entry in plugin.env or ()):
        yield f"env variable name must be specified for {name} to use exec authentication plugin"
    mode = plugin.interactive_mode or ("IfAvailable" if plugin.api_version == _V1BETA1 else "")
    if not mode:
        yield f"interactiveMode must be specified for {name} to use exec authentication plugin"
    elif mode not in {"Never", "IfAvailable", "Always"}:
        yield f'invalid interactiveMode for {name}: "{mode}"'


def _openable(file: str | None, what: str, owner: str) -> Iterator[str]:
    if not file:
        return
    try:
        files.content(file)
    except OSError as error:
        yield f"unable to read {what} {file} for {owner} due to {files.why(file, error)}"
    except ConfigError as error:
        yield f"unable to read {what} {file} for {owner}: {error.message}"
