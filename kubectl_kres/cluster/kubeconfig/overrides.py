"""Flags laid over the entries of a kubeconfig, in kubectl's order of precedence."""

from __future__ import annotations

from msgspec import structs

from kubectl_kres.cluster.kubeconfig.target import ConnectOptions
from kubectl_kres.cluster.kubeconfig.types import ClusterEntry, UserEntry


def cluster_with(cluster: ClusterEntry, options: ConnectOptions) -> ClusterEntry:
    """The cluster as the flags change it.

    ``--server`` drops the TLS server name of the file. ``--certificate-authority`` and ``--insecure-skip-tls-verify``
    drop all that the file says about whom to trust.
    Source: client-go clientcmd DirectClientConfig.getCluster.
    """
    if options.server:
        cluster = structs.replace(cluster, server=options.server)
    if options.server or options.tls_server_name:
        cluster = structs.replace(cluster, tls_server_name=options.tls_server_name)
    if options.disable_compression:
        cluster = structs.replace(cluster, disable_compression=True)
    if options.insecure_skip_tls_verify or options.certificate_authority:
        cluster = structs.replace(
            cluster,
            insecure_skip_tls_verify=options.insecure_skip_tls_verify,
            certificate_authority=options.certificate_authority,
            certificate_authority_data=None,
        )
    return cluster


def user_with(user: UserEntry, options: ConnectOptions) -> UserEntry:
    """The user as the flags change it.

    A token file stays, and kubectl prefers it to ``--token``. Groups of the flags replace those of the file, extras
    replace those of the same key. Source: client-go clientcmd DirectClientConfig.getAuthInfo and merge.
    """
    if options.client_certificate:
        user = structs.replace(user, client_certificate=options.client_certificate, client_certificate_data=None)
    if options.client_key:
        user = structs.replace(user, client_key=options.client_key, client_key_data=None)
    extra = {**(user.impersonate_extra or {}), **options.impersonate_extra}
    return structs.replace(
        user,
        token=options.token or user.token,
        impersonate=options.impersonate or user.impersonate,
        impersonate_uid=options.impersonate_uid or user.impersonate_uid,
        impersonate_groups=options.impersonate_groups or user.impersonate_groups,
        impersonate_extra=extra,
    )
