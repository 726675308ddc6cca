"""Names to complete: of objects in a cluster or a snapshot, and of the entries of a kubeconfig."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from time import monotonic

import msgspec
from msgspec import Struct, field

from kubectl_kres.cli.args.options import Options
from kubectl_kres.cluster.connection import Connection
from kubectl_kres.cluster.kubeconfig import files
from kubectl_kres.model.kinds import Kind
from kubectl_kres.store.store import ReadRequest

#: A list of nothing but metadata, from servers that can make one.
_ACCEPT = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
_PAGE = "500"


class _NamedMetadata(Struct, frozen=True):
    name: str | None = None


class _Item(Struct, frozen=True):
    metadata: _NamedMetadata = _NamedMetadata()


class _Position(Struct, frozen=True):
    continue_: str | None = field(default=None, name="continue")


class _Names(Struct, frozen=True):
    metadata: _Position = _Position()
    items: tuple[_Item, ...] | None = None


def entries(options: Options, part: str) -> Iterable[str]:
    """The names of the ``contexts``, ``clusters`` or ``users`` of the kubeconfig. Raises ConfigError."""
    names: Iterable[str] = getattr(files.read(files.paths(options.kubeconfig, os.environ)), part)
    return names


def names(options: Options, type_: str, seconds: float) -> list[str]:
    """The names of all objects of a type, where the flags say that objects come from. Raises KresError.

    A list that cannot be read whole within ``seconds`` is none: a shell would complete to the wrong name.
    """
    if options.offline or seconds <= 0:
        return []
    if options.demo or options.snapshot:
        return list(_names_in_source(options, type_))
    from kubectl_kres.cli.source.live import open_connection  # a quarter of a second
    from kubectl_kres.cluster.read.discovery import find_kind

    until = monotonic() + seconds
    target, connection = open_connection(
        options._replace(request_timeout=f"{max(1, int(seconds * 1000))}ms", verbosity=0)
    )
    kind = find_kind(connection, type_)
    spaces = dict.fromkeys(options.namespaces or (target.namespace,)) if kind.namespaced else ("",)
    return [name for space in spaces for name in _list_names(connection, kind, space, until)]


def _names_in_source(options: Options, type_: str) -> Iterator[str]:
    from kubectl_kres.cli.source.offline import open_held

    source, _ = open_held(options)
    kind = source.kind(type_)
    for space in (source.namespaces or ("",)) if kind.namespaced else ("",):
        for page in source.pages(ReadRequest(kind.kind, space)):
            yield from (item.metadata.name for item in page)


def _list_names(connection: Connection, kind: Kind, namespace: str, until: float) -> Iterator[str]:
    if not kind.listed:  # ConfigMaps: no answer is about one
        return
    token = ""
    while monotonic() < until:
        query = [("limit", _PAGE), *([("continue", token)] if token else [])]
        page = msgspec.json.decode(connection.get(kind.path(namespace), query, _ACCEPT), type=_Names)
        yield from (item.metadata.name for item in page.items or () if item.metadata.name)
        token = page.metadata.continue_ or ""
        if not token:
            return
    raise TimeoutError
