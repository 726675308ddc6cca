"""The clusters of an inventory: ClusterProfile objects of a hub, and a kubeconfig that reaches them.

Source: cluster-inventory-api v0.2.0 apis/v1alpha2/clusterprofile_types.go and pkg/access/config.go; KEP-5339.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct, structs

from kubectl_kres.cluster.connection import Connection
from kubectl_kres.cluster.kubeconfig import files
from kubectl_kres.cluster.kubeconfig.files import (
    ClusterEntry,
    Context,
    Exec,
    ExecVariable,
    KubeconfigFile,
    MergedKubeconfig,
    NamedCluster,
    NamedContext,
    NamedUser,
    UserEntry,
)
from kubectl_kres.cluster.read import lists
from kubectl_kres.errors import ClusterError, NotFound, UsageError
from kubectl_kres.fleet.clusters import FleetCluster, server_key
from kubectl_kres.model.objects import Kind, Metadata

#: Extensions of a cluster with which a profile adds to the command of a provider that lets it.
_ARGUMENTS = "clusterprofiles.multicluster.x-k8s.io/exec/additional-args"
_VARIABLES = "clusterprofiles.multicluster.x-k8s.io/exec/additional-envs"
_PAGE = 500


class AccessProvider(Struct, frozen=True):
    """One way to a cluster. ``name``: of the provider in the file that gives credentials for it."""

    name: str = ""
    cluster: ClusterEntry = ClusterEntry()


class _Status(Struct, frozen=True, rename="camel"):
    access_providers: tuple[AccessProvider, ...] | None = None
    credential_providers: tuple[AccessProvider, ...] | None = None


class ClusterProfile(Struct, frozen=True, rename="camel"):
    """A cluster of the inventory. Before v1alpha2 its ways were called ``credentialProviders``."""

    metadata: Metadata = Metadata()
    status: _Status = _Status()
    kind: str = "ClusterProfile"
    api_version: str = ""

    @property
    def ways(self) -> Mapping[str, ClusterEntry]:
        """The ways to it by the name of their provider; of two of one name that in today's field."""
        status = self.status
        return {
            way.name: way.cluster for way in (*(status.credential_providers or ()), *(status.access_providers or ()))
        }


class Provider(Struct, frozen=True, rename="camel"):
    """A credential plugin of the file. The policies say what a profile may add to its arguments and environment."""

    name: str
    exec_config: Exec
    profile_sourced_cli_args_policy: Literal["", "Ignore", "Append"] = msgspec.field(
        default="", name="profileSourcedCLIArgsPolicy"
    )
    profile_sourced_env_vars_policy: Literal["", "Ignore", "AppendIfNotExists", "Replace"] = ""


class _ProviderFile(Struct, frozen=True):
    providers: tuple[Provider, ...] = ()


class Inventory(Struct, frozen=True):
    """``clusters``: those that are reached, each by a context of the ``kubeconfig`` or of the user's own.

    ``unreached``: why the others are not, by name.
    """

    clusters: tuple[FleetCluster, ...]
    kubeconfig: KubeconfigFile
    unreached: Mapping[str, str] = {}


def _kind(version: str) -> Kind:
    names = ("clusterprofiles", "clusterprofile")
    return Kind("ClusterProfile", names, "multicluster.x-k8s.io", version, struct=ClusterProfile)


def read_profiles(connection: Connection) -> list[ClusterProfile]:
    """Return all profiles of the hub, of all namespaces. Raises ClusterError, NotFound where it has no such kind."""
    try:
        return _read_profiles(connection, _kind("v1alpha2"))
    except NotFound:
        try:
            return _read_profiles(connection, _kind("v1alpha1"))
        except NotFound as error:
            message = "the hub has no ClusterProfiles (clusterprofiles.multicluster.x-k8s.io)"
            raise NotFound(message, code=error.code, reason=error.reason) from error


def _read_profiles(connection: Connection, kind: Kind) -> list[ClusterProfile]:
    found: list[ClusterProfile] = []
    token = ""
    while True:
        query = [("limit", str(_PAGE)), *([("continue", token)] if token else [])]
        page = lists.decode(connection.get(kind.path(), query), kind)
        found += page.items
        if not page.token:
            return found
        if page.token == token:
            raise ClusterError(f"the list of {kind.qualified_name} does not advance")
        token = page.token


def read_providers(path: str) -> tuple[Provider, ...]:
    """Return the providers of a file; what stands in none of their fields is ignored. Raises UsageError."""
    try:
        return msgspec.json.decode(files.content(path), type=_ProviderFile).providers
    except OSError as error:
        raise UsageError(f"--clusterprofile-provider-file: {files.file_error_text(path, error)}") from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"--clusterprofile-provider-file {path}: {error}") from error


