"""Discovery: kinds that are not in our own table, as the server lists them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from msgspec import Struct

from kubectl_kres.cluster.connection import Connection
from kubectl_kres.cluster.read import lists
from kubectl_kres.cluster.transport.response import one_line
from kubectl_kres.errors import ClusterError, StatusError
from kubectl_kres.model import kinds
from kubectl_kres.model.kinds import Kind
from kubectl_kres.model.workload import Workload

T = TypeVar("T")

_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList"
#: What the list of groups calls itself, in its forms; the first is the one that names resources, too.
_DIRECTORIES = frozenset(("APIGroupDiscoveryList", "APIGroupList", "APIVersions"))
_ACCEPT = ",".join((_AGGREGATED.format("v2"), _AGGREGATED.format("v2beta1"), "application/json"))


class _NamedKind(Struct, frozen=True):
    name: str = ""


class _ServedResource(Struct, frozen=True, rename="camel"):
    """A resource in the aggregated form."""

    resource: str = ""
    response_kind: _ResponseKind | None = None
    scope: str = ""
    singular_resource: str = ""
    short_names: tuple[str, ...] | None = None


class _ResponseKind(Struct, frozen=True):
    kind: str = ""


class _GroupVersion(Struct, frozen=True):
    version: str = ""
    resources: tuple[_ServedResource, ...] | None = None


class _Group(Struct, frozen=True):
    metadata: _NamedKind = _NamedKind()
    versions: tuple[_GroupVersion, ...] | None = None


class _LegacyVersion(Struct, frozen=True):
    version: str = ""


class _LegacyGroup(Struct, frozen=True):
    name: str = ""
    versions: tuple[_LegacyVersion, ...] | None = None


class _Directory(Struct, frozen=True):
    """The answer of ``/api`` or ``/apis`` in either form: ``items``, or ``versions`` and ``groups``."""

    kind: str = ""
    items: tuple[_Group, ...] | None = None
    versions: tuple[str, ...] | None = None
    groups: tuple[_LegacyGroup, ...] | None = None


class _LegacyResource(Struct, frozen=True, rename="camel"):
    name: str = ""
    kind: str = ""
    singular_name: str = ""
    namespaced: bool = False
    short_names: tuple[str, ...] | None = None


class _LegacyResources(Struct, frozen=True):
    kind: str = ""
    resources: tuple[_LegacyResource, ...] | None = None


def find_kind(connection: Connection, text: str) -> Kind:
    """Return the kind that a user names as plural, singular or short name, alone or as TYPE.GROUP or
    TYPE.VERSION.GROUP.

    Kinds that we know need no request. Of several, the core group wins, then the order of the server; a full name wins
    over a short one. Kinds that we do not know are decoded as workloads, which finds a pod template in them. Raises
    ClusterError in kubectl's words if the server has no such type.
    Source: apimachinery meta.PriorityRESTMapper, cli-runtime resource.Builder.mappingFor.
    """
    known_kind = kinds.find(text)
    if known_kind is not None:
        return known_kind
    name, _, rest = text.lower().partition(".")
    served = [kind for kind in _list_served_kinds(connection) if name in kind.names]
    for fits in _choices(rest):
        matching = [kind for kind in served if fits(kind)]
        full = [kind for kind in matching if name in kind.names[:2]]
        if matching:
            return (full or matching)[0]
    raise ClusterError(f'the server doesn\'t have a resource type "{text}"', hint=kinds.suggest_kind(text))


def find_served_kinds(connection: Connection, wanted: Iterable[Kind]) -> tuple[Kind, ...]:
    """Return those of some kinds of ours that the server serves in our version, or in the older one that is read, too.
    Raises ClusterError if it cannot be asked.

    Without asking, a kind that is not installed is reported from one that may not be read by nobody: authorization
    comes first, and answers 403 for both.
    """
    sought = tuple(wanted)
    pairs = {
        (kind.group, kind.version, kind.plural)
        for kind in _list_served_kinds(connection, frozenset((kind.group, kind.version) for kind in sought))
    }
    return tuple(
        kind
        for kind in sought
        if pairs & {(kind.group, version, kind.plural) for version in (kind.version, kind.older)}
    )


def is_served(connection: Connection, kind: Kind) -> bool:
    """Return whether the server serves a kind of a named group, which is one short answer where it lacks the whole
    group.

    Raises ClusterError if it cannot be asked.
    """
    directory = _directory(connection, "/apis", "application/json")
    versions = {
        version.version
        for group in directory.groups or ()
        if group.name == kind.group
        for version in group.versions or ()
    }
    if not {kind.version, kind.older} & versions:
        return False
    return any(resource.name == kind.plural for resource in resources(connection, kind.root))


def versions(connection: Connection) -> frozenset[tuple[str, str]]:
    """Kind and API version of all that the server serves. Raises ClusterError if it cannot be asked."""
    return frozenset((kind.kind, kind.api_version) for kind in _list_served_kinds(connection))


def _choices(rest: str) -> Iterator[Callable[[Kind], bool]]:
    """Yield what ``rest`` behind the type's name may mean, the most exact first."""
    if not rest:
        yield lambda _: True
        return
    version, dot, group = rest.partition(".")
    if dot:
        yield lambda kind: (kind.version, kind.group) == (version, group)
    yield lambda kind: kind.group == rest
    yield lambda kind: kind.group.startswith(rest)


