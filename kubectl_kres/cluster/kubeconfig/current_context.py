"""Where a connection leads: server, user and namespace of the kubeconfig or the pod, with flags laid over it as kubectl
does.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct, structs

from kubectl_kres.cluster.kubeconfig import exec_policy, files
from kubectl_kres.cluster.kubeconfig.exec_policy import ExecPolicy
from kubectl_kres.cluster.kubeconfig.files import ClusterEntry, Context, Exec, MergedKubeconfig, UserEntry
from kubectl_kres.cluster.transport import proxy
from kubectl_kres.cluster.transport.response import one_line
from kubectl_kres.errors import ConfigError

__all__ = ["SERVICE_ACCOUNT", "ConnectOptions", "Target", "cluster_with", "confirm", "load", "user_with"]


class ConnectOptions(Struct, frozen=True):
    """kubectl's flags of the same names. Empty: as the kubeconfig says. ``request_timeout`` in seconds, 0: none.

    Its ``repr`` shows nothing.
    """

    kubeconfig: str = ""
    context: str = ""
    namespace: str = ""
    request_timeout: float = 0.0
    cluster: str = ""
    user: str = ""
    server: str = ""
    token: str = ""
    client_certificate: str = ""
    client_key: str = ""
    certificate_authority: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    disable_compression: bool = False
    impersonate: str = ""
    impersonate_groups: tuple[str, ...] = ()
    impersonate_uid: str = ""
    impersonate_extra: Mapping[str, tuple[str, ...]] = {}
    kuberc: str = ""

    def __repr__(self) -> str:
        return "ConnectOptions(…)"


class Target(Struct, frozen=True):
    """A server and what is needed to connect to it.

    ``server`` has a lower-case scheme and no slash at its end. ``context`` is empty inside a cluster. ``warnings`` are
    what the user should know before anything is sent.
    """

    server: str
    namespace: str
    context: str = ""
    cluster: ClusterEntry = ClusterEntry()
    user: UserEntry = UserEntry()
    user_name: str = ""
    policy: ExecPolicy = ExecPolicy()
    warnings: tuple[str, ...] = ()


def cluster_with(cluster: ClusterEntry, options: ConnectOptions) -> ClusterEntry:
    """Return the cluster as the flags change it.

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
    """Return the user as the flags change it.

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
            shown = proxy.strip_user_info(cluster.proxy_url)
            yield f'invalid \'proxy-url\' "{shown}" for cluster "{name}": {error.message}'
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
        yield f"unable to read {what} {file} for {owner} due to {files.file_error_text(file, error)}"
    except ConfigError as error:
        yield f"unable to read {what} {file} for {owner}: {error.message}"


#: Where the kubelet puts the token, the CA and the namespace of a pod's service account.
SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def load(options: ConnectOptions, environ: Mapping[str, str] = os.environ) -> Target:
    """Return the target that the options and the kubeconfig name. Nothing is run and nothing is sent.

    Of several files that set a current context the first one wins. Namespace: the flag, then the context's, then
    ``default``. Inside a cluster, without a current context and without a server: the service account. Raises
    ConfigError, in kubectl's words where kubectl has any, also for what kubectl would ask on the terminal.
    """
    try:
        return _load(options, environ)
    except ConfigError as error:
        error.message = one_line(error.message)
        raise


def _load(options: ConnectOptions, environ: Mapping[str, str]) -> Target:
    merged = files.read(files.paths(options.kubeconfig, environ))
    name = options.context or next((current for _, current in merged.current), "")
    context = merged.contexts.get(name)
    if context is None:
        _without_context(options, merged, name, environ)
        if not name and not options.server and not options.cluster:
            return _in_cluster(options, environ)
        context = Context()
    return _target(options, merged, name, context, environ)


def _without_context(options: ConnectOptions, merged: MergedKubeconfig, name: str, environ: Mapping[str, str]) -> None:
    """Raise ConfigError unless flags or the pod that we run in stand for a context."""
    if options.user and options.user not in merged.users:
        raise ConfigError(f'auth info "{options.user}" does not exist')
    if options.context:
        raise ConfigError(f'context "{name}" does not exist')
    if name:
        raise ConfigError(f"Error in configuration: context was not found for specified context: {name}")
    inside = all(environ.get(f"KUBERNETES_SERVICE_{item}") for item in ("HOST", "PORT")) and not options.kubeconfig
    if not (options.server or options.cluster or inside):
        raise _nothing_chosen(options, merged, environ)


def _nothing_chosen(options: ConnectOptions, merged: MergedKubeconfig, environ: Mapping[str, str]) -> ConfigError:
    looked = merged.files or ((options.kubeconfig,) if options.kubeconfig else files.candidates(environ))
    cluster = os.pathsep.join(looked)
    if merged.files:
        return ConfigError(f"no current context is set in {cluster}; use --context or kubectl config use-context")
    if not looked:
        return ConfigError("no kubeconfig: KUBECONFIG names no file; use --kubeconfig or set KUBECONFIG")
    hint = "KUBECONFIG is taken literally, ~ included" if any(name.startswith("~") for name in looked) else ""
    return ConfigError(f"no kubeconfig: {cluster} does not exist; use --kubeconfig or set KUBECONFIG", hint=hint)


def _target(
    options: ConnectOptions, merged: MergedKubeconfig, name: str, context: Context, environ: Mapping[str, str]
) -> Target:
    user_name, cluster_name = options.user or context.user or "", options.cluster or context.cluster or ""
    if options.user and user_name not in merged.users:
        raise ConfigError(f'auth info "{user_name}" does not exist')
    if cluster_name not in merged.clusters and (options.cluster or not options.server):
        raise ConfigError(f'cluster "{cluster_name}" does not exist')
    user = user_with(merged.users.get(user_name, UserEntry()), options)
    cluster = cluster_with(merged.clusters.get(cluster_name, ClusterEntry()), options)
    confirm(cluster, cluster_name, user, user_name)
    target = Target(
        server=proxy.parse_address(cluster.server or ""),
        namespace=options.namespace or context.namespace or "default",
        context=name,
        cluster=cluster,
        user=user,
        user_name=user_name,
    )
    if target.server.startswith("http://"):
        return _in_clear(target)
    if not _has_credentials(user):
        missing = user_name and user_name not in merged.users
        raise ConfigError(f'auth info "{user_name}" does not exist' if missing else _no_credentials_message(target))
    return _with_policy(structs.replace(target, warnings=tuple(_doubts(target))), options, environ)


def _has_credentials(user: UserEntry) -> bool:
    """Return whether kubectl would not ask for a name and a password. Source: client-go clientcmd canIdentifyUser."""
    named = (user.username, user.client_certificate, user.client_certificate_data, user.token, user.token_file)
    return any(named) or user.auth_provider is not None or user.exec is not None


def _no_credentials_message(target: Target) -> str:
    if target.context:
        return f'context "{target.context}" has no credentials'
    return f"there are no credentials for {target.server}"


def _in_clear(target: Target) -> Target:
    """Return the target without anything secret: whoever listens on the way must not get it. kubectl sends nothing
    either.
    """
    user = target.user
    known = UserEntry(
        impersonate=user.impersonate,
        impersonate_uid=user.impersonate_uid,
        impersonate_groups=user.impersonate_groups,
        impersonate_extra=user.impersonate_extra,
    )
    warnings: tuple[str, ...] = ()
    if _has_credentials(user) or user.password:
        user_text = f'user "{target.user_name}"' if target.user_name else "the user"
        warnings = (f"the credentials of {user_text} are not sent: {target.server} is not encrypted",)
    return structs.replace(target, user=known, warnings=warnings)


def _doubts(target: Target) -> Iterator[str]:
    """Yield what kubectl goes along with in silence, one line each."""
    if target.cluster.insecure_skip_tls_verify:
        yield f"the certificate of {target.server} is not verified (insecure-skip-tls-verify)"
    if target.user.username:
        yield (
            f'user "{target.user_name}" has a username and a password, '
            "which API servers have not taken since Kubernetes 1.19"
        )


def _with_policy(target: Target, options: ConnectOptions, environ: Mapping[str, str]) -> Target:
    """Return the target with the user's policy for credential plugins, if it has one to run."""
    if target.user.exec is None:
        return target
    result, warnings = exec_policy.load(options.kuberc, environ)
    return structs.replace(target, policy=result, warnings=(*target.warnings, *warnings))


