"""What a kubeconfig file holds: the fields that a connection depends on, typed as kubectl types them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field


class ExecVariable(Struct, frozen=True):
    """A variable added to the environment of a credential plugin. Its ``repr`` hides the value."""

    name: str | None = None
    value: str | None = None

    def __repr__(self) -> str:
        return f"ExecVariable({self.name!r}, …)"


class Exec(Struct, frozen=True, rename="camel"):
    """A credential plugin: a command that prints a token or a certificate. Its ``repr`` shows the command only."""

    command: str = ""
    api_version: str = ""
    args: tuple[str, ...] | None = None
    env: tuple[ExecVariable, ...] | None = None
    install_hint: str | None = None
    interactive_mode: str | None = None
    provide_cluster_info: bool | None = None

    def __repr__(self) -> str:
        return f"Exec({self.command!r}, …)"


class AuthProvider(Struct, frozen=True):
    """A way of getting tokens that was once built into kubectl. Its ``repr`` shows the name only."""

    name: str = ""
    config: Mapping[str, str] | None = None

    def __repr__(self) -> str:
        return f"AuthProvider({self.name!r}, …)"


class UserEntry(Struct, frozen=True, rename="kebab"):
    """Credentials, in any of their forms. Its ``repr`` shows none of them."""

    token: str | None = None
    token_file: str | None = field(default=None, name="tokenFile")
    username: str | None = None
    password: str | None = None
    client_certificate: str | None = None
    client_certificate_data: str | None = None
    client_key: str | None = None
    client_key_data: str | None = None
    exec: Exec | None = None
    auth_provider: AuthProvider | None = None
    impersonate: str | None = field(default=None, name="as")
    impersonate_uid: str | None = field(default=None, name="as-uid")
    impersonate_groups: tuple[str, ...] | None = field(default=None, name="as-groups")
    impersonate_extra: Mapping[str, tuple[str, ...]] | None = field(default=None, name="as-user-extra")

    def __repr__(self) -> str:
        return "User(…)"


class Extension(Struct, frozen=True):
    """Data that a tool keeps beside a cluster."""

    name: str = ""
    extension: Any = None


class ClusterEntry(Struct, frozen=True, rename="kebab"):
    """Where a server is and how it proves itself. Its ``repr`` shows the server only: a proxy may have a password."""

    server: str | None = None
    certificate_authority: str | None = None
    certificate_authority_data: str | None = None
    insecure_skip_tls_verify: bool | None = None
    tls_server_name: str | None = None
    proxy_url: str | None = None
    disable_compression: bool | None = None
    extensions: tuple[Extension, ...] | None = None

    def __repr__(self) -> str:
        return f"Cluster({self.server!r}, …)"


class Context(Struct, frozen=True):
    """A cluster, a user and a namespace."""

    cluster: str | None = None
    user: str | None = None
    namespace: str | None = None


class NamedCluster(Struct, frozen=True):
    name: str = ""
    cluster: ClusterEntry | None = None


class NamedUser(Struct, frozen=True):
    name: str = ""
    user: UserEntry | None = None


class NamedContext(Struct, frozen=True):
    name: str = ""
    context: Context | None = None


class KubeconfigFile(Struct, frozen=True, rename="kebab"):
    """One file. Without a version and a kind it is a kubeconfig all the same."""

    api_version: str | None = field(default=None, name="apiVersion")
    kind: str | None = None
    clusters: tuple[NamedCluster, ...] | None = None
    users: tuple[NamedUser, ...] | None = None
    contexts: tuple[NamedContext, ...] | None = None
    current_context: str | None = None
