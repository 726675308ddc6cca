"""Which server to ask, as whom and in which namespace: the kubeconfig's answer, or that of the pod we run in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct, structs

from kubectl_kres.cluster import files
from kubectl_kres.cluster.entries import Cluster, Context, User
from kubectl_kres.cluster.files import Merged
from kubectl_kres.errors import ConfigError

#: Where the kubelet puts the token, the CA and the namespace of a pod's service account.
SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class ConnectOptions(Struct, frozen=True):
    """What flags say about the connection. Empty: as the kubeconfig says. ``request_timeout`` in seconds, 0: none."""

    kubeconfig: str = ""
    context: str = ""
    namespace: str = ""
    request_timeout: float = 0.0


class Target(Struct, frozen=True):
    """A server and what is needed to connect to it.

    ``server`` has a lower-case scheme and no slash at its end. ``context`` is empty inside a cluster.
    """

    server: str
    namespace: str
    context: str = ""
    cluster: Cluster = Cluster()
    user: User = User()
    user_name: str = ""


def load(options: ConnectOptions, environ: Mapping[str, str] = os.environ) -> Target:
    """The target that the options and the kubeconfig name. Nothing is run and nothing is sent.

    Namespace: the flag, then the context's, then ``default``. Inside a cluster and without a current context: the
    service account. Raises ConfigError, in kubectl's words where kubectl has any, also for what would otherwise be
    answered as another user than the kubeconfig says.
    """
    merged = files.read(files.paths(options.kubeconfig, environ))
    name = options.context or _current(merged)
    if not name:
        if not options.kubeconfig and environ.get("KUBERNETES_SERVICE_HOST"):
            return _in_cluster(options, environ)
        raise _nothing_chosen(options, merged, environ)
    if name not in merged.contexts:
        if options.context:
            raise ConfigError(f'context "{name}" does not exist')
        raise ConfigError(f"Error in configuration: context was not found for specified context: {name}")
    return _target(options, merged, name, merged.contexts[name])


def _current(merged: Merged) -> str:
    """The current context, empty if no file sets one. Two files that differ are refused: either may be meant."""
    chosen = dict.fromkeys(name for _, name in merged.current)
    if len(chosen) > 1:
        listed = ", ".join(f'"{name}" in {file}' for file, name in merged.current)
        raise ConfigError(
            f"the files of KUBECONFIG set different current contexts: {listed}", hint="choose one with --context"
        )
    return next(iter(chosen), "")


def _nothing_chosen(options: ConnectOptions, merged: Merged, environ: Mapping[str, str]) -> ConfigError:
    looked = merged.files or ((options.kubeconfig,) if options.kubeconfig else files.candidates(environ))
    where = os.pathsep.join(looked)
    if merged.files:
        return ConfigError(f"no current context is set in {where}; use --context or kubectl config use-context")
    hint = "KUBECONFIG is taken literally, ~ included" if any(name.startswith("~") for name in looked) else ""
    return ConfigError(f"no kubeconfig: {where} does not exist; use --kubeconfig or set KUBECONFIG", hint=hint)


def _target(options: ConnectOptions, merged: Merged, name: str, context: Context) -> Target:
    cluster, user = merged.clusters.get(context.cluster or ""), User()
    if cluster is None:
        raise ConfigError(f'cluster "{context.cluster or ""}" does not exist')
    if context.user:
        if context.user not in merged.users:
            raise ConfigError(f'auth info "{context.user}" does not exist')
        user = merged.users[context.user]
    target = Target(
        server=_server(cluster, user),
        namespace=options.namespace or context.namespace or "default",
        context=name,
        cluster=cluster,
        user=user,
        user_name=context.user or "",
    )
    _refuse(target)
    return target


def _server(cluster: Cluster, user: User) -> str:
    """The cluster's address. Without a scheme it is http, or https if there is anything to prove with TLS."""
    text = (cluster.server or "").strip().rstrip("/")
    if not text:
        raise ConfigError("the context's cluster names no server")
    if "://" not in text:
        proofs = (
            cluster.certificate_authority,
            cluster.certificate_authority_data,
            cluster.insecure_skip_tls_verify,
            user.client_certificate,
            user.client_certificate_data,
        )
        text = ("https://" if any(proofs) else "http://") + text
    try:
        parts = urlsplit(text)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or parts.query or parts.fragment or "@" in parts.netloc:
        raise ConfigError(f'the server "{_without_password(text)}" is not an address of the form https://HOST:PORT')
    return parts.geturl()


def _without_password(text: str) -> str:
    scheme, _, rest = text.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"


def _refuse(target: Target) -> None:
    """Raise ConfigError where going on would ask as the wrong user or show a secret to the network."""
    user, who = target.user, target.user_name
    if any((user.impersonate, user.impersonate_uid, user.impersonate_groups, user.impersonate_extra)):
        raise ConfigError(
            f'user "{who}" impersonates another one ("as" in the kubeconfig), which kubectl-kres cannot do yet',
            hint="it would answer as the wrong user; choose a context without impersonation",
        )
    secrets = (user.token, user.token_file, user.username, user.password, user.exec, user.auth_provider)
    if target.server.startswith("http://") and any(secrets):
        raise ConfigError(
            f'user "{who}" has credentials, and {target.server} would get them unencrypted',
            hint="use an https:// server, or a context whose user has no token, password or plugin",
        )


def _in_cluster(options: ConnectOptions, environ: Mapping[str, str]) -> Target:
    """The API server of the cluster that this process runs in. Source: client-go rest.InClusterConfig."""
    host, port = environ["KUBERNETES_SERVICE_HOST"], environ.get("KUBERNETES_SERVICE_PORT") or "443"
    token = SERVICE_ACCOUNT / "token"
    if not token.exists():
        raise ConfigError(f"no kubeconfig, and {token} does not exist")
    try:
        mounted = (SERVICE_ACCOUNT / "namespace").read_text().strip()
    except OSError:
        mounted = ""
    target = Target(
        server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}",
        namespace=options.namespace or environ.get("POD_NAMESPACE") or mounted or "default",
        user=User(token_file=str(token)),
        user_name="service account",
    )
    authority = SERVICE_ACCOUNT / "ca.crt"
    if not authority.exists():
        return target
    return structs.replace(target, cluster=Cluster(certificate_authority=str(authority)))
