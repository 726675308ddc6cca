"""The kubeconfig files: which there are, their fields typed as kubectl has them, and merged; errors quote nothing of
them.
"""

from __future__ import annotations

import errno
import os
import re
import select
import stat
import sys
from base64 import b64decode
from collections.abc import Iterable, Mapping
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

import msgspec
from msgspec import Struct, field, structs
from yaml import events

from kubectl_kres.documents import yaml_text
from kubectl_kres.documents.document import Document
from kubectl_kres.documents.scalar import Number
from kubectl_kres.documents.yaml_text import Build
from kubectl_kres.errors import ConfigError, InputError


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


class TreeError(Exception):
    """The text is no YAML. The message names the line, and never quotes the text."""


class _Values(Build):
    """Numbers are no text here: a token of ``1.5`` is a mistake."""

    def put(self, event: Any, value: Any, size: int, depth: int, anchor: str | None) -> None:
        super().put(event, float(value) if isinstance(value, Number) else value, size, depth, anchor)


def parse(content: bytes) -> Any:
    """Return the first document; None if there is none.

    Raises TreeError. Source: client-go tools/clientcmd/latest, which reads through sigs.k8s.io/yaml as manifests are.
    """
    try:
        document = Document("", content.decode("utf-8-sig"), "yaml")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise TreeError(f"line {line}: is no UTF-8") from None
    build = _Values(document)
    try:
        for event in yaml_text.events(document):
            build.take(event)
            if isinstance(event, events.DocumentEndEvent):
                break
    except InputError as error:
        raise TreeError(f"line {error.line}: {_hide_quoted_text(error.text)}") from None
    return build.root


