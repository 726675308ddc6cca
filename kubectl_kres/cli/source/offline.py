"""What is at hand without a cluster as a source: a snapshot, the bundled example, or files alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.source.object_source import Input
from kubectl_kres.errors import ClusterError, UsageError
from kubectl_kres.model import kinds
from kubectl_kres.model.kinds import Kind, named_kind
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.workload_kinds import WORKLOADS
from kubectl_kres.snapshot import read as snapshots
from kubectl_kres.store.store import READ, Coverage, Kept, LeftOut, ReadRequest, Store, partly_read

#: Kinds with so many objects that a snapshot's are not kept, but looked through again when some are needed.
_NUMEROUS = ("Pod", "Event", "TaskRun")
#: Of these the pages are held, as long as there are few of them.
_HELD = ("Event", "TaskRun")

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
    inputs = Input(options)
    if options.offline:
        inputs.set_namespace((*options.namespaces, "default")[0])
        return OfflineSource(options, inputs.policies), inputs
    path = str(snapshots.demo_path()) if options.demo else options.snapshot
    held = None if unread else snapshots.HeldPages(_HELD)
    offline_source = OfflineSource(options, *_snapshot(path, (*_NUMEROUS, *unread), lean or {}, held), unread, held)
    inputs.set_namespace(offline_source.namespaces[0] if len(offline_source.namespaces) == 1 else "default")
    inputs.put_policies(offline_source.store)
    return offline_source, inputs


def _snapshot(
    path: str, without: Collection[str], lean: Kept, held: snapshots.HeldPages | None
) -> tuple[Store, Store, str]:
    """Return a snapshot without objects of some kinds, a store that holds only what is known of all, and the path."""
    store = snapshots.read(path, without=without, lean=lean, held=held)
    known = Store(store.origin)
    for read, coverage in store.coverages().items():
        known.cover(read, coverage)
    for kind in _NUMEROUS:
        store.forget(kind)
    return store, known, path


class OfflineSource:
    """A snapshot, or without a ``path`` files that are all there is. ``known``: how reading the whole snapshot went."""

    warnings: tuple[str, ...] = ()

    def __init__(
        self,
        options: Options,
        store: Store,
        known: Store | None = None,
        path: str = "",
        unread: Collection[str] = (),
        held: snapshots.HeldPages | None = None,
    ) -> None:
        self._held = held
        self._unread_kinds = frozenset(unread)
        self.store, self._snapshot, self._path = store, known, path
        self.skipped: list[LeftOut] = []
        self.assumptions: tuple[str, ...] = () if path else (_NOTHING_ELSE,)
        self._requested_namespaces = () if options.all_namespaces else tuple(dict.fromkeys(options.namespaces))
        self.namespaces = () if options.all_namespaces else self._requested_namespaces or self._recorded_namespaces()

    def _recorded_namespaces(self) -> tuple[str, ...]:
        """Return the namespaces that a snapshot is of; none: all, since it knows of no context that would choose
        one.
        """
        reads = self._snapshot.coverages() if self._snapshot else {}
        spaces = dict.fromkeys(read.namespace for read in reads if read.kind == "LimitRange")
        return () if "" in spaces else tuple(spaces)

    def candidate_namespaces(self, kind: Kind, name: str) -> tuple[str, ...]:
        """Without a namespace asked for, wherever there is an object of that name."""
        spaces = self.namespaces or ("",)
        if not kind.namespaced or self._requested_namespaces:
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
        reads = self._snapshot.coverages().items() if self._snapshot else ()
        numerous = {read.kind for read, coverage in reads if read.kind in _NUMEROUS and coverage.is_known}
        return f"{self._path} holds the kinds {', '.join(sorted(numerous | {*self.store.kinds()}))}"

    def fill(self, reads: Iterable[ReadRequest]) -> None:
        """Take the numerous objects from the file; of all others it is said how reading them went."""
        asked = dict.fromkeys(reads)
        self.store.asked.update(read.kind for read in asked)
        read_requests = [read for read in asked if self.store.covered(read).state == "unread"]
        coverage = {read: self._coverage(read) for read in read_requests}
        left_out = {
            read: list(coverage[read].left_out)
            for read in read_requests
            if read.kind in _NUMEROUS and coverage[read].has_all_objects
        }
        for page in self._stream(left_out):
            for item in page:
                self.store.add(item.kind, item)
        for read in read_requests:
            self.store.cover(read, partly_read(left_out[read]) if left_out.get(read) else coverage[read])

    def fill_in_order(self, reads: Iterable[ReadRequest]) -> None:
        """All at once: a file is not in the order of namespaces."""
        self.fill(ReadRequest(read.kind, required=read.required) for read in reads)

    def namespaces_of(self, reads: Sequence[ReadRequest]) -> Iterator[str]:
        """Yield all at once, for the same reason."""
        self.fill(reads)
        yield ""

    def _coverage(self, read: ReadRequest) -> Coverage:
        if self._snapshot is None:
            result, which = read.kind in self.store.kinds() or read.kind in _POLICIES, read.kind
            if result and read.kind in _INSTALLED and read.name:
                result, which = (
                    self.store.get(read.kind, read.name, read.namespace) is not None,
                    f"{read.kind} {read.name}",
                )
            if result:
                return READ
            missing_text = f"the files hold no {which}"
            if read.kind == "Pod" or read.kind in WORKLOADS:
                missing_text = f"a {which} of a file does not exist yet"
            return Coverage("unread", f"{missing_text}, and --offline reads nothing else")
        if read.kind in self._unread_kinds:
            return Coverage("unread", f"the {read.kind} objects of {self._path} were passed over")
        coverage = self._snapshot.covered(read)
        if coverage.state == "unread" and not coverage.message and read.kind in self.store.kinds():
            return READ  # it tells of no reads, and holds such objects
        if coverage.state == "unread" and not coverage.message:
            return Coverage("unread", self._not_held(read))
        return coverage

    def _not_held(self, read: ReadRequest) -> str:
        spaces = (
            dict.fromkeys(item.namespace for item in self._snapshot.coverages() if item.kind == read.kind)
            if self._snapshot
            else ()
        )
        only = f", only of namespace {', '.join(spaces)}" if any(spaces) else ""
        namespace_text = f"of namespace {read.namespace}" if read.namespace else "of all namespaces"
        name = "the bundled example" if self._path == str(snapshots.demo_path()) else self._path
        return f"{name} does not hold the {named_kind(read.kind)} objects {namespace_text}{only}"

    def pages(self, read: ReadRequest) -> Iterator[list[Any]]:
        """As they were recorded; what could not be read then is an error now."""
        coverage = self._coverage(read)
        if not coverage.has_all_objects:
            raise coverage.error()
        left_out = list(coverage.left_out)
        numerous = read.kind in _NUMEROUS and self._path
        for page in self._stream({read: left_out}) if numerous else self._stored_pages(read):
            if read.kind in _NUMEROUS and not self._unread_kinds:  # else the pages are all that is looked at
                self.store.forget(read.kind)
                for item in page:
                    self.store.add(read.kind, item)
                    self.store.cover(ReadRequest(read.kind, item.metadata.namespace, item.metadata.name), READ)
            yield page
        self.skipped.extend(each for each in left_out if each not in self.skipped)

    def _stream(self, reads: Mapping[ReadRequest, list[LeftOut]]) -> Iterator[list[Any]]:
        """Yield what each read asks for of every page of the file; its list takes what cannot be decoded of that."""
        if not reads:
            return
        asked = [(read.kind, _matches(read), left_out) for read, left_out in reads.items()]
        spaces: dict[str, set[str]] = {}
        for read in reads:
            spaces.setdefault(read.kind, set()).add(read.namespace)
        named = {kind: names for kind, names in spaces.items() if "" not in names}
        for page in snapshots.pages(self._path, *spaces, spaces=named, held=self._held):
            for kind, fits, left_out in asked:
                fitting = list(filter(fits, page)) if page and page[0].kind == kind else []
                if kept := snapshots.readable(kind, fitting, left_out):
                    yield kept

    def _stored_pages(self, read: ReadRequest) -> Iterator[list[Any]]:
        fitting = filter(_matches(read), self.store.all(read.kind, read.namespace or None))
        while page := list(islice(fitting, _PAGE)):
            yield page


def _matches(read: ReadRequest) -> Callable[[Any], bool] | None:
    """Return whether an object of the need's kind is one that it asks for; None: each is."""
    if not any((read.namespace, read.name, read.label_selector, read.field_selector)):
        return None
    from kubectl_kres.cli.args.arguments import fields_match, labels_match

    labels, fields = labels_match(read.label_selector), fields_match(read.field_selector, read.kind)

    def fits(item: Any) -> bool:
        meta = item.metadata
        return (
            read.namespace in {"", meta.namespace}
            and read.name in {"", meta.name}
            and labels(meta.labels or {})
            and fields(item)
        )

    return fits
