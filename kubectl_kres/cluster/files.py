"""The kubeconfig files: which ones there are, read, and merged so that the first one to name something wins."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import yaml
from msgspec import Struct, structs

from kubectl_kres.cluster.entries import Cluster, Config, Context, Exec, User
from kubectl_kres.errors import ConfigError

Entry = TypeVar("Entry", Cluster, User, Context)

#: The C loader where PyYAML has it: a file of thousands of contexts must not be felt.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Merged(Struct, frozen=True):
    """All files as one. ``current`` holds each file that sets a current context, with that context.

    File names in the entries are absolute. ``files`` are those that were read.
    """

    files: tuple[str, ...] = ()
    clusters: Mapping[str, Cluster] = {}
    users: Mapping[str, User] = {}
    contexts: Mapping[str, Context] = {}
    current: tuple[tuple[str, str], ...] = ()


def paths(kubeconfig: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The files to read, those that do not exist left out, unless ``kubeconfig`` names the one file to use.

    Raises ConfigError if that one does not exist. Source: client-go clientcmd ClientConfigLoadingRules.
    """
    if kubeconfig:
        if not Path(kubeconfig).exists():
            raise ConfigError(f"stat {kubeconfig}: no such file or directory")
        return (kubeconfig,)
    return tuple(path for path in candidates(environ) if Path(path).exists())


def candidates(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The files of ``KUBECONFIG``, each once, or ``~/.kube/config`` if it is empty."""
    listed = [path for path in environ.get("KUBECONFIG", "").split(os.pathsep) if path]
    return tuple(dict.fromkeys(listed)) or (str(Path.home() / ".kube" / "config"),)


def read(names: Iterable[str]) -> Merged:
    """The files merged, entry by entry and not field by field. Raises ConfigError naming the file that is wrong."""
    clusters: dict[str, Cluster] = {}
    users: dict[str, User] = {}
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
    return Merged(names, clusters, users, contexts, tuple(current))


def _parse(name: str) -> Config:
    prefix = f'error loading config file "{name}": '
    try:
        data = yaml.load(Path(name).read_bytes(), Loader=_LOADER)  # noqa: S506, a safe loader
    except IsADirectoryError as error:
        raise ConfigError(f"{prefix}read {name}: is a directory") from error
    except OSError as error:
        raise ConfigError(f"{prefix}open {name}: {(error.strerror or str(error)).lower()}") from error
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise ConfigError(f"{prefix}yaml: {line}{error.problem or error.context}") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise ConfigError(f"{prefix}yaml: {' '.join(str(error).split())}") from error
    try:
        return msgspec.convert({} if data is None else data, Config)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{prefix}{error}") from error


def _first_wins(into: dict[str, Entry], entries: Iterable[tuple[str, Entry]], file: str) -> None:
    seen: set[str] = set()
    for name, entry in entries:
        if name in seen:
            raise ConfigError(f'error loading config file "{file}": "{name}" is defined twice')
        seen.add(name)
        into.setdefault(name, entry)


def _absolute(base: Path, name: str | None) -> str | None:
    return str(base / name) if name else name


def _cluster(cluster: Cluster | None, base: Path) -> Cluster:
    cluster = cluster or Cluster()
    return structs.replace(cluster, certificate_authority=_absolute(base, cluster.certificate_authority))


def _user(user: User | None, base: Path) -> User:
    user = user or User()
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