def _hide_quoted_text(text: str) -> str:
    return re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`", "'…'", text)


KubeconfigEntry = TypeVar("KubeconfigEntry", ClusterEntry, UserEntry, Context)

#: Larger kubeconfigs, in bytes, are taken for a mistake: this one would hold some ten thousand contexts.
LARGEST = 32 << 20
#: Seconds to wait for what comes through a pipe.
PATIENCE = 5.0
_FORM = ("v1", "Config")


class MergedKubeconfig(Struct, frozen=True):
    """All files as one. ``current`` holds each file that sets a current context, with that context.

    File names in the entries are absolute. ``files`` are those that were read.
    """

    files: tuple[str, ...] = ()
    clusters: Mapping[str, ClusterEntry] = {}
    users: Mapping[str, UserEntry] = {}
    contexts: Mapping[str, Context] = {}
    current: tuple[tuple[str, str], ...] = ()


def paths(kubeconfig: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the files to read, those that do not exist left out, unless ``kubeconfig`` names the one file to use.

    Raises ConfigError if that one does not exist. Source: client-go clientcmd ClientConfigLoadingRules.
    """
    if kubeconfig:
        if not Path(kubeconfig).exists():
            raise ConfigError(f"stat {kubeconfig}: no such file or directory")
        return (kubeconfig,)
    return tuple(path for path in candidates(environ) if Path(path).exists())


def candidates(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the files of ``KUBECONFIG``, each once, or ``~/.kube/config`` if it is empty.

    Separators alone name no file, and a missing home is the folder that we stand in, as kubectl has it.
    Source: client-go clientcmd NewDefaultClientConfigLoadingRules.
    """
    listed = environ.get("KUBECONFIG", "")
    if listed:
        return tuple(dict.fromkeys(path for path in listed.split(os.pathsep) if path))
    return (in_home("config", environ),)


def in_home(name: str, environ: Mapping[str, str]) -> str:
    """Return a file of kubectl's folder in the home that ``HOME`` names; without one below the folder that we stand in.

    Source: client-go util/homedir.HomeDir.
    """
    if sys.platform == "win32":
        return str(Path.home() / ".kube" / name)
    return str(Path(environ.get("HOME", "")) / ".kube" / name)


def read(names: Iterable[str]) -> MergedKubeconfig:
    """Return the files merged, entry by entry and not field by field. Raises ConfigError naming the file that is
    wrong.
    """
    clusters: dict[str, ClusterEntry] = {}
    users: dict[str, UserEntry] = {}
    contexts: dict[str, Context] = {}
    current: list[tuple[str, str]] = []
    names = tuple(names)
    for name in names:
        config = _parse(name)
        base = Path(name).absolute().parent
        _first_wins(clusters, ((e.name, _cluster(e.cluster, base)) for e in config.clusters or ()), name)
        _first_wins(users, ((e.name, _user(e.user, base)) for e in config.users or ()), name)
        _first_wins(contexts, ((e.name, e.context or Context()) for e in config.contexts or ()), name)
        if config.current_context:
            current.append((name, config.current_context))
    return MergedKubeconfig(names, clusters, users, contexts, tuple(current))


def _parse(name: str) -> KubeconfigFile:
    prefix = f'error loading config file "{name}": '
    try:
        data = parse(content(name))
    except OSError as error:
        raise ConfigError(prefix + file_error_text(name, error)) from error
    except TreeError as error:
        raise ConfigError(f"{prefix}yaml: {error}") from error
    except ConfigError as error:
        raise ConfigError(prefix + error.message) from error
    try:
        config = msgspec.convert({} if data is None else data, KubeconfigFile)
    except (msgspec.ValidationError, RecursionError) as error:
        raise ConfigError(f"{prefix}{error}") from error
    if (config.api_version or _FORM[0], config.kind or _FORM[1]) != _FORM:
        raise ConfigError(f"{prefix}it is {config.kind or 'of no kind'} of {config.api_version or 'no version'}")
    _check_data(config, prefix)
    return config


def _check_data(config: KubeconfigFile, prefix: str) -> None:
    """Raise ConfigError where an ``X-data`` field of any entry is no base64: kubectl reads no such file at all."""
    pairs = [
        *((e.name, e.cluster and e.cluster.certificate_authority_data) for e in config.clusters or ()),
        *((e.name, e.user and e.user.client_certificate_data) for e in config.users or ()),
        *((e.name, e.user and e.user.client_key_data) for e in config.users or ()),
    ]
    for name, data in pairs:
        if data:
            try:
                decode_data(data)
            except ValueError as error:
                raise ConfigError(f'{prefix}illegal base64 data in the entry "{name}"') from error


def decode_data(data: str) -> bytes:
    """Return the content of an ``X-data`` field. Raises ValueError. Source: Go encoding/base64 StdEncoding."""
    return b64decode(data.replace("\r", "").replace("\n", ""), validate=True)


def content(name: str) -> bytes:
    """Return what is in a file, or comes through a pipe as of ``<(command)``: never waits for long, never reads for
    long.

    Raises OSError, and ConfigError for what is too large or never comes.
    """
    try:
        handle = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except ValueError as error:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL)) from error
    try:
        state = os.fstat(handle)
        if stat.S_ISDIR(state.st_mode):
            raise IsADirectoryError(name)
        if stat.S_ISREG(state.st_mode):
            with open(handle, "rb", closefd=False) as file:
                result = file.read(LARGEST + 1)
        else:
            result = _read_pipe(handle)
    finally:
        os.close(handle)
    if len(result) > LARGEST:
        raise ConfigError(f"larger than {LARGEST >> 20} MiB")
    return result


def _read_pipe(handle: int) -> bytes:
    """Return all that comes until the other side closes. Raises ConfigError if nobody writes."""
    pieces: list[bytes] = []
    deadline = monotonic() + PATIENCE
    while sum(map(len, pieces)) <= LARGEST:
        try:
            piece = os.read(handle, 1 << 16)
        except BlockingIOError:
            if not select.select([handle], [], [], max(deadline - monotonic(), 0))[0]:
                raise ConfigError(f"it is no file, and nothing came from it for {PATIENCE:g} seconds") from None
            continue
        if not piece and not pieces:
            raise ConfigError("it is no file, and nobody writes to it")
        if not piece:
            break
        pieces.append(piece)
    return b"".join(pieces)


def file_error_text(name: str, error: OSError) -> str:
    """Return what Go says about a file that cannot be read."""
    if isinstance(error, IsADirectoryError):
        return f"read {name}: is a directory"
    return f"open {name}: {(error.strerror or str(error)).lower()}"


def _first_wins(into: dict[str, KubeconfigEntry], entries: Iterable[tuple[str, KubeconfigEntry]], file: str) -> None:
    seen: set[str] = set()
    for name, entry in entries:
        if name in seen:
            raise ConfigError(f'error loading config file "{file}": "{name}" is defined twice')
        seen.add(name)
        into.setdefault(name, entry)


def _absolute(base: Path, name: str | None) -> str | None:
    return str(base / name) if name else name


def _cluster(cluster: ClusterEntry | None, base: Path) -> ClusterEntry:
    cluster = cluster or ClusterEntry()
    if not cluster.certificate_authority:
        return cluster
    return structs.replace(cluster, certificate_authority=_absolute(base, cluster.certificate_authority))


def _user(user: UserEntry | None, base: Path) -> UserEntry:
    user = user or UserEntry()
    if not (user.token_file or user.client_certificate or user.client_key or user.exec):
        return user
    return structs.replace(
        user,
        token_file=_absolute(base, user.token_file),
        client_certificate=_absolute(base, user.client_certificate),
        client_key=_absolute(base, user.client_key),
        exec=_exec(user.exec, base),
    )


def _exec(plugin: Exec | None, base: Path) -> Exec | None:
    """A bare command is looked up on PATH; one with a slash belongs to the file's directory."""
    if plugin is None or not ({"/", os.sep} & set(plugin.command)):
        return plugin
    return structs.replace(plugin, command=str(base / plugin.command))