def _list_served_kinds(connection: Connection, needed: frozenset[tuple[str, str]] = frozenset()) -> Iterator[Kind]:
    """Yield every kind of the server: the core group first, then group by group, the preferred version of each first.

    ``needed``: groups and versions without which there is no answer.
    """
    for root in ("/api", "/apis"):
        directory = _directory(connection, root, _ACCEPT)
        for group in directory.items or ():
            for version in group.versions or ():
                yield from (
                    _kind(group.metadata.name, version.version, resource) for resource in version.resources or ()
                )
        for name in directory.versions or ():
            yield from _legacy(connection, "", name)
        for old in directory.groups or ():
            for served in old.versions or ():
                yield from _legacy(connection, old.name, served.version, needed)


def _directory(connection: Connection, root: str, accept: str) -> _Directory:
    """Return the groups below a path. Raises ClusterError for what is no such list."""
    directory = _decode(connection.get(root, accept=accept), _Directory)
    if directory.kind not in _DIRECTORIES:
        raise ClusterError(
            f"the server's answer is not its list of resource types: {one_line(directory.kind) or 'no kind'}"
        )
    return directory


def resources(connection: Connection, root: str) -> tuple[_LegacyResource, ...]:
    """Return what a group and version serves, subresources among it. Raises ClusterError; NotFound where there
    is none.
    """
    legacy_resources = _decode(connection.get(root), _LegacyResources)
    if legacy_resources.kind != "APIResourceList":
        raise ClusterError(
            f"the server's answer is not its list of resource types: {one_line(legacy_resources.kind) or 'no kind'}"
        )
    return legacy_resources.resources or ()


def _legacy(
    connection: Connection, group: str, version: str, needed: frozenset[tuple[str, str]] = frozenset()
) -> Iterator[Kind]:
    """Yield the kinds of one version of a group; none if the server behind it is down, so that it hides no other."""
    root = f"/apis/{group}/{version}" if group else f"/api/{version}"
    try:
        served = resources(connection, root)
    except StatusError:
        if (group, version) in needed:
            raise
        return
    for legacy_resource in served:
        if "/" not in legacy_resource.name:
            scope = "Namespaced" if legacy_resource.namespaced else "Cluster"
            response = _ResponseKind(legacy_resource.kind)
            about = _ServedResource(
                legacy_resource.name, response, scope, legacy_resource.singular_name, legacy_resource.short_names
            )
            yield _kind(group, version, about)


def _decode(content: bytes, struct: type[T]) -> T:
    try:
        known: Any = struct
        result: T = lists.decoder(known).decode(content)
    except lists.UNREADABLE as error:
        raise lists.unreadable("the server's list of resource types", error) from error
    return result


def _kind(group: str, version: str, served: _ServedResource) -> Kind:
    kind = served.response_kind.kind if served.response_kind else ""
    known_kind = kinds.BY_KIND.get(kind)
    if known_kind is not None and (known_kind.group, known_kind.version) == (group, version):
        return known_kind
    names = (served.resource, served.singular_resource or kind.lower(), *(served.short_names or ()))
    return Kind(kind, names, group, version, served.scope == "Namespaced", Workload)
