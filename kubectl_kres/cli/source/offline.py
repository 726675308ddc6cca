"""What is at hand without a cluster as a source: a snapshot, the bundled example, or files alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.source.object_source import Input
from kubectl_kres.errors import ClusterError, UsageError
from kubectl_kres.model import kinds
from kubectl_kres.model.kinds import WORKLOADS, Kind, named_kind
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.snapshot import read as demo
from kubectl_kres.snapshot import read as snapshots
from kubectl_kres.store.store import READ, Coverage, Kept, ReadRequest, Store

#: Kinds with so many objects that a snapshot's are not kept, but looked through again when some are needed.
_NUMEROUS = ("Pod", "Event", "TaskRun")

#: Policy that does not exist if no file holds it; of other kinds nothing can be said.
_POLICIES = {"LimitRange", "ResourceQuota"}

#: What runs refer to, of which files hold some and the cluster may have others.
_INSTALLED = {"Task", "StepAction", "Pipeline"}

_NOTHING_ELSE = "--offline: there are no LimitRanges and quotas but those in the files"

_PAGE = 500


def open_held(options: Options, unread: Collection[str] = (), lean: Kept | None = None) -> tuple[OfflineSource, Input]:
    """Return the source, of a snapshot without ``unread`` kinds, ``lean`` in others; and what ``-f`` named.

    Raises SnapshotError, InputError.
    """
    given = Input(options)
    if options.offline:
        given.set_namespace((*options.namespaces, "default")[0])
        return OfflineSource(options, given.policies), given
    path = str(demo.demo_path()) if options.demo else options.snapshot
    offline_source = OfflineSource(options, *_snapshot(path, (*_NUMEROUS, *unread), lean or {}), unread)
    given.set_namespace(offline_source.namespaces[0] if len(offline_source.namespaces) == 1 else "default")
    given.lay_over(offline_source.store)
    return offline_source, given


def _snapshot(path: str, without: Collection[str], lean: Kept) -> tuple[Store, Store, str]:
    """Return a snapshot without objects of some kinds, a store that holds only what is known of all, and the path."""
    store = snapshots.read(path, without=without, lean=lean)
    known = Store(store.origin)
    for need, coverage in store.coverages().items():
        known.cover(need, coverage)
    for kind in _NUMEROUS:
        store.forget(kind)
    return store, known, path


class OfflineSource:
    """A snapshot, or without a ``path`` files that are all there is. ``known``: how reading the whole snapshot went."""

    warnings: tuple[str, ...] = ()

    def __init__(
        self, options: Options, store: Store, known: Store | None = None, path: str = "", unread: Collection[str] = ()
    ) -> None:
        self._unread = frozenset(unread)
        self.store, self._known, self._path = store, known, path
        self.skipped: list[str] = []
        self.supposed: tuple[str, ...] = () if path else (_NOTHING_ELSE,)
        self._asked = () if options.all_namespaces else tuple(dict.fromkeys(options.namespaces))
        self.namespaces = () if options.all_namespaces else self._asked or self._recorded_namespaces()

    def _recorded_namespaces(self) -> tuple[str, ...]:
        """Return the namespaces that a snapshot is of; none: all, since it knows of no context that would choose
        one.
        """
        needs = self._known.coverages() if self._known else {}
        spaces = dict.fromkeys(need.namespace for need in needs if need.kind == "LimitRange")
        return () if "" in spaces else tuple(spaces)

    def candidate_namespaces(self, kind: Kind, name: str) -> tuple[str, ...]:
        """Without a namespace asked for, wherever there is an object of that name."""
        spaces = self.namespaces or ("",)
        if not kind.namespaced or self._asked:
            return spaces if kind.namespaced else ("",)
        self.fill(ReadRequest(kind.kind, space, name) for space in spaces)
        metadata_list = (item.metadata for item in self.store.all(kind.kind))
        return tuple(metadata.namespace for metadata in metadata_list if metadata.name == name) or spaces

    def version(self) -> str:
        """As the snapshot recorded it."""
        return self.store.origin.version

    def raw(self, ref: ObjectRef) -> Mapping[str, Any]:
        """Raises UsageError: a snapshot keeps only what resources depend on."""
        raise UsageError(f"-o describe of {ref} needs the cluster: a snapshot holds only what resources depend on")

    def kind(self, text: str) -> Kind:
        """Only kinds that we know can be in a snapshot."""
        kind = kinds.find(text)
        if kind is None:
            raise ClusterError(
                f'the server doesn\'t have a resource type "{text}"',
                hint=kinds.suggest_kind(text) or self._cannot_ask(),
            )
        return kind

    def serves_kind(self, kind: str, api_version: str) -> bool:
        """Nobody can be asked."""
        del kind, api_version
        return True

    def _cannot_ask(self) -> str:
        if not self._path:
            return ""
        needs = self._known.coverages().items() if self._known else ()
        numerous = {need.kind for need, coverage in needs if need.kind in _NUMEROUS and coverage.is_known}
        return f"{self._path} holds the kinds {', '.join(sorted(numerous | {*self.store.kinds()}))}"

    def fill(self, needs: Iterable[ReadRequest]) -> None:
        """Take the numerous objects from the file; of all others it is said how reading them went."""
        wanted = [need for need in dict.fromkeys(needs) if self.store.covered(need).state == "unread"]
        coverage = {need: self._coverage(need) for need in wanted}
        for page in self._stream(*(need for need in wanted if need.kind in _NUMEROUS and coverage[need].is_known)):
            for item in page:
                self.store.add(item.kind, item)
        for need in wanted:
            self.store.cover(need, coverage[need])

    def fill_along(self, needs: Iterable[ReadRequest]) -> None:
        """All at once: a file is not in the order of namespaces."""
        self.fill(ReadRequest(need.kind, required=need.required) for need in needs)

    def namespaces_of(self, needs: Sequence[ReadRequest]) -> Iterator[str]:
        """Yield all at once, for the same reason."""
        self.fill(needs)
        yield ""

    def _coverage(self, need: ReadRequest) -> Coverage:
        if self._known is None:
            result, which = need.kind in self.store.kinds() or need.kind in _POLICIES, need.kind
            if result and need.kind in _INSTALLED and need.name:
                result, which = (
                    self.store.get(need.kind, need.name, need.namespace) is not None,
                    f"{need.kind} {need.name}",
                )
            if result:
                return READ
            lacking = f"the files hold no {which}"
            if need.kind == "Pod" or need.kind in WORKLOADS:
                lacking = f"a {which} of a file does not exist yet"
            return Coverage("unread", f"{lacking}, and --offline reads nothing else")
        if need.kind in self._unread:
            return Coverage("unread", f"the {need.kind} objects of {self._path} were passed over")
        coverage = self._known.covered(need)
        if coverage.state == "unread" and not coverage.message and need.kind in self.store.kinds():
            return READ  # it tells of no reads, and holds such objects
        if coverage.state == "unread" and not coverage.message:
            return Coverage("unread", self._not_held(need))
        return coverage

    def _not_held(self, need: ReadRequest) -> str:
        spaces = (
            dict.fromkeys(item.namespace for item in self._known.coverages() if item.kind == need.kind)
            if self._known
            else ()
        )
        only = f", only of namespace {', '.join(spaces)}" if any(spaces) else ""
        where = f"of namespace {need.namespace}" if need.namespace else "of all namespaces"
        name = "the bundled example" if self._path == str(demo.demo_path()) else self._path
        return f"{name} does not hold the {named_kind(need.kind)} objects {where}{only}"

    def pages(self, need: ReadRequest) -> Iterator[list[Any]]:
        """As they were recorded; what could not be read then is an error now."""
        coverage = self._coverage(need)
        if not coverage.is_known:
            raise coverage.error()
        for page in self._stream(need) if need.kind in _NUMEROUS and self._path else self._stored_pages(need):
            if need.kind in _NUMEROUS and not self._unread:  # else the pages are all that is looked at
                self.store.forget(need.kind)
                for item in page:
                    self.store.add(need.kind, item)
                    self.store.cover(ReadRequest(need.kind, item.metadata.namespace, item.metadata.name), READ)
            yield page

    def _stream(self, *needs: ReadRequest) -> Iterator[list[Any]]:
        """Yield what each of them asks for of every page of the file."""
        if not needs:
            return
        asked = [(need.kind, _matches(need)) for need in needs]
        for page in snapshots.pages(self._path, *{need.kind for need in needs}):
            for kind, fits in asked:
                fitting = list(filter(fits, page)) if page and page[0].kind == kind else []
                if fitting:
                    yield fitting

    def _stored_pages(self, need: ReadRequest) -> Iterator[list[Any]]:
        fitting = filter(_matches(need), self.store.all(need.kind, need.namespace or None))
        while page := list(islice(fitting, _PAGE)):
            yield page


def _matches(need: ReadRequest) -> Callable[[Any], bool] | None:
    """Return whether an object of the need's kind is one that it asks for; None: each is."""
    if not any((need.namespace, need.name, need.label_selector, need.field_selector)):
        return None
    from kubectl_kres.cli.args.arguments import fields_match, labels_match

    labels, fields = labels_match(need.label_selector), fields_match(need.field_selector, need.kind)

    def fits(item: Any) -> bool:
        meta = item.metadata
        return (
            need.namespace in {"", meta.namespace}
            and need.name in {"", meta.name}
            and labels(meta.labels or {})
            and fields(item)
        )

    return fits
