"""Reads the objects that admission policies take their parameters from, whose kinds only the server knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from kubectl_kres.cluster.connection.api_connection import Connection
from kubectl_kres.cluster.read import discovery, lists
from kubectl_kres.cluster.transport.response import body, status
from kubectl_kres.errors import (
    ClusterError,
    ConfigError,
    Forbidden,
    NotFound,
    TimedOut,
    Unauthenticated,
    Unreachable,
)
from kubectl_kres.model.admitting import Parameter, is_secret, parameter_of
from kubectl_kres.model.kinds import BY_KIND, Kind
from kubectl_kres.store.coverage import READ, Coverage, Need, fallen_short

#: Objects in one answer, and of one selector; whoever has more has no parameters.
_CHUNK, _MOST = 500, 10_000


def read(connection: Connection, kind: Kind, need: Need) -> tuple[list[Parameter], Coverage]:
    """The object of a need, or those that its selector takes. absent: the server has no such kind.

    Raises Unreachable, TimedOut, Unauthenticated and ConfigError: then nothing more can be read.
    """
    if is_secret(kind.api_version, kind.plural):
        return [], Coverage("failed", "Secrets are never read")
    try:
        served = _served(connection, kind)
        if served is None:
            return [], Coverage("absent", f"the server has no {kind.qualified} of {kind.version}")
        result = _named(connection, served, need) if need.name else list(_listed(connection, served, need))
        return [parameter_of({**raw, "kind": kind.plural, "apiVersion": kind.api_version}) for raw in result], READ
    except (Unreachable, TimedOut, Unauthenticated, ConfigError):
        raise
    except Forbidden as refused:
        return [], fallen_short("denied", refused)
    except ClusterError as failed:
        return [], fallen_short("failed", failed)


def _served(connection: Connection, kind: Kind) -> Kind | None:
    """The kind with its plural and its scope; None: there is none."""
    known = BY_KIND.get(kind.plural)
    if known is not None and known.api_version == kind.api_version and known.built_in:
        return known
    try:
        served = discovery.resources(connection, kind.root)
    except NotFound:
        return None
    for legacy_resource in served:
        if legacy_resource.kind == kind.plural and "/" not in legacy_resource.name:
            names = (legacy_resource.name, kind.plural)
            return Kind(
                kind.kind, names, kind.group, kind.version, legacy_resource.namespaced, kind.struct, listed=False
            )
    return None


def _path(kind: Kind, need: Need) -> str:
    return kind.path(quote(need.namespace, safe=""), quote(need.name, safe=""))


def _named(connection: Connection, kind: Kind, need: Need) -> list[Mapping[str, Any]]:
    """Nothing where the server says that just this object is missing."""
    if need.name in {".", ".."}:
        return []
    answer = connection.ask(_path(kind, need))
    if answer.code == 404 and (result := status(answer)) and result.names_object:
        return []
    return [_decoded(body(answer), kind)]


def _listed(connection: Connection, kind: Kind, need: Need) -> Iterator[Mapping[str, Any]]:
    token, count = "", 0
    while True:
        query = [("labelSelector", need.label_selector), ("limit", str(_CHUNK)), ("continue", token)]
        page = _decoded(body(connection.ask(_path(kind, need), [pair for pair in query if pair[1]])), kind)
        items, metadata = page.get("items") or [], page.get("metadata") or {}
        if not isinstance(items, list) or not isinstance(metadata, dict):
            raise ClusterError(f"the server's answer is no list of {kind.qualified}")
        count += len(items)
        if count > _MOST:
            raise ClusterError(f"the list of {kind.qualified} is left: there are more than {_MOST:,}")
        yield from (item for item in items if isinstance(item, dict))
        last, token = token, str(metadata.get("continue") or "")
        if not token:
            return
        if token == last or not items:
            raise ClusterError(f"the list of {kind.qualified} does not advance")


def _decoded(content: bytes, kind: Kind) -> Mapping[str, Any]:
    try:
        result: Mapping[str, Any] = msgspec.json.decode(content, type=dict[str, Any])
    except lists.UNREADABLE as fault:
        raise lists.unreadable(kind.qualified, fault) from fault
    return result