def take_inventory(
    profiles: Iterable[ClusterProfile],
    patterns: Sequence[str],
    providers: Sequence[Provider],
    config: MergedKubeconfig,
    where: str,
) -> Inventory:
    """Return the clusters that patterns match by name, or by namespace and name.

    A provider of the file gives the credentials, the first that the profile has; else the user's own context for the
    same server does. ``where``: the file of the generated kubeconfig. Raises UsageError for a pattern without a match.
    """
    names = _names(profiles)
    for pattern in patterns:
        if not any(_matches(profile, pattern) for profile in names.values()):
            known = ", ".join([*names][:10]) or "none"
            raise UsageError(f"--clusterprofiles {pattern}: no ClusterProfile matches; the hub has {known}")
    clusters: list[FleetCluster] = []
    entries: list[tuple[str, ClusterEntry, Exec]] = []
    unreached: dict[str, str] = {}
    for name, profile in sorted(names.items()):
        if not any(_matches(profile, pattern) for pattern in patterns):
            continue
        provider = next((provider for provider in providers if provider.name in profile.ways), None)
        if provider is not None:
            way = profile.ways[provider.name]
            try:
                entries.append((name, _reachable(way), _plugin(provider, way)))
            except msgspec.ValidationError as error:
                unreached[name] = f"what its ClusterProfile adds to {provider.name} cannot be used: {error}"
                continue
            clusters.append(FleetCluster(name, context=name, server=way.server or "", kubeconfig=where))
        elif context := _own_context(profile, config):
            clusters.append(FleetCluster(name, context=context, server=_servers(profile)[0]))
        else:
            unreached[name] = _unreached_reason(profile, providers)
    return Inventory(tuple(clusters), _kubeconfig(entries), unreached)


def _names(profiles: Iterable[ClusterProfile]) -> dict[str, ClusterProfile]:
    """Return the profiles by name; those of one name with their namespace."""
    profiles = list(profiles)
    counts = Counter(profile.metadata.name for profile in profiles)
    return {
        _full_name(profile) if counts[profile.metadata.name] > 1 else profile.metadata.name: profile
        for profile in profiles
    }


def _full_name(profile: ClusterProfile) -> str:
    return f"{profile.metadata.namespace}/{profile.metadata.name}"


def _matches(profile: ClusterProfile, pattern: str) -> bool:
    return fnmatchcase(profile.metadata.name, pattern) or fnmatchcase(_full_name(profile), pattern)


def _servers(profile: ClusterProfile) -> list[str]:
    return [cluster.server for cluster in profile.ways.values() if cluster.server]


def _own_context(profile: ClusterProfile, config: MergedKubeconfig) -> str:
    """Return the user's context for a server of the profile; of several the first by name."""
    for server in _servers(profile):
        for name in sorted(config.contexts):
            cluster = config.clusters.get(config.contexts[name].cluster or "")
            if cluster is not None and cluster.server and server_key(cluster.server) == server_key(server):
                return name
    return ""


def _unreached_reason(profile: ClusterProfile, providers: Sequence[Provider]) -> str:
    ways = ", ".join(profile.ways)
    if not ways:
        return "its ClusterProfile has no access provider"
    asked = f"none of its access providers ({ways}) is in the provider file, and " if providers else ""
    servers = ", ".join(dict.fromkeys(_servers(profile))) or "its server"
    return f"{asked}no context of the kubeconfig is for {servers}"


def _reachable(cluster: ClusterEntry) -> ClusterEntry:
    """Return where the cluster is. A file that the hub names is none of this machine."""
    return structs.replace(cluster, certificate_authority=None)


def _plugin(provider: Provider, cluster: ClusterEntry) -> Exec:
    """Return the provider's plugin with what the profile may add to it. Raises msgspec.ValidationError."""
    plugin = provider.exec_config
    command = str(Path(plugin.command).absolute()) if "/" in plugin.command else plugin.command
    plugin = structs.replace(plugin, command=command, interactive_mode="Never")
    added = {entry.name: entry.extension for entry in cluster.extensions or ()}
    if provider.profile_sourced_cli_args_policy == "Append" and _ARGUMENTS in added:
        arguments = msgspec.convert(added[_ARGUMENTS], tuple[str, ...])
        plugin = structs.replace(plugin, args=(*(plugin.args or ()), *arguments))
    policy = provider.profile_sourced_env_vars_policy
    if policy in {"AppendIfNotExists", "Replace"} and _VARIABLES in added:
        variables = msgspec.convert(added[_VARIABLES], dict[str, str])
        own = {variable.name or "": variable.value or "" for variable in plugin.env or ()}
        merged = {**variables, **own} if policy == "AppendIfNotExists" else {**own, **variables}
        plugin = structs.replace(plugin, env=tuple(ExecVariable(name, value) for name, value in merged.items()))
    return plugin


def _kubeconfig(entries: Sequence[tuple[str, ClusterEntry, Exec]]) -> KubeconfigFile:
    return KubeconfigFile(
        "v1",
        "Config",
        tuple(NamedCluster(name, cluster) for name, cluster, _ in entries),
        tuple(NamedUser(name, UserEntry(exec=plugin)) for name, _, plugin in entries),
        tuple(NamedContext(name, Context(name, name)) for name, _, _ in entries),
    )
