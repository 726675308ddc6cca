"""Which server to ask, as whom and in which namespace: the kubeconfig's answer, or that of the pod we run in."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import structs

from kubectl_kres.cluster.kubeconfig import exec_policy, files, validate
from kubectl_kres.cluster.kubeconfig.files import MergedKubeconfig
from kubectl_kres.cluster.kubeconfig.overrides import cluster_with, user_with
from kubectl_kres.cluster.kubeconfig.target import ConnectOptions, Target
from kubectl_kres.cluster.kubeconfig.types import ClusterEntry, Context, UserEntry
from kubectl_kres.cluster.transport import address
from kubectl_kres.cluster.transport.response import one_line
from kubectl_kres.errors import ConfigError

__all__ = ["SERVICE_ACCOUNT", "ConnectOptions", "Target", "load"]

#: Where the kubelet puts the token, the CA and the namespace of a pod's service account.
SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def load(options: ConnectOptions, environ: Mapping[str, str] = os.environ) -> Target:
    """The target that the options and the kubeconfig name. Nothing is run and nothing is sent.

    Of several files that set a current context the first one wins. Namespace: the flag, then the context's, then
    ``default``. Inside a cluster, without a current context and without a server: the service account.
    Raises ConfigError, in kubectl's words where kubectl has any, also for what kubectl would ask on the terminal.
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
    where = os.pathsep.join(looked)
    if merged.files:
        return ConfigError(f"no current context is set in {where}; use --context or kubectl config use-context")
    if not looked:
        return ConfigError("no kubeconfig: KUBECONFIG names no file; use --kubeconfig or set KUBECONFIG")
    hint = "KUBECONFIG is taken literally, ~ included" if any(name.startswith("~") for name in looked) else ""
    return ConfigError(f"no kubeconfig: {where} does not exist; use --kubeconfig or set KUBECONFIG", hint=hint)


def _target(
    options: ConnectOptions, merged: MergedKubeconfig, name: str, context: Context, environ: Mapping[str, str]
) -> Target:
    who, where = options.user or context.user or "", options.cluster or context.cluster or ""
    if options.user and who not in merged.users:
        raise ConfigError(f'auth info "{who}" does not exist')
    if where not in merged.clusters and (options.cluster or not options.server):
        raise ConfigError(f'cluster "{where}" does not exist')
    user = user_with(merged.users.get(who, UserEntry()), options)
    cluster = cluster_with(merged.clusters.get(where, ClusterEntry()), options)
    validate.confirm(cluster, where, user, who)
    target = Target(
        server=address.parse(cluster.server or ""),
        namespace=options.namespace or context.namespace or "default",
        context=name,
        cluster=cluster,
        user=user,
        user_name=who,
    )
    if target.server.startswith("http://"):
        return _in_clear(target)
    if not _identified(user):
        missing = who and who not in merged.users
        raise ConfigError(f'auth info "{who}" does not exist' if missing else _nobody(target))
    return _with_policy(structs.replace(target, warnings=tuple(_doubts(target))), options, environ)


def _identified(user: UserEntry) -> bool:
    """Whether kubectl would not ask for a name and a password. Source: client-go clientcmd canIdentifyUser."""
    named = (user.username, user.client_certificate, user.client_certificate_data, user.token, user.token_file)
    return any(named) or user.auth_provider is not None or user.exec is not None


def _nobody(target: Target) -> str:
    if target.context:
        return f'context "{target.context}" has no credentials'
    return f"there are no credentials for {target.server}"


def _in_clear(target: Target) -> Target:
    """The target without anything secret: whoever listens on the way must not get it. kubectl sends nothing either."""
    user = target.user
    known = UserEntry(
        impersonate=user.impersonate,
        impersonate_uid=user.impersonate_uid,
        impersonate_groups=user.impersonate_groups,
        impersonate_extra=user.impersonate_extra,
    )
    warnings: tuple[str, ...] = ()
    if _identified(user) or user.password:
        who = f'user "{target.user_name}"' if target.user_name else "the user"
        warnings = (f"the credentials of {who} are not sent: {target.server} is not encrypted",)
    return structs.replace(target, user=known, warnings=warnings)


def _doubts(target: Target) -> Iterator[str]:
    """What kubectl goes along with in silence, one line each."""
    if target.cluster.insecure_skip_tls_verify:
        yield f"the certificate of {target.server} is not verified (insecure-skip-tls-verify)"
    if target.user.username:
        yield (
            f'user "{target.user_name}" has a username and a password, '
            "which API servers have not taken since Kubernetes 1.19"
        )


def _with_policy(target: Target, options: ConnectOptions, environ: Mapping[str, str]) -> Target:
    """The target with the user's policy for credential plugins, if it has one to run."""
    if target.user.exec is None:
        return target
    result, warnings = exec_policy.load(options.kuberc, environ)
    return structs.replace(target, policy=result, warnings=(*target.warnings, *warnings))


def _in_cluster(options: ConnectOptions, environ: Mapping[str, str]) -> Target:
    """The API server of the cluster that this process runs in, with what flags may change there.

    Raises ConfigError for impersonation, which kubectl has not here. Source: client-go rest.InClusterConfig,
    clientcmd inClusterClientConfig.
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
        server=address.parse(f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"),
        namespace=options.namespace or environ.get("POD_NAMESPACE") or mounted or "default",
        cluster=ClusterEntry(certificate_authority=authority),
        user=UserEntry(token=options.token) if options.token else UserEntry(token_file=str(token)),
        user_name="service account",
    )
