"""Reads lists page by page and single objects, those of kinds that only the server knows with them, until a store has
what an answer needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from kubectl_kres import errors
from kubectl_kres.admission.base.versions import with_emulation
from kubectl_kres.cluster.connection import Connection
from kubectl_kres.cluster.read import discovery, lists
from kubectl_kres.cluster.read.lists import ListPage
from kubectl_kres.cluster.transport.parallel import run, start
from kubectl_kres.cluster.transport.response import Response, body, error, one_line, status
from kubectl_kres.model.admission_objects import Parameter, is_secret, parameter_of
from kubectl_kres.model.kinds import BY_KIND, Kind, write_kind
from kubectl_kres.model.objects import BOUND_PODS, is_checked, unreadable
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload import Workload
from kubectl_kres.store.sharing import Sharing
from kubectl_kres.store.store import READ, Coverage, LeftOut, ReadRequest, Store, coverage_after_error, partly_read

#: What is kept of a list in large numbers whose parts are alike.
_SHARED = (Pod, Workload)
#: Objects in one answer, and of one selector; whoever has more has no parameters.
_CHUNK, _MOST = 500, 10_000


def read(connection: Connection, kind: Kind, read: ReadRequest) -> tuple[list[Parameter], Coverage]:
    """The object of a need, or those that its selector takes. absent: the server has no such kind.

    Raises Unreachable, TimedOut, Unauthenticated and ConfigError: then nothing more can be read.
    """
    if is_secret(kind.api_version, kind.plural):
        return [], Coverage("failed", "Secrets are never read")
    try:
        served = _find_served_kind(connection, kind)
        if served is None:
            return [], Coverage("absent", f"the server has no {kind.qualified_name} of {kind.version}")
        result = (
            _read_named_object(connection, served, read) if read.name else list(_list_objects(connection, served, read))
        )
        return [parameter_of({**raw, "kind": kind.plural, "apiVersion": kind.api_version}) for raw in result], READ
    except (errors.Unreachable, errors.TimedOut, errors.Unauthenticated, errors.ConfigError):
        raise
    except errors.Forbidden as refused:
        return [], coverage_after_error("denied", refused)
    except errors.ClusterError as failed:
        return [], coverage_after_error("failed", failed)


def _find_served_kind(connection: Connection, kind: Kind) -> Kind | None:
    """Return the kind with its plural and its scope; None: there is none."""
    known_kind = BY_KIND.get(kind.plural)
    if known_kind is not None and known_kind.api_version == kind.api_version and known_kind.built_in:
        return known_kind
    try:
        served = discovery.resources(connection, kind.root)
    except errors.NotFound:
        return None
    for legacy_resource in served:
        if legacy_resource.kind == kind.plural and "/" not in legacy_resource.name:
            names = (legacy_resource.name, kind.plural)
            return Kind(
                kind.kind, names, kind.group, kind.version, legacy_resource.namespaced, kind.struct, listed=False
            )
    return None


def _path(kind: Kind, read: ReadRequest) -> str:
    return kind.path(quote(read.namespace, safe=""), quote(read.name, safe=""))


def _read_named_object(connection: Connection, kind: Kind, read: ReadRequest) -> list[Mapping[str, Any]]:
    """Nothing where the server says that just this object is missing."""
    if read.name in {".", ".."}:
        return []
    answer = connection.request(_path(kind, read))
    if answer.code == 404 and (result := status(answer)) and result.names_object:
        return []
    return [_decode_object(body(answer), kind)]


def _list_objects(connection: Connection, kind: Kind, read: ReadRequest) -> Iterator[Mapping[str, Any]]:
    token, count, advance = "", 0, _Advance(kind)
    while True:
        query = [("labelSelector", read.label_selector), ("limit", str(_CHUNK)), ("continue", token)]
        request_page = partial(connection.request, _path(kind, read), [pair for pair in query if pair[1]])
        page = _decode_object(body(advance.wait(request_page)), kind)
        items, metadata = page.get("items") or [], page.get("metadata") or {}
        if not isinstance(items, list) or not isinstance(metadata, dict):
            raise errors.ClusterError(f"the server's answer is no list of {kind.qualified_name}")
        count += len(items)
        if count > _MOST:
            raise errors.ClusterError(f"the list of {kind.qualified_name} is left: there are more than {_MOST:,}")
        yield from (item for item in items if isinstance(item, dict))
        last, token = token, str(metadata.get("continue") or "")
        if not token:
            return
        if token == last or not items:
            raise errors.ClusterError(f"the list of {kind.qualified_name} does not advance")


def _decode_object(content: bytes, kind: Kind) -> Mapping[str, Any]:
    try:
        result: Mapping[str, Any] = msgspec.json.decode(content, type=dict[str, Any])
    except lists.UNREADABLE as fault:
        raise lists.unreadable(kind.qualified_name, fault) from fault
    return result


#: How many needs are read side by side.
WIDTH = 4
#: Objects asked for in one request; small pages are also the fastest.
CHUNK_SIZE = 500
#: Objects of one list, more than etcd can hold pods, and pages without any one after the other.
MOST, MOST_EMPTY = 2_000_000, 1_000
#: Seconds that all pages of one list are waited for together: each may come in time, and the list go on forever.
LONGEST_LIST = 600.0

ProgressCallback = Callable[[ReadRequest, int, int], None]


class _Version(Struct, frozen=True, rename="camel"):
    git_version: str | None = None
    emulation_major: str | None = None
    emulation_minor: str | None = None

    @property
    def text(self) -> str:
        return with_emulation(self.git_version or "", self.emulation_major or "", self.emulation_minor or "")


class _Head(Struct, frozen=True, rename="camel"):
    """What every object says of itself."""

    api_version: str | None = None
    kind: str | None = None


class _ListPosition(Struct, frozen=True):
    """Where a list stands: what to ask next, and up to which key its objects were already given out."""

    limit: int
    token: str = ""
    stale: bool = False
    after: str = ""

    def query(self, read: ReadRequest) -> list[tuple[str, str]]:
        pairs = (
            ("labelSelector", read.label_selector),
            ("fieldSelector", read.field_selector),
            ("limit", str(self.limit) if self.limit else ""),
            ("continue", self.token),
        )
        return [(name, value) for name, value in pairs if value]


def pages(
    connection: Connection,
    kind: Kind,
    read: ReadRequest,
    chunk_size: int = CHUNK_SIZE,
    *,
    skipped: list[LeftOut] | None = None,
    progress: ProgressCallback | None = None,
) -> Iterator[list[Any]]:
    """Yield the objects that ``read`` lists, page by page; the next page is on its way while one is worked on.

    An object whose fields have the wrong type is left out and named in ``skipped``. If the list's token expires, it
    goes on where the server says, with newer objects from there on; if the server does not say, the list is read again
    in one piece, and what was given out before is not given out twice (lists are sorted by their key in etcd,
    namespace/name). Objects made, changed or deleted meanwhile may be missing or old, as in any list that is resumed.
    ``chunk_size`` 0: one request. ``progress`` hears of each page how many objects were read so far, and how many
    follow, 0 where the server does not say. Raises StatusError, Unreachable, TimedOut; ClusterError for what is no
    list.
    """
    count = 0
    for page in read_list_pages(connection, kind, read, chunk_size):
        count += len(page.items)
        if progress:
            progress(read, count, page.remaining)
        if skipped is not None:
            skipped.extend(each for each in page.skipped if each not in skipped)
        if page.items:
            yield page.items


def read_list_pages(
    connection: Connection,
    kind: Kind,
    read: ReadRequest,
    chunk_size: int = CHUNK_SIZE,
    struct: Any = None,
    beside: Kind | None = None,
) -> Iterator[ListPage]:
    """As ``pages``, with what the server says of each page. Its ``items`` may be none.

    ``beside``: the same objects are decoded as its struct, too.
    """
    path = path_of(kind, read.namespace)
    position, last = _ListPosition(max(chunk_size, 0)), ""
    advance = _Advance(kind)
    answer = advance.wait(partial(connection.request, path, position.query(read)))
    while True:
        if answer.code == 410 and position.token:
            position = _resume_list(position, answer, last)
            answer = advance.wait(partial(connection.request, path, position.query(read)))
            continue
        page = lists.decode(body(answer), kind, struct)
        if beside is not None:
            page = replace(page, beside=lists.decode(body(answer), kind, beside.struct).items)
        del answer
        if page.token and page.token == position.token:
            raise errors.ClusterError(
                f"the list of {kind.qualified_name} does not advance: its page names itself as the next one"
            )
        if page.items:
            last = _key(page.items[-1])
        if position.after:
            items, others = (
                [item for item in part if _key(item) > position.after] for part in (page.items, page.beside)
            )
            page = replace(page, items=items, beside=others)
        advance.check_progress(page)
        position = _ListPosition(position.limit, page.token, after=position.after)
        coming = start(partial(connection.request, path, position.query(read))) if page.token else None
        yield page
        if coming is None:
            return
        answer = advance.wait(coming.result)


class _Advance:
    """That a list comes to an end."""

    def __init__(self, kind: Kind) -> None:
        self._kind, self._count, self._empty, self._waited_seconds = kind, 0, 0, 0.0
        #: The first object of each page.
        self._firsts: set[str] = set()

    def wait(self, answer: Callable[[], Response]) -> Response:
        """The answer. Raises ClusterError where all of them took too long; what is done with a page does not count."""
        began = monotonic()
        result = answer()
        self._waited_seconds += monotonic() - began
        if self._waited_seconds > LONGEST_LIST:
            raise errors.ClusterError(
                f"the list of {self._kind.qualified_name} is left: its pages take more than {LONGEST_LIST:g} seconds"
            )
        return result

    def check_progress(self, page: ListPage) -> None:
        """Raise ClusterError for a page after which there is no use in the next one."""
        self._count += len(page.items)
        self._empty = 0 if page.items or page.skipped else self._empty + 1
        first = _key(page.items[0]) if page.items else ""
        if page.token and (first in self._firsts or self._empty > MOST_EMPTY):
            reason = "it begins anew" if first else f"{self._empty} pages hold nothing, and there is a next one"
            raise errors.ClusterError(f"the list of {self._kind.qualified_name} does not advance: {reason}")
        if self._count > MOST:
            raise errors.ClusterError(f"the list of {self._kind.qualified_name} is left: there are more than {MOST:,}")
        if first:
            self._firsts.add(first)


def _resume_list(position: _ListPosition, answer: Response, last: str) -> _ListPosition:
    """Return where to go on after 410. Raises Expired if there is nothing left to try."""
    result = status(answer)
    token = result.token if result else ""
    if token and not position.stale:
        return _ListPosition(position.limit, token, stale=True, after=position.after)
    if not position.limit:
        raise error(answer)
    return _ListPosition(0, after=last)


def _key(item: Any) -> str:
    return f"{item.metadata.namespace}/{item.metadata.name}"


def get(connection: Connection, kind: Kind, namespace: str, name: str, struct: Any = None) -> Any:
    """Return one object, as ``struct`` or else with its field managers where the kind keeps them.

    Raises StatusError (NotFound, Forbidden, …), Unreachable, TimedOut, and ClusterError if it cannot be decoded;
    UsageError for a name that no object can have.
    """
    return _object(connection.get(path_of(kind, namespace, name)), kind, name, struct)


def raw(connection: Connection, kind: Kind, namespace: str, name: str) -> Mapping[str, Any]:
    """Return one object with all of its fields, which no struct holds. Raises as ``get``."""
    content = connection.get(path_of(kind, namespace, name))
    try:
        result: Mapping[str, Any] = lists.decoder(dict[str, Any]).decode(content)
    except lists.UNREADABLE as fault:
        raise lists.unreadable(f'{kind.qualified_name} "{name}"', fault) from fault
    return result


def version(connection: Connection) -> str:
    """Return the server's ``gitVersion``, with the version that it emulates if that is another one.

    Empty if it does not say or may not be asked. Raises as ``Connection.get``.
    """
    try:
        return str(lists.decoder(_Version).decode(connection.get("/version")).text)
    except errors.Unauthenticated:
        raise
    except (errors.StatusError, *lists.UNREADABLE):
        return ""


def fill(
    connection: Connection,
    store: Store,
    reads: Iterable[ReadRequest],
    *,
    kinds: Mapping[str, Kind] = BY_KIND,
    chunk_size: int = CHUNK_SIZE,
    progress: ProgressCallback | None = None,
) -> None:
    """Read each need into the store and record how that went, in the order of the needs.

    403 is denied; 404 on a name is read, since the object is then known not to exist, on the first page of a list it
    is absent where the server has no such kind (see ``is_absent_kind``); any other refusal, and objects that could not
    be decoded, are failed, and the objects that were read stay. ``progress``
    hears of each page, as that of ``pages``, from several threads. Raises Unreachable, TimedOut, Unauthenticated and
    ConfigError: then nothing more can be read.
    """
    read_requests = tuple(dict.fromkeys(reads))
    sharing = Sharing()
    jobs: list[Callable[[], tuple[Sequence[Any], Coverage]]] = []
    for read_request in read_requests:
        kind = kinds[read_request.kind]
        if kind.struct is Parameter:
            jobs.append(partial(read, connection, kind, read_request))
        else:
            keep = store.lean.get(read_request.kind) if not read_request.name else None
            gather = _gather if read_request.kind == BOUND_PODS else None
            jobs.append(partial(_read, connection, kind, read_request, chunk_size, progress, sharing, keep, gather))
    for read_request, (items, coverage) in zip(read_requests, run(jobs, WIDTH), strict=True):
        for item in items:
            # A list leaves out who wrote an object's fields: what was read by its name stays.
            if read_request.name or store.read(read_request.kind, item.metadata.name, item.metadata.namespace) is None:
                store.add(read_request.kind, item, whole=bool(read_request.name))
        store.cover(read_request, coverage)


def _gather(pages: Iterable[Sequence[Any]]) -> Any:
    """Of pods on nodes what the scheduler counts there: of many pods nothing else fits into memory."""
    from kubectl_kres.scheduling.node_info import gather_pods  # noqa: PLC0415 - only a pod that waits for a node needs it

    return gather_pods(pages)


def _read(
    connection: Connection,
    kind: Kind,
    read: ReadRequest,
    chunk_size: int,
    progress: ProgressCallback | None,
    sharing: Sharing,
    keep: Callable[[Any], Any] | None,
    gather: Callable[[Iterable[Sequence[Any]]], Any] | None = None,
) -> tuple[list[Any], Coverage]:
    """Return what is read, or what ``keep`` keeps of it, or the one object that ``gather`` makes of all pages.

    Of workloads and pods, which all stay in the store, ``sharing`` keeps equal parts once.
    """
    items: list[Any] = []
    skipped: list[LeftOut] = []
    try:
        if read.name:
            return read_named_object(connection, kind, read)
        listed = pages(connection, kind, read, chunk_size, skipped=skipped, progress=progress)
        if gather is not None:
            items.append(gather(listed))
            listed = iter(())
        for page in listed:
            if keep is not None:
                items += map(keep, page)
                continue
            if kind.struct in _SHARED:
                for item in page:
                    sharing.share(item)
            items += page
    except errors.ClusterError as error:
        return items, shortfall(connection, kind, error, begun=bool(items))
    return items, partly_read(skipped)


def shortfall(connection: Connection, kind: Kind, error: errors.ClusterError, *, begun: bool) -> Coverage:
    """Return how reading a list went that ended with an error; ``begun``: after its first page.

    Raises the error where nothing more can be read.
    """
    if isinstance(error, (errors.Unreachable, errors.TimedOut, errors.Unauthenticated, errors.ConfigError)):
        raise error
    if isinstance(error, errors.Forbidden):
        return coverage_after_error("denied", error)
    if isinstance(error, errors.NotFound) and not begun and is_absent_kind(connection, kind, error):
        return Coverage("absent", error.message)
    return coverage_after_error("failed", error)


def is_absent_kind(connection: Connection, kind: Kind, missing: errors.NotFound) -> bool:
    """Return whether the server has no such kind, ``missing`` being what it answered to the first page of a list.

    What belongs to every API server is never absent. Others are if the server's own Status says it; after a mere
    sentence, as any web server on the way may say it, discovery is asked. Raises as ``discovery.is_served``.
    """
    if kind.built_in:
        return False
    if not isinstance(missing, errors.NoSuchPath):
        return True
    try:
        return not discovery.is_served(connection, kind)
    except (errors.Unreachable, errors.TimedOut, errors.Unauthenticated, errors.ConfigError):
        raise
    except errors.ClusterError:
        return False


def read_named_object(connection: Connection, kind: Kind, read: ReadRequest) -> tuple[list[Any], Coverage]:
    """The one object of a need, or none if the server says that just this one is missing. Raises as ``get``."""
    answer = connection.request(path_of(kind, read.namespace, read.name))
    if answer.code == 404 and (result := status(answer)) and result.names_object:
        return [], READ
    return [_object(body(answer), kind, read.name)], READ


def _object(content: bytes, kind: Kind, name: str, struct: Any = None) -> Any:
    what = f'{kind.qualified_name} "{name}"'
    try:
        head = lists.decoder(_Head).decode(content)
        item = lists.decoder(struct or kind.detail or Workload).decode(content)
    except lists.UNREADABLE as fault:
        raise lists.unreadable(what, fault) from fault
    lists.confirm(head.api_version, head.kind, kind, kind.kind.partition(".")[0], what)
    if item.metadata.name != name:
        raise errors.ClusterError(f'the server answered with "{one_line(item.metadata.name)}" instead of {what}')
    write_kind(item, kind)
    if is_checked(type(item)) and (reason := unreadable(item)):
        raise errors.ClusterError(one_line(f"{what} could not be decoded: {reason}"))
    return item


def path_of(kind: Kind, namespace: str, name: str = "") -> str:
    """Return where the kind is listed, or one object of it is. Raises UsageError for what would be another path."""
    return kind.path(_segment(namespace), _segment(name))


def _segment(text: str) -> str:
    """Return a name as a part of a path. Raises UsageError, in kubectl's words, for what would be another path."""
    for bad in ("..", ".") if text in {".", ".."} else ("/", "%"):
        if bad in text:
            verb = "may not be" if text == bad else "may not contain"
            raise errors.UsageError(f"invalid resource name \"{text}\": [{verb} '{bad}']")
    return quote(text, safe="")
