"""The objects that were read, by kind, namespace and name, with what could not be read beside them.

A ``ReadRequest`` says what an answer needs, and ``Changes`` what became of a store in one go.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeVar

from msgspec import Struct

from kubectl_kres.errors import ClusterError, Forbidden, StatusError
from kubectl_kres.model.objects import ObjectRef

T = TypeVar("T")

ReadState = Literal["read", "denied", "absent", "failed", "unread"]


class ReadRequest(Struct, frozen=True, omit_defaults=True):
    """One GET: a kind in a namespace (empty: all, or cluster-scoped), one object if ``name`` is given.

    ``required``: without it the answer is partial; otherwise it only adds to the explanation.
    """

    kind: str
    namespace: str = ""
    name: str = ""
    label_selector: str = ""
    field_selector: str = ""
    required: bool = True


class LeftOut(Struct, frozen=True, omit_defaults=True):
    """An object of a list that could not be decoded. ``line`` names it and says why.

    ``namespace`` and ``name`` are empty where they could not be decoded either, or there is none.
    """

    line: str
    namespace: str = ""
    name: str = ""


class Coverage(Struct, frozen=True, omit_defaults=True):
    """How reading went.

    read: the objects are in the store, none is missing. denied: 403; ``message`` holds the server's words.
    absent: the server has no such kind, which is a complete answer. failed: any other error.
    unread: nobody asked for it, or the snapshot or the files hold none of this kind.
    ``code``, ``reason`` and ``hint`` are those of a refusal. ``left_out``: all that is missing; none: it is not known
    what is.
    """

    state: ReadState
    message: str = ""
    code: int = 0
    reason: str = ""
    hint: str = ""
    left_out: tuple[LeftOut, ...] = ()

    @property
    def is_known(self) -> bool:
        """Return whether what is not in the store is known not to exist."""
        return self.state in {"read", "absent"}

    @property
    def has_all_objects(self) -> bool:
        """Return whether all objects are in the store but for those that are left out by name."""
        return self.is_known or bool(self.left_out)

    def narrowed(self, namespace: str, name: str) -> Coverage:
        """Return how it went for the objects of a namespace and of a name; empty: of all."""
        if not self.left_out:
            return self
        return partly_read(
            each for each in self.left_out if _may_be(each.namespace, namespace) and _may_be(each.name, name)
        )

    def error(self, otherwise: str = "") -> ClusterError:
        """Return what it is to those who cannot do without it. ``otherwise``: the message where nothing else is
        known.
        """
        message = self.message or otherwise
        if self.state == "denied":
            return Forbidden(message, code=403, reason=self.reason or "Forbidden", hint=self.hint)
        if self.code:
            return StatusError(message, code=self.code, reason=self.reason, hint=self.hint)
        return ClusterError(message, hint=self.hint)


def coverage_after_error(state: ReadState, error: ClusterError) -> Coverage:
    """Return the coverage of a read that ended with an error."""
    if isinstance(error, StatusError):
        return Coverage(state, error.message, error.code, error.reason, error.hint)
    return Coverage(state, error.message, hint=error.hint)


def partly_read(left_out: Iterable[LeftOut]) -> Coverage:
    """Return the coverage of what was read but for some objects; of all if there are none."""
    missing = tuple(dict.fromkeys(left_out))
    return Coverage("failed", "; ".join(each.line for each in missing), left_out=missing) if missing else READ


def _may_be(text: str, asked: str) -> bool:
    return not text or asked in {"", text}


UNREAD = Coverage("unread")
READ = Coverage("read")


class Origin(Struct, frozen=True, omit_defaults=True):
    """Where the objects of a store come from.

    kind: cluster, snapshot, demo or files. name: the server's address or the file. version: the API server's
    ``gitVersion``, empty if unknown. time: RFC 3339 moment of reading, empty if unknown. context: of the kubeconfig.
    flags: those with which kubectl asks that server as the same user, quoted for a shell. reading: those with which a
    command of ours reads the same snapshot.
    """

    kind: str
    name: str = ""
    version: str = ""
    time: str = ""
    context: str = ""
    flags: str = ""
    reading: str = ""


#: Kinds that tenants may usually list in their namespaces, not in all namespaces.
_OWN = frozenset({"ResourcePoolClaim"})


#: By kind what is kept of an object that is added.
Kept = Mapping[str, Callable[[Any], Any]]


class _Memo:
    """What was made of a store. ``now``: how often it had changed when that was last known to be right."""

    __slots__ = ("beside", "now", "revision", "value")

    def __init__(self, now: tuple[int, int], revision: tuple[int, ...], beside: object, value: Any) -> None:
        self.now, self.revision, self.beside, self.value = now, revision, beside, value


class Store:
    """The objects of one moment. An object added twice replaces the first one.

    Objects are any struct with ``metadata.namespace`` and ``metadata.name``. ``files`` names the file of an object that
    came from ``-f``, ``written`` has those of them, as they stand there, that a webhook has yet to look at; ``beneath``
    holds the object that one of a file takes the place of.
    """

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.files: dict[ObjectRef, str] = {}
        self.written: dict[ObjectRef, Mapping[str, Any]] = {}
        #: What is there in the place of an object of a file.
        self.beneath: dict[ObjectRef, Any] = {}
        self._objects: dict[str, dict[str, dict[str, Any]]] = {}
        self._coverage: dict[ReadRequest, Coverage] = {}
        #: What was denied or failed, also once the objects of its kind were dropped to make room.
        self._failures: dict[ReadRequest, Coverage] = {}
        #: Kinds that an answer asked of a snapshot or of files, which hold what others ask, too.
        self.asked: set[str] = set()
        #: The same needs by what they name: a list of thousands of objects asks for the coverage of each.
        self._by_place: dict[str, dict[tuple[str, str], dict[ReadRequest, None]]] = {}
        self._revisions: dict[str, int] = {}
        #: Rises with each change of anything.
        self.changes = 0
        #: By kind what is kept of an object that is added; of other kinds it is kept whole.
        self.lean: dict[str, Callable[[Any], Any]] = {}
        #: By kind what reads the objects that are there and were not asked for yet. That they are there is covered.
        self.deferred: dict[str, Callable[[], Iterable[Any]]] = {}
        self._memos: dict[Hashable, _Memo] = {}

    def memo(self, key: Hashable, kinds: Sequence[str] | None, beside: object, make: Callable[[], T]) -> T:
        """Return what ``make`` makes of the store, remembered under ``key`` for as long as it would be the same.

        It is made again where objects of ``kinds``, what is known of them, or the files have changed (``kinds`` None:
        where anything has), or where ``beside`` is not what it was: all else that decides.
        """
        now = self.changes, len(self.files)
        last = self._memos.get(key)
        if last is not None and last.beside == beside:
            same = last.now == now
            if not same and kinds is not None and last.now[1] == now[1] and last.revision == self.revision(*kinds):
                last.now, same = now, True
            if same:
                remembered: T = last.value
                return remembered
        revision = self.revision(*kinds or ())
        value = make()
        self._memos[key] = _Memo(now, revision, beside, value)
        return value

    def copied(self) -> Store:
        """Return another store with the same objects; what is put into one of them is not in the other."""
        other = Store(self.origin)
        other.deferred = dict(self.deferred)
        other.files, other.written, other.beneath = dict(self.files), dict(self.written), dict(self.beneath)
        other._objects = {kind: {name: dict(space) for name, space in spaces.items()}
                          for kind, spaces in self._objects.items()}  # fmt: skip
        for read, coverage in self._coverage.items():
            other.cover(read, coverage)
        other._failures = dict(self._failures)
        return other

    def revision(self, *kinds: str) -> tuple[int, ...]:
        """Return a number for each kind that rises whenever its objects, or what is known of them, may have changed."""
        return tuple(self._revisions.get(kind, 0) for kind in kinds)

    def revision_beside(self, kind: str) -> int:
        """Return a number that rises whenever anything but objects of the kind may have changed."""
        return self.changes - self._revisions.get(kind, 0)

    def _increase_revision(self, kind: str) -> None:
        self._revisions[kind] = self._revisions.get(kind, 0) + 1
        self.changes += 1

    def add(
        self, kind: str, item: Any, *, file: str = "", written: Mapping[str, Any] | None = None, whole: bool = True
    ) -> None:
        """``whole`` False: of the object there is no more than what is kept."""
        namespace, name = item.metadata.namespace, item.metadata.name
        self._increase_revision(kind)
        if whole and kind in self.lean:
            item = self.lean[kind](item)
        self._objects.setdefault(kind, {}).setdefault(namespace, {})[name] = item
        if file:
            self.files[ObjectRef(kind, name, namespace)] = file
        if written is not None:
            self.written[ObjectRef(kind, name, namespace)] = written

    def merge_store(self, others: Store) -> None:
        """Put the objects of another store into this one, where they replace those of the same names."""
        for kind in others.kinds():
            for item in others.all(kind):
                namespace, name = item.metadata.namespace, item.metadata.name
                before = self.get(kind, name, namespace)
                if before is not None and before is not item:
                    self.beneath[ObjectRef(kind, name, namespace)] = before
                self.add(kind, item)
        self.files.update(others.files)
        self.written.update(others.written)

    def remove(self, kind: str, name: str, namespace: str = "") -> bool:
        """Drop one object; whether it was there."""
        self._increase_revision(kind)
        space = self._objects.get(kind, {}).get(namespace, {})
        return space.pop(name, None) is not None

    def open_deferred(self, *kinds: str) -> None:
        """Read what was deferred of some kinds; without a name of all."""
        for kind in kinds or tuple(self.deferred):
            if kind in self.deferred:
                for item in self.deferred.pop(kind)():
                    self.add(kind, item)

    def get(self, kind: str, name: str, namespace: str = "") -> Any | None:
        if kind in self.deferred:
            self.open_deferred(kind)
        return self._objects.get(kind, {}).get(namespace, {}).get(name)

    def read(self, kind: str, name: str, namespace: str = "") -> Any | None:
        """Return what is there apart from the files; None where nothing is known of it."""
        ref = ObjectRef(kind, name, namespace)
        return self.beneath.get(ref) if ref in self.files else self.get(kind, name, namespace)

    def all(self, kind: str, namespace: str | None = None) -> Iterator[Any]:
        """Objects of a kind sorted by namespace and name; ``namespace`` None: everywhere. Who stops in between, as
        screens do, goes on with those that are still there.
        """
        if kind in self.deferred:
            self.open_deferred(kind)
        spaces = self._objects.get(kind, {})
        for space in sorted(spaces) if namespace is None else (namespace,):
            result = spaces.get(space, {})
            for name in sorted(result):
                if (item := result.get(name)) is not None:
                    yield item

    def keys(self, kind: str, namespace: str = "") -> Iterator[tuple[str, str]]:
        """Namespace and name of the objects of a kind, in no order; ``namespace`` empty: everywhere."""
        spaces = self._objects.get(kind, {})
        for space in (namespace,) if namespace else spaces:
            yield from ((space, name) for name in spaces.get(space, ()))

    def namespaces(self, kind: str) -> tuple[str, ...]:
        """Return those of the objects of a kind, in no order."""
        return tuple(space for space, objects in self._objects.get(kind, {}).items() if objects)

    def forget(self, kind: str) -> None:
        """Drop the objects of a kind and what is known of them, so that a long list can pass through page by page."""
        self._increase_revision(kind)
        self._objects.pop(kind, None)
        self.deferred.pop(kind, None)
        self._coverage = {read: coverage for read, coverage in self._coverage.items() if read.kind != kind}
        self._by_place.pop(kind, None)

    def leave(self, kind: str, namespace: str) -> None:
        """Drop the objects of a kind in one namespace, and what is known of them."""
        self._increase_revision(kind)
        places = self._by_place.get(kind, {})
        for name in ("", *self._objects.get(kind, {}).pop(namespace, ())):
            for read in places.pop((namespace, name), ()):
                del self._coverage[read]

    def empty(self, kind: str, namespace: str) -> None:
        """Drop the objects of a kind in one namespace. That they were read stays known."""
        self._increase_revision(kind)
        self._objects.get(kind, {}).pop(namespace, None)

    def kinds(self) -> tuple[str, ...]:
        return tuple(sorted(self._objects))

    def cover(self, read: ReadRequest, coverage: Coverage) -> None:
        self._increase_revision(read.kind)
        self._coverage[read] = coverage
        if coverage.state in {"denied", "failed"}:
            self._failures[read] = coverage
        elif self._failures:
            self._failures.pop(read, None)
        self._by_place.setdefault(read.kind, {}).setdefault((read.namespace, read.name), {})[read] = None

    def uncover(self, read: ReadRequest) -> None:
        """Forget how reading ``read`` went."""
        self._increase_revision(read.kind)
        self._coverage.pop(read, None)
        self._failures.pop(read, None)
        self._by_place.get(read.kind, {}).get((read.namespace, read.name), {}).pop(read, None)

    def covered(self, read: ReadRequest) -> Coverage:
        """Return how reading ``read`` went; a wider need that was read (all names, all namespaces) covers a narrower
        one.
        """
        exact = self._coverage.get(read)
        if exact is not None:
            return exact
        wider: dict[ReadRequest, Coverage] = {}
        for other in self._find_wider_requests(read):
            coverage = wider[other] = self._coverage[other].narrowed(read.namespace, read.name)
            if coverage.is_known:
                return coverage
        if len(wider) <= 1:
            return next(iter(wider.values()), UNREAD)
        return [wider[other] for other in self._coverage if other in wider][-1]

    def _find_wider_requests(self, read: ReadRequest) -> Iterator[ReadRequest]:
        places = self._by_place.get(read.kind, {})
        for space in ("", read.namespace) if read.namespace else ("",):
            for name in ("", read.name) if read.name else ("",):
                for other in places.get((space, name), ()):
                    if _is_covered_by(other, read):
                        yield other

    def should_read(self, read: ReadRequest) -> bool:
        """Return whether it is worth reading: nobody asked, or only for more than that, which a tenant may not read."""
        coverage = self.covered(read)
        if coverage.state == "unread":
            return True
        return not coverage.is_known and read.kind in _OWN and read not in self._coverage

    def gaps(self) -> dict[ReadRequest, Coverage]:
        """Return what was asked for and is not known, in the order of asking."""
        return {read: coverage for read, coverage in self._coverage.items() if not coverage.is_known}

    def failures(self) -> dict[ReadRequest, Coverage]:
        """Return what was denied or failed and not read since, in the order of asking."""
        return dict(self._failures)

    def reads_of_kind(self, kind: str) -> Iterator[ReadRequest]:
        """The reads of a kind that were tried."""
        return (read for reads in self._by_place.get(kind, {}).values() for read in reads)

    def coverages(self) -> dict[ReadRequest, Coverage]:
        return dict(self._coverage)


def _is_covered_by(wide: ReadRequest, narrow: ReadRequest) -> bool:
    return (
        wide.kind == narrow.kind
        and wide.namespace in {"", narrow.namespace}
        and wide.name in {"", narrow.name}
        and wide.label_selector in {"", narrow.label_selector}
        and wide.field_selector in {"", narrow.field_selector}
    )


class Changes:
    """What was added, changed and gone, each object once and in the order of its first change.

    ``needs``: those whose coverage changed, or whose list became complete.
    """

    def __init__(self) -> None:
        self.added: dict[ObjectRef, None] = {}
        self.changed: dict[ObjectRef, None] = {}
        self.removed: dict[ObjectRef, None] = {}
        self.reads: dict[ReadRequest, None] = {}

    def __bool__(self) -> bool:
        """Return whether there is any."""
        return bool(self.added or self.changed or self.removed or self.reads)

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of the objects and needs."""
        refs = {ref.kind for group in (self.added, self.changed, self.removed) for ref in group}
        return frozenset(refs | {read.kind for read in self.reads})

    def put(self, ref: ObjectRef, *, new: bool) -> None:
        """An object was added, or took the place of an older one."""
        if new and ref not in self.removed:
            self.added[ref] = None
        elif ref not in self.added:
            self.removed.pop(ref, None)
            self.changed[ref] = None

    def take(self, ref: ObjectRef) -> None:
        """An object has gone."""
        self.changed.pop(ref, None)
        if ref in self.added:
            del self.added[ref]
        else:
            self.removed[ref] = None


class Fillable(Protocol):
    """Something that reads into a store."""

    def fill(self, reads: Iterable[ReadRequest]) -> None:
        """Read what is not in the store yet."""
        ...


def fill_all(reading: Fillable, find_reads: Callable[[], Iterable[ReadRequest]]) -> None:
    """Read all that is wanted, which may be more once it is read."""
    tried: set[ReadRequest] = set()
    while new := [read for read in dict.fromkeys(find_reads()) if read not in tried]:
        tried.update(new)
        reading.fill(new)