def _in_cluster(options: ConnectOptions, environ: Mapping[str, str]) -> Target:
    """Return the API server of the cluster that this process runs in, with what flags may change there.

    Raises ConfigError for impersonation, which kubectl has not here. Source: client-go rest.InClusterConfig, clientcmd
    inClusterClientConfig.
    """
    if options.impersonate or options.impersonate_groups or options.impersonate_uid or options.impersonate_extra:
        raise ConfigError(
            "--as needs a kubeconfig: the service account of a pod is used without one",
            hint="name one with --kubeconfig, or give --server and --token",
        )
    host, port = environ["KUBERNETES_SERVICE_HOST"], environ["KUBERNETES_SERVICE_PORT"]
    token = SERVICE_ACCOUNT / "token"
    if not token.exists():
        raise ConfigError(f"no kubeconfig, and {token} does not exist")
    try:
        mounted = (SERVICE_ACCOUNT / "namespace").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        mounted = ""
    mounted_ca = SERVICE_ACCOUNT / "ca.crt"
    authority = options.certificate_authority or (str(mounted_ca) if mounted_ca.exists() else None)
    return Target(
        server=proxy.parse_address(f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"),
        namespace=options.namespace or environ.get("POD_NAMESPACE") or mounted or "default",
        cluster=ClusterEntry(certificate_authority=authority),
        user=UserEntry(token=options.token) if options.token else UserEntry(token_file=str(token)),
        user_name="service account",
    )
